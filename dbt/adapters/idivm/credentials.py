"""What a profile of `type: idivm` may say. `type` and `schema` are enough: everything else has a default."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dbt.adapters.spark.connections import SparkCredentials
from dbt_common.dataclass_schema import StrEnum
from dbt_common.exceptions import DbtRuntimeError

ANSI = "spark.sql.ansi.enabled"
TIME_ZONE = "spark.sql.session.timeZone"
# How Spark reads names and quotes: as the planner reads them.
READING = {"spark.sql.caseSensitive": "false", "spark.sql.ansi.doubleQuotedIdentifiers": "false"}
# Without the change data feed a table cannot be the input of a maintained view, so new tables get it by default.
CHANGE_FEED = "spark.databricks.delta.properties.defaults.enableChangeDataFeed"


class ConnectionMethod(StrEnum):
    """dbt-spark's methods, and `embedded`. `session` means the same as `embedded` here."""

    EMBEDDED = "embedded"
    SESSION = "session"
    THRIFT = "thrift"
    HTTP = "http"
    ODBC = "odbc"


@dataclass
class IdivmCredentials(SparkCredentials):
    """dbt-spark's credentials, with defaults for the embedded session and one SQL dialect on every method."""

    method: ConnectionMethod = ConnectionMethod.EMBEDDED  # type: ignore[assignment]
    time_zone: str = "UTC"
    # Relative paths count from the project's folder; None is `.idivm` there.
    state_dir: str | None = None
    warehouse_dir: str | None = None
    catalog: Literal["hive", "in-memory"] = "hive"
    driver_memory: str = "3g"
    # A statement that is sent twice could apply a MERGE twice.
    query_retries: int = 0

    def __post_init__(self) -> None:
        if self.is_embedded and self.host is None:
            self.host = "embedded"
        if not re.fullmatch(r"\d+[mgMG]", self.driver_memory):
            raise DbtRuntimeError(f"driver_memory: '{self.driver_memory}' is not a size such as 3g or 2048m")
        super().__post_init__()
        self.query_retries = 0
        # dbt-spark forces ANSI off; a maintained view needs one fixed answer on every method.
        parameters = {CHANGE_FEED: "true", **self.server_side_parameters}
        self.server_side_parameters = {**parameters, **READING, ANSI: "true", TIME_ZONE: self.time_zone}
        if self.method == ConnectionMethod.THRIFT:
            self.server_side_parameters = thrift_parameters(self.server_side_parameters)

    @property
    def type(self) -> str:
        return "idivm"

    @property
    def is_embedded(self) -> bool:
        return self.method in (ConnectionMethod.EMBEDDED, ConnectionMethod.SESSION)

    def resolve_paths(self, project_root: str | Path) -> None:
        """Make the folders absolute; called once the project is known, because dbt reads profiles before projects."""
        state = Path(project_root, self.state_dir or ".idivm").expanduser()
        self.state_dir = str(state)
        if self.warehouse_dir is not None:
            self.warehouse_dir = str(Path(project_root, self.warehouse_dir).expanduser())

    def _connection_keys(self) -> tuple[str, ...]:
        if self.is_embedded:
            return ("method", "schema", "time_zone", "catalog", "state_dir", "warehouse_dir", "driver_memory")
        return (*super()._connection_keys(), "method", "time_zone")


def thrift_parameters(parameters: dict[str, Any]) -> dict[str, str]:
    """The Spark Thrift Server ignores plain keys when a session opens; with this prefix it sets them."""
    prefix = "set:hiveconf:"
    return {key if key.startswith("set:") else prefix + key: value for key, value in parameters.items()}
