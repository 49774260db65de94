"""Running values of rows that are appended to their partitions, computed from the last stored rows (ADR 0038).

If rows are only inserted, and each comes after the last stored row of its partition, no stored row changes. The new rows continue
the values of the last stored row and are inserted. A partition is *late* if a new row comes earlier. A query finds the late
partitions first; these are recomputed and the others continued, in one MERGE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.bags import Concat, Distinct
from dbt_idivm.algebra.core import SemiJoin, project
from dbt_idivm.algebra.lookups import Known, Named
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.cached import cached_property
from dbt_idivm.idiff.idiff import INS, REC, IDiff, Origin
from dbt_idivm.operators.scan import DiffRows, Scan, scans
from dbt_idivm.optimize import optimize_rows
from dbt_idivm.passes.running import Running
from dbt_idivm.script.append import Append
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.conditional import Conditional, Question
from dbt_idivm.script.dialect import is_inlinable
from dbt_idivm.script.diff import FeedDiff, NetDiff
from dbt_idivm.script.effective import Effective, effective
from dbt_idivm.script.extremes import only_comes
from dbt_idivm.script.leaves import diff_leaves
from dbt_idivm.script.merge import Merge
from dbt_idivm.script.prune_empty import prune_empty
from dbt_idivm.script.source_rows import SourceQuery, SourceRows, fetching, name_of
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.tail_rows import LAST, LATE, Continued, last_rows, late_partitions, new_of, with_late
from dbt_idivm.script.top_k_rows import NetRows
from dbt_idivm.script.ways import Application, IsEmpty, Way

LATE_PARTITIONS = "late_partitions"


@dataclass(frozen=True)
class Tail(Way):
    """Continues the running values of the view `root`."""

    root: Operator
    running: Running

    @cached_property
    def changes(self) -> Relation:
        """The changes of R as the view shows them, with the parts of the running values under their names."""
        return self.running.signed(tuple((each.call.name, each.part) for each in self.running.calls))

    @property
    def base_idiffs(self) -> tuple[DiffRows, ...]:
        return diff_leaves(self.changes)

    # Wrong without it: a row in the middle of a partition is deleted. No new row comes before the last stored one, so the values
    # of the rows after the deleted one would stay.
    def holds(self, diffs: Mapping[str, NetDiff]) -> bool:
        """Whether rows were only added to the tables. The input of ω is monotone."""
        return all(_only_came(scan, diffs.get(scan.table)) for scan in scans(self.running.window))

    def application(self, is_empty: IsEmpty, *, optimised: bool = True) -> Application | None:
        changes = prune_empty(self.changes, is_empty)
        if changes is None:
            return None
        partition = self.running.partition
        changed = Named("changed_rows", NetRows(changes, tuple(self.root.certain_types.items())))
        occurrences = {leaf.scan.occurrence for leaf in diff_leaves(changes)}
        touched = IDiff(
            REC, partition, (), (), Distinct(project(changes, partition)), frozenset(Origin(each, REC) for each in occurrences)
        )
        otherwise = effective(self.name, self.root, (touched,), optimised=optimised)
        kinds = tuple(self.root.types[name] for name in partition)
        if not only_comes(self.running.window.child, is_empty) or not all(is_inlinable(name_of(kind)) for kind in kinds):
            return otherwise
        continued = Named("continued_rows", Continued(changed, self.running))
        new = self.running.shown(new_of(continued))
        values = tuple(name for name in self.root.columns if name not in self.root.ids)
        insert = IDiff(INS, self.root.ids, values, (), new, frozenset(Origin(each, INS) for each in occurrences), fresh=True)
        late = Known(LATE_PARTITIONS, partition, kinds)
        again = project(self.root.restrict(partition, late), self.root.columns)
        # Wrong if rows of late partitions were only removed afterwards: 1 / sum(x) may fail for a sum that no row has.
        others = self.running.shown(SemiJoin(new_of(continued), partition, late, anti=True))
        evaluated = Concat((others, optimize_rows(again) if optimised else again))
        work = Continuing(self.running, changed, continued)
        recomputing = Recomputing(self.name, (touched.over(late),), work=work, late=None, evaluated=(evaluated,))
        appending = Appending(self.name, (insert,), work=work)
        asked = LatePartitions(appending, recomputing)
        return Conditional(self.name, (insert,), question=asked, shown=appending, otherwise=otherwise)


def _only_came(scan: Scan, diff: NetDiff | None) -> bool:
    """Whether the rows that an occurrence reads of its table were only added to."""
    if isinstance(diff, FeedDiff):
        return diff.has_none(scan, "minus")
    return diff is None or all(weight > 0 for _, weight in diff.projected(tuple(a.name for a in scan.base_columns)).rows)


@dataclass(frozen=True)
class Continuing:
    """The CTEs that statements for new rows share: the changed rows, LAST, and the rows that continue it.

    `last`: the rows of LAST, if they are known.
    """

    running: Running
    changed: Named
    continued: Named
    last: SourceRows | None = None

    def define(self, view: Stored, binder: StatementBinder, target: str) -> None:
        self.define_last(view, binder, target)
        binder.define(self.continued)

    def define_last(self, view: Stored, binder: StatementBinder, target: str) -> None:
        binder.define(self.changed)
        binder.definitions[LAST] = (
            last_rows(view, self.running, self.changed, binder, target)
            if self.last is None
            else self.last.query(binder.binding.dialect)
        )


@dataclass(frozen=True, kw_only=True)
class Appending(Append):
    """Inserts new rows that continue the last stored ones."""

    work: Continuing

    @property
    def reads_view(self) -> bool:
        """Whether the last row of each partition has to be read, because it is not known."""
        return self.work.last is None

    def statement(self, view: Stored, binder: StatementBinder, target: str) -> exp.Insert:
        self.work.define(view, binder, target)
        return super().statement(view, binder, target)


@dataclass(frozen=True)
class LatePartitions(Question):
    """Which partitions are late. `recomputing` is for them, and for others that get rows at the same time.

    If the new rows are inlined and values can be inlined, the answer contains the last stored row of each partition with a
    flag whether the partition is late. The view is then not read again. Otherwise the answer contains only the late
    partitions.
    """

    appending: Appending
    recomputing: Recomputing

    @property
    def text(self) -> str:
        return f"{LATE_PARTITIONS}: which partitions get a row that does not come after the last stored one"

    @property
    def perhaps(self) -> tuple[Relation, ...]:
        return self.recomputing.evaluated

    def query(self, view: Stored, binder: StatementBinder, target: str) -> SourceQuery:
        work = self.appending.work
        running = work.running
        work.define_last(view, binder, target)
        kinds = {**{name: name_of(view.root.types[name]) for name in running.kept}, **running.kinds}
        if _are_inlined(work.changed, binder) and all(map(is_inlinable, kinds.values())):
            query, names = with_late(running, work.changed, binder), running.kept
        else:
            query, names = late_partitions(running, work.changed, binder), running.partition
        return fetching(binder.attach(query), (*names, LATE), (*(kinds[name] for name in names), "boolean"))

    def applied(self, rows: SourceRows) -> Application:
        work = self.appending.work
        if rows.names != (*work.running.partition, LATE):
            work = replace(work, last=rows)
        late = replace(rows, rows=tuple(row for row in rows.rows if rows.cell(row, LATE)))
        return replace(self.recomputing, work=work, late=late) if late.rows else replace(self.appending, work=work)


def _are_inlined(changed: Named, binder: StatementBinder) -> bool:
    """Whether all changed rows are literals of the statement."""
    return all(binder.binding.changes.rows(leaf) is not None for leaf in diff_leaves(changed))


@dataclass(frozen=True, kw_only=True)
class Recomputing(Effective):
    """Recomputes late partitions; the new rows of the others continue the last stored ones."""

    work: Continuing
    late: SourceRows | None

    @property
    def view_mentions(self) -> int:
        return 1 + (self.work.last is None)

    def statement(self, view: Stored, binder: StatementBinder, target: str) -> Merge:
        assert self.late is not None
        self.work.define(view, binder, target)
        binder.definitions[LATE_PARTITIONS] = self.late.query(binder.binding.dialect)
        return super().statement(view, binder, target)
