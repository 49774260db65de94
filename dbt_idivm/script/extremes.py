"""Minima and maxima that are maintained by adding: which groups have lost theirs and must be recomputed.

    m     the stored minimum of a group, or NULL if it has no values
    Δ     the least value that gains copies, by the netted signed rows
    gone  the least value that loses copies

The new minimum is the least of m and Δ, unless gone <= m and not Δ <= m. Then the group has lost m (though another copy of it may
remain) and is recomputed. This depends on the stored rows, so it is queried before the statement is made (docs/adr/0031).

The signed rows are netted by group and by the values of all extremes together: a row that is both inserted and deleted in them,
or in a change feed, need not be in any state. A row that is updated in another attribute is deleted and inserted with the same
value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from dbt_idivm.algebra.block import Block, isolate, subquery
from dbt_idivm.algebra.expressions import alias, column, same
from dbt_idivm.algebra.lookups import Known
from dbt_idivm.algebra.operator import SIGN, Operator
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import is_blurred
from dbt_idivm.operators.scan import DiffRows, Scan
from dbt_idivm.passes.operator_caches import AdditiveState
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.dialect import WEIGHT, is_inlinable
from dbt_idivm.script.merge import SOURCE, TARGET
from dbt_idivm.script.source_rows import SourceQuery, fetching, name_of
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.ways import IsEmpty

LOST = "lost_groups"
ANEW = "idivm_anew"  # marks the groups that are recomputed
_MARK = "idivm_lost"


def only_comes(node: Operator, is_empty: IsEmpty) -> bool:
    """Whether no row of the operator is deleted: no netted signed row is negative."""
    if isinstance(node, Scan):
        return is_empty(DiffRows(node, "minus", node.columns))
    return node.monotone and all(only_comes(child, is_empty) for child in node.inputs)


def lost_groups(state: AdditiveState) -> Known:
    """The groups that have lost an extreme, as a CTE of literal rows."""
    groups = state.aggregate.groups
    return Known(LOST, groups, tuple(state.aggregate.types[name] for name in groups))


def anew(state: AdditiveState) -> Relation:
    """The groups that have lost an extreme, recomputed."""
    return state.aggregate.restrict(state.aggregate.groups, lost_groups(state))


def are_named(state: AdditiveState) -> bool:
    """Whether groups can be fetched and identified by literals."""
    kinds = [state.aggregate.types[name] for name in state.aggregate.groups]
    return all(is_inlinable(name_of(kind)) and not is_blurred(kind) for kind in kinds)


def delta_groups(state: AdditiveState, rows: Block) -> tuple[exp.Select, Mapping[str, exp.Expr]]:
    """(γ over signed rows, call → what is added to it)."""
    rows = _netted(state, rows) if state.extremes else _isolate_constants(state, rows)
    deltas = {
        call.name: rule.delta(
            rows.output[call.argument] if call.argument else None,
            rows.output[WEIGHT if rule.extreme else SIGN],
            state.aggregate.child.types[call.argument] if call.argument else None,
        )
        for rule, call in state.calls
        if rule.delta is not None
    }
    return _grouped(state, rows, deltas), deltas


def _grouped(state: AdditiveState, rows: Block, calls: Mapping[str, exp.Expr]) -> exp.Select:
    groups = {name: rows.output[name] for name in state.aggregate.groups}
    query = replace(rows, output=groups).select()
    query = query.select(*(alias(call, name) for name, call in calls.items()), append=bool(groups), copy=False)
    return query.group_by(*(group.copy() for group in groups.values()), copy=False) if groups else query


def _netted(state: AdditiveState, rows: Block) -> Block:
    """The signed rows, each with the sum of the signs of all rows with its group and its values of all extremes (WEIGHT)."""
    names = tuple(rows.output)
    by = dict.fromkeys((*state.aggregate.groups, *(call.argument or "" for _, call in state.extremes)))
    inner = isolate(rows.select(), names, "signed_rows")
    weight = exp.Window(this=exp.Sum(this=inner.output[SIGN].copy()), partition_by=[inner.output[name].copy() for name in by])
    return isolate(inner.select().select(alias(weight, WEIGHT), copy=False), (*names, WEIGHT), "netted_rows")


def _isolate_constants(state: AdditiveState, rows: Block) -> Block:
    """Move constants into a subquery, because GROUP BY 1 would mean the first column."""
    if all(rows.output[name].find(exp.Column) for name in state.aggregate.groups):
        return rows
    return isolate(rows.select(), tuple(rows.output), "signed_rows")


def lost_query(view: Stored, state: AdditiveState, rows: Relation, binder: StatementBinder, target: str) -> SourceQuery:
    """The query for the groups that have lost an extreme."""
    netted, groups = _netted(state, rows.block(binder)), state.aggregate.groups
    calls: dict[str, exp.Expr] = {state.rows: exp.Sum(this=netted.output[SIGN].copy())}
    lost, none_gone = [], []
    for number, (extreme, call) in enumerate(state.extremes, 1):
        argument, weight = netted.output[call.argument or ""], netted.output[WEIGHT]
        names = f"idivm_came_{number}", f"idivm_gone_{number}"
        calls |= {names[0]: extreme.added(argument, weight), names[1]: extreme.removed(argument, weight)}
        none_gone.append(exp.Not(this=exp.Is(this=calls[names[1]].copy(), expression=exp.null())))
        lost.append(extreme.is_lost(column(view.stored(call.name), TARGET), *(column(name, SOURCE) for name in names)))
    change = _grouped(state, netted, calls).having(exp.or_(*none_gone), copy=False)
    stored = exp.alias_(binder.binding.dialect.table(target, None), TARGET, table=True)
    tests = [exp.or_(*lost)]
    if groups:
        # a group without rows is deleted, not recomputed
        left = exp.Add(this=column(view.stored(state.rows), TARGET), expression=column(state.rows, SOURCE))
        tests.append(exp.NEQ(this=left, expression=exp.Literal.number(0)))
    on = exp.and_(*(same(column(view.stored(name), TARGET), column(name, SOURCE)) for name in groups)) if groups else exp.true()
    query = (
        exp.Select(expressions=[*(alias(column(name, SOURCE), name) for name in groups), alias(exp.true(), _MARK)])
        .from_(subquery(change, SOURCE))
        .join(exp.Join(this=stored, on=on))
        .where(*tests)
    )
    kinds = (*(name_of(state.aggregate.types[name]) for name in groups), "boolean")
    return fetching(binder.attach(query), (*groups, _MARK), kinds)
