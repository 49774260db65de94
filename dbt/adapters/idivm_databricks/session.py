"""The engine of a session, and its setup before the first statement, so that SQL means the same as on other engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbt.adapters.databricks.handle import DatabricksHandle
from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.idivm.credentials import CHANGE_FEED, FIXED, TIME_ZONE
from dbt.adapters.idivm.engine_errors import engine_message
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.script.dialect import DELTA

if TYPE_CHECKING:
    from dbt.adapters.idivm_databricks.credentials import IdivmDatabricksCredentials
    from dbt_idivm.refresh.engine.engine import Engine

logger = AdapterLogger("Idivm")
# The settings of FIXED that a warehouse lets us set, under names of its own. The others have the same values there.
ANSI_MODE = "SET ANSI_MODE = true"


def engine_for(credentials: IdivmDatabricksCredentials, model: str, owner: str, *, is_cluster: bool) -> Engine:
    """The engine for a refresh of the relation `model` with this owner. `model` is "" for work outside of a refresh."""
    from dbt_idivm.refresh.catalog.relations import OWNER
    from dbt_idivm.refresh.catalog.state import encode
    from dbt_idivm.refresh.engine.engine import DATABRICKS_CLUSTER, sql_warehouse
    from dbt_idivm.refresh.engine.ledger import NAME
    from dbt_idivm.relation_name import relation_name

    if is_cluster:
        return DATABRICKS_CLUSTER
    ledger = relation_name(str(credentials.database), str(credentials.schema), NAME)
    return sql_warehouse(ledger, model or ledger, {OWNER: encode(owner)}, credentials.time_zone)


def configure(handle: DatabricksHandle, credentials: IdivmDatabricksCredentials, *, is_cluster: bool) -> None:
    """Set up the session. Raises IdivmError (IDIVM-503) if the compute refuses a setting and has another value for it."""
    if is_cluster:
        _configure_cluster(handle, credentials)
    else:
        for setting, sql in (("ANSI_MODE", ANSI_MODE), ("TIMEZONE", f"SET TIME ZONE {DELTA.string_sql(credentials.time_zone)}")):
            try:
                ask(handle, sql)
            except Exception as error:
                raise _refused(credentials, setting, sql.rpartition(" ")[2], error) from error


def _configure_cluster(handle: DatabricksHandle, credentials: IdivmDatabricksCredentials) -> None:
    from dbt_idivm.refresh.engine.engine import DATABRICKS_CLUSTER

    commands = DATABRICKS_CLUSTER.commands
    for key, value in {CHANGE_FEED: "true", **FIXED, TIME_ZONE: credentials.time_zone}.items():
        try:
            ask(handle, commands.set_option(key, value).sql)
        except Exception as error:
            if key != CHANGE_FEED and _value(handle, commands.read_option(key).sql) != value:
                raise _refused(credentials, key, value, error) from error
            logger.debug(f"{credentials.host} does not take {key}: {engine_message(error)}")


def _refused(credentials: IdivmDatabricksCredentials, setting: str, value: str, error: Exception) -> IdivmError:
    message = (engine_message(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return IdivmError([finding("IDIVM-503", host=credentials.host, setting=setting, value=value, message=message)])


def _value(handle: DatabricksHandle, sql: str) -> str | None:
    try:
        rows = ask(handle, sql)
    except Exception:
        return None
    return str(rows[0][1]) if rows else None


def ask(handle: DatabricksHandle, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a statement."""
    cursor = handle.execute(sql)
    try:
        return [tuple(row) for row in cursor.fetchall() or ()] if cursor.description else []
    finally:
        cursor.close()
