"""Pass 4, semantic optimisation: one rewrite of the Δ-script per module.

A rewrite takes a node of a relation whose inputs are rewritten already; an optimisation takes all i-diffs of the view.
"""

from __future__ import annotations

from collections.abc import Callable

from dbt_idivm.algebra.relation import Relation, rewrite
from dbt_idivm.idiff.idiff import IDiff
from dbt_idivm.optimize.merge_distincts import merge_distincts
from dbt_idivm.optimize.merge_recomputes import merge_recomputes
from dbt_idivm.optimize.use_diff_rows import use_diff_rows
from dbt_idivm.optimize.use_net_diff import use_net_diff
from dbt_idivm.optimize.use_payload import use_payload

Rewrite = Callable[[Relation], Relation]
Optimization = Callable[[tuple[IDiff, ...]], tuple[IDiff, ...]]

# In this order: no look-up, a look-up without the table, the i-diff itself; what is left is made distinct once.
REWRITES: tuple[Rewrite, ...] = (use_payload, use_net_diff, use_diff_rows, merge_distincts)
OPTIMIZATIONS: tuple[Optimization, ...] = (merge_recomputes,)


def optimize(idiffs: tuple[IDiff, ...]) -> tuple[IDiff, ...]:
    """The optimised Δ-script's i-diffs: the same meaning, fewer reads and fewer i-diffs."""
    for optimization in OPTIMIZATIONS:
        idiffs = optimization(idiffs)
    return tuple(diff.over(optimize_rows(diff.relation)) for diff in idiffs)


def optimize_rows(relation: Relation) -> Relation:
    """The same rows with fewer reads; of keys to recompute by, a superset of what was touched."""
    for rule in REWRITES:
        relation = rewrite(relation, rule)
    return relation
