"""The data of the page: plain values about a project, its models and their refreshes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from dbt_idivm.tools.flowchart.graph import Graph

What = Literal["created", "rebuilt", "migrated", "incremental", "nothing changed", "failed", "no refresh"]


@dataclass(frozen=True)
class Line:
    """One operator of a tree: its depth, its text, its IDs, and whether they identify its rows."""

    depth: int
    text: str
    ids: tuple[str, ...]
    unique: bool
    is_table: bool = False


@dataclass(frozen=True)
class Tree:
    """The operators of a view, or of one of its caches. `title` is "" for the view itself."""

    title: str
    about: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Refused:
    """Why a model is rebuilt on every run: code, sentence, and the code's reason and remedy."""

    code: str
    sentence: str
    why: str = ""
    do: str = ""


@dataclass(frozen=True)
class Size:
    """The size of a table; None if unknown. `rows` is counted from its commits, without reading data."""

    rows: int | None = None
    bytes: int | None = None


@dataclass(frozen=True)
class Refresh:
    """One commit of a model's table, or the last run reported by dbt. `version` is None for a run without a commit.

    `at`: in the session's time zone. `inserted`, `updated`, `deleted`: rows of the table; a rebuild counts written rows as
    inserted; None if the commit has no counts. `seconds`: duration of the statement for a commit, of the whole refresh for a run.
    `estimate`: seconds for the whole refresh, if its way was chosen by cost. `moves`: (input, version before or None, version
    after). `run`: dbt's invocation ID.
    """

    what: What
    at: dt.datetime | None = None
    version: int | None = None
    operation: str = ""
    inserted: int | None = None
    updated: int | None = None
    deleted: int | None = None
    seconds: float | None = None
    moves: tuple[tuple[str, int | None, int], ...] = ()
    why: str = ""
    run: str = ""
    estimate: float | None = None

    @property
    def is_ours(self) -> bool:
        return self.what != "no refresh"

    @property
    def is_build(self) -> bool:
        return self.what in ("created", "rebuilt")

    @property
    def rows(self) -> int | None:
        """The number of rows that it wrote or removed; None if unknown."""
        known = [each for each in (self.inserted, self.updated, self.deleted) if each is not None]
        return sum(known) if known else None


@dataclass(frozen=True)
class Stored:
    """What the engine reports of a model's table. `history`: newest first; `is_whole`: it reaches back to the first commit.
    `caches`: tables of its intermediate caches according to its newest state."""

    table: str
    size: Size = Size()
    history: tuple[Refresh, ...] = ()
    is_whole: bool = True
    caches: tuple[str, ...] = ()

    @property
    def refreshes(self) -> tuple[Refresh, ...]:
        return tuple(each for each in self.history if each.is_ours)


@dataclass(frozen=True)
class Model:
    """A model with `materialized='idivm'`: how it is maintained, or why it is rebuilt (`refused`) or why this is unknown
    (`problem`), with the facts about its table and refreshes.

    `script`: the Δ-script, or its beginning; `left_out`: number of missing lines. `stored` is None without an engine, or for the
    reason `unread`.
    """

    name: str
    unique_id: str
    relation: str
    how: str | None = None
    refused: Refused | None = None
    problem: str = ""
    sql: str = ""
    trees: tuple[Tree, ...] = ()
    script: str = ""
    left_out: int = 0
    last_run: Refresh | None = None
    stored: Stored | None = None
    unread: str = ""

    @property
    def size(self) -> Size:
        return self.stored.size if self.stored is not None else Size()

    @property
    def history(self) -> tuple[Refresh, ...]:
        """The commits of its table, newest first. The commit of the last run has the run's full reason, which commits shorten."""
        run, found = self.last_run, self.stored.history if self.stored is not None else ()
        return tuple(
            replace(each, why=run.why) if run is not None and run.run and each.run == run.run and run.why else each
            for each in found
        )

    @property
    def last(self) -> Refresh | None:
        """Its last refresh: the run reported by dbt, unless the table has a newer one."""
        newest = self.stored.refreshes[0] if self.stored is not None and self.stored.refreshes else None
        run = self.last_run
        if newest is None or run is None or run.run == newest.run:
            return run or newest
        return newest if run.at is None or (newest.at is not None and newest.at > run.at) else run


@dataclass(frozen=True)
class Report:
    """A project. `offline`: why the engine was not asked, "" if it was. `notes`: what else is missing from the page, and why.

    `sizes`: full name of a table that is read → its size, as found by the refreshes. `made`: time of the report, as text; only
    this differs between two pages for the same facts. `zone`: time zone of all times.
    """

    project: str
    models: tuple[Model, ...]
    graph: Graph
    offline: str = ""
    notes: tuple[str, ...] = ()
    sizes: Mapping[str, Size] = field(default_factory=dict)
    made: str = ""
    zone: str = "UTC"

    @property
    def incremental(self) -> tuple[Model, ...]:
        return tuple(each for each in self.models if each.how is not None)

    @property
    def rebuilt(self) -> tuple[Model, ...]:
        return tuple(each for each in self.models if each.refused is not None)

    @property
    def unknown(self) -> tuple[Model, ...]:
        return tuple(each for each in self.models if each.problem)
