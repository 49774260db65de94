"""The greedy search for what to materialise besides the views.

Mistry et al. 2001, §6.1: the candidate with the greatest benefit is materialised, again and again, while there is one above
zero. benefit(x) = gain(x) − inv(x): by how much all else becomes cheaper, less the cheaper of maintaining x permanently
(mntcost) and of computing and writing it in each run (trmatcost). §6.2: the benefit that a candidate had is taken for an upper
bound of what it has now (monotonicity), so that only those are evaluated again whose bound is the greatest. §6.3: with limited
space it is the benefit for each byte that counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heapreplace
from math import inf
from typing import Literal

from dbt_idivm.dag.extended import Extended
from dbt_idivm.dag.plans import plan_of
from dbt_idivm.dag.update import Mode, State, state_of

Sharing = Literal["none", "transient", "permanent", "both"]
Differentials = Literal["together", "each", "none"]
ROUNDS = 3
NOTHING = 1e-9  # a benefit below this part of the whole cost is an error of rounding


@dataclass(frozen=True)
class Options:
    """What may be chosen. `sharing`: what is materialised besides the views, and how long. `differentials`: those of a group by
    all tables are one candidate, or each is one (§6.2, at the end), or none is. `space`: bytes for all that is chosen. `kept`:
    forms that are stored already; one is given up if its upkeep costs more than `hysteresis` times what it saves."""

    sharing: Sharing = "both"
    differentials: Differentials = "together"
    space: float | None = None
    hysteresis: float = 1.0
    kept: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Candidate:
    """Units that are materialised at once: a full result, or differentials of one group."""

    units: tuple[int, ...]
    group: int
    may_be_permanent: bool
    may_be_transient: bool
    upkeep_counts: float  # 1/hysteresis for what is stored already
    bytes: float



Chosen = tuple[Candidate, bool]  # True: permanently


def candidates(state: State, options: Options) -> list[Candidate]:
    """Full results and differentials that two operations read, full results that a differential needs, and what is stored
    already (§6.2: what is read once is not worth writing; kept permanently it may be)."""
    found: list[Candidate] = []
    if options.sharing == "none":
        return found
    for group, full in state.dag.full.items():
        node = state.dag.dag.groups[group]
        if node.is_table or not node.storable:
            continue
        if group not in state.views:
            found.extend(_full(state, group, full, options))
        if options.sharing != "permanent" and options.differentials != "none":
            found.extend(_differentials(state, group, options))
    return found


def _full(state: State, group: int, full: int, options: Options) -> Iterator[Candidate]:
    dag = state.dag
    is_kept = dag.dag.groups[group].form in options.kept
    is_shared = len(dag.readers[full]) > 1
    is_needed = any(not dag.units[dag.gives[slot]].is_full for slot in dag.readers[full])
    if (is_kept or is_shared or is_needed) and not state.is_stored[full] and dag.reuse[full] < state.compute[full]:
        yield Candidate((full,), group, options.sharing != "transient" and state.is_maintainable(group),
                        options.sharing != "permanent" and is_shared, 1 / options.hysteresis if is_kept else 1.0,
                        dag.costs.bytes(dag.units[full]))


def _differentials(state: State, group: int, options: Options) -> Iterator[Candidate]:
    dag = state.dag
    merged = 1 if group in state.views else 0
    units = [unit for unit in dag.differentials[group]
             if len(dag.readers[unit]) + merged > 1 and not state.is_stored[unit] and dag.reuse[unit] < state.compute[unit]]
    for each in [units] if options.differentials == "together" else [[unit] for unit in units]:
        if each:
            size = sum(dag.costs.bytes(dag.units[unit]) for unit in each)
            yield Candidate(tuple(each), group, False, True, 1.0, size)


def benefit(state: State, candidate: Candidate) -> tuple[float, bool]:
    """benefit(x), and whether it is to be kept permanently. The upkeep of what is stored already counts less: a permanent group
    that is kept and one that is given up should not take turns."""
    gain = state.gain(state.fall(candidate.units))
    if gain <= 0:
        return 0.0, False
    transient = state.transient_cost(candidate.units) if candidate.may_be_transient else inf
    permanent = _upkeep(state, candidate) if candidate.may_be_permanent else inf
    return gain - min(transient, permanent), permanent <= transient


def search(dag: Extended, mode: Mode, options: Options) -> list[Chosen]:
    """What is chosen. Candidates that had no benefit at first are tried again in further rounds: it is for these that
    monotonicity may fail, as a group may be cheap to maintain only beside another one."""
    state, chosen = State(dag, mode), list[Chosen]()
    for _ in range(ROUNDS):
        further = greedy(state, options, chosen)
        if not further:
            break
        state, chosen = settled(dag, mode, [*chosen, *further])
    return chosen


def greedy(state: State, options: Options, before: Sequence[Chosen]) -> list[Chosen]:
    """Materialise candidates in the state, the best first; what was chosen, in order."""
    left = inf if options.space is None else options.space - sum(each.bytes for each, _ in before)
    found = [each for each in candidates(state, options) if each.bytes <= left]
    chosen: list[Chosen] = []
    least = state.total() * NOTHING

    def entry(place: int) -> tuple[float, int, int, bool]:
        value, permanent = benefit(state, found[place])
        if value <= least:
            return 0.0, place, len(chosen), False
        return -(value if options.space is None else value / max(found[place].bytes, 1.0)), place, len(chosen), permanent

    heap = [each for each in map(entry, range(len(found))) if each[0] < 0]
    heapify(heap)
    while heap:
        value, place, since, permanent = heap[0]
        if value >= 0:
            break
        if found[place].bytes > left:
            heappop(heap)
        elif since < len(chosen):
            heapreplace(heap, entry(place))
        else:
            heappop(heap)
            state.add(found[place].units, permanent=permanent)
            chosen.append((found[place], permanent))
            left -= found[place].bytes
    return chosen


def settled(dag: Extended, mode: Mode, chosen: Sequence[Chosen]) -> tuple[State, list[Chosen]]:
    """Without what is no longer used (§6.2, at the end), and each full result kept in the way that is cheaper now: what was
    chosen later may have changed either. Both lower the total cost."""
    now = list(chosen)
    while True:
        permanent = [each.group for each, is_permanent in now if is_permanent]
        transient = [dag.units[unit] for each, is_permanent in now if not is_permanent for unit in each.units]
        state = state_of(dag, mode, permanent, transient)
        before, now = now, list(_used(state, now))
        if now == before:
            return state, now


def _used(state: State, chosen: Sequence[Chosen]) -> Iterator[Chosen]:
    plan, number = plan_of(state), state.dag.number
    permanent, transient = frozenset(plan.permanent), frozenset(number[each] for each in plan.transient)
    for each, is_permanent in chosen:
        if is_permanent and each.group in permanent:
            yield each, not each.may_be_transient or _upkeep(state, each) <= state.recomputed(each.group)
        elif not is_permanent and (units := tuple(unit for unit in each.units if unit in transient)):
            yield replace(each, units=units), each.may_be_permanent and _upkeep(state, each) <= state.recomputed(each.group)


def _upkeep(state: State, candidate: Candidate) -> float:
    """mntcost(x) of a candidate, as it counts."""
    return state.incremental(candidate.group) * candidate.upkeep_counts
