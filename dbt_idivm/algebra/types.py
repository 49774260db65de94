"""Types of expressions, as far as maintenance depends on them: inference, and properties such as exact sums and identity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_idivm.algebra.decimals import DIGITS, Size, is_integral, of_alternatives, of_arithmetic, of_rounding, size_of
from dbt_idivm.algebra.node_types import ALTERNATIVES, TEXT, TRYING, literal_type, node_types
from dbt_idivm.algebra.node_types import DIALECT as DIALECT
from dbt_idivm.algebra.node_types import Type as Type
from dbt_idivm.algebra.node_types import alternatives as alternatives
from dbt_idivm.algebra.node_types import holds_float as holds_float
from dbt_idivm.algebra.node_types import is_exact_number as is_exact_number
from dbt_idivm.algebra.node_types import is_float as is_float
from dbt_idivm.algebra.node_types import is_text as is_text

_NUMERIC = frozenset({*DIGITS, Type.DECIMAL, Type.FLOAT, Type.DOUBLE})
_ONE_VALUE = frozenset({Type.TINYINT, Type.SMALLINT, Type.INT, Type.BIGINT, Type.BOOLEAN, Type.DATE, Type.TEXT})
_INCOMPARABLE = frozenset({Type.MAP, Type.VARIANT, Type.OBJECT})
_KEYS = frozenset(
    {*_NUMERIC, *TEXT, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP, Type.TIMESTAMPTZ, Type.TIMESTAMPLTZ, Type.TIMESTAMPNTZ}
)
_BLURRED = frozenset({Type.FLOAT, Type.DOUBLE, Type.MAP, Type.UNKNOWN, Type.OBJECT})
_EXACTLY_ORDERED = frozenset(
    {
        *DIGITS,
        Type.DECIMAL,
        Type.BOOLEAN,
        Type.TEXT,
        Type.VARCHAR,
        Type.DATE,
        Type.TIMESTAMP,
        Type.TIMESTAMPTZ,
        Type.TIMESTAMPLTZ,
        Type.TIMESTAMPNTZ,
    }
)

_IDENTICAL = _EXACTLY_ORDERED | {Type.BINARY, Type.VARBINARY, Type.ARRAY, Type.STRUCT}


@cache
def type_of(name: str) -> exp.DataType:
    """A Spark SQL type by its name. Copy it before making it part of a tree.

    DESCRIBE may truncate long structs and does not quote their fields: a type that cannot
    be parsed counts as incomparable (OBJECT).
    """
    try:
        return exp.DataType.build(name if not is_cut(name) else "?", dialect=DIALECT)
    except SqlglotError:
        return exp.DataType(this=Type.OBJECT)


def is_cut(name: str) -> bool:
    """Whether the name of the type is truncated: `struct<a:int,... 3 more fields>`."""
    return " more field" in name


Found = TypeVar("Found")


class Inferred(Mapping[str, exp.DataType]):
    """The mapping `types` of attributes, with a cache of what was inferred from it for nodes of expressions.

    Pass it to `infer_type` instead of `types` when the types of many parts of one expression are needed: an operand of a long
    chain is then typed once, not once for each operand after it. Expressions must not be changed while it is in use.
    """

    def __init__(self, types: Mapping[str, exp.DataType]) -> None:
        self._types = types
        self._found: dict[tuple[object, int], tuple[exp.Expr, Any]] = {}  # holds the node, so that its id is not reused

    def __getitem__(self, name: str) -> exp.DataType:
        return self._types[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def once(self, find: Callable[[exp.Expr, Inferred], Found], node: exp.Expr) -> Found:
        """The result of `find(node, self)`, cached."""
        known = self._found.get((find, id(node)))
        if known is None:
            known = self._found[find, id(node)] = (node, find(node, self))
        found: Found = known[1]
        return found

    def kind(self, node: exp.Expr) -> exp.DataType:
        """The node's type. A decimal comes without precision and scale."""
        return literal_type(node) if isinstance(node, exp.Literal) else self.once(_kind, node)

    def keep_kinds(self, whole: exp.Expr) -> exp.DataType:
        """The type of an expression. The types of its parts are cached."""
        kind = exp.DataType(this=Type.UNKNOWN)
        for node, kind in node_types(whole, self._types):
            # Both depend on the context: 2147483648 after a minus is an INT, and a branch of CASE is an IF without a value.
            if not isinstance(node, exp.Literal) and node.arg_key != "ifs":
                self._found[_kind, id(node)] = (node, kind)
        return kind


def _kind(node: exp.Expr, types: Inferred) -> exp.DataType:
    return types.keep_kinds(node)


def inferred(types: Mapping[str, exp.DataType]) -> Inferred:
    """`types` with a cache, for typing many parts of one expression. Returned unchanged if it already is an `Inferred`."""
    return types if isinstance(types, Inferred) else Inferred(types)


def infer_type(expression: exp.Expr, types: Mapping[str, exp.DataType]) -> exp.DataType:
    """The type of `expression`, given the types of its attributes; UNKNOWN if it cannot be inferred.

    Decimals follow Spark's rules for +, -, *, /, ROUND and CAST; others come without precision.
    """
    if isinstance(expression, exp.Column) and expression.name in types and types[expression.name].this != Type.DECIMAL:
        return types[expression.name]  # most are, and annotating takes long
    if isinstance(expression, exp.Anonymous) and expression.name.lower() == "named_struct":
        return _struct(expression.expressions, types)
    known = inferred(types)
    kind = known.kind(expression)
    if kind.this != Type.DECIMAL:
        return kind
    size = decimal_size(expression, known)
    return exp.DataType.build(f"decimal({size[0]},{size[1]})" if size else "decimal")


def _struct(arguments: Sequence[exp.Expr], types: Mapping[str, exp.DataType]) -> exp.DataType:
    """The type of NAMED_STRUCT, whose arguments are names and values in turn."""
    names, values = arguments[::2], arguments[1::2]
    if len(names) != len(values) or not all(isinstance(name, exp.Literal) and name.is_string for name in names):
        return exp.DataType.build("unknown")
    fields = [
        exp.ColumnDef(this=exp.to_identifier(name.name, quoted=True), kind=infer_type(value, types))
        for name, value in zip(names, values, strict=True)
    ]
    return exp.DataType(this=Type.STRUCT, expressions=fields, nested=True)


_CHOICES = (exp.Case, exp.If, exp.Coalesce)


def decimal_size(expression: exp.Expr, types: Mapping[str, exp.DataType]) -> Size | None:
    """(precision, scale) that Spark gives to `expression`; None if it is not certain."""
    return inferred(types).once(_size, expression)


def _size(expression: exp.Expr, types: Inferred) -> Size | None:
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
        return size_of(types.kind(expression))  # 1 + 1 or -(1) is an INT before it is an operand of decimals
    if isinstance(expression, (exp.Abs, exp.Neg)):
        return decimal_size(expression.this, types)
    if isinstance(expression, exp.Round) and not expression.args.get("truncate"):
        return _size_of_rounded(expression, types)
    if isinstance(expression, (exp.Add, exp.Sub, exp.Mul, exp.Div, *TRYING)) and _has_decimals(expression, types):
        operands = (decimal_size(each, types) for each in (expression.this, expression.expression))
        return of_arithmetic(expression, *operands)
    if isinstance(expression, _CHOICES):
        values = [each for each in alternatives(expression) if not isinstance(each, exp.Null)]
        return of_alternatives([_size_of_alternative(each, types) for each in values])
    return None


def _size_of_rounded(rounding: exp.Round, types: Inferred) -> Size | None:
    digits = rounding.args.get("decimals") or exp.Literal.number(0)
    if not isinstance(digits, exp.Literal) or not digits.is_int or not _has_decimals(rounding.this, types):
        return None
    return of_rounding(decimal_size(rounding.this, types), int(digits.name))


def _has_decimals(value: exp.Expr, types: Inferred) -> bool:
    """Whether the value is computed from decimals."""
    return types.once(_finds_decimals, value)


def _finds_decimals(value: exp.Expr, types: Inferred) -> bool:
    if isinstance(value, exp.Column):
        return value.name in types and bool(types[value.name].this == Type.DECIMAL)
    if isinstance(value, exp.Literal):
        return bool(value.is_number and not value.is_int)
    if isinstance(value, exp.Cast):
        return bool(value.to.this == Type.DECIMAL)
    parts = alternatives(value) if isinstance(value, ALTERNATIVES) else value.iter_expressions()
    return any(_has_decimals(part, types) for part in parts)


def _size_of_alternative(value: exp.Expr, types: Inferred) -> Size | None:
    """The size of one alternative. An integer literal counts as an INT here; in arithmetic
    with decimals it has the digits as written.
    """
    has_size = isinstance(value, _CHOICES) or _has_decimals(value, types)
    return decimal_size(value, types) if has_size else size_of(types.kind(value))


def may_be_same(one: exp.DataType, other: exp.DataType) -> bool:
    """Whether two inferred types may be the same: the same kind, whatever the precision, or one of them is unknown.

    A string is TEXT or, as a literal, VARCHAR.
    """
    kinds = {one.this, other.this}
    return len(kinds) == 1 or kinds <= TEXT or not kinds.isdisjoint({Type.UNKNOWN, Type.NULL})


def is_blurred(kind: exp.DataType) -> bool:
    """Whether values that Spark considers equal may differ: 0.0 and -0.0, also inside other values.

    True for unknown types, and for a MAP, which cannot be compared at all.
    """
    return any(part.this in _BLURRED for part in kind.find_all(exp.DataType))


def distinguishable(value: exp.Expr, kind: exp.DataType) -> exp.Expr:
    """An expression that is equal for two values only if they are identical: 0.0 equals -0.0, but their texts differ.

    The text of an array or a struct is not enough: ['a, b'] and ['a', 'b'] have the same one. JSON quotes strings, but drops the
    microseconds of timestamps. So both texts are concatenated.
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
    """Whether sums of millions of such values stay below 2^53, so that a DOUBLE represents them exactly."""
    return is_integral(kind) and kind.this != Type.BIGINT


def is_numeric(kind: exp.DataType) -> bool:
    return kind.this in _NUMERIC


def has_exact_order(kind: exp.DataType) -> bool:
    """Whether values have a total order in which equal values are identical: neither floats nor texts with a collation."""
    return kind.this in _EXACTLY_ORDERED and kind.find(exp.CollateColumnConstraint) is None


def equal_is_identical(kind: exp.DataType) -> bool:
    """Whether equal values of this certain type, and of its parts, are identical: not for 0.0
    and -0.0, nor for texts under a collation.
    """
    parts = list(kind.find_all(exp.DataType))
    return all(part.this in _IDENTICAL for part in parts) and kind.find(exp.CollateColumnConstraint) is None


def is_incomparable(kind: exp.DataType) -> bool:
    """Whether the type is, or contains, a MAP or a VARIANT."""
    return any(part.this in _INCOMPARABLE for part in kind.find_all(exp.DataType))


def is_comparable(kind: exp.DataType) -> bool:
    """Whether values of the type can certainly be compared. An unknown type may be a MAP."""
    return is_known(kind) and not is_incomparable(kind)


def cannot_be_carried(kind: exp.DataType) -> bool:
    """Whether no net diff can be computed for values of this type, because not even their texts distinguish them.

    True for VARIANT, and for MAP with keys whose JSON does not show them. False for a struct that DESCRIBE truncates.
    """
    return any(
        part.this == Type.VARIANT or (part.this == Type.MAP and not _has_written_keys(part))
        for part in kind.find_all(exp.DataType)
    )


def _has_written_keys(kind: exp.DataType) -> bool:
    """Whether JSON shows the keys of the MAP. For an array, a struct or bytes it shows an object identity of the JVM instead."""
    key = kind.expressions[0] if kind.expressions else None
    return isinstance(key, exp.DataType) and key.this in _KEYS


def is_known(kind: exp.DataType) -> bool:
    """Whether the type and all its parts are known."""
    return all(part.this != Type.UNKNOWN for part in kind.find_all(exp.DataType))


def name_of_type(kind: exp.DataType) -> str:
    """The type's name in Spark SQL, as DESCRIBE writes it; "unknown" unless all its parts are known."""
    if kind.this == Type.DECIMAL and not kind.expressions:
        return "unknown"
    text = kind.sql(DIALECT)
    return text if kind.args.get("nested") else text.lower()


def is_storable(name: str) -> bool:
    """Whether a column of a Delta table can have the type of that name. True for unknown types."""
    parts = type_of(name).find_all(exp.DataType)
    interval = any(part.this == Type.INTERVAL or isinstance(part.this, exp.Interval) for part in parts)
    return not interval and name.lower() not in ("void", "null")


def has_one_value(kind: exp.DataType) -> bool:
    """Whether equal values of the type are always identical. Not for floats (0.0 and -0.0), nor for texts under a collation."""
    return kind.this in _ONE_VALUE
