"""Sizes of tables from their logs: commit metrics if they reach back to a full write, else DESCRIBE DETAIL, once per invocation.

Sizes are used for estimates only. No data is read for them, and unknown sizes are left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from dbt_idivm.cost.sizes import Size, of_bytes, of_rows
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.history import Commit, number
from dbt_idivm.refresh.catalog.inputs import Input
from dbt_idivm.refresh.catalog.relations import Described
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps

Types = tuple[str | exp.DataType, ...]  # of the columns
_EMPTY = frozenset({"CREATE TABLE", "CREATE OR REPLACE TABLE", "REPLACE TABLE"})
_WHOLE = frozenset({"CREATE TABLE AS SELECT", "CREATE OR REPLACE TABLE AS SELECT", "REPLACE TABLE AS SELECT"})
_CREATES = _EMPTY | _WHOLE


def size_of(client: Client, found: Input) -> Steps[Size | None]:
    """The size of an input at its pinned version; None if its log does not say."""
    if found.commit is None:
        return None
    page = yield from history.page(client, found.table)
    known = from_commits((commit for commit in page if commit.version <= found.commit.version), _types(found.facts))
    if known is not None:
        return known
    return (yield from client.once(("size", found.table), lambda: detail(client, found.table, _types(found.facts))))


def detail(client: Client, table: str, types: Types) -> Steps[Size | None]:
    """Current size of a table according to its files; None if the engine does not say."""
    try:
        rows = yield from client.ask(client.commands.detail(table))
    except EngineFailure:
        return None
    facts = rows.dicts()[0] if rows.rows else {}
    size, files = number(facts, "sizeInBytes"), number(facts, "numFiles")
    return None if size is None else of_bytes(size, files or 1, types).bounded()


def _types(facts: Described) -> Types:
    return tuple(each.type for each in facts.columns)


def from_commits(commits: Iterable[Commit], types: Types) -> Size | None:
    """The size after these commits, newest first; None unless one of them wrote the whole table."""
    later: list[Commit] = []
    for commit in commits:
        start = written(commit, types) if commit.operation in _CREATES else None
        if start is not None:
            return moved(start, reversed(later), types)
        later.append(commit)
    return None


def written(commit: Commit, types: Types) -> Size | None:
    """The size of the table after a commit that wrote all of it; None if the commit did not, or has no metrics."""
    if commit.operation in _EMPTY:
        return Size(0, 0, 0)
    if commit.operation not in _WHOLE and not commit.replaces:
        return None
    rows, size = number(commit.metrics, "numOutputRows"), number(commit.metrics, "numOutputBytes")
    if rows is None:
        return None
    known = of_rows(rows, types)
    return Size(rows, size if size is not None else known.bytes, number(commit.metrics, "numFiles") or known.files)


def moved(before: Size, commits: Iterable[Commit], types: Types) -> Size:
    """Add these commits, oldest first, to a known size. A commit without metrics counts as no change."""
    now = before
    for commit in commits:
        start = written(commit, types)
        now = _added_to(now, commit, types) if start is None else _replaced(now, commit, start)
    return now.bounded()


def _replaced(before: Size, commit: Commit, written_rows: Size) -> Size:
    """The size after a write that replaced the table or some of its partitions, according to the number of files it removed."""
    removed = number(commit.metrics, "numRemovedFiles")
    if commit.operation in _CREATES or removed is None or removed >= before.files:
        return written_rows
    kept = before.with_rows(before.rows * (1 - removed / before.files))
    return Size(kept.rows + written_rows.rows, kept.bytes + written_rows.bytes, before.files - removed + written_rows.files)


def _added_to(before: Size, commit: Commit, types: Types) -> Size:
    # the output counts of MERGE and UPDATE include copied rows, so they are not used
    appended = commit.is_write and not commit.replaces_some
    size = number(commit.metrics, "numOutputBytes") if appended else None
    rows = max(before.rows + commit.counts["inserted"] - commit.counts["deleted"], 0)
    added = ("numTargetFilesAdded", "numAddedFiles", *(("numFiles",) if appended else ()))
    files = before.files + _first(commit, *added) - _first(commit, "numTargetFilesRemoved", "numRemovedFiles")
    grown = before.with_rows(rows) if before.rows else of_rows(rows, types)
    return Size(rows, before.bytes + size if size is not None else grown.bytes, max(files, 1))


def _first(commit: Commit, *names: str) -> int:
    """The first of these metrics that the commit has, else 0."""
    return next((found for name in names if (found := number(commit.metrics, name)) is not None), 0)
