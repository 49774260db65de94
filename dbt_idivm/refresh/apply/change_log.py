"""Write the log of a view's changes (`script/change_log.py`): each refresh appends its rows and the state in one commit.

The log is never truncated. Where the changes themselves are not known, the difference between the query's rows and the rows that
the log replays to is appended. Only a SELECT with other columns starts a new log. Its refresh numbers continue, so a subscriber
that has read up to a number below its smallest one knows that it has to start over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.types import cannot_be_carried, type_of
from dbt_idivm.errors import IdivmError, finding, listed
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.refresh.apply.publish import Build, write_table
from dbt_idivm.refresh.apply.watermark import guard_of, not_applied, own_commit
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.relations import LOGGED, OWNER, VIEW, Described, describe
from dbt_idivm.refresh.catalog.state import State
from dbt_idivm.refresh.catalog.stored_view import StoredView, read_state
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.engine.scoped import committed
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.protocol import Statement
from dbt_idivm.script.change_log import OWN, Entry, difference, first_rows, logged
from dbt_idivm.script.merge import insert_into


@dataclass(frozen=True)
class Log:
    """The stored log of a model, and the user's columns that it should have. `facts` is None if there is no log yet."""

    job: Job
    columns: tuple[Attribute, ...]
    facts: Described | None
    stored: StoredView

    @property
    def table(self) -> str:
        return self.stored.table

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.columns)

    @property
    def continues(self) -> bool:
        """Whether rows can be appended: the log exists, is intact, and has these columns."""
        return (
            self.facts is not None
            and self.facts.is_delta
            and not self.facts.lost
            and self.stored.latest is not None
            and not self.stored.remade
            and self.facts.properties.get(LOGGED) == _described(self.columns)
        )


def entry_of(stored: StoredView, versions: Mapping[str, int]) -> Entry:
    """The values that all rows of the next refresh share. Its number is the version that the log's commit is expected to get; if
    others commit meanwhile, it is lower, but still higher than all earlier ones. The first build has number 0."""
    number = 0 if stored.latest is None else stored.latest.version + 1
    return Entry(number, json.dumps(dict(versions), sort_keys=True))


def find_log(job: Job, table: str, columns: Sequence[Attribute]) -> Steps[Log]:
    """The log stored in `table`. Raises IDIVM-122 if a user column has the name of one of the log's own columns, and IDIVM-218
    for columns whose values cannot be compared."""
    taken = [each.name for each in columns if each.name.lower() in OWN]
    if taken:
        raise IdivmError(finding(122, view=job.request.relation, column=taken[0], own=listed(OWN)))
    if wrong := [
        finding(218, column=each.name, type=each.type, use="a log of changes")
        for each in columns
        if cannot_be_carried(type_of(each.type))
    ]:
        raise IdivmError(wrong)
    facts = yield from describe(job.client, table)
    stored = None if facts is None or facts.lost or not facts.is_delta else (yield from read_state(job.client, table))
    return Log(job, tuple(columns), facts, stored or StoredView(table))


def begin(log: Log, rows: exp.Expr, state: State, versions: Mapping[str, int]) -> Steps[int]:
    """Create the log, or start a new one, with `rows` (a FROM item) as inserted rows. Returns the number of rows."""
    job, there = log.job, log.facts
    query = first_rows(rows, log.names, entry_of(log.stored, versions))
    properties = {VIEW: log.table, OWNER: job.request.owner, LOGGED: _described(log.columns)}
    wanted = Build(log.table, query, (), None, properties, state)
    if there is not None and (not there.is_delta or log.stored.remade):
        yield from job.client.ask(job.client.commands.drop(there.kind or "view", log.table))
        job.client.remade.discard(log.table)
        there = None
    commit = yield from write_table(job, wanted, log.table, there, log.stored, fits=False)
    job.client.invocation.forget(log.table)
    history.pin(job.client, log.table, commit)
    return commit.rows_written


def append(log: Log, net: exp.Query, state: State, versions: Mapping[str, int]) -> Steps[int]:
    """Append net changes: rows with a WEIGHT, under the inner column names. Returns the number of rows. Raises IDIVM-903."""
    query = logged(net, log.names, entry_of(log.stored, versions))
    dialect = log.job.dialect
    insert = insert_into(dialect.table(log.table, None), (*log.names, *OWN), query)
    statement = Statement(dialect.sql(insert), "write", f"append to {log.table}", tree=insert)
    client, latest = log.job.client, log.stored.latest
    assert latest is not None
    client.rely(log.table, latest.version, latest.at)
    yield from committed(client, statement, log.table, state.json(), guard_of(log.stored))
    commit = yield from own_commit(client, log.table, latest, state)
    client.invocation.forget(log.table)
    if commit is None:
        raise (yield from not_applied(client, log.stored, log.table, "its changes were not appended"))
    history.pin(client, log.table, commit)
    return commit.rows_written


def append_difference(log: Log, rows: exp.Expr, state: State, versions: Mapping[str, int]) -> Steps[int]:
    """Append the difference between `rows` (a FROM item) and the rows that the log replays to. Returns the number of rows."""
    assert log.stored.latest is not None
    now = log.job.dialect.table(log.table, log.stored.latest.version)
    return (yield from append(log, difference(rows, now, log.columns), state, versions))


def _described(columns: Sequence[Attribute]) -> list[list[str]]:
    return [[each.name, each.type] for each in columns]
