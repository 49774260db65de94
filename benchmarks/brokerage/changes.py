"""The statements that load the history, and those of each day after it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import yaml

from benchmarks.brokerage.sources import SOURCES, Source
from benchmarks.brokerage.world import Rows, World
from dbt_idivm.schema_file import catalog_of

PROJECT = Path(__file__).parent / "project"
SCHEMA = "brokerage_raw"
RESENT = 40  # each so many rows of a source that sends rows twice is sent twice
CORRECTED, WITHDRAWN = 1000, 4000  # one of so many rows, each day
FEW = 100  # of a table with so many rows the newest one goes


def tables() -> dict[str, dict[str, str]]:
    """The tables of the project's sources: their columns with types."""
    document = yaml.safe_load((PROJECT / "models" / "staging" / "_sources.yml").read_text(encoding="utf-8"))
    found = catalog_of(document).tables
    return {name.rpartition(".")[2]: {each.name: each.type for each in found[name].columns} for name in found}


def history(world: World) -> Iterator[str]:
    """Create and fill all tables. The first versions of rows come in the order of their numbers, second ones later."""
    yield f"create schema if not exists {SCHEMA}"
    for name, columns in tables().items():
        declared = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        yield (
            f"create or replace table {SCHEMA}.{name} ({declared}) using delta "
            "tblproperties ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true')"
        )
    for source in SOURCES:
        rows = source.rows(world)
        span = source.span or world.days
        day = f"{source.since} + id * {span} div {rows}"
        first = Rows(world, day)
        yield _insertion(source, first, f"range({rows})")
        if source.updated:
            later = f"least({world.days - 1}, {day} + 1 + {world.draw(1, max(90, world.days - span))})"
            chosen = f"(select id from range({rows}) where {world.draw(2, 100)} < {round(100 * source.updated)})"
            yield _insertion(source, replace(first, day=later, flag="U", version=1), chosen)


def batch(world: World, number: int) -> Iterator[str]:
    """The day with that number, from 1: new rows, then new versions and deletions in logs, corrections, withdrawals."""
    for source in SOURCES:
        rows = source.rows(world)
        new = max(1, rows // world.days)
        arrived = rows + new * (number - 1)
        today = Rows(world, str(world.days - 1 + number))
        yield _insertion(source, today, f"range({arrived}, {arrived + new})")
        if source.logged:
            for flag, version, count in (("U", 2 * number, 1 + new // 2), ("D", 2 * number + 1, 1 + new // 20)):
                chosen = f"(select distinct {world.draw(version, rows)} as id from range({count}))"
                yield _insertion(source, replace(today, flag=flag, version=version), chosen)
        table = f"{SCHEMA}.{source.table}"
        yield f"update {table} set {source.correction} where {_some(source, max(3, min(CORRECTED, rows // 3)), number)}"
        if rows > FEW:
            yield f"delete from {table} where {_some(source, min(WITHDRAWN, rows // 2), -number)}"
        else:
            newest = re.sub(r"\bid\b", str(arrived - 1), source.columns(today)[source.key])  # Delta deletes by no subquery
            yield f"delete from {table} where {source.key} = {newest}"


def _insertion(source: Source, rows: Rows, numbers: str) -> str:
    """Insert the rows of these numbers, an item of FROM with the column `id`."""
    made = source.columns(rows)
    columns = ", ".join(f"cast({made[name]} as {kind}) as {name}" for name, kind in tables()[source.table].items())
    kept = f" where {source.kept(rows.world)}" if source.kept and rows.flag == "I" else ""
    twice = f" lateral view explode(if(id % {RESENT} = 7, array(1, 2), array(1))) as copy" if source.resent else ""
    return f"insert into {SCHEMA}.{source.table} select {columns} from {numbers}{twice}{kept}"


def _some(source: Source, of: int, number: int) -> str:
    """The condition for one of so many rows."""
    return f"{source.only} and pmod(xxhash64({source.key}, {number}), {of}) = 0"
