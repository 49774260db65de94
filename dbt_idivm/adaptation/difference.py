"""Differences between two graphs: a view before and after an edit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.adaptation.derive import of_old, translated
from dbt_idivm.adaptation.same_rows import Known, Pairs, Types, assignments, is_guarded_as_before, types_of
from dbt_idivm.algebra.answers import BinaryOperator
from dbt_idivm.algebra.expression_text import text_of
from dbt_idivm.algebra.expressions import attributes, column, substitute
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.outer import LEFT, RIGHT
from dbt_idivm.cached import cached_property
from dbt_idivm.operators import Aggregate
from dbt_idivm.passes.query_graph import Definitions, QueryGraph, query_graph


@dataclass(frozen=True)
class LookUp:
    """An added ⟕, ⋉ or ▷ whose left rows have the attributes of its condition."""

    node: BinaryOperator
    condition: exp.Expr

    @property
    def added(self) -> tuple[str, ...]:
        """The attributes that its condition, or operators above it, take from the right relation."""
        left = {*self.node.left.columns}
        return tuple(dict.fromkeys((*self.node.right.columns, *(name for name in self.node.columns if name not in left))))

    def applied(self, rows: Operator, condition: exp.Expr) -> Operator:
        """The operator over these rows, with the condition rewritten to their attributes."""
        return replace(self.node, left=rows, condition=condition)


@dataclass(frozen=True)
class Difference:
    """A new graph compared with an old one, all of whose sources it contains.

    `new` is the graph without the added look-ups. `joined`: added sources. `looked_up`: added operators with the rows of the
    graph on their left, innermost first. `extra`: conditions of the new graph that the old one lacks; `lost`: conditions of the
    old graph, over old attributes, that the new one lacks.
    """

    new: QueryGraph
    old: QueryGraph
    pairs: Pairs
    known: Known
    joined: tuple[Operator, ...]
    looked_up: tuple[LookUp, ...]
    extra: tuple[exp.Expr, ...]
    lost: tuple[exp.Expr, ...]

    @cached_property
    def added(self) -> frozenset[str]:
        """The attributes that rules add, because no source of the old graph has them."""
        found = (
            *(each.columns for each in self.joined),
            *(each.added for each in self.looked_up),
            *(names for _, names in self.missing_calls),
        )
        return frozenset(name for names in found for name in names)

    @cached_property
    def missing_calls(self) -> tuple[tuple[Aggregate, tuple[str, ...]], ...]:
        """The γ of the new graph, each with the names of the calls that are read and that the old γ lacks."""
        read = {
            name
            for each in (*self.new.conditions, *self.new.names.values(), *(each.condition for each in self.looked_up))
            for name in attributes(each)
        }
        found = (
            (new, tuple(call.name for call in new.calls if call.name in read and call.name not in self.known))
            for new, _ in self.pairs
            if isinstance(new, Aggregate)
        )
        return tuple((new, names) for new, names in found if names)

    @cached_property
    def types(self) -> Types:
        """Types of the attributes that conditions of the new graph read."""
        added = (node for each in self.looked_up for node in (each.node.right, each.node))
        return types_of((*self.new.sources, *added))

    @property
    def shared(self) -> tuple[exp.Expr, ...]:
        """The conditions that both graphs have, over new attributes."""
        return tuple(each for each in self.new.conditions if not any(each is other for other in self.extra))


def differences(new: QueryGraph, old: QueryGraph) -> Iterator[Difference]:
    """All ways to find the old graph in the new one, those with fewer look-ups first."""
    for graph, looked_up in _without_look_ups(new):
        for before in _without_unread(old):
            for pairs, known, joined in assignments(graph.sources, before.sources):
                found = _difference(graph, before, pairs, known, joined, looked_up)
                if found is not None:
                    yield found


def _difference(
    new: QueryGraph, old: QueryGraph, pairs: Pairs, known: Known, joined: tuple[Operator, ...], looked_up: tuple[LookUp, ...]
) -> Difference | None:
    """The difference for one assignment of sources; None if a condition that may fail no longer comes after one that guards
    it."""
    conditions = [of_old(each) for each in old.conditions]
    have = {text_of(each) for each in conditions}
    translations = [translated(each, known) for each in new.conditions]
    if not is_guarded_as_before(new.conditions, translations, conditions, types_of(new.sources)):
        return None
    mine = list(zip(new.conditions, translations, strict=True))
    extra = tuple(each for each, found in mine if found is None or text_of(found) not in have)
    kept = {text_of(found) for _, found in mine if found is not None}
    lost = tuple(each for each in conditions if text_of(each) not in kept)
    return Difference(new, old, pairs, known, joined, looked_up, extra, lost)


def _without_look_ups(graph: QueryGraph, above: tuple[LookUp, ...] = ()) -> Iterator[tuple[QueryGraph, tuple[LookUp, ...]]]:
    """The graph, and variants without its outermost ⟕, ⋉ and ▷, one after the other, with the removed look-ups. Their left rows
    stay the same."""
    yield graph, above
    for place, source in enumerate(graph.sources):
        if isinstance(source, BinaryOperator) and LEFT not in source.padded:
            rest, known = _without(graph, place, source)
            found = (
                LookUp(source, _over(source.condition, known)),
                *(LookUp(each.node, _over(each.condition, known)) for each in above),
            )
            yield from _without_look_ups(rest, found)


def _without_unread(graph: QueryGraph) -> Iterator[QueryGraph]:
    """The old graph, and variants without one ⟕ after the other, if it passes each left row exactly once: with one partner at
    most, found by a key, or padded."""
    yield graph
    for place, source in enumerate(graph.sources):
        if isinstance(source, BinaryOperator) and source.padded == (RIGHT,) and source.left in source.combined:
            yield from _without_unread(_without(graph, place, source)[0])


def _without(graph: QueryGraph, place: int, source: BinaryOperator) -> tuple[QueryGraph, Definitions]:
    """The graph with the sources of the operator's left input in its place, and the definitions of that input's attributes.
    Attributes of the right input keep their names."""
    left = query_graph(source.left)
    conditions = (*left.conditions, *(_over(each, left.names) for each in graph.conditions))
    names = {name: _over(each, left.names) for name, each in graph.names.items()}
    return QueryGraph((*graph.sources[:place], *left.sources, *graph.sources[place + 1 :]), conditions, names), left.names


def _over(expression: exp.Expr, known: Definitions) -> exp.Expr:
    return substitute(expression, {name: known.get(name, column(name)) for name in attributes(expression)})
