"""Which commits' feeds are proven complete by what the log and the feed say: ADR 0051's table."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dbt_idivm.refresh.catalog.file_actions import FileActions
from dbt_idivm.refresh.catalog.history import Commit, Images
from dbt_idivm.refresh.changes import feed_proof
from dbt_idivm.refresh.changes.feed_proof import doubt, is_counted
from dbt_idivm.refresh.engine.commits import metrics

NONE = Images()
APPEND, OVERWRITE = frozenset({"Append"}), frozenset({"Overwrite"})


def commit(operation: str, counted: dict[str, Any] | None = None, modes: frozenset[str] = frozenset()) -> Commit:
    return Commit(7, "now", operation, modes, metrics(counted or {}), None, writer="a writer")


def why(made: Commit, actions: FileActions | None, shown: Images = NONE) -> str:
    found = doubt([made], {} if actions is None else {7: actions}, {7: shown})
    return found.why if found is not None else ""


def files(*, feed: int = 1, data: int = 2, removed: int = 1, rows: int | None = None, rearranged: int | None = 0) -> FileActions:
    return FileActions(feed, data, removed, rows, rearranged)


TWO = {"numUpdatedRows": "2"}
MERGED = {"numTargetRowsInserted": 1, "numTargetRowsDeleted": 2, "numTargetRowsUpdated": 3}
RS = {"num_target_rows_inserted": 1, "num_target_rows_deleted": 2, "num_target_rows_updated": 3}
NO_ROW = dict.fromkeys(MERGED, "0")
PARTIAL = {"numOutputRows": 5, "numCopiedRows": 1, "numDeletedRows": 3}


COMPLETE: list[tuple[Commit, FileActions | None, Images]] = [
    # inferred from files: whatever the metrics say
    (commit("UPDATE", TWO), files(feed=0), Images()),
    (commit("a new operation"), files(feed=0), Images()),
    (commit(""), files(feed=0), Images()),
    (commit("RESTORE"), files(feed=0), Images(4, 5)),
    (commit("OPTIMIZE"), files(feed=0, data=0), Images()),
    (commit("OPTIMIZE"), files(feed=0, data=0, rearranged=None), Images()),  # nobody says how many rows the files have
    (commit("MERGE", {**MERGED, "numTargetRowsDeleted": 0}), files(feed=0), Images()),
    (commit("MERGE"), files(feed=0), Images()),
    (commit("MERGE", {**NO_ROW, "numOutputRows": "2", "numTargetRowsCopied": "2"}), files(feed=0, rows=0), Images()),
    (commit("MERGE", {**NO_ROW, "numOutputRows": "2", "numTargetRowsCopied": "2"}), None, Images()),
    (commit("MERGE", {**NO_ROW, "numTargetFilesAdded": "0", "numTargetFilesRemoved": "0"}), None, Images()),
    # counted
    (commit("UPDATE", TWO), files(), Images(before=2, after=2)),
    (commit("UPDATE", TWO), files(rows=0), Images(before=2, after=2)),
    (commit("UPDATE", TWO), None, Images(before=2, after=2)),
    (commit("UPDATE", {"num_updated_rows": 2}), None, Images(before=2, after=2)),
    (commit("DELETE", {"num_deleted_rows": 2}), None, Images(deleted=2)),
    (commit("MERGE", MERGED), None, Images(1, 2, 3, 3)),
    (commit("MERGE", RS), files(rows=-1), Images(1, 2, 3, 3)),
    (commit("WRITE", {"numOutputRows": "4"}, APPEND), None, Images(inserted=4)),
    (commit("WRITE", {"num_added_rows": 4}, APPEND), None, Images(inserted=4)),
    (commit("COPY INTO", {"numOutputRows": "4"}, APPEND), None, Images(inserted=4)),
    (commit("WRITE", PARTIAL, OVERWRITE), None, Images(4, 3)),
    (commit("WRITE", {"num_added_rows": 1}, OVERWRITE), files(rows=-2), Images(1, 3)),  # what was deleted follows from both
    (commit("OPTIMIZE"), None, Images()),
    (commit("ADD COLUMNS"), None, Images()),
]
UNPROVEN: list[tuple[Commit, FileActions | None, Images, str]] = [
    (commit("UPDATE", TWO), files(), Images(after=2), "has 0 rows from before updates in its change feed, and 2 from after them"),
    (commit("UPDATE"), files(), Images(before=2), "has 2 rows from before updates in its change feed, and 0 from after them"),
    (commit("UPDATE", TWO), files(), Images(), "counts 0 inserted, 0 deleted and 2 updated rows, and its change feed has 0"),
    (commit("UPDATE", TWO), None, Images(before=4, after=4), "and its change feed has 0 inserted, 0 deleted and 4 updated rows"),
    (commit("UPDATE", TWO), None, Images(before=2, after=2, other=1), "has 1 rows of an unknown kind"),
    (commit("UPDATE"), files(), Images(before=2, after=2), "does not count the rows that it changed"),
    (commit("UPDATE", {"numUpdatedRows": "-1"}), files(), Images(before=2, after=2), "does not count the rows that it changed"),
    (commit("UPDATE", {"numUpdatedRows": "two"}), files(), Images(before=2, after=2), "does not count the rows that it changed"),
    (commit("DELETE", {"numDeletedRows": "2"}), None, Images(deleted=1), "counts 0 inserted, 2 deleted"),
    # a writer that counts what it has put into the feed
    (
        commit("MERGE", {**MERGED, "numTargetRowsInserted": 0}),
        files(rows=-1),
        Images(0, 2, 3, 3),
        "changed the number of rows by -1, and by -2 in its change feed",
    ),
    (commit("MERGE", MERGED), files(rows=-1), Images(2, 2, 3, 3), "changed the number of rows by -1, and by +0"),
    (commit("MERGE", {"numTargetRowsInserted": 1}), None, Images(inserted=1), "does not count the rows that it changed"),
    (commit("WRITE", {"numOutputRows": "4"}, APPEND), None, Images(inserted=3), "counts 4 inserted"),
    (commit("WRITE", {"numOutputRows": "4"}), None, Images(inserted=4), "does not count the rows that it changed"),  # no mode
    (commit("WRITE", {"numOutputRows": "4"}, APPEND | OVERWRITE), None, Images(inserted=4), "does not count"),
    (commit("WRITE", {"num_added_rows": 1}, OVERWRITE), None, Images(1, 3), "does not count the rows that it changed"),
    (commit("WRITE", {"num_added_rows": 1}, OVERWRITE), files(rows=-2), Images(0, 2), "counts 1 inserted, 3 deleted"),
    (commit("WRITE", PARTIAL, OVERWRITE), None, Images(5, 3), "counts 4 inserted, 3 deleted"),
    (commit("RESTORE"), None, Images(1, 1), "does not count the rows that it changed"),
    (commit("TRUNCATE"), None, Images(deleted=3), "does not count the rows that it changed"),
    (commit("a new operation"), files(), Images(inserted=1), "does not count the rows that it changed"),
    (commit(""), None, Images(inserted=1), "does not count the rows that it changed"),
    # rows that change behind a commit that says it changes none
    (
        commit("OPTIMIZE"),
        files(feed=0, data=0, rearranged=-2),
        Images(),
        "says that it changes no row, and its files have 2 rows less",
    ),
    (commit("OPTIMIZE"), None, Images(inserted=1), "counts 0 inserted, 0 deleted and 0 updated rows"),
    # of which Spark's reader shows nothing, whatever the files say
    (commit("MERGE", NO_ROW), files(feed=0, rows=1), Images(), "changed the number of rows by +1, and by +0"),
    (commit("MERGE", NO_ROW), files(feed=0, rows=0), Images(), "does not count the rows that it changed"),
    (
        commit("MERGE", {**NO_ROW, "numOutputRows": "2", "numTargetRowsCopied": "1"}),
        files(feed=0, rows=0),
        Images(),
        "does not count the rows that it changed",
    ),
    (
        commit("MERGE", {**NO_ROW, "numOutputRows": "2", "numTargetRowsCopied": "0", "numTargetFilesAdded": "1"}),
        None,
        Images(),
        "does not count the rows that it changed",
    ),
    (
        commit("MERGE", {**NO_ROW, "numOutputRows": "2", "numTargetRowsCopied": "2"}),
        files(feed=0),
        Images(inserted=1),
        "counts 0 inserted",
    ),
]


@pytest.mark.parametrize(("made", "actions", "shown"), COMPLETE)
def test_a_feed_that_is_complete(made: Commit, actions: FileActions | None, shown: Images) -> None:
    assert why(made, actions, shown) == ""


@pytest.mark.parametrize(("made", "actions", "shown", "said"), UNPROVEN)
def test_a_feed_that_is_not_proven(made: Commit, actions: FileActions | None, shown: Images, said: str) -> None:
    assert said in why(made, actions, shown)


# Each check as it is written → as if it were not there.
CHECKS = {
    "if actions is None or actions.feed_files:": "if actions is None:",
    "return not (commit.counts_no_row_of_merge and actions.data_files)": "return True",
    "if actions is not None and actions.rearranged_rows:": "if False:",
    "if shown.other:": "if False:",
    "if shown.before != shown.after:": "if False:",
    "if change is not None and grown != change:": "if False:",
    "change = actions.rows if actions is not None else None": "change = None",
    "        return _UNCOUNTED\n": '        return ""\n',
    'return "" if counted == shown else': 'return "" if True else',
}


@pytest.mark.parametrize("check", CHECKS)
def test_each_check_is_needed(check: str) -> None:
    text = Path(feed_proof.__file__).read_text(encoding="utf-8")
    assert text.count(check) == 1
    without = ModuleType(feed_proof.__name__)
    sys.modules[without.__name__], kept = without, sys.modules[without.__name__]
    try:
        exec(compile(text.replace(check, CHECKS[check]), "feed_proof.py", "exec"), without.__dict__)
    finally:
        sys.modules[without.__name__] = kept

    def said(made: Commit, actions: FileActions | None, shown: Images) -> str:
        found = without.doubt([made], {} if actions is None else {7: actions}, {7: shown})
        return found.why if found is not None else ""

    assert any(said(*case) for case in COMPLETE) or any(
        expected not in said(made, actions, shown) for made, actions, shown, expected in UNPROVEN
    )


def test_rows_are_counted_only_where_a_feed_is_not_inferred() -> None:
    commits = [commit("UPDATE", TWO)]
    assert is_counted(commits, {}) and is_counted(commits, {7: files()}) and not is_counted(commits, {7: files(feed=0)})


def test_the_first_commit_in_doubt_is_named() -> None:
    first, second = commit("UPDATE", TWO), Commit(5, "before", "DELETE", frozenset(), {}, None)
    found = doubt([first, second], {}, {})
    assert found is not None and found.commit is second
