"""Work and its cost: a measure counts what a statement does, and prices are the seconds for one unit of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True)
class Measure:
    """The work of statements. `nodes`: operators in their plans, counted at each mention of a relation. `tuples`: rows that
    operators take in, counted once for each operator (Hanson's C_1). `bytes_*`: bytes read from and written to storage (his
    C_2)."""

    queries: float = 0.0
    merges: float = 0.0
    overwrites: float = 0.0
    nodes: float = 0.0
    tuples: float = 0.0
    bytes_read: float = 0.0
    bytes_written: float = 0.0

    def __add__(self, other: Measure) -> Measure:
        return Measure(*(one + two for one, two in zip(self.values, other.values, strict=True)))

    def times(self, factor: float) -> Measure:
        """This work repeated `factor` times."""
        return Measure(*(each * factor for each in self.values))

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(getattr(self, name) for name in UNITS)

    def seconds(self, prices: Prices) -> float:
        """Seconds at these prices."""
        return sum(amount * prices.of(unit) for unit, amount in zip(UNITS, self.values, strict=True))

    def shares(self, prices: Prices) -> Mapping[str, float]:
        """Unit → its fraction of the seconds, from 0 to 1."""
        total = self.seconds(prices)
        return {
            unit: amount * prices.of(unit) / total if total > 0 else 0.0 for unit, amount in zip(UNITS, self.values, strict=True)
        }


UNITS = tuple(each.name for each in fields(Measure))


def total(measures: Iterable[Measure]) -> Measure:
    """The sum of the measures."""
    found = Measure()
    for each in measures:
        found += each
    return found


@dataclass(frozen=True)
class Prices:
    """Seconds for one of each unit of `Measure`.

    The defaults were measured on two cores and a local disk, warm. A small MERGE takes 1.2 to 1.6 s, an INSERT OVERWRITE 0.8 s,
    and reading a feed 0.1 to 0.25 s. A MERGE of 700 plan nodes takes over ten seconds on empty tables. 60M rows are joined and
    10M rows of three numbers stored in 20 s. 3.4M rows are joined and 2.7M rows of fifteen columns stored in 7 s. Where
    measurements are a range, prices of MERGEs are at its upper end: without experience a rebuild, which users had before, is the
    safe choice.
    """

    queries: float = 0.25
    merges: float = 1.4
    overwrites: float = 0.8
    nodes: float = 0.02
    tuples: float = 1e-7
    bytes_read: float = 3e-9
    bytes_written: float = 2e-8

    def of(self, unit: str) -> float:
        return float(getattr(self, unit))

    def json(self) -> dict[str, float]:
        return asdict(self)


SAFE = Prices()
_ENDLESS = 1e9
LARGEST_CHANGE = 30.0  # factor between a learned price and the safe one, at most


def bounded(given: Mapping[str, object]) -> Prices | None:
    """The prices in a mapping, clipped to bounds; None unless all of them are positive finite numbers."""
    found: dict[str, float] = {}
    for unit in UNITS:
        value = given.get(unit)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _ENDLESS:
            return None
        safe = SAFE.of(unit)
        found[unit] = min(max(float(value), safe / LARGEST_CHANGE), safe * LARGEST_CHANGE)
    return Prices(**found)
