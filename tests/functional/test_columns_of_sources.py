"""The columns of tables and of plain views: which ones a view reads does not change with what their tables get, or where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.catalog.relations import OWNER
from dbt_idivm.refresh.catalog.state import encode
from dbt_idivm.refresh.engine.engine import sql_warehouse
from dbt_idivm.refresh.engine.ledger import NAME
from tests.databricks_endpoint import WAREHOUSE, Endpoint
from tests.functional.project import Project, project_in

KEYS = {"t": ["id"], "s": ["id"]}
MADE = "using delta tblproperties ('delta.enableChangeDataFeed' = 'true', 'delta.columnMapping.mode' = 'name')"
STAR = "create view $.p as select * from $.t"
MOVED = "alter table $.t alter column b after id"
ADDED = ("alter table $.t add column z int first", "update $.t set z = 5")
WIDENED = (
    "alter table $.t set tblproperties ('delta.enableTypeWidening' = 'true')",
    "alter table $.t alter column a type bigint",
)
AGAIN = STAR.replace("create", "create or replace")
BOTH = "select * from $.p union all select * from $.s"


@dataclass(frozen=True)
class Case:
    """`ends`: what the refresh after the changes does; `later`: what those after more rows do."""

    model: str
    changes: tuple[str, ...]
    ends: str
    views: tuple[str, ...] = (STAR,)
    later: str = "incremental"


TABLES = {
    "a UNION ALL": Case("select * from $.s union all select * from $.t", (MOVED,), "IDIVM-412"),
    "its first branch": Case("select * from $.t union all select * from $.s", (MOVED,), "IDIVM-412"),
    "an EXCEPT": Case("select * from $.t except select * from $.s", (MOVED,), "IDIVM-412"),
    "names by place": Case("select p, q, r from $.t as x(p, q, r)", (MOVED,), "IDIVM-412"),
    "no star": Case("select a, b, count(*) as n from $.t group by all", (MOVED,), "incremental"),
    "a tuple": Case("select id from $.s where (id, a) in (select id, a from $.t)", (MOVED,), "incremental"),
}
VIEWS = {
    "a column comes first": Case(BOTH, ADDED, "incremental"),
    "a column is moved": Case(BOTH, (MOVED,), "IDIVM-412"),
    "it is created again": Case("select * from $.p", (*ADDED, AGAIN), "IDIVM-402"),
    "names of its own": Case("select * from $.p", (MOVED,), "IDIVM-412", ("create view $.p(x, y, z) as select * from $.t",)),
    "one column twice": Case("select * from $.p", ADDED, "incremental", ("create view $.p(x, y) as select id, id from $.t",)),
    "sorted, with a CTE": Case(
        "select * from $.p",
        ADDED,
        "incremental",
        ("create view $.p(k, l) as with c as (select * from $.t) select id, a from c order by id",),
    ),
    "a view below": Case(
        "select x, z from $.p",
        ADDED,
        "incremental",
        ("create view $.o as select * from $.t", "create view $.p(x, y, z) as select * from $.o"),
    ),
    "a type is widened": Case("select * from $.p", WIDENED, "IDIVM-408", later="IDIVM-408"),
    "widened, and created again": Case("select * from $.p", (*WIDENED, AGAIN), "IDIVM-412"),
    "it follows its text": Case("select * from $.p", ADDED, "IDIVM-412", (STAR.replace(" as ", " with schema evolution as "),)),
    "it follows types": Case(
        "select * from $.p", WIDENED, "IDIVM-412", (STAR.replace(" as ", " with schema type evolution as "),)
    ),
    "a model without a plan": Case("select id, a, rand() < 2 as r from $.p", ADDED, "IDIVM-408", later="IDIVM-408"),
}
CASES = {**TABLES, **VIEWS}
DEFAULT = (next(iter(TABLES)), next(iter(VIEWS)))


@pytest.fixture
def shop(spark: Any) -> Iterator[Project]:
    with project_in(spark, "columns") as project:
        for name in "ts":
            project.sql(
                f"create table $.{name} (id int, a int, b int) {MADE}", f"insert into $.{name} values (1, 10, 100), (2, 20, 200)"
            )
        yield project


@pytest.mark.deep
@pytest.mark.parametrize("what", [pytest.param(each, marks=() if each in DEFAULT else pytest.mark.long) for each in CASES])
def test_columns_of_sources(shop: Project, what: str) -> None:
    case = CASES[what]
    shop.sql(*(case.views if what in VIEWS else ()))
    model = shop.model("v", case.model, KEYS)

    def ends() -> str:
        shop.sql(f"insert into $.t (id, a, b) values ({shop.runs + 10}, 30, 300)")
        outcome = shop.refresh(model)
        assert shop.is_exact(model), outcome.message
        assert shop.differences(model) == []
        return (outcome.reason or "").partition(" ")[0] if outcome.mode == "full" else outcome.mode

    first = (ends(), ends())
    assert first == ("create", "IDIVM-408" if "without a plan" in what else "incremental")
    shop.sql(*case.changes)
    assert (ends(), ends(), ends()) == (case.ends, case.later, case.later)


@pytest.mark.long
def test_a_column_that_a_view_selects_is_dropped(shop: Project) -> None:
    shop.sql(STAR)
    model = shop.model("v", "select id, a from $.p", KEYS)
    shop.refresh(model)
    shop.sql("alter table $.t drop column b")
    with pytest.raises(IdivmError, match="re-create the view") as caught:
        shop.refresh(model)
    assert caught.value.codes == ("IDIVM-902",)
    shop.sql(AGAIN, "insert into $.t values (3, 30)")
    assert shop.refresh(model).mode == "full" and shop.is_exact(model)


@pytest.mark.deep
def test_an_upstream_model_shows_its_columns_in_another_order(shop: Project) -> None:
    """Its rows stay where they are stored."""
    above = shop.model("above", "select * from $.s union all select * from $.up")
    ups = [shop.model("up", f"select id, {columns} from $.t", KEYS) for columns in ("a, b", "b, a")]
    modes = [(shop.refresh(up).mode, shop.refresh(above).mode, shop.is_exact(above)) for up in (*ups, ups[1])]
    assert modes == [("create", "create", True), ("migrated", "full", True), ("noop", "noop", True)]


REPLACED = f"create or replace table $.t {MADE.replace('true', 'false')} as select {{}} from $.t"
RESTORED = {
    "names are exchanged": tuple(f"alter table $.t rename column {old} to {new}" for old, new in ("ax", "ba", "xb")),
    "a column is dropped": ("alter table $.t drop column a", "alter table $.t add column a int"),
    "it is replaced": (
        REPLACED.format("id, b"),
        REPLACED.format("id, 7 as a, b"),
        "alter table $.t set tblproperties ('delta.enableChangeDataFeed' = 'true')",
    ),
}


@pytest.mark.deep
@pytest.mark.parametrize(
    "what", [pytest.param(each, marks=() if each == "names are exchanged" else pytest.mark.long) for each in RESTORED]
)
def test_columns_that_are_restored(shop: Project, what: str) -> None:
    """What is undone was done before the view was built: the same files have other values under a name, in one commit."""
    shop.sql(*RESTORED[what])
    models = [
        shop.model("v", "select id, a from $.t", KEYS),
        shop.model("w", "select sum(a) as total from $.t"),
        shop.model("u", "select count(*) as n from $.t"),
    ]
    for statement, mode, other in (
        ("insert into $.t (id, a, b) values (3, 30, 300)", "create", "create"),
        ("restore table $.t to version as of 1", "full", "incremental"),
        ("insert into $.t (id, a, b) values (4, 40, 400)", "incremental", "incremental"),
        ("restore table $.t to version as of 1", "full", "incremental"),
    ):
        shop.sql(statement)
        modes = [shop.refresh(model).mode for model in models]
        assert modes[:2] == [mode] * 2 and all(map(shop.is_exact, models))
        # it reads the key alone, which was not renamed; of a table that was replaced nobody knows
        assert modes[2] == (mode if what == "it is replaced" else other)


WIDE_TYPE = ", ".join(f"f{each}: int" for each in range(40))
WIDE_VALUE = ", ".join(f"'f{each}', {each}" for each in range(40))
FIELDS = {
    "widened": "alter table $.wide alter column s.f38 type bigint",
    "renamed": "alter table $.wide rename column s.f39 to g",
    "dropped": "alter table $.wide drop column s.f37",
    "added": "alter table $.wide add column s.g int",
}


@pytest.mark.deep
@pytest.mark.parametrize("what", [pytest.param(each, marks=() if each == "renamed" else pytest.mark.long) for each in FIELDS])
def test_a_field_of_a_wide_struct_is_changed(shop: Project, what: str) -> None:
    """One of those that Spark does not show of itself."""
    shop.sql(
        f"create table $.wide (id int, s struct<{WIDE_TYPE}>) {MADE}",
        WIDENED[0].replace("$.t ", "$.wide "),
        f"insert into $.wide select 1, named_struct({WIDE_VALUE})",
    )
    models = [
        shop.model("v", "select id, s from $.wide", {"wide": ["id"]}),
        shop.model("w", "select s.f38 as x, count(*) as n from $.wide group by s.f38", {"wide": ["id"]}),
    ]
    for model in models:
        assert shop.refresh(model).mode == "create"
    shop.sql(FIELDS[what])
    fields = ", ".join(
        f"'{each}', {'3000000000' if what == 'widened' and each == 'f38' else 7}"
        for each in shop.spark.table(shop.within("$.wide")).schema["s"].dataType.fieldNames()
    )
    shop.sql(f"insert into $.wide select 2, named_struct({fields})")
    for model in models:
        assert (shop.refresh(model).reason or "").startswith("IDIVM-412") and shop.is_exact(model)
        kinds = [
            [(each.name, each.dataType) for each in shop.frame(sql).schema]
            for sql in (f"select * from $.{model.name}", model.sql)
        ]
        assert kinds[0] == kinds[1]


@pytest.mark.deep
def test_columns_with_default_values(shop: Project) -> None:
    """They pass into the tables that are made of them, which have to allow them, and are never used there."""
    shop.sql(
        f"create table $.d (id int, cust int, note string default 'none', n int default 7) {MADE[:-1]}, "
        "'delta.feature.allowColumnDefaults' = 'supported')",
        "insert into $.d (id, cust) values (1, 1), (2, 1), (3, 2)",
    )
    models = [
        shop.model("v", "select * from $.d", {"d": ["id"]}, output="both"),
        shop.model("w", "select d.note, t.a from $.d d left join $.t t on d.cust = t.id", {**KEYS, "d": ["id"]}),
        shop.model(
            "u",
            "select g.m, t.b from (select cust, note, max(n) as m from $.d group by cust, note) g join $.t t on t.id = g.cust",
            {**KEYS, "d": ["id"]},
            caches="all",
        ),
    ]
    for statement, mode in (
        ("", "create"),
        ("insert into $.d (id, cust, note) values (4, 2, null), (5, 1, 'x')", "incremental"),
        ("update $.d set note = default, n = null where id in (1, 5)", "incremental"),
    ):
        shop.sql(*([statement] if statement else []))
        for model in models:
            assert shop.refresh(model).mode == mode and shop.is_exact(model)
    for model in models:
        assert shop.refresh(model, full_refresh=True).mode == "full" and shop.is_exact(model)


@pytest.mark.deep
def test_rows_are_staged_with_any_columns(spark: Any) -> None:
    """On a SQL warehouse they are in tables, which have to allow default values and names with blanks."""
    shop = Project(
        Endpoint(spark.newSession(), WAREHOUSE),
        "staged_columns",
        lambda model: sql_warehouse(
            f"staged_columns_ledger.{NAME}", model.relation, {OWNER: encode(model.owner)}, "UTC", depth=2
        ),
    )
    shop.sql("create schema staged_columns_ledger")
    shop.sql(
        f"create table $.d (id int, note string default 'none', `a b` int) {MADE[:-1]}, "
        "'delta.feature.allowColumnDefaults' = 'supported')"
    )
    model = shop.model("v", "select id, note, `a b` as n from $.d", {"d": ["id"]})
    for statement, mode in (
        ("insert into $.d (id, `a b`) values (1, 1), (2, null)", "create"),
        ("insert into $.d select id, null, id from range(3, 1500)", "incremental"),
    ):
        shop.sql(statement)
        assert shop.refresh(model).mode == mode and shop.is_exact(model)
    assert any("__idivm_net_" in each.sql for each in shop.executed)
    for schema in ("staged_columns", "staged_columns_ledger"):
        spark.sql(f"drop schema {schema} cascade")
