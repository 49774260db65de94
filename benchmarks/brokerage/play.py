"""The warehouse, day by day: sources change, dbt runs, each model is compared with its query, and all is rebuilt beside it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.brokerage.changes import PROJECT, SCHEMA, batch, history
from benchmarks.brokerage.world import World
from benchmarks.dbt_runs import DbtFailed, Run, invoke, profile
from benchmarks.engine import Engine
from benchmarks.experiment import Inexact
from benchmarks.meter import Meter, Work

MAINTAINED, REBUILT = "maintained", "rebuilt"
SCHEMAS = {MAINTAINED: "brokerage", REBUILT: "brokerage_rebuilt"}


@dataclass(frozen=True)
class Done:
    """What one `dbt run` did after a batch; batch 0 is the history."""

    batch: int
    target: str
    run: Run
    work: Work

    @property
    def share(self) -> float | None:
        """The share of incremental refreshes among those that had something to do."""
        modes = [mode for mode in self.run.modes.values() if mode != "noop"]
        return sum(mode == "incremental" for mode in modes) / len(modes) if modes and self.batch else None


@dataclass(frozen=True)
class Play:
    """`strategy` is that of all models. `rebuilds`: all models are tables in a second schema, too."""

    world: World
    strategy: str
    rebuilds: bool
    threads: int
    say: Callable[[str], None]

    def rounds(self, engine: Engine, batches: int) -> Iterator[tuple[Done, ...]]:
        """What was done after the history and after each batch. Raises DbtFailed, and Inexact if a model is not its query."""
        session = engine.session()
        project = write_project(engine.folder / "brokerage", engine.credentials.driver_memory, self.threads)
        meter = Meter(session.spark)
        for number in range(batches + 1):
            self.say("loading the history" if number == 0 else f"batch {number}: changing the sources")
            session.run(*(history(self.world) if number == 0 else batch(self.world, number)))
            targets = (MAINTAINED, REBUILT) if self.rebuilds else (MAINTAINED,)
            yield tuple(self._run(project, meter, number, target) for target in (targets if number % 2 else targets[::-1]))
            self._compare(project, number)

    def _run(self, project: Path, meter: Meter, number: int, target: str) -> Done:
        self.say(f"batch {number}: dbt run, {target}")
        meter.start()
        done = invoke(project, target, "run", "--vars", self._variables)
        return Done(number, target, done, meter.stop())

    def _compare(self, project: Path, number: int) -> None:
        self.say(f"batch {number}: comparing each model with its query")
        try:
            invoke(project, MAINTAINED, "test", "--select", "test_name:idivm_equivalent", "--vars", self._variables)
        except DbtFailed as failed:
            raise Inexact(str(failed)) from failed

    @property
    def _variables(self) -> str:
        return json.dumps({"strategy": self.strategy, "raw_schema": SCHEMA})


def write_project(folder: Path, memory: str, threads: int) -> Path:
    """A copy of the project, with a profile that has both targets."""
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns("target*", "logs", ".idivm"))
    (folder / "profiles.yml").write_text(json.dumps(profile("brokerage", SCHEMAS, folder, memory, threads)), encoding="utf-8")
    return folder
