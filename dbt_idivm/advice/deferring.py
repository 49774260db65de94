"""Eager or deferred: how many refreshes' changes a model should let gather. Hanson 1987, deferred maintenance.

    cost of a day   refreshes/k · refresh(changes of k refreshes), for k = 1, 2, 4, … within the hours that a model may be behind

What a refresh costs whatever has changed is divided among k; rows that change again count once. The k-th runs of a day are
nested, so a model that is refreshed in every 8th run reads inputs that are refreshed in every 4th one as they are then: it is
behind by its own k, or by the largest of what it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dbt_idivm.advice.estimates import Estimates
from dbt_idivm.advice.setting import WORTH, Setting
from dbt_idivm.project import Model

_MOST = 1024


@dataclass(frozen=True)
class Deferred:
    """Refresh the model in every so many `runs`; seconds of a day now, and then."""

    model: str
    runs: int
    today: float
    deferred: float

    @property
    def saves(self) -> float:
        return self.today - self.deferred


def allowed(setting: Setting) -> Iterator[int]:
    """Numbers of refreshes whose changes may gather."""
    runs = 1
    while runs <= _MOST and runs * 24 / setting.refreshes <= max(setting.stale, 24 / setting.refreshes):
        yield runs
        runs *= 2


def deferred(models: Iterable[Model], names: Iterable[str], setting: Setting) -> tuple[Deferred, ...]:
    """The models of these names that should not be refreshed in every run, what saves most first."""
    models, found = tuple(models), []
    by_runs = {runs: Estimates(models, setting.gathering(runs)) for runs in allowed(setting)}
    for name in names if len(by_runs) > 1 else ():
        costs = {runs: estimates.of(name).refresh * estimates.setting.refreshes for runs, estimates in by_runs.items()}
        best = min(costs, key=lambda runs: (costs[runs], runs))
        if costs[best] < WORTH * costs[1]:
            found.append(Deferred(name, best, costs[1], costs[best]))
    return tuple(sorted(found, key=lambda each: -each.saves))
