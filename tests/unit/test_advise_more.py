"""What `idivm advise` learns from earlier runs, and what else it finds: rebuilds, keys, caches, clusterings, lies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dbt_idivm.cost.experience import VERSION
from dbt_idivm.cost.measure import SAFE
from dbt_idivm.project import Project
from dbt_idivm.tools.advice.advise import Subject, subject
from dbt_idivm.tools.advice.measured import learned
from dbt_idivm.tools.advice.options import Key
from dbt_idivm.tools.dag.costs import Rate
from tests.unit.test_advise import BY_NAME, BY_ORDER, NAMED, ROWS, TOTAL, advise, found, planned, project, run
from tests.unit.test_project import CUSTOMERS, ORDERS, Node, manifest, model, source

FEW = {"raw.orders": Rate(inserted=1e-6)}
RATE = ("--rate", "orders=0.0001%")
LOOKED_UP = model(
    "looked_up", "select o.id, (select c.name from raw.customers c where c.id = o.cid) as n from raw.orders o", ORDERS, CUSTOMERS
)


def costs(folder: Path, **engines: Any) -> Path:
    (folder / ".idivm").mkdir()
    (folder / ".idivm" / "costs.json").write_text(json.dumps({"version": VERSION, "engines": engines}), encoding="utf-8")
    return folder


def priced(factor: float, **ratios: Any) -> Any:
    return {"prices": {unit: price * factor for unit, price in SAFE.json().items()}, "ratios": ratios}


def results(folder: Path, *runs: Any) -> Path:
    (folder / "target" / "run_results.json").write_text(json.dumps({"metadata": {}, "results": list(runs)}), encoding="utf-8")
    return folder


def last(name: str, **response: Any) -> Any:
    return {"unique_id": f"model.p.{name}", "status": "success", "execution_time": 9.0, "adapter_response": response}


def upkeep(advice: Any, name: str = "by_name") -> Any:
    return next(each for each in advice["upkeep"] if each["model"] == name)


def codes(advice: Any) -> list[str]:
    return [each["code"] for each in advice["notes"]]


def test_learned_prices_and_corrections(tmp_path: Path) -> None:
    folder = project(tmp_path, BY_NAME)
    safe = upkeep(found(folder, *NAMED, *RATE))
    costs(folder, old=priced(1), new=priced(4, **{"main.by_name__idivm": {"rebuild": [3.0]}}))
    known = upkeep(found(folder, *NAMED, *RATE))
    assert known["incremental"] == pytest.approx(4 * safe["incremental"]), "the engine that was used last"
    assert known["rebuilt"] == pytest.approx(12 * safe["rebuilt"]), "and what this model's rebuilds took"
    assert upkeep(found(folder, *NAMED, *RATE, "--engine", "ol")) == safe
    assert "Prices are those of `new`." in run(folder, *NAMED, *RATE).output


def test_durations_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    folder = costs(project(tmp_path, BY_NAME), old=priced(1))
    assert codes(found(folder, *NAMED)) == []
    assert codes(found(folder, *NAMED, "--engine", "nowhere")) == ["IDIVM-118"]
    for text in ("{", "[]", '{"version": 0, "engines": {}}', json.dumps({"version": VERSION, "engines": {"a": 5}})):
        (folder / ".idivm" / "costs.json").write_text(text, encoding="utf-8")
        assert codes(found(folder, *NAMED)) == ["IDIVM-118"], text
    results(folder, 7)
    assert codes(found(folder, *NAMED)) == ["IDIVM-118", "IDIVM-118"]
    assert learned(tmp_path / "no such file").notes == ()


def test_the_last_run_beside_the_estimate(tmp_path: Path) -> None:
    cost = {"chosen": "id", "estimate": 4.0, "actual": 5.5}
    folder = results(
        project(tmp_path, BY_NAME, TOTAL),
        last("by_name", mode="incremental", cost=cost),
        last("total", mode="noop"),
        {**last("total"), "status": "error"},
        last("gone", mode="full"),
    )
    advice = found(folder, *NAMED, *RATE, "--refreshes", "2")
    assert advice["measured"] == [{"model": "by_name", "mode": "incremental", "seconds": 5.5, "day": 11.0, "expected": 4.0}]
    shown = run(folder, *NAMED, *RATE).output
    assert "incremental 5.5 s" in shown and "The last runs of 1 models took 5.5 s, and were estimated at 4.0 s." in shown
    assert "last run" not in run(results(folder), *NAMED, *RATE).output


def test_the_rows_of_a_build_are_the_rows_of_the_model(tmp_path: Path) -> None:
    folder = project(tmp_path, BY_NAME)
    assert upkeep(found(folder, *NAMED, *RATE))["rows"] > 59
    assert upkeep(found(results(folder, last("by_name", mode="full", rows_inserted=59)), *NAMED, *RATE))["rows"] == 59
    assert upkeep(found(folder, *NAMED, *RATE, "--rows", "by_name=77"))["rows"] == 77


def test_sql_that_only_the_results_have(tmp_path: Path) -> None:
    """dbt 1.12 writes what `dbt run` compiled into its results, and not into the manifest."""
    folder = project(tmp_path, {**BY_NAME, "compiled_code": None})
    results(folder, {**last("by_name", mode="create", rows_inserted=5), "compiled_code": BY_NAME["compiled_code"]})
    assert upkeep(found(folder, *NAMED, *RATE))["way"] == "additive"


@pytest.mark.parametrize(
    "stats, problem",
    [
        ({"rows": {"value": -5}}, "a table cannot have -5 rows"),
        ({"rows": {"value": 1e300}}, "a table cannot have 1e+300 rows"),
        ({"rows": {"value": "many"}}, "'many' is not a number of rows"),
        ({"statistics": {"value": "-7 bytes, -3 rows"}}, "a table cannot have -3 rows"),
        ({"statistics": {"value": "90000000000 bytes, 9 rows"}}, "are 10,000,000,000 bytes for each row"),
    ],
)
def test_statistics_that_cannot_be_true(tmp_path: Path, stats: Node, problem: str) -> None:
    folder = project(tmp_path, BY_NAME, catalog={"sources": {ORDERS: {"columns": {}, "stats": stats}}})
    said = " ".join(run(folder, "--rows", "customers=7").output.split())
    assert "IDIVM-116" in said and "IDIVM-117" in said and problem in said, "they are as good as none"
    of_model = {"nodes": {"model.p.by_name": {"columns": {}, "stats": stats}}}
    other = project(tmp_path / "other", BY_NAME, LOOKED_UP, catalog=of_model)
    advice = found(other, *NAMED)
    assert codes(advice) == ["IDIVM-117"] and problem in advice["notes"][0]["title"]
    assert codes(found(folder, *NAMED)) == [], "what is given is believed"


def test_statistics_of_another_form_are_none(tmp_path: Path) -> None:
    stats = {"rows": 5, "statistics": {"value": None}, "bytes": {"value": []}}
    sources = {ORDERS: {"columns": {}, "stats": stats}, CUSTOMERS: {"stats": None}}
    folder = project(tmp_path, BY_NAME, catalog={"sources": sources})
    assert codes(found(folder, *NAMED)) == []


def test_statistics_that_the_last_run_contradicts(tmp_path: Path) -> None:
    inputs = {"raw.orders": {"from": 1, "to": 2, "rows": 900}, "raw.customers": {"from": 1, "to": 1, "rows": None}}
    folder = results(project(tmp_path, BY_NAME), last("by_name", mode="incremental", inputs=inputs))
    assert codes(found(folder, "--rows", "orders=100", "--rows", "customers=9")) == ["IDIVM-117"]
    assert codes(found(folder, "--rows", "orders=1000", "--rows", "customers=9")) == []


def test_no_space(tmp_path: Path) -> None:
    folder = project(tmp_path, grouped_twice())
    assert found(folder, *NAMED, *RATE)["caches"]
    advice = found(folder, *NAMED, *RATE, "--space", "0")
    assert advice["caches"] == [] and codes(advice) == ["IDIVM-119"]


def test_what_is_rebuilt_says_what_would_help(tmp_path: Path) -> None:
    drawn = model("drawn", "select id, rand() as r from raw.orders", ORDERS)
    above = model("above", "select r from main.drawn", "model.p.drawn", materialized="view")
    last_one = model("last_one", "select r from main.above where r > 0.5", "model.p.above", materialized="table")
    advice = found(project(tmp_path, drawn, above, last_one), "--rows", "orders=7")
    (blocked,) = advice["blocked"]
    assert (blocked["code"], blocked["where"], blocked["below"]) == ("IDIVM-204", "rand()", 2)
    assert blocked["do"].startswith("move it to a downstream model")
    shown = " ".join(run(tmp_path, "--rows", "orders=7").output.replace("│", " ").split())
    assert "IDIVM-204 rand()" in shown and "the smallest change" in shown


def test_a_rebuilt_model_is_a_table_for_those_above_it(tmp_path: Path) -> None:
    """It alone is reported; its rows are given, or those of its last build."""
    drawn = model("drawn", "select id, price, rand() as r from raw.orders", ORDERS)
    above = model("above", "select price, count(*) as n from main.drawn group by price", "model.p.drawn")
    folder = project(tmp_path, drawn, above)
    assert "IDIVM-116 config: the number of rows is not known for `main.drawn`" in run(folder).output
    given = found(folder, "--rows", "drawn=7000000", "--rate", "drawn=0.0001%")
    assert [each["model"] for each in given["blocked"]] == ["drawn"]
    assert (first := upkeep(given, "above"))["way"] is not None
    results(folder, last("drawn", mode="full", rows_inserted=7_000_000))
    assert upkeep(found(folder, "--rate", "drawn=0.0001%"), "above") == first


def test_a_model_that_is_configured_to_be_rebuilt(tmp_path: Path) -> None:
    forced = {**BY_NAME, "config": {"materialized": "idivm", "meta": {"idivm": {"strategy": "full"}}}}
    advice = found(project(tmp_path, forced), *NAMED, *RATE, "--reads", "by_name=1000")
    (blocked,) = advice["blocked"]
    assert (blocked["code"], blocked["do"]) == ("IDIVM-407", "remove the setting to maintain the view incrementally")
    assert advice["storing"][0]["today"] > advice["storing"][0]["advised"], "as it is, it is rebuilt"


def keyless(*models: Node, **customers: Any) -> Subject:
    sources = (source("orders", "id", "cid", "price"), {**source("customers", "id", "name"), "constraints": [], **customers})
    return subject(Project(manifest(*models, sources=sources)), ROWS.get)


def test_a_key_that_the_user_asks_about() -> None:
    from dbt_idivm.tools.advice.advise import advise as advise_on
    from dbt_idivm.tools.advice.setting import Setting

    about = keyless(BY_ORDER, LOOKED_UP)
    (key,) = advise_on(about, Setting(ROWS, FEW), [Key("raw.customers", ("id",))]).keys
    assert key.holds and key.maintained == ("looked_up",) and key.cheaper == ("by_order",) and key.saves > 100
    assert about.maintained.definitions.keys() == {"model.p.by_order", "model.p.looked_up"}
    (other,) = advise_on(about, Setting(ROWS, FEW), [Key("raw.customers", ("name",))]).keys
    assert other.maintained == (), "that key does not make the subquery one row"


def test_keys_that_may_be_ones() -> None:
    (named,) = advise(keyless(LOOKED_UP), ROWS, FEW).keys
    assert not named.holds and named.columns == ("id",) and "check it first" in named.declared
    tested = {"columns": {"name": {"name": "name", "constraints": [{"type": "unique"}]}, "id": {"name": "id"}}}
    halves = keyless(
        model(
            "m", "select o.id, c.name from raw.orders o join raw.customers c on cast(o.id as string) = c.name", ORDERS, CUSTOMERS
        ),
        columns={
            **source("customers", "id", "name")["columns"],
            "name": {**source("customers", "name")["columns"]["name"], **tested["columns"]["name"]},
        },
    )
    (half,) = advise(halves, ROWS, FEW).keys
    assert half.columns == ("name",) and "add the test not_null" in half.declared
    assert advise(planned(LOOKED_UP), ROWS, FEW).keys == (), "all tables have keys"


def test_a_key_that_the_last_run_has_found() -> None:
    """It is used already, so nothing is saved. What is to be declared is told."""
    sources = (source("orders", "id", "cid", "price"), {**source("customers", "id", "name"), "constraints": []})
    found_keys = {"raw.customers": ("id",)}
    about = subject(Project(manifest(BY_ORDER, LOOKED_UP, sources=sources), found_keys=found_keys), ROWS.get)
    (key,) = advise(about, ROWS, FEW).keys
    assert (key.columns, key.saves, key.holds) == (("id",), 0.0, False)
    assert key.declared.endswith("add the tests `unique` and `not_null` to the column id of shop.customers")
    assert about.maintained.definitions.keys() == {"model.p.by_order", "model.p.looked_up"}, "planned with the key"


def grouped_twice(**config: Any) -> Node:
    return model(
        "twice",
        "with t as (select cid, sum(price) as s from raw.orders group by cid) select s, count(*) as n from t group by s",
        ORDERS,
        **config,
    )


def test_a_cache_that_pays() -> None:
    advice = advise(planned(grouped_twice()), ROWS, FEW)
    (cache,) = advice.caches
    assert cache.caches in ("all", ("t",)) and cache.cached < 0.7 * cache.today and cache.bytes > 1e6
    assert advise(planned(grouped_twice()), ROWS, FEW, space=cache.bytes - 1).caches == ()
    assert advise(planned(grouped_twice()), ROWS, FEW, space=cache.bytes).caches == (cache,)
    (kept,) = advise(planned(grouped_twice(caches="all")), ROWS, FEW).upkeep
    assert kept.refresh * 24 == pytest.approx(cache.cached), "with the refresh of the cache"
    assert advise(planned(grouped_twice(caches="all")), ROWS, FEW).caches == ()
    assert advise(planned(grouped_twice()), dict.fromkeys(ROWS, 1000.0), FEW).caches == (), "of small tables"


def test_a_cache_that_costs_more_than_it_saves() -> None:
    """Its refresh is a part of the model's."""
    many = {"raw.orders": Rate(updated=0.3)}
    plain, kept = (advise(planned(grouped_twice(caches=caches)), ROWS, many).upkeep[0] for caches in ("auto", "all"))
    assert kept.refresh > 0.9 * plain.refresh and advise(planned(grouped_twice()), ROWS, many).caches == ()


def test_a_table_that_is_joined_with_few_changed_rows() -> None:
    few, many = (
        advise(planned(BY_NAME), ROWS, {"raw.customers": Rate(updated=part)}, reads={"by_name": 1e3}).clusterings
        for part in (2e-7, 1e-2)
    )
    (orders,) = (each for each in few if each.table == "raw.orders")
    assert (orders.column, orders.models, orders.is_model) == ("cid", ("by_name",), False)
    assert 0 < orders.saves < orders.at_best, "more if the customers are neighbours"
    assert all(each.table != "raw.orders" for each in many), "so many keys have no ranges"


def test_a_view_that_is_clustered_by_what_changes_name() -> None:
    def clusterings(part: float, **config: Any) -> Any:
        seen = model(
            "seen",
            "select o.id, c.id as customer, o.price, c.name from raw.customers c join raw.orders o on c.id = o.cid",
            ORDERS,
            CUSTOMERS,
            **config,
        )
        return advise(planned(seen), ROWS, {"raw.customers": Rate(updated=part)}, reads={"seen": 1e5}).clusterings

    (one,), (two,) = clusterings(2e-7), clusterings(4e-7)
    assert (one.table, one.column, one.is_model) == ("seen", "customer", True) and one.saves == one.at_best > 100
    assert 0 < two.saves < two.at_best, "two keys may be in two files"
    assert clusterings(2e-7, cluster_by="customer") == () and clusterings(1e-2) == ()
