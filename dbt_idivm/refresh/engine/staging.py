"""Net diffs that stay in the engine, read once for the statement that needs them: as cached temporary views of the session.

They go when the refresh ends; a session that breaks off takes them with it. The cache only saves work: Spark reads the
feed again where it had to let rows go.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt_idivm.refresh.engine import commands
from dbt_idivm.refresh.engine.client import Engine, EngineFailure, Steps, T
from dbt_idivm.refresh.protocol import Statement
from dbt_idivm.script.binding import Staged
from dbt_idivm.script.dialect import DELTA


def staged(engine: Engine, relations: Sequence[Staged], work: Steps[T]) -> Steps[T]:
    """The result of `work`, for which the relations are there."""
    try:
        for each in relations:
            yield from engine.ask(_cache(each))
        result = yield from work
    except EngineFailure:
        yield from _drop(engine, relations)
        raise
    yield from _drop(engine, relations)
    return result


def _cache(relation: Staged) -> Statement:
    feed = relation.feed
    label = f"net diff of {feed.table} from version {feed.from_version} to {feed.to_version}"
    table = exp.Cache(this=DELTA.table(relation.name, None), expression=relation.query)
    return Statement(DELTA.sql(table), "read", label, fetch=False)


def _drop(engine: Engine, relations: Sequence[Staged]) -> Steps[None]:
    for each in relations:
        try:
            yield from engine.ask(commands.drop("view", each.name))
        except EngineFailure:
            continue  # the session is gone, and the view with it
