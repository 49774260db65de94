"""The features of dbt-spark work under `type: idivm`, with Delta tables and change data feed by default."""

from __future__ import annotations

import json
from typing import Any

import pytest

FEED = "delta.enableChangeDataFeed"
SEED = "id,name,born\n1,Ann,2020-01-31\n2,O'Brien,\n3,back\\slash,1999-12-31\n"


@pytest.fixture(scope="module")
def shop(new_project: Any) -> Any:
    """A seeded project with one model of each of dbt's own kinds."""
    shop = new_project()
    shop.write("seeds/people.csv", SEED)
    shop.write("models/as_table.sql", "{{ config(materialized='table') }} select id, name from {{ ref('people') }}")
    shop.write("models/as_view.sql", "{{ config(materialized='view') }} select id from {{ ref('as_table') }}")
    shop.write(
        "models/as_incremental.sql",
        """
        {{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
        select id, name, {{ "1" if is_incremental() else "0" }} as pass from {{ ref('people') }}
        """,
    )
    shop.write(
        "models/models.yml",
        """
        models:
          - name: as_table
            description: a table
            columns:
              - name: id
                data_tests: [unique, not_null]
        """,
    )
    shop.write(
        "snapshots/people_history.sql",
        """
        {% snapshot people_history %}
        {{ config(unique_key='id', strategy='check', check_cols=['name']) }}
        select id, name from {{ ref('people') }}
        {% endsnapshot %}
        """,
    )
    shop.dbt("build")
    return shop


def test_debug_connects(shop: Any) -> None:
    assert shop.dbt("debug") is True


def test_seed_keeps_quotes_nulls_and_types(shop: Any) -> None:
    rows = shop.sql("select id, name, cast(born as string) from $.people order by id")
    assert rows == [(1, "Ann", "2020-01-31"), (2, "O'Brien", None), (3, "back\\slash", "1999-12-31")]


def test_seed_again_continues_the_history(shop: Any) -> None:
    before = shop.sql("describe history $.people")
    shop.dbt("seed")
    after = shop.sql("describe history $.people")
    assert len(after) == len(before) + 2  # replaced, then filled
    assert shop.sql("select count(*) from $.people") == [(3,)]


@pytest.mark.parametrize("table", ["people", "as_table", "as_incremental", "people_history"])
def test_tables_are_delta_with_change_feed(shop: Any, table: str) -> None:
    assert shop.sql(f"describe detail $.{table}")[0][0] == "delta"
    assert shop.properties(table)[FEED] == "true"


def test_table_is_replaced_not_dropped(shop: Any) -> None:
    shop.dbt("run", "--select", "as_table")
    operations = [row[4] for row in shop.sql("describe history $.as_table")]
    assert operations[:2] == ["CREATE OR REPLACE TABLE AS SELECT"] * 2


def test_user_can_have_parquet_or_no_feed(project: Any) -> None:
    project.write("models/plain.sql", "{{ config(materialized='table', file_format='parquet') }} select 1 as a")
    off = "{{ config(materialized='table', tblproperties={'delta.enableChangeDataFeed': 'false'}) }} select 1 as a"
    project.write("models/no_feed.sql", off)
    project.dbt("run")
    assert "parquet" in str(project.sql("describe extended $.plain"))
    assert project.properties("no_feed")[FEED] == "false"


def test_view_reads_its_table(shop: Any) -> None:
    assert shop.sql("select count(*) from $.as_view") == [(3,)]


def test_incremental_merges(shop: Any) -> None:
    shop.dbt("run", "--select", "as_incremental")
    assert shop.sql("select distinct pass from $.as_incremental") == [(1,)]
    assert shop.sql("select count(*) from $.as_incremental") == [(3,)]


def test_snapshot_closes_the_changed_row(shop: Any) -> None:
    shop.sql("update $.people set name = 'Anna' where id = 1")
    shop.dbt("snapshot")
    rows = shop.sql("select name, dbt_valid_to is null from $.people_history where id = 1 order by 1")
    assert rows == [("Ann", False), ("Anna", True)]


def test_docs_generate_lists_columns(shop: Any) -> None:
    shop.dbt("docs", "generate")
    catalog = json.loads((shop.root / "target" / "catalog.json").read_text())
    columns = catalog["nodes"]["model.functional.as_table"]["columns"]
    assert {name: column["type"] for name, column in columns.items()} == {"id": "long", "name": "string"}


def test_show_with_limit_and_compile(shop: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shown = shop.dbt("show", "--inline", "select id from {{ ref('as_table') }} order by id", "--limit", "2")
    assert [row["id"] for row in shown.results[0].agate_table.rows] == [1, 2]
    capsys.readouterr()
    shop.dbt("show", "--inline-direct", "select explode(sequence(11, 19)) as n", "--limit", "3")
    out = capsys.readouterr().out
    assert "| 13 |" in out and "| 14 |" not in out
    assert shop.dbt("compile", "--select", "as_view").results[0].node.compiled_code


def test_failing_generic_test_is_reported(project: Any) -> None:
    project.write("models/twice.sql", "{{ config(materialized='table') }} select explode(array(1, 1)) as id")
    project.write("models/m.yml", "models: [{name: twice, columns: [{name: id, data_tests: [unique]}]}]")
    failed = project.results("build", fails=True)["unique_twice_id"]
    assert (failed.status, failed.failures) == ("fail", 1)


def test_ansi_and_time_zone_are_the_profile_s(project: Any) -> None:
    project.profile(catalog="in-memory", time_zone="America/New_York")
    shown = project.dbt("show", "--inline", "select current_timezone() as zone, try_divide(1, 0) as n")
    assert shown.results[0].agate_table.rows[0]["zone"] == "America/New_York"
    project.write("models/bad.sql", "{{ config(materialized='table') }} select cast('x' as int) as n")
    assert "CAST_INVALID_INPUT" in project.results("run", fails=True)["bad"].message


@pytest.mark.long
def test_another_time_zone_rebuilds(project: Any) -> None:
    """Rows that were computed in one zone are not maintained in another."""
    feed = "tblproperties ('delta.enableChangeDataFeed' = 'true')"
    project.sql(f"create table $.t (id int, at timestamp) using delta {feed}")
    project.sql("insert into $.t values (1, timestamp'2024-06-01 12:00:00 UTC')")
    project.write("models/hours.sql", f"{{{{ config(materialized='idivm') }}}} select id, hour(at) as h from {project.schema}.t")
    modes = []
    for zone in ("UTC", "UTC", "Asia/Tokyo", "Asia/Tokyo"):
        project.profile(catalog="in-memory", time_zone=zone)
        response = project.results("run")["hours"].adapter_response
        ((hour,),) = project.sql("select h from $.hours")
        modes.append((response["mode"], (response["reason"] or "").partition(" ")[0], hour))
    assert modes == [("create", "", 12), ("noop", "", 12), ("full", "IDIVM-409", 21), ("noop", "", 21)]


@pytest.mark.long
def test_a_hook_sets_another_time_zone(project: Any) -> None:
    """The rows would have the meaning of a zone that the state does not know."""
    feed = "tblproperties ('delta.enableChangeDataFeed' = 'true')"
    project.sql(f"create table $.t (id int, at timestamp) using delta {feed}")
    project.write(
        "models/hours.sql",
        "{{ config(materialized='idivm', pre_hook=\"set time zone 'Asia/Tokyo'\") }} select id, hour(at) as h from "
        f"{project.schema}.t",
    )
    message = project.results("run", fails=True)["hours"].message
    assert "IDIVM-126 config: a pre-hook has set spark.sql.session.timeZone to Asia/Tokyo" in message


def test_clone_of_a_view_and_a_table(shop: Any) -> None:
    state = shop.root / "state"
    state.mkdir(exist_ok=True)
    (state / "manifest.json").write_text((shop.root / "target" / "manifest.json").read_text())
    original, shop.schema = shop.schema, f"{shop.schema}_clone"
    try:
        shop.profile(catalog="in-memory")
        shop.dbt("clone", "--state", str(state), "--select", "as_table", "as_view")
        assert shop.sql("select count(*) from $.as_table") == [(3,)]
        assert shop.sql("select count(*) from $.as_view") == [(3,)]
    finally:
        shop.schema = original
        shop.profile(catalog="in-memory")
