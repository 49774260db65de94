"""What else happens where keys change: the reason that is said, caches that need a key which nobody declared, and the cost of
verifying such keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dbt_idivm.cost.choice import REBUILD
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.forecast import forecast
from dbt_idivm.refresh.protocol import Outcome
from tests.unit.fake_engine import FakeEngine, drive, model

SQL = "select name from main.o"
LOOKED = "look for keys of main.o"
BROKEN = ((0,),)
CACHED = "with t as (select o.name, c.name as cn from main.o join main.c on c.id = o.id) select name, cn, count(*) as n from t group by name, cn"
TWICE = ((7, "seven", 1), (7, "again", 1))


@pytest.fixture
def engine() -> FakeEngine:
    fake = FakeEngine()
    fake.source("o", id="int", name="string", other="array<int>")
    fake.source("c", id="int", name="string")
    return fake


def auto(unique: dict[str, str] | None = None, **config: Any) -> ModelRequest:
    return model(SQL, unique, keys="auto", **config)


@pytest.mark.parametrize(
    ("before", "after", "keys"),
    [
        (auto(), model(SQL), "orders: (id), now none"),
        (auto(), auto(verify="sample"), "orders: (id), now none"),
        (auto(), auto({"o": "name"}), "orders: (id), now (name)"),
        (model(SQL), model(SQL, {"o": "id"}), "orders: none, now (id)"),
        (model(SQL, {"o": "id"}), model(SQL, {"o": "name"}), "orders: (id), now (name)"),
    ],
)
def test_other_keys_are_the_reason(engine: FakeEngine, before: ModelRequest, after: ModelRequest, keys: str) -> None:
    """Although the view then reads other columns."""
    engine.drive(before)
    outcome = engine.drive(after)
    expected = f"IDIVM-402 the model's definition changed: the view was built from other keys ({keys})"
    assert (outcome.mode, outcome.reason) == ("full", expected)


def test_a_view_whose_key_counts_no_more_has_its_rows(engine: FakeEngine) -> None:
    """They are those of a bag, without the key."""
    engine.drive(auto())
    engine.tables["main.v__idivm"].columns = {"name": "string", "idivm__o__id": "int"}
    outcome = engine.drive(model(SQL))
    assert (outcome.mode, outcome.reason) == ("migrated", "columns over stored ones")


def test_columns_that_changed_are_the_reason_also_beside_other_keys(engine: FakeEngine) -> None:
    engine.drive(auto())
    engine.tables["main.o"].columns["name"] = "varchar(7)"
    assert (engine.drive(model(SQL)).reason or "").startswith("IDIVM-412 the columns of main.o changed")


def caches(outcome: Outcome) -> list[str]:
    return [name for _, name, _ in outcome.relations if name.startswith("idivm_cache")]


def cached(**config: Any) -> ModelRequest:
    return model(CACHED, {"c": "id"}, **{"keys": "auto", "caches": ["T"], **config})


WARNING = "v is maintained without the cache `t` (IDIVM-109): a key of main.o is neither declared nor found in its data"


def test_a_key_breaks_that_a_named_cache_needs(engine: FakeEngine) -> None:
    """Nobody has promised it, so it is no error: the view has no such cache until the key is found again."""
    first = engine.drive(cached())
    assert caches(first) and first.warnings == ()
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "2"})
    engine.reads = {"net diff of main.o": TWICE, LOOKED: BROKEN}
    foreseen = drive(engine, forecast(replace(cached(), existing="table"), Invocation(), engine.kind))
    outcome = engine.drive(cached())
    assert (outcome.reason or "").startswith("IDIVM-428") and not caches(outcome)
    assert foreseen.mode == outcome.mode == "full" and outcome.warnings == (WARNING,)
    assert engine.drive(cached()).mode == "noop"
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads = {"net diff of main.o": ((8, "eight", 1),)}
    outcome = engine.drive(cached())
    assert (outcome.mode, outcome.warnings) == ("incremental", (WARNING,))
    found = engine.drive(replace(cached(), full_refresh=True))
    assert caches(found) and found.warnings == ()


def test_no_key_is_found_that_a_named_cache_needs(engine: FakeEngine) -> None:
    engine.reads[LOOKED] = BROKEN
    outcome = engine.drive(cached())
    assert (outcome.mode, outcome.warnings, caches(outcome)) == ("create", (WARNING,), [])


@pytest.mark.parametrize(
    ("asked", "codes"),
    [
        (cached(keys="declared"), ("IDIVM-109",)),
        (cached(verify="sample"), ("IDIVM-109",)),
        (cached(keys={"orders": []}), ("IDIVM-109",)),
        (cached(caches=["t", "u"]), ("IDIVM-108", "IDIVM-109")),
        (replace(cached(), sql=CACHED.replace("main.o ", "main.w as o ")), ("IDIVM-109",)),
    ],
)
def test_a_named_cache_that_no_found_key_makes_possible(engine: FakeEngine, asked: ModelRequest, codes: tuple[str, ...]) -> None:
    engine.source("w", id="double", name="string")
    with pytest.raises(IdivmError) as error:
        engine.drive(asked)
    assert tuple(sorted(error.value.codes)) == codes


def rebuilding(engine: FakeEngine, asked: ModelRequest, run: Invocation | None = None) -> float:
    """The estimate of a rebuild after a small change."""
    engine.tables["main.o"].commit("UPDATE", {"numUpdatedRows": "1"})
    engine.reads = {"net diff of main.o": ((7, "old", -1), (7, "new", 1))}
    outcome = engine.drive(asked, run)
    assert outcome.cost is not None
    return outcome.cost.alternatives[REBUILD]


def test_a_rebuild_costs_the_look_at_the_keys_that_were_found(engine: FakeEngine) -> None:
    """A rebuild by cost verifies no declared key."""
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "500000000"}, parameters={"mode": "Append"})
    found, declared = auto(strategy="auto"), auto({"o": "id"}, strategy="auto")
    engine.drive(found)
    with_look = rebuilding(engine, found)
    without = rebuilding(engine, declared)
    assert with_look > without + 40, "500M rows are read"
    assert rebuilding(engine, auto({"o": "id"}, strategy="auto", verify="sample")) > without + 40, "it verifies all keys"


def test_what_a_run_has_verified_costs_nothing(engine: FakeEngine) -> None:
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "500000000"}, parameters={"mode": "Append"})
    asked = auto(strategy="auto")
    engine.drive(asked)
    alone, run = rebuilding(engine, asked), Invocation()
    engine.tables["main.o"].commit("UPDATE", {"numUpdatedRows": "1"})
    engine.drive(replace(asked, name="w", identifier="w"), run)  # it looks for the key
    outcome = engine.drive(asked, run)
    assert outcome.cost is not None and outcome.cost.alternatives[REBUILD] < alone - 40
