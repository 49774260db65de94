"""Window functions on Spark + Delta: partitions that rows join, leave and change in, by each way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.functional.engine import Project

KEYS = {"customers": ["cid"], "orders": ["oid"]}
RANKED = "select o.oid, o.cid, o.price, row_number() over (partition by o.cid order by o.price desc, o.oid) as n from $.orders o"
VIEWS = {
    # the partition is no column of the view
    "latest": f"select c.name, r.oid, r.price from ({RANKED}) r join $.customers c on c.cid = r.cid where r.n = 1",
    "shares": "select oid, note, price / sum(price) over (partition by cid) as share, rank() over (partition by cid order by "
              "price) as r, lag(price) over (partition by cid order by oid) as before from $.orders",
    # over groups, one partition of all rows
    "best": "select cid, sum(price) as s, dense_rank() over (order by sum(price) desc nulls last) as r from $.orders "
            "group by cid",
    # a bag: no key, equal rows
    "bag": "select mark, place, count(*) over (partition by mark) as n, max(place) over (partition by mark order by place "
           "rows between unbounded preceding and unbounded following) as m from $.marks",
}


@pytest.fixture
def shop(spark: Any) -> Iterator[Project]:
    project = Project(spark.newSession(), "windows")
    project.table("customers", "cid int, name string", "(1, 'ann')", "(2, 'bob')", "(3, null)")
    project.table("orders", "oid int, cid int, price decimal(10,2), note string", "(10, 1, 5, 'a')", "(11, 1, 7, 'b')",
                  "(12, null, 9, 'c')", "(13, null, 1, null)", "(14, 2, null, 'd')")
    project.table("marks", "mark string, place int", "('x', 1)", "('x', 1)", "(null, 2)")
    yield project
    project.sql("drop schema $ cascade", "use default")


def maintained(shop: Project, names: tuple[str, ...], strategy: str) -> set[str | None]:
    views = shop.created(VIEWS, names, KEYS, strategy)
    # a new first row, a row that moves to a partition and one that leaves NULL
    shop.sql("insert into $.orders values (15, 1, 8, 'e')", "update $.orders set cid = 2 where oid in (11, 12)",
             "insert into $.marks values ('x', 3), ('y', 1)")
    first = shop.refreshed(views)
    # the first row goes, a partition ends, another order, and what no function reads
    shop.sql("delete from $.orders where oid in (13, 15)", "update $.orders set price = 20 where oid = 11",
             "update $.orders set note = 'z' where oid = 10", "update $.customers set name = 'rob' where cid = 2",
             "delete from $.marks where mark is null")
    return first | shop.refreshed(views)


def test_the_latest_rows(shop: Project) -> None:
    assert maintained(shop, ("latest",), "id") == {"recompute"}


@pytest.mark.long
def test_by_idiffs(shop: Project) -> None:
    assert "recompute" in maintained(shop, ("shares", "best", "bag"), "id")


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["tuple", "recompute"])
def test_other_strategies(shop: Project, strategy: str) -> None:
    assert strategy in maintained(shop, tuple(VIEWS), strategy)
