"""1 (SELECT without FROM): one row without attributes, the unit of ×. R × 1 = R.

| rule | i-diff | out
|------|--------|-----
| none |        | it has no input, and its row never changes, so no i-diff starts or arrives here

ID(1) = (), and it is unique. The paper has no such operator: its views read base tables only.

Example, SELECT 1 AS a, 'x' AS b is π_{1 → a, 'x' → b}(1). VALUES (1), (2) is π_{1}(1) ∪ π_{2}(1), where the branch attribute
distinguishes the rows. Nothing is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.block import Binder, Block
from dbt_idivm.algebra.cardinality import Cardinality, Sizes
from dbt_idivm.algebra.core import Leaf
from dbt_idivm.algebra.inference import Dependency
from dbt_idivm.algebra.operator import SIGN, Conditions, Operator, State, values_of_signed
from dbt_idivm.algebra.relation import Provenance, Relation


@dataclass(frozen=True)
class OneRow(Leaf, Operator):
    """1, a leaf. It is the same in all states, so it is its own plain relation."""

    @property
    def columns(self) -> tuple[str, ...]:
        return ()

    @property
    def types(self) -> Mapping[str, exp.DataType]:
        return {}

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return ()

    def with_inputs(self, *inputs: Operator) -> Operator:
        return self

    @property
    def scope(self) -> str | None:
        return None

    @property
    def ids(self) -> tuple[str, ...]:
        return ()

    @property
    def unique(self) -> bool:
        return True

    @property
    def named_by(self) -> tuple[str, ...]:
        return ()

    def with_ids(self) -> Operator:
        return self

    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return ()

    def pruned(self, above: frozenset[str]) -> Operator:
        return self

    def conditional(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return ()

    @property
    def certain_types(self) -> Mapping[str, exp.DataType]:
        return {}

    @property
    def nullable(self) -> frozenset[str]:
        return frozenset()

    @property
    def combined(self) -> tuple[Operator, ...]:
        return ()

    def dependencies(self, *below: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        return ()

    @property
    def equal(self) -> tuple[tuple[str, str], ...]:
        return ()

    @property
    def defined(self) -> tuple[tuple[str, exp.Expr], ...]:
        return ()

    @property
    def united(self) -> tuple[tuple[str, tuple[str | None, ...]], ...]:
        return ()

    def carried(self, occurrence: str) -> frozenset[str] | None:
        return None

    def screened(self, above: Conditions) -> tuple[Conditions, ...]:
        return ()

    def in_state(self, state: State) -> Relation:
        return self

    def in_any_state(self, names: frozenset[str]) -> Relation:
        return self

    def changed_values(self, names: frozenset[str]) -> Relation:
        return values_of_signed(self, names)

    def signed(self) -> Relation:
        return NoRows()

    def block(self, binder: Binder) -> Block:
        return Block((), {})

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return ()

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return Cardinality(1.0)

    def label(self) -> str:
        return "one row"


@dataclass(frozen=True)
class NoRows(Leaf):
    """The signed rows of a relation that never changes: none. `script/prune_empty.py` drops
    them and everything that depends on them.
    """

    @property
    def columns(self) -> tuple[str, ...]:
        return (SIGN,)

    @property
    def types(self) -> Mapping[str, exp.DataType]:
        return {SIGN: exp.DataType.build("int")}

    def block(self, binder: Binder) -> Block:
        return Block((), {SIGN: exp.Literal.number(1)}, (exp.false(),))

    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        return self

    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        return None

    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        return ()

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return Cardinality(0.0)

    def label(self) -> str:
        return "no rows"
