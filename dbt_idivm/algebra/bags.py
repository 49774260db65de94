"""Bags of rows as wholes: duplicate elimination, and union without a branch attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.block import Binder, Block, isolate
from dbt_idivm.algebra.cardinality import Cardinality, Sizes, united
from dbt_idivm.algebra.core import Unary, project
from dbt_idivm.algebra.relation import Provenance, Relation
from dbt_idivm.cached import cached_property


@dataclass(frozen=True)
class Distinct(Unary):
    """Duplicate elimination over all columns."""

    def with_children(self, *children: Relation) -> Relation:
        (child,) = children
        return Distinct(child)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return ()

    def block(self, binder: Binder) -> Block:
        query = self.child.block(binder).select().distinct(copy=False)
        return isolate(query, self.columns, binder.alias("keys"))

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return Distinct(self.child.restrict(on, keys))

    def narrowed(self, names: frozenset[str]) -> Relation:
        return Distinct(_with_only(self.child, tuple(name for name in self.columns if name in names)))

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0].with_rows(inputs[0].values(self.columns))

    def label(self) -> str:
        return "distinct"


@dataclass(frozen=True)
class Concat(Relation):
    """The rows of all parts, which have the same attribute names. Unlike ∪ it adds no branch attribute."""

    parts: tuple[Relation, ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.parts[0].columns

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return self.parts[0].types

    @property
    def children(self) -> tuple[Relation, ...]:
        return self.parts

    def with_children(self, *children: Relation) -> Relation:
        return Concat(children)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return ()

    def block(self, binder: Binder) -> Block:
        return isolate(self.query(binder), self.columns, binder.alias("united"))

    def query(self, binder: Binder) -> exp.Query:
        """The parts under UNION ALL, columns in the same order."""
        selects = [project(part, self.columns).block(binder).select() for part in self.parts]
        return union_all(selects)

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return Concat(tuple(part.restrict(on, keys) for part in self.parts))

    def narrowed(self, names: frozenset[str]) -> Relation:
        wanted = tuple(name for name in self.columns if name in names)
        return Concat(tuple(_with_only(part, wanted) for part in self.parts))

    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        left = tuple(child for child in children if child is not None)
        return left[0] if len(left) == 1 else Concat(left) if left else None

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return tuple((part, names) for part in self.parts)

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return united(inputs)

    def label(self) -> str:
        return "⊎"


def _with_only(relation: Relation, names: tuple[str, ...]) -> Relation:
    return project(relation.narrowed(frozenset(names)), names)


def union_all(queries: Sequence[exp.Query]) -> exp.Query:
    """UNION ALL of at least one query, left-deep."""
    result = queries[0]
    for query in queries[1:]:
        result = exp.Union(this=result, expression=query, distinct=False)
    return result
