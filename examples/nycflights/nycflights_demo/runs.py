"""Runs dbt in this process, without log output, and keeps the results of the models and their tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlglot import exp, parse_one

SCRATCH = "idivm_demo_full_refresh"
TEST = "idivm_equivalent"
LONGEST, MOST = 400, 12  # characters of a line, lines of a message
TWO_THREADS = ("--threads", "2")
FAILED = ("error", "fail", "runtime error")

# Called with the name of each node when dbt has finished it.
Progress = Callable[[str], None]


class DbtFailed(Exception):
    """A dbt command failed: its messages about the nodes, or about itself."""


@dataclass
class ModelRun:
    """One model in one round. `equivalent` is None until the test has run; `full_seconds` until it was measured."""

    name: str
    seconds: float
    response: Mapping[str, Any]
    compiled: str
    equivalent: bool | None = None
    full_seconds: float | None = None

    @property
    def mode(self) -> str:
        return str(self.response["mode"])


@dataclass
class Round:
    """All models after one round of changes, in the order in which dbt ran them."""

    title: str
    models: list[ModelRun] = field(default_factory=list)
    changed_rows: int = 0  # of the tables that the models read, before the round
    tested: bool = True

    @property
    def is_exact(self) -> bool:
        return all(model.equivalent for model in self.models) or not self.tested

    @property
    def seconds(self) -> float:
        return sum(model.seconds for model in self.models)

    @property
    def full_seconds(self) -> float | None:
        """Those of six rebuilds; None if they were not measured."""
        found = [model.full_seconds for model in self.models]
        return sum(each for each in found if each is not None) if found and None not in found else None

    def take_full_refreshes_of(self, earlier: Round) -> None:
        """Instead of measuring them again."""
        seconds = {model.name: model.full_seconds for model in earlier.models}
        for model in self.models:
            model.full_seconds = seconds.get(model.name)


@dataclass
class Dbt:
    """A dbt project and the Spark session that its tables live in."""

    project: Path
    session: Any
    on_node: Progress = lambda name: None

    def run_and_test(self, title: str) -> Round:
        """One model after the other, so that each one's seconds are its own; then each is compared with its query."""
        done = self.invoke("run")
        return self._round(title, [*done, *self.invoke("test", *TWO_THREADS, "--select", f"test_name:{TEST}")])

    def run(self, title: str, *options: str) -> Round:
        return self._round(title, self.invoke("run", *options), tested=False)

    def invoke(self, command: str, *args: str) -> list[Any]:
        """The results of a dbt command. Raises DbtFailed with the messages of what failed."""
        from dbt.cli.main import dbtRunner

        folder = str(self.project)
        quiet = ["--log-level", "none", "--log-level-file", "debug", "--no-use-colors"]
        runner = dbtRunner(callbacks=[self._finished])
        outcome = runner.invoke([command, *args, *quiet, "--project-dir", folder, "--profiles-dir", folder])
        results = list(getattr(outcome.result, "results", None) or ())
        failed = [result for result in results if result.status in FAILED and not _is_equivalence(result)]
        if failed or (outcome.exception and not results) or not results:
            raise DbtFailed(_messages(failed) or str(outcome.exception or f"dbt {command} ran nothing"))
        return results

    def _finished(self, event: Any) -> None:
        if event.info.name == "NodeFinished":
            self.on_node(event.data.node_info.node_name)

    def _round(self, title: str, results: list[Any], tested: bool = True) -> Round:
        models = {
            result.node.unique_id: ModelRun(
                result.node.name, result.execution_time, dict(result.adapter_response), result.node.compiled_code
            )
            for result in results
            if result.node.resource_type == "model"
        }
        for result in results:
            model = models.get(getattr(result.node, "attached_node", None) or "")
            if model is not None and _is_equivalence(result):
                model.equivalent = result.status == "pass"
        return Round(title, list(models.values()), tested=tested)

    def apply(self, statements: list[str]) -> int:
        """Run statements that change tables, and return how many rows they changed."""
        return sum(self._changed_by(statement) for statement in statements)

    def _changed_by(self, statement: str) -> int:
        self.session.sql(statement)
        table = parse_one(statement, read="databricks").find(exp.Table)
        assert table is not None
        metrics = self.session.sql(f"describe history {table.sql('databricks')} limit 1").first().operationMetrics
        counts = (metrics.get(name) for name in ("numUpdatedRows", "numDeletedRows", "numOutputRows"))
        return int(next((each for each in counts if each is not None), 0))

    def measure_full_refresh(self, model: ModelRun, schema: str) -> None:
        """The time of a build of the same SELECT, into a table that is dropped afterwards."""
        table = f"{schema}.{SCRATCH}"
        self.session.sql(f"drop table if exists {table}")
        began = time.monotonic()
        self.session.sql(f"create table {table} using delta as {model.compiled}")
        model.full_seconds = time.monotonic() - began
        self.session.sql(f"drop table {table}")


def _is_equivalence(result: Any) -> bool:
    """A test of exactness that was carried out. Its failure is a result to be shown, not the end of the demo."""
    about = getattr(result.node, "test_metadata", None)
    return about is not None and about.name == TEST and result.status in ("pass", "fail")


def _messages(failed: list[Any]) -> str:
    """Each node's message, shortened: Spark's may be pages long, and are complete in dbt's log."""
    return "\n\n".join(f"{result.node.name}: {_short(str(result.message))}" for result in failed)


def _short(message: str) -> str:
    lines = [line if len(line) <= LONGEST else line[: LONGEST - 2] + " …" for line in message.splitlines()]
    return "\n".join(lines if len(lines) <= MOST else [*lines[:MOST], "  … the rest is in logs/dbt.log"])
