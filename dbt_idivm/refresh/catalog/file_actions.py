"""What commits did to the files of a table, as its log says: from which a reader infers the change feed where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps


@dataclass(frozen=True)
class FileActions:
    """The file actions of one commit.

    `feed_files`: files with rows for the change feed, which is then read from them alone. `data_files`: files that were added or
    removed with a change of rows, `removed_files` of them removed; a file whose deletion vector changes is both. `rows`: by how
    many rows they changed the table; `rearranged_rows`: by how many the others did, which must change none. None where the log
    does not say how many rows a file has.
    """

    feed_files: int
    data_files: int
    removed_files: int
    rows: int | None
    rearranged_rows: int | None

    @property
    def changes_no_row(self) -> bool:
        """Whether the commit certainly changed no row."""
        return self.feed_files == self.data_files == 0 and not self.rearranged_rows


def file_actions(client: Client, table: str, first: int, last: int) -> Steps[Mapping[int, FileActions]]:
    """Version → its file actions, for the commits from `first` to `last`; none where the engine does not read logs."""
    if not client.engine.reads_logs:
        return {}
    question = ("file actions", table, first, last)
    rows = yield from client.once(question, lambda: client.ask(client.commands.file_actions(table, first, last)))
    return {version: FileActions(*counts) for version, *counts in rows.rows}
