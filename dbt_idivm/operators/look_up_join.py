"""L ⟕_φ R on a key of R: φ equates attributes F of L with attributes K of R, one by one, and ID(R) ⊆ K. ID(L ⟕ R) = ID(L).

Each row of L is in the output exactly once, with the row of R that F looks up, or with NULLs. So changes of R never insert or
delete rows of the output, and padded rows need not be distinguished from others: unlike `outer_join.py` it needs neither a
presence marker nor ID(R). A change of R updates the rows that look it up, identified by F. The paper has no outer joins.

| rule                   | i-diff | when                     | out
|------------------------|--------|--------------------------|---------------------------------------------------
| look_up_ins            | INS    | left, ID unique          | INS(Δ ⟕ R⁺)
| look_up_ins_bag        | INS    | left, ID not unique      | REC(P; all attributes of Δ)
| look_up_del            | DEL    | left                     | Δ unchanged
| look_up_upd_condition  | UPD    | left, A ∩ F ≠ ∅          | REC(P)
| look_up_upd            | UPD    | left, else               | Δ unchanged: R is not read
| look_up_rec            | REC    | left                     | Δ unchanged
| looked_up_ins          | INS    | right                    | UPD(F; B) of Δ
| looked_up_del          | DEL    | right, K known, P ⊆ ID(R)| UPD(F; B) of Δ, with NULL for all of B
| looked_up_del_unknown  | DEL    | right, else              | as looked_up_rec
| looked_up_upd          | UPD    | right, K and Δ ⊆ R⁺ known| UPD(F; A) of Δ
| looked_up_upd_unknown  | UPD    | right, else              | as looked_up_rec
| looked_up_rec          | REC    | right                    | UPD(F; B) of T ⟕ R⁺, with T = touched(Δ, K)

B are all attributes of R. No rule reads L, except look_up_ins. If φ compares by `=`, rows of Δ in which K is NULL are left out:
they have no partners, but UPD compares NULL-safely.

Example, orders ⟕ customers on cid = id. Customer 4 is renamed: UPD(cid 4; name). Customer 4 is deleted: UPD(cid 4; name NULL).
Order 7 of customer 4 is inserted: INS with the customer's name.

Nothing is refused: if φ has any other condition, or if equal values of the two types need not be identical, the operator remains
an outer join.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.answers import itself
from dbt_idivm.algebra.core import Compute, Filter, project
from dbt_idivm.algebra.expressions import column, conjunction, conjuncts, passing
from dbt_idivm.algebra.outer import LEFT, OuterPair
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import has_one_value
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.build import passed, recompute, touched
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff
from dbt_idivm.idiff.rule import IDiffRule, both, is_bag, is_condition, is_other, is_unique
from dbt_idivm.operators.outer_join import OuterJoin

Equality = tuple[str, str, bool]  # attribute of the left input, attribute of the right one, whether NULLs are equal


@dataclass(frozen=True)
class LookUpJoin(OuterJoin):
    """left ⟕_condition right. `is_look_up` holds for its original inputs; rewritten inputs have the same rows."""

    marks = ()
    with_ids = itself

    @cached_property
    def equalities(self) -> tuple[Equality, ...]:
        found = equalities_of(self)
        assert found is not None
        return found

    @property
    def by(self) -> tuple[str, ...]:
        """F: the attributes of the left input that look up."""
        return tuple(left for left, _, _ in self.equalities)

    @property
    def keys(self) -> tuple[str, ...]:
        """K: the attributes of the right input that are looked up, in the order of F."""
        return tuple(right for _, right, _ in self.equalities)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return self.left.ids

    @cached_property
    def unique(self) -> bool:
        return self.left.unique

    @cached_property
    def named_by(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.left.named_by, *self.by)))


def equalities_of(node: OuterJoin) -> tuple[Equality, ...] | None:
    """The condition as equalities of a left and a right attribute, with no attribute used twice; None if it is anything else."""
    found = [_equality(node, part.unnest()) for part in conjuncts(node.condition.unnest())]
    known = [each for each in found if each is not None]
    names = [name for left, right, _ in known for name in (left, right)]
    return tuple(known) if known and len(known) == len(found) and len(set(names)) == len(names) else None


def _equality(node: OuterJoin, part: exp.Expr) -> Equality | None:
    if not isinstance(part, exp.EQ | exp.NullSafeEQ):
        return None
    sides = [each.unnest() for each in (part.left, part.right)]
    if not all(isinstance(each, exp.Column) for each in sides):
        return None
    left, right = sorted((each.name for each in sides), key=lambda name: name in node.right.columns)
    if left not in node.left.columns or right not in node.right.columns:
        return None
    kinds = node.left.certain_types.get(left), node.right.certain_types.get(right)
    # Wrong without it: both '7' and '07' look up customer 7, but the update of customer 7 identifies rows by only one of them.
    if kinds[0] is None or kinds[0] != kinds[1] or not has_one_value(kinds[0]):
        return None
    return left, right, isinstance(part, exp.NullSafeEQ)


def is_look_up(node: OuterJoin) -> bool:
    """Whether each left row has at most one partner, identified by equalities of attributes."""
    found = None if node.full or not node.right.unique else equalities_of(node)
    return found is not None and {right for _, right, _ in found} >= {*node.right.ids}


def naming(node: LookUpJoin, rows: Relation, values: Mapping[str, exp.Expr]) -> Relation:
    """Rows of the right input with K renamed to F, and the columns `values`. Rows that cannot be a partner are left out.

    Wrong without that: φ is F = (k, x), ID(R) is k alone, and a row (1, NULL) of R is inserted. It would be written into the
    rows of L with F = (1, NULL), for which φ is not true.
    """
    certain = [
        exp.Not(this=exp.Is(this=column(right), expression=exp.null()))
        for _, right, is_null_safe in node.equalities
        if not is_null_safe
    ]
    condition = conjunction(certain)
    kept = rows if condition is None else Filter(rows, condition)
    return Compute(kept, (*((left, column(right)) for left, right, _ in node.equalities), *values.items()))


def updated(node: LookUpJoin, diff: IDiff, rows: Relation, values: Mapping[str, exp.Expr], known: tuple[str, ...] = ()) -> IDiff:
    """UPD(F; `values` except those in `known`)."""
    assigned = tuple(name for name in values if name not in known)
    return IDiff(UPD, node.by, assigned, known, naming(node, rows, values), diff.origins)


def look_up_ins(node: LookUpJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    rest = tuple(name for name in node.columns if name not in node.ids)
    rows = node.kept(LEFT, diff.relation, node.right)
    return (IDiff(INS, node.ids, rest, (), project(rows, node.ids + rest), diff.origins, diff.fresh, diff.constants),)


# As for ⋈: if IDs repeat, INS would lose copies.
def look_up_recompute(node: LookUpJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (recompute(diff),)


def look_up_pass(node: LookUpJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return passed(diff)


def looked_up_ins(node: LookUpJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (updated(node, diff, diff.relation, {name: column(name) for name in node.right.columns}),)


def looked_up_del(node: LookUpJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (updated(node, diff, diff.relation, {name: node.null(name) for name in node.right.columns}),)


def looked_up_upd(node: LookUpJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    held = tuple(name for name in node.right.columns if name in diff.attributes)
    known = tuple(name for name in held if name not in diff.assigned)
    return (updated(node, diff, diff.relation, {name: column(name) for name in held}, known),)


# Wrong with the rows of Δ alone: a partial ID matches rows of R with several keys, and the rows of a REC may not exist in R.
def looked_up_rec(node: LookUpJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    named = recompute(diff) if diff.assigns(node.keys) else diff
    values = {name: column(name) for name in node.right.columns}
    keys = naming(node, touched(named, node.right, node.keys), {})
    found = node.right.restrict(node.keys, Compute(keys, tuple((right, column(left)) for left, right, _ in node.equalities)))
    rows = OuterPair(keys, found, node.condition, node.name, marked=False)
    relation = Compute(rows, (*passing(node.by), *values.items()))
    return (IDiff(UPD, node.by, tuple(values), (), relation, diff.origins),)


def is_left(node: LookUpJoin, side: int, diff: IDiff) -> bool:
    return side == LEFT


def is_right(node: LookUpJoin, side: int, diff: IDiff) -> bool:
    return side != LEFT


# P ⊆ ID(R): rows identified by other attributes might still exist with other values. So far no DEL identifies rows like that.
def is_gone(node: LookUpJoin, side: int, diff: IDiff) -> bool:
    """Whether R⁺ has no row with the K that the i-diff knows."""
    return is_right(node, side, diff) and knows_keys(node, diff) and {*diff.ids} <= {*node.right.ids}


# Wrong without `carried`: R is customers ⋈ nations, and customer 4 has no nation. An update of customer 4 names a row that R does
# not have, but UPD(F; A) would write the name into rows of orders that look up nothing.
def is_known(node: LookUpJoin, side: int, diff: IDiff) -> bool:
    """Whether the i-diff knows K and names only rows of R⁺."""
    return (
        is_right(node, side, diff)
        and knows_keys(node, diff)
        and not diff.assigns(node.keys)
        and all(node.right.carried(origin.occurrence) is not None for origin in diff.origins)
    )


def knows_keys(node: LookUpJoin, diff: IDiff) -> bool:
    return diff.attributes >= {*node.keys}


def is_maybe_there(node: LookUpJoin, side: int, diff: IDiff) -> bool:
    return is_right(node, side, diff) and not is_gone(node, side, diff)


def is_unknown(node: LookUpJoin, side: int, diff: IDiff) -> bool:
    return is_right(node, side, diff) and not is_known(node, side, diff)


LookUpJoin.RULES = (
    IDiffRule("look_up_ins", INS, both(is_left, is_unique), "INS(Δ ⟕ R⁺)", look_up_ins, "ours"),
    IDiffRule("look_up_ins_bag", INS, both(is_left, is_bag), "REC(P)", look_up_recompute, "ours"),
    IDiffRule("look_up_del", DEL, is_left, "DEL", look_up_pass, "ours"),
    IDiffRule("look_up_upd_condition", UPD, both(is_left, is_condition), "REC(P)", look_up_recompute, "ours"),
    IDiffRule("look_up_upd", UPD, both(is_left, is_other), "UPD", look_up_pass, "ours"),
    IDiffRule("look_up_rec", REC, is_left, "REC", look_up_pass, "ours"),
    IDiffRule("looked_up_ins", INS, is_right, "UPD(F; B)", looked_up_ins, "ours"),
    IDiffRule("looked_up_del", DEL, is_gone, "UPD(F; B NULL)", looked_up_del, "ours"),
    IDiffRule("looked_up_del_unknown", DEL, is_maybe_there, "UPD(F; B) of T ⟕ R⁺", looked_up_rec, "ours"),
    IDiffRule("looked_up_upd", UPD, is_known, "UPD(F; A)", looked_up_upd, "ours"),
    IDiffRule("looked_up_upd_unknown", UPD, is_unknown, "UPD(F; B) of T ⟕ R⁺", looked_up_rec, "ours"),
    IDiffRule("looked_up_rec", REC, is_right, "UPD(F; B) of T ⟕ R⁺", looked_up_rec, "ours"),
)
