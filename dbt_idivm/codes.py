"""The table of error codes: one entry per thing that can be wrong, each with why and what to do.

1xx config and project, 2xx the model's SQL, 3xx sources and keys, 4xx reasons for a full refresh, 5xx
connections, 9xx our own failures. Words in braces are details of the case.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter
from typing import Literal

# unsupported: its semantics forbid it; not yet: a rule is missing; the others name what has to be changed
Kind = Literal["unsupported", "not yet", "config", "model", "source", "key", "full refresh", "engine", "internal"]


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
_FIX = "correct the SQL of the model; `dbt compile` shows the compiled text that the line numbers refer to"

CODES: tuple[ErrorCode, ...] = (
    # 1xx: config and project
    ErrorCode(
        "IDIVM-102",
        "config",
        "unknown config key `{key}`",
        "a misspelt key would have no effect, and nobody would notice",
        "did you mean {nearest}? docs/settings.md lists the keys",
    ),
    ErrorCode(
        "IDIVM-103",
        "config",
        "`{key}: {value}` is not a value of that key",
        "{key} takes {accepted}",
        "give it one of these values, or leave the key out for its default",
    ),
    ErrorCode(
        "IDIVM-106",
        "config",
        "the table's configuration changed",
        "`on_configuration_change: fail` does not allow {view} to be created again with another layout or other table properties",
        "revert the change, run with --full-refresh, or set `on_configuration_change: apply`",
    ),
    ErrorCode(
        "IDIVM-107",
        "config",
        "the columns of {view} would change",
        "`on_schema_change: fail` does not allow this: the table has {before}, and would have {now}",
        "revert the change, or run with --full-refresh",
    ),
    ErrorCode(
        "IDIVM-108",
        "config",
        "`caches` names `{name}`, which the model does not read",
        "a cache holds the rows of a CTE or of a derived table (`FROM (…) AS name`), and the SELECT uses none with this name",
        "name a CTE or a derived table of the SELECT; the nearest: {nearest}",
    ),
    ErrorCode(
        "IDIVM-109",
        "config",
        "`caches` names `{name}`, whose rows have no unique ID",
        "changes of a cache are identified by the IDs of its rows, and these are not unique because {tables} has no key",
        "declare a key (config `keys`, or the tests `unique` and `not_null`), or remove the name from the list",
    ),
    ErrorCode(
        "IDIVM-110",
        "config",
        "`caches` names `{name}`, which joins on no key",
        "rows of either side join several rows of the other (a multi-valued dependency): the cache would be larger than the "
        "tables that it joins, and reading it slower than joining them",
        "declare the key of one side, name a CTE below the join or one that aggregates it, or remove the name from the list",
    ),
    ErrorCode(
        "IDIVM-111",
        "config",
        "the cache {name} would have the column {column} of type {type}",
        "no Delta table has columns of this type",
        "CAST it in the SELECT, or name other CTEs and derived tables in the config `caches`",
    ),
    ErrorCode(
        "IDIVM-113",
        "config",
        "{file} lists no sources or models",
        "the planner takes the columns, data types and keys of the inputs from the lists `sources` and `models`; "
        "at its top level the file has {found}",
        "pass a dbt properties file, or another file that lists the inputs under these names",
    ),
    ErrorCode(
        "IDIVM-114",
        "config",
        "there is no advice on this project: {problem}",
        "`idivm advise` reads the compiled SQL of all models, as dbt writes it to the folder `target`",
        "run `dbt compile`, correct what it reports, and run `idivm advise` again",
    ),
    ErrorCode(
        "IDIVM-115",
        "config",
        "{option} {value}: {problem}",
        "the estimates would silently ignore an option that cannot be read",
        "{do}",
    ),
    ErrorCode(
        "IDIVM-116",
        "config",
        "the number of rows is not known for {tables}",
        "the duration of a refresh depends on the sizes of the tables that the models read",
        "pass --rows TABLE=N for each, or run ANALYZE TABLE for these tables and then `dbt docs generate`",
    ),
    ErrorCode(
        "IDIVM-117",
        "source",
        "the statistics of {table} cannot be true: {problem}",
        "estimates computed from them would be wrong by the same factor",
        "pass --rows {table}=N, or run ANALYZE TABLE for the table and then `dbt docs generate`",
    ),
    ErrorCode(
        "IDIVM-118",
        "config",
        "{file} is ignored, at least in part: {problem}",
        "the file records how long earlier refreshes took; without these durations the advice relies on estimates",
        "nothing, or delete the file: the next run writes it again",
    ),
    ErrorCode(
        "IDIVM-119",
        "config",
        "`--space 0` leaves no space for anything but the models",
        "with it, no cache, no shared subview and no stored copy of a view is advised, however much time it would save",
        "allow more megabytes, or omit the option to set no limit",
    ),
    ErrorCode(
        "IDIVM-120",
        "config",
        "the advice is not written to {file}",
        "{problem}",
        "give another path, or print the advice with `--write -` and copy what you want",
    ),
    ErrorCode(
        "IDIVM-121", "config", "the advice on {models} belongs in {file}", "{problem}", "add the lines printed below to {file}"
    ),
    ErrorCode(
        "IDIVM-122",
        "config",
        "the column {column} of {view} has the name of a column of the change log",
        "the log (`output: diffs` and `both`) has all columns of the SELECT and these of its own: {own}",
        "rename the column in the SELECT",
    ),
    ErrorCode(
        "IDIVM-123",
        "config",
        "the files given with --schema list no relation {source}; {candidates}",
        "the planner knows only the relations that these files list: a source as `source.table`, a model by its name",
        "read a relation that they list, or add {source} to one of them",
    ),
    ErrorCode(
        "IDIVM-124",
        "config",
        "{file} is ignored: {problem}",
        "the file records the columns that the last run of a model saw, so that commands without an engine know them",
        "nothing, or delete the file: the next run writes it again",
    ),
    ErrorCode(
        "IDIVM-125",
        "config",
        "the columns of {relations} are those {whose}",
        "{reason}",
        "nothing: a refresh asks the engine; `dbt docs generate` lists the present columns",
    ),
    ErrorCode(
        "IDIVM-126",
        "config",
        "a pre-hook has set {setting} to {value}",
        "the rows of a maintained view depend on this setting. They are maintained under {wanted}, which its state says: a view "
        "would get rows that were computed under both",
        "remove it from the hook. The time zone of all models is `time_zone` in the profile; a SELECT can convert times itself, "
        "for example by from_utc_timestamp",
    ),
    # 2xx: the model's SQL
    ErrorCode(
        "IDIVM-203",
        "unsupported",
        "{what}, which depends on the order of rows that its ORDER BY does not distinguish",
        "such rows come in any order; {reason}",
        "add columns to its ORDER BY until no two rows of a partition have the same values in them, for example the key "
        "(`ORDER BY placed DESC, id`), and declare that key. Or use RANK, which gives tied rows the same number",
    ),
    ErrorCode(
        "IDIVM-204",
        "unsupported",
        "{function} inside a maintained view",
        "each evaluation may give another value, so there is no defined result that a refresh could compute",
        "move it to a downstream model; to identify rows, hash the columns of their key instead; " + _REBUILD,
    ),
    ErrorCode(
        "IDIVM-205",
        "unsupported",
        "{clause}",
        "the rows that it keeps depend on the order of the whole result, and rows that ORDER BY does not distinguish come in any "
        "order; {reason}",
        "order by columns that identify a row (for example, end ORDER BY with a declared key) and write LIMIT with a number. Or "
        "move the clause to a downstream view, " + _REBUILD,
    ),
    ErrorCode(
        "IDIVM-206",
        "unsupported",
        "{function} inside a maintained view",
        "its value depends on when, or by which user, it is evaluated, so view rows would change although no input changed",
        "take the value from a column of the data, or set `volatile: full` to rebuild this model each time. Under "
        "`volatile: written` and `output: view`, and without a list of `caches`, the clock is a time of writing or an input "
        "(docs/times.md)",
    ),
    ErrorCode(
        "IDIVM-207",
        "unsupported",
        "{function} depends on the order of rows",
        "a table has no order, so two evaluations over the same rows may differ; {reason}",
        "declare a key of the rows. Or use min, max, array_sort(collect_list(…)) over values that contain no floats, or another "
        "aggregate whose result does not depend on the order, " + _REBUILD,
    ),
    ErrorCode(
        "IDIVM-208",
        "not yet",
        "subquery in an expression: {what}",
        "a refresh maintains a subquery as a join, and not every subquery can become one. docs/subqueries.md lists those that "
        "can, with the places where they may stand",
        "declare the keys of the subquery's table and of the outer tables. Or rewrite the subquery as such an EXISTS, as a join "
        "on a unique key, or as an aggregated derived table, " + _REBUILD,
        "subqueries",
    ),
    ErrorCode(
        "IDIVM-210",
        "not yet",
        "GROUP BY with more than {most} grouping sets",
        "each set is a branch of a union with rules for its changes, and the statement of a refresh would become too long",
        "list only the sets that you need with GROUPING SETS, or divide them between several models, " + _REBUILD,
        "more grouping sets",
    ),
    ErrorCode(
        "IDIVM-211",
        "not yet",
        "{what}",
        "there is no rule for this generator yet; there are rules for explode, posexplode, inline and stack",
        "write it with explode, for example over sequence, or store its rows in an upstream table, " + _REBUILD,
        "generators",
    ),
    ErrorCode(
        "IDIVM-213",
        "unsupported",
        "TABLESAMPLE",
        "each evaluation chooses different rows, so there is no defined result that a refresh could compute",
        "sample in a downstream model, or filter on a hash of the key, " + _REBUILD,
    ),
    ErrorCode(
        "IDIVM-214",
        "unsupported",
        "recursive query {name}",
        "a row may be derived from rows of the result itself, so deletions cannot be propagated row by row",
        "compute the closure in a table, " + _REBUILD,
    ),
    ErrorCode(
        "IDIVM-215",
        "unsupported",
        "reading {table} at a fixed version or time",
        "a refresh chooses the versions of its inputs itself, and old versions are deleted after the retention period",
        "read the current version, or keep the old rows in a separate table",
    ),
    ErrorCode(
        "IDIVM-216",
        "not yet",
        "aggregate {function}",
        "rules exist for aggregates that do not depend on the order of the rows: sum, count, avg, min, max, bool_and, "
        "bool_or, bit_and, bit_or, bit_xor, stddev, variance, median, corr, percentile, sorted lists and similar ones. Over a "
        "window, rules exist only for aggregates with one argument",
        "compute the value with these aggregates, " + _REBUILD,
        "aggregates",
    ),
    ErrorCode(
        "IDIVM-218",
        "unsupported",
        "{column} of type {type} in {use}",
        "values of this type cannot be compared, so a refresh cannot see which rows are equal. Maps with scalar keys can "
        "be read and stored, but rows cannot be identified, joined or grouped by them. From a VARIANT, functions that never fail "
        "can read parts of scalar types",
        "leave the column out, declare a key for the table, or use the parts that you need in columns of other types. Read a "
        "part of a VARIANT with try_variant_get(v, '$.a', 'int') instead of variant_get, v:a or CAST",
    ),
    ErrorCode(
        "IDIVM-220",
        "model",
        "the SQL does not parse: {message}",
        "the planner cannot read the text as one SELECT of Spark SQL",
        _FIX,
    ),
    ErrorCode(
        "IDIVM-221", "model", "unknown column {column}", "none of the relations in scope has it", "did you mean {nearest}?"
    ),
    ErrorCode(
        "IDIVM-222",
        "model",
        "ambiguous column {column}",
        "more than one relation in scope has it: {candidates}",
        "qualify it with the name of one of these relations",
    ),
    ErrorCode(
        "IDIVM-223",
        "model",
        "{column} is neither grouped nor aggregated",
        "a group has many rows, and this expression may differ between them",
        "add it to GROUP BY or put it into an aggregate",
    ),
    ErrorCode(
        "IDIVM-224",
        "model",
        "two columns are called {column}",
        "the columns of a table must have different names, and case does not distinguish them",
        "give one of them another alias",
    ),
    ErrorCode(
        "IDIVM-225",
        "model",
        "the column {column} has no name",
        "a column of a table needs a name without blanks, commas and parentheses",
        "give it an alias: {column} AS name",
    ),
    ErrorCode(
        "IDIVM-226",
        "not yet",
        "function {function}",
        "it is not one of the functions whose result is known to depend on the arguments alone",
        "use a built-in function; if the result of your own function depends on its arguments alone, list it in the config "
        "`deterministic_functions` with the spelling used here. Or compute the column upstream, " + _REBUILD,
        "functions",
    ),
    ErrorCode(
        "IDIVM-227",
        "model",
        "the branches of {operation} have {left} and {right} columns",
        "all branches of a set operation must have the same number of columns",
        _FIX,
    ),
    ErrorCode(
        "IDIVM-228",
        "not yet",
        "{what}",
        "the planner has no operator or rule for this construct",
        "write it another way, " + _REBUILD,
        "SQL coverage",
    ),
    ErrorCode("IDIVM-229", "model", "{what}", "Spark does not accept this either", _FIX),
    ErrorCode(
        "IDIVM-230",
        "unsupported",
        "{expression} may depend on the day of the query",
        "where a date or timestamp is expected, Spark reads 'now', 'today' and similar words from the clock. It adds the "
        "current day to a text that holds only a time. So view rows would change although no input changed",
        "write the date as a literal; write the cast of a text explicitly (`CAST(s AS TIMESTAMP)`, which is maintained as long "
        "as no text holds only a time). Or convert with a format, or to a type without a time zone (TIMESTAMP_NTZ), " + _REBUILD,
    ),
    ErrorCode(
        "IDIVM-231",
        "not yet",
        "the expression is nested too deeply",
        "the planner accepts about 200 levels of brackets, calls and CASEs, and about a thousand operands in a row; Spark's own "
        "limits are similar",
        "compute parts of the expression in a CTE, or use `materialized='table'`",
        "SQL coverage",
    ),
    ErrorCode(
        "IDIVM-232",
        "not yet",
        "the Δ-script would read tables {mentions} times",
        "the changed rows of each table are joined with all other tables; for {tables} joined tables Spark would need more time "
        "to parse the statement than to rebuild the view",
        "make a part of the join a separate model and join that, " + _REBUILD,
        "larger views",
    ),
    ErrorCode(
        "IDIVM-233",
        "unsupported",
        "the incremental query fails on rows that the SELECT filters out: {message}",
        "the incremental query evaluates conditions in a different order: it evaluates an expression that fails for some rows "
        "before the condition that filters these rows out",
        "guard the expression itself (CASE WHEN, NULLIF, try_divide, TRY_CAST), " + _REBUILD,
    ),
    ErrorCode(
        "IDIVM-234",
        "unsupported",
        "the function {function} from `deterministic_functions` cannot be used: {problem}",
        "a refresh calls a function for the changed rows only, so its value must depend only on the arguments of that call",
        "change the function, or remove it from the list and compute its column upstream, " + _REBUILD,
    ),
    ErrorCode(
        "IDIVM-235",
        "unsupported",
        "{condition} may distinguish 0.0 from -0.0, which other parts of the query treat as equal",
        "Spark's optimizer treats equal values as identical, so the rows of the query depend on where Spark evaluates this "
        "condition; in the query of a refresh, that may be another place",
        "write a condition that compares numbers (`f < 0`), read the value as a DECIMAL, " + _REBUILD,
    ),
    ErrorCode(
        "IDIVM-236",
        "unsupported",
        "a text that is cast to TIMESTAMP holds only a time",
        "Spark adds the current day to such a text, so the rows of the query depend on the day on which it runs",
        "convert with a format (`to_timestamp(s, 'HH:mm')`) or to TIMESTAMP_NTZ; if the text is wrong, correct it and run "
        "`dbt run --full-refresh`; " + _REBUILD,
    ),
    ErrorCode(
        "IDIVM-237",
        "unsupported",
        "{what} may have another value when it is computed again",
        "under `output: diffs` no view is stored, so a refresh computes each deleted row again from the former state of the "
        "inputs. But a sum of floats depends on the order of rows, and Spark may show either of the equal values 0.0 and -0.0",
        "CAST the value to DECIMAL before it is summed or compared, set `output: both`, or let each run compare the whole query "
        "with the log (`on_unsupported: full`, the default)",
    ),
    ErrorCode(
        "IDIVM-238",
        "not yet",
        "the SELECT is too large to be maintained: it has {what}",
        "its plan has a part for each table, column and value, and Spark would need more time to read the statement of a refresh "
        "than to rebuild the view. The limits are {characters} characters, {columns} columns and {tables} tables; a CTE counts "
        "each time it is used",
        "compute a part of it in a separate model and read that, put a long list of values into a seed, " + _REBUILD,
        "larger views",
    ),
    # 3xx: sources and keys
    ErrorCode(
        "IDIVM-301",
        "source",
        "there is no relation {source}",
        "the model's SQL reads it, but the catalog does not have it",
        "check its name and schema, and that it exists before this model runs (for a model, `ref` ensures the order)",
    ),
    ErrorCode(
        "IDIVM-302",
        "unsupported",
        "{source} is not a Delta table but {provider}",
        "only Delta tables have the versions and the change data feed that a refresh reads",
        "convert it (`CONVERT TO DELTA`) or load it into a Delta table, " + _REBUILD,
    ),
    ErrorCode(
        "IDIVM-303",
        "unsupported",
        "{source} has no change data feed (run `idivm doctor --fix`)",
        "without the feed a refresh cannot know which rows changed between two versions",
        "run `idivm doctor --fix`, which shows the statement for each source before it runs it, or run ALTER TABLE {source} "
        "SET TBLPROPERTIES (delta.enableChangeDataFeed = true), " + _REBUILD,
    ),
    ErrorCode(
        "IDIVM-304",
        "key",
        "key column {column} is not in {source}",
        "the key declared by {declared} names a column that the relation does not have",
        "did you mean {nearest}?",
    ),
    ErrorCode(
        "IDIVM-305",
        "key",
        "the key ({key}) of {source} is not unique",
        "{declared} declares it, but {count} of its values occur more than once, for example "
        "{example}; a view maintained by this key would be wrong, so it was not built",
        "correct the data, declare another key, or declare that it has no key (`keys: {{{source}: []}}`)",
    ),
    ErrorCode(
        "IDIVM-306",
        "key",
        "a change of {source} breaks its key ({key})",
        "{declared} declares it, but since version {version} {example} occurs more than once; the "
        "view stays at its last committed state",
        "correct the data and run again; or declare another key or no key, and run with --full-refresh",
    ),
    ErrorCode(
        "IDIVM-307",
        "unsupported",
        "the view {source} cannot be expanded",
        "{message}. A view has no change data feed, so the model reads the tables of its definition instead",
        "make it a table, " + _REBUILD,
    ),
    ErrorCode(
        "IDIVM-308",
        "source",
        "{source} has no column {column} any more",
        "{source} had the column when the model was built; since then the column was renamed or dropped. The view stays at "
        "its last committed state",
        "adapt the model's SQL (columns with a similar name: {nearest}), or restore the column",
    ),
    ErrorCode(
        "IDIVM-309",
        "source",
        "{source} cannot be read at version {version} any more",
        "the view was built from that version, which is older than the retention period: {message}",
        "compare with the current rows (`as_of: now`) after a refresh, or lengthen "
        "`delta.deletedFileRetentionDuration` of {source}",
    ),
    ErrorCode(
        "IDIVM-310",
        "source",
        "{source} no longer has version {version}, which the view was built from",
        "it was dropped and created again, its history was cleaned up, or its model shows other columns now, so there is "
        "nothing to compare the view with",
        "refresh the view, which rebuilds it, or compare with the current rows (`as_of: now`)",
    ),
    ErrorCode(
        "IDIVM-311",
        "unsupported",
        "the view {source} was created with other settings than this session has",
        "{setting} is {theirs} for the view and {ours} for the model. A view has no change data feed, so the model "
        "would read the tables of its definition instead; with different settings the definition may give different rows",
        "create the view again with the settings of the profile, or make it a table; until then the model is rebuilt from "
        "the view itself (`on_unsupported: full`, the default)",
    ),
    ErrorCode(
        "IDIVM-312",
        "unsupported",
        "the settings that the view {source} was created with cannot be read",
        "a view has no change data feed, so the model would read the tables of its definition instead. Its rows depend "
        "on the time zone and the ANSI mode of its creation, which DESCRIBE TABLE EXTENDED .. AS JSON does not show",
        "make it a table, or use Spark 4.1 or later; until then the model is rebuilt from the view itself "
        "(`on_unsupported: full`, the default)",
    ),
    ErrorCode(
        "IDIVM-314",
        "unsupported",
        "the view {source} was changed by somebody, or its rebuild was interrupted",
        "the view does not show {table} as its model made it, so the changes of the table are not the changes of the view",
        "refresh the model {source}; until then this one is rebuilt from the view itself (`on_unsupported: full`, the default)",
    ),
    # 4xx: why a refresh was full
    ErrorCode(
        "IDIVM-401",
        "full refresh",
        "a full refresh was requested",
        "by the flag --full-refresh, or by `full_refresh: true` in the model's config",
        "leave it out for an incremental refresh",
    ),
    ErrorCode(
        "IDIVM-402",
        "full refresh",
        "the model's definition changed: the view was built from {what}",
        "changes of its inputs cannot give the rows of the new definition",
        "nothing: the next refresh is incremental again",
    ),
    ErrorCode(
        "IDIVM-403",
        "full refresh",
        "the change data feed of {source} has a gap",
        "the feed does not reach from version {from_version} to {to_version}: {message}",
        "refresh more often than once per retention period, or lengthen `delta.logRetentionDuration` and "
        "`delta.deletedFileRetentionDuration` of {source}",
    ),
    ErrorCode(
        "IDIVM-404",
        "full refresh",
        "{source} was replaced",
        "it is no longer the table that the view was built from, and its versions start again",
        "nothing: the next refresh is incremental again",
    ),
    ErrorCode(
        "IDIVM-405",
        "full refresh",
        "the view was changed by someone else",
        "no refresh wrote version {version} of {view} ({operation}), so the rows of the view may not match its stored state",
        "make sure that only dbt-idivm writes to the view",
    ),
    ErrorCode(
        "IDIVM-406",
        "full refresh",
        "{view} has no stored state of a refresh",
        "the record of the inputs that it was built from is missing: {message}",
        "nothing: the next refresh is incremental again",
    ),
    ErrorCode(
        "IDIVM-407",
        "full refresh",
        "`strategy: full` is configured",
        "the model's config requests a rebuild on each run",
        "remove the setting to maintain the view incrementally",
    ),
    ErrorCode(
        "IDIVM-408",
        "full refresh",
        "no incremental rules: {reason}",
        "the model uses constructs that cannot be maintained incrementally ({codes})",
        "rewrite these parts, or set `on_unsupported: error` to get an error instead",
    ),
    ErrorCode(
        "IDIVM-409",
        "full refresh",
        "the session setting {setting} changed",
        "the view was built with {before}, and now the setting is {now}, so expressions may have different values",
        "keep the setting the same for all runs",
    ),
    ErrorCode(
        "IDIVM-410",
        "full refresh",
        "the last build read only a part of its inputs",
        "it ran with --empty or --sample, or stopped before its last commit",
        "nothing: the next refresh is incremental again",
    ),
    ErrorCode(
        "IDIVM-411",
        "full refresh",
        "a rebuild takes about {full}, an incremental refresh {incremental}; {pays}",
        "`strategy: auto` chooses the faster way by an estimate from the sizes of the tables, the changes, and the durations of "
        "earlier refreshes. Both give the same rows",
        "nothing, or set `strategy: incremental` to exclude rebuilds; `idivm plan` shows all estimates",
    ),
    ErrorCode(
        "IDIVM-412",
        "full refresh",
        "the columns of {source} changed",
        "the view was built when they were {before}; now they are {now}",
        "nothing: the next refresh is incremental again",
    ),
    ErrorCode(
        "IDIVM-413",
        "full refresh",
        "the view is missing",
        "{view} does not exist, so it is built",
        "nothing: the next refresh is incremental",
    ),
    ErrorCode(
        "IDIVM-414",
        "full refresh",
        "only a part of the inputs is read",
        "--empty and --sample hide rows of the inputs, so no state is kept",
        "run without the flag: the view is then built from all rows of its inputs",
    ),
    ErrorCode(
        "IDIVM-415",
        "full refresh",
        "the table's configuration changed",
        "its layout or properties are set when it is created (`on_configuration_change: apply`)",
        "nothing: the next refresh is incremental again",
    ),
    ErrorCode(
        "IDIVM-416",
        "full refresh",
        "{source} has strings that are not UTF-8",
        "its change feed shows each byte that is not UTF-8 as U+FFFD, so different strings may look equal",
        "store these values as BINARY, or repair them (`make_valid_utf8`); until then each change of rows that show U+FFFD "
        "rebuilds the view",
    ),
    ErrorCode(
        "IDIVM-417",
        "full refresh",
        "the refresh failed on values that the query itself may not evaluate: {message}",
        "in ANSI mode a division, a cast or an index fails on some values, and a refresh may evaluate it for rows that a "
        "condition or a join of the query excludes",
        "nothing: the rebuild shows whether the query itself fails. If this happens often, use `try_divide`, `try_cast` and "
        "similar functions, which never fail",
    ),
    ErrorCode(
        "IDIVM-418",
        "full refresh",
        "neither the size of {source} nor the number of its changed rows is known",
        "the log of the table records neither rows nor bytes, so nothing indicates that an incremental refresh would be faster; "
        "`strategy: auto` then rebuilds the view, like a plain table",
        "nothing, or set `strategy: incremental` to exclude rebuilds",
    ),
    ErrorCode(
        "IDIVM-419",
        "full refresh",
        "the key ({key}) of {source} did not hold when the view was rebuilt",
        "a rebuild that is chosen by cost does not verify keys, and at version {version} more than one row had {example}; an "
        "incremental refresh would treat them as one row",
        "nothing: this rebuild verifies all keys, and fails if this one still does not hold",
    ),
    ErrorCode(
        "IDIVM-420",
        "full refresh",
        "{caches} is cached from now on: a refresh is estimated at {cached} with it, {now} without it",
        "`caches: auto` stores a subview as a separate maintained table once it would have saved as much time as building it "
        "takes. The view has the same rows",
        "nothing; set `caches: []` to have no caches, or list in `caches` the CTEs to cache",
    ),
    ErrorCode(
        "IDIVM-421",
        "full refresh",
        "{caches} is no longer cached: a refresh is estimated at {without} without it, {now} with it",
        "`caches: auto` drops a cache once refreshes with it have lost more time than building it took. The view has the same "
        "rows",
        "nothing, or list in `caches` the CTEs to cache",
    ),
    ErrorCode(
        "IDIVM-422",
        "full refresh",
        "{caches} is no longer cached, because it fails for a value: {message}",
        "a cache evaluates its subview for all rows, including those that a condition of the query excludes. `caches: auto` had "
        "chosen the cache; the query itself may not fail",
        "nothing: from now on the view is maintained without this cache",
    ),
    ErrorCode(
        "IDIVM-423",
        "full refresh",
        "columns of {source} may have changed their meaning",
        "the change feed does not show {operation} at version {version}: since then {columns} may hold values of another column",
        "nothing: the next refresh is incremental again",
    ),
    ErrorCode(
        "IDIVM-424",
        "full refresh",
        "the partitions or the column mapping of {source} changed",
        "its change feed shows NULLs for rows of older files (column mapping and partitions then: {before}; now: {now})",
        "nothing: the next refresh is incremental again",
    ),
    ErrorCode(
        "IDIVM-425",
        "full refresh",
        "another run that writes {view} has not finished",
        "it has claimed the table and not released it: it was stopped, or it is still running and will fail now",
        "let only one run at a time refresh the model; the next refresh is incremental again",
    ),
    ErrorCode(
        "IDIVM-426",
        "full refresh",
        "the view was built without a plan",
        "when it was built, its config (`strategy: full`), its SELECT or its inputs allowed no incremental refresh. Therefore "
        "the keys that an incremental refresh relies on were not verified, and columns that it needs may be missing",
        "nothing: the next refresh is incremental again",
    ),
    ErrorCode(
        "IDIVM-427",
        "full refresh",
        "version {version} of {source} ({operation} by {writer}) {why}",
        "a change feed with missing or duplicate rows would make the view wrong, so it is used only if the table's log proves it "
        "complete. Otherwise a refresh compares two versions, here {from_version} and {to_version}, which could not be read",
        "report this to the developers of the writer, or write the table with another one; the next refresh is incremental again",
    ),
    ErrorCode(
        "IDIVM-428",
        "full refresh",
        "the key ({key}) of {source}, which was found in its data, does not hold any more",
        "no test and no constraint declares it. All rows had different values when the view was built; at version {version} "
        "{what}",
        "nothing: the view is maintained without this key from now on. Declare a key of {source}, or set `keys: declared` so "
        "that none is looked for",
    ),
    # 5xx: connections
    ErrorCode(
        "IDIVM-501",
        "engine",
        "no Spark Connect server answers at {host}",
        "{message}",
        "check `host`, `port` and `use_ssl` in the profile, and that the server runs (Spark's sbin/start-connect-server.sh)",
    ),
    ErrorCode(
        "IDIVM-502",
        "engine",
        "the Spark Connect server at {host} refuses the connection",
        "{message}",
        "set the server's token as `token` in the profile, or as SPARK_CONNECT_AUTHENTICATE_TOKEN in the environment",
    ),
    ErrorCode(
        "IDIVM-503",
        "engine",
        "the server at {host} does not allow {setting} = {value}",
        "{message}. Without the setting, statements could have another meaning than the plan or the profile requires",
        "configure the server to allow it; if the setting is your own, you can remove it from `server_side_parameters`",
    ),
    ErrorCode(
        "IDIVM-504",
        "engine",
        "the server at {host} has no Delta Lake",
        "maintained tables are Delta tables, and the server's spark.sql.extensions do not contain Delta's",
        "start it with the JARs of Delta that fit its Spark, with spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension "
        "and spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog",
    ),
    ErrorCode(
        "IDIVM-505",
        "engine",
        "the Spark Connect server has lost the session",
        "{message}. The server was restarted, ended the session, or does not answer",
        "run again: committed changes are kept, and a new session is opened",
    ),
    ErrorCode(
        "IDIVM-506",
        "engine",
        "this server cannot replace {view}",
        "{message}. Spark 3.5.6 and later reject CREATE OR REPLACE TABLE with any Delta before 3.3.3, also from dbt's own "
        "materializations. {state}",
        "install Delta 3.3.3 or later, or Spark 3.5.5, on the server",
    ),
    ErrorCode(
        "IDIVM-507",
        "engine",
        "the Spark Connect server at {host} is too old for this client",
        "the server runs Spark {version}, and a client of Spark 4 cannot send statements to it: Spark Connect supports clients "
        "that are older than the server, not newer ones",
        "connect to its Spark Thrift Server (`method: thrift`), or to a server with Spark 4",
    ),
    ErrorCode(
        "IDIVM-508",
        "engine",
        "{table} cannot be used: {statement}",
        "{message}. A SQL warehouse needs this table, because commits carry no state there",
        "grant CREATE TABLE on its schema, and SELECT and MODIFY on the table",
    ),
    # 9xx: our own failures
    ErrorCode(
        "IDIVM-901",
        "internal",
        "{message}",
        "an invariant of the planner does not hold; this is a bug in dbt-idivm",
        "report it with the model's SQL and `target/idivm/`; until then `strategy: full` rebuilds the model",
    ),
    ErrorCode(
        "IDIVM-902",
        "engine",
        "the engine failed on: {statement}",
        "{message}. {state}",
        "fix the cause that the engine's message names, then run again",
    ),
    ErrorCode(
        "IDIVM-903",
        "engine",
        "another writer changed {view} during the refresh",
        "{message}. {state}",
        "let only one run at a time refresh the model, and run again",
    ),
    ErrorCode(
        "IDIVM-904",
        "engine",
        "a rebuild of {view} was interrupted",
        "the view still shows the rows of its former definition, which cannot be compared with the new one",
        "run the model: the view then shows its new rows",
    ),
    ErrorCode(
        "IDIVM-905",
        "internal",
        "the plan does not mean what the SELECT means: {difference}",
        "Spark reads the SELECT differently from dbt-idivm; this is a bug in dbt-idivm. Each run rebuilds the view from your own "
        "text instead, until the SELECT or the version of dbt-idivm changes",
        "report it with the model's SQL and with `proof.txt` in `target/idivm/` of the run that found it, which has both queries "
        "and their plans; --full-refresh tries again",
    ),
    ErrorCode(
        "IDIVM-906",
        "internal",
        "Spark accepts the SELECT, and dbt-idivm does not understand it: {message}",
        "dbt-idivm takes a valid part of it for an error; this is a bug in dbt-idivm. Each run rebuilds the view from your own "
        "text instead",
        "report it with the model's SQL",
    ),
    ErrorCode(
        "IDIVM-907",
        "engine",
        "another run has claimed {view}",
        "it began to refresh the table after this run had read its state, so this run has not changed it",
        "let only one run at a time refresh the model; run again if the other one did not succeed",
    ),
)
