"""Keys that nobody has declared, on Spark + Delta (ADR 0063): found when a view is built, given up where they break."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.catalog.state import State
from dbt_idivm.refresh.catalog.stored_view import read_stored_view
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.protocol import Outcome
from tests.functional.project import Project, project_in

SQL = "select o.name, o.n * 2 as doubled from $.orders o where o.n > 0"
LOOK = "look for keys of"
KEY = "idivm__o__order_id"


@pytest.fixture
def shop(spark: Any, request: pytest.FixtureRequest) -> Iterator[Project]:
    with project_in(spark, "found_" + request.node.name.partition("[")[0].removeprefix("test_")[:20]) as project:
        project.table("orders", "order_id int, name string, n int", "(1, 'a', 1)", "(2, 'b', 2)", "(3, 'b', 2)")
        yield project


def model_of(shop: Project, name: str, sql: str, keys: str) -> ModelRequest:
    """A model with this setting `keys`."""
    model = shop.model(name, sql)
    return replace(model, config={**model.config, "idivm": {**model.config["idivm"], "keys": keys}})


def state(shop: Project, model: ModelRequest) -> State:
    stored = shop.drive(read_stored_view(Client(shop.engine_for(model)), shop.request(model)))
    assert stored.state is not None
    return stored.state


def stored(shop: Project, outcome: Outcome) -> set[str]:
    """The columns of the view's table."""
    return {str(row[0]) for row in shop.sql(f"describe $.{outcome.relations[-1][1]}")}


def looks(shop: Project) -> int:
    return sum(each.label.startswith(LOOK) for each in shop.executed)


def assert_bag(shop: Project, outcome: Outcome, model: ModelRequest) -> None:
    assert state(shop, model).found == {} and KEY not in stored(shop, outcome)
    assert shop.is_exact(model)


def assert_keyed(shop: Project, outcome: Outcome, model: ModelRequest) -> None:
    assert state(shop, model).found == {f"{shop.schema}.orders": ("order_id",)} and KEY in stored(shop, outcome)
    assert shop.is_exact(model)


def test_a_key_is_found_breaks_and_is_found_again(shop: Project) -> None:
    model = model_of(shop, "v", SQL, "auto")
    assert_keyed(shop, shop.refresh(model), model)
    assert looks(shop) == 1
    shop.sql("update $.orders set n = 5 where order_id = 2", "delete from $.orders where order_id = 1")
    outcome = shop.refresh(model)
    assert (outcome.mode, outcome.rows_updated, outcome.rows_deleted) == ("incremental", 1, 1)
    assert looks(shop) == 0
    assert_keyed(shop, outcome, model)
    shop.sql("insert into $.orders values (3, 'c', 7)")
    outcome = shop.refresh(model)
    assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-428"), outcome.message
    assert_bag(shop, outcome, model)
    shop.sql("delete from $.orders where order_id = 3 and name = 'c'", "insert into $.orders values (4, 'd', 1)")
    outcome = shop.refresh(model)
    assert outcome.mode == "incremental" and looks(shop) == 0
    assert_bag(shop, outcome, model)
    assert_keyed(shop, shop.refresh(model, full_refresh=True), model)
    assert not shop.differences(model)


@pytest.mark.deep
@pytest.mark.parametrize("rows", [1, 3000])
def test_a_null_arrives(shop: Project, rows: int) -> None:
    """Also in a change that is too large to be fetched."""
    model = model_of(shop, "v", SQL, "auto")
    shop.refresh(model)
    shop.sql(f"insert into $.orders select nullif(cast(id + 10 as int), {rows + 9}), 'x', 1 from range({rows})")
    outcome = shop.refresh(model)
    assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-428"), outcome.message
    assert_bag(shop, outcome, model)
    shop.sql("update $.orders set order_id = 9 where order_id is null")
    assert_bag(shop, shop.refresh(model), model)


@pytest.mark.deep
@pytest.mark.parametrize("broken", ["(1, 'a', 1)", "(null, 'a', 1)"])
def test_what_is_no_key_is_not_found(shop: Project, broken: str) -> None:
    model = model_of(shop, "v", SQL, "auto")
    shop.sql(f"insert into $.orders values {broken}")
    assert_bag(shop, shop.refresh(model), model)
    shop.sql(f"insert into $.orders values {broken}", "update $.orders set n = n + 1 where order_id = 2")
    outcome = shop.refresh(model)
    assert outcome.mode == "incremental"
    assert_bag(shop, outcome, model)


@pytest.mark.deep
def test_declared_keys_only(shop: Project) -> None:
    """A view that was built so stays as it is, until it is rebuilt."""
    model = model_of(shop, "v", SQL, "declared")
    assert_bag(shop, shop.refresh(model), model)
    shop.sql("update $.orders set n = 5 where order_id = 2")
    auto = model_of(shop, "v", SQL, "auto")
    outcome = shop.refresh(auto)
    assert outcome.mode == "incremental" and looks(shop) == 0
    assert_bag(shop, outcome, auto)
    assert_keyed(shop, shop.refresh(auto, full_refresh=True), auto)
    outcome = shop.refresh(model)
    assert outcome.mode == "full" and "other keys (" in (outcome.reason or ""), "it has the rows without their key"
    assert_bag(shop, outcome, model)


@pytest.mark.deep
def test_a_key_that_is_updated_and_one_that_moves(shop: Project) -> None:
    """A key that a commit breaks and the next one repairs is no obstacle: the net diff counts."""
    model = model_of(shop, "v", SQL, "auto")
    shop.refresh(model)
    shop.sql(
        "update $.orders set order_id = 2 where order_id = 1",
        "update $.orders set order_id = 7 where name = 'a'",
    )
    outcome = shop.refresh(model)
    assert outcome.mode == "incremental"
    assert_keyed(shop, outcome, model)
    shop.sql("update $.orders set order_id = 7 where order_id = 3")
    outcome = shop.refresh(model)
    assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-428")
    assert_bag(shop, outcome, model)


@pytest.mark.deep
def test_readers_of_a_view_whose_key_breaks(shop: Project) -> None:
    """They have the IDs of the view as a key, and no key when it has none."""
    model, above = model_of(shop, "v", SQL, "auto"), model_of(shop, "w", "select v.doubled + 1 as m from $.v v", "auto")
    for each in (model, above):
        shop.refresh(each)
    shop.sql("insert into $.orders values (2, 'again', 7)")
    shop.new_run()
    assert [shop.refresh_in_run(each).mode for each in (model, above)] == ["full", "full"]
    shop.sql("delete from $.orders where n = 7")
    shop.new_run()
    assert [shop.refresh_in_run(each).mode for each in (model, above)] == ["incremental", "incremental"]
    assert all(shop.is_exact(each) for each in (model, above))


@pytest.mark.deep
def test_a_named_cache_needs_the_key_that_breaks(shop: Project) -> None:
    shop.table("names", "name string, label string", "('a', 'A')", "('b', 'B')")
    sql = (
        "with t as (select o.order_id, o.n, c.label from $.orders o join $.names c on c.name = o.name) "
        "select label, n, count(*) as how_many from t group by label, n"
    )
    model = shop.model("v", sql, {"names": ["name"]}, caches=["t"])
    model = replace(model, config={**model.config, "idivm": {**model.config["idivm"], "keys": "auto"}})
    first = shop.refresh(model)
    assert any(name.startswith("idivm_cache") for _, name, _ in first.relations) and first.warnings == ()
    assert shop.is_exact(model)
    shop.sql("insert into $.orders values (3, 'a', 7)")
    outcome = shop.refresh(model)
    assert (outcome.reason or "").startswith("IDIVM-428") and "without the cache `t`" in outcome.warnings[0]
    assert not any(name.startswith("idivm_cache") for _, name, _ in outcome.relations) and shop.is_exact(model)
    shop.sql("update $.orders set order_id = 9, n = 8 where n = 7")
    assert shop.refresh(model).mode == "incremental" and shop.is_exact(model)
    again = shop.refresh(model, full_refresh=True)
    assert any(name.startswith("idivm_cache") for _, name, _ in again.relations) and shop.is_exact(model)
