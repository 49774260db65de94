"""Metadata of commits in a table beside the data, for an engine whose commits carry none: SQL warehouses of Databricks.

A *record* says what the rows of a table are at one version of it, which the version's number and the time of its commit name. It
is written after the commit, and only if that commit is certainly the one of the write: a record that is missing costs a rebuild,
and one that is there never says more than what was committed. Records are read beside the table's own history: a version that
others have committed has none.

The same table has the *claims* (`claims.py`), as rows with negative versions: -n, the claim's mark, and whether it is finished.
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
LOST = "idivm: the claim to write is lost"  # the engine's message then
_CLAIMED, _FINISHED = "claimed", "finished"
_COLUMNS = {"relation": "string", "version": "bigint", "at": "string", "state": "string", "noted": "timestamp"}
_MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "DELTA_TABLE_NOT_FOUND")
_PAGE = 20  # commits: those of a write, and what the engine itself adds to it
_KEPT = 100  # versions of a table whose records are kept
_TRIES = 50  # of a statement with which those of other models may conflict; one of these succeeds each time
# Metrics that count rows which a commit wrote or took away.
_ROWS = (
    "numOutputRows",
    "numTargetRowsInserted",
    "numTargetRowsUpdated",
    "numTargetRowsDeleted",
    "numDeletedRows",
    "numUpdatedRows",
)


class NotAlone(IdivmError):
    """IDIVM-903: a table has other commits beside the one of this run, so that its rows may be neither's."""

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
    """The newest claim to a table: its number, 0 if there was none, and whether what it was made for is done."""

    number: int = 0
    finished: bool = True


@dataclass(frozen=True)
class Claim:
    """What one write into a table is done under."""

    table: str
    number: int
    mark: str


@dataclass(frozen=True)
class Ledger:
    """The statements about the records and claims, which are in the table `place`."""

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
        """It reads the table that it writes, so that of two runs at once Delta refuses one; and adds nothing to a later claim."""
        later = exp.select(exp.Literal.number(1)).from_(self._table()).where(self._from_on(claim))
        row = exp.Select(expressions=_row(claim.table, -claim.number, claim.mark, _CLAIMED))
        tree = exp.Insert(this=self._table(), expression=row.where(exp.Not(this=exp.Exists(this=later))))
        return Statement(self.dialect.sql(tree), "metadata", f"claim {claim.table}", fetch=False)

    def stands(self, claim: Claim) -> exp.Expr:
        """A condition that is true while the claim is the newest one and not finished; else evaluating it is an error."""
        alone = exp.and_(
            exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1)),
            exp.EQ(this=exp.Max(this=exp.column("at")), expression=exp.Literal.string(claim.mark)),
        )
        lost = exp.Anonymous(this="RAISE_ERROR", expressions=[exp.Literal.string(LOST)])
        found = exp.Case(ifs=[exp.If(this=alone, true=exp.true())], default=lost)
        looked_up = exp.Select(expressions=[found]).from_(self._table()).where(self._from_on(claim)).subquery()
        return exp.EQ(this=looked_up, expression=exp.true())

    def record(self, table: str, version: int, at: str, metadata: str, claim: Claim | None) -> Statement:
        """One commit says what the rows are, and that the claim is finished."""
        rows = [_row(table, version, at, metadata), *([] if claim is None else [_finished(claim)])]
        return self._added(rows, f"record the state of {table}")

    def finish(self, claim: Claim) -> Statement:
        return self._added([_finished(claim)], f"give up the claim to {claim.table}")

    def forget(self, table: str, before: int, claim: Claim | None) -> Statement:
        """The records of versions before that one, and former claims."""
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
        """The rows of that claim and of later ones."""
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
    """(version, time of its commit) → what was recorded of it last; and the newest claim."""
    try:
        found = yield from client.ask(ledger.read(table))
    except EngineFailure as failure:
        if not failure.is_any(_MISSING):
            raise refused(ledger, failure) from failure
        return {}, Claimed()
    rows = [(int(version), str(at), str(state)) for version, at, state in found.rows]
    number = max((-version for version, _, _ in rows), default=0)
    # where two had one number, neither could write after the other came, and one of them may have done so before
    of_last = {state for version, _, state in rows if version == -number}
    claimed = Claimed(number, _FINISHED in of_last) if number > 0 else Claimed()
    return {(version, at): state for version, at, state in rows if version >= 0}, claimed


def refused(ledger: Ledger, failure: EngineFailure) -> EngineFailure | IdivmError:
    """IDIVM-508; the failure itself if the engine has not answered, or others are in the way."""
    if not failure.error.error_class or failure.is_any(CONCURRENT):
        return failure
    return IdivmError(finding(508, table=ledger.place, statement=failure.statement.label, message=failure.first_line.rstrip(".")))


def written(client: Client, ledger: Ledger, statement: Statement) -> Steps[None]:
    """Run a statement that adds rows to the ledger; again, where other runs or models have written at the same time."""
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
    """Record the metadata of a write into the table, which ends the claim. `before`: the version that it started from; -1 if it
    made the table. `reply`: what the engine answered; None if nothing was written, and the metadata is of the rows as they were.

    Raises NotAlone where others have written as well; if nothing was written, nothing is recorded then.
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
    """The commit of the write, if it is known for certain; the newest one, if nobody has changed a row since."""
    if int(found[-1]["version"]) > before + 1:
        return None  # more was committed since than was read
    writes = [row for row in found if row["operation"] not in QUIET and int(row["version"]) > before]
    if not writes:
        return found[0] if before >= 0 else None
    if len(writes) != 1 or reply is None:
        return None
    affected = reply.dicts()[0].get("num_affected_rows") if reply.rows else None
    counted = metrics(writes[0].get("operationMetrics"))
    # a write that changed no row need not have made a commit: then one that did is that of somebody else
    is_other = affected is not None and int(affected) == 0 and any(int(counted.get(name) or 0) for name in _ROWS)
    return None if is_other else writes[0]
