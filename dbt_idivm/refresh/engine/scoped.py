"""Statements with something before and after them: session settings, metadata of a commit, staged relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.engine.claims import claimed_write
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.commits import Guard
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps, T
from dbt_idivm.refresh.protocol import Rows, Statement
from dbt_idivm.script.binding import Staged

# `dynamic` keeps the partitions that receive no row; dbt-spark's `insert_overwrite` leaves it set in the session.
OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"
_UNDEFINED = "<undefined>"  # shown by Spark for a setting that has neither a value nor a default


def committed(client: Client, statement: Statement, table: str, metadata: str, guard: Guard | None = None) -> Steps[Rows]:
    """Run a write to the table whose commit carries the metadata, or with a record of it in the ledger (raises IDIVM-903 and
    IDIVM-907)."""
    commits, ledger = client.engine.commits, client.engine.ledger
    if ledger is not None:
        return (yield from claimed_write(client, ledger, statement, table, metadata, guard))
    before = _all(client, commits.before(metadata, guard))
    return (yield from _enclosed(client, before, client.ask(statement), commits.after(guard)))


def temporarily(client: Client, settings: Mapping[str, str], steps: Steps[T], *, needed: bool = True) -> Steps[T]:
    """Run steps under session settings, and restore the values that the profile or a model may have set.

    `needed`: whether the steps depend on them; if not, a setting that the server refuses is skipped. In engines without session
    settings the steps run without them.
    """
    if client.engine.fixed is not None:
        return (yield from steps)
    after: list[Statement] = []
    return (yield from _enclosed(client, _changed(client, settings, needed, after), steps, after))


def _changed(client: Client, settings: Mapping[str, str], needed: bool, after: list[Statement]) -> Steps[None]:
    """Set the settings. The statements that restore the former values are added to `after` one by one."""
    for key, value in settings.items():
        try:
            found = yield from client.ask(client.commands.read_option(key))
            old = str(found.rows[0][1]) if found.rows else _UNDEFINED
            if old.lower() == value.lower():
                continue
            yield from client.ask(client.commands.set_option(key, value))
        except EngineFailure:
            if needed:
                raise
            continue
        after.append(client.commands.reset_option(key) if old == _UNDEFINED else client.commands.set_option(key, old))


def all_partitions(client: Client, overwrite: Steps[T]) -> Steps[T]:
    """Run an INSERT OVERWRITE of a partitioned table so that it replaces every row, regardless of the session's settings."""
    return (yield from temporarily(client, {OVERWRITE_MODE: "static"}, overwrite))


def _enclosed(client: Client, before: Steps[None], steps: Steps[T], after: Sequence[Statement]) -> Steps[T]:
    """Run `before`, the steps, and then the statements of `after`, even if the former fail. `before` may add to `after`."""
    try:
        yield from before
        found = yield from steps
    except EngineFailure:
        # if the session is lost, so are its settings, and the steps' own error is the one to report
        with suppress(EngineFailure):
            yield from _all(client, after)
        raise
    yield from _all(client, after)
    return found


def _all(client: Client, statements: Sequence[Statement]) -> Steps[None]:
    for each in statements:
        yield from client.ask(each)


def staged(client: Client, relations: Sequence[Staged], work: Steps[T]) -> Steps[T]:
    """The result of `work`, which runs while the relations are staged: each is evaluated once, however often it is read."""
    try:
        for each in relations:
            yield from client.ask(client.engine.staging.stage(each.name, each.query, each.label))
        result = yield from work
    except (EngineFailure, IdivmError):
        yield from _drop(client, relations)
        raise
    yield from _drop(client, relations)
    return result


def _drop(client: Client, relations: Sequence[Staged]) -> Steps[None]:
    for each in relations:
        with suppress(EngineFailure):  # the session is lost, and the relation with it
            yield from client.ask(client.engine.staging.drop(each.name))
