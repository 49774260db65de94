"""Whether a condition is true wherever another one is, as far as this can be recognised.

x = 2       x IN (1, 2, 3)      x < 5       x = 2 OR y > 1
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from dbt_idivm.algebra.decimals import of_alternatives, size_of
from dbt_idivm.algebra.expression_text import text_of
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.algebra.types import Type, decimal_size, infer_type, is_exact_number, is_known, is_numeric, is_text

Types = Mapping[str, exp.DataType]
Value = tuple[str, Decimal | str]
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")
_EXACT_NUMBER = 1_000_000  # up to this value comparisons in any numeric type distinguish integers


def implies(known: exp.Expr, other: exp.Expr, types: Types) -> bool:
    """Whether `other` is true for every row for which `known` is. False if `other` may fail: it has to be evaluated then."""
    if may_raise(other, types):
        return False
    return all(
        any(text_of(mine) == text_of(theirs) or follows(mine, theirs, types) for theirs in _alternatives(other, types))
        for mine in _alternatives(known, types)
    )


def _alternatives(condition: exp.Expr, types: Types) -> Iterator[exp.Expr]:
    """The operands of OR; x IN (1, 2) counts as x = 1 OR x = 2."""
    node = condition.unnest()
    if isinstance(node, exp.Or):
        yield from _alternatives(node.left, types)
        yield from _alternatives(node.right, types)
    elif isinstance(node, exp.In) and node.expressions and set(node.args) <= {"this", "expressions"} and _are_pairs(node, types):
        for each in node.expressions:
            yield exp.EQ(this=node.this.copy(), expression=each.copy())
    else:
        yield node


# Wrong without it: x IN (9007199254740993, 1e0) compares DOUBLEs, but x = 9007199254740993 does not. And without ANSI mode x IN
# ('01', '2') compares texts for any x, but x = '01' compares integers.
def _are_pairs(node: exp.In, types: Types) -> bool:
    """Whether x IN (a, b) compares in the same types as x = a and x = b."""
    values = [each for each in node.expressions if not isinstance(each.unnest(), exp.Null)]
    kinds = [infer_type(each, types) for each in (node.this, *values)]
    if all(map(is_exact_number, kinds)):
        return of_alternatives([size_of(each) for each in kinds]) is not None
    if kinds[0].this == Type.DOUBLE:
        return all(map(is_numeric, kinds))
    if len({*kinds[1:]}) > 1 or not all(map(is_known, kinds)):
        return False
    return kinds[0] in kinds[1:] or any(all(map(test, kinds)) for test in (is_text, is_numeric))


def follows(one: exp.Expr, other: exp.Expr, types: Types, names: Mapping[str, str] | None = None) -> bool:
    """Whether `other` is true wherever `one` is, for comparisons of the same column with constants. `names`: column → column
    with equal values, by which `one` refers to it."""
    mine, theirs = _range(one, types), _range(other, types)
    if mine is None or theirs is None or mine.column != (names or {}).get(theirs.column, theirs.column):
        return False
    return mine.kind == theirs.kind and theirs.holds(mine)


@dataclass(frozen=True)
class _Range:
    """low ≤ column ≤ high, each bound possibly strict."""

    column: str
    kind: str
    low: tuple[Decimal | str, bool] | None = None  # (value, whether it is included)
    high: tuple[Decimal | str, bool] | None = None

    def holds(self, inner: _Range) -> bool:
        return _is_beyond(self.low, inner.low, 1) and _is_beyond(self.high, inner.high, -1)


def _is_beyond(outer: tuple[Decimal | str, bool] | None, inner: tuple[Decimal | str, bool] | None, sign: int) -> bool:
    """Whether the outer bound admits everything that the inner one admits; `sign` is 1 for lower bounds and -1 for upper ones."""
    if outer is None or inner is None:
        return outer is None
    if outer[0] == inner[0]:
        return outer[1] or not inner[1]
    return (outer[0] < inner[0]) == (sign == 1)  # type: ignore[operator]  # of one kind


def _range(condition: exp.Expr, types: Types) -> _Range | None:
    node = condition.unnest()
    if not isinstance(node, exp.EQ | exp.LT | exp.LTE | exp.GT | exp.GTE):
        return None
    left, right = node.left.unnest(), node.right.unnest()
    kind: type[exp.Expr] = type(node)
    if isinstance(right, exp.Column):
        left, right, kind = right, left, _FLIPPED[kind]
    value = _value(right, types.get(left.name)) if isinstance(left, exp.Column) else None
    if value is None:
        return None
    bound = (value[1], kind in (exp.EQ, exp.LTE, exp.GTE))
    return _Range(
        left.name,
        value[0],
        bound if kind in (exp.EQ, exp.GT, exp.GTE) else None,
        bound if kind in (exp.EQ, exp.LT, exp.LTE) else None,
    )


_FLIPPED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}


def _value(node: exp.Expr, kind: exp.DataType | None) -> Value | None:
    """A constant that is ordered in the same way in every type it may be compared in: a number, or DATE '2024-05-01' beside a
    date; else None."""
    if isinstance(node, exp.Cast) and kind is not None and kind.this == node.to.this == exp.DataType.Type.DATE:
        inner = node.this
        return ("date", inner.name) if isinstance(inner, exp.Literal) and inner.is_string and _DATE.match(inner.name) else None
    inner = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(inner, exp.Literal) or inner.is_string or not re.fullmatch(r"\d+(\.\d+)?", inner.name):
        return None
    value = Decimal(inner.name) if inner is node else Decimal(inner.name).copy_negate()
    size = size_of(kind) if kind is not None and is_exact_number(kind) else None
    if size is None:
        return ("number", value) if inner.is_int and value.copy_abs() <= _EXACT_NUMBER else None
    # Wrong without it: beside a DECIMAL(38, 0) Spark rounds 1.5 to 2, so that 2 <= 1.5.
    return ("number", value) if of_alternatives((size, decimal_size(inner, {}))) is not None else None
