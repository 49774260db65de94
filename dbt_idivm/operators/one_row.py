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

from dbt_idivm.algebra.answers import carries_nothing, itself, of_no_input, over_inputs
from dbt_idivm.algebra.block import Binder, Block
from dbt_idivm.algebra.cardinality import Cardinality, Sizes
from dbt_idivm.algebra.core import Leaf
from dbt_idivm.algebra.operator import SIGN, Operator, values_of_signed
from dbt_idivm.algebra.relation import Relation


@dataclass(frozen=True)
class OneRow(Leaf, Operator):
    """1, a leaf. It is the same in all states, so it is its own plain relation."""

    columns = ()
    inputs = ()
    with_inputs = itself
    scope = None
    conditions = ()
    rewritten = over_inputs
    ids = ()
    unique = True
    named_by = ()
    with_ids = itself
    needed = of_no_input
    pruned = itself
    conditional = of_no_input
    nullable = frozenset()
    combined = ()
    dependencies = of_no_input
    equal = ()
    defined = ()
    united = ()
    is_select_project_join = True
    padded = ()
    monotone = True
    has_row = True
    by_key = False
    carried = carries_nothing
    screened = of_no_input
    in_state = itself
    in_any_state = itself
    changed_values = values_of_signed

    @property
    def types(self) -> Mapping[str, exp.DataType]:
        return {}

    @property
    def certain_types(self) -> Mapping[str, exp.DataType]:
        return {}

    def signed(self) -> Relation:
        return NoRows()

    def block(self, binder: Binder) -> Block:
        return Block((), {})

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

    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        return Cardinality(0.0)

    def label(self) -> str:
        return "no rows"
