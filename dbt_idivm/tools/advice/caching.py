"""Which intermediate caches (config `caches`, ADR 0009) would pay off: each model is planned with each choice of caches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dbt_idivm.context import Caches
from dbt_idivm.project import Model, Project
from dbt_idivm.tools.advice.estimates import Estimates
from dbt_idivm.tools.advice.setting import WORTH
from dbt_idivm.tools.advice.variants import with_config, with_nodes

_LEAST = 1.0  # saved seconds per day


@dataclass(frozen=True)
class Cached:
    """A model with other `caches` than now: seconds per day now and then, and bytes of the caches."""

    model: str
    unique_id: str
    caches: Caches
    today: float
    cached: float
    bytes: float

    @property
    def saves(self) -> float:
        return self.today - self.cached


def cached(project: Project, estimates: Estimates) -> tuple[Cached, ...]:
    """The caches that pay off, at most one choice for each model, most useful first. If space is limited, those that save most
    per byte."""
    best = []
    for model in estimates.models.values():
        now = estimates.of(model.name)
        # each cache is maintained by its own MERGE
        if now.refresh > 2 * estimates.setting.prices.merges and not model.plan.caches:
            found = [
                each for each in _each(project, estimates, model) if each.cached < WORTH * each.today and each.saves >= _LEAST
            ]
            best += [max(found, key=lambda each: (each.saves, -each.bytes))] if found else []
    return tuple(sorted(_within(best, estimates.setting.space), key=lambda each: -each.saves))


def _each(project: Project, estimates: Estimates, model: Model) -> Iterator[Cached]:
    """The cost of each choice of caches."""
    node, refreshes = project.keys.nodes[model.unique_id], estimates.setting.refreshes
    choices: list[Caches] = ["all", *((name,) for name in project.subviews(node))]
    for caches in choices:
        varied = with_nodes(project, {model.unique_id: with_config(node, caches=caches)})
        models = {each.name: each for each in varied.project.planned()}
        if model.name in models and models[model.name].plan.caches:
            now = estimates.changed(models.values(), {model.name}).of(model.name)
            yield Cached(
                model.name,
                model.unique_id,
                caches,
                refreshes * estimates.of(model.name).refresh,
                refreshes * now.refresh,
                now.cached,
            )


def _within(found: list[Cached], space: float | None) -> Iterator[Cached]:
    left = float("inf") if space is None else space
    for each in sorted(found, key=lambda each: -each.saves / max(each.bytes, 1.0)):
        if each.bytes <= left:
            left -= each.bytes
            yield each
