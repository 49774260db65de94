"""Functions that the user created, in SQL, Python and Java, on Spark + Delta: maintained where they are listed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.frontend import functions
from tests.functional.project import Project, project_in

KEYS = {"orders": ["id"], "customers": ["cid"]}
LISTED = ["functions.net", "functions.day_of", "grade", "missing"]
VIEWS = {
    "lines": "select o.id, functions.net(o.price) as net, functions.day_of(o.placed) as day, grade(o.price) as grade, "
    "upper(c.name) as name from $.orders o join $.customers c on c.cid = o.cid where functions.net(o.price) > 1",
    "per_grade": "select grade(o.price) as grade, count(*) as n, sum(Functions.Net(price)) as net from $.orders o "
    "group by grade(o.price)",
    "pairs": "select o.id, c.cid, grade(o.price + c.cid) as g from $.orders o join $.customers c on grade(o.price) = c.name",
    "padded": "select c.cid, o.id, functions.net(o.price) as net from $.customers c "
    "left join $.orders o on c.cid = grade_number(o.price)",
}


@pytest.fixture
def shop(spark: Any) -> Iterator[Project]:
    with project_in(spark, "functions") as project:
        project.table(
            "orders",
            "id int, cid int, price int, placed string",
            "(1, 1, 10, '2020-01-01')",
            "(2, 1, 20, '2020-01-02')",
            "(3, 2, 30, null)",
            "(4, 2, null, '2020-01-03')",
        )
        project.table("customers", "cid int, name string", "(1, 'b')", "(2, 'c')", "(3, 'd')")
        project.sql(
            "create function $.net(price INT) returns INT return price - price div 5",
            "create function $.day_of(x STRING) returns DATE return cast(x as date)",
            "create function $.highest(x INT) returns INT return (select max(price) from $.orders where id > x)",
            "create function $.today() returns DATE return current_date()",
            "create function $.as_time(x STRING) returns TIMESTAMP return cast(x as timestamp)",
        )
        project.spark.udf.register("grade", lambda price: None if price is None else "abcdefgh"[min(price // 10, 7)], "string")
        project.spark.udf.register("grade_number", lambda price: None if price is None else price // 10, "int")
        yield project
        for name in ("net", "day_of", "highest", "today", "as_time"):
            project.sql(f"drop function if exists $.{name}")


@pytest.mark.long
def test_they_are_maintained(shop: Project) -> None:
    listed = [*LISTED, "grade_number"]
    views = [
        shop.model(f"{name}_{strategy}", sql, KEYS, strategy=strategy, deterministic_functions=listed)
        for name, sql, strategy in (*((name, sql, "id") for name, sql in VIEWS.items()), ("lines", VIEWS["lines"], "tuple"))
    ]
    for view in views:
        outcome = shop.refresh_in_run(view)
        assert outcome.mode == "create" and outcome.reason is None, outcome.reason
        assert shop.is_exact(view)
    shop.sql(
        "update $.orders set price = 31 where id = 1",
        "delete from $.orders where id = 2",
        "insert into $.orders values (5, 1, 12, '2020-02-01'), (6, 2, 20, null)",
        "update $.customers set name = 'd' where cid = 2",
    )
    shop.refreshed(views)
    shop.sql(
        "update $.orders set price = null where id = 3",
        "update $.orders set price = 25, cid = 1 where id = 4",
        "delete from $.customers where cid = 1",
        "update $.orders set placed = '2021-01-01' where id = 6",
    )
    shop.refreshed(views)
    for view in views:
        assert shop.refresh(view).mode == "noop"
    # another body rebuilds what calls it, and nothing else
    shop.sql("create or replace function $.net(price INT) returns INT return price - 1")
    shop.new_run()
    assert {view.name: shop.refresh_in_run(view).mode for view in views} == {
        view.name: "noop" if view.name.startswith("pairs") else "full" for view in views
    }
    assert all(shop.is_exact(view) for view in views)


@pytest.mark.long
def test_what_is_refused(shop: Project) -> None:
    from pyspark.sql.functions import udf

    shop.spark.udf.register("shaky", udf(lambda x: x, "int").asNondeterministic())
    refused = {
        "functions.highest(price)": "its body is a query",
        "functions.today()": "current_date",
        "functions.as_time(placed)": "adds the current day to a text that holds only a time",
        "shaky(price)": "INVALID_NON_DETERMINISTIC_EXPRESSIONS",
        "nowhere(price)": "Cannot resolve routine",
    }
    for number, (call, reason) in enumerate(refused.items()):
        name = call.partition("(")[0]
        view = shop.model(f"v{number}", f"select id, {call} as x from $.orders", KEYS, deterministic_functions=[name])
        try:
            outcome = shop.refresh(view)
        except Exception as error:
            assert name == "nowhere" and reason in str(error)
            continue
        assert "IDIVM-234" in str(outcome.reason) and reason in str(outcome.reason), outcome.reason
        assert shop.refresh(view).mode == "full"


def test_every_function_of_spark_is_known(spark: Any) -> None:
    own = {row[0] for row in spark.sql("show system functions").collect()}
    assert {name for name in own if name[0].isalpha()} <= functions.BUILT_IN
