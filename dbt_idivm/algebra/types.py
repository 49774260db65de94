"""Types of expressions, as far as maintenance depends on them: what can be added up exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_idivm.algebra.decimals import DIGITS, Size, is_integral, of_alternatives, of_arithmetic, of_rounding, size_of
from dbt_idivm.algebra.node_types import ALTERNATIVES, TEXT, literal_type, node_types
from dbt_idivm.algebra.node_types import DIALECT as DIALECT
from dbt_idivm.algebra.node_types import Type as Type
from dbt_idivm.algebra.node_types import alternatives as alternatives
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


Found = TypeVar("Found")


class Inferred(Mapping[str, exp.DataType]):
    """Attribute → type, as in `types`, and what was inferred from them for the nodes of expressions.

    To be handed to `infer_type` in place of `types` where the types of many parts of one expression are asked for: an operand of
    a long chain is then typed once, and not once for each operand behind it. No expression may be changed while it is in use.
    """

    def __init__(self, types: Mapping[str, exp.DataType]) -> None:
        self._types = types
        self._found: dict[tuple[object, int], tuple[exp.Expr, Any]] = {}  # with the node, so that no other node gets its id

    def __getitem__(self, name: str) -> exp.DataType:
        return self._types[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def once(self, find: Callable[[exp.Expr, Inferred], Found], node: exp.Expr) -> Found:
        """What `find` finds of the node by these types, found once."""
        known = self._found.get((find, id(node)))
        if known is None:
            known = self._found[find, id(node)] = (node, find(node, self))
        found: Found = known[1]
        return found

    def kind(self, node: exp.Expr) -> exp.DataType:
        """The node's type, a decimal without its digits."""
        return literal_type(node) if isinstance(node, exp.Literal) else self.once(_kind, node)

    def keep_kinds(self, whole: exp.Expr) -> exp.DataType:
        """The type of an expression; those of its parts are kept."""
        kind = exp.DataType(this=Type.UNKNOWN)
        for node, kind in node_types(whole, self._types):
            # 2147483648 behind a minus is an INT, and a branch of CASE is an IF without a value: alone neither is
            if not isinstance(node, exp.Literal) and node.arg_key != "ifs":
                self._found[_kind, id(node)] = (node, kind)
        return kind


def _kind(node: exp.Expr, types: Inferred) -> exp.DataType:
    return types.keep_kinds(node)


def inferred(types: Mapping[str, exp.DataType]) -> Inferred:
    """The types, to be handed to `infer_type` for many parts of one expression."""
    return types if isinstance(types, Inferred) else Inferred(types)


def infer_type(expression: exp.Expr, types: Mapping[str, exp.DataType]) -> exp.DataType:
    """The type of `expression` if each attribute has the type given; UNKNOWN where it cannot be inferred.

    Decimals follow Spark's own arithmetic where it is simple (+, -, *, /, ROUND, CAST); otherwise they come without precision.
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
    """What NAMED_STRUCT gives: names and values in turn."""
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
    """(precision, scale) that Spark gives to `expression`; None where it is not known for certain."""
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
    if isinstance(expression, (exp.Add, exp.Sub, exp.Mul, exp.Div)) and _has_decimals(expression, types):
        return of_arithmetic(expression, decimal_size(expression.left, types), decimal_size(expression.right, types))
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
    """Whether decimals are among what it is computed from."""
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
    """0 counts as the INT that it is; in arithmetic with decimals a literal has the digits that are written."""
    has_size = isinstance(value, _CHOICES) or _has_decimals(value, types)
    return decimal_size(value, types) if has_size else size_of(types.kind(value))


def may_be_same(one: exp.DataType, other: exp.DataType) -> bool:
    """Whether two inferred types may be the same: of the same kind, sizes apart, or one of them is not known.

    A string is TEXT or, as a literal, VARCHAR.
    """
    kinds = {one.this, other.this}
    return len(kinds) == 1 or kinds <= TEXT or not kinds.isdisjoint({Type.UNKNOWN, Type.NULL})


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


def is_numeric(kind: exp.DataType) -> bool:
    return kind.this in _NUMERIC


def has_exact_order(kind: exp.DataType) -> bool:
    """Whether values of the type have a total order in which equal ones are identical: not floats, nor texts with a collation."""
    return kind.this in _EXACTLY_ORDERED and kind.find(exp.CollateColumnConstraint) is None


def equal_is_identical(kind: exp.DataType) -> bool:
    """Whether values of a certain type, or of its parts, are identical if they are equal: not 0.0 and -0.0, nor texts that a
    collation takes as equal."""
    parts = list(kind.find_all(exp.DataType))
    return all(part.this in _IDENTICAL for part in parts) and kind.find(exp.CollateColumnConstraint) is None


def is_incomparable(kind: exp.DataType) -> bool:
    """Whether the type is, or contains, a MAP or a VARIANT."""
    return any(part.this in _INCOMPARABLE for part in kind.find_all(exp.DataType))


def is_comparable(kind: exp.DataType) -> bool:
    """Whether values of the type certainly can be compared: what is not known may be a MAP."""
    return is_known(kind) and not is_incomparable(kind)


def cannot_be_carried(kind: exp.DataType) -> bool:
    """Whether no net diff can be computed for values of this type, because not even what is written of them distinguishes them: a
    VARIANT, and a MAP whose keys are not written as they are. False for a struct that DESCRIBE truncates."""
    return any(
        part.this == Type.VARIANT or (part.this == Type.MAP and not _has_written_keys(part))
        for part in kind.find_all(exp.DataType)
    )


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


def has_one_value(kind: exp.DataType) -> bool:
    """Whether equal values of the type are the same value: 0.0 and -0.0 are equal, and so are texts under a collation."""
    return kind.this in _ONE_VALUE
