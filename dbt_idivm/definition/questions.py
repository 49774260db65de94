"""The questions that come up while a model is planned, and only an engine can answer.

`define` is a generator of questions. A refresh answers them by statements (`refresh/checks/questions.py`). Where there is no
engine, nobody answers (None), and the point stays open.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from dbt_idivm.definition.facts import DescribedFunction
from dbt_idivm.errors import Finding
from dbt_idivm.operators.scan import Scan

T = TypeVar("T")


class Question(Generic[T]):
    """A question with an answer of type T."""


@dataclass(frozen=True)
class ColumnsOf(Question[tuple[tuple[str, str], ...]]):
    """The columns of a query: names and types. `what`: the query in a few words, for logs. Raises Refused."""

    sql: str
    what: str = "the model's SELECT"


@dataclass(frozen=True)
class FunctionNamed(Question[DescribedFunction]):
    """The user's function that a call by this name means."""

    name: str


@dataclass(frozen=True)
class UnsupportedTypes(Question[tuple[Finding, ...]]):
    """Why a plan with these scans of base tables cannot be used: types that the engine shows only when it is asked."""

    scans: tuple[Scan, ...]


Asks: TypeAlias = Generator[Question[Any], Any, T]


def ask(question: Question[T]) -> Asks[T | None]:
    """The answer to the question; None if nobody knows. Raises what whoever answers raises."""
    answer: T | None = yield question
    return answer


def without_engine(asks: Asks[T]) -> T:
    """The result where nobody can answer."""
    try:
        while True:
            asks.send(None)
    except StopIteration as stop:
        found: T = stop.value
        return found
