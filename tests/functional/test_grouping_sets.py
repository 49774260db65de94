"""ROLLUP, CUBE, GROUPING SETS on Spark + Delta: NULLs of the data beside those of sets, groups that come and go, by each way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.functional.project import Project, project_in

KEYS = {"customers": ["cid"], "orders": ["oid"]}
VIEWS = {
    "rollup": "select c.city, o.cid, grouping_id() as level, sum(o.price) as s, count(*) as n from $.orders o "
    "left join $.customers c on c.cid = o.cid group by rollup (c.city, o.cid)",
    "cube": "select cid, note, grouping(note) as g, max(price) as most from $.orders group by cube (cid, note) "
    "having count(*) > 1",
    "sets": "select cid + 1 as next, note, count(distinct price) as prices from $.orders "
    "group by grouping sets ((cid + 1, note), (note), (note), ())",
}


@pytest.fixture
def shop(spark: Any) -> Iterator[Project]:
    with project_in(spark, "grouping_sets") as project:
        project.table("customers", "cid int, city string", "(1, 'x')", "(2, null)", "(3, 'x')")
        project.table(
            "orders",
            "oid int, cid int, note string, price int",
            "(10, 1, 'a', 5)",
            "(11, 1, null, 7)",
            "(12, null, 'a', 9)",
            "(13, 2, 'b', 1)",
            "(14, 3, 'a', 5)",
        )
        yield project


def maintained(shop: Project, names: tuple[str, ...], strategy: str) -> set[str | None]:
    views = shop.created(VIEWS, names, KEYS, strategy)
    shop.sql(
        "insert into $.orders values (15, 2, null, 3)",
        "delete from $.orders where oid = 12",
        "update $.customers set city = 'w' where cid = 1",
    )
    first = shop.refreshed(views)
    shop.sql(
        "update $.orders set cid = 3, price = 8 where oid = 11",
        "delete from $.customers where cid = 2",
        "insert into $.orders values (16, null, 'c', 2), (17, 9, 'a', null)",
    )
    then = shop.refreshed(views)
    shop.sql("delete from $.orders")  # the empty set has no row either
    return first | then | shop.refreshed(views)


@pytest.mark.long
def test_by_idiffs(shop: Project) -> None:
    assert maintained(shop, ("rollup",), "id") == {"id"}


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["id", "tuple", "recompute"])
def test_other_views_and_strategies(shop: Project, strategy: str) -> None:
    assert strategy in maintained(shop, tuple(VIEWS), strategy)
