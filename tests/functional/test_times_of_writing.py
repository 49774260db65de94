"""Times of writing on Spark + Delta: a refresh writes them in the rows that it inserts or changes, by each of its statements."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.protocol import Outcome
from tests.functional.project import Project, project_in

KEYS = {"orders": ["id"], "cust": ["id"]}
COLUMNS = "current_timestamp() as loaded_at, cast(date_trunc('day', now()) as date) as loaded_on"
JOINED = f"select o.id, {COLUMNS}, o.price, c.id as cust, c.name from $.orders o join $.cust c on o.cust = c.id"
GROUPS = f"select cust, max(price) as dearest, {COLUMNS}, count(*) as n from $.orders group by cust"
COPIES = f"select amount, {COLUMNS}, cust from $.log"


@pytest.fixture
def shop(spark: Any, request: pytest.FixtureRequest) -> Iterator[Project]:
    with project_in(spark, "t_" + request.node.name.partition("[")[0].removeprefix("test_")[:40]) as project:
        project.table("orders", "id int, cust int, price decimal(10,2)", "(1, 1, 5.00)", "(2, 1, 7.50)", "(3, 2, 1.00)")
        project.table("cust", "id int, name string", "(1, 'ann')", "(2, 'bob')", "(3, 'cy')")
        project.table("log", "cust int, amount int", "(1, 10)", "(1, 10)", "(2, 5)")
        yield project


def times(shop: Project, model: ModelRequest, key: str) -> dict[Any, dt.datetime]:
    """Key of a row → its time. All rows with one key have one time, and the day of it."""
    found: dict[Any, dt.datetime] = {}
    for value, at, on in shop.sql(f"select distinct {key}, loaded_at, loaded_on from $.{model.identifier}"):
        assert value not in found and at is not None and on is not None
        found[value] = at
    return found


def later(shop: Project, model: ModelRequest, key: str, written: set[Any]) -> Outcome:
    """A refresh that writes these rows, and leaves the times of all others as they were."""
    before = times(shop, model, key)
    outcome = shop.refresh(model)
    assert outcome.mode == "incremental", outcome.message
    after = times(shop, model, key)
    assert {value for value, at in after.items() if before.get(value) != at} == written
    assert all(at > max(before.values()) for value, at in after.items() if value in written)
    assert len({after[value] for value in written}) <= 1, "one time for all rows of a refresh"
    assert shop.differences(model) == []
    return outcome


@pytest.mark.deep
def test_a_time_of_writing(shop: Project) -> None:
    model = shop.model("joined", JOINED, KEYS)
    created = shop.refresh(model)
    assert (created.mode, created.reason) == ("create", None), "the plan means what the SELECT means"
    assert len({*times(shop, model, "id").values()}) == 1 and shop.differences(model) == []
    before = times(shop, model, "id")
    assert shop.refresh(model).message == "noop: nothing changed, 0 statements"
    assert times(shop, model, "id") == before
    shop.sql("update $.orders set price = 6 where id = 1")  # UPDATE by key
    later(shop, model, "id", {1})
    shop.sql("insert into $.orders values (4, 2, 8.00)")  # INSERT
    later(shop, model, "id", {4})
    shop.sql("update $.cust set name = 'BOB' where id = 2")  # names several rows
    later(shop, model, "id", {3, 4})
    shop.sql("update $.cust set name = 'BOB' where id = 2", "delete from $.orders where id = 2")  # nothing, and DELETE
    later(shop, model, "id", set())
    shop.sql("update $.orders set cust = 2 where id = 1", "update $.orders set price = 9 where id = 4")
    shop.sql("insert into $.orders values (5, 3, 1.00)", "update $.cust set name = 'Cy' where id = 3")
    later(shop, model, "id", {1, 4, 5})
    assert shop.refresh(model, full_refresh=True).mode == "full"
    assert len({*times(shop, model, "id").values()}) == 1 and shop.differences(model) == []


@pytest.mark.deep
@pytest.mark.parametrize("strategy", ["id", "recompute", "tuple"])
def test_groups_and_copies(shop: Project, strategy: str) -> None:
    groups, copies = (shop.model(name, sql, KEYS, strategy=strategy) for name, sql in (("groups", GROUPS), ("copies", COPIES)))
    assert [shop.refresh(each).mode for each in (groups, copies)] == ["create", "create"]
    shop.sql("update $.orders set price = 6 where id = 1", "insert into $.log values (1, 10), (3, 7)")
    later(shop, groups, "cust", set())  # the dearest order of customer 1 is another one
    later(shop, copies, "cust", {1, 3})
    shop.sql(
        "update $.orders set price = 9 where id = 1",
        "insert into $.orders values (4, 3, 8.00)",
        "delete from $.log where cust = 2",
    )
    later(shop, groups, "cust", {1, 3})
    later(shop, copies, "cust", set())


@pytest.mark.deep
def test_the_equivalence_test_looks_at_the_times(shop: Project) -> None:
    model = shop.model("joined", JOINED, KEYS)
    shop.refresh(model)
    shop.sql(
        "update $.joined set loaded_at = null where id = 1", "update $.joined set loaded_on = date '2999-01-01' where id = 2"
    )
    assert sorted((row["id"], row["idivm_difference"]) for row in shop.differences(model, "now")) == [(1, 0), (2, 0)]
    shop.sql("update $.joined set price = 0 where id = 3")
    assert len(shop.differences(model, "now")) == 4
