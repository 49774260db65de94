"""The vocabulary of the refresh's generators: what they yield, are sent and return, and what a refused statement raises."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable
from typing import TypeAlias, TypeVar

from dbt_idivm.deep import deep_recursion
from dbt_idivm.refresh.protocol import EngineError, Reply, Statement

T = TypeVar("T")
Steps: TypeAlias = Generator[Statement, Reply, T]
# Class 22 of SQL's states: a value for which an expression is not defined.
DATA_EXCEPTION = re.compile(r"SQLSTATE: 22|\[USER_RAISED_EXCEPTION\]")


def driven(steps: Steps[T], answer: Callable[[Statement], Reply]) -> T:
    """The result of the steps, each of whose statements is answered. Raises what they raise."""
    reply: Reply | None = None
    while True:
        try:
            with deep_recursion():
                statement = next(steps) if reply is None else steps.send(reply)
        except StopIteration as stop:
            found: T = stop.value
            return found
        reply = answer(statement)


class EngineFailure(Exception):
    """The engine refused a statement."""

    def __init__(self, statement: Statement, error: EngineError) -> None:
        super().__init__(f"{statement.label}: {error.message}")
        self.statement, self.error = statement, error

    @property
    def first_line(self) -> str:
        """The first line of the engine's message; what follows may be a whole query plan."""
        return (self.error.message.strip().splitlines() or [self.error.error_class])[0]

    @property
    def is_of_data(self) -> bool:
        """Whether an expression failed for a value: a division by zero, an overflow, a cast."""
        return DATA_EXCEPTION.search(self.error.message) is not None

    def is_any(self, classes: Iterable[str]) -> bool:
        """Whether the error is of one of `classes`; a name ending in `*` matches all that begin with it."""
        found = self.error.error_class
        return any(found.startswith(each[:-1]) if each.endswith("*") else found == each or found.startswith(each + ".")
                   for each in classes)
