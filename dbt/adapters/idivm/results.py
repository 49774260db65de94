"""The result of a statement, from the cursor of any kind of connection."""

from __future__ import annotations

from typing import Any


def columns_and_rows(cursor: Any, limit: int | None = None) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """(column names, rows), both empty for a statement without a result. `limit`: the maximal
    number of rows, if the cursor supports it.
    """
    names = tuple(column[0] for column in cursor.description or ())
    if not names:
        return (), []
    try:
        rows = cursor.fetchall() if limit is None or not hasattr(cursor, "fetchmany") else cursor.fetchmany(limit)
        return names, [tuple(row) for row in rows or ()]
    except TypeError:
        if not is_without_result(cursor):
            raise
        return (), []


def is_without_result(cursor: Any) -> bool:
    """Whether a TypeError of PyHive means that the statement has no result.

    In this case the Thrift Server of Spark 3.5 describes a column that it does not send.
    """
    return [column[0] for column in cursor.description or ()] == ["Result"]
