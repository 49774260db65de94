"""Tied rows on Spark + Delta: the build and each refresh give them the same order, and the equivalence test compares with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.definition.request import ModelRequest
from tests.functional.project import Project, project_in

LAST = "select * from (select *, row_number() over (partition by usr order by at desc) as n from $.{}) where n = 1"
BEFORE = "select id, usr, page, lag(page) over (partition by usr order by at) as before from $.events"
FIRST = "select id, usr, at from $.events order by at desc limit 4"
ROWS = ("(1, 1, 10, 'a')", "(2, 1, 10, 'b')", "(3, 1, 9, 'c')", "(4, 2, 10, 'd')", "(5, 2, 10, 'd')", "(6, 3, 1, null)")
BATCHES = (
    ("insert into $.{} values (7, 1, 10, 'e'), (8, 3, 1, 'f'), (9, 4, 2, 'g')",),
    ("update $.{} set at = 11 where id in (5, 8)", "delete from $.{} where id = 7"),
    ("update $.{} set page = null where id = 1", "update $.{} set usr = 1 where id = 4", "delete from $.{} where usr = 3"),
)
DEFAULT = ("latest",)  # in `make test`
TIED = {"latest": LAST.format("events"), "before": BEFORE, "newest": FIRST, "bag": LAST.format("log")}


@pytest.fixture
def web(spark: Any, request: pytest.FixtureRequest) -> Iterator[Project]:
    with project_in(spark, "tied_" + request.node.name.partition("[")[0].removeprefix("test_")[:40]) as project:
        for table in ("events", "log"):
            project.table(table, "id int, usr int, at int, page string", *ROWS)
        yield project


def tied(web: Project, name: str, **config: object) -> ModelRequest:
    return web.model(name, TIED[name], {"events": ["id"]}, **config)


@pytest.mark.parametrize("name", [name if name in DEFAULT else pytest.param(name, marks=pytest.mark.deep) for name in TIED])
def test_tied_rows_are_maintained(web: Project, name: str) -> None:
    model = tied(web, name)
    created = web.refresh(model)
    assert created.mode == "create" and created.reason is None, created.message
    assert web.differences(model) == []
    for batch in BATCHES:
        web.sql(*(each.format(table) for table in ("events", "log") for each in batch))
        outcome = web.refresh(model)
        assert outcome.mode == "incremental", outcome.message
        assert web.differences(model) == []
    shown = sorted(map(repr, web.sql(f"select * from $.{name}")))
    assert web.refresh(model, full_refresh=True).mode == "full"
    assert sorted(map(repr, web.sql(f"select * from $.{name}"))) == shown, "a rebuild gives tied rows the same order"


@pytest.mark.deep
def test_without_the_order_they_are_rebuilt(web: Project) -> None:
    model = tied(web, "latest", ties="rebuild")
    assert web.refresh(model).mode == "create"
    web.sql("insert into $.events values (7, 1, 10, 'e')")
    outcome = web.refresh(model)
    assert outcome.mode == "full" and "IDIVM-203" in str(outcome.reason), outcome.message


@pytest.mark.deep
def test_another_key_is_another_order(web: Project) -> None:
    web.sql("create table $.keyed using delta tblproperties (delta.enableChangeDataFeed = true) as select * from $.events")
    before = web.model("last", LAST.format("keyed"))
    assert web.refresh(before).mode == "create"
    after = web.model("last", LAST.format("keyed"), {"keyed": ["id"]})
    outcome = web.refresh(after)
    assert outcome.mode == "full" and "IDIVM-402" in str(outcome.reason), outcome.message
    assert web.differences(after) == []
