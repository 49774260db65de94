"""When the tables that refreshes write are compacted, and that it fails no refresh."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.protocol import EngineError
from tests.unit.fake_engine import FakeEngine, model

SQL = "select id, name from main.o"


def upkeep(engine: FakeEngine, request: ModelRequest, refreshes: int) -> list[list[str]]:
    """What was done to tables by each of so many refreshes, besides writing to them."""
    engine.drive(request)
    found = []
    for _ in range(refreshes):
        engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
        engine.reads["net diff"] = ((7, "seven", 1),)
        assert engine.drive(request).mode == "incremental"
        found.append([each.label for each in engine.log if each.label.startswith(("optimize", "vacuum"))])
    return found


def test_a_table_is_compacted_after_so_many_refreshes(engine: FakeEngine) -> None:
    found = upkeep(engine, model(SQL, {"o": "id"}, optimize_every=5), 12)
    assert [number for number, done in enumerate(found, start=1) if done] == [5, 10]
    assert found[4] == ["optimize main.v"]
    assert engine.drive(model(SQL, {"o": "id"}, optimize_every=5)).mode == "noop", "what it commits is no foreign write"


def test_files_are_removed_if_the_user_wants_it(engine: FakeEngine) -> None:
    found = upkeep(engine, model(SQL, {"o": "id"}, optimize_every=2, vacuum=True), 3)
    assert found == [[], ["optimize main.v", "vacuum main.v"], []]


@pytest.mark.parametrize("every", [0, None])
def test_never_and_by_default_after_a_hundred(engine: FakeEngine, every: int | None) -> None:
    found = upkeep(engine, model(SQL, {"o": "id"}, optimize_every=every), 101)
    assert [number for number, done in enumerate(found, start=1) if done] == ([] if every == 0 else [100])


def test_a_rebuild_begins_anew(engine: FakeEngine) -> None:
    request = model(SQL, {"o": "id"}, optimize_every=3)
    assert upkeep(engine, request, 2) == [[], []]
    assert engine.drive(replace(request, full_refresh=True)).mode == "full"
    assert upkeep(engine, request, 3) == [[], [], ["optimize main.v"]]


def test_a_table_that_cannot_be_compacted_is_refreshed_nevertheless(engine: FakeEngine) -> None:
    engine.fail["optimize"] = EngineError("DELTA_CONCURRENT_DELETE_READ", "somebody else was faster")
    request = model(SQL, {"o": "id"}, optimize_every=1)
    engine.drive(request)
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ((7, "seven", 1),)
    outcome = engine.drive(request)
    assert outcome.mode == "incremental"
    assert outcome.warnings == ("main.v was refreshed, and could not be compacted: somebody else was faster",)


def test_the_log_of_changes_is_compacted_too(engine: FakeEngine) -> None:
    request = model(SQL, {"o": "id"}, optimize_every=1, output="both")
    engine.columns_of["columns"] = {"id": "int", "name": "string"}
    engine.drive(request)
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ((7, "seven", 1),)
    engine.drive(request)
    assert [each.label for each in engine.log if each.label.startswith("optimize")] == [
        "optimize main.v",
        "optimize main.v__idivm_changes",
    ]
