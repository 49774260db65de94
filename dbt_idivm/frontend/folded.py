"""Values that Spark's optimizer may recognise as NULL in all rows of a part of the query.

    SELECT … FROM (SELECT k, x FROM t UNION ALL SELECT k, CAST(NULL AS INT) FROM u) AS v WHERE x NOT IN (SELECT y FROM r)

In SQL, NOT IN over no rows is true, even for NULL. Without ANSI mode (`spark.sql.legacy.nullInEmptyListBehavior`) Spark evaluates
NOT IN for a NULL that it recognises to NULL, even if r is empty. Which NULLs it recognises depends on its optimizer.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes
from dbt_idivm.algebra.operator import Operator


def may_be_folded(value: exp.Expr, root: Operator) -> bool:
    """Whether the value, over attributes of `root`, may be a NULL that Spark recognises.

    It may if a NULL is written below, or a CASE without ELSE is over constants.
    """
    names = attributes(value)
    if value.find(exp.Null) is not None or any(_may_be_folded(name, root) for name in names):
        return True
    open_case = any(each.args.get("default") is None for each in value.find_all(exp.Case))
    return open_case and any(_may_be_constant(name, root) for name in names)


def _may_be_folded(name: str, root: Operator) -> bool:
    """Whether an attribute may be such a NULL in some branch below."""
    value = dict(root.defined).get(name)
    if value is not None:
        return any(may_be_folded(value, each) for each in root.inputs)
    if any(name in each.columns for each in _never_joined(root)):
        return True
    return any(source is None or _may_be_folded(source, part) for source, part in _below(name, root))


def _may_be_constant(name: str, root: Operator) -> bool:
    value = dict(root.defined).get(name)
    if value is not None:
        return not attributes(value) or any(_may_be_constant(each, part) for each in attributes(value) for part in root.inputs)
    return any(source is None or _may_be_constant(source, part) for source, part in _below(name, root))


def _below(name: str, root: Operator) -> list[tuple[str | None, Operator]]:
    """(name in the input, input) for each input from which the values of an attribute come; empty if it is computed from rows."""
    united = next((sources for output, sources in root.united if output == name), None)
    if united is not None:
        return list(zip(united, root.inputs, strict=True))
    return [(name, each) for each in root.inputs if name in each.columns]


def _never_joined(root: Operator) -> list[Operator]:
    """The padded inputs of an operator with a condition that is a constant, and may be false."""
    is_constant = any(not attributes(each) and each != exp.true() for each in root.conditions)
    return [root.inputs[side] for side in root.padded] if is_constant else []
