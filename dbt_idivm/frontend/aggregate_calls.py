"""Calls of aggregates that have no rule, or that Spark does not accept: checks for `refuse.py`."""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.aggregates import ANY, LISTS, name_of
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend import functions
from dbt_idivm.frontend.resolve import without_nulls_clause
from dbt_idivm.frontend.text import Text
from dbt_idivm.operators.aggregate import FUNCTIONS


def filtered(node: exp.Expr, text: Text) -> Finding | None:
    """FILTER after something other than an aggregate."""
    if not isinstance(node, exp.Filter) or isinstance(node.this, exp.AggFunc | exp.WithinGroup):
        return None
    if isinstance(without_nulls_clause(node.this), ANY):
        return None
    # a call by name may be an aggregate that we do not know
    code, what = (
        (228, "FILTER of {}") if isinstance(node.this, exp.Anonymous) else (229, "FILTER of {}, which is not an aggregate")
    )
    return finding(code, text.place(node), what=what.format(text.source(node.this)))


def aggregate_shape(node: exp.Expr, text: Text) -> Finding | None:
    """An aggregate of one value that has several arguments or its own ORDER BY. COUNT may have several arguments."""
    if isinstance(node, exp.CountIf) and isinstance(node.this, exp.Distinct):
        return finding(228, text.place(node), what=text.source(node))
    if isinstance(node, exp.AnonymousAggFunc) and not node.expressions:
        return finding(229, text.place(node), what=f"{text.source(node)} without an argument")
    if not isinstance(node, (*FUNCTIONS.values(), exp.CountIf)):
        return None
    operand = node.this
    if operand is None:
        return finding(229, text.place(node), what=f"{text.source(node)} without an argument")
    operands = [*(operand.expressions if isinstance(operand, exp.Distinct) else [operand]), *node.expressions]
    several = len(operands) != 1
    star = any(part.is_star and (several or not isinstance(part, exp.Star)) for part in operands)
    star = star or (isinstance(operand, exp.Distinct) and any(part.is_star for part in operands))
    if not star and (not several or isinstance(node, exp.Count)):
        return None
    return finding(228, text.place(node), what=f"{text.source(node)}: an aggregate with several columns")


def within_group(node: exp.Expr, text: Text) -> Finding | None:
    """WITHIN GROUP of an aggregate that does not take it, or with several sort keys; percentile_cont and the like without it."""
    needs = name_of(node) in functions.OF_ORDER
    if needs and not isinstance(node.parent, exp.WithinGroup):
        return finding(229, text.place(node), what=f"{text.source(node)} without WITHIN GROUP")
    if not isinstance(node, exp.WithinGroup) or isinstance(node.this, exp.Mode) or name_of(node.this) in LISTS:
        return None
    if name_of(node.this) not in functions.OF_ORDER or len(node.expression.expressions) != 1:
        return finding(229, text.place(node), what=text.source(node))
    return None
