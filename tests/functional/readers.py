"""Who can read the tables of views: what `docs/readers.md` shows, and the test asserts. `python -m tests.functional.readers`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
from deltalake import DeltaTable, QueryBuilder

PAGE = Path(__file__).parents[2] / "docs" / "readers.md"
Found = tuple[tuple[str, ...], Counter[tuple[Any, ...]]]  # names of columns, rows


def arrow(table: Path) -> Found:
    columns = DeltaTable(table).to_pyarrow_table().to_pydict()
    return tuple(columns), Counter(zip(*columns.values(), strict=True))


def pandas(table: Path) -> Found:
    frame = DeltaTable(table).to_pandas()
    return tuple(frame.columns), Counter(frame.itertuples(index=False, name=None))


def duck(table: Path) -> Found:
    found = DeltaTable(table).to_pyarrow_dataset()
    relation = duckdb.connect().register("found", found).sql("select * from found")
    return tuple(relation.columns), Counter(relation.fetchall())


def datafusion(table: Path) -> Found:
    rows = QueryBuilder().register("found", DeltaTable(table)).execute("select * from found").read_all()
    return tuple(rows.column_names), Counter(zip(*(column.to_pylist() for column in rows.columns), strict=True))


READERS: dict[str, Callable[[Path], Found]] = {
    "`deltalake`: `to_pyarrow_table()`": arrow,
    "pandas by `deltalake`: `to_pandas()`": pandas,
    "DuckDB by `deltalake`: `to_pyarrow_dataset()`": duck,
    "`deltalake`: `QueryBuilder()`": datafusion,
}
_PLAIN = {"delta.enableDeletionVectors": "false"}
# A table, and the properties that the model asks for.
TABLES: dict[str, dict[str, str]] = {
    "as it is made, with deletion vectors": {},
    "`delta.enableDeletionVectors: 'false'`": _PLAIN,
    "the same, and `delta.columnMapping.mode: name`": {**_PLAIN, "delta.columnMapping.mode": "name"},
}
# What is read by whom: the rows, an error, or NULLs.
READS = {
    (table, reader): "reads"
    if reader.endswith("`QueryBuilder()`") or table.startswith("`")
    else "refuses"
    if table.startswith("as it is made")
    else "**reads NULLs**"
    for table in TABLES
    for reader in READERS
}

_PAGE = """# Who can read the tables of views

A view that needs no hidden column is a Delta table with the columns of the model. Where it needs some, the table is
`<model>__idivm`, and `<model>` is a view over it in the catalog, which only engines of this catalog can read: others read the
table, and leave out the columns whose names begin with `__idivm`. The tables have deletion vectors
([why](adr/0018-views-have-deletion-vectors.md)), which not every reader understands. The properties are given in the model's
config, `tblproperties: {{delta.enableDeletionVectors: 'false'}}`; for a table that exists they count from the next
`--full-refresh`.

Each field is a test: `tests/functional/test_readers.py`, with `deltalake` 1.6 and DuckDB 2.0. This page is made from it
(`python -m tests.functional.readers`). Spark reads all of them. DuckDB's own extension `delta` was not tried.

{table}

*Refuses* is an error that names `deletionVectors`. Those that *read NULLs* show each row with NULL in all columns, without an
error: do not map the columns of a table that they are to read.
"""


def page() -> str:
    lines = [f"| the table | {' | '.join(READERS)} |", "|---" * (len(READERS) + 1) + "|"]
    for table in TABLES:
        lines.append(f"| {table} | {' | '.join(READS[table, reader] for reader in READERS)} |")
    return _PAGE.format(table="\n".join(lines))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
