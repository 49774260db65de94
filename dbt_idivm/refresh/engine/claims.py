"""Claims: where no transaction number does it, they prevent two runs from writing one table concurrently, and a statement from
being executed late or twice.

Before a run writes a table it claims it, with the number after the newest claim that it saw *before* it read the table's history.
A number can be claimed only once. The write itself fails unless its claim is the newest one and unfinished. So of two runs that
start from one version, one gets no claim. A write that is executed after another run has claimed the table, or after its own run
has recorded it, fails. A run that finds an unfinished claim takes the next number, and rebuilds. A write that has checked its
claim but has not committed yet conflicts with that rebuild in Delta, because both read the table that they write.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import replace

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.commits import Guard
from dbt_idivm.refresh.engine.ledger import LOST, Claim, Ledger, record, recorded, written
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Rows, Statement

_RAISED = ("USER_RAISED_EXCEPTION",)
_ROWS, _ONE = "idivm_rows", "idivm_one"


def claimed_write(
    client: Client, ledger: Ledger, statement: Statement, table: str, metadata: str, guard: Guard | None
) -> Steps[Rows]:
    """Claim the table, run the write, and record its result. Without a guard the write creates the table.

    Raises IDIVM-907 if another run has claimed the table, and NotAlone if others wrote to it nevertheless.
    """
    seen = guard.claimed if guard is not None else None
    if seen is None:
        seen = (yield from recorded(client, ledger, table))[1].number
    claim = Claim(table, max(seen, client.claims.get(table, 0)) + 1, secrets.token_hex(8))
    yield from written(client, ledger, ledger.claim(claim))
    client.claims[table] = claim.number
    try:
        reply = yield from client.ask(_under(client, ledger, statement, claim))
    except EngineFailure as failure:
        if failure.is_any(_RAISED) and LOST in failure.error.message:  # other messages may quote the statement
            raise IdivmError(finding(907, view=table)) from failure
        if failure.error.error_class:  # the engine has answered: nothing is written
            with suppress(EngineFailure, IdivmError):  # if this fails, the next run rebuilds
                yield from written(client, ledger, ledger.finish(claim))
        raise
    yield from record(client, ledger, table, metadata, -1 if guard is None else guard.number, reply, claim)
    return reply


def _under(client: Client, ledger: Ledger, statement: Statement, claim: Claim) -> Statement:
    """The write, changed so that it fails unless the claim stands. A statement that changes no row is left alone."""
    if statement.tree is None:
        return statement
    tree = fenced(statement.tree, ledger.stands(claim), client.dialect.table(claim.table, None))
    return replace(statement, sql=client.dialect.sql(tree), tree=tree)


def fenced(write: exp.Expr, condition: exp.Expr, target: exp.Table) -> exp.Expr:
    """The write with a condition that is evaluated before any of its rows.

    UPDATE and DELETE do not take subqueries in Delta, and become MERGE. An INSERT additionally reads its own table; otherwise
    Delta would accept it beside any concurrent commit.
    """
    tree = _as_merge(write) if isinstance(write, exp.Update | exp.Delete) else write.copy()
    if isinstance(tree, exp.Merge):
        using = tree.args["using"]
        tree.set("using", subquery(_filtered(using, condition), using.alias_or_name))
        return tree
    if isinstance(tree, exp.Insert):
        any_row = exp.Select(expressions=[exp.Literal.number(1)]).from_(target.copy()).limit(1)
        read = exp.Select(expressions=[exp.Count(this=exp.Star())]).from_(subquery(any_row, _ONE)).subquery()
        condition = exp.and_(condition, exp.GTE(this=read, expression=exp.Literal.number(0)))
    tree.set("expression", _filtered(subquery(tree.expression, _ROWS), condition))
    return tree


def _filtered(rows: exp.Expr, condition: exp.Expr) -> exp.Select:
    return exp.Select(expressions=[exp.Star()]).from_(rows.copy()).where(condition)


def _as_merge(write: exp.Update | exp.Delete) -> exp.Merge:
    """The statement as a MERGE whose source has one row."""
    where = write.args.get("where")
    one = exp.Select(expressions=[exp.alias_(exp.Literal.number(1), _ONE)])
    then: exp.Expr = (
        exp.Update(expressions=[each.copy() for each in write.expressions])
        if isinstance(write, exp.Update)
        else exp.Var(this="DELETE")
    )
    return exp.Merge(
        this=write.this.copy(),
        using=subquery(one, _ROWS),
        on=exp.true() if where is None else where.this.copy(),
        whens=exp.Whens(expressions=[exp.When(matched=True, then=then)]),
    )
