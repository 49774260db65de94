"""What refreshes really took: prices of an engine, and corrections for each view and way. Losing it costs speed, not truth.

All of it is frozen values: a refresh that is done makes a new experience out of the old one. Wrong figures do not last: what no
duration can be is ignored, prices move by a part of the error and stay within bounds, of three durations the middle one
counts, and the correction of a way that is not used returns to 1.
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
_RATE = 0.3  # the part of an error that the prices take over
_STEP = 2.0  # the largest error that prices take over at once
_KEPT = 3  # ratios for each view and way
_FADES = 0.9  # per refresh of the view by another way: the exponent of what is left of a correction
_LARGEST = 1000.0
# Prices are the upper end of what was measured, so that a view may be rebuilt for good although a way is quicker: after so many
# rebuilds a way that may be is tried once, unless that may take too long.
_REBUILDS, _HOPE, _LONGEST_TRY = 2, 0.6, 30.0
_MOST_VIEWS = 10_000
_READING = "reading"


@dataclass(frozen=True)
class Experience:
    """`prices` of one engine. `ratios`: view → way → the last durations by what they were estimated, newest last."""

    prices: Prices = SAFE
    ratios: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)

    def seconds(self, view: str, way: str, measure: Measure) -> float:
        """The estimate; a hopeful one of a way of a view that was only rebuilt so far, if that is worth a try."""
        found = measure.seconds(self.prices) * self.correction(view, way)
        return found * _HOPE if found <= _LONGEST_TRY and self._is_untried(view, way) else found

    def reading_seconds(self, view: str, measure: Measure) -> float:
        """The estimate for reading what changed of the inputs of a view: it may be much less than looking at all keys, where the
        files of most are skipped."""
        found = measure.seconds(self.prices) * self.correction(_reading_for(view), _READING)
        return found * _HOPE if found <= _LONGEST_TRY and self._is_untried(view, _READING) else found

    def _is_untried(self, view: str, way: str) -> bool:
        """Whether the view was rebuilt several times, and maintained in no way."""
        known = self.ratios.get(view, {})
        return way != REBUILD and set(known) == {REBUILD} and len(known[REBUILD]) >= _REBUILDS

    def correction(self, view: str, way: str) -> float:
        """By what this view and way differ from what the prices say. A way that was not tried has the root of what the view's
        other ways have: else each of them is tried in turn where the first was much slower than a rebuild."""
        known = self.ratios.get(view, {})
        if way in known:
            return median(known[way])
        tried = [median(each) for name, each in known.items() if name != REBUILD]
        return sqrt(median(tried)) if tried and way != REBUILD else 1.0

    def learned(self, view: str, way: str, measure: Measure, seconds: float) -> Experience:
        """With one more duration."""
        return replace(self, prices=self.priced(measure, seconds).prices)._with_ratio(view, way, measure, seconds)

    def learned_reading(self, view: str, measure: Measure, seconds: float) -> Experience:
        """With one more duration of reading what changed. It says nothing of prices: how much is skipped depends on the keys."""
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
        """With other prices, if the measure took so long: each takes its share of the error (exponentiated gradient)."""
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
    """The experience in a JSON value, and whether all of it could be used. What cannot is left out."""
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
