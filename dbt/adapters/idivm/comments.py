"""persist_docs without needless commits: which comments differ from what the catalog already has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dbt.adapters.idivm.session import literal, quoted

Row = Sequence[Any]


def comment_statements(
    relation: Any, described: Iterable[Row], model: Mapping[str, Any], for_relation: bool, for_columns: bool
) -> Iterator[str]:
    """`described` is what DESCRIBE EXTENDED said: name, type or value, comment. Yields one statement per difference."""
    columns, table_comment = _described(described)
    wanted = model.get("description") or ""
    if for_relation and wanted and wanted != table_comment:
        yield f"alter {relation.type} {relation} set tblproperties ('comment' = {literal(wanted)})"
    if for_columns and relation.is_table:
        for name, column in model.get("columns", {}).items():
            text, known = column.get("description") or "", columns.get(name.lower())
            if known is not None and text and text != known:
                yield f"alter table {relation} alter column {quoted(name)} comment {literal(text)}"


def _described(rows: Iterable[Row]) -> tuple[dict[str, str], str]:
    """Comment of each column, and of the relation. Columns come first, up to an empty name or a heading."""
    columns: dict[str, str] = {}
    table_comment, in_columns = "", True
    for name, value, comment in rows:
        in_columns = in_columns and bool(value)  # a heading has no type
        if in_columns:
            columns[name.lower()] = comment or ""
        elif name == "Comment" and not table_comment:
            table_comment = value or ""
    return columns, table_comment
