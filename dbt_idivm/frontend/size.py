"""How large a SELECT may be that is planned. What is larger is rebuilt, before it is parsed or lowered as a whole."""

from __future__ import annotations

from dbt_idivm.errors import Finding, finding

MOST_CHARACTERS = 1_000_000
MOST_COLUMNS = 2_000
# A CTE that is used twice by one that is used twice .. is 2^n tables for n of them, for Spark as well.
MOST_TABLES = 1_000


def too_large(what: str) -> Finding:
    """IDIVM-238; `what` the SELECT has too much of."""
    return finding(238, what=what, characters=f"{MOST_CHARACTERS:,}", columns=f"{MOST_COLUMNS:,}", tables=f"{MOST_TABLES:,}")


def too_long(sql: str) -> Finding | None:
    """Why a text is not parsed; None if it is."""
    return too_large(f"{len(sql):,} characters") if len(sql) > MOST_CHARACTERS else None


def too_wide(columns: int) -> Finding | None:
    """Why a SELECT of so many columns is not planned; None if it is."""
    return too_large(f"{columns:,} columns") if columns > MOST_COLUMNS else None
