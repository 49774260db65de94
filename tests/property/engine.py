"""What a world needs of the engine that it runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sqlglot import exp

from dbt_idivm.script.binding import Staged
from dbt_idivm.script.dialect import Dialect
from dbt_idivm.script.diff import Row, Value
from dbt_idivm.script.render import BoundScript, render_keyed, render_rows
from dbt_idivm.script.replace_where import Replacing
from dbt_idivm.script.source_rows import SourceQuery, SourceRows
from dbt_idivm.script.ways import Write

Columns = Sequence[tuple[str, str]]  # (name, Spark type)


class Collision(Exception):
    """A MERGE with two source rows for one target row."""


def run(engine: Engine, script: BoundScript) -> tuple[Write | None, int]:
    """Apply the script as a refresh does, and say by which statement; how many rows it touched."""
    engine.stage(script.staged)
    statement: Write | Replacing | None = script.statement
    source = fetched(engine, script.source) if script.source is not None else None
    if source is not None:
        statement = render_rows(script, source, engine.dialect)
    elif script.keyed is not None:
        engine.stage((script.keyed_rows,))
        statement = render_keyed(script, fetched(engine, script.keyed.keys), engine.dialect)
    if isinstance(statement, Replacing):
        asked, found, then = None, None, statement.asks()
        while then is not None:
            asked, found = then, fetched(engine, then)
            then = statement.asks(asked, found)
        statement = statement.statement(asked, found, engine.dialect)
    return statement, engine.write(statement, script) if statement is not None else 0


def fetched(engine: Engine, asked: SourceQuery) -> SourceRows | None:
    """The answer to a query, in the order of the tables: the query's own order is there for speed alone, and would hide what
    depends on the order of rows."""
    count, query = len(asked.names), asked.query.copy()
    query.set("order", None)
    found = engine.rows(query)
    return asked.answered([(*row[:count], *(engine.type_name(str(each)) for each in row[count:])) for row in found])


def applied_by(statement: Write | None) -> str:
    """The kind of the statement that applies rows of a source; `replace` is an INSERT that replaces rows, `replace beside` one
    that leaves out their neighbours, or inserts these again."""
    if statement is None:
        return "nothing"
    if not isinstance(statement, exp.Insert) or not statement.args.get("where"):
        return statement.key
    is_of_some = statement.args["where"].find(exp.NullSafeEQ, exp.Or) is not None
    return "replace beside" if is_of_some or isinstance(statement.expression, exp.Union) else "replace"


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

    def stage(self, relations: Sequence[Staged]) -> None:
        """These relations are there."""

    def write(self, statement: Write, script: BoundScript) -> int:
        """Run a statement of the script; how many rows it touched. Raises `Collision` where Delta would refuse it."""

    def close(self) -> None:
        """Drop all that was created."""
