"""Size limits for a SELECT to be planned. A larger one is rebuilt; this is decided before it is parsed or lowered completely."""

from __future__ import annotations

from dbt_idivm.errors import Finding, finding

MOST_CHARACTERS = 1_000_000
MOST_COLUMNS = 2_000
# If each of n CTEs uses the previous one twice, they expand to 2^n tables, for Spark as well.
MOST_TABLES = 1_000


def too_large(what: str) -> Finding:
    """IDIVM-238. `what`: the quantity that exceeds a limit, such as "2,001 columns"."""
    return finding(238, what=what, characters=f"{MOST_CHARACTERS:,}", columns=f"{MOST_COLUMNS:,}", tables=f"{MOST_TABLES:,}")


def too_long(sql: str) -> Finding | None:
    """The finding if a text is too long to be parsed; else None."""
    return too_large(f"{len(sql):,} characters") if len(sql) > MOST_CHARACTERS else None


def too_wide(columns: int) -> Finding | None:
    """The finding if a SELECT with this number of columns is too wide to be planned; else None."""
    return too_large(f"{columns:,} columns") if columns > MOST_COLUMNS else None
