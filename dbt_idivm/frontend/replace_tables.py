"""A user's SQL with its tables replaced and every other character unchanged.

Reading and printing SQL is only as faithful as the parser: in text that is only run, and not planned, the names of the tables are
replaced in place.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt_idivm.errors import Finding, IdivmError
from dbt_idivm.frontend.tables import relations
from dbt_idivm.frontend.text import Text


def replace_tables(sql: str, replacement: Callable[[str, exp.Table], str | None]) -> str:
    """`sql` with each reference to a relation of the catalog replaced by what `replacement` returns; None leaves it unchanged.

    `replacement` takes the relation's name and its node. Raises IdivmError if `sql` does not parse.
    """
    tree = Text(sql).parse()
    if isinstance(tree, Finding):
        raise IdivmError(tree)
    spans = []
    for name, table in relations(tree):
        text = replacement(name, table)
        if text is not None:
            places = [part.meta for part in table.parts]
            spans.append((min(place["start"] for place in places), max(place["end"] for place in places) + 1, text))
    for start, end, text in sorted(spans, reverse=True):
        sql = sql[:start] + text + sql[end:]
    return sql
