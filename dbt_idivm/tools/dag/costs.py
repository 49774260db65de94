"""Costs of the nodes of the AND-OR DAG: full results and differentials, from expected numbers of rows.

    unit                    meaning                                                             kept
    e                       the full result of a group                                          permanently or during the run
    δ_R e                   its changes caused by the changes of one table R: δ⁺ and δ⁻         during the run

Mistry et al. 2001, §4.1: the differential of e1 ⋈ e2 by R is δ_R e1 ⋈ e2 if R is below e1 only; if R is below both, it consists
of δ_R e1 ⋈ e2 and e1 ⋈ δ_R e2. The differentials of σ and γ need only the differential of their input. Operations above γ also
need the old rows of γ, because its differential says only what is added to which group. Insertions and deletions of one table are
propagated together, as in the refresh of a view (an update is one of each).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dbt_idivm.algebra.cardinality import drawn
from dbt_idivm.cached import cached_property
from dbt_idivm.cost.measure import SAFE, Measure, Prices
from dbt_idivm.cost.merging import Target
from dbt_idivm.cost.sizes import FILE
from dbt_idivm.tools.dag.dag import Dag, Group, Operation

LARGEST = 1e15  # of any estimate; beyond it 1 − 1/n rounds to 1


def bounded(estimate: float) -> float:
    """Clip an estimate to 0 … LARGEST; NaN becomes 1."""
    return min(max(estimate, 0.0), LARGEST) if estimate == estimate else 1.0


class Unit(NamedTuple):
    """Something that can be materialised: a group's full result (`table` is None), or its differential by one table."""

    group: int
    table: str | None = None

    @property
    def is_full(self) -> bool:
        return self.table is None


@dataclass(frozen=True)
class Rate:
    """How much of a table changes from one refresh to the next, as fractions of its rows (§4: given as percentages)."""

    inserted: float = 0.0
    deleted: float = 0.0
    updated: float = 0.0

    def of(self, rows: float) -> Change:
        """The changes of a table with `rows` rows. It cannot lose more rows than it has."""
        inserted, deleted, updated = (bounded(each) for each in (self.inserted, self.deleted, self.updated))
        return Change(bounded(inserted * rows), min(deleted, 1.0) * rows, min(updated, 1.0) * rows)


@dataclass(frozen=True)
class Change:
    """Numbers of rows in a differential."""

    inserted: float = 0.0
    deleted: float = 0.0
    updated: float = 0.0

    @property
    def signed(self) -> float:
        """|δ⁺| + |δ⁻|."""
        return self.inserted + self.deleted + 2 * self.updated

    @property
    def touched(self) -> float:
        """Existing rows that are replaced or removed."""
        return self.deleted + self.updated

    def times(self, factor: float) -> Change:
        return Change(self.inserted * factor, self.deleted * factor, self.updated * factor)

    def __add__(self, other: Change) -> Change:
        return Change(self.inserted + other.inserted, self.deleted + other.deleted, self.updated + other.updated)

    def within(self, rows: float) -> Change:
        """The changes limited to those possible in a group with `rows` rows."""
        return Change(bounded(self.inserted), min(self.deleted, rows), min(self.updated, rows))


@dataclass(frozen=True)
class Costs:
    """Estimates for one DAG: rows and bytes of its units, and work as measures."""

    dag: Dag
    rates: Mapping[str, Rate]
    prices: Prices = SAFE

    @cached_property
    def changes(self) -> tuple[Mapping[str, Change], ...]:
        """Group → table → rows of its differential. Tables that do not change are left out (§4.2.2: their plan is null)."""
        found: list[Mapping[str, Change]] = []
        for group in self.dag.groups:
            rows = bounded(group.rows)
            if group.is_table:
                rate = self.rates.get(group.form, Rate())
                found.append({group.form: rate.of(rows)} if rate != Rate() else {})
            else:
                first = group.operations[0]  # operations with equal rows agree on how many change
                tables = sorted({table for each in first.inputs for table in found[each]} & group.tables)
                found.append({table: self._change(first, rows, table, found) for table in tables})
        return tuple(found)

    def _change(self, operation: Operation, rows: float, table: str, found: Sequence[Mapping[str, Change]]) -> Change:
        """The same fraction changes as in the inputs; for γ, the number of distinct groups among the changed rows."""
        inputs = [(bounded(self.dag.groups[each].rows), found[each][table]) for each in operation.inputs if table in found[each]]
        if operation.kind == "aggregate":
            return Change(updated=drawn(rows, sum(change.signed for _, change in inputs)))
        change = Change()
        for among, each in inputs:
            change += each.times(rows / among if among else 0.0)
        return change.within(rows)

    @cached_property
    def is_grouped(self) -> tuple[bool, ...]:
        """Group → whether it is a γ, whose differential lacks the rows that it replaces."""
        return tuple(any(each.kind == "aggregate" for each in group.operations) for group in self.dag.groups)

    def rows(self, unit: Unit) -> float:
        if unit.table is None:
            return bounded(self.dag.groups[unit.group].rows)
        change = self.changes[unit.group].get(unit.table)
        return change.signed if change else 0.0

    def bytes(self, unit: Unit) -> float:
        return self.rows(unit) * self._width(self.dag.groups[unit.group])

    @staticmethod
    def _width(group: Group) -> float:
        return max(bounded(group.width), 1.0)

    def needs(self, operation: Operation, table: str | None) -> tuple[Unit, ...]:
        """The inputs of an operation, or of its differential by a table (§4.2.2: children are full results and differentials)."""
        if table is None:
            return tuple(Unit(each) for each in operation.inputs)
        return tuple(self._differential_needs(operation, table))

    def _differential_needs(self, operation: Operation, table: str) -> Iterator[Unit]:
        changed = [place for place, each in enumerate(operation.inputs) if table in self.changes[each]]
        for place in changed:
            here = operation.inputs[place]
            yield Unit(here, table)
            if operation.kind == "other" or (self.is_grouped[here] and operation.kind != "aggregate"):
                yield Unit(here)
            if operation.kind in ("join", "other"):
                yield from (Unit(each) for other, each in enumerate(operation.inputs) if other != place)

    def taken_in(self, needs: Sequence[Unit]) -> tuple[float, float]:
        """Plan nodes and tuples of an operation over these units. n inputs take n − 1 joins or unions."""
        return max(len(needs) - 1, 1), sum(self.rows(each) for each in needs)

    def own(self, needs: Sequence[Unit]) -> Measure:
        """localcost(o) (§5): each operator takes in each row once."""
        nodes, tuples = self.taken_in(needs)
        return Measure(nodes=nodes, tuples=tuples)

    def reuse(self, unit: Unit) -> Measure:
        """reusecost(e): reading a table, a change feed, or a materialised unit."""
        return Measure(nodes=1, tuples=self.rows(unit), bytes_read=self.bytes(unit))

    def store(self, unit: Unit) -> Measure:
        """matcost(e): writing a result. One statement writes all differentials of a group, so it is not counted here for
        differentials."""
        return Measure(overwrites=1 if unit.is_full else 0, nodes=1, tuples=self.rows(unit), bytes_written=self.bytes(unit))

    def merge(self, number: int) -> Measure:
        """mergecost(δ e): one statement applies the differentials by all tables (§4.1, note 1). If only one table changes, and
        only by insertions, it appends; otherwise it merges."""
        group, changes = self.dag.groups[number], self.changes[number].values()
        if not changes:
            return Measure()
        rows, width = bounded(group.rows), self._width(group)
        change = sum(changes, Change())
        size = rows * width
        target = Target(rows, size, max(size / FILE, 1.0), width, min(group.key_width / width, 1.0), rewrites=False)
        if len(changes) == 1 and not change.touched:
            return target.append(change.inserted)
        return target.merge(min(change.touched, rows), change.inserted, inserts=change.inserted > 0)

    def differentials(self, number: int) -> tuple[Unit, ...]:
        """δ_R e for all changing tables R."""
        return tuple(Unit(number, table) for table in self.changes[number])

    def name(self, unit: Unit) -> str:
        """The name of a unit for people."""
        form = self.dag.groups[unit.group].form
        return form if unit.is_full else f"δ {unit.table} of {form}"
