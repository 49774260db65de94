"""The variables of lambdas, which hide sources of the same name. Sources with fixed names: `algebra/variables.py`.

    exists(o.parts, d -> d.price > v.price)     within the lambda `d.price` is a field of the element, whatever source is called d
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from dbt_idivm.algebra.relation import Relation
from dbt_idivm.operators.aggregate import Grouped


def variables(relation: Relation) -> frozenset[str]:
    """The names of those in all expressions of a tree, lower case."""
    return frozenset(each.name.lower() for expression in _expressions(relation) for function in expression.find_all(exp.Lambda)
                     for each in function.expressions)


def _expressions(relation: Relation) -> Iterator[exp.Expr]:
    calls: Iterable[exp.Expr] = (each.value for each in relation.calls) if isinstance(relation, Grouped) else ()
    yield from (*relation.expressions, *calls)
    for each in relation.children:
        yield from _expressions(each)
