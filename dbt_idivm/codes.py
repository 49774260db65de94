"""The table of error codes: one entry per thing that can be wrong, each with why and what to do.

1xx config and project, 2xx the model's SQL, 3xx sources and keys, 4xx reasons for a full refresh, 9xx our own
failures. Words in braces are details of the case.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter
from typing import Literal

# unsupported: its semantics forbid it; not yet: a rule is missing; the others say whose turn it is
Kind = Literal["unsupported", "not yet", "config", "model", "source", "key", "full refresh", "engine",
               "internal"]


@dataclass(frozen=True)
class ErrorCode:
    """One kind of finding. `roadmap` is the word under which a missing rule is planned."""

    code: str
    kind: Kind
    title: str
    why: str
    do: str
    roadmap: str | None = None

    @property
    def page(self) -> str:
        return f"docs/errors/{self.code}.md"

    @property
    def fields(self) -> frozenset[str]:
        """The details that its texts need."""
        texts = (self.title, self.why, self.do)
        return frozenset(name for text in texts for _, name, _, _ in Formatter().parse(text) if name)


_REBUILD = "or let this model be rebuilt each time (`on_unsupported: full`, the default)"
_FIX = "correct the SQL of the model; `dbt compile` shows it as it is read here"

CODES: tuple[ErrorCode, ...] = (
    # 1xx: config and project
    ErrorCode(
        "IDIVM-102", "config", "unknown config key `{key}`",
        "a misspelt key would be without effect and without notice",
        "did you mean {nearest}? The keys are listed in the user guide"),
    ErrorCode(
        "IDIVM-103", "config", "`{key}: {value}` is not a value of that key",
        "{key} takes {accepted}",
        "give it one of these values, or leave the key out for its default"),
    ErrorCode(
        "IDIVM-105", "not yet", "`{key}: {value}`",
        "the key is reserved for this value, but nothing acts on it yet",
        "leave the key out for its default", "reserved config"),
    ErrorCode(
        "IDIVM-106", "config", "the table's configuration changed",
        "`on_configuration_change: fail` keeps {view} from being created anew under another layout or other table properties",
        "take the change back, run with --full-refresh, or set `on_configuration_change: apply`"),
    ErrorCode(
        "IDIVM-107", "config", "the columns of {view} would change",
        "`on_schema_change: fail` keeps it as it is: it has {before}, and would have {now}",
        "take the change back, or run with --full-refresh"),
    ErrorCode(
        "IDIVM-108", "config", "`caches` names `{name}`, which the model does not read",
        "a cache holds the rows of a CTE or of a derived table (`FROM (…) AS name`); the SELECT uses none of this name",
        "give the name of one that it uses; the nearest: {nearest}"),
    ErrorCode(
        "IDIVM-109", "config", "`caches` names `{name}`, whose rows have no unique ID",
        "a change of the cache is read by the IDs of its rows, and they are not unique because {tables} has no key",
        "declare a key (config `keys`, or the tests `unique` and `not_null`), or take the name off the list"),
    ErrorCode(
        "IDIVM-110", "config", "`caches` names `{name}`, which joins on no key",
        "rows have several partners on both sides (a multi-valued dependency): the cache would be larger than the tables that it "
        "joins, and reading it slower than joining them",
        "declare the key of one side, name a CTE below the join or one that aggregates it, or take the name off the list"),
    ErrorCode(
        "IDIVM-111", "config", "the cache {name} would have the column {column} of type {type}",
        "no Delta table has columns of this type",
        "CAST it in the SELECT, or name other CTEs and derived tables in the config `caches`"),
    ErrorCode(
        "IDIVM-113", "config", "{file} says nothing of sources or models",
        "the planner takes the columns, data types and keys of the inputs from the lists `sources` and `models`; "
        "at its top level the file has {found}",
        "give a dbt properties file, or one that lists the inputs under these names"),
    # 2xx: the model's SQL
    ErrorCode(
        "IDIVM-201", "not yet", "{join}",
        "a row of the one side appears padded with NULLs as long as the other side has no partner; "
        "the rules that follow partners coming and going are not there yet",
        "use an inner join if each row has a partner, " + _REBUILD, "outer joins"),
    ErrorCode(
        "IDIVM-203", "not yet", "window function {what}",
        "a change of one row may change the value of every row of its partition; the rules for that "
        "are not there yet",
        "compute it in a downstream model, " + _REBUILD, "windows"),
    ErrorCode(
        "IDIVM-204", "unsupported", "{function} inside a maintained view",
        "each evaluation draws anew, so no post-state is defined that a refresh could reach",
        "move it to a downstream model, " + _REBUILD),
    ErrorCode(
        "IDIVM-205", "unsupported", "{clause}",
        "which rows are inside depends on an order over the whole result, and ties are broken at will",
        "drop it, or move it to a downstream view, " + _REBUILD),
    ErrorCode(
        "IDIVM-206", "unsupported", "{function} inside a maintained view",
        "its value depends on when or by whom it is asked, so rows that no change touches would have "
        "to change",
        "take the time from the data, or set `volatile: full` to rebuild this model each time"),
    ErrorCode(
        "IDIVM-207", "unsupported", "{function} depends on the order of rows",
        "a table has no order, so two evaluations over the same rows may differ",
        "use min, max or another aggregate whose result the rows alone decide, " + _REBUILD),
    ErrorCode(
        "IDIVM-208", "not yet", "subquery in an expression: {what}",
        "EXISTS and IN are followed where they decide on a row alone: as AND-ed conditions of WHERE, tied to the query around "
        "by conditions of their own WHERE; the rules for the rest are not there yet",
        "write it as such an EXISTS, as an inner join on a unique key, or with an aggregated derived table, " + _REBUILD,
        "subqueries"),
    ErrorCode(
        "IDIVM-209", "not yet", "{operation}",
        "how often a row appears depends on how often it appears on both sides; the rules for that "
        "are not there yet",
        "write it as a join where rows are unique, " + _REBUILD, "set operations"),
    ErrorCode(
        "IDIVM-210", "not yet", "{what}",
        "each row belongs to several groups at once; the rules for that are not there yet",
        "write one GROUP BY per grouping and combine them with UNION ALL, " + _REBUILD, "grouping sets"),
    ErrorCode(
        "IDIVM-211", "not yet", "{what}",
        "one row becomes several, which have no ID of their own yet",
        "explode in an upstream table that stores the position beside the value, " + _REBUILD, "generators"),
    ErrorCode(
        "IDIVM-212", "not yet", "{what}",
        "the columns are made from values of the rows; there is no operator for that yet",
        "write one aggregate over CASE per column, " + _REBUILD, "pivot"),
    ErrorCode(
        "IDIVM-213", "unsupported", "TABLESAMPLE",
        "each evaluation draws anew, so no post-state is defined that a refresh could reach",
        "sample in a downstream model, or filter on a hash of the key, " + _REBUILD),
    ErrorCode(
        "IDIVM-214", "unsupported", "recursive query {name}",
        "a row may be supported by rows of its own result, so that a deletion cannot be followed row by row",
        "build the closure in a table, " + _REBUILD),
    ErrorCode(
        "IDIVM-215", "unsupported", "reading {table} at a fixed version or time",
        "a refresh chooses the versions of its inputs itself, and old ones vanish after the retention period",
        "read the table as it is, or keep the old state in a table of its own"),
    ErrorCode(
        "IDIVM-216", "not yet", "aggregate {function}",
        "the aggregates with rules are sum, count, avg, min and max",
        "express it by these, " + _REBUILD, "aggregates"),
    ErrorCode(
        "IDIVM-217", "not yet", "{function} with FILTER",
        "there is no rule for filtered aggregates yet",
        "put the condition into the argument: sum(CASE WHEN condition THEN x END), " + _REBUILD,
        "aggregates"),
    ErrorCode(
        "IDIVM-218", "unsupported", "{column} of type {type} in {use}",
        "values of this type cannot be compared, so rows that carry it cannot be told apart",
        "leave the column out, or store what is needed of it in columns of its own"),
    ErrorCode(
        "IDIVM-220", "model", "the SQL does not parse: {message}",
        "the text is not one SELECT of Spark SQL as the planner reads it",
        _FIX),
    ErrorCode(
        "IDIVM-221", "model", "unknown column {column}",
        "none of the relations in scope has it",
        "did you mean {nearest}?"),
    ErrorCode(
        "IDIVM-222", "model", "ambiguous column {column}",
        "more than one relation in scope has it: {candidates}",
        "write the relation's name before it"),
    ErrorCode(
        "IDIVM-223", "model", "{column} is neither grouped nor aggregated",
        "a group has many rows, and this expression may differ between them", "add it to GROUP BY or put it into an aggregate"),
    ErrorCode(
        "IDIVM-224", "model", "two columns called {column}",
        "the columns of a table have different names, regardless of case", "give one of them another alias"),
    ErrorCode(
        "IDIVM-225", "model", "the column {column} has no name",
        "a column of a table needs a name without blanks, commas and parentheses",
        "give it an alias: {column} AS name"),
    ErrorCode(
        "IDIVM-226", "not yet", "function {function}",
        "it is not on the list of functions whose result their arguments alone decide",
        "use a built-in function, or compute the column upstream, " + _REBUILD, "functions"),
    ErrorCode(
        "IDIVM-227", "model", "branches of {operation} with {left} and {right} columns",
        "the branches of a set operation have the same number of columns",
        _FIX),
    ErrorCode(
        "IDIVM-228", "not yet", "{what}",
        "the planner has no operator or rule for this construct",
        "write it another way, " + _REBUILD, "SQL coverage"),
    ErrorCode(
        "IDIVM-229", "model", "{what}",
        "Spark does not accept this either",
        _FIX),
    ErrorCode(
        "IDIVM-230", "unsupported", "{expression} may mean the day of the query",
        "where a date or timestamp is meant, Spark reads 'now', 'today' and their like, and takes the current day for a text "
        "that holds a time alone, so rows that no change touches would have to change",
        "write the date out, convert with a format (`to_timestamp(…, 'yyyy-MM-dd HH:mm:ss')`) or to a type without a time "
        "zone (TIMESTAMP_NTZ), " + _REBUILD),
    ErrorCode(
        "IDIVM-231", "not yet", "the expression is nested too deeply",
        "the planner follows some 200 brackets, calls and CASEs within each other, and some thousand operands in a row; "
        "Spark itself gives up at about as many",
        "give parts of it names in a CTE, or use `materialized='table'`", "SQL coverage"),
    ErrorCode(
        "IDIVM-232", "not yet", "the Δ-script would name tables {mentions} times",
        "the changed rows of each table are joined with all others: {tables} tables that are joined in one view make one "
        "statement that takes longer to be read than the view takes to be rebuilt",
        "keep a part of it as a model of its own and join that, " + _REBUILD, "larger views"),
    # 3xx: sources and keys
    ErrorCode(
        "IDIVM-301", "source", "there is no relation {source}",
        "the model's SQL names it, but the catalog does not have it",
        "check its name and schema, and that it is built before this model (`ref` and `source` see to that)"),
    ErrorCode(
        "IDIVM-302", "source", "{source} is not a Delta table but {provider}",
        "only Delta tables keep the versions and the change data feed that a refresh reads",
        "convert it (`CONVERT TO DELTA`), or load it into a Delta table, or set `strategy: full`"),
    ErrorCode(
        "IDIVM-303", "source", "{source} has no change data feed",
        "without the feed nobody knows which rows changed between two versions",
        "ALTER TABLE {source} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)"),
    ErrorCode(
        "IDIVM-304", "key", "key column {column} is not in {source}",
        "the key declared by {declared} names a column that the relation does not have",
        "did you mean {nearest}?"),
    ErrorCode(
        "IDIVM-305", "key", "the key ({key}) of {source} is not unique",
        "{declared} declares it, but {count} of its values occur more than once, for example "
        "{example}; a view maintained by it would be wrong, so it was not built",
        "correct the data, or declare another key, or none (`keys: {{{source}: []}}`)"),
    ErrorCode(
        "IDIVM-306", "key", "a change of {source} breaks its key ({key})",
        "{declared} declares it, but since version {version} {example} occurs more than once; the "
        "view stays at its last committed state",
        "correct the data and run again, or declare another key, or none, and run with --full-refresh"),
    ErrorCode(
        "IDIVM-307", "source", "the view {source} cannot be expanded",
        "{message}; a view has no change data feed, so its definition is read in its place",
        "make it a table, or set `strategy: full`"),
    ErrorCode(
        "IDIVM-308", "source", "{source} has no column {column} any more",
        "the model was built when {source} had it; it was renamed or dropped. The view stays at its "
        "last committed state",
        "follow the change in the model's SQL (columns now near that name: {nearest}), or restore the"
        " column"),
    ErrorCode(
        "IDIVM-309", "source", "{source} cannot be read at version {version} any more",
        "the view was built from that version, and it is past the retention period: {message}",
        "compare with the present state (`as_of: now`) after a refresh, or lengthen "
        "`delta.deletedFileRetentionDuration` of {source}"),
    ErrorCode(
        "IDIVM-310", "source", "{source} does not show version {version} any more, which the view was built from",
        "it was dropped and made again since, or its history was cleaned up; so there is nothing to compare the view with",
        "refresh the view, which rebuilds it, or compare with the present state (`as_of: now`)"),
    ErrorCode(
        "IDIVM-311", "unsupported", "the view {source} was created with other settings than this session has",
        "{setting} is {theirs} for the view and {ours} for the model. A view has no change data feed, so its definition is "
        "read in its place, which would mean something else here",
        "create the view anew with the settings of the profile, or make it a table; until then the model is rebuilt from "
        "the view itself (`on_unsupported: full`, the default)"),
    ErrorCode(
        "IDIVM-312", "unsupported", "the settings that the view {source} was created with cannot be read",
        "a view has no change data feed, so its definition is read in its place; which day or number that gives depends on the "
        "time zone and the ANSI mode it was created with, and DESCRIBE TABLE EXTENDED .. AS JSON does not tell them",
        "make it a table, or use Spark 4.1 or later; until then the model is rebuilt from the view itself "
        "(`on_unsupported: full`, the default)"),
    # 4xx: why a refresh was full
    ErrorCode(
        "IDIVM-401", "full refresh", "--full-refresh was asked for",
        "the flag, or `full_refresh: true` in the model's config, wants a rebuild", "leave it out for an incremental refresh"),
    ErrorCode(
        "IDIVM-402", "full refresh", "the model's definition changed",
        "the view was built from {what}, so no change of its inputs leads to the new result",
        "nothing: the next refresh is incremental again"),
    ErrorCode(
        "IDIVM-403", "full refresh", "the change data feed of {source} has a gap",
        "the feed does not reach from version {from_version} to {to_version}: {message}",
        "refresh more often than the retention period, or lengthen `delta.logRetentionDuration` and "
        "`delta.deletedFileRetentionDuration` of {source}"),
    ErrorCode(
        "IDIVM-404", "full refresh", "{source} was replaced",
        "it is another table than the one that the view was built from, and its versions start again",
        "nothing: the next refresh is incremental again"),
    ErrorCode(
        "IDIVM-405", "full refresh", "the view was changed by someone else",
        "version {version} of {view} ({operation}) is not a commit of a refresh, so the view may "
        "differ from its state", "let nobody else write to the view"),
    ErrorCode(
        "IDIVM-406", "full refresh", "{view} holds no state of a refresh",
        "the record of what it was built from is missing: {message}", "nothing: the next refresh is incremental again"),
    ErrorCode(
        "IDIVM-407", "full refresh", "`strategy: full` is configured",
        "the model's config wants a rebuild each time", "remove the setting to maintain the view incrementally"),
    ErrorCode(
        "IDIVM-408", "full refresh", "no incremental rules: {reason}",
        "the model uses what cannot be maintained incrementally ({codes})",
        "rewrite these parts, or set `on_unsupported: error` to be told instead"),
    ErrorCode(
        "IDIVM-409", "full refresh", "the session setting {setting} changed",
        "the view was built with {before}, now it is {now}; expressions may give other values",
        "keep the setting the same for all runs"),
    ErrorCode(
        "IDIVM-410", "full refresh", "the last build saw only part of its inputs",
        "it ran with --empty or --sample, or broke off before its last commit", "nothing: the next refresh is incremental again"),
    ErrorCode(
        "IDIVM-411", "full refresh", "a rebuild is cheaper",
        "the estimate for an incremental refresh is {incremental}, for a rebuild {full}",
        "nothing, or set `strategy: incremental` to rule rebuilds out"),
    ErrorCode(
        "IDIVM-412", "full refresh", "the columns of {source} changed",
        "it was built with {before}, now it has {now}", "nothing: the next refresh is incremental again"),
    ErrorCode(
        "IDIVM-413", "full refresh", "the view is missing",
        "{view} does not exist, so it is built", "nothing: the next refresh is incremental"),
    ErrorCode(
        "IDIVM-414", "full refresh", "only part of the inputs is read",
        "--empty or --sample gives the model other inputs than the real ones, so its state is not kept",
        "run without the flag: the view is then built from its whole inputs"),
    ErrorCode(
        "IDIVM-415", "full refresh", "the table's configuration changed",
        "its layout or properties are set when it is created (`on_configuration_change: apply`)",
        "nothing: the next refresh is incremental again"),
    ErrorCode(
        "IDIVM-416", "full refresh", "{source} has texts that are not UTF-8",
        "its change feed shows each byte that is not UTF-8 as U+FFFD, so it cannot tell such texts apart",
        "store these values as BINARY, or repair them (`make_valid_utf8`); until then each change near them rebuilds the view"),
    ErrorCode(
        "IDIVM-417", "full refresh", "the refresh failed on values that the query may not meet: {message}",
        "under ANSI mode a division, a cast or an index fails on some values; a refresh that names changed rows can meet values "
        "that a condition or a join keeps away from the query itself",
        "nothing: the rebuild shows whether the query fails, too. Where this happens often, write `try_divide`, `try_cast` and "
        "the like, which fail on no value"),
    # 9xx: our own failures
    ErrorCode(
        "IDIVM-901", "internal", "{message}",
        "an invariant of the planner does not hold: a bug of dbt-idivm",
        "report it with the model's SQL and `target/idivm/`; until then `strategy: full` rebuilds the model"),
    ErrorCode(
        "IDIVM-902", "engine", "the engine failed on: {statement}",
        "{message}. {state}",
        "see the engine's message; run again when its cause is gone"),
    ErrorCode(
        "IDIVM-903", "engine", "another writer changed {view} during the refresh",
        "{message}. {state}",
        "let one run at a time refresh the model, then run again"),
    ErrorCode(
        "IDIVM-904", "engine", "a rebuild of {view} broke off",
        "the view still shows the rows of its former definition, and the new definition cannot be compared with those",
        "run the model: the view then shows its new rows"),
    ErrorCode(
        "IDIVM-905", "internal", "the plan does not mean what the SELECT means: {difference}",
        "Spark reads the SELECT otherwise than dbt-idivm does: a bug of dbt-idivm. The view is built from your own text instead, "
        "each time anew, until the SELECT or the version of dbt-idivm is another one",
        "report it with the model's SQL and `proof.txt` in `target/idivm/`, where the run that found it left both queries and "
        "their plans; --full-refresh tries again"),
    ErrorCode(
        "IDIVM-906", "internal", "Spark accepts the SELECT, and dbt-idivm does not understand it: {message}",
        "a bug of dbt-idivm, which takes something in it for wrong. The view is built from your own text instead, each time anew",
        "report it with the model's SQL"),
)
