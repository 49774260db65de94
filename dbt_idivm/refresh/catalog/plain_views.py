"""Plain views: their text, and the columns that they were created with.

Spark selects these columns from the text by the names, and casts them to the types, that they had when the view was created. So a
`*` in the text does not include columns that a table got later, and the order of the table's columns does not matter.
"""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from dbt_idivm.context import PlainView
from dbt_idivm.digests import digest
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.frontend.replace_tables import replace_tables
from dbt_idivm.frontend.tables import depends_on_order, tables_in
from dbt_idivm.frontend.text import Text
from dbt_idivm.frontend.user_functions import calls
from dbt_idivm.refresh.catalog.relations import MISSING, Described
from dbt_idivm.refresh.engine.client import Client, Columns, listed_columns
from dbt_idivm.refresh.engine.engine import Engine
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.relation_name import name_parts


def view_digest(text: str, facts: Described) -> str:
    """Hash that identifies a view: the same text under other settings or with other columns is another view."""
    if facts.selected is None:
        return digest(text, facts.settings)
    return digest(text, facts.settings, facts.selected, [each.name for each in facts.columns])


def known_view(engine: Engine, name: str, facts: Described) -> str | None:
    """Hash that identifies the view now; None if its text cannot be read."""
    text = text_of_view(engine, name, facts)
    return None if isinstance(text, Finding) else view_digest(text, facts)


def text_of_view(engine: Engine, name: str, facts: Described) -> str | Finding:
    """The view's text with incomplete names qualified as the engine resolves them: where the view was created."""
    found = qualified(engine, facts.text or "", facts.namespace)
    return finding(307, source=name, message=found.title) if isinstance(found, Finding) else found


def qualified(engine: Engine, text: str, namespace: tuple[str, ...]) -> str | Finding:
    """A query with its incomplete names qualified by a namespace."""

    def replacement(name: str, table: exp.Table) -> str | None:
        missing = engine.depth - len(table.parts)
        if missing <= 0 or not namespace:
            return None
        parts = [quoted(part) for part in (*namespace[:missing], *(part.name for part in table.parts))]
        return engine.dialect.sql(exp.Table(**dict(zip(("this", "db", "catalog"), reversed(parts), strict=False))))

    try:
        sql = replace_tables(text, replacement)
        tables_in(sql)
    except IdivmError as error:
        return error.findings[0]
    return sql


# Wrong without it: after a column is moved or inserted before others, a column of the view would take its values from another
# one.
def plain_view(client: Client, name: str, facts: Described) -> Steps[PlainView | Finding]:
    """The view to be expanded in place; a finding if only Spark itself can evaluate it correctly.

    Raises EngineFailure if a selected column no longer exists, so that nobody can read the view.
    """
    text = text_of_view(client.engine, name, facts)
    if isinstance(text, Finding):
        return text
    if (function := _own_function(client.engine, text)) is not None:
        return finding(307, source=name, message=f"what {function} is in it depends on where it was created")
    view = PlainView(text)
    try:
        gives = yield from client.columns(text, f"the text of {name}")
    except EngineFailure as failure:
        if failure.is_any(MISSING):  # which relation is missing is found when it is looked up
            return view
        raise
    own = tuple((each.name, each.type) for each in facts.columns)
    if facts.selected is not None:
        names = tuple(column for column, _ in own)
        if facts.selected != names or depends_on_order(text):
            view = PlainView(text, tuple(zip(names, facts.selected, strict=True)))
        gives = _selected(names, facts.selected, gives)
    if gives == own:
        return view
    # the catalog names some types differently, and its types are outdated for a view whose columns follow its text
    shows = yield from client.columns(f"SELECT * FROM {client.dialect.relation_sql(name)}", name)
    if gives == shows:
        return view
    message = f"it shows {listed_columns(shows)}, and its text gives {listed_columns(gives)} by now: it has to be created again"
    return finding(307, source=name, message=message)


# Wrong without it: whether the model is maintained or rebuilt, the name would resolve to a function in the session's schema.
def _own_function(engine: Engine, text: str) -> str | None:
    """A user's function that the view calls by an incomplete name, which means the function in the schema where the view was
    created."""
    tree = Text(text).parse()
    found = () if isinstance(tree, Finding) else calls(tree)
    return next((name for name, _ in found if len(name_parts(name)) < engine.depth), None)


def with_columns(view: PlainView, query: exp.Expr) -> exp.Expr:
    """Turn a query for the rows of the view's text into one for the rows of the view."""
    if view.columns is None:
        return query
    names, selected = zip(*view.columns, strict=True)
    if len({name.lower() for name in selected}) < len(selected):  # duplicate names: columns are assigned by position
        alias = exp.TableAlias(this=quoted("text"), columns=[quoted(name) for name in names])
        return exp.select("*").from_(exp.Subquery(this=query, alias=alias))
    columns = [exp.alias_(exp.Column(this=quoted(old)), quoted(name)) for name, old in view.columns]
    return exp.select(*columns).from_(exp.Subquery(this=query, alias=exp.TableAlias(this=quoted("text"))))


def _selected(names: tuple[str, ...], selected: tuple[str, ...], gives: Columns) -> Columns:
    """The columns (name, type) that a view selects from those of its text, under its own names; fewer than its own if some are
    missing."""
    wanted = [name.lower() for name in selected]
    if wanted == [name.lower() for name, _ in gives]:
        return tuple((name, kind) for name, (_, kind) in zip(names, gives, strict=True))
    count = Counter(name.lower() for name, _ in gives)
    kinds = {name.lower(): kind for name, kind in gives if count[name.lower()] == 1}
    return tuple((name, kinds[old]) for name, old in zip(names, wanted, strict=True) if old in kinds)


def quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
