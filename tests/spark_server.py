"""Spark servers with Delta in a process of their own, for tests.

They are of the Spark that is installed here, or of that of another Python with pyspark and delta-spark, which
`IDIVM_SERVER_PYTHON` names: `make versions` runs the tests of servers over older ones.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# The server's own rules for what text means, and its time zone, are others: what counts is the profile's.
OTHERWISE = {"spark.sql.parser.escapedStringLiterals": "true", "spark.sql.ansi.enabled": "false"}
START_SECONDS = 90
TIED = Path(__file__).with_name("tied.py")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running_server(
    main_class: str, folder: Path, settings: Mapping[str, str], arguments: tuple[str, ...], ping: Callable[[], object]
) -> Iterator[subprocess.Popen[bytes]]:
    """A server whose tables are in `folder`/warehouse. It has started when `ping` raises nothing; it ends with the block or this
    process."""
    python = os.environ.get("IDIVM_SERVER_PYTHON") or sys.executable
    environment = {**os.environ, "PYSPARK_PYTHON": python, "TZ": "America/New_York"}
    log = folder / "server.log"
    with open(log, "a") as output:
        command = [sys.executable, str(TIED), *_command(main_class, folder, settings, arguments)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, cwd=folder, env=environment
        )
    try:
        _wait(process, ping, log)
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)


@dataclass(frozen=True)
class Spark:
    """`home`: the folder of its package; `jars`: Delta's, and those of Spark Connect where Spark does not have it."""

    home: Path
    version: str
    jars: list[str]

    @property
    def is_4(self) -> bool:
        return not self.version.startswith("3.")


@cache
def spark_of_servers() -> Spark:
    import pyspark

    from dbt.adapters.idivm.jars import RESOLVE, delta_jars

    other = os.environ.get("IDIVM_SERVER_PYTHON")
    if other is None:
        return Spark(Path(pyspark.__file__).parent, pyspark.__version__, delta_jars({}))
    code = (
        "import pyspark; from importlib.metadata import version; "
        "print(pyspark.__path__[0], pyspark.__version__, version('delta-spark'), sep='\\n')"
    )
    home, spark, delta = _output(other, code).split()
    is_3 = spark.startswith("3.")
    packages = [
        f"io.delta:delta-spark_{'2.12' if is_3 else '2.13'}:{delta}",
        *([f"org.apache.spark:spark-connect_2.12:{spark}"] if is_3 else []),
    ]
    jars = _output(other, RESOLVE, f"spark.jars.packages={','.join(packages)}").rpartition("JARS=")[2].strip()
    return Spark(Path(home), spark, [jar.removeprefix("file://").removeprefix("file:") for jar in jars.split(",")])


def _output(*python: str) -> str:
    interpreter, code, *arguments = python
    return subprocess.run([interpreter, "-c", code, *arguments], check=True, capture_output=True, text=True).stdout


def _command(main_class: str, folder: Path, settings: Mapping[str, str], arguments: tuple[str, ...]) -> list[str]:
    from dbt.adapters.idivm.embedded import SMALL_AND_LOCAL
    from tests.engines import TINY_DATA

    spark = spark_of_servers()
    given = {
        **SMALL_AND_LOCAL,
        **TINY_DATA,
        **OTHERWISE,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.memory": "2g",
        "spark.sql.legacy.createHiveTableByDefault": "false",  # as Spark 4 has it
        "spark.driver.extraClassPath": os.pathsep.join(spark.jars),
        **settings,
    }
    command = [str(spark.home / "bin" / "spark-submit"), "--class", main_class]
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
