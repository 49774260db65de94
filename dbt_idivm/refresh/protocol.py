"""What a refresh and the engine that runs it say to each other.

The driver never talks to an engine. It is a generator that yields a `Statement` and is sent a `Reply`; whoever holds
the connection (the dbt materialization, a test, another orchestrator) runs the statement and answers. `Refresh` wraps
the generator so that a Jinja loop can drive it, because Jinja can neither send to a generator nor catch an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlglot import exp

from dbt_idivm.deep import deep_recursion
from dbt_idivm.relation_name import relation_name

# A *statement* in the user's sense reads or writes table data; look-ups of metadata and session settings are apart.
StatementKind = Literal["read", "write", "metadata", "setting"]
Mode = Literal["create", "migrated", "incremental", "full", "noop"]


@dataclass(frozen=True)
class Statement:
    """One SQL statement for the engine, and whether its rows are wanted.

    `setting`: the key and the value (None: as the session began) that a SET or RESET has, for a connection that can do the same
    without SQL: in a session of the same process that takes no time, as a statement a hundredth of a second. `history`: the table
    and the number of commits that a DESCRIBE HISTORY asks for, `described`: the relation that a DESCRIBE TABLE asks for, both for
    a connection that can read the table's log itself (ADR 0029). `actions`: the table and the first and last version whose file
    actions are wanted, for which there is no SQL (`Engine.reads_logs`). `tree`: what the text of a write was made of.
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
class KeyCandidate:
    """A key that somebody declared for a relation, and where (config, constraint, dbt test)."""

    columns: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class Ignored:
    """Something that is written about keys, and has no effect: what, why, and what to do."""

    what: str
    why: str
    do: str


@dataclass(frozen=True)
class ModelRequest:
    """All that dbt knows about one model when it is to be refreshed.

    `sql` is the compiled SELECT, `owner` dbt's unique_id of the model. `keys` maps the name of a relation in `sql`
    (`relation_name.py`) to the keys declared for it; `input_names` maps the same relation to the name the user wrote in
    `ref` or `source`. `relations` are the names of all relations of the project (`names_of`): where the config has `keys` of one
    that is no input, they are for other models. `existing` is what has the model's own name today. `restricted` says that the
    inputs are not whole (`--empty`, `--sample`): then the view is built from what is given and its state must not be trusted
    later. The models of a dbt `project` share caches; `neighbours` are the relations of the model's schema: its own auxiliary
    tables (`auxiliary_tables.py`), and what may read the same caches. `checks`: name → expression of the constraints that the
    model's contract has, if it is enforced (`constraints.py`).
    """

    name: str
    schema: str
    identifier: str
    sql: str
    config: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, tuple[KeyCandidate, ...]] = field(default_factory=dict)
    input_names: Mapping[str, str] = field(default_factory=dict)
    relations: Collection[str] = ()
    existing: Literal["table", "view"] | None = None
    full_refresh: bool = False
    restricted: bool = False
    run_id: str = ""
    session: Mapping[str, str] = field(default_factory=dict)  # "ansi", "time_zone": part of the fingerprint
    owner: str = ""
    database: str = ""  # where relations have a catalog
    project: str = ""
    neighbours: Mapping[str, Literal["table", "view"]] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)

    @property
    def relation(self) -> str:
        """The model's relation, named as inputs are."""
        return self.relation_beside(self.identifier)

    def relation_beside(self, identifier: str) -> str:
        """The relation of that name in the model's schema."""
        return relation_name(*(part for part in (self.database, self.schema, identifier) if part))


@dataclass(frozen=True)
class InputChange:
    """How far one input moved in this refresh. `rows` is the size of its net diff, None when it was not read."""

    from_version: int | None
    to_version: int
    rows: int | None = None


@dataclass(frozen=True)
class Cost:
    """Seconds of what was `chosen` (a way, `migration` or `rebuild`), as estimated and as it took (None: nothing was done); way →
    estimate."""

    chosen: str
    estimate: float
    actual: float | None
    alternatives: Mapping[str, float]


def _no_texts() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class Artifacts:
    """Files for people to read. `texts` renders them (file name → text), which takes longer than planning for large plans.

    `made_from` is equal for equal texts; "" if there are none.
    """

    made_from: str = ""
    texts: Callable[[], Mapping[str, str]] = _no_texts


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
    """What a refresh would do now. `shape` is that of its MERGE `sql` (direct, effective, additive); both only if incremental.
    `then`: the estimates of the refresh that follows a migration, by what commits say of the changes. `warnings`: of the refresh.
    """

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
    """A refresh in progress: `statement` is to be run, `answer` takes its reply, `outcome` is there when it is done.

    A coded failure (`dbt_idivm.errors.IdivmError`) raises out of the constructor or of `answer`.
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
