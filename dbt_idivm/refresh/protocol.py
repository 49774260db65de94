"""The protocol between a refresh and the engine that runs it.

The driver never talks to an engine. It is a generator that yields a `Statement` and receives a `Reply`; whoever holds the
connection (the dbt materialization, a test, another orchestrator) runs the statement and answers. `Refresh` wraps the generator
so that a Jinja loop can drive it, because Jinja can neither send to a generator nor catch an error.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from dbt_idivm.deep import deep_recursion

if TYPE_CHECKING:
    from sqlglot import exp

# For users, a *statement* reads or writes table data; look-ups of metadata and session settings are not counted.
StatementKind = Literal["read", "write", "metadata", "setting"]
Mode = Literal["create", "migrated", "incremental", "full", "noop"]


@dataclass(frozen=True)
class Statement:
    """One SQL statement for the engine, and whether its rows are wanted (`fetch`).

    The other fields allow connections to do without SQL. `setting`: key and value (None: the session's initial value) of a SET or
    RESET; in a session of the same process it takes no time, as a statement ten milliseconds. `history`: table and number of
    commits of a DESCRIBE HISTORY, and `described`: relation of a DESCRIBE TABLE, for connections that read the table's log
    themselves (ADR 0029). `actions`: table, first and last version whose file actions are wanted, for which there is no SQL
    (`Engine.reads_logs`). `tree`: the tree of a write, from which its text was generated.
    """

    sql: str
    kind: StatementKind
    label: str  # a few words for logs, such as "merge into main.v"
    fetch: bool = True
    setting: tuple[str, str | None] | None = None
    history: tuple[str, int] | None = None
    described: str | None = None
    actions: tuple[str, int, int] | None = None
    tree: exp.Expr | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Rows:
    """A result: column names and rows as plain Python values."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()

    def dicts(self) -> tuple[dict[str, Any], ...]:
        return tuple(dict(zip(self.columns, row, strict=True)) for row in self.rows)


@dataclass(frozen=True)
class EngineError:
    """A statement that failed: Spark's error class (`DELTA_MISSING_CHANGE_DATA`; "" when unknown) and its message."""

    error_class: str
    message: str


Reply = Rows | EngineError


@dataclass(frozen=True)
class InputChange:
    """How far one input moved in this refresh. `rows`: size of its net diff, None if it was not read."""

    from_version: int | None
    to_version: int
    rows: int | None = None


@dataclass(frozen=True)
class Cost:
    """Durations in seconds. `chosen`: the chosen alternative (a way, `migration` or `rebuild`), with its estimated and actual
    duration (None if nothing was done). `alternatives`: alternative → estimate."""

    chosen: str
    estimate: float
    actual: float | None
    alternatives: Mapping[str, float]


def _no_texts() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class Artifacts:
    """Files for people to read. `texts` renders them (file name → text), which takes longer than planning for large plans.

    `made_from` is equal for equal texts; "" if there are none. `seen`: what the refresh saw of its inputs, for commands without
    an engine (`seen.py`); "" if it looked at none.
    """

    made_from: str = ""
    texts: Callable[[], Mapping[str, str]] = _no_texts
    seen: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a refresh did: the content of dbt's `adapter_response`, and the artifacts to write."""

    mode: Mode
    strategy: str | None
    reason: str | None
    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    statements: int
    inputs: Mapping[str, InputChange]
    message: str
    relations: tuple[tuple[str, str, Literal["table", "view"]], ...]  # schema, identifier, type; the model first
    artifacts: Artifacts = Artifacts()
    warnings: tuple[str, ...] = ()
    cost: Cost | None = None  # of the view's own refresh; None if there was no choice, or the sizes are not known


@dataclass(frozen=True)
class Forecast:
    """What a refresh would do now. `shape`: shape of its MERGE (direct, effective, additive); `sql`: its text; both only if
    incremental. `then`: estimates of the refresh after a migration, according to commits. `warnings`: those of the refresh."""

    mode: Mode
    strategy: str | None
    reason: str | None
    inputs: Mapping[str, InputChange]
    shape: str | None = None
    sql: str | None = None
    cost: Cost | None = None
    then: Cost | None = None
    warnings: tuple[str, ...] = ()


class Refresh:
    """A refresh in progress: run `statement`, pass its reply to `answer`; `outcome` is set at the end.

    The constructor and `answer` raise `dbt_idivm.errors.IdivmError` for a failure with a code.
    """

    def __init__(self, steps: Generator[Statement, Reply, Outcome]) -> None:
        self._steps = steps
        self.outcome: Outcome | None = None
        self.statement: Statement | None = None
        self._advance(None)

    @property
    def done(self) -> bool:
        return self.outcome is not None

    def answer(self, reply: Reply) -> None:
        self._advance(reply)

    def _advance(self, reply: Reply | None) -> None:
        try:
            with deep_recursion():
                self.statement = self._steps.send(reply) if reply is not None else next(self._steps)
        except StopIteration as stop:
            self.statement, self.outcome = None, stop.value
