"""What the page is made of: plain values about a project, its models and their refreshes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from dbt_idivm.flowchart.graph import Graph

What = Literal["created", "rebuilt", "migrated", "incremental", "nothing changed", "failed", "no refresh"]


@dataclass(frozen=True)
class Line:
    """One operator of a tree: what is above it (`depth` operators), its text, its IDs, and whether they identify its rows."""

    depth: int
    text: str
    ids: tuple[str, ...]
    unique: bool
    is_table: bool = False


@dataclass(frozen=True)
class Tree:
    """The operators of a view, or of one of its caches. `title`: "" for the view itself."""

    title: str
    about: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Refused:
    """Why a model is rebuilt on every run: the code, a sentence, and the reason and way out in the words of the code."""

    code: str
    sentence: str
    why: str = ""
    do: str = ""


@dataclass(frozen=True)
class Size:
    """Of a table; None is not known. `rows` are counted from its commits, without reading it."""

    rows: int | None = None
    bytes: int | None = None


@dataclass(frozen=True)
class Refresh:
    """One commit of a model's table, or the last run that dbt reports. `version` is None for a run without a commit.

    `at`: in the time zone of the session. The rows are those of the table that were inserted, updated and deleted, for a rebuild
    those that were written; None if the commit does not count them. `seconds`: of the statement for a commit, of the whole
    refresh for a run. `estimate`: of the whole refresh, where its way was chosen by cost. `moves`: input → its versions before
    (None: unknown) and after. `run`: the ID of dbt's invocation.
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
        """How many rows it wrote or took away."""
        known = [each for each in (self.inserted, self.updated, self.deleted) if each is not None]
        return sum(known) if known else None


@dataclass(frozen=True)
class Stored:
    """What the engine says of a model's table. `history`: newest first; `is_whole`: it reaches back to the first commit.
    `caches`: the tables of its intermediate caches, as its newest state has them."""

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
    """A model with `materialized='idivm'`: how it is maintained, or why it is rebuilt (`refused`), or why that is not known
    (`problem`), and what is known of its table and refreshes.

    `script` is the Δ-script, or its beginning: `left_out` lines of it are missing. `stored` is None without an engine, and where
    `unread` says why.
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
        """The commits of its table, newest first; of the last run with the whole reason, which a commit has the beginning of."""
        run, found = self.last_run, self.stored.history if self.stored is not None else ()
        return tuple(
            replace(each, why=run.why) if run is not None and run.run and each.run == run.run and run.why else each
            for each in found
        )

    @property
    def last(self) -> Refresh | None:
        """Its last refresh: of the run that dbt reports, unless the table has a newer one."""
        newest = self.stored.refreshes[0] if self.stored is not None and self.stored.refreshes else None
        run = self.last_run
        if newest is None or run is None or run.run == newest.run:
            return run or newest
        return newest if run.at is None or (newest.at is not None and newest.at > run.at) else run


@dataclass(frozen=True)
class Report:
    """A project. `offline`: why the engine was not asked, "" if it was; `notes`: what else is missing from the page, and why.

    `sizes`: full name of a table that is read → its size, as the refreshes have found it. `made`: when, as text: the only part
    that differs from one page to the next for the same facts. `zone`: of all times.
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
