"""The additive application: what the signed rows of γ's input add to the stored groups, in one MERGE (`operators/additive.py`).

The signed rows are complete over all changed tables; a group whose row count reaches zero is deleted, one that is not stored yet
is inserted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from dbt_idivm.algebra.block import Block, isolate
from dbt_idivm.algebra.expressions import alias, column, same, substitute
from dbt_idivm.algebra.operator import SIGN
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import DIALECT, sum_type
from dbt_idivm.operators.aggregate import Call
from dbt_idivm.operators.scan import DiffRows
from dbt_idivm.passes.operator_caches import AdditiveState
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.diff import NetDiff
from dbt_idivm.script.leaves import diff_leaves
from dbt_idivm.script.merge import SOURCE, TARGET, Merge, source_query
from dbt_idivm.script.prune_empty import prune_empty
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.ways import Application, IsEmpty, Way


@dataclass(frozen=True)
class Additive(Way):
    """Adding to the groups of `state`."""

    state: AdditiveState

    @property
    def base_idiffs(self) -> tuple[DiffRows, ...]:
        return diff_leaves(signed_input(self.state))

    def holds(self, diffs: Mapping[str, NetDiff]) -> bool:
        """Always: every aggregate with an additive rule can be subtracted as well."""
        return True

    def application(self, is_empty: IsEmpty, *, optimised: bool = True) -> Adding | None:
        rows = prune_empty(signed_input(self.state), is_empty)
        return None if rows is None else Adding(self.name, state=self.state, rows=rows)


@dataclass(frozen=True, kw_only=True)
class Adding(Application):
    """`rows`: the signed rows of γ's input that can have rows."""

    state: AdditiveState
    rows: Relation

    @property
    def shape(self) -> Literal["additive"]:
        return "additive"

    @property
    def relations(self) -> tuple[Relation, ...]:
        return (self.rows,)

    @property
    def reads_view(self) -> bool:
        return False

    @property
    def assigned(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.state.outputs) - set(self.state.aggregate.groups)

    def statement(self, view: Stored, binder: StatementBinder, target: str) -> exp.Merge:
        return additive_merge(view, self.state, self.rows, binder, target)


def additive_merge(view: Stored, state: AdditiveState, rows: Relation, binder: StatementBinder, target: str) -> exp.Merge:
    """The MERGE that adds the signed `rows` of γ's input to the view."""
    block = _delta_groups(state, rows.block(binder))
    new, fresh = _values(view, state, merged=True), _values(view, state, merged=False)
    count = _sum_of(state.rows, view)
    merge = Merge(target, binder.binding.dialect)
    merge.on(*(same(merge.target(view.stored(group)), column(group, SOURCE)) for group in state.aggregate.groups))
    if state.aggregate.groups:
        # a stored group has rows; the first condition says nothing new, but it holds or not whatever is stored
        less = exp.LT(this=column(state.rows, SOURCE), expression=exp.Literal.number(0))
        merge.matched_delete(exp.and_(less, exp.EQ(this=count, expression=exp.Literal.number(0))))
    kept = {name: value for name, value in new.items() if name not in _group_columns(view, state)}
    merge.matched_update(None, kept)
    merge.not_matched_insert(exp.GT(this=column(state.rows, SOURCE), expression=exp.Literal.number(0)), fresh)
    return merge.build(source_query(binder.attach(block.select()), broadcast=binder.is_source_broadcast(rows)))


def signed_input(state: AdditiveState) -> Relation:
    """ΔR of γ's input as signed rows."""
    return state.aggregate.inputs[0].signed()


def _delta_groups(state: AdditiveState, rows: Block) -> Block:
    """γ over signed rows: per group Δn, Δsum and Δcount; groups in which all are zero are left out."""
    rows = _isolate_constants(state, rows)
    deltas = {call.name: rule.delta(rows.output[call.argument] if call.argument else None, rows.output[SIGN])
              for rule, call in state.calls if rule.delta is not None}
    groups = {name: rows.output[name] for name in state.aggregate.groups}
    query = replace(rows, output=groups).select()
    query = query.select(*(alias(delta, name) for name, delta in deltas.items()), append=bool(groups), copy=False)
    if groups:
        query = query.group_by(*(group.copy() for group in groups.values()), copy=False)
    changed = exp.or_(*(exp.NEQ(this=delta.copy(), expression=exp.Literal.number(0)) for delta in deltas.values()))
    query = query.having(changed, copy=False)
    return isolate(query, (*groups, *deltas), "change")


def _isolate_constants(state: AdditiveState, rows: Block) -> Block:
    if all(rows.output[name].find(exp.Column) for name in state.aggregate.groups):
        return rows
    return isolate(rows.select(), tuple(rows.output), "signed_rows")


def _group_columns(view: Stored, state: AdditiveState) -> frozenset[str]:
    return frozenset(c.name for c in view.columns if c.attribute in state.aggregate.groups)


def _sum_of(attribute: str, view: Stored) -> exp.Expr:
    return exp.Add(this=column(view.stored(attribute), TARGET), expression=column(attribute, SOURCE))


def _values(view: Stored, state: AdditiveState, *, merged: bool) -> Mapping[str, exp.Expr]:
    """Stored column → its new value, from the stored group and the change (`merged`) or from the change alone."""
    attributes: dict[str, exp.Expr] = {name: column(name, SOURCE) for name in state.aggregate.groups}
    new: dict[tuple[str, str | None], exp.Expr] = {}
    for rule, call in state.calls:
        old = column(view.stored(call.name), TARGET) if merged and rule.delta is not None else None
        caches = {function: new[function, call.argument] for function in rule.caches}
        value = rule.value(old, column(call.name, SOURCE), caches)
        attributes[call.name] = new[call.function, call.argument] = _of_its_type(state, call, value)
    outputs = dict(state.outputs)
    return {c.name: substitute(outputs[c.attribute], attributes) for c in view.columns}


def _of_its_type(state: AdditiveState, call: Call, value: exp.Expr) -> exp.Expr:
    """A sum of decimals as the type that a sum has: adding two takes a digit more, and a quotient has as many as its operands
    leave room for."""
    kind = state.aggregate.child.types[call.argument] if call.argument is not None and call.function == "sum" else None
    if kind is None or kind.this != exp.DataType.Type.DECIMAL:
        return value
    return exp.Cast(this=value, to=exp.DataType.build(sum_type(kind), dialect=DIALECT))
