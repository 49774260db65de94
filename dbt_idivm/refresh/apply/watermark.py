"""The watermark: the state that a commit of the view carries, and when to advance it although nothing in the view changes.

In that case the watermark is left alone, or advanced by a commit without data. If it is left alone, the next refresh reads the
same range of versions again. So it is advanced in three cases: that range is long; the range has used half of the time for which
changes are retained; the commit with the state could expire from the view's own log.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace

from dbt_idivm.definition.fingerprint import digests_of
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.refresh.apply.statements import empty_merge
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.retention import age, kept_commits
from dbt_idivm.refresh.catalog.state import Consumed, State, read
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.changes.moves import Move
from dbt_idivm.refresh.decide.difference import request_digest
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
UNREAD_AGE = dt.timedelta(days=3.5)  # at most; less where changes are retained for a shorter time than Delta's default


def new_state(work: Work, inputs: Mapping[str, Consumed], before: StoredView | None = None) -> State:
    """The state for a commit after which the view has the rows of the planned model over `inputs`. `before`: the stored view;
    None if all rows are replaced."""
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
        functions=digests_of(planned.inputs.functions),
        kept=planned.kept,
        found=planned.found,
        note=work.note,
        layouts={each.table: each.facts.layout for each in planned.inputs.tables.values()},
        writes=writes_after(before),
        former=_given_up(work, inputs),
        times=planned.times,
        clock=planned.clock if planned.plan is not None else None,
    )


def _given_up(work: Work, inputs: Mapping[str, Consumed]) -> tuple[str, ...]:
    stored = work.stored.state
    return tuple(cache for cache in stored.caches if cache not in inputs) if stored is not None else ()


def writes_after(before: StoredView | None) -> int:
    """Number of writes by refreshes including the next one, counted since all rows were last replaced."""
    return before.state.writes + 1 if before is not None and before.state is not None else 0


def consumed_at_build(planned: Planned) -> dict[str, Consumed]:
    """The pinned versions of the inputs, which a build reads."""
    return {
        name: Consumed(found.table, found.commit.version, found.commit.at)
        for name, found in planned.inputs.tables.items()
        if found.commit is not None
    }


def own_commit(client: Client, table: str, before: Commit | None, written: State) -> Steps[Commit | None]:
    """The commit after `before` that has the state `written`; None if there is none, because the write was skipped. Without
    `before`, only the newest commit is checked.

    Others may have committed since. A commit added by Delta's auto compaction has the same state.
    """
    if before is None:
        found = yield from history.newest(client, table, 1)
    else:
        found = yield from history.since(client, table, before.version, before.version + 1)
        if found and table in client.based_on and found[-1].is_it(*client.based_on[table]):
            del client.based_on[table]  # nothing left to confirm
        found = tuple(each for each in found if each.version > before.version)
    return next((each for each in reversed(found) if read(each.user_metadata) == written), None)


class Outnumbered(IdivmError):
    """IDIVM-903: a write was skipped, though nobody has written to the table since its refresh looked at it. Its number was
    already used by a commit to a former table of that name."""

    def __init__(self, table: str, found: Finding) -> None:
        super().__init__(found)
        self.table = table


def not_applied(client: Client, stored: StoredView, table: str, what: str) -> Steps[IdivmError]:
    """The error for a write that has left no commit in the table. `what` is the message."""
    found, before = finding(903, view=table, message=what, state=stored.sentence), stored.latest
    if client.engine.ledger is None and before is not None and stored.table == table:
        newest = yield from history.latest(client, table)
        if newest.is_it(before.version, before.at):
            return Outnumbered(table, found)
    return IdivmError(found)


def unchanged(work: Work, moved: Mapping[str, Move]) -> Steps[Outcome]:
    """The outcome of a refresh that changes nothing; it writes a commit only if the watermark is due."""
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
    """Write a commit without data that carries the state; with a ledger, a record that the rows have that state."""
    client, table, guard = work.job.client, work.stored.table, guard_of(work.stored)
    if client.engine.ledger is not None:
        yield from record(client, client.engine.ledger, table, new.json(), guard.number, None)
        return
    yield from committed(client, empty_merge(work.job.dialect, table), table, new.json(), guard)


def guard_from(table: str, commit: Commit) -> Guard:
    """The guard of a write to the table that starts from `commit`."""
    return Guard.of(table, commit.version, commit.claimed.number if commit.claimed is not None else None)


def guard_of(stored: StoredView) -> Guard:
    """The guard of a write that starts from the stored view."""
    assert stored.latest is not None
    return guard_from(stored.table, stored.latest)


def is_due(job: Job, stored: StoredView, moved: Mapping[str, Move], kept: Mapping[str, dt.timedelta | None]) -> bool:
    """Whether the watermark has to be advanced after these moves of the inputs. `kept`: table → how long its changes are
    retained."""
    now, zone = job.client.invocation.now(), job.zone
    for table, move in moved.items():
        if len(move.commits) > UNREAD_VERSIONS or move.doubt is not None:  # comparing versions takes long, each time
            return True
        window = kept.get(table)
        if move.commits and age(move.commits[-1], now, zone) > (UNREAD_AGE if window is None else min(UNREAD_AGE, window / 2)):
            return True
    return stored.committed is not None and age(stored.committed, now, zone) > kept_commits(job.config.tblproperties) / 2


def consumed(planned: Planned, moved: Mapping[str, Move]) -> dict[str, Consumed]:
    """Inputs with the versions up to which their changes were read."""
    found = {}
    for name, each in planned.inputs.tables.items():
        move = moved[each.table]
        found[name] = Consumed(each.table, move.to_version, move.to_at)
    return found
