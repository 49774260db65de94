"""Observing a maintained relation before anything is chosen: what is stored, and how far its inputs moved. No data is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dbt_idivm.errors import Finding, finding
from dbt_idivm.refresh.changes.moves import Move, moves
from dbt_idivm.refresh.decide.fingerprint import difference, kept_layout
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.steps import Steps


@dataclass(frozen=True)
class Observed:
    """`reason`: why what is stored cannot be refreshed incrementally; None if nothing speaks against it.

    `moves`: table → how far it moved since the state, with what its commits say of the number of changed rows.
    """

    work: Work
    reason: Finding | None
    moves: Mapping[str, Move] = field(default_factory=dict)


def observe_stored(work: Work) -> Steps[Observed]:
    """What is stored against what is planned; the work has the fingerprint to use. Raises IDIVM-106 and 107."""
    job, stored, planned = work.job, work.stored, work.planned
    reason: Finding | None = finding(401) if job.request.full_refresh else stored.reason
    if reason is None:
        planned = replace(planned, fingerprint=kept_layout(job, stored, planned.fingerprint))
        reason = yield from difference(job, stored, planned.fingerprint, planned.used)
    if reason is None and planned.table != stored.table:
        reason = finding(402, what="another set of stored columns")
    if reason is None and not planned.repeatable:
        reason = planned.refusal
    return Observed(replace(work, planned=planned), reason)


def observe_inputs(seen: Observed) -> Steps[Observed]:
    """How far the inputs moved, caches among them: these are up to date."""
    if seen.reason is not None:
        return seen
    work = seen.work
    assert work.stored.state is not None
    found = yield from moves(work.job.client, work.stored.state, work.planned.inputs)
    return replace(seen, reason=found) if isinstance(found, Finding) else replace(seen, moves=found)
