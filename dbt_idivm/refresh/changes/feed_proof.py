"""Prove that the change data feed of a commit is complete, from the log and the feed itself (ADR 0051). Pure functions.

A feed that readers infer from added and removed files is complete by definition. A feed that the writer has stored beside them is
only evidence: it has to have as many rows of each kind as the commit counts, and has to explain by how many rows the table grew.
A feed without such counts proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dbt_idivm.refresh.catalog.file_actions import FileActions
from dbt_idivm.refresh.catalog.history import Commit, Images

_UNCOUNTED = "does not count the rows that it changed"


@dataclass(frozen=True)
class Doubt:
    """Why the feed of a commit is not used: the end of a sentence that begins with the commit. `is_usual`: not an error; the
    table was rewritten and has no log that proves the feed, which contains both versions anyway."""

    commit: Commit
    why: str
    is_usual: bool = False


def is_inferred(commit: Commit, actions: FileActions | None) -> bool:
    """Whether readers certainly infer the feed of the commit from its files.

    For a MERGE that counts no row, Spark's reader shows nothing, whatever its files are.
    """
    if actions is None or actions.feed_files:
        return False
    return not (commit.counts_no_row_of_merge and actions.data_files)


def is_counted(commits: Iterable[Commit], actions: Mapping[int, FileActions]) -> bool:
    """Whether `doubt` needs the numbers of rows in the feed."""
    return not all(is_inferred(commit, actions.get(commit.version)) for commit in commits)


def doubt(
    commits: Iterable[Commit], actions: Mapping[int, FileActions], shown: Mapping[int, Images] | None = None
) -> Doubt | None:
    """The first commit whose feed is not certainly complete, and why; None if there is none.

    `actions`: version → file actions, where known. `shown`: version → numbers of rows in its feed, for versions that have any;
    needed where `is_counted`. Without `shown`, only commits whose feed is doubtful for any number of rows are found.
    """
    for commit in sorted(commits, key=lambda each: each.version):
        rows = None if shown is None else shown.get(commit.version, Images())
        why = _why_not(commit, actions.get(commit.version), rows)
        if why:
            return Doubt(commit, why, why == _UNCOUNTED and commit.is_anew and commit.version not in actions)
    return None


def _why_not(commit: Commit, actions: FileActions | None, shown: Images | None) -> str:
    if actions is not None and actions.rearranged_rows:
        return f"says that it changes no row, and its files have {_more_or_less(actions.rearranged_rows)}"
    if is_inferred(commit, actions):
        return ""
    change = actions.rows if actions is not None else None
    counted = commit.images(change)
    if shown is None:
        return _UNCOUNTED if counted is None else ""
    if shown.other:
        return f"has {shown.other} rows of an unknown kind in its change feed"
    if shown.before != shown.after:
        return f"has {shown.before} rows from before updates in its change feed, and {shown.after} from after them"
    grown = shown.inserted - shown.deleted
    if change is not None and grown != change:
        return f"changed the number of rows by {change:+d}, and by {grown:+d} in its change feed"
    if counted is None:
        return _UNCOUNTED
    return "" if counted == shown else f"counts {_in_words(counted)}, and its change feed has {_in_words(shown)}"


def _in_words(images: Images) -> str:
    return f"{images.inserted} inserted, {images.deleted} deleted and {images.after} updated rows"


def _more_or_less(rows: int) -> str:
    return f"{abs(rows)} row{'s' if abs(rows) != 1 else ''} {'more' if rows > 0 else 'less'}"
