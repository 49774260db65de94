"""Sources that change under their views: each ends in an incremental refresh, in a rebuild with its reason, or in a coded error,
and never in a wrong view."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from tests.functional.drifts import DRIFTS, ROWS, Drift
from tests.functional.project import Project, project_in

KEYS = {"orders": ["id"], "cust": ["id"]}
WIDE = "select o.*, c.name from $.orders o join $.cust c on o.cust = c.id"
PAIRS = "select o.id, o.price, c.name from $.orders o left join $.cust c on o.cust = c.id"
# One of each: by i-diffs, by adding, by tuples, over a cache, by ranking.
NARROW: dict[str, tuple[str, dict[str, Any]]] = {
    "pairs": (PAIRS, {}),
    "sums": ("select cust, count(*) as n, sum(price) as total from $.orders group by cust", {}),
    "tuples": (PAIRS, {"strategy": "tuple"}),
    "cached": (
        "with t as (select cust, sum(price) as total from $.orders group by cust) "
        "select t.total, c.name from t join $.cust c on c.id = t.cust",
        {"caches": ["t"]},
    ),
    "first": (
        "select id, cust, price from (select id, cust, price, row_number() over (partition by cust order by price, id) "
        "as r from $.orders) where r = 1",
        {},
    ),
}
DEFAULT = ("before the names of two columns", "one gets its name", "off for some")  # a part of them in `make deep`


def ended(project: Project, model: ModelRequest) -> str:
    """The mode of a refresh, or the code of its reason or error. What is refreshed is what its SELECT gives."""
    try:
        outcome = project.refresh(model)
    except IdivmError as error:
        (code,) = error.codes
        return code
    assert project.is_exact(model), outcome.message
    return outcome.reason.partition(" ")[0] if outcome.mode == "full" and outcome.reason else outcome.mode


@pytest.mark.parametrize(
    "drift",
    [
        pytest.param(
            each, id=each.what, marks=pytest.mark.deep if any(word in each.what for word in DEFAULT) else pytest.mark.long
        )
        for each in DRIFTS
    ],
)
def test_a_source_changes(drift: Drift, spark: Any) -> None:
    with project_in(spark, "drift") as project:
        project.sql(
            f"create table $.orders ({drift.columns}) using delta {drift.made}",
            f"insert into $.orders values {ROWS}",
            *drift.earlier,
        )
        project.table("cust", "id int, name string", "(1, 'ann')", "(2, 'bob')")
        wide = project.model("wide", WIDE, KEYS)
        narrow = [project.model(name, sql, KEYS, **config) for name, (sql, config) in NARROW.items()]
        for each in (wide, *narrow):
            assert ended(project, each) == "create"
        if callable(drift.happens):
            drift.happens(project)
        else:
            project.sql(*drift.happens)
        assert ended(project, wide) == drift.wide
        expected = {each.name: drift.narrow for each in narrow} | {**drift.but}
        assert {each.name: ended(project, each) for each in narrow} == expected
        project.sql(drift.row)
        assert ended(project, wide) == drift.later[0]
        later = {each.name: drift.later[1] for each in narrow} | {**drift.later_but}
        assert {each.name: ended(project, each) for each in narrow} == later
