"""L ⟕_φ(X) R and L ⟗_φ(X) R: the pairs of L ⋈ R, and the rows of L (for ⟗ also of R) without a partner, padded with NULLs.

ID(L ⟕ R) = ID(L) ∪ ID(R) ∪ {m}, where the presence marker m is 1 in pairs and NULL in padded rows; ⟗ has one for each side. The
paper has no outer joins. They equal ⋈ ∪ (▷ × NULL), with m as the branch attribute of that union. So the rules of ⋈ apply to
output rows that contain a row of the i-diff's input, and the rules of ▷ to the padded rows of the other input, if that is
preserved.

P' is P with the marker of the i-diff's input, if that input may be absent (R of ⟕, both of ⟗):

| rule                | i-diff | when                             | out
|---------------------|--------|----------------------------------|-------------------------------------------------------
| outer_ins           | INS    | other side not preserved, unique | INS(Δ ⟕ R⁺)
| outer_ins_pads      | INS    | other side preserved, ID unique  | INS(Δ ⋈ L⁺), ⟗: INS(Δ ⟕ L⁺); DEL(I, m = NULL of H)
| outer_ins_bag       | INS    | other side not preserved, else   | REC(P'; all attributes of Δ)
| outer_ins_bag_pads  | INS    | other side preserved, else       | as REC below
| outer_del           | DEL    | other side not preserved         | DEL(P')
| outer_del_pads      | DEL    | other side preserved, ID unique  | DEL(P'); INS(H ▷ R⁺, padded)
| outer_del_bag       | DEL    | other side preserved, else       | DEL(P'); REC(I of H)
| outer_upd_condition | UPD    | A ∩ X ≠ ∅                        | REC(P) first, then as REC below
| outer_upd           | UPD    | else                             | UPD(P'): no other table is read
| outer_rec           | REC    |                                  | REC(P') if its side is preserved; REC(I of H) if the other is

H are the rows of the other input for which φ is true with a row that Δ touches, in their post-state; I are the IDs of that input
and its marker. These rows gain or lose a partner, so their padded rows may be deleted or inserted. The post-state suffices: a row
that was deleted, or whose attributes in X changed, is covered by its own i-diff. REC(I of H) covers the pairs of these rows as
well, so the rows of R in ⟕ need no other REC.

Without m an i-diff of R would also match padded rows if ID(R), or the part of it that the i-diff has, may be NULL: for example
the group NULL of γ. The INS of padded rows are not fresh: the row may have been padded before.

Example, customers ⟕ orders on cid. Order (7, cid 1) is inserted: INS of the pair, and DEL of the padded row of customer 1, which
may not exist. It is deleted: DEL(order 7, m = 1), and INS of the padded row unless customer 1 has another order. Its price
changes: UPD(order 7, m = 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.answers import BinaryOperator
from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.core import Compute, Pair, Probe, project
from dbt_idivm.algebra.expressions import attributes, column, conjuncts, passing
from dbt_idivm.algebra.inference import Dependency, are_identical, equalities, rejects_null, typed_null
from dbt_idivm.algebra.operator import SIGN, Conditions, Operator, State, both_states, values_of_signed, with_sign
from dbt_idivm.algebra.outer import LEFT, RIGHT, OuterPair
from dbt_idivm.algebra.probe_any import ProbeAny
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.build import recompute, touched
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff
from dbt_idivm.idiff.rule import IDiffRule, always, both, is_bag, is_condition, is_other, is_unique


@dataclass(frozen=True)
class OuterJoin(OuterPair, BinaryOperator):
    """left ⟕_condition right, or ⟗ when `full`. Only `with_ids` adds the presence markers. A join whose markers an operator above
    reads stays an outer join."""

    left: Operator
    right: Operator
    marked: bool = False
    by_key: bool = False  # for a scalar subquery: that a left row has at most one partner relies on the keys of tables

    equal = ()
    defined = ()
    united = ()
    is_select_project_join = False
    monotone = False
    has_row = False
    changed_values = values_of_signed

    def __post_init__(self) -> None:
        if both := set(self.left.columns) & set(self.right.columns):
            raise ValueError(f"⟕ of inputs that share {sorted(both)}")
        if missing := self.used - {*self.left.columns, *self.right.columns}:
            raise ValueError(f"⟕ uses {sorted(missing)}, which its inputs lack")

    @cached_property
    def used_left(self) -> frozenset[str]:
        """The attributes of the condition that belong to the left input."""
        return self.used.intersection(self.left.columns)

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
    def named_by(self) -> tuple[str, ...]:
        return self.left.named_by + self.right.named_by

    def with_ids(self) -> Operator:
        return replace(self, marked=True)

    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        return tuple((above | self.used) & set(child.columns) for child in self.inputs)

    conditional = needed

    def pruned(self, above: frozenset[str]) -> Operator:
        return replace(self, marked=self.marked and not above.isdisjoint(self.marks))

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
        """The left input, if each of its rows has at most one partner."""
        return (self.left,) if self.has_one_partner else ()

    @cached_property
    def has_one_partner(self) -> bool:
        found = equalities(self.condition, self.certain_types)
        determined = {name for by, names in found if by <= {*self.left.columns} for name in names}
        return not self.full and self.right.unique and determined >= {*self.right.ids}

    def dependencies(self, *below: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        """The dependencies of a preserved input hold. Those of an input that may be absent hold together with its marker.

        The marker is NULL where all of that input is. It is determined by any attribute that is never NULL in the rows of its
        input, and for ⟕ also by the left row, or by the attributes of it that φ reads. For ⟕, `a = f(b)` determines the right
        attribute a together with the marker, because a is NULL in padded rows.
        """
        marks = {side: frozenset({self.mark(side)}) for side in self.padded}
        found = [(left | marks.get(side, frozenset()), right) for side, each in enumerate(below) for left, right in each]
        found += [(frozenset({name}), mark) for side, mark in marks.items() for name in sorted(self._present(side))]
        if not self.full:
            certain, mark = self.certain_types, marks[RIGHT]
            found += [(by | mark, names) for by, names in equalities(self.condition, certain) if names <= {*self.right.columns}]
            found += [(frozenset(self.left.ids), mark)] if self.left.unique else []
            if are_identical(self.used_left, certain):
                found.append((self.used_left, mark))
        return tuple(found)

    def _present(self, side: int) -> frozenset[str]:
        """The attributes of an input that may be absent which are NULL only in padded rows."""
        compared = frozenset() if self.full else rejects_null(self.condition)
        return frozenset(name for name in self.inputs[side].columns if name in compared or name not in self.inputs[side].nullable)

    def carried(self, occurrence: str) -> frozenset[str] | None:
        """Each row of a preserved input is in the output."""
        found = (self.inputs[side].carried(occurrence) for side in self.preserved)
        return next((known for known in found if known is not None), None)

    def screened(self, above: Conditions) -> tuple[Conditions, ...]:
        """A row of a preserved input stays even if φ is false. A row of the other input removes a padded row even if the
        conditions `above` remove its pairs.
        """
        return ((), ()) if self.full else (above, conjuncts(self.condition))

    def in_state(self, state: State) -> Relation:
        left, right = (child.in_state(state) for child in self.inputs)
        return OuterPair(left, right, self.condition, self.name, self.full, self.marked)

    def in_any_state(self, names: frozenset[str]) -> Relation:
        """Padding is not monotone in the other input, so both states are read. For left
        attributes of ⟕, the left input suffices.
        """
        return self.left.in_any_state(names) if not self.full and names <= {*self.left.columns} else both_states(self, names)

    def signed(self) -> Relation:
        """⟕: ΔL ⟕ R⁻ ⊎ L⁺ ⋈ ΔR ⊎ the padded rows (C ▷ R⁺) − (C ▷ R⁻) with C = L⁺ ⋉ ΔR.

        ⟗: ΔL ⟕ R⁻ ⊎ ΔR ⟕ L⁺ ⊎ such padded rows of both inputs. For a chain of several ⟕, or if a left row has at most one
        partner, see `signed_chain`.
        """
        chain = () if self.full else chain_of(self)
        if len(chain) > 1 or self.has_one_partner:
            return signed_chain(chain, self.columns)
        (left, right), deltas = self.inputs, (self.left.signed(), self.right.signed())
        pre = right.in_state("pre")
        others = self.kept(RIGHT, deltas[RIGHT], left) if self.full else self.pairs_of(Pair(left, deltas[RIGHT], self.condition))
        parts = (self.kept(LEFT, deltas[LEFT], pre), others, *self._signed_pads(LEFT, left, deltas[RIGHT], right, pre))
        if self.full:
            parts += self._signed_pads(RIGHT, pre, deltas[LEFT], left, left.in_state("pre"))
        return Concat(tuple(project(part, (*self.columns, SIGN)) for part in parts))

    def _signed_pads(self, side: int, rows: Relation, delta: Relation, post: Relation, pre: Relation) -> tuple[Relation, ...]:
        """The padded rows that are inserted and deleted when the other input changes by `delta` from `pre` to `post`, signed."""
        changed = Probe(rows, delta, self.condition)
        return tuple(with_sign(self.lonely(side, changed, others), sign) for others, sign in ((post, 1), (pre, -1)))


def chain_of(node: OuterJoin) -> tuple[OuterJoin, ...]:
    """The longest chain of ⟕ that ends in `node`, innermost first, such that each condition reads one relation of the chain, and
    is not true where that relation is padded.

    The relations of the chain are the left input of its first ⟕, and the right inputs of all.
    """
    found: list[OuterJoin] = []
    below: Operator = node
    while isinstance(below, OuterJoin) and not below.full:
        found.insert(0, below)
        below = below.left
    starts = (found[start:] for start in range(len(found)))
    return next(tuple(each) for each in starts if _is_over_one_relation_each(each))


def _is_over_one_relation_each(chain: Sequence[OuterJoin]) -> bool:
    first, others = chain[0].left, [each.right for each in chain]
    return all(_is_over(each, first) or any(_is_over_present(each, other) for other in others) for each in chain)


# Wrong without it: a customer without orders is padded, and ON coalesce(order.day, 7) = day.id gives it a day. A new day 7 would
# not be found for it, because changed rows are followed down the chain through rows that exist.
def _is_over_present(node: OuterJoin, source: Operator) -> bool:
    """Whether the condition reads one relation alone, which may be padded, and rejects its padded rows."""
    return _is_over(node, source) and bool(rejects_null(node.condition) & {*source.columns})


def signed_chain(chain: Sequence[OuterJoin], columns: tuple[str, ...]) -> Relation:
    """ΔL ⟕ R⁻ ⊎ (C ⟕ R⁺) − (C ⟕ R⁻) for L ⟕ R, where C are the rows of L⁺ with a partner that changed.

    R stands for the right inputs of all ⟕ of the chain. So a chain of n has 3n joins; with the
    telescoped form of a single ⟕ it would have n².
    """
    below = chain[0].left
    changed = ProbeAny(below, _tests(below, chain))
    parts = (
        _joined(below.signed(), chain, "pre"),
        with_sign(_joined(changed, chain, "post"), 1),
        with_sign(_joined(changed, chain, "pre"), -1),
    )
    return Concat(tuple(project(part, (*columns, SIGN)) for part in parts))


def _tests(below: Operator, chain: Sequence[OuterJoin]) -> tuple[tuple[Relation, exp.Expr], ...]:
    """Pairs (rows, condition), one for each ⟕ whose condition reads `below`.

    The rows are values of its right input that changed, or that have a changed partner further up the chain.
    """
    found: list[tuple[Relation, OuterJoin]] = []
    for each in reversed(chain):
        names = tuple(name for name in each.right.columns if name in each.used)
        above = tuple((rows, other.condition) for rows, other in found if _is_over(other, each.right))
        parts = [each.right.changed_values(frozenset(names)), *([ProbeAny(each.right, above)] if above else [])]
        rows = Concat(tuple(project(part.narrowed(frozenset(names)), names) for part in parts))
        found.append((rows, each))
    return tuple((rows, each.condition) for rows, each in reversed(found) if _is_over(each, below))


def _is_over(node: OuterJoin, source: Operator) -> bool:
    return node.used_left.issubset(source.columns)


def _joined(rows: Relation, chain: Sequence[OuterJoin], state: State) -> Relation:
    for each in chain:
        rows = OuterPair(rows, each.right.in_state(state), each.condition, each.name, marked=each.marked)
    return rows


def own(node: OuterJoin, side: int, diff: IDiff) -> IDiff:
    """The i-diff of an input, with the marker of that input in P if it may be absent."""
    if side not in node.padded:
        return diff
    name, one = node.mark(side), exp.Literal.number(1)
    rows = Compute(diff.relation, (*passing(diff.relation.columns), (name, one)))
    return replace(diff, ids=(*diff.ids, name), relation=rows, constants=(*diff.constants, (name, "1")))


def candidates(node: OuterJoin, side: int, diff: IDiff, names: tuple[str, ...] | None = None) -> Relation:
    """H: the rows of the other input for which φ is true with a row that `diff` touches. With
    `names`, only the values of these are exact.
    """
    child, other = node.inputs[side], node.inputs[1 - side]
    wanted = tuple(name for name in child.columns if name in node.used)
    rows = other if names is None else other.narrowed((frozenset(names) | node.used) & {*other.columns})
    return Probe(rows, touched(diff, child, wanted), node.condition)


@dataclass(frozen=True)
class _Names:
    """Some IDs of a row, and the presence markers among them that are certainly 1."""

    ids: tuple[str, ...]
    present: frozenset[str] = frozenset()


def names_of_partners(node: Operator, condition: exp.Expr) -> _Names:
    """The IDs by which rows of `node` are recomputed that have a partner by `condition`. They may name further rows.

    These are the IDs of the innermost input that all ⟕ on the left side preserve. So a chain of ⟕ to unique rows, such as
    dimensions, has a single i-diff to recompute by. An input of which a left row may have many partners adds its own IDs
    if the condition, or one that leads to it, reads its columns: only some of the partners are to be recomputed.
    """
    used, rejecting = frozenset(attributes(condition)), rejects_null(condition)
    found = _Names(())
    while isinstance(node, OuterJoin) and not node.full:
        if used & {*node.right.columns}:
            if node.right.unique and not node.has_one_partner:
                present = frozenset(node.marks) if rejecting & {*node.right.columns} else frozenset()
                found = _Names((*node.right.ids, *node.marks, *found.ids), found.present | present)
            else:
                used |= node.used_left
        node = node.left
    return _Names((*node.ids, *found.ids), found.present)


def inserted(node: OuterJoin, diff: IDiff, rows: Relation, *, fresh: bool = False) -> IDiff:
    rest = tuple(name for name in node.columns if name not in node.ids)
    return IDiff(INS, node.ids, rest, (), project(rows, node.ids + rest), diff.origins, fresh)


def recomputed(node: OuterJoin, side: int, diff: IDiff) -> IDiff:
    """REC(I of H), where I are the IDs by which partners are recomputed."""
    names = names_of_partners(node.inputs[1 - side], node.condition)
    ids = names.ids + ((node.mark(1 - side),) if 1 - side in node.padded else ())
    constants = {name: exp.Literal.number(1) for name in (*node.marks, *names.present)}
    rows = Compute(candidates(node, side, diff, names.ids), tuple((name, constants.get(name) or column(name)) for name in ids))
    return IDiff(REC, ids, (), (), rows, diff.origins, constants=tuple((name, "1") for name in ids if name in constants))


def outer_ins(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (inserted(node, diff, node.kept(side, diff.relation, node.inputs[1 - side]), fresh=diff.fresh),)


# Wrong without the DEL: customer 1 had no order; the pair with the first order is inserted, and the padded row would stay.
def outer_ins_pads(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    others = node.inputs[1 - side]
    rows = (
        node.kept(side, diff.relation, others)
        if side in node.preserved
        else node.pairs_of(Pair(diff.relation, others, node.condition))
    )
    mark = node.mark(side)
    ids = (*others.ids, mark)
    gone = Compute(candidates(node, side, diff), (*passing(others.ids), (mark, node.null(mark))))
    return (
        inserted(node, diff, rows, fresh=diff.fresh),
        IDiff(DEL, ids, (), (), gone, diff.origins, constants=((mark, "NULL"),)),
    )


# As for ⋈: if IDs repeat, INS would lose copies.
def outer_ins_bag(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (own(node, side, recompute(diff)),)


def outer_del(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (own(node, side, diff),)


# Wrong without ▷ R⁺: one of two orders of customer 1 is deleted; a padded row would be inserted although the other remains.
def outer_del_pads(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    rows = node.lonely(1 - side, candidates(node, side, diff), node.inputs[side])
    return (own(node, side, diff), inserted(node, diff, rows))


# If IDs repeat, the INS of a padded row would lose the copies of a keyless row.
def outer_del_bag(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (own(node, side, diff), recomputed(node, side, diff))


# Wrong without the conversion: order 7 moves from customer 1 to 2. The update knows only customer 2; 1 would keep the pair.
def outer_upd_condition(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return outer_rec(node, side, recompute(diff))


def outer_upd(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (own(node, side, diff),)


def outer_rec(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    """For ⟗ both: the rows of the i-diff's input, and the rows of its partners."""
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
    IDiffRule("outer_ins", INS, _ALONE_UNIQUE, "INS(Δ ⟕ R⁺)", outer_ins, "ours"),
    IDiffRule("outer_ins_pads", INS, _PADS_UNIQUE, "INS(Δ ⋈ L⁺), DEL(I, m = NULL of H)", outer_ins_pads, "ours"),
    IDiffRule("outer_ins_bag", INS, _ALONE_BAG, "REC(P')", outer_ins_bag, "ours"),
    IDiffRule("outer_ins_bag_pads", INS, _PADS_BAG, "REC(I of H)", outer_rec, "ours"),
    IDiffRule("outer_del", DEL, is_alone, "DEL(P')", outer_del, "ours"),
    IDiffRule("outer_del_pads", DEL, _PADS_UNIQUE, "DEL(P'), INS(H ▷ R⁺)", outer_del_pads, "ours"),
    IDiffRule("outer_del_bag", DEL, _PADS_BAG, "DEL(P'), REC(I of H)", outer_del_bag, "ours"),
    IDiffRule("outer_upd_condition", UPD, is_condition, "REC(P'), REC(I of H)", outer_upd_condition, "ours"),
    IDiffRule("outer_upd", UPD, is_other, "UPD(P')", outer_upd, "ours"),
    IDiffRule("outer_rec", REC, always, "REC(P'), REC(I of H)", outer_rec, "ours"),
)
