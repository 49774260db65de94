"""The vocabulary of the refresh's generators: asking the engine, and what a refused statement raises."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from dbt_idivm.refresh.protocol import EngineError, Reply, Rows, Statement

T = TypeVar("T")
Steps: TypeAlias = Generator[Statement, Reply, T]


class EngineFailure(Exception):
    """The engine refused a statement."""

    def __init__(self, statement: Statement, error: EngineError) -> None:
        super().__init__(f"{statement.label}: {error.message}")
        self.statement, self.error = statement, error

    def is_any(self, classes: Iterable[str]) -> bool:
        """Whether the error is of one of `classes`; a name ending in `*` stands for all that begin with it."""
        found = self.error.error_class
        return any(found.startswith(each[:-1]) if each.endswith("*") else found == each or found.startswith(each + ".")
                   for each in classes)


@dataclass
class Engine:
    """Asks for one refresh, and counts the statements that read or write table data."""

    statements: int = field(default=0)

    def ask(self, statement: Statement) -> Steps[Rows]:
        """The rows of a statement. Raises EngineFailure."""
        if statement.kind in ("read", "write"):
            self.statements += 1
        reply = yield statement
        if isinstance(reply, EngineError):
            raise EngineFailure(statement, reply)
        return reply
