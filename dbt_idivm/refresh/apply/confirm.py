"""Whether the tables that a refresh has read are those that it pinned, looked up once its commits are made.

Its statements read tables by name and version. A table that others drop and create again, or exchange by renaming, has other rows
under the same name and number; a commit's time distinguishes them. Only a look after the last read is certain: what is in the
table's history before and after a statement was there while it ran. What is not noticed is a table that is exchanged and is back
before that look.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbt_idivm.errors import IdivmError, finding, listed
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.stored_view import ABSENT
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps


class Exchanged(IdivmError):
    """IDIVM-903: tables that a refresh has read or changed are others than at its beginning, so that the rows which it has
    committed may be of neither."""

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
    """Raises Exchanged unless all that the commits of the refresh are based on, up to now, is in the tables' histories still."""
    tables = yield from exchanged(client)
    if tables:
        raise Exchanged(view, tables)
    client.based_on.clear()


def confirm_now(client: Client, view: str, table: str) -> Steps[None]:
    """The same of one table, which the refresh itself is about to drop or to rename, so that it cannot be looked up later."""
    if table in client.based_on:
        if not (yield from _is_there(client, table)):
            raise Exchanged(view, (table,))
        del client.based_on[table]


def exchanged(client: Client) -> Steps[tuple[str, ...]]:
    """The tables that do not have the commit any more which the refresh is based on."""
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
