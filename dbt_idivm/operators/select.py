"""σ_φ(X)(R): the rows for which φ is true. ID(σ R) = ID(R).

| rule                  | i-diff | when           | out (idIVM Table 6)
|-----------------------|--------|----------------|--------------------------------------------------
| select_ins            | INS    |                | INS(σ_φ Δ)
| select_del_known      | DEL    | X' ⊆ P ∪ K     | DEL(σ_φ' Δ): its pre-state says that it never was in the view
| select_del            | DEL    | else           | Δ unchanged (naming absent IDs is harmless)
| select_time           | UPD    | A ∩ X ≠ ∅, A is of the clock, ID unique | INS(rows that enter), DEL(I of rows that leave)
| select_time_bag       | UPD    | the same, ID not unique | REC(I of both)
| select_upd_condition  | UPD    | A ∩ X ≠ ∅, else | REC(P): rows may enter or leave
| select_upd_known      | UPD    | X' ⊆ P ∪ K     | UPD(σ_φ' Δ)
| select_upd            | UPD    | else           | Δ unchanged
| select_rec_known      | REC    | X' ⊆ P ∪ K     | REC(σ_φ' Δ): kept if one of its images satisfies φ'
| select_rec            | REC    | else           | Δ unchanged

φ' is the conjunction of the parts of φ whose attributes the i-diff all knows (in the table: of φ as a whole). It removes rows
that are not in the view, for which the expressions above may not even be defined.

If the time moves, φ is compared at both times (`operators/clock.py`), unless it may fail.

The paper splits an update of a conditional attribute into ∆u, ∆+ and ∆- by φ(pre) and φ(post). Here the base i-diffs are
split by attribute already, so a UPD with A ∩ X ≠ ∅ assigns a *computed* attribute; REC covers all three cases.

Example, σ x > 1: DEL(1; knows x = 0) is dropped; DEL(2; knows x = 5) and UPD(3; y 7) are passed on unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.answers import UnaryOperator, itself
from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.core import Filter, project
from dbt_idivm.algebra.expressions import attributes, conjunction, conjuncts
from dbt_idivm.algebra.inference import Dependency, equal_attributes, equalities, rejects_null
from dbt_idivm.algebra.operator import Conditions, Operator, State, with_sign
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.build import passed, recompute
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff
from dbt_idivm.idiff.rule import IDiffRule, always, both, is_bag, is_condition, is_unique
from dbt_idivm.operators.clock import came, changed_before, clock_below, gone, moved_clock


@dataclass(frozen=True)
class Select(Filter, UnaryOperator):
    """σ_condition(child)."""

    child: Operator

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

    def __post_init__(self) -> None:
        missing = set(attributes(self.condition)) - set(self.child.columns)
        if missing:
            raise ValueError(f"σ uses {sorted(missing)}, which its input lacks")

    @cached_property
    def used(self) -> frozenset[str]:
        """X: the attributes of the condition."""
        return frozenset(attributes(self.condition))

    @property
    def conditions(self) -> Conditions:
        return (self.condition,)

    def rewritten(self, change: Callable[[exp.Expr], exp.Expr], *inputs: Operator) -> Operator:
        (child,) = inputs
        return replace(self, child=child, condition=change(self.condition))

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return self.child.ids

    @cached_property
    def unique(self) -> bool:
        return self.child.unique

    @cached_property
    def named_by(self) -> tuple[str, ...]:
        return self.child.named_by

    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return (above | self.used,)

    conditional = needed

    @cached_property
    def certain_types(self) -> Mapping[str, exp.DataType]:
        return self.child.certain_types

    @cached_property
    def nullable(self) -> frozenset[str]:
        return self.child.nullable - rejects_null(self.condition)

    @property
    def combined(self) -> tuple[Operator, ...]:
        return (self.child,)

    def dependencies(self, *below: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        return (*equalities(self.condition, self.certain_types), *below[0])

    @property
    def equal(self) -> tuple[tuple[str, str], ...]:
        return tuple(equal_attributes(self.condition))

    def carried(self, occurrence: str) -> frozenset[str] | None:
        known = self.child.carried(occurrence)
        return known if known is not None and self.used <= known else None

    def screened(self, above: Conditions) -> tuple[Conditions, ...]:
        return ((*above, *conjuncts(self.condition)),)

    def in_state(self, state: State) -> Relation:
        return Filter(self.child.in_state(state), self.condition)

    def in_any_state(self, names: frozenset[str]) -> Relation:
        return Filter(self.child.in_any_state(names | self.used), self.condition)

    def changed_values(self, names: frozenset[str]) -> Relation:
        return Filter(self.child.changed_values(names | self.used), self.condition)

    def signed(self) -> Relation:
        clock = clock_below(self.child, self.condition)
        if clock is None:
            return Filter(self.child.signed(), self.condition)
        moved = ((came, 1), (gone, -1))
        rows = (with_sign(project(each(self.child, self.condition, clock), self.columns), sign) for each, sign in moved)
        return Concat((Filter(changed_before(self.child, clock), self.condition), *rows))


def known_part(node: Select, diff: IDiff) -> tuple[exp.Expr, ...]:
    """The parts of φ', in the order of φ, because a part may guard those after it."""
    return tuple(part for part in conjuncts(node.condition) if set(attributes(part)) <= diff.attributes)


def is_known(node: Select, side: int, diff: IDiff) -> bool:
    return bool(known_part(node, diff)) and not diff.assigns(node.used)


def is_unknown(node: Select, side: int, diff: IDiff) -> bool:
    return not known_part(node, diff) and not diff.assigns(node.used)


def filtered(node: Select, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    condition = conjunction(known_part(node, diff))
    return (diff if condition is None else diff.over(Filter(diff.relation, condition)),)


def is_time(node: Select, side: int, diff: IDiff) -> bool:
    """Whether the i-diff says that the time moved, and the condition reads it."""
    return is_condition(node, side, diff) and moved_clock(node.child, diff, node.condition) is not None


def is_other_condition(node: Select, side: int, diff: IDiff) -> bool:
    return is_condition(node, side, diff) and not is_time(node, side, diff)


# Not fresh: the row may have been in the view before, if another of its attributes was updated as well. For the same reason DEL
# knows nothing of its pre-state.
def select_time(node: Select, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    entering, leaving = _moved(node, diff)
    rest = tuple(name for name in node.columns if name not in node.ids)
    return (
        IDiff(INS, node.ids, rest, (), project(entering, node.ids + rest), diff.origins),
        IDiff(DEL, node.ids, (), (), project(leaving, node.ids), diff.origins),
    )


# INS is an upsert by full ID, and there may be copies of the row.
def select_time_bag(node: Select, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    rows = Concat(tuple(project(each, node.ids) for each in _moved(node, diff)))
    return (IDiff(REC, node.ids, (), (), rows, diff.origins),)


def _moved(node: Select, diff: IDiff) -> tuple[Relation, Relation]:
    clock = moved_clock(node.child, diff)
    assert clock is not None
    return came(node.child, node.condition, clock), gone(node.child, node.condition, clock)


def select_pass(node: Select, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return passed(diff)


# Wrong without its guard: σ x > 1 over the rows (1, x=1), updated to 2, and (2, x=2), updated to 1. Updates of x would not insert
# row 1 and not delete row 2.
def select_recompute(node: Select, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (recompute(diff),)


Select.RULES = (
    IDiffRule("select_ins", INS, always, "INS(σ_φ Δ)", filtered, "Table 6, ∆+"),
    IDiffRule("select_del_known", DEL, is_known, "DEL(σ_φ' Δ)", filtered, "Table 6, ∆- with pre-state"),
    IDiffRule("select_del", DEL, is_unknown, "DEL", select_pass, "Table 6, ∆-"),
    IDiffRule("select_time", UPD, both(is_time, is_unique), "INS(I), DEL(I)", select_time, "ours"),
    IDiffRule("select_time_bag", UPD, both(is_time, is_bag), "REC(I)", select_time_bag, "ours"),
    IDiffRule("select_upd_condition", UPD, is_other_condition, "REC(P)", select_recompute, "Table 6, ∆u → ∆u, ∆+, ∆-"),
    IDiffRule("select_upd_known", UPD, is_known, "UPD(σ_φ' Δ)", filtered, "Table 6, ∆u, X ∩ A = ∅"),
    IDiffRule("select_upd", UPD, is_unknown, "UPD", select_pass, "Table 6, ∆u, else"),
    IDiffRule("select_rec_known", REC, is_known, "REC(σ_φ' Δ)", filtered, "ours"),
    IDiffRule("select_rec", REC, is_unknown, "REC", select_pass, "ours"),
)
