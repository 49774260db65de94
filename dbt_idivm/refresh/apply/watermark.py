"""The watermark: the state that a commit of the view carries, and when it moves though nothing in the view changes.

Then it is left where it is, or moved by a commit without data. The range that was read is read again next time; so the
watermark moves once that range is long or has used half of the time for which changes are kept, and before the commit that holds
the state can expire from the view's own log.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace

from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.refresh.apply.statements import empty_merge
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.retention import age, kept_commits
from dbt_idivm.refresh.catalog.state import Consumed, State, read
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.changes.moves import Move
from dbt_idivm.refresh.decide.fingerprint import digests_of, request_digest
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.outcome import Result, named, outcome
from dbt_idivm.refresh.decide.planned import Planned
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.commits import Guard
from dbt_idivm.refresh.engine.ledger import record
from dbt_idivm.refresh.engine.scoped import committed
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.protocol import InputChange, Outcome

UNREAD_VERSIONS = 20
UNREAD_AGE = dt.timedelta(days=3.5)  # at most; less where changes are kept for less than Delta's default


def new_state(work: Work, inputs: Mapping[str, Consumed], before: StoredView | None = None) -> State:
    """The state of a commit after which the view is what the planned model gives over `inputs`; `before` is what was stored,
    unless all rows are replaced."""
    job, planned = work.job, work.planned
    latest, state = (before.latest, before.state) if before is not None else (None, None)
    for each in inputs.values():
        job.client.rely(each.table, each.version, each.at)
    if before is not None and latest is not None:
        job.client.rely(before.table, latest.version, latest.at)
    # a build checks what is not checked already
    checked = before is None or (job.config.verify == "always" and state is not None and state.checked)
    return State(
        inputs,
        planned.fingerprint,
        request_digest(job),
        planned.inputs.known,
        job.request.run_id,
        volatile=not planned.repeatable,
        proof=str(planned.proof or ""),
        sizes=planned.sizes,
        base=None if latest is None else latest.version,
        checked=checked,
        unverified=work.unverified or {},
        functions=digests_of(planned.inputs),
        kept=planned.kept,
        note=work.note,
        layouts={each.table: each.facts.layout for each in planned.inputs.tables.values()},
        writes=writes_after(before),
        former=_given_up(work, inputs),
    )


def _given_up(work: Work, inputs: Mapping[str, Consumed]) -> tuple[str, ...]:
    stored = work.stored.state
    return tuple(cache for cache in stored.caches if cache not in inputs) if stored is not None else ()


def writes_after(before: StoredView | None) -> int:
    """The number of writes of refreshes after one more; none yet where all rows are replaced."""
    return before.state.writes + 1 if before is not None and before.state is not None else 0


def consumed_at_build(planned: Planned) -> dict[str, Consumed]:
    """The pinned versions of the inputs, which a build reads."""
    return {
        name: Consumed(found.table, found.commit.version, found.commit.at)
        for name, found in planned.inputs.tables.items()
        if found.commit is not None
    }


def own_commit(client: Client, table: str, before: Commit | None, written: State) -> Steps[Commit | None]:
    """The commit with that state after `before`, None if there is none: the write was skipped. If `before` is None, the newest.

    Commits of others may follow it already; one that Delta's auto compaction adds has the same state.
    """
    if before is None:
        found = yield from history.newest(client, table, 1)
    else:
        found = yield from history.since(client, table, before.version, before.version + 1)
        if found and table in client.based_on and found[-1].is_it(*client.based_on[table]):
            del client.based_on[table]  # there is nothing left to confirm
        found = tuple(each for each in found if each.version > before.version)
    return next((each for each in reversed(found) if read(each.user_metadata) == written), None)


class Outnumbered(IdivmError):
    """IDIVM-903: a write was skipped though nobody has written to the table since its refresh looked at it. Its number was used
    already, in a commit that was to be one of a former table of that name."""

    def __init__(self, table: str, found: Finding) -> None:
        super().__init__(found)
        self.table = table


def not_applied(client: Client, stored: StoredView, table: str, what: str) -> Steps[IdivmError]:
    """The error of a write that has no commit in the table."""
    found, before = finding(903, view=table, message=what, state=stored.sentence), stored.latest
    if client.engine.ledger is None and before is not None and stored.table == table:
        newest = yield from history.latest(client, table)
        if newest.is_it(before.version, before.at):
            return Outnumbered(table, found)
    return IdivmError(found)


def unchanged(work: Work, moved: Mapping[str, Move]) -> Steps[Outcome]:
    """A no-op; with a commit that moves the watermark if it has fallen behind."""
    job, stored, planned = work.job, work.stored, work.planned
    assert stored.latest is not None
    if is_due(job, stored, moved, {each.table: each.facts.kept for each in planned.inputs.tables.values()}):
        assert stored.state is not None
        yield from move_watermark(work, replace(new_state(work, consumed(planned, moved), stored), writes=stored.state.writes))
        job.client.invocation.forget(stored.table)
    else:
        history.pin(job.client, stored.table, stored.latest)
    inputs = {}
    for name, each in planned.own_inputs.items():
        move = moved[each.table]
        inputs[named(job.request, name)] = InputChange(move.consumed.version, move.to_version, 0)
    return outcome(job, Result("noop", planned.hidden, inputs), planned)


def move_watermark(work: Work, new: State) -> Steps[None]:
    """A commit without data that carries the state; or a record that the rows are those of that state."""
    client, table, guard = work.job.client, work.stored.table, guard_of(work.stored)
    if client.engine.ledger is not None:
        yield from record(client, client.engine.ledger, table, new.json(), guard.number, None)
        return
    yield from committed(client, empty_merge(work.job.dialect, table), table, new.json(), guard)


def guard_from(table: str, commit: Commit) -> Guard:
    """That of a write into the table which starts from the commit."""
    return Guard.of(table, commit.version, commit.claimed.number if commit.claimed is not None else None)


def guard_of(stored: StoredView) -> Guard:
    """That of a write which starts from what is stored."""
    assert stored.latest is not None
    return guard_from(stored.table, stored.latest)


def is_due(job: Job, stored: StoredView, moved: Mapping[str, Move], kept: Mapping[str, dt.timedelta | None]) -> bool:
    """Whether the watermark is to be moved, if the inputs moved so. `kept`: table → how long its changes are kept."""
    now, zone = job.client.invocation.now(), job.zone
    for table, move in moved.items():
        if len(move.commits) > UNREAD_VERSIONS or move.doubt is not None:  # to compare versions takes long, each time
            return True
        window = kept.get(table)
        if move.commits and age(move.commits[-1], now, zone) > (UNREAD_AGE if window is None else min(UNREAD_AGE, window / 2)):
            return True
    return stored.committed is not None and age(stored.committed, now, zone) > kept_commits(job.config.tblproperties) / 2


def consumed(planned: Planned, moved: Mapping[str, Move]) -> dict[str, Consumed]:
    """The versions up to which the moves were read."""
    found = {}
    for name, each in planned.inputs.tables.items():
        move = moved[each.table]
        found[name] = Consumed(each.table, move.to_version, move.to_at)
    return found
