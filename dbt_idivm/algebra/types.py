"""Types of expressions, as far as maintenance depends on them: what can be added up exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types

from dbt_idivm.algebra.decimals import DIGITS, Size, is_integral, of_alternatives, of_arithmetic, of_rounding, size_of
from dbt_idivm.algebra.types_of_times import type_of_times

DIALECT = "spark"
Type = exp.DataType.Type
_BIGINTS, _DECIMALS = 1 << 31, 1 << 63  # the first numbers that are no INT, and no BIGINT
_NUMERIC = frozenset({*DIGITS, Type.DECIMAL, Type.FLOAT, Type.DOUBLE})
_TEXT = frozenset({Type.TEXT, Type.VARCHAR, Type.CHAR})
_INCOMPARABLE = frozenset({Type.MAP, Type.VARIANT, Type.OBJECT})
_KEYS = frozenset({*_NUMERIC, *_TEXT, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP, Type.TIMESTAMPTZ, Type.TIMESTAMPLTZ,
                   Type.TIMESTAMPNTZ})
_BLURRED = frozenset({Type.FLOAT, Type.DOUBLE, Type.MAP, Type.UNKNOWN, Type.OBJECT})
_EXACTLY_ORDERED = frozenset({*DIGITS, Type.DECIMAL, Type.BOOLEAN, Type.TEXT, Type.VARCHAR, Type.DATE, Type.TIMESTAMP,
                              Type.TIMESTAMPTZ, Type.TIMESTAMPLTZ, Type.TIMESTAMPNTZ})


@cache
def type_of(name: str) -> exp.DataType:
    """A Spark SQL type by its name. To be copied before it becomes part of a tree.

    DESCRIBE may cut long structs and does not quote their fields: a type that cannot be read counts as incomparable.
    """
    try:
        return exp.DataType.build(name if not is_cut(name) else "?", dialect=DIALECT)
    except SqlglotError:
        return exp.DataType(this=Type.OBJECT)


def is_cut(name: str) -> bool:
    """Whether that is only a part of a type: `struct<a:int,... 3 more fields>`."""
    return " more field" in name


def infer_type(expression: exp.Expr, types: Mapping[str, exp.DataType]) -> exp.DataType:
    """The type of `expression` if each attribute has the type given; UNKNOWN where it cannot be inferred.

    Decimals follow Spark's own arithmetic where it is simple (+, -, *, /, ROUND, CAST); otherwise they come without precision.
    """
    if isinstance(expression, exp.Column) and expression.name in types and types[expression.name].this != Type.DECIMAL:
        return types[expression.name]  # most are, and annotating takes long
    if isinstance(expression, exp.Anonymous) and expression.name.lower() == "named_struct":
        return _struct(expression.expressions, types)
    annotated = _inferred(expression, types)
    if annotated.this != Type.DECIMAL:
        return annotated
    size = decimal_size(expression, types)
    return exp.DataType.build(f"decimal({size[0]},{size[1]})" if size else "decimal")


def _inferred(expression: exp.Expr, types: Mapping[str, exp.DataType]) -> exp.DataType:
    """Its type, a decimal without its digits."""
    typed = expression.transform(
        lambda node: exp.Cast(this=exp.null(), to=types[node.name].copy())
        if isinstance(node, exp.Column) and node.name in types else node)
    return _type(_annotated(typed))


def _annotated(expression: exp.Expr) -> exp.Expr:
    """The expression with the types of its nodes. It is changed: a NULL of the right type replaces a node with a wrong one."""
    while True:
        expression = annotate_types(expression, dialect=DIALECT)
        corrections = ((each, kind) for each in reversed(list(expression.walk())) if (kind := _corrected(each)) is not None)
        node, kind = next(corrections, (None, None))
        if node is None:
            return expression
        known = exp.Cast(this=exp.null(), to=kind)
        if node is expression:
            return annotate_types(known, dialect=DIALECT)
        node.replace(known)


def _corrected(node: exp.Expr) -> exp.DataType | None:
    """The type that Spark gives to what annotate_types takes for the type of an operand; None for everything else.

    A part of a BIGINT or a TIMESTAMP is a text, a rounded decimal is a DECIMAL as 1.5 is, 3000000000 a BIGINT, one operand of a
    floating-point type makes
    the result floating-point, one of several integers has the widest of their types, and what a text becomes in arithmetic
    depends on ANSI mode.
    """
    if isinstance(node, _PARTS_OF_TEXTS):
        whole = _type(node.this)
        return whole if whole.this in _HAVE_PARTS else exp.DataType.build("string", dialect=DIALECT)
    chosen = isinstance(node, _ALTERNATIVES) and node.arg_key != "ifs"  # a branch of CASE is an IF without a value of its own
    kinds = [_type(each) for each in (alternatives(node) if chosen else node.iter_expressions())]
    if _has_parts(node, kinds) and any(map(_holds_float, kinds)) and not _holds_float(_type(node)):
        return exp.DataType(this=Type.UNKNOWN)
    values = [kind for kind in kinds if kind.this != Type.NULL]
    if (chosen or isinstance(node, exp.Array)) and any(map(is_text, values)) and not all(map(is_text, values)):
        return exp.DataType(this=Type.UNKNOWN)
    if (of_times := type_of_times(node, kinds, is_one_of_them=chosen)) is not None:
        return of_times if of_times != _type(node) else None
    if chosen:
        if any(map(is_float, kinds)):
            return exp.DataType(this=Type.DOUBLE)
        widest = max(values, key=lambda kind: DIGITS[kind.this]) if values and all(map(is_integral, values)) else None
        return widest if _type(node) != widest else None
    if isinstance(node, exp.Round):
        whole = _type(node.this)
        return whole if is_exact_number(whole) and whole.this != _type(node).this else None
    if isinstance(node, exp.Literal):
        kind = _type_of_number(node) if node.is_number else None
        return kind if kind is not None and _type(node).this != kind.this else None
    if isinstance(node, _ARITHMETIC):
        if any(map(is_text, kinds)):
            return exp.DataType(this=Type.UNKNOWN)
        if any(map(is_float, kinds)) and not is_float(_type(node)):
            return exp.DataType(this=Type.DOUBLE)
    return None


# Wrong without it: avg(i * 3000000000), maintained as an average of INTs, whose sum is added up as a BIGINT.
def _type_of_number(node: exp.Literal) -> exp.DataType | None:
    """The type of a number whose type is not that which annotate_types gives."""
    if not node.is_int:
        return None if "e" in node.name.lower() else exp.DataType(this=Type.DECIMAL)
    value = int(node.name) - isinstance(node.parent, exp.Neg)  # -2147483648 is an INT
    return None if value < _BIGINTS else exp.DataType(this=Type.BIGINT if value < _DECIMALS else Type.DECIMAL)


# Wrong without it: of array(1, 0.5D), or of CASE with an array of integers and one of floats, annotate_types gives the type of
# the first, and a change of the sign of a zero would be overlooked.
def _has_parts(node: exp.Expr, operands: Sequence[exp.DataType]) -> bool:
    """Whether a value has parts, of the types of its operands: an array, a struct, a map, or what || makes of arrays."""
    return _type(node).this in _NESTED or (isinstance(node, exp.DPipe) and any(kind.this in _NESTED for kind in operands))


def _holds_float(kind: exp.DataType) -> bool:
    return any(map(is_float, kind.find_all(exp.DataType)))


def _type(node: exp.Expr) -> exp.DataType:
    return node.type if isinstance(node.type, exp.DataType) else exp.DataType(this=Type.UNKNOWN)


_NESTED = frozenset({Type.ARRAY, Type.STRUCT, Type.MAP})
_PARTS_OF_TEXTS = (exp.Left, exp.Right, exp.Substring, exp.Overlay, exp.Reverse)
_HAVE_PARTS = frozenset({Type.BINARY, Type.VARBINARY, Type.ARRAY, Type.UNKNOWN, Type.OBJECT, Type.NULL})
_ALTERNATIVES = (exp.Coalesce, exp.Case, exp.If, exp.Nvl2, exp.Greatest, exp.Least, exp.Nullif)
_CHOICES = (exp.Case, exp.If, exp.Coalesce)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Negative, exp.Abs)


def alternatives(node: exp.Expr) -> list[exp.Expr]:
    """The operands of which CASE, IF, NVL2 or COALESCE and its like give one."""
    if isinstance(node, exp.Case):
        found = [*(branch.args.get("true") for branch in node.args["ifs"]), node.args.get("default")]
    elif isinstance(node, exp.If | exp.Nvl2):
        found = [node.args.get("true"), node.args.get("false")]
    else:
        found = [node.this, *node.expressions]
    return [each for each in found if each is not None]


def _struct(arguments: Sequence[exp.Expr], types: Mapping[str, exp.DataType]) -> exp.DataType:
    """What NAMED_STRUCT gives: names and values in turn."""
    names, values = arguments[::2], arguments[1::2]
    if len(names) != len(values) or not all(isinstance(name, exp.Literal) and name.is_string for name in names):
        return exp.DataType.build("unknown")
    fields = [exp.ColumnDef(this=exp.to_identifier(name.name, quoted=True), kind=infer_type(value, types))
              for name, value in zip(names, values, strict=True)]
    return exp.DataType(this=Type.STRUCT, expressions=fields, nested=True)


def decimal_size(expression: exp.Expr, types: Mapping[str, exp.DataType]) -> Size | None:
    """(precision, scale) that Spark gives to `expression`; None where it is not known for certain."""
    if isinstance(expression, exp.Paren) or (isinstance(expression, exp.Neg) and isinstance(expression.this, exp.Literal)):
        return decimal_size(expression.this, types)
    if isinstance(expression, exp.Cast):
        return size_of(expression.to)
    if isinstance(expression, exp.Column):
        return size_of(types[expression.name]) if expression.name in types else None
    if isinstance(expression, exp.Literal) and expression.name.replace(".", "", 1).isdigit():
        whole, _, fraction = expression.name.partition(".")
        return max(len(whole.lstrip("0")) + len(fraction), 1), len(fraction)
    if isinstance(expression, (exp.Add, exp.Sub, exp.Mul, exp.Abs, exp.Neg)) and not _has_decimals(expression, types):
        return size_of(_inferred(expression, types))  # 1 + 1 or -(1) is an INT before it is an operand of decimals
    if isinstance(expression, (exp.Abs, exp.Neg)):
        return decimal_size(expression.this, types)
    if isinstance(expression, exp.Round) and not expression.args.get("truncate"):
        return _size_of_rounded(expression, types)
    if isinstance(expression, (exp.Add, exp.Sub, exp.Mul, exp.Div)) and _has_decimals(expression, types):
        return of_arithmetic(expression, decimal_size(expression.left, types), decimal_size(expression.right, types))
    if isinstance(expression, _CHOICES):
        values = [each for each in alternatives(expression) if not isinstance(each, exp.Null)]
        return of_alternatives([_size_of_alternative(each, types) for each in values])
    return None


def _size_of_rounded(rounding: exp.Round, types: Mapping[str, exp.DataType]) -> Size | None:
    digits = rounding.args.get("decimals") or exp.Literal.number(0)
    if not isinstance(digits, exp.Literal) or not digits.is_int or not _has_decimals(rounding.this, types):
        return None
    return of_rounding(decimal_size(rounding.this, types), int(digits.name))


def _has_decimals(value: exp.Expr, types: Mapping[str, exp.DataType]) -> bool:
    """Whether decimals are among what it is computed from."""
    if isinstance(value, exp.Column):
        return value.name in types and bool(types[value.name].this == Type.DECIMAL)
    if isinstance(value, exp.Literal):
        return bool(value.is_number and not value.is_int)
    if isinstance(value, exp.Cast):
        return bool(value.to.this == Type.DECIMAL)
    parts = alternatives(value) if isinstance(value, _ALTERNATIVES) else value.iter_expressions()
    return any(_has_decimals(part, types) for part in parts)


def _size_of_alternative(value: exp.Expr, types: Mapping[str, exp.DataType]) -> Size | None:
    """0 counts as the INT that it is; in arithmetic with decimals a literal has the digits that are written."""
    has_size = isinstance(value, _CHOICES) or _has_decimals(value, types)
    return decimal_size(value, types) if has_size else size_of(_inferred(value, types))


def may_be_same(one: exp.DataType, other: exp.DataType) -> bool:
    """Whether two inferred types may be the same: of the same kind, sizes apart, or one of them is not known.

    A string is TEXT or, as a literal, VARCHAR.
    """
    kinds = {one.this, other.this}
    return len(kinds) == 1 or kinds <= _TEXT or not kinds.isdisjoint({Type.UNKNOWN, Type.NULL})


def is_float(kind: exp.DataType) -> bool:
    return kind.this in (Type.FLOAT, Type.DOUBLE)


def is_blurred(kind: exp.DataType) -> bool:
    """Whether values that Spark takes as equal may differ: 0.0 and -0.0, also inside other values. What is not known may, and
    a MAP cannot be compared at all."""
    return any(part.this in _BLURRED for part in kind.find_all(exp.DataType))


def distinguishable(value: exp.Expr, kind: exp.DataType) -> exp.Expr:
    """The value in a form in which equal means identical: 0.0 equals -0.0, but their texts differ.

    The text of an array or a struct alone would not do: that of ['a, b'] is that of ['a', 'b']. JSON quotes strings, but has
    timestamps without microseconds, so both are compared.
    """
    if not is_blurred(kind):
        return value
    text = exp.Cast(this=value, to=exp.DataType(this=Type.TEXT))
    if is_float(kind):
        return text
    field = exp.PropertyEQ(this=exp.to_identifier("v"), expression=value.copy())
    json = exp.Anonymous(this="TO_JSON", expressions=[exp.Struct(expressions=[field])])
    return exp.DPipe(this=json, expression=text, safe=True)


def is_small_integer(kind: exp.DataType) -> bool:
    """Whether millions of such values add up to less than 2^53, so that a DOUBLE holds each of their sums exactly."""
    return is_integral(kind) and kind.this != Type.BIGINT


def is_exact_number(kind: exp.DataType) -> bool:
    return is_integral(kind) or kind.this == Type.DECIMAL


def is_numeric(kind: exp.DataType) -> bool:
    return kind.this in _NUMERIC


def is_text(kind: exp.DataType) -> bool:
    return kind.this in _TEXT


def has_exact_order(kind: exp.DataType) -> bool:
    """Whether values of the type have a total order in which equal ones are identical: not floats, nor texts with a collation."""
    return kind.this in _EXACTLY_ORDERED and kind.find(exp.CollateColumnConstraint) is None


def is_incomparable(kind: exp.DataType) -> bool:
    """Whether the type is, or contains, a MAP or a VARIANT."""
    return any(part.this in _INCOMPARABLE for part in kind.find_all(exp.DataType))


def is_comparable(kind: exp.DataType) -> bool:
    """Whether values of the type certainly can be compared: what is not known may be a MAP."""
    return is_known(kind) and not is_incomparable(kind)


def cannot_be_carried(kind: exp.DataType) -> bool:
    """Whether no net diff can be computed for values of this type, because not even what is written of them distinguishes them: a
    VARIANT, and a MAP whose keys are not written as they are. False for a struct that DESCRIBE truncates."""
    return any(part.this == Type.VARIANT or (part.this == Type.MAP and not _has_written_keys(part))
               for part in kind.find_all(exp.DataType))


def _has_written_keys(kind: exp.DataType) -> bool:
    """Whether JSON shows the keys. Of an array, a struct or bytes it shows the identity of an object in the JVM."""
    key = kind.expressions[0] if kind.expressions else None
    return isinstance(key, exp.DataType) and key.this in _KEYS


def is_known(kind: exp.DataType) -> bool:
    """Whether the type is known with all its parts."""
    return all(part.this != Type.UNKNOWN for part in kind.find_all(exp.DataType))


def name_of_type(kind: exp.DataType) -> str:
    """The type's name in Spark SQL, as DESCRIBE writes it; "unknown" where it is not known with all its parts."""
    if kind.this == Type.DECIMAL and not kind.expressions:
        return "unknown"
    text = kind.sql(DIALECT)
    return text if kind.args.get("nested") else text.lower()


def is_storable(name: str) -> bool:
    """Whether a Delta table has columns of the type of that name; what is not known is."""
    parts = type_of(name).find_all(exp.DataType)
    interval = any(part.this == Type.INTERVAL or isinstance(part.this, exp.Interval) for part in parts)
    return not interval and name.lower() not in ("void", "null")
