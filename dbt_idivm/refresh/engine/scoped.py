"""Work with something before and after it: settings of the session, metadata of a commit, staged relations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.commits import Guard
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps, T
from dbt_idivm.refresh.protocol import Rows, Statement
from dbt_idivm.script.binding import Staged

# `dynamic` keeps the partitions that get no row; dbt-spark's `insert_overwrite` leaves the session so.
OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"
Undo: TypeAlias = list[Statement]
_UNDEFINED = "<undefined>"  # what Spark shows of a setting that has neither a value nor a default


def committed(client: Client, statement: Statement, metadata: str, guard: Guard | None = None) -> Steps[Rows]:
    """Run a write whose commit carries the metadata."""
    commits = client.engine.commits
    before, after = commits.before(metadata, guard), commits.after(guard)
    return (yield from _enclosed(client, lambda undo: _entered(client, before, after, undo), client.ask(statement)))


def temporarily(client: Client, settings: Mapping[str, str], steps: Steps[T], *, needed: bool = True) -> Steps[T]:
    """Run steps under settings of the session that the profile or a model may have set as well: they get their values again.

    `needed`: whether the steps depend on them. If not, a setting that the server refuses is left out.
    """
    def enter(undo: Undo) -> Steps[None]:
        for key, value in settings.items():
            try:
                undo += yield from _changed(client, key, value)
            except EngineFailure:
                if needed:
                    raise

    return (yield from _enclosed(client, enter, steps))


def _changed(client: Client, key: str, value: str) -> Steps[list[Statement]]:
    """Set it, unless it is so; the statement that gives it its value again."""
    found = yield from client.ask(client.commands.read_option(key))
    old = str(found.rows[0][1]) if found.rows else _UNDEFINED
    if old.lower() == value.lower():
        return []
    yield from client.ask(client.commands.set_option(key, value))
    return [client.commands.reset_option(key) if old == _UNDEFINED else client.commands.set_option(key, old)]


def under(client: Client, settings: Mapping[str, str], steps: Steps[T]) -> Steps[T]:
    """Run steps under settings of the session."""
    before = [client.commands.set_option(key, value) for key, value in settings.items()]
    after = [client.commands.reset_option(key) for key in settings]
    return (yield from _enclosed(client, lambda undo: _entered(client, before, after, undo), steps))


def all_partitions(client: Client, overwrite: Steps[T]) -> Steps[T]:
    """Run an INSERT OVERWRITE of a partitioned table so that it replaces every row, whatever the session is set to."""
    return (yield from temporarily(client, {OVERWRITE_MODE: "static"}, overwrite))


def _enclosed(client: Client, enter: Callable[[Undo], Steps[None]], steps: Steps[T]) -> Steps[T]:
    """Run steps after `enter`, which adds to a list the statements to be run after them, whether they succeed or fail."""
    undo: Undo = []
    try:
        yield from enter(undo)
        found = yield from steps
    except EngineFailure:
        # should the session be gone, its settings are too, and the error to report is that of the steps
        with suppress(EngineFailure):
            yield from _all(client, undo)
        raise
    yield from _all(client, undo)
    return found


def _entered(client: Client, before: Sequence[Statement], after: Sequence[Statement], undo: Undo) -> Steps[None]:
    undo += after
    yield from _all(client, before)


def _all(client: Client, statements: Sequence[Statement]) -> Steps[None]:
    for each in statements:
        yield from client.ask(each)


def staged(client: Client, relations: Sequence[Staged], work: Steps[T]) -> Steps[T]:
    """The result of `work`, for which the relations are there: each is evaluated once, however often it is read."""
    try:
        for each in relations:
            yield from client.ask(client.engine.staging.stage(each.name, each.query, each.label))
        result = yield from work
    except EngineFailure:
        yield from _drop(client, relations)
        raise
    yield from _drop(client, relations)
    return result


def _drop(client: Client, relations: Sequence[Staged]) -> Steps[None]:
    for each in relations:
        with suppress(EngineFailure):  # the session is gone, and the relation with it
            yield from client.ask(client.engine.staging.drop(each.name))
