"""Building a view by running its query: the first time, and whenever an incremental refresh would be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.errors import Finding, IdivmError, finding, nearest
from dbt_idivm.refresh import commands, history, keys, writing
from dbt_idivm.refresh.inputs import pinned_query
from dbt_idivm.refresh.outcome import Account, Effect, named, outcome, summary
from dbt_idivm.refresh.planning import Job, Planned
from dbt_idivm.refresh.protocol import InputChange, Outcome, Statement
from dbt_idivm.refresh.relations import BUILD, DEFINITION, IDS, INPUTS, OWNER, VIEW, Described, describe
from dbt_idivm.refresh.standing import HIDDEN_SUFFIX, Standing, model_name
from dbt_idivm.refresh.state import Consumed, State, digest
from dbt_idivm.refresh.steps import Steps
from dbt_idivm.relation_name import with_suffix
from dbt_idivm.script.bind import full_query
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import verbatim

NEW_SUFFIX = "__idivm_new"  # a table that is built while something else still stands at its name


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


def build(job: Job, standing: Standing, planned: Planned, reason: Finding | None) -> Steps[Outcome]:
    """Create the view (`reason` is None) or rebuild it."""
    for name, key in planned.keys.items():
        yield from keys.verify(job.engine, job.invocation, planned.inputs.tables[name], key)
    wanted = _with_plan(job, planned) if planned.plan else _without_plan(job, planned)
    yield from _verify_unique_key(job, planned, wanted)
    written = yield from put(job, wanted)
    inputs = all_inputs(job, standing, planned)
    # a first build that cannot be maintained says so at once
    why = summary(reason or planned.refusal)
    account = Account("create" if reason is None else "full", wanted.hidden, inputs, Effect(inserted=written),
                      None if reason is None else "full", why)
    return outcome(job, account, planned)


def all_inputs(job: Job, standing: Standing, planned: Planned) -> dict[str, InputChange]:
    """The inputs of a rebuild: it reads all their rows."""
    before = standing.state.inputs if standing.state else {}
    return {named(job, name): InputChange(before[name].version if name in before else None, found.version)
            for name, found in planned.inputs.tables.items() if found.version is not None}


def _verify_unique_key(job: Job, planned: Planned, wanted: Build) -> Steps[None]:
    """The user's `unique_key` names output columns; no plan is made from it, but it has to hold. Raises IDIVM-305."""
    given = {name.lower() for name in job.config.unique_key}
    ids = {str(name).lower() for name in wanted.properties.get(IDS, ())}
    if not given or (ids and ids <= given):
        return
    visible = [c.name for c in planned.plan.columns if not c.hidden] if planned.plan else _names(wanted.query)
    if unknown := given - {name.lower() for name in visible}:
        raise IdivmError(finding(304, column=sorted(unknown)[0], source=job.request.name, declared="`unique_key`",
                                 nearest=", ".join(f"`{each}`" for each in nearest(sorted(unknown)[0], visible))))
    key = keys.Key(job.config.unique_key, "`unique_key`")
    rows = subquery(wanted.query, "definition")
    broken = yield from keys.repeated(job.engine, rows, key, f"check unique_key of {job.request.name}")
    if broken is not None:
        raise keys.not_unique(job.request.name, key, broken)


def _names(query: exp.Expr) -> list[str]:
    return [str(each.alias_or_name) for each in query.selects] if isinstance(query, exp.Query) else []


def build_restricted(job: Job) -> Steps[Outcome]:
    """A plain table from what dbt gives under --empty or --sample; its state says that nothing may build upon it."""
    query = verbatim(job.request.sql)
    model = model_name(job.request)
    state = State({}, {}, run=job.request.run_id, trusted=False)
    properties = {VIEW: model, OWNER: job.request.owner, DEFINITION: job.request.sql}
    wanted = Build(model, query, (), None, properties, state)
    written = yield from put(job, wanted)
    effect, reason = Effect(inserted=written), finding(414).summary
    if job.request.existing is None:
        return outcome(job, Account("create", False, {}, effect, None, reason))
    return outcome(job, Account("full", False, {}, effect, "full", reason))


def new_state(job: Job, planned: Planned, inputs: Mapping[str, Consumed]) -> State:
    views = {name: digest(text) for name, text in planned.inputs.views.items()}
    return State(inputs, planned.fingerprint, request_digest(job), views, job.request.run_id,
                 volatile=not planned.repeatable)


def request_digest(job: Job) -> str:
    """All that the refresh is asked with. While it and the inputs stay the same, there is nothing to plan."""
    request, config = job.request, job.config
    declared = {name: [(key.columns, key.source) for key in found] for name, found in request.keys.items()}
    return digest(request.sql, declared, dict(request.input_names), dict(request.session), repr(config))


def _with_plan(job: Job, planned: Planned) -> Build:
    plan = planned.plan
    assert plan is not None
    versions = {found.table: found.version for found in planned.inputs.tables.values() if found.version is not None}
    visible = tuple(c.name for c in plan.columns if not c.hidden)
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


def put(job: Job, wanted: Build) -> Steps[int]:
    """Write the table and make the model's relation show it; the old one stays readable as long as possible."""
    engine, model = job.engine, model_name(job.request)
    there = yield from describe(engine, wanted.table)
    stands = there if wanted.table == model else (yield from describe(engine, model))
    in_the_way = there is not None and not there.is_delta
    place = with_suffix(model, NEW_SUFFIX) if in_the_way else wanted.table
    fits = there is not None and not in_the_way and _is_same(wanted, there)
    late_feed = job.config.column_mapping and not fits
    # the state is good with the last commit: a build that breaks off before it is made again
    state = replace(wanted.state, trusted=False) if late_feed else wanted.state
    yield from writing.committed(engine, _statement(job, wanted, place, fits, there is not None), state)
    if late_feed:
        yield from writing.committed(engine, writing.switch_feed_on(place), wanted.state)
    if in_the_way and there is not None:
        yield from engine.ask(commands.drop(there.kind or "view", wanted.table))
        yield from engine.ask(writing.rename_table(place, wanted.table))
    yield from _show(job, wanted, stands)
    job.invocation.forget(model, wanted.table)
    commits = history.commits((yield from engine.ask(commands.history(wanted.table, 2 if late_feed else 1))))
    job.invocation.pin(wanted.table, commits[0])
    return commits[-1].rows_written


def _statement(job: Job, wanted: Build, place: str, fits: bool, replaces: bool) -> Statement:
    if fits:
        return writing.overwrite_table(wanted.table, wanted.query)
    return writing.create_table(place, wanted.query, job.config, wanted.properties, replace=replaces)


def _is_same(wanted: Build, there: Described) -> bool:
    """Whether the stored table was created by the same build: then new rows fit into it as it is."""
    names = tuple(attribute.name for attribute in there.columns)
    return (there.properties.get(BUILD) is not None and there.properties.get(BUILD) == wanted.properties.get(BUILD)
            and (not wanted.columns or names == wanted.columns))


def _show(job: Job, wanted: Build, stands: Described | None) -> Steps[None]:
    """The model's relation: the table itself, or a view over it; what was there before goes."""
    engine, model = job.engine, model_name(job.request)
    if wanted.visible is None:
        hidden = with_suffix(model, HIDDEN_SUFFIX)
        if stands is not None and stands.kind == "view" and stands.maintained == hidden:
            yield from engine.ask(commands.drop("table", hidden))
        return
    if stands is not None and stands.kind == "table":
        yield from engine.ask(commands.drop("table", model))
    shown = stands is not None and stands.kind == "view" and stands.maintained == wanted.table
    if not shown or tuple(a.name for a in stands.columns) != wanted.visible:  # type: ignore[union-attr]
        yield from engine.ask(writing.create_view(model, wanted.table, wanted.visible,
                                                       {VIEW: wanted.table, OWNER: job.request.owner}))
