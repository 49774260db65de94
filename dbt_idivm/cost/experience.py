"""Experience: prices learned for an engine, and corrections for each view and way. Losing it costs speed, not correctness.

Experience is immutable: each finished refresh creates a new one from the old one. Wrong figures do not persist: impossible
durations are ignored, prices move by a fraction of the error within bounds, corrections are the median of three durations, and
the correction of an unused way fades to 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite, sqrt
from statistics import median
from typing import Any

from dbt_idivm.cost.choice import REBUILD
from dbt_idivm.cost.measure import SAFE, Measure, Prices, bounded

VERSION = 1
_RATE = 0.3  # the fraction of an error that prices absorb at once
_STEP = 2.0  # the largest error that prices take over at once
_KEPT = 3  # ratios for each view and way
_FADES = 0.9  # the exponent of a correction, for each refresh of the view by another way
_LARGEST = 1000.0
# Prices are at the upper end of what was measured, so a view might be rebuilt forever although a way is faster. After this many
# rebuilds, a way whose estimate is at most _LONGEST_TRY seconds is estimated at _HOPE of it, and so may be tried.
_REBUILDS, _HOPE, _LONGEST_TRY = 2, 0.6, 30.0
_MOST_VIEWS = 10_000
_READING = "reading"


@dataclass(frozen=True)
class Experience:
    """`prices`: prices of one engine. `ratios`: view → way → the last ratios of actual to estimated durations, newest last."""

    prices: Prices = SAFE
    ratios: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)

    def seconds(self, view: str, way: str, measure: Measure) -> float:
        """Estimated seconds; reduced for a way worth trying on a view that was only rebuilt so far."""
        found = measure.seconds(self.prices) * self.correction(view, way)
        return found * _HOPE if found <= _LONGEST_TRY and self._is_untried(view, way) else found

    def reading_seconds(self, view: str, measure: Measure) -> float:
        """Estimated seconds for reading the changes of a view's inputs, reduced for a first try: if most files are skipped, it is
        much faster than looking at all keys."""
        found = measure.seconds(self.prices) * self.correction(_reading_for(view), _READING)
        return found * _HOPE if found <= _LONGEST_TRY and self._is_untried(view, _READING) else found

    def _is_untried(self, view: str, way: str) -> bool:
        """Whether the view has been rebuilt several times, but never maintained."""
        known = self.ratios.get(view, {})
        return way != REBUILD and set(known) == {REBUILD} and len(known[REBUILD]) >= _REBUILDS

    def correction(self, view: str, way: str) -> float:
        """Correction factor: the median of this way's ratios; for an untried way the square root of the median over the other
        ways; 1.0 if nothing is known. Without the root, each way would be tried in turn if the first was much slower than a
        rebuild."""
        known = self.ratios.get(view, {})
        if way in known:
            return median(known[way])
        tried = [median(each) for name, each in known.items() if name != REBUILD]
        return sqrt(median(tried)) if tried and way != REBUILD else 1.0

    def learned(self, view: str, way: str, measure: Measure, seconds: float) -> Experience:
        """Learn that `way` took `seconds` for this view."""
        return replace(self, prices=self.priced(measure, seconds).prices)._with_ratio(view, way, measure, seconds)

    def learned_reading(self, view: str, measure: Measure, seconds: float) -> Experience:
        """Learn how long reading the changes took. Prices do not change, because the keys determine how much is skipped."""
        return self._with_ratio(_reading_for(view), _READING, measure, seconds)

    def _with_ratio(self, view: str, way: str, measure: Measure, seconds: float) -> Experience:
        predicted = measure.seconds(self.prices)
        if not _is_duration(seconds) or not _is_duration(predicted):
            return self
        before = self.ratios.get(view, {})
        ratio = min(max(seconds / predicted, 1 / _LARGEST), _LARGEST)
        faded = {name: tuple(each**_FADES for each in ratios) for name, ratios in before.items() if name != way}
        now = {**faded, way: (*before.get(way, ()), ratio)[-_KEPT:]}
        return replace(self, ratios={**self.ratios, view: now})

    def priced(self, measure: Measure, seconds: float) -> Experience:
        """Learn prices from a duration in seconds: each price takes its share of the error (exponentiated gradient)."""
        predicted = measure.seconds(self.prices)
        if not _is_duration(seconds) or not _is_duration(predicted):
            return self
        error = min(max(seconds / predicted, 1 / _STEP), _STEP)
        moved = {unit: self.prices.of(unit) * error ** (_RATE * share) for unit, share in measure.shares(self.prices).items()}
        return replace(self, prices=bounded(moved) or self.prices)

    def json(self) -> dict[str, Any]:
        views = list(self.ratios.items())[-_MOST_VIEWS:]
        ratios = {view: {way: list(each) for way, each in ways.items()} for view, ways in views}
        return {"prices": self.prices.json(), "ratios": ratios}


def _reading_for(view: str) -> str:
    return f"{_READING} for {view}"


def _is_duration(seconds: float) -> bool:
    return isfinite(seconds) and seconds > 0


def read(found: Any) -> tuple[Experience, bool]:
    """Parse experience from JSON. Returns it, without its invalid parts, and whether everything was valid."""
    if not isinstance(found, dict):
        return Experience(), False
    given = found.get("prices")
    prices = bounded(given) if isinstance(given, dict) else None
    is_whole = prices is not None
    ratios: dict[str, dict[str, tuple[float, ...]]] = {}
    views = found.get("ratios")
    for view, ways in views.items() if isinstance(views, dict) else ():
        for way, values in ways.items() if isinstance(ways, dict) else ():
            kept = tuple(float(each) for each in (values if isinstance(values, list) else ()) if _is_ratio(each))[-_KEPT:]
            is_whole = is_whole and isinstance(values, list) and len(kept) == len(values)
            if kept:
                ratios.setdefault(str(view), {})[str(way)] = kept
        is_whole = is_whole and isinstance(ways, dict)
    return Experience(prices or SAFE, ratios), is_whole and isinstance(views, dict)


def _is_ratio(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 1 / _LARGEST <= value <= _LARGEST
