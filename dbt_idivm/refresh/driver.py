"""The refresh of one model, as a generator of statements (`protocol.py` explains how it is driven).

validate the config → nothing new? done → plan → is the stored view the planned one? → apply an incremental refresh, or rebuild
with a reason.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from dbt_idivm.cost.choice import REBUILD, Choice
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.refresh.apply import caches
from dbt_idivm.refresh.apply.adapted import adapt_stored
from dbt_idivm.refresh.apply.both import keep_log
from dbt_idivm.refresh.apply.build import (
    RefusedWithCaches,
    build,
    build_restricted,
    without_failing_plan,
)
from dbt_idivm.refresh.apply.compaction import compact
from dbt_idivm.refresh.apply.confirm import confirm
from dbt_idivm.refresh.apply.diffs import show_query
from dbt_idivm.refresh.apply.incremental import Unreached, apply_changes
from dbt_idivm.refresh.apply.publish import show
from dbt_idivm.refresh.apply.watermark import Outnumbered
from dbt_idivm.refresh.catalog.state import NEVER, Kept
from dbt_idivm.refresh.catalog.stored_view import StoredView, read_stored_view
from dbt_idivm.refresh.checks import plan_proof
from dbt_idivm.refresh.checks.keys import BrokenKey
from dbt_idivm.refresh.decide.adapting import adapting
from dbt_idivm.refresh.decide.caching import reconsidered
from dbt_idivm.refresh.decide.choose import Decision, Ready, decide
from dbt_idivm.refresh.decide.costs import build_measure
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.observe import Observed, observe_sizes, observe_stored
from dbt_idivm.refresh.decide.outcome import Effect, cost_of, migrated
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.engine import SPARK_DELTA, Engine
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.engine.ledger import NotAlone
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Outcome, Reply, Statement
from dbt_idivm.refresh.upkeep.auxiliary_tables import drop_obsolete
from dbt_idivm.refresh.upkeep.shared_caches import drop_unused
from dbt_idivm.refresh.walk import keeping, nothing_new, observed, reading_cache, run, warn_of_uncached, with_found_keys

_TELLING = 10.0  # seconds from which the duration of a build is representative


def refresh(request: ModelRequest, invocation: Invocation, engine: Engine = SPARK_DELTA) -> Generator[Statement, Reply, Outcome]:
    """Build the model or bring it up to date. Raises IdivmError; the view then stays at its last committed state."""
    return (yield from run(request, Client(engine, invocation), _refresh))


def _refresh(job: Job, stored: StoredView) -> Steps[Outcome]:
    done = yield from build_restricted(job, stored) if job.request.restricted else _bring_up_to_date(job, stored)
    yield from confirm(job.client, job.request.relation)
    if job.config.output == "both":
        done = yield from keep_log(job, done)
        yield from confirm(job.client, job.request.relation)
    yield from drop_obsolete(job.client, job.request, done)
    yield from drop_unused(job.client, job.request, stored.state, done)
    return replace(done, warnings=tuple(job.warnings))


def _bring_up_to_date(job: Job, stored: StoredView, *, is_adapted: bool = False) -> Steps[Outcome]:
    """Observe the view; then, for its caches and for itself, observe the inputs, choose and apply. `is_adapted`: whether its rows
    were already migrated in this refresh, which is done only once."""
    done = yield from nothing_new(job, stored)
    if done is not None:
        return done
    view = yield from observed(job, stored)
    adapted = None if is_adapted else (yield from _adapted(view))
    if adapted is not None:
        return adapted
    if view.reason is not None:
        view = yield from with_found_keys(view, view.reason)
    try:
        return (yield from _maintained(view))
    except BrokenKey as broken:
        view = yield from with_found_keys(view, broken.findings[0])
    try:
        return (yield from _maintained(view))
    except BrokenKey as broken:  # of an input that is read at a newer version than the keys were looked for
        return (yield from _maintained((yield from with_found_keys(view, broken.findings[0], {}))))


def _maintained(view: Observed) -> Steps[Outcome]:
    """Bring the caches of the view up to date, and the view itself. Raises BrokenKey if a key that nobody declared does not
    hold."""
    job = view.work.job
    try:
        reading, upkeep = yield from _with_caches(job, view)
    except EngineFailure as failure:
        if not failure.is_of_data:
            raise
        # a cache may have rows that the SELECT never evaluates
        return (yield from _without_failing_cache(view, failure))
    decided = yield from _decided(reading)
    kept, change = reconsidered(decided, upkeep)
    if view.reason is None and isinstance(decided.action, Finding) and decided.work.unverified is None:
        again = yield from with_found_keys(view, decided.action)
        if again.work.planned.found != view.work.planned.found:
            return (yield from _maintained(again))
    if change is not None:
        changed = yield from _changed(view, kept, change)
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
    """Migrate the stored rows to a changed definition, and bring them up to date; None if the view has to be rebuilt."""
    how = yield from adapting(view)
    taken = (yield from adapt_stored(how)) if how is not None else None
    if how is None or taken is None:
        return None
    job = view.work.job
    request = replace(job.request, existing="view" if how.work.planned.hidden else "table")
    stored = yield from read_stored_view(job.client, request)
    done = yield from _bring_up_to_date(replace(job, request=request), stored, is_adapted=True)
    return migrated(job, how.work.planned, done, how.found.summary, Effect(taken.written, taken.updated, taken.deleted))


def _changed(before: Observed, kept: Kept, change: Finding) -> Steps[Outcome | Kept]:
    """Rebuild the view with other caches. If that fails, which the user did not ask for, nothing changes except which caches are
    tried next time: these are returned."""
    job, stored = before.work.job, before.work.stored
    view = yield from keeping(before, kept, change)
    if view.work.planned.kept != kept:
        return NEVER
    try:
        reading, _ = yield from _with_caches(job, view)
        return (yield from _rebuild(reading, reading.work, change))
    except (EngineFailure, IdivmError) as failure:
        if not kept.subviews or isinstance(failure, caches.Overtaken | NotAlone | Outnumbered | BrokenKey):
            raise
        names = ", ".join(cache.table for cache in view.work.planned.caches)
        job.warnings.append(f"{job.request.name}: {names} was to be kept, but cannot be: {_first_line(failure)}")
        job.client.invocation.use(job.request.relation, stored.state.caches if stored.state is not None else ())
        return kept.given_up() if isinstance(failure, EngineFailure) and not failure.is_of_data else NEVER


def _first_line(failure: EngineFailure | IdivmError) -> str:
    return failure.first_line if isinstance(failure, EngineFailure) else failure.findings[0].summary


def _without_failing_cache(view: Observed, failure: EngineFailure | RefusedWithCaches) -> Steps[Outcome]:
    """Rebuild the view without its caches after one of them failed for a value. If they were chosen by cost and not by the user,
    the view is maintained without them from then on."""
    job, planned = view.work.job, view.work.planned
    if planned.kept.subviews:
        why = finding(422, caches=", ".join(cache.table for cache in planned.caches), message=_first_line(failure))
        view = yield from keeping(view, NEVER, why)
        job.client.invocation.use(job.request.relation, ())
        return (yield from _rebuild(view, view.work, why))
    assert isinstance(failure, EngineFailure)
    work = replace(view.work, planned=without_failing_plan(job, planned, failure))
    assert work.planned.why_no_plan is not None
    return (yield from _rebuild(view, work, work.planned.why_no_plan))


def _with_caches(job: Job, view: Observed) -> Steps[tuple[Observed, float]]:
    """Bring the caches of the view up to date. Returns the view with the caches as inputs, and the estimated seconds of their
    refreshes."""
    invocation, seconds = job.client.invocation, 0.0
    invocation.use(job.request.relation, (cache.table for cache in view.work.planned.caches))
    for cache in view.work.planned.caches:
        with invocation.turn(cache.table):
            seen = yield from observe_stored((yield from caches.work_on(job, view.work.planned, cache)))
            done = yield from _maintain(seen)
            view = yield from reading_cache(view, cache, seen.work.stored, done.inputs)
        seconds += done.cost.estimate if done.cost is not None else 0.0
        if job.request.full_refresh:
            invocation.rebuild(cache.table)
    return view, seconds


def _maintain(seen: Observed) -> Steps[Outcome]:
    """Refresh a cache incrementally, or rebuild it. The caches that it reads are up to date."""
    return (yield from _apply(seen, (yield from _decided(seen))))


# Wrong without it: if a SELECT can be planned when the view is built, but its Δ-script cannot be generated, every refresh after
# the first build would fail.
def _decided(seen: Observed) -> Steps[Decision]:
    """The decision; a rebuild if the planner refuses to generate the Δ-script."""
    try:
        return (yield from decide(seen))
    except IdivmError as error:
        return Decision(seen.work, _refused(seen.work.job, error))


def _refused(job: Job, error: IdivmError) -> Finding:
    """Map a refusal of the planner to a reason to rebuild; re-raise any other error, and refusals for which the model must not be
    rebuilt."""
    if not error.is_refusal or job.config.forbids(error):
        raise error
    return error.findings[0]


def _apply(seen: Observed, decided: Decision) -> Steps[Outcome]:
    """Carry out the decision for a view or cache."""
    work, state = decided.work, decided.work.stored.state
    warn_of_uncached(work)
    if isinstance(decided.action, Ready) and not work.stored.shown and work.planned.plan is not None:
        assert state is not None
        yield from (
            show(work.job, work.planned.table, work.planned.plan.visible, state)
            if work.planned.keeps_view
            else show_query(work.job, state.shown)
        )
    done = yield from _tried(seen, decided)
    while isinstance(done, Unreached):
        decided = _decided_again(decided, done)
        done = yield from _tried(seen, decided)
    if isinstance(done, Finding):  # the chosen way failed; its keys were looked up, unless `verify` says otherwise
        left = decided.work.unverified if work.job.config.verify == "always" else None
        return (yield from _rebuild(seen, replace(decided.work, unverified=left), done))
    return _accounted(work.job.client.invocation, work.stored.table, decided.choice, done)


def _tried(seen: Observed, decided: Decision) -> Steps[Outcome | Finding | Unreached]:
    """Carry out the decision; if it cannot be, return why."""
    work, action = _noted(decided), decided.action
    if isinstance(action, Finding):
        return (yield from _rebuild(seen, work, action, decided.choice))
    state = work.stored.state
    assert state is not None
    try:
        done = yield from apply_changes(replace(work, planned=replace(work.planned, proof=plan_proof.read(state.proof))), action)
    except IdivmError as error:
        return _refused(work.job, error)
    if isinstance(done, Outcome) and done.mode == "incremental":
        yield from compact(work.job, work.stored)
    return done


def _decided_again(decided: Decision, unreached: Unreached) -> Decision:
    """The decision to follow. The time lost until now belongs to the reading of changes."""
    assert decided.again is not None and decided.choice is not None
    found = decided.again(unreached.wanted)
    assert found.choice is not None
    now = decided.work.job.client.invocation.seconds()
    choice = replace(found.choice, started=decided.choice.started, decided=now)
    return replace(found, work=replace(found.work, planned=decided.work.planned), choice=choice)


def _noted(decided: Decision) -> Work:
    """The work with a note of how long it was estimated to take."""
    work, choice = decided.work, decided.choice
    return work if choice is None else replace(work, note=replace(work.note, estimate=round(choice.estimate, 2)))


def _accounted(invocation: Invocation, view: str, choice: Choice | None, done: Outcome) -> Outcome:
    """Add the cost to the outcome, and teach it to the invocation's experience."""
    if choice is None or done.mode == "noop":
        return done
    now = invocation.seconds()
    if choice.is_read:
        invocation.learn_reading(view, choice.reads, choice.decided - choice.started)
    invocation.learn(view, choice.chosen.name, choice.chosen.measure, now - choice.decided)
    return replace(done, cost=cost_of(choice, now - choice.started))


def _rebuild(seen: Observed, work: Work, reason: Finding, choice: Choice | None = None) -> Steps[Outcome]:
    """Rebuild the view and return the outcome. Without a `choice`, learn the duration of its writes, but only from long builds: a
    view is often built right after the engine has started, when loading and compiling dominate."""
    job, planned = work.job, work.planned
    if not planned.sizes:
        planned = (yield from observe_sizes(replace(seen, work=work))).work.planned
    planned = planned.laid_out(job.config.layout)
    before = job.client.writing
    done = yield from build(replace(work, planned=planned), None if job.request.existing is None else reason)
    seconds = job.client.writing - before
    if choice is None and (measure := build_measure(planned, done.rows_inserted)) is not None:
        job.client.invocation.learn(planned.table, REBUILD, measure if seconds >= _TELLING else None, seconds)
    return done
