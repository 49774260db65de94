"""Outer joins on Spark + Delta: rows that gain and lose partners, with NULLs among IDs and groups, by each way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.functional.project import Project, project_in

KEYS = {"customers": ["cid"], "orders": ["oid"]}
LATEST = "select cid, max(price) as most from $.orders group by cid"
VIEWS = {
    "details": "select o.oid, o.price, c.name, c.city from $.orders o left join $.customers c on o.cid = c.cid",
    "totals": "select c.cid, c.name, count(o.oid) as n, sum(o.price) as s from $.customers c "
    "left join $.orders o on o.cid = c.cid and o.price > 1 group by c.cid, c.name",
    # group NULL of the derived table beside padded rows, and marks without a key
    "both": f"select c.name, l.most, m.mark from $.customers c full join ({LATEST}) l on l.cid = c.cid "
    "left join $.marks m on m.name <=> c.name",
    "compared": "select c.name, (select count(*) from $.orders o where o.cid = c.cid) as n from $.customers c "
    "where c.cid <= (select max(price) from $.orders) except select m.mark, 7 from $.marks m",
}


@pytest.fixture
def shop(spark: Any) -> Iterator[Project]:
    with project_in(spark, "outer_joins") as project:
        project.table("customers", "cid int, name string, city string", "(1, 'ann', 'x')", "(2, 'bob', 'y')", "(3, null, 'x')")
        project.table("orders", "oid int, cid int, price int", "(10, 1, 5)", "(11, 1, 7)", "(12, null, 9)", "(13, 9, 1)")
        project.table("marks", "name string, mark string", "('ann', 'a')", "('ann', 'a')", "(null, 'n')")
        yield project


def maintained(shop: Project, names: tuple[str, ...], strategy: str) -> set[str | None]:
    views = shop.created(VIEWS, names, KEYS, strategy)
    # a first partner, a last one, and the order without a customer
    shop.sql(
        "insert into $.orders values (14, 2, 3)", "delete from $.orders where oid = 12", "insert into $.marks values ('bob', 'b')"
    )
    first = shop.refreshed(views)
    # a partner that moves, one whose customer goes, and values of padded and other rows
    shop.sql(
        "update $.orders set cid = 3 where oid = 11",
        "delete from $.customers where cid = 2",
        "insert into $.customers values (9, 'eve', 'z')",
        "update $.customers set city = 'w' where cid = 1",
        "insert into $.orders values (15, null, 2)",
        "delete from $.marks where name is null",
    )
    return first | shop.refreshed(views)


def test_by_idiffs(shop: Project) -> None:
    assert maintained(shop, ("details",), "id") == {"id", "recompute"}


@pytest.mark.long
def test_sums_are_added(shop: Project) -> None:
    assert maintained(shop, ("totals",), "id") == {"id"}


@pytest.mark.long
def test_groups_of_null_and_bags(shop: Project) -> None:
    assert "recompute" in maintained(shop, ("both", "compared"), "id")


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["tuple", "recompute"])
def test_other_strategies(shop: Project, strategy: str) -> None:
    assert strategy in maintained(shop, tuple(VIEWS), strategy)
