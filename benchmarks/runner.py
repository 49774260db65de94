"""Runs one experiment: loads the tables, builds every lane's views, and refreshes them all after each change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from benchmarks.bags import fingerprints
from benchmarks.engine import Engine
from benchmarks.experiment import Experiment, Inexact
from benchmarks.lanes import FLOORS, Lane, Sample, lane
from benchmarks.meter import Meter, Work
from benchmarks.results import BUILD, Record, summary
from benchmarks.workload import NOTHING, Amount, Change, Query, Step, Workload
from benchmarks.workloads import WORKLOADS

Samples = dict[tuple[str, str], list[tuple[Sample, Work]]]  # of (query, lane)
QUERY = "query"
Say = Callable[[str], None]


def run(experiment: Experiment, engine: Engine, say: Say) -> Iterator[list[Record]]:
    """The records of an experiment, change by change. Raises Inexact, and whatever the engine or a refresh raises."""
    workload = WORKLOADS[experiment.workload](experiment.scale, **experiment.parameters)
    done = _Run(experiment, workload, engine, say)
    try:
        done.load()
        yield done.build()
        for name, amount in experiment.changes:
            yield done.measure(workload.change(name), amount)
    finally:
        with suppress(Exception):  # Spark may have ended already, by an error that is reported
            done.drop()


class _Run:
    """One experiment on one engine."""

    def __init__(self, experiment: Experiment, workload: Workload, engine: Engine, say: Say) -> None:
        self.experiment, self.workload, self.engine, self.say = experiment, workload, engine, say
        self.base = engine.session()
        self.meter = Meter(self.base.spark)
        names = experiment.queries or tuple(query.name for query in workload.queries)
        self.queries = workload.with_upstream(names)
        self.lanes = [lane(name, engine.session(), workload) for name in experiment.lanes]
        self.totals: dict[str, int] = {}
        self.number = 0  # of steps so far
        self.view_rows: dict[str, int] = {}

    def load(self) -> None:
        """Create and fill the base tables that are used."""
        schema = self.workload.name
        self.base.run(f"create schema if not exists {schema}")
        self.workload.prepare(self.base.spark, self.engine.folder)
        changes = [self.workload.change(name) for name, _ in self.experiment.changes]
        for table in self.workload.tables_of(self.queries, [each for each in changes if each is not NOTHING]):
            self.say(f"loading {schema}.{table.name}")
            self.base.run(
                f"create or replace table {schema}.{table.name} using delta "
                f"tblproperties ('delta.enableChangeDataFeed' = 'true') as {table.rows}"
            )
            self.totals[table.name] = self.base.rows(f"select count(*) from {schema}.{table.name}")[0][0]

    def build(self) -> list[Record]:
        """Every lane's views, for the first time: measured once, in a JVM that has only loaded tables so far."""
        self.say("building the views")
        found: Samples = {}
        for each in self.lanes:
            each.new_run(0)
        for turn, query in enumerate(self.queries):
            for each in rotated(self._lanes_for(query, ()), turn):
                found[query.name, each.name] = [self._timed(partial(each.build, query))]
            self._check(query, self._lanes_for(query, ()))
        return self._records(BUILD, Amount(), found)

    def measure(self, change: Change, amount: Amount) -> list[Record]:
        """Apply the change again and again, and refresh all views after each time."""
        found: Samples = {}
        for turn in range(self.experiment.warmups + self.experiment.rounds):
            warm = turn >= self.experiment.warmups
            self.say(
                f"{change.name} {'' if change.fixed else amount}, "
                f"{f'round {turn - self.experiment.warmups + 1}' if warm else 'warm-up'}"
            )
            self._apply(change, amount)
            for each in self.lanes:
                each.new_run(self.number)
            for query in self.queries:
                for name, sample in self._refreshed(query, change, turn).items():
                    found.setdefault((query.name, name), []).extend([sample] if warm else [])
        return self._records(change.name, Amount() if change.fixed else amount, found)

    def drop(self) -> None:
        for schema in (self.workload.name, *(each.schema for each in self.lanes)):
            self.base.run(f"drop schema if exists {schema} cascade")

    def _apply(self, change: Change, amount: Amount) -> None:
        self.number += 1
        if change is NOTHING:
            return
        total = self.totals[change.table]
        self.base.run(*change.statements(Step(self.number, amount.of(total), total)))
        # the first to read a table's new version loads its snapshot, which no lane is to pay for the others
        for name in self.totals:
            self.base.rows(f"select count(*) from {self.workload.name}.{name}")

    def _refreshed(self, query: Query, change: Change, turn: int) -> dict[str, tuple[Sample, Work]]:
        """One refresh of the query's view in each lane, in another order each time; floors last: they need the new rows."""
        lanes = self._lanes_for(query, (change.name,))
        floors = [each for each in lanes if each.name in FLOORS]
        found = {}
        for each in [*rotated([each for each in lanes if each not in floors], turn), *floors]:
            each.prepare(query, self._wanted(query, each))
            found[each.name] = self._timed(partial(each.refresh, query))
        self._check(query, lanes)
        return found

    def _lanes_for(self, query: Query, changes: Sequence[str]) -> list[Lane]:
        """Without those that the query leaves out, or that have no exact MERGE for the change."""
        by_hand = query.merge is not None and all(name in (*query.merge_for, NOTHING.name) for name in changes)
        return [each for each in self.lanes if each.name not in query.without and (by_hand or each.name != "dbt_incremental")]

    def _timed(self, work: Callable[[], Sample]) -> tuple[Sample, Work]:
        self.meter.start()
        sample = work()
        return sample, self.meter.stop()

    def _wanted(self, query: Query, of: Lane) -> str:
        """An item of FROM with the rows that the view is to have: the table of the lane `full` if there is one."""
        full = next((each for each in self.lanes if each.name == "full"), None)
        return full.table(query) if full else f"({query.in_lane(of.schema)})"

    def _check(self, query: Query, lanes: Sequence[Lane]) -> None:
        columns = self.base.columns(f"select * from ({query.in_lane(lanes[0].schema)})")
        found = fingerprints(
            self.base, {each.name: each.table(query) for each in lanes} | {QUERY: self._wanted(query, lanes[0])}, columns
        )
        self.view_rows[query.name] = int(found[QUERY][0])
        for name, figures in found.items():
            if figures != found[QUERY]:
                raise Inexact(f"{self.workload.name}.{query.name} in lane {name} differs from its query after step {self.number}")

    def _records(self, change: str, amount: Amount, found: Samples) -> list[Record]:
        about = self.experiment
        return [
            Record(
                workload=about.workload,
                query=query,
                scale=about.scale,
                change=change,
                lane=name,
                exact=True,
                percent=amount.percent,
                rows=amount.rows,
                view_rows=self.view_rows[query],
                parameters=about.parameters,
                purpose=about.purpose,
                **summary(samples),
            )
            for (query, name), samples in found.items()
            if samples
        ]


def rotated(found: Sequence[Any], by: int) -> list[Any]:
    """The same things, beginning with another one each time."""
    by = by % len(found) if found else 0
    return [*found[by:], *found[:by]]
