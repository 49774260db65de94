"""Estimated durations of refreshing each model as `strategy: auto` does it (`cost/work.py`), and of reading it.

Models are estimated after their inputs: a refreshed model changes by the rows that are touched in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial

from dbt_idivm.cost.measure import Measure
from dbt_idivm.cost.sizes import Size, of_rows
from dbt_idivm.cost.upkeep import refresh_of
from dbt_idivm.cost.work import Situation, TableChanges
from dbt_idivm.deep import deep_recursion
from dbt_idivm.operators.scan import Scan
from dbt_idivm.project import Model
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.ways import Application
from dbt_idivm.tools.advice.setting import Setting
from dbt_idivm.tools.dag.costs import Rate


@dataclass(frozen=True)
class Upkeep:
    """Estimates for one model, in seconds: `incremental`, a refresh by the best `way` (None if no input changes), and `rebuilt`,
    both including its caches; `query`, evaluating its SELECT; `scan`, reading its stored rows. `cached`: bytes of its caches."""

    model: str
    way: str | None
    incremental: float
    rebuilt: float
    query: float
    scan: float
    rows: float
    bytes: float
    cached: float = 0.0

    @property
    def is_maintained(self) -> bool:
        """Whether an incremental refresh is at least as fast as a rebuild."""
        return self.incremental <= self.rebuilt

    @property
    def refresh(self) -> float:
        """The smaller of the two, in seconds."""
        return min(self.incremental, self.rebuilt)


@dataclass(frozen=True)
class Applied:
    """The refresh behind an estimate; `done` is None if nothing changes."""

    now: Situation
    done: Application | None


class Estimates:
    """Estimates for models in one setting, computed on demand."""

    def __init__(self, models: Iterable[Model], setting: Setting) -> None:
        self.models = {each.name: each for each in models}
        self.setting = setting
        self.made = {table: each for each in self.models.values() for table in each.tables}
        self.sizes: dict[str, Size] = {}
        self.counts: dict[str, TableChanges] = {}
        self.known: dict[str, Upkeep] = {}
        self.applied: dict[str, Applied] = {}

    def changed(self, models: Iterable[Model], names: Collection[str]) -> Estimates:
        """Estimates for `models`, reusing all results except those of `names`."""
        found = Estimates(models, self.setting)
        gone = {table for name in names if name in self.models for table in self.models[name].tables}
        found.sizes = {table: size for table, size in self.sizes.items() if table not in gone}
        found.counts = {table: count for table, count in self.counts.items() if table not in gone}
        found.known = {name: each for name, each in self.known.items() if name not in names and name in found.models}
        found.applied = {name: each for name, each in self.applied.items() if name in found.known}
        return found

    def all(self) -> tuple[Upkeep, ...]:
        return tuple(self.of(name) for name in self.models)

    @deep_recursion()
    def of(self, name: str) -> Upkeep:
        """The estimates for one model; those of its inputs are computed first."""
        if name not in self.known:
            self._visit(self.models[name])
        return self.known[name]

    def _visit(self, model: Model) -> None:
        for scan in model.plan.base_scans:
            read = self.made.get(scan.table)
            if read is not None:
                self.of(read.name)
            elif scan.table not in self.sizes:
                self._add_table(scan)
        caches = [self._refreshed(cache.plan, cache.table, (cache.table,)) for cache in model.plan.caches]
        own = self._refreshed(model.plan, model.name, model.tables)
        self.known[model.name] = Upkeep(
            own.model,
            own.way,
            own.incremental + sum(each.refresh for each in caches),
            own.rebuilt + sum(each.rebuilt for each in caches),
            own.query + sum(each.query for each in caches),
            own.scan,
            own.rows,
            own.bytes,
            sum(each.bytes for each in caches),
        )

    def _add_table(self, scan: Scan) -> None:
        rows, rate = self.setting.rows[scan.table], self.setting.rates.get(scan.table, Rate())
        self.sizes[scan.table] = of_rows(rows, (each.type for each in scan.attributes))
        change = rate.of(rows)
        if rate != Rate():
            self.counts[scan.table] = TableChanges(change.inserted, change.deleted, change.updated)

    def _refreshed(self, plan: Plan, name: str, tables: tuple[str, ...]) -> Upkeep:
        """Estimate a refresh of a plan whose tables have known sizes, and store the size and the changes of its own `tables`."""
        rows = next((self.setting.stored[table] for table in tables if table in self.setting.stored), None)
        types = (plan.root.types[each.attribute] for each in plan.columns)
        view = None if rows is None else of_rows(rows, types)
        known = next((table for table in tables if table in self.setting.experience.ratios), tables[0])
        seconds = partial(self.setting.experience.seconds, known)
        found = refresh_of(plan, self.sizes, self.counts, view, self.setting.prices, seconds)
        self.sizes.update(dict.fromkeys(tables, found.now.stored))
        if (changes := found.changes) is not None:
            self.counts.update(dict.fromkeys(tables, changes))
        self.applied[name] = Applied(found.now, found.done)
        size = found.now.stored
        query = (found.now.evaluated(plan.root)[1] + Measure(queries=1)).seconds(self.setting.prices)
        return Upkeep(name, found.way, found.incremental, found.rebuilt, query, self._scan(size), size.rows, float(size.bytes))

    def _scan(self, size: Size) -> float:
        return Measure(queries=1, nodes=1, tuples=size.rows, bytes_read=size.bytes).seconds(self.setting.prices)


def base_tables(models: Iterable[Model]) -> tuple[str, ...]:
    """The tables that the models are computed from, sorted by name."""
    models = tuple(models)
    made = {table for each in models for table in each.tables}
    return tuple(sorted({scan.table for each in models for scan in each.plan.base_scans} - made))
