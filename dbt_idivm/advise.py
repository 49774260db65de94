"""`idivm advise`: what a dbt project's models cost to refresh, incrementally and rebuilt, and which subviews they should share.

All models enter one AND-OR DAG (`dag/build.py`), a model that reads another one with the SELECT of that one, so that models meet
in equal subviews. The greedy search (`dag/select.py`) says what is worth keeping besides the models. Nothing is asked of Spark:
the sizes of tables and how much of them changes are given. Mistry et al. 2001. What a refresh of one model takes is estimated as
`strategy: auto` does it (`cost/work.py`), which knows the ways of each operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.cost.measure import SAFE
from dbt_idivm.cost.sizes import Size, of_rows
from dbt_idivm.cost.work import READING, Situation, TableChanges, application_of, effect, expected, incremental, rebuild
from dbt_idivm.dag.build import build
from dbt_idivm.dag.costs import Costs, Rate
from dbt_idivm.dag.dag import Dag
from dbt_idivm.dag.greedy import Options
from dbt_idivm.dag.select import Selection, select
from dbt_idivm.operators.scan import Scan, scans
from dbt_idivm.script.plan import Plan


@dataclass(frozen=True)
class Model:
    """A model that has a plan. `tables`: the names that others read it by, its own and that of the table behind it; `tree`: its
    SELECT over base tables, with those of the models that it reads."""

    name: str
    tables: tuple[str, ...]
    plan: Plan
    tree: Operator


@dataclass(frozen=True)
class Rows:
    """Rows of tables; nothing has changed yet."""

    sizes: Mapping[str, Size]

    def table(self, name: str) -> float:
        return float(self.sizes[name].rows)

    def changes(self, occurrence: str, diff_class: Any, split: frozenset[str]) -> float:
        return 0.0


@dataclass(frozen=True)
class Upkeep:
    """What a refresh of one model is estimated to take, in seconds: incrementally by the best `way`, and rebuilt; without a way
    nothing of what it reads changes."""

    model: str
    way: str | None
    incremental: float
    rebuilt: float

    @property
    def is_maintained(self) -> bool:
        """Whether an incremental refresh is not slower."""
        return self.incremental <= self.rebuilt


@dataclass(frozen=True)
class Shared:
    """A subview that is worth keeping besides the models, and the models that it saves work. `kept`: it is worth maintaining,
    else it is computed once in a run, as a model with `materialized='table'` is."""

    subview: str
    models: tuple[str, ...]
    kept: bool
    saves: float  # seconds of a refresh of all models
    bytes: float


@dataclass(frozen=True)
class Advice:
    """`shared`: the most useful first."""

    upkeep: tuple[Upkeep, ...]
    shared: tuple[Shared, ...]

    @property
    def seconds(self) -> float:
        """Of one refresh of all models, each as is quicker."""
        return sum(min(each.incremental, each.rebuilt) for each in self.upkeep)


def base_tables(models: Sequence[Model]) -> tuple[str, ...]:
    """The tables that the models are made of, in order of their names."""
    made = {table for each in models for table in each.tables}
    return tuple(sorted({scan.table for each in models for scan in (*scans(each.tree), *each.plan.base_scans)} - made))


def advise(models: Sequence[Model], rows: Mapping[str, float], rates: Mapping[str, Rate], space: float | None = None) -> Advice:
    """The advice for these models. `rows` has each of their base tables, `rates` what changes of a table from one refresh to the
    next; what is not listed does not change. `space`: bytes that may be kept besides the models, None for any."""
    estimates = _Estimates(models, rows, rates)
    upkeep = tuple(estimates.upkeep())
    dag = build({each.name: each.tree for each in models}, Rows(estimates.sizes))
    selection = select(Costs(dag, rates), Options(differentials="none", space=space))  # nobody can write changes as a model
    shared = sorted(_shared(dag, selection), key=lambda each: -each.saves)
    return Advice(upkeep, tuple(shared))


class _Estimates:
    """Of models one by one, each after what it reads: a model that is refreshed changes by the rows that are touched."""

    def __init__(self, models: Sequence[Model], rows: Mapping[str, float], rates: Mapping[str, Rate]) -> None:
        self.models, self.rows, self.rates = models, rows, rates
        self.made = {table: each for each in models for table in each.tables}
        self.sizes: dict[str, Size] = {}
        self.counts: dict[str, TableChanges] = {}
        self.known: dict[str, Upkeep] = {}

    def upkeep(self) -> Iterator[Upkeep]:
        for each in self.models:
            self._visit(each)
            yield self.known[each.name]

    def _visit(self, model: Model) -> None:
        if model.name in self.known:
            return
        for scan in model.plan.base_scans:
            read = self.made.get(scan.table)
            if read is not None:
                self._visit(read)
            elif scan.table not in self.sizes:
                self._add_table(scan)
        for cache in model.plan.caches:
            self._refreshed(cache.plan, cache.table, (cache.table,))
        self.known[model.name] = self._refreshed(model.plan, model.name, model.tables)

    def _add_table(self, scan: Scan) -> None:
        rows, rate = self.rows[scan.table], self.rates.get(scan.table, Rate())
        self.sizes[scan.table] = of_rows(rows, (each.type for each in scan.attributes))
        change = rate.of(rows)
        if rate != Rate():
            self.counts[scan.table] = TableChanges(change.inserted, change.deleted, change.updated)

    def _refreshed(self, plan: Plan, name: str, tables: Iterable[str]) -> Upkeep:
        """A refresh of a plan, whose tables are known then."""
        now = Situation(plan, self.sizes, None, expected(plan, self.counts, hopeful=False), rewrites=False)
        reading = READING.times(sum(table in self.counts for table in plan.tables))
        done = [found for way in plan.ways if (found := application_of(way, now)) is not None]
        ways = sorted(((incremental(each, now) + reading).seconds(SAFE), number) for number, each in enumerate(done))
        for table in tables:
            self.sizes[table] = now.stored
            if ways:
                touched, inserted = effect(done[ways[0][1]], now)
                self.counts[table] = TableChanges(inserted=inserted, updated=touched)
        best, way = (ways[0][0], done[ways[0][1]].way) if ways else (0.0, None)
        return Upkeep(name, way, best, rebuild(now).seconds(SAFE))


def _shared(dag: Dag, selection: Selection) -> Iterator[Shared]:
    """What several models read and none is, with these models. Change feeds of models are kept anyway."""
    for choice in selection.choices:
        group = choice.units[0].group
        models = _above(dag, group)
        if choice.storage != "feed" and group not in dag.views.values() and len(models) > 1:
            yield Shared(_described(dag, group), models, choice.storage == "permanent", choice.benefit, choice.bytes)


def _described(dag: Dag, group: int, depth: int = 2) -> str:
    """The subview as its last operations, over tables and models."""
    found = dag.groups[group]
    if found.is_table:
        return found.form
    if made := [name for name, number in dag.views.items() if number == group]:
        return made[0]
    if depth == 0:
        return f"… {', '.join(sorted(found.tables))}"
    operation = found.operations[0]
    return f"{operation.label} ({', '.join(_described(dag, each, depth - 1) for each in operation.inputs)})"


def _above(dag: Dag, group: int) -> tuple[str, ...]:
    """The models that are made of a group, without those that read it through another model."""
    reached, views = {group}, frozenset(dag.views.values())
    for each in dag.groups[group + 1:]:  # inputs come before what reads them
        if any(not (reached - views).isdisjoint(operation.inputs) for operation in each.operations):
            reached.add(each.number)
    return tuple(sorted(name for name, number in dag.views.items() if number in reached))
