"""The work of a migration, for comparing its estimate with the estimate of a rebuild."""

from __future__ import annotations

from dbt_idivm.adaptation.adapt import Adaptation
from dbt_idivm.cost.measure import Measure
from dbt_idivm.cost.work import Situation

MIGRATION = "migration"  # a name like those of ways and the rebuild


def adaptation(found: Adaptation, now: Situation) -> Measure:
    """The work of evaluating and writing the rows to be written, and of finding the stored rows that leave. `now` contains the
    size of the stored table both among the tables and as its view."""
    view, rows = now.stored, found.more if found.in_place else found.rows
    leaves = found.in_place and found.kept is not None
    leaving = Measure(nodes=1, tuples=view.rows, bytes_read=view.bytes) if leaves else Measure()
    if rows is None:
        return leaving + Measure(overwrites=1)
    written, work = now.evaluated(rows)
    return leaving + work + Measure(overwrites=1, nodes=1, tuples=written.rows, bytes_written=written.rows * now.view_width)
