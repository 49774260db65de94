"""Relations compared as bags of rows, by a hash: the order of rows does not matter, the number of copies does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.engine import Session

SEEDS = (1, 2)


def fingerprints(session: Session, bags: Mapping[str, str], columns: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """For each of `bags` (a name → an item of FROM): the number of rows, and two sums of 64-bit hashes of rows."""
    # xxhash64 skips NULLs, so that (1, NULL) and (NULL, 1) are equal without the second item
    cells = ", ".join(f"`{name}`, `{name}` is null" for name in columns)
    sums = ", ".join(f"sum(cast(xxhash64({seed}, {cells}) as decimal(20, 0)))" for seed in SEEDS)
    found = session.rows(" union all ".join(f"select '{name}', count(*), {sums} from {rows}" for name, rows in bags.items()))
    return {name: tuple(figures) for name, *figures in found}
