"""The lanes: ways to bring a view up to date, each with its own session and its own tables, in the schema `lane_<name>`."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import Template
from typing import Any

from benchmarks.engine import Session
from benchmarks.floor import Floor
from benchmarks.workload import Query, Workload
from dbt_idivm.definition.request import KeyCandidate, ModelRequest
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import Outcome, Refresh
from dbt_idivm.relation_name import relation_name

# Lanes that are a refresh: the config of their models.
CONFIGS: Mapping[str, Mapping[str, Any]] = {
    **{name: {"strategy": name} for name in ("auto", "incremental", "id", "tuple", "recompute")},
    "alone": {"strategy": "incremental", "caches": []},
    "all_caches": {"strategy": "incremental", "caches": "all"},
    "diffs": {"output": "diffs"},
}
FLOORS = ("floor", "floor_dv")
LANES = ("full", "dbt_incremental", *CONFIGS, *FLOORS)


@dataclass(frozen=True)
class Sample:
    """One refresh of one view. `seconds` include those of the planner; `mode` is the refresh's word for what it did."""

    seconds: float
    planner_seconds: float = 0.0
    statements: int = 1
    mode: str = ""
    strategy: str = ""


class Lane(ABC):
    """A lane; `build` makes a query's view for the first time. Both return when the view is up to date."""

    def __init__(self, name: str, session: Session, workload: Workload) -> None:
        self.name, self.session, self.workload = name, session, workload
        self.schema = f"lane_{name}"
        self.number = 0  # of the last change
        session.run(f"create schema if not exists {self.schema}")

    def table(self, query: Query) -> str:
        return f"{self.schema}.{query.name}"

    def new_run(self, number: int) -> None:
        """What follows belongs to one `dbt run`: the changes of step `number` have been applied to the base tables."""
        self.number = number

    def build(self, query: Query) -> Sample:
        return self._timed(self._rebuild(query))

    def prepare(self, query: Query, rows: str) -> None:  # noqa: B027  # only the floor has to
        """Untimed work before a refresh; `rows` is an item of FROM with the rows that the view is to have."""

    @abstractmethod
    def refresh(self, query: Query) -> Sample: ...

    def _rebuild(self, query: Query) -> str:
        return f"create or replace table {self.table(query)} using delta as {query.in_lane(self.schema)}"

    def _timed(self, *statements: str) -> Sample:
        began = time.perf_counter()
        self.session.run(*statements)
        return Sample(time.perf_counter() - began, statements=len(statements))


class FullLane(Lane):
    """The statement of dbt's materialization `table`."""

    def refresh(self, query: Query) -> Sample:
        return replace(self._timed(self._rebuild(query)), mode="full")


class ByHandLane(Lane):
    """dbt's `incremental` with the workload's hand-written MERGE."""

    def refresh(self, query: Query) -> Sample:
        assert query.merge is not None
        return replace(self._timed(Template(query.merge).substitute(lane=self.schema, batch=self.number)), mode="merge")


class FloorLane(Lane):
    """One MERGE of the exact net diff of the view, computed before the time is taken. `floor_dv`: with deletion vectors."""

    def build(self, query: Query) -> Sample:
        vectors = str(self.name == "floor_dv").lower()
        return self._timed(
            f"create or replace table {self.table(query)} using delta "
            f"tblproperties ('delta.enableDeletionVectors' = '{vectors}') as {self._query(query)}"
        )

    def prepare(self, query: Query, rows: str) -> None:
        new = f"({self._query(query)})" if query.extended else rows
        self._floor = Floor.of(self.session, self.table(query), new, query.key)

    def refresh(self, query: Query) -> Sample:
        done = replace(self._timed(*self._floor.statements), mode="merge")
        self._floor.release(self.session)
        return done

    def _query(self, query: Query) -> str:
        return Template(query.extended or query.sql).substitute(lane=self.schema)


class RefreshLane(Lane):
    """dbt-idivm under one config: the refresh's generator, driven without dbt. All models of a step share one invocation."""

    def __init__(self, name: str, session: Session, workload: Workload) -> None:
        super().__init__(name, session, workload)
        self.relations: dict[str, tuple[tuple[str, str, str], ...]] = {}  # of each model, as dbt's cache of relations has them
        self._invocation = Invocation()

    def new_run(self, number: int) -> None:
        super().new_run(number)
        # what was learned is kept from run to run, as dbt's adapter does
        self._invocation = Invocation(self._invocation.experience, self._invocation.warm_up)

    def build(self, query: Query) -> Sample:
        return self.refresh(query)

    def refresh(self, query: Query) -> Sample:
        request = self.request(query)
        began = time.perf_counter()
        engine, statements = 0.0, 0
        steps = Refresh(refresh(request, self._invocation))
        while steps.statement is not None:
            sent = time.perf_counter()
            reply = self.session.reply(steps.statement)
            engine, statements = engine + time.perf_counter() - sent, statements + 1
            steps.answer(reply)
        seconds = time.perf_counter() - began
        done = steps.outcome
        assert done is not None
        self.relations[query.name] = done.relations
        return Sample(seconds, seconds - engine, statements, done.mode, _strategy(done))

    def request(self, query: Query) -> ModelRequest:
        """As the adapter makes it from what dbt knows."""
        there = {identifier: kind for made in self.relations.values() for _, identifier, kind in made}
        keys = {
            relation_name(self.workload.name, table.name): (KeyCandidate(table.key, "primary key constraint"),)
            for table in self.workload.tables
            if table.key
        }
        return ModelRequest(
            query.name,
            self.schema,
            query.name,
            query.in_lane(self.schema),
            {"idivm": dict(CONFIGS[self.name])},
            keys,
            existing=there.get(query.name),
            neighbours=there,
            run_id=f"run{self.number}",  # type: ignore[arg-type]
            session={"ansi": "true", "time_zone": "UTC"},
            owner=f"model.bench.{query.name}",
        )


class AloneLane(RefreshLane):
    """Each model as if it were run alone: it shares nothing with others, neither look-ups nor caches."""

    def refresh(self, query: Query) -> Sample:
        self._invocation = Invocation(self._invocation.experience, self._invocation.warm_up)
        return super().refresh(query)


class DiffsLane(RefreshLane):
    """A log of changes instead of the view: its rows are those that the log replays to."""

    def table(self, query: Query) -> str:
        row = "* except (idivm__change, idivm__copies, idivm__refresh, idivm__versions)"
        copies = "sum(if(idivm__change = 'insert', idivm__copies, -idivm__copies))"
        return (
            f"(select * except (idivm__n, idivm__copy) from (select {row}, {copies} as idivm__n "
            f"from {self.schema}.{query.name}__idivm_changes group by all having idivm__n <> 0) "
            "lateral view explode(sequence(1, idivm__n)) as idivm__copy)"
        )


def _strategy(done: Outcome) -> str:
    """How it was done; for a rebuild, why."""
    return (done.reason or "") if done.mode in ("full", "create") else (done.strategy or "")


def lane(name: str, session: Session, workload: Workload) -> Lane:
    kinds: dict[str, type[Lane]] = {
        "full": FullLane,
        "dbt_incremental": ByHandLane,
        **dict.fromkeys(FLOORS, FloorLane),
        "alone": AloneLane,
        "diffs": DiffsLane,
    }
    return kinds.get(name, RefreshLane)(name, session, workload)
