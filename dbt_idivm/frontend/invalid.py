"""What sqlglot reads and Spark does not: checks for `refuse.py`, each a finding of the user's SQL."""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.expressions import call_name
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.text import Text
from dbt_idivm.operators.aggregate import FUNCTIONS


def arguments(node: exp.Expr, text: Text) -> Finding | None:
    """An aggregate of one argument with more: it stays a call by name."""
    if call_name(node) not in FUNCTIONS:
        return None
    return finding(229, text.place(node), what=f"{call_name(node)} of {len(node.expressions)} arguments")


def double_name(node: exp.Expr, text: Text) -> Finding | None:
    """Two CTEs of one name. In another case it is another name, and the last one is meant."""
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
    """A set operation with a branch that is not a query, such as a table's bare name."""
    sides = [node.this, node.args.get("expression")] if isinstance(node, exp.SetOperation) else []
    wrong = next((side for side in sides if not isinstance(side, exp.Query)), None)
    return None if wrong is None else finding(220, text.place(wrong), message="a branch of a set operation is not a query")
