"""Drives refreshes against a Spark session directly, without dbt: for the functional tests of `dbt_idivm.refresh`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dbt.adapters.idivm.engine_errors import engine_error
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine.engine import SPARK_DELTA, Engine
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.engine.steps import Steps, T, driven
from dbt_idivm.refresh.forecast import forecast
from dbt_idivm.refresh.protocol import Forecast, KeyCandidate, ModelRequest, Outcome, Refresh, Reply, Rows, Statement
from dbt_idivm.relation_name import relation_name
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.verify import equivalence
from tests.engines import relations


@dataclass
class Project:
    """One schema with sources and models, refreshed one invocation after the other."""

    spark: Any
    schema: str
    invocation: Invocation = field(default_factory=Invocation)
    executed: list[Statement] = field(default_factory=list)
    runs: int = 0
    engine_for: Callable[[ModelRequest], Engine] = lambda request: SPARK_DELTA

    def __post_init__(self) -> None:
        self.spark.sql(f"create schema if not exists {self.schema}")
        self.spark.sql(f"use {self.schema}")

    def within(self, sql: str) -> str:
        """`$` is replaced by the schema; `${` is text."""
        return re.sub(r"\$(?!\{)", self.schema, sql)

    def sql(self, *statements: str) -> None:
        for statement in statements:
            self.spark.sql(self.within(statement))

    def table(self, name: str, columns: str, *rows: str, feed: bool = True) -> None:
        """A Delta source with change data feed."""
        properties = f"tblproperties ('delta.enableChangeDataFeed' = '{str(feed).lower()}')"
        pairs = [column.split(" ", 1) for column in columns.split(", ")]
        names = [name for name, _ in pairs]
        types = ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in pairs)
        source = f"select {types} from values {', '.join(rows)} as t({', '.join(names)})"
        self.sql(f"create table $.{name} using delta {properties} as {source}" if rows else
                 f"create table $.{name} ({columns}) using delta {properties}")

    def rewrite(self, name: str, *rows: str) -> None:
        """New contents in one commit: all old rows are deleted, the given ones inserted, and the net diff is what differs."""
        source = f"values {', '.join(rows)}" if rows else f"select * from $.{name} where false"
        self.sql(f"insert overwrite table $.{name} {source}")

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
        return replace(model, **{"existing": relations.get(identifier), "neighbours": relations, "run_id": f"run{self.runs}",
                                 **changes})

    def run(self, statement: Statement) -> Reply:
        self.executed.append(statement)
        try:
            frame = self.spark.sql(statement.sql)
            return Rows(tuple(frame.columns), tuple(tuple(row) for row in frame.collect()))
        except Exception as error:
            return engine_error(error)

    def relations(self) -> dict[str, str]:
        """The relations of the schema: name → table or view."""
        return relations(self.spark, self.schema)

    def existing(self, identifier: str) -> str | None:
        return self.relations().get(identifier.lower())

    def model(self, name: str, sql: str, keys: Mapping[str, Any] | None = None, dbt: Mapping[str, Any] | None = None,
              **config: Any) -> ModelRequest:
        """`keys` are declared ones: table → columns. `config` is the model's own; without a strategy it is `id`, by which tables
        are maintained however small they are."""
        declared = {f"{self.schema}.{table}": (KeyCandidate(tuple(columns), "primary key constraint"),)
                    for table, columns in (keys or {}).items()}
        return ModelRequest(name, self.schema, name, self.within(sql),
                            {"idivm": {"strategy": "id", **config}, "dbt": dict(dbt or {})}, declared,
                            session={"ansi": "true", "time_zone": "UTC"})

    def location(self, name: str) -> Path:
        """The folder of a Delta table."""
        (found,) = self.spark.sql(self.within(f"describe detail $.{name}")).select("location").collect()
        return Path(found[0].removeprefix("file:"))

    def invalidate(self, table: Path) -> None:
        """What Spark knows of the log of a Delta table is read again."""
        logs = self.spark._jvm.org.apache.spark.sql.delta.DeltaLog
        logs.invalidateCache(self.spark._jsparkSession, self.spark._jvm.org.apache.hadoop.fs.Path(str(table)))

    def rows(self, sql: str) -> Counter[tuple[Any, ...]]:
        return Counter(tuple(row) for row in self.spark.sql(self.within(sql)).collect())

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

    @contextmanager
    def in_session(self, session: Any) -> Iterator[None]:
        """In the session of somebody else."""
        own, self.spark = self.spark, session
        self.sql("use $")
        try:
            yield
        finally:
            self.spark = own

    def is_exact(self, model: ModelRequest) -> bool:
        """The view equals its SELECT as it would be now, as bags; compared here, because EXCEPT ALL costs seconds."""
        view = f"select * from {DELTA.relation_sql(relation_name(model.schema, model.identifier))}"
        return self._bag(view) == self._bag(model.sql)

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

    def created(self, views: Mapping[str, str], names: tuple[str, ...], keys: Mapping[str, Any],
                strategy: str) -> list[ModelRequest]:
        """Some of the views, built to be maintained by that strategy."""
        models = [self.model(f"{name}_by_{strategy}", views[name], keys, strategy=strategy) for name in names]
        for model in models:
            assert self.refresh_in_run(model).mode == "create"
        return models

    def _bag(self, sql: str) -> Counter[str]:
        """Rows as text: NaN equals itself then."""
        return Counter(repr(tuple(row)) for row in self.spark.sql(sql).collect())

    @property
    def kinds(self) -> Counter[str]:
        return Counter(statement.kind for statement in self.executed)
