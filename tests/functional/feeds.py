"""Change feeds that lack rows or have some twice: commits whose files are written anew."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

Metrics = Callable[[dict[str, Any]], None]


def commit_file(table: Path, version: int) -> Path:
    return table / "_delta_log" / f"{version:020}.json"


def actions_of(table: Path, version: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in commit_file(table, version).read_text().splitlines()]


def write_actions(table: Path, version: int, actions: list[dict[str, Any]]) -> None:
    """The commit has these actions, and the time that it had."""
    file = commit_file(table, version)
    at = file.stat()
    file.write_text("".join(json.dumps(each) + "\n" for each in actions))
    forget_sum(file)
    os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))


def forget_sum(file: Path) -> None:
    """Hadoop keeps a checksum beside each file that it wrote."""
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)


def newest(table: Path) -> int:
    return max(int(each.stem) for each in (table / "_delta_log").glob("*.json"))


def edit(table: Path, version: int, change: Callable[[pa.Table], pa.Table]) -> None:
    """Each file that the commit has for the feed gets other rows. Fails if there is none."""
    actions = actions_of(table, version)
    files = [each["cdc"] for each in actions if "cdc" in each]
    assert files, f"version {version} has no feed of its own"
    for each in files:
        file = table / each["path"]
        pq.write_table(change(pq.ParquetFile(file).read()), file)
        forget_sum(file)
        each["size"] = file.stat().st_size
    write_actions(table, version, actions)


def without(kind: str) -> Callable[[pa.Table], pa.Table]:
    """The rows of a kind of change are missing."""
    return lambda rows: rows.filter(pc.not_equal(rows["_change_type"], kind))


def doubled(kind: str) -> Callable[[pa.Table], pa.Table]:
    """The rows of a kind of change are there twice."""
    return lambda rows: pa.concat_tables([rows, rows.filter(pc.equal(rows["_change_type"], kind))])


def empty(rows: pa.Table) -> pa.Table:
    return rows.slice(0, 0)


def set_metrics(table: Path, version: int, change: Metrics) -> None:
    """The commit counts something else."""
    actions = actions_of(table, version)
    change(next(each["commitInfo"] for each in actions if "commitInfo" in each))
    write_actions(table, version, actions)
