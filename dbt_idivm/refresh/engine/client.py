"""One refresh's side of the conversation with the engine."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from sqlglot import exp

from dbt_idivm.refresh.engine.commands import Commands
from dbt_idivm.refresh.engine.engine import SPARK_DELTA, Engine
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps, T
from dbt_idivm.refresh.protocol import EngineError, Rows, Statement
from dbt_idivm.script.dialect import Dialect

Columns = tuple[tuple[str, str], ...]  # names and types


def listed_columns(columns: Iterable[tuple[str, str]]) -> str:
    """Columns as text for messages: `id bigint, name string`."""
    return ", ".join(f"{name} {kind}" for name, kind in columns) or "none"


@dataclass
class Client:
    """Sends the statements of one refresh to the engine, and counts those that read or write table data.

    `invocation`: what all refreshes of a `dbt run` share. `claims`: table → number of this refresh's newest claim on it.
    `remade`: tables whose transaction numbers are unusable (`StoredView`). `based_on`: table → version and time of the first
    commit of it that the refresh has relied on (`apply/confirm.py`). `warnings`: messages for the user.
    """

    engine: Engine = SPARK_DELTA
    invocation: Invocation = field(default_factory=Invocation)
    statements: int = 0
    writing: float = 0.0  # seconds spent in statements that write table data
    claims: dict[str, int] = field(default_factory=dict)
    remade: set[str] = field(default_factory=set)
    based_on: dict[str, tuple[int, str]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def dialect(self) -> Dialect:
        return self.engine.dialect

    @property
    def commands(self) -> Commands:
        return self.engine.commands

    def ask(self, statement: Statement) -> Steps[Rows]:
        """The rows of a statement. Raises EngineFailure."""
        if statement.kind in ("read", "write"):
            self.statements += 1
        started = self.invocation.seconds()
        reply = yield statement
        if statement.kind == "write":
            self.writing += self.invocation.seconds() - started
        if isinstance(reply, EngineError):
            raise EngineFailure(statement, reply)
        return reply

    def read(self, query: exp.Expr, label: str) -> Steps[Rows]:
        """The rows of a query over table data. Raises EngineFailure."""
        return self.ask(Statement(self.dialect.sql(query), "read", label))

    def columns(self, sql: str, what: str = "the model's SELECT") -> Steps[Columns]:
        """The columns of a SELECT, with their types. Raises EngineFailure."""
        rows = yield from self.ask(self.commands.describe_query(sql, what))
        return tuple((str(row[0]), str(row[1])) for row in rows.rows)

    def rely(self, table: str, version: int, at: str) -> None:
        """Note that the refresh is right only if the table has this commit; the first note of a table counts."""
        self.based_on.setdefault(table, (version, at))

    def once(self, key: Hashable, steps: Callable[[], Steps[T]]) -> Steps[T]:
        """The result of `steps`, which run only the first time in this invocation. Failures are not remembered."""
        return self.invocation.once(key, steps)
