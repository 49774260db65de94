"""The project of a functional test: models over a schema, refreshed directly, or by dbt commands on a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dbt.adapters.idivm.engine_errors import engine_error
from dbt.adapters.idivm.session import EmbeddedConnection
from dbt_idivm.definition.request import KeyCandidate, ModelRequest
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine.engine import SPARK_DELTA, Engine
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.engine.steps import Steps, T, driven
from dbt_idivm.refresh.forecast import forecast
from dbt_idivm.refresh.protocol import Forecast, Outcome, Refresh, Reply, Rows, Statement
from dbt_idivm.relation_name import relation_name
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.verify import equivalence
from tests.functional.dbt_folder import DbtFolder
from tests.functional.schema import Schema


@dataclass
class Project(Schema):
    """`engine`: how the connection of direct refreshes is treated; that of one model where it is a function. Logs of tables
    are read where it is EMBEDDED. `folder`: where dbt commands run, if any do."""

    engine: Engine | Callable[[ModelRequest], Engine] = SPARK_DELTA
    folder: DbtFolder | None = None
    invocation: Invocation = field(default_factory=Invocation)
    executed: list[Statement] = field(default_factory=list)
    runs: int = 0

    # by dbt

    @classmethod
    def in_folder(cls, root: Path, spark: Any, schema: str) -> Project:
        project = cls(spark, schema, folder=DbtFolder(root))
        project.profile(catalog="in-memory", driver_memory="2g")
        return project

    @property
    def _files(self) -> DbtFolder:
        assert self.folder is not None, "this project has no folder"
        return self.folder

    @property
    def root(self) -> Path:
        return self._files.root

    def write(self, path: str, text: str) -> None:
        self._files.write(path, text)

    def configure(self, **settings: Any) -> None:
        self._files.configure(**settings)

    def profile(self, **settings: Any) -> None:
        self._files.profile(**{"schema": self.schema, **settings})

    def dbt(self, *args: str, fails: bool = False) -> Any:
        return self._files.dbt(*args, fails=fails)

    def results(self, *args: str, fails: bool = False) -> dict[str, Any]:
        return self._files.results(*args, fails=fails)

    # directly

    def engine_for(self, model: ModelRequest) -> Engine:
        return self.engine if isinstance(self.engine, Engine) else self.engine(model)

    def new_run(self) -> None:
        self.invocation = Invocation()
        self.runs += 1

    def refresh(self, model: ModelRequest, **changes: Any) -> Outcome:
        """One `dbt run` of one model."""
        self.new_run()
        return self.refresh_in_run(model, **changes)

    def refresh_in_run(self, model: ModelRequest, **changes: Any) -> Outcome:
        self.executed = []
        steps = Refresh(refresh(self.request(model, **changes), self.invocation, self.engine_for(model)))
        while not steps.done:
            assert steps.statement is not None
            steps.answer(self.run(steps.statement))
        assert steps.outcome is not None
        return steps.outcome

    def request(self, model: ModelRequest, **changes: Any) -> ModelRequest:
        """The request for the model, with what exists now."""
        relations = self.relations()
        identifier = model.identifier.lower()  # the catalog knows no case
        return replace(
            model, **{"existing": relations.get(identifier), "neighbours": relations, "run_id": f"run{self.runs}", **changes}
        )

    def run(self, statement: Statement) -> Reply:
        self.executed.append(statement)
        if statement.actions is not None:  # there is no SQL for them
            known = EmbeddedConnection(self.spark).without_sql(statement)
            assert known is not None
            return known
        try:
            frame = self.spark.sql(statement.sql)
            return Rows(tuple(frame.columns), tuple(tuple(row) for row in frame.collect()))
        except Exception as error:
            return engine_error(error)

    def model(
        self, name: str, sql: str, keys: Mapping[str, Any] | None = None, dbt: Mapping[str, Any] | None = None, **config: Any
    ) -> ModelRequest:
        """`keys` are declared ones: table → columns. `config` is the model's own; without a strategy it is `id`, by which tables
        are maintained however small they are; without `keys` other tables have none, although one could be found."""
        declared = {
            f"{self.schema}.{table}": (KeyCandidate(tuple(columns), "primary key constraint"),)
            for table, columns in (keys or {}).items()
        }
        return ModelRequest(
            name,
            self.schema,
            name,
            self.within(sql),
            {"idivm": {"strategy": "id", "keys": "declared", **config}, "dbt": dict(dbt or {})},
            declared,
            session={"ansi": "true", "time_zone": "UTC"},
        )

    def differences(self, model: ModelRequest, as_of: str = "refresh") -> list[Any]:
        """Rows in which the view and its recomputation differ, both ways, as the equivalence test asks."""
        asked = equivalence(model.schema, model.identifier, as_of, engine=self.engine_for(model))
        return list(self.spark.sql(self.drive(asked)).collect())

    def forecast(self, model: ModelRequest) -> Forecast:
        """What `idivm plan` shows for one model."""
        self.new_run()
        return self.drive(forecast(self.request(model), self.invocation, self.engine_for(model)))

    def drive(self, steps: Steps[T]) -> T:
        """Run what the steps ask for; their result."""
        return driven(steps, self.run)

    def is_exact(self, model: ModelRequest) -> bool:
        """The view equals its SELECT as it would be now."""
        return self.is_same(f"select * from {DELTA.relation_sql(relation_name(model.schema, model.identifier))}", model.sql)

    def refreshed(self, views: list[ModelRequest]) -> set[str | None]:
        """How the views were maintained in one run: each is what its query gives."""
        self.new_run()
        found = set()
        for view in views:
            outcome = self.refresh_in_run(view)
            assert outcome.mode == "incremental", outcome.message
            assert self.is_exact(view), view.name
            found.add(outcome.strategy)
        return found

    def created(
        self, views: Mapping[str, str], names: tuple[str, ...], keys: Mapping[str, Any], strategy: str
    ) -> list[ModelRequest]:
        """Some of the views, built to be maintained by that strategy."""
        models = [self.model(f"{name}_by_{strategy}", views[name], keys, strategy=strategy) for name in names]
        for model in models:
            assert self.refresh_in_run(model).mode == "create"
        return models

    @property
    def kinds(self) -> Counter[str]:
        return Counter(statement.kind for statement in self.executed)


@contextmanager
def project_in(spark: Any, schema: str, **given: Any) -> Iterator[Project]:
    """A project in a session of its own, of which nothing is left afterwards."""
    project = Project(spark.newSession(), schema, **given)
    try:
        yield project
    finally:
        project.drop()
