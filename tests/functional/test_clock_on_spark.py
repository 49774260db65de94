"""Views that read the clock, on Spark + Delta: days pass between refreshes, and a view is its SELECT at the time of the last one."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.refresh.engine.invocation import Invocation
from tests.functional.project import Project, project_in

WINDOW = "d >= current_date() - interval 30 days"
VIEWS = {
    "recent": f"select id, d, amount from $.events where {WINDOW}",
    "ages": "select id, datediff(current_date(), d) as age, case when at < now() then 'due' else 'open' end as state from $.events",
    "months": "select usr, sum(amount) as total from $.events where d >= date_trunc('month', current_date()) group by usr",
    "partners": f"select u.id, e.id as event, e.amount from $.users as u left join $.events as e on e.usr = u.id and e.{WINDOW}",
    "latest": "select id, usr, d, n from (select id, usr, d, row_number() over (partition by usr order by d desc) as n "
    f"from $.events where {WINDOW}) where n = 1",
}
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


def test_days_pass(shop: Project, time: Time) -> None:
    models = {name: shop.model(name, sql, KEYS) for name, sql in VIEWS.items()}

    def are_exact() -> None:
        for name, model in models.items():
            assert shop.differences(model) == [], name
            expected = Counter(map(tuple, shop.sql(time.of(VIEWS[name]))))
            if name != "latest":  # one user has two events of a day
                assert Counter(map(tuple, shop.sql(f"select * from $.{name}"))) == expected, name

    def refreshed() -> dict[str, Any]:
        found = {name: shop.refresh(model) for name, model in models.items()}
        are_exact()
        return found

    for name, outcome in refreshed().items():
        assert (outcome.mode, outcome.reason) == ("create", None), (name, outcome.message)
    time.passes(hours=1)
    again = refreshed()
    assert {name for name, outcome in again.items() if outcome.mode != "noop"} == {"ages"}, "another time of the same day"
    assert (again["ages"].rows_inserted, again["ages"].rows_updated, again["ages"].rows_deleted) == (0, 0, 0)
    time.passes(days=1)
    moved = refreshed()
    assert {outcome.mode for outcome in moved.values()} <= {"incremental", "noop"}, moved
    recent = moved["recent"]
    assert (recent.rows_inserted, recent.rows_updated, recent.rows_deleted) == (0, 0, 1), "the day that leaves the window"
    assert moved["ages"].rows_updated == 80, "each row is a day older"
    shop.sql(
        "insert into $.events values (100, 1, date'2026-02-21', timestamp'2026-02-21 08:00:00', 5), "
        "(101, 1, date'2026-02-21', timestamp'2026-02-28 08:00:00', 6), (102, 3, date'2025-12-01', timestamp'2025-12-01 08:00:00', 7)",
        "update $.events set d = date'2026-02-20', usr = 3 where id = 2",
        "delete from $.events where id in (45, 70)",
    )
    time.passes(days=3)
    assert {outcome.mode for outcome in refreshed().values()} == {"incremental"}
    time.passes(days=-10)
    assert {outcome.mode for outcome in refreshed().values()} <= {"incremental", "noop"}, "the clock of another machine"
    for model in models.values():
        assert shop.refresh(model, full_refresh=True).mode == "full"
    are_exact()
