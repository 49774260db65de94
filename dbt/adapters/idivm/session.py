"""A database connection, as dbt knows it, over one Spark session."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import SparkConnectionWrapper

from dbt.adapters.idivm.table_log import DESCRIPTION, HISTORY, Row, description, history
from dbt.adapters.idivm.zones import in_zone, session_zone
from dbt_idivm.refresh.protocol import Rows, Statement
from dbt_idivm.relation_name import name_parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = AdapterLogger("Idivm")

# The plans whose work is done when `sql()` returns: commands and DML.
DONE = ("CommandResult", "LocalRelation", "OneRowRelation")


class EmbeddedConnection(SparkConnectionWrapper):
    """dbt's handle: connection and cursor in one, as dbt-spark's wrappers are."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._cursor: EmbeddedCursor | None = None

    def cursor(self) -> EmbeddedCursor:  # type: ignore[override]  # a cursor apart, so that two can be open
        self._cursor = EmbeddedCursor(self.session)
        return self._cursor

    def configure(self, key: str, value: str | None) -> None:
        """What SET does with a value, and RESET without one."""
        initial = self.session.sparkContext._conf.get(key) if value is None else value
        if initial is None:
            self.session.conf.unset(key)
        else:
            self.session.conf.set(key, initial)

    def without_sql(self, statement: Statement) -> Rows | None:
        """The reply to a statement of a refresh that this connection can do in another way; None if it has to be run."""
        if statement.setting is not None:
            self.configure(*statement.setting)
            return Rows()
        if statement.history is not None:
            return self.history(*statement.history)
        return None if statement.described is None else self.describe(statement.described)

    def history(self, table: str, limit: int) -> Rows | None:
        """The newest commits of a table, as DESCRIBE HISTORY shows them; None where that has to be asked."""
        return self._from_log(table, HISTORY, lambda schema, name: history(self.session, schema, name, limit))

    def describe(self, table: str) -> Rows | None:
        """The columns and properties of a table, as DESCRIBE TABLE EXTENDED shows them; None where that has to be asked."""
        return self._from_log(table, DESCRIPTION, lambda schema, name: description(self.session, schema, name))

    def _from_log(self, table: str, columns: tuple[str, ...], read: Callable[[str, str], list[Row] | None]) -> Rows | None:
        parts = name_parts(table)
        if len(parts) != 2 or "/" in parts[1]:
            return None
        try:
            rows = read(*parts)
        except Exception as error:
            # What is wrong with the table, SQL says better; and if nothing is, it answers.
            logger.debug(f"the log of {table} is not read directly: {error}")
            return None
        return None if rows is None else Rows(columns, tuple(rows))

    def cancel(self) -> None:
        self.session.sparkContext.cancelAllJobs()

    def close(self) -> None:
        self._cursor = None

    def rollback(self, *args: Any, **kwargs: Any) -> None:
        logger.debug("Spark has no transactions to roll back")

    def _open_cursor(self) -> EmbeddedCursor:
        if self._cursor is None:
            raise RuntimeError("no statement was executed on this connection")
        return self._cursor

    def fetchall(self) -> list[Any]:
        return self._open_cursor().fetchall()

    def execute(self, sql: str, bindings: list[Any] | None = None) -> None:
        self.cursor().execute(sql, bindings)

    @property
    def description(self) -> Sequence[tuple[Any, ...]]:
        return self._open_cursor().description


class EmbeddedCursor:
    """One statement and its rows. `execute` runs commands at once; a query runs when it is fetched or finished."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._frame: DataFrame | None = None
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
        """The rows that were not fetched yet; timestamps in the session's time zone, not in this machine's."""
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
        """Run a query whose rows nobody asked for: it may have been written for its errors, such as raise_error()."""
        if self._frame is None or self._rows is not None:
            return
        plan = self._frame._jdf.queryExecution().commandExecuted().getClass().getSimpleName()
        if plan not in DONE:
            self._frame.write.format("noop").mode("overwrite").save()

    def close(self) -> None:
        self._frame, self._rows = None, None

    def _fetched(self) -> list[tuple[Any, ...]]:
        if self._rows is None:
            self._rows = self._plain(self._frame.collect()) if self._frame is not None else []
        return self._rows

    def _plain(self, rows: list[Any]) -> list[tuple[Any, ...]]:
        """pyspark shows TIMESTAMP in the Python process's time zone; here it is shown in the session's."""
        assert self._frame is not None
        stamps = [n for n, field in enumerate(self._frame.schema.fields) if field.dataType.typeName() == "timestamp"]
        if not stamps:
            return [tuple(row) for row in rows]
        zone = session_zone(self.session)
        return [
            tuple(in_zone(value, zone) if n in stamps else value for n, value in enumerate(row)) for row in rows
        ]


def literal(value: Any) -> str:
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
