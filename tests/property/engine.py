"""What a world needs of the engine that it runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sqlglot import exp

from dbt_idivm.script.bind import BoundScript
from dbt_idivm.script.dialect import Dialect
from dbt_idivm.script.diff import Row, Value

Columns = Sequence[tuple[str, str]]  # (name, Spark type)


class Collision(Exception):
    """A MERGE with two source rows for one target row."""


class Engine(Protocol):
    """Tables, queries and MERGE, apart from those of all other worlds."""

    dialect: Dialect

    def create(self, name: str, columns: Columns) -> None:
        """An empty table."""

    def fill(self, name: str, columns: Columns, rows: Sequence[Row]) -> None:
        """The table has these rows and no others."""

    def store(self, name: str, query: exp.Expr) -> None:
        """A table with the rows and types of a query, in place of one of that name."""

    def rows(self, query: exp.Expr) -> list[Row]:
        """The rows of a query of the planner."""

    def oracle(self, sql: str) -> list[Row]:
        """The rows of the user's own SQL, run now."""

    def types(self, query: exp.Expr) -> Mapping[str, str]:
        """Column → Spark type, as the engine finds it."""

    def cell(self, value: object) -> Value:
        """A value that was read as one that is inlined."""

    def merge(self, script: BoundScript) -> int:
        """Run the MERGE; how many rows it touched. Raises `Collision` where Delta would refuse it."""

    def close(self) -> None:
        """Drop all that was created."""
