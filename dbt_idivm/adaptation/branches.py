"""The query graphs whose rows together are those of a view: one for each branch of a UNION ALL below selections and projections,
else one."""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.expressions import substitute
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators import UnionAll
from dbt_idivm.passes.query_graph import QueryGraph, query_graph


def branches_of(root: Operator) -> tuple[QueryGraph, ...]:
    """The graphs whose rows together are the view's rows. If there are several, each has its number as branch attribute."""
    graph = query_graph(root)
    union = _union(graph)
    if union is None:
        return (graph,)
    return tuple(_branch(graph, union, number) for number in range(len(union.parts)))


def branch_attribute(root: Operator) -> str | None:
    """The attribute of the root that distinguishes the graphs of `branches_of`; None if there is only one."""
    graph = query_graph(root)
    union = _union(graph)
    return (
        None
        if union is None
        else next(
            (name for name, each in graph.names.items() if isinstance(each, exp.Column) and each.name == union.branch), None
        )
    )


def _union(graph: QueryGraph) -> UnionAll | None:
    """The UNION ALL that is the graph's only source; None if it has others."""
    only = graph.sources[0] if len(graph.sources) == 1 else None
    return only if isinstance(only, UnionAll) else None


def _branch(graph: QueryGraph, union: UnionAll, number: int) -> QueryGraph:
    part = query_graph(union.parts[number])
    known = {output: part.names[source] if source is not None else exp.null() for output, source in union.pairs(number)}
    known[union.branch] = exp.Literal.number(number)
    tests = tuple(substitute(each, known) for each in graph.conditions)
    return QueryGraph(
        part.sources, (*part.conditions, *tests), {name: substitute(each, known) for name, each in graph.names.items()}
    )
