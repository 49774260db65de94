"""Net diffs that stay in the engine, read once for the statement that needs them: as cached temporary views of the session.

They go when the refresh ends; a session that breaks off takes them with it. The cache only saves work: Spark reads the
feed again where it had to let rows go.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from dbt_idivm.refresh import commands
from dbt_idivm.refresh.protocol import Statement
from dbt_idivm.refresh.steps import Engine, EngineFailure, Steps
from dbt_idivm.script.binding import Staged
from dbt_idivm.script.dialect import DELTA


def stage(engine: Engine, relations: Iterable[Staged]) -> Steps[None]:
    for each in relations:
        table = exp.Cache(this=DELTA.table(each.name, None), expression=each.query)
        feed = each.feed
        label = f"net diff of {feed.table} from version {feed.from_version} to {feed.to_version}"
        yield from engine.ask(Statement(DELTA.sql(table), "read", label, fetch=False))


def unstage(engine: Engine, relations: Iterable[Staged]) -> Steps[None]:
    for each in relations:
        try:
            yield from engine.ask(commands.drop("view", each.name))
        except EngineFailure:
            continue  # the session is gone, and the view with it
