"""Which intermediate caches (config `caches`, ADR 0009) would pay: each model is planned with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dbt_idivm.advice.estimates import Estimates
from dbt_idivm.advice.setting import WORTH
from dbt_idivm.advice.variants import with_config, with_nodes
from dbt_idivm.context import Caches
from dbt_idivm.project import Model, Project

_LEAST = 1.0  # seconds in a day


@dataclass(frozen=True)
class Cached:
    """A model with other `caches` than now; seconds of a day, and the bytes that they take."""

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
    """Caches that pay, the best ones of each model, within the space: those first that save most for each byte."""
    best = []
    for model in estimates.models.values():
        now = estimates.of(model.name)
        # a cache is maintained by a MERGE of its own
        if now.refresh > 2 * estimates.setting.prices.merges and not model.plan.caches:
            found = [
                each for each in _each(project, estimates, model) if each.cached < WORTH * each.today and each.saves >= _LEAST
            ]
            best += [max(found, key=lambda each: (each.saves, -each.bytes))] if found else []
    return tuple(sorted(_within(best, estimates.setting.space), key=lambda each: -each.saves))


def _each(project: Project, estimates: Estimates, model: Model) -> Iterator[Cached]:
    """What each choice of caches would cost."""
    node, refreshes = project.keys.nodes[model.unique_id], estimates.setting.refreshes
    names = project.subviews.get(model.unique_id, ())
    choices: list[Caches] = ["all", *((name,) for name in names)]
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
