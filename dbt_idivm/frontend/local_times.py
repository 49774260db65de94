"""Queries for which Spark's optimizer decides what a local time is compared with.

    SELECT k FROM t WHERE CAST(ts AS TIMESTAMP_NTZ) < TIMESTAMP_NTZ '2026-10-25 02:30:00'
    SELECT k FROM t WHERE n < now()                                                           for a TIMESTAMP_NTZ n

Where clocks are put back, an hour of local times comes twice; where they are put forward, one never comes. For constants, and for
rows of a table only, Spark's optimizer converts the constant instead of the column, which is another comparison for times near
that hour. The rows of a refresh are in its statement, or joined. So such rows may be in the one result and not in the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, call_name
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.types import Type, infer_type, inferred
from dbt_idivm.errors import Finding, finding

_COMPARING = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)
_INSTANTS = frozenset({Type.TIMESTAMP, Type.TIMESTAMPTZ, Type.TIMESTAMPLTZ})
_WHAT = "a comparison of a TIMESTAMP with a TIMESTAMP_NTZ, or of one that is cast to the other"
Types = Mapping[str, exp.DataType]


# Wrong without it: sums of such rows would be lost, or added twice.
def compared_local_times(root: Operator) -> Iterator[Finding]:
    """IDIVM-228 if timestamps that are converted to local times, or local times to timestamps, are compared."""
    converted: set[str] = set()
    for node in operators(root):
        types = inferred({name: kind for each in (*node.inputs, node) for name, kind in each.types.items()})
        if any(_compares(each, types, converted) for whole in node.expressions for each in whole.find_all(*_COMPARING)):
            yield finding(228, what=_WHAT)
            return
        converted.update(name for name, made in node.defined if _is_converted(made, types, converted))
        converted.update(name for name, sources in node.united if not converted.isdisjoint(each for each in sources if each))


def _compares(comparison: exp.Expr, types: Types, converted: AbstractSet[str]) -> bool:
    operands = [each for each in comparison.iter_expressions() if isinstance(each, exp.Condition)]
    if any(_is_converted(each, types, converted) for each in operands):
        return True
    kinds = [infer_type(each, types).this for each in operands]
    local = any(kind == Type.TIMESTAMPNTZ and attributes(each) for each, kind in zip(operands, kinds, strict=True))
    return local and not _INSTANTS.isdisjoint(kinds)


def _is_converted(operand: exp.Expr, types: Types, converted: AbstractSet[str]) -> bool:
    """Whether it is a TIMESTAMP of a row as a local time, or the other way round."""
    operand = operand.unnest()
    if isinstance(operand, exp.Column):
        return operand.name in converted
    if not attributes(operand):
        return False
    if call_name(operand) == "to_timestamp_ntz" and operand.expressions:
        return infer_type(operand.expressions[0], types).this in {*_INSTANTS, Type.UNKNOWN}
    if not isinstance(operand, exp.Cast) or operand.to.this not in {Type.TIMESTAMPNTZ, *_INSTANTS}:
        return False
    kind = infer_type(operand.this, types).this
    # texts, whose types are often unknown without an engine, are cast to TIMESTAMP in many queries
    return kind in {*_INSTANTS, Type.UNKNOWN} if operand.to.this == Type.TIMESTAMPNTZ else bool(kind == Type.TIMESTAMPNTZ)
