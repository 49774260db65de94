"""Precision and scale of decimals in Spark: of expressions, of sums and of averages."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

Type = exp.DataType.Type
Size = tuple[int, int]  # precision, scale
# An integral type in an expression with decimals counts as a decimal of that many digits.
DIGITS = {Type.TINYINT: 3, Type.SMALLINT: 5, Type.INT: 10, Type.BIGINT: 20}
# A sum of DECIMAL(p, s) is DECIMAL(p + 10, s), and adding two of them takes a digit more; past 38 Spark cuts the scale.
_WIDEST_SUMMED = 27
MOST_DIGITS = 38
# So sums of wider ones are added with a digit less than they have. This many must be left before the point.
_LEAST_WHOLE_DIGITS = 19
# Numbers of so many digits are below 2^53: a DOUBLE holds each of them.
_EXACT_DOUBLES = 15
# So many digits behind the point leave eleven before it: sums of coordinates with eight would soon have more than fifteen.
_MOST_POINTED = 4
# Behind the point, where a result has more digits than there are, and of a quotient.
_LEAST_SCALE = 6
# Below, Spark's optimizer makes the average of decimals one of DOUBLEs: DecimalAggregates.
_LEAST_DIVIDED = 12


def size_of(kind: exp.DataType) -> Size | None:
    """(precision, scale) of a decimal or of an integer; None where it is not known."""
    if kind.this in DIGITS:
        return DIGITS[kind.this], 0
    sizes = [int(part.name) for part in kind.expressions] if kind.this == Type.DECIMAL else []
    return (sizes[0], sizes[1] if len(sizes) > 1 else 0) if sizes else None


def is_integral(kind: exp.DataType) -> bool:
    return kind.this in DIGITS


def of_alternatives(sizes: Sequence[Size | None]) -> Size | None:
    """What values of several sizes have in common; None where digits would be lost, or one is not known."""
    known = [size for size in sizes if size is not None]
    if not known or len(known) < len(sizes):
        return None
    scale = max(scale for _, scale in known)
    precision = max(precision - scale for precision, scale in known) + scale
    return (precision, scale) if precision <= MOST_DIGITS else None


def of_arithmetic(operation: exp.Binary, left: Size | None, right: Size | None) -> Size | None:
    """What +, -, * or / gives; None where an operand is not known."""
    if left is None or right is None:
        return None
    (p1, s1), (p2, s2) = left, right
    if isinstance(operation, exp.Mul):
        return _adjusted(p1 + p2 + 1, s1 + s2)
    if isinstance(operation, exp.Div):
        scale = max(_LEAST_SCALE, s1 + p2 + 1)
        return _adjusted(p1 - s1 + s2 + scale, scale)
    scale = max(s1, s2)
    return _adjusted(max(p1 - s1, p2 - s2) + scale + 1, scale)


def of_rounding(size: Size | None, digits: int) -> Size | None:
    """What ROUND to so many digits behind the point gives; 0 and more."""
    if size is None:
        return None
    scale = min(size[1], digits)
    return min(size[0] - size[1] + 1 + scale, MOST_DIGITS), scale


def _adjusted(precision: int, scale: int) -> Size:
    """Spark cuts what exceeds 38 digits behind the point, of which it leaves six."""
    if precision <= MOST_DIGITS:
        return precision, scale
    return MOST_DIGITS, max(MOST_DIGITS - (precision - scale), min(scale, _LEAST_SCALE))


def is_summable(kind: exp.DataType) -> bool:
    """Whether sums over this type can be maintained by adding: exact, independent of order, and wide enough."""
    if kind.this == Type.DECIMAL:
        size = size_of(kind)
        return size is not None and size[0] <= _WIDEST_SUMMED
    return is_integral(kind)


def is_widely_summable(kind: exp.DataType) -> bool:
    """The same for wider decimals, where sums that need all 38 digits are not added, but are errors."""
    size = size_of(kind) if kind.this == Type.DECIMAL else None
    return size is not None and size[0] > _WIDEST_SUMMED and size[1] <= MOST_DIGITS - 1 - _LEAST_WHOLE_DIGITS


def sum_type(kind: exp.DataType) -> str:
    """The name of the type that Spark gives to a sum over a summable type."""
    size = size_of(kind) if kind.this == Type.DECIMAL else None
    return f"decimal({min(size[0] + 10, MOST_DIGITS)},{size[1]})" if size else "bigint"


def type_of_sum(kind: exp.DataType, *, average: bool) -> exp.DataType:
    """The type that Spark gives to a sum, or an average, over decimals; without digits, or UNKNOWN, as that of the values is."""
    size = size_of(kind)
    if size is None:
        return kind
    precision, scale = (size[0] + 4, size[1] + 4) if average else (size[0] + 10, size[1])
    return exp.DataType.build(f"decimal({min(precision, MOST_DIGITS)},{min(scale, MOST_DIGITS)})")


def summand_type(kind: exp.DataType) -> str:
    """The name of a type of which two give the sum of a widely summable type, without a digit less."""
    _, scale = size_of(kind) or (0, 0)
    return f"decimal({MOST_DIGITS - 1},{scale})"


def has_exact_average(kind: exp.DataType) -> bool:
    """Whether the average of decimals of the type is, in Spark, their sum divided by their number and rounded once, and SQL can
    say the same.

    Up to 11 digits Spark divides DOUBLEs. A sum has ten digits more, and has to fit into the dividend.
    """
    size = size_of(kind) if kind.this == Type.DECIMAL else None
    return size is not None and size[0] >= _LEAST_DIVIDED and size[0] + 10 <= _digits_of_dividend(size[1])


def has_average_of_doubles(kind: exp.DataType) -> bool:
    """Whether the average of decimals of the type is, in Spark, one of DOUBLEs: of the values without their points; and has few
    enough of them behind the point that sums of values as they occur are exact."""
    size = size_of(kind) if kind.this == Type.DECIMAL else None
    return size is not None and size[0] < _LEAST_DIVIDED and size[1] <= _MOST_POINTED


def exact_in_doubles(kind: exp.DataType) -> str:
    """The name of a type of sums over decimals with an average of doubles such that these are below 2^53 without their points."""
    precision, scale = size_of(kind) or (0, 0)
    return f"decimal({min(precision + 10, _EXACT_DOUBLES)},{scale})"


def average_type(kind: exp.DataType) -> str:
    """The name of the type that Spark gives to an average over a type whose averages are maintained by adding."""
    precision, scale = size_of(kind) or (0, 0)
    return f"decimal({precision + 4},{scale + 4})"


def dividend_type(kind: exp.DataType) -> tuple[str, int]:
    """The name of the type of a sum whose quotient by a count has the scale of the average, s + 4, if the count is multiplied by
    the factor.

    DECIMAL(n, s) / DECIMAL(20, 0) has n - s digits before the point, and behind it those that remain of 38, which are s + 4 for
    n = 34; but never less than 6. So below s = 2 it is a tenth or a hundredth of the average that is rounded, to 6.
    """
    _, scale = size_of(kind) or (0, 0)
    return f"decimal({_digits_of_dividend(scale)},{scale})", 10 ** max(0, 2 - scale)


def _digits_of_dividend(scale: int) -> int:
    return min(34, 32 + scale)
