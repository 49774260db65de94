"""Over the rows that changes reach the states of a view are compared (ADR 0064), on Spark and Delta: what literal rows of all types
do there, and tables that all change at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.cost.choice import Alternative
from dbt_idivm.cost.work import Situation, incremental
from dbt_idivm.refresh.decide.costs import Costs
from dbt_idivm.script.found_rows import Forms
from dbt_idivm.script.ways import Application
from tests.functional.project import Project, project_in

VIEWS = {
    "chain": "select d.did, d.category, l.pid, p.price, p.made from $.devices d left join $.links l on l.did = d.did "
    "left join $.parts p on p.pid = l.pid and p.price > 5",
    "groups": "select d.category, count(*) as n, sum(p.price) as cost, max(p.made) as last, min(p.name) as first "
    "from $.links l join $.parts p on p.pid = l.pid join $.devices d on d.did = l.did group by d.category",
    "newest": "select did, pid, since from (select *, row_number() over (partition by did order by since desc, pid) as n "
    "from $.links) where n = 1",
    "others": "select p.pid, p.name, p.ok from $.parts p where not exists (select 1 from $.links l where l.pid = p.pid)",
    "sets": "select did from $.links where pid > 2 union select did from $.devices where category <=> 'phone'",
}
DEFAULT = ("chain",)  # in `make test`
KEYS = {"devices": ["did"], "links": ["did", "pid"], "parts": ["pid"]}
BATCHES = (
    (
        "insert into $.devices values (8, 'née \"8\"'), (9, null)",
        "update $.devices set category = 'phone' where did = 2",
        "delete from $.devices where did = 3",
        "insert into $.links values (8, 1, timestamp'1969-12-31 23:59:59.999999'), (1, 77, null)",
        "delete from $.links where did = 1 and pid = 1",
        "update $.links set since = since + interval 3 years where pid = 3",
        "insert into $.parts values (77, 'new', 9.99, date'2026-02-28', true)",
        "update $.parts set price = 10 - price, name = null where pid in (2, 4)",
        "delete from $.parts where pid = 5",
    ),
    (
        "merge into $.links t using (select 1 as d, 2 as p union all select 9, 9) s on t.did = s.d and t.pid = s.p "
        "when matched then delete when not matched then insert (did, pid, since) values (s.d, s.p, timestamp'2026-10-25 01:30:00')",
        "update $.devices set category = null where did <= 2",
        "insert into $.parts values (9, '', -0.01, null, null)",
    ),
    ("delete from $.links", "update $.parts set made = made + 1"),
)


@pytest.fixture
def shop(spark: Any) -> Iterator[Project]:
    with project_in(spark, "reached_states") as project:
        project.table("devices", "did int, category string", *(f"({n}, '{'phone' if n % 2 else 'camera'}')" for n in range(1, 7)))
        project.table(
            "links",
            "did int, pid bigint, since timestamp",
            *(f"({n % 7}, {n % 6}, timestamp'2026-01-{n:02} 10:00:00.123456')" for n in range(1, 20)),
        )
        project.table(
            "parts",
            "pid bigint, name string, price decimal(10,2), made date, ok boolean",
            *(f"({n}, 'p {n}', {n}.5{n}, date'2025-12-0{n}', {n % 2 == 0})" for n in range(1, 7)),
        )
        yield project


def by_comparison(costs: Costs, done: Application, situation: Situation, forms: Forms = ()) -> Alternative:
    """The way as if comparing states cost nothing, where that is possible."""
    compared = [each for each in forms if each[0].original is not each[0]]
    measure = incremental(done, situation)
    return Alternative(done.way, measure, 0.0, *compared[0]) if compared else Alternative(done.way, measure, 1e6)


@pytest.mark.parametrize("name", [name if name in DEFAULT else pytest.param(name, marks=pytest.mark.deep) for name in VIEWS])
def test_states_are_compared(shop: Project, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Costs, "way", by_comparison)
    model = shop.model("v", VIEWS[name], KEYS, strategy="incremental")
    assert shop.refresh(model).mode == "create"
    compared = 0
    for batch in BATCHES:
        shop.sql(*batch)
        outcome = shop.refresh(model)
        assert outcome.mode in ("incremental", "noop") and shop.is_exact(model), outcome.message
        compared += "over the rows that the changes reach" in str(outcome.reason)
    assert compared, "no states were compared"
