"""The source tables as the project declares them, and the statements that fill and change them.

Rows travel as JSON inside the statement, which any connection takes, and which Spark parses faster than VALUES.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from dbt_idivm.schema_file import catalog_of

Row = Mapping[str, Any]
Key = tuple[Any, ...]

# Keys that no test declares: those of several columns, which models declare in their config, and one that nobody declares.
UNTESTED = {
    "exchange_rates": ("currency_code", "rate_date"),
    "order_items": ("order_id", "line_number"),
    "support_tickets": ("ticket_id",),
}
ROWS_OF_A_STATEMENT = 2000


@dataclass(frozen=True)
class Table:
    """A source: its columns with their types, and its key; () where there is none."""

    name: str
    columns: Mapping[str, str]
    key: tuple[str, ...]

    def key_of(self, row: Row) -> Key:
        return tuple(row[name] for name in self.key)


@dataclass(frozen=True)
class Change:
    """What happens to one table in one batch. `updated` are whole rows, `deleted` are keys."""

    table: Table
    inserted: Sequence[Row] = ()
    updated: Sequence[Row] = ()
    deleted: Sequence[Key] = ()


def declared(project: Path) -> dict[str, Table]:
    """The sources of the project's properties file."""
    document = yaml.safe_load((project / "models" / "staging" / "_sources.yml").read_text(encoding="utf-8"))
    found = {each.name.rpartition(".")[2]: each for each in catalog_of(document).tables.values()}
    return {
        name: Table(name, {column.name: column.type for column in each.columns}, UNTESTED.get(name) or each.key or ())
        for name, each in found.items()
    }


def creation(schema: str, table: Table) -> str:
    columns = ", ".join(f"{name} {kind}" for name, kind in table.columns.items())
    return (
        f"create or replace table {schema}.{table.name} ({columns}) using delta "
        "tblproperties ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true')"
    )


def insertion(schema: str, table: Table, rows: Sequence[Row]) -> Iterator[str]:
    for start in range(0, len(rows), ROWS_OF_A_STATEMENT):
        yield f"insert into {schema}.{table.name} {_select(table, rows[start : start + ROWS_OF_A_STATEMENT])}"


def statements(schema: str, changes: Iterable[Change]) -> Iterator[str]:
    """Rows that are new and rows that change in one MERGE, as a nightly load writes them; deletions first."""
    for change in changes:
        table, target = change.table, f"{schema}.{change.table.name}"
        on = " and ".join(f"t.{name} = s.{name}" for name in table.key)
        if change.deleted and len(table.key) == 1:
            yield f"delete from {target} where {table.key[0]} in ({', '.join(_text(key[0]) for key in change.deleted)})"
        elif change.deleted:
            rows = [dict(zip(table.key, key, strict=True)) for key in change.deleted]
            yield f"merge into {target} t using ({_select(table, rows)}) s on {on} when matched then delete"
        if change.updated:
            insert = " when not matched then insert *" if change.inserted else ""
            rows = [*change.updated, *change.inserted]
            yield f"merge into {target} t using ({_select(table, rows)}) s on {on} when matched then update set *{insert}"
        elif change.inserted:
            yield from insertion(schema, table, change.inserted)


def _select(table: Table, rows: Sequence[Row]) -> str:
    kinds = ", ".join(f"{name}: {kind}" for name, kind in table.columns.items() if name in rows[0])
    found = json.dumps(list(rows), default=_plain, ensure_ascii=False)
    return f"select inline(from_json({_text(found)}, 'array<struct<{kinds}>>', map('mode', 'FAILFAST')))"


def _plain(value: Any) -> str:
    """Dates, times and decimals as texts, which Spark reads as what the column is."""
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _text(value: Any) -> str:
    """A value as a literal."""
    if isinstance(value, int):
        return str(value)
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"
