"""Derivations of a form from another one with the same inputs: σ from a block with fewer conditions, γ from a finer γ.

    σ x < 5 (R)               from  σ x < 10 (R)
    γ region; sum(price)      from  γ region, city; sum(price)

Mistry et al. 2001, §4.2.1, call them subsumption derivations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from dbt_idivm.algebra.decimals import is_summable, of_alternatives, size_of
from dbt_idivm.algebra.expressions import attributes
from dbt_idivm.algebra.inference import certain_type
from dbt_idivm.algebra.types import decimal_size, has_exact_order, infer_type, is_exact_number
from dbt_idivm.dag.expression_text import expression_text
from dbt_idivm.dag.forms import Block, Grouping, Test, Types

_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")
_EXACT_NUMBER = 1_000_000  # up to this value comparisons in any numeric type distinguish integers
Value = tuple[str, Decimal | str]


# --- blocks ---


def is_selection(narrow: Block, wide: Block) -> bool:
    """Whether `narrow` is a selection of `wide`, a block with the same sources: each condition of `wide` follows from its own.

    No condition of `wide` may fail: it could fail for rows that other conditions of `narrow` remove.
    """
    if len(narrow.tests) + sum(map(len, narrow.classes)) < len(wide.tests) + sum(map(len, wide.classes)):
        return False
    if any(test.last for test in wide.tests) or not all(_is_inside(each, narrow.classes) for each in wide.classes):
        return False
    known = {_text(test) for test in narrow.tests}
    names = _names(narrow)
    return all(
        _text(test, names) in known or any(_implies(each, test, names, narrow.types) for each in narrow.tests)
        for test in wide.tests
    )


def difference(narrow: Block, wide: Block) -> tuple[list[tuple[str, ...]], list[Test]]:
    """The classes and tests of `narrow` that `wide` lacks."""
    names = _names(narrow)
    known = {_text(test, names) for test in wide.tests}
    return [each for each in narrow.classes if not _is_inside(each, wide.classes)], [
        test for test in narrow.tests if _text(test) not in known
    ]


def _is_inside(members: Iterable[str], classes: Iterable[tuple[str, ...]]) -> bool:
    return any(set(members) <= set(each) for each in classes)


def _names(block: Block) -> Mapping[str, str]:
    """Column → the first column of its class."""
    return {name: each[0] for each in block.classes for name in each}


def _text(test: Test, names: Mapping[str, str] | None = None) -> str:
    found = names or {}
    return expression_text(test.expression, {name: found.get(name, name) for name in test.columns}, ordered=test.last)


def _implies(one: Test, other: Test, names: Mapping[str, str], types: Types) -> bool:
    """Whether a comparison of a column with constants (`other`) follows from another one of the same column."""
    mine, theirs = _range(one, types), _range(other, types)
    if mine is None or theirs is None or mine.column != names.get(theirs.column, theirs.column):
        return False
    return mine.kind == theirs.kind and theirs.holds(mine)


def follows(one: exp.Expr, other: exp.Expr, types: Types) -> bool:
    """Whether `other` is true wherever `one` is, for comparisons of the same column with constants."""
    return _implies(Test(one, False), Test(other, False), {}, types)


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


def _range(test: Test, types: Types) -> _Range | None:
    node = test.expression.unnest()
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


# --- groupings ---

_SAME = (exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr, exp.BitwiseAndAgg, exp.BitwiseOrAgg)


def is_coarser(coarse: Grouping, fine: Grouping) -> bool:
    """Whether a γ can be computed from another one over the same input: its groups are a subset, and its calls can be
    combined."""
    if len(fine.groups) < len(coarse.groups) or (len(fine.groups) == len(coarse.groups) and len(fine.calls) <= len(coarse.calls)):
        return False
    if not _texts(coarse.groups) <= _texts(fine.groups) or not _texts(coarse.calls) <= _texts(fine.calls):
        return False
    if len(fine.groups) == len(coarse.groups):  # a projection
        return True
    return all(_is_exact(each, fine) for each in coarse.groups) and all(_can_be_combined(each, fine) for each in coarse.calls)


def combined(call: exp.Expr, *, has_groups: bool) -> str:
    """The call over the rows of the finer γ, for people. Without rows a count is 0, but a sum of counts is NULL."""
    if isinstance(call, exp.Count):
        return "sum of counts" if has_groups else "sum of counts, or 0"
    return f"{call.key} of {call.key}s"


def _can_be_combined(call: exp.Expr, fine: Grouping) -> bool:
    """Whether a call can be computed from those of finer groups. Sums only over types whose sums do not depend on the order of
    rows; no DISTINCT, FILTER or second argument."""
    argument = call.this
    if set(_given(call)) - {"this", "big_int"} or isinstance(argument, exp.Distinct):
        return False
    if isinstance(call, exp.Count):
        return isinstance(argument, exp.Expr)
    if not isinstance(argument, exp.Expr):
        return False
    if isinstance(call, exp.Sum):
        return is_summable(infer_type(argument, fine.input.types))
    return isinstance(call, _SAME) and _is_exact(argument, fine)


def _given(call: exp.Expr) -> dict[str, object]:
    return {key: value for key, value in call.args.items() if value is not None and value != []}


# For values that are equal but not identical, such as 0.0 and -0.0, a group has any of them.
def _is_exact(expression: exp.Expr, fine: Grouping) -> bool:
    kind = certain_type(expression, fine.input.certain)
    read = attributes(expression)
    return kind is not None and has_exact_order(kind) and all(fine.input.exact(name) is not None for name in read)


def _texts(expressions: Iterable[exp.Expr]) -> set[str]:
    return {expression_text(each, {name: name for name in attributes(each)}, ordered=True) for each in expressions}
