"""Relations compared as bags of rows, by a hash: the order of rows does not matter, the number of copies does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.engine import Session

SEEDS = (1, 2)


def fingerprint(session: Session, rows: str, columns: Sequence[str]) -> tuple[Any, ...]:
    """The number of rows of `rows`, an item of FROM, and two sums of 64-bit hashes of its rows."""
    # xxhash64 skips NULLs, so that (1, NULL) and (NULL, 1) are equal without the second item
    cells = ", ".join(f"`{name}`, `{name}` is null" for name in columns)
    sums = ", ".join(f"sum(cast(xxhash64({seed}, {cells}) as decimal(20, 0)))" for seed in SEEDS)
    return session.rows(f"select count(*), {sums} from {rows}")[0]
