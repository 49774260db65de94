"""Staging: how rows that stay in the engine are held for the statement that needs them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from dbt_idivm.refresh.engine.commands import Commands
from dbt_idivm.refresh.protocol import Statement
from dbt_idivm.relation_name import with_suffix
from dbt_idivm.script.dialect import Dialect


class Staging(Protocol):
    """The statements that create a relation from a query for this session, and drop it."""

    def stage(self, name: str, query: exp.Query, label: str) -> Statement: ...

    def drop(self, name: str) -> Statement: ...


@dataclass(frozen=True)
class CachedViews:
    """Spark's way: a cached temporary view, which disappears with the session.

    The cache only saves work: Spark evaluates the query again if it had to evict rows.
    """

    commands: Commands

    def stage(self, name: str, query: exp.Query, label: str) -> Statement:
        dialect = self.commands.dialect
        return Statement(dialect.sql(exp.Cache(this=dialect.table(name, None), expression=query)), "read", label, fetch=False)

    def drop(self, name: str) -> Statement:
        return self.commands.drop("view", name)


# Columns that are read may have default values, which pass to the new table, and names with blanks. A table with column mapping
# and a change data feed, which may be on by default, cannot be created from a query.
_ANYTHING_READ = {
    "delta.feature.allowColumnDefaults": "supported",
    "delta.columnMapping.mode": "name",
    "delta.enableChangeDataFeed": "false",
}
_NAMES = re.compile(r"idivm_(net|feed|source)(_\d+)?")
_SCRATCH = re.compile(r"__idivm_(net|feed|source)(_\d+)?_[0-9a-f]{8}")


@dataclass(frozen=True)
class Scratch:
    """Where the rows of one refresh are staged: tables beside a relation, with names unique to this refresh."""

    beside: str
    token: str

    def place(self, name: str) -> str:
        return with_suffix(self.beside, f"__{name}_{self.token}")


def is_scratch(identifier: str, name: str) -> bool:
    """Whether a refresh of the model `identifier` may have staged rows in a table called `name`."""
    begins = name.lower().startswith(identifier.lower())
    return begins and _SCRATCH.fullmatch(name.lower()[len(identifier) :]) is not None


@dataclass(frozen=True)
class ScratchDialect(Dialect):
    """Replaces names of temporary views for staged rows by names of tables."""

    scratch: Scratch

    def sql(self, tree: exp.Expr, pretty: bool = True, *, copy: bool = True) -> str:
        return super().sql(tree.transform(self._placed, copy=copy), pretty, copy=False)

    def _placed(self, node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Table) or node.args.get("db") or not _NAMES.fullmatch(node.name):
            return node
        found = self.table(self.scratch.place(node.name), None)
        found.set("alias", node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name)))
        return found


@dataclass(frozen=True)
class ScratchTables:
    """Staging without temporary views and caching: in a table, with `properties` that identify its creator if it is left
    behind."""

    commands: Commands
    scratch: Scratch
    properties: Mapping[str, str]

    def stage(self, name: str, query: exp.Query, label: str) -> Statement:
        dialect = self.commands.dialect
        own = [
            exp.Property(this=exp.Literal.string(key), value=exp.Literal.string(value))
            for key, value in {**_ANYTHING_READ, **self.properties}.items()
        ]
        parts = exp.Properties(expressions=[exp.FileFormatProperty(this=exp.Var(this="delta")), *own])
        tree = exp.Create(
            this=dialect.table(self.scratch.place(name), None), kind="TABLE", replace=True, expression=query, properties=parts
        )
        return Statement(dialect.sql(tree), "read", label, fetch=False)

    def drop(self, name: str) -> Statement:
        return self.commands.drop("table", self.scratch.place(name))
