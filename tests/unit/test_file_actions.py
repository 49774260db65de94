"""What the actions of commits say of files: how many rows a commit changed the table by, if each file says how many it has."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dbt.adapters.idivm.table_log import actions_of


def add(path: str, rows: int | None, marked: int = 0, *, data: bool = True) -> dict[str, Any]:
    vector = {"deletionVector": {"cardinality": marked}} if marked else {}
    stats = None if rows is None else json.dumps({"numRecords": rows})
    return {"add": {"path": path, "dataChange": data, "stats": stats, **vector}}


def remove(path: str, rows: int | None = None, marked: int = 0, *, data: bool = True) -> dict[str, Any]:
    return {"remove": add(path, rows, marked, data=data)["add"]}


INFO, FEED = {"commitInfo": {"operation": "\u2028"}}, {"cdc": {"path": "f"}}


# Feed files, data files, files removed, rows, rows of files that are only rearranged.
@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ([INFO], (0, 0, 0, 0, None)),
        ([INFO, add("a", 3), add("b", 2)], (0, 2, 0, 5, None)),
        ([INFO, add("a", 3), add("b", None)], (0, 2, 0, None, None)),
        ([INFO, remove("a", 3), add("b", 2), FEED], (1, 2, 1, -1, None)),
        ([INFO, remove("a"), add("b", 2), FEED, FEED], (2, 2, 1, None, None)),
        # a deletion vector: one row is marked, then another one
        ([INFO, remove("a", 3), add("a", 3, 1)], (0, 2, 1, -1, None)),
        ([INFO, remove("a", 3, 1), add("a", 3, 2), add("c", 1)], (0, 3, 1, 0, None)),
        ([INFO, remove("a", marked=1), add("a", 3, 2)], (0, 2, 1, -1, None)),  # the same file says how many it has
        # files that are written together
        ([INFO, remove("a", 3, data=False), remove("b", 2, data=False), add("c", 5, data=False)], (0, 0, 0, 0, 0)),
        ([INFO, remove("a", 3, data=False), add("c", 2, data=False)], (0, 0, 0, 0, -1)),
        ([INFO, remove("a", data=False), add("c", 2, data=False)], (0, 0, 0, 0, None)),
        ([INFO, add("a", 3, data=False), add("b", 2, data=False)], (0, 0, 0, 0, None)),  # they replace themselves
        ([INFO, {"add": None}, {"remove": None}, {"cdc": None}, {"somethingNew": {}}], (0, 0, 0, 0, None)),
        ([INFO, {"add": {"path": "a", "dataChange": True, "stats": "null"}}], (0, 1, 0, None, None)),
    ],
)
def test_the_actions_of_a_commit(actions: list[dict[str, Any]], said: tuple[Any, ...]) -> None:
    text = "\n".join(json.dumps(each, ensure_ascii=False) for each in actions) + "\n"
    assert actions_of(7, text, {}) == (7, *said)


def test_a_file_that_an_earlier_commit_added() -> None:
    known: dict[str, int] = {}
    assert actions_of(7, json.dumps(add("a", 3)), known)[4] == 3
    assert actions_of(8, "\n".join(map(json.dumps, (remove("a"), add("b", 2)))), known)[4] == -1


def test_what_is_no_action() -> None:
    with pytest.raises(ValueError):
        actions_of(7, '{"add": {"path": \n', {})
