"""Queries for which Spark's optimizer decides what a local time is compared with.

    SELECT k FROM t WHERE CAST(ts AS TIMESTAMP_NTZ) < TIMESTAMP_NTZ '2026-10-25 02:30:00'

Where clocks are put back, an hour of local times comes twice. Spark's optimizer compares `ts` with the first of the two instants
of a constant local time. It does so only for constants, and only for rows of a table. For the rows in a statement, as those of a
refresh are, it compares local times. So rows of that hour may be in the one result and not in the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, call_name
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.types import Type, infer_type, inferred
from dbt_idivm.errors import Finding, finding

_COMPARING = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)
_INSTANTS = frozenset({Type.TIMESTAMP, Type.TIMESTAMPTZ, Type.TIMESTAMPLTZ, Type.UNKNOWN})
Types = Mapping[str, exp.DataType]


# Wrong without it: sums of such rows would be lost, or added twice.
def compared_local_times(root: Operator) -> Iterator[Finding]:
    """IDIVM-228 if timestamps are converted to local times, and local times are compared."""
    known = [(each, inferred(_types(node))) for node in operators(root) for each in node.expressions]
    if any(_converts(each, types) for each, types in known) and any(_compares(each, types) for each, types in known):
        yield finding(228, what="a comparison of a TIMESTAMP that is cast to TIMESTAMP_NTZ (compare it as a TIMESTAMP)")


def _types(node: Operator) -> Types:
    return {name: kind for each in node.inputs for name, kind in each.types.items()} | dict(node.types)


def _converts(expression: exp.Expr, types: Types) -> bool:
    """Whether it converts a timestamp of a row to a local time."""
    return any(
        infer_type(each.this if isinstance(each, exp.Cast) else each.expressions[0], types).this in _INSTANTS
        for each in expression.walk()
        if _is_conversion(each) and attributes(each)
    )


def _is_conversion(node: exp.Expr) -> bool:
    if isinstance(node, exp.Cast):
        return bool(node.to.this == Type.TIMESTAMPNTZ)
    return call_name(node) == "to_timestamp_ntz" and bool(node.expressions)


def _compares(expression: exp.Expr, types: Types) -> bool:
    return any(
        infer_type(operand, types).this == Type.TIMESTAMPNTZ
        for each in expression.find_all(*_COMPARING)
        for operand in each.iter_expressions()
        if isinstance(operand, exp.Condition)
    )
