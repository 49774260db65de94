"""Keys in a properties file that is read without dbt, in every syntax that dbt has."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dbt_idivm.schema_file import catalog_of, plain_sql

COLUMNS = [{"name": name, "data_type": "int", "data_tests": ["not_null"]} for name in ("a", "b")] + [
    {"name": "c", "data_type": "int"}
]
BOTH = {"combination_of_columns": ["a", "b"]}


def key(**model: Any) -> tuple[str, ...] | None:
    return catalog_of({"models": [{"name": "t", "columns": COLUMNS, **model}]}).tables["t"].key


@pytest.mark.parametrize("name", ["data_tests", "tests"])
@pytest.mark.parametrize(
    ("test", "found"),
    [
        ({"dbt_utils.unique_combination_of_columns": BOTH}, ("a", "b")),
        ({"dbt_utils.unique_combination_of_columns": {"arguments": BOTH}}, ("a", "b")),
        ({"dbt_utils.unique_combination_of_columns": {"arguments": BOTH, "config": {"severity": "error"}}}, ("a", "b")),
        ({"dbt_utils.unique_combination_of_columns": {"arguments": BOTH, "name": "k", "description": "d"}}, ("a", "b")),
        ({"name": "k", "test_name": "dbt_utils.unique_combination_of_columns", **BOTH}, ("a", "b")),
        ({"name": "k", "test_name": "unique_combination_of_columns", "arguments": BOTH}, ("a", "b")),
        ({"dbt_expectations.expect_compound_columns_to_be_unique": {"column_list": ["a", "b"]}}, ("a", "b")),
        ({"dbt_constraints.primary_key": {"column_name": "c"}}, ("c",)),
        ({"dbt_constraints.primary_key": {"column_names": ["b", "c"]}}, ("b", "c")),
        ({"dbt_constraints.unique_key": {"column_names": ["a", "b"]}}, ("a", "b")),
        ({"unique": {"column_name": "struct(a, b)"}}, ("a", "b")),
        ({"unique": {"arguments": {"column_name": "(a, b)"}}}, ("a", "b")),
        ({"unique": {"column_name": "a || '-' || b"}}, None),
        ({"dbt_utils.unique_combination_of_columns": {"combination_of_columns": ["a", "c"]}}, None),  # c may be NULL
        ({"dbt_utils.unique_combination_of_columns": {**BOTH, "config": {"where": "a > 1"}}}, None),
        ({"dbt_utils.unique_combination_of_columns": {**BOTH, "where": "a > 1"}}, None),
        ({"dbt_utils.unique_combination_of_columns": {**BOTH, "config": {"enabled": False}}}, None),
        ({"dbt_utils.unique_combination_of_columns": {**BOTH, "config": {"enabled": "{{ var('x') }}"}}}, None),
        ({"dbt_utils.unique_combination_of_columns": {**BOTH, "config": {"limit": 0}}}, None),
        ({"dbt_expectations.expect_compound_columns_to_be_unique": {"column_list": ["a"], "row_condition": "b > 1"}}, None),
        ({"dbt_utils.unique_combination_of_columns": BOTH, "config": {"severity": "warn"}}, None),
        ({"dbt_utils.at_least_one": {"column_name": "a"}}, None),
        ("unique", None),
        (3, None),
    ],
)
def test_keys_by_tests_of_a_table(name: str, test: Any, found: tuple[str, ...] | None) -> None:
    assert key(**{name: [test]}) == found


@pytest.mark.parametrize(
    ("tests", "found"),
    [
        (["unique", "not_null"], ("d",)),
        ([{"unique": None}, {"not_null": {}}], ("d",)),
        ([{"unique": {"config": {"severity": "error"}}}, {"not_null": {"name": "n"}}], ("d",)),
        ([{"name": "u", "test_name": "unique"}, "not_null"], ("d",)),
        (["dbt_expectations.expect_column_values_to_be_unique", "not_null"], ("d",)),
        (["dbt_constraints.primary_key"], ("d",)),
        ([{"unique": {"config": {"where": "d > 1"}}}, "not_null"], None),
        ([{"unique": {"severity": "warn"}}, "not_null"], None),
        (["unique", {"not_null": {"config": {"severity": "warn"}}}], None),
        (["unique"], None),
    ],
)
def test_keys_by_tests_of_a_column(tests: list[Any], found: tuple[str, ...] | None) -> None:
    assert key(columns=[*COLUMNS, {"name": "d", "data_type": "int", "tests": tests}]) == found


def test_a_quoted_column() -> None:
    column = {"name": "order no", "data_type": "int", "quote": True, "data_tests": ["unique", "not_null"]}
    assert key(columns=[*COLUMNS, column]) == ("order no",)


def of_columns(kind: str, *names: str) -> list[dict[str, Any]]:
    return [{**each, "constraints": [{"type": kind}] if each["name"] in names else []} for each in COLUMNS]


def test_constraints() -> None:
    assert key(constraints=[{"type": "primary_key", "columns": ["b", "c"]}]) == ("b", "c")
    assert key(constraints=[{"type": "unique", "columns": ["a", "b"]}]) == ("a", "b")
    assert key(constraints=[{"type": "unique", "columns": ["a", "c"]}]) is None
    assert key(columns=of_columns("unique", "a")) == ("a",)
    assert key(columns=of_columns("primary_key", "c")) == ("c",)
    assert key(columns=of_columns("primary_key", "a", "c")) == ("a", "c")  # one primary key, not two


VERSIONS = """
models:
  - name: sales
    latest_version: 1
    columns:
      - {name: a, data_type: int, data_tests: [unique, not_null]}
      - {name: b, data_type: int, data_tests: [not_null]}
    versions:
      - {v: 1}
      - v: 2
        columns:
          - {include: all, exclude: [a]}
          - {name: line, data_type: bigint, data_tests: [not_null]}
        data_tests:
          - unique_combination_of_columns: {arguments: {combination_of_columns: [b, line]}}
"""


def test_versions_of_a_model() -> None:
    found = catalog_of(yaml.safe_load(VERSIONS)).tables
    assert {name: (each.key, [column.name for column in each.columns]) for name, each in found.items()} == {
        "sales_v1": (("a",), ["a", "b"]),
        "sales": (("a",), ["a", "b"]),
        "sales_v2": (("b", "line"), ["b", "line"]),
    }
    del (document := yaml.safe_load(VERSIONS))["models"][0]["latest_version"]
    assert catalog_of(document).tables["sales"].key == ("b", "line")


def test_refs_to_versions() -> None:
    sql = "{{ config(x=1) }}select * from {{ ref('sales', v=2) }} join {{ ref('p', \"sales\", version='1') }} join {{ ref('sales') }}"
    assert plain_sql(sql) == "select * from sales_v2 join sales_v1 join sales"
