"""The refresh of one model, as a generator of statements (`protocol.py` says how it is driven).

validate config → nothing new? done → plan → is the stored view the planned one? → apply an incremental refresh, or rebuild
with a reason. A forecast decides as the refresh would, and stops before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace

from dbt_idivm.cost.choice import REBUILD, Choice
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.refresh.apply import caches
from dbt_idivm.refresh.apply.adapted import adapt_stored
from dbt_idivm.refresh.apply.both import keep_log
from dbt_idivm.refresh.apply.build import (
    RefusedWithCaches,
    all_inputs,
    build,
    build_restricted,
    visible_columns,
    without_failing_plan,
)
from dbt_idivm.refresh.apply.compaction import compact
from dbt_idivm.refresh.apply.diffs import show_query
from dbt_idivm.refresh.apply.incremental import apply_changes, input_changes, rendered, strategy
from dbt_idivm.refresh.apply.publish import show
from dbt_idivm.refresh.apply.watermark import is_due
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.inputs import look_up, qualified, view_digest
from dbt_idivm.refresh.catalog.relations import describe
from dbt_idivm.refresh.catalog.state import NEVER, Kept
from dbt_idivm.refresh.catalog.stored_view import StoredView, read_stored_log, read_stored_view
from dbt_idivm.refresh.catalog.user_functions import describe_function
from dbt_idivm.refresh.checks import proof
from dbt_idivm.refresh.decide.adapting import Adapting, adapting
from dbt_idivm.refresh.decide.caching import reconsidered
from dbt_idivm.refresh.decide.choose import Decision, Ready, decide
from dbt_idivm.refresh.decide.config import model_config
from dbt_idivm.refresh.decide.costs import build_measure
from dbt_idivm.refresh.decide.fingerprint import LAYOUT, request_digest
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.observe import Observed, observe_sizes, observe_stored
from dbt_idivm.refresh.decide.outcome import Effect, Result, cost_of, migrated, named, outcome, summary
from dbt_idivm.refresh.decide.planning import plan_model
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.commits import CONCURRENT
from dbt_idivm.refresh.engine.engine import SPARK_DELTA, Engine
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.engine.ledger import NotAlone
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps, T
from dbt_idivm.refresh.protocol import Cost, Forecast, InputChange, Mode, ModelRequest, Outcome, Reply, Statement
from dbt_idivm.refresh.upkeep.auxiliary_tables import drop_obsolete
from dbt_idivm.refresh.upkeep.shared_caches import drop_unused
from dbt_idivm.script.plan import Cache

_LINES = 4  # of an engine's message
_TELLING = 10.0  # seconds
_TOO_OLD = ("DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION",)
_NO_REPLACE = ("UNSUPPORTED_FEATURE.TABLE_OPERATION",)


def refresh(request: ModelRequest, invocation: Invocation,
            engine: Engine = SPARK_DELTA) -> Generator[Statement, Reply, Outcome]:
    """Build the model or bring it up to date. Raises IdivmError; the view is then at its last committed state."""
    return (yield from _run(request, Client(engine, invocation), _refresh))


def forecast(request: ModelRequest, invocation: Invocation,
             engine: Engine = SPARK_DELTA) -> Generator[Statement, Reply, Forecast]:
    """What a refresh would do now. It reads what has changed, and writes nothing. Raises as the refresh would."""
    return (yield from _run(request, Client(engine, invocation), _forecast))


def _run(request: ModelRequest, client: Client, work: Callable[[Job, StoredView], Steps[T]]) -> Steps[T]:
    stored = StoredView(request.relation)
    try:
        job = Job(client, request, model_config(request.config))
        stored = yield from _stored(job)
        try:
            return (yield from work(job, stored))
        except EngineFailure as failure:
            if not failure.is_any(_TOO_OLD):
                raise
            # a pinned version that was superseded meanwhile cannot be read once it is old: pin again, once
            yield from _pin_again(job, "the versions of this run can no longer be read")
        except caches.Overtaken:
            yield from _pin_again(job, "another run refreshed a cache further")
        except NotAlone as found:
            if request.existing is None:
                raise
            # its rows may be wrong: they are replaced at once, not by the next run
            client.invocation.forget(found.table, stored.table, request.relation)
            job.warnings.append(f"{request.name}: {found.table} was written twice at the same time, and is rebuilt")
            stored = yield from _stored(job)
        return (yield from work(job, stored))
    except IdivmError as error:
        raise error.of_model(request.name) from error
    except EngineFailure as failure:
        raise IdivmError(_engine_finding(failure, stored)).of_model(request.name) from failure


def _stored(job: Job) -> Steps[StoredView]:
    return (yield from (read_stored_view if job.config.keeps_view else read_stored_log)(job.client, job.request))


def _refresh(job: Job, stored: StoredView) -> Steps[Outcome]:
    done = yield from build_restricted(job, stored) if job.request.restricted else _bring_up_to_date(job, stored)
    if job.config.output == "both":
        done = yield from keep_log(job, done)
    yield from drop_obsolete(job.client, job.request, done)
    yield from drop_unused(job.client, job.request, stored.state, done)
    return replace(done, warnings=tuple(job.warnings))


def _bring_up_to_date(job: Job, stored: StoredView, *, is_adapted: bool = False) -> Steps[Outcome]:
    """Observe the view, then for its caches and for itself: observe the inputs, choose, apply. `is_adapted`: its rows were taken
    over in this refresh already, which is done once."""
    done = yield from _nothing_new(job, stored)
    if done is not None:
        return done
    view = yield from _observed(job, stored)
    adapted = None if is_adapted else (yield from _adapted(view))
    if adapted is not None:
        return adapted
    try:
        reading, upkeep = yield from _with_caches(job, view)
    except EngineFailure as failure:
        if not failure.is_of_data:
            raise
        # a cache has rows that the SELECT may never evaluate
        return (yield from _without_failing_cache(view, failure))
    decided = yield from decide(reading)
    kept, change = reconsidered(decided, upkeep)
    if change is not None:
        changed = yield from _changed(job, stored, kept, change)
        if isinstance(changed, Outcome):
            return changed
        kept = changed
    work = replace(decided.work, planned=replace(decided.work.planned, kept=kept))
    try:
        return (yield from _apply(reading, replace(decided, work=work)))
    except (EngineFailure, RefusedWithCaches) as failure:
        if not kept.subviews or (isinstance(failure, EngineFailure) and not failure.is_of_data):
            raise
        return (yield from _without_failing_cache(view, failure))


def _adapted(view: Observed) -> Steps[Outcome | None]:
    """The stored rows taken over into a changed definition, and brought up to date; None if they are to be built again."""
    how = yield from adapting(view)
    taken = (yield from adapt_stored(how)) if how is not None else None
    if how is None or taken is None:
        return None
    job = view.work.job
    request = replace(job.request, existing="view" if how.work.planned.hidden else "table")
    stored = yield from read_stored_view(job.client, request)
    done = yield from _bring_up_to_date(replace(job, request=request), stored, is_adapted=True)
    return migrated(job, how.work.planned, done, how.found.summary, Effect(taken.written, deleted=taken.deleted))


def _changed(job: Job, stored: StoredView, kept: Kept, change: Finding) -> Steps[Outcome | Kept]:
    """Rebuild the view with other caches. Where these fail, which the user did not ask for, nothing has changed but what is tried
    the next time."""
    view = yield from _keeping(job, stored, kept, change)
    if view.work.planned.kept != kept:
        return NEVER
    try:
        reading, _ = yield from _with_caches(job, view)
        return (yield from _rebuild(reading, reading.work, change))
    except (EngineFailure, IdivmError) as failure:
        if not kept.subviews or isinstance(failure, caches.Overtaken | NotAlone):
            raise
        names = ", ".join(cache.table for cache in view.work.planned.caches)
        job.warnings.append(f"{job.request.name}: {names} was to be kept, but cannot be: {_first_line(failure)}")
        job.client.invocation.use(job.request.relation, stored.state.caches if stored.state is not None else ())
        return kept.given_up() if isinstance(failure, EngineFailure) and not failure.is_of_data else NEVER


def _first_line(failure: EngineFailure | IdivmError) -> str:
    return failure.first_line if isinstance(failure, EngineFailure) else failure.findings[0].summary


def _keeping(job: Job, stored: StoredView, kept: Kept, why: Finding) -> Steps[Observed]:
    """The view with other caches, for which it is rebuilt."""
    return Observed(Work(job, stored, (yield from plan_model(job, stored, kept))), why)


def _without_failing_cache(view: Observed, failure: EngineFailure | RefusedWithCaches) -> Steps[Outcome]:
    """Rebuild the view without its caches, of which one fails for a value. If they were chosen by cost, not by the user, it is
    maintained without them afterwards."""
    job, planned = view.work.job, view.work.planned
    if planned.kept.subviews:
        why = finding(422, caches=", ".join(cache.table for cache in planned.caches), message=_first_line(failure))
        view = yield from _keeping(job, view.work.stored, NEVER, why)
        job.client.invocation.use(job.request.relation, ())
        return (yield from _rebuild(view, view.work, why))
    assert isinstance(failure, EngineFailure)
    work = replace(view.work, planned=without_failing_plan(job, planned, failure))
    assert work.planned.refusal is not None
    return (yield from _rebuild(view, work, work.planned.refusal))


def _with_caches(job: Job, view: Observed) -> Steps[tuple[Observed, float]]:
    """The view, reading its caches, which have been brought up to date, and the estimated seconds of their refreshes."""
    invocation, seconds = job.client.invocation, 0.0
    invocation.use(job.request.relation, (cache.table for cache in view.work.planned.caches))
    for cache in view.work.planned.caches:
        with invocation.turn(cache.table):
            seen = yield from observe_stored((yield from caches.work_on(job, view.work.planned, cache)))
            done = yield from _maintain(seen)
            view = yield from _reading(view, cache, seen.work.stored, done.inputs)
        seconds += done.cost.estimate if done.cost is not None else 0.0
        if job.request.full_refresh:
            invocation.rebuild(cache.table)
    return view, seconds


def _observed(job: Job, stored: StoredView) -> Steps[Observed]:
    planned = yield from plan_model(job, stored)
    return (yield from observe_stored(Work(job, stored, planned)))


def _reading(view: Observed, cache: Cache, before: StoredView, inputs: Mapping[str, InputChange]) -> Steps[Observed]:
    """The view with a refreshed cache among its inputs; `before` is what was stored of the cache."""
    planned = yield from caches.read(view.work.job, view.work.planned, cache, before, inputs)
    return replace(view, work=replace(view.work, planned=planned))


def _maintain(seen: Observed) -> Steps[Outcome]:
    """Refresh a cache incrementally, or rebuild it. The caches that it reads are up to date."""
    return (yield from _apply(seen, (yield from decide(seen))))


def _apply(seen: Observed, decided: Decision) -> Steps[Outcome]:
    """Do what was decided for the view, or for a cache."""
    work, way = _noted(decided), decided.way
    done: Outcome | Finding
    if isinstance(way, Finding):
        done = yield from _rebuild(seen, work, way, decided.choice)
    else:
        plan, state = work.planned.plan, work.stored.state
        assert state is not None
        if not work.stored.shown and plan is not None:
            yield from (show(work.job, work.planned.table, visible_columns(plan), state) if work.planned.keeps_view else
                        show_query(work.job, state.shown))
        done = yield from apply_changes(replace(work, planned=replace(work.planned, proof=proof.read(state.proof))), way)
        if isinstance(done, Outcome) and done.mode == "incremental":
            yield from compact(work.job, work.stored)
    if isinstance(done, Finding):  # the chosen way failed
        return (yield from _rebuild(seen, decided.work, done))
    return _accounted(work.job.client.invocation, work.stored.table, decided.choice, done)


def _noted(decided: Decision) -> Work:
    """What is to be done, whose commit says how long it was estimated to take."""
    work, choice = decided.work, decided.choice
    return work if choice is None else replace(work, note=replace(work.note, estimate=round(choice.estimate, 2)))


def _accounted(invocation: Invocation, view: str, choice: Choice | None, done: Outcome) -> Outcome:
    """The outcome with what it cost, from which the invocation learns."""
    if choice is None or done.mode == "noop":
        return done
    now = invocation.seconds()
    if choice.is_read:
        invocation.learn_reading(view, choice.reads, choice.decided - choice.started)
    invocation.learn(view, choice.chosen.name, choice.chosen.measure, now - choice.decided)
    return replace(done, cost=cost_of(choice, now - choice.started))


def _rebuild(seen: Observed, work: Work, reason: Finding, choice: Choice | None = None) -> Steps[Outcome]:
    """`choice`: by which it is rebuilt; without one the duration of its writes is what is learned, if it is not mostly that of an
    engine that has just started, and compiles and loads what it needs: a view is often built first of all."""
    job, planned = work.job, work.planned
    if not planned.sizes:
        planned = (yield from observe_sizes(replace(seen, work=work))).work.planned
    planned = replace(planned, fingerprint={**planned.fingerprint, LAYOUT: job.config.layout})
    before = job.client.writing
    done = yield from build(replace(work, planned=planned), None if job.request.existing is None else reason)
    seconds = job.client.writing - before
    if choice is None and (measure := build_measure(planned, done.rows_inserted)) is not None:
        job.client.invocation.learn(planned.table, REBUILD, measure if seconds >= _TELLING else None, seconds)
    return done


def _forecast(job: Job, stored: StoredView) -> Steps[Forecast]:
    """The walk of a refresh, up to where it would write first."""
    done = yield from _nothing_new(job, stored)
    if done is not None:
        return Forecast("noop", None, None, done.inputs)
    view = yield from _observed(job, stored)
    adapted = yield from adapting(view)
    if adapted is not None:
        return _forecast_adapted(adapted)
    for cache in view.work.planned.caches:
        work = yield from caches.work_on(job, view.work.planned, cache)
        first = yield from decide((yield from observe_stored(work)))
        if not isinstance(first.way, Ready) or first.way.application is not None:
            return _forecast_before(view, first)
        view = yield from _reading(view, cache, work.stored, _input_changes(first.work, first.way))
    decided = yield from decide(view)
    kept, change = reconsidered(decided, 0.0)  # caches with something to do are not forecast
    if change is not None and (yield from _keeping(job, stored, kept, change)).work.planned.kept == kept:
        return _forecast_rebuild(decided.work, change)
    if not isinstance(decided.way, Ready):
        return replace(_forecast_rebuild(decided.work, decided.way), cost=_forecast_cost(decided))
    inputs, script = _input_changes(decided.work, decided.way), rendered(decided.work, decided.way)
    if script is None:
        return Forecast("noop", None, None, inputs)
    how = strategy(decided.work.planned, script.application)
    return Forecast("incremental", *how, inputs, script.shape, job.dialect.sql(script.statement), _forecast_cost(decided))


def _forecast_adapted(how: Adapting) -> Forecast:
    """The forecast where stored rows are taken over. What is to be refreshed then is forecast of them, not read."""
    state = how.state
    inputs = {named(how.work.job.request, name): InputChange(before.version if before is not None else None, each.version)
              for name, each in how.inputs.items() for before in (state.inputs.get(name),)}
    return Forecast("migrated", None, how.found.summary, inputs)


def _forecast_cost(decided: Decision) -> Cost | None:
    return None if decided.choice is None else cost_of(decided.choice, None)


def _forecast_rebuild(work: Work, why: Finding) -> Forecast:
    mode: Mode = "create" if work.job.request.existing is None else "full"
    reason = work.planned.refusal if mode == "create" else why
    return Forecast(mode, "full", summary(reason), all_inputs(work))


def _forecast_before(view: Observed, first: Decision) -> Forecast:
    """The forecast where a cache has something to do: what its refresh will change for the view is not known before."""
    if view.reason is not None:
        return _forecast_rebuild(view.work, view.reason)
    planned, way = first.work.planned, first.way
    script = rendered(first.work, way) if isinstance(way, Ready) else None
    if not isinstance(way, Ready) or script is None:
        return Forecast("incremental", None, f"its cache {planned.table} is rebuilt first", {})
    reason = f"its cache {planned.table} is refreshed first, and its changes are those that the view gets"
    how, _ = strategy(planned, script.application)
    return Forecast("incremental", how, reason, _input_changes(first.work, way), script.shape,
                    first.work.job.dialect.sql(script.statement))


def _input_changes(work: Work, ready: Ready) -> dict[str, InputChange]:
    return input_changes(work.job.request, work.planned, ready.changes)


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
            pinned = yield from history.pinned(job.client, consumed.table)
        except EngineFailure:
            return None
        if (pinned.version, pinned.at) != (consumed.version, consumed.at):
            return None
    for name, text in state.views.items():
        facts = yield from job.client.once(("facts", name), lambda name=name: describe(job.client, name))  # type: ignore[misc]
        if facts is None or facts.text is None or text != view_digest(
                qualified(job.client.engine, facts.text, facts.namespace), facts.settings):
            return None
    for name, known in state.functions.items():
        if (yield from describe_function(job.client, name)).digest != known:
            return None
    if is_due(job, stored, {}, {}):
        return None
    assert stored.latest is not None
    history.pin(job.client, stored.table, stored.latest)
    found = state.caches
    job.client.invocation.use(job.request.relation, found)
    inputs = {named(job.request, name): InputChange(consumed.version, consumed.version, 0)
              for name, consumed in state.inputs.items() if name not in found}
    return outcome(job, Result("noop", stored.table != job.request.relation, inputs, caches=found))


def _pin_again(job: Job, why: str) -> Steps[None]:
    inputs = yield from look_up(job.client, job.request.sql)
    tables = [found.table for found in inputs.tables.values()]
    job.client.invocation.forget(*tables, *inputs.tables)
    job.warnings.append(f"{job.request.name} reads newer versions of {', '.join(tables)} than the models before it: {why}")


def _engine_finding(failure: EngineFailure, stored: StoredView) -> Finding:
    # what follows is the whole query plan
    lines = [line for line in failure.error.message.splitlines() if line.strip()][:_LINES] or [failure.error.error_class]
    message = "\n".join(lines).rstrip(".")
    if failure.is_any(CONCURRENT):
        return finding(903, view=stored.table, message=message, state=stored.sentence)
    if failure.is_any(_NO_REPLACE) and failure.statement.kind == "write":
        return finding(506, view=stored.table, message=failure.first_line.rstrip(".;"), state=stored.sentence)
    return finding(902, statement=failure.statement.label, message=message, state=stored.sentence)
