"""Confirm after the commits of a refresh that the tables it has read are still those that it pinned.

Statements read tables by name and version. If a table is dropped and created again, or swapped by renaming, the same name and
version have other rows; only the time of the commit tells them apart. Only a look after the last read is certain: a commit that
is in the table's history before and after a statement was there while it ran. A table that is swapped and swapped back before
that look goes unnoticed.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbt_idivm.errors import IdivmError, finding, listed
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.stored_view import ABSENT
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps


class Exchanged(IdivmError):
    """IDIVM-903: tables that a refresh has read or changed were replaced while it ran, so the rows that it committed may belong
    to neither table."""

    def __init__(self, view: str, tables: Sequence[str]) -> None:
        self.tables = tuple(tables)
        super().__init__(
            finding(
                903,
                view=listed(self.tables),
                message="another table took that name while it was read",
                state=f"The next run rebuilds {view}",
            )
        )


def confirm(client: Client, view: str) -> Steps[None]:
    """Raise Exchanged unless every commit that the refresh has relied on so far is still in its table's history."""
    tables = yield from exchanged(client)
    if tables:
        raise Exchanged(view, tables)
    client.based_on.clear()


def confirm_now(client: Client, view: str, table: str) -> Steps[None]:
    """Confirm one table that the refresh itself is about to drop or rename, because it cannot be looked up later."""
    if table in client.based_on:
        if not (yield from _is_there(client, table)):
            raise Exchanged(view, (table,))
        del client.based_on[table]


def exchanged(client: Client) -> Steps[tuple[str, ...]]:
    """The tables that have lost the commit which the refresh relied on."""
    found = []
    for table in client.based_on:
        if not (yield from _is_there(client, table)):
            found.append(table)
    return tuple(found)


def _is_there(client: Client, table: str) -> Steps[bool]:
    try:
        return (yield from history.has(client, table, *client.based_on[table]))
    except EngineFailure as failure:
        if failure.is_any(ABSENT):
            return False
        raise
