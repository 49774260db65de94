"""Which tables and views should be clustered by which columns, so that Delta skips files in a refresh.

A refresh with few changed rows has their keys as literal ranges (`script/key_ranges.py`). Delta reads a file if its own range of
the column overlaps with that from the smallest to the largest changed key, or in a large table with one of the intervals of these
keys. If the table is clustered by the column, a range covers a part of the files; if not, all of them. If n changed keys are
scattered, the range spans (n − 1)/(n + 1) of the column, without the largest gaps. If they are neighbours, such as the keys of
one day, it covers hardly more than the files that contain them. Both cases are reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log

from sqlglot import exp

from dbt_idivm.algebra.decimals import is_integral
from dbt_idivm.algebra.inference import equal_attributes
from dbt_idivm.algebra.operator import operators_of
from dbt_idivm.algebra.types import Type, type_of
from dbt_idivm.cost.measure import Measure
from dbt_idivm.cost.sizes import width
from dbt_idivm.cost.work import effect, fetched_of, is_of_one_kind, is_replaced, may_insert, merge, target_of
from dbt_idivm.operators import Join
from dbt_idivm.operators.scan import Scan
from dbt_idivm.project import Model, Project
from dbt_idivm.script.diff import INLINE_ROWS
from dbt_idivm.script.key_ranges import MANY_ROWS
from dbt_idivm.script.value_range import MOST_PARTS
from dbt_idivm.script.ways import Application
from dbt_idivm.settings import own_config
from dbt_idivm.tools.advice.estimates import Applied, Estimates

_LEAST = 1.0  # saved seconds per day, in the best case
_RANGES = (Type.TEXT, Type.VARCHAR, Type.DATE)  # types with literal ranges, besides integers


@dataclass(frozen=True)
class Clustered:
    """A table or model, and a column by which it should be clustered. `saves`, `at_best`: seconds per day if the changed keys are
    scattered, and if they are neighbours. `models`: those whose refreshes get faster. `is_model`: whether `cluster_by` in its
    config does it."""

    table: str
    column: str
    saves: float
    at_best: float
    models: tuple[str, ...]
    is_model: bool


def clustered(project: Project, estimates: Estimates) -> tuple[Clustered, ...]:
    """The best column for each table, most useful first; none for models that are clustered already."""
    done = {name for name, model in estimates.models.items() if own_config(project.keys.nodes[model.unique_id]).get("cluster_by")}
    found: dict[tuple[str, str], Clustered] = {}
    for model in estimates.models.values():
        estimates.of(model.name)
        applied = estimates.applied[model.name]
        if applied.done is not None:
            for each in (*_view(model, applied, applied.done, estimates), *_tables(model, applied, applied.done, estimates)):
                known = found.get((each.table, each.column))
                found[each.table, each.column] = (
                    each
                    if known is None
                    else replace(
                        known,
                        saves=known.saves + each.saves,
                        at_best=known.at_best + each.at_best,
                        models=(*known.models, *each.models),
                    )
                )
    best: dict[str, Clustered] = {}
    for each in sorted(found.values(), key=lambda each: (-each.saves, -each.at_best)):
        if each.table not in done:
            best.setdefault(each.table, each)
    return tuple(sorted((each for each in best.values() if each.at_best >= _LEAST), key=lambda each: -each.at_best))


def _parts(keys: float, files: float, rows: float) -> tuple[float, float]:
    """Fractions of the files that are read for this many keys in a table with this many rows: for scattered keys, and for
    neighbours."""
    if keys > INLINE_ROWS or files <= 1:
        return 1.0, 1.0
    gaps = max(keys - 1, 0.0)
    left_out = min(MOST_PARTS - 1, gaps) if rows >= MANY_ROWS else 0.0
    # of m random gaps the k largest are k / m (1 + ln m / k) of their sum
    spanned = gaps - left_out * (1 + log(gaps / left_out) if left_out else 0.0)
    return min(1.0, spanned / (keys + 1) + (left_out + 1) / files), min(1.0, 1 / files)


def _view(model: Model, applied: Applied, done: Application, estimates: Estimates) -> Iterator[Clustered]:
    """Advice for the model itself: visible columns that all of its i-diffs use to name rows."""
    now, root = applied.now, model.plan.root
    if done.shape == "append" or now.stored.files <= 1:
        return
    named = [set(diff.ids) for diff in done.idiffs] or [set(root.ids)]
    rows = sum(now.evaluated(each)[0].rows for each in done.relations)
    scattered, near = _parts(rows, now.stored.files, now.stored.rows)
    for column in model.plan.columns:
        if not column.hidden and all(column.attribute in ids for ids in named) and _has_ranges(root.types[column.attribute]):
            whole = _work(applied, done, 1.0).seconds(estimates.setting.prices)
            saves, at_best = (
                max(whole - _work(applied, done, part).seconds(estimates.setting.prices), 0.0) * estimates.setting.refreshes
                for part in (scattered, near)
            )
            yield Clustered(model.name, column.name, saves, at_best, (model.name,), True)


def _work(applied: Applied, done: Application, part: float) -> Measure:
    """The work of finding and writing the touched rows, if only the fraction `part` of the view's files can contain them."""
    now, view = applied.now, applied.now.stored
    touched, inserted = effect(done, now)
    whole = target_of(now)
    target = replace(whole, rows=whole.rows * part, bytes=whole.bytes * part, files=max(whole.files * part, 1.0))
    again = Measure(tuples=2 * view.rows * part, bytes_read=view.bytes * part) if done.reads_view else Measure()
    fetched = fetched_of(done, now)
    if (fetched == "rows" and is_of_one_kind(done, now)) or (fetched != "nothing" and is_replaced(done, now)):
        found = target.touched(min(touched, target.rows))[0]
        return again + Measure(tuples=target.rows * 3 * found, bytes_read=target.bytes * found)
    if part == 1.0:
        return again + merge(now, touched, inserted, inserts=may_insert(done))
    return again + target.merge(min(touched, target.rows), inserted, inserts=may_insert(done))


def _tables(model: Model, applied: Applied, done: Application, estimates: Estimates) -> Iterator[Clustered]:
    """Advice for tables that are joined with changed rows of another one: their join columns."""
    scans = {
        scan.attribute(column.name): (scan, column)
        for scan in model.plan.scans
        for column in scan.base_columns
        if column.definition is None
    }
    read = set(done.tables)
    for join in operators_of(model.plan.root, Join):
        for pair in equal_attributes(join.condition):
            for mine, other in (pair, pair[::-1]):
                if mine not in scans or other not in scans or not _has_ranges(type_of(scans[mine][1].type)):
                    continue
                (scan, column), (changed, _) = scans[mine], scans[other]
                size, keys = estimates.sizes[scan.table], _changed(applied, changed)
                if keys and scan.table in read and not _changed(applied, scan) and scan.table != changed.table:
                    part = min(width(a.type for a in scan.base_columns) / width(a.type for a in scan.attributes), 1.0)
                    reading = Measure(tuples=size.rows, bytes_read=size.bytes * part).seconds(estimates.setting.prices)
                    saves, at_best = (
                        reading * (1 - each) * estimates.setting.refreshes for each in _parts(keys, size.files, size.rows)
                    )
                    owner = estimates.made.get(scan.table)
                    yield Clustered(
                        owner.name if owner else scan.table, column.name, saves, at_best, (model.name,), owner is not None
                    )


def _changed(applied: Applied, scan: Scan) -> float:
    return sum(applied.now.changes(scan.occurrence, side, frozenset()) for side in ("plus", "minus"))


def _has_ranges(kind: exp.DataType) -> bool:
    return kind.this in _RANGES or is_integral(kind)
