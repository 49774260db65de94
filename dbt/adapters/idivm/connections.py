"""Opening connections: over Spark sessions here, all others through dbt-spark."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState, Identifier, LazyHandle
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions.connection import FailedToConnectError
from dbt.adapters.spark.connections import SparkConnectionManager
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.idivm.credentials import ConnectionMethod, IdivmCredentials
from dbt.adapters.idivm.embedded import new_session, starting
from dbt.adapters.idivm.engine_errors import engine_message, has_stack_trace, is_engine_exception
from dbt.adapters.idivm.own_type import LikeSpark
from dbt.adapters.idivm.results import columns_and_rows, is_without_result
from dbt.adapters.idivm.session import EmbeddedConnection, without_sql
from dbt.adapters.idivm.spark_handle import SparkConnection, has_spark
from dbt.adapters.idivm.waiting import waiting
from dbt.adapters.idivm.warm import attached

if TYPE_CHECKING:
    import agate

    from dbt.adapters.idivm.progress import Tasks
    from dbt_idivm.refresh.protocol import Rows, Statement

logger = AdapterLogger("Idivm")
_opening = threading.Lock()  # the threads of a run say once that Spark starts


class IdivmConnectionManager(SparkConnectionManager):
    TYPE = LikeSpark("idivm")

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        credentials = connection.credentials
        if connection.state == ConnectionState.OPEN:
            return connection
        if credentials.is_embedded:
            connection.handle = embedded(credentials)
        elif credentials.method == ConnectionMethod.CONNECT:
            connection.handle = connected(credentials)
        else:
            return super().open(connection)
        connection.state = ConnectionState.OPEN
        return connection

    @classmethod
    def opened(cls, credentials: IdivmCredentials) -> Any:
        """A handle for use outside of a dbt command."""
        connection = Connection(type=Identifier("idivm"), name="idivm", state=ConnectionState.INIT, credentials=credentials)
        return cls.open(connection).handle

    @classmethod
    def data_type_code_to_name(cls, type_code: Any) -> str:
        """The name of a result's type for comparisons with contracts, without size, precision and scale.

        `decimal(4,2)` (embedded) and `DECIMAL_TYPE` (Thrift) both become DECIMAL.
        """
        name = str(super().data_type_code_to_name(type_code)).removesuffix("_TYPE")
        return re.sub(r"\([\d, ]+\)", "", name).upper()

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Turn Spark's errors into dbt's, with Spark's message and without its stack traces."""
        try:
            with super().exception_handler(sql):
                yield
        except Exception as error:
            before = error.__context__  # the error that dbt-spark has replaced by another
            cause = before if is_engine_exception(before) or isinstance(before, DbtDatabaseError) else error
            self._forget_if_lost(cause)
            if not is_engine_exception(cause) and not has_stack_trace(cause):
                raise
            raise DbtDatabaseError(engine_message(cause)) from cause

    def _forget_if_lost(self, error: BaseException) -> None:
        """If the error means the end of the session, raise SessionLost, and let the
        thread's next statement open a new session.
        """
        connection = self.get_if_exists()
        handle = connection.handle if connection is not None and connection.state == ConnectionState.OPEN else None
        lost = handle.lost(error) if isinstance(handle, SparkConnection) else None
        if connection is not None and lost is not None:
            connection.handle, connection.state = LazyHandle(self.open), ConnectionState.INIT
            raise lost from error

    def execute(
        self, sql: str, auto_begin: bool = False, fetch: bool = False, limit: int | None = None
    ) -> tuple[AdapterResponse, agate.Table]:
        """Like dbt's own, but a query whose rows are not wanted is executed as well, and errors while fetching are handled."""
        from dbt_common.clients.agate_helper import empty_table

        sql = self._add_query_comment(sql)
        _, cursor = self.add_query(sql, auto_begin)
        with self.exception_handler(sql):
            if fetch:
                return self.get_response(cursor), self.get_result_from_cursor(cursor, limit)
            finish(cursor)
        return self.get_response(cursor), empty_table()

    def run(self, sql: str, fetch: bool) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Run one statement once and return its column names and rows as plain values."""
        sql = self._add_query_comment(sql)
        _, cursor = self.add_query(sql, auto_begin=False)
        with self.exception_handler(sql):
            if not fetch:
                finish(cursor)
                return (), []
            return columns_and_rows(cursor)

    @classmethod
    def get_result_from_cursor(cls, cursor: Any, limit: int | None) -> agate.Table:
        from dbt_common.clients.agate_helper import empty_table

        try:
            return super().get_result_from_cursor(cursor, limit)
        except TypeError:
            if not is_without_result(cursor):
                raise
            return empty_table()

    def without_sql(self, statement: Statement) -> Rows | None:
        """The reply to a statement of a refresh, if the connection can answer it without SQL; None if it has to be run."""
        return without_sql(self.get_thread_connection().handle, statement)

    def tasks_of_statement(self) -> Callable[[], Tasks | None]:
        """A function that tells, from any thread, the progress of the statement of this
        thread's connection; it returns None if unknown.
        """
        handle = self.get_thread_connection().handle
        return handle.tasks if isinstance(handle, SparkConnection) else lambda: None


def embedded(credentials: IdivmCredentials) -> SparkConnection:
    """A session of the Spark that stays, or of the one in this process, which is started if it does not run."""
    with _opening:
        handle = attached(credentials)
        if handle is not None:
            return handle
        if not has_spark():
            with waiting(starting()):
                return EmbeddedConnection(new_session(credentials))
    return EmbeddedConnection(new_session(credentials))


def connected(credentials: IdivmCredentials) -> SparkConnection:
    """A session of a Spark Connect server. Errors are complete messages for the user."""
    from dbt.adapters.idivm.connect import open_connect
    from dbt_idivm.errors import IdivmError

    try:
        return open_connect(credentials)
    except IdivmError as error:
        raise FailedToConnectError(str(error)) from error


def finish(cursor: Any) -> None:
    """Execute the statement if that has not happened yet. Only cursors over Spark sessions are lazy."""
    if hasattr(cursor, "finish"):
        cursor.finish()
