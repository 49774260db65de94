"""⋉ with any of several relations: the rows for which a partner in one of them changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.block import Binder, Block
from dbt_idivm.algebra.cardinality import Cardinality, Sizes
from dbt_idivm.algebra.core import Probe, exists_where
from dbt_idivm.algebra.expressions import attributes, conjuncts, render, substitute
from dbt_idivm.algebra.relation import Provenance, Relation
from dbt_idivm.cached import cached_property


@dataclass(frozen=True)
class ProbeAny(Relation):
    """The left rows that satisfy at least one test. A test (relation, condition) is satisfied if the condition is true with
    some row of the relation.
    """

    left: Relation
    tests: tuple[tuple[Relation, exp.Expr], ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.left.columns

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return self.left.types

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.left, *(right for right, _ in self.tests))

    def with_children(self, *children: Relation) -> Relation:
        left, *rights = children
        return ProbeAny(left, tuple((right, condition) for right, (_, condition) in zip(rights, self.tests, strict=True)))

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return tuple(condition for _, condition in self.tests)

    def block(self, binder: Binder) -> Block:
        outer = self.left.block(binder)
        found = []
        for right, condition in self.tests:
            inner = right.block(binder)
            output = {**inner.output, **outer.output}
            found.append(exists_where(inner, tuple(substitute(part, output) for part in conjuncts(condition))))
        return replace(outer, where=(*outer.where, exp.or_(*found)))

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return ProbeAny(self.left.restrict(on, keys), self.tests)

    def narrowed(self, names: frozenset[str]) -> Relation:
        used = {name for each in self.expressions for name in attributes(each)}
        left, *rights = (child.narrowed(frozenset((names | used) & {*child.columns})) for child in self.children)
        return self.with_children(left, *rights)

    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        left, *rights = children
        kept = tuple((right, condition) for right, (_, condition) in zip(rights, self.tests, strict=True) if right is not None)
        if left is None or not kept:
            return None
        return ProbeAny(left, kept) if len(kept) > 1 else Probe(left, *kept[0])

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return ((self.left, names),)

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        left, *rights = inputs
        found = [
            left.probed(each, condition, self.left.columns, right.columns, anti=False)
            for each, (right, condition) in zip(rights, self.tests, strict=True)
        ]
        return left.with_rows(min(left.rows, sum(each.rows for each in found)))

    def label(self) -> str:
        return f"⋉ {' or '.join(map(render, self.expressions))}"
