"""The history of a Delta table, read from its log by the Spark of this process.

DESCRIBE HISTORY runs a Spark job to read some small files, which takes a tenth of a second; a refresh of few rows asks for
two or more histories. Here the same classes of Delta read the same files without a job (ADR 0029). They are no public
interface: whatever is not as expected, the caller asks by SQL.
"""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from dbt.adapters.idivm.embedded import DELTA_CATALOG
from dbt.adapters.idivm.zones import in_zone, session_zone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Of the columns of DESCRIBE HISTORY, those that a refresh reads.
COLUMNS = ("version", "timestamp", "operation", "operationParameters", "operationMetrics", "userMetadata")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_CATALOG = "spark_catalog"

Row = tuple[Any, ...]


def history(session: SparkSession, schema: str, table: str, limit: int) -> list[Row] | None:
    """The newest commits of a table of the catalog, newest first, `limit` at most; None where only SQL can tell: no Delta table,
    a log that is not a folder of files, commits that were cleaned up, or times that are not those of the files."""
    if not _is_delta_catalog(session):
        return None
    jvm: Any = session._jvm
    jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(session._jsparkSession)
    delta = jvm.org.apache.spark.sql.delta
    name = jvm.org.apache.spark.sql.catalyst.TableIdentifier(table, jvm.scala.Some(schema))
    log = delta.DeltaLog.forTable(session._jsparkSession, name)
    none = jvm.scala.Option.empty()
    snapshot = log.update(False, none, none)
    newest = snapshot.version()
    if newest < 0 or delta.DeltaConfigs.IN_COMMIT_TIMESTAMPS_ENABLED().fromMetaData(snapshot.metadata()):
        return None
    files, conf = delta.util.DeltaCommitFileProvider.apply(snapshot), log.newDeltaHadoopConf()
    system = log.logPath().getFileSystem(conf)
    zone = session_zone(session)
    rows: list[Row] = []
    later: int | None = None
    for version in range(newest, max(newest - limit, -1), -1):
        file = files.deltaFile(version)
        commit = delta.DeltaHistoryManager.getCommitInfoOpt(log.store(), file, conf)
        at = system.getFileStatus(file).getModificationTime()
        if commit.isEmpty() or (later is not None and at >= later):
            return None  # Delta shows other times than those of the files, so that they grow with the versions
        later = at
        rows.append(_row(version, at, json.loads(commit.get().json())["commitInfo"], zone))
    return rows


def _is_delta_catalog(session: SparkSession) -> bool:
    """Whether names of two parts are those of the session's own catalog."""
    return (session.catalog.currentCatalog() == _CATALOG
            and session.conf.get(f"spark.sql.catalog.{_CATALOG}", None) == DELTA_CATALOG)


def _row(version: int, at: int, commit: dict[str, Any], zone: ZoneInfo) -> Row:
    """`at`: milliseconds since 1970."""
    shown = in_zone(_EPOCH + dt.timedelta(milliseconds=at), zone)
    parameters = {key: value if isinstance(value, str) else json.dumps(value)
                  for key, value in commit.get("operationParameters", {}).items()}
    return version, shown, commit["operation"], parameters, commit.get("operationMetrics"), commit.get("userMetadata")
