"""Precision and scale of decimals in Spark: of expressions, of sums and of averages."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

Type = exp.DataType.Type
Size = tuple[int, int]  # precision, scale
# The precision that an integral type has in an expression with decimals.
DIGITS = {Type.TINYINT: 3, Type.SMALLINT: 5, Type.INT: 10, Type.BIGINT: 20}
# A sum of DECIMAL(p, s) is DECIMAL(p + 10, s), and adding two of them takes a digit more; past 38 Spark cuts the scale.
_WIDEST_SUMMED = 27
MOST_DIGITS = 38
# So sums of wider decimals are added with one digit less. At least this many digits must remain before the point.
_LEAST_WHOLE_DIGITS = 19
# Numbers with up to this many digits are below 2^53, so a DOUBLE represents each of them exactly.
_EXACT_DOUBLES = 15
# Largest scale of values that are summed as DOUBLEs: it leaves eleven digits before the point. Sums of coordinates with a scale
# of eight would soon have more than fifteen digits.
_MOST_POINTED = 4
# Minimal scale of a quotient, and of a result that is cut to 38 digits.
_LEAST_SCALE = 6
# Below this precision, Spark's optimizer computes averages of decimals in DOUBLE (DecimalAggregates).
_LEAST_DIVIDED = 12


def size_of(kind: exp.DataType) -> Size | None:
    """(precision, scale) of a decimal or an integer; None if it is not known."""
    if kind.this in DIGITS:
        return DIGITS[kind.this], 0
    sizes = [int(part.name) for part in kind.expressions] if kind.this == Type.DECIMAL else []
    return (sizes[0], sizes[1] if len(sizes) > 1 else 0) if sizes else None


def is_integral(kind: exp.DataType) -> bool:
    return kind.this in DIGITS


def of_alternatives(sizes: Sequence[Size | None]) -> Size | None:
    """The smallest size that holds values of all these sizes; None if digits would be lost or one size is not known."""
    known = [size for size in sizes if size is not None]
    if not known or len(known) < len(sizes):
        return None
    scale = max(scale for _, scale in known)
    precision = max(precision - scale for precision, scale in known) + scale
    return (precision, scale) if precision <= MOST_DIGITS else None


def of_arithmetic(operation: exp.Expr, left: Size | None, right: Size | None) -> Size | None:
    """The size of the result of +, -, * or /, or of try_add and the like; None if the size of an operand is not known."""
    if left is None or right is None:
        return None
    (p1, s1), (p2, s2) = left, right
    if isinstance(operation, exp.Mul | exp.SafeMultiply):
        return _adjusted(p1 + p2 + 1, s1 + s2)
    if isinstance(operation, exp.Div | exp.SafeDivide):
        scale = max(_LEAST_SCALE, s1 + p2 + 1)
        return _adjusted(p1 - s1 + s2 + scale, scale)
    scale = max(s1, s2)
    return _adjusted(max(p1 - s1, p2 - s2) + scale + 1, scale)


def of_rounding(size: Size | None, digits: int) -> Size | None:
    """The size of the result of ROUND to `digits` ≥ 0 digits after the point."""
    if size is None:
        return None
    scale = min(size[1], digits)
    return min(size[0] - size[1] + 1 + scale, MOST_DIGITS), scale


def _adjusted(precision: int, scale: int) -> Size:
    """The size that Spark gives to a result: if it exceeds 38 digits, the scale is reduced, but not below six."""
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
    """Whether wider decimals can be maintained by adding, at the price of an error for sums that need all 38 digits."""
    size = size_of(kind) if kind.this == Type.DECIMAL else None
    return size is not None and size[0] > _WIDEST_SUMMED and size[1] <= MOST_DIGITS - 1 - _LEAST_WHOLE_DIGITS


def sum_type(kind: exp.DataType) -> str:
    """The name of the type that Spark gives to a sum over a summable type."""
    size = size_of(kind) if kind.this == Type.DECIMAL else None
    return f"decimal({min(size[0] + 10, MOST_DIGITS)},{size[1]})" if size else "bigint"


def type_of_sum(kind: exp.DataType, *, average: bool) -> exp.DataType:
    """The type that Spark gives to a sum, or an average, over decimals. If the precision is
    not known, it is the type of the values.
    """
    size = size_of(kind)
    if size is None:
        return kind
    precision, scale = (size[0] + 4, size[1] + 4) if average else (size[0] + 10, size[1])
    return exp.DataType.build(f"decimal({min(precision, MOST_DIGITS)},{min(scale, MOST_DIGITS)})")


def summand_type(kind: exp.DataType) -> str:
    """The name of the type that partial sums of a widely summable type are cast to: with one digit less,
    two of them add up to the type of the sum.
    """
    _, scale = size_of(kind) or (0, 0)
    return f"decimal({MOST_DIGITS - 1},{scale})"


def has_exact_average(kind: exp.DataType) -> bool:
    """Whether Spark's average of this type is the sum divided by the count, rounded once, and SQL can express it so.

    Up to 11 digits Spark divides DOUBLEs. The sum has ten digits more than the values, and must fit into the dividend.
    """
    size = size_of(kind) if kind.this == Type.DECIMAL else None
    return size is not None and size[0] >= _LEAST_DIVIDED and size[0] + 10 <= _digits_of_dividend(size[1])


def has_average_of_doubles(kind: exp.DataType) -> bool:
    """Whether Spark averages decimals of this type as DOUBLEs of the unscaled values, with a scale
    small enough for realistic sums to be exact.
    """
    size = size_of(kind) if kind.this == Type.DECIMAL else None
    return size is not None and size[0] < _LEAST_DIVIDED and size[1] <= _MOST_POINTED


def exact_in_doubles(kind: exp.DataType) -> str:
    """The name of the type for sums over decimals whose average is computed in DOUBLE; its unscaled values are below 2^53."""
    precision, scale = size_of(kind) or (0, 0)
    return f"decimal({min(precision + 10, _EXACT_DOUBLES)},{scale})"


def average_type(kind: exp.DataType) -> str:
    """The name of the type that Spark gives to an average over a type whose averages are maintained by adding."""
    precision, scale = size_of(kind) or (0, 0)
    return f"decimal({precision + 4},{scale + 4})"


def dividend_type(kind: exp.DataType) -> tuple[str, int]:
    """(type name of the dividend, factor): SUM cast to this type, divided by COUNT * factor, has the scale of the average, s + 4.

    DECIMAL(n, s) / DECIMAL(20, 0) has n - s digits before the point; of the 38, what remains is the scale, which is s + 4 for
    n = 34, but never less than 6. So for s < 2 a tenth or a hundredth of the average is computed and rounded to 6 digits.
    """
    _, scale = size_of(kind) or (0, 0)
    return f"decimal({_digits_of_dividend(scale)},{scale})", 10 ** max(0, 2 - scale)


def _digits_of_dividend(scale: int) -> int:
    return min(34, 32 + scale)
