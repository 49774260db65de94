"""What dbt docs shows of a model: the texts, and that dbt reads them from the catalog as they are."""

from __future__ import annotations

import datetime as dt
from typing import Any

import agate
import pytest
from dbt.task.docs.generate import Catalog

from dbt.adapters.idivm.docs_facts import with_statistics
from dbt_idivm.project import Project
from dbt_idivm.tools.report.facts import Model, Refresh, Refused, Size, Stored
from dbt_idivm.tools.report.for_catalog import Fact, hidden_tables, ids_of, is_known, of_hidden, of_plan, of_table
from dbt_idivm.tools.report.of_project import outlined
from tests.unit.test_project import CUSTOMERS, JOINED, ORDERS, manifest, model

AT = dt.datetime(2026, 1, 1, 8, tzinfo=dt.UTC)
LAST = Refresh("incremental", AT, 3, "MERGE", 1200, 0, 3, 1.25, (("orders", 3, 4), ("cust", None, 1)))
STORED = Stored(
    "main.joined__idivm", Size(4000, 34_000), (LAST, Refresh("created", AT, 0, inserted=2)), caches=("main.idivm_cache_3f_parts",)
)
THERE = {"main.joined", "main.joined__idivm", "main.joined__idivm_changes", "main.idivm_cache_3f_parts", "main.other__idivm"}


def planned(project: Project, unique_id: str) -> dict[str, Fact]:
    node = project.keys.nodes[unique_id]
    found = outlined(node, project.explanation(node))
    return {fact.name: fact for fact in of_plan(found, project.plan(node) if found.how is not None else None)}


def test_what_the_plan_says() -> None:
    found = planned(Project(manifest(JOINED)), "model.p.joined")
    assert {name: fact.value for name, fact in found.items()} == {
        "maintenance": "by i-diffs; updates of a condition's columns by recomputing the rows",
        "ids": "id, idivm__c__id",
        "hidden_columns": "idivm__c__id",
    }


def test_a_rebuilt_model_says_why_and_what_to_do() -> None:
    drawn = model("drawn", "select id, rand() as r from raw.orders", ORDERS)
    (found,) = planned(Project(manifest(drawn)), "model.p.drawn").values()
    assert found.value.startswith("rebuilt on every run, IDIVM-204 rand()") and "downstream" in found.description
    (unknown,) = of_plan(Model("x", "model.p.x", "main.x", problem="nobody knows"), None)
    assert unknown.value == "not known, nobody knows"


def test_rows_that_may_be_equal_have_no_ids() -> None:
    project = Project(manifest(model("all", "select price from raw.orders union all select price from raw.orders", ORDERS)))
    assert ids_of(project.plan(project.keys.nodes["model.p.all"])) != ()
    keyless = {**manifest(model("one", "select sum(price) as s from raw.orders", ORDERS))}
    assert ids_of(Project(keyless).plan(keyless["nodes"]["model.p.one"])) == ()


def test_what_the_table_says() -> None:
    known = Model("joined", "model.p.joined", "main.joined", "by i-diffs", stored=STORED)
    hidden = hidden_tables(known, THERE)
    found = {fact.name: fact for fact in of_table(known, hidden)}
    assert hidden == {
        "main.joined__idivm": "rows with hidden columns",
        "main.joined__idivm_changes": "log of changes",
        "main.idivm_cache_3f_parts": "cache of parts",
    }
    assert {name: fact.value for name, fact in found.items()} == {
        "hidden_tables": "main.joined__idivm (rows with hidden columns); main.joined__idivm_changes (log of changes); "
        "main.idivm_cache_3f_parts (cache of parts)",
        "size": "4,000 rows · 34.0 kB",
        "last_refresh": "incremental, +1,200 ~0 −3, 1.2 s, at 2026-01-01 08:00:00",
        "changes": "1,203 rows a refresh (30 %)",
    }
    assert "orders 3 → 4, cust → 1." in found["last_refresh"].description
    rebuilt = Stored("main.joined", history=(Refresh("rebuilt", AT, 5, inserted=7, why="IDIVM-411 dear"),))
    (only,) = of_table(Model("joined", "model.p.joined", "main.joined", "by i-diffs", stored=rebuilt), {})
    assert only.value == "rebuilt, 7 written, at 2026-01-01 08:00:00, IDIVM-411 dear"
    nothing = Model("joined", "model.p.joined", "main.joined", refused=Refused("IDIVM-407", "it is full"))
    assert list(of_table(nothing, {})) == [] and hidden_tables(nothing, THERE) == {}
    assert of_hidden("log of changes", {"b", "a"}).value == "log of changes, of a, b"


@pytest.mark.parametrize(
    "missing, known", [((), True), (("view_of",), False), (("base",), False), (("plain",), True), (("top",), False)]
)
def test_a_plan_is_shown_if_all_that_it_depends_on_is_compiled(missing: tuple[str, ...], known: bool) -> None:
    def part(name: str, *reads: str, materialized: str = "idivm") -> Any:
        return model(name, None if name in missing else f"select id from raw.{name}", *reads, materialized=materialized)

    nodes = (
        part("base", ORDERS),
        part("view_of", "model.p.base", materialized="view"),
        part("plain", materialized="table"),
        part("top", "model.p.view_of", "model.p.plain", CUSTOMERS),
    )
    assert is_known(Project(manifest(*nodes)), "model.p.top") is known


def test_dbt_reads_them_as_they_are() -> None:
    """Texts that look like numbers, times or nothing at all, beside a statistic of dbt-spark's."""
    names = (
        "table_schema",
        "table_name",
        "table_type",
        "column_name",
        "column_index",
        "column_type",
        "stats:bytes:label",
        "stats:bytes:value",
        "stats:bytes:description",
        "stats:bytes:include",
    )
    size = ("bytes", 7, "", True)
    rows = [
        ("main", "T", "table", "id", 0, "int", *size),
        ("main", "T", "table", "b", 1, "int", *size),
        ("main", "plain", "table", "id", 0, "int", None, None, None, None),
    ]
    catalog = agate.Table(rows, names)
    values = {"number": "12", "time": "2026-01-02 03:04:05", "nothing": "none", "truth": "yes"}
    shown = with_statistics(catalog, {"main.t": [Fact(name, name, value, "what it is") for name, value in values.items()]})
    tables = {key[2]: table for key, table in Catalog([dict(row) for row in shown.rows]).items()}
    found = {name: each.value for name, each in tables["T"].stats.items() if each.include}
    assert found == {"bytes": 7, **{f"idivm_{name}": value for name, value in values.items()}}
    assert tables["T"].stats["idivm_time"].label == "Maintenance: time"
    assert list(tables["T"].columns) == ["id", "b"] and list(tables["plain"].stats) == ["has_stats"]
    assert with_statistics(catalog, {}).column_names == catalog.column_names
