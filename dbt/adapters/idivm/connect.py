"""Spark Connect: each connection of dbt is a session of the server, through pyspark's own client. This process has no JVM.

If the network connection breaks, the client re-attaches to the running statement, so it is executed only once. It resends a
statement only if the server never received it. A server that was restarted answers that it does not know the session.
"""

from __future__ import annotations

import atexit
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar, cast
from weakref import WeakSet

from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.idivm.__version__ import version
from dbt.adapters.idivm.credentials import DEFAULTS
from dbt.adapters.idivm.engine_errors import engine_error, engine_message
from dbt.adapters.idivm.progress import Tasks
from dbt.adapters.idivm.spark_handle import SparkConnection, SparkCursor, logger, quiet_pyspark
from dbt_idivm.errors import IdivmError, finding

if TYPE_CHECKING:
    from pyspark.sql.connect.client.core import DefaultChannelBuilder
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession
    from pyspark.sql.connect.shell.progress import ProgressHandler, StageInfo

    from dbt.adapters.idivm.credentials import IdivmCredentials

T = TypeVar("T")
# Number of retries once connected: we wait about two minutes for a server that does not answer; pyspark would wait for ten.
PATIENCE = 7
# Error classes that mean that the server has forgotten the session, or is a different one.
FORGOTTEN = frozenset(
    {
        "INVALID_HANDLE.SESSION_NOT_FOUND",
        "INVALID_HANDLE.SESSION_CLOSED",
        "INVALID_HANDLE.SESSION_CHANGED",
        "INVALID_HANDLE.OPERATION_NOT_FOUND",
        "INVALID_HANDLE.OPERATION_ABANDONED",
        "NO_ACTIVE_SESSION",
        "RESPONSE_ALREADY_RECEIVED",
    }
)
DELTA = "DeltaSparkSessionExtension"
DATABRICKS = "spark.databricks.clusterUsageTags.sparkVersion"  # Delta is built in


class SessionLost(DbtDatabaseError):
    """The server no longer knows the session, or no longer answers."""

    def __init__(self, cause: BaseException) -> None:
        lost = finding("IDIVM-505", message=_cause(cause))
        super().__init__(f"{lost.summary}: {lost.why}. {lost.do[0].upper()}{lost.do[1:]}")

    def getCondition(self) -> str:
        """The error class, as for pyspark's errors."""
        return "SESSION_LOST"


class ConnectCursor(SparkCursor):
    """`execute` runs commands at once. A query runs when it is fetched or finished."""

    def _is_done(self, frame: DataFrame) -> bool:
        relation = frame._plan.plan(frame._session.client)
        return bool(relation.HasField("local_relation"))  # the rows of a command


_open: WeakSet[ConnectConnection] = WeakSet()


@atexit.register
def _close_channels() -> None:
    """Close gRPC's channels before the interpreter ends its threads.

    A channel that is closed after that waits forever for its last call. The server is not asked to release the
    sessions, because it may no longer answer.
    """
    for connection in tuple(_open):
        connection.session.client.close()


class ConnectConnection(SparkConnection):
    """A connection over a session of a Spark Connect server."""

    cursor_type = ConnectCursor
    session: SparkSession

    def __init__(self, session: SparkSession) -> None:
        super().__init__(session)
        self._tasks: Tasks | None = None
        _open.add(self)
        session.registerProgressHandler(cast("ProgressHandler", self._progressed))

    def tasks(self) -> Tasks | None:
        return self._tasks

    def _progressed(self, stages: Iterable[StageInfo] | None, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        found = list(stages or ())
        known = Tasks(sum(each.num_completed_tasks for each in found), sum(each.num_tasks for each in found))
        self._tasks = None if done else known

    def cancel(self) -> None:
        self.session.interruptAll()

    def lost(self, error: BaseException) -> SessionLost | None:
        is_lost = engine_error(error).error_class in FORGOTTEN or _status(error) == "UNAVAILABLE"
        return SessionLost(error) if is_lost else None

    def close(self) -> None:
        super().close()
        _open.discard(self)
        self.session.stop()


def open_connect(credentials: IdivmCredentials) -> ConnectConnection:
    """A session of the server with the profile's settings. Raises IDIVM-501 to 504, and 507."""
    from pyspark.sql.connect.session import SparkSession

    quiet_pyspark()
    where = f"{credentials.host}:{credentials.port}"
    # an error follows retries anyway, and FIXED sets deprecated settings on purpose
    for said in (r"\[RETRIES_EXCEEDED\]", "The SQL config .* deprecated"):
        warnings.filterwarnings("ignore", message=said)
    session = _attempt(where, lambda: SparkSession(connection=_channel(credentials)))
    connection = ConnectConnection(session)
    try:
        _be_patient(session, credentials.connect_retries)
        _attempt(where, lambda: _check_statements(session, where))
        _configure(session, where, credentials.server_side_parameters)
        _attempt(where, lambda: _check_delta(session, where))
        _be_patient(session, PATIENCE)
    except BaseException:
        connection.close()
        raise
    return connection


def _channel(credentials: IdivmCredentials) -> DefaultChannelBuilder:
    from pyspark.sql.connect.client.core import DefaultChannelBuilder

    host = f"[{credentials.host}]" if ":" in (credentials.host or "") else credentials.host
    builder = DefaultChannelBuilder(f"sc://{host}:{credentials.port}")
    given = {
        "token": credentials.token,
        "user_id": credentials.user,
        "use_ssl": "true" if credentials.use_ssl else None,
        "user_agent": f"dbt-idivm/{version}",
        **credentials.connect_parameters,
    }
    for key, value in given.items():
        if value:  # `dbt init` writes an empty token if none was given
            builder.set(key, value)
    return builder


def _be_patient(session: SparkSession, retries: int) -> None:
    from pyspark.sql.connect.client.retries import DefaultPolicy

    session.client.set_retry_policies([DefaultPolicy(max_retries=retries)])


def _attempt(where: str, request: Callable[[], T]) -> T:
    """The reply to a first request. A failure means that there is no server, or that it denies access."""
    try:
        return request()
    except IdivmError:
        raise
    except Exception as error:
        raise IdivmError([finding(_refused(error), host=where, message=_cause(error))]) from error


def _refused(error: BaseException) -> str:
    return "IDIVM-502" if _status(error) in ("UNAUTHENTICATED", "PERMISSION_DENIED") else "IDIVM-501"


def _status(error: BaseException) -> str:
    """The gRPC status, such as UNAVAILABLE; "" if there is none."""
    return getattr(getattr(error, "_grpc_status_code", None), "name", "")


def _cause(error: BaseException) -> str:
    """The first line of the message. For gRPC errors, whose text has ten lines, their details."""
    lines = engine_message(error).splitlines()
    details = [line.partition("=")[2].strip().strip('"') for line in lines if line.strip().startswith("details =")]
    return (details or [line for line in lines if line.strip()] or [type(error).__name__])[0].rstrip(".")


def _check_statements(session: SparkSession, where: str) -> None:
    """Check that the server understands statements. The client of Spark 4 sends them in a field that older servers ignore."""
    if int(session.version.partition(".")[0]) >= 4:
        return
    try:
        session.sql("SELECT 1")
    except Exception as error:
        if engine_error(error).error_class != "PARSE_SYNTAX_ERROR":
            raise
        raise IdivmError([finding("IDIVM-507", host=where, version=session.version)]) from error


def _configure(session: SparkSession, where: str, settings: dict[str, str]) -> None:
    """Set the session's settings. A setting that cannot be set is an error, unless it has that value already."""
    for key, value in settings.items():
        try:
            session.conf.set(key, value)
        except Exception as error:
            if session.conf.get(key, None) == value or key in DEFAULTS:
                logger.debug(f"{where} does not take {key}: {engine_error(error).message}")
                continue
            raise IdivmError([finding("IDIVM-503", host=where, setting=key, value=value, message=_cause(error))]) from error


def _check_delta(session: SparkSession, where: str) -> None:
    extensions = session.conf.get("spark.sql.extensions", None) or ""
    if DELTA not in extensions and session.conf.get(DATABRICKS, None) is None:
        raise IdivmError([finding("IDIVM-504", host=where)])
