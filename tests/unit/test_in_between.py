"""What others commit between two statements of a refresh, or beside one, is never taken for the refresh's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.catalog import state
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import EngineError, Reply, Statement
from tests.unit.fake_engine import FakeEngine, Table, model
from tests.unit.test_refresh_choose import over_a_cache

MODEL = model("select id, name from main.o", {"o": "id"})
ABOVE = replace(model("select id, name from main.v"), name="w", identifier="w")


def change(engine: FakeEngine, table: str = "o") -> None:
    engine.tables[f"main.{table}"].commit("WRITE", {"numOutputRows": "1"}, parameters={"mode": "Append"})
    engine.reads["net diff of main.o"] = ((7, "seven", 1), (8, "eight", -1))


def test_rows_that_come_before_a_feed_is_switched_on(engine: FakeEngine) -> None:
    mapped = replace(MODEL, config={**MODEL.config, "dbt": {"tblproperties": {"delta.columnMapping.mode": "name"}}})
    set_properties = engine._alter

    def after_others(statement: Statement) -> Reply:
        engine.tables["main.v"].commit("WRITE", {"numOutputRows": "1"}, parameters={"mode": "Append"})
        return set_properties(statement)

    engine._alter = after_others  # type: ignore[method-assign]
    assert engine.drive(mapped).mode == "create"
    engine._alter = set_properties  # type: ignore[method-assign]
    assert (engine.drive(mapped).reason or "").startswith("IDIVM-405")
    assert engine.drive(mapped).mode == "noop"


@pytest.mark.parametrize(("others", "is_looked_up"), [((), False), (("WRITE",), True), (("WRITE", "OPTIMIZE"), True)])
def test_ids_are_looked_up_where_others_wrote_before_a_refresh_did(
    engine: FakeEngine, others: tuple[str, ...], is_looked_up: bool
) -> None:
    """The newest commit has the state of a refresh, which has left what came since it looked at the view."""
    engine.drive(MODEL)
    engine.tables["main.v"].columns = {"id": "int", "name": "string"}
    engine.drive(ABOVE)
    change(engine)
    view = engine.tables["main.v"]

    def first() -> None:
        for each in others:
            view.commit(each, {"numOutputRows": "1"})

    engine.on_write = first
    engine.drive(MODEL)
    engine.on_write = None
    engine.reads["net diff of main.v"] = ((7, "seven", 1),)
    engine.drive(ABOVE)
    assert ("check new keys (id) of main.v" in engine.labels("read")) == is_looked_up


def test_ids_are_trusted_behind_the_compaction_of_a_refresh(engine: FakeEngine) -> None:
    """Delta's own, within the same statement, has the same state."""
    engine.drive(MODEL)
    view = engine.tables["main.v"]
    view.columns = {"id": "int", "name": "string"}
    engine.drive(ABOVE)
    change(engine)
    engine.drive(MODEL)
    view.commit("OPTIMIZE", {}, view.commits[-1][-1])
    engine.reads["net diff of main.v"] = ((7, "seven", 1),)
    engine.drive(ABOVE)
    assert not any(label.startswith("check") for label in engine.labels("read"))


def test_ids_of_a_view_whose_keys_are_not_verified(engine: FakeEngine) -> None:
    unverified = replace(MODEL, config={"idivm": {"strategy": "id", "verify": "none"}})
    engine.drive(unverified)
    engine.tables["main.v"].columns = {"id": "int", "name": "string"}
    engine.drive(ABOVE)
    change(engine)
    engine.drive(unverified)
    engine.reads["net diff of main.v"] = ((7, "seven", 1),)
    engine.drive(ABOVE)
    assert "check new keys (id) of main.v" in engine.labels("read")


def test_a_rebuild_after_a_failure_verifies_keys_that_nobody_has(engine: FakeEngine) -> None:
    unverified = replace(MODEL, config={"idivm": {"strategy": "id", "verify": "none"}})
    engine.drive(unverified)
    change(engine)
    assert engine.drive(unverified).mode == "incremental"
    change(engine)
    engine.fail["merge into"] = EngineError("DIVIDE_BY_ZERO", "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012")
    engine.reads["check key (id) of main.o"] = ((1, 7, 2),)
    with pytest.raises(IdivmError, match="IDIVM-305"):
        engine.drive(unverified)


@pytest.mark.parametrize(
    "successor",
    [Table({"id": "int", "name": "string"}), Table({"id": "int", "name": "string"}, "VIEW", text="select id, name from main.o")],
)
def test_what_has_the_name_of_an_upstream_view_now(engine: FakeEngine, successor: Table) -> None:
    """The table behind the former view is there still, unchanged."""
    engine.drive(replace(MODEL, sql="select name from main.o"))
    assert engine.tables["main.v"].kind == "VIEW"
    engine.tables["main.v"].columns = {"name": "string"}
    engine.tables["main.v__idivm"].columns = {"name": "string", "id": "int"}
    above = replace(ABOVE, sql="select name from main.v")
    engine.drive(above)
    assert engine.drive(above).mode == "noop"
    successor.commit("CREATE TABLE AS SELECT")
    engine.tables["main.v"] = successor
    assert engine.drive(above).mode == "full"


def two_over_a_cache(run: Invocation | None = None, **given: str) -> tuple[FakeEngine, ModelRequest, ModelRequest, str]:
    """A changed model, another one, built by `run`, over the same cache, and that cache."""
    engine, request = over_a_cache()
    cache = f"main.{engine.drive(request).relations[-1][1]}"
    other = replace(request, name="w", identifier="w", **given)
    engine.drive(other, run)
    change(engine)
    engine.reads |= {"net diff of main.p": ((9, 1, 1),), "net diff of": (("x", 9, 1, 1),)}
    return engine, request, other, cache


def before_the_cache_is_read(engine: FakeEngine, cache: str, act: Callable[[], object]) -> None:
    """`act` once, when the cache has been refreshed and its history is asked for."""
    answer, written = engine.answer, len(engine.tables[cache].commits)

    def acting(statement: Statement) -> Reply:
        if statement.label == f"history of {cache}" and len(engine.tables[cache].commits) > written:
            engine.answer = answer  # type: ignore[method-assign]
            log = engine.log
            act()
            engine.log = log
        return answer(statement)

    engine.answer = acting  # type: ignore[method-assign]


@pytest.mark.parametrize("is_compacted", [False, True])
def test_a_cache_that_another_run_refreshes_further_before_the_view_reads_it(is_compacted: bool) -> None:
    """What a view says to be made of is what its cache is made of."""
    engine, request, other, cache = two_over_a_cache()

    def refreshed_further() -> None:
        change(engine)
        engine.drive(other)
        if is_compacted:
            engine.tables[cache].commit("OPTIMIZE")

    before_the_cache_is_read(engine, cache, refreshed_further)
    warning = engine.drive(request).warnings[0]
    assert "reads newer versions of main.o, main.p than the models before it: another run refreshed a cache further" in warning
    of_view = state.read(engine.tables["main.v__idivm"].commits[-1][-1])
    states = [state.read(commit[-1]) for commit in engine.tables[cache].commits]
    of_cache = next(each for each in reversed(states) if each is not None)
    assert of_view is not None and of_view.versions == {**of_cache.versions, cache: len(states) - 1}
    assert engine.drive(request).mode == "noop"


def test_a_cache_that_an_older_run_rebuilds_before_the_view_reads_it() -> None:
    """The rows of the cache are of older versions than this run has pinned: the view does not say that they are newer."""
    older = Invocation()
    engine, request, other, cache = two_over_a_cache(older, run_id="older")
    before_the_cache_is_read(engine, cache, lambda: engine.drive(replace(other, full_refresh=True), older))
    assert engine.drive(request).mode == "incremental"
    of_view, of_cache = (state.read(engine.tables[name].commits[-1][-1]) for name in ("main.v__idivm", cache))
    assert of_view is not None and of_cache is not None
    assert of_view.versions == {**of_cache.versions, cache: len(engine.tables[cache].commits) - 1}


@pytest.mark.parametrize("config", [{}, {"output": "diffs"}])
def test_a_view_that_others_give_another_query(engine: FakeEngine, config: dict[str, str]) -> None:
    """ALTER VIEW leaves our properties: the refresh shows the rows again."""
    hidden = replace(model("select name from main.o", {"o": "id"}, **config))
    engine.drive(hidden)
    view = engine.tables["main.v"]
    created = next(statement.sql for statement in engine.log if statement.label == "create view main.v")
    view.text = "-- a comment of dbt\n" + re.split(r"\bAS\s+(?=select)", created, maxsplit=1, flags=re.IGNORECASE)[1]
    assert engine.drive(hidden).mode == "noop" and not engine.labels("write")
    assert "create view main.v" not in engine.labels("metadata")
    view.text = "select upper(name) as name from main.v__idivm"
    engine.drive(hidden)
    assert "create view main.v" in engine.labels("metadata")
