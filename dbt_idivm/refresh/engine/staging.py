"""How rows that stay in the engine are held for the statement that needs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from dbt_idivm.refresh.engine.commands import Commands
from dbt_idivm.refresh.protocol import Statement


class Staging(Protocol):
    """The statements that make a relation of a query's rows for this session, and that drop it."""

    def stage(self, name: str, query: exp.Query, label: str) -> Statement: ...

    def drop(self, name: str) -> Statement: ...


@dataclass(frozen=True)
class CachedViews:
    """Spark's way: a cached temporary view. A session that breaks off takes it with it.

    The cache only saves work: Spark evaluates the query again where it had to let rows go.
    """

    commands: Commands

    def stage(self, name: str, query: exp.Query, label: str) -> Statement:
        dialect = self.commands.dialect
        return Statement(dialect.sql(exp.Cache(this=dialect.table(name, None), expression=query)), "read", label, fetch=False)

    def drop(self, name: str) -> Statement:
        return self.commands.drop("view", name)
