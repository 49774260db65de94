"""Write a view's table, and make the model's relation show it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.types import is_cut
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.refresh.apply import statements
from dbt_idivm.refresh.apply.confirm import confirm_now
from dbt_idivm.refresh.apply.watermark import guard_from, not_applied, own_commit
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.relations import BUILD, OWNER, SHOWN, VIEW, Described, describe
from dbt_idivm.refresh.catalog.state import State, read
from dbt_idivm.refresh.catalog.stored_view import ABSENT, StoredView, read_state
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.engine.commits import Guard
from dbt_idivm.refresh.engine.ledger import record
from dbt_idivm.refresh.engine.scoped import all_partitions, committed
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Rows
from dbt_idivm.relation_name import NEW_SUFFIX, with_suffix

# The target location is not a catalog table: a CREATE or DROP was interrupted between its files and its catalog entry.
_UNKNOWN_FILES = ("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "LOCATION_ALREADY_EXISTS")
# Delta copies default values of the columns that are read to the new table, which has to allow them.
_HAS_DEFAULTS = ("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",)
_ALLOW_DEFAULTS = {"delta.feature.allowColumnDefaults": "supported"}
_EXISTS = ("TABLE_OR_VIEW_ALREADY_EXISTS", "DELTA_TABLE_ALREADY_EXISTS")


@dataclass(frozen=True)
class Build:
    """The query to be built, the table for its rows, our table properties, and the state of its commit."""

    table: str
    query: exp.Expr
    columns: tuple[str, ...]
    visible: tuple[str, ...] | None  # the user's columns, if the model is to be a view over the table
    properties: Mapping[str, Any]
    state: State

    @property
    def hidden(self) -> bool:
        return self.visible is not None


def publish(job: Job, wanted: Build, stored: StoredView) -> Steps[int]:
    """Write the table and make the model's relation show it. The old table stays readable as long as possible. Returns the number
    of rows."""
    client, model = job.client, job.request.relation
    there = yield from describe(client, wanted.table)
    shown = there if wanted.table == model else (yield from client.once(("facts", model), lambda: describe(client, model)))
    in_the_way = there is not None and (not there.is_delta or (stored.remade and stored.table == wanted.table))
    place = with_suffix(model, NEW_SUFFIX) if in_the_way else wanted.table
    fits = there is not None and not in_the_way and (yield from _fits(job, wanted, there))
    late_feed = job.config.column_mapping and not fits
    # only the last commit has the final state: an interrupted build has to be repeated
    first = replace(wanted, state=replace(wanted.state, trusted=False)) if late_feed else wanted
    held = yield from _hold(job, wanted, shown, stored)
    try:
        built = commit = yield from write_table(job, first, place, None if in_the_way else there, stored, fits=fits)
    except (EngineFailure, IdivmError) as failure:
        # without an answer the write may still happen, and the view would show its rows under the former columns
        if held is not None and (not isinstance(failure, EngineFailure) or failure.error.error_class):
            yield from _let_go(job, wanted, held)
        raise
    if late_feed:
        guard = None if client.engine.ledger is None else guard_from(place, built)
        client.rely(place, built.version, built.at)
        # the state has the number of that commit: later commits of others are not part of this build
        last = replace(wanted.state, base=built.version)
        yield from committed(client, statements.switch_feed_on(job.dialect, place), place, last.json(), guard)
        yield from confirm_now(client, wanted.table, place)
    if there is not None and in_the_way:
        yield from client.ask(client.commands.drop(there.kind or "view", wanted.table))
        yield from client.ask(statements.rename_table(job.dialect, place, wanted.table))
        client.remade.discard(wanted.table)
        # records of the former table with this name do not apply to the new one
        if client.engine.ledger is not None and read(built.user_metadata) == first.state:
            yield from record(client, client.engine.ledger, wanted.table, wanted.state.json(), built.version, None)
    yield from _show(job, wanted, shown)
    client.invocation.forget(model, wanted.table)
    if late_feed or in_the_way:
        commit = yield from history.latest(client, wanted.table)
    history.pin(client, wanted.table, commit)
    return built.rows_written


def write_table(job: Job, wanted: Build, place: str, there: Described | None, stored: StoredView, *, fits: bool) -> Steps[Commit]:
    """Create the table, or replace the rows of the existing one. Tries again with default values allowed if the columns read have
    some."""

    def written(job: Job) -> Steps[Commit]:
        return _create(job, wanted, place) if there is None else _replace(job, wanted, there, stored, fits=fits)

    try:
        return (yield from written(job))
    except EngineFailure as failure:
        if not failure.is_any(_HAS_DEFAULTS):
            raise
    properties = {**job.config.tblproperties, **_ALLOW_DEFAULTS}
    return (yield from written(replace(job, config=replace(job.config, tblproperties=properties))))


def _create(job: Job, wanted: Build, place: str) -> Steps[Commit]:
    """Create the table. Only a draft elsewhere may already exist, left by an interrupted refresh."""

    def created(replace: bool) -> Steps[Rows]:
        statement = statements.create_table(job.dialect, place, wanted.query, job.config, wanted.properties, replace=replace)
        guard = (yield from _of_draft(job, place)) if replace else None
        return (yield from committed(job.client, statement, place, wanted.state.json(), guard))

    try:
        yield from created(replace=place != wanted.table)
    except EngineFailure as failure:
        if failure.is_any(_EXISTS):
            return (yield from _there(job, wanted, place, failure))
        if not failure.is_any(_UNKNOWN_FILES):
            raise
        yield from created(replace=True)
    return (yield from history.latest(job.client, place))


def _there(job: Job, wanted: Build, place: str, failure: EngineFailure) -> Steps[Commit]:
    """The commit of a CREATE TABLE that finds its own table, because the client sent it again after losing the answer. Raises
    IDIVM-903 if another run was faster, and `failure` if the existing object is no Delta table."""
    try:
        found = yield from own_commit(job.client, place, None, wanted.state)
    except EngineFailure as other:
        raise (failure if other.is_any(ABSENT) else other) from other
    if found is None:
        raise IdivmError(finding(903, view=place, message="another run has created it meanwhile", state="It has that run's rows"))
    return found


def _of_draft(job: Job, place: str) -> Steps[Guard | None]:
    """The guard of a write that replaces a draft, if there is one. Only ledgers need it, because they have to know its
    version."""
    if job.client.engine.ledger is None:
        return None
    try:
        return guard_from(place, (yield from history.latest(job.client, place)))
    except EngineFailure as failure:
        if not failure.is_any(ABSENT):
            raise
        return None


def _replace(job: Job, wanted: Build, there: Described, stored: StoredView, *, fits: bool) -> Steps[Commit]:
    """Replace the rows of the table. `fits`: whether the new rows fit into its columns. Raises IDIVM-903 if another refresh was
    faster."""
    table = wanted.table
    statement = (
        statements.overwrite_table(job.dialect, table, wanted.query)
        if fits
        else statements.create_table(job.dialect, table, wanted.query, job.config, wanted.properties, replace=True)
    )
    latest = stored.latest if stored.table == table else None
    if latest is None and not there.lost:
        latest = yield from history.latest(job.client, table)
    guard = guard_from(table, latest) if latest is not None else None
    if fits and latest is not None:  # the table keeps its properties
        job.client.rely(table, latest.version, latest.at)
    write = committed(job.client, statement, table, wanted.state.json(), guard)
    yield from all_partitions(job.client, write) if there.is_partitioned else write
    found = yield from own_commit(job.client, table, latest, wanted.state)
    if found is None:
        raise (yield from not_applied(job.client, stored, table, "its rebuild was not applied"))
    return found


# Wrong without it: an INT column of a source may be widened after a run has pinned its version. It is described with its new
# type, but its rows are written with the former type, which the table would then keep forever.
def _fits(job: Job, wanted: Build, there: Described) -> Steps[bool]:
    """Whether the stored table was created by the same build and has its column types, so that new rows fit into it."""
    if there.properties.get(BUILD) is None or there.properties.get(BUILD) != wanted.properties.get(BUILD):
        return False
    try:
        gives = yield from job.client.columns(job.dialect.sql(wanted.query), f"what is stored in {wanted.table}")
    except EngineFailure:  # the write will report the reason
        return False
    if any(is_cut(each.type) for each in there.columns):
        return False
    return tuple((each.name, each.type) for each in there.columns) == gives


def _hold(job: Job, wanted: Build, relation: Described | None, stored: StoredView) -> Steps[Described | None]:
    """Pin the model's view to the rows that it shows, while its table gets the rows of another definition: their columns and
    types may differ, so the view would cast them or fail.

    Returns the former view; None if the view is left alone.
    """
    shown = relation.properties.get(SHOWN) if relation is not None and relation.maintained == wanted.table else None
    if relation is None or shown in (None, wanted.state.shown) or stored.latest is None:
        return None
    columns = tuple(attribute.name for attribute in relation.columns)
    rows = job.dialect.table(wanted.table, stored.latest.version)
    properties = {VIEW: wanted.table, OWNER: job.request.owner}
    yield from job.client.ask(statements.create_view(job.dialect, job.request.relation, rows, columns, properties))
    return relation


def _let_go(job: Job, wanted: Build, held: Described) -> Steps[None]:
    """Release the view after its table was not replaced. It shows the table again only if that still has the view's definition: a
    faster run may have refreshed it without having seen that the view was pinned."""
    with suppress(EngineFailure):  # report the first failure only
        now = yield from _state_of(job, wanted.table)
        if now is not None and now.shown == held.properties[SHOWN]:
            yield from show(job, wanted.table, tuple(attribute.name for attribute in held.columns), now)


def _state_of(job: Job, table: str) -> Steps[State | None]:
    """The state in the newest commit of a refresh of the table, possibly another run's."""
    found = yield from read_state(job.client, table)
    return found.state if found is not None else None


def _show(job: Job, wanted: Build, relation: Described | None) -> Steps[None]:
    """Make the model's relation a view over the table, if it is to be one; a table that had its name is dropped."""
    if wanted.visible is None:
        return
    if relation is not None and (relation.maintained, relation.properties.get(SHOWN)) == (wanted.table, wanted.state.shown):
        return
    # wrong without it: another run with another text of the model, which has replaced the table meanwhile, and shown it
    now = yield from _state_of(job, wanted.table)
    if now is not None and now.shown != wanted.state.shown:
        return
    if relation is not None and relation.kind == "table":  # between the DROP and the CREATE VIEW the model does not exist
        yield from confirm_now(job.client, wanted.table, job.request.relation)
        yield from job.client.ask(job.client.commands.drop("table", job.request.relation))
    yield from show(job, wanted.table, wanted.visible, wanted.state)


def show(job: Job, table: str, visible: tuple[str, ...], shown: State) -> Steps[None]:
    """Make the model's relation a view over its table, in the given state."""
    model = job.request.relation
    properties = {VIEW: table, OWNER: job.request.owner, SHOWN: shown.shown}
    yield from job.client.ask(statements.create_view(job.dialect, model, job.dialect.table(table, None), visible, properties))
    job.client.invocation.forget(model)
