"""Spark servers with Delta in a process of their own, for tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

# The server's own rules for what text means, and its time zone, are others: what counts is the profile's.
OTHERWISE = {"spark.sql.parser.escapedStringLiterals": "true", "spark.sql.ansi.enabled": "false"}
START_SECONDS = 90


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running_server(main_class: str, folder: Path, settings: Mapping[str, str], arguments: tuple[str, ...],
                   ping: Callable[[], object]) -> Iterator[subprocess.Popen[bytes]]:
    """A server whose tables are in `folder`/warehouse. It has started when `ping` raises nothing, and ends with the block."""
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "TZ": "America/New_York"}
    log = folder / "server.log"
    with open(log, "a") as output:
        process = subprocess.Popen(_command(main_class, folder, settings, arguments), stdout=output, stderr=subprocess.STDOUT,
                                   cwd=folder, env=environment)
    try:
        _wait(process, ping, log)
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)


def _command(main_class: str, folder: Path, settings: Mapping[str, str], arguments: tuple[str, ...]) -> list[str]:
    import pyspark

    from dbt.adapters.idivm.embedded import SMALL_AND_LOCAL
    from dbt.adapters.idivm.jars import delta_jars
    from tests.engines import TINY_DATA

    given = {**SMALL_AND_LOCAL, **TINY_DATA, **OTHERWISE, "spark.sql.catalogImplementation": "in-memory",
             "spark.sql.warehouse.dir": str(folder / "warehouse"), "spark.driver.memory": "2g",
             "spark.driver.extraClassPath": os.pathsep.join(delta_jars({})), **settings}
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--class", main_class]
    for key, value in given.items():
        command += ["--conf", f"{key}={value}"]
    return [*command, "spark-internal", *arguments]


def _wait(process: subprocess.Popen[bytes], ping: Callable[[], object], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            ping()
            return
        except Exception:
            time.sleep(0.5)
    raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}")
