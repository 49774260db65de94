"""Subviews that several models compute, and that are worth a model of their own (Mistry et al. 2001).

All models enter one AND-OR DAG (`tools/dag/build.py`). A model that reads another one is entered with that one's SELECT expanded,
so that models meet in equal subviews. The greedy search (`tools/dag/select.py`) finds which ones to keep besides the models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.cost.sizes import Size
from dbt_idivm.tools.advice.setting import Setting
from dbt_idivm.tools.dag.build import build
from dbt_idivm.tools.dag.costs import Costs
from dbt_idivm.tools.dag.dag import Dag
from dbt_idivm.tools.dag.greedy import Options
from dbt_idivm.tools.dag.select import Selection, select


@dataclass(frozen=True)
class Shared:
    """A subview worth keeping besides the models, and the models that it saves work. `kept`: it is worth maintaining; otherwise
    it is computed once per run, like a model with `materialized='table'`."""

    subview: str
    models: tuple[str, ...]
    kept: bool
    saves: float  # seconds of a refresh of all models
    bytes: float


@dataclass(frozen=True)
class Rows:
    """Numbers of rows of tables, without any changes."""

    sizes: Mapping[str, Size]

    def table(self, name: str) -> float:
        return float(self.sizes[name].rows)

    def changes(self, occurrence: str, diff_class: Any, split: frozenset[str]) -> float:
        return 0.0


def shared_by(trees: Mapping[str, Operator], sizes: Mapping[str, Size], setting: Setting) -> tuple[Shared, ...]:
    """What the models should share, most useful first. `trees`: model → its SELECT over base tables, with the models that it
    reads expanded."""
    dag = build(trees, Rows(sizes))
    # users cannot define a model of changes
    selection = select(Costs(dag, setting.rates, setting.prices), Options(differentials="none", space=setting.space))
    return tuple(sorted(_shared(dag, selection), key=lambda each: -each.saves))


def _shared(dag: Dag, selection: Selection) -> Iterator[Shared]:
    """The chosen subviews that several models read, with these models. Models themselves are excluded, and so are their change
    feeds, which exist anyway."""
    for choice in selection.choices:
        group = choice.units[0].group
        models = _above(dag, group)
        if choice.storage != "feed" and group not in dag.views.values() and len(models) > 1:
            yield Shared(_described(dag, group), models, choice.storage == "permanent", choice.benefit, choice.bytes)


def _described(dag: Dag, group: int, depth: int = 2) -> str:
    """The subview as text: its top operations, over tables and models."""
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
    """The models that depend on a group, except those that read it only through another model."""
    reached, views = {group}, frozenset(dag.views.values())
    for each in dag.groups[group + 1 :]:  # inputs come before what reads them
        if any(not (reached - views).isdisjoint(operation.inputs) for operation in each.operations):
            reached.add(each.number)
    return tuple(sorted(name for name, number in dag.views.items() if number in reached))
