"""Days pass and tables change, on Spark + Delta: the rows that both reach are found, and the view's states at both times are
compared over them (ADR 0066)."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.refresh.decide.costs import Costs
from dbt_idivm.refresh.engine.invocation import Invocation
from tests.functional.project import Project, project_in
from tests.functional.test_reached_states_on_spark import by_comparison

VIEWS = {
    "window": "select e.id, e.d, e.amount, u.name, datediff(current_date(), u.birth) as age, p.kind "
    "from $.events e join $.users u on u.id = e.usr left join $.prices p on p.pid = e.pid and p.until >= current_date() "
    "where e.d >= current_date() - interval 7 days and e.d <= current_date()",
    "sums": "select u.name, count(*) as n, sum(e.amount) as total, max(e.at) as last from $.events e join $.users u on u.id = e.usr "
    "where e.at >= now() - interval 100 hours group by u.name",
}
pytestmark = pytest.mark.deep  # `test_clock_reached` has them on DuckDB and on Spark's meaning
KEYS = {"events": ["id"], "users": ["id"], "prices": ["pid"]}
# hours that pass, and what is changed in the meantime
DAYS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (24, ()),
    (
        24,
        (
            "insert into $.events values (100, 2, 3, date'2026-02-12', timestamp'2026-02-12 08:00:00.000001', 1), "
            "(101, 2, 4, date'2026-01-01', timestamp'2026-01-01 08:00:00', 2), (102, 99, 4, null, null, 3)",
            "update $.events set d = date'2026-02-11', amount = null where id = 3",
            "delete from $.events where id in (38, 39)",
            "update $.users set name = 'näh \"2\"', birth = null where id = 2",
            "insert into $.users values (99, 'late', date'1999-12-31')",
            "update $.prices set until = date'2026-02-20' where pid = 4",
            "delete from $.prices where pid = 0",
        ),
    ),
    (3, ("update $.users set id = 98 where id = 99", "insert into $.prices values (0, 'back', null)")),
    (-96, ("delete from $.users where id = 1", "update $.events set usr = 0 where id between 35 and 45")),
    (24 * 40, ("insert into $.users values (1, 'ann', date'2000-02-29')",)),
)


@pytest.fixture
def shop(spark: Any) -> Iterator[Project]:
    with project_in(spark, "clock_reached") as project:
        start = "2026-01-01"
        project.table(
            "events",
            "id int, usr int, pid int, d date, at timestamp, amount int",
            *(
                f"({n}, {n % 4}, {n % 6}, date'{start}' + {n}, timestamp'{start} 12:00:00' + make_interval(0, 0, 0, {n}), {n})"
                for n in range(60)
            ),
        )
        project.table("users", "id int, name string, birth date", *(f"({n}, 'u{n % 3}', date'199{n}-02-11')" for n in range(4)))
        project.table("prices", "pid int, kind string, until date", *(f"({n}, 'k{n}', date'2026-02-0{n + 5}')" for n in range(5)))
        yield project


@pytest.mark.parametrize("name", VIEWS)
def test_days_pass_and_tables_change(shop: Project, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = dt.datetime(2026, 2, 10, 9, 0, tzinfo=dt.UTC)
    monkeypatch.setattr(Invocation, "now", lambda _: now)
    monkeypatch.setattr(Costs, "way", by_comparison)
    model = shop.model(name, VIEWS[name], KEYS, strategy="incremental")

    def expected() -> Counter[tuple[Any, ...]]:
        """The SELECT at this time, by other means than those that are tested."""
        text = (
            VIEWS[name].replace("current_date()", f"date'{now:%Y-%m-%d}'").replace("now()", f"timestamp'{now:%Y-%m-%d %H:%M:%S}'")
        )
        return Counter(map(tuple, shop.sql(text)))

    assert shop.refresh(model).mode == "create"
    compared = 0
    for hours, changes in DAYS:
        shop.sql(*changes)
        now += dt.timedelta(hours=hours)
        outcome = shop.refresh(model)
        assert outcome.mode in ("incremental", "noop"), outcome.message
        assert Counter(map(tuple, shop.sql(f"select * from $.{name}"))) == expected()
        assert shop.differences(model) == []
        compared += "over the rows that the changes reach" in str(outcome.reason)
    assert compared >= 3, "states were not compared"
