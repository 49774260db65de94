"""dbt's `persist_docs` without needless commits: only the comments that differ from the catalog's are set.

Comments are commits on a Delta table, and a refresh that finds nothing to do must leave none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbt_idivm.refresh import commands, writing
from dbt_idivm.refresh.protocol import Rows
from dbt_idivm.refresh.relations import described
from dbt_idivm.refresh.steps import Engine, Steps
from dbt_idivm.script.dialect import DELTA


@dataclass(frozen=True)
class Descriptions:
    """What the user wrote: about the relation, and about columns by their names; None where it is not to be kept."""

    relation: str | None
    columns: Mapping[str, str] | None


def persist(engine: Engine, relation: str, wanted: Descriptions) -> Steps[None]:
    """Bring the comments of a table, or of a view over the table behind it, up to the descriptions.

    An empty description leaves the comment that is there.
    """
    rows = yield from engine.ask(commands.describe(relation))
    facts, columns, comment = described(rows), _column_comments(rows), _comment(rows)
    texts = {name.lower(): text for name, text in (wanted.columns or {}).items() if text}
    differ = {name: texts[name.lower()] for name, known in columns.items() if texts.get(name.lower(), known) != known}
    if differ and facts.maintained is not None and facts.kind == "view":
        # a view's columns get comments when it is created, and by no other statement
        comments = {name: differ.get(name, known) for name, known in columns.items()}
        table = DELTA.table(facts.maintained, None)
        yield from engine.ask(writing.create_view(relation, table, tuple(columns), facts.properties, comments))
        yield from _comment_on(engine, relation, "view", wanted.relation or comment, "")
        return
    if facts.kind == "table":
        for name, text in differ.items():
            yield from engine.ask(commands.comment_column(relation, name, text))
    yield from _comment_on(engine, relation, facts.kind, wanted.relation, comment)


def _comment_on(engine: Engine, relation: str, kind: str, wanted: str | None, known: str) -> Steps[None]:
    if wanted and wanted != known:
        yield from engine.ask(commands.comment_relation(kind, relation, wanted))


def _column_comments(rows: Rows) -> dict[str, str]:
    """Column → comment. Columns come first, up to a line without a type."""
    found: dict[str, str] = {}
    for name, kind, comment in rows.rows:
        if not kind:
            break
        found[name] = comment or ""
    return found


def _comment(rows: Rows) -> str:
    return next((value or "" for name, value, _ in rows.rows[len(_column_comments(rows)):] if name == "Comment"), "")
