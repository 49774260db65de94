"""Derivations of a form from another one with the same inputs: σ from a block with fewer conditions, γ from a finer γ.

    σ x < 5 (R)               from  σ x < 10 (R)
    γ region; sum(price)      from  γ region, city; sum(price)

Mistry et al. 2001, §4.2.1, call them subsumption derivations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from dbt_idivm.algebra.decimals import is_summable
from dbt_idivm.algebra.expression_text import expression_text, text_of
from dbt_idivm.algebra.expressions import attributes
from dbt_idivm.algebra.implication import follows
from dbt_idivm.algebra.inference import certain_type
from dbt_idivm.algebra.types import has_exact_order, infer_type
from dbt_idivm.tools.dag.forms import Block, Grouping, Test

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
        _text(test, names) in known
        or any(follows(each.expression, test.expression, narrow.types, names) for each in narrow.tests)
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
    return set(map(text_of, expressions))
