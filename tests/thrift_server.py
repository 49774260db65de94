"""A real Spark Thrift Server with Delta, one for the whole pytest process. `tests/conftest.py` offers the fixture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.spark_server import free_port, running_server

SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"


@dataclass
class ThriftServer:
    """It listens on `port`, runs in a process of its own, keeps its tables in `warehouse` and forgets them when it ends."""

    port: int
    warehouse: Path

    @property
    def profile(self) -> dict[str, Any]:
        """The connection in a profile."""
        return {"method": "thrift", "host": "127.0.0.1", "port": self.port}

    def connect(self, **settings: str) -> Any:
        """A connection, which is a session of the server; `settings` are Spark's."""
        from pyhive import hive

        given = {"spark.sql.session.timeZone": "UTC", **settings}
        return hive.connect("127.0.0.1", self.port, configuration={f"set:hiveconf:{k}": v for k, v in given.items()})

    def execute(self, sql: str) -> list[Any]:
        """Run one statement in a session of its own; its rows."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return rows_of(cursor)


def rows_of(cursor: Any) -> list[Any]:
    """Those of the statement that it has executed. Spark 3.5 describes results of commands that have none."""
    try:
        return list(cursor.fetchall()) if cursor.description else []
    except TypeError:
        return []


@pytest.fixture(scope="session")
def thrift_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThriftServer]:
    folder = tmp_path_factory.mktemp("server")
    server = ThriftServer(free_port(), folder / "warehouse")
    arguments = ("--hiveconf", f"hive.server2.thrift.port={server.port}", "--hiveconf", "hive.server2.thrift.bind.host=127.0.0.1")
    with running_server(SERVER, folder, {}, arguments, lambda: server.execute("select 1")):
        yield server


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
            return Result(columns, rows_of(cursor))

    def close(self) -> None:
        """Say goodbye."""
        self._connection.close()

    def vanish(self, text: str | None = None) -> None:
        """Be gone without a word, perhaps right after sending a statement."""
        if text is not None:
            self._connection.cursor().execute(text, async_=True)
        self._connection._transport.close()
