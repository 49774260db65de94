"""dbt's `persist_docs` without needless commits: only comments that differ from the catalog's are set.

Setting a comment is a commit to a Delta table, and a refresh that finds nothing to do must not commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dbt_idivm.refresh.apply import statements
from dbt_idivm.refresh.catalog.relations import DEFINITION, LOG, described
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.protocol import Rows


@dataclass(frozen=True)
class Descriptions:
    """The user's descriptions of the relation and of columns by name; None where comments are not to be persisted.

    `quoted`: names that are case-sensitive.
    """

    relation: str | None
    columns: Mapping[str, str] | None
    quoted: frozenset[str] = frozenset()

    def of_columns(self, names: Iterable[str]) -> tuple[dict[str, str], tuple[str, ...]]:
        """Column → text for the described columns of a relation, and the described names that are no column of it."""
        exact = {name: name for name in names}
        lower = {name.lower(): name for name in exact}
        meant = {name: exact.get(name) if name in self.quoted else lower.get(name.lower()) for name in self.columns or ()}
        texts = {column: text for name, text in (self.columns or {}).items() if text and (column := meant[name]) is not None}
        return texts, tuple(name for name, column in meant.items() if column is None)


def persist(client: Client, relation: str, wanted: Descriptions) -> Steps[tuple[str, ...]]:
    """Update the comments of a table, or of a view over it, to the descriptions.

    An empty description keeps the existing comment. Returns the described columns that the relation does not have.
    """
    rows = yield from client.ask(client.commands.describe(relation))
    facts, columns, comment = described(rows, client.engine), _column_comments(rows), _comment(rows)
    texts, missing = wanted.of_columns(columns)
    differ = {name: text for name, text in texts.items() if text != columns[name]}
    if differ and facts.kind == "view" and (facts.maintained is not None or LOG in facts.properties):
        # columns of a view can only be given comments when the view is created
        comments = {name: differ.get(name, known) for name, known in columns.items()}
        dialect, names, kept = client.dialect, tuple(columns), facts.properties
        yield from client.ask(
            statements.create_query_view(dialect, relation, str(kept[DEFINITION]), kept, names, comments)
            if LOG in kept
            else statements.create_view(dialect, relation, dialect.table(str(facts.maintained), None), names, kept, comments)
        )
        yield from _comment_on(client, relation, "view", wanted.relation or comment, "")
        return missing
    if facts.kind == "table":
        for name, text in differ.items():
            yield from client.ask(client.commands.comment_column(relation, name, text))
    yield from _comment_on(client, relation, facts.kind, wanted.relation, comment)
    return missing


def _comment_on(client: Client, relation: str, kind: str, wanted: str | None, known: str) -> Steps[None]:
    if wanted and wanted != known:
        yield from client.ask(client.commands.comment_relation(kind, relation, wanted))


def _column_comments(rows: Rows) -> dict[str, str]:
    """Column → comment. Columns come first in a DESCRIBE, up to a row without a type."""
    found: dict[str, str] = {}
    for name, kind, comment in rows.rows:
        if not kind:
            break
        found[name] = comment or ""
    return found


def _comment(rows: Rows) -> str:
    return next((value or "" for name, value, _ in rows.rows[len(_column_comments(rows)) :] if name == "Comment"), "")
