"""⟕ and ⟗: all pairs of rows for which the condition is true, and the rows without a partner, padded with NULLs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.block import Binder, Block, isolate
from dbt_idivm.algebra.cardinality import Cardinality, Sizes
from dbt_idivm.algebra.core import Compute, Pair, Probe, SemiJoin, constant, excludes_null
from dbt_idivm.algebra.expressions import attributes, column, conjuncts, passing, render
from dbt_idivm.algebra.padding import null_of
from dbt_idivm.algebra.relation import Provenance, Relation
from dbt_idivm.cached import cached_property

LEFT, RIGHT = 0, 1
_PRESENT = exp.Literal.number(1)


@dataclass(frozen=True)
class OuterPair(Relation):
    """left ⟕ right, or ⟗ when `full`. The attribute names of the two inputs are disjoint.

    The output has a presence marker (`mark`) for each input that may be absent: 1 in rows that contain a row of that input,
    NULL in padded rows. IDs cannot tell, because they may be NULL themselves. Without `marked` the output has no markers.
    """

    left: Relation
    right: Relation
    condition: exp.Expr
    name: str
    full: bool = False
    marked: bool = True

    def mark(self, side: int) -> str:
        """The name of the presence marker of an input."""
        return f"{self.name}__has_{'right' if side else 'left'}"

    @property
    def preserved(self) -> tuple[int, ...]:
        """The indexes of the inputs whose rows all appear in the output: `LEFT`, or both for ⟗."""
        return (LEFT, RIGHT) if self.full else (LEFT,)

    @property
    def padded(self) -> tuple[int, ...]:
        """The indexes of the inputs that may be absent from a row: those opposite a preserved one."""
        return tuple(1 - side for side in reversed(self.preserved))

    @property
    def marks(self) -> tuple[str, ...]:
        return tuple(self.mark(side) for side in self.padded)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.left.columns + self.right.columns + (self.marks if self.marked else ())

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        marks = {name: exp.DataType.build("int") for name in self.marks if self.marked}
        return {**self.left.types, **self.right.types, **marks}

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.left, self.right)

    def with_children(self, *children: Relation) -> Relation:
        left, right = children
        return OuterPair(left, right, self.condition, self.name, self.full, self.marked)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return (self.condition,)

    def block(self, binder: Binder) -> Block:
        left, right = (self._source(side, binder) for side in (LEFT, RIGHT))
        block = left.outer_join(right, self.condition, "FULL" if self.full else "LEFT")
        return block.project({name: column(name) for name in self.columns})

    def _source(self, side: int, binder: Binder) -> Block:
        """The block of an input.

        An input that may be absent must be a single source: its conditions would remove rows of the other input, and its
        computed columns would not be NULL in padded rows.
        """
        child = self.children[side]
        if side in self.padded and self.marked:
            child = Compute(child, (*passing(child.columns), (self.mark(side), _PRESENT)))
        block = child.block(binder)
        is_plain = (
            len(block.sources) == 1 and not block.where and all(isinstance(each, exp.Column) for each in block.output.values())
        )
        if is_plain if side in self.padded else block.sources:
            return block
        return isolate(block.select(), child.columns, binder.alias(self.name))

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        """Each input is restricted by its part of `on`, if rows with these keys certainly contain a row of that input."""
        parts = [tuple(name for name in on if name in child.columns) for child in self.children]
        present = [side for side in (LEFT, RIGHT) if side not in self.padded or self._is_present(side, on, keys)]
        narrowed = [
            child.restrict(part, keys) if side in present and (part or not any(parts)) else child
            for side, (child, part) in enumerate(zip(self.children, parts, strict=True))
        ]
        if not present:
            return SemiJoin(self, on, keys)
        if len(present) == 2:
            rows, is_tested = self.pairs(*narrowed), not all(parts)
        else:
            (side,) = present
            rows = self.kept(side, narrowed[side], narrowed[1 - side])
            is_tested = not parts[1 - side] and self.mark(1 - side) not in on
        return rows if is_tested else SemiJoin(rows, on, keys)

    def narrowed(self, names: frozenset[str]) -> Relation:
        """If only left attributes of ⟕ are wanted, the left input suffices: each of its rows is in some row of the output."""
        if not self.full and names <= {*self.left.columns}:
            return self.left.narrowed(names)
        wanted = names | {*attributes(self.condition)}
        left, right = (child.narrowed(wanted & {*child.columns}) for child in self.children)
        return OuterPair(left, right, self.condition, self.name, self.full, self.marked)

    def _is_present(self, side: int, on: tuple[str, ...], keys: Relation) -> bool:
        marked = self.mark(side) in on and constant(keys, self.mark(side)) == _PRESENT
        return marked or any(excludes_null(keys, name) for name in on if name in self.children[side].columns)

    def pairs(self, left: Relation, right: Relation) -> Relation:
        """σ_condition(left × right) as rows of the output, for given rows of the inputs."""
        return self.pairs_of(Pair(left, right, self.condition))

    def pairs_of(self, rows: Relation) -> Relation:
        """Rows of ⋈ as rows of the output, with all presence markers set."""
        return self._rows(rows, dict.fromkeys(self.marks, _PRESENT))

    def kept(self, side: int, rows: Relation, others: Relation) -> Relation:
        """Given rows of a preserved input, each with its partners among `others` or padded, as rows of the output."""
        outer = OuterPair(rows, others, self.condition, self.name, marked=self.marked)
        marks = {self.mark(side): _PRESENT, self.mark(1 - side): column(outer.mark(RIGHT))}
        return self._rows(outer, {name: marks[name] for name in self.marks})

    def lonely(self, side: int, rows: Relation, others: Relation) -> Relation:
        """The given rows of an input that have no partner among `others`, padded, as rows of the output."""
        return self.pad(side, Probe(rows, others, self.condition, anti=True))

    def pad(self, side: int, rows: Relation) -> Relation:
        """Given rows of an input, padded with NULLs for the other input, as rows of the output."""
        nulls = {name: self.null(name) for name in self.children[1 - side].columns}
        marks = {self.mark(1 - side): exp.Cast(this=exp.null(), to=exp.DataType.build("int")), self.mark(side): _PRESENT}
        return self._rows(rows, nulls | {name: marks[name] for name in self.marks})

    def _rows(self, rows: Relation, constants: Mapping[str, exp.Expr]) -> Relation:
        """`rows` with the columns of the output in its order, then any further columns.
        `constants` define the columns that `rows` lack.
        """
        if rows.columns == self.columns and not constants:
            return rows
        known = {*self.columns, *self.marks}
        more = tuple(name for name in rows.columns if name not in known)
        whole = ((name, constants.get(name) or column(name)) for name in self.columns)
        return Compute(rows, (*whole, *passing(more)))

    def null(self, name: str) -> exp.Expr:
        """A NULL of the type of an attribute."""
        return null_of(next(child for child in self.children if name in child.columns), name)

    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        """If the other input is empty, the rows of a preserved input stay, padded."""
        left = next((side for side in self.preserved if children[side] is not None), None)
        if left is None:
            return None
        rows = children[left]
        assert rows is not None
        return self.pad(left, rows)

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        """A row takes left attributes of ⟕ from the left input. ⟗ may pad either input, so it has no provenance."""
        return ((self.left, names),) if not self.full and set(names) <= set(self.left.columns) else None

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        left, right = inputs
        pairs = left.paired(right, conjuncts(self.condition.unnest()), self.left.columns, self.right.columns)
        return pairs.with_rows(max(pairs.rows, left.rows, right.rows if self.full else 0.0))

    def label(self) -> str:
        return f"{'⟗' if self.full else '⟕'} {render(self.condition)}"
