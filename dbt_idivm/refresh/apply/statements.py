"""Statements that write: state and rows in one commit, and the settings taken back whatever happens."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.expressions import identifier
from dbt_idivm.refresh.catalog.relations import FEED
from dbt_idivm.refresh.catalog.state import State, encode
from dbt_idivm.refresh.decide.config import ModelConfig
from dbt_idivm.refresh.engine import commands
from dbt_idivm.refresh.engine.client import Engine, EngineFailure, Steps, T
from dbt_idivm.refresh.protocol import Rows, Statement
from dbt_idivm.relation_name import name_parts
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.merge import SOURCE, TARGET


@dataclass(frozen=True)
class Guard:
    """Delta's guard against a statement that is sent twice: a write under the same (application, number) is skipped.

    The number is the version of the view that the refresh started from, so that it grows with every commit.
    """

    application: str
    number: int


def committed(engine: Engine, statement: Statement, state: State, guard: Guard | None = None) -> Steps[Rows]:
    """Run a write whose commit carries the state."""
    settings = {commands.USER_METADATA: state.json()}
    if guard is not None:
        settings |= {commands.TXN_APP: guard.application, commands.TXN_VERSION: str(guard.number)}
    return (yield from under(engine, settings, engine.ask(statement)))


def under(engine: Engine, settings: Mapping[str, str], steps: Steps[T]) -> Steps[T]:
    """Run steps under settings of the session."""
    try:
        for key, value in settings.items():
            yield from engine.ask(commands.set_option(key, value))
        found = yield from steps
    except EngineFailure:
        # should the session be gone, the settings are too, and what is to be told is why the steps failed
        with suppress(EngineFailure):
            yield from _reset(engine, settings)
        raise
    yield from _reset(engine, settings)
    return found


def _reset(engine: Engine, settings: Mapping[str, str]) -> Steps[None]:
    for key in settings:
        yield from engine.ask(commands.reset_option(key))


def empty_merge(table: str) -> Statement:
    """A MERGE that can change nothing; under a guard it writes a commit nevertheless."""
    source = exp.Select(expressions=[exp.alias_(exp.Literal.number(1), "one")]).subquery(SOURCE)
    delete = exp.When(matched=True, then=exp.Var(this="DELETE"))
    merge = exp.Merge(this=exp.alias_(DELTA.table(table, None), TARGET, table=True), using=source, on=exp.false(),
                      whens=exp.Whens(expressions=[delete]))
    return Statement(DELTA.sql(merge), "write", f"move the mark of {table}")


def create_table(table: str, query: exp.Expr, config: ModelConfig, properties: Mapping[str, Any], *,
                 replace: bool) -> Statement:
    """CREATE [OR REPLACE] TABLE .. USING DELTA .. AS query; `properties` are ours, to be encoded.

    Under column mapping Delta refuses this for a table with a feed: then it is to be switched on afterwards.
    """
    parts: list[exp.Expression] = [exp.FileFormatProperty(this=exp.Var(this="delta"))]
    if config.partition_by:
        names = [identifier(name) for name in config.partition_by]
        parts.append(exp.PartitionedByProperty(this=exp.Schema(expressions=names)))
    if config.cluster_by:
        parts.append(exp.ClusterProperty(expressions=[exp.Column(this=identifier(n)) for n in config.cluster_by]))
    if config.location_root:
        place = f"{config.location_root.rstrip('/')}/{name_parts(table)[-1]}"
        parts.append(exp.LocationProperty(this=exp.Literal.string(place)))
    feed = "false" if config.column_mapping else "true"
    texts = {**config.tblproperties, FEED: feed, **{key: encode(value) for key, value in properties.items()}}
    parts += _properties(texts)
    tree = exp.Create(this=DELTA.table(table, None), kind="TABLE", replace=replace, expression=query,
                      properties=exp.Properties(expressions=parts))
    return Statement(DELTA.sql(tree), "write", f"build {table}", fetch=False)


def switch_feed_on(table: str) -> Statement:
    found = exp.AlterSet(expressions=[exp.Properties(expressions=_properties({FEED: "true"}))])
    tree = exp.Alter(this=DELTA.table(table, None), kind="TABLE", actions=[found])
    return Statement(DELTA.sql(tree), "metadata", f"switch on the feed of {table}", fetch=False)


def overwrite_table(table: str, query: exp.Expr) -> Statement:
    """INSERT OVERWRITE: the table keeps its identity, and its feed shows what differs."""
    tree = exp.Insert(this=DELTA.table(table, None), expression=query, overwrite=True)
    return Statement(DELTA.sql(tree), "write", f"rebuild {table}", fetch=False)


def create_view(view: str, rows: exp.Table, columns: tuple[str, ...], properties: Mapping[str, Any],
                comments: Mapping[str, str] | None = None) -> Statement:
    """The user's relation over the ID-extended table: its columns, without the hidden ones. `comments` are on columns."""
    names = [exp.Column(this=identifier(name)) for name in columns]
    query = exp.Select(expressions=names).from_(rows)
    found = exp.Properties(expressions=_properties({key: encode(value) for key, value in properties.items()}))
    target: exp.Expr = DELTA.table(view, None)
    if comments:
        target = exp.Schema(this=target, expressions=[_commented(name, comments.get(name)) for name in columns])
    tree = exp.Create(this=target, kind="VIEW", replace=True, expression=query, properties=found)
    return Statement(DELTA.sql(tree), "metadata", f"create view {view}", fetch=False)


def _commented(name: str, text: str | None) -> exp.ColumnDef:
    kind = exp.CommentColumnConstraint(this=exp.Literal.string(text)) if text else None
    return exp.ColumnDef(this=identifier(name), constraints=[exp.ColumnConstraint(kind=kind)] if kind else [])


def rename_table(table: str, to: str) -> Statement:
    tree = exp.Alter(this=DELTA.table(table, None), kind="TABLE", actions=[exp.AlterRename(this=DELTA.table(to, None))])
    return Statement(DELTA.sql(tree), "metadata", f"rename {table}", fetch=False)


def _properties(texts: Mapping[str, str]) -> list[exp.Expression]:
    return [exp.Property(this=exp.Literal.string(key), value=exp.Literal.string(value)) for key, value in texts.items()]
