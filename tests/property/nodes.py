"""The i-diffs of every operator of a view, compared with what changed there: the contract of each kind, checked on rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff
from dbt_idivm.operators.scan import Scan
from dbt_idivm.passes.propagate import matching_rule
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.diff import Row
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.prune_empty import non_empty
from tests.property.harness import World
from tests.property.plans import idiff_way


def hashable(value: Any) -> Any:
    """A value of DuckDB that can be a member of a set: lists and structs as tuples."""
    if isinstance(value, dict):
        return tuple((name, hashable(each)) for name, each in value.items())
    return tuple(map(hashable, value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class Bag:
    """The rows of a relation by attribute name."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def values(self, names: tuple[str, ...]) -> list[Row]:
        """π without duplicate elimination."""
        places = [self.columns.index(name) for name in names]
        return [tuple(row[place] for place in places) for row in self.rows]

    def minus(self, other: Bag) -> Bag:
        return Bag(self.columns, tuple((Counter(self.rows) - Counter(other.rows)).elements()))

    def pick(self, row: Row, names: tuple[str, ...]) -> Row:
        return tuple(row[self.columns.index(name)] for name in names)


def evaluate(world: World, relation: Relation, binding: Binding, known: dict[str, list[Row]] | None = None) -> Bag:
    """The relation's rows now; `known` are those of queries that were run before, by their text, where nothing changed since."""
    binder, known = binding.statement(), {} if known is None else known
    query = binder.attach(relation.block(binder).select())
    text = binding.dialect.sql(query, pretty=False)
    if text not in known:
        known[text] = [tuple(map(hashable, row)) for row in world.engine.rows(query)]
    return Bag(relation.columns, tuple(known[text]) if relation.columns else tuple(() for _ in known[text]))


def nodes(root: Operator) -> Iterator[Operator]:
    for child in root.inputs:
        yield from nodes(child)
    yield root


def idiffs_at(node: Operator, base: Mapping[str, tuple[IDiff, ...]]) -> tuple[IDiff, ...]:
    """The i-diffs that come out of `node`."""
    if isinstance(node, Scan):
        return base[node.occurrence]
    return tuple(
        out
        for side, child in enumerate(node.inputs)
        for diff in idiffs_at(child, base)
        for out in matching_rule(node, side, diff).build(node, side, diff)
    )


def non_empty_base(plan: Plan, binding: Binding) -> dict[str, tuple[IDiff, ...]]:
    return {name: non_empty(found, binding.changes.is_empty) for name, found in idiff_way(plan).base.items()}


@dataclass(frozen=True)
class Change:
    """One node in a refresh: its rows before and after, and its i-diffs with their rows."""

    node: Operator
    before: Bag
    after: Bag
    idiffs: tuple[tuple[IDiff, Bag], ...]

    def violations(self) -> list[str]:
        """Wrong statements of the i-diffs, and changes that they do not cover."""
        return [f"{self.node.label()}: {text}" for text in (*self._contracts(), *self._uncovered())]

    def _contracts(self) -> Iterator[str]:
        checks = {INS: self._ins, DEL: self._del, UPD: self._upd, REC: self._rec}
        for diff, rows in self.idiffs:
            if not checks[diff.kind](diff, rows):
                yield f"{diff} breaks its contract with {rows.rows}"

    def _ins(self, diff: IDiff, rows: Bag) -> bool:
        """P is the whole ID, the rows are whole rows of R⁺."""
        whole = set(diff.ids) == set(self.node.ids) and set(rows.columns) == set(self.node.columns)
        return whole and set(rows.values(self.node.columns)) <= set(self.after.rows)

    def _del(self, diff: IDiff, rows: Bag) -> bool:
        return set(rows.values(diff.ids)).isdisjoint(self.after.values(diff.ids))

    def _upd(self, diff: IDiff, rows: Bag) -> bool:
        """P is a key of Δ; all rows of R⁺ with that P have the assigned and the known values."""
        keys = rows.values(diff.ids)
        said = dict(zip(keys, rows.values(diff.payload), strict=True))
        is_so = all(
            said.get(key, have) == have
            for key, have in zip(self.after.values(diff.ids), self.after.values(diff.payload), strict=True)
        )
        return len(set(keys)) == len(keys) and is_so and bool(diff.assigned)

    def _rec(self, diff: IDiff, rows: Bag) -> bool:
        return set(diff.ids) <= set(self.node.columns)

    def _uncovered(self) -> Iterator[str]:
        """Deleted, inserted or updated rows that no i-diff covers."""
        for text, bag, other in (
            ("gone", self.before.minus(self.after), self.after),
            ("new", self.after.minus(self.before), self.before),
        ):
            for row in set(bag.rows):
                if not (
                    self._replaced(bag, row)
                    or self._named(DEL if text == "gone" else INS, bag, row)
                    or self._updated(bag, row, other)
                ):
                    yield f"{text} row {row} is covered by none of {[str(diff) for diff, _ in self.idiffs]}"

    def _replaced(self, bag: Bag, row: Row) -> bool:
        """By REC with these P and payload, or by INS of a row with this ID."""
        return any(
            bag.pick(row, diff.ids + diff.known) in rows.values(diff.ids + diff.known)
            for diff, rows in self.idiffs
            if diff.kind is REC
        ) or self._named(INS, bag, row)

    def _named(self, kind: str, bag: Bag, row: Row) -> bool:
        return any(bag.pick(row, diff.ids) in rows.values(diff.ids) for diff, rows in self.idiffs if diff.kind is kind)

    def _updated(self, bag: Bag, row: Row, other: Bag) -> bool:
        """By UPD of all attributes in which it differs from a row with its ID in the other state."""
        ids = bag.pick(row, self.node.ids)
        assigned = {
            name
            for diff, rows in self.idiffs
            if diff.kind is UPD and bag.pick(row, diff.ids) in rows.values(diff.ids)
            for name in diff.assigned
        }
        return any(
            set(self._differing(row, image)) <= assigned
            for image, key in zip(other.rows, other.values(self.node.ids), strict=True)
            if key == ids
        )

    def _differing(self, row: Row, image: Row) -> Iterator[str]:
        return (name for name, a, b in zip(self.node.columns, row, image, strict=True) if a != b)
