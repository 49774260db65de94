"""Statements that write tables and views, except the MERGE of a refresh."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.expressions import identifier
from dbt_idivm.definition.config import DELETION_VECTORS, FEED, ModelConfig
from dbt_idivm.refresh.catalog.relations import TEXT, known_text
from dbt_idivm.refresh.catalog.state import encode
from dbt_idivm.refresh.protocol import Statement
from dbt_idivm.relation_name import name_parts
from dbt_idivm.script.dialect import Dialect, verbatim
from dbt_idivm.script.merge import SOURCE, TARGET


def empty_merge(dialect: Dialect, table: str) -> Statement:
    """A MERGE that cannot change any row. Under a guard it still writes a commit."""
    source = exp.Select(expressions=[exp.alias_(exp.Literal.number(1), "one")]).subquery(SOURCE)
    delete = exp.When(matched=True, then=exp.Var(this="DELETE"))
    merge = exp.Merge(
        this=exp.alias_(dialect.table(table, None), TARGET, table=True),
        using=source,
        on=exp.false(),
        whens=exp.Whens(expressions=[delete]),
    )
    return Statement(dialect.sql(merge), "write", f"move the watermark of {table}", tree=merge)


def create_table(
    dialect: Dialect, table: str, query: exp.Expr, config: ModelConfig, properties: Mapping[str, Any], *, replace: bool
) -> Statement:
    """CREATE [OR REPLACE] TABLE .. USING DELTA .. AS query. `properties` are ours, and are encoded here.

    With column mapping Delta does not allow this for a table with a change data feed; the feed is switched on afterwards.
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
    is_given = DELETION_VECTORS.lower() in map(str.lower, config.tblproperties)
    chosen = {DELETION_VECTORS: "true"} if config.deletion_vectors and not is_given else {}
    texts = {**chosen, **config.tblproperties, FEED: feed, **{key: encode(value) for key, value in properties.items()}}
    parts += _properties(texts)
    tree = exp.Create(
        this=dialect.table(table, None),
        kind="TABLE",
        replace=replace,
        expression=query,
        properties=exp.Properties(expressions=parts),
    )
    return Statement(dialect.sql(tree), "write", f"build {table}", fetch=False, tree=tree)


def set_properties(dialect: Dialect, table: str, properties: Mapping[str, Any]) -> Statement:
    """Set our table properties to new values."""
    found = exp.AlterSet(
        expressions=[exp.Properties(expressions=_properties({key: encode(value) for key, value in properties.items()}))]
    )
    tree = exp.Alter(this=dialect.table(table, None), kind="TABLE", actions=[found])
    return Statement(dialect.sql(tree), "metadata", f"set the properties of {table}", fetch=False)


def switch_feed_on(dialect: Dialect, table: str) -> Statement:
    found = exp.AlterSet(expressions=[exp.Properties(expressions=_properties({FEED: "true"}))])
    tree = exp.Alter(this=dialect.table(table, None), kind="TABLE", actions=[found])
    return Statement(dialect.sql(tree), "metadata", f"switch on the feed of {table}", fetch=False)


def overwrite_table(dialect: Dialect, table: str, query: exp.Expr) -> Statement:
    """INSERT OVERWRITE: the table keeps its identity, and its feed shows what differs."""
    tree = exp.Insert(this=dialect.table(table, None), expression=query, overwrite=True)
    return Statement(dialect.sql(tree), "write", f"rebuild {table}", fetch=False, tree=tree)


def create_view(
    dialect: Dialect,
    view: str,
    rows: exp.Table,
    columns: tuple[str, ...],
    properties: Mapping[str, Any],
    comments: Mapping[str, str] | None = None,
) -> Statement:
    """CREATE VIEW of the user's columns over the ID-extended table, without the hidden ones. `comments` maps columns to
    comments."""
    names = [exp.Column(this=identifier(name)) for name in columns]
    return _view(dialect, view, exp.Select(expressions=names).from_(rows), columns, properties, comments)


def create_query_view(
    dialect: Dialect,
    view: str,
    sql: str,
    properties: Mapping[str, Any],
    columns: tuple[str, ...] = (),
    comments: Mapping[str, str] | None = None,
) -> Statement:
    """CREATE VIEW over the text of the user's SELECT. `comments` maps `columns` to comments."""
    return _view(dialect, view, verbatim(sql), columns, properties, comments)


def _view(
    dialect: Dialect,
    view: str,
    query: exp.Expr,
    columns: tuple[str, ...],
    properties: Mapping[str, Any],
    comments: Mapping[str, str] | None,
) -> Statement:
    own = {**properties, TEXT: known_text(dialect.sql(query))}
    found = exp.Properties(expressions=_properties({key: encode(value) for key, value in own.items()}))
    target: exp.Expr = dialect.table(view, None)
    if comments:
        target = exp.Schema(this=target, expressions=[_commented(name, comments.get(name)) for name in columns])
    tree = exp.Create(this=target, kind="VIEW", replace=True, expression=query, properties=found)
    return Statement(dialect.sql(tree), "metadata", f"create view {view}", fetch=False)


def _commented(name: str, text: str | None) -> exp.ColumnDef:
    kind = exp.CommentColumnConstraint(this=exp.Literal.string(text)) if text else None
    return exp.ColumnDef(this=identifier(name), constraints=[exp.ColumnConstraint(kind=kind)] if kind else [])


def rename_table(dialect: Dialect, table: str, to: str) -> Statement:
    tree = exp.Alter(this=dialect.table(table, None), kind="TABLE", actions=[exp.AlterRename(this=dialect.table(to, None))])
    return Statement(dialect.sql(tree), "metadata", f"rename {table}", fetch=False)


def _properties(texts: Mapping[str, str]) -> list[exp.Expression]:
    return [exp.Property(this=exp.Literal.string(key), value=exp.Literal.string(value)) for key, value in texts.items()]
