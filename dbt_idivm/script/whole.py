"""Recomputing the whole view: its query is evaluated on the new state, and the rows that differ from the stored ones are applied.

It costs as much as a rebuild plus a MERGE, whatever changed: an upper bound for views whose other Δ-scripts are larger than their
queries. Rows that do not differ are not written, so the view's change feed contains exactly what changed. In terms of i-diffs it
is a single REC without IDs, which names every row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbt_idivm.algebra.lookups import Named
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.idiff import REC, IDiff
from dbt_idivm.operators.one_row import OneRow
from dbt_idivm.operators.scan import DiffRows
from dbt_idivm.passes.base_idiffs import base_idiffs
from dbt_idivm.script.diff import NetDiff
from dbt_idivm.script.effective import Effective
from dbt_idivm.script.leaves import diff_leaves
from dbt_idivm.script.ways import IsEmpty, Way


@dataclass(frozen=True)
class Whole(Way):
    """The recomputation of the view `root`."""

    root: Operator

    @cached_property
    def _changes(self) -> tuple[IDiff, ...]:
        return tuple(diff for diffs in base_idiffs(self.root, recompute_only=True).values() for diff in diffs)

    @property
    def base_idiffs(self) -> tuple[DiffRows, ...]:
        return diff_leaves(*(diff.relation for diff in self._changes))

    def holds(self, diffs: Mapping[str, NetDiff]) -> bool:
        """Always: it does not use the net diffs."""
        return True

    def application(self, is_empty: IsEmpty, *, optimised: bool = True) -> Effective | None:
        changed = [diff for diff in self._changes if not all(map(is_empty, diff_leaves(diff.relation)))]
        if not changed:
            return None
        origins = frozenset(origin for diff in changed for origin in diff.origins)
        every = IDiff(REC, (), (), (), Named("v_rec__all", OneRow()), origins)
        return Effective(self.name, (every,), evaluated=(self.root,))
