"""A feed that is not proven complete is not used: versions are compared, or the view is rebuilt, and the user is told once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.engine import SPARK_DELTA
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import EngineError
from dbt_idivm.refresh.upkeep.examine import Check, examine_input
from tests.unit.fake_engine import FakeEngine, drive, model

MODEL = model("select id, name from main.o where name <> 'x'", {"o": "id"})
FEED_FILE = (1, 2, 1, 0, 0)
COUNTED = {"update_preimage": 1, "update_postimage": 1}
NEW, OLD = (7, "new", 1), (7, "old", -1)


def made(*, reads_logs: bool) -> FakeEngine:
    engine = FakeEngine() if reads_logs else FakeEngine(kind=SPARK_DELTA)
    engine.source("o", id="int", name="string")
    assert engine.drive(MODEL).mode == "create"
    return engine


def update(engine: FakeEngine, shown: dict[str, int], *net: tuple[Any, ...], rows: int | str | None = 1) -> int:
    """An UPDATE whose feed has so many rows of each kind, which net to `net`."""
    table = engine.tables["main.o"]
    table.commit("UPDATE", {} if rows is None else {"numUpdatedRows": rows})  # type: ignore[dict-item]
    version = len(table.commits) - 1
    engine.actions["main.o", version] = FEED_FILE
    counts = tuple((None, None, version, kind, number) for kind, number in shown.items())
    engine.reads["net diff"] = (*counts, *((*row[:-1], None, None, row[-1]) for row in net))
    engine.reads["difference"] = (NEW, OLD)
    return version


def asked(engine: FakeEngine) -> list[str]:
    return [label.partition(" of ")[0] for label in engine.labels("read") if " of main.o from" in label]


@pytest.mark.parametrize("reads_logs", [True, False])
def test_a_feed_that_adds_up_is_read_once(reads_logs: bool) -> None:
    engine = made(reads_logs=reads_logs)
    update(engine, COUNTED, NEW, OLD)
    outcome = engine.drive(MODEL)
    assert outcome.mode == "incremental" and not outcome.warnings and asked(engine) == ["net diff"]
    assert "GROUPING SETS" in next(each.sql for each in engine.log if each.label.startswith("net diff"))


@pytest.mark.parametrize("reads_logs", [True, False])
@pytest.mark.parametrize(
    ("shown", "net", "rows"),
    [
        ({"update_postimage": 1}, [NEW], 1),
        ({"update_postimage": 1}, [NEW], None),
        ({}, [], "1"),
        ({"update_preimage": 2, "update_postimage": 2}, [(7, "new", 2), (7, "old", -2)], 1),
        ({"update_preimage": 1, "update_postimage": 1, "odd": 1}, [NEW, (7, "old", -2)], 1),
        (COUNTED, [NEW, OLD], None),
    ],
)
def test_versions_are_compared(shown: dict[str, int], net: list[Any], rows: int | str | None, reads_logs: bool) -> None:
    engine = made(reads_logs=reads_logs)
    version = update(engine, shown, *net, rows=rows)
    run = Invocation()
    outcome = engine.drive(MODEL, run)
    (warning,) = outcome.warnings
    assert outcome.mode == "incremental" and warning.startswith(f"IDIVM-427 version {version} of main.o (UPDATE by a writer")
    assert asked(engine) == ["net diff", "difference"][rows is None :]  # what nothing counts is not read first
    # the second model of the run reads nothing, and tells nothing
    other = replace(MODEL, name="w", identifier="w", sql="select id from main.o")
    engine.drive(other)
    update(engine, shown, *net, rows=rows)
    first, second = (engine.drive(each, run) for run in [Invocation()] for each in (MODEL, other))
    assert len(first.warnings) == 1 and not second.warnings and not asked(engine)


def test_a_key_that_is_there_twice_is_looked_up_in_the_versions() -> None:
    """A row less and another one twice: each kind has as many rows as are counted."""
    engine = made(reads_logs=False)
    update(engine, {"update_preimage": 2, "update_postimage": 2}, NEW, (8, "b", -2), (8, "c", 1), rows=2)
    outcome = engine.drive(MODEL)
    assert outcome.mode == "incremental" and "rows with the same key" in outcome.warnings[0] and asked(engine)[-1] == "difference"


def test_a_doubt_is_that_of_all_models_of_a_run() -> None:
    """The model with the key finds out that a row is there twice; the other one has no key to find it by."""
    engine = made(reads_logs=False)
    bag = replace(model("select name from main.o"), name="w", identifier="w")
    engine.drive(bag)
    update(engine, {"update_preimage": 2, "update_postimage": 2}, NEW, (8, "b", -2), (8, "c", 1), rows=2)
    run = Invocation()
    first, second = engine.drive(MODEL, run), engine.drive(bag, run)
    assert len(first.warnings) == 1 and not second.warnings and not asked(engine)
    assert [each.inputs["orders"].rows for each in (first, second)] == [2, 2], "not the four of the feed"


def test_a_difference_that_is_none_is_not_looked_for_again() -> None:
    engine = made(reads_logs=True)
    update(engine, {"update_postimage": 1}, NEW)
    engine.reads["difference"] = ()
    assert engine.drive(MODEL).mode == "noop" and asked(engine)
    assert engine.drive(MODEL).mode == "noop" and not asked(engine)


@pytest.mark.parametrize("label", ["difference", "columns of main.o at version"])
def test_a_version_that_cannot_be_read_any_more(label: str) -> None:
    engine = made(reads_logs=True)
    update(engine, {"update_postimage": 1}, NEW)
    engine.fail[label] = EngineError("DELTA_VERSION_NOT_FOUND", "no such version")
    outcome = engine.drive(MODEL)
    assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-427 version 2 of main.o (UPDATE")
    assert not outcome.warnings


def test_a_column_that_had_another_type() -> None:
    engine = made(reads_logs=True)
    update(engine, {"update_postimage": 1}, NEW)
    engine.columns_of["columns of main.o at version"] = {"id": "int", "name": "int"}
    outcome = engine.drive(MODEL)
    assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-427")


def test_a_column_that_came_later_is_null_in_the_old_version() -> None:
    engine = made(reads_logs=True)
    engine.tables["main.o"].columns["more"] = "string"
    update(engine, {"update_postimage": 1}, (7, "new", None, 1))
    engine.reads["difference"] = ((7, "new", None, 1), (7, "old", None, -1))
    engine.columns_of["columns of main.o at version"] = {"id": "int", "name": "string"}
    assert engine.drive(MODEL).mode == "incremental"
    assert "CAST(NULL AS STRING)" in next(each.sql for each in engine.log if each.label.startswith("difference"))


def test_a_large_feed_is_counted_by_itself() -> None:
    engine = made(reads_logs=False)
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "5000"}, parameters={"mode": "Append"})
    engine.reads["rows in the change feed"] = ((2, "insert", 5000),)
    assert not engine.drive(MODEL).warnings and "rows in the change feed of main.o" in engine.labels("read")
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "5000"}, parameters={"mode": "Append"})
    engine.reads["rows in the change feed"] = ((3, "insert", 4999),)
    outcome = engine.drive(MODEL)
    assert "counts 5000 inserted" in outcome.warnings[0]
    assert any("AS OF 2" in each.sql and "AS OF 3" in each.sql for each in engine.log)


def test_what_is_written_anew_is_compared_without_a_word() -> None:
    engine = made(reads_logs=False)
    engine.tables["main.o"].commit("CREATE OR REPLACE TABLE AS SELECT", {"numOutputRows": "5"})
    engine.reads |= {"net diff": ((None, None, 2, "insert", 5),), "difference": (NEW, OLD)}
    outcome = engine.drive(MODEL)
    assert outcome.mode == "incremental" and not outcome.warnings and asked(engine) == ["difference"]


def test_a_commit_that_changes_no_row_by_its_files_alone() -> None:
    engine = made(reads_logs=True)
    engine.tables["main.o"].commit("a new operation")
    assert engine.drive(MODEL).mode == "noop" and not asked(engine)
    engine.tables["main.o"].commit("OPTIMIZE")
    engine.actions["main.o", 3] = (0, 2, 1, -1, 0)  # though it says that it only moves rows, its files change some
    engine.reads["net diff"] = (NEW, OLD)
    assert engine.drive(MODEL).mode == "incremental" and asked(engine) == ["net diff"]


def test_rows_that_a_compaction_loses() -> None:
    engine = made(reads_logs=True)
    engine.tables["main.o"].commit("OPTIMIZE")
    engine.actions["main.o", 2] = (0, 0, 0, 0, -1)
    engine.reads["difference"] = ((7, "old", -1),)
    outcome = engine.drive(MODEL)
    assert outcome.mode == "incremental" and "its files have 1 row less" in outcome.warnings[0]


@pytest.mark.parametrize(("removed", "write"), [(0, "append to main.v"), (1, "merge into main.v")])
def test_a_large_append_whose_files_take_the_place_of_others(removed: int, write: str) -> None:
    """The commit says that it only appends. If it also removes a file, its change feed has deleted rows."""
    engine = made(reads_logs=True)
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "5000"}, parameters={"mode": "Append"})
    engine.actions["main.o", 2] = (0, 1 + removed, removed, 5000, 0)
    assert engine.drive(MODEL).mode == "incremental" and engine.labels("write") == [write]


@pytest.mark.parametrize(("shown", "state"), [(COUNTED, "ok"), ({"update_postimage": 1}, "warning")])
def test_the_doctor_says_it_too(shown: dict[str, int], state: str) -> None:
    engine = made(reads_logs=True)
    update(engine, shown, NEW)
    engine.reads["rows in the change feed"] = tuple((2, kind, number) for kind, number in shown.items())
    check: Check = drive(engine, examine_input(Client(engine.kind), "main.o", "orders", ["id"], None))
    assert check.state == state and ("IDIVM-427" in check.found) is (state == "warning")
