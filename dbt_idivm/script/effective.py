"""The effective application: the exact net change of the view, one source row a view row, unchanged rows left out.

    old_rows  the view's rows that some i-diff names
    new_rows  what they are to be: recomputed rows, inserted rows, updated rows
    source    old_rows ⟗ new_rows by full ID, without the pairs that are equal

Rows of a view whose IDs are not unique (inputs without a key) are compared by number of copies; one D row removes all
copies of a changed row, and as many I rows as there are to be bring them back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from dbt_idivm.algebra.block import Block, Source, isolate, subquery
from dbt_idivm.algebra.expressions import alias, column, conjunction, same
from dbt_idivm.algebra.relation import exists, project, union_all
from dbt_idivm.idiff.idiff import INS, REC, UPD, IDiff
from dbt_idivm.script.binding import Binding, StatementBinder
from dbt_idivm.script.merge import OP, SOURCE, TARGET, Merge, source_query
from dbt_idivm.script.plan import Plan

OLD, NEW = "old_rows", "new_rows"
_HIT = "idivm_hit"


def effective_merge(plan: Plan, idiffs: tuple[IDiff, ...], binding: Binding, target: str) -> exp.Merge:
    """The MERGE of the i-diffs' exact effect. `idiffs` are not empty."""
    binder = binding.statement()
    feed = any(binder.is_feed(diff.relation) for diff in idiffs)
    idiffs = tuple(binder.define(diff) for diff in idiffs)
    old = _old_rows(plan, idiffs, binder, binding, target)
    new = _new_rows(plan, idiffs, binder)
    query, merge = (_by_id if plan.root.unique else _by_copies)(plan, idiffs, Merge(target, binding.dialect))
    query = query.with_(OLD, as_=old, append=False, copy=False)
    for name, definition in ((NEW, new), *(() if plan.root.unique else (("changed", _changed(plan)),))):
        query = query.with_(name, as_=definition, copy=False)
    return merge.build(source_query(binder.attach(query), broadcast=feed))


def _old_rows(plan: Plan, idiffs: tuple[IDiff, ...], binder: StatementBinder, binding: Binding, target: str) -> exp.Select:
    stored = binder.alias(TARGET)
    table = exp.alias_(binding.dialect.table(target, None), stored, table=True)
    block = Block((Source(table),), {name: column(plan.stored(name), stored) for name in plan.root.columns})
    return replace(block, where=(exp.paren(exp.or_(*_named_by(idiffs, block, binder))),)).select()


def _named_by(idiffs: Sequence[IDiff], block: Block, binder: StatementBinder) -> list[exp.Expr]:
    """For each i-diff: does it name the row of `block`?"""
    return [exists(project(diff.relation, diff.ids).block(binder), block, diff.ids) for diff in idiffs]


def _without(block: Block, idiffs: Sequence[IDiff], binder: StatementBinder) -> Block:
    """The rows that none of `idiffs` covers: united by exclusion, because UNION would drop copies, UNION ALL add some."""
    return replace(block, where=block.where + tuple(exp.Not(this=t) for t in _named_by(idiffs, block, binder)))


def _new_rows(plan: Plan, idiffs: tuple[IDiff, ...], binder: StatementBinder) -> exp.Query:
    recs, inserts, updates = ([d for d in idiffs if d.kind is kind] for kind in (REC, INS, UPD))
    columns = plan.root.columns
    parts = []
    for number, diff in enumerate(recs):
        rows = project(plan.root.restrict(diff.ids, diff.relation), columns).block(binder)
        parts.append(_without(rows, recs[:number], binder).select())
    for number, diff in enumerate(inserts):
        rows = project(diff.relation, columns).block(binder)
        parts.append(_without(rows, [*recs, *inserts[:number]], binder).select())
    if updates:
        covering = [diff for diff in idiffs if diff.kind is not UPD]
        parts.append(_updated_rows(plan, updates, covering, binder))
    if not parts:
        # deletions only
        empty = Block((Source(exp.to_table(OLD)),), {name: column(name, OLD) for name in columns})
        return replace(empty, where=(exp.false(),)).select()
    return union_all(parts)


def _updated_rows(plan: Plan, updates: list[IDiff], covering: list[IDiff], binder: StatementBinder) -> exp.Select:
    """Old rows with what the updates assign, but for those that another i-diff covers."""
    names = [binder.alias("upd") for _ in updates]
    block = Block((Source(exp.to_table(OLD)),), {name: column(name, OLD) for name in plan.root.columns})
    output: dict[str, exp.Expr] = {}
    for attribute, value in block.output.items():
        hits = [exp.If(this=column(_HIT, name), true=column(attribute, name))
                for name, diff in zip(names, updates, strict=True) if attribute in diff.assigned]
        output[attribute] = exp.Case(ifs=hits, default=value) if hits else value
    query = replace(_without(block, covering, binder), output=output).select()
    for name, diff in zip(names, updates, strict=True):
        rows = diff.relation.block(binder).select().select(exp.alias_(exp.true(), _HIT))
        on = conjunction(same(column(i, OLD), column(i, name)) for i in diff.ids) or exp.true()
        query = query.join(exp.Join(this=subquery(rows, name), side="LEFT", on=on), copy=False)
    return query.where(exp.or_(*(column(_HIT, name) for name in names)), copy=False)


def _by_id(plan: Plan, idiffs: tuple[IDiff, ...], merge: Merge) -> tuple[exp.Select, Merge]:
    ids = plan.root.ids
    rest = tuple(name for name in plan.root.columns if name not in ids)
    was, to_be = column(_HIT, OLD), column(_HIT, NEW)
    gone, come = (exp.Is(this=mark.copy(), expression=exp.null()) for mark in (to_be, was))
    op = exp.Case(ifs=[exp.If(this=gone.copy(), true=exp.Literal.string("D")),
                       exp.If(this=come.copy(), true=exp.Literal.string("I"))], default=exp.Literal.string("U"))
    output: list[exp.Expr] = [alias(op, OP)]
    output += [alias(exp.Case(ifs=[exp.If(this=gone.copy(), true=column(name, OLD))], default=column(name, NEW)), name)
               for name in ids]
    output += [column(name, NEW) for name in rest]
    equal = conjunction(same(column(name, OLD), column(name, NEW)) for name in rest) or exp.true()
    on = conjunction(same(column(name, OLD), column(name, NEW)) for name in ids) or exp.true()
    query = exp.Select(expressions=output).from_(_marked(OLD)).join(
        exp.Join(this=_marked(NEW), side="FULL", kind="OUTER", on=on))
    query = query.where(exp.or_(gone, come, exp.Not(this=exp.paren(equal))))
    merge.on(*(same(Merge.target(plan.stored(name)), column(name, SOURCE)) for name in ids))
    merge.matched_delete(_op("D"))
    values = {c.name: column(c.attribute, SOURCE) for c in plan.columns}
    merge.matched_update(_op("U"), {c.name: values[c.name] for c in plan.columns if c.attribute not in ids})
    merge.not_matched_insert(_op("I"), values)
    return query, merge


def _marked(name: str) -> exp.Subquery:
    rows = exp.Select(expressions=[exp.Star(), exp.alias_(exp.true(), _HIT)]).from_(name)
    return subquery(rows, name)


def _changed(plan: Plan) -> exp.Select:
    """The distinct rows whose number of copies differs between old_rows and new_rows."""
    names = [column(name) for name in plan.root.columns]
    weight = "idivm_weight"
    parts = [exp.Select(expressions=[*(n.copy() for n in names), exp.alias_(sign, weight)]).from_(source)
             for source, sign in ((NEW, exp.Literal.number(1)), (OLD, exp.Neg(this=exp.Literal.number(1))))]
    total = exp.Sum(this=exp.column(weight))
    return (exp.Select(expressions=[n.copy() for n in names]).from_(subquery(union_all(parts), "rows"))
            .group_by(*names).having(exp.NEQ(this=total, expression=exp.Literal.number(0))))


def _by_copies(plan: Plan, idiffs: tuple[IDiff, ...], merge: Merge) -> tuple[exp.Select, Merge]:
    names = plan.root.columns
    gone = exp.Select(expressions=[alias(exp.Literal.string("D"), OP), *(column(n) for n in names)]).from_("changed")
    new = isolate(exp.Select(expressions=[exp.Star()]).from_(NEW), names, "n")
    new = replace(new, sources=(Source(exp.alias_(exp.to_table(NEW), "n", table=True)),))
    changed = Block((Source(exp.alias_(exp.to_table("changed"), "c", table=True)),), {n: column(n, "c") for n in names})
    back = replace(new, where=(exists(changed, new, names),)).select()
    back = back.select(alias(exp.Literal.string("I"), OP), *back.expressions, append=False)
    rows = subquery(union_all([gone, back]), "rows")
    query = exp.Select(expressions=[exp.Star()]).from_(rows)
    merge.on(_op("D"), *(same(Merge.target(plan.stored(n)), column(n, SOURCE)) for n in names))
    merge.matched_delete(None)
    merge.not_matched_insert(_op("I"), {c.name: column(c.attribute, SOURCE) for c in plan.columns})
    return query, merge


def _op(value: str) -> exp.EQ:
    return exp.EQ(this=column(OP, SOURCE), expression=exp.Literal.string(value))


