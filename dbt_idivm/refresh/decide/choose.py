"""Choosing how a maintained relation is brought up to date: by which way, or by a rebuild, and why. Nothing is written here.

It is chosen twice. Before net diffs are read: what may be used at all, a pure function of what was observed. After: what is done
about these net diffs. Today the order of preference is fixed by the strategy; a cost model takes its place here.
"""

from __future__ import annotations

from dataclasses import dataclass

from dbt_idivm.errors import Finding
from dbt_idivm.refresh.changes.read import Changes, read_changes
from dbt_idivm.refresh.decide.observe import Observed, observe_inputs
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.script.bind import choose_application
from dbt_idivm.script.ways import Application, Way


@dataclass(frozen=True)
class Ready:
    """All that an incremental refresh takes; without an application nothing in the view changes."""

    changes: Changes
    application: Application | None


@dataclass(frozen=True)
class Decision:
    """How a view or cache is to be brought up to date: incrementally, or by a rebuild for the reason."""

    work: Work
    way: Ready | Finding


def decide(seen: Observed) -> Steps[Decision]:
    """The decision for a view or cache. The caches that it reads are up to date. Raises IDIVM-306."""
    seen = yield from observe_inputs(seen)
    ways = choose_ways(seen)
    if isinstance(ways, Finding):
        return Decision(seen.work, ways)
    if not ways:
        return Decision(seen.work, Ready(Changes(seen.moves), None))
    job, planned = seen.work.job, seen.work.planned
    assert planned.plan is not None
    changes = yield from read_changes(job.client, planned.plan, planned.keyed_inputs, job.config.verify, seen.moves)
    if isinstance(changes, Finding):
        return Decision(seen.work, changes)
    return Decision(seen.work, Ready(changes, choose_application(ways, changes.net)))


def choose_ways(seen: Observed) -> tuple[Way, ...] | Finding:
    """The ways that may be used, in order of preference; none where no input moved; or the reason to rebuild."""
    if seen.reason is not None:
        return seen.reason
    if not any(move.moved for move in seen.moves.values()):
        return ()
    planned = seen.work.planned
    if planned.plan is None:
        assert planned.refusal is not None
        return planned.refusal
    return planned.plan.ways
