"""The clock as an input: what is read of it, how it is evaluated, and when a refresh has nothing to do."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from dbt_idivm.context import Catalog
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import lower
from dbt_idivm.frontend.replace_clock import replace_clock
from dbt_idivm.operators import Join, Select
from dbt_idivm.operators.scan import scans
from dbt_idivm.refresh.catalog import state
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.script.dialect import DELTA, decode, literal
from dbt_idivm.verify import equivalence
from tests.property.directed import table
from tests.unit.fake_engine import FakeEngine, model

TABLES = (table("t0(k int, d date, x int; k)"), table("t1(k int, e date, y int; k)"))


def read_of(sql: str) -> list[tuple[str, str]]:
    """The expressions of the clock, with their types."""
    root = lower(sql, Catalog({each.name: each.info() for each in TABLES}, clock_is_input=True)).root
    return [(each.name, each.type) for scan in scans(root) if scan.is_clock for each in scan.attributes]


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("d >= current_date() - INTERVAL 30 DAYS", [("CURRENT_DATE() - INTERVAL '30' DAYS", "date")]),
        ("d >= current_date - 30", [("CURRENT_DATE() - 30", "date")]),
        ("d >= date_trunc('month', current_date())", [("DATE_TRUNC('month', CURRENT_DATE())", "timestamp")]),
        ("year(d) = year(now()) - 1", [("YEAR(NOW())", "int")]),
        ("d > now() - INTERVAL 2 HOURS", [("NOW() - INTERVAL '2' HOURS", "timestamp")]),
        ("d > current_date() - INTERVAL 2 HOURS", [("CURRENT_DATE()", "date")]),
        ("date_add(current_date(), x) > d", [("CURRENT_DATE()", "date")]),
        ("unix_timestamp() - x > 0", [("UNIX_TIMESTAMP()", "bigint")]),
        ("now() > d AND now() > d", [("NOW()", "timestamp")]),
        # the query may never evaluate what fails
        ("x > 1 AND CAST(date_format(now(), 'EEE') AS INT) > 0", [("DATE_FORMAT(NOW(), 'EEE')", "string")]),
        ("exists(array(d), each -> each > current_date())", [("CURRENT_DATE()", "date")]),
    ],
)
def test_largest_constants_of_certain_type(value: str, read: list[tuple[str, str]]) -> None:
    assert read_of(f"SELECT k FROM t0 WHERE {value}") == read


def test_time_of_writing_is_not_read() -> None:
    assert read_of("SELECT k, now() AS t FROM t0") == []
    assert read_of("SELECT k, now() AS t FROM t0 WHERE d < current_date()") == [("CURRENT_DATE()", "date")]


def test_parts_of_on_stay_behind_those_that_guard_them() -> None:
    catalog = Catalog({each.name: each.info() for each in TABLES}, clock_is_input=True)
    sql = "SELECT a.k FROM t0 AS a JOIN t1 AS b ON a.k = b.k AND b.e < current_date() AND 1 / b.y > a.x"
    root = lower(sql, catalog).root
    assert isinstance(root, Select)
    assert isinstance(root.child, Join)
    assert isinstance(root.child.left, Join)
    assert root.child.left.condition.sql() == "a__k = b__k"
    assert root.condition.sql(DELTA.name) == "b__e < clock__t1 AND 1 / b__y > a__x"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k FROM t0 WHERE d < current_date() AND rand() > 0.5",
        "SELECT k FROM t0 WHERE current_user() = 'a'",
        "SELECT k, current_timezone() AS z FROM t0",
        # in the text these names look like calls
        "SELECT k, d AS current_date FROM t0 WHERE d < now()",
        "SELECT k, d current_date FROM t0 WHERE d < now()",
        "SELECT k FROM t0 AS current_date WHERE d < now()",
        "WITH q (k, current_date) AS (SELECT k, d FROM t0 WHERE d < current_date()) SELECT k, q.current_date AS z FROM q",
        "SELECT k, struct(d AS current_date) AS s FROM t0 WHERE d < now()",
    ],
)
def test_refused(sql: str) -> None:
    with pytest.raises(IdivmError):
        read_of(sql)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT now( ), s.now, 'now()' FROM t", "SELECT TIMESTAMP_MICROS(5), s.now, 'now()' FROM t"),
        ("SELECT current_date, `current_date` -- now()", "SELECT CAST(TIMESTAMP_MICROS(5) AS DATE), `current_date` -- now()"),
        ("SELECT unix_timestamp(), unix_timestamp(d)", "SELECT UNIX_SECONDS(TIMESTAMP_MICROS(5)), unix_timestamp(d)"),
        ("SELECT m.now()", "SELECT m.now()"),
    ],
)
def test_text_at_a_time(sql: str, expected: str) -> None:
    assert replace_clock(sql, decode(literal(5), "timestamp")) == expected


class At(Invocation):
    """An invocation at a time."""

    def __init__(self, day: int) -> None:
        super().__init__()
        self.day = day

    def now(self) -> dt.datetime:
        return dt.datetime(2026, 10, self.day, tzinfo=dt.UTC)


WINDOW = "SELECT id, d FROM main.t WHERE d >= current_date() - INTERVAL 30 DAYS"


@pytest.fixture
def engine() -> FakeEngine:
    found = FakeEngine()
    found.source("t", id="int", d="date")
    return found


def at(engine: FakeEngine, value: str, kind: str = "date") -> None:
    engine.reads["evaluate the clock"] = ((value, kind),)


def test_built_at_the_time(engine: FakeEngine) -> None:
    at(engine, "2026-09-01")
    assert engine.drive(model(WINDOW, {"t": "id"}), At(1)).mode == "create"
    (create,) = (each.sql for each in engine.log if each.kind == "write")
    assert "d >= CAST('2026-09-01' AS DATE)" in create
    found = state.read(engine.tables["main.v"].commits[-1][-1])
    assert found is not None
    assert found.clock is not None
    assert found.clock.values == {"CURRENT_DATE() - INTERVAL '30' DAYS": "2026-09-01"}
    assert state.read(found.json()) == found


def test_nothing_to_do_while_no_expression_has_another_value(engine: FakeEngine) -> None:
    at(engine, "2026-09-01")
    engine.drive(model(WINDOW, {"t": "id"}), At(1))
    assert engine.drive(model(WINDOW, {"t": "id"}), At(1)).mode == "noop"
    assert engine.labels("read") == engine.labels("write") == []


def test_another_value_is_a_change(engine: FakeEngine) -> None:
    at(engine, "2026-09-01")
    engine.drive(model(WINDOW, {"t": "id"}), At(1))
    at(engine, "2026-09-02")
    done = engine.drive(model(WINDOW, {"t": "id"}), At(2))
    assert done.mode == "incremental"
    assert "0 inputs and the clock changed" in done.message
    text = "\n".join(each.sql for each in engine.log if each.kind in ("read", "write"))
    assert "CAST('2026-09-01' AS DATE)" in text
    assert "CAST('2026-09-02' AS DATE)" in text
    assert "TABLE_CHANGES" not in text
    found = state.read(engine.tables["main.v"].commits[-1][-1])
    assert found is not None
    assert found.clock is not None
    assert found.clock.values == {"CURRENT_DATE() - INTERVAL '30' DAYS": "2026-09-02"}
    assert engine.drive(model(WINDOW, {"t": "id"}), At(2)).mode == "noop"


def test_one_time_for_all_models_of_an_invocation(engine: FakeEngine) -> None:
    at(engine, "2026-09-01")
    invocation = At(1)
    engine.drive(model(WINDOW, {"t": "id"}), invocation)
    invocation.day = 2
    at(engine, "2026-09-02")
    assert engine.drive(model(WINDOW, {"t": "id"}), invocation).mode == "noop"


def test_another_type_is_refused(engine: FakeEngine) -> None:
    at(engine, "2026-09-01", "timestamp")
    with pytest.raises(IdivmError, match="IDIVM-206"):
        engine.drive(model(WINDOW, {"t": "id"}), At(1))


@pytest.mark.parametrize("config", [{"volatile": "error"}, {"output": "both"}, {"caches": ["c"]}])
def test_settings_under_which_it_is_refused(engine: FakeEngine, config: dict[str, object]) -> None:
    with pytest.raises(IdivmError, match="IDIVM-206"):
        engine.drive(model(WINDOW, {"t": "id"}, **config), At(1))


def test_an_edited_model_is_rebuilt(engine: FakeEngine) -> None:
    at(engine, "2026-09-01")
    engine.drive(model(WINDOW, {"t": "id"}), At(1))
    assert engine.drive(model(f"{WINDOW} AND id > 1", {"t": "id"}), At(1)).mode == "full"


def test_a_view_of_nothing_but_the_clock(engine: FakeEngine) -> None:
    view = model("SELECT 1 AS one WHERE current_date() < DATE '2026-10-02'")
    at(engine, "2026-10-01")
    assert engine.drive(view, At(1)).mode == "create"
    assert engine.drive(view, At(1)).mode == "noop"
    at(engine, "2026-10-02")
    assert engine.drive(view, At(2)).mode == "incremental"


def test_compared_at_the_recorded_time(engine: FakeEngine) -> None:
    at(engine, "2026-09-01")
    engine.drive(model(WINDOW, {"t": "id"}), At(1))
    query = engine.ask(equivalence("main", "v"))
    assert "CAST(TIMESTAMP_MICROS(1790812800000000) AS DATE) - INTERVAL 30 DAYS" in query
    assert "current_date" not in query


def test_days_of_a_window_move(engine: FakeEngine) -> None:
    """At the time of the stored rows; then the clock moves, as in any refresh."""
    at(engine, "2026-09-01")
    engine.drive(model(WINDOW, {"t": "id"}), At(1))
    engine.tables["main.v"].columns = {"id": "int", "d": "date"}
    at(engine, "2026-08-03")
    engine.reads["evaluate constants"] = (("2026-09-01", "2026-08-02", "date", "date"),)
    engine.merged = (2, 0, 1, 1)
    wider = model(WINDOW.replace("30", "60"), {"t": "id"})
    done = engine.drive(wider, At(2))
    assert (done.mode, done.reason) == ("migrated", "constants moved"), done.message
    (evaluated,) = (each.sql for each in engine.log if each.label == "evaluate constants")
    assert f"TIMESTAMP_MICROS({At(1).time})" in evaluated
    moved = next(each.sql for each in engine.log if each.label == "move constants of main.v")
    assert "CAST('2026-09-01' AS DATE)" in moved and "CAST('2026-08-02' AS DATE)" in moved
    found = [each for commit in engine.tables["main.v"].commits if (each := state.read(commit[-1])) is not None]
    assert [each.clock.at for each in found if each.clock is not None][-2:] == [At(1).time, At(1).time]
    assert found[-1].clock is not None and list(found[-1].clock.values) == ["CURRENT_DATE() - INTERVAL '60' DAYS"]
    assert engine.drive(wider, At(2)).mode == "noop"


def test_an_expression_that_had_another_value_is_rebuilt(engine: FakeEngine) -> None:
    at(engine, "2026-09-01")
    engine.drive(model(WINDOW, {"t": "id"}), At(1))
    engine.tables["main.v"].columns = {"id": "int", "d": "date"}
    engine.reads["evaluate constants"] = (("2026-09-02", "2026-08-02", "date", "date"),)
    done = engine.drive(model(WINDOW.replace("30", "60"), {"t": "id"}), At(1))
    assert done.mode == "full" and (done.reason or "").startswith("IDIVM-402")


def in_zone(request: ModelRequest, zone: str) -> ModelRequest:
    return replace(request, session={"ansi": "true", "time_zone": zone})


def test_the_clock_of_another_zone_rebuilds(engine: FakeEngine) -> None:
    """Also if its values are the same: other expressions may have other values there."""
    asked = model(WINDOW, {"t": "id"})
    at(engine, "2026-09-01")
    engine.drive(asked, At(1))
    again = engine.drive(in_zone(asked, "Asia/Tokyo"), At(1))
    assert (again.mode, again.reason) == ("full", "IDIVM-409 the session setting time_zone changed")
    assert engine.drive(in_zone(asked, "Asia/Tokyo"), At(1)).mode == "noop"


def test_models_of_two_zones_share_a_cache(engine: FakeEngine) -> None:
    """Each run brings it into its own zone, so that neither view has rows of the other."""
    sql = "select t.id, u.n from main.t left join (select d, count(*) as n from main.t group by d) as u on u.d = t.d"
    here = model(sql, {"t": "id"}, caches="all")
    there = in_zone(replace(here, name="w", identifier="w"), "Asia/Tokyo")
    engine.drive(here)
    engine.drive(there)
    for asked in (here, there):
        engine.tables["main.t"].commit("WRITE", {"numOutputRows": "1"})
        engine.reads["net diff of main.t"] = ((7, "2026-09-01", 1),)
        engine.drive(asked)
        assert engine.labels("write")[0].startswith("build main.idivm_cache")
