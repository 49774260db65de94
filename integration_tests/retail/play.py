"""One run of the project: load, dbt, and for each batch its changes and dbt again, each step shown while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from retail import batches, history, show, tables
from retail.clock import clock_of
from retail.engine import Engine
from retail.runs import Dbt, Round
from retail.world import World

RAW = "retail_raw"


class Play:
    """`rounds` is filled as it goes, so that a failure keeps them."""

    def __init__(self, dbt: Dbt, engine: Engine, console: Console, seed: int = 1, scale: float = 1) -> None:
        self.rounds: list[Round] = []
        self._dbt, self._engine, self._console = dbt, engine, console
        self._world = World(tables.declared(dbt.project), seed, scale)
        self._began = time.monotonic()
        self._progress = show.progress(console)
        self._task = self._progress.add_task("", total=None, doing="")
        dbt.on_node = lambda name: self._progress.update(self._task, doing=name)

    def load(self) -> None:
        """Create and fill the sources."""
        history.fill(self._world)
        filled = list(self._world.taken())
        self._engine.execute([f"create schema if not exists {RAW}"])
        self._engine.execute(tables.creation(RAW, table) for table in self._world.tables.values())
        for change in filled:
            self._engine.execute(tables.insertion(RAW, change.table, change.inserted))

    def play(self, numbers: Sequence[int]) -> None:
        """Load, run, and go through the batches of these numbers."""
        with self._progress, clock_of(self._world):
            self._step("Loading the sources", self.load)
            self._step("dbt, for the first time", lambda: self.rounds.append(self._dbt.first()))
            for place, number in enumerate(numbers, 1):
                batch = batches.batch(self._world, number)
                self._step(f"Batch {place}: {batch.title}", lambda batch=batch: self._apply(batch))
                self._step(f"dbt after batch {place}", lambda b=batch, n=place: self.rounds.append(self._dbt.after(b, n)))

    def _apply(self, batch: batches.Batch) -> None:
        self._engine.execute(tables.statements(RAW, batch.changes))

    def _step(self, words: str, work: Callable[[], Any]) -> None:
        """Show what is done while it is done; where nothing can be shown in place, a line of its own."""
        self._progress.update(self._task, description=words, doing="")
        if not self._console.is_terminal:
            self._console.print(f"{time.monotonic() - self._began:4.0f} s  {words}", highlight=False)
        work()


def dbt_of(project: Path, target: str | None, threads: int | None, strategy: str, select: Sequence[str]) -> Dbt:
    options = (
        "--vars",
        f"{{idivm_strategy: {strategy}}}",
        *(("--target", target) if target else ()),
        *(("--threads", str(threads)) if threads else ()),
    )
    return Dbt(project, options, ("--select", *select) if select else ())
