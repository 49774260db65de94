"""Build a view by running its query: the first time, and whenever an incremental refresh would be wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.guards import MESSAGE
from dbt_idivm.definition.keys import Key
from dbt_idivm.digests import digest
from dbt_idivm.errors import Finding, IdivmError, finding, listed, nearest
from dbt_idivm.refresh.apply.diffs import publish_changes, show_restricted
from dbt_idivm.refresh.apply.publish import Build, publish
from dbt_idivm.refresh.apply.watermark import consumed_at_build, new_state
from dbt_idivm.refresh.catalog.clock import values_of
from dbt_idivm.refresh.catalog.inputs import pinned_query
from dbt_idivm.refresh.catalog.note import Note
from dbt_idivm.refresh.catalog.relations import BUILD, COMPLETED, DEFINITION, IDS, INPUTS, KEYS, OWNER, VIEW
from dbt_idivm.refresh.catalog.state import State
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.checks import keys
from dbt_idivm.refresh.checks.plan_proof import Proof, judge
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.outcome import Effect, Result, named, outcome, summary
from dbt_idivm.refresh.decide.planned import Planned, proof_key, question
from dbt_idivm.refresh.decide.planning import known_proof, without_plan
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import InputChange, Outcome
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import verbatim
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import full_query
from dbt_idivm.script.ties import completed_query


class RefusedWithCaches(IdivmError):
    """The plan with caches chosen by cost does not mean what the SELECT means; the plan without caches may."""


def build(work: Work, reason: Finding | None) -> Steps[Outcome]:
    """Create the view (`reason` is None) or rebuild it. Raises IDIVM-304, 305 and 903, and BrokenKey."""
    job = work.job
    # Wrong without found keys: what reads this view by its IDs would fail for a key that nobody has declared.
    looked_up = {name: key for name, key in work.planned.keys.items() if key.found or work.unverified is None}
    yield from keys.verify_all(job.client, work.planned.inputs.tables, looked_up)
    planned = yield from _judged(work)
    try:
        wanted, written = yield from _published(replace(work, planned=planned), reason)
    except EngineFailure as failure:
        if planned.plan is None or not failure.is_of_data or planned.kept.subviews:
            raise  # the caches may be what fails, and the user has not asked for them
        planned = without_failing_plan(job, planned, failure)
        wanted, written = yield from _published(replace(work, planned=planned), reason)
    inputs = all_inputs(replace(work, planned=planned))
    result = Result(
        "create" if reason is None else "full",
        wanted.hidden,
        inputs,
        Effect(inserted=written),
        None if reason is None else "full",
        summary(_why(planned, reason)),
    )
    return outcome(job, result, planned)


def _why(planned: Planned, reason: Finding | None) -> Finding | None:
    """The reason for the build. A first build reports at once if the model cannot be maintained."""
    return planned.why_no_plan if planned.is_misread else reason or planned.why_no_plan


def _published(work: Work, reason: Finding | None) -> Steps[tuple[Build, int]]:
    """Build and write the planned model. Returns the Build and the number of rows."""
    wanted = _build(replace(work, note=work.note.because(_why(work.planned, reason))))
    yield from verify_unique_key(work.job, work.planned, wanted)
    written = publish(work.job, wanted, work.stored) if work.job.config.keeps_view else publish_changes(work.job, wanted)
    return wanted, (yield from written)


def without_failing_plan(job: Job, planned: Planned, failure: EngineFailure) -> Planned:
    """The model without its plan, after the plan failed for a value: it evaluates conditions in another order than the SELECT, or
    a text guard failed. If the SELECT itself fails, running its own text reports that. Raises under `on_unsupported: error`."""
    key = proof_key(job, planned)
    of_guard = MESSAGE in failure.error.message
    found = Proof("clock", key) if of_guard else Proof("fails", key, finding(233, message=failure.first_line))
    return without_plan(job, planned, found)


def _judged(work: Work) -> Steps[Planned]:
    """The model, without its plan if that does not mean what the SELECT means. The verdict is stored in the state, and reused as
    long as the definition stays the same. Raises RefusedWithCaches."""
    job, planned = work.job, work.planned
    if planned.plan is None or planned.proof is not None:
        return planned
    key, known = proof_key(job, planned), known_proof(work.stored, ignored=job.request.full_refresh)
    if known is not None and known.key == key and known.how in ("plans", "rows"):
        return replace(planned, proof=known)
    found = yield from judge(job.client, question(job, planned), key, job.config.verify_build)
    if found.refusal is not None and planned.kept.subviews:
        raise RefusedWithCaches(found.refusal)
    return replace(planned, proof=found) if found.refusal is None else without_plan(job, planned, found)


def all_inputs(work: Work) -> dict[str, InputChange]:
    """Version changes of the inputs, as a rebuild reports them: it reads all rows."""
    before = work.stored.state.inputs if work.stored.state else {}
    return {
        named(work.job.request, name): InputChange(before[name].version if name in before else None, found.version)
        for name, found in work.planned.own_inputs.items()
        if found.version is not None
    }


def verify_unique_key(job: Job, planned: Planned, wanted: Build) -> Steps[None]:
    """Check that the columns of the user's `unique_key` exist and are unique in the rows to be built. Plans never rely on it.
    Raises IDIVM-304 and IDIVM-305."""
    given = {name.lower() for name in job.config.unique_key}
    ids = {str(name).lower() for name in wanted.properties.get(IDS, ())}
    if not given or (ids and ids <= given):
        return
    visible = planned.plan.visible if planned.plan else (yield from _columns(job))
    if unknown := given - {name.lower() for name in visible}:
        raise IdivmError(
            finding(
                304,
                column=sorted(unknown)[0],
                source=job.request.name,
                declared="`unique_key`",
                nearest=listed(nearest(sorted(unknown)[0], visible)),
            )
        )
    key = Key(job.config.unique_key, "`unique_key`")
    rows = subquery(wanted.query, "definition")
    broken = yield from keys.repeated(job.client, rows, key, f"check unique_key of {job.request.name}")
    if broken is not None:
        raise keys.not_unique(job.request.name, key, broken)


def _columns(job: Job) -> Steps[tuple[str, ...]]:
    """Output columns of the user's SELECT, for a model without a plan."""
    rows = yield from job.client.ask(job.client.commands.describe_query(job.request.sql))
    return tuple(str(row[0]) for row in rows.rows)


def build_restricted(job: Job, stored: StoredView) -> Steps[Outcome]:
    """Build a plain table from the limited query of --empty or --sample. Its state forbids refreshes to build upon it."""
    why, first = finding(414), job.request.existing is None
    reason = why.summary
    if not job.config.keeps_view:
        made = Result("create", False, {}, reason=reason) if first else Result("full", False, {}, strategy="full", reason=reason)
        return (yield from show_restricted(job, made))
    query = verbatim(job.request.sql)
    model = job.request.relation
    state = State({}, {}, run=job.request.run_id, trusted=False, note=Note().because(why))
    properties = {VIEW: model, OWNER: job.request.owner, DEFINITION: job.request.sql}
    wanted = Build(model, query, (), None, properties, state)
    written = yield from publish(job, wanted, stored)
    effect = Effect(inserted=written)
    if first:
        return outcome(job, Result("create", False, {}, effect, None, reason))
    return outcome(job, Result("full", False, {}, effect, "full", reason))


def _build(work: Work) -> Build:
    """The Build of the model: from its plan if it has one, else from the text of the user's SELECT."""
    job, planned = work.job, work.planned
    plan = planned.plan
    state = new_state(work, consumed_at_build(planned))
    if plan is None:
        query = pinned_query(job.dialect, job.request.sql, planned.inputs)
        return Build(planned.table, query, (), None, _properties(job, planned), state)
    versions = {found.table: found.version for found in planned.inputs.tables.values() if found.version is not None}
    binding = Binding(versions, dialect=job.dialect, clock=values_of(planned.clock))
    return planned_build(work, plan, full_query(plan, binding), state)


def planned_build(work: Work, plan: Plan, query: exp.Expr, state: State) -> Build:
    """The Build of a model with a plan, with the rows of `query`."""
    # also without IDs: a table that is kept has those of its former definition, and models that read it would rely on them
    properties = {**_properties(work.job, work.planned), IDS: list(plan.key)}
    return Build(
        work.planned.table,
        query,
        plan.names,
        plan.visible if work.planned.hidden else None,
        properties,
        state,
    )


def _properties(job: Job, planned: Planned) -> dict[str, Any]:
    request, plan = job.request, planned.plan
    written = {each.name: verbatim(each.name) for each in plan.clock} if plan is not None else {}
    query = completed_query(plan, Binding(dialect=job.dialect, written=written)) if plan is not None else None
    completed = {} if query is None else {COMPLETED: job.dialect.sql(query)}
    return {
        VIEW: planned.table,
        OWNER: request.owner,
        DEFINITION: request.sql,
        **completed,
        INPUTS: planned.used,
        KEYS: {name: list(key.columns) for name, key in planned.keys.items() if name in planned.own_inputs},
        BUILD: digest(dict(planned.fingerprint)),
    }
