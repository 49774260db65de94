"""Maintenance by i-diffs (idIVM §4): base i-diffs propagated to the view, applied directly or by their exact effect.

`id` propagates each class of a net diff as an i-diff of its kind; `recompute` propagates every update of a row as REC of its key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.cached import cached_property
from dbt_idivm.deep import deep_recursion
from dbt_idivm.idiff.idiff import IDiff
from dbt_idivm.operators.scan import DiffRows
from dbt_idivm.optimize import optimizations
from dbt_idivm.passes.base_idiffs import base_idiffs
from dbt_idivm.passes.propagate import Firing, Propagation, propagate
from dbt_idivm.script.append import Append, is_append
from dbt_idivm.script.diff import NetDiff
from dbt_idivm.script.direct import Direct, is_direct
from dbt_idivm.script.effective import effective
from dbt_idivm.script.leaves import diff_leaves
from dbt_idivm.script.prune_empty import non_empty
from dbt_idivm.script.ways import Application, IsEmpty, Way, WayName


@dataclass(frozen=True)
class ByIDiffs(Way):
    """The i-diffs of the view `root`, naive and optimised, and the rules that fired. They are computed on demand."""

    root: Operator
    base: Mapping[str, tuple[IDiff, ...]]  # occurrence → its base i-diffs

    @cached_property
    def _propagated(self) -> Propagation:
        with deep_recursion():
            return propagate(self.root, self.base)

    @property
    def naive(self) -> tuple[IDiff, ...]:
        """The i-diffs that the rules give, before optimisation."""
        return self._propagated.idiffs

    @property
    def firings(self) -> tuple[Firing, ...]:
        """The rules that fired, in order."""
        return self._propagated.firings

    @cached_property
    def optimizations(self) -> tuple[tuple[str, tuple[IDiff, ...]], ...]:
        """(name of an optimisation, i-diffs after it), in order."""
        with deep_recursion():
            return optimizations(self.naive)

    @property
    def idiffs(self) -> tuple[IDiff, ...]:
        """The optimised i-diffs."""
        return self.optimizations[-1][1] if self.optimizations else self.naive

    @property
    def base_idiffs(self) -> tuple[DiffRows, ...]:
        return diff_leaves(*(diff.relation for diffs in self.base.values() for diff in diffs))

    def holds(self, diffs: Mapping[str, NetDiff]) -> bool:
        """Always: i-diffs cover every change."""
        return True

    def application(self, is_empty: IsEmpty, *, optimised: bool = True) -> Application | None:
        idiffs = non_empty(self.idiffs if optimised else self.naive, is_empty)
        if not idiffs:
            return None
        if is_append(idiffs):
            return Append(self.name, idiffs)
        if is_direct(idiffs):
            return Direct(self.name, idiffs)
        return effective(self.name, self.root, idiffs, optimised=optimised)


def by_idiffs(name: WayName, root: Operator, base: Mapping[str, tuple[IDiff, ...]] | None = None) -> ByIDiffs:
    """The way that propagates and optimises i-diffs of `root`, an ID-extended view.
    `base` defaults to the base i-diffs of `root`.
    """
    return ByIDiffs(name, root, base_idiffs(root, name == "recompute") if base is None else base)
