"""dbt's database connection over a Spark session, embedded or of a Spark Connect server."""

from __future__ import annotations

import datetime as dt
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import SparkConnectionWrapper

from dbt.adapters.idivm.progress import Tasks
from dbt.adapters.idivm.zones import in_zone, session_zone

logger = AdapterLogger("Idivm")


class SparkConnection(SparkConnectionWrapper):
    """dbt's handle: connection and cursor in one, like dbt-spark's wrappers."""

    cursor_type: ClassVar[type[SparkCursor]]

    def __init__(self, session: Any) -> None:
        self.session = session
        self._cursor: SparkCursor | None = None

    def cursor(self) -> SparkCursor:  # type: ignore[override]  # a separate object, so that two cursors can be open
        self._cursor = self.cursor_type(self.session)
        return self._cursor

    def close(self) -> None:
        self._cursor = None

    def lost(self, error: BaseException) -> Exception | None:
        """The error to raise instead of `error` if the session is unusable after it; else None."""
        return None

    def tasks(self) -> Tasks | None:
        """The tasks of the running statement; None if they are not known. May be called from any thread."""
        return None

    def rollback(self, *args: Any, **kwargs: Any) -> None:
        logger.debug("Spark has no transactions to roll back")

    def fetchall(self) -> list[Any]:
        return self._open_cursor().fetchall()

    def execute(self, sql: str, bindings: list[Any] | None = None) -> None:
        self.cursor().execute(sql, bindings)

    @property
    def description(self) -> Sequence[tuple[Any, ...]]:
        return self._open_cursor().description

    def _open_cursor(self) -> SparkCursor:
        if self._cursor is None:
            raise RuntimeError("no statement was executed on this connection")
        return self._cursor


class SparkCursor(ABC):
    """One statement and its rows. `execute` runs commands at once. A query runs when it is fetched or finished."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self._frame: Any = None
        self._rows: list[tuple[Any, ...]] | None = None

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        if bindings is not None:
            sql = sql % tuple(literal(value) for value in bindings)
        self._rows = None
        self._frame = self.session.sql(sql.strip().removesuffix(";"))

    @property
    def description(self) -> list[tuple[Any, ...]]:
        if self._frame is None:
            return []
        fields = self._frame.schema.fields
        return [(f.name, f.dataType.simpleString(), None, None, None, None, f.nullable) for f in fields]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that were not fetched yet, with timestamps in the session's time zone instead of this machine's."""
        rows, self._rows = self._fetched(), []
        return rows

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        if self._rows is None and self._frame is not None:
            self._rows = self._plain(self._frame.take(size))
        rows = self._fetched()
        self._rows = rows[size:]
        return rows[:size]

    def fetchone(self) -> tuple[Any, ...] | None:
        rows = self._fetched()
        self._rows = rows[1:]
        return rows[0] if rows else None

    def finish(self) -> None:
        """Run a query whose rows are not needed: it may have been written for its errors, such as raise_error()."""
        if self._frame is not None and self._rows is None and not self._is_done(self._frame):
            self._frame.write.format("noop").mode("overwrite").save()

    @abstractmethod
    def _is_done(self, frame: Any) -> bool:
        """Whether the statement was complete when `sql()` returned, as commands and DML are."""

    def close(self) -> None:
        self._frame, self._rows = None, None

    def _fetched(self) -> list[tuple[Any, ...]]:
        if self._rows is None:
            self._rows = self._plain(self._frame.collect()) if self._frame is not None else []
        return self._rows

    def _plain(self, rows: list[Any]) -> list[tuple[Any, ...]]:
        """The rows as tuples, with timestamps in the session's time zone; pyspark shows them in the Python process's."""
        stamps = [n for n, field in enumerate(self._frame.schema.fields) if field.dataType.typeName() == "timestamp"]
        if not stamps:
            return [tuple(row) for row in rows]
        zone = session_zone(self.session)
        return [tuple(in_zone(value, zone) if n in stamps else value for n, value in enumerate(row)) for row in rows]


def literal(value: object) -> str:
    """A Python value as a Spark SQL literal. dbt binds values only when it loads a seed."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float, Decimal)):
        return str(value)
    if isinstance(value, dt.datetime):
        return f"'{value.isoformat(sep=' ')}'"
    text = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


def has_spark() -> bool:
    """Whether a Spark runs in this process."""
    context: Any = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return context is not None and context._active_spark_context is not None


def quiet_pyspark() -> None:
    """Silence pyspark's log of SQL errors, which goes to stderr with stack traces; dbt reports errors itself."""
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
