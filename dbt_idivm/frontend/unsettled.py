"""Aggregates whose result may depend on the row order: lists and sets of a group, and values selected by an order.

A sorted list is determined only if its equal elements are identical: of 0.0 and -0.0, the value that is read first comes first,
and collect_set keeps it. collect_set compares arrays and structs by their internal representation, so that equal values from
different tasks may be different elements. max_by and min_by take the first of the rows with the greatest or least y. first, last
and any_value take any row, so they are determined only if all rows of a group have the same value.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.aggregates import (
    ANY,
    BY,
    LISTS,
    function_of,
    is_collection,
    is_settled,
    is_sorting,
    name_of,
    value_of,
)
from dbt_idivm.algebra.expressions import DIALECT, as_written, attributes, column
from dbt_idivm.algebra.inference import certain_type, determined_by, parts_of_value
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import Type, equal_is_identical, infer_type
from dbt_idivm.passes.annotate import facts_of
from dbt_idivm.passes.infer_ids import infer_ids

_SEVERAL = (
    "takes any of the values of its group (min(x) or, with a key id, min_by(x, id) always takes the same one), so its result"
)
_TIES = "takes any of the rows with the same y (y and the groups are no key; struct(y, id) with a key id breaks the ties), so it"
_UNCERTAIN = "reads values whose type is not certain (CAST them), so its result"


def unsettled(aggregate: exp.Expr, rows: Operator, groups: frozenset[str]) -> str | None:
    """The aggregate, over attributes of `rows`, and why it depends on the row order; None if it does not.

    `groups`: the attributes among the expressions of GROUP BY.
    """
    function = function_of(aggregate)
    if isinstance(function, ANY):
        return f"{as_written(aggregate)} {_why(function, rows, ordered=True) or _SEVERAL}"
    if isinstance(function, BY):
        order = function.expression  # missing if there is one argument, which Spark refuses
        return None if order is not None and _has_one_row_by(order, rows, groups) else f"{as_written(aggregate)} {_TIES}"
    if function is None or not (name_of(function) in LISTS or is_collection(function)):
        return None
    if not is_settled(function):
        return as_written(aggregate)
    why = _why(function, rows, ordered=name_of(function) in LISTS or is_sorting(aggregate))
    return None if why is None else f"{as_written(aggregate)} {why}"


def is_common(value: exp.Expr, rows: Operator, groups: frozenset[str]) -> bool:
    """Whether the attributes `groups` determine all attributes that an expression reads, so that it has one value per group."""
    used = attributes(value)
    determined = determined_by(groups, facts_of(infer_ids(rows)).dependencies)
    return bool(groups and used) and all(name in determined and has_identical_values(column(name), rows) for name in used)


# Wrong without it: 0.0 and -0.0 are one group, and first(x) may be either.
def has_identical_values(value: exp.Expr, rows: Operator) -> bool:
    """Whether equal values of an expression are certainly identical."""
    kind = certain_type(value, rows.certain_types)
    return kind is not None and equal_is_identical(kind)


# Wrong without it: for (1, 'a', 7) and (2, 'b', 7), max_by(text, number) is the text of the row that Spark happens to read first.
def _has_one_row_by(order: exp.Expr, rows: Operator, groups: frozenset[str]) -> bool:
    """Whether no two rows of a group have the same value of the column (NULL apart) or struct
    `order`, also inside a CASE from FILTER.
    """
    parts = parts_of_order(order)
    facts = facts_of(infer_ids(rows)) if parts else None
    return facts is not None and facts.unique and determined_by(groups | parts, facts.dependencies) >= {*facts.ids}


def parts_of_order(order: exp.Expr) -> frozenset[str]:
    """The attributes that `order`, the y of max_by(x, y), determines, also inside a CASE from FILTER, which is NULL elsewhere."""
    if isinstance(order, exp.Case) and len(order.args["ifs"]) == 1 and not order.this and not order.args.get("default"):
        order = order.args["ifs"][0].args["true"]
    return parts_of_value(order)


def _why(function: exp.AggFunc, rows: Operator, *, ordered: bool) -> str | None:
    value, is_set = value_of(function), isinstance(function, exp.ArrayUniqueAgg)
    kind = certain_type(value, rows.certain_types)
    if kind is None and not ordered:
        kind = infer_type(value, rows.types)
    if kind is None or (is_set and kind.this == Type.UNKNOWN):
        return _UNCERTAIN
    if ordered and not equal_is_identical(kind):
        return f"reads values of type {kind.sql(DIALECT)}, which may be equal but differ like 0.0 and -0.0, so its result"
    if is_set and kind.args.get("nested"):
        return f"may keep equal values of type {kind.sql(DIALECT)} twice (use collect_list and DISTINCT), so its result"
    return None
