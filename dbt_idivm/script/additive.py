"""The additive application: the signed rows of γ's input are added to the stored groups in one MERGE (`operators/additive.py`).

The signed rows are complete over all changed tables. A group whose row count reaches zero is deleted, and one that is not stored
yet is inserted. If deleted rows may have held a stored minimum or maximum, a query first finds the groups that have lost theirs;
these are recomputed in the same MERGE (`script/extremes.py`).

Over the rows that changes reach, the signed rows are those of γ's input in both states (`tuple_based.py`). Rows that no change
touches are added and subtracted again: only exact types are summed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from dbt_idivm.algebra.bags import Distinct, union_all
from dbt_idivm.algebra.block import Block, isolate
from dbt_idivm.algebra.core import SemiJoin, project
from dbt_idivm.algebra.expressions import alias, column, substitute
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.idiff import REC, IDiff, Origin
from dbt_idivm.operators.additive import AdditiveRule
from dbt_idivm.operators.scan import DiffRows
from dbt_idivm.passes.operator_caches import AdditiveState
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.conditional import Conditional, Question
from dbt_idivm.script.diff import NetDiff
from dbt_idivm.script.effective import effective
from dbt_idivm.script.extremes import ANEW, LOST, anew, are_named, delta_groups, lost_groups, lost_query, only_comes
from dbt_idivm.script.leaves import diff_leaves
from dbt_idivm.script.merge import SOURCE, TARGET, Clause, Comparison, Key, Matching, Merge
from dbt_idivm.script.prune_empty import prune_empty
from dbt_idivm.script.source_rows import SourceQuery, SourceRows
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.tuple_based import are_comparable, reaching, states
from dbt_idivm.script.ways import Application, IsEmpty, Way


@dataclass(frozen=True)
class Additive(Way):
    """Adding to the stored groups of the view `root`, whose γ and operator caches are `state`."""

    state: AdditiveState
    root: Operator

    @cached_property
    def signed(self) -> Relation:
        return signed_input(self.state)

    @property
    def base_idiffs(self) -> tuple[DiffRows, ...]:
        return diff_leaves(self.signed)

    def holds(self, diffs: Mapping[str, NetDiff]) -> bool:
        """Always: every aggregate with an additive rule can be subtracted as well, or its group is recomputed."""
        return True

    def application(self, is_empty: IsEmpty, *, optimised: bool = True) -> Application | None:
        rows = prune_empty(self.signed, is_empty)
        if rows is None:
            return None
        if not self.state.extremes or only_comes(self.state.aggregate.child, is_empty):
            return Adding(self.name, state=self.state, rows=rows)
        origins = frozenset(Origin(leaf.scan.occurrence, REC) for leaf in diff_leaves(rows))
        keys = Distinct(project(rows, self.state.aggregate.groups))
        touched = IDiff(REC, self.state.aggregate.groups, (), (), keys, origins)
        otherwise = effective(self.name, self.root, (touched,), optimised=optimised)
        if not are_named(self.state):
            return otherwise
        adding = Adding(self.name, state=self.state, rows=rows)
        shown = replace(adding, asked=True)
        return Conditional(self.name, question=LostExtremes(adding), shown=shown, otherwise=otherwise)


@dataclass(frozen=True, kw_only=True)
class Adding(Application):
    """`rows`: the signed rows of γ's input that may have rows. `lost`: the groups that are recomputed instead.

    `asked`: whether some groups are recomputed that are not known yet. The statement then reads them from LOST, which it does
    not define.
    """

    state: AdditiveState
    rows: Relation
    lost: SourceRows | None = None
    asked: bool = False

    @property
    def shape(self) -> Literal["additive"]:
        return "additive"

    @property
    def relations(self) -> tuple[Relation, ...]:
        return (self.rows, *([anew(self.state)] if self.lost is not None else []))

    @property
    def over_reached(self) -> Application:
        below = self.state.aggregate.child
        # a row that is in both states may have held the extreme of its group
        if self.state.extremes or not are_comparable(below):
            return self
        return replace(self, rows=states(below), instead_of=self, reached=reaching(below, self.relations))

    @property
    def reads_view(self) -> bool:
        return False

    @property
    def assigned(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.state.outputs) - set(self.state.aggregate.groups)

    @property
    def recomputed(self) -> tuple[IDiff, ...]:
        keys, origins = lost_groups(self.state), (Origin(leaf.scan.occurrence, REC) for leaf in diff_leaves(self.rows))
        return (IDiff(REC, keys.columns, (), (), keys, frozenset(origins)),) if self.lost is not None else ()

    def statement(self, view: Stored, binder: StatementBinder, target: str) -> Merge:
        if self.lost is not None:
            binder.definitions[LOST] = self.lost.query(binder.binding.dialect)
        return additive_merge(view, self, binder, target)


@dataclass(frozen=True)
class LostExtremes(Question):
    """Which of the changed groups have lost an extreme. These are recomputed, the others added."""

    adding: Adding

    @property
    def extremes(self) -> str:
        return " or ".join(call.name for _, call in self.adding.state.extremes)

    @property
    def text(self) -> str:
        return f"{LOST}: which of the changed groups have lost {self.extremes}"

    @property
    def perhaps(self) -> tuple[Relation, ...]:
        return (anew(self.adding.state),)

    def query(self, view: Stored, binder: StatementBinder, target: str) -> SourceQuery:
        return lost_query(view, self.adding.state, self.adding.rows, binder, target)

    def applied(self, rows: SourceRows) -> Adding:
        return replace(self.adding, lost=rows) if rows.rows else self.adding


def additive_merge(view: Stored, done: Adding, binder: StatementBinder, target: str) -> Merge:
    """The MERGE that adds the signed rows of γ's input to the view."""
    state = done.state
    some_lost = done.asked or done.lost is not None
    block = _delta_groups(state, done.rows, binder, some_lost=some_lost)
    new = _values(view, state, merged=True, some_lost=some_lost)
    fresh = _values(view, state, merged=False)
    count = _sum_of(state.rows, view)
    # the first condition is implied by the second one, because a stored group has rows; but it does not need the stored row
    gone = Clause("delete", (Comparison(state.rows, "<", 0), exp.EQ(this=count, expression=exp.Literal.number(0))))
    kept = {name: value for name, value in new.items() if name not in _group_columns(view, state)}
    clauses = Clause("update", (), kept), Clause("insert", (Comparison(state.rows, ">", 0),), fresh)
    keys = tuple(Key(view.stored(group), group) for group in state.aggregate.groups)
    matching = Matching(keys, (gone, *clauses) if keys else clauses)
    table, broadcast = binder.binding.dialect.table(target, None), binder.is_source_broadcast(done.rows)
    return Merge(table, binder.attach(block.select()), matching, broadcast=broadcast)


def signed_input(state: AdditiveState) -> Relation:
    """ΔR for the input R of γ, as signed rows."""
    return state.aggregate.inputs[0].signed()


def _delta_groups(state: AdditiveState, rows: Relation, binder: StatementBinder, *, some_lost: bool) -> Block:
    """γ over signed rows: Δn, Δsum and Δcount of each group. Groups in which all of them are zero are left out.

    With `some_lost`, the groups in LOST are recomputed instead, and marked by ANEW.
    """
    kept = SemiJoin(rows, state.aggregate.groups, lost_groups(state), anti=True) if some_lost else rows
    query, deltas = delta_groups(state, kept.block(binder))
    query = query.having(
        exp.or_(*(_is_change(rule, deltas[call.name]) for rule, call in state.calls if rule.delta is not None)), copy=False
    )
    names = (*state.aggregate.groups, *deltas)
    if not some_lost:
        return isolate(query, names, "change")
    whole = project(anew(state), names).block(binder).select()
    parts = [query.select(alias(exp.false(), ANEW), copy=False), whole.select(alias(exp.true(), ANEW), copy=False)]
    return isolate(union_all(parts), (*names, ANEW), "change")


def _is_change(rule: AdditiveRule, delta: exp.Expr) -> exp.Expr:
    if rule.extreme is not None:
        return exp.Not(this=exp.Is(this=delta.copy(), expression=exp.null()))
    return exp.NEQ(this=delta.copy(), expression=exp.Literal.number(0))


def _group_columns(view: Stored, state: AdditiveState) -> frozenset[str]:
    return frozenset(c.name for c in view.columns if c.attribute in state.aggregate.groups)


def _sum_of(attribute: str, view: Stored) -> exp.Expr:
    return exp.Add(this=column(view.stored(attribute), TARGET), expression=column(attribute, SOURCE))


def _values(view: Stored, state: AdditiveState, *, merged: bool, some_lost: bool = False) -> Mapping[str, exp.Expr]:
    """Stored column → its new value, computed from the stored group and the change (`merged`), or from the change alone."""
    attributes: dict[str, exp.Expr] = {name: column(name, SOURCE) for name in state.aggregate.groups}
    new: dict[tuple[str, str | None], exp.Expr] = {}
    for rule, call in state.calls:
        old: exp.Expr | None = column(view.stored(call.name), TARGET) if merged and rule.delta is not None else None
        if old is not None and some_lost:
            # the source row of a recomputed group has its new values
            nothing = exp.null() if rule.extreme is not None else exp.Literal.number(0)
            old = exp.Case(ifs=[exp.If(this=column(ANEW, SOURCE), true=nothing)], default=old)
        caches = {function: new[function, call.argument] for function in rule.caches}
        kind = state.aggregate.child.types.get(call.argument or "")
        value = rule.value(old, column(call.name, SOURCE), caches, kind)
        attributes[call.name] = new[call.function, call.argument] = value
    outputs = dict(state.outputs)
    return {c.name: substitute(outputs[c.attribute], attributes) for c in view.columns}
