"""The work of finding the rows that changes reach (`script/reach.py`), and how many these are expected to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sqlglot import exp

from dbt_idivm.algebra.expressions import render
from dbt_idivm.cost.measure import Measure, total
from dbt_idivm.cost.sizes import Size, width
from dbt_idivm.cost.work import Situation, incremental
from dbt_idivm.operators.scan import DiffClass
from dbt_idivm.script.at_both_times import Differing
from dbt_idivm.script.found_rows import MOST_ROWS
from dbt_idivm.script.reach import AnyFinder, Changed, Found, Source, Wanted
from dbt_idivm.script.ways import Application

_ASK_NODES = 3
# The part of a table whose values lie between two times of the clock: one day of three years. If there are more rows than can be
# fetched, one query was in vain.
_BETWEEN_TIMES = 1 / 1_000
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)
_CLASSES: tuple[DiffClass, ...] = ("plus", "minus", "ins", "del")
# class of a net diff → the kinds of changes whose values it has
_KINDS: Mapping[DiffClass, tuple[str, ...]] = {
    "ins": ("ins",),
    "del": ("del",),
    "upd": ("old", "new"),
    "rec": ("old", "new"),
    "plus": ("ins", "new"),
    "minus": ("del", "old"),
    "signed": ("ins", "del", "old", "new"),
}


def incremental_by_reach(done: Application, wanted: Mapping[str, Wanted], now: Situation) -> Measure | None:
    """The work of the application over the reached rows of the tables `wanted`, with that of finding them; None if these are
    expected to be too many."""
    estimate = _Estimate(now, _most_values(wanted, now))
    rows = {table: estimate.rows(table, each) for table, each in wanted.items()}
    if not rows or max(rows.values()) > MOST_ROWS:
        return None
    asks = total(_asking(now, table, each) for table, each in wanted.items() if rows[table] > 0)
    tables = {**now.tables, **{table: Size(round(found), round(found * _width(wanted[table]))) for table, found in rows.items()}}
    return asks + incremental(done, now, replace(now, tables=tables, fetched=frozenset(rows), _known={}))


def _asking(now: Situation, table: str, wanted: Wanted) -> Measure:
    """The work of asking a table once: all its rows are tested, and their columns are read."""
    size = now.tables.get(table, Size(0, 0))
    part = min(_width(wanted) * size.rows / size.bytes, 1.0) if size.bytes else 1.0
    return Measure(queries=1, nodes=_ASK_NODES, tuples=size.rows, bytes_read=size.bytes * part)


def _width(wanted: Wanted) -> float:
    return width(each.type for each in wanted.columns)


# A set of values: those of one kind of change of a table, or of the rows that such values find. Sets of one name are the same.
_Name: TypeAlias = tuple[tuple[str, ...], ...]
_NEW_KEYS = ("new keys",)
_Columns: TypeAlias = tuple[str, tuple[str, ...]]  # a table and columns of it


@dataclass(frozen=True)
class _Values:
    """The number of values in a set, and of the rows of the smallest table that is known to have them."""

    count: float
    rows: float

    def also(self, other: _Values) -> _Values:
        return _Values(max(self.count, other.count), min(self.rows, other.rows))


def _most_values(wanted: Mapping[str, Wanted], now: Situation) -> dict[_Columns, float]:
    """How many different values the columns of a table have at most, where they identify a row of another table."""
    found: dict[_Columns, float] = {}
    for table, each in wanted.items():
        for finder in (finder for finder in each.by_keys if finder.is_key):
            for source in (source for source in finder.sources if isinstance(source, Found)):
                of = source.finder.table, source.names
                found[of] = min(now.table(table), found.get(of, now.table(source.finder.table)))
    return found


@dataclass(frozen=True)
class _Estimate:
    """Expected numbers of rows that finders find in a situation. A set of values is counted once for the columns that it is
    compared with, by however many ways it comes there. `most_values`: as of `_most_values`."""

    now: Situation
    most_values: Mapping[_Columns, float]
    _known: dict[AnyFinder, dict[_Name, _Values]] = field(default_factory=dict, compare=False)

    def rows(self, table: str, wanted: Wanted) -> float:
        """The rows of a table that any of the finders finds."""
        sources: dict[tuple[str, ...], dict[Source, None]] = {}
        for each in wanted.by_keys:
            sources.setdefault(each.columns, {}).update(dict.fromkeys(each.new_sources))
        by_keys = (self._found(table, *each) for values in sources.values() for each in self._together(values).items())
        return min(sum(by_keys) + sum(map(self._differing, wanted.by_condition)), self.now.table(table))

    def _differing(self, finder: Differing) -> float:
        """Where columns are compared with the clock, the rows with values between the two times; else all of the table."""
        part = 1.0 if _is_of_values(finder) else _BETWEEN_TIMES
        return self.now.table(finder.table) * part

    def _found(self, table: str, name: _Name, values: _Values) -> float:
        """Each value finds one row, or as many as the table has for each row of the table from which the value comes. But only
        new rows have the key of a new row."""
        whole = self.now.table(table)
        found = min(values.count * max(whole / max(values.rows, 1.0), 1.0), whole)
        return min(found, self._inserted(table)) if name[2:] == (_NEW_KEYS,) else found

    def _inserted(self, table: str) -> float:
        scans = (scan for scan in self.now.plan.scans if scan.table == table)
        return max((self.now.changes(scan.occurrence, "ins", frozenset()) for scan in scans), default=0.0)

    def _together(self, sources: Iterable[Source]) -> dict[_Name, _Values]:
        found: dict[_Name, _Values] = {}
        for each in sources:
            for name, values in (self._of_rows(each) if isinstance(each, Found) else self._of_changes(each)).items():
                found[name] = values.also(found.get(name, values))
        return found

    def _of_rows(self, source: Found) -> dict[_Name, _Values]:
        finder, table = source.finder, source.finder.table
        whole = self.now.table(table)
        if isinstance(finder, Differing):
            return {((table,), source.names, (render(finder.condition),)): _Values(self._differing(finder), whole)}
        if finder not in self._known:
            self._known[finder] = self._together(finder.sources)
        looked_up = self._known[finder]
        if source.names == finder.columns:
            return {name: each.also(_Values(0.0, whole)) for name, each in looked_up.items()}
        step = ((table,), finder.columns, source.names)
        found: dict[_Name, _Values] = {}
        for name, each in looked_up.items():
            several = self.most_values.get((table, source.names), whole)
            here, values = (*name[:3], *step), _Values(self._found(table, name, each), min(whole, several))
            found[here] = values.also(found.get(here, values))
        return found

    def _of_changes(self, source: Changed) -> dict[_Name, _Values]:
        leaf, scan = source.leaf, source.leaf.scan
        of = {each: self.now.changes(scan.occurrence, each, frozenset()) for each in _CLASSES}
        updated = max(of["plus"] - of["ins"], of["minus"] - of["del"], 0.0)
        counts = {"ins": of["ins"], "del": of["del"], "new": updated, "old": updated}
        columns = tuple(each.name for each in scan.base_columns if scan.attribute(each.name) in source.names)
        is_of_ids, is_key = {*source.names} <= {*scan.ids}, scan.unique and {*source.names} == {*scan.ids}
        found: dict[_Name, _Values] = {}
        for kind in _KINDS[leaf.diff_class] if self.now.changes(scan.occurrence, leaf.diff_class, leaf.split) else ():
            name: tuple[str, ...] = ("new",) if kind == "old" and is_of_ids else (kind,)  # an update keeps the IDs
            found[(scan.table,), columns, _NEW_KEYS if kind == "ins" and is_key else name] = _Values(
                counts[kind], self.now.table(scan.table)
            )
        return found


def _is_of_values(finder: Differing) -> bool:
    """Whether a value of the clock is used otherwise than in a comparison, as in DATEDIFF(CURRENT_DATE(), birth): it differs in
    all rows."""
    read = (each for each in finder.condition.find_all(exp.Column) if each.name in finder.clock.names)
    return not all(each.find_ancestor(*_COMPARISONS) for each in read)
