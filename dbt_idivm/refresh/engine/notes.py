"""Metadata of commits in a table beside the data, for an engine whose commits carry none: SQL warehouses of Databricks.

A note says what the rows of a table are at one version of it, which the version's number and the time of its commit name. It is
written after the commit, and only if that commit is certainly the one of the write: a note that is missing costs a rebuild, and
one that is there never says more than what was committed. Notes are read beside the table's own history: a version that others
have committed has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from dbt_idivm.refresh.engine.commits import QUIET, metrics, moment
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Rows, Statement
from dbt_idivm.script.dialect import Dialect

if TYPE_CHECKING:
    from dbt_idivm.refresh.engine.client import Client

NAME = "idivm__state"
_COLUMNS = {"relation": "string", "version": "bigint", "at": "string", "state": "string", "noted": "timestamp"}
_MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "DELTA_TABLE_NOT_FOUND")
_PAGE = 20  # commits: those of a write, and what the engine itself adds to it
_KEPT = 100  # versions of a table whose notes are kept
# Metrics that count rows which a commit wrote or took away.
_ROWS = ("numOutputRows", "numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted", "numDeletedRows",
         "numUpdatedRows")


@dataclass(frozen=True)
class Notes:
    """The statements about the notes, which are in the table `place`."""

    dialect: Dialect
    place: str

    def create(self) -> Statement:
        columns = [exp.ColumnDef(this=exp.to_identifier(name), kind=exp.DataType.build(kind, dialect="spark"))
                   for name, kind in _COLUMNS.items()]
        delta = exp.Properties(expressions=[exp.FileFormatProperty(this=exp.Var(this="delta"))])
        tree = exp.Create(this=exp.Schema(this=self._table(), expressions=columns), kind="TABLE", exists=True, properties=delta)
        return Statement(self.dialect.sql(tree), "metadata", f"create {self.place}", fetch=False)

    def read(self, table: str) -> Statement:
        query = exp.select("version", "at", "state").from_(self._table()).where(self._is_about(table)).order_by("noted")
        return Statement(self.dialect.sql(query), "metadata", f"notes about {table}")

    def write(self, table: str, version: int, at: str, metadata: str) -> Statement:
        values = [exp.Literal.string(table), exp.Literal.number(version), exp.Literal.string(at), exp.Literal.string(metadata),
                  exp.CurrentTimestamp()]
        tree = exp.Insert(this=self._table(), expression=exp.Select(expressions=values))
        return Statement(self.dialect.sql(tree), "metadata", f"note the state of {table}", fetch=False)

    def forget(self, table: str, before: int) -> Statement:
        old = exp.LT(this=exp.column("version"), expression=exp.Literal.number(before))
        tree = exp.Delete(this=self._table(), where=exp.Where(this=exp.and_(self._is_about(table), old)))
        return Statement(self.dialect.sql(tree), "metadata", f"forget notes about {table}", fetch=False)

    def _table(self) -> exp.Table:
        return self.dialect.table(self.place, None)

    @staticmethod
    def _is_about(table: str) -> exp.Expr:
        return exp.EQ(this=exp.column("relation"), expression=exp.Literal.string(table))


def noted(client: Client, notes: Notes, table: str) -> Steps[Mapping[tuple[int, str], str]]:
    """(version, time of its commit) → what was noted of it last."""
    try:
        rows = yield from client.ask(notes.read(table))
    except EngineFailure as failure:
        if not failure.is_any(_MISSING):
            raise
        return {}
    return {(int(version), str(at)): str(state) for version, at, state in rows.rows}


def note(client: Client, notes: Notes, table: str, metadata: str, before: int | None, reply: Rows) -> Steps[None]:
    """Note the metadata of a write into the table. `before`: the version that it started from; None if it made the table.
    `reply`: what the engine answered.

    Nothing is noted where others have written as well.
    """
    rows = yield from client.ask(client.commands.history(table, _PAGE))
    found = sorted(rows.dicts(), key=lambda row: -int(row["version"]))
    if before is not None and int(found[-1]["version"]) > before + 1:
        return  # more was committed since than was read
    own = _own(found, before, reply)
    if own is None:
        return
    version, at = int(own["version"]), moment(own["timestamp"])
    yield from client.once(("notes", notes.place), lambda: client.ask(notes.create()))
    yield from client.ask(notes.write(table, version, at, metadata))
    if version and version % _KEPT == 0:
        with suppress(EngineFailure):  # another run deletes them at the same time
            yield from client.ask(notes.forget(table, version - _KEPT))


def _own(found: list[dict[str, Any]], before: int | None, reply: Rows) -> dict[str, Any] | None:
    """The commit of the write, if it is known for certain; the newest one, if nobody has changed a row since."""
    writes = [row for row in found if row["operation"] not in QUIET and (before is None or int(row["version"]) > before)]
    if before is None:
        return writes[0] if writes and str(writes[0]["operation"]).startswith(("CREATE", "REPLACE")) else None
    if not writes:
        return found[0]
    if len(writes) != 1:
        return None
    affected = reply.dicts()[0].get("num_affected_rows") if reply.rows else None
    counted = metrics(writes[0].get("operationMetrics"))
    # a write that changed no row need not have made a commit: then one that did is that of somebody else
    is_other = affected is not None and int(affected) == 0 and any(int(counted.get(name) or 0) for name in _ROWS)
    return None if is_other else writes[0]
