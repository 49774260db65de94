"""Aggregate expressions: an aggregate function, with the sort or count around it that makes it independent of the row order.

    corr(x, y)         percentile_cont(0.5) WITHIN GROUP (ORDER BY x)        array_sort(collect_list(x))
    percentile(x, 0.5)  listagg(x, ',') WITHIN GROUP (ORDER BY x)            size(collect_set(x))
    collect_list(x)     first(x) FILTER (WHERE c) IGNORE NULLS

An aggregate is a call by name (`exp.AnonymousAggFunc`) if sqlglot has no node for it, or would render its node differently.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, call_name
from dbt_idivm.algebra.inference import stored_type
from dbt_idivm.algebra.types import Type, is_text

COLLECTIONS = frozenset({"collect_list", "collect_set", "array_agg"})
LISTS = frozenset({"listagg", "string_agg"})
_COUNTS = frozenset({"regr_count", "approx_count_distinct"})
# regr_avgx and regr_avgy have the types of an average, percentiles of intervals are intervals
_DOUBLES = frozenset(
    {"corr", "covar_pop", "covar_samp", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy"}
)
_SIZES = frozenset({"cardinality", "array_size"})
BY = (exp.ArgMax, exp.ArgMin)  # max_by(x, y), min_by(x, y)
ANY = (exp.AnyValue, exp.First, exp.FirstValue, exp.Last, exp.LastValue)  # the value of some row
_COLLECTING = (exp.ArrayAgg, exp.ArrayUniqueAgg)


def name_of(function: exp.Expr) -> str:
    """The name of an aggregate that is a call by name, in lower case; "" for any other node."""
    return function.name.lower() if isinstance(function, exp.AnonymousAggFunc) else ""


def is_collection(function: exp.Expr) -> bool:
    """Whether this collects the values of a group, in the order of its rows."""
    return isinstance(function, _COLLECTING) or name_of(function) in COLLECTIONS


def function_of(node: exp.Expr) -> exp.AggFunc | None:
    """The aggregate function inside one aggregate expression, e.g. `collect_list(x)` in `array_sort(collect_list(x))`; None if
    `node` is not an aggregate.
    """
    if isinstance(node, exp.AggFunc):
        return node
    inner = node.this if isinstance(node, exp.WithinGroup | exp.Filter | exp.IgnoreNulls) else _arranged(node)
    inner = inner.this if isinstance(inner, exp.Filter) else inner
    if not isinstance(inner, exp.AggFunc):
        return None
    if isinstance(node, exp.Filter | exp.IgnoreNulls):
        return inner if isinstance(inner, BY + ANY if isinstance(node, exp.Filter) else ANY) else None
    return inner if isinstance(node, exp.WithinGroup) or is_collection(inner) else None


def whole(function: exp.Expr) -> exp.Expr:
    """The aggregate expression that `function` belongs to: with its FILTER, WITHIN GROUP,
    sort or size. The inverse of `function_of`.
    """
    found, above = function, function.parent
    while above is not None and (isinstance(above, exp.Filter) or function_of(above) is function):
        found = above if function_of(above) is function else found
        above = above.parent
    return found


def is_completable(function: exp.Expr) -> bool:
    """Whether the aggregate around an order-dependent function has one result if the rows of a group have an order."""
    return is_settled(function) or is_collection(function) or name_of(function) in LISTS


def is_settled(function: exp.Expr) -> bool:
    """Whether the aggregate around an order-dependent function does not depend on the order of rows.

    max_by and min_by count as settled: they are if no two rows of a group have the same y. So do first and the like: they are if
    all rows of a group have the same value.
    """
    around = whole(function)
    if isinstance(function, ANY):
        return True
    if isinstance(function, BY):
        return function.args.get("count") is None
    if isinstance(around, exp.WithinGroup) and name_of(function) in LISTS:
        return value_of(function) in [each.this for each in around.expression.expressions]  # rows that tie have equal texts
    return around is not function and is_collection(function)


def condition_of(aggregate: exp.Expr) -> exp.Expr | None:
    """The condition of its FILTER; None if it has none."""
    inner = aggregate.this if isinstance(aggregate, exp.IgnoreNulls) else aggregate
    return inner.expression.this if isinstance(inner, exp.Filter) else None


def value_of(function: exp.Expr) -> exp.Expr:
    """The first argument."""
    first = function.expressions[0] if isinstance(function, exp.AnonymousAggFunc) else function.this
    found: exp.Expr = first.expressions[0] if isinstance(first, exp.Distinct) else first
    return found


def is_sorting(node: exp.Expr) -> bool:
    """Whether this call sorts an array by its elements, in an explicit direction."""
    if isinstance(node, exp.Anonymous):  # sort_array(x, true), which sqlglot would write as sort_array(x)
        return call_name(node) == "sort_array" and len(node.expressions) == 2 and isinstance(node.expressions[1], exp.Boolean)
    return isinstance(node, exp.ArraySort) and not node.expression and isinstance(node.args.get("asc"), exp.Boolean | None)


def _arranged(node: exp.Expr) -> exp.Expr | None:
    """The array that this call sorts or counts; None for any other call."""
    if isinstance(node, exp.Anonymous):
        counted = call_name(node) in _SIZES and len(node.expressions) == 1
        return node.expressions[0] if counted or is_sorting(node) else None
    return node.this if is_sorting(node) or (isinstance(node, exp.ArraySize) and not node.expression) else None


def type_of_aggregate(node: exp.Expr, below: Mapping[str, exp.DataType]) -> exp.DataType | None:
    """The type of a collection, a max_by, a first, a listagg or a statistical aggregate such as
    corr, given the types of its attributes.

    None for any other aggregate, and if the type of its value is not known.
    """
    function = function_of(node)
    if function is None:
        return None
    if is_collection(function):
        if _is_size(node):
            return exp.DataType.build("int")
        kind = _type_of_value(function, below)
        return None if kind is None else exp.DataType(this=Type.ARRAY, expressions=[kind.copy()], nested=True)
    if isinstance(function, BY + ANY):
        return _type_of_value(function, below)
    name = name_of(function)
    if name in LISTS:
        kind = _type_of_value(function, below)
        return kind if kind is not None and is_text(kind) else None
    return exp.DataType.build("bigint" if name in _COUNTS else "double") if name in _COUNTS | _DOUBLES else None


def like_aggregate(node: exp.Expr) -> exp.Expr | None:
    """An expression over the same attributes that has the type of the aggregate; None if there is no such expression.

    `x` for `max_by(x, y)`; an array of `x` for a sorted array of the values of `x`.
    """
    function = function_of(node)
    if isinstance(function, BY + ANY):
        return value_of(function).copy()
    if function is not None and is_collection(function) and not _is_size(node):
        return exp.Array(expressions=[value_of(function).copy()])
    return None


def value_of_nothing(node: exp.Expr) -> exp.Expr | None:
    """The value of an aggregate over no rows; None if it is NULL."""
    function = function_of(node)
    if function is not None and is_collection(function):
        return exp.Literal.number(0) if _is_size(node) else exp.Array()
    return exp.Literal.number(0) if isinstance(node, exp.Count) or name_of(node) in _COUNTS else None


def _is_size(node: exp.Expr) -> bool:
    """Whether an aggregate expression that is, or contains, a collection is its size."""
    return not isinstance(node, exp.AggFunc) and not is_sorting(node)


def _type_of_value(function: exp.Expr, below: Mapping[str, exp.DataType]) -> exp.DataType | None:
    value = value_of(function)
    kind = below.get(value.name) if isinstance(value, exp.Column) else None
    return None if kind is None or kind.this == Type.UNKNOWN else stored_type(kind)


def operands_of(node: exp.Expr) -> list[exp.Expr]:
    """What an aggregate evaluates for each row: the largest subexpressions that read columns, outermost first."""
    if function_of(node) is None and not isinstance(node, _PARTS):
        return [node] if attributes(node) else []
    return [found for child in node.iter_expressions() for found in operands_of(child)]


_PARTS = (exp.Distinct, exp.Order, exp.Ordered, exp.Where)
