"""`caches: auto`: decide whether intermediate caches are worth their refreshes, at every refresh (ADR 0037).

This is the rent-or-buy problem: a view is maintained without a cache until the cache would have saved its own building time. Kept
caches are dropped once they have lost as much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from dbt_idivm.cache_names import is_cache
from dbt_idivm.cost.choice import REBUILD, Choice
from dbt_idivm.cost.upkeep import WithCaches, with_caches
from dbt_idivm.definition.compiling import Compiled
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.refresh.catalog.state import Kept
from dbt_idivm.refresh.decide.choose import Decision
from dbt_idivm.refresh.decide.costs import changes_of
from dbt_idivm.relation_name import name_parts
from dbt_idivm.script.plan import Plan

_WORTH = 0.75  # new estimate / current estimate: smaller gains may not be real
_LOOKING = 0.1  # maximal planning time for candidates / estimate of the refresh
_MOST_CANDIDATES, _MOST_CACHES = 12, 3


@dataclass(frozen=True)
class _Variant:
    subviews: tuple[str, ...]
    plan: Plan
    estimate: WithCaches

    @property
    def refresh(self) -> float:
        return self.estimate.refresh

    @property
    def price(self) -> float:
        """Seconds to switch to this variant: building its caches and the view."""
        return self.estimate.caches + self.estimate.view


def reconsidered(decided: Decision, upkeep: float) -> tuple[Kept, Finding | None]:
    """The caches that the view should keep, and a reason if it has to be rebuilt with other caches now. `upkeep`: estimated
    seconds that its current caches took before it."""
    planned, choice = decided.work.planned, decided.choice
    is_chosen = decided.work.job.config.chooses_caches and choice is not None and REBUILD in choice.estimates
    if not is_chosen or choice is None or planned.compiled is None:
        return planned.kept, None
    now = choice.estimate + upkeep
    variants = _Variants(decided, planned.compiled, _LOOKING * now)
    return _still(variants, planned.kept) if planned.kept.subviews else _new(variants, planned.kept, choice, now)


def _still(variants: _Variants, kept: Kept) -> tuple[Kept, Finding | None]:
    """Reconsider the current caches. Both estimates ignore experience, which exists only for the plan in use."""
    without, current = variants.of(()), variants.of(kept.subviews)
    if without is None or current is None:
        return kept, None
    saved = min(kept.saved + without.refresh - current.refresh, current.price)
    if saved >= 0:
        return replace(kept, saved=saved), None
    why = finding(421, caches=_names(current), without=_seconds(without.refresh), now=_seconds(current.refresh))
    return kept.given_up(), why


def _new(variants: _Variants, kept: Kept, choice: Choice, now: float) -> tuple[Kept, Finding | None]:
    if _WORTH * now <= 2 * variants.prices.merges:  # the least that a view and a cache take
        return kept, None
    without = variants.of(())
    best = variants.best() if without is not None else None
    if without is None or best is None or best.refresh > _WORTH * min(now, without.refresh):
        return kept, None
    saved = kept.saved + min(now, without.refresh) - best.refresh
    price = best.estimate.caches + (0.0 if choice.chosen.name == REBUILD else best.estimate.view)
    if saved < price * 2**kept.failures:
        return replace(kept, saved=saved), None
    why = finding(420, caches=_names(best), now=_seconds(now), cached=_seconds(best.refresh))
    return Kept(best.subviews, best.price, kept.failures), why


class _Variants:
    """The same view with other caches, after the same changes. `within`: seconds in which candidates are planned."""

    def __init__(self, decided: Decision, compiled: Compiled, within: float) -> None:
        work = decided.work
        invocation = work.job.client.invocation
        self.compiled, self.ways, self.sizes = compiled, work.job.config.ways, work.planned.sizes
        self.hidden = work.planned.hidden
        self.view = self.sizes.get(work.stored.table)
        self.counts = {
            table: changes_of(move, self.sizes.get(table))
            for table, move in decided.moves.items()
            if move.moved and not is_cache(name_parts(table)[-1])
        }
        self.prices = invocation.experience.prices
        self.clock = invocation.seconds
        self.until = self.clock() + within

    def best(self) -> _Variant | None:
        """The greedy choice: the cache that saves most, then further ones as long as they save much as well."""
        found = list(self._with_one_more((), self.compiled.candidates()[:_MOST_CANDIDATES]))
        best = min(found, key=_refresh, default=None)
        useful = [each.subviews[0] for each in sorted(found, key=_refresh)]
        while best is not None and len(best.subviews) < _MOST_CACHES:
            more = min(self._with_one_more(best.subviews, useful[:_MOST_CACHES]), key=_refresh, default=None)
            if more is None or more.refresh > _WORTH * best.refresh:
                break
            best = more
        return best

    def _with_one_more(self, chosen: Sequence[str], candidates: Sequence[str]) -> Iterator[_Variant]:
        for each in candidates:
            if each in chosen or self.clock() > self.until:
                continue
            found = self.of((*chosen, each))
            # a table has to stay a table, and a view a view
            if found is not None and len(found.plan.caches) > len(chosen) and found.plan.hidden == self.hidden:
                yield found

    def of(self, subviews: tuple[str, ...]) -> _Variant | None:
        """The variant with these caches; None if they are not possible, or the size of a table is unknown."""
        with suppress(IdivmError, ValueError):
            plan = self.compiled.with_caches(subviews, self.ways)
            if all(table in self.sizes for table in plan.base_tables):
                return _Variant(subviews, plan, with_caches(plan, self.sizes, self.counts, self.view, self.prices))
        return None


def _refresh(variant: _Variant) -> float:
    return variant.refresh


def _names(variant: _Variant) -> str:
    return ", ".join(name_parts(cache.table)[-1] for cache in variant.plan.caches)


def _seconds(number: float) -> str:
    return f"{number:.1f} s"
