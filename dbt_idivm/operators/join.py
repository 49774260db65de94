"""R ⋈_φ(X) S, inner, any condition (TRUE is the product). ID(R ⋈ S) = ID(R) ∪ ID(S) (Table 1).

The rules are the same for both sides (l is the side that the i-diff comes from, r the other):

| rule               | i-diff | when                   | out (idIVM Tables 4 and 10)
|--------------------|--------|------------------------|--------------------------------------------------
| join_ins           | INS    | output ID unique       | INS(Δ ⋈_φ R⁺_r)
| join_ins_bag       | INS    | output ID not unique   | REC(P; all attributes of Δ)
| join_del           | DEL    |                        | Δ unchanged
| join_upd_condition | UPD    | A ∩ X ≠ ∅              | REC(P)
| join_upd           | UPD    | else                   | Δ unchanged: no other table is read
| join_rec           | REC    |                        | Δ unchanged

No rule needs the i-diffs of the other side. If a pair (l, r) is new on both sides, both INS contain the same row. If l is updated
and r is deleted, UPD and DEL commute. If the join attribute of l changes and its new partner r is inserted, REC(l) evaluates
(l, r) on the post-state, and INS contains the same row.

Example, orders ⋈ customers on cid: an UPD of customers.name has one customer ID and updates the rows of all orders of that
customer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.answers import BinaryOperator, carries_nothing, itself
from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.core import Pair, project
from dbt_idivm.algebra.expressions import attributes, conjuncts
from dbt_idivm.algebra.inference import Dependency, equal_attributes, equalities, rejects_null
from dbt_idivm.algebra.operator import SIGN, Conditions, Operator, State, values_of_signed
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.build import passed, recompute
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff
from dbt_idivm.idiff.rule import IDiffRule, always, is_bag, is_condition, is_other, is_unique


@dataclass(frozen=True)
class Join(Pair, BinaryOperator):
    """left ⋈_condition right. The attribute names of the two inputs are disjoint."""

    left: Operator
    right: Operator

    scope = None
    with_ids = itself
    pruned = itself
    defined = ()
    united = ()
    is_select_project_join = True
    padded = ()
    monotone = True
    has_row = False
    by_key = False
    carried = carries_nothing
    changed_values = values_of_signed

    def __post_init__(self) -> None:
        if both := set(self.left.columns) & set(self.right.columns):
            raise ValueError(f"⋈ of inputs that share {sorted(both)}")
        if missing := set(attributes(self.condition)) - set(self.columns):
            raise ValueError(f"⋈ uses {sorted(missing)}, which its inputs lack")

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return self.left.ids + self.right.ids

    @cached_property
    def unique(self) -> bool:
        return self.left.unique and self.right.unique

    @cached_property
    def named_by(self) -> tuple[str, ...]:
        return self.left.named_by + self.right.named_by

    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return tuple((above | self.used) & set(child.columns) for child in self.inputs)

    conditional = needed

    @cached_property
    def certain_types(self) -> Mapping[str, exp.DataType]:
        return {**self.left.certain_types, **self.right.certain_types}

    @cached_property
    def nullable(self) -> frozenset[str]:
        return (self.left.nullable | self.right.nullable) - rejects_null(self.condition)

    @property
    def combined(self) -> tuple[Operator, ...]:
        return self.inputs

    def dependencies(self, *below: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        return (*equalities(self.condition, self.certain_types), *below[0], *below[1])

    @property
    def equal(self) -> tuple[tuple[str, str], ...]:
        return tuple(equal_attributes(self.condition))

    def screened(self, above: Conditions) -> tuple[Conditions, ...]:
        return ((*above, *conjuncts(self.condition)),) * 2

    def in_state(self, state: State) -> Relation:
        return Pair(self.left.in_state(state), self.right.in_state(state), self.condition)

    def in_any_state(self, names: frozenset[str]) -> Relation:
        left, right = (child.in_any_state((names | self.used) & {*child.columns}) for child in self.inputs)
        return Pair(left, right, self.condition)

    def signed(self) -> Relation:
        """ΔL ⋈ R⁻ ⊎ L⁺ ⋈ ΔR."""
        left, right = self.inputs
        terms = (Pair(left.signed(), right.in_state("pre"), self.condition), Pair(right.signed(), left, self.condition))
        return Concat(tuple(project(term, (*self.columns, SIGN)) for term in terms))


def join_ins(node: Join, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    pairs = Pair(diff.relation, node.inputs[1 - side], node.condition)
    rest = tuple(name for name in node.columns if name not in node.ids)
    return (IDiff(INS, node.ids, rest, (), project(pairs, node.ids + rest), diff.origins, diff.fresh, diff.constants),)


# INS is an upsert by full ID, which would lose copies if IDs repeat: a new right row that joins two equal rows of a keyless left
# input must give two rows.
def join_ins_bag(node: Join, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (recompute(diff),)


def join_pass(node: Join, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return passed(diff)


# Wrong without its guard: if a computed join attribute changes, the row gets other partners; passed on as an update, the old
# pairs would stay.
def join_recompute(node: Join, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (recompute(diff),)


Join.RULES = (
    IDiffRule("join_ins", INS, is_unique, "INS(Δ ⋈ R⁺)", join_ins, "Table 10, ∆+"),
    IDiffRule("join_ins_bag", INS, is_bag, "REC(P)", join_ins_bag, "ours"),
    IDiffRule("join_del", DEL, always, "DEL", join_pass, "Table 10, ∆-"),
    IDiffRule("join_upd_condition", UPD, is_condition, "REC(P)", join_recompute, "Table 10, ∆u → ∆u, ∆+, ∆-"),
    IDiffRule("join_upd", UPD, is_other, "UPD", join_pass, "Table 4 and 10, ∆u"),
    IDiffRule("join_rec", REC, always, "REC", join_pass, "ours"),
)
