"""The types of an expression's nodes: those of sqlglot's annotate_types, corrected where Spark's differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.optimizer.annotate_types import TypeAnnotator
from sqlglot.schema import ensure_schema

from dbt_idivm.algebra.decimals import DIGITS, is_integral
from dbt_idivm.algebra.function_types import type_of_call
from dbt_idivm.algebra.places import put
from dbt_idivm.algebra.types_of_times import type_of_times

DIALECT = "spark"
Type = exp.DataType.Type
TEXT = frozenset({Type.TEXT, Type.VARCHAR, Type.CHAR})
_BIGINTS, _DECIMALS = 1 << 31, 1 << 63  # the smallest numbers that do not fit into an INT, and into a BIGINT
_SCHEMA = ensure_schema(None, dialect=DIALECT)


def node_types(expression: exp.Expr, types: Mapping[str, exp.DataType]) -> Iterator[tuple[exp.Expr, exp.DataType]]:
    """Each node of `expression` with its type, parts before the whole, given the types of the attributes.

    Decimals come without precision and scale. Nodes below an attribute are left out. Each node is typed once, and once more if
    the type of a part was corrected: typing the whole expression again for each correction would take quadratic time.
    """
    given: set[int] = set()

    def typed(node: exp.Expr) -> exp.Expr:
        if not _is_given(node, types):
            return node
        known = exp.Cast(this=exp.null(), to=types[node.name].copy())
        given.add(id(known))
        return known

    annotator = TypeAnnotator(_SCHEMA)
    copy = annotator.annotate(expression.transform(typed))
    originals = list(expression.walk(prune=lambda node: _is_given(node, types)))
    copies = list(copy.walk(prune=lambda node: id(node) in given))
    changed: dict[int, list[tuple[exp.Expr, exp.Expr]]] = {}  # id of a node → (part with a corrected type, its typed replacement)
    for original, node in zip(reversed(originals), reversed(copies), strict=True):
        parts = changed.get(id(node))
        if parts is not None:
            put(parts)
            _type_again(annotator, node)
        kind = _corrected(node)
        if node.parent is not None and (kind is not None or parts is not None):
            around = changed.setdefault(id(node.parent), [])
            if kind is not None:
                known = exp.Cast(this=exp.null(), to=kind)
                annotator.annotate_expression(known)
                around.append((node, known))
        yield original, _type(node) if kind is None else kind


def _is_given(node: exp.Expr, types: Mapping[str, exp.DataType]) -> bool:
    return isinstance(node, exp.Column) and node.name in types


def _type_again(annotator: TypeAnnotator, node: exp.Expr) -> None:
    """Recompute the type of the node from the types of its parts."""
    annotate = (annotator.expression_metadata.get(type(node)) or {}).get("annotator")
    if annotate is not None:
        annotate(annotator, node)


def literal_type(literal: exp.Literal, *, is_negated: bool = False) -> exp.DataType:
    """The type of a literal. A decimal comes without precision and scale."""
    if literal.is_string:
        return exp.DataType(this=Type.VARCHAR)
    return _type_of_number(literal, is_negated) or exp.DataType(this=Type.INT if literal.is_int else Type.DOUBLE)


def _corrected(node: exp.Expr) -> exp.DataType | None:
    """Spark's type of a node for which annotate_types takes the type of an operand; None if no correction is needed.

    A part of a BIGINT or a TIMESTAMP is a text. A rounded decimal stays a DECIMAL, 1.5 is one, and 3000000000 is a BIGINT. One
    floating-point operand makes the result floating-point. The result of several integers has the widest of their types. What
    a text is cast to in arithmetic depends on ANSI mode, so the type is UNKNOWN.
    """
    if isinstance(node, exp.Literal):
        kind = _type_of_number(node, isinstance(node.parent, exp.Neg)) if node.is_number else None
        return kind if kind is not None and _type(node).this != kind.this else None
    if isinstance(node, exp.Collate):  # what it is compared with decides which texts are equal
        return exp.DataType(this=Type.UNKNOWN)
    if (of_call := type_of_call(node)) is not None:
        return of_call
    if isinstance(node, _PARTS_OF_TEXTS):
        whole = _type(node.this)
        return whole if whole.this in _HAVE_PARTS else exp.DataType.build("string", dialect=DIALECT)
    chosen = isinstance(node, ALTERNATIVES) and node.arg_key != "ifs"  # a branch of CASE is an IF without a value of its own
    kinds = [_type(each) for each in (alternatives(node) if chosen else node.iter_expressions())]
    if _has_parts(node, kinds) and any(map(holds_float, kinds)) and not holds_float(_type(node)):
        return exp.DataType(this=Type.UNKNOWN)
    values = [kind for kind in kinds if kind.this != Type.NULL]
    if chosen and kinds and not values:
        return kinds[0]
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
    if isinstance(node, exp.SplitPart):  # of texts with a collation it has that
        is_sure = all(kind.this not in _UNSURE for kind in kinds)
        return exp.DataType.build("string", dialect=DIALECT) if is_sure else exp.DataType(this=Type.UNKNOWN)
    if isinstance(node, TRYING):
        return _of_trying(node, kinds)
    if isinstance(node, _ARITHMETIC):
        if any(map(is_text, kinds)):
            return exp.DataType(this=Type.UNKNOWN)
        if any(map(is_float, kinds)) and not is_float(_type(node)):
            return exp.DataType(this=Type.DOUBLE)
    return None


def _of_trying(node: exp.Expr, kinds: Sequence[exp.DataType]) -> exp.DataType:
    """The type of try_add and the like of two numbers: that of the operator. The quotient of two integers is a DOUBLE."""
    if not all(is_float(kind) or is_exact_number(kind) for kind in kinds):
        return exp.DataType(this=Type.UNKNOWN)
    if all(map(is_integral, kinds)) and not isinstance(node, exp.SafeDivide):
        return max(kinds, key=lambda kind: DIGITS[kind.this])
    is_decimal = any(kind.this == Type.DECIMAL for kind in kinds) and not any(map(is_float, kinds))
    return exp.DataType(this=Type.DECIMAL if is_decimal else Type.DOUBLE)


# Wrong without it: avg(i * 3000000000) would be maintained as an average of INTs, whose sum is a BIGINT.
def _type_of_number(node: exp.Literal, is_negated: bool) -> exp.DataType | None:
    """The type of a number literal for which annotate_types gives another type; None if that type is right."""
    if not node.is_int:
        return None if "e" in node.name.lower() else exp.DataType(this=Type.DECIMAL)
    value = int(node.name) - is_negated  # -2147483648 is an INT
    return None if value < _BIGINTS else exp.DataType(this=Type.BIGINT if value < _DECIMALS else Type.DECIMAL)


# Wrong without it: for array(1, 0.5D), or a CASE with an array of integers and one of floats, annotate_types takes the type of
# the first element or branch. A change of the sign of a zero would then be overlooked.
def _has_parts(node: exp.Expr, operands: Sequence[exp.DataType]) -> bool:
    """Whether the value has parts of the types of its operands: an array, a struct, a map, or a concatenation of arrays."""
    return _type(node).this in _NESTED or (isinstance(node, exp.DPipe) and any(kind.this in _NESTED for kind in operands))


def holds_float(kind: exp.DataType) -> bool:
    """Whether the type or one of its parts is floating-point."""
    return any(map(is_float, kind.find_all(exp.DataType)))


def _type(node: exp.Expr) -> exp.DataType:
    return node.type if isinstance(node.type, exp.DataType) else exp.DataType(this=Type.UNKNOWN)


_NESTED = frozenset({Type.ARRAY, Type.STRUCT, Type.MAP})
_PARTS_OF_TEXTS = (exp.Left, exp.Right, exp.Substring, exp.Overlay, exp.Reverse)
_HAVE_PARTS = frozenset({Type.BINARY, Type.VARBINARY, Type.ARRAY, Type.UNKNOWN, Type.OBJECT, Type.NULL})
_UNSURE = frozenset({Type.UNKNOWN, Type.OBJECT, Type.NULL})
ALTERNATIVES = (exp.Coalesce, exp.Case, exp.If, exp.Nvl2, exp.Greatest, exp.Least, exp.Nullif)
TRYING = (exp.SafeAdd, exp.SafeSubtract, exp.SafeMultiply, exp.SafeDivide)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Negative, exp.Abs)


def alternatives(node: exp.Expr) -> list[exp.Expr]:
    """The operands that may be the result of a CASE, IF, NVL2, COALESCE or the like, in order."""
    if isinstance(node, exp.Case):
        found = [*(branch.args.get("true") for branch in node.args["ifs"]), node.args.get("default")]
    elif isinstance(node, exp.If | exp.Nvl2):
        found = [node.args.get("true"), node.args.get("false")]
    else:
        found = [node.this, *node.expressions]
    return [each for each in found if each is not None]


def is_float(kind: exp.DataType) -> bool:
    return kind.this in (Type.FLOAT, Type.DOUBLE)


def is_exact_number(kind: exp.DataType) -> bool:
    return is_integral(kind) or kind.this == Type.DECIMAL


def is_text(kind: exp.DataType) -> bool:
    return kind.this in TEXT
