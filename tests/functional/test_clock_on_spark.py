"""Views that read the clock, on Spark + Delta: days pass between refreshes, and a view is its SELECT at the time of the last one."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import Outcome
from tests.functional.project import Project, project_in

WINDOW = "d >= current_date() - interval 30 days"
VIEWS = {
    "recent": f"select id, d, amount from $.events where {WINDOW}",
    "ages": "select id, datediff(current_date(), d) as age, case when at < now() then 'due' else 'open' end as state from $.events",
    "months": "select usr, sum(amount) as total from $.events where d >= date_trunc('month', current_date()) group by usr",
    "partners": f"select u.id, e.id as event, e.amount from $.users as u left join $.events as e on e.usr = u.id and e.{WINDOW}",
    "latest": "select id, usr, d, n from (select id, usr, d, row_number() over (partition by usr order by d desc) as n "
    f"from $.events where {WINDOW}) where n = 1",
    "activity": f"select usr as who, amount from $.events where {WINDOW} union all select id, 0.5 from $.users where name > 'b' "
    "union all select id, datediff(current_date(), d) from $.events where id < 5",
}
DEFAULT = ("recent",)  # in `make test`
KEYS = {"events": ["id"], "users": ["id"]}


@pytest.fixture
def shop(spark: Any, request: pytest.FixtureRequest) -> Iterator[Project]:
    with project_in(spark, "c_" + request.node.name.partition("[")[0].removeprefix("test_")[:40]) as project:
        rows = [
            f"({day}, {day % 3}, date'2026-01-01' + {day}, timestamp'2026-01-01 12:00:00' + make_interval(0, 0, 0, {day}), {day})"
            for day in range(80)
        ]
        project.table("events", "id int, usr int, d date, at timestamp, amount int", *rows)
        project.table("users", "id int, name string", "(0, 'ann')", "(1, 'bob')", "(2, 'cy')", "(3, 'di')")
        yield project


class Time:
    """The time that refreshes read."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = dt.datetime(2026, 2, 20, 9, 0, tzinfo=dt.UTC)
        patch.setattr(Invocation, "now", lambda _: self.now)

    def passes(self, **time: float) -> None:
        self.now += dt.timedelta(**time)

    def of(self, sql: str) -> str:
        """The SELECT at this time, by other means than those that are tested."""
        found = sql.replace("current_date()", f"date'{self.now:%Y-%m-%d}'")
        return found.replace("now()", f"timestamp'{self.now:%Y-%m-%d %H:%M:%S}'")


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)


@pytest.mark.parametrize("name", [name if name in DEFAULT else pytest.param(name, marks=pytest.mark.deep) for name in VIEWS])
def test_days_pass(shop: Project, time: Time, name: str) -> None:
    model = shop.model(name, VIEWS[name], KEYS)

    def is_exact() -> None:
        assert shop.differences(model) == []
        if name != "latest":  # one user has two events of a day
            expected = Counter(map(tuple, shop.sql(time.of(VIEWS[name]))))
            assert Counter(map(tuple, shop.sql(f"select * from $.{name}"))) == expected

    def refreshed() -> Outcome:
        outcome = shop.refresh(model)
        is_exact()
        return outcome

    created = refreshed()
    assert (created.mode, created.reason) == ("create", None), created.message
    time.passes(hours=1)
    again = refreshed()
    assert again.mode == ("incremental" if name == "ages" else "noop"), "another time of the same day"
    assert (again.rows_inserted, again.rows_updated, again.rows_deleted) == (0, 0, 0)
    time.passes(days=1)
    moved = refreshed()
    assert moved.mode in ("incremental", "noop"), moved.message
    changed = (moved.rows_inserted, moved.rows_updated, moved.rows_deleted)
    if name == "recent":
        assert changed == (0, 0, 1), "the day that leaves the window"
    if name == "ages":
        assert changed == (0, 80, 0), "each row is a day older"
    shop.sql(
        "insert into $.events values (100, 1, date'2026-02-21', timestamp'2026-02-21 08:00:00', 5), "
        "(101, 1, date'2026-02-21', timestamp'2026-02-28 08:00:00', 6), (102, 3, date'2025-12-01', timestamp'2025-12-01 08:00:00', 7)",
        "update $.events set d = date'2026-02-20', usr = 3 where id = 2",
        "delete from $.events where id in (45, 70)",
    )
    time.passes(days=3)
    assert refreshed().mode == "incremental"
    time.passes(days=-10)
    assert refreshed().mode in ("incremental", "noop"), "the clock of another machine"
    assert shop.refresh(model, full_refresh=True).mode == "full"
    is_exact()


DST = {
    "day": "select id, at from $.stamps where at > now() - interval 1 day",
    "hours": "select id, at from $.stamps where at > now() - interval 24 hours",
    "today": "select date_trunc('HOUR', at) as h, count(*) as n from $.stamps where to_date(at) = current_date() group by 1",
    "hour": "select id, hour(at) = hour(now()) as now from $.stamps where date_trunc('DAY', at) = date_trunc('DAY', now())",
}


@pytest.mark.deep
@pytest.mark.parametrize("name", DST)
@pytest.mark.parametrize(
    ("zone", "change"),
    [
        ("Europe/Berlin", "2026-10-25T01:00:00"),
        pytest.param("Europe/Berlin", "2026-03-29T01:00:00", marks=pytest.mark.long),
        pytest.param("Australia/Lord_Howe", "2026-04-04T15:00:00", marks=pytest.mark.long),
    ],
)
def test_clocks_are_put_back(shop: Project, time: Time, name: str, zone: str, change: str) -> None:
    """And forward, in sessions of that zone. Timestamps are written as instants."""
    shop.spark.conf.set("spark.sql.session.timeZone", zone)
    second = dt.datetime.fromisoformat(change).replace(tzinfo=dt.UTC)
    stamps = [second + dt.timedelta(minutes=30 * number) for number in range(-54, 54, 3)]
    rows = [f"({number}, timestamp'{each:%Y-%m-%d %H:%M:%S}+00:00')" for number, each in enumerate(stamps)]
    shop.table("stamps", "id int, at timestamp", *rows)
    model = replace(shop.model(name, DST[name], {"stamps": ["id"]}), session={"ansi": "true", "time_zone": zone})

    def is_exact() -> None:
        literal = f"timestamp'{time.now:%Y-%m-%d %H:%M:%S}+00:00'"
        wanted = DST[name].replace("current_date()", f"to_date({literal})").replace("now()", literal)
        assert Counter(map(tuple, shop.sql(f"select * from $.{name}"))) == Counter(map(tuple, shop.sql(wanted)))
        assert shop.differences(model) == []

    time.now = second - dt.timedelta(hours=2)
    shop.refresh(model)
    is_exact()
    for minutes in (90, 29, 1, 30, 30, 60, -60, 23 * 60, 60):
        time.passes(minutes=minutes)
        outcome = shop.refresh(model)
        assert outcome.mode in ("incremental", "noop"), outcome.message
        is_exact()
