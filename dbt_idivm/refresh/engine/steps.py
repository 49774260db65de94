"""Vocabulary of the refresh's generators: what they yield, receive and return, and what a refused statement raises."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable
from itertools import takewhile
from typing import TypeAlias, TypeVar

from dbt_idivm.deep import deep_recursion
from dbt_idivm.errors import Place, Refused
from dbt_idivm.refresh.protocol import EngineError, Reply, Statement

T = TypeVar("T")
Steps: TypeAlias = Generator[Statement, Reply, T]
# SQLSTATE class 22: a value for which an expression is not defined.
DATA_EXCEPTION = re.compile(r"SQLSTATE: 22|\[USER_RAISED_EXCEPTION\]")

# End of an engine's sentence, with the place if there is one; a plan or the whole statement may follow.
_END = re.compile(r"SQLSTATE: \w{5}(?:;? \(?line \d+,? pos(?:ition)? \d+\)?)?")
_FRAGMENT = re.compile(r"== SQL(?: of [^\n]*)? \(line \d+, position \d+\) ==(?:\n[^\n]*){0,2}")  # failed part
_MARKED = re.compile(r"^(.*)\n(-*)\^\^\^", re.MULTILINE)  # the line of a syntax error, and dashes up to its position
_PLAN = re.compile(r"['+:]|== |\w+ \[")  # start of a line of a plan
_LINES, _CHARACTERS = 4, 1_000


def _lines_before_plan(message: str) -> list[str]:
    first, *rest = [line for line in message.splitlines() if line.strip()] or [""]
    return [first, *takewhile(lambda line: _PLAN.match(line) is None, rest)][:_LINES]


def _shortened(line: str) -> str:
    return line if len(line) <= _CHARACTERS else f"{line[: _CHARACTERS - 250]} … {line[-250:]}"


def driven(steps: Steps[T], answer: Callable[[Statement], Reply]) -> T:
    """Run the steps, answering each statement with `answer`, and return their result. Raises what they raise."""
    reply: Reply | None = None
    while True:
        try:
            with deep_recursion():
                statement = next(steps) if reply is None else steps.send(reply)
        except StopIteration as stop:
            found: T = stop.value
            return found
        reply = answer(statement)


class EngineFailure(Refused):
    """The engine refused a statement."""

    def __init__(self, statement: Statement, error: EngineError) -> None:
        super().__init__(f"{statement.label}: {error.message}")
        self.statement, self.error = statement, error

    @property
    def first_line(self) -> str:
        """The first line of the engine's sentence."""
        return self.sentence.partition("\n")[0]

    @property
    def sentence(self) -> str:
        """The engine's sentence and the place that it names, in a few lines, without the plan and the text of the statement."""
        message = self.error.message.strip() or self.error.error_class
        end = _END.search(message)
        said = message[: end.end()] if end is not None else "\n".join(_lines_before_plan(message))
        place = _FRAGMENT.search(message, end.end()) if end is not None else None
        lines = [*said.splitlines(), *(place[0].splitlines() if place is not None else ())]
        return "\n".join(_shortened(line) for line in lines if line.strip())

    def place_in(self, sql: str) -> Place | None:
        """The position of a syntax error within `sql`, a part of the statement; None if the engine names no position in it."""
        marked = _MARKED.search(self.error.message)
        lines = sql.split("\n")
        number = next((at for at, line in enumerate(lines, 1) if line.strip() and marked and marked[1].endswith(line)), None)
        if marked is None or number is None:
            return None
        start = len(marked[2]) - (len(marked[1]) - len(lines[number - 1]))
        return Place(number, lines[number - 1], start, start + 1) if start >= 0 else None

    @property
    def is_of_data(self) -> bool:
        """Whether an expression failed for a value: a division by zero, an overflow, a cast."""
        return DATA_EXCEPTION.search(self.error.message) is not None

    def is_any(self, classes: Iterable[str]) -> bool:
        """Whether the error has one of these classes; a name that ends in `*` matches as a prefix."""
        found = self.error.error_class
        return any(
            found.startswith(each[:-1]) if each.endswith("*") else found == each or found.startswith(each + ".")
            for each in classes
        )
