"""`idivm explain`: what a user sees of a model's plan without Spark and without a dbt project."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbt_idivm.cli import main
from dbt_idivm.errors import CODES
from dbt_idivm.support import as_markdown

SCHEMA = """
sources:
  - name: shop
    tables:
      - name: orders
        columns:
          - {name: id, data_type: bigint, data_tests: [unique, not_null]}
          - {name: cid, data_type: bigint}
          - {name: price, data_type: "decimal(10,2)"}
models:
  - name: customers
    columns:
      - {name: id, data_type: bigint, constraints: [{type: primary_key}]}
      - {name: name, data_type: string}
"""
JOIN = """{{ config(materialized='idivm') }}
select o.id, c.name, o.price * 2 as p
from {{ source('shop', 'orders') }} o join {{ ref('customers') }} c on o.cid = c.id
"""


@pytest.fixture
def explain(tmp_path: Path):  # type: ignore[no-untyped-def]
    (tmp_path / "schema.yml").write_text(SCHEMA)

    def run(sql: str, *options: str, schema: str = SCHEMA) -> Result:
        (tmp_path / "schema.yml").write_text(schema)
        (tmp_path / "model.sql").write_text(sql)
        arguments = ["explain", str(tmp_path / "model.sql"), "--schema", str(tmp_path / "schema.yml"), *options]
        return CliRunner().invoke(main, arguments)

    return run


def test_tree_ids_and_script(explain) -> None:  # type: ignore[no-untyped-def]
    result = explain(JOIN)
    assert result.exit_code == 0
    assert "scan shop.orders as o   [ID: o__id]" in result.output
    assert "UPD(c__id; assigns c__name) from d_upd__c" in result.output
    assert "idivm__c__id ← c__id (hidden)" in result.output
    assert "MERGE INTO model AS v" in result.output


def test_naive_and_optimised_scripts(explain) -> None:  # type: ignore[no-untyped-def]
    grouped = "select cid, count(*) as n from {{ source('shop', 'orders') }} group by cid"
    naive, optimised = (explain(grouped, "--script", which).output for which in ("naive", "optimised"))
    # the deleted order's customer is in the i-diff: only the naive script looks it up
    assert "EXISTS" in naive.split("-- apply")[0]
    assert "EXISTS" not in optimised.split("-- apply")[0]


def test_refusal_says_why_and_fails_on_request(explain) -> None:  # type: ignore[no-untyped-def]
    limited = f"{JOIN} limit 3"
    assert explain(limited).exit_code == 0
    result = explain(limited, "--fail-on", "full")
    assert result.exit_code == 1
    assert "IDIVM-205" in result.output and "^^^" in result.output


@pytest.mark.parametrize(
    "sql, schema, expected",
    [
        ("select nme from {{ ref('customers') }}", SCHEMA, "IDIVM-221"),
        ("select * from {{ my_macro() }}", SCHEMA, "dbt compile"),
        ("select id from {{ ref('customers') }}", "models: [{name: customers}]", "lists no columns"),
        ("select id from {{ ref('customers') }}", "models: [{name: customers, columns: [{name: id}]}]", "no data_type"),
    ],
)
def test_wrong_input_is_reported(explain, sql: str, schema: str, expected: str) -> None:  # type: ignore[no-untyped-def]
    result = explain(sql, schema=schema)
    assert result.exit_code == 1
    assert expected in result.output
    assert "Traceback" not in result.output


GROUPED = """
with spending as (select c.id, c.name, o.price
  from {{ source('shop', 'orders') }} o join {{ ref('customers') }} c on o.cid = c.id)
select id, name, sum(price) as spent from spending group by id, name
"""


@pytest.mark.parametrize("caches", ["all", "Spending"])
def test_caches_come_first_with_their_reasons(explain, caches: str) -> None:  # type: ignore[no-untyped-def]
    output = explain(GROUPED, "--caches", caches).output
    heading, reason, *_ = output.splitlines()
    table = heading.removeprefix("cache 1: ")
    assert table.startswith("idivm_cache_") and table.endswith("_orders_customers") and reason.startswith("  because ")
    assert output.index("i-diffs of the cache") < output.index(f"scan {table} as cache_1")
    assert output.index(f"MERGE INTO {table}") < output.index("MERGE INTO model AS")


@pytest.mark.parametrize("caches", ["auto", "none"])
def test_no_caches(explain, caches: str) -> None:  # type: ignore[no-untyped-def]
    output = explain(GROUPED, "--caches", caches).output
    assert "idivm_cache" not in output and ("count__rows" in output) is (caches == "auto")


def test_calls_without_an_additive_rule_are_named(explain) -> None:  # type: ignore[no-untyped-def]
    output = explain(GROUPED.replace("sum(price) as spent", "count(distinct price) as most, sum(price) as spent")).output
    assert "none: no additive rule for COUNT(DISTINCT o__price) → v__most\n\n" in output
    assert "SUM(o__price) → v__spent, maintained by additive_sum" in explain(GROUPED).output


def test_impossible_caches_are_reported_at_once(explain) -> None:  # type: ignore[no-untyped-def]
    result = explain(GROUPED, "--caches", "spendings, others")
    assert result.exit_code == 1 and result.output.count("IDIVM-108 config") == 2 and "the nearest: `spending`" in result.output


@pytest.mark.parametrize(
    ("schema", "found"), [("version: 2\nmodel: []\n", "`version`, `model`"), ("", "nothing"), ("- a\n", "no keys")]
)
def test_a_schema_file_that_says_nothing_is_an_error(explain, schema: str, found: str) -> None:  # type: ignore[no-untyped-def]
    result = explain(JOIN, schema=schema)
    assert result.exit_code == 1
    assert "IDIVM-113" in result.output and found in result.output


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ("orders", "list no relation orders; they list `shop.orders`\n"),
        ("raw.orders", "list no relation raw.orders; they list `shop.orders`\n"),
        ("items", "list no relation items; they list `old.items`, `shop.items`\n"),
        ("raw.itmes", "list no relation raw.itmes; the nearest that they list: `old.items`, `shop.items`"),
        ("shop.customer", "list no relation shop.customer; the nearest that they list: `customers`\n"),
    ],
)
def test_a_relation_that_no_schema_file_lists(explain, read: str, expected: str) -> None:  # type: ignore[no-untyped-def]
    items = "{tables: [{name: items, columns: [{name: id, data_type: int}]}], name: "
    schema = SCHEMA.replace("sources:", f"sources:\n  - {items}shop}}\n  - {items}old}}")
    result = explain(f"select id\nfrom {read}", schema=schema)
    assert result.exit_code == 1
    assert f"IDIVM-123 config: the files given with --schema {expected}" in result.output and f"| from {read}\n" in result.output


def test_schema_files_without_relations(explain) -> None:  # type: ignore[no-untyped-def]
    assert "list no relation orders; they list none\n" in explain("select id from orders", schema="sources: []").output


def test_a_schema_file_that_is_no_yaml(explain) -> None:  # type: ignore[no-untyped-def]
    result = explain(JOIN, schema="a: [")
    assert result.exit_code == 1 and "is not YAML" in result.output


def test_types_that_only_spark_knows_are_reported_as_open(explain) -> None:  # type: ignore[no-untyped-def]
    union = "select id as x from {{ source('shop', 'orders') }} union all select {} from {{ ref('customers') }}"
    assert "types\n  of UNION: Spark is asked" in explain(union.replace("{}", "name")).output
    assert "Spark will be asked" not in explain(union.replace("{}", "id")).output


def test_passes(explain) -> None:  # type: ignore[no-untyped-def]
    text = explain(JOIN, "--passes").output
    places = [text.index(each) for each in ("after lower", "after extend_by_ids", "after merge_distincts", "MERGE")]
    assert places == sorted(places)
    assert "after lower" not in explain(JOIN).output


def test_costs(explain) -> None:  # type: ignore[no-untyped-def]
    shown = explain(JOIN, "--cost", "--rows", "orders=5_000_000", "--rows", "customers=100000", "--script", "none")
    assert shown.exit_code == 0, shown.output
    lines = [line.split() for line in shown.output.splitlines()]
    assert lines[1] == ["updated", "p", "(1)", "rebuild", "id", "recompute", "tuple", "whole", "cheapest"]
    one = next(line for line in lines if line[:2] == ["customers:", "1"])
    assert one[2] == "50.0" and one[-1] in ("rebuild", "id")
    missing = explain(JOIN, "--cost", "--rows", "orders=5")
    assert missing.exit_code == 2 and "customers has no number of rows: add --rows customers=…" in missing.output
    for wrong in ("orders", "orders=many", "=5", "orders=-1"):
        assert "is not TABLE=N" in explain(JOIN, "--cost", "--rows", wrong).output


def test_costs_of_caches(explain) -> None:  # type: ignore[no-untyped-def]
    grouped = (
        "select c.name, max(o.price) as most from {{ source('shop', 'orders') }} o join {{ ref('customers') }} c "
        "on o.cid = c.id group by c.name"
    )
    shown = explain(grouped, "--caches", "all", "--cost", "--rows", "orders=1000", "--rows", "customers=10", "--script", "none")
    assert shown.exit_code == 0, shown.output
    assert shown.output.startswith("cache 1: ") and "\nview\ncost, in seconds" in shown.output


def test_a_code_is_explained_where_no_copy_of_the_pages_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "errors" / "IDIVM-203.md").read_text(encoding="utf-8")
    for code in ("IDIVM-203", "idivm-203", "203"):
        assert as_markdown(CliRunner().invoke(main, ["help", code]).output) == page
    every = CliRunner().invoke(main, ["help"]).output.splitlines()
    assert len(every) == len(CODES) and every[0].startswith("IDIVM-102  unknown config key")
    unknown = CliRunner().invoke(main, ["help", "IDIVM-999"])
    assert unknown.exit_code == 1 and "There is no code IDIVM-999. `idivm help` lists all codes." in unknown.output
