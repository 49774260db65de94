"""Replacing the tables in a user's SQL, with every other character unchanged.

Parsing and printing SQL is only as faithful as the parser. So in SQL that is run but not planned, table names are replaced in the
text itself.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt_idivm.errors import Finding, IdivmError
from dbt_idivm.frontend.tables import relations
from dbt_idivm.frontend.text import Text


def replace_tables(
    sql: str,
    replacement: Callable[[str, exp.Table], str | None],
    is_derived: Callable[[str, exp.Table], bool] = lambda name, table: False,
) -> str:
    """`sql` with each reference to a relation of the catalog replaced by the result of `replacement`; None leaves it unchanged.

    `replacement` gets the relation's name and its node. `is_derived`: whether its result is a derived table that is called by
    the last part of the name; columns are then qualified by that part only. Raises IdivmError if `sql` does not parse.
    """
    tree = Text(sql).parse()
    if isinstance(tree, Finding):
        raise IdivmError(tree)
    spans, derived = [], []
    for name, table in relations(tree):
        text = replacement(name, table)
        if text is not None:
            places = [part.meta for part in table.parts]
            spans.append((min(place["start"] for place in places), max(place["end"] for place in places) + 1, text))
            derived += [table] if is_derived(name, table) else []
    for column in tree.find_all(exp.Column) if derived else ():
        *schema, relation = column.parts[:-1] or column.parts
        if schema and any(_means(column, table) for table in derived):
            spans.append((schema[0].meta["start"], relation.meta["start"], ""))
    for start, end, text in sorted(spans, reverse=True):
        sql = sql[:start] + text + sql[end:]
    return sql


def _means(column: exp.Column, table: exp.Table) -> bool:
    """Whether a column is qualified by the name of that table and is inside the query that reads it."""
    qualifier, name = ([part.name.lower() for part in parts] for parts in (column.parts[:-1], table.parts))
    query: exp.Expr | None = table.find_ancestor(exp.Select)
    around: exp.Expr | None = column if name[-len(qualifier) :] == qualifier else None
    while around is not None and around is not query:
        around = around.parent
    return around is not None
