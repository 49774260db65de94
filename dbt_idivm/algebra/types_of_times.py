"""Types of expressions over times, intervals and arrays for which sqlglot's annotate_types gives the type of an operand."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

Type = exp.DataType.Type
TIMESTAMPS = frozenset({Type.TIMESTAMP, Type.TIMESTAMPTZ, Type.TIMESTAMPLTZ})
ALL_TIMESTAMPS = frozenset({*TIMESTAMPS, Type.TIMESTAMPNTZ})
TIMES = frozenset({*ALL_TIMESTAMPS, Type.DATE})
_SCALED = (exp.Mul, exp.Div, exp.SafeMultiply, exp.SafeDivide)


# Wrong without it: coalesce(n, ts) would be a TIMESTAMP_NTZ, so that a text compared with it would be cast to that and not to
# TIMESTAMP; and a text beside an interval would be cast to a number.
def type_of_times(node: exp.Expr, operands: Sequence[exp.DataType], *, is_one_of_them: bool) -> exp.DataType | None:
    """The type that Spark gives to the node: UNKNOWN if only Spark can tell, None if annotate_types is right.

    `is_one_of_them`: the result is one of `operands`, which are converted to a common
    type; else they are the operands of the node.
    """
    kinds = [kind for kind in operands if kind.this != Type.NULL]
    if isinstance(node, exp.DPipe | exp.Concat) and any(kind.this == Type.ARRAY for kind in kinds):
        return _one_of(kinds)
    if isinstance(node, _SCALED) and any(kind.this == Type.INTERVAL for kind in kinds):
        return exp.DataType(this=Type.INTERVAL)
    if isinstance(node, exp.Sub) and len(kinds) > 1 and all(kind.this in TIMES for kind in kinds):
        return exp.DataType(this=Type.INTERVAL)
    if (is_one_of_them or isinstance(node, exp.Array)) and any(each.this in TIMES for kind in kinds for each in _parts(kind)):
        return _one_of(kinds) if is_one_of_them else exp.DataType(this=Type.ARRAY, expressions=[_one_of(kinds)], nested=True)
    return None


def _one_of(kinds: Sequence[exp.DataType]) -> exp.DataType:
    """The common type of values of these types; UNKNOWN if they are not all times and differ."""
    if all(kind == kinds[0] for kind in kinds):
        return kinds[0].copy()
    found = {kind.this for kind in kinds}
    if found <= TIMES:
        return exp.DataType(this=Type.TIMESTAMP if found & TIMESTAMPS else Type.TIMESTAMPNTZ)
    return exp.DataType(this=Type.UNKNOWN)


def _parts(kind: exp.DataType) -> list[exp.DataType]:
    return list(kind.find_all(exp.DataType))
