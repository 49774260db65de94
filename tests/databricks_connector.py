"""The seam of the stand-in at databricks-sql-connector: its connections, cursors and conversions are real, its client is not.

The connector's client of the Thrift protocol is what is replaced, so that everything above it runs as it does over the network:
dbt-databricks' connection manager and handle, the connector's sessions, parameters, Arrow results and their conversion.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from databricks.sql.backend.databricks_client import DatabricksClient
from databricks.sql.backend.types import BackendType, CommandId, CommandState, ExecuteResponse, SessionId
from databricks.sql.exc import NotSupportedError, ServerOperationError
from databricks.sql.result_set import ThriftResultSet
from databricks.sql.utils import ArrowQueue
from dbt.adapters.databricks.connections import DatabricksConnectionManager
from dbt.adapters.databricks.credentials import DatabricksCredentialManager
from dbt.adapters.databricks.spog.probe import HostMetadata

from tests.databricks_endpoint import PARAMETERS, Endpoint, Kind

HOST = "workspace.invalid"
PATHS = {"cluster": "sql/protocolv1/o/1/1125-090000-abcdefgh", "warehouse": "/sql/1.0/warehouses/0123456789abcdef"}


class LocalClient(DatabricksClient):
    """Answers instead of a server. `new_endpoint` opens a session of it."""

    def __init__(self, new_endpoint: Callable[[], Endpoint]) -> None:
        self._new_endpoint = new_endpoint
        self._sessions: dict[bytes, Endpoint] = {}
        self._results: dict[bytes, Any] = {}

    def open_session(self, session_configuration: Any, catalog: Any, schema: Any) -> SessionId:
        endpoint = self._new_endpoint()
        for key, value in (session_configuration or {}).items():
            if endpoint.kind.runtime is None and key.upper() not in PARAMETERS:
                raise ServerOperationError(f"[CONFIG_NOT_AVAILABLE] Configuration {key} is not available. SQLSTATE: 42K0I")
            if key.upper() not in PARAMETERS:
                endpoint.spark.conf.set(key, value)
        if catalog is not None:
            endpoint.spark.catalog.setCurrentCatalog(catalog)
        if schema is not None and endpoint.spark.catalog.databaseExists(schema):
            endpoint.spark.catalog.setCurrentDatabase(schema)
        guid = uuid.uuid4().bytes
        self._sessions[guid] = endpoint
        return SessionId(BackendType.THRIFT, guid, uuid.uuid4().bytes, {"serverProtocolVersion": 0})

    def close_session(self, session_id: SessionId) -> None:
        self._sessions.pop(session_id.guid, None)

    def execute_command(
        self,
        operation: str,
        session_id: SessionId,
        max_rows: int,
        max_bytes: int,
        lz4_compression: bool,
        cursor: Any,
        *_: Any,
        **__: Any,
    ) -> Any:
        try:
            frame = self._sessions[session_id.guid].sql(operation)
            table, fields = frame.toArrow(), frame.schema.fields
        except Exception as error:
            raise ServerOperationError(_message(error), {"operation-id": "", "diagnostic-info": ""}) from None
        command = CommandId(BackendType.THRIFT, uuid.uuid4().bytes, uuid.uuid4().bytes, has_result_set=True)
        cursor.active_command_id = command
        self._results[command.guid] = table
        described = [(each.name, each.dataType.simpleString().partition("<")[0], None, None, None, None, None) for each in fields]
        response = ExecuteResponse(command, CommandState.SUCCEEDED, described, lz4_compressed=False)
        return ThriftResultSet(cursor.connection, response, self, max_bytes, max_rows)  # type: ignore[arg-type]

    def fetch_results(self, command_id: CommandId, **_: Any) -> tuple[ArrowQueue, bool, int]:
        table = self._results[command_id.guid]
        return ArrowQueue(table, table.num_rows), False, 0

    def cancel_command(self, command_id: CommandId) -> None:
        self._results.pop(command_id.guid, None)

    def close_command(self, command_id: CommandId) -> None:
        self._results.pop(command_id.guid, None)

    def get_query_state(self, command_id: CommandId) -> CommandState:
        return CommandState.SUCCEEDED

    def get_execution_result(self, command_id: CommandId, cursor: Any) -> Any:
        raise NotSupportedError("nothing is executed asynchronously here")

    def _unsupported(self, *_: Any, **__: Any) -> Any:
        raise NotSupportedError("the adapter asks the information schema")

    get_catalogs = get_schemas = get_tables = get_columns = _unsupported

    @property
    def max_download_threads(self) -> int:
        return 1


def _message(error: Exception) -> str:
    """As the server sends it: the message, without the names of Java classes, and no stack trace."""
    return str(error).partition("\nJVM stacktrace:")[0].strip()


@contextmanager
def standing_in(new_session: Callable[[], Any], kind: Kind) -> Iterator[list[Endpoint]]:
    """Connections that are made within go to endpoints of that kind, each over a new session of Spark; these endpoints."""
    made: list[Endpoint] = []

    def new_endpoint() -> Endpoint:
        made.append(Endpoint(new_session(), kind))
        return made[-1]

    DatabricksConnectionManager._dbr_capabilities_cache.clear()
    with (
        patch("databricks.sql.session.ThriftDatabricksClient", lambda **_: LocalClient(new_endpoint)),
        patch.object(DatabricksCredentialManager, "header_factory", lambda _: {}),
        patch("dbt.adapters.databricks.spog.probe.probe_host", lambda host: HostMetadata(None)),
    ):
        yield made


def profile(kind: Kind, schema: str, **more: Any) -> dict[str, Any]:
    """The output of a profile for it."""
    return {
        "type": "idivm_databricks",
        "host": HOST,
        "http_path": PATHS[kind.name],
        "token": "dapi0",
        "catalog": "spark_catalog",
        "schema": schema,
        "threads": 2,
        "connection_parameters": {"enable_telemetry": False},
        **more,
    }
