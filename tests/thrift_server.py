"""A real Spark Thrift Server with Delta, one for the whole pytest process. `tests/conftest.py` offers the fixture."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

# The server's own rules for what text means, and its time zone, are others: what counts is the profile's.
OTHERWISE = {"spark.sql.parser.escapedStringLiterals": "true", "spark.sql.ansi.enabled": "false"}
SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
START_SECONDS = 90


@dataclass
class ThriftServer:
    """It listens on `port`, runs in a process of its own, keeps its tables in `warehouse` and forgets them when it ends."""

    port: int
    warehouse: Path

    def connect(self, **settings: str) -> Any:
        """A connection, which is a session of the server; `settings` are Spark's."""
        from pyhive import hive

        given = {"spark.sql.session.timeZone": "UTC", **settings}
        return hive.connect("127.0.0.1", self.port, configuration={f"set:hiveconf:{k}": v for k, v in given.items()})

    def execute(self, sql: str) -> list[Any]:
        """Run one statement in a session of its own; its rows."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall()) if cursor.description else []


@pytest.fixture(scope="session")
def thrift_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThriftServer]:
    folder = tmp_path_factory.mktemp("server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "TZ": "America/New_York"}
    server = ThriftServer(port, folder / "warehouse")
    with open(folder / "server.log", "w") as log:
        process = subprocess.Popen(_command(server), stdout=log, stderr=subprocess.STDOUT, cwd=folder, env=environment)
    try:
        yield _ready(server, process, folder / "server.log")
    finally:
        process.terminate()
        process.wait(timeout=30)


def _command(server: ThriftServer) -> list[str]:
    import pyspark

    from dbt.adapters.idivm.embedded import SMALL_AND_LOCAL
    from dbt.adapters.idivm.jars import delta_jars
    from tests.engines import TINY_DATA

    settings = {**SMALL_AND_LOCAL, **TINY_DATA, **OTHERWISE, "spark.sql.catalogImplementation": "in-memory",
                "spark.sql.warehouse.dir": str(server.warehouse), "spark.driver.memory": "2g",
                "spark.driver.extraClassPath": os.pathsep.join(delta_jars({}))}
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--class", SERVER]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    return [*command, "spark-internal", "--hiveconf", f"hive.server2.thrift.port={server.port}",
            "--hiveconf", "hive.server2.thrift.bind.host=127.0.0.1"]


def _ready(server: ThriftServer, process: subprocess.Popen[bytes], log: Path) -> ThriftServer:
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            server.execute("select 1")
            return server
        except Exception:
            time.sleep(0.5)
    raise RuntimeError(f"the Thrift Server did not start: {log.read_text()[-2000:]}")


@dataclass(frozen=True)
class Result:
    """The rows of a statement, as a DataFrame would give them."""

    columns: list[str]
    rows: list[tuple[Any, ...]]

    def collect(self) -> list[tuple[Any, ...]]:
        return self.rows


class ThriftSession:
    """One session of the server, with as much of a SparkSession's face as the tests' `Project` needs."""

    def __init__(self, server: ThriftServer) -> None:
        self._connection = server.connect()

    def sql(self, text: str) -> Result:
        with self._connection.cursor() as cursor:
            cursor.execute(text)
            columns = [each[0] for each in cursor.description or ()]
            return Result(columns, list(cursor.fetchall()) if columns else [])

    def close(self) -> None:
        """Say goodbye."""
        self._connection.close()

    def vanish(self, text: str | None = None) -> None:
        """Be gone without a word, perhaps right after sending a statement."""
        if text is not None:
            self._connection.cursor().execute(text, async_=True)
        self._connection._transport.close()
