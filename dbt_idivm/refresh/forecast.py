"""Forecast what the refresh of one model would do now. It decides like `driver.py`, and stops before anything is written."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from dbt_idivm.cost.choice import Choice
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import Finding
from dbt_idivm.refresh.apply import caches
from dbt_idivm.refresh.apply.build import all_inputs
from dbt_idivm.refresh.apply.incremental import input_changes, rendered, strategy
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.changes.verify_keys import verify_changes
from dbt_idivm.refresh.checks.keys import BrokenKey
from dbt_idivm.refresh.decide.adapting import Adapting, adapting, estimated
from dbt_idivm.refresh.decide.caching import reconsidered
from dbt_idivm.refresh.decide.choose import Decision, Ready, decide
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.observe import Observed, observe_stored
from dbt_idivm.refresh.decide.outcome import cost_of, named, summary
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.engine import SPARK_DELTA, Engine
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.protocol import Cost, Forecast, InputChange, Mode, Reply, Statement
from dbt_idivm.refresh.walk import keeping, nothing_new, observed, reading_cache, run, warn_of_uncached


def forecast(
    request: ModelRequest, invocation: Invocation, engine: Engine = SPARK_DELTA
) -> Generator[Statement, Reply, Forecast]:
    """What a refresh would do now. Reads the changes, and writes nothing. Raises as the refresh would."""
    return (yield from run(request, Client(engine, invocation), _forecast))


def _forecast(job: Job, stored: StoredView) -> Steps[Forecast]:
    found = yield from _foreseen(job, stored)
    return replace(found, warnings=tuple(job.warnings))


def _foreseen(job: Job, stored: StoredView) -> Steps[Forecast]:
    """The steps of a refresh, up to its first write."""
    done = yield from nothing_new(job, stored)
    if done is not None:
        return Forecast("noop", None, None, done.inputs)
    view = yield from observed(job, stored)
    adapted = yield from adapting(view)
    if adapted is not None:
        return _adapted(adapted)
    try:
        return (yield from _maintained(view))
    except BrokenKey as broken:
        return _rebuild(view.work, broken.findings[0])


def _maintained(view: Observed) -> Steps[Forecast]:
    """As `driver._maintained`."""
    job = view.work.job
    for cache in view.work.planned.caches:
        work = yield from caches.work_on(job, view.work.planned, cache)
        first = yield from decide((yield from observe_stored(work)))
        if not isinstance(first.action, Ready) or first.action.application is not None:
            return _before(view, first)
        view = yield from reading_cache(view, cache, work.stored, _input_changes(first.work, first.action))
    decided = yield from decide(view)
    warn_of_uncached(decided.work)
    kept, change = reconsidered(decided, 0.0)  # caches that have work to do are not forecast
    if change is not None and (yield from keeping(view, kept, change)).work.planned.kept == kept:
        return _rebuild(decided.work, change)
    if not isinstance(decided.action, Ready):
        return replace(_rebuild(decided.work, decided.action), cost=_cost(decided.choice))
    yield from verify_changes(job.client, decided.action.changes.unchecked, job.config.verify, {})
    inputs, script = _input_changes(decided.work, decided.action), rendered(decided.work, decided.action)
    if script is None:
        return Forecast("noop", None, None, inputs)
    how = strategy(decided.work.planned, script.application)
    return Forecast("incremental", *how, inputs, script.shape, job.dialect.sql(script.statement), _cost(decided.choice))


def _adapted(how: Adapting) -> Forecast:
    """The forecast of a migration. The refresh that follows it is not forecast: its cost is estimated for the rows after the
    migration."""
    state = how.state
    inputs = {
        named(how.work.job.request, name): InputChange(before.version if before is not None else None, each.version)
        for name, each in how.inputs.items()
        if name in how.work.planned.own_inputs
        for before in (state.inputs.get(name),)
    }
    cost = _cost(estimated(how.later, how.found))
    return Forecast("migrated", None, how.found.summary, inputs, cost=cost, then=_cost(how.then))


def _cost(choice: Choice | None) -> Cost | None:
    return None if choice is None else cost_of(choice, None)


def _rebuild(work: Work, why: Finding) -> Forecast:
    mode: Mode = "create" if work.job.request.existing is None else "full"
    reason = work.planned.why_no_plan if mode == "create" else why
    return Forecast(mode, "full", summary(reason), all_inputs(work))


def _before(view: Observed, first: Decision) -> Forecast:
    """The forecast if a cache has work to do. What its refresh will change for the view is not known in advance."""
    if view.reason is not None:
        return _rebuild(view.work, view.reason)
    planned, action = first.work.planned, first.action
    script = rendered(first.work, action) if isinstance(action, Ready) else None
    if not isinstance(action, Ready) or script is None:
        return Forecast("incremental", None, f"its cache {planned.table} is rebuilt first", {})
    reason = f"its cache {planned.table} is refreshed first, and its changes are those that the view gets"
    how, _ = strategy(planned, script.application)
    return Forecast(
        "incremental", how, reason, _input_changes(first.work, action), script.shape, first.work.job.dialect.sql(script.statement)
    )


def _input_changes(work: Work, ready: Ready) -> dict[str, InputChange]:
    return input_changes(work.job.request, work.planned, ready.changes)
