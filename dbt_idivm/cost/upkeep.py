"""The duration of refreshing a maintained relation: by the best of its ways, and by a rebuild. A view with caches is several
relations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dbt_idivm.cost.choice import REBUILD
from dbt_idivm.cost.measure import Measure, Prices
from dbt_idivm.cost.sizes import Size
from dbt_idivm.cost.work import READING, Situation, TableChanges, application_of, effect, expected, incremental, rebuild
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.ways import Application

Seconds = Callable[[str, Measure], float]  # (way or rebuild, its work) → seconds


@dataclass(frozen=True)
class Refresh:
    """A refresh of one relation, in seconds: by the best `way`, and `rebuilt`. `way` and `done` are None if nothing that it reads
    changes."""

    way: str | None
    incremental: float
    rebuilt: float
    now: Situation
    done: Application | None

    @property
    def seconds(self) -> float:
        """The smaller of the two, in seconds."""
        return min(self.incremental, self.rebuilt)

    @property
    def changes(self) -> TableChanges | None:
        """The changes of the relation's own rows, as its readers see them; None if there are none."""
        if self.done is None:
            return None
        touched, inserted = effect(self.done, self.now)
        return TableChanges(inserted=inserted, updated=touched)


def refresh_of(
    plan: Plan, sizes: Mapping[str, Size], counts: Mapping[str, TableChanges], view: Size | None, prices: Prices, seconds: Seconds
) -> Refresh:
    """Estimate a refresh of a plan, without its caches, over tables with these sizes and changes. `view`: size of the stored
    rows, None if they are not stored yet."""
    now = Situation(plan, sizes, view, expected(plan, counts, hopeful=False), rewrites=False)
    reading = READING.times(sum(table in counts for table in plan.tables)).seconds(prices)
    done = [found for way in plan.ways if (found := application_of(way, now)) is not None]
    ways = sorted((seconds(each.way, incremental(each, now)), number) for number, each in enumerate(done))
    chosen = done[ways[0][1]] if ways else None
    return Refresh(
        None if chosen is None else chosen.way, ways[0][0] + reading if ways else 0.0, seconds(REBUILD, rebuild(now)), now, chosen
    )


@dataclass(frozen=True)
class WithCaches:
    """Durations for a view with its caches, in seconds: `refresh` of all, building the `caches`, and rebuilding the `view` from
    them."""

    refresh: float
    caches: float
    view: float


def with_caches(
    plan: Plan, sizes: Mapping[str, Size], counts: Mapping[str, TableChanges], view: Size | None, prices: Prices
) -> WithCaches:
    """Estimate a view over base tables with these sizes and changes. `sizes` may also contain those of stored caches."""
    sizes, counts = dict(sizes), dict(counts)
    refreshes = builds = 0.0

    def seconds(_: str, measure: Measure) -> float:
        return measure.seconds(prices)

    for cache in plan.caches:
        found = refresh_of(cache.plan, sizes, counts, sizes.get(cache.table), prices, seconds)
        sizes[cache.table] = found.now.stored
        if (changes := found.changes) is not None:
            counts[cache.table] = changes
        refreshes, builds = refreshes + found.seconds, builds + found.rebuilt
    own = refresh_of(plan, sizes, counts, view, prices, seconds)
    return WithCaches(refreshes + own.seconds, builds, own.rebuilt)
