"""What the model is now, by the facts and answers of the engine; without a plan, whether it is rebuilt or the run fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_idivm.definition.define import define
from dbt_idivm.errors import Finding, IdivmError, finding, nearest
from dbt_idivm.refresh.catalog.clock import clock_of
from dbt_idivm.refresh.catalog.inputs import Inputs, look_up
from dbt_idivm.refresh.catalog.relations import INPUTS, describe
from dbt_idivm.refresh.catalog.state import NEVER, Kept
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.checks import plan_proof
from dbt_idivm.refresh.checks.plan_proof import Proof
from dbt_idivm.refresh.checks.questions import answered
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.planned import Planned, planned_model, proof_key
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps

# Kinds of findings in the SELECT that Spark may overrule; and codes of SELECTs that Spark runs, but no table can store.
_OUR_READING = frozenset({"model", "internal", "unsupported", "not yet"})
_NO_COLUMN = frozenset({"IDIVM-224", "IDIVM-225"})
_UNKNOWN_COLUMN = "IDIVM-221"


def plan_model(
    job: Job, stored: StoredView, kept: Kept | None = None, found_keys: Mapping[str, tuple[str, ...]] | None = None
) -> Steps[Planned]:
    """Plan the model. `kept`: the caches under `caches: auto`, `found_keys`: input → the key that was found in its data; those of
    the stored view if None. Raises IdivmError for errors, and for unsupported SELECTs if `on_unsupported` says so."""
    inputs = yield from look_up(job.client, job.request.sql)
    if job.config.strategy == "full":
        return planned_model(job, inputs, {}, None, finding(407))
    if kept is None:
        kept = stored.state.kept if stored.state is not None and job.config.chooses_caches else Kept()
    if found_keys is None:
        found_keys = stored.state.found if stored.state is not None else {}
    asks = define(
        job.request,
        job.config,
        inputs.for_definition,
        chosen=kept.subviews,
        found_keys=found_keys,
        dialect=job.dialect,
    )
    definition = yield from answered(job.client, asks)
    inputs, keys, found = replace(inputs, functions=definition.facts.functions), definition.keys, definition.found
    if isinstance(found, IdivmError):
        if _UNKNOWN_COLUMN in found.codes:
            yield from _renamed(job.client, stored, inputs)
        reason = yield from _reason(job, found)
        return replace(planned_model(job, inputs, keys, None, reason, found.codes), times=definition.times)
    if kept.subviews and not found.caching.chosen:  # the engine reports types that caches cannot have
        kept = NEVER
    if kept.subviews:  # drop those that belonged to another SELECT or to changed tables
        candidates = found.candidates()
        subviews = tuple(each for each in kept.subviews if each in candidates)
        kept = replace(kept, subviews=subviews, saved=kept.saved if subviews else 0.0)
    planned = planned_model(job, inputs, keys, found.plan, None)
    planned = replace(planned, compiled=found, kept=kept, times=definition.times, uncached=definition.uncached)
    if found.plan.clock:
        try:
            planned = replace(planned, clock=(yield from clock_of(job.client, found.plan.clock)))
        except IdivmError as error:
            reason = yield from _reason(job, error)
            return replace(planned_model(job, inputs, keys, None, reason, error.codes), times=definition.times)
    known = known_proof(stored, ignored=job.request.full_refresh)
    if known is None or known.refusal is None or known.key != proof_key(job, planned):
        return planned
    return without_plan(job, planned, known)


def known_proof(stored: StoredView, *, ignored: bool) -> Proof | None:
    """The proof in the stored view's state; None if there is none, or it is to be `ignored`."""
    return plan_proof.read(stored.state.proof) if stored.state is not None and not ignored else None


def without_plan(job: Job, planned: Planned, misread: Proof) -> Planned:
    """The model without its plan, which was found to mean something else. Raises under `on_unsupported: error`."""
    refusal = misread.refusal
    assert refusal is not None
    if job.config.on_unsupported == "error":
        raise IdivmError(refusal)
    inputs = replace(planned.inputs, tables=planned.own_inputs)
    # a rebuild of a model that reads the clock may give other rows, though no input has changed
    codes = (refusal.code, *(("IDIVM-206",) if planned.clock is not None else ()))
    model = planned_model(job, inputs, planned.keys, None, refusal, codes)
    return replace(model, proof=misread, times=planned.times)


def _reason(job: Job, error: IdivmError) -> Steps[Finding]:
    """Map a planner error to a reason to rebuild; re-raise it if the model itself is wrong or must not be rebuilt."""
    if forbidden := job.config.forbids(error):
        raise IdivmError(forbidden)
    if error.is_refusal:
        return finding(408, reason=error.findings[0].summary, codes=", ".join(dict.fromkeys(error.codes)))
    blamed = next(each for each in error.findings if not each.is_refusal)
    doubtful = {each.kind for each in error.findings} <= _OUR_READING and _NO_COLUMN.isdisjoint(error.codes)
    if doubtful and (yield from _is_valid(job.client, job.request.sql)):
        return finding(906, message=blamed.summary)
    raise error


def _is_valid(client: Client, sql: str) -> Steps[bool]:
    """Whether Spark accepts the SELECT."""
    try:
        yield from client.ask(client.commands.describe_query(sql))
    except EngineFailure:
        return False
    return True


def _renamed(client: Client, stored: StoredView, inputs: Inputs) -> Steps[None]:
    """Raise IDIVM-308 if columns that the view was built from no longer exist: that is more helpful than `unknown column`."""
    if stored.latest is None:
        return
    facts = yield from describe(client, stored.table)
    used = facts.properties.get(INPUTS, {}) if facts else {}
    gone = []
    for name, columns in used.items():
        if name in inputs.tables:
            now = [a.name for a in inputs.tables[name].facts.columns]
            known = {each.lower() for each in now}
            gone += [
                finding(308, source=name, column=column, nearest=", ".join(nearest(column, now)))
                for column in columns
                if column.lower() not in known
            ]
    if gone:
        raise IdivmError(gone)
