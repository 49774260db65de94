"""The AND-OR DAG with differentials, as lists of numbers that a search can read quickly.

Mistry et al. 2001, §4.2.2: each equivalence node e gets an additional one for each differential δ e, and each of its operation
nodes o an additional δ o, whose children are full results and differentials. Here all equivalence nodes are *units*, numbered so
that inputs come before their readers, and all operation nodes are *slots*. Nothing in it changes during a search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt_idivm.tools.dag.costs import Costs, Unit
from dbt_idivm.tools.dag.dag import Dag, Operation


@dataclass(frozen=True, eq=False)
class Extended:
    """Indexed by unit: `slots`, `readers`, `reuse` and `store`; indexed by slot: `own`, `inputs`, `gives` and `operations`. Costs
    are in seconds."""

    costs: Costs
    units: Sequence[Unit]
    number: dict[Unit, int]  # unit → its number
    slots: list[list[int]]  # unit → the slots that compute it; none for tables and their changes
    readers: list[list[int]]  # unit → the slots that read it
    reuse: list[float]
    store: list[float]
    own: list[float]
    inputs: list[tuple[int, ...]]
    gives: list[int]
    operations: list[Operation]
    full: dict[int, int]  # group → unit
    differentials: dict[int, list[int]]  # group → units
    merge: dict[int, float]  # group → mergecost of all its differentials
    statement: float  # cost of the statement that writes the differentials of a group

    @property
    def dag(self) -> Dag:
        return self.costs.dag


def extended(costs: Costs, *, incremental: bool = True) -> Extended:
    """The extended DAG of everything below a view; without differentials if refreshes may not be incremental."""
    dag, prices = costs.dag, costs.prices
    units = _units(costs, incremental)
    number = {unit: place for place, unit in enumerate(units)}
    count = len(units)
    found = Extended(
        costs,
        units,
        number,
        [[] for _ in range(count)],
        [[] for _ in range(count)],
        [costs.reuse(each).seconds(prices) for each in units],
        [costs.store(each).seconds(prices) for each in units],
        [],
        [],
        [],
        [],
        {},
        {},
        {},
        prices.overwrites + prices.nodes,
    )
    for place, unit in enumerate(units):
        if unit.is_full:
            found.full[unit.group] = place
            found.differentials[unit.group] = []
            if incremental:
                found.merge[unit.group] = costs.merge(unit.group).seconds(prices)
        else:
            found.differentials[unit.group].append(place)
        for operation in dag.groups[unit.group].operations:
            _add_slot(found, place, operation)
    return found


def _units(costs: Costs, incremental: bool) -> list[Unit]:
    found: list[Unit] = []
    for each in sorted(below(costs.dag)):
        found.append(Unit(each))
        if incremental:
            found.extend(costs.differentials(each))
    return found


def below(dag: Dag) -> frozenset[int]:
    """The groups of views, and all groups from which they may be computed."""
    found = set(dag.views.values())
    for group in reversed(dag.groups):
        if group.number in found:
            found.update(each for operation in group.operations for each in operation.inputs)
    return frozenset(found)


def _add_slot(found: Extended, place: int, operation: Operation) -> None:
    costs, slot = found.costs, len(found.own)
    needs = costs.needs(operation, found.units[place].table)
    inputs = tuple(found.number[each] for each in needs)
    nodes, tuples = costs.taken_in(needs)
    found.own.append(nodes * costs.prices.nodes + tuples * costs.prices.tuples if needs else 0.0)
    found.inputs.append(inputs)
    found.gives.append(place)
    found.operations.append(operation)
    found.slots[place].append(slot)
    for each in dict.fromkeys(inputs):
        found.readers[each].append(slot)
