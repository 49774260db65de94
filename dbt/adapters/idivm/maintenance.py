"""The methods that the materialization and the generic test call. It is a mixin, so that a second adapter type can use it.

Jinja can neither catch an error nor send to a generator. So it loops, and each iteration calls `idivm_step`, which runs one
statement and sends the rows, or the engine's coded error, to the planner's driver.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from dbt.adapters.base.meta import AdapterMeta, available
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.idivm.engine_errors import engine_error
from dbt.adapters.idivm.hooked_settings import check_settings
from dbt.adapters.idivm.progress import EVERY, FIRST, Progress, is_watched
from dbt.adapters.idivm.request import contract_checks, database_under_test, model_request, relation_under_test
from dbt.adapters.idivm.response import MaintenanceResponse, maintenance_response
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps, driven
from dbt_idivm.refresh.protocol import Outcome, Refresh, Reply, Rows, Statement
from dbt_idivm.relation_name import relation_name

if TYPE_CHECKING:
    from dbt.adapters.idivm.costs_file import CostsFile
    from dbt_idivm.declared_keys import KeyIndex
    from dbt_idivm.refresh.engine.client import Client
    from dbt_idivm.refresh.engine.engine import Engine
    from dbt_idivm.refresh.engine.invocation import Invocation

logger = AdapterLogger("Idivm")
T = TypeVar("T")
# The first refreshes of a JVM take several times as long as later ones, so nothing is learned from them.
WARM_UP = 2


@dataclass
class RefreshRun:
    """A refresh in progress, for the materialization's loop, and the statements that it has run so far."""

    name: str
    model: Mapping[str, Any]
    refresh: Refresh
    database: str | None
    existing: Any
    progress: Progress
    executed: list[str] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.refresh.done

    @property
    def outcome(self) -> Outcome:
        if self.refresh.outcome is None:
            raise DbtRuntimeError(f"the refresh of {self.name} did not end")
        return self.refresh.outcome

    @property
    def mode(self) -> str:
        return self.outcome.mode

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.outcome.warnings


class InvocationMemory:
    """The data of one dbt invocation: the driver's memory of versions, diffs and durations, and the index of keys.

    `warm_up`: the number of further refreshes from which nothing is learned. It belongs to the
    process, whose invocations share a Spark.
    """

    warm_up: ClassVar[int] = WARM_UP

    def __init__(self, credentials: Any, project_root: str) -> None:
        self._lock = threading.Lock()
        self._id = ""
        self._invocation: Invocation | None = None
        self._keys: KeyIndex | None = None
        self._credentials, self._root = credentials, Path(project_root)
        self._is_warned = False

    def of(self, invocation_id: str, graph: Mapping[str, Any]) -> tuple[Invocation, KeyIndex]:
        from dbt_idivm.declared_keys import KeyIndex
        from dbt_idivm.refresh.engine.invocation import Invocation

        with self._lock:
            if self._invocation is None or self._keys is None or self._id != invocation_id:
                experience, warning = self._costs().load()
                if warning is not None and not self._is_warned:
                    logger.warning(warning)
                    self._is_warned = True
                warm_up = self.warm_up if self._credentials.is_embedded else 0
                self._id, self._invocation, self._keys = invocation_id, Invocation(experience, warm_up), KeyIndex(graph)
            return self._invocation, self._keys

    def _costs(self) -> CostsFile:
        from dbt.adapters.idivm.costs_file import NAME, CostsFile, engine_identity

        return CostsFile(Path(self._root, self._credentials.state_dir or ".idivm", NAME), engine_identity(self._credentials))

    def save(self) -> None:
        """Save the durations of the refreshes so far. If that fails, there is only a
        warning, because it affects speed at most.
        """
        with self._lock:
            if self._invocation is None:
                return
            if self._credentials.is_embedded:
                InvocationMemory.warm_up = max(0, self._invocation.warm_up)
            if not self._invocation.has_learned:
                return
            try:
                self._costs().save(self._invocation.experience)
            except OSError as error:
                if not self._is_warned:
                    logger.warning(f"the durations of refreshes cannot be kept: {error}")
                    self._is_warned = True


def _folder(config: Any, model: str) -> Path:
    """The folder with the files about a model."""
    from dbt_idivm.seen import FOLDER

    return Path(config.project_root, config.target_path, FOLDER, model)


class MaintenanceMixin(metaclass=AdapterMeta):
    # members of the engine's adapter class, which follows in the MRO
    config: Any
    connections: Any
    Relation: Any
    cache_dropped: Callable[[Any], Any]
    drop_relation: Callable[[Any], Any]
    get_macro_resolver: Callable[[], Any]
    get_relation: Callable[[str | None, str, str], Any]
    list_relations: Callable[[str | None, str], list[Any]]
    pre_model_hook: Callable[[Mapping[str, Any]], Any]

    @property
    def idivm_engine(self) -> Engine:
        """The engine of this thread's connection. The planner is imported on first use, not when dbt starts."""
        engine: Engine = self.config.credentials.engine
        return engine

    def idivm_engine_for(self, model: str, owner: str) -> Engine:
        """The engine for a refresh of the relation `model`. `owner`: the model's unique_id in dbt."""
        return self.idivm_engine

    def _idivm_client(self) -> Client:
        """A client for questions to the engine outside of a refresh."""
        from dbt_idivm.refresh.engine.client import Client

        return Client(self.idivm_engine)

    def _idivm_name(self, relation: Any) -> str:
        """The planner's name for a relation."""
        parts = (relation.database, relation.schema, relation.identifier)
        return relation_name(*parts[-self.idivm_engine.depth :])

    @property
    def _idivm_memory(self) -> InvocationMemory:
        # dbt makes one adapter per invocation, which its threads share; setdefault is atomic.
        memory: InvocationMemory | None = self.__dict__.get("_idivm_invocations")
        if memory is None:
            made = InvocationMemory(self.config.credentials, getattr(self.config, "project_root", "."))
            memory = self.__dict__.setdefault("_idivm_invocations", made)
        return memory

    @available.parse_none
    def idivm_begin(self, context: dict[str, Any]) -> RefreshRun:
        """Start the refresh of one model. `context` contains values that only Jinja can see (the materialization lists them)."""
        from dbt_idivm.refresh.driver import refresh

        model = context["model"]
        invocation, keys = self._idivm_memory.of(context["run_id"], context["graph"])
        request = model_request({**context, "neighbours": self._idivm_neighbours(context["relation"])}, keys, self.config)
        engine = self.idivm_engine_for(request.relation, request.owner)
        with self._idivm_errors_of(model):
            check_settings(model, self.connections, engine, self.config.credentials.time_zone)
            progress = Progress(model["name"], logger.info if is_watched() else logger.debug, FIRST, EVERY)
            steps = refresh(request, invocation, engine)
            return RefreshRun(model["name"], model, Refresh(steps), context["relation"].database, context["existing"], progress)

    def _idivm_neighbours(self, relation: Any) -> dict[str, Literal["table", "view"]]:
        """Name → kind of all relations in the model's schema, from dbt's cache, without a query."""
        found = self.list_relations(relation.database, relation.schema)
        return {each.identifier: _kind(each) for each in found}

    @available.parse_none
    def idivm_step(self, run: RefreshRun) -> None:
        """Run the statement that the refresh waits for, and send it the result."""
        statement = run.refresh.statement
        if statement is None:
            return
        run.executed.append(f"-- {' '.join(statement.label.split())}\n{statement.sql}")
        with self._idivm_errors_of(run.model):
            with run.progress.during(statement.label, self.connections.tasks_of_statement()):
                reply = self._idivm_reply(statement)
            run.refresh.answer(reply)

    def _idivm_reply(self, statement: Statement) -> Reply:
        started = time.perf_counter()
        try:
            reply: Reply | None = self.connections.without_sql(statement)
            if reply is None:
                columns, rows = self.connections.run(statement.sql, statement.fetch)
                reply = Rows(columns, tuple(rows))
        except Exception as error:
            reply = engine_error(error)
            logger.debug(f"idivm {statement.label} failed: {reply.message}")  # the user sees only its first sentence
        # if Spark runs a query when its rows are fetched, dbt logs the time of its analysis only
        logger.debug(f"idivm {statement.kind}: {statement.label}: {time.perf_counter() - started:.3f} s")
        return reply

    @available.parse_none
    def idivm_executed(self, run: RefreshRun) -> str:
        """The statements that were run, for dbt's target/run folder."""
        return ";\n\n".join(run.executed)

    @available.parse_none
    def idivm_response(self, run: RefreshRun) -> MaintenanceResponse:
        return maintenance_response(run.outcome)

    @available.parse_list
    def idivm_finish(self, run: RefreshRun) -> list[Any]:
        """Write the artifacts, update dbt's cache of relations, and return the relations, the model's own first."""
        outcome = run.outcome
        self._write_artifacts(run.name, outcome)
        self._write_seen(run.model, outcome)
        self._idivm_memory.save()
        relations = [self._relation(run.database, *relation) for relation in outcome.relations]
        if run.existing is not None and relations and run.existing.type != relations[0].type:
            # The cache keeps the first entry for a name, so the old one must be removed to make the new type visible.
            self.cache_dropped(run.existing)
        return relations

    def _relation(self, database: str | None, schema: str, identifier: str, kind: str) -> Any:
        return self.Relation.create(
            database=database,
            schema=schema,
            identifier=identifier,
            type=self.Relation.get_relation_type(kind),
            is_delta=kind == "table",
        )

    def _relation_of(self, node: Mapping[str, Any]) -> Any:
        """The relation of a node in dbt's graph."""
        return self.Relation.create(database=node.get("database"), schema=node["schema"], identifier=node["alias"])

    def _write_artifacts(self, name: str, outcome: Outcome) -> None:
        """Write the files about a model, unless existing ones are current.

        A build always writes them, unless it was chosen by cost: rendering would then be a part of its cost.
        """
        artifacts = outcome.artifacts
        folder = _folder(self.config, name)
        stamp = folder / ".made_from"
        is_build = outcome.mode in ("create", "full") and outcome.cost is None
        if not artifacts.made_from or (
            not is_build
            and (folder / "plan.txt").exists()
            and stamp.exists()
            and stamp.read_text(encoding="utf-8") == artifacts.made_from
        ):
            return
        folder.mkdir(parents=True, exist_ok=True)
        stamp.unlink(missing_ok=True)  # it is written last, so that it is valid for all files
        for file_name, text in artifacts.texts().items():
            (folder / file_name).write_text(text, encoding="utf-8")
        stamp.write_text(artifacts.made_from, encoding="utf-8")

    def _write_seen(self, model: Mapping[str, Any], outcome: Outcome) -> None:
        """Write what the refresh saw of its inputs, even if it is what the last one saw: the time of the file says when
        that was."""
        from dbt_idivm.seen import file_name

        if outcome.artifacts.seen:
            folder = _folder(self.config, model["name"])
            folder.mkdir(parents=True, exist_ok=True)
            (folder / file_name(model.get("version"))).write_text(outcome.artifacts.seen, encoding="utf-8")

    @available.parse_list
    def idivm_persist_docs(
        self, relation: Any, model: Mapping[str, Any], for_relation: bool, for_columns: bool
    ) -> tuple[str, ...]:
        """Update a relation's comments to the model's descriptions. Returns the described
        columns that the relation does not have.
        """
        from dbt_idivm.refresh.upkeep.comments import Descriptions, persist

        columns = model.get("columns") or {}
        texts = {name: column.get("description") or "" for name, column in columns.items()}
        quoted = frozenset(name for name, column in columns.items() if column.get("quote"))
        wanted = Descriptions(model.get("description") if for_relation else None, texts if for_columns else None, quoted)
        return self._idivm_drive(persist(self._idivm_client(), self._idivm_name(relation), wanted))

    @available.parse_none
    def idivm_persist_constraints(self, table: Any, model: Mapping[str, Any]) -> None:
        """Set the constraints of the table that stores a model's rows to those of its contract."""
        from dbt_idivm.refresh.upkeep.constraints import persist

        self._idivm_drive(persist(self._idivm_client(), self._idivm_name(table), contract_checks(model)))

    @available.parse_list
    def idivm_behind(self, relation: Any) -> list[Any]:
        """The tables that belong to an idivm relation and have to be dropped when it is replaced or dropped."""
        from dbt_idivm.refresh.upkeep.ownership import behind

        if relation is None or not relation.schema:
            return []
        there = {self._idivm_name(each): each for each in self.list_relations(relation.database, relation.schema)}
        kinds = {name: _kind(each) for name, each in there.items()}
        return [there[name] for name in self._idivm_drive(behind(self._idivm_client(), self._idivm_name(relation), kinds))]

    @available.parse_none
    def idivm_release(self, relation: Any) -> None:
        """Release a table of an idivm model before another materialization uses it."""
        from dbt_idivm.refresh.upkeep.ownership import release

        if relation is not None and relation.is_table and relation.is_delta:
            self._idivm_drive(release(self._idivm_client(), self._idivm_name(relation)))

    @available.parse_list
    def idivm_orphans(self, graph: Mapping[str, Any], drop: bool) -> list[str]:
        """One line for each relation that deleted or renamed models left behind in the
        project's schemas. With `drop`, they are dropped.
        """
        from dbt_idivm.refresh.upkeep.ownership import orphans

        nodes = [node for node in graph["nodes"].values() if node["resource_type"] in ("model", "seed", "snapshot")]
        own = (self.config.credentials.database, self.config.credentials.schema)
        schemas = {own, *((node.get("database"), node["schema"]) for node in nodes)}
        there = {
            self._idivm_name(relation): relation
            for schema in sorted(schemas, key=str)
            for relation in self.list_relations(*schema)
        }
        taken = {self._idivm_name(self._relation_of(node)) for node in nodes}
        packages = {self.config.project_name, *(node["package_name"] for node in nodes)}
        kinds = {name: _kind(there[name]) for name in sorted(there)}
        left = self._idivm_drive(orphans(self._idivm_client(), kinds, taken, packages))
        for orphan in left if drop else ():
            self.drop_relation(there[orphan.relation])
        return [f"{orphan.kind} {orphan.relation} of {orphan.owner}" for orphan in left]

    @available.parse(lambda *args, **kwargs: "")
    def idivm_equivalence(self, model: Any, as_of: str = "refresh") -> str:
        """A query that returns the differences between a maintained view and its definition."""
        from dbt_idivm.verify import equivalence

        if as_of not in ("refresh", "now"):
            raise CompilationError(f"idivm_equivalent: as_of is 'refresh' or 'now', not '{as_of}'")
        relation = relation_under_test(model)
        if relation is None:  # --empty: no rows were built, so there is nothing to compare
            return "select 'not compared under --empty' as difference where false"
        with planner_errors():
            return self._idivm_drive(equivalence(*relation, as_of, database=database_under_test(model), engine=self.idivm_engine))

    @available.parse(lambda *args, **kwargs: "")
    def idivm_plan(
        self,
        graph: Mapping[str, Any],
        run_id: str,
        full_refresh: bool,
        with_sql: bool,
        is_json: bool,
        compiled: str | None = None,
    ) -> str:
        """What the next refresh would do for each idivm model that the last `dbt compile` compiled, as a table or as JSON.

        `with_sql`: add the MERGE of each to the table. `compiled`: the results of that
        command; default: those in the target folder.
        """
        from dbt.adapters.idivm.forecasts import RESULTS, Foreseen, as_json, compiled_models, table
        from dbt_idivm.refresh.forecast import forecast

        invocation, keys = self._idivm_memory.of(run_id, graph)
        found = []
        results = Path(compiled or Path(self.config.project_root, self.config.target_path, RESULTS))
        for unique_id, sql in compiled_models(results):
            model = graph["nodes"].get(unique_id)
            if model is None or model["config"]["materialized"] != "idivm":
                continue
            relation = self._relation_of(model)
            existing = self.get_relation(relation.database, relation.schema, relation.identifier)
            own = model["config"].get("full_refresh")
            context = {
                "model": model,
                "sql": sql,
                "relation": relation,
                "existing": existing,
                "restricted": False,
                "full_refresh": full_refresh if own is None else own,
                "run_id": run_id,
                "neighbours": self._idivm_neighbours(relation),
            }
            try:
                with self._idivm_errors_of(model):
                    request = model_request(context, keys, self.config)
                    engine = self.idivm_engine_for(request.relation, request.owner)
                    steps = forecast(request, invocation, engine)
                    found.append(Foreseen(model["name"], self._idivm_drive(steps), None))
            except DbtRuntimeError as error:
                found.append(Foreseen(model["name"], None, error.msg))
        return as_json(found) if is_json else table(found, with_sql)

    @contextmanager
    def _idivm_errors_of(self, model: Mapping[str, Any]) -> Iterator[None]:
        """Like `planner_errors`, but errors name the package of a macro that generated the offending part of the model's SQL."""
        from dbt_idivm.errors import IdivmError
        from dbt_idivm.macro_sources import with_sources

        with planner_errors():
            try:
                yield
            except IdivmError as error:
                resolver = self.get_macro_resolver()
                macros = {} if resolver is None else {name: macro.to_dict() for name, macro in resolver.macros.items()}
                raise with_sources(error, model, macros, self.config.project_name) from error

    def _idivm_drive(self, steps: Steps[T]) -> T:
        """Run a generator of statements to its end and return its result. Engine errors become errors for the user."""
        try:
            return driven(steps, self._idivm_reply)
        except EngineFailure as failure:
            raise DbtRuntimeError(str(failure)) from failure


def _kind(relation: Any) -> Literal["table", "view"]:
    return "view" if relation.is_view else "table"


@contextmanager
def planner_errors() -> Iterator[None]:
    """Raise the planner's coded errors as dbt errors with the same text, which is complete for the user."""
    from dbt_idivm.errors import IdivmError

    try:
        yield
    except IdivmError as error:
        raise DbtRuntimeError(str(error)) from error
