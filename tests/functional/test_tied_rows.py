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
# Aggregates that choose between the rows of a group; with and without a key.
BY_USER = (
    "select usr, max_by(page, at) as last_page, min_by(id, at) as first_id, first(page) as a, last(page, true) as b, "
    "any_value(id) filter (where at > 9) as c, concat_ws(',', collect_list(page)) as pages, collect_list(id) as ids, "
    "listagg(page, '-') within group (order by at desc) as by_time, collect_set(page) as different, count(*) as n "
    "from $.{} group by usr"
)
OF_ALL = (
    "select max_by(struct(id, page), at) as newest, to_json(map_from_arrays(collect_list(id), collect_list(at))) as times from "
    "$.events"
)
BY_PAGE = "select page, usr, first(id) as one, grouping_id() as g from $.events group by rollup (page, usr)"
OF_EACH = "select e.id, (select max_by(l.id, l.at) from $.log l where l.usr = e.usr) as newest from $.events e"
COMPARED = {"pages": BY_PAGE, "each": OF_EACH}  # Spark's plans prove nothing of these
TIED = {
    "latest": LAST.format("events"),
    "before": BEFORE,
    "newest": FIRST,
    "bag": LAST.format("log"),
    "by_user": BY_USER.format("events"),
    "by_user_of_bag": BY_USER.format("log"),
    "all": OF_ALL,
    **COMPARED,
}
LANES = {"by_user": (), **dict.fromkeys(("latest", "by_user_of_bag", "all", "each"), pytest.mark.deep)}


@pytest.fixture
def web(spark: Any, request: pytest.FixtureRequest) -> Iterator[Project]:
    with project_in(spark, "tied_" + request.node.name.partition("[")[0].removeprefix("test_")[:40]) as project:
        for table in ("events", "log"):
            project.table(table, "id int, usr int, at int, page string", *ROWS)
        yield project


def tied(web: Project, name: str, **config: object) -> ModelRequest:
    checked = {"verify_build": "never"} if name in COMPARED else {}
    return web.model(name, TIED[name], {"events": ["id"]}, **checked, **config)


@pytest.mark.parametrize("name", [pytest.param(name, marks=LANES.get(name, pytest.mark.long)) for name in TIED])
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
def test_what_spark_gives_for_one_row_of_each_group(web: Project) -> None:
    """Where nothing is tied, the view has what the user's own text gives."""
    web.sql("delete from $.events where id not in (1, 4, 6)")
    web.refresh(tied(web, "by_user"))
    assert sorted(map(repr, web.sql("select * from $.by_user"))) == sorted(map(repr, web.sql(TIED["by_user"])))


@pytest.mark.deep
@pytest.mark.parametrize(("name", "code"), [("latest", "IDIVM-203"), ("by_user", "IDIVM-207")])
def test_without_the_order_they_are_rebuilt(web: Project, name: str, code: str) -> None:
    model = tied(web, name, ties="rebuild")
    assert web.refresh(model).mode == "create"
    web.sql("insert into $.events values (7, 1, 10, 'e')")
    outcome = web.refresh(model)
    assert outcome.mode == "full" and code in str(outcome.reason), outcome.message


@pytest.mark.deep
def test_another_key_is_another_order(web: Project) -> None:
    web.sql("create table $.keyed using delta tblproperties (delta.enableChangeDataFeed = true) as select * from $.events")
    before = web.model("last", LAST.format("keyed"))
    assert web.refresh(before).mode == "create"
    after = web.model("last", LAST.format("keyed"), {"keyed": ["id"]})
    outcome = web.refresh(after)
    assert outcome.mode == "full" and "IDIVM-402" in str(outcome.reason), outcome.message
    assert web.differences(after) == []
