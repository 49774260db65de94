"""Whether a condition is true wherever another one is, as far as this can be recognised.

x = 2       x IN (1, 2, 3)      x < 5       x = 2 OR y > 1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from dbt_idivm.adaptation.derive import text_of
from dbt_idivm.algebra.decimals import of_alternatives, size_of
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.algebra.types import Type, infer_type, is_exact_number, is_known, is_numeric, is_text
from dbt_idivm.dag.subsumption import follows

Types = Mapping[str, exp.DataType]


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
