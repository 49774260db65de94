"""`caches: auto`: intermediate caches come and go by their estimated costs (ADR 0037), against an engine that is a script."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.catalog import state
from dbt_idivm.refresh.catalog.state import NEVER, Kept
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.forecast import forecast
from dbt_idivm.refresh.protocol import EngineError, Outcome
from tests.unit.fake_engine import FakeEngine, drive, model

KEYS = {"o": "id", "c": "id"}
TOTALS = (
    "select c.id, c.name, t.n, t.price from main.c left join "
    "(select cid, count(*) as n, sum(price) as price from main.o group by cid) t on t.cid = c.id + 0"
)
CUSTOMERS = 1_000_000
CACHE = "idivm_cache_"


def request(sql: str = TOTALS, **config: object) -> ModelRequest:
    return model(sql, KEYS, **{"strategy": "auto", **config})


@pytest.fixture
def engine() -> FakeEngine:
    """A view over 500M orders of a million customers."""
    fake = FakeEngine(written=CUSTOMERS)
    orders, customers = fake.source("o", id="int", cid="int", price="int"), fake.source("c", id="int", name="string")
    for table, rows in ((orders, 500_000_000), (customers, CUSTOMERS)):
        table.commit("WRITE", {"numOutputRows": str(rows)}, parameters={"mode": "Append"})
    return fake


def updated(engine: FakeEngine) -> None:
    engine.tables["main.o"].commit("UPDATE", {"numUpdatedRows": "1"})
    engine.reads["net diff of main.o"] = ((7, 1, 2, -1), (7, 1, 3, 1))


def refreshed(engine: FakeEngine, times: int = 1, asked: ModelRequest | None = None) -> str:
    """What the last of so many refreshes says; each follows a changed order."""
    message = ""
    for _ in range(times):
        updated(engine)
        message = engine.drive(asked or request()).message
    return message


def caches(engine: FakeEngine) -> list[str]:
    return [name.removeprefix("main.") for name in engine.tables if CACHE in name]


def kept(engine: FakeEngine) -> Kept:
    found = state.read(engine.tables["main.v__idivm"].commits[-1][-1])
    assert found is not None
    return found.kept


def test_a_cache_is_kept_when_it_would_have_saved_its_building(engine: FakeEngine) -> None:
    engine.drive(request())
    first = refreshed(engine)
    saved = kept(engine)
    assert "IDIVM-411" in first and not caches(engine) and saved.saved > 0 and saved.subviews == ()
    second = refreshed(engine)
    (cache,) = caches(engine)
    assert "IDIVM-420" in second and cache in second and "estimated at 19.9 s with it, 116.0 s without it" in second
    assert [label.removeprefix("re") for label in engine.labels("write")] == [f"build main.{cache}", "build main.v__idivm"]
    now = kept(engine)
    assert len(now.subviews) == 1 and now.saved > saved.saved
    third = refreshed(engine)
    assert cache in third or "IDIVM-420" not in third
    assert engine.labels("write")[0] == f"merge into main.{cache}" and kept(engine).subviews == now.subviews
    assert engine.drive(request()).mode == "noop"


def test_a_forecast_says_so(engine: FakeEngine) -> None:
    engine.drive(request())
    refreshed(engine)
    updated(engine)
    there = replace(request(), existing="view", neighbours={"v__idivm": "table", "v": "view"})
    found = drive(engine, forecast(there, Invocation(), engine.kind))
    assert found.mode == "full" and found.reason.startswith("IDIVM-420") and not caches(engine)


def test_models_keep_the_same_cache(engine: FakeEngine) -> None:
    other = replace(request(), identifier="w", name="w")
    for each in (other, request()):
        engine.drive(each)
        refreshed(engine, 2, each)
    assert len(caches(engine)) == 1 and len(kept(engine).subviews) == 1


def test_a_column_that_nobody_reads_changes_nothing(engine: FakeEngine) -> None:
    engine.drive(request())
    refreshed(engine, 2)
    before = caches(engine)
    engine.tables["main.o"].columns["extra"] = "string"
    engine.tables["main.o"].commit("ADD COLUMNS")
    updated(engine)
    engine.reads["net diff of main.o"] = ((7, 1, 2, None, -1), (7, 1, 3, None, 1))
    assert "IDIVM-411" in engine.drive(request()).message and caches(engine) == before


@pytest.mark.parametrize("groups", [300_000, 3_000_000, 10_000_000])
def test_a_wrong_estimate_does_not_rebuild_again_and_again(groups: int) -> None:
    """The cache has other rows than was expected, and the view is large: what was given up has to promise twice as much."""
    fake = FakeEngine(written=30_000_000)
    orders, customers = fake.source("o", id="int", cid="int", price="int"), fake.source("c", id="int", name="string")
    for table, rows in ((orders, 10_000_000), (customers, 30_000_000)):
        table.commit("WRITE", {"numOutputRows": str(rows)}, parameters={"mode": "Append"})

    def written() -> None:
        fake.written = groups if fake.log[-1].label.rpartition(".")[2].startswith(CACHE) else 30_000_000

    fake.on_write = written
    fake.drive(request())
    messages = []
    for _ in range(24):
        orders.commit("UPDATE", {"numUpdatedRows": "1000000"})
        messages.append(fake.drive(request()).message)
    assert 1 <= sum("IDIVM-420" in each for each in messages) <= 3


def test_a_cache_that_costs_more_than_it_saves_goes(engine: FakeEngine) -> None:
    """Of most orders none is left: what the cache saves is less than its own refresh."""
    engine.drive(request())
    refreshed(engine, 2)
    assert caches(engine)
    engine.tables["main.o"].commit("DELETE", {"numDeletedRows": "499999000"})
    messages = [refreshed(engine) for _ in range(6)]
    gone = next(number for number, each in enumerate(messages) if "IDIVM-421" in each)
    assert gone > 0 and kept(engine).subviews == () and not caches(engine)
    assert not any("IDIVM-42" in each for each in messages[gone + 1 :])


@pytest.mark.parametrize(
    "config", [{"strategy": "incremental"}, {"strategy": "id"}, {"caches": "none"}, {"caches": []}, {"output": "diffs"}]
)
def test_nothing_is_chosen_where_the_user_has_chosen(engine: FakeEngine, config: dict[str, object]) -> None:
    engine.drive(request(**config))
    refreshed(engine, 3, request(**config))
    assert not caches(engine)


def refused(engine: FakeEngine, error: EngineError) -> Outcome:
    """The refresh that chooses a cache, which then cannot be built."""
    engine.drive(request())
    refreshed(engine)
    engine.fail[f"build main.{CACHE}"] = error
    updated(engine)
    return engine.drive(request())


def test_a_cache_that_fails_for_a_value_is_not_tried_again(engine: FakeEngine) -> None:
    done = refused(engine, EngineError("DIVIDE_BY_ZERO", "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012"))
    assert "IDIVM-411" in done.message and "Division by zero" in done.warnings[0] and kept(engine) == NEVER
    updated(engine)
    assert engine.drive(request()).warnings == () and "IDIVM-411" in refreshed(engine, 5) and not caches(engine)


def test_where_a_cache_cannot_be_made_the_model_is_maintained_as_before(engine: FakeEngine) -> None:
    """Nobody has asked for it. It is tried again when it promises more."""
    done = refused(engine, EngineError("PERMISSION", "No permission to create a table"))
    assert "IDIVM-411" in done.message and "No permission" in done.warnings[0] and kept(engine) == Kept((), 0.0, 1)
    engine.fail.clear()
    said = [refreshed(engine) for _ in range(4)]
    assert sum("IDIVM-420" in each for each in said) == 1 and len(caches(engine)) == 1


def test_a_view_that_fails_over_its_caches_is_maintained_as_before(engine: FakeEngine) -> None:
    engine.drive(request())
    refreshed(engine)
    engine.fail["build main.v__idivm"] = EngineError("DIVIDE_BY_ZERO", "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012")
    updated(engine)
    with pytest.raises(IdivmError, match="IDIVM-902"):  # here the query fails by itself as well
        engine.drive(request())
    engine.fail.clear()
    assert "IDIVM-42" in refreshed(engine)


def test_what_was_made_before_another_cache_failed_is_dropped(engine: FakeEngine) -> None:
    """Two caches were chosen, and the second one fails."""
    engine.source("p", id="int", cid="int", paid="int").commit(
        "WRITE", {"numOutputRows": "500000000"}, parameters={"mode": "Append"}
    )
    sql = TOTALS.replace("select c.id, c.name, ", "select c.id, c.name, p.paid, ") + (
        " left join (select cid, sum(paid) as paid from main.p group by cid) p on p.cid = c.id"
    )
    both = model(sql, {**KEYS, "p": "id"}, strategy="auto")
    engine.drive(both)

    def second_fails() -> None:
        engine.fail = {f"build main.{CACHE}": EngineError("X", "no more")} if caches(engine) else {}

    engine.on_write, warnings = second_fails, list[str]()
    for _ in range(3):
        updated(engine)
        engine.tables["main.p"].commit("UPDATE", {"numUpdatedRows": "1"})
        engine.reads["net diff of main.p"] = ((7, 1, 2, -1), (7, 1, 3, 1))
        warnings += engine.drive(both).warnings
    assert any("no more" in each for each in warnings) and not caches(engine)


def test_a_cache_of_a_type_that_no_table_has_is_not_tried_again(engine: FakeEngine) -> None:
    """What the engine says of the types counts."""
    engine.drive(request())
    refreshed(engine)
    engine.columns_of["columns of the model's SELECT"] = {
        "o__cid": "int",
        "computed__value": "bigint",
        "computed__value_2": "void",
        "count__o__price": "bigint",
    }
    message = refreshed(engine)
    assert "IDIVM-411" in message and kept(engine) == NEVER and not caches(engine)


def test_a_kept_cache_that_fails_later_is_given_up(engine: FakeEngine) -> None:
    engine.drive(request())
    refreshed(engine, 2)
    (cache,) = caches(engine)
    for write in ("merge into", "rebuild", "build"):
        engine.fail[f"{write} main.{cache}"] = EngineError("DIVIDE_BY_ZERO", "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012")
    assert "IDIVM-422" in refreshed(engine) and not caches(engine) and kept(engine) == NEVER


def test_another_select_forgets_what_is_kept(engine: FakeEngine) -> None:
    engine.drive(request())
    refreshed(engine, 2)
    other = request("select id, name from main.c")
    assert "IDIVM-402" in engine.drive(other).message and not caches(engine)


def test_a_cache_that_an_interrupted_run_leaves_is_dropped_later(engine: FakeEngine) -> None:
    engine.drive(request())
    refreshed(engine, 2)
    (cache,) = caches(engine)
    engine.fail[f"drop table main.{cache}"] = EngineError("LOST", "the connection is gone")
    other = request("select id, price from main.o")
    with pytest.raises(IdivmError, match="IDIVM-902"):
        engine.drive(other)
    engine.fail.clear()
    assert engine.drive(other).mode == "noop" and caches(engine), "it costs nothing"
    assert refreshed(engine, asked=other).startswith("incremental") and not caches(engine)
    refreshed(engine, asked=other)
    assert not any("history" in label for label in engine.labels("metadata") if CACHE in label), "nobody asks for it any more"


@pytest.mark.parametrize("text", ['{"subviews": 1}', '{"saved": "much"}', "[1]", '{"saved": [1]}'])
def test_nonsense_in_a_state_is_no_state(engine: FakeEngine, text: str) -> None:
    engine.drive(request())
    commit = engine.tables["main.v__idivm"].commits[-1][-1]
    whole = commit.replace('"kept":{"failures":0,"saved":0.0,"subviews":[]}', f'"kept":{text}')
    assert whole != commit and state.read(whole) is None
    assert state.read(commit.replace('"kept":{"failures":0,"saved":0.0,"subviews":[]},', "")) == state.read(commit)
