"""Observe a maintained relation before anything is chosen: what is stored, and how far its inputs moved. No data is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from sqlglot import exp

from dbt_idivm.cost.sizes import Size
from dbt_idivm.errors import Finding, finding
from dbt_idivm.refresh.catalog import sizes
from dbt_idivm.refresh.catalog.clock import moved_clock
from dbt_idivm.refresh.catalog.retention import NAMES, age, in_words
from dbt_idivm.refresh.catalog.state import State
from dbt_idivm.refresh.changes.moves import Move, moves
from dbt_idivm.refresh.decide.difference import difference, kept_layout
from dbt_idivm.refresh.decide.planned import Planned
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.script.diff import InlineDiff


@dataclass(frozen=True)
class Observed:
    """`reason`: why the stored view cannot be refreshed incrementally; None if nothing is known against it.

    `moves`: table → its move since the state, with the numbers of changed rows that commits report. `view`: the size of the
    stored view, None if unknown; the sizes of its inputs are in `work.planned`.
    """

    work: Work
    reason: Finding | None
    moves: Mapping[str, Move] = field(default_factory=dict)
    view: Size | None = None

    @property
    def clock(self) -> InlineDiff | None:
        """The net diff of the clock; None if it did not move."""
        state = self.work.stored.state
        return None if state is None else moved_clock(state.clock, self.work.planned.clock)


def observe_stored(work: Work) -> Steps[Observed]:
    """Compare the stored view with the planned one. The returned work has the fingerprint to use. Raises IDIVM-106 and
    IDIVM-107."""
    job, stored, planned = work.job, work.stored, work.planned
    reason: Finding | None = finding(401) if job.request.full_refresh else stored.reason
    if reason is None:
        planned = replace(planned, fingerprint=kept_layout(job, stored, planned.fingerprint))
        reason = yield from difference(job, stored, planned)
        if reason is not None and planned.why_no_plan is not None:
            # without a plan all columns are read and none are hidden, so the difference means nothing
            reason = planned.why_no_plan
    if reason is None and planned.table != stored.table:
        reason = finding(402, what="another set of stored columns")
    is_unchecked = stored.state is not None and not stored.state.checked
    if reason is None and is_unchecked and job.config.verify == "always" and planned.keys:
        # two rows with one key may have existed then, and only one of them now: the view has rows of both
        reason = finding(402, what="changes whose keys were not checked (`verify`)")
    if reason is None and not planned.repeatable:
        reason = planned.why_no_plan
    if reason is None and not _reads_same_clock(stored.state, planned):
        reason = finding(402, what="other expressions of the clock")
    return Observed(replace(work, planned=planned), reason)


def _reads_same_clock(state: State | None, planned: Planned) -> bool:
    """Whether the stored rows were computed from values of the expressions that the plan reads."""
    before = state.clock if state is not None else None
    if before is None or planned.clock is None:
        return before is None and planned.clock is None
    return before.types == planned.clock.types


def observe_inputs(seen: Observed) -> Steps[Observed]:
    """Observe the moves of the inputs, including caches, which are up to date."""
    if seen.reason is not None:
        return seen
    work = seen.work
    state, written = work.stored.state, work.stored.committed
    assert state is not None and written is not None
    found = yield from moves(work.job.client, state, written, work.planned.inputs, work.planned.used)
    if isinstance(found, Finding):
        return replace(seen, reason=found)
    _warn_of_age(work, found)
    return replace(seen, moves=found)


def _warn_of_age(work: Work, moved: Mapping[str, Move]) -> None:
    """Warn of inputs whose changes have waited for more than half of the time for which they are retained."""
    job, view = work.job, work.planned.table
    now = job.client.invocation.now()
    for name, each in work.planned.inputs.tables.items():
        commits, kept = moved[each.table].commits, each.facts.kept
        waited = age(commits[-1], now, job.zone) if commits else timedelta(0)
        if kept is None or waited <= kept / 2:
            continue
        warning = (
            f"{view} has not read the changes of {name} for {in_words(waited)}, and they are kept for {in_words(kept)}: "
            f"refresh it more often, or lengthen {' and '.join(NAMES)} of {name}"
        )
        if warning not in job.warnings:  # inputs are observed before and after a migration
            job.warnings.append(warning)


def observe_sizes(seen: Observed) -> Steps[Observed]:
    """Observe the sizes of the view and of its tables, advancing those in the state by what commits report. Missing sizes (states
    of earlier versions, logs without metrics) are queried only if the cheapest way is chosen."""
    work, state = seen.work, seen.work.stored.state
    client, planned = work.job.client, work.planned
    found: dict[str, Size] = {}
    for each in planned.inputs.tables.values():
        before, move = (state.sizes.get(each.table) if state else None), seen.moves.get(each.table)
        types = tuple(column.type for column in each.facts.columns)
        if before is not None and move is not None:
            found[each.table] = sizes.moved(before, reversed(move.commits), types)
        elif work.job.config.chooses and (size := (yield from sizes.size_of(client, each))) is not None:
            found[each.table] = size
    view = _view_size(work)
    if view is None and seen.reason is None and work.job.config.chooses and planned.plan is not None:
        view = yield from sizes.detail(client, work.stored.table, _stored_types(planned))
    known = {**found, **({work.stored.table: view} if view is not None and seen.reason is None else {})}
    known = {table: size.bounded() for table, size in known.items()}
    return replace(seen, work=replace(work, planned=replace(planned, sizes=known)), view=view)


def _view_size(work: Work) -> Size | None:
    """The size of the stored view, from the commit with its state and from that state."""
    stored = work.stored
    if stored.state is None or stored.committed is None:
        return None
    types = _stored_types(work.planned)
    before = stored.state.sizes.get(stored.table)
    return sizes.written(stored.committed, types) or (None if before is None else sizes.moved(before, (stored.committed,), types))


def _stored_types(planned: Planned) -> tuple[exp.DataType, ...]:
    types = planned.plan.root.types if planned.plan is not None else {}
    return tuple(types[each.attribute] for each in planned.plan.columns) if planned.plan is not None else ()
