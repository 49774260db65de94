"""The query graph of a view: joins, selections and projections over sources, which are all other operators.

π a, b + 1 → c (σ a > 2 (r ⋈ s))     sources r, s; conditions a > 2 and those of ⋈; a is a, c is b + 1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, conjuncts, substitute
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators import Join, OneRow, Project, Select

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
    if isinstance(node, Join):
        left, right = map(query_graph, node.inputs)
        both = QueryGraph((*left.sources, *right.sources), (*left.conditions, *right.conditions), {**left.names, **right.names})
        return _tested(both, node.condition)
    if isinstance(node, Select):
        return _tested(query_graph(node.child), node.condition)
    if isinstance(node, Project):
        below = query_graph(node.child)
        return QueryGraph(below.sources, below.conditions, {name: below.over(each) for name, each in node.definitions})
    if isinstance(node, OneRow):  # the unit of ×
        return QueryGraph((), (), {})
    return QueryGraph((node,), (), {name: column(name) for name in node.columns})


def _tested(graph: QueryGraph, condition: exp.Expr) -> QueryGraph:
    parts = tuple(graph.over(each) for each in conjuncts(condition.unnest()))
    return QueryGraph(graph.sources, (*graph.conditions, *parts), graph.names)
