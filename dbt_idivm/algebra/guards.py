"""A guard on data: a text that is cast to TIMESTAMP, as long as it does not hold a time alone.

    CAST(s AS TIMESTAMP)    CAST(CASE WHEN s RLIKE '^…T?[0-9]+:' THEN RAISE_ERROR('…') ELSE s END AS TIMESTAMP)

Spark completes '10:15' by the current day, so that a row would keep the day on which it was read (ADR 0011). Such a text is an
error of the planned query, and the view is built from the user's own text on each run then.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.expressions import call_name

# What Spark trims, a sign, and hours or a T that is followed by hours. No backslash: a session may read them in another way.
_TIME_ALONE = "^[^!-~]*[+-]?(T[0-9]|[0-9]+:)"
MESSAGE = "a text that is cast to TIMESTAMP holds a time alone, which Spark completes by the current day"


def guarded(text: exp.Expr) -> exp.Case:
    """The text, or an error if it holds a time alone."""
    test = exp.RegexpLike(this=text.copy(), expression=exp.Literal.string(_TIME_ALONE))
    error = exp.Anonymous(this="RAISE_ERROR", expressions=[exp.Literal.string(MESSAGE)])
    return exp.Case(ifs=[exp.If(this=test, true=error)], default=text.copy())


def guarded_text(node: exp.Expr) -> exp.Expr | None:
    """The text that is guarded by the expression; None if it is no guard."""
    node = node.unnest()
    if not isinstance(node, exp.Case) or node.this is not None or len(node.args["ifs"]) != 1:
        return None
    value, text = node.args["ifs"][0].args["true"], node.args.get("default")
    is_error = isinstance(value, exp.Anonymous) and call_name(value) == "raise_error"
    return text if is_error and text is not None and node == guarded(text) else None


def without_guards(query: exp.Expr) -> exp.Expr:
    """What a query means where no text holds a time alone."""

    def plain(node: exp.Expr) -> exp.Expr:
        text = guarded_text(node) if isinstance(node, exp.Case) else None
        return node if text is None else plain(text.copy())

    return query.transform(plain)
