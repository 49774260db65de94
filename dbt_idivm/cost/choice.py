"""The choice among the ways of a refresh and a rebuild, and at what size it would be another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dbt_idivm.cost.measure import Measure

REBUILD = "rebuild"
WHOLE = "whole"  # the way that runs the query as well, and a MERGE


@dataclass(frozen=True)
class Alternative:
    """One way, or the rebuild: its work, and the seconds that it is estimated to take."""

    name: str
    measure: Measure
    seconds: float


Chooser = Callable[[Sequence[Alternative]], Alternative]


def cheapest(alternatives: Sequence[Alternative]) -> Alternative:
    """The one with the smallest estimate, the first of equal ones."""
    return min(alternatives, key=lambda each: each.seconds)


@dataclass(frozen=True)
class Choice:
    """The chosen alternative, and all that there were, in order of preference.

    `reading`: seconds of reading what changed, which a rebuild does not need, and `reads` its work; `is_read`: it was read before
    this was chosen.
    `started`, `decided`: when, by the clock of the invocation.
    """

    chosen: Alternative
    alternatives: tuple[Alternative, ...]
    reading: float = 0.0
    reads: Measure = field(default_factory=Measure)
    is_read: bool = False
    started: float = 0.0
    decided: float = 0.0

    def of(self, name: str) -> Alternative:
        """The alternative of that name."""
        return next(each for each in self.alternatives if each.name == name)

    @property
    def best_way(self) -> Alternative | None:
        """The cheapest one that is no rebuild, and may cost less than one."""
        ways = [each for each in self.alternatives if each.name not in (REBUILD, WHOLE)]
        return cheapest(ways) if ways else None

    @property
    def estimate(self) -> float:
        """Seconds of the chosen one, from the first net diff that is read."""
        return self.chosen.seconds + (self.reading if self.is_read or self.chosen.name != REBUILD else 0.0)

    @property
    def estimates(self) -> Mapping[str, float]:
        """Seconds of each alternative, had it been chosen at once."""
        return {each.name: each.seconds + (self.reading if each.name != REBUILD else 0.0) for each in self.alternatives}


_LARGER, _SMALLER = (1e2, 1e4, 1e6, 1e8), 1e-6


def crossover(rebuild: Callable[[float], float], way: Callable[[float], float]) -> float | None:
    """The factor by which all tables would have to grow for the way to be as quick as the rebuild; None if even 10⁸ is too small.

    Both are functions of the factor, and nearly straight lines: two points of each are enough for a number that people read.
    """
    before = way(1.0) - rebuild(1.0)
    for factor in _LARGER:
        after = way(factor) - rebuild(factor)
        if after <= 0:
            return 1.0 + (factor - 1.0) * _zero(before, after)
    return None


def shrinking(rebuild: float, way: Callable[[float], float]) -> float | None:
    """The part of the changes for which the way is as quick as a rebuild of so many seconds; None if it never is."""
    before, after = way(1.0) - rebuild, way(_SMALLER) - rebuild
    return None if after > 0 else max(1.0 - _zero(before, after), _SMALLER)


def _zero(before: float, after: float) -> float:
    """Where a straight line from `before`, which is positive, to `after`, which is not, is zero: from 0 to 1."""
    return min(max(before / (before - after), 0.0), 1.0) if before > after else 1.0


def rounded(number: float) -> str:
    """A number for people, with one digit that counts below ten and two above: 3 million, 750 thousand, 420."""
    for unit, name in ((1e9, " billion"), (1e6, " million"), (1e3, " thousand")):
        if number >= unit * 0.95:
            return f"{_short(number / unit)}{name}"
    return _short(number)


def _short(number: float) -> str:
    return f"{number:.0f}" if number < 9.5 else f"{round(number, -1 if number < 100 else -2):.0f}"
