"""Whether a row can satisfy a condition, given its inlined values: SQL's three-valued logic, plus *unknown*.

Only conditions that certainly mean the same here and in the engine are evaluated: comparisons of integers, booleans, dates and
strings with literals and with each other. Everything else is unknown, and a row with an unknown result is kept.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlglot import exp

from dbt_idivm.algebra.types import type_of
from dbt_idivm.script.diff import Value

Truth = bool | None | Literal["unknown"]  # None: NULL

_INTEGERS = (exp.DataType.Type.TINYINT, exp.DataType.Type.SMALLINT, exp.DataType.Type.INT, exp.DataType.Type.BIGINT)
_FAMILIES = {
    **dict.fromkeys(_INTEGERS, "integer"),
    exp.DataType.Type.BOOLEAN: "boolean",
    exp.DataType.Type.DATE: "day",
    exp.DataType.Type.TEXT: "string",
}
_COMPARISONS: Mapping[type[exp.Expr], Callable[[Any, Any], bool]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_PLAIN = re.compile(r"[^\\'\"\x00-\x1f]*")  # without escapes, so that the engine reads it the same under all settings


@dataclass(frozen=True)
class _Known:
    """A value of one family (integer, boolean, day, string). Within a family, values compare as in the engine. None is NULL."""

    family: str
    value: Any


def may_hold(conditions: Iterable[exp.Expr], row: Mapping[str, tuple[Value, str]]) -> bool:
    """False only if some condition is certainly not true for the row. `row`: attribute → (value, Spark SQL type)."""
    known = {name: found for name, (value, kind) in row.items() if (found := _stored(value, kind)) is not None}
    return all(_truth(condition, known) not in (False, None) for condition in conditions)


def _stored(value: Value, kind: str) -> _Known | None:
    family = _FAMILIES.get(type_of(kind).this)
    if family is None or " collate " in kind.lower():
        return None
    if family == "day" and value is not None and not _DAY.fullmatch(str(value)):
        return None
    return _Known(family, value.encode() if family == "string" and isinstance(value, str) else value)


def _truth(condition: exp.Expr, row: Mapping[str, _Known]) -> Truth:
    node = condition.unnest()
    if isinstance(node, exp.And):
        return _both(_truth(node.left, row), _truth(node.right, row))
    if isinstance(node, exp.Or):
        return _not(_both(_not(_truth(node.left, row)), _not(_truth(node.right, row))))
    if isinstance(node, exp.Not):
        return _not(_truth(node.this, row))
    if isinstance(node, exp.Between):
        low, high = node.args["low"], node.args["high"]
        return _both(_compared(operator.ge, node.this, low, row), _compared(operator.le, node.this, high, row))
    if isinstance(node, exp.In):
        return _among(node, row)
    if isinstance(node, exp.Is):
        return _is(node, row)
    if type(node) in _COMPARISONS:
        return _compared(_COMPARISONS[type(node)], node.this, node.expression, row)
    found = _value(node, row)
    return found.value if found is not None and found.family == "boolean" else "unknown"


def _both(one: Truth, other: Truth) -> Truth:
    if one is False or other is False:
        return False
    if one == "unknown" or other == "unknown":
        return "unknown"
    return None if one is None or other is None else True


def _not(truth: Truth) -> Truth:
    return not truth if isinstance(truth, bool) else truth


def _among(node: exp.In, row: Mapping[str, _Known]) -> Truth:
    listed = node.expressions
    if not listed or any(node.args.get(name) is not None for name in ("query", "unnest", "field")):
        return "unknown"
    none: Truth = True
    for each in listed:
        none = _both(none, _compared(operator.ne, node.this, each, row))
    return _not(none)


def _is(node: exp.Is, row: Mapping[str, _Known]) -> Truth:
    found = _value(node.this, row)
    if found is None:
        return "unknown"
    if isinstance(node.expression, exp.Null):
        return found.value is None
    if isinstance(node.expression, exp.Boolean) and found.family == "boolean":
        return bool(found.value is node.expression.this)
    return "unknown"


def _compared(test: Callable[[Any, Any], bool], left: exp.Expr, right: exp.Expr, row: Mapping[str, _Known]) -> Truth:
    one, other = _value(left, row), _value(right, row)
    if one is None or other is None:
        return "unknown"
    if one.value is None or other.value is None:
        return None
    families = {one.family, other.family}
    if families == {"day", "string"}:  # the string becomes a date, if it is one
        one, other = _as_day(one), _as_day(other)
        return "unknown" if one is None or other is None else bool(test(one.value, other.value))
    return bool(test(one.value, other.value)) if len(families) == 1 else "unknown"


def _as_day(found: _Known) -> _Known | None:
    text = found.value.decode() if isinstance(found.value, bytes) else found.value
    return _Known("day", text) if _DAY.fullmatch(text) else None


def _value(expression: exp.Expr, row: Mapping[str, _Known]) -> _Known | None:
    """The value of the expression; None if it is unknown."""
    node = expression.unnest()
    if isinstance(node, exp.Column):
        return row.get(node.name)
    if isinstance(node, exp.Boolean):
        return _Known("boolean", node.this)
    if isinstance(node, exp.Neg):
        found = _value(node.this, row) if isinstance(node.this, exp.Literal) else None
        return _Known("integer", -found.value) if found is not None and found.family == "integer" else None
    if isinstance(node, exp.Literal):
        if node.is_string:
            return _Known("string", node.name.encode()) if _PLAIN.fullmatch(node.name) else None
        return _Known("integer", int(node.name)) if re.fullmatch(r"[0-9]{1,18}", node.name) else None
    if isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.DATE and isinstance(node.this, exp.Literal):
        found = _value(node.this, row)
        return _as_day(found) if found is not None and found.family == "string" else None
    return None
