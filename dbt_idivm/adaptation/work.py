"""The work of a migration, for comparing its estimate with the estimate of a rebuild."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_idivm.adaptation.adapt import Adaptation
from dbt_idivm.adaptation.moved import Moved
from dbt_idivm.cost.measure import Measure
from dbt_idivm.cost.sizes import Size
from dbt_idivm.cost.work import Situation, application_of, incremental
from dbt_idivm.operators.scan import CLOCK, DiffClass
from dbt_idivm.script.ways import WayName

MIGRATION = "migration"  # a name like those of ways and the rebuild


_UPDATED: Mapping[DiffClass, float] = {"upd": 1.0, "plus": 1.0, "minus": 1.0, "signed": 2.0}  # of the row of constants


def works(found: Adaptation | Moved, now: Situation) -> Mapping[WayName | None, Measure]:
    """The work of the migration, by each way that there is for it. `now` contains the size of the stored table both among the
    tables and as its view."""
    return {None: _adaptation(found, now)} if isinstance(found, Adaptation) else _moved(found, now)


def _moved(found: Moved, now: Situation) -> Mapping[WayName | None, Measure]:
    clocks = {scan.occurrence for scan in found.plan.scans if scan.is_clock}

    def changed(occurrence: str, diff_class: DiffClass, split: frozenset[str]) -> float:
        return _UPDATED.get(diff_class, 0.0) if occurrence in clocks else 0.0

    then = replace(now, plan=found.plan, tables={**now.tables, CLOCK: Size(1, 1)}, changed=changed, _known={})
    done = {way.name: application_of(way, then) for way in found.plan.ways}
    return {name: Measure() if each is None else incremental(each, then) for name, each in done.items()}


def _adaptation(found: Adaptation, now: Situation) -> Measure:
    """The work of evaluating and writing the rows to be written, and of finding the stored rows that leave."""
    view, rows = now.stored, found.more if found.in_place else found.rows
    leaves = found.in_place and found.kept is not None
    leaving = Measure(nodes=1, tuples=view.rows, bytes_read=view.bytes) if leaves else Measure()
    if rows is None:
        return leaving + Measure(overwrites=1)
    written, work = now.evaluated(rows)
    return leaving + work + Measure(overwrites=1, nodes=1, tuples=written.rows, bytes_written=written.rows * now.view_width)
