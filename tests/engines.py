"""The engines that tests run on: the embedded Spark, and a Spark Thrift Server with Delta in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt.adapters.idivm.credentials import IdivmCredentials
from dbt.adapters.idivm.embedded import SMALL_AND_LOCAL, start
from dbt.adapters.idivm.jars import delta_jars

SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
START_SECONDS = 90

# The server's own rules for what text means, and its time zone, are others: what counts is the profile's.
OTHERWISE = {"spark.sql.parser.escapedStringLiterals": "true", "spark.sql.ansi.enabled": "false"}
# Compiling and adapting plans costs a quarter of the time when tables have ten rows.
TINY_DATA = {"spark.sql.codegen.wholeStage": "false", "spark.sql.adaptive.enabled": "false"}


def embedded_spark(folder: Path) -> Any:
    """The session that dbt finds active when it connects. The catalog is in memory and goes with the process."""
    credentials = IdivmCredentials(database=None, schema="main", catalog="in-memory", driver_memory="2g",
                                   server_side_parameters=TINY_DATA)
    credentials.resolve_paths(folder)
    return start(credentials)


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


@contextmanager
def thrift_server(folder: Path) -> Iterator[Server]:
    """Start a server, wait until it answers, and end it afterwards."""
    import pyspark

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {**SMALL_AND_LOCAL, **TINY_DATA, **OTHERWISE, "spark.sql.catalogImplementation": "in-memory",
                "spark.sql.warehouse.dir": str(folder / "warehouse"), "spark.driver.memory": "2g",
                "spark.driver.extraClassPath": os.pathsep.join(delta_jars({}))}
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--class", SERVER]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    command += ["spark-internal", "--hiveconf", f"hive.server2.thrift.port={port}",
                "--hiveconf", "hive.server2.thrift.bind.host=127.0.0.1"]
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
