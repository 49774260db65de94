"""The refresh of one model, as a generator of statements (`protocol.py` says how it is driven).

validate config → nothing new? done → plan → is the stored view the planned one? → lead it on, or rebuild with a reason.
A forecast decides as the refresh would, and stops before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.refresh.apply import caches
from dbt_idivm.refresh.apply.build import all_inputs, build, build_restricted, request_digest, show, visible_columns
from dbt_idivm.refresh.apply.incremental import Ready, apply_changes, input_changes, prepare, strategy
from dbt_idivm.refresh.apply.watermark import is_due
from dbt_idivm.refresh.catalog.inputs import look_up, qualified, view_digest
from dbt_idivm.refresh.catalog.invocation import Invocation
from dbt_idivm.refresh.catalog.relations import describe
from dbt_idivm.refresh.catalog.stored_view import StoredView, model_name, read_stored_view
from dbt_idivm.refresh.checks import proof
from dbt_idivm.refresh.decide.config import model_config
from dbt_idivm.refresh.decide.outcome import Result, named, outcome, summary
from dbt_idivm.refresh.decide.planning import LAYOUT, Job, Planned, difference, kept_layout, plan_model
from dbt_idivm.refresh.engine.client import Engine, EngineFailure, Steps, T
from dbt_idivm.refresh.protocol import Forecast, InputChange, Mode, ModelRequest, Outcome, Refresh, Reply, Statement
from dbt_idivm.refresh.upkeep import auxiliary_tables
from dbt_idivm.script.dialect import DELTA

__all__ = ["Refresh", "forecast", "refresh"]

_LINES = 4  # of an engine's message
_TOO_OLD = ("DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION",)
_CONCURRENT = ("DELTA_CONCURRENT_*", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")


def refresh(request: ModelRequest, invocation: Invocation) -> Generator[Statement, Reply, Outcome]:
    """Build the model or bring it up to date. Raises IdivmError; the view is then at its last committed state."""
    return (yield from _run(request, invocation, _refresh))


def forecast(request: ModelRequest, invocation: Invocation) -> Generator[Statement, Reply, Forecast]:
    """What a refresh would do now. It reads what has changed, and writes nothing. Raises as the refresh would."""
    return (yield from _run(request, invocation, _forecast))


def _run(request: ModelRequest, invocation: Invocation, work: Callable[[Job, StoredView], Steps[T]]) -> Steps[T]:
    engine = Engine()
    stored = StoredView(model_name(request))
    try:
        job = Job(engine, invocation, request, model_config(request.config))
        stored = yield from read_stored_view(engine, invocation, request)
        try:
            return (yield from work(job, stored))
        except EngineFailure as failure:
            if not failure.is_any(_TOO_OLD):
                raise
            # a pinned version that was superseded meanwhile cannot be read once it is old: pin anew, once
            yield from _pin_anew(job)
            return (yield from work(job, stored))
    except IdivmError as error:
        raise error.of_model(request.name) from error
    except EngineFailure as failure:
        raise IdivmError(_engine_finding(failure, stored)).of_model(request.name) from failure


@dataclass(frozen=True)
class _Decision:
    """How the view is to be brought up to date: led on, or rebuilt for the reason."""

    planned: Planned
    way: Ready | Finding


def _refresh(job: Job, stored: StoredView) -> Steps[Outcome]:
    done = yield from build_restricted(job, stored) if job.request.restricted else _bring_up_to_date(job, stored)
    yield from auxiliary_tables.clear(job, done)
    return done


def _bring_up_to_date(job: Job, stored: StoredView) -> Steps[Outcome]:
    done = yield from _nothing_new(job, stored)
    if done is not None:
        return done
    planned = yield from plan_model(job, stored)
    for cache in planned.caches:
        work = yield from caches.work_on(job, planned, cache)
        done = yield from _maintain(*work)
        planned = yield from caches.read(job, planned, cache, work[1], done.inputs)
    return (yield from _maintain(job, stored, planned))


def _maintain(job: Job, stored: StoredView, planned: Planned) -> Steps[Outcome]:
    """Lead the view, or a cache, on, or rebuild it. The caches that it reads are up to date."""
    decided = yield from _decide(job, stored, planned)
    way: Outcome | Finding | Ready = decided.way
    if isinstance(way, Ready):
        plan, state = decided.planned.plan, stored.state
        assert state is not None
        if not stored.shown and plan is not None:
            yield from show(job, decided.planned.table, visible_columns(plan), state)
        way = yield from apply_changes(job, stored, replace(decided.planned, proof=proof.read(state.proof)), way)
    return way if isinstance(way, Outcome) else (yield from _rebuild(job, stored, decided.planned, way))


def _forecast(job: Job, stored: StoredView) -> Steps[Forecast]:
    done = yield from _nothing_new(job, stored)
    if done is not None:
        return Forecast("noop", None, None, done.inputs)
    planned = yield from plan_model(job, stored)
    for cache in planned.caches:
        work, stands, plan = yield from caches.work_on(job, planned, cache)
        first = yield from _decide(work, stands, plan)
        if not isinstance(first.way, Ready) or first.way.script is not None:
            return (yield from _forecast_before(job, stored, planned, first))
        inputs = input_changes(work, first.planned, first.way.change)
        planned = yield from caches.read(job, planned, cache, stands, inputs)
    decided = yield from _decide(job, stored, planned)
    if isinstance(decided.way, Ready):
        change, script = decided.way.change, decided.way.script
        inputs = input_changes(job, decided.planned, change)
        if script is None:
            return Forecast("noop", None, None, inputs)
        return Forecast("incremental", *strategy(decided.planned, script), inputs, script.shape, DELTA.sql(script.merge))
    return _forecast_rebuild(job, stored, decided.planned, decided.way)


def _forecast_rebuild(job: Job, stored: StoredView, planned: Planned, why: Finding) -> Forecast:
    mode: Mode = "create" if job.request.existing is None else "full"
    reason = planned.refusal if mode == "create" else why
    return Forecast(mode, "full", summary(reason), all_inputs(job, stored, planned))


def _forecast_before(job: Job, stored: StoredView, planned: Planned, first: _Decision) -> Steps[Forecast]:
    """The forecast where a cache has something to do: what its refresh will change for the view is not known before."""
    planned, why = yield from _why_rebuilt(job, stored, planned)
    if why is not None:
        return _forecast_rebuild(job, stored, planned, why)
    table = first.planned.table
    if not isinstance(first.way, Ready) or first.way.script is None:
        return Forecast("incremental", None, f"its cache {table} is rebuilt first", {})
    change, script = first.way.change, first.way.script
    reason = f"its cache {table} is refreshed first, and its changes are those that the view gets"
    return Forecast("incremental", strategy(first.planned, script)[0], reason, input_changes(job, first.planned, change),
                    script.shape, DELTA.sql(script.merge))


def _decide(job: Job, stored: StoredView, planned: Planned) -> Steps[_Decision]:
    planned, reason = yield from _why_rebuilt(job, stored, planned)
    return _Decision(planned, reason or (yield from prepare(job, stored, planned)))


def _why_rebuilt(job: Job, stored: StoredView, planned: Planned) -> Steps[tuple[Planned, Finding | None]]:
    """The plan to go by, and why what is stored cannot be led on by it; None if it can."""
    reason: Finding | None = finding(401) if job.request.full_refresh else stored.reason
    if reason is None:
        planned = kept_layout(job, stored, planned)
        reason = yield from difference(job, stored, planned)
    if reason is None and planned.table != stored.table:
        reason = finding(402, what="another set of stored columns")
    if reason is None and not planned.repeatable:
        reason = planned.refusal
    return planned, reason


def _rebuild(job: Job, stored: StoredView, planned: Planned, reason: Finding) -> Steps[Outcome]:
    planned = replace(planned, fingerprint={**planned.fingerprint, LAYOUT: job.config.layout})
    return (yield from build(job, stored, planned, None if job.request.existing is None else reason))


def _nothing_new(job: Job, stored: StoredView) -> Steps[Outcome | None]:
    """A no-op by version numbers alone: the same request, and no input has a newer version. None if that is not so."""
    state = stored.state
    usable = stored.reason is None and stored.shown and not job.request.full_refresh
    if state is None or not usable or state.volatile or state.request != request_digest(job):
        return None
    if state.plan.get(LAYOUT) != job.config.layout:
        return None
    for consumed in state.inputs.values():
        try:
            pinned = yield from job.invocation.pinned(job.engine, consumed.table)
        except EngineFailure:
            return None
        if (pinned.version, pinned.at) != (consumed.version, consumed.at):
            return None
    for name, text in state.views.items():
        facts = yield from job.invocation.once(("facts", name), lambda name=name: describe(job.engine, name))  # type: ignore[misc]
        if facts is None or facts.text is None or text != view_digest(
                qualified(facts.text, facts.namespace), facts.settings):
            return None
    if is_due(job, stored, {}):
        return None
    assert stored.latest is not None
    job.invocation.pin(stored.table, stored.latest)
    found = caches.caches_in(job, state)
    inputs = {named(job, name): InputChange(consumed.version, consumed.version, 0)
              for name, consumed in state.inputs.items() if name not in found}
    return outcome(job, Result("noop", stored.table != model_name(job.request), inputs, caches=found))


def _pin_anew(job: Job) -> Steps[None]:
    inputs = yield from look_up(job.engine, job.invocation, job.request.sql)
    tables = [found.table for found in inputs.tables.values()]
    job.invocation.forget(*tables, *inputs.tables)
    job.warnings.append(f"{job.request.name} reads newer versions of {', '.join(tables)} than the models before it: "
                        "the versions of this run can no longer be read")


def _engine_finding(failure: EngineFailure, stored: StoredView) -> Finding:
    # what follows is the whole query plan
    lines = [line for line in failure.error.message.splitlines() if line.strip()][:_LINES] or [failure.error.error_class]
    message = "\n".join(lines).rstrip(".")
    if failure.is_any(_CONCURRENT):
        return finding(903, view=stored.table, message=message, state=stored.sentence)
    return finding(902, statement=failure.statement.label, message=message, state=stored.sentence)
