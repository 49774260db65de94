"""The history of a table that is read from its log equals what DESCRIBE HISTORY shows; where it might not, SQL is asked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.idivm.credentials import IdivmCredentials
from dbt.adapters.idivm.embedded import new_session
from dbt.adapters.idivm.session import EmbeddedConnection
from dbt_idivm.refresh.catalog.history import Commit, commits
from dbt_idivm.refresh.catalog.relations import described
from dbt_idivm.refresh.engine.commits import USER_METADATA
from dbt_idivm.refresh.engine.engine import SPARK_DELTA
from dbt_idivm.refresh.protocol import Rows
from dbt_idivm.refresh.upkeep.comments import _column_comments, _comment

SCHEMA = "table_log"
KINDS = {
    "rows": (
        "create table {t} (id int, v string) using delta",
        "insert into {t} values (1, 'a'), (2, 'b')",
        "update {t} set v = 'it''s' where id = 1 and v <> '\"'",
        "delete from {t} where id = 2",
        "optimize {t}",
    ),
    "merge": (
        "create table {t} using delta tblproperties ('delta.enableChangeDataFeed' = 'true') as select 1 as id, 'a' as v",
        "merge into {t} as t using (select id, v from values (1, 'x'), (3, 'y') as r(id, v)) as s on t.id = s.id and "
        "t.v <> '}}{{' when matched then update set v = s.v when not matched then insert (id, v) values (s.id, s.v)",
        "restore table {t} to version as of 0",
        "alter table {t} set tblproperties ('a' = 'b')",
    ),
    "partitions": (
        "create table {t} (id int, v string) using delta partitioned by (v)",
        "insert into {t} values (1, 'a')",
        "insert overwrite table {t} values (2, 'b')",
        "create or replace table {t} using delta as select 1 as other",
    ),
}


def connection(zone: str) -> EmbeddedConnection:
    return EmbeddedConnection(new_session(IdivmCredentials(database=None, schema=SCHEMA, time_zone=zone)))


@pytest.fixture(scope="module")
def handle(spark: Any) -> EmbeddedConnection:
    spark.sql(f"create schema if not exists {SCHEMA}")
    return connection("UTC")


def execute(handle: EmbeddedConnection, table: str, *statements: str) -> str:
    for statement in statements:
        handle.execute(statement.format(t=f"{SCHEMA}.{table}"))
    return f"{SCHEMA}.{table}"


def shown(handle: EmbeddedConnection, table: str, limit: int) -> tuple[Commit, ...]:
    """By SQL."""
    cursor = handle.cursor()
    cursor.execute(SPARK_DELTA.commands.history(table, limit).sql)
    return commits(Rows(tuple(column[0] for column in cursor.description), tuple(cursor.fetchall())), SPARK_DELTA.commits)


def log_of(handle: EmbeddedConnection, table: str) -> Path:
    cursor = handle.cursor()
    cursor.execute(f"describe detail {table}")
    location = [column[0] for column in cursor.description].index("location")
    return Path(cursor.fetchall()[0][location].removeprefix("file:"), "_delta_log")


@pytest.mark.parametrize("kind", KINDS)
def test_the_log_says_what_describe_history_shows(handle: EmbeddedConnection, kind: str) -> None:
    handle.configure(USER_METADATA, '{"ours": "`\\"\'"}')
    table = execute(handle, kind, *KINDS[kind])
    handle.configure(USER_METADATA, None)
    for zone in ("UTC", "America/New_York"):
        here = connection(zone)
        for limit in (1, 2, 10):
            found = here.history(table, limit)
            assert found is not None
            assert commits(found, SPARK_DELTA.commits) == shown(here, table, limit)
    assert found.rows[-1][0] == 0  # the page is complete


def test_it_sees_the_commits_of_others_at_once(handle: EmbeddedConnection) -> None:
    table = execute(handle, "seen", "create table {t} (id int) using delta")
    for version in range(1, 4):
        connection("UTC").execute(f"insert into {table} values (1)")
        found = handle.history(table, 1)
        assert found is not None and [row[0] for row in found.rows] == [version]
    handle.execute(f"drop table {table}")
    assert handle.history(table, 1) is None
    execute(handle, "seen", "create table {t} (other int) using delta")
    found = handle.history(table, 5)
    assert found is not None and [row[0] for row in found.rows] == [0]


@pytest.mark.parametrize(
    "statement",
    [
        "create view {t} as select 1 as a",
        "create table {t} (a int) using parquet",
        "create table {t} (a int) using delta tblproperties ('delta.enableInCommitTimestamps' = 'true')",
        "select 1",
    ],
)
def test_what_only_sql_can_tell(handle: EmbeddedConnection, statement: str) -> None:
    table = execute(handle, f"other{abs(hash(statement))}", statement)
    assert handle.history(table, 1) is None


def test_paths_and_other_catalogs_are_left_to_sql(handle: EmbeddedConnection) -> None:
    table = execute(handle, "by_name", "create table {t} (a int) using delta")
    assert handle.history(table, 1) is not None
    assert handle.history(f"delta.`{log_of(handle, table).parent}`", 1) is None
    elsewhere = connection("UTC")
    elsewhere.session.conf.set("spark.sql.catalog.spark_catalog", "an.other.Catalog")
    assert elsewhere.history(table, 1) is None


def test_times_that_do_not_grow_are_left_to_sql(handle: EmbeddedConnection) -> None:
    """Delta shows such a commit one millisecond after the one before; which one that is depends on the page."""
    table = execute(handle, "skewed", "create table {t} (a int) using delta", *["insert into {t} values (1)"] * 2)
    files = sorted(log_of(handle, table).glob("*.json"))
    os.utime(files[2], ns=(files[1].stat().st_mtime_ns,) * 2)
    assert handle.history(table, 3) is None
    assert len(shown(handle, table, 3)) == 3
    assert handle.history(table, 1) is not None


def test_commits_that_were_cleaned_up_are_left_to_sql(handle: EmbeddedConnection) -> None:
    table = execute(handle, "cleaned", "create table {t} (a int) using delta", *["insert into {t} values (1)"] * 2)
    handle.session._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(
        handle.session._jsparkSession, str(log_of(handle, table).parent)
    ).checkpoint()
    sorted(log_of(handle, table).glob("*.json"))[0].unlink()
    assert handle.history(table, 3) is None
    assert handle.history(table, 2) is not None
    assert [commit.version for commit in shown(handle, table, 3)] == [2, 1]


COLUMNS = {
    "each type": "a tinyint, b smallint, c int, d bigint, e float, f double, g decimal(20,3), "
    "h string, i boolean, j date, k timestamp, l timestamp_ntz, m binary",
    "parts": "a array<int>, b map<string, array<bigint>>, "
    "c struct<x: int, y: struct<z: decimal(5,2)>>, d array<struct<s: string>>",
    "comments and defaults": "a int comment 'the, [key]', b string default 'x=1' comment ''",
    "names": "`A b` int, `c.d` string, `é` int, `SELECT` date",
    "not null, generated": "a int not null, b int generated always as (a + 1)",
    "a long name": "a struct<x: int, `y z`: int>, b int",
    "texts with a length": "a char(3), b varchar(5)",
    "a wide struct": f"a struct<{', '.join(f'f{n}: int' for n in range(30))}>",
}
ASKED = {"a long name", "texts with a length", "a wide struct"}  # by SQL


def comments(rows: Rows) -> tuple[dict[str, str], str]:
    """What is said of columns and of the table."""
    return _column_comments(rows), _comment(rows)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("partitioned", [False, True])
def test_the_log_says_what_describe_shows(handle: EmbeddedConnection, name: str, partitioned: bool) -> None:
    end = "partitioned by (p)" if partitioned else ""
    options = (
        "'delta.enableChangeDataFeed' = 'true', 'delta.feature.allowColumnDefaults' = 'supported', "
        "'idivm.ids' = '5b5d', 'a,b' = '[x]', 'delta.columnMapping.mode' = 'name'"
    )
    table = execute(
        handle,
        f"columns_{[*COLUMNS].index(name)}_{partitioned}".lower(),
        f'create table {{t}} ({COLUMNS[name]}, p int) using delta {end} comment "it\'s, [x]" tblproperties ({options})',
    )
    statement = SPARK_DELTA.commands.describe(table)
    found = handle.without_sql(statement)
    assert (found is None) == (name in ASKED)
    if found is not None:
        cursor = handle.cursor()
        cursor.execute(statement.sql)
        shown = Rows(tuple(column[0] for column in cursor.description), tuple(cursor.fetchall()))
        assert described(found, SPARK_DELTA) == described(shown, SPARK_DELTA)
        assert comments(found) == comments(shown) and comments(found)[1] == "it's, [x]"


def test_what_is_no_delta_table_is_described_by_sql(handle: EmbeddedConnection) -> None:
    execute(handle, "described", "create table {t} using delta as select 1 as a")
    for made in ("create view {t} as select * from table_log.described", "create table {t} (a int) using parquet"):
        table = execute(handle, f"other_{len(made)}", made)
        assert handle.describe(table) is None
    assert handle.describe(f"{SCHEMA}.missing") is None


def test_a_changed_column_is_seen_at_once(handle: EmbeddedConnection) -> None:
    table = execute(handle, "altered", "create table {t} (a int) using delta")
    assert handle.describe(table) is not None
    connection("UTC").execute(f"alter table {table} add columns (b date)")
    found = handle.describe(table)
    assert found is not None and [row[:2] for row in found.rows[:2]] == [("a", "int"), ("b", "date")]
