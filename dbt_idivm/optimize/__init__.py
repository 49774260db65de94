"""Pass 4, semantic optimisation: one rewrite of the Δ-script per module, each from i-diffs to i-diffs."""

from __future__ import annotations

from collections.abc import Callable

from dbt_idivm.idiff.idiff import IDiff
from dbt_idivm.optimize.merge_recomputes import merge_recomputes
from dbt_idivm.optimize.use_payload import use_payload

Optimization = Callable[[tuple[IDiff, ...]], tuple[IDiff, ...]]

# In this order: fewer reads first, then fewer i-diffs.
OPTIMIZATIONS: tuple[Optimization, ...] = (use_payload, merge_recomputes)


def optimize(idiffs: tuple[IDiff, ...]) -> tuple[IDiff, ...]:
    """The optimised Δ-script's i-diffs: the same meaning, fewer reads and fewer i-diffs."""
    for optimization in OPTIMIZATIONS:
        idiffs = optimization(idiffs)
    return idiffs
