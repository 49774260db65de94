"""State in a commit's metadata, the history it is read from, and what the history of an input shows."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from typing import Any

import pytest

from dbt_idivm.errors import finding
from dbt_idivm.refresh.catalog import history, state
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.note import Note
from dbt_idivm.refresh.catalog.relations import described
from dbt_idivm.refresh.catalog.state import Consumed, State
from dbt_idivm.refresh.engine.engine import SPARK_DELTA
from dbt_idivm.refresh.protocol import Rows

STATE = State(
    {"main.o": Consumed("main.o__idivm", 7, "2026-01-01T00:00:00.000001")},
    {"sql": "ab", "keys": ""},
    "req",
    {"main.v": "cd"},
    "run-1",
)


def test_state_travels_in_one_line_of_ascii() -> None:
    odd = State({"main.`ö`": Consumed("main.ö", 1, "x")}, {}, run="it's; \n`${x}`")
    assert odd.json().isascii() and "\n" not in odd.json()
    assert state.read(odd.json()) == odd
    assert state.read(STATE.json() + " /* a query comment that dbt appends */") == STATE


NOTE = Note("IDIVM-411 it's; ${cheaper} `so` -- /* than */ --", 1.25)


def test_a_note_travels_behind_the_state() -> None:
    """Who reads the state alone stops before it, and nothing is decided by it."""
    noted = replace(STATE, note=NOTE)
    assert noted.json().startswith(STATE.json() + " {") and noted.json().isascii()
    assert not any(each in noted.json() for each in ("$", "'", ";", "`", "--", "/*"))
    for text in (noted.json(), noted.json() + " /* a query comment that dbt appends */"):
        found = state.read(text)
        assert found == STATE == noted and found is not None and found.note == NOTE
    assert json.JSONDecoder().raw_decode(noted.json())[0] == json.loads(STATE.json())


@pytest.mark.parametrize(
    "text",
    [
        "/* {} */",
        "{",
        "[" * 100_000,
        "[1]",
        '{"reason": 1, "estimate": "2"}',
        '{"estimate": NaN}',
        '{"estimate": -1}',
        '{"estimate": true}',
        '{"estimate": 1e999}',
        f'{{"estimate": 1{"0" * 400}}}',
    ],
)
def test_what_is_no_note_says_nothing(text: str) -> None:
    found = state.read(f"{STATE.json()} {text}")
    assert found == STATE and found is not None and found.note == Note()


def test_a_note_is_short_and_quotes_no_rows() -> None:
    failed = Note(estimate=2).because(finding(417, message="the value 'secret' cannot be cast"))
    assert failed == Note("IDIVM-417 the refresh failed on values that the query itself may not evaluate: …", 2)
    long = Note().because(finding(408, reason="x " * 1000, codes="")).reason
    assert len(long) == 200 and long.startswith("IDIVM-408 no incremental rules: x x") and long.endswith("…")
    assert state.read(replace(STATE, note=Note("y\n" * 1000)).json()).note.reason == ("y " * 100)[:199] + "…"  # type: ignore[union-attr]
    assert NOTE.because(None) == Note("", 1.25) and Note().said == {}


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "a user's own note",
        "[" * 100_000,
        "{}",
        "[1]",
        '{"idivm": 1}',
        '{"idivm": 99, "inputs": {}, "plan": {}}',
        '{"idivm": 1, "inputs": {}, "plan": {}, "later": 1}',
    ],
)
def test_what_is_not_our_state(text: str | None) -> None:
    assert state.read(text) is None


def test_settings_are_quoted() -> None:
    assert SPARK_DELTA.commands.set_option("k", "a`b;c").sql == "SET `k`=`a``b;c`"


def test_properties_are_hex() -> None:
    text = state.encode({"sql": "select url, secret from t where s = 'é'"})
    assert set(text) <= set("0123456789abcdef")
    assert state.decode(text) == {"sql": "select url, secret from t where s = 'é'"}


COMMITS = SPARK_DELTA.commits


def commit(operation: str, metrics: dict[str, Any] | None = None, **parameters: Any) -> Commit:
    columns = ("version", "timestamp", "operation", "operationParameters", "operationMetrics", "userMetadata")
    (made,) = history.commits(Rows(columns, ((3, "t", operation, parameters, metrics, None),)), COMMITS)
    return made


@pytest.mark.parametrize(
    "made, rows",
    [
        (commit("WRITE", {"numOutputRows": "12"}, mode="Append"), 12),
        (commit("WRITE", {"numOutputRows": "12"}, mode="Overwrite"), None),
        # nothing written, and yet rows may be gone
        (commit("WRITE", {"numOutputRows": "0"}, mode="Append"), 0),
        (commit("WRITE", {"numOutputRows": "0"}, mode="Overwrite"), None),
        (commit("WRITE", {"numOutputRows": "0"}, mode="Overwrite", predicate='["(g#1 = 1)"]'), None),
        (commit("WRITE", {"numOutputRows": "0"}, mode="A mode of the future"), None),
        (commit("WRITE", {"numOutputRows": "0"}), None),
        (commit("STREAMING UPDATE", {"numOutputRows": "0", "numRemovedFiles": "1"}, outputMode="Complete"), None),
        (commit("STREAMING UPDATE", {"numOutputRows": "0"}, outputMode="Complete"), None),
        (commit("STREAMING UPDATE", {"numOutputRows": "0"}), None),
        (commit("STREAMING UPDATE", {"numOutputRows": "0", "numRemovedFiles": "0"}, outputMode="Append"), 0),
        (commit("STREAMING UPDATE", {"numOutputRows": "3"}, outputMode="Append"), 3),
        (commit("STREAMING UPDATE", {"numOutputRows": "3"}, outputMode="Complete"), None),
        (commit("DELETE", {"numDeletedRows": "0", "numRemovedFiles": "2"}), None),
        (commit("DELETE", {"numDeletedRows": "0", "numRemovedFiles": "0"}), 0),
        (commit("UPDATE", {"numUpdatedRows": "0", "numRemovedFiles": "0"}), 0),
        (commit("MERGE", {"numTargetRowsInserted": "0", "numTargetRowsUpdated": "0", "numTargetRowsDeleted": "0"}), 0),
        (commit("MERGE", {"numTargetRowsInserted": "0", "numTargetRowsUpdated": "0"}), None),
        (
            commit(
                "MERGE",
                {
                    "numTargetRowsInserted": "0",
                    "numTargetRowsUpdated": "0",
                    "numTargetRowsDeleted": "0",
                    "numTargetFilesRemoved": "1",
                },
            ),
            None,
        ),
        (commit("TRUNCATE"), None),
        (commit("CLONE"), None),
        (commit("REPLACE TABLE"), None),
        (commit("UPDATE", {"numUpdatedRows": "3"}), 6),
        (commit("DELETE", {"numDeletedRows": "3"}), 3),
        (commit("DELETE", {}), None),
        (commit("MERGE", {"numTargetRowsInserted": "1", "numTargetRowsUpdated": "2", "numTargetRowsDeleted": "4"}), 9),
        (commit("OPTIMIZE", {"numAddedFiles": "3"}), 0),
        (commit("SET TBLPROPERTIES"), 0),
        (commit("ADD COLUMNS"), 0),
        (commit("CREATE OR REPLACE TABLE AS SELECT", {"numOutputRows": "5"}), None),
        (commit("RESTORE"), None),
        (commit("AN OPERATION OF THE FUTURE", {"numOutputRows": "0"}), None),
    ],
)
def test_feed_rows_are_estimated_from_metrics(made: Commit, rows: int | None) -> None:
    assert made.feed_rows == rows


@pytest.mark.parametrize(
    ("made", "only_adds"),
    [
        (commit("WRITE", {"numOutputRows": "3"}, mode="Append"), True),
        (commit("STREAMING UPDATE", {"numOutputRows": "3"}, outputMode="Append"), True),
        (commit("OPTIMIZE", {"numRemovedFiles": "3"}), True),
        (commit("MERGE", {"numTargetRowsInserted": "3", "numTargetRowsUpdated": "0", "numTargetRowsDeleted": "0"}), True),
        (commit("DELETE", {"numDeletedRows": "0", "numRemovedFiles": "0"}), True),
        (commit("WRITE", {"numOutputRows": "3"}), False),
        (commit("WRITE", {"numOutputRows": "3"}, mode="Overwrite"), False),
        (commit("WRITE", {"numOutputRows": "3", "numRemovedFiles": "1"}, mode="Append"), False),
        (commit("STREAMING UPDATE", {"numOutputRows": "3"}, outputMode="Complete"), False),
        (commit("MERGE", {"numTargetRowsInserted": "3", "numTargetRowsUpdated": "1", "numTargetRowsDeleted": "0"}), False),
        (commit("MERGE", {"numTargetRowsInserted": "3"}), False),
        (
            commit(
                "MERGE",
                {
                    "numTargetRowsInserted": "3",
                    "numTargetRowsUpdated": "0",
                    "numTargetRowsDeleted": "0",
                    "numTargetFilesRemoved": "1",
                },
            ),
            False,
        ),
        (commit("DELETE", {"numDeletedRows": "1"}), False),
        (commit("CREATE TABLE AS SELECT", {"numOutputRows": "3"}), False),
        (commit("CREATE OR REPLACE TABLE AS SELECT", {"numOutputRows": "5"}), False),
        (commit("RESTORE"), False),
        (commit("AN OPERATION OF THE FUTURE", {"numOutputRows": "3"}), False),
    ],
)
def test_only_adds(made: Commit, only_adds: bool) -> None:
    assert made.only_adds is only_adds


def test_history_rows() -> None:
    columns = ("version", "timestamp", "operation", "operationParameters", "operationMetrics", "userMetadata")
    at = dt.datetime(2026, 1, 1, 12, 0, 0, 250000)
    found = history.commits(
        Rows(
            columns,
            ((1, at, "WRITE", {"mode": "Append"}, {"numOutputRows": "1"}, None), (2, "2026", "UPDATE", None, None, "note")),
        ),
        COMMITS,
    )
    assert [c.version for c in found] == [2, 1], "newest first"
    assert found[0].metrics == {} and found[1].metrics == {"numOutputRows": "1"}
    assert found[1].at == "2026-01-01T12:00:00.250000"


@pytest.mark.parametrize(
    "parameters, overwrites",
    [
        ({"mode": "Overwrite"}, True),
        ({"mode": '"Overwrite"'}, True),
        ({"mode": "Append"}, False),
        ({}, False),
        (None, False),
        # a map through Thrift: text, whose quotes within values are not escaped
        ('{"mode":"Overwrite","partitionBy":"[]"}', True),
        ('{"mode":""Overwrite""}', True),
        ('{"mode":"Append"}', False),
        ('{"predicate":"["(id#1 = 4)"]"}', False),
    ],
)
def test_overwriting_is_seen_on_every_connection(parameters: object, overwrites: bool) -> None:
    columns = ("version", "timestamp", "operation", "operationParameters", "operationMetrics", "userMetadata")
    (found,) = history.commits(Rows(columns, ((1, "t", "WRITE", parameters, '{"numOutputRows":"12"}', None),)), COMMITS)
    assert found.feed_rows == (None if overwrites else 12)


@pytest.mark.parametrize(
    "parameters, rows",
    [
        ('{"outputMode":"Complete","queryId":"1","epochId":"0"}', None),
        ('{"outputMode":""Append"","queryId":"1"}', 0),
        ('{"queryId":"1"}', None),
        ('{"queryId":""outputMode":"Append"","outputMode":"Complete"}', None),
    ],
)
def test_a_stream_that_wrote_nothing_may_have_removed_rows(parameters: str, rows: int | None) -> None:
    columns = ("version", "timestamp", "operation", "operationParameters", "operationMetrics", "userMetadata")
    (found,) = history.commits(Rows(columns, ((1, "t", "STREAMING UPDATE", parameters, '{"numOutputRows":"0"}', None),)), COMMITS)
    assert found.feed_rows == rows


def test_described_table() -> None:
    rows = Rows(
        ("col_name", "data_type", "comment"),
        (
            ("id", "int", None),
            ("Mixed", "struct<a:int>", None),
            ("# Partitioning", "", ""),
            ("Part 0", "id", ""),
            ("", "", ""),
            ("# Detailed Table Information", "", ""),
            ("Type", "MANAGED", ""),
            ("Provider", "delta", ""),
            ("Table Properties", f"[delta.enableChangeDataFeed=true,idivm.ids={state.encode(['id'])},other=a,b]", ""),
        ),
    )
    found = described(rows, SPARK_DELTA)
    assert [c.name for c in found.columns] == ["id", "Mixed"]
    assert found.is_delta and found.has_feed and found.properties == {"idivm.ids": ["id"]}
    assert found.maintained is None


def test_described_view_with_several_properties() -> None:
    """Those of a view have a space between them."""
    ours = f"[idivm.owner={state.encode('model.shop.v')}, idivm.view={state.encode('main.v__idivm')}]"
    found = described(
        Rows(
            ("col_name", "data_type", "comment"),
            (
                ("id", "int", None),
                ("", "", ""),
                ("# Detailed Table Information", "", ""),
                ("Type", "VIEW", ""),
                ("Table Properties", ours, ""),
            ),
        ),
        SPARK_DELTA,
    )
    assert found.maintained == "main.v__idivm" and found.properties["idivm.owner"] == "model.shop.v"
