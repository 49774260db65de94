"""Syntax that sqlglot accepts but Spark does not: checks for `refuse.py`, which return findings about the user's SQL."""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.expressions import call_name
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.text import Text
from dbt_idivm.operators.aggregate import FUNCTIONS


def arguments(node: exp.Expr, text: Text) -> Finding | None:
    """An aggregate of one argument that is called with another number of arguments, which makes it a call by name."""
    if call_name(node) not in FUNCTIONS:
        return None
    return finding(229, text.place(node), what=f"{call_name(node)} of {len(node.expressions)} arguments")


def double_name(node: exp.Expr, text: Text) -> Finding | None:
    """Two CTEs with the same name. Names that differ in case are allowed; the last one is used."""
    if not isinstance(node, exp.With):
        return None
    names = [cte.alias for cte in node.expressions]
    double = next((cte for place, cte in enumerate(node.expressions) if cte.alias in names[:place]), None)
    return None if double is None else finding(229, text.place(double.args["alias"]), what=f"two CTEs called {double.alias}")


def symmetric(node: exp.Expr, text: Text) -> Finding | None:
    if not isinstance(node, exp.Between) or node.args.get("symmetric") is None:
        return None
    word = "SYMMETRIC" if node.args["symmetric"] else "ASYMMETRIC"
    return finding(229, text.place(node.args["low"], word), what=f"BETWEEN {word}")


def branches(node: exp.Expr, text: Text) -> Finding | None:
    """A set operation with a branch that is not a query, such as a bare table name."""
    sides = [node.this, node.args.get("expression")] if isinstance(node, exp.SetOperation) else []
    wrong = next((side for side in sides if not isinstance(side, exp.Query)), None)
    return None if wrong is None else finding(220, text.place(wrong), message="a branch of a set operation is not a query")
