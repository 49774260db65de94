"""Questions about several tables that one statement answers.

The answers are remembered in the invocation, where the code that asks about one table finds them. That code is the same with and
without them: what a common statement does not answer is asked alone.

No question is locked while a common statement runs (`Invocation.once`): locks of several questions, taken in different orders by
two models, could wait for each other. So two models may ask the same at the same time. Both get the same answer, because
versions of tables do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from sqlglot import exp

from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Rows

MOST_TABLES = 64  # in one statement
MOST_CELLS = 2_000  # written in one statement: columns of all tables, or literals
_T = TypeVar("_T")


def grouped(items: Iterable[_T], fits: Callable[[Sequence[_T]], bool]) -> Iterator[tuple[_T, ...]]:
    """Groups of at least two and at most `MOST_TABLES` successive items that fit into one statement. Items that fit into none
    with another one are left out."""
    group: list[_T] = []
    for each in items:
        if group and (len(group) == MOST_TABLES or not fits([*group, each])):
            if len(group) > 1:
                yield tuple(group)
            group = []
        group.append(each)
    if len(group) > 1:
        yield tuple(group)


def read_together(client: Client, query: exp.Expr, label: str) -> Steps[Rows | None]:
    """The rows of a query about several tables; None if it fails. Then each table is asked alone, and reports its own failure."""
    try:
        return (yield from client.read(query, label))
    except EngineFailure:
        return None
