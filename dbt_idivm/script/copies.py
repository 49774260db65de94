"""Rows of a view whose IDs are not unique, replaced by number of copies: MERGE cannot take away one of several equal rows.

A D row removes all copies of a changed row, and as many I rows as there are to be bring them back.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import alias, column, same
from dbt_idivm.script.merge import OP, SOURCE, Merge, op_is
from dbt_idivm.script.plan import Plan

COPIES = "idivm_copies"
_COPY = "idivm_copy"


def replace_copies(plan: Plan, changed: exp.Select, merge: Merge) -> exp.Select:
    """The source for `merge`, whose clauses are added. `changed`: distinct rows of the view, and how many COPIES are to be."""
    names = plan.root.columns
    merge.on(op_is("D"), *(same(Merge.target(plan.stored(n)), column(n, SOURCE)) for n in names))
    merge.matched_delete(None)
    merge.not_matched_insert(op_is("I"), {c.name: column(c.attribute, SOURCE) for c in plan.columns})
    # Spark does not resolve a MERGE whose source uses the grouped rows twice: each makes its D and its I rows itself
    series = exp.GenerateSeries(start=exp.Literal.number(0), end=exp.column(COPIES))
    rows = exp.Select(expressions=[*(column(n) for n in names), exp.alias_(exp.Explode(this=series), _COPY)])
    first = exp.EQ(this=exp.column(_COPY), expression=exp.Literal.number(0))
    op = exp.Case(ifs=[exp.If(this=first, true=exp.Literal.string("D"))], default=exp.Literal.string("I"))
    return (exp.Select(expressions=[alias(op, OP), *(column(n) for n in names)])
            .from_(subquery(rows.from_(subquery(changed, "changed")), "copies")))
