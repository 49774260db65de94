"""The query graph of a view: joins, selections and projections over sources, which are all other operators.

π a, b + 1 → c (σ a > 2 (r ⋈ s))     sources r, s; conditions a > 2 and those of ⋈; a is a, c is b + 1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, conjuncts, substitute
from dbt_idivm.algebra.operator import Operator

Definitions = Mapping[str, exp.Expr]  # attribute → its definition over the attributes of sources


@dataclass(frozen=True)
class QueryGraph:
    """π_names σ_conditions (sources × …). The order of `conditions` matters: one may guard those after it."""

    sources: tuple[Operator, ...]
    conditions: tuple[exp.Expr, ...]
    names: Definitions

    def over(self, expression: exp.Expr) -> exp.Expr:
        """Rewrite an expression over the graph's attributes to one over the attributes of its sources."""
        return substitute(expression, self.names)


def query_graph(node: Operator) -> QueryGraph:
    """The query graph at the top of a tree."""
    if not node.is_select_project_join:
        return QueryGraph((node,), (), {name: column(name) for name in node.columns})
    graphs = [query_graph(each) for each in node.inputs]
    below = QueryGraph(
        tuple(source for each in graphs for source in each.sources),
        tuple(condition for each in graphs for condition in each.conditions),
        {name: definition for each in graphs for name, definition in each.names.items()},
    )
    tests = tuple(below.over(part) for each in node.conditions for part in conjuncts(each.unnest()))
    defined = dict(node.defined)
    names = {name: below.over(defined[name]) if name in defined else below.names[name] for name in node.columns}
    return QueryGraph(below.sources, (*below.conditions, *tests), names)
