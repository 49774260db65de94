"""dbt commands in this process, on the Spark that runs already, and what their models did."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FAILED = ("error", "fail", "runtime error", "skipped")


class DbtFailed(Exception):
    """A dbt command failed, or one of its models or tests."""


@dataclass(frozen=True)
class Run:
    """A command that succeeded: its results, and the seconds of all of it."""

    results: tuple[Any, ...]
    seconds: float

    @property
    def working(self) -> float:
        """The seconds from the beginning of the first model or test to the end of the last one; the rest is dbt's."""
        spans = [span for span in map(_span, self.results) if span is not None]
        return (max(end for _, end in spans) - min(start for start, _ in spans)).total_seconds() if spans else 0.0

    @property
    def modes(self) -> dict[str, str]:
        """What was done with each model."""
        return {each.node.name: str(each.adapter_response.get("mode", "full")) for each in self.results}

    @property
    def statements(self) -> int:
        return sum(int(each.adapter_response.get("statements", 1)) for each in self.results)


def seconds_of(result: Any) -> float:
    """The seconds of one model, without compiling."""
    span = _span(result)
    return 0.0 if span is None else float((span[1] - span[0]).total_seconds())


def invoke(project: Path, target: str, command: str, *options: str) -> Run:
    """Run a command. Each target has a target folder, because dbt would parse everything again after another one."""
    from dbt.cli.main import dbtRunner

    folder = str(project)
    began = time.perf_counter()
    outcome = dbtRunner().invoke(
        [
            "--quiet",
            command,
            *options,
            *("--target", target, "--target-path", str(project / f"target_{target}")),
            *("--project-dir", folder, "--profiles-dir", folder, "--log-level", "none"),
        ]
    )
    seconds = time.perf_counter() - began
    results = tuple(getattr(outcome.result, "results", None) or ())
    if not outcome.success or not results:
        failed = [f"{each.node.name}: {each.message}" for each in results if each.status in FAILED]
        raise DbtFailed("\n".join(failed) or str(outcome.exception or f"dbt {command} ran nothing"))
    return Run(results, seconds)


def profile(name: str, schemas: Mapping[str, str], folder: Path, memory: str, threads: int) -> dict[str, Any]:
    """The content of profiles.yml: a target for each of `schemas`, all in the catalog of this process."""
    outputs = {
        target: {
            "type": "idivm",
            "schema": schema,
            "threads": threads,
            "catalog": "in-memory",
            "driver_memory": memory,
            "state_dir": str(folder / ".idivm"),
        }
        for target, schema in schemas.items()
    }
    return {name: {"target": next(iter(schemas)), "outputs": outputs}}


def _span(result: Any) -> tuple[Any, Any] | None:
    """Begin and end of the phase in which a model's or a test's statements run."""
    found = next((each for each in result.timing if each.name == "execute"), None)
    return None if found is None or found.completed_at is None else (found.started_at, found.completed_at)
