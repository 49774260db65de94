"""What advice depends on besides the project: sizes, rates of change and of reading, and what is known of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dbt_idivm.cost.experience import Experience
from dbt_idivm.cost.measure import Prices
from dbt_idivm.dag.costs import Rate
from dbt_idivm.relation_name import name_parts

WORTH = 0.9  # something else is advised if it leaves less of the cost
UNREAD = 24.0  # how often a model is read in a day that no model reads, and of which nothing else is given


def last_part(name: str) -> str:
    """The last part of a relation's name, in lower case."""
    return (name_parts(name) or (name,))[-1].lower()


def of_table(given: Mapping[str, float], table: str) -> float | None:
    """What is given for a table, by its name or by the last part of it."""
    return given.get(table.lower(), given.get(last_part(table)))


@dataclass(frozen=True)
class Setting:
    """`rows` has each base table, `stored` the models' tables whose rows are known. `rates`: what changes of a table from one
    refresh to the next, nothing of those that are not listed; `refreshes` in a day. `reads`: model → how often it is read in a
    day besides by models of the project. `space`: bytes that may be kept besides the models, None for any. `stale`: hours that a
    model may be behind its inputs."""

    rows: Mapping[str, float]
    rates: Mapping[str, Rate] = field(default_factory=dict)
    stored: Mapping[str, float] = field(default_factory=dict)
    refreshes: float = 24.0
    experience: Experience = field(default_factory=Experience)
    reads: Mapping[str, float] = field(default_factory=dict)
    space: float | None = None
    stale: float = 0.0

    @property
    def prices(self) -> Prices:
        return self.experience.prices

    def gathering(self, runs: int) -> Setting:
        """If each refresh has the changes of so many. Rows that are updated again count once (Hanson's net changes): which ones
        are updated is taken as random."""
        rates = {
            table: Rate(each.inserted * runs, min(each.deleted * runs, 1.0), 1.0 - (1.0 - min(each.updated, 1.0)) ** runs)
            for table, each in self.rates.items()
        }
        return replace(self, rates=rates, refreshes=self.refreshes / runs)
