"""What commits did to the files of a table, according to its log. Readers infer the change feed from it where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps


@dataclass(frozen=True)
class FileActions:
    """The file actions of one commit.

    `feed_files`: change data files; if there are any, the feed is read from them alone. `data_files`: files added or removed with
    a change of rows; `removed_files`: those removed. A file with a changed deletion vector counts as both. `rows`: change in the
    table's number of rows by these files; `rearranged_rows`: the same for all other files, which should be 0. Both are None where
    the log has no row counts of files.
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
    """Version → file actions of the commits from `first` to `last`; empty if the engine cannot read logs."""
    if not client.engine.reads_logs:
        return {}
    question = ("file actions", table, first, last)
    rows = yield from client.once(question, lambda: client.ask(client.commands.file_actions(table, first, last)))
    return {version: FileActions(*counts) for version, *counts in rows.rows}
