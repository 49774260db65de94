"""What the refresh takes an engine for: how SQL is written, how a commit carries metadata, how rows are staged, how names are.

Nothing else in the refresh assumes an engine. `SPARK_DELTA` is Spark with Delta tables, embedded or behind a server.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dbt_idivm.refresh.engine.commands import Commands
from dbt_idivm.refresh.engine.commits import CommitProtocol, NoMetadata, UserMetadata
from dbt_idivm.refresh.engine.ledger import Ledger
from dbt_idivm.refresh.engine.staging import CachedViews, Scratch, ScratchDialect, ScratchTables, Staging
from dbt_idivm.script.dialect import DELTA, Dialect


@dataclass(frozen=True)
class Engine:
    """One kind of engine. `depth` is the number of parts that a relation's name has: 1 table, 2 schema.table, 3
    catalog.schema.table. `large_merge`: settings of the session under which a MERGE into a large table runs. `ledger`: where
    metadata is that commits do not carry. `fixed`: what matters of the settings of a session that has none to be set or read.
    `reads_logs`: whether connections read what tables' logs say of files (`Statement.actions`)."""

    dialect: Dialect
    commands: Commands
    commits: CommitProtocol
    staging: Staging
    depth: int
    large_merge: Mapping[str, str] = field(default_factory=dict)
    ledger: Ledger | None = None
    fixed: Mapping[str, str] | None = None
    reads_logs: bool = False

    def namespace(self, reported: tuple[str, ...]) -> tuple[str, ...]:
        """The parts of a catalog and schema as the engine reports them → those that are before a table's name here."""
        return reported[max(0, len(reported) - (self.depth - 1)) :]


_COMMANDS = Commands(DELTA)
# Spark takes a table for as large as its files. Below 10 MB, which may be millions of rows, it would broadcast the target
# (ADR 0020). What it measures to be small while the statement runs is still broadcast.
_LARGE_MERGE = {
    "spark.sql.autoBroadcastJoinThreshold": str(1 << 20),
    "spark.sql.adaptive.autoBroadcastJoinThreshold": str(10 << 20),
}
SPARK_DELTA = Engine(DELTA, _COMMANDS, UserMetadata(_COMMANDS), CachedViews(_COMMANDS), depth=2, large_merge=_LARGE_MERGE)
# In this process.
EMBEDDED = replace(SPARK_DELTA, reads_logs=True)
# The same where names have a catalog.
DATABRICKS_CLUSTER = replace(SPARK_DELTA, depth=3)


def sql_warehouse(ledger: str, beside: str, properties: Mapping[str, str], time_zone: str, depth: int = 3) -> Engine:
    """A SQL warehouse of Databricks, for one refresh: sessions have no settings, nothing is cached, and there may be no temporary
    views. `ledger`: its table. `beside`: the relation beside which rows are staged, in tables with `properties`."""
    scratch = Scratch(beside, secrets.token_hex(4))
    dialect = ScratchDialect(DELTA.name, DELTA.time_travel, scratch)
    commands = Commands(dialect)
    fixed = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": time_zone}
    return Engine(
        dialect,
        commands,
        NoMetadata(commands),
        ScratchTables(commands, scratch, properties),
        depth,
        ledger=Ledger(dialect, ledger),
        fixed=fixed,
    )
