"""Building a view by running its query: the first time, and whenever an incremental refresh would be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.errors import Finding, IdivmError, finding, listed, nearest
from dbt_idivm.refresh.apply import statements
from dbt_idivm.refresh.catalog import history, state
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.inputs import pinned_query, view_digest
from dbt_idivm.refresh.catalog.relations import BUILD, DEFINITION, IDS, INPUTS, OWNER, SHOWN, VIEW, Described, describe
from dbt_idivm.refresh.catalog.state import Consumed, State, digest
from dbt_idivm.refresh.catalog.stored_view import NEW_SUFFIX, StoredView, model_name
from dbt_idivm.refresh.checks import keys
from dbt_idivm.refresh.checks.proof import judge
from dbt_idivm.refresh.decide.outcome import Effect, Result, named, outcome, summary
from dbt_idivm.refresh.decide.planning import Job, Planned, known_proof, proof_key, question, without_plan
from dbt_idivm.refresh.engine import commands
from dbt_idivm.refresh.engine.client import EngineFailure, Steps
from dbt_idivm.refresh.protocol import InputChange, Outcome, Rows
from dbt_idivm.relation_name import with_suffix
from dbt_idivm.script.bind import full_query
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DELTA, verbatim
from dbt_idivm.script.plan import Plan

# What lies where a table is to be is no table of the catalog: a CREATE or a DROP broke off between its files and its entry.
_UNKNOWN_FILES = ("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "LOCATION_ALREADY_EXISTS")


@dataclass(frozen=True)
class Build:
    """What is to be built: the query, the table that holds its rows, our properties, and the state of its commit."""

    table: str
    query: exp.Expr
    columns: tuple[str, ...]
    visible: tuple[str, ...] | None  # the user's columns, if the model is to be a view over the table
    properties: Mapping[str, Any]
    state: State

    @property
    def hidden(self) -> bool:
        return self.visible is not None


def build(job: Job, stored: StoredView, planned: Planned, reason: Finding | None) -> Steps[Outcome]:
    """Create the view (`reason` is None) or rebuild it."""
    for name, key in planned.keys.items():
        yield from keys.verify(job.engine, job.invocation, planned.inputs.tables[name], key)
    planned = yield from _judged(job, stored, planned)
    wanted = _with_plan(job, planned) if planned.plan else _without_plan(job, planned)
    yield from _verify_unique_key(job, planned, wanted)
    written = yield from put(job, wanted, stored)
    inputs = all_inputs(job, stored, planned)
    # a first build that cannot be maintained says so at once
    why = summary(planned.refusal if planned.is_misread else reason or planned.refusal)
    result = Result("create" if reason is None else "full", wanted.hidden, inputs, Effect(inserted=written),
                      None if reason is None else "full", why)
    return outcome(job, result, planned)


def _judged(job: Job, stored: StoredView, planned: Planned) -> Steps[Planned]:
    """The model with its plan if that means what the SELECT means, else without. Once for each definition: its state says so."""
    if planned.plan is None or planned.proof is not None:
        return planned
    key, known = proof_key(job, planned), known_proof(job, stored)
    if known is not None and known.key == key and known.how in ("plans", "rows"):
        return replace(planned, proof=known)
    found = yield from judge(job.engine, question(job, planned), key, job.config.verify_build)
    return replace(planned, proof=found) if found.difference is None else without_plan(job, planned, found)


def all_inputs(job: Job, stored: StoredView, planned: Planned) -> dict[str, InputChange]:
    """The inputs of a rebuild: it reads all their rows."""
    before = stored.state.inputs if stored.state else {}
    return {named(job, name): InputChange(before[name].version if name in before else None, found.version)
            for name, found in planned.own_inputs.items() if found.version is not None}


def _verify_unique_key(job: Job, planned: Planned, wanted: Build) -> Steps[None]:
    """The user's `unique_key` names output columns; no plan is made from it, but it has to hold. Raises IDIVM-305."""
    given = {name.lower() for name in job.config.unique_key}
    ids = {str(name).lower() for name in wanted.properties.get(IDS, ())}
    if not given or (ids and ids <= given):
        return
    visible = visible_columns(planned.plan) if planned.plan else _names(wanted.query)
    if unknown := given - {name.lower() for name in visible}:
        raise IdivmError(finding(304, column=sorted(unknown)[0], source=job.request.name, declared="`unique_key`",
                                 nearest=listed(nearest(sorted(unknown)[0], visible))))
    key = keys.Key(job.config.unique_key, "`unique_key`")
    rows = subquery(wanted.query, "definition")
    broken = yield from keys.repeated(job.engine, rows, key, f"check unique_key of {job.request.name}")
    if broken is not None:
        raise keys.not_unique(job.request.name, key, broken)


def visible_columns(plan: Plan) -> tuple[str, ...]:
    return tuple(column.name for column in plan.columns if not column.hidden)


def _names(query: exp.Expr) -> tuple[str, ...]:
    return tuple(str(each.alias_or_name) for each in query.selects) if isinstance(query, exp.Query) else ()


def build_restricted(job: Job, stored: StoredView) -> Steps[Outcome]:
    """A plain table from what dbt gives under --empty or --sample; its state says that nothing may build upon it."""
    query = verbatim(job.request.sql)
    model = model_name(job.request)
    state = State({}, {}, run=job.request.run_id, trusted=False)
    properties = {VIEW: model, OWNER: job.request.owner, DEFINITION: job.request.sql}
    wanted = Build(model, query, (), None, properties, state)
    written = yield from put(job, wanted, stored)
    effect, reason = Effect(inserted=written), finding(414).summary
    if job.request.existing is None:
        return outcome(job, Result("create", False, {}, effect, None, reason))
    return outcome(job, Result("full", False, {}, effect, "full", reason))


def new_state(job: Job, planned: Planned, inputs: Mapping[str, Consumed]) -> State:
    views = {name: view_digest(text, planned.inputs.settings.get(name)) for name, text in planned.inputs.views.items()}
    return State(inputs, planned.fingerprint, request_digest(job), views, job.request.run_id,
                 volatile=not planned.repeatable, proof=str(planned.proof or ""))


def request_digest(job: Job) -> str:
    """All that the refresh is asked with. While it and the inputs stay the same, there is nothing to plan."""
    request, config = job.request, job.config
    declared = {name: [(key.columns, key.source) for key in found] for name, found in request.keys.items()}
    return digest(request.sql, declared, dict(request.input_names), dict(request.session), repr(config))


def _with_plan(job: Job, planned: Planned) -> Build:
    plan = planned.plan
    assert plan is not None
    versions = {found.table: found.version for found in planned.inputs.tables.values() if found.version is not None}
    visible = visible_columns(plan)
    properties = _properties(job, planned)
    if plan.root.unique:
        properties[IDS] = [plan.stored(name) for name in plan.root.ids]
    query = full_query(plan, Binding(versions))
    return Build(planned.table, query, tuple(c.name for c in plan.columns), visible if plan.hidden else None, properties,
                 new_state(job, planned, _consumed(planned)))


def _without_plan(job: Job, planned: Planned) -> Build:
    query = pinned_query(job.request.sql, planned.inputs)
    return Build(planned.table, query, (), None, _properties(job, planned), new_state(job, planned, _consumed(planned)))


def _properties(job: Job, planned: Planned) -> dict[str, Any]:
    return {VIEW: planned.table, OWNER: job.request.owner, DEFINITION: job.request.sql, INPUTS: planned.used,
            BUILD: digest(dict(planned.fingerprint))}


def _consumed(planned: Planned) -> dict[str, Consumed]:
    return {name: Consumed(found.table, found.commit.version, found.commit.at)
            for name, found in planned.inputs.tables.items() if found.commit is not None}


def put(job: Job, wanted: Build, stored: StoredView) -> Steps[int]:
    """Write the table and make the model's relation show it; the old one stays readable as long as possible."""
    engine, model = job.engine, model_name(job.request)
    there = yield from describe(engine, wanted.table)
    stands = there if wanted.table == model else (yield from describe(engine, model))
    in_the_way = there is not None and not there.is_delta
    place = with_suffix(model, NEW_SUFFIX) if in_the_way else wanted.table
    late_feed = job.config.column_mapping and (there is None or in_the_way or not _is_same(wanted, there))
    # the state is good with the last commit: a build that breaks off before it is made again
    first = replace(wanted, state=replace(wanted.state, trusted=False)) if late_feed else wanted
    yield from _hold(job, wanted, stands, stored)
    built = commit = yield from (_create(job, first, place) if there is None or in_the_way else
                                 _replace(job, first, there, stored))
    if late_feed:
        yield from statements.committed(engine, statements.switch_feed_on(place), wanted.state)
    if there is not None and in_the_way:
        yield from engine.ask(commands.drop(there.kind or "view", wanted.table))
        yield from engine.ask(statements.rename_table(place, wanted.table))
    yield from _show(job, wanted, stands)
    job.invocation.forget(model, wanted.table)
    if late_feed or in_the_way:
        commit = yield from history.latest(engine, wanted.table)
    job.invocation.pin(wanted.table, commit)
    return built.rows_written


def _create(job: Job, wanted: Build, place: str) -> Steps[Commit]:
    """Create the table. At its own name nothing stands; a draft elsewhere may have been left by a refresh that broke off."""

    def created(replace: bool) -> Steps[Rows]:
        statement = statements.create_table(place, wanted.query, job.config, wanted.properties, replace=replace)
        return statements.committed(job.engine, statement, wanted.state)

    try:
        yield from created(replace=place != wanted.table)
    except EngineFailure as failure:
        if not failure.is_any(_UNKNOWN_FILES):
            raise
        yield from created(replace=True)
    return (yield from history.latest(job.engine, place))


def _replace(job: Job, wanted: Build, there: Described, stored: StoredView) -> Steps[Commit]:
    """Write the table anew. Raises IDIVM-903 if another refresh was faster."""
    table = wanted.table
    statement = (statements.overwrite_table(table, wanted.query) if _is_same(wanted, there) else
                 statements.create_table(table, wanted.query, job.config, wanted.properties, replace=True))
    latest = stored.latest if stored.table == table else None
    if latest is None and not there.lost:
        latest = yield from history.latest(job.engine, table)
    guard = statements.Guard(f"idivm:{table}", latest.version) if latest is not None else None
    yield from statements.committed(job.engine, statement, wanted.state, guard)
    found = yield from history.latest(job.engine, table)
    if state.read(found.user_metadata) != wanted.state:
        raise IdivmError(finding(903, view=table, message="its rebuild was not applied", state=stored.sentence))
    return found


def _is_same(wanted: Build, there: Described) -> bool:
    """Whether the stored table was created by the same build: then new rows fit into it as it is."""
    names = tuple(attribute.name for attribute in there.columns)
    return (there.properties.get(BUILD) is not None and there.properties.get(BUILD) == wanted.properties.get(BUILD)
            and (not wanted.columns or names == wanted.columns))


def _hold(job: Job, wanted: Build, stands: Described | None, stored: StoredView) -> Steps[None]:
    """Let the model's view stay at the rows that it shows, while its table gets those of another definition.

    Their columns and types may differ from the view's, which would cast them, or fail.
    """
    shown = stands.properties.get(SHOWN) if stands is not None and stands.maintained == wanted.table else None
    if stands is None or shown in (None, wanted.state.shown) or stored.latest is None:
        return
    columns = tuple(attribute.name for attribute in stands.columns)
    rows = DELTA.table(wanted.table, stored.latest.version)
    properties = {VIEW: wanted.table, OWNER: job.request.owner}
    yield from job.engine.ask(statements.create_view(model_name(job.request), rows, columns, properties))


def _show(job: Job, wanted: Build, stands: Described | None) -> Steps[None]:
    """The model's relation, if it is a view over the table; a table that was there before goes."""
    if wanted.visible is None:
        return
    if stands is not None and stands.kind == "table":
        yield from job.engine.ask(commands.drop("table", model_name(job.request)))
    if stands is None or stands.maintained != wanted.table or stands.properties.get(SHOWN) != wanted.state.shown:
        yield from show(job, wanted.table, wanted.visible, wanted.state)


def show(job: Job, table: str, visible: tuple[str, ...], shown: State) -> Steps[None]:
    """Make the model's relation a view over its table, as it is in that state."""
    model = model_name(job.request)
    properties = {VIEW: table, OWNER: job.request.owner, SHOWN: shown.shown}
    yield from job.engine.ask(statements.create_view(model, DELTA.table(table, None), visible, properties))
    job.invocation.forget(model)
