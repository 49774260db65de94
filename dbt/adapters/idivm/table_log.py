"""The history and columns of a Delta table, read from its log by the Spark of this process.

DESCRIBE HISTORY runs a Spark job to read some small files, which takes a tenth of a second. DESCRIBE TABLE takes 25 ms to be
analyzed, planned and fetched. A refresh of few rows needs two or more of each. Here the same classes of Delta read the same files
without a job (ADR 0029). They are not a public interface: if anything is not as expected, the caller uses SQL.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from dbt.adapters.idivm.embedded import DELTA_CATALOG
from dbt.adapters.idivm.zones import in_zone, session_zone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The columns of DESCRIBE HISTORY that a refresh reads.
HISTORY = ("version", "timestamp", "operation", "operationParameters", "operationMetrics", "userMetadata", "engineInfo")
# The columns of a commit's file actions (`dbt_idivm/refresh/catalog/file_actions.py`).
ACTIONS = ("version", "feed_files", "data_files", "removed_files", "rows", "rearranged_rows")
_MOST_BYTES, _MOST_COMMITS = 16 << 20, 500  # limits for reading file actions
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_CATALOG = "spark_catalog"

# Type name in a schema's JSON → type name in DESCRIBE.
_SHOWN = {
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    **{name: name for name in ("string", "boolean", "float", "double", "date", "timestamp", "timestamp_ntz", "binary")},
}
_OF_NO_TYPE = frozenset({"comment", "CURRENT_DEFAULT", "EXISTS_DEFAULT"})  # metadata of a field that does not affect its type
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_WHOLE = 20  # structs with up to this many fields are shown completely under the default setting

DESCRIPTION = ("col_name", "data_type", "comment")

Row = tuple[Any, ...]


def history(session: SparkSession, schema: str, table: str, limit: int) -> list[Row] | None:
    """The newest commits of a table of the catalog, newest first, at most `limit`.

    None if only SQL can tell: it is not a Delta table, its log is not a folder of files, commits were cleaned up, or the
    commit times are not those of the files.
    """
    found = _newest(session, schema, table)
    if found is None:
        return None
    log, snapshot = found
    delta = session._jvm.org.apache.spark.sql.delta  # type: ignore[union-attr]
    newest = snapshot.version()
    if delta.DeltaConfigs.IN_COMMIT_TIMESTAMPS_ENABLED().fromMetaData(snapshot.metadata()):
        return None
    files, conf, system = _files(delta, log, snapshot)
    zone = session_zone(session)
    rows: list[Row] = []
    later: int | None = None
    for version in range(newest, max(newest - limit, -1), -1):
        file = files.deltaFile(version)
        commit = delta.DeltaHistoryManager.getCommitInfoOpt(log.store(), file, conf)
        at = system.getFileStatus(file).getModificationTime()
        if commit.isEmpty() or (later is not None and at >= later):
            return None  # Delta shows other times than those of the files, so that times increase with versions
        later = at
        rows.append(_row(version, at, json.loads(commit.get().json())["commitInfo"], zone))
    return rows


def file_actions(session: SparkSession, schema: str, table: str, first: int, last: int) -> list[Row] | None:
    """The file actions of the commits from `first` to `last`, with the columns ACTIONS, oldest first.

    None if they are not known: it is not a Delta table, commits were cleaned up, or reading
    the changes is faster than so many actions.
    """
    found = _newest(session, schema, table) if last - first < _MOST_COMMITS else None
    if found is None:
        return None
    log, snapshot = found
    jvm: Any = session._jvm
    files, _, system = _files(jvm.org.apache.spark.sql.delta, log, snapshot)
    paths = [files.deltaFile(version) for version in range(first, last + 1)]
    if sum(system.getFileStatus(path).getLen() for path in paths) > _MOST_BYTES:
        return None
    known: dict[str, int] = {}  # file that these commits added → number of its rows
    return [actions_of(version, _text(jvm, system, path), known) for version, path in enumerate(paths, first)]


def _files(delta: Any, log: Any, snapshot: Any) -> tuple[Any, Any, Any]:
    """(provider of the paths of commit files, Hadoop configuration, file system) of a log."""
    conf = log.newDeltaHadoopConf()
    return delta.util.DeltaCommitFileProvider.apply(snapshot), conf, log.logPath().getFileSystem(conf)


def _text(jvm: Any, system: Any, path: Any) -> str:
    stream = system.open(path)
    try:
        return str(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
    finally:
        stream.close()


def actions_of(version: int, text: str, known: dict[str, int]) -> Row:
    """The row of a commit. Row counts are None if an action has no count. Files that the commit adds are put into `known`."""
    actions = [json.loads(line) for line in text.split("\n") if line.strip()]
    added, removed = ([each[kind] for each in actions if each.get(kind)] for kind in ("add", "remove"))
    known |= {each["path"]: rows for each in added if (rows := _records(each)) is not None}
    counted = [(each, 1, _records(each)) for each in added]
    counted += [(each, -1, known.get(each["path"], _records(each))) for each in removed]
    signed = [(each["dataChange"], None if rows is None else sign * (rows - _marked(each))) for each, sign, rows in counted]
    rows, rearranged = (_total([rows for changes, rows in signed if bool(changes) is of_data]) for of_data in (True, False))
    # a file that is added again, with other statistics, replaces itself
    is_rearranged = not all(each["dataChange"] for each in removed)
    return (
        version,
        sum(each.get("cdc") is not None for each in actions),
        sum(bool(changes) for changes, _ in signed),
        sum(bool(each["dataChange"]) for each in removed),
        rows,
        rearranged if is_rearranged else None,
    )


def _total(rows: list[int | None]) -> int | None:
    return None if None in rows else sum(each for each in rows if each is not None)


def _records(action: dict[str, Any]) -> int | None:
    """The number of rows in the file of an action, including those marked as deleted; None if it is unknown."""
    stats = json.loads(action.get("stats") or "{}") or {}
    found = stats.get("numRecords")
    return found if isinstance(found, int) and found >= 0 else None


def _marked(action: dict[str, Any]) -> int:
    """The number of rows of the file that its deletion vector marks as deleted."""
    return int((action.get("deletionVector") or {}).get("cardinality", 0))


def description(session: SparkSession, schema: str, table: str) -> list[Row] | None:
    """The rows of DESCRIBE TABLE EXTENDED for a table of the catalog, as far as a refresh reads them.

    None if only SQL can tell: it is not a Delta table, or has types that are not shown by their names.
    """
    found = _newest(session, schema, table)
    if found is None:
        return None
    metadata = json.loads(found[1].metadata().json())["metaData"]
    fields = json.loads(metadata["schemaString"])["fields"]
    kinds = [_shown(field["type"], field["metadata"]) for field in fields]
    if None in kinds:
        return None
    rows: list[Row] = [(field["name"], kind, field["metadata"].get("comment")) for field, kind in zip(fields, kinds, strict=True)]
    if metadata["partitionColumns"]:
        of = {row[0]: row for row in rows}
        rows += [
            ("# Partition Information", "", ""),
            ("# col_name", "data_type", "comment"),
            *(of[name] for name in metadata["partitionColumns"]),
        ]
    properties = ",".join(f"{key}={value}" for key, value in sorted(metadata["configuration"].items()))
    details = {
        "Name": f"{_CATALOG}.{schema.lower()}.{table.lower()}",
        "Type": "MANAGED",
        "Provider": "delta",
        "Comment": metadata.get("description") or "",
        "Table Properties": f"[{properties}]",
    }
    return [*rows, ("", "", ""), ("# Detailed Table Information", "", ""), *((key, value, "") for key, value in details.items())]


def _shown(kind: Any, metadata: Any = None) -> str | None:
    """The DESCRIBE name of a type in a schema's JSON; None if it may be shown differently.

    That is so for types with a length or a collation, which are in the metadata of the field, and for
    structs with many fields, which are truncated.
    """
    if any(not key.startswith("delta.") and key not in _OF_NO_TYPE for key in metadata or ()):
        return None
    if isinstance(kind, str):
        return _SHOWN.get(kind) or (kind if kind.startswith("decimal(") else None)
    if kind["type"] == "array":
        parts = [_shown(kind["elementType"])]
        return None if None in parts else f"array<{parts[0]}>"
    if kind["type"] == "map":
        parts = [_shown(kind["keyType"]), _shown(kind["valueType"])]
        return None if None in parts else f"map<{parts[0]},{parts[1]}>"
    if kind["type"] != "struct" or len(kind["fields"]) > _WHOLE:
        return None
    parts = [_shown(field["type"], field["metadata"]) for field in kind["fields"]]
    names = [field["name"] for field in kind["fields"]]
    if None in parts or not all(map(_PLAIN.fullmatch, names)):
        return None
    return f"struct<{','.join(f'{name}:{part}' for name, part in zip(names, parts, strict=True))}>"


def _newest(session: SparkSession, schema: str, table: str) -> tuple[Any, Any] | None:
    """(log, newest snapshot) of a Delta table of the session's own catalog; None if it is not such a table."""
    if not _is_delta_catalog(session):
        return None
    jvm: Any = session._jvm
    jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(session._jsparkSession)
    name = jvm.org.apache.spark.sql.catalyst.TableIdentifier(table, jvm.scala.Some(schema))
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session._jsparkSession, name)
    none = jvm.scala.Option.empty()
    snapshot = log.update(False, none, none)
    return None if snapshot.version() < 0 else (log, snapshot)


def _is_delta_catalog(session: SparkSession) -> bool:
    """Whether two-part names refer to the session's own catalog, and that is Delta's."""
    return (
        session.catalog.currentCatalog() == _CATALOG and session.conf.get(f"spark.sql.catalog.{_CATALOG}", None) == DELTA_CATALOG
    )


def _row(version: int, at: int, commit: dict[str, Any], zone: ZoneInfo) -> Row:
    """The row of DESCRIBE HISTORY for a commit. `at`: milliseconds since 1970."""
    shown = in_zone(_EPOCH + dt.timedelta(milliseconds=at), zone)
    parameters = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in (commit.get("operationParameters") or {}).items()
    }
    return (
        version,
        shown,
        commit.get("operation"),
        parameters,
        commit.get("operationMetrics"),
        commit.get("userMetadata"),
        commit.get("engineInfo"),
    )
