"""The first k rows of each partition, computed from the changes and the stored rows (ADR 0032).

For a partition, let S be the stored rows, and C the rows of S that were not deleted plus the new rows. If |S| < k, S was the
whole partition, and the view gets the first k rows of C. If |S| = k, all other rows of the partition come after the last row of
S. So if at least k rows of C come no later than that row, the view gets the first k of them; otherwise the partition is
recomputed.

It is an effective application (`effective.py`) whose only i-diff, REC(Pt), names the partitions of changed rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.bags import Concat, Distinct
from dbt_idivm.algebra.core import project
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.lookups import Named
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.idiff import REC, IDiff, Origin
from dbt_idivm.operators.scan import DiffClass, DiffRows, Scan, scans
from dbt_idivm.optimize import optimize_rows
from dbt_idivm.passes.first_rows import FirstRows
from dbt_idivm.script.diff import NetDiff
from dbt_idivm.script.effective import Effective
from dbt_idivm.script.leaves import diff_leaves
from dbt_idivm.script.prune_empty import prune_empty
from dbt_idivm.script.top_k_rows import PLACE, IfAny, LostPartitions, NetRows, Ranked, first_of, incomplete
from dbt_idivm.script.ways import IsEmpty, Way


@dataclass(frozen=True)
class TopK(Way):
    """Ranks the first rows of the view `root` again."""

    root: Operator
    first: FirstRows

    @cached_property
    def changes(self) -> Relation:
        """The changes of R as the view shows them, except for what is evaluated only for rows of the view."""
        return self.first.signed()

    @property
    def base_idiffs(self) -> tuple[DiffRows, ...]:
        return diff_leaves(self.changes)

    def holds(self, diffs: Mapping[str, NetDiff]) -> bool:
        """Always: partitions that the stored rows do not determine are recomputed."""
        return True

    def application(self, is_empty: IsEmpty, *, optimised: bool = True) -> Ranking | None:
        changes = prune_empty(self.changes, is_empty)
        if changes is None:
            return None
        removing = self._may_remove(is_empty)
        changed = Named("changed_rows", NetRows(changes, tuple(self.root.certain_types.items())))
        partition, count = self.first.partition, self.first.count
        ranked = Named("ranked_rows", Ranked(changed, self.root.ids, partition, self.first.call.order, count, removing))
        number = {self.first.call.name: exp.Cast(this=column(PLACE), to=self.first.call.kind.copy())}
        new = self.first.shown(first_of(ranked, count), number)
        origins = frozenset(Origin(scan.occurrence, REC) for scan in self._scans if _changed(scan, is_empty, "plus", "minus"))
        diff = IDiff(REC, partition, (), (), Named("v_rec__partitions", Distinct(project(changed, partition))), origins)
        if not removing:
            return Ranking(self.name, (diff,), evaluated=(new,), before=(changed,), after=(ranked,))
        lost = LostPartitions("lost_partitions", project(incomplete(ranked, count), partition), self._scans)
        rows = project(self.root.restrict(partition, lost), self.root.columns)
        again = IfAny(optimize_rows(rows) if optimised else rows, lost)
        return Ranking(self.name, (diff,), evaluated=(Concat((new, again)),), before=(changed,), after=(ranked, lost))

    @cached_property
    def _scans(self) -> tuple[Scan, ...]:
        return scans(self.first.window)

    # Wrong without the second part: ω over orders ▷ cancelled. An insert into `cancelled` removes the first row of a partition.
    def _may_remove(self, is_empty: IsEmpty) -> bool:
        """Whether rows of R may have been removed. They were not if R is monotone and
        rows were only added to the changed tables.
        """
        is_monotone = all(each.monotone for each in operators(self.first.window.child))
        return not is_monotone or any(_changed(scan, is_empty, "minus") for scan in self._scans)


@dataclass(frozen=True, kw_only=True)
class Ranking(Effective):
    """New and stored rows, ranked. `evaluated`: the new first rows, and the rows of partitions that are recomputed."""

    @property
    def view_mentions(self) -> int:
        """The stored rows are compared with the new rows and ranked with them; the ranks are
        computed twice if partitions may be lost.
        """
        return 1 + len(self.after)

    @property
    def recomputed(self) -> tuple[IDiff, ...]:
        """Empty: whether a partition is recomputed is not known before the statement runs."""
        return ()


def _changed(scan: Scan, is_empty: IsEmpty, *classes: DiffClass) -> bool:
    """Whether one of these classes of the table's net diff may have rows."""
    return not all(is_empty(DiffRows(scan, each, scan.columns)) for each in classes)
