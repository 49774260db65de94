"""The types of constant expressions of the clock, where they are certain.

What may fail has none: constants are evaluated for each refresh, and the query may never do so.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbt_idivm.algebra.types import name_of_type, type_of
from dbt_idivm.algebra.written_time import CONSTANT_INPUT, clock_calls, is_clock
from dbt_idivm.frontend.families import is_variable
from dbt_idivm.frontend.refuse import own_functions

_OF_CLOCK = {"current_date": "date", "curdate": "date", "localtimestamp": "timestamp_ntz", "unix_timestamp": "bigint"}
_OF_FUNCTIONS: Mapping[str, str] = {
    **dict.fromkeys(("add_months", "date_add", "date_sub", "last_day", "next_day", "to_date", "trunc"), "date"),
    **dict.fromkeys(("date_trunc", "from_utc_timestamp", "to_utc_timestamp"), "timestamp"),
    **dict.fromkeys(("year", "quarter", "month", "weekofyear", "dayofmonth", "dayofweek", "dayofyear", "weekday", "hour"), "int"),
    "date_format": "string",
}
_TIMES = frozenset({"date", "timestamp", "timestamp_ntz"})
# Type → the types to which a cast cannot fail.
_CASTS: Mapping[str | None, frozenset[str]] = {
    **dict.fromkeys(_TIMES, _TIMES | {"string"}),
    **dict.fromkeys(("int", "bigint"), frozenset({"bigint", "string"})),
    "string": frozenset({"string"}),
}
_UNITS = frozenset({"DAY", "DAYS", "MONTH", "MONTHS", "YEAR", "YEARS"})  # of which a date with an interval is a date


def is_constant(expression: exp.Expr) -> bool:
    return not any(isinstance(each, exp.Column | exp.Query) or is_variable(each) for each in expression.walk())


def constant_type(expression: exp.Expr) -> exp.DataType | None:
    """The type of a constant expression of the clock; None if it is not certain."""
    name = _type(expression)
    return None if name is None else type_of(name)


def _type(node: exp.Expr) -> str | None:
    if isinstance(node, CONSTANT_INPUT):
        return node.text("kind")
    if is_clock(node):
        (name,) = own_functions(node)
        return _OF_CLOCK.get(name, "timestamp")
    if isinstance(node, exp.Paren):
        return _type(node.this)
    if isinstance(node, exp.Cast):
        name = name_of_type(node.to)
        return name if name in _CASTS.get(_type(node.this), ()) else None
    if isinstance(node, exp.Add | exp.Sub):
        return _of_sum(_type(node.left), node.right.unnest())
    if not isinstance(node, exp.Func) or (isinstance(node, exp.TsOrDsToDate) and isinstance(node.parent, exp.Func)):
        return None  # sqlglot adds conversions to the arguments of functions, which it does not print
    functions, read = own_functions(node), [_argument(each) for each in node.iter_expressions() if clock_calls(each)]
    return _OF_FUNCTIONS.get(functions[0]) if len(functions) == 1 and all(_type(each) in _TIMES for each in read) else None


def _argument(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.TsOrDsToDate | exp.TimeStrToTime) else node


def _of_sum(left: str | None, right: exp.Expr) -> str | None:
    """The type of a time with a number of days, or an interval, added or subtracted."""
    if isinstance(right, exp.Interval):
        return left if left == "timestamp" or (left == "date" and is_of_days(right)) else None
    return left if left == "date" and isinstance(right, exp.Literal) and right.is_int else None


def is_of_days(interval: exp.Interval) -> bool:
    """Whether a date with this interval is a date."""
    return interval.unit is not None and interval.unit.name.upper() in _UNITS and interval.this.name.isdecimal()
