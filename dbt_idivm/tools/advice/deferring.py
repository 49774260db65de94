"""Eager or deferred maintenance (Hanson 1987): over how many runs a model should let changes accumulate.

    cost per day   refreshes/k · refresh(changes of k refreshes), for k = 1, 2, 4, … within the allowed staleness

The fixed cost of a refresh is paid only in every k-th run, and rows that change repeatedly count once. Runs are nested: a model
that is refreshed in every 8th run reads inputs of every 4th run as of that run. So its staleness is given by its own k, or by the
largest k of its inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dbt_idivm.project import Model
from dbt_idivm.tools.advice.estimates import Estimates
from dbt_idivm.tools.advice.setting import WORTH, Setting

_MOST = 1024


@dataclass(frozen=True)
class Deferred:
    """Refresh the model only in every `runs`-th run; seconds per day now and then."""

    model: str
    runs: int
    today: float
    deferred: float

    @property
    def saves(self) -> float:
        return self.today - self.deferred


def allowed(setting: Setting) -> Iterator[int]:
    """The allowed numbers of refreshes over which changes may accumulate: powers of two."""
    runs = 1
    while runs <= _MOST and runs * 24 / setting.refreshes <= max(setting.stale, 24 / setting.refreshes):
        yield runs
        runs *= 2


def deferred(models: Iterable[Model], names: Iterable[str], setting: Setting) -> tuple[Deferred, ...]:
    """Those of the named models that should not be refreshed in every run, most useful first."""
    models, found = tuple(models), []
    by_runs = {runs: Estimates(models, setting.gathering(runs)) for runs in allowed(setting)}
    for name in names if len(by_runs) > 1 else ():
        costs = {runs: estimates.of(name).refresh * estimates.setting.refreshes for runs, estimates in by_runs.items()}
        best = min(costs, key=lambda runs: (costs[runs], runs))
        if costs[best] < WORTH * costs[1]:
            found.append(Deferred(name, best, costs[1], costs[best]))
    return tuple(sorted(found, key=lambda each: -each.saves))
