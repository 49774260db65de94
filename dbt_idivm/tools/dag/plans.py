"""The best plan for one refresh of all views, given the materialised units: how each group is maintained, and from what.

Mistry et al. 2001, §5: the best operation of each unit that has to be computed, and for each materialised group the cheaper of
incremental refresh and recomputation. The costs are those of `update.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dbt_idivm.tools.dag.costs import Costs, Unit
from dbt_idivm.tools.dag.extended import extended
from dbt_idivm.tools.dag.update import Mode, State, Storage, state_of

How = Literal["incremental", "recomputed", "unchanged"]


@dataclass(frozen=True)
class Upkeep:
    """How a permanently stored group is maintained. `views`: the views with its rows; empty if it was chosen by the search.
    `incremental`, `recomputed`: seconds; None if an incremental refresh is impossible."""

    group: int
    views: tuple[str, ...]
    how: How
    incremental: float | None
    recomputed: float

    @property
    def seconds(self) -> float:
        """mntcost(e)."""
        return self.recomputed if self.how == "recomputed" or self.incremental is None else self.incremental


@dataclass(frozen=True)
class Step:
    """How a unit is computed: by which operation, and for each input whether it is read (True) or computed by its own step."""

    unit: Unit
    operation: str
    inputs: tuple[tuple[Unit, bool], ...]
    seconds: float


@dataclass(frozen=True)
class Plan:
    """`transient`: units written for the duration of the run → seconds for computing and writing them. `fed`: groups whose change
    feed is read."""

    upkeep: tuple[Upkeep, ...]
    transient: Mapping[Unit, float]
    fed: tuple[int, ...]
    steps: Mapping[Unit, Step]
    seconds: float
    names: Mapping[Unit, str]

    @property
    def permanent(self) -> tuple[int, ...]:
        """The groups that are kept besides the views."""
        return tuple(each.group for each in self.upkeep if not each.views)

    def of(self, view: str) -> Upkeep:
        return next(each for each in self.upkeep if view in each.views)

    def show(self) -> str:
        """The plan as text: what is stored, followed by the steps that compute it, each where it is first needed."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        shown = set[Unit]()
        yield f"refresh {self.seconds:.4g} s"
        for unit, seconds in self.transient.items():
            yield f"during the run {self._label(unit)}: {seconds:.4g} s"
            yield from self._below(unit, shown)
        for each in self.upkeep:
            what = f"view {', '.join(each.views)}" if each.views else "permanently"
            other = each.recomputed if each.how != "recomputed" else each.incremental
            rather = f", {'incremental' if each.how == 'recomputed' else 'recomputed'} {other:.4g} s" if other is not None else ""
            yield f"{what} {self._label(Unit(each.group))}: {each.how} {each.seconds:.4g} s{rather}" + (
                "; its changes are read" if each.group in self.fed else ""
            )
            for unit in self._sources(each):
                yield from self._below(unit, shown)

    def _sources(self, upkeep: Upkeep) -> Iterator[Unit]:
        if upkeep.how == "recomputed":
            yield Unit(upkeep.group)
        elif upkeep.how == "incremental":
            yield from (
                unit for unit in self.steps if unit.group == upkeep.group and not unit.is_full and unit not in self.transient
            )

    def _below(self, first: Unit, shown: set[Unit]) -> Iterator[str]:
        """The steps that compute a unit, each only once."""
        waiting = [(first, 1)]
        while waiting:
            unit, depth = waiting.pop()
            if (step := self.steps.get(unit)) is None or unit in shown:
                continue
            shown.add(unit)
            inputs = ", ".join(self._label(each) + ("" if is_read else " (computed)") for each, is_read in step.inputs)
            yield f"{'  ' * depth}{self._label(unit)} = {step.operation} over {inputs or 'nothing'}: {step.seconds:.4g} s"
            waiting += [(each, depth + 1) for each, is_read in reversed(step.inputs) if not is_read]

    def _label(self, unit: Unit) -> str:
        return f"{'' if unit.is_full else 'δ ' + str(unit.table) + ' of '}{unit.group}: {self.names.get(unit, '')}"


def plan(
    costs: Costs, permanent: Iterable[int] = (), transient: Iterable[Unit] = (), fed: Iterable[int] = (), mode: Mode = "adaptive"
) -> Plan:
    """The best plan if these groups are kept permanently besides the views, these units are kept during the run, and the change
    feeds of these views are read."""
    dag = extended(costs, incremental=mode != "recompute")
    stored: list[tuple[Sequence[int], Storage]] = [([dag.number[each] for each in transient], "transient")]
    stored += [((dag.full[group], *dag.differentials[group]), "permanent") for group in permanent]
    stored += [(dag.differentials[group], "feed") for group in fed]
    return plan_of(state_of(dag, mode, stored))


def plan_of(state: State) -> Plan:
    """The plan that a state's costs belong to, without unused units."""
    steps, stored = reached(state)
    dag = state.dag
    used = {dag.units[unit].group for unit in stored if unit not in state.transient}
    upkeep = [upkeep_of(state, group) for group in sorted(state.permanent & (state.views | used))]
    fed = tuple(sorted({dag.units[unit].group for unit in stored - state.transient if not dag.units[unit].is_full} & state.fed))
    transient = sorted(state.transient & stored)
    written = {dag.units[unit].group for unit in transient if not dag.units[unit].is_full}
    each = {dag.units[unit]: state.compute[unit] + dag.store[unit] for unit in transient}
    seconds = sum(one.seconds for one in upkeep) + sum(each.values()) + dag.statement * len(written)
    named = {*each, *(Unit(one.group) for one in upkeep), *steps, *(unit for step in steps.values() for unit, _ in step.inputs)}
    names = {unit: dag.dag.groups[unit.group].form for unit in sorted(named, key=dag.number.__getitem__)}
    return Plan(tuple(upkeep), each, fed, steps, seconds, names)


def upkeep_of(state: State, group: int) -> Upkeep:
    views = tuple(sorted(view for view, number in state.dag.dag.views.items() if number == group))
    incremental = state.incremental(group) if state.is_maintainable(group) else None
    recomputed = state.recomputed(group)
    how: How = "recomputed"
    if incremental is not None and state.upkeep(group) == incremental:
        how = "incremental" if state.dag.differentials[group] else "unchanged"
    return Upkeep(group, views, how, incremental, recomputed)


def reached(state: State) -> tuple[dict[Unit, Step], frozenset[int]]:
    """The steps that the views need, and the materialised units that these read."""
    dag, stored, steps, seen = state.dag, set[int](), dict[int, Step](), set[int]()
    waiting = [unit for group in sorted(state.views, reverse=True) for unit in _sources(state, group)]
    while waiting:
        unit = waiting.pop()
        if is_read(state, unit) and unit not in stored:
            stored.add(unit)
            if unit in state.transient:
                waiting.append(~unit)
            elif dag.units[unit].group in state.permanent and dag.units[unit].group not in state.views:
                waiting.extend(_sources(state, dag.units[unit].group))
        if unit < 0 or not is_read(state, unit):  # ~unit: to be computed instead of read
            place = unit if unit >= 0 else ~unit
            if place not in seen and dag.slots[place]:
                seen.add(place)
                steps[place] = _step(state, place)
                waiting.extend(reversed(dag.inputs[_best(state, place)]))
    return {dag.units[each]: steps[each] for each in sorted(steps)}, frozenset(stored)


def _sources(state: State, group: int) -> list[int]:
    """The first units of the refresh of a stored group: its differentials, or its query (~: to be computed instead of read)."""
    if upkeep_of(state, group).how == "recomputed":
        return [~state.dag.full[group]]
    return [~each if group in state.fed else each for each in state.dag.differentials[group]]


def is_read(state: State, unit: int) -> bool:
    """Whether C(e) is reusecost(e)."""
    if unit < 0 or not state.is_stored[unit]:
        return False
    return not state.dag.slots[unit] or state.dag.reuse[unit] < state.compute[unit]


def _best(state: State, unit: int) -> int:
    return min(state.dag.slots[unit], key=state.cost_of_slot)


def _step(state: State, unit: int) -> Step:
    dag, slot = state.dag, _best(state, unit)
    inputs = tuple((dag.units[each], is_read(state, each)) for each in dag.inputs[slot])
    return Step(dag.units[unit], dag.operations[slot].label, inputs, state.compute[unit])
