"""AND-OR DAGs of queries that are selections, joins and perhaps an aggregate, from how large tables are: without SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from dbt_idivm.tools.dag.dag import Dag, Group, Kind, Operation


@dataclass(frozen=True)
class Table:
    rows: float
    width: float


class Join(NamedTuple):
    """An equality of two tables; `values` are those of the key."""

    left: str
    right: str
    values: float


class Query(NamedTuple):
    """σ of tables, joined, and perhaps γ: (table, condition, selectivity), and (columns, groups)."""

    tables: frozenset[str]
    joins: frozenset[Join] = frozenset()
    selections: frozenset[tuple[str, str, float]] = frozenset()
    aggregate: tuple[str, float] | None = None

    def part(self, tables: frozenset[str]) -> Query:
        joins = frozenset(each for each in self.joins if {each.left, each.right} <= tables)
        return Query(tables, joins, frozenset(each for each in self.selections if each[0] in tables))

    @property
    def connected(self) -> bool:
        reached = {min(self.tables)}
        for _ in self.tables:
            reached |= {end for join in self.joins if {join.left, join.right} & reached for end in (join.left, join.right)}
        return reached == self.tables

    def halves(self) -> Iterator[tuple[Query, ...]]:
        """The ways to take the tables apart into two sets that are connected each; the first table is in the first one."""
        first, *others = sorted(self.tables)
        for count in range(len(others)):
            for more in combinations(others, count):
                left = frozenset((first, *more))
                one, two = self.part(left), self.part(self.tables - left)
                if one.connected and two.connected:
                    yield one, two

    @property
    def form(self) -> str:
        conditions = {table: condition for table, condition, _ in self.selections}
        joined = " ⋈ ".join(f"σ[{conditions[each]}]{each}" if each in conditions else each for each in sorted(self.tables))
        joined += f" on {', '.join(sorted(f'{one}={two}' for one, two, _ in self.joins))}" if self.joins else ""
        return f"γ[{self.aggregate[0]}]({joined})" if self.aggregate else joined


class Builder:
    """A DAG of all orders of the joins of some queries over one schema. A selection is below all joins, or above its table."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.tables = tables
        self.found: dict[Query, list[tuple[Kind, tuple[Query, ...], str]]] = {}

    def add(self, query: Query) -> Query:
        """With all that it may be computed from."""
        if query in self.found:
            return query
        self.found[query] = operations = []
        if query.aggregate:
            operations.append(("aggregate", (self.add(query._replace(aggregate=None)),), f"γ {query.aggregate[0]}"))
        elif len(query.tables) > 1:
            operations.extend(("join", tuple(map(self.add, halves)), "⋈") for halves in query.halves())
        elif query.selections:
            ((_, condition, _),) = query.selections
            operations.append(("select", (self.add(Query(query.tables)),), f"σ {condition}"))
        return query

    def _subsume(self) -> None:
        """§4.2.1: a result without one of the selections gives the result with it."""
        for query, operations in self.found.items():
            for each in sorted(query.selections):
                without = query._replace(selections=query.selections - {each})
                if len(query.tables) > 1 and not query.aggregate and without in self.found:
                    operations.append(("select", (without,), f"σ {each[1]}"))

    def rows(self, query: Query) -> float:
        found = 1.0
        for table in query.tables:
            found *= self.tables[table].rows
        for join in query.joins:
            found /= join.values
        for _, _, selectivity in query.selections:
            found *= selectivity
        return min(found, query.aggregate[1]) if query.aggregate else found

    def width(self, query: Query) -> float:
        return 24.0 if query.aggregate else sum(self.tables[each].width for each in query.tables)

    def dag(self, views: Mapping[str, Query]) -> Dag:
        for query in views.values():
            self.add(query)
        self._subsume()
        order = sorted(self.found, key=lambda q: (q.aggregate is not None, len(q.tables), len(q.selections), q.form))
        number = {query: place for place, query in enumerate(order)}
        groups = [
            Group(
                number[query],
                query.form,
                query.tables,
                self.rows(query),
                self.width(query),
                8.0,
                tuple(
                    Operation(kind, tuple(number[each] for each in inputs), label) for kind, inputs, label in self.found[query]
                ),
            )
            for query in order
        ]
        return Dag(tuple(groups), {name: number[query] for name, query in views.items()})
