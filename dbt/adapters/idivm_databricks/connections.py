"""dbt-databricks' connections, whose sessions are set up to read SQL like all other engines of dbt-idivm."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.databricks.connections import DatabricksConnectionManager, DatabricksDBTConnection
from dbt.adapters.databricks.handle import DatabricksHandle
from dbt.adapters.databricks.utils import is_cluster_http_path
from dbt.adapters.exceptions import FailedToConnectError

from dbt.adapters.idivm.own_type import LikeDatabricks
from dbt.adapters.idivm_databricks.session import configure
from dbt_idivm.errors import IdivmError

if TYPE_CHECKING:
    from dbt.adapters.idivm.progress import Tasks
    from dbt.adapters.idivm_databricks.credentials import IdivmDatabricksCredentials
    from dbt_idivm.refresh.protocol import Rows, Statement


class IdivmDatabricksConnectionManager(DatabricksConnectionManager):
    TYPE = LikeDatabricks("idivm_databricks")

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN:
            return connection
        opened = super().open(connection)
        credentials = cast("IdivmDatabricksCredentials", opened.credentials)
        try:
            configure(cast("DatabricksHandle", opened.handle), credentials, is_cluster=is_cluster(opened))
        except IdivmError as error:
            cls.close(opened)
            raise FailedToConnectError(str(error)) from error
        return opened

    @classmethod
    def opened(cls, credentials: IdivmDatabricksCredentials) -> Any:
        """A handle for use outside of a dbt command."""
        connection = DatabricksDBTConnection(
            type="idivm_databricks", name="idivm", state=ConnectionState.INIT, handle=None, credentials=credentials
        )
        connection.http_path = credentials.http_path or ""
        return cls.open(connection).handle

    def run(self, sql: str, fetch: bool) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Run one statement once and return its column names and rows as plain values."""
        sql = self._add_query_comment(sql)
        _, cursor = self.add_query(sql, auto_begin=False)
        try:
            with self.exception_handler(sql):
                names = tuple(column[0] for column in cursor.description or ())
                return (names, [tuple(row) for row in cursor.fetchall() or ()]) if fetch and names else ((), [])
        finally:
            cursor.close()

    def without_sql(self, statement: Statement) -> Rows | None:
        """None: every statement is sent to the server."""
        return None

    def tasks_of_statement(self) -> Callable[[], Tasks | None]:
        """The progress is unknown, because the connector does not report it."""
        return lambda: None


def is_cluster(connection: Connection) -> bool:
    """Whether the connection is to a cluster. A model may use another compute than the profile's."""
    path = cast("DatabricksDBTConnection", connection).http_path
    return bool(is_cluster_http_path(path, cast("IdivmDatabricksCredentials", connection.credentials).cluster_id))
