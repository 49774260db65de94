"""The relation of a model: changes of materialization, what is left behind, comments and constraints."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines import relations

ORDERS = "id,cust,price\n1,1,10\n2,1,20\n3,2,30\n"
PLAIN = "select id, cust, price from {{ ref('orders') }} where price > 5"
# the group's number of rows is hidden
GROUPED = "select cust, sum(price) as total from {{ ref('orders') }} group by cust"
KEY = "models: [{name: %s, data_tests: [idivm_equivalent]}]"


def model(sql: str, **config: Any) -> str:
    given = ", ".join(f"{key}={value!r}" for key, value in config.items())
    return f"{{{{ config({given}) }}}}\n{sql}\n"


@pytest.fixture
def shop(project: Any) -> Any:
    project.write("seeds/orders.csv", ORDERS)
    project.write("seeds/s.yml", "seeds: [{name: orders, columns: [{name: id, data_tests: [unique, not_null]}]}]")
    project.dbt("seed")
    return project


WAYS = {
    "table": {"materialized": "table"},
    "view": {"materialized": "view"},
    "incremental": {"materialized": "incremental", "incremental_strategy": "merge", "unique_key": "cust"},
    "plain": {"materialized": "idivm"},  # a table of its own
    "hidden": {"materialized": "idivm"},  # a view over a table with hidden columns
}
SWAPS = [(before, after) for before in WAYS for after in WAYS if before != after and {"plain", "hidden"} & {before, after}]


@pytest.mark.long
def test_a_name_changes_hands_in_all_directions(shop: Any) -> None:
    """One model for each pair. Whoever takes over has the rows of its query, and nothing else is left."""

    def write(at: int) -> None:
        for swap in SWAPS:
            way = swap[at]
            # the same columns for all, so that `incremental` can go on with what it finds
            sql = GROUPED if way != "plain" else "select id as cust, price as total from {{ ref('orders') }} where id < 3"
            shop.write(f"models/{'_to_'.join(swap)}.sql", model(sql, **WAYS[way]))

    write(0)
    shop.dbt("run")
    write(1)
    results = shop.results("run")
    assert len(results) == len(SWAPS) == 14
    grouped, some = [(1, 30), (2, 30)], [(1, 10), (2, 20)]
    expected = {"orders": "table"}
    for before, after in SWAPS:
        name = f"{before}_to_{after}"
        rows = shop.sql(f"select cust, total from $.{name} order by cust")
        assert rows == (some if after == "plain" else grouped), name
        expected[name] = "view" if after in ("view", "hidden") else "table"
        if after == "hidden":
            expected[name + "__idivm"] = "table"
    assert shop.relations() == expected
    shop.sql("insert into $.orders values (4, 2, 5)")
    shop.dbt("run", "--select", "config.materialized:idivm")
    for before, after in SWAPS:
        if after == "hidden":
            assert shop.sql(f"select total from $.{before}_to_{after} where cust = 2") == [(35,)]
    assert not [key for key in shop.properties("plain_to_incremental") if key.startswith("idivm.")]


def test_what_models_leave_behind_is_listed_and_dropped(shop: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("kept", "deleted", "renamed"):
        shop.write(f"models/{name}.sql", model(GROUPED, materialized="idivm"))
    shop.sql("create table $.by_hand using delta tblproperties ('a' = 'b') as select 1 as x")
    shop.dbt("run")
    (shop.root / "models" / "deleted.sql").unlink()
    shop.write("models/renamed.sql", model(GROUPED, materialized="idivm", alias="other"))
    shop.dbt("run")
    before = shop.relations()
    shop.dbt("run-operation", "idivm_orphans")
    out = capsys.readouterr().out
    for name, owner in (("deleted", "deleted"), ("renamed", "renamed")):
        assert f"orphan: view {shop.schema}.{name} of model.functional.{owner}" in out
        assert f"orphan: table {shop.schema}.{name}__idivm of model.functional.{owner}" in out
    assert out.count("orphan: ") == 4 and "{drop: true}" in out and shop.relations() == before
    shop.dbt("run-operation", "idivm_orphans", "--args", "{drop: true}")
    assert set(shop.relations()) == {"orders", "by_hand", "kept", "kept__idivm", "other", "other__idivm"}
    capsys.readouterr()
    shop.dbt("run-operation", "idivm_orphans")
    assert "left anything behind" in capsys.readouterr().out
    assert shop.results("run", "--select", "kept")["kept"].message.startswith("noop")


@pytest.mark.deep
def test_custom_schema_alias_and_clean_up_by_dbt_itself(shop: Any) -> None:
    shop.write("models/m.sql", model(GROUPED, materialized="idivm", schema="marts", alias="sums"))
    shop.dbt("run")
    marts = f"{shop.schema}_marts"
    assert shop.sql(f"select total from {marts}.sums order by cust") == [(30,), (30,)]
    # whatever drops the view through dbt drops the table behind it
    shop.write("macros/away.sql", "{% macro away() %}{% do adapter.drop_relation(load_relation(ref('m'))) %}{% endmacro %}")
    hook = "{{ config(materialized='table', pre_hook='{{ away() }}') }}"
    shop.write("models/user.sql", f"-- depends_on: {{{{ ref('m') }}}}\n{hook} select 1 as a")
    shop.dbt("run", "--select", "user")
    assert relations(shop.spark, marts) == {}


@pytest.mark.deep
def test_descriptions_reach_table_view_and_columns(shop: Any) -> None:
    docs = "config: {persist_docs: {relation: true, columns: true}}"
    shop.write("models/plain.sql", model(PLAIN, materialized="idivm"))
    shop.write("models/grouped.sql", model(GROUPED, materialized="idivm"))
    shop.write(
        "models/m.yml",
        f"""
        models:
          - {{name: plain, description: "it's plain", {docs}, columns: [{{name: id, description: 'a "key"'}}]}}
          - {{name: grouped, description: grouped, {docs}, columns: [{{name: total, description: "the sum; all of it"}}]}}
        """,
    )
    shop.dbt("run")
    described = {row[0]: row for row in shop.sql("describe extended $.plain")}
    assert described["id"][2] == 'a "key"' and described["Comment"][1] == "it's plain"
    described = {row[0]: row for row in shop.sql("describe extended $.grouped")}
    assert described["total"][2] == "the sum; all of it" and described["Comment"][1] == "grouped"
    commits = len(shop.sql("describe history $.plain"))
    messages = {name: result.message for name, result in shop.results("run").items()}
    assert all(message.startswith("noop") for message in messages.values()), messages
    assert len(shop.sql("describe history $.plain")) == commits


@pytest.mark.long
def test_constraints_of_a_contract_hold_in_every_refresh(shop: Any) -> None:
    contract = """
        models:
          - name: {name}
            config: {{contract: {{enforced: true}}}}
            constraints: [{{type: check, name: small, expression: total < 100}}]
            columns:
              - {{name: cust, data_type: bigint, constraints: [{{type: not_null}}]}}
              - {{name: total, data_type: bigint}}
        """
    shop.write("models/grouped.sql", model(GROUPED, materialized="idivm"))
    shop.write("models/m.yml", contract.format(name="grouped"))
    shop.dbt("run")
    held = {key: value for key, value in shop.properties("grouped__idivm").items() if key.startswith("delta.constraints.")}
    assert set(held.values()) == {"cust IS NOT NULL", "total < 100"}
    shop.dbt("run", "--full-refresh")
    shop.write("models/grouped.sql", model(GROUPED + " -- again", materialized="idivm", tblproperties={"a": "b"}))
    assert "IDIVM-415" in shop.results("run")["grouped"].message
    again = {key: value for key, value in shop.properties("grouped__idivm").items() if key.startswith("delta.constraints.")}
    assert again == held, "also of a table that was created again"
    shop.sql("insert into $.orders values (4, 2, 500)")
    failed = shop.results("run", fails=True)["grouped"]
    assert "IDIVM-902" in failed.message and "small" in failed.message
    assert shop.sql("select total from $.grouped where cust = 2") == [(30,)], "the view stays at its last commit"
    shop.write("models/m.yml", contract.format(name="grouped").replace("< 100", "< 1000").replace("[{type: not_null}]", "[]"))
    shop.sql("insert into $.orders values (5, null, 1)")
    assert shop.results("run")["grouped"].message.startswith("incremental: +1 ~1")
    assert shop.sql("select total from $.grouped where cust is null or cust = 2") == [(530,), (1,)]
    held = {key: value for key, value in shop.properties("grouped__idivm").items() if key.startswith("delta.constraints.")}
    assert set(held.values()) == {"total < 1000"}
    shop.write("models/m.yml", "")
    shop.sql("update $.orders set price = 5000 where id = 4")
    assert "IDIVM-902" in shop.results("run", fails=True)["grouped"].message, "a CHECK with a name may be anybody's"
    shop.dbt("run", "--full-refresh")


@pytest.mark.long
def test_layout_and_what_a_change_of_it_does(shop: Any) -> None:
    def write(**config: Any) -> None:
        shop.write("models/m.sql", model(PLAIN, materialized="idivm", **config))

    place = shop.root / "elsewhere"
    write(partition_by="cust", tblproperties={"a": "1"}, location_root=str(place))
    assert shop.results("run")["m"].message.startswith("create")
    detail = shop.detail("m")
    assert detail["partitionColumns"] == ["cust"] and detail["location"].endswith(f"{place}/m")
    assert detail["properties"]["a"] == "1"
    write(partition_by="cust", tblproperties={"a": "2"}, location_root=str(place), on_configuration_change="fail")
    assert "IDIVM-106" in shop.results("run", fails=True)["m"].message
    write(partition_by="cust", tblproperties={"a": "2"}, location_root=str(place), on_configuration_change="continue")
    assert shop.results("run")["m"].message.startswith("noop") and shop.properties("m")["a"] == "1"
    write(partition_by="cust", tblproperties={"a": "2"}, location_root=str(place))
    assert "IDIVM-415" in shop.results("run")["m"].message and shop.properties("m")["a"] == "2"
    # Delta moves no table: the view stays, readable, where it is
    write(partition_by="cust", location_root=str(shop.root / "third"))
    assert "DELTA_TABLE_LOCATION_MISMATCH" in shop.results("run", fails=True)["m"].message
    assert shop.sql("select count(*) from $.m") == [(3,)]


@pytest.mark.long
def test_another_set_of_columns(shop: Any) -> None:
    def write(choice: str, columns: str) -> None:
        sql = f"select {columns}, price from {{{{ ref('orders') }}}}"
        shop.write("models/m.sql", model(sql, materialized="idivm", on_schema_change=choice))

    write("fail", "id, cust")
    shop.dbt("run")
    write("fail", "id, cust, 1 as one")
    message = shop.results("run", fails=True)["m"].message
    assert "IDIVM-107" in message and "one int" in message
    assert [row[0] for row in shop.sql("describe $.m")] == ["id", "cust", "price"]
    for choice in ("append_new_columns", "sync_all_columns", "ignore"):
        write(choice, f"id, 1 as {choice}")
        assert shop.results("run")["m"].message.startswith("migrated: columns over stored ones")
        assert [row[0] for row in shop.sql("describe $.m")] == ["id", choice, "price"], "as the SELECT says"
