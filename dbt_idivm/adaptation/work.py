"""The work of taking stored rows over, for the estimate of what it takes against a rebuild."""

from __future__ import annotations

from dbt_idivm.adaptation.adapt import Adaptation
from dbt_idivm.cost.measure import Measure
from dbt_idivm.cost.work import Situation

MIGRATION = "migration"  # beside the names of ways and the rebuild


def adaptation(found: Adaptation, now: Situation) -> Measure:
    """Evaluating and writing the rows that are written, and finding the stored rows that leave. `now` has the size of the stored
    table among those of tables, and as its view."""
    view, rows = now.stored, found.more if found.in_place else found.rows
    leaves = found.in_place and found.kept is not None
    leaving = Measure(nodes=1, tuples=view.rows, bytes_read=view.bytes) if leaves else Measure()
    if rows is None:
        return leaving + Measure(overwrites=1)
    written, work = now.evaluated(rows)
    return leaving + work + Measure(overwrites=1, nodes=1, tuples=written.rows, bytes_written=written.rows * now.view_width)
