"""What the page asks the engine: where a model's rows are, the size of the table, and its history. No data is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_idivm.refresh.catalog import history, sizes
from dbt_idivm.refresh.catalog.history import Commit, number
from dbt_idivm.refresh.catalog.relations import LOG, Described, describe
from dbt_idivm.refresh.catalog.state import State, read
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.tools.report.facts import Size, Stored
from dbt_idivm.tools.report.refreshes import refreshes

COMMITS = 100  # of a table, at most: some days of hourly refreshes, which a plot can still show

# For a model: the stored table, and the sizes of its inputs, as found by its newest refresh.
Found = tuple[Stored, Mapping[str, Size]]


def stored(client: Client, relation: str, zone: str, limit: int = COMMITS) -> Steps[Found | None]:
    """The stored table of the model with that relation; None if it has no Delta table yet. Raises EngineFailure."""
    facts = yield from describe(client, relation)
    table = table_of(relation, facts)
    if table is None:
        return None
    columns = facts if table == relation else (yield from describe(client, table))
    if columns is None or columns.lost:
        return None
    found, inputs = yield from in_table(client, table, tuple(each.type for each in columns.columns), zone, limit)
    return replace(found, size=replace(found.size, bytes=(yield from _bytes(client, table)))), inputs


def in_table(client: Client, table: str, types: tuple[str, ...], zone: str, limit: int = COMMITS) -> Steps[Found]:
    """What the history of a Delta table shows; `types`: types of its columns. Its bytes are not included, because Spark would
    have to read the whole log. Raises EngineFailure."""
    commits = yield from history.newest(client, table, limit)
    size = Size(_rows(table, commits, types))
    is_whole = len(commits) < limit or commits[-1].version == 0
    newest = next((found for each in commits if (found := read(each.user_metadata)) is not None), None)
    caches = () if newest is None else newest.caches
    return Stored(table, size, refreshes(commits, zone), is_whole, caches), _inputs(table, newest)


def table_of(relation: str, facts: Described | None) -> str | None:
    """The table with the rows of a model: its own, the one behind its view, or its log of changes."""
    if facts is None:
        return None
    if facts.properties.get(LOG) is not None:
        return str(facts.properties[LOG])
    if facts.kind == "view":
        return facts.maintained
    return relation if facts.is_delta else None


def _rows(table: str, commits: tuple[Commit, ...], types: tuple[str, ...]) -> int | None:
    """The number of rows, counted from a commit that wrote all rows, or from a state with the number before its commit."""
    known = sizes.from_commits(commits, types)
    if known is not None:
        return known.rows
    for at, commit in enumerate(commits):
        state = read(commit.user_metadata)
        before = state.sizes.get(table) if state is not None else None
        if before is not None:
            return sizes.moved(before, reversed(commits[: at + 1]), types).rows
    return None


def _bytes(client: Client, table: str) -> Steps[int | None]:
    try:
        rows = yield from client.ask(client.commands.detail(table))
    except EngineFailure:
        return None  # the rest of the page is useful without it
    return number(rows.dicts()[0], "sizeInBytes") if rows.rows else None


def _inputs(table: str, state: State | None) -> Mapping[str, Size]:
    known = {} if state is None else state.sizes
    return {name: Size(each.rows, each.bytes) for name, each in known.items() if name != table}
