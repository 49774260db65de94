"""What the adapter passes to the planner about a model: keys, input names, config."""

from __future__ import annotations

from typing import Any

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.idivm.request import idivm_config, relation_under_test
from dbt_idivm.artifacts import dbt_config
from dbt_idivm.declared_keys import KeyIndex


def node(name: str, **more: Any) -> dict[str, Any]:
    return {
        "unique_id": f"model.p.{name}",
        "resource_type": "model",
        "name": name,
        "relation_name": f"`Main`.`{name}`",
        "config": {"materialized": "table"},
        **more,
    }


def generic(name: str, column: str | None = "id", *, about: str = "model.p.t", **config: Any) -> dict[str, Any]:
    kwargs: dict[str, Any] = {"column_name": column}
    return {
        "unique_id": f"test.p.{name}.{column}",
        "resource_type": "test",
        "name": f"{name}_{column}",
        "test_metadata": {"name": name, "namespace": None, "kwargs": kwargs},
        "attached_node": about,
        "depends_on": {"nodes": [about]},
        "config": {"enabled": True, "severity": "ERROR", **config},
    }


def keys(*nodes: dict[str, Any], reads: str = "model.p.t") -> list[tuple[str, ...]]:
    """The keys of main.t that a model reading `reads` gets."""
    index = KeyIndex({"nodes": {n["unique_id"]: n for n in nodes}, "sources": {}})
    found = index.keys({"depends_on": {"nodes": [reads]}})
    return [key.columns for key in found.get("main.t", ())]


def test_unique_and_not_null_make_a_key() -> None:
    assert keys(node("t"), generic("unique"), generic("not_null")) == [("id",)]


def test_unique_alone_admits_nulls() -> None:
    assert keys(node("t"), generic("unique")) == []


@pytest.mark.parametrize(
    "config",
    [{"where": "id > 1"}, {"severity": "warn"}, {"error_if": ">10"}, {"enabled": False}, {"fail_calc": "0"}],
)
def test_tests_that_let_rows_pass_do_not_count(config: dict[str, Any]) -> None:
    assert keys(node("t"), generic("unique", **config), generic("not_null")) == []


def test_expression_is_no_column() -> None:
    assert keys(node("t"), generic("unique", "a || b"), generic("not_null", "a || b")) == []


def test_combination_of_columns() -> None:
    combination = generic("unique_combination_of_columns", None)
    combination["test_metadata"] = {
        "name": "unique_combination_of_columns",
        "namespace": "dbt_utils",
        "kwargs": {"combination_of_columns": ["a", "`b`"]},
    }
    halves = [generic("not_null", "a"), generic("not_null", "b")]
    assert keys(node("t"), combination, *halves) == [("a", "b")]
    assert keys(node("t"), combination, halves[0]) == []


def test_constraints_of_columns_and_model() -> None:
    columns = {
        "id": {"constraints": [{"type": "primary_key"}]},
        "mail": {"constraints": [{"type": "unique"}, {"type": "not_null"}]},
        "nick": {"constraints": [{"type": "unique"}]},
    }
    assert keys(node("t", columns=columns)) == [("id",), ("mail",)]
    assert keys(node("t", constraints=[{"type": "primary_key", "columns": ["a", "b"]}])) == [("a", "b")]


def test_views_and_ephemeral_models_are_read_through() -> None:
    view = node("v", config={"materialized": "view"}, depends_on={"nodes": ["model.p.e"]})
    ephemeral = node("e", relation_name=None, config={"materialized": "ephemeral"}, depends_on={"nodes": ["model.p.t"]})
    assert keys(view, ephemeral, node("t"), generic("unique"), generic("not_null"), reads="model.p.v") == [("id",)]
    table = node("w", depends_on={"nodes": ["model.p.t"]})
    assert keys(table, node("t"), generic("unique"), generic("not_null"), reads="model.p.w") == []


def test_inputs_are_named_as_written() -> None:
    source = {
        "unique_id": "source.p.shop.orders",
        "resource_type": "source",
        "source_name": "shop",
        "name": "orders",
        "relation_name": "raw.orders",
        "config": {},
    }
    index = KeyIndex({"nodes": {"model.p.t": node("t")}, "sources": {source["unique_id"]: source}})
    model = {"depends_on": {"nodes": ["model.p.t", source["unique_id"]]}}
    assert index.input_names(model) == {"main.t": "t", "raw.orders": "shop.orders"}


def test_config_from_meta_or_direct() -> None:
    assert idivm_config({"meta": {"idivm": {"strategy": "id"}}}) == {"strategy": "id"}
    assert idivm_config({"idivm": {"strategy": "full"}, "meta": {}}) == {"strategy": "full"}
    assert idivm_config({}) == {}
    with pytest.raises(CompilationError, match="both `idivm` and"):
        idivm_config({"idivm": {}, "meta": {"idivm": {}}})
    with pytest.raises(CompilationError, match="takes a mapping"):
        idivm_config({"idivm": "incremental"})


def test_only_dbt_s_own_settings_that_were_given() -> None:
    assert dbt_config({"unique_key": "id", "tblproperties": {}, "alias": "x"}) == {"unique_key": "id"}


def test_tested_relation() -> None:
    assert relation_under_test("main.`v`") == ("main", "v")
    assert relation_under_test("(select * from main.v where false limit 0) _dbt_limit_subq_v") is None
    with pytest.raises(CompilationError, match="no `where`"):
        relation_under_test("(select * from main.v where id > 1) dbt_subquery")
