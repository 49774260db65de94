"""Strategies side by side on Spark + Delta: the running example, and joins of two to six tables of a microblog, as in BSMA.

By i-diffs, by tuples, by recomputation, over caches: one view each over the same inputs, maintained for the same changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.running_example import COSTS, V
from tests.functional.project import Project, project_in

STRATEGIES = ("id", "tuple", "recompute")
# each join adds a table: view n has n of them
JOINED = (
    ("tweets t join $.users u on t.uid = u.uid", "t.tid, u.city, t.stars"),
    ("join $.retweets r on r.tid = t.tid", "r.rid"),
    ("join $.mentions m on m.tid = t.tid", "m.uid as mentioned"),
    ("join $.tags g on g.tid = t.tid", "g.tag"),
    ("join $.follows f on f.uid = m.uid", "f.who"),
)
# a chain, each step to one row: what the paper would cache
SPREAD = """select u.city, g.tag, max(t.stars) as most, count(*) as tweets
from $.tags g join $.tweets t on g.tid = t.tid join $.users u on t.uid = u.uid group by u.city, g.tag"""

pytestmark = pytest.mark.long
KEYS = {
    "users": ["uid"],
    "tweets": ["tid"],
    "retweets": ["rid"],
    "mentions": ["tid", "uid"],
    "tags": ["tid", "tag"],
    "follows": ["uid", "who"],
    "devices": ["did"],
    "parts": ["pid"],
    "devices_parts": ["did", "pid"],
}


@pytest.fixture
def lab(spark: Any, request: pytest.FixtureRequest) -> Iterator[Project]:
    with project_in(spark, "strategies_" + request.node.name.removeprefix("test_")[:20]) as project:
        yield project


def models(lab: Project, name: str, sql: str, strategies: tuple[str, ...] = STRATEGIES) -> list[ModelRequest]:
    return [lab.model(f"{name}_by_{strategy}", sql, KEYS, strategy=strategy) for strategy in strategies]


def led_on(lab: Project, views: list[ModelRequest]) -> dict[str, tuple[str | None, int, int]]:
    """View → its strategy, its writes, and the rows that these wrote; each is what its query gives."""
    lab.new_run()
    found = {}
    for view in views:
        outcome = lab.refresh_in_run(view)
        assert outcome.mode == "incremental", outcome.message
        assert lab.is_exact(view), view.name
        rows = outcome.rows_inserted + outcome.rows_updated + outcome.rows_deleted
        found[view.name] = (outcome.strategy, lab.kinds["write"], rows)
    return found


def created(lab: Project, views: list[ModelRequest]) -> None:
    for view in views:
        assert lab.refresh_in_run(view).mode == "create"


def test_running_example(lab: Project) -> None:
    lab.table("devices", "did int, category string", "(1, 'phone')", "(2, 'phone')", "(3, 'tablet')")
    lab.table("parts", "pid int, price int", "(1, 10)", "(2, 20)")
    lab.table("devices_parts", "did int, pid int", "(1, 1)", "(2, 1)", "(1, 2)", "(3, 2)")
    v, costs = (re.sub(r"(FROM|JOIN) ", r"\1 $.", sql) for sql in (V, COSTS))
    views = [*models(lab, "v", v), *models(lab, "costs", costs)]
    created(lab, views)
    lab.sql("update $.parts set price = 11 where pid = 1")
    seen = led_on(lab, views)
    assert seen == {
        "v_by_id": ("id", 1, 2),
        "v_by_tuple": ("tuple", 1, 2),
        "v_by_recompute": ("recompute", 1, 2),
        "costs_by_id": ("id", 1, 2),
        "costs_by_tuple": ("tuple", 1, 2),
        "costs_by_recompute": ("recompute", 1, 2),
    }
    lab.sql(
        "update $.devices set category = 'phone' where did = 3",
        "insert into $.parts values (3, 30)",
        "insert into $.devices_parts values (2, 3)",
        "delete from $.devices_parts where did = 1 and pid = 1",
    )
    assert {writes for _, writes, _ in led_on(lab, views).values()} == {1}


def test_joins_of_two_to_six_tables(lab: Project) -> None:
    lab.table("users", "uid int, city string", "(1, 'a')", "(2, 'b')", "(3, 'a')")
    lab.table("tweets", "tid int, uid int, stars int", "(1, 1, 0)", "(2, 2, 5)", "(3, 3, 1)")
    lab.table("retweets", "rid int, tid int", "(1, 1)", "(2, 1)", "(3, 2)", "(4, 3)")
    lab.table("mentions", "tid int, uid int", "(1, 2)", "(1, 3)", "(2, 3)", "(3, 1)")
    lab.table("tags", "tid int, tag string", "(1, 'x')", "(2, 'y')", "(3, 'x')")
    lab.table("follows", "uid int, who int", "(1, 2)", "(2, 1)", "(3, 1)", "(3, 2)")
    views = []
    for number in range(1, len(JOINED) + 1):
        joins, columns = zip(*JOINED[:number], strict=True)
        sql = f"select {', '.join(columns)} from $.{' '.join(joins)} where t.stars < 9"
        others = {1: ("tuple",), 3: ("recompute",), 5: ("tuple",)}.get(number, ())
        views += models(lab, f"join{number + 1}", sql, ("id", *others))
    spread = [*models(lab, "spread", SPREAD, ("id", "tuple")), lab.model("spread_by_caches", SPREAD, KEYS, caches="all")]
    views += spread
    created(lab, views)
    lab.sql("update $.users set city = 'c' where uid = 1")
    written = led_on(lab, views)
    # over caches first that of the join, then the view
    assert [written.pop(view.name)[1:] for view in spread] == [(1, 2), (1, 2), (2, 2)]
    assert {writes for _, writes, _ in written.values()} == {1}
    assert all(strategy == name.partition("_by_")[2] for name, (strategy, _, _) in written.items())
    lab.sql(
        "update $.tweets set stars = 9 where tid = 2",
        "insert into $.retweets values (5, 3)",
        "delete from $.mentions where tid = 1 and uid = 2",
        "insert into $.follows values (1, 3)",
    )
    assert {name: writes for name, (_, writes, _) in led_on(lab, views).items() if writes != 1} == {"spread_by_caches": 2}
