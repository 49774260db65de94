"""The equivalence test: a query for the differences between a maintained view and its definition. Without a stored view (`output:
diffs`), the rows that its log of changes replays to are compared; under `output: both`, the log is also compared with the
view."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.types import type_of
from dbt_idivm.algebra.types_of_times import TIMES
from dbt_idivm.definition.fingerprint import TIES
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.inputs import Input, Inputs, look_up, pinned_query
from dbt_idivm.refresh.catalog.relations import COMPLETED, DEFINITION, LOG, LOGGED, describe
from dbt_idivm.refresh.catalog.state import State
from dbt_idivm.refresh.catalog.stored_view import read_stored_log, read_stored_view
from dbt_idivm.refresh.changes.moves import commits_since
from dbt_idivm.refresh.checks.bag_difference import DIFFERENCE, differences
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.engine import SPARK_DELTA, Engine
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Reply, Statement
from dbt_idivm.relation_name import LOG_SUFFIX, with_suffix
from dbt_idivm.script.change_log import replay_differences
from dbt_idivm.script.dialect import verbatim

_NO_COLUMN = ("UNRESOLVED_COLUMN",)


def equivalence(
    schema: str, identifier: str, as_of: str = "refresh", *, database: str = "", engine: Engine = SPARK_DELTA
) -> Generator[Statement, Reply, str]:
    """The text of a query that compares view and definition as bags, over the user's columns; it returns the differing rows.

    `as_of`: "refresh" (the definition over the versions that the view was built from) or "now". Raises IdivmError if the
    comparison is impossible.
    """
    client, request = Client(engine), ModelRequest(identifier, schema, identifier, "", database=database)
    try:
        return (yield from _equivalence(client, request, as_of))
    except EngineFailure as failure:
        raise IdivmError(
            finding(902, statement=failure.statement.label, message=failure.sentence, state="Nothing was compared")
        ).of_model(identifier) from failure


def _equivalence(client: Client, request: ModelRequest, as_of: str) -> Steps[str]:
    relation = request.relation
    facts = yield from describe(client, relation)
    if facts is None:
        raise IdivmError(finding(301, source=relation))
    definition = facts.properties.get(DEFINITION)
    table = facts.maintained or relation
    if definition is None and facts.maintained is not None:
        behind = yield from describe(client, table)
        definition = behind.properties.get(DEFINITION) if behind else None
    existing: Literal["view", "table"] = "view" if facts.kind == "view" else "table"
    request, log = replace(request, existing=existing), facts.properties.get(LOG)
    stored = yield from (read_stored_view(client, request, whole=True) if log is None else read_stored_log(client, request))
    if definition is None or stored.state is None:
        raise IdivmError(stored.reason or finding(406, view=relation, message="it was not made by dbt-idivm"))
    if not stored.shown:
        raise IdivmError(finding(904, view=relation))
    completed = (yield from _completed(client, stored.table)) if TIES in stored.state.plan else None
    query = yield from _definition(client, completed or definition, stored.state if as_of == "refresh" else None)
    if log is not None:
        found = replay_differences(client.dialect.table(log, None), subquery(query, "definition"), facts.columns, DIFFERENCE)
        return client.dialect.sql(found)
    view, times = client.dialect.table(relation, None), stored.state.times
    columns = tuple(a.name for a in facts.columns if a.name not in times)
    compared = differences(view, subquery(query, "definition"), columns)
    parts: list[exp.Query] = [compared]
    if times:
        parts = [_without_times(compared, columns, times), _wrong_times(view.copy(), facts.columns, times)]
    log = with_suffix(relation, LOG_SUFFIX)
    beside = yield from describe(client, log)
    if beside is None or LOGGED not in beside.properties:
        return client.dialect.sql(union_all(parts))
    replayed = replay_differences(client.dialect.table(log, None), view.copy(), facts.columns, DIFFERENCE)
    return client.dialect.sql(union_all([*parts, replayed]))


def _completed(client: Client, table: str) -> Steps[str | None]:
    """The SELECT with completed orders, if the stored rows are those of one."""
    facts = yield from describe(client, table)
    return facts.properties.get(COMPLETED) if facts else None


def _without_times(found: exp.Query, columns: Sequence[str], times: Mapping[str, str]) -> exp.Select:
    """The differences, with NULL for the times of writing, which are not compared."""
    names = [*(column(name) for name in columns), *(exp.alias_(exp.null(), name, quoted=True) for name in times)]
    return exp.Select(expressions=[*names, column(found.selects[-1].alias)]).from_(subquery(found, "compared"))


def _wrong_times(view: exp.Expr, columns: Sequence[Attribute], times: Mapping[str, str]) -> exp.Select:
    """The stored rows with a time of writing that is NULL although its definition is not, or lies in the future. An hour is
    allowed for, because a local time is set back once a year."""
    types = {each.name: type_of(each.type) for each in columns}
    tests: list[exp.Expr] = []
    for name, text in times.items():
        stored, now = column(name), verbatim(text)
        known = exp.Not(this=exp.Is(this=exp.paren(now), expression=exp.null()))
        tests.append(exp.and_(exp.Is(this=stored, expression=exp.null()), known))
        if types[name].this in TIMES:
            hour = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("HOUR"))
            tests.append(exp.GT(this=stored.copy(), expression=exp.Add(this=exp.paren(now.copy()), expression=hour)))
    others = [column(each.name) for each in columns if each.name not in times]
    names = [*others, *(column(name) for name in times), exp.alias_(exp.Literal.number(0), DIFFERENCE)]
    return exp.Select(expressions=names).from_(view).where(exp.or_(*tests))


def _definition(client: Client, sql: str, state: State | None) -> Steps[exp.Expr]:
    """The user's SELECT over the versions recorded in `state`, or over the newest ones."""
    inputs = yield from look_up(client, sql)
    if state is None or not state.trusted:
        return pinned_query(client.dialect, sql, inputs)
    tables: dict[str, Input] = {}
    for name, found in inputs.tables.items():
        tables[name] = found
        consumed = state.inputs.get(name) or next((each for each in state.inputs.values() if each.table == found.table), None)
        if consumed is None or found.commit is None:
            continue
        tables[name] = replace(found, commit=_at(found.commit, consumed.version))
        is_same = consumed.table == found.table and (yield from commits_since(client, consumed, found.commit)) is not None
        if not is_same:
            raise IdivmError(finding(310, source=consumed.table, version=consumed.version))
        if consumed.version != found.commit.version:
            yield from _probe(client, tables[name])
    return pinned_query(client.dialect, sql, Inputs(tables, inputs.views), state.clock)


def _at(commit: Commit, version: int) -> Commit:
    return replace(commit, version=version)


def _probe(client: Client, found: Input) -> Steps[None]:
    """Check that the recorded version can still be read: it cannot once it is older than the retention period. An upstream model
    that now shows other columns did not show these at that version."""
    read: list[exp.Expr] = [column(name) for name in found.visible or ()]
    table = client.dialect.table(found.table, found.version)
    query = exp.Select(expressions=read or [exp.Literal.number(1)]).from_(table).limit(0)
    try:
        yield from client.ask(Statement(client.dialect.sql(query), "metadata", f"{found.table} at version {found.version}"))
    except EngineFailure as failure:
        if failure.is_any(_NO_COLUMN):
            raise IdivmError(finding(310, source=found.name, version=found.version)) from failure
        first = failure.error.message.splitlines()[0]
        raise IdivmError(finding(309, source=found.table, version=found.version, message=first)) from failure


__all__ = ["DIFFERENCE", "equivalence"]
