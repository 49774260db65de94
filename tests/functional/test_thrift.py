"""The same project over a Spark Thrift Server and embedded: rows, modes and Δ-scripts are equal."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.idivm.embedded import SMALL_AND_LOCAL
from dbt.adapters.idivm.jars import delta_jars
from tests.functional.conftest import TINY_DATA

SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
START_SECONDS = 90

SOURCES = (
    "create table {schema}.orders (id int, cust int, price decimal(10,2), at timestamp) using delta "
    "tblproperties ('delta.enableChangeDataFeed' = 'true')",
    "create table {schema}.cust (id int, name string) using delta tblproperties ('delta.enableChangeDataFeed' = 'true')",
    "create table {schema}.log (word string) using delta tblproperties ('delta.enableChangeDataFeed' = 'true')",
    "insert into {schema}.orders select id, id % 3, id * 1.25, timestamp'2024-10-27 00:30:00' + make_interval(0,0,0,0,id) "
    "from range(9)",
    "insert into {schema}.cust values (0, 'ann'), (1, 'it''s'), (2, null)",
    "insert into {schema}.log values ('a'), ('a'), ('b')",
)
# after each: dbt run
CHANGES = (
    (),
    ("update {schema}.cust set name = 'Ann' where id = 0", "insert into {schema}.log values ('a'), (null)",
     "delete from {schema}.orders where id = 4", "update {schema}.orders set cust = 2, price = 0.5 where id = 1",
     "insert into {schema}.orders values (20, 0, 7, timestamp'1969-12-31 23:59:59.123456')",
     # too many to be inlined
     "insert into {schema}.orders select id, id % 3, 1, null from range(100, 1300)",
     # a rewrite, which the history has to tell
     "insert overwrite {schema}.log values ('c'), (null)"),
)
MODELS = {
    "details": "select o.price * 2 as twice, o.at, c.name from {{ source('s', 'orders') }} o "
               "join {{ source('s', 'cust') }} c on o.cust = c.id",
    "totals": "select cust, sum(price) as total, count(*) as n from {{ source('s', 'orders') }} group by cust",
    "words": "select word from {{ source('s', 'log') }} where word <> 'b'",
}
PROPERTIES = """
sources:
  - name: s
    schema: "{{ target.schema }}"
    tables:
      - {name: orders, columns: [{name: id, data_tests: [unique, not_null]}]}
      - {name: cust, columns: [{name: id, data_tests: [unique, not_null]}]}
      - {name: log}
models:
"""


@dataclass
class Server:
    """A Spark Thrift Server with Delta, in a process of its own, that forgets its tables when it ends."""

    port: int

    def execute(self, sql: str) -> list[Any]:
        from pyhive import hive

        zone = {"set:hiveconf:spark.sql.session.timeZone": "UTC"}
        with hive.connect("127.0.0.1", self.port, configuration=zone) as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall()) if cursor.description else []


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    import pyspark

    folder = tmp_path_factory.mktemp("server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {**SMALL_AND_LOCAL, **TINY_DATA, "spark.sql.catalogImplementation": "in-memory",
                "spark.sql.warehouse.dir": str(folder / "warehouse"), "spark.driver.memory": "1g",
                "spark.driver.extraClassPath": os.pathsep.join(delta_jars({}))}
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--class", SERVER]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    command += ["spark-internal", "--hiveconf", f"hive.server2.thrift.port={port}",
                "--hiveconf", "hive.server2.thrift.bind.host=127.0.0.1"]
    # another time zone than the profile's: what counts is the profile's
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "TZ": "America/New_York"}
    with open(folder / "server.log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder, env=environment)
    try:
        yield _ready(Server(port), process, folder / "server.log")
    finally:
        process.terminate()
        process.wait(timeout=30)


def _ready(server: Server, process: subprocess.Popen[bytes], log: Path) -> Server:
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            server.execute("select 1")
            return server
        except Exception:
            time.sleep(0.5)
    raise RuntimeError(f"the Thrift Server did not start: {log.read_text()[-2000:]}")


def played(project: Any, execute: Callable[[str], Any]) -> list[Any]:
    """All rounds: per model the mode, the counts and the Δ-script; at the end the rows."""
    models = PROPERTIES + "".join(f"  - {{name: {name}, data_tests: [idivm_equivalent]}}\n" for name in MODELS)
    project.write("models/models.yml", models)
    for name, sql in MODELS.items():
        project.write(f"models/{name}.sql", "{{ config(materialized='idivm') }}\n" + sql)
    execute(f"create schema if not exists {project.schema}")
    for statement in SOURCES:
        execute(statement.replace("{schema}", project.schema))
    seen: list[Any] = []
    for changes in CHANGES:
        for statement in changes:
            execute(statement.replace("{schema}", project.schema))
        for name, result in sorted(project.results("run", "--threads", "1").items()):
            response = result.adapter_response
            keys = ("mode", "strategy", "rows_inserted", "rows_updated", "rows_deleted", "statements", "reason")
            seen.append((name, *(response[key] for key in keys)))
    assert project.dbt("test")
    for name in MODELS:
        script = (project.root / "target" / "idivm" / name / "delta_script.sql").read_text()
        seen.append(script.replace(project.schema, "schema"))
    return seen


def test_thrift_does_what_embedded_does(server: Server, new_project: Callable[[], Any]) -> None:
    there, here = new_project(), new_project()
    there.profile(method="thrift", host="127.0.0.1", port=server.port)
    assert there.dbt("debug")
    remote = played(there, server.execute)
    local = played(here, here.spark.sql)
    for one, other in zip(remote, local, strict=True):
        assert one == other, "a refresh's outcome, or a Δ-script"
    assert [row[1] for row in local if row[0] == "details"] == ["create", "incremental"]
    for name in MODELS:
        # hashes, because clients show timestamps each in its own way
        hashes = f"select xxhash64(*) as h, count(*) as n from {{schema}}.{name} group by all order by h"
        assert server.execute(hashes.replace("{schema}", there.schema)) == here.sql(hashes), name
