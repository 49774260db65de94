"""`strategy: auto` on Spark + Delta: what is small is rebuilt, what is large is maintained, and both stay exact."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from dbt.adapters.idivm.maintenance import WARM_UP, InvocationMemory
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.apply import incremental
from dbt_idivm.refresh.engine.engine import SPARK_DELTA
from dbt_idivm.refresh.protocol import Outcome
from tests.functional.project import Project, project_in

KEYS = {"o": ["id"], "c": ["id"]}
JOIN = "select o.id, o.price, c.name from $.o o join $.c c on o.cid = c.id"


@pytest.fixture
def shop(spark: Any, request: pytest.FixtureRequest) -> Iterator[Project]:
    with project_in(spark, "cost_" + request.node.name.removeprefix("test_")[:20]) as project:
        project.table("o", "id int, cid int, price int", "(1, 1, 10)", "(2, 1, 20)", "(3, 2, 30)")
        project.table("c", "id int, name string", "(1, 'one')", "(2, 'two')")
        yield project


def identity(shop: Project, table: str) -> str:
    return str(shop.detail(table)["id"])


def chosen(shop: Project, model: Any, name: str) -> Outcome:
    """A run in which the alternative of that name is chosen."""
    shop.new_run()
    shop.invocation.choose = lambda found: next(each for each in found if each.name == name)
    return shop.refresh_in_run(model)


@pytest.mark.long
def test_a_tiny_view_is_rebuilt_and_what_reads_it_is_maintained(shop: Project) -> None:
    view = shop.model("v", JOIN, KEYS, strategy="auto")
    above = shop.model("sums", "select name, sum(price) as total from $.v group by name", strategy="incremental")
    created = [shop.refresh(view), shop.refresh(above)]
    assert [each.mode for each in created] == ["create", "create"]
    before = identity(shop, "v__idivm")
    shop.sql("update $.o set price = 11 where id = 1", "insert into $.c values (3, 'three')")
    shop.new_run()
    rebuilt = shop.refresh_in_run(view)
    assert rebuilt.mode == "full" and (rebuilt.reason or "").startswith("IDIVM-411 a rebuild takes about "), rebuilt.message
    assert "; incremental pays from about " in (rebuilt.reason or "")
    assert_accounted(rebuilt, "rebuild")
    assert shop.is_exact(view) and identity(shop, "v__idivm") == before
    outcome = shop.refresh_in_run(above)
    assert (outcome.mode, outcome.rows_updated) == ("incremental", 1), "of an overwritten table only what differs"
    assert next(change.rows for name, change in outcome.inputs.items()) == 2
    assert shop.is_exact(above)


@pytest.mark.deep
def test_incremental_never_rebuilds(shop: Project) -> None:
    view = shop.model("v", JOIN, KEYS, strategy="incremental")
    assert shop.refresh(view).mode == "create"
    shop.sql("update $.c set name = 'ONE' where id = 1")
    outcome = shop.refresh(view)
    assert (outcome.mode, outcome.rows_updated) == ("incremental", 2)
    assert_accounted(outcome, outcome.cost.chosen if outcome.cost else "")
    assert outcome.cost is not None and "rebuild" not in outcome.cost.alternatives
    assert shop.is_exact(view)


@pytest.mark.long
def test_the_whole_view_recomputed_writes_what_differs(shop: Project) -> None:
    shop.table("log", "word string, n int", "('a', 1)", "('a', 1)", "('b', 2)")
    queries = {
        "v": JOIN,
        "bag": "select word from $.log",
        "sums": "select cid, sum(price) as s, min(price) as m from $.o group by cid",
    }
    views = [shop.model(name, sql, KEYS, strategy="incremental") for name, sql in queries.items()]
    assert [shop.refresh(view).mode for view in views] == ["create"] * 3
    shop.sql(
        "update $.o set price = 31 where id = 3",
        "insert into $.o values (4, 2, 40)",
        "delete from $.c where id = 1",
        "insert into $.log values ('a', 3)",
        "delete from $.log where word = 'b'",
    )
    for view, rows in zip(views, ((1, 1, 2), (3, 0, 3), (0, 1, 0)), strict=True):
        outcome = chosen(shop, view, "whole")
        assert (outcome.mode, outcome.strategy) == ("incremental", "recompute"), outcome.message
        assert (outcome.reason or "").startswith("the whole view was recomputed")
        assert (outcome.rows_inserted, outcome.rows_updated, outcome.rows_deleted) == rows
        assert shop.is_exact(view)


@pytest.mark.long
def test_a_rebuild_leaves_keys_to_the_refresh_that_relies_on_them(shop: Project) -> None:
    """ADR 0022. A row with the key of another one comes, is in the view that is rebuilt, and goes: as an i-diff it would take
    both away."""
    view = shop.model("v", "select id, name from $.c", KEYS, strategy="auto")
    above = shop.model("above", "select id, upper(name) as name from $.v", strategy="incremental")
    assert [shop.refresh(view).mode, shop.refresh(above).mode] == ["create", "create"]
    shop.sql("insert into $.c values (1, 'twin')")
    assert chosen(shop, view, "rebuild").rows_inserted == 3 and shop.is_exact(view)
    with pytest.raises(IdivmError) as failed:  # the IDs of the view are not unique now
        shop.refresh(above)
    assert failed.value.codes == ("IDIVM-306",)
    shop.sql("delete from $.c where name = 'one'")
    outcome = chosen(shop, view, "id")
    assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-419 the key (id) of "), outcome.message
    assert shop.is_exact(view) and shop.rows("select * from $.v") == {(1, "twin"): 1, (2, "two"): 1}
    assert shop.refresh(above).mode == "incremental" and shop.is_exact(above)
    shop.sql("insert into $.c values (3, 'three')")
    assert chosen(shop, view, "rebuild").mode == "full"
    shop.sql("insert into $.c values (4, 'four')")
    assert (chosen(shop, view, "id").mode, shop.is_exact(view)) == ("incremental", True)
    assert len([each for each in shop.executed if each.label.startswith("check new keys")]) == 2, "of both changes"
    assert shop.refresh(above).mode == "incremental" and shop.is_exact(above)


@pytest.mark.long
def test_the_settings_of_a_large_merge_are_the_session_s_again(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them was set for the session, the other one was not; also after a statement that failed."""
    monkeypatch.setattr(incremental, "LARGE", 0)
    given, other = SPARK_DELTA.large_merge
    view = shop.model("v", JOIN, KEYS, strategy="incremental")
    assert shop.refresh(view).mode == "create"
    shop.spark.conf.set(given, "5000000")
    for price, failing in ((12, False), (13, True)):
        # an update and a new row: of one kind they would be applied without a MERGE
        shop.sql(f"update $.o set price = {price} where id = 1", f"insert into $.o values ({price}, 1, 1)")
        if failing:
            shop.sql("alter table $.v__idivm add constraint low check (price <> 13)")
            with pytest.raises(IdivmError):
                shop.refresh(view)
        else:
            assert shop.refresh(view).mode == "incremental" and shop.is_exact(view)
        (write,) = (each for each in shop.executed if each.kind == "write")
        assert "BROADCAST(z)" in write.sql and f"SET `{given}`=`1048576`" in [each.sql for each in shop.executed]
        assert (shop.spark.conf.get(given), shop.spark.conf.get(other, None)) == ("5000000", None)


@pytest.mark.long
def test_a_large_view_is_maintained(shop: Project) -> None:
    shop.sql(
        "create table $.big using delta tblproperties ('delta.enableChangeDataFeed' = 'true') as "
        "select id, id % 1000 as cid, id % 7 as price from range(6000000)"
    )
    view = shop.model(
        "v",
        "select cid, sum(price) as total, count(*) as n from $.big group by cid",
        {"big": ["id"]},
        strategy="auto",
        verify="none",
    )
    assert shop.refresh(view).mode == "create"
    shop.sql("insert into $.big values (6000000, 1, 2)")
    outcome = shop.refresh(view)
    assert (outcome.mode, outcome.rows_updated) == ("incremental", 1), outcome.message
    assert_accounted(outcome, "additive")
    assert outcome.cost is not None and outcome.cost.alternatives["rebuild"] > outcome.cost.estimate
    assert shop.is_exact(view)


def test_dbt_reports_what_was_chosen_and_keeps_what_it_took(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is learned from the first two refreshes of a process that has just started its Spark: those are builds here."""
    monkeypatch.setattr(InvocationMemory, "warm_up", WARM_UP)
    project.configure()
    project.sql(
        "create table $.t using delta tblproperties ('delta.enableChangeDataFeed' = 'true') as "
        "select id, id % 3 as g from range(9)"
    )
    for number in range(3):
        sql = f"select g, count(*) + {number} as n from {project.schema}.t group by g"
        project.write(f"models/m{number}.sql", "{{ config(materialized='idivm') }} " + sql)
    assert {found.adapter_response["cost"] for found in project.results("run").values()} == {None}
    project.sql("insert into $.t values (9, 0)")
    results = project.results("run", "--threads", "1")
    assert {found.adapter_response["cost"]["chosen"] for found in results.values()} == {"rebuild"}
    assert all("IDIVM-411 a rebuild takes about " in found.message for found in results.values())
    assert project.sql("select g, n from $.m1 order by g") == [(0, 5), (1, 4), (2, 4)]
    kept = json.loads((project.root / ".idivm" / "costs.json").read_text())
    (engine,) = kept["engines"].values()
    assert {name.partition(".")[2].removesuffix("__idivm") for name in engine["ratios"]} == {"m0", "m1", "m2"}
    assert [len(ways["rebuild"]) for ways in engine["ratios"].values()] == [1, 1, 1], "nothing of the builds, which are short"


def assert_accounted(outcome: Outcome, chosen: str) -> None:
    """What it cost is reported, and what the alternatives would have."""
    cost = outcome.cost
    assert cost is not None and cost.chosen == chosen
    assert set(cost.alternatives) >= {chosen} and all(seconds > 0 for seconds in cost.alternatives.values())
    assert cost.estimate > 0 and cost.actual is not None and cost.actual > 0
