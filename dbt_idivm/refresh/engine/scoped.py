"""Work with something before and after it: settings of the session, metadata of a commit, staged relations."""

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

# `dynamic` keeps the partitions that get no row; dbt-spark's `insert_overwrite` leaves the session so.
OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"
_UNDEFINED = "<undefined>"  # what Spark shows of a setting that has neither a value nor a default


def committed(client: Client, statement: Statement, table: str, metadata: str, guard: Guard | None = None) -> Steps[Rows]:
    """Run a write into the table whose commit carries the metadata, or has a record of it. Raises IDIVM-903 and 907 there."""
    commits, ledger = client.engine.commits, client.engine.ledger
    if ledger is not None:
        return (yield from claimed_write(client, ledger, statement, table, metadata, guard))
    before = _all(client, commits.before(metadata, guard))
    return (yield from _enclosed(client, before, client.ask(statement), commits.after(guard)))


def temporarily(client: Client, settings: Mapping[str, str], steps: Steps[T], *, needed: bool = True) -> Steps[T]:
    """Run steps under settings of the session that the profile or a model may have set as well: they get their values again.

    `needed`: whether the steps depend on them. If not, a setting that the server refuses is left out. Where sessions have
    none the steps run as they are.
    """
    if client.engine.fixed is not None:
        return (yield from steps)
    after: list[Statement] = []
    return (yield from _enclosed(client, _changed(client, settings, needed, after), steps, after))


def _changed(client: Client, settings: Mapping[str, str], needed: bool, after: list[Statement]) -> Steps[None]:
    """Set them. The statements that set the former values again are added to `after`, each as soon as it is needed."""
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
    """Run an INSERT OVERWRITE of a partitioned table so that it replaces every row, whatever the session is set to."""
    return (yield from temporarily(client, {OVERWRITE_MODE: "static"}, overwrite))


def _enclosed(client: Client, before: Steps[None], steps: Steps[T], after: Sequence[Statement]) -> Steps[T]:
    """Run `before`, the steps, and the statements of `after`, whether the others succeed or fail; `before` may add to them."""
    try:
        yield from before
        found = yield from steps
    except EngineFailure:
        # should the session be gone, its settings are too, and the error to report is that of the steps
        with suppress(EngineFailure):
            yield from _all(client, after)
        raise
    yield from _all(client, after)
    return found


def _all(client: Client, statements: Sequence[Statement]) -> Steps[None]:
    for each in statements:
        yield from client.ask(each)


def staged(client: Client, relations: Sequence[Staged], work: Steps[T]) -> Steps[T]:
    """The result of `work`, for which the relations are there: each is evaluated once, however often it is read."""
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
        with suppress(EngineFailure):  # the session is gone, and the relation with it
            yield from client.ask(client.engine.staging.drop(each.name))
