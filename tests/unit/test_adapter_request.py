"""What the adapter passes to the planner about a model: keys, input names, config."""

from __future__ import annotations

from typing import Any

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.idivm.request import relation_under_test
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


def of_package(name: str, package: str | None, **arguments: Any) -> dict[str, Any]:
    found = generic(name, None)
    return {**found, "test_metadata": {"name": name, "namespace": package, "kwargs": {"model": "t", **arguments}}}


@pytest.mark.parametrize(
    "test",
    [
        of_package("unique_combination_of_columns", "dbt_utils", combination_of_columns=["a", "`b`"], quote_columns=False),
        of_package("unique_combination_of_columns", None, combination_of_columns=["a", "b"]),  # the project's own copy
        of_package("expect_compound_columns_to_be_unique", "dbt_expectations", column_list=["a", "b"], row_condition=None),
        of_package("expect_compound_columns_to_be_unique", "x", column_list=["a", "b"], ignore_row_if="any_value_is_missing"),
        of_package("expect_compound_columns_to_be_unique", "x", column_list=["a", "b"], quote_columns=True),
        of_package("unique_key", "dbt_constraints", column_names=["a", "b"], column_name=None, constraint_name="k"),
        of_package("unique_combination_of_columns", None, columns=["a", "b"]),  # the project's own, with a name of its own
        of_package("unique_combination_of_columns", "x", arguments={"combination_of_columns": ["a", "b"]}),
        of_package("unique", None, column_name="struct(a, b)"),
        of_package("unique", None, column_name="(a, `b`)"),
        of_package("unique", None, column_name="named_struct('x', a, 'y', b)"),
    ],
)
def test_unique_columns_by_tests_of_packages(test: dict[str, Any]) -> None:
    halves = [generic("not_null", "a"), generic("not_null", "b")]
    assert keys(node("t"), test, *halves) == [("a", "b")]
    assert keys(node("t"), test, halves[0]) == []


def test_a_column_that_the_test_puts_into_quotes() -> None:
    test = of_package("unique_combination_of_columns", "dbt_utils", combination_of_columns=["a b"], quote_columns=True)
    assert keys(node("t"), test, generic("not_null", "`a b`")) == [("a b",)]
    test["test_metadata"]["kwargs"]["quote_columns"] = False
    assert keys(node("t"), test, generic("not_null", "`a b`")) == []


@pytest.mark.parametrize("text", ["struct(a, b)", "(a, b)"])
def test_a_tuple_is_not_null_whatever_its_columns_are(text: str) -> None:
    unique = of_package("unique", None, column_name=text)
    assert keys(node("t"), unique, generic("not_null", text)) == []
    assert keys(node("t"), of_package("primary_key", "dbt_constraints", column_name=text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "a || '-' || b",
        "concat(a, b)",
        "concat_ws('-', a, b)",
        "md5(concat(a, '-', b))",
        "struct(a, b + 1)",
        "struct(a, t.b)",
        "array(a, b)",
        "a, b",
        "struct()",
        "(select a, b)",
        "(a, 1)",
    ],
)
def test_an_expression_that_is_no_tuple_of_columns(text: str) -> None:
    unique = of_package("unique", None, column_name=text)
    halves = [generic("not_null", "a"), generic("not_null", "b")]
    index = KeyIndex({"nodes": {n["unique_id"]: n for n in (node("t"), unique, *halves)}})
    assert index.declared(node("t")) == ()
    (ignored,) = index.ignored(node("t"))
    assert "an expression" in ignored.why and "struct(a, b)" in ignored.do


def test_one_column_by_tests_of_packages() -> None:
    unique = of_package("expect_column_values_to_be_unique", "dbt_expectations", column_name="id")
    not_null = of_package("expect_column_values_to_not_be_null", "dbt_expectations", column_name="id")
    assert keys(node("t"), unique, not_null) == [("id",)]
    assert keys(node("t"), unique) == keys(node("t"), not_null) == []
    assert keys(node("t"), of_package("primary_key", "dbt_constraints", column_name="id")) == [("id",)]
    assert keys(node("t"), of_package("primary_key", "dbt_constraints", column_names=["a", "b"], column_name="a")) == [("a", "b")]


@pytest.mark.parametrize(
    ("test", "why"),
    [
        (of_package("expect_column_values_to_be_unique", "e", column_name="id", row_condition="a > 1"), "its `row_condition`"),
        (of_package("unique", None, column_name="a || b"), "an expression"),
        (of_package("unique_combination_of_columns", "dbt_utils", combination_of_columns=["id", "a || b"]), "an expression"),
        (
            of_package("unique_combination_of_columns", "dbt_utils", combination_of_columns="{{ var('columns') }}"),
            "an expression",
        ),
        (of_package("unique_together", "mine", columns=["id"]), "a test of this name is not known"),
        (generic("unique", where="id > 1"), "its `where`"),
        (generic("unique", severity="warn"), "only warns"),
        (generic("unique", error_if=">10"), "tolerates"),
        (generic("unique", fail_calc="0"), "`fail_calc`"),
        (generic("unique", limit=0), "`limit`"),
    ],
)
def test_what_tests_say_without_effect(test: dict[str, Any], why: str) -> None:
    index = KeyIndex({"nodes": {n["unique_id"]: n for n in (node("t"), test, generic("not_null"))}})
    assert index.declared(node("t")) == ()
    (ignored,) = index.ignored(node("t"))
    assert ignored.what == f"test {test['name']}" and why in ignored.why


def test_unique_columns_with_nulls_are_said_to_be_ignored() -> None:
    index = KeyIndex({"nodes": {n["unique_id"]: n for n in (node("t"), generic("unique"))}})
    (ignored,) = index.ignored(node("t"))
    assert "admits NULLs in (id)" in ignored.why and "not_null" in ignored.do
    known = node("t", constraints=[{"type": "primary_key", "columns": ["id"]}])
    assert index.ignored(known) == ()
    (nameless,) = KeyIndex({}).ignored(node("t", constraints=[{"type": "unique"}]))
    assert nameless.why == "it names no columns"


@pytest.mark.parametrize(
    "name",
    ["relationships", "expect_select_column_values_to_be_unique_within_record", "expect_column_unique_value_count_to_be_between"],
)
def test_tests_that_are_about_something_else(name: str) -> None:
    test = of_package(name, "dbt_expectations", column_list=["id"], column_name="id")
    index = KeyIndex({"nodes": {n["unique_id"]: n for n in (node("t"), test, generic("not_null"))}})
    assert index.declared(node("t")) == () and index.ignored(node("t")) == ()


def test_constraints_of_columns_and_model() -> None:
    columns = {
        "id": {"constraints": [{"type": "primary_key"}]},
        "mail": {"constraints": [{"type": "unique"}, {"type": "not_null"}]},
        "nick": {"constraints": [{"type": "unique"}]},
    }
    assert keys(node("t", columns=columns)) == [("id",), ("mail",)]
    assert keys(node("t", constraints=[{"type": "primary_key", "columns": ["a", "b"]}])) == [("a", "b")]
    halves = [{"type": "unique", "columns": ["a", "b"]}, {"type": "not_null", "columns": ["a", "B"]}]
    assert keys(node("t", constraints=halves)) == [("a", "b")]


@pytest.mark.parametrize("materialized", ["table", "idivm", "incremental"])
def test_constraints_of_a_contract(materialized: str) -> None:
    """Also of a maintained model, for the models that read it."""
    columns = {
        "id": {"data_type": "int", "constraints": [{"type": "unique"}, {"type": "not_null"}]},
        "a": {"data_type": "int", "constraints": [{"type": "not_null"}, {"type": "check", "expression": "a > 0"}]},
        "b": {"data_type": "int", "constraints": []},
    }
    config = {"materialized": materialized, "contract": {"enforced": True}}
    table = [{"type": "primary_key", "columns": ["a", "b"]}, {"type": "foreign_key", "columns": ["b"], "expression": "u (id)"}]
    assert keys(node("t", columns=columns, config=config)) == [("id",)]
    assert keys(node("t", columns=columns, config=config, constraints=table)) == [("a", "b"), ("id",)]


@pytest.mark.parametrize("kind", ["source", "seed", "snapshot", "model"])
def test_columns_that_are_a_primary_key_together(kind: str) -> None:
    """dbt has no other place for one of several columns of a source."""
    columns = {name: {"constraints": [{"type": "primary_key"}]} for name in ("a", "b")}
    assert keys(node("t", columns=columns, resource_type=kind, source_name="s")) == [("a", "b")]


def maintained(name: str, keys: object, *reads: str) -> dict[str, Any]:
    config = {"materialized": "idivm", "idivm": {"keys": keys}}
    return node(name, config=config, depends_on={"nodes": [f"model.p.{each}" for each in reads]})


def test_keys_of_the_config_that_no_model_uses() -> None:
    models = [
        maintained("v", {"t": "id", "u": ["id"], "nobody": "x"}, "t"),
        maintained("w", {"t": "id", "u": ["other"]}, "u"),
        maintained("x", 3, "t"),
    ]
    index = KeyIndex({"nodes": {n["unique_id"]: n for n in (node("t"), node("u"), *models)}})
    (unused,) = index.unused()  # `nobody` is no relation: an error of the model
    assert unused.what == "`keys: {u: [id]}`" and unused.why.endswith("reads `u`: v")
    assert {"t", "main.t", "u"} <= index.relations and "nobody" not in index.relations


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


def test_only_dbt_s_own_settings_that_were_given() -> None:
    assert dbt_config({"unique_key": "id", "tblproperties": {}, "alias": "x"}) == {"unique_key": "id"}


def test_tested_relation() -> None:
    assert relation_under_test("main.`v`") == ("main", "v")
    assert relation_under_test("(select * from main.v where false limit 0) _dbt_limit_subq_v") is None
    with pytest.raises(CompilationError, match="no `where`"):
        relation_under_test("(select * from main.v where id > 1) dbt_subquery")
