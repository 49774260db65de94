"""L ⋉_φ(X) R and L ▷_φ(X) R: the rows of L with, or without, a row of R for which φ is true. ID(L ⋉ R) = ID(L ▷ R) = ID(L).

EXISTS and IN are ⋉, NOT EXISTS is ▷. NOT IN is ▷ with a φ that is never NULL, l.x = r.y OR (l.x = r.y) IS NULL: a NULL on either
side counts as a match.

I-diffs from the left are handled as by σ; rows are tested against R⁺:

| rule                          | i-diff | when              | out (idIVM Table 13; ⋉ likewise)
|-------------------------------|--------|-------------------|-----------------------------------------
| semijoin_left_ins             | INS    | left              | INS(Δ ⋉ R⁺), or INS(Δ ▷ R⁺)
| semijoin_left_del             | DEL    | left              | Δ unchanged
| semijoin_left_upd_condition   | UPD    | left, A ∩ X ≠ ∅   | REC(P)
| semijoin_left_upd             | UPD    | left, else        | Δ unchanged: R is not read
| semijoin_left_rec             | REC    | left              | Δ unchanged

For i-diffs from the right, H = L⁺ ⋉_φ touched(Δ, X_r) are the rows that may enter or leave, and I are the IDs of L:

| rule                          | i-diff | when              | out
|-------------------------------|--------|-------------------|-----------------------------------------
| semijoin_right_ins            | INS    | ⋉, ID unique      | INS(H): each row has a partner now
| antijoin_right_ins            | INS    | ▷, ID unique      | DEL(I of H)
| semijoin_right_ins_bag        | INS    | ID not unique     | REC(I of H)
| semijoin_right_del            | DEL    | ⋉, ID unique      | DEL(I of H ▷ R⁺): no partner is left
| antijoin_right_del            | DEL    | ▷, ID unique      | INS(H ▷ R⁺)
| semijoin_right_del_bag        | DEL    | ID not unique     | REC(I of H)
| semijoin_right_upd_condition  | UPD    | right, A ∩ X ≠ ∅  | REC(P) first, then REC(I of H)
| semijoin_right_upd            | UPD    | right, else       | nothing
| semijoin_right_rec            | REC    | right             | REC(I of H)

L⁺ suffices in H: a left row that was deleted, or whose attributes in X changed, is covered by its own i-diff. The INS from the
right are not fresh: the row may have had a partner before, or may have been updated in the same refresh.

Example, customers with an order (⋉ on cid). Order (7, cid 1) is inserted: INS of customer 1, who may exist already. It is
deleted: DEL of customer 1, unless another order has cid 1. A new price of order 7 changes nothing.

If φ does not depend on the left row (NOT IN over a NULL, EXISTS without correlation), H is all of L.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.answers import BinaryOperator, carries_nothing, itself
from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.core import Probe, project
from dbt_idivm.algebra.expressions import conjuncts
from dbt_idivm.algebra.inference import Dependency, rejects_null
from dbt_idivm.algebra.operator import SIGN, Conditions, Operator, State, values_of_signed, with_sign
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.build import dropped, passed, recompute, touched
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff
from dbt_idivm.idiff.rule import IDiffRule, both, is_bag, is_condition, is_other


@dataclass(frozen=True)
class SemiAntiJoin(Probe, BinaryOperator):
    """left ⋉_condition right, or ▷ when `anti`. The attribute names of the two inputs are disjoint."""

    left: Operator
    right: Operator

    scope = None
    with_ids = itself
    pruned = itself
    equal = ()
    defined = ()
    united = ()
    is_select_project_join = False
    padded = ()
    has_row = False
    by_key = False
    carried = carries_nothing
    changed_values = values_of_signed

    def __post_init__(self) -> None:
        left, right = self.inputs
        if both := set(left.columns) & set(right.columns):
            raise ValueError(f"⋉ of inputs that share {sorted(both)}")
        if missing := self.used - {*left.columns, *right.columns}:
            raise ValueError(f"⋉ uses {sorted(missing)}, which its inputs lack")

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return self.left.ids

    @cached_property
    def unique(self) -> bool:
        return self.left.unique

    @cached_property
    def named_by(self) -> tuple[str, ...]:
        return self.left.named_by

    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        left, right = self.inputs
        return (above | self.used) & set(left.columns), self.used & set(right.columns)

    conditional = needed

    @cached_property
    def certain_types(self) -> Mapping[str, exp.DataType]:
        return self.left.certain_types

    @cached_property
    def nullable(self) -> frozenset[str]:
        return self.left.nullable if self.anti else self.left.nullable - rejects_null(self.condition)

    @property
    def combined(self) -> tuple[Operator, ...]:
        return (self.left,)

    def dependencies(self, *below: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        return below[0]

    @property
    def monotone(self) -> bool:
        return not self.anti

    def screened(self, above: Conditions) -> tuple[Conditions, ...]:
        """The left rows of ▷ stay if the condition is false."""
        own = conjuncts(self.condition)
        return (above if self.anti else (*above, *own), own)

    def in_state(self, state: State) -> Relation:
        return Probe(self.left.in_state(state), self.right.in_state(state), self.condition, self.anti)

    def in_any_state(self, names: frozenset[str]) -> Relation:
        """▷ is not monotone in R: the any-state of R may contain a partner that neither
        state has. So ▷ takes the any-state of L.
        """
        if self.anti:
            return self.left.in_any_state(names)
        left, right = (child.in_any_state((names | self.used) & {*child.columns}) for child in self.inputs)
        return Probe(left, right, self.condition)

    def signed(self) -> Relation:
        """ΔL ▷ R⁻ ⊎ (C ▷ R⁺) − (C ▷ R⁻), where C = L⁺ ⋉ ΔR are all copies of the rows whose partners changed; the same for ⋉."""
        left, right = self.inputs
        pre = right.in_state("pre")
        rows = Probe(left, right.signed(), self.condition)
        changed = (
            with_sign(Probe(rows, right, self.condition, self.anti), 1),
            with_sign(Probe(rows, pre, self.condition, self.anti), -1),
        )
        moved = Probe(left.signed(), pre, self.condition, self.anti)
        return Concat((project(moved, (*self.columns, SIGN)), *changed))


def candidates(node: SemiAntiJoin, diff: IDiff) -> Relation:
    """H: the left rows for which φ is true with a right row that `diff` touches."""
    left, right = node.inputs
    wanted = tuple(name for name in right.columns if name in node.used)
    return Probe(left, touched(diff, right, wanted), node.condition)


def lonely(node: SemiAntiJoin, diff: IDiff) -> Relation:
    """H ▷ R⁺: the rows of H that have no partner left."""
    return Probe(candidates(node, diff), node.inputs[1], node.condition, anti=True)


def inserted(node: SemiAntiJoin, diff: IDiff, rows: Relation) -> tuple[IDiff, ...]:
    rest = tuple(name for name in node.columns if name not in node.ids)
    return (IDiff(INS, node.ids, rest, (), project(rows, node.ids + rest), diff.origins),)


def deleted(node: SemiAntiJoin, diff: IDiff, rows: Relation) -> tuple[IDiff, ...]:
    return (IDiff(DEL, node.ids, (), (), project(rows, node.ids), diff.origins),)


def left_ins(node: SemiAntiJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (diff.over(Probe(diff.relation, node.inputs[1], node.condition, node.anti)),)


def left_pass(node: SemiAntiJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return passed(diff)


# Wrong without its guard: if a computed attribute of φ changes, the row may enter or leave; passed on as an update, it would stay
# where it was.
def left_recompute(node: SemiAntiJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (recompute(diff),)


def semijoin_ins(node: SemiAntiJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return inserted(node, diff, candidates(node, diff))


def antijoin_ins(node: SemiAntiJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return deleted(node, diff, candidates(node, diff))


# Wrong without ▷ R⁺: one of two orders of customer 1 is deleted; the customer still has the other.
def semijoin_del(node: SemiAntiJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return deleted(node, diff, lonely(node, diff))


def antijoin_del(node: SemiAntiJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return inserted(node, diff, lonely(node, diff))


# If IDs repeat, INS and DEL would name several rows by one ID, such as the copies of a keyless left row that gains a partner.
def right_rec(node: SemiAntiJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (IDiff(REC, node.ids, (), (), project(candidates(node, diff), node.ids), diff.origins),)


# Wrong without the conversion: order 7 moves from customer 1 to 2. The update knows only customer 2; 1 would stay.
def right_upd_condition(node: SemiAntiJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return right_rec(node, side, recompute(diff))


def right_unused(node: SemiAntiJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return dropped()


def from_left(node: SemiAntiJoin, side: int, diff: IDiff) -> bool:
    return side == 0


def from_right(node: SemiAntiJoin, side: int, diff: IDiff) -> bool:
    return side == 1


def is_semi(node: SemiAntiJoin, side: int, diff: IDiff) -> bool:
    return node.unique and not node.anti


def is_anti(node: SemiAntiJoin, side: int, diff: IDiff) -> bool:
    return node.unique and node.anti


_LEFT_CONDITION, _LEFT_OTHER = both(from_left, is_condition), both(from_left, is_other)
_RIGHT_CONDITION, _RIGHT_OTHER = both(from_right, is_condition), both(from_right, is_other)
_SEMI, _ANTI, _BAG = both(from_right, is_semi), both(from_right, is_anti), both(from_right, is_bag)

SemiAntiJoin.RULES = (
    IDiffRule("semijoin_left_ins", INS, from_left, "INS(Δ ⋉ R⁺)", left_ins, "Table 13, ∆+ l"),
    IDiffRule("semijoin_left_del", DEL, from_left, "DEL", left_pass, "Table 13, ∆- l"),
    IDiffRule("semijoin_left_upd_condition", UPD, _LEFT_CONDITION, "REC(P)", left_recompute, "Table 13, ∆u l"),
    IDiffRule("semijoin_left_upd", UPD, _LEFT_OTHER, "UPD", left_pass, "Table 13, ∆u l"),
    IDiffRule("semijoin_left_rec", REC, from_left, "REC", left_pass, "ours"),
    IDiffRule("semijoin_right_ins", INS, _SEMI, "INS(H)", semijoin_ins, "ours"),
    IDiffRule("antijoin_right_ins", INS, _ANTI, "DEL(I of H)", antijoin_ins, "Table 13, ∆+ r"),
    IDiffRule("semijoin_right_ins_bag", INS, _BAG, "REC(I of H)", right_rec, "ours"),
    IDiffRule("semijoin_right_del", DEL, _SEMI, "DEL(I of H ▷ R⁺)", semijoin_del, "ours"),
    IDiffRule("antijoin_right_del", DEL, _ANTI, "INS(H ▷ R⁺)", antijoin_del, "Table 13, ∆- r"),
    IDiffRule("semijoin_right_del_bag", DEL, _BAG, "REC(I of H)", right_rec, "ours"),
    IDiffRule("semijoin_right_upd_condition", UPD, _RIGHT_CONDITION, "REC(I of H)", right_upd_condition, "Table 13, ∆u r"),
    IDiffRule("semijoin_right_upd", UPD, _RIGHT_OTHER, "nothing", right_unused, "Table 13, ∆u r"),
    IDiffRule("semijoin_right_rec", REC, from_right, "REC(I of H)", right_rec, "ours"),
)
