"""The same project over a Spark Thrift Server, over Spark Connect and embedded: rows, modes and Δ-scripts are equal."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.connect_server import TOKEN
from tests.functional.sources import ORDERS_CUST_LOG
from tests.spark_server import spark_of_servers

pytestmark = pytest.mark.deep

USER, SECRET = "somebody", "s3cr3t-0f-somebody"

SOURCES = (
    "create table $.orders (id int, cust int, price decimal(10,2), at timestamp) using delta "
    "tblproperties ('delta.enableChangeDataFeed' = 'true')",
    "create table $.cust (id int, name string) using delta tblproperties ('delta.enableChangeDataFeed' = 'true')",
    "create table $.log (word string) using delta tblproperties ('delta.enableChangeDataFeed' = 'true')",
    "insert into $.orders select id, id % 3, id * 1.25, timestamp'2024-10-27 00:30:00' + make_interval(0,0,0,0,id) from range(9)",
    "insert into $.cust values (0, 'ann'), (1, \"it's\"), (2, null)",
    "insert into $.log values ('a'), ('a'), ('b')",
)
# after each: dbt run
CHANGES = (
    (),
    (
        "update $.cust set name = 'Ann' where id = 0",
        "insert into $.log values ('a'), (null)",
        "delete from $.orders where id = 4",
        "update $.orders set cust = 2, price = 0.5 where id = 1",
        "insert into $.orders values (20, 0, 7, timestamp'1969-12-31 23:59:59.123456')",
        # too many to be inlined
        "insert into $.orders select id, id % 3, 1, null from range(100, 1300)",
        # a rewrite, which only the history shows
        "insert overwrite $.log values ('c'), (null)",
    ),
)
MODELS = {
    "details": "select o.price * 2 as twice, o.at, c.name from {{ source('s', 'orders') }} o "
    "join {{ source('s', 'cust') }} c on o.cust = c.id",
    "totals": "select cust, sum(price) as total, count(*) as n from {{ source('s', 'orders') }} group by cust",
    "words": "select word from {{ source('s', 'log') }} where word <> 'b'",
}


def played(project: Any, execute: Callable[[str], Any]) -> list[Any]:
    """All rounds: per model the mode, the counts and the Δ-script; at the end the rows."""
    models = ORDERS_CUST_LOG + "models:\n" + "".join(f"  - {{name: {name}, data_tests: [idivm_equivalent]}}\n" for name in MODELS)
    project.write("models/models.yml", models)
    for name, sql in MODELS.items():
        project.write(f"models/{name}.sql", "{{ config(materialized='idivm') }}\n" + sql)
    execute(f"create schema if not exists {project.schema}")
    for statement in SOURCES:
        execute(project.within(statement))
    seen: list[Any] = []
    for changes in CHANGES:
        for statement in changes:
            execute(project.within(statement))
        for name, result in sorted(project.results("run", "--threads", "1").items()):
            response = result.adapter_response
            keys = ("mode", "strategy", "rows_inserted", "rows_updated", "rows_deleted", "statements", "reason")
            seen.append((name, *(response[key] for key in keys)))
    assert project.dbt("test")
    for name in MODELS:
        script = (project.root / "target" / "idivm" / name / "delta_script.sql").read_text()
        seen.append(script.replace(project.schema, "schema"))
    return seen


@pytest.fixture(scope="module")
def embedded(new_project: Callable[[], Any]) -> tuple[Any, list[Any]]:
    project = new_project()
    return project, played(project, project.spark.sql)


@pytest.fixture(params=["thrift", "connect"])
def server(request: pytest.FixtureRequest) -> tuple[Any, dict[str, Any]]:
    """A server with the profile's part about it, which contains the secret."""
    found = request.getfixturevalue(f"{request.param}_server")
    if request.param == "connect":
        return found, found.profile
    return found, {
        **found.profile,
        "auth": "LDAP",
        "user": USER,
        "password": SECRET,
        "server_side_parameters": {"spark.hadoop.fs.s3a.secret.key": SECRET},
    }


def test_a_server_does_what_embedded_does(
    server: tuple[Any, dict[str, Any]], embedded: tuple[Any, list[Any]], new_project: Callable[[], Any]
) -> None:
    there, (here, local) = new_project(), embedded
    engine, profile = server
    there.profile(**profile)
    assert there.dbt("debug")
    remote = played(there, engine.execute)
    for one, other in zip(remote, local, strict=True):
        assert one == other, "a refresh's outcome, or a Δ-script"
    assert [row[1] for row in local if row[0] == "details"] == ["create", "incremental"]
    for name in MODELS:
        # hashes, because clients show timestamps each in its own way
        hashes = f"select xxhash64(*) as h, count(*) as n from $.{name} group by all order by h"
        assert engine.execute(there.within(hashes)) == here.sql(hashes), name
    there.profile(**profile, time_zone="Asia/Tokyo")
    again = there.results("run", "--select", "totals", "words", "--log-level-file", "debug")
    assert {result.adapter_response["reason"].partition(" ")[0] for result in again.values()} == {"IDIVM-409"}
    there.dbt("debug", "--log-level-file", "debug")
    left = written_by(there.root) + repr(engine.execute(f"describe history {there.schema}.totals__idivm"))
    left += repr(engine.execute(f"describe extended {there.schema}.totals"))
    assert not any(secret in left for secret in (SECRET, TOKEN))


def written_by(folder: Path) -> str:
    """All that dbt and the adapter left in a project, but for the profile."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "profiles.yml"]
    names = {path.name for path in files}
    assert {"dbt.log", "manifest.json", "run_results.json", "plan.txt"} <= names
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in files)


def test_tasks_of_a_long_statement_over_connect(
    connect_server: Any, new_project: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = new_project()
    project.profile(**connect_server.profile)
    connect_server.execute(f"create schema if not exists {project.schema}")
    project.write(
        "models/v.sql",
        "{{ config(materialized='idivm') }} select count(*) as n from range(0, 100000000, 1, 8) where hash(id) = 1",
    )
    for name in ("FIRST", "EVERY"):
        monkeypatch.setattr(f"dbt.adapters.idivm.maintenance.{name}", 0.1)
    monkeypatch.setattr("dbt.adapters.idivm.maintenance.is_watched", lambda: True)
    project.dbt("run")
    assert re.search(r"v: .*, for \d+ s.*, \d+ of \d+ tasks", capsys.readouterr().out)


def test_spark_connect_before_spark_4(
    connect_server: Any, new_project: Callable[[], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    if spark_of_servers().is_4:
        pytest.skip("the server is of Spark 4: `make versions` runs one of Spark 3.5")
    project = new_project()
    project.profile(**connect_server.profile)
    project.dbt("debug", fails=True)
    assert "IDIVM-507" in capsys.readouterr().out
