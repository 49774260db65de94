"""What a workload is: tables, queries and changes, as data. Nothing here starts Spark.

All SQL names base tables `<workload>.<table>`; `$lane.<query>` is the same lane's view of another query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any, TypeVar


@dataclass(frozen=True)
class Table:
    """A Delta table with change data feed. `rows` is its SELECT, the same rows each time; `key` is declared unique."""

    name: str
    rows: str
    key: tuple[str, ...] = ()


@dataclass(frozen=True)
class Query:
    """A view. `key`: output columns that identify its rows, which only the floor needs.

    `extended`: the SELECT with such columns, if `sql` selects none. `merge`: a MERGE into `$lane.<name>` as somebody would write
    by hand for dbt's `incremental`, exact for the changes in `merge_for`; `$batch` is the batch that the changes were loaded in.
    `without`: lanes that are left out, and why.
    """

    name: str
    sql: str
    key: tuple[str, ...]
    extended: str | None = None
    merge: str | None = None
    merge_for: tuple[str, ...] = ()
    without: Mapping[str, str] = field(default_factory=dict)

    @property
    def reads_views(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(re.findall(r"\$lane\.(\w+)", self.sql)))

    def in_lane(self, schema: str) -> str:
        """The SELECT over the views of one lane."""
        return Template(self.sql).substitute(lane=schema)


@dataclass(frozen=True)
class Step:
    """One application of a change: its number since the tables were loaded, from 1, and how many of how many rows it is about."""

    number: int
    rows: int
    total: int

    @property
    def every(self) -> int:
        """One row in so many is changed."""
        return max(1, self.total // max(1, self.rows))


@dataclass(frozen=True)
class Change:
    """What happens to the base tables between two refreshes: `statements` for a step. Rows are counted in `table`."""

    name: str
    table: str
    statements: Callable[[Step], Sequence[str]]
    fixed: bool = False  # changes a number of rows that is not chosen


@dataclass(frozen=True)
class Amount:
    """How much is changed: a number of rows, or a percentage of the table's."""

    rows: int | None = None
    percent: float | None = None

    def of(self, total: int) -> int:
        if self.rows is not None:
            return min(self.rows, total)
        return max(1, round(total * (self.percent or 0) / 100))

    def __str__(self) -> str:
        return f"{self.rows} rows" if self.rows is not None else f"{self.percent:g} %" if self.percent is not None else ""


@dataclass(frozen=True)
class Workload:
    """`prepare(session, folder)` makes what the tables' SELECTs read, where that is not made by SQL alone."""

    name: str
    tables: tuple[Table, ...]
    queries: tuple[Query, ...]
    changes: tuple[Change, ...]
    prepare: Callable[[Any, Path], None] = lambda session, folder: None

    def query(self, name: str) -> Query:
        return _named(self.queries, name, f"queries of {self.name}")

    def change(self, name: str) -> Change:
        return NOTHING if name == NOTHING.name else _named(self.changes, name, f"changes of {self.name}")

    def with_upstream(self, names: Sequence[str]) -> tuple[Query, ...]:
        """The queries and those that they read, in the order in which they are declared, which is one to run them in."""
        wanted, queue = set[str](), list(names)
        while queue:
            if (name := queue.pop()) not in wanted:
                wanted.add(name)
                queue.extend(self.query(name).reads_views)
        return tuple(query for query in self.queries if query.name in wanted)

    def tables_of(self, queries: Sequence[Query], changes: Sequence[Change]) -> tuple[Table, ...]:
        """The tables that are read or changed: no others are loaded."""
        probe = Step(1, 1, 1)
        texts = [query.sql for query in queries] + [text for each in changes for text in each.statements(probe)]
        names = {each.table for each in changes} | set(re.findall(rf"\b{self.name}\.(\w+)", " ".join(texts)))
        return tuple(table for table in self.tables if table.name in names)


T = TypeVar("T", Query, Change)
NOTHING = Change("nothing", "", lambda step: (), fixed=True)


def _named(found: Sequence[T], name: str, where: str) -> T:
    for each in found:
        if each.name == name:
            return each
    raise KeyError(f"no '{name}' among the {where}: {', '.join(each.name for each in found)}")
