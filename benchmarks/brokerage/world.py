"""How large a broker is, and the expressions of SQL from which its rows are made: hashes of their numbers and of a seed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

TRADES = 1_000_000  # at scale 1
MINUTE, OPENS = 60, 9 * 3600


@dataclass(frozen=True)
class World:
    """The same scale, seed and last day give the same rows. The history has `days`, of which `last_day` is the last one."""

    scale: float
    seed: int
    last_day: dt.date
    days: int = 600

    @property
    def trades(self) -> int:
        return max(self.days, round(TRADES * self.scale))

    @property
    def payments(self) -> int:
        return self.trades * 4 // 5

    @property
    def accounts(self) -> int:
        return max(30, self.trades // 50)

    @property
    def customers(self) -> int:
        return max(15, self.accounts // 2)

    @property
    def employees(self) -> int:
        return max(20, self.accounts // 20)

    @property
    def securities(self) -> int:
        return max(10, self.trades // 1000)

    @property
    def companies(self) -> int:
        return max(6, self.securities // 2)

    def draw(self, number: int, below: int, of: str = "id") -> str:
        """A number from 0 up to `below`, another one for each `number`; the same for equal values of `of`."""
        return f"pmod(xxhash64({of}, {self.seed}, {number}), {below})"

    def pick(self, number: int, *texts: str | None, of: str = "id") -> str:
        """One of these texts."""
        return (
            f"element_at(array({', '.join(_text(each) for each in texts)}), cast({self.draw(number, len(texts), of)} as int) + 1)"
        )

    def date(self, day: str) -> str:
        """The day with this number; 0 is the first one of the history."""
        return f"date_add(date '{self.last_day - dt.timedelta(self.days - 1)}', cast({day} as int))"

    def moment(self, day: str, second: str) -> str:
        return f"timestamp_seconds(unix_date({self.date(day)}) * 86400L + {second})"


@dataclass(frozen=True)
class Rows:
    """What rows are made: `day`, an expression of their day; `flag`, I, U or D; `version`, 0 for the first of an id."""

    world: World
    day: str
    flag: str = "I"
    version: int = 0

    def draw(self, number: int, below: int, of: str = "id") -> str:
        """The same in each version."""
        return self.world.draw(number, below, of)

    def redraw(self, number: int, below: int) -> str:
        """Another one in each version."""
        return self.world.draw(number, below, f"id, {self.version}")

    def pick(self, number: int, *texts: str | None, of: str = "id") -> str:
        return self.world.pick(number, *texts, of=of)

    @property
    def date(self) -> str:
        return self.world.date(self.day)

    def moment(self, number: int) -> str:
        """A time of the day between nine and five."""
        return self.world.moment(self.day, f"{OPENS} + {self.redraw(number, 480 * MINUTE)}")

    @property
    def sequence(self) -> str:
        return f"id * 1000 + {self.version}"

    def sometimes(self, number: int, expression: str) -> str:
        """What an update has in a third of the rows only; the first version always has it."""
        return expression if self.version == 0 else f"if({self.redraw(number, 3)} = 0, {expression}, null)"


Columns = Mapping[str, str]


def _text(value: str | None) -> str:
    return "cast(null as string)" if value is None else "'" + value.replace("'", "\\'") + "'"
