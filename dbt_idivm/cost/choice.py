"""The choice among the ways of a refresh and a rebuild, and the size of tables at which it would change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dbt_idivm.cost.measure import Measure
from dbt_idivm.script.found_rows import Reach
from dbt_idivm.script.ways import Application

REBUILD = "rebuild"
WHOLE = "whole"  # the way that runs the view's query, too, and then a MERGE


@dataclass(frozen=True)
class Alternative:
    """A way, or the rebuild, with its work and its estimated duration in seconds. `form`: the form of the application over
    the rows that changes reach, if these are found first; `wanted`: which ones."""

    name: str
    measure: Measure
    seconds: float
    form: Application | None = None
    wanted: Reach = field(default_factory=dict)


Chooser = Callable[[Sequence[Alternative]], Alternative]


def cheapest(alternatives: Sequence[Alternative]) -> Alternative:
    """The alternative with the smallest estimate; the first of equal ones."""
    return min(alternatives, key=lambda each: each.seconds)


@dataclass(frozen=True)
class Choice:
    """The chosen alternative, and all alternatives in order of preference.

    `reading`: seconds for reading the changes, which a rebuild does not need; `reads`: the work of that. `is_read`: whether they
    were read before this choice. `started`, `decided`: times on the invocation's clock, in seconds.
    """

    chosen: Alternative
    alternatives: tuple[Alternative, ...]
    reading: float = 0.0
    reads: Measure = field(default_factory=Measure)
    is_read: bool = False
    started: float = 0.0
    decided: float = 0.0

    def of(self, name: str) -> Alternative:
        """The alternative called `name`."""
        return next(each for each in self.alternatives if each.name == name)

    @property
    def best_way(self) -> Alternative | None:
        """The cheapest way other than running the whole query, which cannot cost less than a rebuild; None if there is none."""
        ways = [each for each in self.alternatives if each.name not in (REBUILD, WHOLE)]
        return cheapest(ways) if ways else None

    @property
    def estimate(self) -> float:
        """Estimated seconds of the chosen alternative, starting with reading the first net diff."""
        return self.chosen.seconds + (self.reading if self.is_read or self.chosen.name != REBUILD else 0.0)

    @property
    def estimates(self) -> Mapping[str, float]:
        """Alternative → estimated seconds if it had been chosen at once."""
        return {each.name: each.seconds + (self.reading if each.name != REBUILD else 0.0) for each in self.alternatives}


_LARGER, _SMALLER = (1e2, 1e4, 1e6, 1e8), 1e-6


def crossover(rebuild: Callable[[float], float], way: Callable[[float], float]) -> float | None:
    """The factor by which all tables would have to grow for the way to be as fast as the rebuild; None if 10⁸ is not enough.

    Both arguments are functions of the factor that return seconds. They are nearly linear, so two points of each suffice for a
    number that people read.
    """
    before = way(1.0) - rebuild(1.0)
    for factor in _LARGER:
        after = way(factor) - rebuild(factor)
        if after <= 0:
            return 1.0 + (factor - 1.0) * _zero(before, after)
    return None


def shrinking(rebuild: float, way: Callable[[float], float]) -> float | None:
    """The fraction of the changes for which the way is as fast as a rebuild of `rebuild` seconds; None if it never is."""
    before, after = way(1.0) - rebuild, way(_SMALLER) - rebuild
    return None if after > 0 else max(1.0 - _zero(before, after), _SMALLER)


def _zero(before: float, after: float) -> float:
    """The zero, between 0 and 1, of a straight line from `before` (positive) to `after` (not positive)."""
    return min(max(before / (before - after), 0.0), 1.0) if before > after else 1.0


def rounded(number: float) -> str:
    """A number for people, with one significant digit below ten and two above: 3 million, 750 thousand, 420."""
    for unit, name in ((1e9, " billion"), (1e6, " million"), (1e3, " thousand")):
        if number >= unit * 0.95:
            return f"{_short(number / unit)}{name}"
    return _short(number)


def _short(number: float) -> str:
    return f"{number:.0f}" if number < 9.5 else f"{round(number, -1 if number < 100 else -2):.0f}"
