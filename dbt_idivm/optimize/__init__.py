"""Pass 4, semantic optimisation: one rewrite of the Δ-script per module, in the order of `OPTIMIZATIONS`.

A rewrite takes a node of one class, whose children are rewritten already, and gives another with the same rows (of keys to
recompute by, a superset of what was touched), or the node itself. An optimisation takes all i-diffs of the view.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dbt_idivm.algebra.bags import Distinct
from dbt_idivm.algebra.core import SemiJoin
from dbt_idivm.algebra.lookups import Touched
from dbt_idivm.algebra.relation import Relation, rewrite
from dbt_idivm.idiff.idiff import IDiff
from dbt_idivm.optimize.check import check_naive, check_same
from dbt_idivm.optimize.look_up import look_up
from dbt_idivm.optimize.merge_distincts import merge_distincts
from dbt_idivm.optimize.merge_recomputes import merge_recomputes
from dbt_idivm.optimize.use_diff_rows import use_diff_rows
from dbt_idivm.optimize.use_net_diff import use_net_diff
from dbt_idivm.optimize.use_payload import use_payload


@dataclass(frozen=True)
class Rewrite:
    """A rewrite of the nodes of one class; a subclass is meant, too."""

    on: type[Relation]
    apply: Callable[[Any], Relation]

    @property
    def name(self) -> str:
        return self.apply.__name__

    def __call__(self, relation: Relation) -> Relation:
        """The relation with all its nodes rewritten, children first."""
        return rewrite(relation, lambda node: self.apply(node) if isinstance(node, self.on) else node)

    def over(self, idiffs: tuple[IDiff, ...]) -> tuple[IDiff, ...]:
        """The i-diffs with their rows rewritten."""
        return tuple(diff.over(self(diff.relation)) for diff in idiffs)


# In this order: no look-up, a look-up without the table, the i-diff itself; what is left is made distinct once.
REWRITES: tuple[Rewrite, ...] = (
    Rewrite(Touched, use_payload),
    Rewrite(Touched, look_up),
    Rewrite(SemiJoin, use_net_diff),
    Rewrite(SemiJoin, use_diff_rows),
    Rewrite(Distinct, merge_distincts),
)
Optimization = Callable[[tuple[IDiff, ...]], tuple[IDiff, ...]]
OPTIMIZATIONS: tuple[tuple[str, Optimization], ...] = (
    ("merge_recomputes", merge_recomputes),
    *((each.name, each.over) for each in REWRITES),
)


def optimize(idiffs: tuple[IDiff, ...]) -> tuple[IDiff, ...]:
    """The optimised Δ-script's i-diffs: the same meaning, fewer reads and fewer i-diffs."""
    *_, (_, found) = (("naive", idiffs), *optimizations(idiffs))
    return found


def optimizations(idiffs: tuple[IDiff, ...]) -> tuple[tuple[str, tuple[IDiff, ...]], ...]:
    """The i-diffs after each optimisation, by its name. Raises AssertionError where one changes what the i-diffs say."""
    steps = []
    for name, optimization in OPTIMIZATIONS:
        before, idiffs = idiffs, optimization(idiffs)
        check_same(name, before, idiffs)
        steps.append((name, idiffs))
    for diff in idiffs:
        check_naive(diff.relation)
    return tuple(steps)


def optimize_rows(relation: Relation) -> Relation:
    """The same rows with fewer reads; of keys to recompute by, a superset of what was touched."""
    for each in REWRITES:
        relation = each(relation)
    check_naive(relation)
    return relation
