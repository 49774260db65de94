"""The state folder of a project: Spark's own files, locks, learned durations and, by default, the tables."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

IGNORED = "# Made by dbt-idivm: git ignores everything in this folder.\n*\n"


def make_state_folder(folder: Path) -> None:
    """Make the folder if it does not exist, with a `.gitignore` that makes git ignore all of it.

    A folder that exists gets no such file: it may be one of the user's with other files in it. Raises OSError if the folder
    cannot be made. It is no error if the file cannot be written.
    """
    try:
        folder.mkdir(parents=True)
    except OSError:  # of a read-only file system, too
        if not folder.is_dir():
            raise
        return
    with suppress(OSError):
        (folder / ".gitignore").write_text(IGNORED, encoding="utf-8")
