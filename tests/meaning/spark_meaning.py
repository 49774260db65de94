"""What Spark means by a statement: its own parser, analyzer, optimizer and expressions over a few rows, without a SparkContext.

A statement takes milliseconds, where a Spark session takes a second, so that thousands of random queries can be judged by Spark
itself. There are no files, no shuffles and no Delta: a table is a list of rows, and MERGE is done as Delta documents it
(`scala/Merging.scala`).
"""

from __future__ import annotations

import atexit
import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

from tests.meaning.compile import class_path, java

Cell = Any  # an integer, boolean, string or None; a tuple of cells for arrays, structs and maps
Columns = Sequence[tuple[str, str]]  # (name, type)

_OPENED = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in ("java.lang", "java.lang.invoke", "java.nio", "java.util", "sun.nio.ch", "sun.util.calendar")
]
# Short-lived and small: the second compiler and a parallel collector would only take time from the other processes.
_JVM = [
    "-Xms192m",
    "-Xmx1536m",
    "-Xss16m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=200m",
    "-Xshare:auto",
    "-Duser.timezone=UTC",
    *_OPENED,
]
ANSI = {"spark.sql.ansi.enabled": "true"}
NOT_ANSI = {"spark.sql.ansi.enabled": "false"}


class SparkRefuses(Exception):
    """What Spark says about a statement: its error class, or the exception if it is none of Spark's, and the text."""

    def __init__(self, error_class: str, message: str, *, own: bool, trace: str = "") -> None:
        super().__init__(f"[{error_class}] {message}" + ("" if own else f"\n{trace}"))
        self.error_class = error_class
        self.own = own  # whether it is one of Spark's documented errors, not an exception from somewhere inside

    @property
    def is_collision(self) -> bool:
        return self.error_class == "CollisionException"


class SparkMeaning:
    """One JVM. Tables live until `reset`."""

    def __init__(self) -> None:
        command = [java(), *_JVM, "-cp", class_path(), "org.apache.spark.sql.meaning.Server"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._settings: dict[str, str] = {}
        self.configure(ANSI)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def configure(self, settings: Mapping[str, str]) -> None:
        """Settings of the session, for the statements from now on."""
        for name, value in settings.items():
            if self._settings.get(name) != value:
                self._ask("set", name=name, value=value)
                self._settings[name] = value

    def reset(self) -> None:
        """No tables, ANSI mode."""
        self._ask("reset")
        self.configure(ANSI)

    def table(self, name: str, columns: Columns, rows: Iterable[Sequence[Cell]]) -> None:
        """A table with these rows, in place of one of that name."""
        cells = [[str(cell) if isinstance(cell, Decimal) else cell for cell in row] for row in rows]
        self._ask("table", name=name, columns=list(columns), rows=cells)

    def create(self, name: str, sql: str) -> None:
        """A table with the rows and types of a query."""
        self._ask("create", name=name, sql=sql)

    def query(self, sql: str) -> list[tuple[Cell, ...]]:
        """Rows: integers and booleans as such, timestamps as microseconds, bytes in hexadecimal, the rest as Spark's text."""
        return self.answer(sql)[1]

    def answer(self, sql: str) -> tuple[Columns, list[tuple[Cell, ...]]]:
        """Columns and rows."""
        found = self._ask("query", sql=sql)
        return [(name, kind) for name, kind in found["columns"]], [_frozen(row) for row in found["rows"]]

    def schema(self, sql: str) -> list[tuple[str, str]]:
        """Names and types of a query's columns, as Spark's analyzer finds them."""
        return [(name, kind) for name, kind in self._ask("schema", sql=sql)]

    def explain(self, sql: str) -> tuple[str, str]:
        """The analyzed and the optimized plan."""
        analyzed, optimized = self._ask("explain", sql=sql)
        return analyzed, optimized

    def parse(self, sql: str) -> None:
        """Nothing, if Spark's parser accepts the statement."""
        self._ask("parse", sql=sql)

    def merge(self, sql: str) -> int:
        """MERGE INTO a table, and how many of its rows that touched."""
        return int(self._ask("merge", sql=sql))

    def examples(self) -> list[tuple[str, str]]:
        """(function, query) of all examples in the documentation of Spark's functions."""
        return [(function, sql) for function, sql in self._ask("examples")]

    def _ask(self, op: str, **arguments: object) -> Any:
        assert self._process.stdin and self._process.stdout
        request = json.dumps({"op": op, **arguments})
        self._process.stdin.write(request.encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the engine ended with {request[:2000]}")
        answer = json.loads(line)
        if "error" in answer:
            error = answer["error"]
            raise SparkRefuses(error["class"], error["message"], own=error["spark"], trace=error["trace"])
        return answer["ok"]


@cache
def spark_meaning() -> SparkMeaning:
    """The one engine of this process, started when it is first asked for."""
    started = SparkMeaning()
    atexit.register(started.close)
    return started


def _frozen(cell: Cell) -> Cell:
    return tuple(map(_frozen, cell)) if isinstance(cell, list) else cell
