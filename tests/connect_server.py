"""A real Spark Connect server with Delta, one for the whole pytest process. `tests/conftest.py` offers the fixture."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.spark_server import free_port, running_server, spark_of_servers

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
TOKEN = "t0ken-0f-the-server"


@dataclass
class ConnectServer:
    """It listens on `port`, asks for a token, runs in a process of its own and forgets its tables when it ends."""

    port: int
    warehouse: Path

    @property
    def profile(self) -> dict[str, Any]:
        """The connection in a profile."""
        return {"method": "connect", "host": "localhost", "port": self.port, "token": TOKEN}

    def session(self) -> Any:
        """A session of the server, in UTC."""
        from pyspark.sql.connect.session import SparkSession

        session = SparkSession(f"sc://localhost:{self.port}/;token={TOKEN}")
        session.conf.set("spark.sql.session.timeZone", "UTC")
        return session

    def execute(self, sql: str) -> list[Any]:
        """Run one statement in a session of its own; its rows."""
        session = self.session()
        try:
            return [tuple(row) for row in session.sql(sql).collect()]
        finally:
            session.stop()


class ConnectSession:
    """One session of the server, with as much of a SparkSession's face as the tests' `Project` needs."""

    def __init__(self, server: ConnectServer) -> None:
        self._session = server.session()

    def sql(self, text: str) -> Any:
        return self._session.sql(text)

    def close(self) -> None:
        """Say goodbye."""
        self._session.stop()

    def vanish(self, text: str | None = None) -> None:
        """Be gone without a word, perhaps right after sending a statement."""
        if text is not None:
            threading.Thread(target=self._send, args=(text,), daemon=True).start()
            time.sleep(0.2)
        self._session.client._channel.close()

    def _send(self, text: str) -> None:
        with suppress(Exception):  # nobody is there for the answer
            self._session.sql(text)


@pytest.fixture(scope="session")
def connect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectServer]:
    folder = tmp_path_factory.mktemp("connect")
    server = ConnectServer(free_port(), folder / "warehouse")
    # one before Spark 4 gets no statement from this client
    ping = (lambda: server.execute("select 1")) if spark_of_servers().is_4 else lambda: server.session().version
    with running_server(SERVER, folder, settings(server.port), (), ping):
        yield server


def settings(port: int) -> dict[str, str]:
    """Those of a server on this machine that asks for the token."""
    return {
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.authenticate.token": TOKEN,
    }
