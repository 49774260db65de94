"""The tuple-based application: the view's signed rows, netted, in one MERGE. The baseline that idIVM compares itself with.

Classic tuple-based maintenance (idIVM §1 and §7, the counting algorithm for bags): a change is a set of whole view tuples
that came or went, each operator computes its own from those of its inputs (`Operator.signed`), and an update is a tuple that
goes and one that comes. Where i-diffs name rows by a part of their ID, every tuple is joined out to the view's width.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.block import Block, Source, subquery
from dbt_idivm.algebra.expressions import alias, column, same
from dbt_idivm.algebra.operator import SIGN
from dbt_idivm.algebra.relation import exists, named_block, union_all
from dbt_idivm.algebra.types import is_float, told_apart
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.copies import COPIES, replace_copies
from dbt_idivm.script.dialect import WEIGHT
from dbt_idivm.script.merge import OP, SOURCE, TARGET, Merge, op_is, source_query
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.prune_empty import prune_empty

NET = "net_rows"
_LAST = "idivm_last"


def tuple_merge(plan: Plan, binder: StatementBinder, target: str) -> exp.Merge | None:
    """The MERGE of the view's net tuples; None if nothing can have changed."""
    rows = prune_empty(plan.root.signed(), binder.binding.is_empty)
    if rows is None:
        return None
    binder.definitions[NET] = _netted(plan, rows.block(binder).select())
    merge = Merge(target, binder.binding.dialect)
    query = _by_id(plan, merge) if plan.root.unique else _by_copies(plan, binder, target, merge)
    return merge.build(source_query(binder.attach(query), broadcast=binder.is_broadcast(rows)))


def _netted(plan: Plan, signed: exp.Select) -> exp.Select:
    """Each distinct row with its WEIGHT: copies that came less copies that went. Rows that cancel are left out."""
    types = plan.root.types
    groups = {name: told_apart(column(name), types[name]) for name in plan.root.columns}
    values = [alias(exp.Cast(this=group.copy(), to=types[name].copy()), name) if is_float(types[name]) else group.copy()
              for name, group in groups.items()]
    weight = exp.Sum(this=column(SIGN))
    return (exp.Select(expressions=[*values, alias(weight, WEIGHT)])
            .from_(subquery(signed, "signed_rows")).group_by(*groups.values())
            .having(exp.NEQ(this=weight.copy(), expression=exp.Literal.number(0))))


def _by_id(plan: Plan, merge: Merge) -> exp.Select:
    """A D row for each ID that went, an I row for each that came; of the two tuples of an update the new one, as I."""
    ids, names = plan.root.ids, plan.root.columns
    last = exp.Window(this=exp.Max(this=column(WEIGHT)), partition_by=[column(name) for name in ids])
    ranked = exp.Select(expressions=[*(column(name) for name in (*names, WEIGHT)), alias(last, _LAST)]).from_(NET)
    came = exp.GT(this=column(WEIGHT), expression=exp.Literal.number(0))
    op = exp.Case(ifs=[exp.If(this=came, true=exp.Literal.string("I"))], default=exp.Literal.string("D"))
    merge.on(*(same(Merge.target(plan.stored(name)), column(name, SOURCE)) for name in ids))
    values = {c.name: column(c.attribute, SOURCE) for c in plan.columns}
    merge.matched_delete(op_is("D"))
    merge.matched_update(op_is("I"), {c.name: values[c.name] for c in plan.columns if c.attribute not in ids})
    merge.not_matched_insert(op_is("I"), values)
    return (exp.Select(expressions=[alias(op, OP), *(column(name) for name in names)]).from_(subquery(ranked, "ranked"))
            .where(exp.EQ(this=column(WEIGHT), expression=column(_LAST))))


def _by_copies(plan: Plan, binder: StatementBinder, target: str, merge: Merge) -> exp.Select:
    """The view is read for the rows that changed: what is stored and what came make up the new number of copies."""
    names = plan.root.columns
    stored = binder.alias(TARGET)
    table = exp.alias_(binder.binding.dialect.table(target, None), stored, table=True)
    old = Block((Source(table),), {name: column(plan.stored(name), stored) for name in names})
    old = old.filter(exists(named_block(NET, names, binder.alias(NET)), old, names))
    parts = [exp.Select(expressions=[*(column(name) for name in names), alias(column(WEIGHT), COPIES)]).from_(NET),
             old.select().select(alias(exp.Literal.number(1), COPIES), copy=False)]
    copies = exp.Cast(this=exp.Sum(this=exp.column(COPIES)), to=exp.DataType.build("int"))
    changed = (exp.Select(expressions=[*(column(name) for name in names), alias(copies, COPIES)])
               .from_(subquery(union_all(parts), "counted")).group_by(*(column(name) for name in names)))
    return replace_copies(plan, changed, merge)
