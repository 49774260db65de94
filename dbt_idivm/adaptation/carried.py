"""The scans below a graph's sources such that each row of the source contains exactly one row, unchanged.

    o ⟕ o.cust = c.id c     one row of o; one row of c, or NULLs for all its columns
    o ⋉ x                   one row of o

Both definitions read the scan, and both use the same row of it. Groups, windows, unions and UNNEST are not looked into.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.adaptation.same_rows import pairs_below
from dbt_idivm.algebra.answers import BinaryOperator
from dbt_idivm.algebra.expressions import column, conjuncts, substitute
from dbt_idivm.algebra.inference import rejects_null
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.outer import LEFT, RIGHT
from dbt_idivm.operators import Scan
from dbt_idivm.passes.query_graph import QueryGraph, query_graph

Shown = Mapping[str, str]  # attribute of the source → the scan's attribute with its value


@dataclass(frozen=True)
class Carried:
    """A scan of the new definition and its counterpart in the old one. `padded`: a row of the source may contain no row of it;
    `present`: attributes of the new scan that are not NULL if it contains one."""

    new: Scan
    old: Scan
    shown: Shown  # of the new definition
    was_shown: Shown  # of the old one
    padded: bool = False
    present: frozenset[str] = frozenset()


def carried(new: Operator, old: Operator) -> Iterator[Carried]:
    """The carried scans of a pair of sources with the same rows."""
    if isinstance(new, Scan) and isinstance(old, Scan):
        yield Carried(new, old, {name: name for name in new.columns}, {name: name for name in old.columns})
        return
    if not isinstance(new, BinaryOperator) or LEFT in new.padded:
        return
    below = pairs_below(new, old)
    if not below:
        return
    graphs = [(query_graph(one), query_graph(two)) for one, two in zip(new.inputs, old.inputs, strict=True)]
    yield from _within(below[LEFT], graphs[LEFT])
    if RIGHT in new.padded:
        present = _present(new, [graph for graph, _ in graphs])
        for each in _within(below[RIGHT], graphs[RIGHT]):
            yield (
                each
                if each.padded
                else replace(each, padded=True, present=frozenset(name for shown, name in each.shown.items() if shown in present))
            )


def _within(pairs: Iterable[tuple[Operator, Operator]], graphs: tuple[QueryGraph, QueryGraph]) -> Iterator[Carried]:
    """The carried scans below an input, under the names of the input's attributes."""
    for pair in pairs:
        for each in carried(*pair):
            yield replace(each, shown=_through(graphs[0], each.shown), was_shown=_through(graphs[1], each.was_shown))


def _through(graph: QueryGraph, shown: Shown) -> Shown:
    return {name: shown[each.name] for name, each in graph.names.items() if isinstance(each, exp.Column) and each.name in shown}


def _present(node: BinaryOperator, graphs: list[QueryGraph]) -> frozenset[str]:
    """The right attributes that are not NULL in matching pairs: with a NULL the join condition, or a condition of the input, is
    not true."""
    right = graphs[RIGHT]
    tests = [*conjuncts(node.condition.unnest()), *_shown_tests(right)]
    return frozenset(name for each in tests for name in rejects_null(each)) & {*node.right.columns}


def _shown_tests(graph: QueryGraph) -> Iterator[exp.Expr]:
    """The conditions of a graph over its own attributes, if it outputs all that they read."""
    shown = {each.name: column(name) for name, each in graph.names.items() if isinstance(each, exp.Column)}
    for each in graph.conditions:
        if all(node.name in shown for node in each.find_all(exp.Column)):
            yield substitute(each, shown)
