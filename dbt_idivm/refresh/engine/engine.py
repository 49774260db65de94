"""What the refresh has to know about an engine: how SQL is written, commits carry metadata, rows are staged and relations are
named.

Nothing else in the refresh depends on the engine. `SPARK_DELTA` is Spark with Delta tables, embedded or behind a server.
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
    """One kind of engine. `depth`: number of parts in a relation's name: 1 table, 2 schema.table, 3 catalog.schema.table.
    `large_merge`: session settings for a MERGE into a large table. `ledger`: where metadata is stored if commits cannot carry it.
    `fixed`: the relevant settings of sessions that can neither set nor read any. `reads_logs`: whether connections read file
    actions from table logs (`Statement.actions`)."""

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
        """The last parts of the reported catalog and schema: those that precede a table's name in this engine."""
        return reported[max(0, len(reported) - (self.depth - 1)) :]


_COMMANDS = Commands(DELTA)
# Spark estimates a table's size by its files, and would broadcast a target below 10 MB, which may be millions of rows (ADR 0020).
# A source that is found to be small while the statement runs is still broadcast.
_LARGE_MERGE = {
    "spark.sql.autoBroadcastJoinThreshold": str(1 << 20),
    "spark.sql.adaptive.autoBroadcastJoinThreshold": str(10 << 20),
}
SPARK_DELTA = Engine(DELTA, _COMMANDS, UserMetadata(_COMMANDS), CachedViews(_COMMANDS), depth=2, large_merge=_LARGE_MERGE)
# In this process.
EMBEDDED = replace(SPARK_DELTA, reads_logs=True)
# The same with catalogs in names.
DATABRICKS_CLUSTER = replace(SPARK_DELTA, depth=3)


def sql_warehouse(ledger: str, beside: str, properties: Mapping[str, str], time_zone: str, depth: int = 3) -> Engine:
    """A Databricks SQL warehouse, for one refresh: sessions have no settings and no cache, and may not have temporary views.
    `ledger`: its table. `beside`: relation beside which rows are staged, in tables with `properties`."""
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
