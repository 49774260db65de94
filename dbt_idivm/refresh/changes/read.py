"""Read the net diffs of the inputs that moved, and check their keys and texts.

Errors that the net diffs show are raised here, before a statement is built from them. Fetched new keys are looked up before
anything is written (`Changes.unchecked`): the rows that changes reach may have them. Broken keys that no net diff shows are found
by `left_keys.py`, or after the statement has failed (`apply/incremental.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dbt_idivm.cost.sizes import Size
from dbt_idivm.definition.keys import Key
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.operators.scan import CLOCK
from dbt_idivm.refresh.changes.moves import Move
from dbt_idivm.refresh.changes.net_diffs import ProvenDiff, changed_keys, fetch_together, for_plan, has_classes, net_diff
from dbt_idivm.refresh.changes.proving import GAP, Unproven, by_difference
from dbt_idivm.refresh.changes.unreadable_text import unreadable_text
from dbt_idivm.refresh.changes.verify_keys import Changed, has_new_keys, key_twice, verify_change, violation
from dbt_idivm.refresh.checks.keys import KeyedInput
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps, T
from dbt_idivm.script.diff import FeedDiff, InlineDiff, KeyViolation, NetChanges, NetDiff
from dbt_idivm.script.net_changes import net_changes
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.value_range import Ranges


@dataclass(frozen=True)
class Changes:
    """The moves of the inputs, and the classified net diffs of those that changed. `ranges`: table → known ranges of columns in
    its feed. `unchecked`: inputs with fetched new keys, which are to be looked up before anything is written."""

    moves: Mapping[str, Move]
    net: NetChanges = field(default_factory=NetChanges)
    ranges: Mapping[str, Ranges] = field(default_factory=dict)
    unchecked: tuple[Changed, ...] = ()

    @property
    def versions(self) -> dict[str, int]:
        return {table: move.to_version for table, move in self.moves.items()}

    @property
    def are_inlined(self) -> bool:
        """Whether all changes are so few that they were fetched."""
        return all(isinstance(diff, InlineDiff) for diff in self.net.diffs.values())


def read_changes(
    client: Client,
    plan: Plan,
    inputs: Sequence[KeyedInput],
    verify: str,
    moves: Mapping[str, Move],
    sizes: Mapping[str, Size],
    clock: InlineDiff | None = None,
) -> Steps[Changes | Finding]:
    """The net diffs from which `plan` is refreshed; or a reason to rebuild if they cannot be used.

    `verify`: the model's setting. `sizes`: sizes of the tables, where known. `clock`: the net diff of the clock, if it moved.
    Raises IDIVM-306 if a net diff violates a key.
    """
    moved = [each for each in inputs if moves[each.found.table].moved and each.found.table in plan.tables]
    yield from fetch_together(client, [(each.found, moves[each.found.table]) for each in moved])
    proven, changed = dict(moves), []
    for keyed in moved:
        move = proven[keyed.found.table]
        read = yield from or_gap(move, _complete_diff(client, keyed, move))
        if isinstance(read, Finding):
            return read
        proven[move.table] = read.move
        changed.append(Changed(keyed, read, sizes.get(move.table)))
    fetched = [each for each in changed if isinstance(each.read.diff, InlineDiff)]
    unchecked = tuple(each for each in fetched if has_new_keys(each, verify))
    found: dict[str, NetDiff] = {}
    ranges: dict[str, Ranges] = {}
    for each in changed:
        table = each.read.move.table
        checked = yield from or_gap(moves[table], _checked_diff(client, each, verify))
        if isinstance(checked, Finding):
            return checked
        found[table], ranges[table] = checked
    diffs = {**for_plan(plan, found, proven), **({} if clock is None else {CLOCK: clock})}
    return (yield from _unreadable(client, plan, diffs, proven)) or Changes(
        proven, _classified(plan, diffs, inputs, proven), ranges, unchecked
    )


def _complete_diff(client: Client, keyed: KeyedInput, move: Move) -> Steps[ProvenDiff]:
    """The complete net diff of an input."""
    read = yield from net_diff(client, keyed.found, move)
    if keyed.key is not None and (why := key_twice(read, keyed.key)) is not None:
        move = yield from by_difference(client, keyed.found, read.move, why)
        read = yield from net_diff(client, keyed.found, move)
    return read


def _checked_diff(client: Client, changed: Changed, verify: str) -> Steps[tuple[NetDiff, Ranges]]:
    """The net diff and the known ranges of an input; of a feed in the engine, after verifying its key."""
    found, key, diff, move, keys = changed.keyed.found, changed.keyed.key, changed.read.diff, changed.read.move, None
    if not isinstance(diff, FeedDiff):
        return diff, {}
    if key is not None and _asks(diff, key, verify, changed):
        keys = yield from changed_keys(client, found, key, move)
    yield from verify_change(client, changed, verify, keys)
    if keys is None or key is None:
        return diff, {}
    return (keys.classes_of(diff, key) if has_classes(diff) else diff), keys.columns


def _asks(diff: FeedDiff, key: Key, verify: str, changed: Changed) -> bool:
    """Whether to query the changed keys: to classify the net diff, or because looking up all keys would take longer."""
    is_looked_up = not key.trusted and verify != "none"
    return has_classes(diff) or (diff.broadcast and is_looked_up and (changed.size is None or changed.is_large))


def _classified(plan: Plan, diffs: Mapping[str, NetDiff], inputs: Sequence[KeyedInput], moves: Mapping[str, Move]) -> NetChanges:
    try:
        return net_changes(plan, diffs)
    except KeyViolation as broken:
        for each in inputs:
            if each.found.table == broken.table and each.key is not None and each.key.columns == broken.key:
                raise violation(each.found, each.key, moves[broken.table].to_version, broken.value) from broken
        raise IdivmError(finding(901, message=str(broken))) from broken


def _unreadable(client: Client, plan: Plan, diffs: Mapping[str, NetDiff], moves: Mapping[str, Move]) -> Steps[Finding | None]:
    for table, diff in diffs.items():
        if isinstance(diff, FeedDiff):
            reason = yield from or_gap(moves[table], unreadable_text(client, plan, diff))
            if reason is not None:
                return reason
    return None


def or_gap(move: Move, steps: Steps[T]) -> Steps[T | Finding]:
    """Run `steps`; return the reason to rebuild if the changes that they read are not available."""
    try:
        return (yield from steps)
    except EngineFailure as failure:
        if failure.is_any(GAP):
            return gap(move, failure)
        raise
    except Unproven as found:
        return found.reason


def gap(move: Move, failure: EngineFailure) -> Finding:
    """The reason to rebuild if neither the feed of a move nor the versions that replace it can be read."""
    if move.doubt is not None:
        return move.doubt
    return finding(
        403, source=move.table, from_version=move.consumed.version, to_version=move.to_version, message=failure.first_line
    )
