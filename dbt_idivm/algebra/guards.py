"""A guard for casts of text to TIMESTAMP: a text that holds only a time of day raises an error.

    CAST(s AS TIMESTAMP)    CAST(CASE WHEN s RLIKE '^…T?[0-9]+:' THEN RAISE_ERROR('…') ELSE s END AS TIMESTAMP)

Spark completes '10:15' with the current date, so that a row would keep the date on which it was read (ADR 0011). If the planned
query meets such a text, it fails, and the view is rebuilt from the user's own SQL on each run.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.expressions import call_name

# Whitespace that Spark trims, a sign, then hours, or T and hours. No backslashes: their meaning depends on a session setting.
_TIME_ALONE = "^[^!-~]*[+-]?(T[0-9]|[0-9]+:)"
MESSAGE = "a text that is cast to TIMESTAMP holds a time alone, which Spark completes by the current day"


def guarded(text: exp.Expr) -> exp.Case:
    """`text` wrapped in a CASE that raises an error if it holds only a time of day."""
    test = exp.RegexpLike(this=text.copy(), expression=exp.Literal.string(_TIME_ALONE))
    error = exp.Anonymous(this="RAISE_ERROR", expressions=[exp.Literal.string(MESSAGE)])
    return exp.Case(ifs=[exp.If(this=test, true=error)], default=text.copy())


def guarded_text(node: exp.Expr) -> exp.Expr | None:
    """The text inside a guard; None if `node` is not a guard."""
    node = node.unnest()
    if not isinstance(node, exp.Case) or node.this is not None or len(node.args["ifs"]) != 1:
        return None
    value, text = node.args["ifs"][0].args["true"], node.args.get("default")
    is_error = isinstance(value, exp.Anonymous) and call_name(value) == "raise_error"
    return text if is_error and text is not None and node == guarded(text) else None


def without_guards(query: exp.Expr) -> exp.Expr:
    """A copy of the query with each guard replaced by its text."""

    def plain(node: exp.Expr) -> exp.Expr:
        text = guarded_text(node) if isinstance(node, exp.Case) else None
        return node if text is None else plain(text.copy())

    return query.transform(plain)
