"""Look up what a model reads: each table's columns, change feed and pinned version. Views are followed to their tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.cached import cached_property
from dbt_idivm.context import PlainView
from dbt_idivm.definition.facts import DescribedFunction, Facts, Table
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.frontend.lower import tables_in
from dbt_idivm.frontend.replace_clock import replace_clock
from dbt_idivm.frontend.replace_tables import replace_tables
from dbt_idivm.refresh.catalog import history, state
from dbt_idivm.refresh.catalog.clock import Clock
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.plain_views import plain_view, quoted, view_digest, with_columns
from dbt_idivm.refresh.catalog.relations import IDS, Described, describe
from dbt_idivm.refresh.catalog.state import State
from dbt_idivm.refresh.catalog.stored_view import shows_its_table
from dbt_idivm.refresh.catalog.view_settings import disagreement
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.relation_name import name_parts, relation_name
from dbt_idivm.script.dialect import Dialect, verbatim


@dataclass(frozen=True)
class Input:
    """One relation that a model reads. `table`: the table with its rows; for the view of an upstream model this is the
    ID-extended table. `commit`: the pinned version; None for relations without versions."""

    name: str
    table: str
    facts: Described
    commit: Commit | None = None
    visible: tuple[str, ...] | None = None

    @property
    def version(self) -> int | None:
        return self.commit.version if self.commit else None

    @cached_property
    def for_definition(self) -> Table:
        """What the definition of a model depends on.

        The IDs have to be checked if others wrote to the table, if it is a clone with copied properties, or if the keys that the
        IDs consist of were not checked.
        """
        last = state.read(self.commit.user_metadata) if self.commit is not None else None
        return Table(
            self.name,
            self.table,
            self.facts.columns,
            self.visible,
            tuple(self.facts.properties.get(IDS) or ()),
            is_ours=last is not None and last.trusted,
            has_unique_ids=last is not None and last.has_unique_ids and not _is_among_others(self.commit, last),
        )


@dataclass(frozen=True)
class Inputs:
    """Everything that a model reads, by the names in its SQL. `views`: plain views, with qualified names in their texts.

    `obstacles`: why parts of it can only be read as a whole, in a rebuild. `unread`: why the SQL could not be analysed.
    `functions`: the user's functions that the SQL calls and the config lists.
    """

    tables: Mapping[str, Input]
    views: Mapping[str, PlainView]
    obstacles: tuple[Finding, ...] = ()
    unread: Finding | None = None
    known: Mapping[str, str] = field(default_factory=dict)  # view → text that identifies its definition
    functions: Mapping[str, DescribedFunction | None] = field(default_factory=dict)

    @property
    def is_versioned(self) -> bool:
        """Whether every table has versions, so that a version vector describes everything that was read."""
        return self.unread is None and all(found.commit is not None for found in self.tables.values())

    @cached_property
    def for_definition(self) -> Facts:
        """What the definition of a model depends on."""
        tables = {name: found.for_definition for name, found in self.tables.items()}
        return Facts(tables, self.views, self.obstacles, self.unread, self.functions)


# Wrong without it: if others insert a row with the ID of an existing row, the next refresh that deletes one of them deletes both.
def _is_among_others(commit: Commit | None, last: State) -> bool:
    """Whether others may have committed between the version that the refresh started from and its own commit. An OPTIMIZE that
    Delta adds to a write has the same state."""
    if commit is None or last.base is None:
        return False
    return commit.version - last.base > (2 if commit.operation == "OPTIMIZE" else 1)


def look_up(client: Client, sql: str) -> Steps[Inputs]:
    """Look up the inputs of `sql`. Raises if one of them does not exist."""
    tables: dict[str, Input] = {}
    views: dict[str, PlainView] = {}
    missing: list[Finding] = []
    obstacles: list[Finding] = []
    known: dict[str, str] = {}
    try:
        names = list(tables_in(sql))
    except IdivmError as error:
        return Inputs({}, {}, unread=error.findings[0])
    for name in names:
        facts = yield from client.once(("facts", name), lambda name=name: describe(client, name))  # type: ignore[misc]
        if facts is None:
            missing.append(finding(301, source=name))
        elif facts.is_plain_view:
            found = (yield from disagreement(client, name, facts.settings)) or (yield from plain_view(client, name, facts))
            if isinstance(found, Finding):
                obstacles.append(found)
                tables[name] = Input(name, name, facts)
            else:
                views[name], known[name] = found, view_digest(found.text, facts)
                names.extend(each for each in tables_in(found.text) if each not in names)
        elif facts.is_model_view and not (yield from shows_its_table(client, facts)):
            obstacles.append(finding(314, source=name, table=facts.maintained))
            tables[name] = Input(name, name, facts)
        else:
            tables[name] = yield from _table(client, name, facts)
            obstacles.extend(_unfit(tables[name]))
    if missing:
        raise IdivmError(missing)
    return Inputs(tables, views, tuple(obstacles), None, known)


def _table(client: Client, name: str, facts: Described) -> Steps[Input]:
    table, visible = table_of(name, facts), None
    if facts.is_model_view:
        visible = tuple(column.name for column in facts.columns)
        behind = yield from client.once(("facts", table), lambda: describe(client, table))
        if behind is None:
            raise IdivmError(finding(301, source=table))
        facts = behind
    commit = (yield from history.pinned(client, table)) if facts.is_delta else None
    return Input(name, table, facts, commit, visible)


def table_of(name: str, facts: Described) -> str:
    """The table that holds the rows of the relation `name`."""
    if facts.is_model_view and facts.maintained is not None:
        return facts.maintained
    if facts.is_delta and facts.schema and len(name_parts(name)) == 1:
        # a name alone could also mean something in the Δ-script
        return relation_name(*facts.schema, *name_parts(name))
    return name


def types_at(client: Client, table: str, version: int, columns: Iterable[str]) -> Steps[str]:
    """The given columns of a table with their types at a version, as text."""
    query = exp.select(*map(column, columns)).from_(client.dialect.table(table, version))
    asked = client.commands.describe_query(client.dialect.sql(query), f"{table} at version {version}")
    return ", ".join(f"{row[0]} {row[1]}" for row in (yield from client.ask(asked)).rows)


def _unfit(found: Input) -> list[Finding]:
    if not found.facts.is_delta:
        provider = found.facts.provider or ("a view" if found.facts.kind == "view" else "a temporary view")
        return [finding(302, source=found.name, provider=provider)]
    return [] if found.facts.has_feed else [finding(303, source=found.table)]


def pinned_query(dialect: Dialect, sql: str, inputs: Inputs, clock: Clock | None = None) -> exp.Expr:
    """The text of the user's SELECT, with its tables at their pinned versions and its views expanded, at the time of `clock`, if
    there is one. Used for views without a plan.

    Everything except the tables stays as the user wrote it, because the parser may not understand a query without a plan.
    """
    return verbatim(_pinned_text(dialect, sql, inputs, clock))


def _pinned_text(dialect: Dialect, sql: str, inputs: Inputs, clock: Clock | None) -> str:
    sql = sql if clock is None else replace_clock(sql, clock.timestamp)
    if inputs.unread is not None:
        return sql

    def replacement(name: str, table: exp.Table) -> str | None:
        alias = None if table.alias else exp.TableAlias(this=quoted(table.name))
        if name in inputs.views:
            view = inputs.views[name]
            query = with_columns(view, verbatim(_pinned_text(dialect, view.text, inputs, clock)))
            return dialect.sql(exp.Subquery(this=query, alias=alias))
        if name in inputs.tables and not table.args.get("version"):
            return dialect.sql(_pinned(dialect, inputs.tables[name], alias), pretty=False)
        return None

    def is_derived(name: str, table: exp.Table) -> bool:
        return not table.alias and (name in inputs.views or (name in inputs.tables and inputs.tables[name].visible is not None))

    return replace_tables(sql, replacement, is_derived)


def _pinned(dialect: Dialect, found: Input, alias: exp.TableAlias | None) -> exp.Expr:
    """`t VERSION AS OF n`. Columns hidden by an upstream view stay hidden."""
    table = dialect.table(found.table, found.version)
    if found.visible is None:
        return table if alias is None or found.table == found.name else exp.alias_(table, alias.this, table=True)
    shown = [exp.Column(this=quoted(name)) for name in found.visible]
    return exp.Subquery(this=exp.Select(expressions=shown).from_(table), alias=alias)
