"""The settings that a plain view was created with. Spark evaluates its text under them, whatever the session's settings are.

A view's text can be expanded in place only if the session has the same settings: a TIMESTAMP has another day in another time
zone, and without ANSI mode a failing cast gives NULL. Spark stores all settings that were set when the view was created, and
always the time zone. DESCRIBE shows them only as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dbt_idivm.errors import Finding, finding
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps

CONFIGURATION = "view_creation_spark_configuration"
SELECTED = "view_query_output_columns"
MODE = "view_schema_mode"
COLLATION = "collation"  # of literals and casts in the view's text (`CREATE VIEW … DEFAULT COLLATION`)
_BINARY = "UTF8_BINARY"
_FOLLOWS = "EVOLUTION"
_OURS_FOR_ALL = "spark.sql.legacy.useCurrentConfigsForView"
# These affect how a query runs and how files are read, not what the query means.
_HARMLESS = tuple(
    f"spark.sql.{each}"
    for each in (
        "adaptive.",
        "artifact.",
        "autoBroadcastJoinThreshold",
        "broadcastTimeout",
        "catalog.",
        "cbo.",
        "codegen.",
        "datetime.java8API.",
        "debug.",
        "event.",
        "execution.",
        "files.",
        "hive.",
        "inMemoryColumnarStorage.",
        "maxPlanStringLength",
        "optimizer.",
        "orc.",
        "parquet.",
        "repl.",
        "shuffle.",
        "sources.",
        "statistics.",
        "streaming.",
        "thriftServer.",
        "ui.",
        "warehouse.",
    )
)
# Always compared. Without a value in the view, Spark's default counts; None: the view has to have a value.
_NEEDED: Mapping[str, str | None] = {
    "spark.sql.ansi.enabled": None,
    "spark.sql.session.timeZone": None,
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.relationPrecedence": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.timeParserPolicy": "corrected",
    "spark.sql.mapKeyDedupPolicy": "exception",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.timestampType": "timestamp_ltz",
}


def described_as_json(client: Client, view: str) -> Steps[Mapping[str, Any]]:
    """What the engine shows of a view as JSON only; empty if it shows nothing."""
    try:
        rows = yield from client.ask(client.commands.describe_as_json(view))
        found = json.loads(str(rows.rows[0][0]))
    except (EngineFailure, IndexError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def stored_settings(shown: Mapping[str, Any]) -> Mapping[str, str] | None:
    """The stored settings that the meaning of a query may depend on; None if the engine does not say."""
    found = shown.get(CONFIGURATION)
    if not isinstance(found, dict):
        return None
    collation = str(shown.get(COLLATION) or _BINARY)
    own = {COLLATION: collation} if collation.upper() != _BINARY else {}
    return {str(key): str(value) for key, value in found.items() if _has_meaning(str(key))} | own


def selected_columns(shown: Mapping[str, Any], count: int) -> tuple[str, ...] | None:
    """The names in the view's text of its `count` columns; None if the engine does not say, or if the view always follows its
    text."""
    found = shown.get(SELECTED)
    if shown.get(MODE) == _FOLLOWS or not isinstance(found, list) or len(found) != count:
        return None
    return tuple(map(str, found))


def disagreement(client: Client, view: str, stored: Mapping[str, str] | None) -> Steps[Finding | None]:
    """Why the view's text may mean something else in this session; None if it cannot."""
    if stored is not None and COLLATION in stored:
        return finding(311, source=view, setting="the default collation", theirs=stored[COLLATION], ours=_BINARY)
    if (yield from _setting(client, _OURS_FOR_ALL)).lower() == "true":
        return None
    if stored is None:
        return finding(312, source=view)
    for key in sorted({*_NEEDED, *stored}):
        theirs = stored.get(key, _NEEDED.get(key))
        ours = yield from _setting(client, key)
        if theirs is None or theirs.lower() != ours.lower():
            return finding(311, source=view, setting=key, theirs=theirs or "not known", ours=ours)
    return None


def _has_meaning(key: str) -> bool:
    return key.startswith("spark.sql.") and not key.startswith(_HARMLESS)


def _setting(client: Client, key: str) -> Steps[str]:
    if client.engine.fixed is not None:
        return client.engine.fixed.get(key) or _NEEDED.get(key) or ""
    rows = yield from client.once(("setting", key), lambda: client.ask(client.commands.read_option(key)))
    return str(rows.rows[0][1]) if rows.rows else ""
