"""Leading a view on: net diffs of what moved, one MERGE, state and rows in one commit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.refresh.apply import statements, watermark
from dbt_idivm.refresh.apply.build import new_state
from dbt_idivm.refresh.catalog import history, state
from dbt_idivm.refresh.catalog.state import State
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.changes import net_diffs
from dbt_idivm.refresh.changes.changed_keys import verify_change, violation
from dbt_idivm.refresh.changes.net_diffs import Move
from dbt_idivm.refresh.changes.unreadable_text import unreadable_text
from dbt_idivm.refresh.checks import keys
from dbt_idivm.refresh.decide.outcome import Effect, Result, named, outcome
from dbt_idivm.refresh.decide.planning import Job, Planned
from dbt_idivm.refresh.engine import staging
from dbt_idivm.refresh.engine.client import EngineFailure, Steps, T
from dbt_idivm.refresh.protocol import InputChange, Outcome, Rows, Statement
from dbt_idivm.script.bind import BoundScript, bind
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.diff import FeedDiff, InlineDiff, KeyViolation, NetDiff
from dbt_idivm.script.plan import Plan

# The feed between two versions is not there: switched off in between, past its retention, cleaned up, or its columns
# changed on the way.
GAP = ("DELTA_MISSING_CHANGE_DATA", "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_*", "DELTA_CDC_START_VERSION_AFTER_LATEST",
       "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION", "DELTA_VERSION_NOT_FOUND",
       "DELTA_TRUNCATED_TRANSACTION_LOG", "DELTA_LOG_FILE_NOT_FOUND*", "DELTA_VERSIONS_NOT_CONTIGUOUS",
       "FAILED_READ_FILE", "DELTA_CHANGE_TABLE_FEED_DISABLED", "DELTA_FILE_NOT_FOUND*")
# Class 22 of SQL's states: a value for which an expression is not defined.
DATA_EXCEPTION = re.compile(r"SQLSTATE: 22")
_AMBIGUOUS = ("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",)


@dataclass(frozen=True)
class Change:
    """What is new for the view: how its inputs moved, and the net diffs of those that changed."""

    moves: Mapping[str, Move]
    diffs: Mapping[str, NetDiff]

    @property
    def versions(self) -> dict[str, int]:
        return {table: move.to_version for table, move in self.moves.items()}


@dataclass(frozen=True)
class Ready:
    """All that leading the view on takes; without a script nothing in the view changes."""

    change: Change
    script: BoundScript | None


def prepare(job: Job, stored: StoredView, planned: Planned) -> Steps[Ready | Finding]:
    """Read what is new and bind the Δ-script to it; or why it has to be a rebuild."""
    assert stored.state is not None and stored.latest is not None
    moved = yield from net_diffs.moves(job.engine, job.invocation, stored.state, planned.inputs)
    if isinstance(moved, Finding):
        return moved
    if not any(move.moved for move in moved.values()):
        return Ready(Change(moved, {}), None)
    if planned.plan is None:
        assert planned.refusal is not None
        return planned.refusal
    change = yield from _read_changes(job, planned, moved)
    return change if isinstance(change, Finding) else Ready(change, _bind(job, planned, planned.plan, stored, change))


def apply_changes(job: Job, stored: StoredView, planned: Planned, ready: Ready) -> Steps[Outcome | Finding]:
    """The outcome, or why it has to be a rebuild all the same."""
    if ready.script is None:
        return (yield from watermark.unchanged(job, stored, planned, ready.change.moves))
    return (yield from _apply(job, stored, planned, (ready.change, ready.script)))


def _read_changes(job: Job, planned: Planned, moved: Mapping[str, Move]) -> Steps[Change | Finding]:
    """The net diffs, each key checked against them."""
    assert planned.plan is not None
    found: dict[str, NetDiff] = {}
    for name, each in planned.inputs.tables.items():
        move = moved[each.table]
        if not move.moved or each.table not in planned.plan.tables:
            continue
        diff = yield from _or_gap(move, _checked_diff(job, planned, name, move))
        if isinstance(diff, Finding):
            return diff
        found[each.table] = diff
    change = Change(moved, net_diffs.for_plan(planned.plan, found, moved))
    return (yield from _unreadable(job, planned.plan, change)) or change


def _checked_diff(job: Job, planned: Planned, name: str, move: Move) -> Steps[NetDiff]:
    found = planned.inputs.tables[name]
    diff = yield from net_diffs.net_diff(job.engine, job.invocation, found, move)
    if name in planned.keys:
        yield from verify_change(job.engine, job.invocation, job.config, found, planned.keys[name], move, diff)
    return diff


def _unreadable(job: Job, plan: Plan, change: Change) -> Steps[Finding | None]:
    for table, diff in change.diffs.items():
        if isinstance(diff, FeedDiff):
            reason = yield from _or_gap(change.moves[table], unreadable_text(job.engine, job.invocation, plan, diff))
            if reason is not None:
                return reason
    return None


def _or_gap(move: Move, steps: Steps[T]) -> Steps[T | Finding]:
    """What `steps` find, or that the feed they read is not there."""
    try:
        return (yield from steps)
    except EngineFailure as failure:
        if failure.is_any(GAP):
            return gap(move, failure)
        raise


def gap(move: Move, failure: EngineFailure) -> Finding:
    return finding(403, source=move.table, from_version=move.consumed.version, to_version=move.to_version,
                   message=_first_line(failure))


def _first_line(failure: EngineFailure) -> str:
    return failure.error.message.splitlines()[0] if failure.error.message else failure.error.error_class


def _bind(job: Job, planned: Planned, plan: Plan, stored: StoredView, change: Change) -> BoundScript | None:
    try:
        return bind(plan, Binding(change.versions, change.diffs), stored.table)
    except KeyViolation as broken:
        for name, key in planned.keys.items():
            found = planned.inputs.tables[name]
            if found.table == broken.table and key.columns == broken.key:
                raise violation(found, key, change.moves[broken.table].to_version, broken.value) from broken
        raise IdivmError(finding(901, message=str(broken))) from broken


def _apply(job: Job, stored: StoredView, planned: Planned, work: tuple[Change, BoundScript]) -> Steps[Outcome | Finding]:
    change, script = work
    assert stored.latest is not None
    consumed = watermark.consumed(planned, change.moves)
    new = new_state(job, planned, consumed)
    statement = Statement(DELTA.sql(script.merge), "write", f"merge into {stored.table}")
    guard = statements.Guard(f"idivm:{stored.table}", stored.latest.version)
    write = statements.committed(job.engine, statement, new, guard)
    try:
        rows = yield from staging.staged(job.engine, script.staged, write)
    except EngineFailure as failure:
        return (yield from _failed(job, planned, change, failure))
    effect = _effect(rows) or (yield from _skipped(job, stored, new))
    job.invocation.forget(stored.table)
    hidden = planned.plan is not None and planned.plan.hidden
    result = Result("incremental", hidden, input_changes(job, planned, change), effect, *strategy(planned, script))
    return outcome(job, result, planned)


def strategy(planned: Planned, script: BoundScript) -> tuple[str, str | None]:
    """By tuples, by i-diffs alone, or with parts evaluated anew, and which."""
    if planned.plan is not None and planned.plan.strategy == "tuple":
        return "tuple", None
    if not script.recomputes:
        return "id", None
    parts = [f"{diff.name} by ({', '.join(diff.ids) or 'all'})" for diff in script.idiffs if diff.kind == "rec"]
    return "recompute", "part of the view was evaluated anew: " + "; ".join(parts)


def _effect(rows: Rows) -> Effect | None:
    """What the MERGE did; None if Delta skipped it because its number was used already."""
    if not rows.rows:
        return None
    found = rows.dicts()[0]
    return Effect(int(found["num_inserted_rows"]), int(found["num_updated_rows"]), int(found["num_deleted_rows"]))


def _skipped(job: Job, stored: StoredView, new: State) -> Steps[Effect]:
    """A skipped MERGE was either sent twice by the connection, and then its commit is there, or another run was faster."""
    commit = yield from history.latest(job.engine, stored.table)
    if state.read(commit.user_metadata) != new:
        raise IdivmError(finding(903, view=stored.table, message="its MERGE was not applied", state=stored.sentence))
    metrics = {name: int(commit.metrics.get(f"numTargetRows{name}") or 0) for name in ("Inserted", "Updated", "Deleted")}
    return Effect(metrics["Inserted"], metrics["Updated"], metrics["Deleted"])


def _failed(job: Job, planned: Planned, change: Change, failure: EngineFailure) -> Steps[Finding]:
    """The reason to rebuild that an engine's error is; raises what is none."""
    feeds = [table for table, diff in change.diffs.items() if isinstance(diff, FeedDiff)]
    if failure.is_any(GAP) and feeds:
        moved = [change.moves[table] for table in feeds]
        named_in = [move for move in moved if move.table in failure.error.message]
        return gap((named_in or moved)[0], failure)
    if DATA_EXCEPTION.search(failure.error.message):
        # nothing is committed, and the query may evaluate for fewer rows what has failed; if not, the rebuild says so
        return finding(417, message=_first_line(failure))
    if failure.is_any(_AMBIGUOUS):
        for name, key in planned.keys.items():
            yield from keys.verify(job.engine, job.invocation, planned.inputs.tables[name], key)
    raise failure


def input_changes(job: Job, planned: Planned, change: Change) -> dict[str, InputChange]:
    found = {}
    for name, each in planned.own_inputs.items():
        move, diff = change.moves[each.table], change.diffs.get(each.table)
        rows = 0 if diff is None else sum(abs(w) for _, w in diff.rows) if isinstance(diff, InlineDiff) else None
        through = planned.through.get(named(job, name))
        if diff is None and through is not None and through.from_version == move.consumed.version:
            rows = through.rows
        found[named(job, name)] = InputChange(move.consumed.version, move.to_version, rows)
    return found


__all__ = ["DATA_EXCEPTION", "GAP", "Change", "Ready", "apply_changes", "input_changes", "prepare", "strategy"]
