"""Models whose constants another value of a dbt variable moves, on Spark + Delta: rows enter and leave, and nothing is rebuilt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.refresh.decide import adapting
from tests.functional.project import Project, project_in
from tests.functional.subscriber import Subscriber
from tests.functional.test_clock_on_spark import Time, time
from tests.functional.test_refresh_modes import refreshed

__all__ = ["time"]  # a fixture

KEYS = {"events": ["id"], "users": ["id"]}
STARTED = ("2026-02-10 22:58:34.123456+00:00", "2026-02-20 22:58:35.654321+00:00", "2026-02-15 01:00:00.000001+00:00")
# name → the model with a place for each constant, and the constants in turn
MODELS: dict[str, tuple[str, tuple[tuple[str, ...], ...]]] = {
    "window": ("select id, usr, amount from $.events where d between '{}' and '{}'", (("2026-01-10", "2026-02-10"), ("2026-01-11", "2026-02-11"))),
    "started": (
        "select id, d, '{}' as loaded_at from $.events where d >= cast('{}' as date) - interval 30 days",
        ((STARTED[0], STARTED[0][:10]), (STARTED[1], STARTED[1][:10]), (STARTED[2], STARTED[2][:10])),
    ),
    "timestamps": ("select id, usr from $.events where at < '{}'", tuple((each,) for each in STARTED)),
    "days": ("select id, usr from $.events where d >= date'2026-03-01' - interval {} days", (("30",), ("45",), ("7",))),
    "groups": ("select usr, count(*) as n, sum(price) as total from $.events where price > {} group by usr", (("1",), ("20.5",), ("3",))),
    "extremes": ("select usr, min(d) as first, max(amount) as most from $.events where amount < {} group by usr", (("60",), ("20",), ("70",))),
    "having": ("select usr, sum(amount) as total from $.events group by usr having count(*) > {}", (("26",), ("0",))),
    "values": ("select id, price * {} as v, case when amount > {} then '{}' else note end as s from $.events", (("1.5", "10", "x"), ("2.5", "30", "y"))),
    "listed": ("select id, amount from $.events where note in ('a', '{}') and f >= {}", (("b", "1.5"), ("c", "2.5"))),
    "partners": ("select u.id, e.id as event from $.users u left join $.events e on e.usr = u.id and e.amount > {}", (("70",), ("75",), ("60",))),
    "known": ("select u.id, u.name from $.users u where exists (select 1 from $.events e where e.usr = u.id and e.d > '{}')", (("2026-03-20",), ("2026-01-01",))),
    "latest": (
        "select id, usr from (select id, usr, row_number() over (partition by usr order by d desc) as n from $.events where d <= '{}') where n = 1",
        (("2026-02-01",), ("2026-02-15",)),
    ),
    "both": (
        "with q as (select * from $.events where amount > {}) select id, '{}' as run from q union all select id, name from $.users where id > {}",
        (("70", "a", "1"), ("60", "b", "2")),
    ),
}  # fmt: skip


@pytest.fixture
def shop(spark: Any, request: pytest.FixtureRequest) -> Iterator[Project]:
    with project_in(spark, "k_" + request.node.name.partition("[")[0].removeprefix("test_")[:40]) as project:
        rows = [
            f"({day}, {day % 3}, date'2026-01-01' + {day}, timestamp'2026-01-01 12:00:00' + make_interval(0, 0, 0, {day}), {day}, "
            f"{day}.25, {day} / 2.0D, '{'abc'[day % 3]}')"
            for day in range(80)
        ]
        project.table(
            "events", "id int, usr int, d date, at timestamp, amount int, price decimal(10,2), f double, note string", *rows
        )
        project.table("users", "id int, name string", "(0, 'ann')", "(1, 'bob')", "(2, 'cy')", "(3, 'di')")
        yield project


def text(name: str, number: int) -> str:
    sql, constants = MODELS[name]
    for each in constants[number % len(constants)]:
        sql = sql.replace("{}", each, 1)
    return sql


LANES = dict.fromkeys(("groups", "started", "partners", "both"), pytest.mark.deep)


@pytest.mark.parametrize("name", [pytest.param(name, marks=LANES.get(name, pytest.mark.long)) for name in MODELS])
def test_constants_move(shop: Project, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, and together with changed tables; what is stored is exact after each refresh, and maintained from then on."""
    monkeypatch.setattr(adapting, "pays", lambda *given: True)  # these tables are small
    refreshed(shop, shop.model("m", text(name, 0), KEYS))
    changes = (
        (),
        ("insert into $.events values (100, 1, date'2026-02-12', timestamp'2026-02-12 10:00:00', 65, 7.50, 0.5D, 'b')",),
        ("delete from $.events where id in (40, 41)", "update $.events set amount = amount + 3, d = d + 5 where id % 7 = 1"),
    )
    for number, statements in enumerate(changes, 1):
        shop.sql(*statements)
        model = shop.model("m", text(name, number), KEYS)
        foreseen = shop.forecast(model)
        assert foreseen.mode == "migrated", foreseen.reason
        outcome = refreshed(shop, model)
        assert (outcome.mode, outcome.reason) == ("migrated", foreseen.reason), outcome.message
        assert shop.differences(model) == []
        assert refreshed(shop, model).mode == "noop"
    shop.sql("update $.events set price = price + 1, note = 'c' where id % 5 = 0")
    assert refreshed(shop, model).mode in ("incremental", "noop"), "not every model reads these columns"
    assert shop.differences(model) == []


@pytest.mark.deep
def test_what_is_said(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table stays, and one statement changes the rows that differ."""
    monkeypatch.setattr(adapting, "pays", lambda *given: True)
    refreshed(shop, shop.model("m", text("window", 0), KEYS))
    model = shop.model("m", text("window", 1), KEYS)
    outcome = refreshed(shop, model)
    assert (outcome.mode, outcome.reason) == ("migrated", "constants moved"), outcome.message
    assert (outcome.rows_inserted, outcome.rows_updated, outcome.rows_deleted) == (1, 0, 1), outcome.message
    assert [each.label.split()[0] for each in shop.executed if each.kind == "write"] == ["move"]


@pytest.mark.deep
def test_days_of_a_window_move(shop: Project, time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the same day, and on another one with changed tables; a time of writing stays where a row does."""
    monkeypatch.setattr(adapting, "pays", lambda *given: True)
    sql = "select id, d, d < current_date() as late, current_timestamp() as at from $.events where d >= current_date() - interval {} days"
    shop.refresh(shop.model("m", sql.replace("{}", "30"), KEYS))
    written = dict(shop.sql("select id, at from $.m"))
    for days in ("60", "10", "45"):
        model = shop.model("m", sql.replace("{}", days), KEYS)
        outcome = shop.refresh(model)
        assert (outcome.mode, outcome.reason) == ("migrated", "constants moved"), outcome.message
        assert shop.differences(model) == []
        wanted = {tuple(row) for row in shop.sql(time.of(model.sql.replace("current_timestamp() as at", "1")))}
        assert {(*row, 1) for row in shop.sql("select id, d, late from $.m")} == wanted
        if days == "60":
            assert written.items() <= dict(shop.sql("select id, at from $.m")).items()
        assert shop.refresh(model).mode == "noop"
        time.passes(days=3)
        shop.sql("update $.events set d = d + 1 where id % 4 = 0")


@pytest.mark.long
def test_a_view_with_a_log(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the constants changed is appended to the log."""
    monkeypatch.setattr(adapting, "pays", lambda *given: True)
    refreshed(shop, shop.model("m", text("groups", 0), KEYS, output="both"))
    shop.sql("update $.events set price = price + 1 where id % 5 = 0")
    model = shop.model("m", text("groups", 1), KEYS, output="both")
    assert refreshed(shop, model).mode == "migrated"
    log = Subscriber(shop, model)
    log.catch_up()
    assert log.rows == shop.rows(text("groups", 1))


@pytest.mark.deep
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("select id, price * 2 as v from $.events", "select id, price * 3 as v from $.events"),
        ("select id, date_format(d, 'yyyy') as v from $.events", "select id, date_format(d, 'MM') as v from $.events"),
        ("select id, usr from $.events where amount > '7'", "select id, usr from $.events where amount > '70'"),
    ],
)
def test_constants_that_are_no_input(shop: Project, before: str, after: str) -> None:
    refreshed(shop, shop.model("m", before, KEYS))
    outcome = refreshed(shop, shop.model("m", after, KEYS))
    assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-402")
