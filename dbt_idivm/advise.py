"""`idivm advise`: what a dbt project's models cost to refresh, incrementally and rebuilt, and which subviews they should share.

All models enter one AND-OR DAG (`dag/build.py`), a model that reads another one with the SELECT of that one, so that models meet
in equal subviews. The greedy search (`dag/select.py`) says what is worth keeping besides the models. Nothing is asked of Spark:
the sizes of tables and how much of them changes are given. Mistry et al. 2001.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.dag.build import build
from dbt_idivm.dag.costs import Costs, Rate
from dbt_idivm.dag.dag import Dag
from dbt_idivm.dag.greedy import Options
from dbt_idivm.dag.plans import How
from dbt_idivm.dag.select import Selection, select
from dbt_idivm.operators.scan import scans


@dataclass(frozen=True)
class Sizes:
    """Rows of base tables; nothing has changed yet."""

    rows: Mapping[str, float]

    def table(self, name: str) -> float:
        return self.rows[name]

    def changes(self, occurrence: str, diff_class: Any, split: frozenset[str]) -> float:
        return 0.0


@dataclass(frozen=True)
class Upkeep:
    """How one model is best maintained, and the seconds of a refresh; None if it cannot be maintained incrementally."""

    model: str
    how: How
    incremental: float | None
    rebuilt: float


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
    """`alone`: seconds of one refresh of all models if they share nothing; `together`: with what is worth keeping."""

    upkeep: tuple[Upkeep, ...]
    shared: tuple[Shared, ...]
    alone: float
    together: float


def base_tables(models: Mapping[str, Operator]) -> tuple[str, ...]:
    """The tables that the models are made of, in order of their names."""
    return tuple(sorted({scan.table for each in models.values() for scan in scans(each)}))


def advise(models: Mapping[str, Operator], rows: Mapping[str, float], rates: Mapping[str, Rate],
           space: float | None = None) -> Advice:
    """The advice for these models, given as trees over base tables. `rows` has each of these, `rates` what changes of a table
    from one refresh to the next; what is not listed does not change. `space`: bytes that may be kept besides the models, None for
    any."""
    dag = build(models, Sizes(rows))
    selection = select(Costs(dag, rates), Options(differentials="none", space=space))  # nobody can write changes as a model
    return Advice(tuple(_upkeep(models, selection)), tuple(_shared(dag, selection)), selection.nothing, selection.seconds)


def _upkeep(models: Mapping[str, Operator], selection: Selection) -> Iterator[Upkeep]:
    for name in models:
        found = selection.plan.of(name)
        yield Upkeep(name, found.how, found.incremental, found.recomputed)


def _shared(dag: Dag, selection: Selection) -> Iterator[Shared]:
    """What is kept besides the models, with those that read it. Change feeds of models are kept anyway."""
    for choice in selection.choices:
        group = choice.units[0].group
        if choice.storage != "feed" and group not in dag.views.values():
            yield Shared(_described(dag, group), _above(dag, group), choice.storage == "permanent", choice.benefit, choice.bytes)


def _described(dag: Dag, group: int) -> str:
    """The subview as its operations, over tables."""
    found = dag.groups[group]
    if found.is_table:
        return found.form
    operation = found.operations[0]
    return f"{operation.label} ({', '.join(_described(dag, each) for each in operation.inputs)})"


def _above(dag: Dag, group: int) -> tuple[str, ...]:
    """The models whose rows can be taken from a group."""
    reached = {group}
    for each in dag.groups[group + 1:]:  # inputs come before what reads them
        if any(not reached.isdisjoint(operation.inputs) for operation in each.operations):
            reached.add(each.number)
    return tuple(sorted(name for name, number in dag.views.items() if number in reached))
