"""When nothing in the view changes: leave the mark where it is, or move it by a commit without data.

The range that was read is read again next time. So the mark moves once that range is long or has used half of the
retention period, and before the commit that holds the state can expire from the view's own log.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from zoneinfo import ZoneInfo

from dbt_idivm.refresh.apply import statements
from dbt_idivm.refresh.apply.build import new_state
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.state import Consumed
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.changes.net_diffs import Move
from dbt_idivm.refresh.decide.outcome import Result, named, outcome
from dbt_idivm.refresh.decide.planning import Job, Planned
from dbt_idivm.refresh.engine.client import Steps
from dbt_idivm.refresh.protocol import InputChange, Outcome

UNREAD_VERSIONS = 20
# Halves of Delta's defaults: deleted files are kept for 7 days, log entries for 30.
UNREAD_AGE = dt.timedelta(days=3.5)
STATE_AGE = dt.timedelta(days=15)


def unchanged(job: Job, stored: StoredView, planned: Planned, moved: Mapping[str, Move]) -> Steps[Outcome]:
    """A no-op; with a commit that moves the mark if it has fallen behind."""
    assert stored.latest is not None
    if is_due(job, stored, moved):
        state = new_state(job, planned, consumed(planned, moved))
        guard = statements.Guard(f"idivm:{stored.table}", stored.latest.version)
        yield from statements.committed(job.engine, statements.empty_merge(stored.table), state, guard)
        job.invocation.forget(stored.table)
    else:
        job.invocation.pin(stored.table, stored.latest)
    inputs = {}
    for name, each in planned.own_inputs.items():
        move = moved[each.table]
        inputs[named(job, name)] = InputChange(move.consumed.version, move.to_version, 0)
    hidden = planned.plan is not None and planned.plan.hidden
    return outcome(job, Result("noop", hidden, inputs), planned)


def is_due(job: Job, stored: StoredView, moved: Mapping[str, Move]) -> bool:
    now = job.invocation.now()
    zone = job.request.session.get("time_zone", "UTC")
    if any(len(move.commits) > UNREAD_VERSIONS for move in moved.values()):
        return True
    oldest = [move.commits[-1] for move in moved.values() if move.commits]
    if any(_age(commit, now, zone) > UNREAD_AGE for commit in oldest):
        return True
    return stored.committed is not None and _age(stored.committed, now, zone) > STATE_AGE


def consumed(planned: Planned, moved: Mapping[str, Move]) -> dict[str, Consumed]:
    found = {}
    for name, each in planned.inputs.tables.items():
        move = moved[each.table]
        found[name] = Consumed(each.table, move.to_version, move.to_at)
    return found


def _age(commit: Commit, now: dt.datetime, zone: str) -> dt.timedelta:
    """Commits show their time in the session's zone, without naming it."""
    try:
        at = dt.datetime.fromisoformat(commit.at)
    except ValueError:
        return dt.timedelta(0)
    return now - (at if at.tzinfo else at.replace(tzinfo=ZoneInfo(zone)))
