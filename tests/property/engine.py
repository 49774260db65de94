"""What a world needs of the engine that it runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sqlglot import exp

from dbt_idivm.script.bind import BoundScript, render_rows
from dbt_idivm.script.dialect import Dialect
from dbt_idivm.script.diff import Row, Value
from dbt_idivm.script.ways import Write

Columns = Sequence[tuple[str, str]]  # (name, Spark type)


class Collision(Exception):
    """A MERGE with two source rows for one target row."""


def run(engine: Engine, script: BoundScript) -> tuple[Write | None, int]:
    """Apply the script as a refresh does, and say by which statement; how many rows it touched."""
    engine.stage(script)
    statement: Write | None = script.statement
    if script.source is not None:
        count = len(script.source.names)
        found = engine.rows(script.source.query)
        source = script.source.answered([(*row[:count], *(engine.type_name(str(each)) for each in row[count:])) for row in found])
        statement = script.statement if source is None else render_rows(script, source, engine.dialect)
    return statement, engine.write(statement, script) if statement is not None else 0


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

    def type_name(self, own: str) -> str:
        """The Spark type of which TYPEOF says this."""

    def stage(self, script: BoundScript) -> None:
        """What the script reads is there."""

    def write(self, statement: Write, script: BoundScript) -> int:
        """Run a statement of the script; how many rows it touched. Raises `Collision` where Delta would refuse it."""

    def close(self) -> None:
        """Drop all that was created."""
