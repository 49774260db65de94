"""Relations that only Δ-scripts read: CTEs of the statement, literal rows, and the rows that an i-diff touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.block import Binder, Block, Columns, Source
from dbt_idivm.algebra.cardinality import Cardinality, Sizes
from dbt_idivm.algebra.core import Leaf, SemiJoin, project
from dbt_idivm.algebra.expressions import identifier
from dbt_idivm.algebra.relation import Provenance, Relation
from dbt_idivm.cached import cached_property


@dataclass(frozen=True)
class Named(Leaf):
    """A relation that the statement defines once, as a CTE."""

    name: str
    definition: Relation

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.definition.columns

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return self.definition.types

    def block(self, binder: Binder) -> Block:
        return named_block(self.name, self.columns, binder.alias(self.name), binder.is_broadcast(self.definition))

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return ((self.definition, names),)

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return inputs[0]

    def label(self) -> str:
        return self.name


@dataclass(frozen=True)
class Known(Leaf):
    """A CTE of a few literal rows that are known when the statement is made."""

    name: str
    names: tuple[str, ...]
    kinds: tuple[exp.DataType, ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return dict(zip(self.names, self.kinds, strict=True))

    def block(self, binder: Binder) -> Block:
        return named_block(self.name, self.columns, binder.alias(self.name))

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return ()

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return Cardinality(1.0)

    def label(self) -> str:
        return self.name


def named_block(name: str, columns: tuple[str, ...], alias: str, broadcast: bool = False) -> Block:
    """The block that reads a CTE by its name."""
    table = exp.Table(this=identifier(name))
    source = Source(table if alias == name else exp.alias_(table, identifier(alias), table=True))
    return Block((source,), Columns(columns, alias), broadcast=(alias,) if broadcast else ())


@dataclass(frozen=True)
class Touched(Relation):
    """touched(Δ, W): a superset of the W-values of the rows that the i-diff Δ identifies by `on`.

    The naive form looks the rows up in `source`. The optimisation `use_payload` replaces it
    by π_W(Δ) if the i-diff itself carries W.
    """

    delta: Relation
    on: tuple[str, ...]
    wanted: tuple[str, ...]
    source: Relation

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.wanted

    @cached_property
    def types(self) -> Mapping[str, exp.DataType]:
        return self.source.types

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.delta, self.source)

    def with_children(self, *children: Relation) -> Relation:
        delta, source = children
        return Touched(delta, self.on, self.wanted, source)

    @property
    def expressions(self) -> tuple[exp.Expr, ...]:
        return ()

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return SemiJoin(self, on, keys)

    def narrowed(self, names: frozenset[str]) -> Relation:
        wanted = tuple(name for name in self.wanted if name in names)
        return Touched(self.delta, self.on, wanted, self.source.narrowed(frozenset((*self.on, *wanted))))

    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        return None

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return ((self.source, names),)

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        delta, source = inputs
        return source.kept(delta, self.on).computed({name: name for name in self.wanted})

    def look_up(self) -> Relation:
        """The query that looks up the values in `source`: π_wanted(source ⋉_on Δ)."""
        return project(self.source.restrict(self.on, self.delta), self.wanted)

    def block(self, binder: Binder) -> Block:
        return self.look_up().block(binder)

    def label(self) -> str:
        return f"touched {', '.join(self.wanted) or '()'} by {', '.join(self.on) or '()'}"
