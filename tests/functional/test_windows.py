"""Window functions on Spark + Delta: partitions that rows join, leave and change in, by each way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sqlglot

from dbt_idivm.definition.request import ModelRequest
from tests.functional.project import Project, project_in

KEYS = {"customers": ["cid"], "orders": ["oid"]}
RANKED = "select o.oid, o.cid, o.price, row_number() over (partition by o.cid order by o.price desc, o.oid) as n from $.orders o"
VIEWS = {
    # the partition is no column of the view
    "latest": f"select c.name, r.oid, r.price from ({RANKED}) r join $.customers c on c.cid = r.cid where r.n = 1",
    # the stored rows are ranked again with the changed ones
    "first": f"select oid, price, n from ({RANKED}) where n <= 2",
    "newest": "select cid, note from (select *, row_number() over (partition by cid order by price desc nulls last, oid) as n "
    "from $.orders) where n = 1",
    "shares": "select oid, note, price / sum(price) over (partition by cid) as share, rank() over (partition by cid order by "
    "price) as r, lag(price) over (partition by cid order by oid) as before from $.orders",
    # appended rows continue stored values
    "balance": "select oid, sum(price) over (partition by cid order by oid) as total, "
    "count(price) over (partition by cid order by oid) as n, "
    "max(note) over (partition by cid order by oid) as m from $.orders",
    # over groups, one partition of all rows
    "best": "select cid, sum(price) as s, dense_rank() over (order by sum(price) desc nulls last) as r from $.orders "
    "group by cid",
    # a bag: no key, equal rows
    "bag": "select mark, place, count(*) over (partition by mark) as n, max(place) over (partition by mark order by place "
    "rows between unbounded preceding and unbounded following) as m from $.marks",
}


@pytest.fixture
def shop(spark: Any) -> Iterator[Project]:
    with project_in(spark, "windows") as project:
        project.table("customers", "cid int, name string", "(1, 'ann')", "(2, 'bob')", "(3, null)")
        project.table(
            "orders",
            "oid int, cid int, price decimal(10,2), note string",
            "(10, 1, 5, 'a')",
            "(11, 1, 7, 'b')",
            "(12, null, 9, 'c')",
            "(13, null, 1, null)",
            "(14, 2, null, 'd')",
        )
        project.table("marks", "mark string, place int", "('x', 1)", "('x', 1)", "(null, 2)")
        yield project


def maintained(shop: Project, names: tuple[str, ...], strategy: str) -> set[str | None]:
    views = shop.created(VIEWS, names, KEYS, strategy)
    # a new first row, a row that moves to a partition and one that leaves NULL
    shop.sql(
        "insert into $.orders values (15, 1, 8, 'e')",
        "update $.orders set cid = 2 where oid in (11, 12)",
        "insert into $.marks values ('x', 3), ('y', 1)",
    )
    first = shop.refreshed(views)
    # the first row goes, a partition ends, another order, and what no function reads
    shop.sql(
        "delete from $.orders where oid in (13, 15)",
        "update $.orders set price = 20 where oid = 11",
        "update $.orders set note = 'z' where oid = 10",
        "update $.customers set name = 'rob' where cid = 2",
        "delete from $.marks where mark is null",
    )
    return first | shop.refreshed(views)


@pytest.mark.deep
def test_the_latest_rows(shop: Project) -> None:
    assert maintained(shop, ("latest",), "id") == {"recompute"}


@pytest.mark.deep
def test_first_rows(shop: Project) -> None:
    assert maintained(shop, ("first", "newest"), "id") == {"id"}


@pytest.mark.deep
def test_the_table_is_read_where_a_partition_lost_a_row(shop: Project) -> None:
    """Spark knows that there is no such partition before it reads the table, however large it is."""
    (view,) = shop.created(VIEWS, ("first",), KEYS, "id")
    shop.sql(
        "update $.orders set price = 8 where oid = 11",
        "update $.orders set price = 6 where oid = 10",
        "insert into $.orders values (15, 1, 9, 'e'), (16, 1, 2, 'f'), (17, 3, 1, 'g')",
    )
    assert not reads_orders(shop, view)
    assert shop.refreshed([view]) == {"id"}
    shop.sql("delete from $.orders where oid = 15")
    assert reads_orders(shop, view)
    assert shop.refreshed([view]) == {"id"}


def reads_orders(shop: Project, view: ModelRequest) -> bool:
    """Whether the table is in the plan that the next refresh ends with, in which joins with nothing are left out."""
    forecast = shop.forecast(view)
    assert forecast.sql is not None and "lost_partitions" in forecast.sql
    merge = sqlglot.parse_one(forecast.sql, dialect="spark")
    # as Spark is without our settings for tests; and no table is small enough to be broadcast without a hint
    usual = {"spark.sql.adaptive.enabled": "true", "spark.sql.autoBroadcastJoinThreshold": "-1"}
    before = {name: shop.spark.conf.get(name) for name in usual}
    for name, value in usual.items():
        shop.spark.conf.set(name, value)
    found = shop.spark.sql(merge.args["using"].this.sql("spark"))
    found.collect()
    for name, value in before.items():
        shop.spark.conf.set(name, value)
    final, _, _ = found._jdf.queryExecution().executedPlan().toString().partition("== Initial Plan ==")
    assert "isFinalPlan=true" in final
    return ".orders" in final


@pytest.mark.deep
def test_running_values(shop: Project) -> None:
    """The table is read only where a row comes that is not the last one of its partition."""
    (view,) = shop.created(VIEWS, ("balance",), KEYS, "id")
    shop.sql("insert into $.orders values (15, 1, 9.25, 'e'), (16, 1, null, 'f'), (17, 3, 1, 'g'), (18, null, 4, null)")
    assert shop.refreshed([view]) == {"id"}
    (write,) = (each.sql for each in shop.executed if "INSERT INTO" in each.sql)
    assert f"{shop.schema}.orders" not in write and write.count("balance_by_id") == 1, "neither the table nor the view is read"
    shop.sql("insert into $.orders values (9, 3, 2, 'late'), (19, 1, 1, 'z')")
    assert shop.refreshed([view]) == {"recompute"}
    shop.sql("delete from $.orders where oid = 15", "update $.orders set price = 3 where oid = 10")
    assert shop.refreshed([view]) == {"recompute"}
    # more rows than are fetched
    shop.sql("insert into $.orders select 100 + id, cast(id % 3 as int), 2.5, 'many' from range(1500)")
    assert shop.refreshed([view]) == {"id"}


@pytest.mark.long
def test_by_idiffs(shop: Project) -> None:
    assert "recompute" in maintained(shop, ("shares", "best", "bag"), "id")


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["tuple", "recompute"])
def test_other_strategies(shop: Project, strategy: str) -> None:
    assert strategy in maintained(shop, tuple(VIEWS), strategy)
