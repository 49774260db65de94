"""The checks of `idivm doctor` for compute that dbt-idivm is not tested on: each property that refreshes rely on is tried by the
code that relies on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.definition.config import FEED
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.apply.watermark import guard_from
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.relations import OWNER, describe
from dbt_idivm.refresh.catalog.state import encode
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.scoped import committed
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Statement
from dbt_idivm.refresh.upkeep.examine import Check
from dbt_idivm.script.dialect import verbatim
from dbt_idivm.script.merge import SOURCE, Clause, Key, Matching, Merge

_STATE = '{"idivm_doctor":"state of \\\\ and \'"}'
_OWNER = "model.doctor.scratch"
_LOST = "IDIVM-907"
_WAY_OUT = "do not use this compute with dbt-idivm: report what was found, with the output of `idivm doctor`"
# Expressions that are true if the engine reads a text as planned → what is not so otherwise.
_READING: Mapping[str, str] = {
    r"length('a\\b') = 3": "backslashes escape",
    "\"a\" = 'a'": "double quotes enclose text",
    "typeof(cast(1 as decimal(38, 10)) * cast(1 as decimal(38, 10))) = 'decimal(38,6)'": "decimals lose digits after the point",
    "typeof(1 / 2) = 'double'": "the quotient of integers is a DOUBLE",
    "0.0D = -0.0D": "0.0 equals -0.0",
}


class _Unexpected(Exception):
    """The message says what was found instead."""


def examine_engine(client: Client, scratch: str, time_zone: str) -> Steps[tuple[Check, ...]]:
    """Try what a refresh does on a Delta table called `scratch`, which is dropped afterwards."""
    tries: tuple[tuple[str, Callable[[], Steps[str]]], ...] = (
        ("meaning of text and numbers", lambda: _reading(client, time_zone)),
        ("errors of expressions", lambda: _errors(client)),
        ("descriptions of tables", lambda: _described(client, scratch)),
        ("state of a commit", lambda: _state(client, scratch)),
        ("change feed and versions", lambda: _feed(client, scratch)),
        ("staged rows", lambda: _staged(client)),
    )
    checks = []
    for what, steps in tries:
        try:
            checks.append(Check(what, "ok", (yield from steps())))
        except (EngineFailure, _Unexpected) as problem:
            found = problem.first_line if isinstance(problem, EngineFailure) else str(problem)
            checks.append(Check(what, "fails", found, _WAY_OUT))
    try:
        yield from client.ask(client.commands.drop("table", scratch))
    except EngineFailure as failure:
        checks.append(Check("drop tables", "fails", failure.first_line, f"grant it, and drop {scratch}"))
    return tuple(checks)


def _reading(client: Client, time_zone: str) -> Steps[str]:
    wanted = {**_READING, f"current_timezone() = {client.dialect.string_sql(time_zone)}": f"the time zone is {time_zone}"}
    rows = yield from client.ask(Statement(f"SELECT {', '.join(wanted)}", "metadata", "how text is read"))
    wrong = [said for said, is_so in zip(wanted.values(), rows.rows[0], strict=True) if not is_so]
    if wrong:
        raise _Unexpected(f"not so there: {'; '.join(wrong)}")
    return "as planned"


def _errors(client: Client) -> Steps[str]:
    try:
        yield from client.ask(Statement("SELECT CAST('a' AS INT) AS a", "metadata", "a cast that fails"))
    except EngineFailure as failure:
        if failure.is_of_data and failure.error.error_class:
            return f"have a class, {failure.error.error_class}, and a state"
        raise _Unexpected(f"an error of data is not recognised: {failure.first_line}") from failure
    raise _Unexpected("ANSI mode is off: a cast that fails gives NULL")


def _described(client: Client, scratch: str) -> Steps[str]:
    table = client.dialect.relation_sql(scratch)
    properties = f"'{FEED}' = 'true', '{OWNER}' = '{encode(_OWNER)}'"
    yield from client.ask(
        Statement(
            f"CREATE OR REPLACE TABLE {table} (id INT, note STRING) USING DELTA TBLPROPERTIES ({properties})",
            "write",
            f"create {scratch}",
            fetch=False,
        )
    )
    facts = yield from describe(client, scratch)
    if facts is None or [(each.name, each.type) for each in facts.columns] != [("id", "int"), ("note", "string")]:
        raise _Unexpected(f"its columns are shown as {None if facts is None else facts.columns}")
    if not facts.is_delta or not facts.has_feed or facts.properties.get(OWNER) != _OWNER:
        raise _Unexpected(
            f"shown as {facts.kind or 'nothing'} of {facts.provider or 'nothing'}, change data feed "
            f"{'on' if facts.has_feed else 'off'}, properties {dict(facts.properties)}"
        )
    detail = yield from client.ask(client.commands.detail(scratch))
    found = detail.dicts()[0].get("tableFeatures") if detail.rows else None
    features = [str(each) for each in found] if found is not None else []
    more = [each for each in features if each in ("deletionVectors", "rowTracking")]
    return f"as expected{', with ' + ', '.join(sorted(more)) if more else ''}"


def _state(client: Client, scratch: str) -> Steps[str]:
    """Check that a state is written with rows and read back, is not attributed to a later commit, and that a write sent twice is
    executed once."""
    before = yield from history.latest(client, scratch)
    merge, guard = _insertion(client, scratch), guard_from(scratch, before)
    reply = yield from committed(client, merge, scratch, _STATE, guard)
    counts = reply.dicts()[0] if reply.rows else {}
    if int(counts.get("num_inserted_rows", -1)) != 1:
        raise _Unexpected(f"a MERGE that inserts a row answers {counts}")
    found = yield from history.newest(client, scratch, 5)
    own = next((each for each in found if each.user_metadata is not None and _STATE in each.user_metadata), None)
    if own is None or own.version != before.version + 1 or own.counts["inserted"] != 1:
        shown = [(each.version, each.operation, each.counts, each.user_metadata) for each in found]
        raise _Unexpected(f"the state of a commit is not read back: {shown}")
    ledger = client.engine.ledger
    try:  # by a run that looked at the table before the write
        yield from committed(Client(client.engine, client.invocation), merge, scratch, _STATE, guard)
    except IdivmError as error:
        if ledger is None or error.codes != (_LOST,):
            raise
    again = yield from history.latest(client, scratch)
    if again.version != own.version:
        raise _Unexpected("a write is executed though the table has changed since it was made")
    return (
        "in the commit; a write that is sent twice is executed once"
        if ledger is None
        else (f"in {ledger.place}; a write fails if another run has claimed its table")
    )


def _insertion(client: Client, scratch: str) -> Statement:
    insert = Clause("insert", (), {name: column(name, SOURCE) for name in ("id", "note")})
    one = exp.select(exp.alias_(exp.Literal.number(1), "id"), exp.alias_(exp.Literal.string("a"), "note"))
    tree = Merge(client.dialect.table(scratch, None), one, Matching((Key("id", "id"),), (insert,))).tree
    return Statement(client.dialect.sql(tree), "write", f"merge into {scratch}", tree=tree)


def _feed(client: Client, scratch: str) -> Steps[str]:
    name = client.dialect.string_sql(client.dialect.relation_sql(scratch))
    latest = yield from history.latest(client, scratch)
    rows = yield from client.ask(
        Statement(
            f"SELECT id, _change_type, _commit_version FROM table_changes({name}, 1, {latest.version})", "read", "a change feed"
        )
    )
    if [tuple(row)[:2] for row in rows.rows] != [(1, "insert")]:
        raise _Unexpected(f"the feed of one inserted row is {rows.rows}")
    table = client.dialect.sql(client.dialect.table(scratch, latest.version - 1))
    rows = yield from client.ask(Statement(f"SELECT count(*) FROM {table}", "read", "an old version"))
    if int(rows.rows[0][0]) != 0:
        raise _Unexpected(f"the version before it has {rows.rows[0][0]} rows")
    return "as expected"


def _staged(client: Client) -> Steps[str]:
    name = "idivm_net_1"
    query = verbatim("SELECT 1 AS id")
    stage = client.engine.staging.stage(name, query, "rows")  # type: ignore[arg-type]
    yield from client.ask(stage)
    try:
        read = client.dialect.sql(client.dialect.table(name, None))
        rows = yield from client.ask(Statement(f"SELECT id FROM {read}", "read", "staged rows"))
    finally:
        yield from client.ask(client.engine.staging.drop(name))
    if [tuple(row) for row in rows.rows] != [(1,)]:
        raise _Unexpected(f"one staged row is read as {rows.rows}")
    return "work"
