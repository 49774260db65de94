"""The incremental cost update: what a further materialised unit changes, found at its ancestors only.

Mistry et al. 2001, §5, where M_p is what is kept permanently and M_t what is kept during the run:

    compcost(e)      min over its operations o of compcost(o)
    compcost(o)      localcost(o) + Σ C(input)
    C(e)             min(compcost(e), reusecost(e)) if e is in M_p or M_t, else compcost(e)
    trmatcost(e)     compcost(e) + matcost(e)
    incrmcost(e)     Σ C(δ_R e) + mergecost(δ e)
    recmcost(e)      compcost(e) + matcost(e)
    mntcost(e)       min(incrmcost(e), recmcost(e)) of a given view, incrmcost(e) of another e in M_p
    totalcost        Σ mntcost(e) over M_p + Σ trmatcost(e) over M_t

Different from the paper: a stored group that is refreshed incrementally has a change feed, from which its differentials can be
read without writing them for that purpose. It is then called *fed*: C(δ_R e) is at most reusecost(δ_R e), except in its own
incrmcost. A given view that is fed is not recomputed.

§6.2: materialising more cannot make anything dearer, so a change is propagated upwards from its unit, in the order of the
units, and ends where it does not change the best operation's cost. Sums are always computed in one order: the numbers are
bit-identical to those computed from scratch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Literal

from dbt_idivm.tools.dag.extended import Extended

Mode = Literal["adaptive", "incremental", "recompute"]
Storage = Literal["permanent", "transient", "feed"]  # feed: of a given view, nothing more is written


@dataclass
class Fall:
    """What becomes cheaper: unit → its new compcost, and unit → its new C."""

    compute: dict[int, float] = field(default_factory=dict)
    read: dict[int, float] = field(default_factory=dict)


class State:
    """M_p and M_t, and all costs under them. `compute` is compcost, `read` is C."""

    def __init__(self, dag: Extended, mode: Mode) -> None:
        self.dag, self.mode = dag, mode
        count = len(dag.units)
        self.is_stored = [not slots for slots in dag.slots]
        self.transient: set[int] = set()
        self.written: set[int] = set()  # groups whose differentials a statement writes
        self.views = frozenset(dag.dag.views.values())
        self.permanent: set[int] = set(self.views)  # groups
        self.fed: set[int] = set()  # groups whose differentials are read from their change feed
        for group in self.views:
            self.is_stored[dag.full[group]] = True
            if mode == "incremental" and self.is_maintainable(group):
                self._place(dag.differentials[group], "feed")
        self.compute, self.read = [0.0] * count, [0.0] * count
        self.evaluate()

    def evaluate(self) -> None:
        """Compute all costs, inputs first."""
        dag = self.dag
        for unit, reuse in enumerate(dag.reuse):
            cost = self.compute[unit] = min((self.cost_of_slot(slot) for slot in dag.slots[unit]), default=reuse)
            self.read[unit] = min(cost, reuse) if self.is_stored[unit] else cost

    def cost_of_slot(self, slot: int) -> float:
        """compcost(o)."""
        total = self.dag.own[slot]
        for each in self.dag.inputs[slot]:
            total += self.read[each]
        return total

    def fall(self, added: Iterable[int]) -> Fall:
        """What becomes cheaper if these units are materialised in addition."""
        dag, is_stored, old_compute, old_read = self.dag, self.is_stored, self.compute, self.read
        own, inputs, gives, readers, reuse = dag.own, dag.inputs, dag.gives, dag.readers, dag.reuse
        found = Fall()
        compute, read = found.compute, found.read
        waiting: dict[int, list[int]] = {}
        heap: list[int] = []
        now = frozenset(added)
        changed = []
        for unit in sorted(now):
            if reuse[unit] < old_read[unit]:
                read[unit] = reuse[unit]
                changed.append(unit)
        while True:
            for unit in changed:
                for slot in readers[unit]:
                    above = gives[slot]
                    if above in waiting:
                        waiting[above].append(slot)
                    else:
                        waiting[above] = [slot]
                        heappush(heap, above)
            if not heap:
                return found
            unit, changed = heappop(heap), []
            least = old_compute[unit]
            for slot in waiting.pop(unit):
                total = own[slot]
                for each in inputs[slot]:
                    total += read[each] if each in read else old_read[each]
                if total < least:
                    least = total
            if least < old_compute[unit]:
                compute[unit] = least
                low = reuse[unit] if reuse[unit] < least and (is_stored[unit] or unit in now) else least
                if low < (read[unit] if unit in read else old_read[unit]):
                    read[unit] = low
                    changed.append(unit)

    def gain(self, fall: Fall, group_of_x: int) -> float:
        """gain(x) (§6.1): how much cheaper everything that is already materialised becomes, except x's own group."""
        units, total, groups = self.dag.units, 0.0, set()
        for unit, cost in fall.compute.items():
            if unit in self.transient:
                total += self.compute[unit] - cost
            groups.add(units[unit].group)
        groups.update(units[unit].group for unit in fall.read)
        for group in sorted((groups & self.permanent) - {group_of_x}):
            total += self.upkeep(group) - self.upkeep(group, fall)
        return total

    def upkeep(self, group: int, fall: Fall | None = None) -> float:
        """mntcost(e)."""
        if not self.is_maintainable(group):
            return self.recomputed(group, fall)
        if group not in self.views or group in self.fed or self.mode == "incremental":
            return self.incremental(group, fall)
        return min(self.incremental(group, fall), self.recomputed(group, fall))

    def is_maintainable(self, group: int) -> bool:
        """Whether its rows have IDs by which changes can be applied."""
        return self.dag.dag.groups[group].storable and self.mode != "recompute"

    def incremental(self, group: int, fall: Fall | None = None) -> float:
        """incrmcost(e)."""
        total = self.dag.merge[group]
        is_fed = group in self.fed
        costs, falls = (self.compute if is_fed else self.read), fall and (fall.compute if is_fed else fall.read)
        for each in self.dag.differentials[group]:
            total += falls[each] if falls and each in falls else costs[each]
        return total

    def recomputed(self, group: int, fall: Fall | None = None) -> float:
        """recmcost(e), which is trmatcost(e) as well."""
        full = self.dag.full[group]
        compute = self.compute[full] if fall is None or full not in fall.compute else fall.compute[full]
        return compute + self.dag.store[full]

    def transient_cost(self, units: Iterable[int]) -> float:
        """trmatcost of additional units: one statement for each full result, and one for all differentials of a group."""
        total, groups = 0.0, set()
        for each in units:
            total += self.compute[each] + self.dag.store[each]
            if not self.dag.units[each].is_full:
                groups.add(self.dag.units[each].group)
        return total + self.dag.statement * len(groups - self.written)

    def kept(self, group: int) -> tuple[int, ...]:
        """The units that can be read if a group is kept permanently: its rows, and their changes unless these are written for the
        run."""
        return (self.dag.full[group], *(self.dag.differentials[group] if group not in self.written else ()))

    def add(self, units: Sequence[int], storage: Storage) -> None:
        """Materialise additional units of one group."""
        fall = self.fall(units)
        for unit, cost in fall.compute.items():
            self.compute[unit] = cost
        for unit, cost in fall.read.items():
            self.read[unit] = cost
        self._place(units, storage)

    def _place(self, units: Iterable[int], storage: Storage) -> None:
        for unit in units:
            self.is_stored[unit] = True
            of = self.dag.units[unit]
            if storage == "transient":
                self.transient.add(unit)
                if not of.is_full:
                    self.written.add(of.group)
            elif of.is_full:
                self.permanent.add(of.group)
            else:
                self.fed.add(of.group)

    def total(self) -> float:
        """totalcost(M_p, M_t)."""
        kept = sum(self.upkeep(group) for group in sorted(self.permanent))
        written = sum(self.compute[each] + self.dag.store[each] for each in sorted(self.transient))
        return kept + written + self.dag.statement * len(self.written)


def state_of(dag: Extended, mode: Mode, stored: Iterable[tuple[Sequence[int], Storage]]) -> State:
    """The state with these units materialised besides the views; all costs are computed from scratch."""
    state = State(dag, mode)
    for units, storage in stored:
        state._place(units, storage)
    state.evaluate()
    return state
