"""What a cursor has after a statement, whichever connection it is of."""

from __future__ import annotations

from typing import Any


def columns_and_rows(cursor: Any, limit: int | None = None) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Column names and rows, none of either for a statement without a result. `limit`: so many rows, where cursors can stop."""
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
    """Whether a TypeError of PyHive means that the statement has no result: the Thrift Server of Spark 3.5 describes a column
    then that it does not send."""
    return [column[0] for column in cursor.description or ()] == ["Result"]
