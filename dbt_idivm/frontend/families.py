"""Families of types, as far as conversions may depend on the clock: texts, TIMESTAMP, and DATE or TIMESTAMP_NTZ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Literal

from sqlglot import exp

from dbt_idivm.algebra.expressions import call_name
from dbt_idivm.algebra.types import Inferred, alternatives, infer_type, inferred
from dbt_idivm.algebra.types_of_times import TIMESTAMPS
from dbt_idivm.frontend import functions, user_functions
from dbt_idivm.frontend.refuse import own_functions

# A nested value has the families of all its parts.
Family = Literal["text", "timestamp", "date"]
Types = Mapping[str, exp.DataType]

_Type = exp.DataType.Type
_FAMILIES: Mapping[object, Family] = {
    **dict.fromkeys((_Type.TEXT, _Type.VARCHAR, _Type.CHAR, _Type.VARIANT), "text"),
    **dict.fromkeys((*TIMESTAMPS, _Type.DATETIME), "timestamp"),
    **dict.fromkeys((_Type.DATE, _Type.TIMESTAMPNTZ), "date"),
}
UNKNOWN = frozenset({_Type.UNKNOWN, _Type.OBJECT})
TIMES: frozenset[Family] = frozenset({"timestamp", "date"})
_INTERVALS = ("make_dt_interval", "make_ym_interval", "try_make_interval")
_OF_DATES = frozenset({"DAY", "DAYS", "MONTH", "MONTHS", "YEAR", "YEARS"})
_ANY: frozenset[Family] = frozenset({"text", "timestamp", "date"})
_OF_TEXTS: frozenset[Family] = frozenset({"text"})
_OF_NUMBERS: frozenset[Family] = frozenset()

# Arithmetic with times, which converts text operands.
ADDING = (exp.Add, exp.Sub, exp.SafeAdd, exp.SafeSubtract)
# Their result may have the type of any operand. sqlglot infers it, but not always as Spark does.
_MIXING = (exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least, *ADDING, exp.Array, exp.Map, exp.GenerateSeries)


def families(operand: exp.Expr, types: Types) -> frozenset[Family]:
    """The families that the value, or a part of it, may have."""
    value = operand.unnest()
    if isinstance(value, exp.Literal):
        return _OF_TEXTS if value.is_string else _OF_NUMBERS
    return inferred(types).once(_families, value)


def _families(operand: exp.Expr, types: Inferred) -> frozenset[Family]:
    if isinstance(operand, exp.Case | exp.If | exp.Nvl2):
        return _all_of(alternatives(operand), types)
    if isinstance(operand, _MIXING):
        parts = list(operand.iter_expressions())
        found = _all_of(parts, types)
        return found | {"timestamp"} if isinstance(operand, ADDING) and "date" in found and _add_time(parts, types) else found
    if isinstance(operand, exp.Bracket | exp.Lambda):
        return families(operand.this, types)
    kind = infer_type(operand, types)
    if kind.this not in UNKNOWN:
        return of_type(kind)
    if not isinstance(operand, exp.Func) or is_of_users(operand):
        return _ANY
    return _given(operand) or _OF_TEXTS.union(*(_leaf(node, types) for node in operand.walk()))


def is_interval(operand: exp.Expr, types: Types) -> bool:
    if isinstance(operand, exp.Literal):
        return False
    kind = infer_type(operand, types).this
    return kind == _Type.INTERVAL or isinstance(kind, exp.Interval) or call_name(operand) in _INTERVALS


def _add_time(parts: Sequence[exp.Expr], types: Inferred) -> bool:
    """Whether an operand may be an interval that turns a DATE into a TIMESTAMP: any but
    a literal of whole days, months or years.
    """
    intervals = (each for each in parts if types.once(_holds_interval, each))
    return any(not isinstance(each, exp.Interval) or each.text("unit").upper() not in _OF_DATES for each in intervals)


def _holds_interval(value: exp.Expr, types: Inferred) -> bool:
    return is_interval(value, types) or any(types.once(_holds_interval, part) for part in value.iter_expressions())


def keys_of(collection: exp.Expr, types: Types) -> frozenset[Family]:
    """The families of the type to which an index of the collection is converted: the family of the
    keys of a map; any if the type is unknown.
    """
    kind = infer_type(collection, types)
    if kind.this in UNKNOWN:
        return _ANY
    return of_type(kind.expressions[0]) if kind.this == _Type.MAP and kind.expressions else frozenset()


def is_of_users(node: exp.Expr) -> bool:
    """Whether this is a call of a user's function, whose type is not known."""
    name = user_functions.called(node)
    return name is not None and not user_functions.is_built_in(name)


def _given(call: exp.Func) -> frozenset[Family]:
    """The families of the result of a function that always returns times; empty for any other function."""
    names = set(own_functions(call))
    found: set[Family] = {"timestamp"} if names & functions.TIMESTAMPS else {"date"} if names & functions.DATES else set()
    return frozenset(found)


def _leaf(node: exp.Expr, types: Types) -> frozenset[Family]:
    """The families that a single node adds, without its operands: a column, cast or
    variable, or a function that returns times.
    """
    if isinstance(node, exp.Column | exp.Cast):
        return of_type(infer_type(node, types))
    if is_of_users(node):
        return _ANY
    if isinstance(node, exp.Func):
        return _given(node)
    return _ANY if is_variable(node) else frozenset()


def _all_of(operands: Sequence[exp.Expr], types: Types) -> frozenset[Family]:
    return frozenset(chain.from_iterable(families(each, types) for each in operands))


def of_type(kind: exp.DataType) -> frozenset[Family]:
    """The families of a type and its parts; all of them if the type is unknown."""
    parts = {part.this for part in kind.find_all(exp.DataType)}
    return _ANY if parts & UNKNOWN else frozenset(_FAMILIES[part] for part in parts if part in _FAMILIES)


def is_scalar(operand: exp.Expr, types: Types) -> bool:
    return infer_type(operand, types).this not in {*UNKNOWN, _Type.ARRAY}


def is_variable(node: exp.Expr) -> bool:
    """Whether the identifier is a lambda variable, and not the name of a column, of a
    field, or of a part of struct('today' AS q).
    """
    return isinstance(node, exp.Identifier) and not isinstance(
        node.parent, exp.Column | exp.Dot | exp.Alias | exp.PropertyEQ | exp.ColumnDef | exp.Cast
    )
