"""The work of finding the rows that changes reach (`script/reach.py`), and how many these are expected to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from dbt_idivm.cost.measure import Measure, total
from dbt_idivm.cost.sizes import Size, width
from dbt_idivm.cost.work import Situation, incremental
from dbt_idivm.operators.scan import DiffClass, Scan
from dbt_idivm.script.found_rows import MOST_ROWS
from dbt_idivm.script.reach import Finder, Found, Source, Wanted
from dbt_idivm.script.ways import Application

_ASK_NODES = 3
_CLASSES: tuple[DiffClass, ...] = ("plus", "minus", "ins", "del")


def incremental_by_reach(done: Application, wanted: Mapping[str, Wanted], now: Situation) -> Measure | None:
    """The work of the application over the reached rows of the tables `wanted`, with that of finding them; None if these are
    expected to be too many."""
    estimate = _Estimate(now)
    rows = {table: estimate.rows(table, each.finders) for table, each in wanted.items()}
    if not rows or max(rows.values()) > MOST_ROWS:
        return None
    asks = total(_asking(now, table, each) for table, each in wanted.items() if rows[table] > 0)
    tables = {**now.tables, **{table: Size(round(found), round(found * _width(wanted[table]))) for table, found in rows.items()}}
    return asks + incremental(done, now, replace(now, tables=tables, _known={}))


def _asking(now: Situation, table: str, wanted: Wanted) -> Measure:
    """The work of asking a table once: all its rows are tested, and their columns are read."""
    size = now.tables.get(table, Size(0, 0))
    part = min(_width(wanted) * size.rows / size.bytes, 1.0) if size.bytes else 1.0
    return Measure(queries=1, nodes=_ASK_NODES, tuples=size.rows, bytes_read=size.bytes * part)


def _width(wanted: Wanted) -> float:
    return width(each.type for each in wanted.columns)


@dataclass(frozen=True)
class _Estimate:
    """Expected numbers of rows that finders find in a situation."""

    now: Situation

    def rows(self, table: str, finders: Iterable[Finder]) -> float:
        """The rows of a table that any of the finders finds. A value is counted once for each way by which it comes to the same
        columns."""
        return self._rows(table, ((each.columns, each.new_sources) for each in finders))

    def _rows(self, table: str, asked: Iterable[tuple[tuple[str, ...], Iterable[Source]]]) -> float:
        sources: dict[tuple[str, ...], dict[Source, None]] = {}
        for columns, values in asked:
            sources.setdefault(columns, {}).update(dict.fromkeys(values))
        whole = self.now.table(table)
        return min(sum(self._found(whole, each) for each in sources.values()), whole)

    def _found(self, rows: float, sources: Iterable[Source]) -> float:
        """Each value finds one row, or as many as the table has for each row of the table from which the value comes."""
        values: dict[str, float] = {}
        for each in sources:
            if isinstance(each, Found):
                table, most = each.finder.table, self.now.table(each.finder.table)
                found = self._rows(table, ((each.finder.columns, each.finder.sources),))
            else:
                table, most = each.leaf.scan.table, self._changed_keys(each.leaf.scan)
                found = self.now.changes(each.leaf.scan.occurrence, each.leaf.diff_class, each.leaf.split)
            values[table] = min(values.get(table, 0.0) + found, most)
        return sum(found * max(rows / max(self.now.table(table), 1.0), 1.0) for table, found in values.items())

    def _changed_keys(self, scan: Scan) -> float:
        """The number of keys of an occurrence that are inserted, deleted or updated."""
        count = {each: self.now.changes(scan.occurrence, each, frozenset()) for each in _CLASSES}
        return max(count["plus"], count["minus"]) + min(count["ins"], count["del"])
