"""L ⟕_φ(X) R and L ⟗_φ(X) R: the pairs of L ⋈ R, and the rows of L, of ⟗ also of R, that have no partner, padded with NULLs.

ID(L ⟕ R) = ID(L) ∪ ID(R) ∪ {m}, where the presence marker m is 1 in pairs and NULL in padded rows; ⟗ has one for each
side. The paper has no outer joins. They are ⋈ ∪ (▷ × NULL), and m is the branch attribute of that union: so the rules are
those of ⋈ for the rows that have the i-diff's own row, and those of ▷ for the padded rows of the other input, where it is
preserved.

The rows of the input that the i-diff comes from; P' = P, with the marker of that input if it may be absent (R of ⟕, both of ⟗):

| rule                | i-diff | when                             | out
|---------------------|--------|----------------------------------|-------------------------------------------------------
| outer_ins           | INS    | other side not preserved, unique | INS(Δ ⟕ R⁺)
| outer_ins_pads      | INS    | other side preserved, ID unique  | INS(Δ ⋈ L⁺), of ⟗ INS(Δ ⟕ L⁺); DEL(I, m = NULL of H)
| outer_ins_bag       | INS    | other side not preserved, else   | REC(P'; all attributes of Δ)
| outer_ins_bag_pads  | INS    | other side preserved, else       | as REC below
| outer_del           | DEL    | other side not preserved         | DEL(P')
| outer_del_pads      | DEL    | other side preserved, ID unique  | DEL(P'); INS(H ▷ R⁺, padded)
| outer_del_bag       | DEL    | other side preserved, else       | DEL(P'); REC(I of H)
| outer_upd_condition | UPD    | A ∩ X ≠ ∅                        | REC(P) first, then as REC below
| outer_upd           | UPD    | else                             | UPD(P'): no other table is read
| outer_rec           | REC    |                                  | REC(P') if its side is preserved; REC(I of H) if the other is

H are the rows of the other input for which φ is true with a row that Δ touches, in their post-state; I are its IDs, with
its marker. They gain or lose a partner, so their padded row may go or come. The post-state is enough: a row that left, or whose
attributes in X changed, is covered by its own i-diff. REC(I of H) covers their pairs too, so that R's own rows of ⟕ need no
other REC.

Without m an i-diff of R would name padded rows where ID(R), or the part of it that it has, may be NULL: γ's group NULL, say.
The INS of padded rows are not fresh: the row may have been padded before.

Example, customers ⟕ orders on cid: order (7, cid 1) comes: INS of the pair, DEL of customer 1's padded row, if there is one.
It goes: DEL(order 7, m = 1), and INS of the padded row unless customer 1 has another order. A new price of order 7:
UPD(order 7, m = 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.core import Compute, Pair, Probe, project
from dbt_idivm.algebra.expressions import attributes, column, conjuncts, passing
from dbt_idivm.algebra.inference import Dependency, equalities, typed_null
from dbt_idivm.algebra.operator import SIGN, Conditions, Operator, State, with_sign
from dbt_idivm.algebra.outer import OuterPair
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.build import recompute, touched
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff
from dbt_idivm.idiff.rule import IDiffRule, always, both, is_bag, is_condition, is_other, is_unique


@dataclass(frozen=True)
class OuterJoin(OuterPair, Operator):
    """left ⟕_condition right, or ⟗ when `full`. It has its markers with its IDs only: see `with_ids`."""

    left: Operator
    right: Operator
    marked: bool = False
    by_key: bool = False  # of a scalar subquery, of which a left row has one row at most by the keys of tables

    def __post_init__(self) -> None:
        if both := set(self.left.columns) & set(self.right.columns):
            raise ValueError(f"⟕ of inputs that share {sorted(both)}")
        if missing := self.used - {*self.left.columns, *self.right.columns}:
            raise ValueError(f"⟕ uses {sorted(missing)}, which its inputs lack")

    @cached_property
    def used(self) -> frozenset[str]:
        """X, the attributes of the condition."""
        return frozenset(attributes(self.condition))

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.left, self.right)

    def with_inputs(self, *inputs: Operator) -> Operator:
        left, right = inputs
        return replace(self, left=left, right=right)

    @property
    def scope(self) -> str | None:
        return self.name

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return self.left.ids + self.right.ids + self.marks

    @cached_property
    def unique(self) -> bool:
        return self.left.unique and self.right.unique

    @cached_property
    def recomputed_by(self) -> tuple[str, ...]:
        return tuple(name for side in self.preserved for name in self.inputs[side].recomputed_by)

    def with_ids(self) -> Operator:
        return replace(self, marked=True)

    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return tuple((above | self.used) & set(child.columns) for child in self.inputs)

    def pruned(self, above: frozenset[str]) -> Operator:
        return self

    def conditional(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return self.needed(above)

    @cached_property
    def certain_types(self) -> Mapping[str, exp.DataType]:
        marks = {name: exp.DataType.build("int") for name in self.marks if self.marked}
        return {**self.left.certain_types, **self.right.certain_types, **marks}

    def null(self, name: str) -> exp.Expr:
        return typed_null(self.certain_types.get(name)) or super().null(name)

    @cached_property
    def nullable(self) -> frozenset[str]:
        padded = frozenset(name for side in self.padded for name in self.inputs[side].columns)
        return self.left.nullable | padded | frozenset(self.marks if self.marked else ())

    @cached_property
    def combined(self) -> tuple[Operator, ...]:
        """The left input, if a row of it has one partner at most."""
        return (self.left,) if self._has_one_partner else ()

    @cached_property
    def _has_one_partner(self) -> bool:
        found = equalities(self.condition, self.certain_types)
        determined = {name for by, names in found if by <= {*self.left.columns} for name in names}
        return not self.full and self.right.unique and determined >= {*self.right.ids}

    @cached_property
    def dependencies(self) -> tuple[Dependency, ...]:
        if self._has_one_partner:
            return ((self.used & frozenset(self.left.columns), frozenset((*self.right.columns, *self.marks))),)
        if not self.full and self.unique:  # of one left row there are pairs or one padded row
            return ((frozenset((*self.left.ids, *self.right.ids)), frozenset(self.marks)),)
        ids = ((side, name) for side in self.padded for name in self.inputs[side].ids if name not in self.inputs[side].nullable)
        return tuple((frozenset({name}), frozenset({self.mark(side)})) for side, name in ids)

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
        """Each row of a preserved input is in the output."""
        found = (self.inputs[side].carried(occurrence) for side in self.preserved)
        return next((known for known in found if known is not None), None)

    def screened(self, above: Conditions) -> tuple[Conditions, ...]:
        """A row of a preserved input stays where φ fails. A row of the other one takes a padded row away even if those above
        remove its pairs."""
        return ((), ()) if self.full else (above, conjuncts(self.condition))

    def in_state(self, state: State) -> Relation:
        """Padding is not monotone in the other input: the any-state has all pairs, and each preserved row padded."""
        left, right = (child.in_state(state) for child in self.inputs)
        if state != "any":
            return OuterPair(left, right, self.condition, self.name, self.full, self.marked)
        pads = (self.pad(side, (left, right)[side]) for side in self.preserved)
        return Concat((self.pairs(left, right), *pads))

    def signed(self) -> Relation:
        """That of ⋈, ΔL ⋈ R⁻ ⊎ L⁺ ⋈ ΔR, and for each preserved input that of ▷, padded (`semijoin.py`)."""
        left, right = self.inputs
        pairs = (self._signed_rows(Pair(left.signed(), right.in_state("pre"), self.condition)),
                 self._signed_rows(Pair(right.signed(), left, self.condition)))
        return Concat((*pairs, *(part for side in self.preserved for part in self._signed_pads(side))))

    def _signed_rows(self, pairs: Relation) -> Relation:
        return project(self.pairs_of(pairs), (*self.columns, SIGN))

    def _signed_pads(self, side: int) -> tuple[Relation, ...]:
        rows, others = self.inputs[side], self.inputs[1 - side]
        pre = others.in_state("pre")
        changed = Probe(rows, others.signed(), self.condition)
        parts = (Probe(rows.signed(), pre, self.condition, anti=True),
                 with_sign(Probe(changed, others, self.condition, anti=True), 1),
                 with_sign(Probe(changed, pre, self.condition, anti=True), -1))
        return tuple(project(self.pad(side, part), (*self.columns, SIGN)) for part in parts)


def marked_ids(node: OuterJoin, side: int) -> tuple[str, ...]:
    """ID of one input, with its marker if it may be absent."""
    return node.inputs[side].ids + ((node.mark(side),) if side in node.padded else ())


def own(node: OuterJoin, side: int, diff: IDiff) -> IDiff:
    """The i-diff with the marker of its input in P, if it may be absent."""
    if side not in node.padded:
        return diff
    name, one = node.mark(side), exp.Literal.number(1)
    rows = Compute(diff.relation, (*passing(diff.relation.columns), (name, one)))
    return replace(diff, ids=(*diff.ids, name), relation=rows, constants=(*diff.constants, (name, "1")))


def candidates(node: OuterJoin, side: int, diff: IDiff) -> Relation:
    """H: the rows of the other input for which φ is true with a row that `diff` touches."""
    child = node.inputs[side]
    wanted = tuple(name for name in child.columns if name in node.used)
    return Probe(node.inputs[1 - side], touched(diff, child, wanted), node.condition)


def inserted(node: OuterJoin, diff: IDiff, rows: Relation, *, fresh: bool = False) -> IDiff:
    rest = tuple(name for name in node.columns if name not in node.ids)
    return IDiff(INS, node.ids, rest, (), project(rows, node.ids + rest), diff.origins, fresh)


def recomputed(node: OuterJoin, side: int, diff: IDiff) -> IDiff:
    """REC(I of H)."""
    ids = marked_ids(node, 1 - side)
    constants = {name: exp.Literal.number(1) for name in node.marks}
    rows = Compute(candidates(node, side, diff), tuple((name, constants.get(name) or column(name)) for name in ids))
    return IDiff(REC, ids, (), (), rows, diff.origins, constants=tuple((name, "1") for name in ids if name in constants))


def outer_ins(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (inserted(node, diff, node.kept(side, diff.relation, node.inputs[1 - side]), fresh=diff.fresh),)


# Wrong without the DEL: customer 1 had no order; the pair with his first one comes, and his padded row would stay.
def outer_ins_pads(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    others = node.inputs[1 - side]
    rows = node.kept(side, diff.relation, others) if side in node.preserved else node.pairs_of(
        Pair(diff.relation, others, node.condition))
    mark = node.mark(side)
    ids = (*others.ids, mark)
    gone = Compute(candidates(node, side, diff), (*passing(others.ids), (mark, node.null(mark))))
    return (inserted(node, diff, rows, fresh=diff.fresh),
            IDiff(DEL, ids, (), (), gone, diff.origins, constants=((mark, "NULL"),)))


# As for ⋈: where IDs repeat, INS would lose copies.
def outer_ins_bag(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (own(node, side, recompute(diff)),)


def outer_del(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (own(node, side, diff),)


# Wrong without ▷ R⁺: of two orders of customer 1 one goes; beside the other there would be a padded row.
def outer_del_pads(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    rows = node.lonely(1 - side, candidates(node, side, diff), node.inputs[side])
    return (own(node, side, diff), inserted(node, diff, rows))


# Where IDs repeat, the INS of a padded row would lose the copies of a keyless row.
def outer_del_bag(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (own(node, side, diff), recomputed(node, side, diff))


# Wrong without the conversion: order 7 moves from customer 1 to 2. The update knows customer 2 only; 1 would keep the pair.
def outer_upd_condition(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return outer_rec(node, side, recompute(diff))


def outer_upd(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (own(node, side, diff),)


def outer_rec(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    """Of ⟗ both: the input's own padded rows, and the partners."""
    mine = (own(node, side, diff if diff.kind is REC else recompute(diff)),) if side in node.preserved else ()
    return (*mine, recomputed(node, side, diff)) if 1 - side in node.preserved else mine


def is_alone(node: OuterJoin, side: int, diff: IDiff) -> bool:
    """Whether no row of the other input is padded."""
    return 1 - side not in node.preserved


def has_pads(node: OuterJoin, side: int, diff: IDiff) -> bool:
    return not is_alone(node, side, diff)


_ALONE_UNIQUE, _ALONE_BAG = both(is_alone, is_unique), both(is_alone, is_bag)
_PADS_UNIQUE, _PADS_BAG = both(has_pads, is_unique), both(has_pads, is_bag)

OuterJoin.RULES = (
    IDiffRule("outer_ins",           INS, _ALONE_UNIQUE, "INS(Δ ⟕ R⁺)",                      outer_ins,           "ours"),
    IDiffRule("outer_ins_pads",      INS, _PADS_UNIQUE,  "INS(Δ ⋈ L⁺), DEL(I, m = NULL of H)", outer_ins_pads,    "ours"),
    IDiffRule("outer_ins_bag",       INS, _ALONE_BAG,    "REC(P')",                          outer_ins_bag,       "ours"),
    IDiffRule("outer_ins_bag_pads",  INS, _PADS_BAG,     "REC(I of H)",                      outer_rec,           "ours"),
    IDiffRule("outer_del",           DEL, is_alone,      "DEL(P')",                          outer_del,           "ours"),
    IDiffRule("outer_del_pads",      DEL, _PADS_UNIQUE,  "DEL(P'), INS(H ▷ R⁺)",             outer_del_pads,      "ours"),
    IDiffRule("outer_del_bag",       DEL, _PADS_BAG,     "DEL(P'), REC(I of H)",             outer_del_bag,       "ours"),
    IDiffRule("outer_upd_condition", UPD, is_condition,  "REC(P'), REC(I of H)",             outer_upd_condition, "ours"),
    IDiffRule("outer_upd",           UPD, is_other,      "UPD(P')",                          outer_upd,           "ours"),
    IDiffRule("outer_rec",           REC, always,        "REC(P'), REC(I of H)",             outer_rec,           "ours"),
)
