"""`caches: auto`: whether intermediate caches are worth their refreshes, reconsidered whenever a refresh is chosen (ADR 0037).

Rent or buy: a view is maintained without a cache until the cache would have saved what building it takes. A cache that is kept
goes when it has lost as much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from dbt_idivm.cache_names import is_cache
from dbt_idivm.cost.choice import REBUILD, Choice
from dbt_idivm.cost.upkeep import WithCaches, with_caches
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.refresh.catalog.state import Kept
from dbt_idivm.refresh.decide.choose import Decision
from dbt_idivm.refresh.decide.costs import changes_of
from dbt_idivm.refresh.decide.planned import Source
from dbt_idivm.relation_name import name_parts
from dbt_idivm.script.plan import Plan

_WORTH = 0.75  # of today's estimate: a smaller gain may be none
_MOST_CANDIDATES, _MOST_CACHES = 12, 3


@dataclass(frozen=True)
class _Variant:
    subviews: tuple[str, ...]
    plan: Plan
    estimate: WithCaches


def reconsidered(decided: Decision, upkeep: float) -> tuple[Kept, Finding | None]:
    """What the view is to keep, and why it is rebuilt with other caches now, if it is. `upkeep`: the estimated seconds that the
    caches it has took before it."""
    planned, choice = decided.work.planned, decided.choice
    if not _is_choosable(decided) or choice is None or planned.source is None:
        return planned.kept, None
    variants = _Variants(decided, planned.source)
    now = choice.estimate + upkeep
    return _still(variants, planned.kept, now) if planned.kept.subviews else _new(variants, planned.kept, choice, now)


def _is_choosable(decided: Decision) -> bool:
    choice = decided.choice
    return decided.work.job.config.chooses_caches and choice is not None and REBUILD in choice.estimates


def _still(variants: _Variants, kept: Kept, now: float) -> tuple[Kept, Finding | None]:
    without, current = variants.of(()), variants.of(kept.subviews)
    if without is None or current is None:
        return kept, None
    saved = min(kept.saved + without.estimate.refresh - now, current.estimate.caches)
    if saved >= 0:
        return Kept(kept.subviews, saved), None
    return Kept(), finding(421, caches=_names(current), without=_seconds(without.estimate.refresh), now=_seconds(now))


def _new(variants: _Variants, kept: Kept, choice: Choice, now: float) -> tuple[Kept, Finding | None]:
    if _WORTH * now <= 2 * variants.prices.merges:  # what a view and a cache take at least
        return kept, None
    without, best = variants.of(()), variants.best()
    if without is None or best is None or best.estimate.refresh > _WORTH * min(now, without.estimate.refresh):
        return kept, None
    saved = kept.saved + now - best.estimate.refresh
    price = best.estimate.caches + (0.0 if choice.chosen.name == REBUILD else best.estimate.view)
    if saved < price:
        return Kept((), saved), None
    why = finding(420, caches=_names(best), now=_seconds(now), cached=_seconds(best.estimate.refresh))
    return Kept(best.subviews, best.estimate.caches), why


class _Variants:
    """The same view with other caches, after the same changes."""

    def __init__(self, decided: Decision, source: Source) -> None:
        work = decided.work
        invocation, request = work.job.client.invocation, work.job.request
        self.source, self.ways, self.sizes = source, work.job.config.ways, work.planned.sizes
        self.view = self.sizes.get(work.stored.table)
        self.counts = {table: changes_of(move, self.sizes.get(table)) for table, move in decided.moves.items()
                       if move.moved and not is_cache(name_parts(table)[-1])}
        self.prices = invocation.experience.prices
        # another model keeps them, and takes its turn
        self.free = {request.relation_beside(name) for name in request.neighbours if is_cache(name)}

    def best(self) -> _Variant | None:
        """The greedy choice: the cache that saves most, and others as long as they save much, too."""
        found = list(self._with_one_more((), list(self.source.candidates())[:_MOST_CANDIDATES]))
        best = min(found, key=_seconds_of, default=None)
        useful = [each.subviews[0] for each in sorted(found, key=_seconds_of)]
        while best is not None and len(best.subviews) < _MOST_CACHES:
            more = min(self._with_one_more(best.subviews, useful[:_MOST_CACHES]), key=_seconds_of, default=None)
            if more is None or _seconds_of(more) > _WORTH * _seconds_of(best):
                break
            best = more
        return best

    def _with_one_more(self, chosen: Sequence[str], candidates: Sequence[str]) -> Iterator[_Variant]:
        for each in candidates:
            if each not in chosen and (found := self.of((*chosen, each))) is not None and len(found.plan.caches) > len(chosen):
                yield found

    def of(self, subviews: tuple[str, ...]) -> _Variant | None:
        """With these caches; None where they cannot be, or the size of a table is not known."""
        with suppress(IdivmError, ValueError):
            plan = self.source.keeping(subviews).plan(self.ways)
            free = self.free if not self.source.caching.chosen else ()
            if all(table in self.sizes for table in plan.base_tables):
                return _Variant(subviews, plan, with_caches(plan, self.sizes, self.counts, self.view, self.prices, free))
        return None


def _seconds_of(variant: _Variant) -> float:
    return variant.estimate.refresh


def _names(variant: _Variant) -> str:
    return ", ".join(name_parts(cache.table)[-1] for cache in variant.plan.caches)


def _seconds(number: float) -> str:
    return f"{number:.1f} s"
