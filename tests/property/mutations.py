"""Guards of the planner, each with a way to switch it off and the hand-written case that then goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import pytest
from sqlglot import exp

from dbt_idivm import compiler
from dbt_idivm.algebra import inference
from dbt_idivm.algebra.bags import Concat, Distinct, union_all
from dbt_idivm.algebra.block import Block, isolate, subquery
from dbt_idivm.algebra.core import Compute, Filter, Pair, Probe, SemiJoin, project
from dbt_idivm.algebra.expressions import alias, attributes, column, conjuncts
from dbt_idivm.algebra.lookups import Touched
from dbt_idivm.algebra.operator import SIGN, Operator, State, with_sign
from dbt_idivm.algebra.outer import OuterPair
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.frontend import existence, of_each, partners, scalar, tied_aggregates, ties
from dbt_idivm.frontend import window as window_frontend
from dbt_idivm.idiff import build
from dbt_idivm.idiff.idiff import INS, REC, UPD, IDiff
from dbt_idivm.operators import (
    OPERATORS,
    Aggregate,
    Join,
    LookUpJoin,
    OneRow,
    OuterJoin,
    Project,
    Scan,
    Select,
    SemiAntiJoin,
    UnionAll,
    Unnest,
    Window,
    additive,
)
from dbt_idivm.operators import aggregate as aggregate_operator
from dbt_idivm.operators import look_up_join as look_up_operator
from dbt_idivm.operators import outer_join as outer_operator
from dbt_idivm.operators import project as project_operator
from dbt_idivm.operators import semijoin as semijoin_operator
from dbt_idivm.operators import unnest as unnest_operator
from dbt_idivm.operators import window as window_operator
from dbt_idivm.operators.aggregate import Call, Grouped
from dbt_idivm.operators.scan import DiffClass, DiffRows, scans
from dbt_idivm.operators.window import Windowed
from dbt_idivm.optimize.lineage import leaves
from dbt_idivm.passes import annotate, canonical, first_rows, look_ups, place_caches, propagate, running, window_root
from dbt_idivm.passes.annotate import Facts
from dbt_idivm.passes.operator_caches import AdditiveState
from dbt_idivm.script import additive as script_additive
from dbt_idivm.script import (
    append,
    binding,
    by_key,
    diff,
    direct,
    effective,
    extremes,
    found_rows,
    known_rows,
    net_changes,
    reach,
    render,
    replace_where,
    tail,
    tail_rows,
    top_k,
    top_k_rows,
    tuple_based,
)
from dbt_idivm.script.additive import LostExtremes
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.dialect import WEIGHT
from dbt_idivm.script.merge import Clause, Condition, Matching
from dbt_idivm.script.source_rows import SourceRows
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.top_k_rows import LIVE, PLACE, NetRows, Ranked
from dbt_idivm.script.ways import IsEmpty

# the packages hold functions of the same names
use_net_diff, use_diff_rows = (import_module(f"dbt_idivm.optimize.{name}") for name in ("use_net_diff", "use_diff_rows"))
Patch = pytest.MonkeyPatch
Classes = Mapping[DiffClass, tuple[tuple[Any, ...], ...]]


@dataclass(frozen=True)
class Mutation:
    """`switch_off` takes a guard away; the directed case then gives a wrong view under the option set `way`."""

    guard: str
    switch_off: Callable[[Patch], None]
    case: str
    way: str = "optimised"


def without_rule_guard(operator: type[Operator], off: str, instead: str) -> Callable[[Patch], None]:
    """The operator with the rule `off` never chosen and `instead` taking what it took."""

    def switch_off(patch: Patch) -> None:
        guards = {off: lambda node, side, diff: False, instead: _either(operator, off, instead)}
        rules = tuple(replace(rule, when=guards.get(rule.name, rule.when)) for rule in operator.RULES)
        patch.setattr(operator, "RULES", rules)

    return switch_off


def _either(operator: type[Operator], *names: str) -> Callable[[Any, int, IDiff], bool]:
    guards = [rule.when for rule in operator.RULES if rule.name in names]
    return lambda node, side, diff: any(guard(node, side, diff) for guard in guards)


def with_builder(
    operator: type[Operator], name: str, builder: Callable[[Any, int, IDiff], tuple[IDiff, ...]]
) -> Callable[[Patch], None]:
    def switch_off(patch: Patch) -> None:
        rules = tuple(replace(rule, build=builder) if rule.name == name else rule for rule in operator.RULES)
        patch.setattr(operator, "RULES", rules)

    return switch_off


# --- the guards, switched off


def reclassified(change: Callable[[Scan, Classes], Classes]) -> Callable[[Patch], None]:
    """The rows of a keyed table's net diff, put into other classes."""

    def switch_off(patch: Patch) -> None:
        classify = net_changes.classify

        def other(scan: Scan, *given: Any) -> Classes:
            found = classify(scan, *given)
            return change(scan, found) if scan.unique else found

        patch.setattr(net_changes, "classify", other)

    return switch_off


def updates_without_split(scan: Scan, found: Classes) -> Classes:
    """Every changed row is classified as an update, whatever attribute moved it."""
    return {**found, "upd": found["upd"] + found["rec"][1::2], "rec": ()}


def updates_come_and_go(scan: Scan, found: Classes) -> Classes:
    """A key with two images is deleted and inserted."""
    key_of = diff._key_of(scan)
    updated = {key_of(row) for row in found["upd"]}
    old = tuple(row for row in found["minus"] if key_of(row) in updated)
    return {**found, "ins": found["ins"] + found["upd"], "del": found["del"] + old, "upd": ()}


def recomputes_know_the_new_image(scan: Scan, found: Classes) -> Classes:
    return {**found, "rec": found["rec"][1::2]}


def copies_are_no_matter(patch: Patch) -> None:
    """All columns are a key of a table that has none."""
    patch.setattr(Scan, "unique", property(lambda scan: True))


def applied_by_id(patch: Patch) -> None:
    """Rows of the view are identified by their IDs, though these repeat."""
    patch.setattr(effective, "_by_copies", effective._by_id)


def one_row_is_inserted(patch: Patch) -> None:
    """The row of SELECT without FROM counts as inserted by each refresh."""
    patch.setattr(OneRow, "signed", lambda node: with_sign(node, 1))


def joined_with_one_row_untested(patch: Patch) -> None:
    """A condition goes with the JOIN that is not written."""
    join = Block.join

    def untested(left: Block, right: Block, condition: exp.Expr) -> Block:
        return join(left, right, condition if left.sources and right.sources else exp.true())

    patch.setattr(Block, "join", untested)


def null_is_unequal(patch: Patch) -> None:
    """IDs, groups and keys are compared by =."""
    patch.setattr(exp, "NullSafeEQ", exp.EQ)


def any_branch_by_its_part(patch: Patch) -> None:
    """Of each branch the rows that the keys name, whatever b they name."""
    restrict = UnionAll.restrict

    def untested(node: UnionAll, on: tuple[str, ...], keys: Relation) -> Relation:
        rows = restrict(node, on, keys)
        assert isinstance(rows, SemiJoin)
        return rows.child

    patch.setattr(UnionAll, "restrict", untested)


def restricted_below_one_group(patch: Patch) -> None:
    """The one group of all rows is evaluated over rows that keys name, which may be none."""
    restrict = Aggregate.restrict

    def below(node: Aggregate, on: tuple[str, ...], keys: Relation) -> Relation:
        return restrict(node, on, keys) if on else replace(node, child=node.child.restrict(on, keys))

    patch.setattr(Aggregate, "restrict", below)


def taken_away_before_it_is_added(patch: Patch) -> None:
    """R⁻ = (R⁺ − N⁺) ⊎ N⁻ for rows without a key, too."""
    pre_state = StatementBinder._pre_state

    def other(binder: StatementBinder, scan: Scan, kept: Block, minus: Block) -> Block:
        if scan.unique:
            return pre_state(binder, scan, kept, minus)
        plus, old = (binder._copies(scan, sign).select() for sign in (exp.GT, exp.LT))
        rest = subquery(exp.Except(this=kept.select(), expression=plus, distinct=False), "rest")
        rows = union_all([exp.Select(expressions=[exp.Star()]).from_(rest), old])
        return isolate(rows, scan.columns, binder.alias(scan.occurrence))

    patch.setattr(StatementBinder, "_pre_state", other)


def screened_by_one_image(patch: Patch) -> None:
    """A changed row is ignored because of its post-image, though its pre-image was in the view."""
    classify = net_changes.classify

    def by_new_image(scan: Scan, diff: Any, split: frozenset[str], is_ignorable: Any) -> Any:
        names = tuple(a.name for a in scan.base_columns)
        gone = {
            tuple(row[names.index(name)] for name in scan.key or ())
            for row, weight in diff.projected(names).rows
            if weight > 0 and is_ignorable(row)
        }
        found = classify(scan, diff, split, is_ignorable)
        places = [scan.columns.index(name) for name in scan.ids] if scan.key is not None else []
        return {
            kind: tuple(row for row in rows if not places or tuple(row[place] for place in places) not in gone)
            for kind, rows in found.items()
        }

    patch.setattr(net_changes, "classify", by_new_image)


def screened_below_an_anti_join(patch: Patch) -> None:
    """The condition of an anti-join is asked of its left rows, too, which stay where it fails."""
    screened = SemiAntiJoin.screened

    def both(self: SemiAntiJoin, above: Any) -> Any:
        left, right = screened(self, above)
        return ((*left, *right), right)

    patch.setattr(SemiAntiJoin, "screened", both)


def post_state_keys(patch: Patch) -> None:
    """touched() looks rows up in the post-state only."""
    patch.setattr(aggregate_operator, "touched", touched_after)


def partners_by_post_state(patch: Patch) -> None:
    """The same for the rows that partners touch."""
    for operator in (semijoin_operator, outer_operator):
        patch.setattr(operator, "touched", touched_after)


def touched_after(diff: IDiff, node: Operator, wanted: tuple[str, ...]) -> Relation:
    if diff.kind is INS:
        return Distinct(project(diff.relation, wanted))
    return Distinct(Touched(diff.relation, diff.ids, wanted, node))


def groups_by_post_state(node: Aggregate, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    rows = Distinct(Touched(diff.relation, diff.ids, node.groups, node.inputs[0]))
    return (IDiff(REC, node.groups, (), (), rows, diff.origins),)


def payload_of_updates(patch: Patch) -> None:
    """An update that becomes REC keeps its values, which are those of the post-state alone."""

    def recompute(diff: IDiff, ids: tuple[str, ...] | None = None) -> IDiff:
        names = diff.ids if ids is None else ids
        known = tuple(a for a in diff.relation.columns if a not in names)
        return IDiff(REC, names, (), known, project(diff.relation, names + known), diff.origins)

    for operator in (aggregate_operator, semijoin_operator, outer_operator):
        patch.setattr(operator, "recompute", recompute)


def groups_of_a_superset(patch: Patch) -> None:
    """The any-state of γ is γ over the any-state of its input."""
    patch.setattr(
        Aggregate, "in_any_state", lambda self, names: self.with_children(self.child.in_any_state(frozenset(self.child.columns)))
    )


def no_branch_in_ids(patch: Patch) -> None:
    """DEL, UPD and REC pass ∪ without b in P."""
    mapped = UnionAll.RULES[1].build

    def build(node: UnionAll, side: int, diff: IDiff) -> tuple[IDiff, ...]:
        return tuple(
            replace(
                out,
                ids=tuple(name for name in out.ids if name != node.branch),
                constants=(),
                relation=project(out.relation, tuple(n for n in out.relation.columns if n != node.branch)),
            )
            for out in mapped(node, side, diff)
            if out.kind is not UPD or out.assigned
        )

    rules = tuple(rule if rule.on is INS else replace(rule, build=build) for rule in UnionAll.RULES)
    patch.setattr(UnionAll, "RULES", rules)


def any_pair_is_disjoint(patch: Patch) -> None:
    patch.setattr(direct, "are_disjoint", lambda one, other: True)


def union_without_exclusion(patch: Patch) -> None:
    """New rows of several i-diffs are united by UNION ALL."""
    without = effective._without
    patch.setattr(effective, "_without", lambda block, idiffs, binder: without(block, [], binder))


def inserts_not_deduplicated(patch: Patch) -> None:
    rows = direct.rows_of
    for shape in (direct, append):
        patch.setattr(shape, "rows_of", lambda plan, earlier, diff, binder: rows(plan, (), diff, binder))


def pre_state_is_post_state(patch: Patch) -> None:
    in_state = Scan.in_state

    def post(self: Scan, state: State) -> Relation:
        return in_state(self, "post" if state == "pre" else state)

    patch.setattr(Scan, "in_state", post)


def signed_join_over_post_states(patch: Patch) -> None:
    """ΔL ⋈ R⁺ ⊎ L⁺ ⋈ ΔR."""

    def signed(self: Join) -> Relation:
        left, right = self.inputs
        terms = (Pair(left.signed(), right, self.condition), Pair(right.signed(), left, self.condition))
        return Concat(tuple(project(term, (*self.columns, "idivm_sign")) for term in terms))

    patch.setattr(Join, "signed", signed)


def no_markers(patch: Patch) -> None:
    """DEL, UPD and REC pass ⟕ and ⟗ without the marker of their input."""
    patch.setattr(outer_operator, "own", lambda node, side, diff: diff)


def padded_rows_stay(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    """A partner comes, and nothing is deleted."""
    return outer_operator.outer_ins_pads(node, side, diff)[:1]


def padded_rows_are_any(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    """DEL(I of H) without m = NULL."""
    new, gone = outer_operator.outer_ins_pads(node, side, diff)
    ids = node.inputs[1 - side].ids
    return new, replace(gone, ids=ids, relation=project(gone.relation, ids), constants=())


def padded_beside_other_partners(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    """A deleted partner is taken for the only one."""
    rows = node.pad(1 - side, outer_operator.candidates(node, side, diff))
    return outer_operator.own(node, side, diff), outer_operator.inserted(node, diff, rows)


def no_padded_rows_of_the_own_side(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    """A new row of ⟗ brings pairs only."""
    pairs = node.pairs_of(Pair(diff.relation, node.inputs[1 - side], node.condition))
    return outer_operator.inserted(node, diff, pairs), outer_operator.outer_ins_pads(node, side, diff)[1]


def fresh_padded_rows(node: OuterJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    gone, new = outer_operator.outer_del_pads(node, side, diff)
    return gone, replace(new, fresh=True)


def partners_are_not_recomputed(patch: Patch) -> None:
    """REC(P') alone."""
    patch.setattr(outer_operator, "has_pads", lambda *_: False)
    for name in ("outer_rec", "outer_upd_condition"):
        with_builder(OuterJoin, name, lambda node, side, diff: (outer_operator.own(node, side, outer_operator.recompute(diff)),))(
            patch
        )


def only_partners_are_recomputed(patch: Patch) -> None:
    """REC(I of H) alone, from either side of ⟗."""
    rec = outer_operator.outer_rec
    with_builder(OuterJoin, "outer_rec", lambda node, side, diff: rec(node, side, diff)[-1:])(patch)


def any_row_is_present(patch: Patch) -> None:
    """Rows of ⟕ are restricted by the IDs of an input that may be absent."""
    patch.setattr(OuterPair, "_is_present", lambda *_: True)


def marked_rows_are_not_tested(patch: Patch) -> None:
    """Keys that are nothing but a marker restrict nothing."""
    restrict = OuterPair.restrict

    def untested(node: OuterPair, on: tuple[str, ...], keys: Relation) -> Relation:
        if on and set(on) <= set(node.marks) and node._is_present(1, on, keys):
            return node.kept(1, node.right, node.left)
        return restrict(node, on, keys)

    patch.setattr(OuterPair, "restrict", untested)


def padded_of_a_superset(patch: Patch) -> None:
    """The any-state of ⟕ is ⟕ of any-states."""
    patch.setattr(
        OuterJoin,
        "in_any_state",
        lambda self, names: self.with_children(*(each.in_any_state(frozenset(each.columns)) for each in self.inputs)),
    )


def signed_pairs_alone(patch: Patch) -> None:
    """The signed rows of ⋈."""

    def signed(self: OuterJoin) -> Relation:
        left, right = self.inputs
        pairs = (Pair(left.signed(), right.in_state("pre"), self.condition), Pair(left, right.signed(), self.condition))
        return Concat(tuple(project(self.pairs_of(each), (*self.columns, SIGN)) for each in pairs))

    patch.setattr(OuterJoin, "signed", signed)


def signed_padded_rows_of_one_side(patch: Patch) -> None:
    """ΔL ⟕ R⁻, as if no partner changed."""
    patch.setattr(OuterJoin, "_signed_pads", lambda self, *given: ())


def signed_padded_rows_by_post_states(patch: Patch) -> None:
    """ΔL ⟕ R⁺, and then the change of R for inserted rows as well."""
    signed = OuterJoin.signed

    def other(self: OuterJoin) -> Relation:
        found = signed(self)
        assert isinstance(found, Concat)
        first = self.kept(0, self.left.signed(), self.right)
        return Concat((project(first, found.columns), *found.parts[1:]))

    patch.setattr(OuterJoin, "signed", other)


def screened_as_a_join(patch: Patch) -> None:
    """ON and the conditions above screen the changes of both inputs of ⟕."""
    patch.setattr(OuterJoin, "screened", lambda self, above: (both := (*above, *conjuncts(self.condition)), both))


def screened_by_what_is_above(patch: Patch) -> None:
    """Conditions above ⟕ screen the changes of its right input, too."""
    screened = OuterJoin.screened

    def other(self: OuterJoin, above: Any) -> Any:
        left, right = screened(self, above)
        return (left, (*above, *right))

    patch.setattr(OuterJoin, "screened", other)


def flat_outer_joins(patch: Patch) -> None:
    """The conditions of the right side stand beside those above."""

    def source(self: OuterPair, side: int, binder: Any) -> Block:
        child = self.children[side]
        if side in self.padded and self.marked:
            child = Compute(child, (*((name, column(name)) for name in child.columns), (self.mark(side), exp.Literal.number(1))))
        block = child.block(binder)
        return block if len(block.sources) == 1 else isolate(block.select(), child.columns, binder.alias(self.name))

    patch.setattr(OuterPair, "_source", source)


def outer_joins_on_the_right(patch: Patch) -> None:
    """l JOIN (a LEFT JOIN b ON φ) ON ψ is read as l CROSS JOIN a LEFT JOIN b ON φ AND ψ."""
    patch.setattr(Block, "has_outer_join", property(lambda self: False))


def every_insert_is_fresh(patch: Patch) -> None:
    """An INS and an UPD never name one row."""
    disjoint = direct.are_disjoint
    patch.setattr(direct, "are_disjoint", lambda *pair: disjoint(*(replace(diff, fresh=True) for diff in pair)))


def no_other_partners(patch: Patch) -> None:
    """A deleted partner is taken for the only one."""
    patch.setattr(semijoin_operator, "lonely", semijoin_operator.candidates)


def lonely_of_a_superset(patch: Patch) -> None:
    """The any-state of L ▷ R is that of L without partners in that of R."""
    patch.setattr(
        SemiAntiJoin,
        "in_any_state",
        lambda self, names: self.with_children(*(each.in_any_state(frozenset(each.columns)) for each in self.inputs)),
    )


def signed_test_of_the_left_alone(patch: Patch) -> None:
    """ΔL ▷ R⁻, as if no partner changed."""

    def signed(self: SemiAntiJoin) -> Relation:
        left, right = self.inputs
        return Probe(left.signed(), right.in_state("pre"), self.condition, self.anti)

    patch.setattr(SemiAntiJoin, "signed", signed)


def signed_test_of_post_states(patch: Patch) -> None:
    """ΔL is tested against R⁺, and then the change of R is added for inserted rows as well."""
    in_state = SemiAntiJoin.signed

    def signed(self: SemiAntiJoin) -> Relation:
        found = in_state(self)
        assert isinstance(found, Concat)
        left, right = self.inputs
        moved = Probe(left.signed(), right, self.condition, self.anti)
        return Concat((project(moved, found.columns), *found.parts[1:]))

    patch.setattr(SemiAntiJoin, "signed", signed)


def unknown_is_no_match(patch: Patch) -> None:
    """NOT IN whose condition is the equality alone."""
    patch.setattr(existence, "or_unknown", lambda test: test)


def equal_but_for_expressions(patch: Patch) -> None:
    """Subviews that differ in what they compute and test share a cache."""
    numbered = canonical._numbered
    patch.setattr(canonical, "_numbered", lambda value, numbers: "" if isinstance(value, exp.Expr) else numbered(value, numbers))


def equal_but_for_attributes(patch: Patch) -> None:
    """Subviews that differ in the attributes they use share a cache."""
    numbered = canonical._numbered
    patch.setattr(canonical, "_numbered", lambda value, numbers: numbered(value, dict.fromkeys(numbers, "#")))


def any_ids_will_do(patch: Patch) -> None:
    """Rows whose IDs are not unique are cached."""
    patch.setattr(place_caches, "has_unique_ids", lambda node: True)


def any_key_counts_as_changed(patch: Patch) -> None:
    """A key found for a partner's change is taken for one of the table's own changed keys."""
    patch.setattr(use_net_diff, "leaves", lambda relation, names: ())


def changed_rows_of(state: State, *classes: DiffClass) -> Callable[[Patch], None]:
    """In that state a table has other rows of its net diff."""
    return lambda patch: patch.setattr(use_net_diff, "CHANGED", {**use_net_diff.CHANGED, state: classes})


def a_part_of_a_key_is_enough(patch: Patch) -> None:
    """Keys that hold one attribute of a table's key name changed rows only."""

    def names_changed_keys(rows: SemiJoin, scan: Scan) -> bool:
        names = tuple(name for name in scan.ids if name in rows.on)
        return scan.unique and bool(names) and leaves(rows.keys, names) is not None

    patch.setattr(use_net_diff, "_names_changed_keys", names_changed_keys)


def all_columns_are_a_key(patch: Patch) -> None:
    """A row without a key that changed has no copies."""

    def names_changed_keys(rows: SemiJoin, scan: Scan) -> bool:
        return set(scan.ids) <= set(rows.on) and leaves(rows.keys, scan.ids) is not None

    patch.setattr(use_net_diff, "_names_changed_keys", names_changed_keys)


def signed_rows_are_netted(patch: Patch) -> None:
    """A key that the signed rows name is one that changed, though they may be those of a feed."""

    def names_changed_keys(rows: SemiJoin, scan: Scan) -> bool:
        found = leaves(rows.keys, scan.ids) if scan.unique and set(scan.ids) <= set(rows.on) else None
        return found is not None and all(leaf.scan == replace(scan, state="post") and names == scan.ids for leaf, names in found)

    patch.setattr(use_net_diff, "_names_changed_keys", names_changed_keys)


def a_recompute_holds_new_rows_only(patch: Patch) -> None:
    """N⁺ ⋉ REC → REC, whose rows are both images."""
    patch.setattr(use_diff_rows, "IMAGES", {**use_diff_rows.IMAGES, ("plus",): frozenset({"ins", "upd", "rec"})})


class _Everything(frozenset[str]):
    def __contains__(self, name: object) -> bool:
        return True


def every_id_is_shared(patch: Patch) -> None:
    patch.setattr(annotate, "_equal_to", lambda name, pairs: _Everything())


def one_recompute_for_all(patch: Patch) -> None:
    """Of united recompute i-diffs the values of the first are kept."""
    united = build._united

    def first(group: list[IDiff]) -> IDiff:
        # with all origins: that some are lost is noticed when the plan is made
        return replace(united(group), relation=united(group[:1]).relation)

    patch.setattr(build, "_united", first)


def with_additive_rule(name: str, **changes: Any) -> Callable[[Patch], None]:
    """The additive rule with other parts."""

    def switch_off(patch: Patch) -> None:
        patch.setattr(
            additive, "ADDITIVE", tuple(replace(rule, **changes) if rule.name == name else rule for rule in additive.ADDITIVE)
        )

    return switch_off


def groups_stay(patch: Patch) -> None:
    def without_deletes(on: tuple[Condition, ...], clauses: tuple[Clause, ...]) -> Matching:
        return Matching(on, tuple(each for each in clauses if each.action != "delete"))

    patch.setattr(script_additive, "Matching", without_deletes)


def counts_are_of_rows(patch: Patch) -> None:
    patch.setattr(aggregate_operator.Call, "function", "count")
    patch.setattr(aggregate_operator.Call, "argument", None)


def nothing_is_lost(patch: Patch) -> None:
    patch.setattr(additive.Extreme, "is_lost", lambda self, old, came, gone: exp.false())


def lost_only_below_what_is_stored(patch: Patch) -> None:
    """A value that is equal to the stored one does not count as its loss."""

    def is_lost(self: additive.Extreme, old: exp.Expr, came: exp.Expr, gone: exp.Expr) -> exp.Expr:
        other = exp.NEQ(this=gone.copy(), expression=old.copy())
        return exp.and_(rule(self, old.copy(), came, gone), exp.Coalesce(this=other, expressions=[exp.true()]))

    rule = additive.Extreme.is_lost
    patch.setattr(additive.Extreme, "is_lost", is_lost)


def lost_unless_anything_comes(patch: Patch) -> None:
    def is_lost(self: additive.Extreme, old: exp.Expr, came: exp.Expr, gone: exp.Expr) -> exp.Expr:
        return exp.and_(rule(self, old, came, gone), exp.Is(this=came.copy(), expression=exp.null()))

    rule = additive.Extreme.is_lost
    patch.setattr(additive.Extreme, "is_lost", is_lost)


def extremes_are_not_netted(patch: Patch) -> None:
    def netted(state: AdditiveState, rows: Block) -> Block:
        return isolate(
            rows.select().select(exp.alias_(rows.output[SIGN].copy(), WEIGHT), copy=False), (*rows.output, WEIGHT), "netted_rows"
        )

    patch.setattr(extremes, "_netted", netted)


def rows_only_come_if_no_table_loses_any(patch: Patch) -> None:
    def only_comes(node: Operator, is_empty: IsEmpty) -> bool:
        return all(is_empty(DiffRows(scan, "minus", scan.columns)) for scan in scans(node))

    patch.setattr(script_additive, "only_comes", only_comes)


def extremes_are_no_change(patch: Patch) -> None:
    rule = script_additive._is_change
    patch.setattr(
        script_additive, "_is_change", lambda each, delta: exp.false() if each.extreme is not None else rule(each, delta)
    )


def lost_groups_are_added_to(patch: Patch) -> None:
    values = script_additive._values
    patch.setattr(script_additive, "_values", lambda view, state, *, merged, some_lost=False: values(view, state, merged=merged))


def lost_groups_are_changed_as_well(patch: Patch) -> None:
    patch.setattr(script_additive, "SemiJoin", lambda rows, groups, keys, anti: rows)


def expressions_over_calls_stay(patch: Patch) -> None:
    """Of a group that is stored only the calls themselves get new values."""

    def values(view: Stored, state: AdditiveState, *, merged: bool, some_lost: bool = False) -> Mapping[str, exp.Expr]:
        found = rule(view, state, merged=merged, some_lost=some_lost)
        computed = {view.stored(name) for name, definition in state.outputs if not isinstance(definition, exp.Column)}
        return {name: value for name, value in found.items() if not merged or name not in computed}

    rule = script_additive._values
    patch.setattr(script_additive, "_values", values)


def all_rows_have_no_minimum_to_lose(patch: Patch) -> None:
    """A γ of all rows that has no row left counts as gone, like a group."""

    def applied(self: LostExtremes, rows: SourceRows) -> Any:
        is_global = not self.adding.state.aggregate.groups
        return rule(self, replace(rows, rows=()) if is_global else rows)

    rule = LostExtremes.applied
    patch.setattr(LostExtremes, "applied", applied)


def all_orders_are_completed(patch: Patch) -> None:
    patch.setattr(window_frontend, "_is_positional", lambda call: True)
    patch.setattr(ties, "_frame", lambda call: call.frame)


def zeros_are_one_value(patch: Patch) -> None:
    patch.setattr(ties, "equal_is_identical", lambda kind: True)


def conditions_are_ignored(patch: Patch) -> None:
    found = tied_aggregates.condition_of
    patch.setattr(tied_aggregates, "condition_of", lambda each: None if (on := found(each)) is None else exp.or_(on, exp.true()))


def first_attribute(known: frozenset[str], facts: Facts, computed: ties.Computed) -> tuple[str, ...]:
    return ties.broken_by(known, facts, computed)[:1]


TIES = (
    Mutation(
        "ties: only an order on which a value depends is completed",
        all_orders_are_completed,
        "numbers of tied rows beside their ranks",
    ),
    Mutation(
        "ties: a frame that is the whole partition for want of an order stays",
        lambda patch: patch.setattr(ties, "_frame", lambda call: call.frame),
        "values of a window without an order",
    ),
    Mutation(
        "ties: rows without a key are ordered by the texts of floats",
        zeros_are_one_value,
        "the first of tied rows that differ in the sign of zero",
        "recompute",
    ),
    Mutation(
        "tied aggregates: max_by leaves out rows without an order",
        lambda patch: patch.setattr(tied_aggregates, "_is_set", lambda value: exp.true()),
        "values of rows with the greatest and the least of tied values",
    ),
    Mutation(
        "tied aggregates: IGNORE NULLS",
        lambda patch: patch.setattr(tied_aggregates, "_is_set", lambda value: exp.true()),
        "any value that is one",
    ),
    Mutation(
        "tied aggregates: FILTER takes rows, and not values",
        conditions_are_ignored,
        "any value of some rows",
    ),
    Mutation(
        "tied aggregates: rows without a key are ordered by the texts of floats",
        zeros_are_one_value,
        "any zero with a sign",
        "recompute",
    ),
    Mutation(
        "tied aggregates: all columns of rows without a key",
        lambda patch: patch.setattr(tied_aggregates, "broken_by", first_attribute),
        "any value without a key",
        "recompute",
    ),
    Mutation(
        "tied aggregates: a list begins with the order of its rows",
        lambda patch: patch.setattr(tied_aggregates, "_listed", lambda function, names: function),
        "lists in the order of their rows",
    ),
    Mutation(
        "tied aggregates: equal sort keys are ordered",
        lambda patch: patch.setattr(tied_aggregates, "_within", lambda written, more: written),
        "texts of lists",
    ),
    Mutation(
        "pre-state: copies of zeros with different signs are told apart",
        lambda patch: patch.setattr(binding, "_as_texts", lambda rows, floats: rows),
        "tied rows whose order is a zero with a sign",
        "tuple-feed",
    ),
)
MUTATIONS = (
    Mutation(
        "additive: a group that loses its extreme is recomputed",
        nothing_is_lost,
        "groups lose their extremes, or another of their values",
        "additive",
    ),
    Mutation(
        "additive: the stored extreme itself goes",
        lost_only_below_what_is_stored,
        "groups lose their extremes, or another of their values",
        "additive",
    ),
    Mutation(
        "additive: what comes takes the place of the minimum only if it is no greater",
        lost_unless_anything_comes,
        "a group gets a value in place of its minimum that is greater",
        "additive",
    ),
    Mutation(
        "additive: extremes of signed rows that are netted",
        extremes_are_not_netted,
        "a pair that comes and goes in signed rows is in no state",
        "additive",
    ),
    Mutation(
        "additive: extremes of feeds that are netted",
        extremes_are_not_netted,
        "rows come while others come and go",
        "additive-feed",
    ),
    Mutation(
        "additive: rows go without a negative row of a table (⟕)",
        rows_only_come_if_no_table_loses_any,
        "a padded row is the minimum of its group, and gets a partner",
        "additive",
    ),
    Mutation(
        "additive: rows go without a negative row of a table (▷)",
        rows_only_come_if_no_table_loses_any,
        "a row with the minimum loses a test by a new partner",
        "additive",
    ),
    Mutation("additive: an extreme that comes is a change", extremes_are_no_change, "nothing but an extreme changes", "additive"),
    Mutation(
        "additive: a group that is recomputed is not added to",
        lost_groups_are_added_to,
        "a group loses its minimum, and another a value between",
        "additive",
    ),
    Mutation(
        "additive: a group that is recomputed has one source row",
        lost_groups_are_changed_as_well,
        "a group loses its minimum, and another a value between",
        "additive",
    ),
    Mutation(
        "additive: expressions over calls are computed from their new values",
        expressions_over_calls_stay,
        "calls inside expressions only",
        "additive",
    ),
    Mutation(
        "additive: expressions over calls of all rows are computed from their new values",
        expressions_over_calls_stay,
        "calls inside expressions only, of all rows",
        "additive",
    ),
    Mutation(
        "additive: all rows may lose their extreme", all_rows_have_no_minimum_to_lose, "all rows lose their extremes", "additive"
    ),
    Mutation(
        "additive: no minimum of floats",
        with_additive_rule("additive_min", when=lambda node, call: True),
        "the minimum of zeros with two signs",
        "additive",
    ),
    Mutation("additive: a group without rows leaves", groups_stay, "the last row of a group is deleted", "additive"),
    Mutation(
        "additive: a sum over no values is NULL",
        with_additive_rule("additive_sum", value=additive.added),
        "the values of a group become NULL, one after the other",
        "additive",
    ),
    Mutation(
        "additive: NULL is not counted",
        with_additive_rule("additive_count", delta=additive.rows_delta),
        "the values of a group become NULL, one after the other",
        "additive",
    ),
    Mutation(
        "additive: not with DISTINCT",
        with_additive_rule("additive_count", when=lambda node, call: call.argument is not None),
        "one of two equal values is deleted",
        "additive",
    ),
    Mutation(
        "additive: a count of several columns is not one of rows", counts_are_of_rows, "counts of several columns", "additive"
    ),
    *(
        Mutation(
            f"additive: a {kind} is negated as a {wider}",
            with_additive_rule(rule, delta=additive.sum_delta),
            f"the least {kind} is inserted and deleted",
            "additive",
        )
        for kind, wider, rule in (
            ("tinyint", "bigint", "additive_sum"),
            ("smallint", "bigint", "additive_sum"),
            ("int", "bigint", "additive_sum"),
            ("bigint", "decimal", "additive_sum_bigint"),
        )
    ),
    Mutation(
        "additive: the sum of inserted and deleted values need not be a bigint",
        with_additive_rule("additive_sum_bigint", delta=additive.small_sum_delta),
        "intermediate sums that exceed bigint",
        "additive",
    ),
    Mutation(
        "additive: not over floats",
        with_additive_rule("additive_sum_decimal", when=lambda node, call: True),
        "a float that swallows the others is inserted and deleted",
        "additive",
    ),
    Mutation("screening: all images of a key", screened_by_one_image, "a conditional attribute is swapped"),
    Mutation("screening: not of the left rows of ▷", screened_below_an_anti_join, "rows that no partner can keep away"),
    Mutation("scan: split by conditional attributes", reclassified(updates_without_split), "a conditional attribute is swapped"),
    Mutation(
        "scan: a key with two images is updated",
        reclassified(updates_come_and_go),
        "a second partner is inserted while the row is updated",
    ),
    Mutation(
        "scan: a recompute i-diff knows both images",
        reclassified(recomputes_know_the_new_image),
        "a conditional attribute is swapped",
    ),
    Mutation("scan: rows without a key are recomputed", copies_are_no_matter, "copies of a keyless row are inserted and deleted"),
    Mutation("NULL-safe IDs and groups", null_is_unequal, "a group moves to NULL"),
    Mutation(
        "σ: update of its condition converted",
        without_rule_guard(Select, "select_upd_condition", "select_upd"),
        "a conditional attribute is swapped",
        "unsplit",
    ),
    Mutation(
        "⋈: update of its condition converted",
        without_rule_guard(Join, "join_upd_condition", "join_upd"),
        "a join attribute changes while the partner is inserted",
        "unsplit",
    ),
    Mutation(
        "γ: update of an argument recomputes its group",
        without_rule_guard(Aggregate, "aggregate_upd_argument", "aggregate_upd_unused"),
        "a sum loses its last value",
    ),
    Mutation(
        "γ: the group of all rows is evaluated whole",
        restricted_below_one_group,
        "one row of all rows beside copies, which a change does not reach",
    ),
    Mutation(
        "γ: update of a group converted",
        with_builder(Aggregate, "aggregate_upd_group", groups_by_post_state),
        "a group moves to NULL",
        "unsplit",
    ),
    Mutation("γ: a converted update drops its payload", payload_of_updates, "a group moves to NULL", "unsplit"),
    Mutation("γ: touched looks up in both states", post_state_keys, "the group is known to the other table only"),
    Mutation(
        "γ: its any-state is both states",
        groups_of_a_superset,
        "an inner group's count goes from one to two by three changes",
        "naive",
    ),
    Mutation(
        "π: no look-up by full ID where IDs repeat",
        without_rule_guard(Project, "project_upd_bag", "project_upd_lookup"),
        "computed column over a keyless table and a changed partner",
    ),
    Mutation(
        "∪: rows to be recomputed are tested for b",
        any_branch_by_its_part,
        "a union of a keyless branch and a join with two new rows",
    ),
    Mutation("∪: b in P", no_branch_in_ids, "branches of a union have equal keys"),
    Mutation(
        "direct: not for updates and deletions with different P",
        any_pair_is_disjoint,
        "one partner is updated, the other deleted",
    ),
    Mutation(
        "direct: not for the two updates of a look-up", any_pair_is_disjoint, "columns of both tables in one computed column"
    ),
    Mutation("direct: inserts are deduplicated", inserts_not_deduplicated, "both partners of a pair are new"),
    Mutation(
        "effective: united by exclusion of P", union_without_exclusion, "a union of a keyless branch and a join with two new rows"
    ),
    Mutation("effective: copies are counted", applied_by_id, "copies of a keyless row are inserted and deleted"),
    Mutation(
        "additive: pre-states of rows without a key",
        taken_away_before_it_is_added,
        "both partners of a keyless pair change",
        "additive-feed",
    ),
    Mutation("additive: pre-states", pre_state_is_post_state, "both partners of a group's pair change", "additive"),
    Mutation(
        "additive: the right side of ΔL ⋈ R is R⁻",
        signed_join_over_post_states,
        "both partners of a group's pair change",
        "additive",
    ),
    Mutation(
        "⋉: update of its condition on the left converted",
        without_rule_guard(SemiAntiJoin, "semijoin_left_upd_condition", "semijoin_left_upd"),
        "a tested attribute changes",
        "unsplit",
    ),
    Mutation(
        "⋉: update of its condition on the right converted",
        without_rule_guard(SemiAntiJoin, "semijoin_right_upd_condition", "semijoin_right_upd"),
        "a partner moves to another row",
        "unsplit",
    ),
    Mutation("⋉: a converted update drops its payload", payload_of_updates, "a partner moves to another row", "unsplit"),
    Mutation(
        "direct: not for updates and inserts that are not fresh",
        every_insert_is_fresh,
        "a second partner is inserted while the row is updated",
    ),
    Mutation("⋉: a row with another partner stays", no_other_partners, "one of two partners is deleted"),
    Mutation(
        "▷: a row with another partner stays away", no_other_partners, "one of two partners of an anti-joined row is deleted"
    ),
    Mutation("▷: its any-state is that of its left input", lonely_of_a_superset, "the only row of a group gets a partner"),
    Mutation(
        "⋉: touched looks up in both states", partners_by_post_state, "the partner's condition is known to the other table only"
    ),
    Mutation(
        "⋉: no INS where IDs repeat",
        without_rule_guard(SemiAntiJoin, "semijoin_right_ins_bag", "semijoin_right_ins"),
        "copies of a keyless row get a second partner",
    ),
    Mutation("NOT IN: what is unknown counts as a match", unknown_is_no_match, "NULLs in NOT IN"),
    Mutation("net diff: for the table's own changed keys only", any_key_counts_as_changed, "a partner moves to another row"),
    Mutation(
        "net diff: the post-state has none of the old rows",
        changed_rows_of("post", "plus", "minus"),
        "a row that moves within the condition, with all its columns",
    ),
    Mutation(
        "net diff: the any-state has the old rows as well",
        changed_rows_of("any", "plus"),
        "the group is known to the other table only",
    ),
    Mutation("net diff: by the whole key", a_part_of_a_key_is_enough, "groups by a part of a key"),
    Mutation("net diff: not for copies", all_columns_are_a_key, "copies of a keyless row are inserted and deleted"),
    Mutation(
        "net diff: not for rows of a feed", signed_rows_are_netted, "a row of a group is written as it was", "additive-feed"
    ),
    Mutation("stored columns: shared by IDs that are equal", every_id_is_shared, "a computed join attribute changes"),
    Mutation(
        "diff rows: a recompute i-diff holds old rows as well",
        a_recompute_holds_new_rows_only,
        "a row that moves within the condition, with all its columns",
    ),
    Mutation("united recomputes: the values of all of them", one_recompute_for_all, "a partner moves to another row"),
    Mutation(
        "additive: rows whose partners changed",
        signed_test_of_the_left_alone,
        "the only row of a group gets a partner",
        "additive",
    ),
    Mutation(
        "additive: the left changes of ▷ are tested against R⁻",
        signed_test_of_post_states,
        "rows of a group and their partners change at once",
        "additive",
    ),
    Mutation("1: no row of it is ever inserted", one_row_is_inserted, "a constant row keeps a group", "additive"),
    Mutation("⋈ with 1: its condition is tested", joined_with_one_row_untested, "a join with one row has a condition"),
    Mutation(
        "caches: subviews with other conditions have their own",
        equal_but_for_expressions,
        "two subviews differ in a constant",
        "caches",
    ),
    Mutation(
        "caches: subviews over other attributes have their own",
        equal_but_for_attributes,
        "two subviews differ in the column that they add up",
        "caches",
    ),
    Mutation(
        "caches: not of rows without unique IDs",
        any_ids_will_do,
        "copies of a keyless row are inserted and deleted",
        "caches-everywhere",
    ),
)

OUTER = (
    Mutation("⟕: its marker in P of DEL and UPD", no_markers, "a key that is NULL on the padded side of a LEFT join"),
    Mutation("⟗: its markers in P of DEL and UPD", no_markers, "a key that is NULL on the padded side of a FULL join"),
    Mutation(
        "⟕: a padded row goes with the first partner",
        with_builder(OuterJoin, "outer_ins_pads", padded_rows_stay),
        "an outer-joined row gains its first partner and loses its last one",
    ),
    Mutation(
        "⟕: the DEL of padded rows names no pairs",
        with_builder(OuterJoin, "outer_ins_pads", padded_rows_are_any),
        "an outer-joined row gains its first partner and loses its last one",
    ),
    Mutation(
        "⟕: no padded row beside another partner",
        with_builder(OuterJoin, "outer_del_pads", padded_beside_other_partners),
        "one of two partners of an outer-joined row is deleted",
    ),
    Mutation(
        "⟗: a new row without a partner is padded",
        with_builder(OuterJoin, "outer_ins_pads", no_padded_rows_of_the_own_side),
        "both partners of a full join change",
    ),
    Mutation(
        "⟕: update of its condition converted",
        without_rule_guard(OuterJoin, "outer_upd_condition", "outer_upd"),
        "a partner moves to another outer-joined row",
        "unsplit",
    ),
    Mutation(
        "⟕: a converted update drops its payload", payload_of_updates, "a partner moves to another outer-joined row", "unsplit"
    ),
    Mutation(
        "⟕: no INS and DEL of copies",
        without_rule_guard(OuterJoin, "outer_ins_bag_pads", "outer_ins_pads"),
        "copies of an outer-joined keyless row gain and lose partners",
    ),
    Mutation("⟕: partners are recomputed", partners_are_not_recomputed, "a partner moves to another outer-joined row"),
    Mutation(
        "⟗: the own rows are recomputed", only_partners_are_recomputed, "a join attribute of a full join changes on both sides"
    ),
    Mutation("⟕: touched looks up in both states", partners_by_post_state, "joins on the right side of an outer join"),
    Mutation("⟕: restricted by IDs of rows that are present", any_row_is_present, "a partner moves to another outer-joined row"),
    Mutation(
        "⟗: keys that are a marker are tested",
        marked_rows_are_not_tested,
        "one row of all rows in a full join with copies, which a change does not reach",
    ),
    Mutation(
        "⟕: its any-state has all rows padded", padded_of_a_superset, "the only padded row of a group gets its first partner"
    ),
    Mutation("additive: padded rows", signed_pairs_alone, "groups over an outer join", "additive"),
    Mutation(
        "additive: padded rows whose partners changed", signed_padded_rows_of_one_side, "groups over an outer join", "additive"
    ),
    Mutation(
        "additive: the left changes of ⟕ are tested against R⁻",
        signed_padded_rows_by_post_states,
        "groups over an outer join",
        "additive",
    ),
    Mutation(
        "additive: the left changes of ⟗ are tested against R⁻",
        signed_padded_rows_by_post_states,
        "groups over a full join",
        "additive",
    ),
    Mutation("screening: not of the left rows by ON of ⟕", screened_as_a_join, "ON has a condition on one side only"),
    Mutation(
        "screening: not of the right rows by what is above ⟕",
        screened_by_what_is_above,
        "rows that have no partner by an outer join",
    ),
    Mutation(
        "⟕: the right side is a source of its own", flat_outer_joins, "a computed column on the padded side of an outer join"
    ),
    Mutation("⋈: ⟕ on its right is a source of its own", outer_joins_on_the_right, "a join above an outer join"),
)

MUTATIONS += OUTER


def passed_on(node: Window, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return (diff if diff.kind is not INS else window_operator.recompute(diff, node.ids),)


def partitions_by_post_state(node: Window, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    rows = Distinct(Touched(diff.relation, diff.ids, node.partition, node.child.in_state("post")))
    return (IDiff(REC, node.partition, (), (), rows, diff.origins),)


def window_over_a_superset(patch: Patch) -> None:
    patch.setattr(
        Window, "in_any_state", lambda self, names: self.with_children(self.child.in_any_state(frozenset(self.child.columns)))
    )


def rows_without_their_partition(patch: Patch) -> None:
    patch.setattr(
        Windowed,
        "restrict",
        lambda self, on, keys: self.with_children(
            self.child.restrict(tuple(name for name in on if name in self.child.columns), keys)
        ),
    )


def screened_below_a_window(patch: Patch) -> None:
    patch.setattr(
        Window,
        "screened",
        lambda self, above: (
            tuple(each for each in above if {found.name for found in each.find_all(exp.Column)} <= {*self.child.columns}),
        ),
    )


def signed_windows_of_one_state(patch: Patch) -> None:
    patch.setattr(
        Window, "signed", lambda self: with_sign(self.restrict(self.partition, project(self.child.signed(), self.partition)), 1)
    )


def keys_column_by_column(patch: Patch) -> None:
    tests = by_key.Keys.tests
    patch.setattr(by_key.Keys, "tests", lambda self: (each for each in tests(self) if not isinstance(each, exp.ArrayContains)))


def what_may_match_is_inserted(patch: Patch) -> None:
    patch.setattr(known_rows, "_may_match", lambda matching, source, row: False)


def what_is_not_known_does_not_hold(patch: Patch) -> None:
    holds = SourceRows.holds
    patch.setattr(SourceRows, "holds", lambda self, conditions, row: holds(self, conditions, row) is True)


def deleted_rows_are_written_again(patch: Patch) -> None:
    patch.setattr(replace_where, "op_is", lambda value: exp.false())


def replaced_by_the_first_id(patch: Patch) -> None:
    def of_first(rule: Callable[..., Any]) -> Callable[..., Any]:
        return lambda merge, *others: rule(replace(merge, matching=replace(merge.matching, on=merge.matching.on[:1])), *others)

    patch.setattr(render, "keyed_source", of_first(render.keyed_source))
    for module in (render, known_rows):
        patch.setattr(module, "replace_where", of_first(replace_where.replace_where))


def combinations_are_not_tested(patch: Patch) -> None:
    patch.setattr(replace_where, "_combined", lambda tests: exp.true())


def neighbours_are_deleted(patch: Patch) -> None:
    statement = replace_where.Replacing.statement
    patch.setattr(replace_where, "_COMBINED", 0)
    patch.setattr(
        replace_where.Replacing,
        "statement",
        lambda self, asked, beside, dialect: statement(self, asked, replace(beside, rows=()) if beside else None, dialect),
    )


def replaced_rows_are_their_own_neighbours(patch: Patch) -> None:
    patch.setattr(replace_where, "_COMBINED", 0)
    patch.setattr(replace_where, "hinted", lambda query, _: query.where(exp.false()))


def rows_without_an_id_are_not_replaced(patch: Patch) -> None:
    patch.setattr(
        replace_where._Test, "values", property(lambda self: tuple(dict.fromkeys(c for c in self.cells if c is not None)))
    )


BY_KEY = (
    Mutation(
        "replaced rows: the combinations of their IDs",
        combinations_are_not_tested,
        "rows come and go whose keys share their parts",
        "recompute",
    ),
    Mutation(
        "replaced rows: their neighbours come back",
        neighbours_are_deleted,
        "rows come and go whose keys share their parts",
        "recompute",
    ),
    Mutation(
        "replaced rows: they are not their neighbours",
        replaced_rows_are_their_own_neighbours,
        "rows come and go whose keys share their parts",
        "recompute",
    ),
    Mutation(
        "replaced rows: an ID may be NULL",
        rows_without_an_id_are_not_replaced,
        "rows without a part of their key come and go",
        "recompute",
    ),
    Mutation(
        "replaced rows: deleted ones do not come back",
        deleted_rows_are_written_again,
        "a group comes, one changes, one goes",
        "recompute",
    ),
    Mutation(
        "replaced rows: two IDs are no condition",
        replaced_by_the_first_id,
        "rows come and go whose keys share their parts",
        "recompute",
    ),
    Mutation(
        "fetched rows: a key is a combination of values",
        keys_column_by_column,
        "rows go whose keys share their parts with others",
    ),
    Mutation(
        "fetched rows: what may match is not inserted", what_may_match_is_inserted, "another partner of a row that is there"
    ),
    Mutation(
        "fetched rows: a condition on stored values may hold",
        what_is_not_known_does_not_hold,
        "a group loses its last row",
        "additive",
    ),
)

WINDOWED = (
    Mutation(
        "ω: an inserted row concerns its whole partition",
        with_builder(Window, "window_ins", passed_on),
        "a row of a partition is inserted",
    ),
    Mutation(
        "ω: a deleted row concerns its whole partition",
        with_builder(Window, "window_del", passed_on),
        "a row of a partition is deleted",
    ),
    Mutation(
        "ω: a recomputed row concerns its whole partition",
        with_builder(Window, "window_rec", passed_on),
        "rows of a partition change their order",
    ),
    Mutation(
        "ω: an update of what functions read",
        without_rule_guard(Window, "window_upd", "window_upd_unused"),
        "rows of a partition change their order",
        "unsplit",
    ),
    Mutation(
        "ω: update of a partition converted",
        with_builder(Window, "window_upd", partitions_by_post_state),
        "a row moves to another partition, which is no column of the view",
        "unsplit",
    ),
    Mutation(
        "ω: partitions of recomputed rows in both states",
        with_builder(Window, "window_rec", partitions_by_post_state),
        "a row moves to another partition, which is no column of the view",
        "naive",
    ),
    Mutation(
        "ω: partitions of deleted rows in both states",
        with_builder(Window, "window_del", partitions_by_post_state),
        "a row of a partition is deleted",
        "naive",
    ),
    Mutation("ω: its any-state is both states", window_over_a_superset, "rows without a partner among the sums of a window"),
    Mutation(
        "ω: values of a row need its partition",
        rows_without_their_partition,
        "a column that is computed of a window function and of an attribute that it does not read",
    ),
    Mutation(
        "screening: not below ω by what its partition does not decide",
        screened_below_a_window,
        "a condition on the rows of a partition",
    ),
    Mutation("tuple: both states of a window", signed_windows_of_one_state, "a running sum", "tuple"),
)

MUTATIONS += WINDOWED + BY_KEY


def inserted_again(node: Unnest, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    return unnest_operator.unnest_ins(node, side, diff)


UNNESTED = (
    Mutation(
        "μ: an update of the collection",
        without_rule_guard(Unnest, "unnest_upd", "unnest_upd_unused"),
        "elements change, are fewer, and are more",
        "unsplit",
    ),
)

MUTATIONS += UNNESTED


def every_operator_answers(patch: Patch, question: str) -> None:
    """Each operator says that the fact holds for it."""
    for each in OPERATORS:
        patch.setattr(each, question, True)


def a_row_is_always_found(patch: Patch) -> None:
    """A subquery that nothing correlates has a row: it is joined by ⋈."""
    every_operator_answers(patch, "has_row")


def computed_above(patch: Patch) -> None:
    """The value of a row that is looked up is computed whether there is one or not."""
    looked_up = scalar._looked_up

    def above(*arguments: Any) -> tuple[Operator, exp.Expr]:
        root, value = looked_up(*arguments)
        assert isinstance(root, OuterJoin) and isinstance(root.right, Project)
        return replace(root, right=root.right.child), dict(root.right.definitions)[value.name]

    patch.setattr(scalar, "_looked_up", above)


def no_group_counts_null(patch: Patch) -> None:
    for module in (scalar, partners):
        patch.setattr(module, "or_nothing", lambda value, nothing: value)


def counted_without(*left_out: str) -> Callable[[Patch], None]:
    """NOT IN whose rows of one kind are not counted."""

    def switch_off(patch: Patch) -> None:
        counted = partners._counted

        def some(*arguments: Any) -> tuple[Operator, exp.Expr, list[tuple[bool, bool]]]:
            root, found, nullable = counted(*arguments)
            return root, exp.false() if arguments[-1] in left_out else found, nullable

        patch.setattr(partners, "_counted", some)

    return switch_off


def no_value_is_null(patch: Patch) -> None:
    patch.setattr(partners, "may_be_null", lambda expression, nullable: False)


SCALARS = (
    Mutation("NOT IN: a partner", counted_without("partners"), "NOT IN below OR"),
    Mutation("NOT IN: a NULL among the values", counted_without("without a value"), "NOT IN below OR"),
    Mutation("NOT IN: a NULL that is tested", counted_without("of no value"), "NOT IN below OR"),
    Mutation(
        "NOT IN: a NULL that is tested, without others",
        counted_without("of no value"),
        "NOT IN below OR without NULLs in the query",
    ),
    Mutation(
        "NOT IN: a NULL among the values, of a value that is none",
        counted_without("without a value"),
        "NOT IN below OR of a value that is not NULL",
    ),
    Mutation("NOT IN: what may be NULL is counted", no_value_is_null, "NOT IN alone in CASE WHEN"),
    Mutation("the group of no rows counts 0", no_group_counts_null, "the group of a lateral subquery"),
    Mutation("a scalar subquery without a row is NULL", a_row_is_always_found, "the row of a fixed key"),
    Mutation("what is computed of no row is NULL", computed_above, "a constant of the row that is looked up"),
    Mutation(
        "what is computed of no row is NULL, by COALESCE",
        computed_above,
        "a value that is looked up where another condition holds",
    ),
)

MUTATIONS += SCALARS


def no_partition_is_lost(patch: Patch) -> None:
    patch.setattr(top_k, "first_of", lambda ranked, count: Filter(ranked, exp.condition(f"{PLACE} <= {count} AND {LIVE} = 1")))
    patch.setattr(top_k, "incomplete", lambda ranked, count: Filter(ranked, exp.false()))


def any_rows_are_enough(patch: Patch) -> None:
    patch.setattr(
        Ranked,
        "_bound",
        lambda self: self._over(
            exp.Max(this=exp.condition(f"CASE WHEN {top_k_rows._RANK} = {self.count} THEN {PLACE} END")), (), None
        ),
    )


def gone_rows_are_ranked(patch: Patch) -> None:
    patch.setattr(
        Ranked,
        "_survivors",
        lambda self, old, binder: old.select().select(
            alias(exp.Literal.number(1), LIVE), alias(exp.Literal.number(1), top_k_rows._STORED), copy=False
        ),
    )


def signed_rows_are_ranked(patch: Patch) -> None:
    def block(self: NetRows, binder: StatementBinder) -> Block:
        rows = self.child.block(binder)
        output = {**{name: rows.output[name] for name in self._names}, top_k_rows.WEIGHT: rows.output[top_k_rows.SIGN]}
        return isolate(replace(rows, output=output).select(), self.columns, binder.alias("net_rows"))

    patch.setattr(NetRows, "block", block)


def changes_of_all_partitions(patch: Patch) -> None:
    patch.setattr(window_root, "conjunction", lambda conditions: None)


def second_is_among_first(patch: Patch) -> None:
    between = first_rows._range

    def from_first(number: str, condition: exp.Expr) -> tuple[int, int | None] | None:
        found = between(number, condition)
        return found if found is None else (1, found[1])

    patch.setattr(first_rows, "_range", from_first)


FIRST_ROWS = (
    Mutation(
        "topk: a partition may have lost a row that no stored one replaces",
        no_partition_is_lost,
        "the first row of a partition goes",
        "additive",
    ),
    Mutation(
        "topk: what counts comes before the last stored row",
        any_rows_are_enough,
        "the first row goes, and a row comes after the next one",
        "additive",
    ),
    Mutation("topk: rows that are gone are not ranked", gone_rows_are_ranked, "a partition of few rows loses one", "additive"),
    Mutation("topk: signed rows are netted", signed_rows_are_ranked, "both partners of a first row change", "additive"),
    Mutation(
        "topk: new rows take others away, where R is not monotone",
        lambda patch: every_operator_answers(patch, "monotone"),
        "a first row gets a partner that excludes it",
        "additive",
    ),
    Mutation(
        "topk: rows may be gone",
        lambda patch: patch.setattr(top_k.TopK, "_may_remove", lambda self, is_empty: False),
        "the first row of a partition goes",
        "additive",
    ),
    Mutation(
        "topk: no condition on other attributes",
        lambda patch: patch.setattr(first_rows, "is_of_partitions", lambda window, condition: True),
        "first rows, and a condition on their values",
        "additive",
    ),
    Mutation(
        "topk: changes of partitions that the view has",
        changes_of_all_partitions,
        "first rows of some partitions",
        "additive-feed",
    ),
    Mutation(
        "topk: the second row alone is none of the first", second_is_among_first, "the second row of a partition", "additive"
    ),
)

MUTATIONS += FIRST_ROWS


def no_partition_is_late(patch: Patch) -> None:
    found = tail_rows.with_late

    def none_late(*given: Any) -> exp.Select:
        query = found(*given)
        query.selects[-1].set("this", exp.false())
        return query

    patch.setattr(tail_rows, "with_late", none_late)
    patch.setattr(tail, "with_late", none_late)


def equal_rows_are_later(patch: Patch) -> None:
    found = tail_rows.with_late

    def late(*given: Any) -> exp.Select:
        query = found(*given)
        for window in query.find_all(exp.Window):
            window.args["order"].append("expressions", exp.Ordered(this=column(tail_rows.STORED), desc=True))
        return query

    patch.setattr(tail_rows, "with_late", late)
    patch.setattr(tail, "with_late", late)


def nulls_stay_where_they_are(patch: Patch) -> None:
    found = tail_rows._reversed

    def turned(item: exp.Expr, rows: Block) -> exp.Expr:
        ordered = found(item, rows)
        ordered.set("nulls_first", item.args.get("nulls_first"))
        return ordered

    patch.setattr(tail_rows, "_reversed", turned)


def rows_only_come(patch: Patch) -> None:
    patch.setattr(tail.Tail, "holds", lambda self, diffs: True)
    patch.setattr(tail, "only_comes", lambda node, is_empty: True)


def late_rows_are_computed(patch: Patch) -> None:
    patch.setattr(tail, "SemiJoin", lambda child, on, keys, anti: child)


def changes_of_all_tails(patch: Patch) -> None:
    patch.setattr(window_root, "conjunction", lambda conditions: None)


TAILS = (
    Mutation(
        "tail: a row may come before the last one",
        no_partition_is_late,
        "a row comes before the last one, others come last",
        "additive",
    ),
    Mutation(
        "tail: a row may be equal to the last one",
        equal_rows_are_later,
        "a row comes that the order does not distinguish from the last one",
        "additive",
    ),
    Mutation("tail: NULLs are last where they were first", nulls_stay_where_they_are, "the last row by NULL", "additive"),
    Mutation("tail: rows only come", rows_only_come, "a row in the middle goes", "additive"),
    Mutation(
        "tail: R is monotone",
        lambda patch: every_operator_answers(patch, "monotone"),
        "running values of rows that get a partner that excludes them",
        "additive",
    ),
    Mutation(
        "tail: rows of late partitions are not continued",
        late_rows_are_computed,
        "a row comes before the last one, others come last",
        "additive",
    ),
    Mutation(
        "tail: count(x) leaves out NULLs",
        lambda patch: patch.setattr(running, "_counted", lambda x: exp.Literal.number(1)),
        "running values of NULLs",
        "additive",
    ),
    Mutation(
        "tail: frames begin with the partition and end with the row",
        lambda patch: patch.setattr(running, "_is_running", lambda frame: True),
        "sums of two rows, and of whole partitions",
        "additive",
    ),
    Mutation(
        "tail: one order",
        lambda patch: patch.setattr(running, "_has_one_order", lambda found: True),
        "running values in two orders",
        "additive",
    ),
    Mutation(
        "tail: no condition on values",
        lambda patch: patch.setattr(running, "is_of_partitions", lambda *given: True),
        "a condition on rows that have a running value",
        "additive",
    ),
    Mutation(
        "tail: changes of partitions that the view has",
        changes_of_all_tails,
        "running values of some partitions",
        "additive-feed",
    ),
    Mutation(
        "tail: signed rows are netted", signed_rows_are_ranked, "a row of a new partition, before all others", "additive-feed"
    ),
)

MUTATIONS += TAILS


def null_is_looked_up(patch: Patch) -> None:
    """Rows with K that is NULL are partners of no row, but named by F."""
    naming = look_up_operator.naming

    def of_all(node: LookUpJoin, rows: Relation, values: Mapping[str, exp.Expr]) -> Relation:
        found = naming(node, rows, values)
        return Compute(rows, found.definitions) if isinstance(found, Compute) else found

    patch.setattr(look_up_operator, "naming", of_all)


def with_guards(guards: Mapping[str, Callable[[Any, int, IDiff], bool]]) -> Callable[[Patch], None]:
    """Look-ups with other guards."""
    return lambda patch: patch.setattr(
        LookUpJoin, "RULES", tuple(replace(rule, when=guards.get(rule.name, rule.when)) for rule in LookUpJoin.RULES)
    )


def knows_keys(node: LookUpJoin, side: int, diff: IDiff) -> bool:
    """Whether an i-diff of the right input knows K, whatever rows it names."""
    return side == 1 and look_up_operator.knows_keys(node, diff) and not diff.assigns(node.keys)


def knows_no_keys(node: LookUpJoin, side: int, diff: IDiff) -> bool:
    return side == 1 and not knows_keys(node, side, diff)


def of_any_types(patch: Patch) -> None:
    """Equal values of two types count as one value."""

    def equality(node: OuterJoin, part: exp.Expr) -> tuple[str, str, bool] | None:
        if not isinstance(part, exp.EQ):
            return None
        left, right = sorted(attributes(part), key=lambda name: name in node.right.columns)
        return left, right, False

    patch.setattr(look_up_operator, "_equality", equality)


def looked_up_by_some_equalities(patch: Patch) -> None:
    """The equalities need not have the whole key."""
    patch.setattr(
        look_ups,
        "is_look_up",
        lambda node: not node.full and node.right.unique and look_up_operator.equalities_of(node) is not None,
    )


def looked_up_among_copies(patch: Patch) -> None:
    """The right input need not have a key."""
    patch.setattr(
        look_ups,
        "is_look_up",
        lambda node: (
            (found := look_up_operator.equalities_of(node)) is not None
            and ({right for _, right, _ in found} >= {*node.right.ids})
        ),
    )


def looked_up_after(patch: Patch) -> None:
    """T in the post-state only."""
    patch.setattr(look_up_operator, "touched", touched_after)


def looked_up_by_new_keys(node: LookUpJoin, side: int, diff: IDiff) -> tuple[IDiff, ...]:
    """An update that assigns K stays an update."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(look_up_operator, "recompute", lambda diff: diff)
        looked_up_after(patch)
        return look_up_operator.looked_up_rec(node, side, diff)


def named_by_ids_only(patch: Patch) -> None:
    """MERGE does not compare the attributes by which i-diffs name rows, but IDs."""
    match = direct._match
    patch.setattr(
        direct, "_match", lambda view, name, partial: match(view, name, partial) if name in view.root.ids else exp.true()
    )


def named_by_all(patch: Patch) -> None:
    """MERGE compares all of them, those that an i-diff does not name rows by as well."""
    match = direct._match
    patch.setattr(direct, "_match", lambda view, name, partial: match(view, name, False))


def two_of_a_kind_are_disjoint(patch: Patch) -> None:
    """Two updates of one table's rows never name one row, whatever they read."""
    patch.setattr(direct, "reads_tables", lambda relation: False)


LOOK_UPS = (
    Mutation(
        "look-up: what is NULL is looked up by nothing",
        null_is_looked_up,
        "a row is looked up by its key and an attribute that is NULL",
    ),
    Mutation(
        "look-up: UPD names rows that there are",
        with_guards({"looked_up_upd": knows_keys, "looked_up_upd_unknown": knows_no_keys}),
        "a row without a partner, which is not looked up, changes",
    ),
    Mutation("look-up: equal values are the same", of_any_types, "texts look up a number"),
    Mutation("look-up: by the whole key", looked_up_by_some_equalities, "rows are looked up by a part of their key"),
    Mutation("look-up: by a key", looked_up_among_copies, "copies are looked up by all of their columns"),
    Mutation(
        "look-up: update of its condition on the left converted",
        without_rule_guard(LookUpJoin, "look_up_upd_condition", "look_up_upd"),
        "a row is looked up",
        "unsplit",
    ),
    Mutation("look-up: touched looks up in both states", looked_up_after, "rows of a window are looked up"),
    Mutation(
        "look-up: update of its condition on the right converted",
        with_builder(LookUpJoin, "looked_up_upd_unknown", looked_up_by_new_keys),
        "a row is looked up by its key and an attribute that changes",
        "unsplit",
    ),
    Mutation("direct: rows are matched by what i-diffs name them by", named_by_ids_only, "a row is looked up"),
    Mutation("direct: rows are matched by nothing else", named_by_all, "facts come while what they look up changes"),
    Mutation(
        "direct: not for two updates that read tables",
        two_of_a_kind_are_disjoint,
        "of the partners of a row that is looked up one comes and another changes",
    ),
)

MUTATIONS += LOOK_UPS


def changes_further_up_do_not_count(patch: Patch) -> None:
    """C are the rows with a partner that changed, whatever that one's own partners did."""
    patch.setattr(
        outer_operator,
        "_tests",
        lambda below, chain: tuple(
            (each.right.changed_values(each.used & {*each.right.columns}), each.condition)
            for each in chain
            if outer_operator._is_over(each, below)
        ),
    )


def changes_in_the_chain_do_not_count(patch: Patch) -> None:
    patch.setattr(
        outer_operator,
        "signed_chain",
        lambda chain, columns: project(outer_operator._joined(chain[0].left.signed(), chain, "pre"), (*columns, SIGN)),
    )


def signed_chain_over_post_states(patch: Patch) -> None:
    """ΔL ⟕ R⁺, and then the change of R for inserted rows as well."""
    joined = outer_operator._joined
    patch.setattr(
        outer_operator, "_joined", lambda rows, chain, state: joined(rows, chain, "post" if SIGN in rows.columns else state)
    )


def every_chain_is_one(patch: Patch) -> None:
    """A condition may be over several relations of the chain."""
    patch.setattr(outer_operator, "_is_over_one_relation_each", lambda chain: True)


def changed_rows_of_partitions(patch: Patch) -> None:
    """Not the other rows of their partitions."""
    patch.setattr(
        Window,
        "changed_values",
        lambda self, names: self.child.changed_values(names) if names <= {*self.child.columns} else self.signed().narrowed(names),
    )


def windows_of_values(patch: Patch) -> None:
    """What is narrowed below ω has each value once."""

    def narrowed(self: Windowed, names: frozenset[str]) -> Relation:
        calls = tuple(call for call in self.calls if call.name in names)
        used = {*self.partition, *(name for call in calls for name in call.reads)}
        child = self.child.narrowed(frozenset((names | used) & {*self.child.columns}))
        return Windowed(child, self.partition, calls) if calls else child

    patch.setattr(Windowed, "narrowed", narrowed)


def groups_of_values(patch: Patch) -> None:
    """What is narrowed below γ has each value once."""

    def narrowed(self: Grouped, names: frozenset[str]) -> Relation:
        calls = tuple(call for call in self.calls if call.name in names)
        used = {*self.groups, *(name for call in calls for name in call.arguments)}
        return Grouped(self.child.narrowed(frozenset(used)), self.groups, calls or self.calls[:1])

    patch.setattr(Grouped, "narrowed", narrowed)


def no_rows_no_group(patch: Patch) -> None:
    """The group of all rows has a value for each row of its input."""
    narrowed = Grouped.narrowed
    patch.setattr(
        Grouped,
        "narrowed",
        lambda self, names: self.child.narrowed(names) if not self.groups and not names else narrowed(self, names),
    )


def full_joins_keep_the_left_alone(patch: Patch) -> None:
    """The left values of ⟗ are those of its left input."""
    narrowed = OuterPair.narrowed
    patch.setattr(
        OuterPair,
        "narrowed",
        lambda self, names: self.left.narrowed(names) if names <= {*self.left.columns} else narrowed(self, names),
    )


def any_state_of_the_left_alone(patch: Patch) -> None:
    """The same of its any-state."""
    in_any_state = OuterJoin.in_any_state
    patch.setattr(
        OuterJoin,
        "in_any_state",
        lambda self, names: self.left.in_any_state(names) if names <= {*self.left.columns} else in_any_state(self, names),
    )


NARROWED = (
    Mutation(
        "additive: rows whose partners' partners changed",
        changes_further_up_do_not_count,
        "sums by the end of a chain of outer joins",
        "additive",
    ),
    Mutation(
        "additive: rows whose looked-up rows look up others that changed",
        changes_further_up_do_not_count,
        "sums by what is looked up",
        "additive",
    ),
    Mutation(
        "additive: rows of a chain whose partners changed",
        changes_in_the_chain_do_not_count,
        "sums over a chain of outer joins of rows without a key",
        "additive",
    ),
    Mutation(
        "additive: the left changes of a chain are joined with R⁻",
        signed_chain_over_post_states,
        "sums by what is looked up",
        "additive",
    ),
    Mutation(
        "additive: a chain has conditions over one of its relations each",
        every_chain_is_one,
        "sums of what is looked up by attributes of two rows",
        "additive",
    ),
    Mutation(
        "tuple: all rows of the partitions that changed",
        changed_rows_of_partitions,
        "groups of rows by another attribute than their partition",
        "tuple",
    ),
    Mutation(
        "ω: of its input nothing is left out",
        windows_of_values,
        "rows without a partner among the counts of windows over an outer join",
    ),
    Mutation(
        "γ: of its input nothing is left out",
        groups_of_values,
        "rows without a partner among the counts of groups over an outer join",
    ),
    Mutation("γ: the group of all rows is there without rows", no_rows_no_group, "groups of rows beside the count of no rows"),
    Mutation(
        "⟗: its left values are NULL, too", full_joins_keep_the_left_alone, "windows with several partitions over a full join"
    ),
    Mutation(
        "⟗: its left values are NULL in the any-state, too",
        any_state_of_the_left_alone,
        "windows with several partitions over a full join",
    ),
)

MUTATIONS += NARROWED


def gone_by_anything(node: LookUpJoin, side: int, diff: IDiff) -> bool:
    """A DEL may name rows of R by other attributes than IDs."""
    return side == 1 and look_up_operator.knows_keys(node, diff)


def maybe_gone_by_anything(node: LookUpJoin, side: int, diff: IDiff) -> bool:
    return side == 1 and not gone_by_anything(node, side, diff)


def known_recomputes_are_united(patch: Patch) -> None:
    patch.setattr(propagate, "united", lambda idiffs, which: build.united(idiffs, lambda diff: diff.kind is REC))


def cored_full_joins(patch: Patch) -> None:
    """The IDs of the left input of ⟗ name its rows."""

    def of_the_left(node: Operator, condition: exp.Expr) -> Any:
        return of_the_left(node.left, condition) if isinstance(node, OuterJoin) else outer_operator._Names(node.ids)

    patch.setattr(outer_operator, "names_of_partners", of_the_left)


# Guards that no view needs: the applications keep the copies of an INS, and its rows hold all copies of each ID that they
# name. The rule is stricter than that, because the contract of INS speaks of one row an ID.
CONSERVATIVE = (
    # a change of the collection has an i-diff of its own, which recomputes the row
    Mutation(
        "μ: a row that is brought again",
        with_builder(Unnest, "unnest_ins_again", inserted_again),
        "elements of a row that gets and loses its only partner by NOT EXISTS",
    ),
    Mutation(
        "μ: no INS where IDs repeat", with_builder(Unnest, "unnest_ins_again", inserted_again), "elements of rows without a key"
    ),
    Mutation(
        "⋈: no INS where IDs repeat",
        without_rule_guard(Join, "join_ins_bag", "join_ins"),
        "copies of a keyless row meet a new partner",
    ),
    Mutation(
        "⟕: no INS of pairs where IDs repeat",
        without_rule_guard(OuterJoin, "outer_ins_bag", "outer_ins"),
        "copies of a keyless partner",
    ),
    Mutation(
        "⟕: no INS of padded copies",
        without_rule_guard(OuterJoin, "outer_del_bag", "outer_del_pads"),
        "copies of an outer-joined keyless row gain and lose partners",
    ),
    Mutation(
        "look-up: no INS where IDs repeat",
        without_rule_guard(LookUpJoin, "look_up_ins_bag", "look_up_ins"),
        "a union with a branch without a key looks up",
    ),
    # Delta and DuckDB from 2.0.1 let a MERGE with nothing but an unconditional DELETE name a row twice
    Mutation(
        "⋉: no DEL where IDs repeat",
        without_rule_guard(SemiAntiJoin, "semijoin_right_del_bag", "semijoin_right_del"),
        "copies of a keyless row get a second partner",
    ),
    # each DEL names rows by IDs
    Mutation(
        "look-up: rows that are gone by their IDs",
        with_guards({"looked_up_del": gone_by_anything, "looked_up_del_unknown": maybe_gone_by_anything}),
        "a row that is kept looks up by its key and by another attribute",
    ),
    # engines compare 0.0 and -0.0 as equal wherever rows are looked up
    Mutation(
        "look-up: not by floats",
        lambda patch: patch.setattr(look_up_operator, "has_one_value", lambda kind: True),
        "both zeros look up a group",
    ),
    # it is a matter of cost: payload saves look-ups
    Mutation("united recomputes: not those with payload", known_recomputes_are_united, "a row is looked up"),
    # all rows without a left row are recomputed then, a superset
    Mutation("⟗: both of its inputs name its rows", cored_full_joins, "a full join looks up"),
    # the DEL beside it calls for the effective shape, which compares post-images
    Mutation(
        "⟕: the INS of padded rows are not fresh",
        with_builder(OuterJoin, "outer_del_pads", fresh_padded_rows),
        "an outer-joined row is updated while a partner comes and another goes",
    ),
)


def part_of_a_key(patch: Patch) -> None:
    known = of_each.key_of
    patch.setattr(of_each, "key_of", lambda root: (known(root) or ())[:1])


class OfAllRows(Call):
    """count(*) also of padded rows."""

    @classmethod
    def of(cls, name: str, function: str, argument: str | None = None, *, distinct: bool = False) -> Call:
        return Call.of(name, function)


MUTATIONS += (
    Mutation(
        "aggregates of rows that belong to each row are of its whole key",
        part_of_a_key,
        "counts of rows that are less than padded ones",
    ),
    Mutation(
        "aggregates of rows that belong to one row are of a constant, where there may be no such row",
        lambda patch: every_operator_answers(patch, "has_row"),
        "counts of rows that are less than the one of a given key",
    ),
    Mutation(
        "a padded row is not counted",
        lambda patch: patch.setattr(of_each, "Call", OfAllRows),
        "rows that are kept by how many are less",
    ),
)


# --- functional dependencies: what they are used for is refused without them, so that they are checked on rows (`test_ids.py`)


def markers_are_determined(patch: Patch) -> None:
    """Also by what is NULL in padded rows and in others."""
    known = OuterJoin.dependencies
    patch.setattr(
        OuterJoin,
        "dependencies",
        lambda self, *below: tuple((left - {self.mark(1)}, right) for left, right in known(self, *below)),
    )


def equal_values_give_equal_results(patch: Patch) -> None:
    for module in (inference, project_operator):
        patch.setattr(module, "is_function_of_values", lambda expression, certain: True)


def each_output_tells_branches_apart(patch: Patch) -> None:
    patch.setattr(UnionAll, "_tells_branches_apart", lambda self, names: True)


def what_holds_in_a_branch_holds(patch: Patch) -> None:
    patch.setattr(
        UnionAll,
        "dependencies",
        lambda self, *below: tuple(
            (frozenset(self.names_in(i)[name] for name in left), frozenset(self.names_in(i)[name] for name in left | right))
            for i, each in enumerate(below)
            for left, right in each
            if left | right <= self.names_in(i).keys()
        ),
    )


WRONG_DEPENDENCIES = (
    Mutation("padded rows of ⟕ have their own marker", markers_are_determined, "the first of rows of which some are padded"),
    Mutation("equal DOUBLEs may have different texts", equal_values_give_equal_results, "texts of equal numbers"),
    Mutation(
        "an output has another constant in each branch",
        each_output_tells_branches_apart,
        "the first of rows of branches that a constant tells apart",
    ),
    Mutation("rows of ∪ are of branches", what_holds_in_a_branch_holds, "any value of branches that a constant tells apart"),
)


def null_finds_nothing(patch: Patch) -> None:
    is_in = found_rows.is_one_of
    patch.setattr(
        found_rows,
        "is_one_of",
        lambda of, cells, kind: is_in(of, [cell for cell in cells if cell is not None] or cells, kind),
    )


def deleted_rows_have_no_keys(patch: Patch) -> None:
    origins = reach._Search._origins

    def without(search: Any, node: Relation, names: tuple[str, ...]) -> Any:
        found = origins(search, node, names)
        return found and replace(found, sources=tuple(each for each in found.sources if not _is_deleted(each)))

    patch.setattr(reach._Search, "_origins", without)


def _is_deleted(source: reach.Source) -> bool:
    return isinstance(source, reach.Changed) and source.leaf.diff_class == "minus"


def first_keys_alone(patch: Patch) -> None:
    patch.setattr(
        found_rows,
        "reach",
        lambda relations: {table: replace(each, finders=each.finders[:1]) for table, each in reach.reach(relations).items()},
    )


def rows_are_given_again(patch: Patch) -> None:
    patch.setattr(found_rows._Search, "_new", lambda self, table, rows: rows)


def also_read_without_keys(patch: Patch) -> None:
    read = reach._Search._read

    def with_keys(search: Any, scan: Scan, finder: reach.Finder | None) -> None:
        known = search.finders.get(scan.table, {})
        read(search, scan, finder)
        if finder is None:
            search.finders[scan.table] = known

    patch.setattr(reach._Search, "_read", with_keys)


def padded_rows_have_values(patch: Patch) -> None:
    origins = reach._Search._origins

    def without(search: Any, node: Relation, names: tuple[str, ...]) -> Any:
        found = origins(search, node, names)
        return found and replace(found, padded=False)

    patch.setattr(reach._Search, "_origins", without)


def cells_are_values(patch: Patch) -> None:
    patch.setattr(reach, "_are_comparable", lambda kind, other: True)


def own_columns_are_keys(patch: Patch) -> None:
    patch.setattr(
        reach.Finder,
        "new_sources",
        property(lambda self: tuple(each for each in self.sources if not replace(self, is_key=True)._is_own_key(each))),
    )


def tested_partners_are_there(patch: Patch) -> None:
    patch.setattr(outer_operator, "rejects_null", lambda condition: frozenset(attributes(condition)))


def padded_rows_have_no_partner(patch: Patch) -> None:
    patch.setattr(outer_operator, "_is_over_present", outer_operator._is_over)


def old_rows_are_new_ones(patch: Patch) -> None:
    def after(done: Any, root: Operator, needed: Any) -> Any:
        with pytest.MonkeyPatch.context() as within:
            within.setattr(Scan, "in_state", lambda self, _: self)
            return tuple_based.compared(done, root, needed)

    patch.setattr(effective, "compared", after)


def sums_have_stored_values(patch: Patch) -> None:
    patch.setattr(tuple_based, "unreproducible", lambda _: None)
    patch.setattr(compiler, "depends_on_combined_floats", lambda _: False)


def new_rows_are_reached(patch: Patch) -> None:
    """Those that nothing looks up."""
    patch.setattr(
        tuple_based.Tuples,
        "depends_on",
        property(lambda self: tuple(each for each in self.reached if not isinstance(each, SemiJoin)) or self.relations),
    )


REACH = (
    Mutation("reach: old rows are of the pre-state", old_rows_are_new_ones, "a group comes, one changes, one goes", "compared"),
    Mutation("reach: new rows are in the states that are compared", new_rows_are_reached, "a group is looked up", "compared"),
    Mutation(
        "reach: stored sums were added in another order",
        sums_have_stored_values,
        "a condition on a sum in another order",
        "compared",
    ),
    Mutation(
        "tuple: stored sums were added in another order",
        sums_have_stored_values,
        "a condition on a sum in another order",
        "tuple",
    ),
    Mutation(
        "additive: a chain of ⟕ rejects padded rows",
        padded_rows_have_no_partner,
        "a padded row of a chain gets a partner by another value",
        "additive",
    ),
    Mutation(
        "⟕: a partner that a condition reads may be missing",
        tested_partners_are_there,
        "a row without partners has one at the end of a chain",
    ),
    Mutation("reach: columns that are no key find other rows", own_columns_are_keys, "distinct rows of an outer join"),
    Mutation("reach: NULL is a key", null_finds_nothing, "groups with a value that is looked up"),
    Mutation("reach: deleted rows have keys", deleted_rows_have_no_keys, "groups of a lateral subquery", "tuple"),
    Mutation("reach: a table is asked for all keys", first_keys_alone, "a subquery inside an aggregate"),
    Mutation("reach: no row is given twice", rows_are_given_again, "IN below OR over groups", "tuple"),
    Mutation("reach: a table is also read without keys", also_read_without_keys, "groups by whether rows have a partner"),
    Mutation("reach: padded rows have no values", padded_rows_have_values, "a test of rows of an outer join"),
    Mutation("reach: equal values may have other cells", cells_are_values, "equal numbers with a sign are joined in a chain"),
)

# all that are needed
GUARDS = MUTATIONS + REACH + TIES
