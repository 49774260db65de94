"""Runs dbt in this process, and keeps what the refreshes of the models did and which tests failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from retail.batches import Batch

FAILED = ("error", "fail", "runtime error", "skipped")
LONGEST = 600  # characters of a message

# Called with the name of each node when dbt has finished it.
Progress = Callable[[str], None]


class DbtFailed(Exception):
    """A dbt command that ran nothing."""


@dataclass(frozen=True)
class Refresh:
    """What one run did with one model."""

    model: str
    folder: str
    mode: str
    strategy: str | None
    reason: str | None
    seconds: float

    @property
    def counts(self) -> bool:
        """Whether the share of incremental refreshes is of it: it had something to do."""
        return self.mode != "noop"


@dataclass
class Round:
    """A batch, the first load having none, and what dbt did after it."""

    title: str
    batch: Batch | None = None
    refreshes: list[Refresh] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)  # what failed, with its message
    tests: int = 0
    seconds: dict[str, float] = field(default_factory=dict)  # of dbt's commands

    @property
    def counted(self) -> list[Refresh]:
        return [each for each in self.refreshes if each.counts] if self.batch else []

    @property
    def incremental(self) -> int:
        return sum(each.mode == "incremental" for each in self.counted)


def share(rounds: Sequence[Round], kind: str | None = None) -> float | None:
    """The share of incremental refreshes after batches, or after those with that kind of change; None where none counts."""
    chosen = [each for each in rounds if each.batch and (kind is None or kind in each.batch.kinds)]
    counted = sum(len(each.counted) for each in chosen)
    return sum(each.incremental for each in chosen) / counted if counted else None


@dataclass
class Dbt:
    """The project under a target. `options` are passed to each command, `select` to those that run models and tests."""

    project: Path
    options: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    on_node: Progress = lambda name: None

    def first(self) -> Round:
        """Everything from nothing."""
        done = Round("first load")
        self._command(done, "seed", "--full-refresh")
        self._refreshed(done, "--full-refresh")
        return done

    def after(self, batch: Batch, number: int) -> Round:
        done = Round(f"{number}: {batch.title}", batch)
        self._refreshed(done)
        return done

    def _refreshed(self, done: Round, *options: str) -> None:
        self._command(done, "snapshot")
        for result in self._command(done, "run", *options, *self.select):
            if result.node.config.materialized == "idivm" and result.status == "success":
                done.refreshes.append(_refresh(result))
        done.tests = len(self._command(done, "test", *self.select))

    def _command(self, done: Round, command: str, *args: str) -> list[Any]:
        """The results of a command; what failed is noted. Raises DbtFailed where there are none."""
        from dbt.cli.main import dbtRunner

        began, folder = time.monotonic(), str(self.project)
        quiet = ("--log-level", "none", "--log-level-file", "debug", "--no-use-colors")
        runner = dbtRunner(callbacks=[self._finished])
        outcome = runner.invoke([command, *args, *self.options, *quiet, "--project-dir", folder, "--profiles-dir", folder])
        results = list(getattr(outcome.result, "results", None) or ())
        if not results:
            raise DbtFailed(f"dbt {command}: {outcome.exception or 'nothing was run'}")
        done.seconds[command] = time.monotonic() - began
        done.failures += _failures(results)
        return results

    def _finished(self, event: Any) -> None:
        if event.info.name == "NodeFinished":
            self.on_node(event.data.node_info.node_name)


def _refresh(result: Any) -> Refresh:
    response = result.adapter_response
    return Refresh(
        result.node.name, result.node.fqn[-2], response["mode"], response["strategy"], response["reason"], result.execution_time
    )


def _failures(results: Sequence[Any]) -> Iterator[str]:
    for result in results:
        if result.status in FAILED:
            message = " ".join(str(result.message).split())
            yield f"{result.node.name}: {message if len(message) <= LONGEST else message[:LONGEST] + ' …'}"
