"""Pass 4, semantic optimisation: one rewrite of the Δ-script per module, in the order of `OPTIMIZATIONS`.

A rewrite takes a node of one class whose children are rewritten already. It returns another node with the same rows, or the node
itself. For keys to recompute by, any superset of the touched keys is allowed. An optimisation takes all i-diffs of the view.
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
    """A rewrite of the nodes of one class and its subclasses."""

    on: type[Relation]
    apply: Callable[[Any], Relation]

    @property
    def name(self) -> str:
        return self.apply.__name__

    def __call__(self, relation: Relation) -> Relation:
        """The relation with all its nodes rewritten, children first."""
        return rewrite(relation, lambda node: self.apply(node) if isinstance(node, self.on) else node)

    def over(self, idiffs: tuple[IDiff, ...]) -> tuple[IDiff, ...]:
        """The i-diffs with their relations rewritten."""
        return tuple(diff.over(self(diff.relation)) for diff in idiffs)


# The order matters: first avoid the look-up, then look up without the table, then use the i-diff itself; at last merge the
# distincts.
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
    """The i-diffs of the optimised Δ-script: the same meaning, with fewer reads and fewer i-diffs."""
    *_, (_, found) = (("naive", idiffs), *optimizations(idiffs))
    return found


def optimizations(idiffs: tuple[IDiff, ...]) -> tuple[tuple[str, tuple[IDiff, ...]], ...]:
    """(name, i-diffs after it) for each optimisation. Raises AssertionError if one changes what the i-diffs say."""
    steps = []
    for name, optimization in OPTIMIZATIONS:
        before, idiffs = idiffs, optimization(idiffs)
        check_same(name, before, idiffs)
        steps.append((name, idiffs))
    for diff in idiffs:
        check_naive(diff.relation)
    return tuple(steps)


def optimize_rows(relation: Relation) -> Relation:
    """The same rows with fewer reads. For keys to recompute by, the result may be a superset of the touched keys."""
    for each in REWRITES:
        relation = each(relation)
    check_naive(relation)
    return relation
