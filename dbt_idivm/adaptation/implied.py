"""Whether a condition is true wherever another one is, as far as that can be seen.

    x = 2       x IN (1, 2, 3)      x < 5       x = 2 OR y > 1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from dbt_idivm.adaptation.derive import text_of
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.dag.subsumption import follows


def implies(known: exp.Expr, other: exp.Expr, types: Mapping[str, exp.DataType]) -> bool:
    """Whether `other` is true for every row for which `known` is. Not for one that may fail: it is to be evaluated then."""
    if may_raise(other, types):
        return False
    return all(any(text_of(mine) == text_of(theirs) or follows(mine, theirs, types) for theirs in _alternatives(other))
               for mine in _alternatives(known))


def _alternatives(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The OR-ed parts, those of x IN (1, 2) among them."""
    node = condition.unnest()
    if isinstance(node, exp.Or):
        yield from _alternatives(node.left)
        yield from _alternatives(node.right)
    elif isinstance(node, exp.In) and node.expressions and set(node.args) <= {"this", "expressions"}:
        for each in node.expressions:
            yield exp.EQ(this=node.this.copy(), expression=each.copy())
    else:
        yield node
