"""Whether a view, or a cache, is refreshed incrementally or rebuilt, and why. Nothing is written here."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbt_idivm.errors import Finding, finding
from dbt_idivm.refresh.changes.moves import moves
from dbt_idivm.refresh.changes.read import Changes, read_changes
from dbt_idivm.refresh.decide.fingerprint import difference, kept_layout
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.script.bind import BoundScript, bind
from dbt_idivm.script.binding import Binding


@dataclass(frozen=True)
class Ready:
    """All that an incremental refresh takes; without a script nothing in the view changes."""

    changes: Changes
    script: BoundScript | None


@dataclass(frozen=True)
class Decision:
    """How a view or cache is to be brought up to date: incrementally, or by a rebuild for the reason."""

    work: Work
    way: Ready | Finding


def decide(work: Work) -> Steps[Decision]:
    """The decision for a view or cache. The caches that it reads are up to date. Raises IDIVM-106, 107 and 306."""
    work, reason = yield from why_rebuilt(work)
    return Decision(work, reason or (yield from _prepared(work)))


def why_rebuilt(work: Work) -> Steps[tuple[Work, Finding | None]]:
    """The work with the fingerprint to use, and why what is stored cannot be refreshed incrementally; None if it can."""
    job, stored, planned = work.job, work.stored, work.planned
    reason: Finding | None = finding(401) if job.request.full_refresh else stored.reason
    if reason is None:
        planned = replace(planned, fingerprint=kept_layout(job, stored, planned.fingerprint))
        reason = yield from difference(job, stored, planned.fingerprint, planned.used)
    if reason is None and planned.table != stored.table:
        reason = finding(402, what="another set of stored columns")
    if reason is None and not planned.repeatable:
        reason = planned.refusal
    return replace(work, planned=planned), reason


def _prepared(work: Work) -> Steps[Ready | Finding]:
    """Read what changed and bind the Δ-script to it; or why it has to be a rebuild."""
    client, stored, planned = work.job.client, work.stored, work.planned
    assert stored.state is not None and stored.latest is not None
    moved = yield from moves(client, stored.state, planned.inputs)
    if isinstance(moved, Finding):
        return moved
    if not any(move.moved for move in moved.values()):
        return Ready(Changes(moved), None)
    if planned.plan is None:
        assert planned.refusal is not None
        return planned.refusal
    changes = yield from read_changes(client, planned.plan, planned.keyed_inputs, work.job.config.verify, moved)
    if isinstance(changes, Finding):
        return changes
    return Ready(changes, bind(planned.plan, Binding(changes.versions, changes.net, client.dialect), stored.table))
