"""Intermediate caches on Spark + Delta: separate tables, current before the view that reads them, dropped when no longer used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from dbt_idivm.cost.experience import Experience
from dbt_idivm.cost.measure import SAFE, Prices
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.catalog import state
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import EngineError, Outcome, Refresh
from dbt_idivm.refresh.upkeep import ownership
from dbt_idivm.running_example import COSTS
from tests.functional.project import Project, project_in

KEYS = {"devices": ["did"], "parts": ["pid"], "devices_parts": ["did", "pid"], "orders": ["id"], "customers": ["id"]}
# the highest total of a city: a γ over a join with a γ
HIGHEST = """with totals as (select cust, sum(price) as total, count(*) as n from $.orders group by cust)
select c.city, max(t.total) as highest, sum(t.n) as orders from totals t join $.customers c on t.cust = c.id group by c.city"""


@pytest.fixture
def shop(spark: Any, request: pytest.FixtureRequest) -> Iterator[Project]:
    with project_in(spark, "caches_" + request.node.name.removeprefix("test_")[:20]) as project:
        project.table("orders", "id int, cust int, price int", "(1, 1, 5)", "(2, 1, 7)", "(3, 2, 1)", "(4, null, 2)")
        project.table("customers", "id int, city string", "(1, 'rome')", "(2, 'oslo')", "(3, 'rome')")
        yield project


def refreshed(project: Project, model: ModelRequest, mode: str = "incremental") -> Outcome:
    """The refresh, by which the view and its caches are what their queries give."""
    outcome = project.refresh(model)
    assert outcome.mode == mode, outcome.message
    assert project.is_exact(model)
    for table in caches(project):
        query = state.decode(project.properties(table)["idivm.definition"])
        assert project.rows(f"select * from $.{table}") == project.rows(query), table
    return outcome


def up_to_its_write(project: Project, model: ModelRequest) -> Refresh:
    """A refresh whose next statement writes the view; its caches are refreshed."""
    steps = Refresh(refresh(project.request(model), project.invocation))
    while (one := steps.statement) is not None and not (
        one.kind == "write" and one.label.endswith(f".{model.identifier}__idivm")
    ):
        steps.answer(project.run(one))
    assert one is not None
    return steps


def caches(project: Project) -> list[str]:
    return sorted(name for name in project.relations() if name.startswith("idivm_cache_"))


@pytest.mark.long
def test_running_example(shop: Project) -> None:
    """Figure 7: a new price updates the cache of the join, and through it the sums, without reading the other tables."""
    shop.table("devices", "did int, category string", "(1, 'phone')", "(2, 'phone')", "(3, 'tablet')")
    shop.table("parts", "pid int, price int", "(1, 10)", "(2, 20)", "(3, 30)")
    shop.table("devices_parts", "did int, pid int", "(1, 1)", "(1, 2)", "(2, 1)", "(3, 3)")
    model = shop.model("costs", re.sub(r"(FROM|JOIN) ", r"\1 $.", COSTS), KEYS, caches="all")
    assert refreshed(shop, model, "create").relations[-1][1].startswith("idivm_cache_")
    shop.sql("update $.parts set price = price + 1 where pid = 1")
    outcome = refreshed(shop, model)
    assert outcome.inputs["caches_running_example.parts"].rows == 2
    writes = [statement.sql for statement in shop.executed if statement.kind == "write"]
    assert len(writes) == 2 and outcome.rows_updated == 2
    assert not any(name in sql for sql in writes for name in ("`devices`", ".devices ", "devices_parts AS"))
    shop.sql("insert into $.devices_parts values (3, 1)", "delete from $.devices where did = 2", "update $.parts set price = 0")
    refreshed(shop, model)
    assert refreshed(shop, model, "noop").statements == 0


@pytest.mark.long
def test_groups_above_groups(shop: Project) -> None:
    """Of a customer's orders those count that change the total; an order that changes nothing reaches no further than that."""
    model = shop.model("highest", HIGHEST, KEYS, caches=["totals"])
    refreshed(shop, model, "create")
    (cache,) = caches(shop)
    assert cache.startswith("idivm_cache_") and cache.endswith("_orders")
    shop.sql(
        "insert into $.orders values (5, 2, 100), (6, 9, 1)",
        "update $.orders set cust = 3 where id = 2",
        "delete from $.orders where id = 4",
        "update $.customers set city = 'bonn' where id = 1",
    )
    refreshed(shop, model)
    shop.sql("update $.orders set price = 6 where id = 1", "update $.orders set price = 5 where id = 1")
    assert refreshed(shop, model, "noop").message.startswith("noop")
    shop.sql("delete from $.orders")
    refreshed(shop, model)
    shop.sql("insert into $.orders values (1, 1, 5)")
    refreshed(shop, model)


@pytest.mark.long
def test_caches_come_and_go_with_the_config(shop: Project) -> None:
    cached, plain = (shop.model("highest", HIGHEST, KEYS, caches=value) for value in ("all", "auto"))
    refreshed(shop, plain, "create")
    assert caches(shop) == []
    assert "definition changed" in (refreshed(shop, cached, "full").reason or "")
    assert len(caches(shop)) == 2
    shop.sql("insert into $.orders values (5, 2, 100)")
    refreshed(shop, plain, "full")
    assert caches(shop) == []


@pytest.mark.long
@pytest.mark.parametrize("harm", ["update $.{} set computed__value = 0", "drop table $.{}", "delete from $.{}"])
def test_a_harmed_cache_is_built_anew(shop: Project, harm: str) -> None:
    model = shop.model("highest", HIGHEST, KEYS, caches=["totals"])
    refreshed(shop, model, "create")
    shop.sql(harm.format(caches(shop)[0]), "insert into $.orders values (5, 2, 100)")
    refreshed(shop, model, "full" if "drop" in harm else "incremental")
    shop.sql("insert into $.orders values (6, 3, 100)")
    refreshed(shop, model)


@pytest.mark.long
def test_a_forecast_says_that_caches_come_first(shop: Project) -> None:
    model = shop.model("highest", HIGHEST, KEYS, caches=["totals"])
    assert shop.forecast(model).mode == "create"
    refreshed(shop, model, "create")
    assert shop.forecast(model).mode == "noop"
    shop.sql("insert into $.orders values (5, 2, 100)")
    found = shop.forecast(model)
    assert found.mode == "incremental" and "is refreshed first" in (found.reason or "") and found.shape == "additive"
    refreshed(shop, model)
    shop.sql("insert into $.customers values (4, 'rome')")
    assert "first" not in str(shop.forecast(model).reason)


@pytest.mark.long
def test_a_run_that_began_before_another_follows_its_caches(shop: Project) -> None:
    """It pinned the orders before the other run refreshed the cache, or both, further: the view never mixes the two."""
    model = shop.model("highest", HIGHEST, KEYS, caches=["totals"])
    refreshed(shop, model, "create")
    other = shop.model("other", "select id, price from $.orders", KEYS)
    shop.refresh_in_run(other)  # pins orders
    late = shop.invocation
    shop.sql("insert into $.orders values (5, 2, 100)", "insert into $.customers values (4, 'rome')")
    refreshed(shop, model)
    shop.invocation = late
    assert shop.refresh_in_run(model).mode == "noop" and shop.is_exact(model)


@pytest.mark.long
def test_a_run_pinned_before_its_caches_were_led_on(shop: Project) -> None:
    """The other run was interrupted between its cache and its view."""
    model = shop.model("highest", HIGHEST, KEYS, caches=["totals"])
    refreshed(shop, model, "create")
    shop.new_run()
    shop.refresh_in_run(shop.model("other", "select o.id, c.city from $.orders o join $.customers c on o.cust = c.id", KEYS))
    late = shop.invocation
    shop.sql("insert into $.orders values (5, 2, 100)")
    shop.new_run()
    up_to_its_write(shop, model)
    shop.invocation = late
    assert shop.refresh_in_run(model).mode == "incremental"
    assert shop.is_exact(model)


@pytest.mark.deep
def test_a_cache_that_fails_for_a_value(shop: Project) -> None:
    """The view is built from the user's own text then, and the cache is dropped: its guard is not in that text."""
    shop.table("visits", "id int, cust int, at string", "(1, 1, '2024-01-01 10:00')", "(2, 2, '2024-01-02 10:00')")
    model = shop.model(
        "last",
        "with visited as (select cust, max(cast(at as timestamp)) as at from $.visits group by cust) "
        "select c.city, max(v.at) as at from visited v join $.customers c on v.cust = c.id group by c.city",
        {**KEYS, "visits": ["id"]},
        caches=["visited"],
    )
    refreshed(shop, model, "create")
    shop.sql("insert into $.visits values (3, 2, '2024-01-03')")
    refreshed(shop, model)
    shop.sql("insert into $.visits values (4, 9, '10:15')")
    outcome = refreshed(shop, model, "full")
    assert "IDIVM-236" in (outcome.reason or ""), outcome.reason
    assert caches(shop) == []


# the same totals, called and used in another way
AVERAGE = """with t as (select o.cust as who, sum(o.price) as s, count(*) as k from $.orders as o group by o.cust)
select t.who, t.s / t.k as average, c.city from t left join $.customers c on c.id = t.who"""


def both(project: Project, **config: Any) -> tuple[ModelRequest, ModelRequest]:
    """Two models with the totals."""
    return (
        project.model("highest", HIGHEST, KEYS, **{"caches": ["totals"], **config}),
        project.model("average", AVERAGE, KEYS, **{"caches": ["t"], **config}),
    )


@pytest.mark.deep
def test_models_share_a_cache(shop: Project) -> None:
    """It is refreshed once a run, whoever comes first, and goes with the last model that has it."""
    highest, average = both(shop)
    for model in (highest, average):
        refreshed(shop, model, "create")
    (cache,) = caches(shop)
    shop.sql("insert into $.orders values (5, 2, 100)", "update $.orders set price = 6 where id = 1")
    shop.new_run()
    writes = []
    for model in (average, highest):
        assert shop.refresh_in_run(model).mode == "incremental" and shop.is_exact(model)
        writes += [statement.label for statement in shop.executed if statement.kind == "write"]
    assert len(writes) == 3 and sum(cache in label for label in writes) == 1
    shop.refresh(shop.model("highest", HIGHEST, KEYS))
    assert caches(shop) == [cache]
    refreshed(shop, average, "noop")
    shop.refresh(shop.model("average", AVERAGE, KEYS))
    assert caches(shop) == []


@pytest.mark.long
def test_models_that_share_a_cache_run_alone(shop: Project) -> None:
    """One of them, twice, and then the other one; rebuilt; and without the cache."""
    highest, average = both(shop)
    for model in (highest, average):
        refreshed(shop, model, "create")
    for number in (6, 7):
        shop.sql(f"insert into $.orders values ({number}, 3, 1)")
        refreshed(shop, highest)
    refreshed(shop, average)
    shop.sql("insert into $.orders values (8, 1, 9)", "update $.customers set city = 'bonn' where id = 2")
    assert shop.refresh(highest, full_refresh=True).mode == "full" and shop.is_exact(highest)
    refreshed(shop, average)
    for model in (highest, average):
        shop.refresh(replace(model, config={"idivm": {"strategy": "id", "keys": "declared"}}))
    assert caches(shop) == []
    shop.sql("delete from $.orders where id = 8")
    for model in (highest, average):
        refreshed(shop, replace(model, config={"idivm": {"strategy": "id", "keys": "declared"}}))


@pytest.mark.long
def test_a_full_refresh_of_models_rebuilds_their_cache_once(shop: Project) -> None:
    models = both(shop)
    for model in models:
        refreshed(shop, model, "create")
    shop.new_run()
    rebuilt = []
    for model in models:
        assert shop.refresh_in_run(model, full_refresh=True).mode == "full" and shop.is_exact(model)
        rebuilt += [statement.label for statement in shop.executed if statement.label.startswith("rebuild")]
    assert len(rebuilt) == 3, rebuilt


@pytest.mark.long
def test_models_that_differ_do_not_rebuild_a_cache_in_turn(shop: Project) -> None:
    """One calls a function above the cache; one that does not look keys up has a cache of its own."""
    shop.sql("create function $.twice(x BIGINT) returns BIGINT return x * 2")
    _, average = both(shop)
    highest = shop.model(
        "highest",
        HIGHEST.replace("max(t.total)", "max($.twice(t.total))"),
        KEYS,
        caches=["totals"],
        deterministic_functions=[shop.within("$.twice")],
    )
    models = (average, highest)
    for model in models:
        refreshed(shop, model, "create")
    for number in (5, 6):
        shop.sql(f"insert into $.orders values ({number}, 2, 100)")
        shop.new_run()
        for model in models:
            assert shop.refresh_in_run(model).mode == "incremental" and shop.is_exact(model)
            assert not [each.label for each in shop.executed if each.label.startswith("rebuild")]
    assert len(caches(shop)) == 1
    refreshed(shop, both(shop, verify="none")[1], "full")
    assert len(caches(shop)) == 2
    shop.sql("drop function $.twice")


@pytest.mark.long
def test_models_that_name_a_table_otherwise_share_a_cache(shop: Project) -> None:
    average = both(shop)[1]
    other = replace(average, name="other", identifier="other", sql=average.sql.replace(f"{shop.schema}.orders", "orders"))
    keys = {**average.keys, "orders": average.keys[f"{shop.schema}.orders"]}
    models = (average, replace(other, keys=keys))
    for model in models:
        refreshed(shop, model, "create")
    shop.sql("insert into $.orders values (5, 2, 100)")
    shop.new_run()
    for model in models:
        assert shop.refresh_in_run(model).mode == "incremental" and shop.is_exact(model)
        assert not [each.label for each in shop.executed if each.label.startswith(("build", "rebuild"))]
    assert len(caches(shop)) == 1


@pytest.mark.long
def test_a_dropped_model_leaves_caches_of_others(shop: Project) -> None:
    highest, average = (replace(each, project="shop", owner=f"model.shop.{each.name}") for each in both(shop))
    for model in (highest, average):
        refreshed(shop, model, "create")
    (cache,) = caches(shop)
    kinds = {f"{shop.schema}.{name}": kind for name, kind in shop.relations().items()}
    models = {f"{shop.schema}.{model.identifier}" for model in (highest, average)}

    def behind(name: str) -> list[str]:
        return [each.rpartition(".")[2] for each in shop.drive(ownership.behind(Client(), f"{shop.schema}.{name}", kinds))]

    assert behind("highest") == ["highest__idivm"]
    assert shop.drive(ownership.orphans(Client(), kinds, models, {"shop"})) == []
    shop.sql("drop view $.highest", "drop table $.highest__idivm")
    kinds = {f"{shop.schema}.{name}": kind for name, kind in shop.relations().items()}
    assert cache in behind("average")
    shop.sql("drop view $.average", "drop table $.average__idivm")
    left = shop.drive(ownership.orphans(Client(), {f"{shop.schema}.{cache}": "table"}, models, {"shop"}))
    assert [each.relation.rpartition(".")[2] for each in left] == [cache]


@pytest.mark.long
def test_projects_in_one_schema_share_nothing(shop: Project) -> None:
    highest, average = both(shop)
    for model, project in ((highest, "one"), (average, "two")):
        refreshed(shop, replace(model, project=project), "create")
    assert len(caches(shop)) == 2


@pytest.mark.deep
def test_threads_share_a_cache(shop: Project) -> None:
    """Models of one run that are refreshed at the same time, one of which breaks off behind the cache."""
    models = [shop.model(f"m{number}", AVERAGE, KEYS, caches=["t"]) for number in range(3)]
    sessions = [shop.spark.newSession() for _ in models]
    for change in (None, "insert into $.orders values (5, 2, 100)", "update $.orders set price = price + 1"):
        if change is not None:
            shop.sql(change)
        shop.new_run()
        requests = [shop.request(model) for model in models]

        def run(number: int, requests: list[ModelRequest] = requests) -> Outcome:
            project = replace(shop, spark=sessions[number], executed=[])
            return project.drive(refresh(requests[number], shop.invocation))

        with ThreadPoolExecutor(len(models)) as pool:
            outcomes = list(pool.map(run, range(len(models))))
        assert {each.mode for each in outcomes} == {"incremental" if change else "create"}
        assert all(shop.is_exact(model) for model in models) and len(caches(shop)) == 1
        made = [each for each in history(shop, caches(shop)[0]) if each in ("MERGE", "UPDATE", "WRITE", "CREATE TABLE AS SELECT")]
        assert len(made) == shop.runs


def history(project: Project, table: str) -> list[str]:
    return [operation for (operation,) in project.history(table, "operation")]


@pytest.mark.long
def test_a_model_that_breaks_off_leaves_its_cache_to_the_others(shop: Project) -> None:
    highest, average = both(shop)
    for model in (highest, average):
        refreshed(shop, model, "create")
    shop.sql("insert into $.orders values (5, 2, 100)")
    shop.new_run()
    steps = up_to_its_write(shop, highest)
    with pytest.raises(IdivmError, match="IDIVM-902"):
        while steps.statement is not None:
            steps.answer(EngineError("", "the connection is gone"))
    assert shop.refresh_in_run(average).mode == "incremental" and shop.is_exact(average)
    shop.sql("delete from $.orders where id = 2")
    refreshed(shop, average)
    refreshed(shop, highest)


@pytest.mark.long
def test_a_run_pinned_before_one_of_two_caches_was_refreshed_by_another_model(shop: Project) -> None:
    """Its first cache is refreshed to its own versions, the second is further already: it pins newer ones."""
    first = "select cust, sum(price) as total from $.orders group by cust"
    second = "select cust, max(id) as newest from $.orders group by cust"
    two = shop.model(
        "two",
        f"with a as ({first}), b as ({second}) select a.cust, a.total, b.newest, c.city from a join b "
        "on a.cust = b.cust join $.customers c on c.id = a.cust",
        KEYS,
        caches=["a", "b"],
    )
    names = {}
    for name, query in (("a", first), ("b", second)):
        sql = f"with x as ({query}) select x.*, c.city from x join $.customers c on c.id = x.cust"
        alone = shop.model(f"with_{name}", sql, KEYS, caches=["x"])
        refreshed(shop, alone, "create")
        (names[name],) = set(caches(shop)) - set(names.values())
    refreshed(shop, two, "create")
    assert len(caches(shop)) == 2
    shop.sql("insert into $.orders values (5, 2, 100)")
    shop.new_run()
    shop.refresh_in_run(shop.model("other", "select id, price from $.orders", KEYS))  # pins orders
    late = shop.invocation
    shop.sql("insert into $.orders values (6, 1, 7)")
    assert shop.refresh(alone).mode == "incremental" and shop.is_exact(alone)  # the model with b
    shop.invocation = late
    outcome = shop.refresh_in_run(two)
    assert outcome.mode == "incremental" and shop.is_exact(two)
    assert any("another run refreshed a cache further" in each for each in outcome.warnings)


@pytest.mark.long
def test_caches_are_chosen_by_cost(shop: Project) -> None:
    """`caches: auto`: two models keep the subview that both have once it pays, and give it up when it no longer does."""
    small = {unit: SAFE.of(unit) / 30 for unit in ("merges", "overwrites", "nodes", "queries")}
    dear = replace(SAFE, tuples=SAFE.tuples * 30, **small)
    cheap = replace(SAFE, tuples=SAFE.tuples / 30, bytes_read=SAFE.bytes_read / 30, bytes_written=SAFE.bytes_written / 30)
    shop.sql(
        "insert into $.orders select 10 + id, id % 50, id % 7 from range(100000)",
        "insert into $.customers select 10 + id, 'paris' from range(40)",
    )
    lowest = HIGHEST.replace("max(", "min(")
    models = [shop.model(name, sql, KEYS, strategy="auto") for name, sql in (("highest", HIGHEST), ("lowest", lowest))]

    def run(number: int, prices: Prices) -> list[str]:
        shop.sql(f"update $.orders set price = price + {number} where id = {number}")
        shop.invocation = Invocation(Experience(prices))
        said = [shop.refresh_in_run(model).message for model in models]
        assert all(shop.is_exact(model) for model in models), said
        return said

    run(0, dear)
    said = [each for number in range(1, 4) for each in run(number, dear)]
    assert sum("IDIVM-420" in each for each in said) == 2, said
    assert len(caches(shop)) == 1
    assert not any("IDIVM-42" in each for each in run(5, dear)) and len(caches(shop)) == 1
    said = [each for number in range(1, 5) for each in run(number, cheap)]
    assert sum("IDIVM-421" in each for each in said) == 2, said
    assert caches(shop) == []
