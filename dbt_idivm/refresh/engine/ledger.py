"""A ledger: commit metadata in a table beside the data, for engines whose commits carry none (Databricks SQL warehouses).

A *record* is the state of a table's rows at one version, identified by the version and the time of its commit. It is written
after the commit, and only if that commit certainly belongs to the write. So a missing record costs a rebuild, and an existing one
never claims more than was committed. Records are read together with the table's own history; versions committed by others have
none.

The same table holds the *claims* (`claims.py`) as rows with negative versions: -n, the claim's mark, and whether it is finished.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.refresh.engine.commits import CONCURRENT, QUIET, metrics, moment, moments
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Rows, Statement
from dbt_idivm.script.dialect import Dialect

if TYPE_CHECKING:
    from dbt_idivm.refresh.engine.client import Client

NAME = "idivm__state"
LOST = "idivm: the claim to write is lost"  # the engine's message if a claim no longer stands
_CLAIMED, _FINISHED = "claimed", "finished"
_COLUMNS = {"relation": "string", "version": "bigint", "at": "string", "state": "string", "noted": "timestamp"}
_MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "DELTA_TABLE_NOT_FOUND")
_PAGE = 20  # commits: those of a write, and those that the engine adds to it
_KEPT = 100  # versions of a table whose records are kept
_TRIES = 50  # of a statement that may conflict with statements of other models; one of them succeeds each time
# Metrics that count rows which a commit wrote or removed.
_ROWS = (
    "numOutputRows",
    "numTargetRowsInserted",
    "numTargetRowsUpdated",
    "numTargetRowsDeleted",
    "numDeletedRows",
    "numUpdatedRows",
)


class NotAlone(IdivmError):
    """IDIVM-903: a table has commits of others beside the one of this run, so that its rows may belong to neither."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(
            finding(
                903,
                view=table,
                message="its history has other commits beside the one of this run",
                state="The next run rebuilds it",
            )
        )


@dataclass(frozen=True)
class Claimed:
    """The newest claim on a table: its number (0 if there is none), and whether its write is finished."""

    number: int = 0
    finished: bool = True


@dataclass(frozen=True)
class Claim:
    """The right to write a table once: number and random mark."""

    table: str
    number: int
    mark: str


@dataclass(frozen=True)
class Ledger:
    """Statements on records and claims, which are stored in the table `place`."""

    dialect: Dialect
    place: str

    def create(self) -> Statement:
        columns = [
            exp.ColumnDef(this=exp.to_identifier(name), kind=exp.DataType.build(kind, dialect="spark"))
            for name, kind in _COLUMNS.items()
        ]
        delta = exp.Properties(expressions=[exp.FileFormatProperty(this=exp.Var(this="delta"))])
        tree = exp.Create(this=exp.Schema(this=self._table(), expressions=columns), kind="TABLE", exists=True, properties=delta)
        return Statement(self.dialect.sql(tree), "metadata", f"create {self.place}", fetch=False)

    def read(self, table: str) -> Statement:
        query = exp.select("version", "at", "state").from_(self._table()).where(_is_about(table)).order_by("noted")
        return Statement(self.dialect.sql(query), "metadata", f"records of {table}")

    def claim(self, claim: Claim) -> Statement:
        """Insert the claim unless there is a later one. The statement reads the table that it writes, so that Delta rejects one
        of two concurrent claims."""
        later = exp.select(exp.Literal.number(1)).from_(self._table()).where(self._from_on(claim))
        row = exp.Select(expressions=_row(claim.table, -claim.number, claim.mark, _CLAIMED))
        tree = exp.Insert(this=self._table(), expression=row.where(exp.Not(this=exp.Exists(this=later))))
        return Statement(self.dialect.sql(tree), "metadata", f"claim {claim.table}", fetch=False)

    def stands(self, claim: Claim) -> exp.Expr:
        """A condition that is true while the claim is the newest one and unfinished; otherwise its evaluation is an error."""
        alone = exp.and_(
            exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1)),
            exp.EQ(this=exp.Max(this=exp.column("at")), expression=exp.Literal.string(claim.mark)),
        )
        lost = exp.Anonymous(this="RAISE_ERROR", expressions=[exp.Literal.string(LOST)])
        found = exp.Case(ifs=[exp.If(this=alone, true=exp.true())], default=lost)
        looked_up = exp.Select(expressions=[found]).from_(self._table()).where(self._from_on(claim)).subquery()
        return exp.EQ(this=looked_up, expression=exp.true())

    def record(self, table: str, version: int, at: str, metadata: str, claim: Claim | None) -> Statement:
        """Record the state of the rows and finish the claim, in one commit."""
        rows = [_row(table, version, at, metadata), *([] if claim is None else [_finished(claim)])]
        return self._added(rows, f"record the state of {table}")

    def finish(self, claim: Claim) -> Statement:
        return self._added([_finished(claim)], f"give up the claim to {claim.table}")

    def forget(self, table: str, before: int, claim: Claim | None) -> Statement:
        """Delete the records of versions before `before`, and earlier claims."""
        version = exp.column("version")
        last = 0 if claim is None else claim.number
        old = exp.or_(
            exp.and_(
                exp.GTE(this=version, expression=exp.Literal.number(0)),
                exp.LT(this=version.copy(), expression=exp.Literal.number(before)),
            ),
            exp.and_(
                exp.LT(this=version.copy(), expression=exp.Literal.number(0)),
                exp.GT(this=version.copy(), expression=exp.Literal.number(-last)),
            ),
        )
        tree = exp.Delete(this=self._table(), where=exp.Where(this=exp.and_(_is_about(table), old)))
        return Statement(self.dialect.sql(tree), "metadata", f"forget records of {table}", fetch=False)

    def _added(self, rows: list[list[exp.Expr]], label: str) -> Statement:
        tree = exp.Insert(this=self._table(), expression=exp.Values(expressions=[exp.Tuple(expressions=row) for row in rows]))
        return Statement(self.dialect.sql(tree), "metadata", label, fetch=False)

    def _table(self) -> exp.Table:
        return self.dialect.table(self.place, None)

    @staticmethod
    def _from_on(claim: Claim) -> exp.Expr:
        """Condition for the rows of that claim and of later ones."""
        return exp.and_(_is_about(claim.table), exp.LTE(this=exp.column("version"), expression=exp.Literal.number(-claim.number)))


def _is_about(table: str) -> exp.Expr:
    return exp.EQ(this=exp.column("relation"), expression=exp.Literal.string(table))


def _row(table: str, version: int, at: str, state: str) -> list[exp.Expr]:
    return [
        exp.Literal.string(table),
        exp.Literal.number(version),
        exp.Literal.string(at),
        exp.Literal.string(state),
        exp.CurrentTimestamp(),
    ]


def _finished(claim: Claim) -> list[exp.Expr]:
    return _row(claim.table, -claim.number, claim.mark, _FINISHED)


def recorded(client: Client, ledger: Ledger, table: str) -> Steps[tuple[Mapping[tuple[int, str], str], Claimed]]:
    """(version, time of its commit) → newest record; and the newest claim."""
    try:
        found = yield from client.ask(ledger.read(table))
    except EngineFailure as failure:
        if not failure.is_any(_MISSING):
            raise refused(ledger, failure) from failure
        return {}, Claimed()
    rows = [(int(version), str(at), str(state)) for version, at, state in found.rows]
    number = max((-version for version, _, _ in rows), default=0)
    # if two claims have one number, neither could write after the other appeared, but one of them may have written before
    of_last = {state for version, _, state in rows if version == -number}
    claimed = Claimed(number, _FINISHED in of_last) if number > 0 else Claimed()
    return {(version, at): state for version, at, state in rows if version >= 0}, claimed


def refused(ledger: Ledger, failure: EngineFailure) -> EngineFailure | IdivmError:
    """IDIVM-508; or the failure itself if the engine has not answered, or on a conflict with others."""
    if not failure.error.error_class or failure.is_any(CONCURRENT):
        return failure
    return IdivmError(finding(508, table=ledger.place, statement=failure.statement.label, message=failure.first_line.rstrip(".")))


def written(client: Client, ledger: Ledger, statement: Statement) -> Steps[None]:
    """Run a statement that adds rows to the ledger, again after conflicts with other runs or models. Creates the ledger if
    necessary."""
    for left in reversed(range(_TRIES)):
        try:
            yield from client.ask(statement)
            return
        except EngineFailure as failure:
            if failure.is_any(_MISSING) and left:
                try:
                    yield from client.ask(ledger.create())
                except EngineFailure as other:
                    raise refused(ledger, other) from other
            elif not failure.is_any(CONCURRENT) or not left:
                raise refused(ledger, failure) from failure


def record(
    client: Client, ledger: Ledger, table: str, metadata: str, before: int, reply: Rows | None, claim: Claim | None = None
) -> Steps[None]:
    """Record the metadata of a write to the table, and finish its claim. `before`: the version that the write started from; -1 if
    it created the table. `reply`: the engine's reply; None if nothing was written, so that the metadata is about unchanged rows.

    Raises NotAlone if others have written as well. If nothing was written, nothing is recorded in that case.
    """
    rows = yield from client.ask(client.commands.history(table, _PAGE))
    found = sorted(rows.dicts(), key=lambda row: -int(row["version"]))
    times = moments([moment(row["timestamp"]) for row in found])
    own = _own(found, before, reply)
    if own is None:
        if reply is None:
            return
        raise NotAlone(table)
    version, at = next((int(row["version"]), at) for row, at in zip(found, times, strict=True) if row is own)
    yield from written(client, ledger, ledger.record(table, version, at, metadata, claim))
    if version and version % _KEPT == 0:
        with suppress(EngineFailure):  # another run deletes them at the same time
            yield from client.ask(ledger.forget(table, version - _KEPT, claim))


def _own(found: Sequence[Mapping[str, Any]], before: int, reply: Rows | None) -> Mapping[str, Any] | None:
    """The commit of the write, if that is certain. If nothing was written: the newest commit, unless others have changed rows
    since."""
    if int(found[-1]["version"]) > before + 1:
        return None  # there are more commits since then than were read
    writes = [row for row in found if row["operation"] not in QUIET and int(row["version"]) > before]
    if not writes:
        return found[0] if before >= 0 else None
    if len(writes) != 1 or reply is None:
        return None
    affected = reply.dicts()[0].get("num_affected_rows") if reply.rows else None
    counted = metrics(writes[0].get("operationMetrics"))
    # a write that changes no row may make no commit; a commit with changed rows is then somebody else's
    is_other = affected is not None and int(affected) == 0 and any(int(counted.get(name) or 0) for name in _ROWS)
    return None if is_other else writes[0]
