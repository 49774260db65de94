"""The results: one record for each lane of each experiment, with medians over its rounds, and one about the run itself."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.lanes import Sample
from benchmarks.meter import Work

PACKAGES = ("dbt-idivm", "dbt-core", "dbt-spark", "pyspark", "delta-spark", "sqlglot")
BUILD = "build"


@dataclass(frozen=True)
class Record:
    """One lane of one experiment. Figures are medians over `rounds`; `samples` are the seconds of each.

    `change` names the change, `percent` or `rows` say of how much; `purpose` is the table or plot that the experiment is for.
    """

    workload: str
    query: str
    scale: float
    change: str
    lane: str
    seconds: float
    planner_seconds: float
    bytes_read: int
    rows_read: int
    bytes_written: int
    rows_written: int
    jobs: int
    statements: int
    exact: bool
    mode: str = ""
    strategy: str = ""
    percent: float | None = None
    rows: int | None = None
    view_rows: int = 0
    rounds: int = 0
    samples: tuple[float, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    purpose: str = ""


def summary(samples: Sequence[tuple[Sample, Work]]) -> dict[str, Any]:
    """The figures of a record: the median of each over the rounds. Mode and strategy are those of the last round."""
    last, _ = samples[-1]
    figures: dict[str, Any] = {
        name: round(median(getattr(sample, name) for sample, _ in samples), 3) for name in ("seconds", "planner_seconds")
    }
    figures |= {
        name: round(median(getattr(work, name) for _, work in samples))
        for name in ("bytes_read", "rows_read", "bytes_written", "rows_written", "jobs")
    }
    return {
        **figures,
        "statements": round(median(sample.statements for sample, _ in samples)),
        "mode": last.mode,
        "strategy": last.strategy,
        "rounds": len(samples),
        "samples": tuple(round(each.seconds, 3) for each, _ in samples),
    }


def header(command: str) -> dict[str, Any]:
    """What the figures depend on besides the code that is measured."""
    return {
        "header": True,
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "command": command,
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
    }


def write(file: Path, about: Mapping[str, Any], records: Sequence[Record]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [dict(about), *(asdict(record) for record in records)]
    file.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")


def read(file: Path) -> tuple[dict[str, Any], list[Record]]:
    """What `write` wrote; fields that this version does not have are left out."""
    about, *rows = json.loads(file.read_text(encoding="utf-8"))
    known = {each.name for each in fields(Record)}
    kept: list[dict[str, Any]] = [{key: value for key, value in row.items() if key in known} for row in rows]
    return about, [Record(**{**row, "samples": tuple(row.get("samples", ()))}) for row in kept]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _commit() -> str:
    """The commit of the checkout, and whether files differ from it."""
    folder = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=folder, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()
