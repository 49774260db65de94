"""The methods that the materialization and the generic test call. A mixin, so that a second adapter type can have it.

Jinja can neither catch an error nor send to a generator: it loops, and each turn of the loop is one call of
`idivm_step`, which runs one statement and hands the planner's driver the rows, or the engine's coded error.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbt.adapters.base.meta import AdapterMeta, available
from dbt.adapters.contracts.relation import RelationType
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.idivm.comments import comment_statements
from dbt.adapters.idivm.engine_errors import engine_error
from dbt.adapters.idivm.keys import KeyIndex
from dbt.adapters.idivm.request import model_request, relation_under_test
from dbt.adapters.idivm.response import MaintenanceResponse, maintenance_response
from dbt_idivm.refresh.protocol import Outcome, Refresh, Reply, Rows, Statement

logger = AdapterLogger("Idivm")


@dataclass
class RefreshRun:
    """A refresh in progress, for the materialization's loop, and the statements that it has run so far."""

    name: str
    refresh: Refresh
    existing: Any
    executed: list[str] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.refresh.done

    @property
    def outcome(self) -> Outcome:
        if self.refresh.outcome is None:
            raise DbtRuntimeError(f"the refresh of {self.name} did not come to an end")
        return self.refresh.outcome

    @property
    def mode(self) -> str:
        return self.outcome.mode

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.outcome.warnings


class InvocationMemory:
    """What belongs to one dbt invocation: the driver's memory of versions and diffs, and the index of keys."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._id = ""
        self._invocation: Any = None
        self._keys: KeyIndex | None = None

    def of(self, invocation_id: str, graph: Mapping[str, Any]) -> tuple[Any, KeyIndex]:
        from dbt_idivm.refresh.invocation import Invocation

        with self._lock:
            if self._keys is None or self._id != invocation_id:
                self._id, self._invocation, self._keys = invocation_id, Invocation(), KeyIndex(graph)
            return self._invocation, self._keys


class MaintenanceMixin(metaclass=AdapterMeta):
    config: Any
    connections: Any
    Relation: Any

    @property
    def _idivm_memory(self) -> InvocationMemory:
        # dbt makes one adapter for an invocation, and its threads share it; setdefault is atomic.
        memory: InvocationMemory = self.__dict__.setdefault("_idivm_invocations", InvocationMemory())
        return memory

    @available.parse_none
    def idivm_begin(self, context: dict[str, Any]) -> RefreshRun:
        """Start the refresh of one model; `context` holds what only Jinja can see (the materialization lists it)."""
        from dbt_idivm.refresh.driver import refresh

        model = context["model"]
        invocation, keys = self._idivm_memory.of(context["run_id"], context["graph"])
        beside = self._idivm_beside(context["relation"])
        request = model_request({**context, "beside": beside}, keys, self.config.credentials)
        with planner_errors():
            return RefreshRun(model["name"], Refresh(refresh(request, invocation)), context["existing"])

    def _idivm_beside(self, relation: Any) -> tuple[str, ...]:
        """The names of a refresh's own tables at which something stands, as dbt's cache knows: this asks no engine."""
        from dbt_idivm.refresh.leftovers import places

        found = {name: self.get_relation(relation.database, relation.schema, name)  # type: ignore[attr-defined]
                 for name in places(relation.identifier)}
        return tuple(name for name, stands in found.items() if stands is not None)

    @available.parse_none
    def idivm_step(self, run: RefreshRun) -> None:
        """Run the statement that the refresh waits for, and tell it what came of it."""
        statement = run.refresh.statement
        if statement is None:
            return
        run.executed.append(f"-- {statement.label}\n{statement.sql}")
        with planner_errors():
            run.refresh.answer(self._idivm_reply(statement))

    def _idivm_reply(self, statement: Statement) -> Reply:
        logger.debug(f"idivm {statement.kind}: {statement.label}")
        try:
            columns, rows = self.connections.run(statement.sql, statement.fetch)
        except Exception as error:
            return engine_error(error)
        return Rows(columns, tuple(rows))

    @available.parse_none
    def idivm_executed(self, run: RefreshRun) -> str:
        """The statements that were run, for dbt's target/run folder."""
        return ";\n\n".join(run.executed)

    @available.parse_none
    def idivm_response(self, run: RefreshRun) -> MaintenanceResponse:
        return maintenance_response(run.outcome)

    @available.parse_list
    def idivm_finish(self, run: RefreshRun) -> list[Any]:
        """Write the artifacts, keep dbt's cache true, and return the relations, the model first."""
        outcome = run.outcome
        self._write_artifacts(run.name, outcome.artifacts)
        relations = [self._relation(*relation) for relation in outcome.relations]
        if run.existing is not None and relations and run.existing.type != relations[0].type:
            # The cache keeps the first entry of a name, so the old one must go for the new type to be seen.
            self.cache_dropped(run.existing)  # type: ignore[attr-defined]
        return relations

    def _relation(self, schema: str, identifier: str, kind: str) -> Any:
        return self.Relation.create(
            schema=schema, identifier=identifier, type=RelationType(kind), is_delta=kind == "table"
        )

    def _write_artifacts(self, name: str, artifacts: Mapping[str, str]) -> None:
        if not artifacts:
            return
        folder = Path(self.config.project_root, self.config.target_path, "idivm", name)
        folder.mkdir(parents=True, exist_ok=True)
        for file_name, text in artifacts.items():
            (folder / file_name).write_text(text, encoding="utf-8")

    @available.parse_list
    def idivm_comments(self, relation: Any, model: Mapping[str, Any], for_relation: bool, for_columns: bool) -> list[str]:
        """The statements that bring a relation's comments up to the model's descriptions; none when they are."""
        _, described = self.connections.run(f"describe extended {relation}", True)
        return list(comment_statements(relation, described, model, for_relation, for_columns))

    @available.parse(lambda *args, **kwargs: "")
    def idivm_equivalence(self, model: Any, as_of: str = "refresh") -> str:
        """A query whose rows are the differences between a maintained view and its definition."""
        from dbt_idivm.verify import equivalence

        if as_of not in ("refresh", "now"):
            raise CompilationError(f"idivm_equivalent: as_of is 'refresh' or 'now', not '{as_of}'")
        relation = relation_under_test(model)
        if relation is None:  # --empty: no rows were built that could be compared
            return "select 'not compared under --empty' as difference where false"
        with planner_errors():
            return self._idivm_drive(equivalence(*relation, as_of))

    def _idivm_drive(self, steps: Generator[Statement, Reply, str]) -> str:
        """Run a generator of statements to its end and return its result."""
        try:
            statement = next(steps)
            while True:
                statement = steps.send(self._idivm_reply(statement))
        except StopIteration as stop:
            return str(stop.value)


@contextmanager
def planner_errors() -> Iterator[None]:
    """The planner's coded errors are whole texts for the user: show them as they are."""
    from dbt_idivm.errors import IdivmError

    try:
        yield
    except IdivmError as error:
        raise DbtRuntimeError(str(error)) from error
