"""Keys in a properties file that is read without dbt."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_idivm.schema_file import catalog_of

COLUMNS = [{"name": "a", "data_type": "int"}, {"name": "b", "data_type": "int"}]
BOTH = {"combination_of_columns": ["a", "b"]}


@pytest.mark.parametrize(
    ("test", "key"),
    [
        ({"dbt_utils.unique_combination_of_columns": BOTH}, ("a", "b")),
        ({"dbt_utils.unique_combination_of_columns": {"arguments": BOTH}}, ("a", "b")),
        ({"dbt_expectations.expect_compound_columns_to_be_unique": {"column_list": ["a", "b"]}}, ("a", "b")),
        ({"dbt_constraints.primary_key": {"column_name": "a"}}, ("a",)),
        ({"dbt_utils.unique_combination_of_columns": {**BOTH, "config": {"where": "a > 1"}}}, None),
        ({"dbt_utils.unique_combination_of_columns": {**BOTH, "where": "a > 1"}}, None),
        ({"dbt_expectations.expect_compound_columns_to_be_unique": {"column_list": ["a"], "row_condition": "b > 1"}}, None),
        ({"dbt_utils.unique_combination_of_columns": BOTH, "config": {"severity": "warn"}}, None),
        ({"dbt_utils.at_least_one": {"column_name": "a"}}, None),
        ("unique", None),
    ],
)
def test_keys_by_tests_of_packages(test: Any, key: tuple[str, ...] | None) -> None:
    found = catalog_of({"models": [{"name": "t", "columns": COLUMNS, "data_tests": [test]}]})
    assert found.tables["t"].key == key
