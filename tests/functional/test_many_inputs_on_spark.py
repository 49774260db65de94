"""Changes of many inputs are read by few statements, and the view is exact: rows of all kinds, and inputs that are read alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.engine.engine import EMBEDDED, SPARK_DELTA
from dbt_idivm.script.diff import INLINE_ROWS
from tests.functional.project import Project, project_in

pytestmark = pytest.mark.deep  # `test_many_inputs` has most of it, on the fake engine

TENANTS = 12
COLUMNS = "id int, name string, at timestamp, amount decimal(10,2), ok boolean"
ROWS = (
    "(1, 'one', timestamp'2026-01-01 10:00:00.123456', 1.50, true)",
    "(2, 'two', null, -2.25, false)",
    "(3, null, timestamp'2026-10-25 02:30:00', null, null)",
)


@pytest.fixture(params=[True, False], ids=["log", "sql"])
def shop(spark: Any, request: pytest.FixtureRequest) -> Iterator[Project]:
    with project_in(spark, "many_inputs", engine=EMBEDDED if request.param else SPARK_DELTA) as project:
        for number in range(TENANTS):
            # the last ones have more columns, which the view does not read
            more, cells = (", weight double, raw binary", ", double('-0.0'), x'00ff')") if number > 9 else ("", ")")
            project.table(f"t{number}", COLUMNS + more, *(row[:-1] + cells for row in ROWS))
        yield project


def union(shop: Project) -> ModelRequest:
    branches = (f"select {number} as tenant, id, name, at, amount, ok from $.t{number}" for number in range(TENANTS))
    return shop.model("v", " union all ".join(branches), {f"t{number}": ["id"] for number in range(TENANTS)})


def reads(shop: Project) -> list[str]:
    """The statements that read net diffs and check keys."""
    labels = [each.label.replace(f"{shop.schema}.", "") for each in shop.executed if each.kind == "read"]
    return [label for label in labels if label.startswith(("net diff", "check", "difference", "rows in the change feed"))]


def row(shop: Project, number: int, key: int) -> str:
    more = ", 1.5, x'01'" if number > 9 else ""
    return f"insert into $.t{number} values ({key}, 'née \"{number}\"', timestamp'1969-12-31 23:59:59.999999', 0.01, true{more})"


def test_one_changed_row_in_each(shop: Project) -> None:
    model = union(shop)
    assert shop.refresh(model).mode == "create"
    shop.sql(*(row(shop, number, 9) for number in range(TENANTS)))
    outcome = shop.refresh(model)
    assert (outcome.mode, outcome.rows_inserted) == ("incremental", TENANTS) and shop.is_exact(model), outcome.message
    assert reads(shop) == [
        "net diffs of 12 tables, t0 to t11",
        "check new keys of 12 tables, t0 to t11",
    ]
    shop.sql(*(f"update $.t{number} set name = null, ok = not ok where id <= 2" for number in range(TENANTS)))
    outcome = shop.refresh(model)
    assert (outcome.mode, outcome.rows_updated) == ("incremental", 2 * TENANTS) and shop.is_exact(model), outcome.message
    assert reads(shop) == ["net diffs of 12 tables, t0 to t11"]


def test_changes_of_all_kinds(shop: Project) -> None:
    model = union(shop)
    assert shop.refresh(model).mode == "create"
    shop.sql(
        row(shop, 0, 4),
        "update $.t1 set amount = amount * 2, at = at + interval 1 microsecond where id <> 3",
        "delete from $.t2 where id = 3",
        "merge into $.t3 t using (select 1 as k union all select 5) s on t.id = s.k when matched then update set name = '\ufffd' "
        "when not matched then insert (id, name) values (s.k, '')",
        "update $.t4 set id = id + 10",
        "optimize $.t5",
        row(shop, 6, 7),
        "delete from $.t6 where id = 7",
        f"insert into $.t7 select int(100 + id), 'many', null, 1.00, true from range({INLINE_ROWS + 1})",
        "insert overwrite $.t8 select id, upper(name), at, amount, ok from $.t8",
        row(shop, 10, 4),
        "update $.t11 set weight = 0.0, name = 'weight' where id = 2",
    )
    outcome = shop.refresh(model)
    assert outcome.mode == "incremental" and shop.is_exact(model), outcome.message
    (common,) = [each for each in reads(shop) if each.startswith("net diffs of")]
    assert common.startswith("net diffs of 8 tables"), common
    (common,) = [each for each in reads(shop) if each.startswith("check new keys of")]
    assert common == "check new keys of 3 tables, t0 to t4", "t10 and t0 have one new key each"


def test_a_broken_key_of_one(shop: Project) -> None:
    model = union(shop)
    assert shop.refresh(model).mode == "create"
    shop.sql(*(row(shop, number, 2 if number == 7 else 9) for number in range(TENANTS)))
    with pytest.raises(IdivmError) as failed:
        shop.refresh(model)
    assert failed.value.codes == ("IDIVM-306",) and "many_inputs.t7" in str(failed.value) and "id = 2" in str(failed.value)
    assert reads(shop) == [
        "net diffs of 12 tables, t0 to t11",
        "check new keys of 12 tables, t0 to t11",
        "check new keys (id) of t7",
    ]
    shop.sql("delete from $.t7 where id = 2 and amount = 0.01")
    assert shop.refresh(model).mode == "incremental" and shop.is_exact(model)


def test_a_feed_that_is_gone(shop: Project) -> None:
    """The common statement fails. Its reason is that of the input alone, and the other inputs are not blamed."""
    model = union(shop)
    assert shop.refresh(model).mode == "create"
    shop.sql(*(row(shop, number, 9) for number in range(3)))
    shop.sql(
        "alter table $.t1 set tblproperties ('delta.enableChangeDataFeed' = 'false')",
        row(shop, 1, 10),
        "alter table $.t1 set tblproperties ('delta.enableChangeDataFeed' = 'true')",
    )
    outcome = shop.refresh(model)
    assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-403 ") and "t1" in (outcome.reason or "")
    assert shop.is_exact(model)
