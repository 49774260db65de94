"""Each connection is a session of its own, and a statement is executed whether or not its rows are fetched."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from dbt.adapters.idivm.credentials import IdivmCredentials
from dbt.adapters.idivm.embedded import new_session
from dbt.adapters.idivm.engine_errors import engine_error
from dbt.adapters.idivm.session import EmbeddedConnection
from dbt_idivm.refresh.engine import commits
from dbt_idivm.refresh.engine.engine import SPARK_DELTA


def connection(zone: str = "UTC") -> EmbeddedConnection:
    return EmbeddedConnection(new_session(IdivmCredentials(database=None, schema="main", time_zone=zone)))


def one(handle: EmbeddedConnection, sql: str) -> Any:
    cursor = handle.cursor()
    cursor.execute(sql)
    return cursor.fetchall()[0][0]


def test_settings_and_temporary_views_stay_apart(spark: Any) -> None:
    first, second = connection(), connection()
    one(first, "set spark.sql.shuffle.partitions = 7")
    first.execute("create temporary view mine as select 1 as a")
    assert one(first, "select spark_partition_id() + a from mine") == 1
    assert second.session.conf.get("spark.sql.shuffle.partitions") == "2"
    with pytest.raises(Exception) as missing:
        second.execute("select * from mine")
    assert engine_error(missing.value).error_class == "TABLE_OR_VIEW_NOT_FOUND"


@pytest.mark.parametrize("key", [commits.USER_METADATA, "spark.sql.shuffle.partitions"])
def test_a_setting_needs_no_statement(spark: Any, key: str) -> None:
    """What SET and RESET do, a value that SparkConf begins with among them, is done without them."""
    by_hand, by_sql = connection(), connection()
    for value in ("7", None) if key != commits.USER_METADATA else ("a `b`; 'c' \\ -- d", None):
        by_hand.configure(key, value)
        commands = SPARK_DELTA.commands
        by_sql.execute((commands.reset_option(key) if value is None else commands.set_option(key, value)).sql)
        found = [each.session.conf.get(key, None) for each in (by_hand, by_sql)]
        assert found[0] == found[1] == (value or spark.sparkContext.getConf().get(key))


def test_two_threads_of_one_run_stay_apart(project: Any) -> None:
    model = """
        {{ config(materialized='table', pre_hook=[
             "set spark.sql.session.timeZone = Etc/GMT+%d",
             "create temporary view mine as select %d as n from range(100000)"]) }}
        select max(n) as n, current_timezone() as zone from mine
        """
    numbers = range(1, 7)
    for n in numbers:
        project.write(f"models/m{n}.sql", model % (n, n))
    project.dbt("run", "--threads", "2")
    for n in numbers:
        assert project.sql(f"select n, zone from $.m{n}") == [(n, f"Etc/GMT+{n}")]


def test_a_query_nobody_fetches_is_executed(spark: Any) -> None:
    cursor = connection().cursor()
    cursor.execute("select raise_error('seen')")
    with pytest.raises(Exception, match="seen"):
        cursor.finish()


def test_a_command_is_executed_once(spark: Any) -> None:
    cursor = connection().cursor()
    cursor.execute("create table once using delta as select 1 as a")
    try:
        cursor.execute("insert into once select 2")
        cursor.finish()
        cursor.fetchall()
        assert one(connection(), "select count(*) from once") == 2
    finally:
        spark.sql("drop table once")


def test_fetching_in_parts(spark: Any) -> None:
    cursor = connection().cursor()
    cursor.execute("select explode(sequence(1, 5)) as n")
    assert cursor.fetchone() == (1,)
    assert cursor.fetchmany(2) == [(2,), (3,)]
    assert cursor.fetchall() == [(4,), (5,)]
    assert cursor.fetchall() == [] and cursor.fetchone() is None
    assert [column[:2] for column in cursor.description] == [("n", "int")]


def test_timestamps_are_shown_in_the_session_s_zone(spark: Any) -> None:
    zoned = connection("America/New_York")
    assert one(zoned, "select timestamp'2020-07-01 12:00:00 UTC'") == dt.datetime(2020, 7, 1, 8)
    assert one(zoned, "select timestamp_ntz'2020-07-01 12:00:00'") == dt.datetime(2020, 7, 1, 12)
    assert one(connection(), "select cast(null as timestamp)") is None


@pytest.mark.parametrize(
    ("sql", "error_class"),
    [
        ("select 1 / 0", "DIVIDE_BY_ZERO"),
        ("select missing from range(1)", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("select * from table_changes('nowhere.t', 0)", "TABLE_OR_VIEW_NOT_FOUND"),
        ("select assert_true(false)", "USER_RAISED_EXCEPTION"),
    ],
)
def test_error_classes(spark: Any, sql: str, error_class: str) -> None:
    with pytest.raises(Exception) as raised:
        one(connection(), sql)
    found = engine_error(raised.value)
    assert found.error_class == error_class
    assert "\n\tat " not in found.message


def test_delta_s_own_error_class(spark: Any) -> None:
    handle = connection()
    handle.execute("create or replace table unfed (a int) using delta tblproperties ('delta.enableChangeDataFeed'='false')")
    try:
        with pytest.raises(Exception) as raised:
            one(handle, "select * from table_changes('unfed', 0)")
        assert engine_error(raised.value).error_class == "DELTA_MISSING_CHANGE_DATA"
    finally:
        spark.sql("drop table unfed")
