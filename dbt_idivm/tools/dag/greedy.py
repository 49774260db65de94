"""The greedy search for what to materialise besides the views.

Mistry et al. 2001, §6.1: repeatedly materialise the candidate with the greatest benefit, while it is above zero. benefit(x) =
gain(x) − inv(x): how much everything else gets cheaper, minus the cheaper of maintaining x permanently (mntcost) and computing
and writing it in each run (trmatcost). §6.2: the earlier benefit of a candidate is an upper bound of its current one
(monotonicity), so only the candidates with the greatest bounds are evaluated again. §6.3: if space is limited, the benefit per
byte counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heapreplace
from math import inf
from typing import Literal

from dbt_idivm.tools.dag.extended import Extended
from dbt_idivm.tools.dag.plans import plan_of
from dbt_idivm.tools.dag.update import Mode, State, Storage, state_of

Sharing = Literal["none", "transient", "permanent", "both"]
Differentials = Literal["together", "each", "none"]
ROUNDS = 3
NO_GROUP = -1
NOTHING = 1e-9  # a benefit below this fraction of the total cost is a rounding error


@dataclass(frozen=True)
class Options:
    """What may be chosen. `sharing`: what is materialised besides the views, and for how long. `differentials`: whether those of
    a group by all tables are one candidate together, each is one (§6.2, at the end), or none is. `space`: bytes for everything
    chosen. `kept`: forms that are stored already; one is dropped if its upkeep costs more than `hysteresis` times its savings."""

    sharing: Sharing = "both"
    differentials: Differentials = "together"
    space: float | None = None
    hysteresis: float = 1.0
    kept: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Candidate:
    """Units that are materialised together: a full result, or differentials of one group."""

    units: tuple[int, ...]
    group: int
    storage: tuple[Storage, ...]  # how it may be stored
    upkeep_counts: float  # factor of the upkeep: 1/hysteresis for what is stored already
    bytes: float


Chosen = tuple[Candidate, Storage]


def candidates(state: State, options: Options) -> list[Candidate]:
    """Full results and differentials read by two operations, full results that a differential needs, and what is stored already
    (§6.2: a result that is read once is not worth writing, but may be worth keeping permanently). The feed of a view that is
    refreshed incrementally is free, and independent of `sharing`."""
    found: list[Candidate] = []
    for group, full in state.dag.full.items():
        node = state.dag.dag.groups[group]
        if node.is_table or not node.storable:
            continue
        if group in state.views:
            found.extend(_feed(state, group))
        elif options.sharing != "none":
            found.extend(_full(state, group, full, options))
        if options.sharing in ("transient", "both") and options.differentials != "none":
            found.extend(_differentials(state, group, options))
    return found


def _full(state: State, group: int, full: int, options: Options) -> Iterator[Candidate]:
    dag = state.dag
    is_kept = dag.dag.groups[group].form in options.kept
    is_shared = len(dag.readers[full]) > 1
    is_needed = any(not dag.units[dag.gives[slot]].is_full for slot in dag.readers[full])
    if (is_kept or is_shared or is_needed) and not state.is_stored[full] and dag.reuse[full] < state.compute[full]:
        storage: tuple[Storage, ...] = ("transient",) if options.sharing != "permanent" and is_shared else ()
        if options.sharing != "transient" and state.is_maintainable(group):
            storage = ("permanent", *storage)
        if storage:
            counts = 1 / options.hysteresis if is_kept else 1.0
            yield Candidate((full,), group, storage, counts, dag.costs.bytes(dag.units[full]))


def _differentials(state: State, group: int, options: Options) -> Iterator[Candidate]:
    dag = state.dag
    merged = 1 if group in state.views else 0
    units = [unit for unit in _unread(state, group) if len(dag.readers[unit]) + merged > 1]
    for each in [units] if options.differentials == "together" else [[unit] for unit in units]:
        if each:
            size = sum(dag.costs.bytes(dag.units[unit]) for unit in each)
            yield Candidate(tuple(each), group, ("transient",), 1.0, size)


def _feed(state: State, group: int) -> Iterator[Candidate]:
    if (
        state.is_maintainable(group)
        and group not in state.written
        and any(state.dag.readers[unit] for unit in _unread(state, group))
    ):
        yield Candidate(tuple(state.dag.differentials[group]), group, ("feed",), 1.0, 0.0)


def feeds(state: State) -> list[Chosen]:
    """The change feeds of all views that may be refreshed incrementally."""
    return [(each, "feed") for group in sorted(state.views) for each in _feed(state, group)]


def _unread(state: State, group: int) -> list[int]:
    """The differentials that cannot be read yet, but would be cheaper to read than to compute."""
    return [
        unit
        for unit in state.dag.differentials[group]
        if not state.is_stored[unit] and state.dag.reuse[unit] < state.compute[unit]
    ]


def benefit(state: State, candidate: Candidate) -> tuple[float, Storage]:
    """benefit(x), and the best way to store x. The upkeep of what is stored already is discounted, so that a permanent group is
    not kept and dropped alternately."""
    found = [(_benefit(state, candidate, each), each) for each in candidate.storage]
    return max(found, key=lambda each: each[0])  # the first of equal ones


def _benefit(state: State, candidate: Candidate, storage: Storage) -> float:
    units, group = units_of(state, candidate, storage), candidate.group
    if storage == "feed" and group in state.written:
        return 0.0
    gain = state.gain(state.fall(units), group if storage != "transient" else NO_GROUP)
    if not gain > 0:  # also for NaN: infinite costs cannot be lowered
        return 0.0
    if storage == "transient":
        return gain - state.transient_cost(units)
    upkeep = state.incremental(group) * candidate.upkeep_counts
    return gain - upkeep + (state.upkeep(group) if storage == "feed" else 0.0)


def units_of(state: State, candidate: Candidate, storage: Storage) -> tuple[int, ...]:
    """The units that can be read if a candidate is stored in that way."""
    return state.kept(candidate.group) if storage == "permanent" else candidate.units


def search(dag: Extended, mode: Mode, options: Options) -> list[Chosen]:
    """The chosen candidates. Candidates without a benefit are tried again in further rounds: monotonicity may fail for them,
    because a group may be cheap to maintain only together with another one."""
    state, chosen = State(dag, mode), list[Chosen]()
    for _ in range(ROUNDS):
        further = greedy(state, options, chosen)
        if not further:
            break
        state, chosen = settled(dag, mode, [*chosen, *further])
    return chosen


def greedy(state: State, options: Options, before: Sequence[Chosen]) -> list[Chosen]:
    """Materialise candidates in the state, best first. Returns the chosen ones in order."""
    left = inf if options.space is None else options.space - sum(each.bytes for each, _ in before)
    found = [each for each in candidates(state, options) if each.bytes <= left]
    chosen: list[Chosen] = []
    least = state.total() * NOTHING

    def entry(place: int) -> tuple[float, int, int, Storage]:
        value, storage = benefit(state, found[place])
        if not value > least:
            return 0.0, place, len(chosen), storage
        return -(value if options.space is None else value / max(found[place].bytes, 1.0)), place, len(chosen), storage

    heap = [each for each in map(entry, range(len(found))) if each[0] < 0]
    heapify(heap)
    while heap:
        value, place, since, storage = heap[0]
        if value >= 0:
            break
        if found[place].bytes > left:
            heappop(heap)
        elif since < len(chosen):
            heapreplace(heap, entry(place))
        else:
            heappop(heap)
            state.add(units_of(state, found[place], storage), storage)
            chosen.append((found[place], storage))
            left -= found[place].bytes
    return chosen


def settled(dag: Extended, mode: Mode, chosen: Sequence[Chosen]) -> tuple[State, list[Chosen]]:
    """Remove candidates that are no longer used (§6.2, at the end), and store each full result in the way that is now cheaper;
    later choices may have changed either. Both lower the total cost."""
    now = list(chosen)
    while True:
        state = stored(dag, mode, now)
        before, now = now, list(_used(state, now))
        if now == before:
            return state, now


def stored(dag: Extended, mode: Mode, chosen: Sequence[Chosen]) -> State:
    """The state with all of these materialised."""
    written = {each.group for each, storage in chosen if storage == "transient" and not dag.units[each.units[0]].is_full}
    return state_of(
        dag,
        mode,
        [
            (
                (*each.units, *(dag.differentials[each.group] if storage == "permanent" and each.group not in written else ())),
                storage,
            )
            for each, storage in chosen
        ],
    )


def _used(state: State, chosen: Sequence[Chosen]) -> Iterator[Chosen]:
    plan, number = plan_of(state), state.dag.number
    permanent, fed = frozenset(plan.permanent), frozenset(plan.fed)
    transient = frozenset(number[each] for each in plan.transient)
    for each, storage in chosen:
        if storage == "feed":
            if each.group in fed:
                yield each, storage
        elif storage == "permanent" and each.group in permanent:
            yield each, storage if each.group in fed else _cheaper(state, each)
        elif storage == "transient" and (units := tuple(unit for unit in each.units if unit in transient)):
            yield replace(each, units=units), _cheaper(state, each)


def _cheaper(state: State, candidate: Candidate) -> Storage:
    """The cheaper way to store a full result whose changes nobody reads."""
    if len(candidate.storage) == 1:
        return candidate.storage[0]
    upkeep = state.incremental(candidate.group) * candidate.upkeep_counts
    return "permanent" if upkeep <= state.recomputed(candidate.group) else "transient"
