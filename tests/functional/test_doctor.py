"""`idivm doctor`: what it finds in a project that works, and in one that does not."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt.adapters.idivm.doctor import doctor_command
from tests.functional.feeds import edit, newest, without
from tests.functional.sources import ORDERS_CUST_LOG

MODEL = (
    "{{ config(materialized='idivm') }}\nselect o.id, c.name from {{ source('s', 'orders') }} o "
    "join {{ source('s', 'cust') }} c on c.id = o.cust_id cross join (select count(*) as n from {{ source('s', 'log') }}) l"
)


def doctor(project: Any, *args: str) -> Result:
    return CliRunner().invoke(doctor_command, [*args, "--project-dir", str(project.root)], env={"COLUMNS": "400"})


def line(found: Result, what: str) -> str:
    """The row about it."""
    lines = [each for each in found.output.splitlines() if f"│ {what} " in each]
    assert len(lines) == 1, found.output
    return lines[0]


@pytest.fixture
def sources(project: Any) -> Any:
    project.write("models/v.sql", MODEL)
    project.write("models/sources.yml", ORDERS_CUST_LOG)
    return project


def test_what_is_found(sources: Any) -> None:
    before = doctor(sources)
    assert before.exit_code == 0, before.output
    for what in (
        "create Delta tables",
        "MERGE",
        "read histories",
        "read change feeds",
        "replace tables",
        "profile",
        "connection",
        "versions",
    ):
        assert line(before, what).strip().startswith("ok"), what
    assert "run `dbt compile` first" in line(before, "inputs")
    assert doctor(sources, "--strict").exit_code == 1
    feed = "using delta tblproperties (delta.enableChangeDataFeed = true"
    sources.sql(
        f"create table $.orders (id int, cust_id int) {feed})",
        "create table $.cust (id int, name string) using delta tblproperties (delta.enableChangeDataFeed = false)",
        "create table $.log (text string) using parquet",
    )
    sources.dbt("compile")
    found = doctor(sources)
    assert found.exit_code == 0, found.output
    assert "key: id" in line(found, "input s.orders") and line(found, "input s.orders").startswith(" ok")
    assert "no change data feed" in line(found, "input s.cust") and "ALTER TABLE" in line(found, "input s.cust")
    assert "parquet: models that read it are rebuilt on each run" in line(found, "input s.log")
    assert not [row for row in sources.sql("show tables in $") if "doctor" in row[1]]
    sources.sql(
        "alter table $.orders set tblproperties (delta.logRetentionDuration = 'interval 1 week', "
        "delta.deletedFileRetentionDuration = 'interval 36 hours')"
    )
    assert "kept for 36 hours, and the project is run every 24 hours" in line(doctor(sources, "--every", "1d"), "input s.orders")
    assert "key: id" in line(doctor(sources, "--every", "6h"), "input s.orders")
    sources.sql("drop table $.cust")
    missing = doctor(sources)
    assert missing.exit_code == 1 and line(missing, "input s.cust").startswith(" fails")


@pytest.mark.deep
def test_feeds_are_switched_on(sources: Any) -> None:
    """A model that was rebuilt for want of a feed is rebuilt once more, and maintained from then on. A view over a source that
    is no Delta table is a line with its reason."""
    sources.write("models/v.sql", MODEL.partition(" cross join")[0])
    sources.write("models/seen.sql", "{{ config(materialized='view') }}\nselect * from {{ source('s', 'log') }}")
    sources.write("models/w.sql", "{{ config(materialized='idivm') }}\nselect text from {{ ref('seen') }}")
    sources.write("models/sources.yml", ORDERS_CUST_LOG + "\nmodels: [{name: v, data_tests: [idivm_equivalent]}]\n")
    sources.sql(
        "create table $.orders (id int, cust_id int) using delta tblproperties (delta.enableChangeDataFeed = false)",
        "create table $.cust (id int, name string) using delta tblproperties (delta.enableChangeDataFeed = true)",
        "create table $.log (text string) using parquet",
        "insert into $.orders values (1, 1)",
        "insert into $.cust values (1, 'a'), (2, 'b')",
    )
    assert "has no change data feed (run `idivm doctor --fix`)" in sources.results("run")["v"].adapter_response["reason"]
    shown = doctor(sources, "--fix")
    assert shown.exit_code == 0, shown.output
    statement = f"ALTER TABLE {sources.schema}.orders SET TBLPROPERTIES ('delta.enableChangeDataFeed'='true')"
    assert f"  s.orders: {statement}\n" in shown.output and "Nothing was changed" in shown.output
    assert f"  s.log: {sources.schema}.log is not a Delta table but parquet" in shown.output
    assert len(sources.sql("describe history $.orders")) == 2
    done = doctor(sources, "--fix", "--yes")
    assert done.exit_code == 0, done.output
    assert "is on: changes are known from version 2 on" in line(done, "feed of s.orders")
    assert "key: id" in line(done, "input s.orders") and line(done, "input s.orders").startswith(" ok")
    assert list(sources.sql("select * from table_changes('$.orders', 2)")) == []
    assert "ALTER TABLE" not in doctor(sources, "--fix", "--yes").output
    assert sources.results("run")["v"].adapter_response["mode"] == "full"
    sources.sql("insert into $.orders values (2, 2)")
    assert sources.results("run")["v"].adapter_response["mode"] == "incremental"
    sources.dbt("test", "--select", "v")


@pytest.mark.deep
def test_a_feed_that_lacks_rows(sources: Any) -> None:
    """As a user meets it: two models, one warning, exact rows, and `idivm doctor` says it too."""
    config = "{{ config(materialized='idivm', meta={'idivm': {'strategy': 'incremental'}}) }}\n"
    orders = "{{ source('s', 'orders') }}"
    sources.write("models/v.sql", f"{config}select id, price from {orders} where price > 0")
    sources.write("models/sums.sql", f"{config}select cust_id, sum(price) as total, count(*) as n from {orders} group by cust_id")
    sources.write(
        "models/sources.yml",
        ORDERS_CUST_LOG + "\nmodels: [{name: v, data_tests: [idivm_equivalent]}, {name: sums, data_tests: [idivm_equivalent]}]\n",
    )
    sources.sql(
        "create table $.orders (id int, cust_id int, price int) using delta "
        "tblproperties (delta.enableChangeDataFeed = true, delta.enableDeletionVectors = true)",
        "insert into $.orders select /*+ COALESCE(1) */ * from values (1, 1, 10), (2, 1, 20), (3, 2, 30)",
    )
    sources.dbt("run")
    sources.sql("update $.orders set price = 300 where id = 3")
    table = sources.location("orders")
    edit(table, newest(table), without("update_preimage"))
    results = sources.results("run")
    assert (sources.root / "logs" / "dbt.log").read_text().count(f"IDIVM-427 version {newest(table)} of") == 1
    assert {result.adapter_response["mode"] for result in results.values()} == {"incremental"}
    sources.dbt("test", "--select", "v", "sums")
    assert "0 rows from before updates" in line(doctor(sources), "input s.orders")


@pytest.mark.deep
def test_a_table_without_a_key(sources: Any) -> None:
    keyless = ORDERS_CUST_LOG.replace("columns: [{name: id, data_tests: [unique, not_null]}]", "tags: [a]")
    sources.write("models/sources.yml", keyless)
    for name in ("orders", "cust", "log"):
        sources.sql(f"create table $.{name} (id int) using delta tblproperties (delta.enableChangeDataFeed = true)")
    sources.dbt("compile")
    assert "no key is declared" in line(doctor(sources), "input s.orders")


@pytest.mark.deep
def test_what_is_ignored_of_keys(sources: Any) -> None:
    keys = "columns: [{name: id, data_tests: [unique, not_null]}]"
    wrong = "columns: [{name: idd, constraints: [{type: primary_key}]}], constraints: [{type: unique, columns: [id]}]"
    sources.write("models/sources.yml", ORDERS_CUST_LOG.replace(keys, wrong, 1))
    sources.write("models/v.sql", MODEL.replace("'idivm'", "'idivm', idivm={'keys': {'s.cust': 'id', 'other': 'id'}}"))
    sources.write("models/other.sql", "select 1 as id")
    for name in ("orders", "cust", "log"):
        sources.sql(f"create table $.{name} (id int, name string, cust_id int) using delta")
    sources.dbt("compile")
    output = doctor(sources).output
    assert "there is no column `idd`" in output and "dbt drops constraints of the table of a source" in output
    assert "none of the models with this key reads `other`: v" in output and "reads `s.cust`" not in output


@pytest.mark.deep
@pytest.mark.parametrize(
    ("settings", "args", "what", "found"),
    [
        ({"type": "spark", "method": "session", "host": "NA"}, (), "profile", "needs to be one of type 'idivm'"),
        ({}, ("--target", "other"), "profile", "does not have a target named 'other'"),
    ],
)
def test_what_goes_wrong_is_a_row(sources: Any, settings: dict[str, str], args: tuple[str, ...], what: str, found: str) -> None:
    if settings:
        sources.profile(**settings)
    output = doctor(sources, *args)
    assert output.exit_code == 1 and "Traceback" not in output.output
    assert line(output, what).startswith(" fails") and found in output.output


@pytest.mark.deep
def test_an_interval_that_is_none(sources: Any) -> None:
    assert "is not an interval such as 15m" in doctor(sources, "--every", "often").output
