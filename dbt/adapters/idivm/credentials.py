"""The settings of a profile of `type: idivm`. `type` and `schema` are enough: everything else has a default."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote

from dbt.adapters.spark.connections import SparkCredentials
from dbt_common.dataclass_schema import StrEnum
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.idivm.extras import install_advice, missing_module
from dbt.adapters.idivm.own_type import LikeSpark

if TYPE_CHECKING:
    from dbt_idivm.refresh.engine.engine import Engine

ANSI = "spark.sql.ansi.enabled"
TIME_ZONE = "spark.sql.session.timeZone"
# With these settings SQL means the same on every server, whatever the server's own settings are.
FIXED = {
    ANSI: "true",  # dbt-spark forces it off
    "spark.sql.variable.substitute": "false",  # ${..} would be replaced, in names, in literals, in the state
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.relationPrecedence": "false",  # a comma in FROM binds like a JOIN
    "spark.sql.caseSensitive": "false",
    "spark.sql.readSideCharPadding": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",  # additive averages of decimals rely on its rule for divisions
    # otherwise rows of a change feed whose files VACUUM has removed would be skipped silently
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    # otherwise DESCRIBE truncates structs with more than 25 fields, which hides changes in the rest
    "spark.sql.debug.maxToStringFields": "100000",
    # the change feed passes rows as Java objects, and the old classes cannot represent 10 October 1582
    "spark.sql.datetime.java8API.enabled": "true",
    # with the new classes Delta fails to answer MIN and MAX of a DATE column from its log: ClassCastException
    "spark.databricks.delta.optimizeMetadataQuery.enabled": "false",
}
CHANGE_FEED = "spark.databricks.delta.properties.defaults.enableChangeDataFeed"
# Settings that a profile may change.
DEFAULTS = {
    # without the change data feed a table cannot be the input of a maintained view, so new tables get it
    CHANGE_FEED: "true",
    # A list of keys skips the pages of a file that have none of them; by default only a list of ten does, and a longer one skips
    # what is below its least and above its greatest key. In 20M rows that are ordered by the key, 200 keys took 0.4 s instead of
    # 1.3. With 4,000 keys Spark's recursion over them is too deep.
    "spark.sql.parquet.pushdown.inFilterThreshold": "500",
}


class ConnectionMethod(StrEnum):
    """dbt-spark's methods, plus `embedded` and `connect`. Here `session` means the same as `embedded`."""

    EMBEDDED = "embedded"
    SESSION = "session"
    THRIFT = "thrift"
    HTTP = "http"
    ODBC = "odbc"
    CONNECT = "connect"


# Checked before dbt-spark does, because its message would name its own extras. `embedded` is not listed, because parsing and
# listing work without Spark; dbt-spark checks for pyspark if the method is `session`.
NEEDED = {
    ConnectionMethod.SESSION: "pyspark",
    ConnectionMethod.THRIFT: "pyhive",
    ConnectionMethod.HTTP: "pyhive",
    ConnectionMethod.CONNECT: "spark-connect",
}
# `sc://name:15002/;token=..;user_id=..`, as in clients of Spark Connect
CONNECT_URL = re.compile(r"sc://(?P<host>\[[^\]]+\]|[^:/;]+)(:(?P<port>\d+))?/?(;(?P<parameters>.*))?")
CONNECT_PORT = 15002
OFF = "off"  # of keep_warm


@dataclass(repr=False)
class IdivmCredentials(SparkCredentials):
    """dbt-spark's credentials, with defaults for the embedded session and the same SQL dialect for every method."""

    method: ConnectionMethod = ConnectionMethod.EMBEDDED  # type: ignore[assignment]
    # 443 as in dbt-spark, and 15002 for `connect`
    port: int | None = None  # type: ignore[assignment]
    # Parameters that Spark Connect sends with each request, such as headers that a proxy requires.
    connect_parameters: dict[str, str] = field(default_factory=dict)
    time_zone: str = "UTC"
    # Relative to the project's folder; None means `.idivm` there.
    state_dir: str | None = None
    warehouse_dir: str | None = None
    catalog: Literal["hive", "in-memory"] = "hive"
    driver_memory: str = "3g"
    # How long a Spark started for this project keeps running after its last use: 90s, 30m, 2h, or off: it ends with its process.
    # None: off, but 15 minutes for commands that somebody gives at a terminal.
    keep_warm: bool | str | None = None
    # Retrying a statement could apply a MERGE twice.
    query_retries: int = 0
    # In seconds. A server itself waits five seconds before it reports that a statement is still running.
    poll_interval: int = 1

    def __post_init__(self) -> None:
        if self.is_embedded and self.host is None:
            self.host = "embedded"
        if not re.fullmatch(r"\d+[mgMG]", self.driver_memory):
            raise DbtRuntimeError(f"driver_memory: '{self.driver_memory}' is not a size such as 3g or 2048m")
        if self.keep_warm is False:  # what YAML makes of `off`
            self.keep_warm = OFF
        if self.keep_warm not in (None, OFF):
            seconds_of(str(self.keep_warm))
        extra = NEEDED.get(self.method)
        if extra and (missing := missing_module(extra)):
            raise DbtRuntimeError(f"method: {self.method} needs the package {missing}. {install_advice(extra)}")
        if self.method == ConnectionMethod.CONNECT and self.host is not None:
            self._read_connect_url(self.host)
        super().__post_init__()
        self.port = self.port or (CONNECT_PORT if self.method == ConnectionMethod.CONNECT else 443)
        self.query_retries = 0
        parameters = {**DEFAULTS, **self.server_side_parameters}
        self.server_side_parameters = {**parameters, **FIXED, TIME_ZONE: self.time_zone}
        if self.method == ConnectionMethod.THRIFT:
            self.server_side_parameters = thrift_parameters(self.server_side_parameters)

    def _read_connect_url(self, url: str) -> None:
        """Split a Spark Connect URL into settings, so that no secret in it is shown as part of the host."""
        found = CONNECT_URL.fullmatch(url if url.startswith("sc://") else f"sc://{url}")
        pairs = [each.partition("=") for each in (found["parameters"] or "").split(";") if each] if found else []
        if found is None or not all(between and value for _, between, value in pairs):
            shown = url.partition(";")[0]
            raise DbtRuntimeError(f"host: '{shown}' is not an address such as name, or sc://name:15002/;use_ssl=true")
        given = {name: unquote(value) for name, _, value in pairs}
        self.host = found["host"].strip("[]")
        self.port = int(found["port"]) if found["port"] else self.port
        self.token = given.pop("token", self.token)
        self.user = given.pop("user_id", self.user)
        self.use_ssl = given.pop("use_ssl", str(self.use_ssl)).lower() == "true"
        self.connect_parameters = {**given, **self.connect_parameters}

    @property
    def type(self) -> str:
        return LikeSpark("idivm")

    @property
    def engine(self) -> Engine:
        """The `Engine` that refreshes assume for this connection."""
        from dbt_idivm.refresh.engine.engine import EMBEDDED, SPARK_DELTA

        return EMBEDDED if self.is_embedded else SPARK_DELTA

    @property
    def is_embedded(self) -> bool:
        return self.method in (ConnectionMethod.EMBEDDED, ConnectionMethod.SESSION)

    @property
    def state_folder(self) -> Path:
        """The folder of Spark's own files, of locks and of learned durations."""
        return Path(self.state_dir or ".idivm")

    def resolve_paths(self, project_root: str | Path) -> None:
        """Make the folders absolute. It is called once the project is known, because dbt reads profiles before projects."""
        state = Path(project_root, self.state_dir or ".idivm").expanduser()
        self.state_dir = str(state)
        if self.warehouse_dir is not None:
            self.warehouse_dir = str(Path(project_root, self.warehouse_dir).expanduser())

    def __repr__(self) -> str:
        """The text that `dbt debug` shows, without passwords, tokens and server settings."""
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.connection_info())})"

    def _connection_keys(self) -> tuple[str, ...]:
        if self.is_embedded:
            return ("method", "schema", "time_zone", "catalog", "state_dir", "warehouse_dir", "driver_memory")
        if self.method == ConnectionMethod.CONNECT:
            return ("method", "host", "port", "schema", "time_zone", "user", "use_ssl")
        return (*super()._connection_keys(), "method", "time_zone")


def seconds_of(text: str) -> int:
    """`90s`, `30m` or `2h` in seconds. Raises DbtRuntimeError for any other text."""
    found = re.fullmatch(r"([1-9]\d*)([smh])", text)
    if found is None:
        raise DbtRuntimeError(f"'{text}' is not a time such as 90s, 30m or 2h")
    return int(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]


def thrift_parameters(parameters: dict[str, Any]) -> dict[str, str]:
    """The parameters with the prefix `set:hiveconf:`. The Spark Thrift Server ignores keys without it when a session opens."""
    prefix = "set:hiveconf:"
    return {key if key.startswith("set:") else prefix + key: value for key, value in parameters.items()}
