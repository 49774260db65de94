"""Expressions that may fail on some rows under ANSI mode: a / b, CAST(text AS INT), an index into an array.

A query guards them by conditions and joins: `WHERE qty <> 0`, or a join that keeps only rows whose texts are numbers. A row that
does not reach such an expression in the query must not reach it in a refresh either.

Spark casts a text that meets a number, a date or a boolean: code + 1, code = 5, coalesce(code, 0). Constant texts are ignored,
because they fail for all rows or for none.

Overflow of arithmetic and of casts between numbers is ignored: nobody writes a condition against it, and every sum of two columns
would have to be looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlglot import exp

from dbt_idivm.algebra.expressions import call_name
from dbt_idivm.algebra.types import Type, infer_type, inferred, is_numeric, is_text
from dbt_idivm.algebra.types_of_times import TIMES

_PLAIN = (
    # values
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Boolean,
    exp.Null,
    exp.Star,
    exp.Paren,
    exp.DataType,
    exp.DataTypeParam,
    exp.Alias,
    exp.Dot,
    exp.Tuple,
    exp.Var,  # a unit
    # conditions
    exp.And,
    exp.Or,
    exp.Not,
    exp.Is,
    exp.EQ,
    exp.NEQ,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.Between,
    exp.In,
    exp.Like,
    exp.ILike,
    # arithmetic
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Neg,
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.BitwiseXor,
    exp.BitwiseNot,
    exp.Abs,
    exp.Round,
    exp.Floor,
    exp.Ceil,
    exp.SafeAdd,
    exp.SafeSubtract,
    exp.SafeMultiply,
    exp.SafeDivide,
    # choices
    exp.Case,
    exp.If,
    exp.Coalesce,
    exp.Nullif,
    exp.Greatest,
    exp.Least,
    # texts
    exp.Concat,
    exp.DPipe,
    exp.Lower,
    exp.Upper,
    exp.Length,
    exp.Trim,
    exp.Substring,
    exp.Left,
    exp.Right,
)
_FUNCTION_NAMES = """
    concat_ws ifnull isnotnull isnull ltrim named_struct nullifzero nvl nvl2 replace rtrim struct try_add try_avg try_divide
    try_element_at try_mod try_multiply try_subtract try_to_date try_to_number try_to_timestamp typeof zeroifnull
"""
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
# Functions that cannot fail for dates, timestamps and numbers.
_OF_TIMES = (
    exp.AddMonths,
    exp.DateDiff,
    exp.DayOfMonth,
    exp.DayOfWeek,
    exp.LastDay,
    exp.Month,
    exp.MonthsBetween,
    exp.Quarter,
    exp.TsOrDsAdd,
    exp.TsOrDsToDate,
    exp.Year,
)
_FUNCTIONS_OF_TIMES = frozenset({"date_diff", "date_sub", "date_trunc"})
# Operators that do not accept texts: Spark casts a text operand.
_NO_TEXTS = (
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.Mod,
    exp.IntDiv,
    exp.Neg,
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.BitwiseXor,
    exp.BitwiseNot,
    exp.Abs,
    exp.Round,
    exp.Floor,
    exp.Ceil,
    exp.SafeAdd,
    exp.SafeSubtract,
    exp.SafeMultiply,
    exp.SafeDivide,
    exp.And,
    exp.Or,
    exp.Not,
)
# Operators whose operands must have the same type: Spark casts texts to the type of the other operands.
_OF_ONE_TYPE = (
    exp.EQ,
    exp.NEQ,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.Between,
    exp.In,
    exp.Coalesce,
    exp.Nullif,
    exp.Greatest,
    exp.Least,
)
_FUNCTIONS_OF_ONE_TYPE = frozenset({"ifnull", "nvl", "nvl2", "nullifzero", "zeroifnull"})
_NUMBERS_BEHIND_TEXT = (exp.Substring, exp.Left, exp.Right)


def may_raise(expression: exp.Expr, types: Mapping[str, exp.DataType]) -> bool:
    """Whether the expression may fail on some row, given the types of its attributes. An unknown function may fail."""
    known = inferred(types)
    return any(_raises(node, known) for node in expression.walk())


def _raises(node: exp.Expr, types: Mapping[str, exp.DataType]) -> bool:
    if _casts_texts(node, types):
        return True
    if isinstance(node, exp.Div | exp.Mod | exp.IntDiv):
        return not _is_safe_divisor(node.expression)
    if isinstance(node, exp.Cast):  # to sqlglot's Spark dialect each CAST is a TryCast, and TRY_CAST a safe one
        return not node.args.get("safe") and not _is_safe_cast(node, types)
    if isinstance(node, exp.Interval):
        return not isinstance(node.this, exp.Literal)
    if isinstance(node, _OF_TIMES) or (isinstance(node, exp.Anonymous) and call_name(node) in _FUNCTIONS_OF_TIMES):
        operands = [each for each in node.iter_expressions() if not isinstance(each, exp.Var)]
        return not all(kind.this in TIMES or is_numeric(kind) for kind in _kinds(operands, types))
    if isinstance(node, exp.Anonymous):
        return call_name(node) not in _FUNCTIONS
    return not isinstance(node, _PLAIN)


def _casts_texts(node: exp.Expr, types: Mapping[str, exp.DataType]) -> bool:
    """Whether Spark casts a text here that may be invalid in the target type."""
    if isinstance(node, _NO_TEXTS):
        return any(is_text(kind) for kind in _kinds(node.iter_expressions(), types))
    if isinstance(node, _NUMBERS_BEHIND_TEXT):
        return any(is_text(kind) for kind in _kinds(list(node.iter_expressions())[1:], types))
    return any(_mixes_texts(operands, types) for operands in _of_one_type(node))


def _of_one_type(node: exp.Expr) -> Iterator[list[exp.Expr]]:
    """The lists of operands that Spark converts to a common type."""
    named = call_name(node) in _FUNCTIONS_OF_ONE_TYPE
    if named or isinstance(node, _OF_ONE_TYPE):
        zero = [exp.Literal.number(0)] if node.name.lower() in ("nullifzero", "zeroifnull") else []
        yield [*node.iter_expressions(), *zero]
    elif isinstance(node, exp.Case):
        ifs, other = node.args["ifs"], node.args.get("default")
        yield [each.args["true"] for each in ifs] + ([other] if other else [])
        yield [node.this, *(each.this for each in ifs)] if node.this else []
    elif isinstance(node, exp.If) and not isinstance(node.parent, exp.Case):
        yield [each for each in (node.args["true"], node.args.get("false")) if each]


def _mixes_texts(operands: list[exp.Expr], types: Mapping[str, exp.DataType]) -> bool:
    kinds = [kind for kind in _kinds(operands, types) if kind.this != Type.NULL]
    others = any(not is_text(infer_type(each, types)) for each in operands if not _is_null(each))
    return others and any(is_text(kind) for kind in kinds)


def _kinds(operands: Iterable[exp.Expr], types: Mapping[str, exp.DataType]) -> list[exp.DataType]:
    """The types of the operands that are not literals."""
    return [infer_type(each, types) for each in operands if not isinstance(each.unnest(), exp.Literal)]


def _is_null(operand: exp.Expr) -> bool:
    return isinstance(operand.unnest(), exp.Null)


def _is_safe_divisor(divisor: exp.Expr) -> bool:
    """Whether the divisor is a constant other than zero. A DOUBLE zero is unsafe too: Spark fails there as well."""
    inner = divisor.unnest()
    return isinstance(inner, exp.Literal) and not inner.is_string and float(inner.name) != 0


def _is_safe_cast(cast: exp.Cast, types: Mapping[str, exp.DataType]) -> bool:
    """Whether the cast cannot fail. Any type casts to text, and any number to any other number (overflow is ignored)."""
    have = infer_type(cast.this, types)
    if is_text(cast.to) or have == cast.to:
        return True
    if is_numeric(cast.to):
        return is_numeric(have) or have.this == Type.BOOLEAN
    return {have.this, cast.to.this} <= TIMES
