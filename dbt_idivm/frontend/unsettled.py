"""Lists and sets of a group whose value depends on the order of its rows.

A sorted list has one value only if its equal elements are identical: of 0.0 and -0.0 that of the first row comes first, and it is
the one that collect_set keeps. COLLECT_SET compares arrays and structs in the form in which Spark happens to have them, so that a
value of another task may be another element.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.aggregates import (
    LISTS,
    equal_is_identical,
    function_of,
    is_collection,
    is_settled,
    is_sorting,
    name_of,
    value_of,
)
from dbt_idivm.algebra.expressions import DIALECT, as_written
from dbt_idivm.algebra.inference import certain_type_of_parts
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import Type, infer_type

_UNCERTAIN = "of a type that the planner is not certain of (CAST what it collects),"


def unsettled(aggregate: exp.Expr, rows: Operator) -> str | None:
    """What depends on the order of rows: the aggregate over attributes of `rows`, with the reason; None if it does not."""
    function = function_of(aggregate)
    if function is None or not (name_of(function) in LISTS or is_collection(function)):
        return None
    if not is_settled(function):
        return as_written(aggregate)
    why = _why(function, rows, ordered=name_of(function) in LISTS or is_sorting(aggregate))
    return None if why is None else f"{as_written(aggregate)} {why}"


def _why(function: exp.AggFunc, rows: Operator, *, ordered: bool) -> str | None:
    value, is_set = value_of(function), isinstance(function, exp.ArrayUniqueAgg)
    kind = certain_type_of_parts(value, rows.certain_types)
    if kind is None and not ordered:
        kind = infer_type(value, rows.types)
    if kind is None or (is_set and kind.this == Type.UNKNOWN):
        return _UNCERTAIN
    if ordered and not equal_is_identical(kind):
        return f"of {kind.sql(DIALECT)}, of which equal values may differ as 0.0 and -0.0 do,"
    if is_set and kind.args.get("nested"):
        return f"of {kind.sql(DIALECT)}, of which it may hold equal values twice (use collect_list and DISTINCT),"
    return None
