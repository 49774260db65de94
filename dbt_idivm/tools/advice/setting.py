"""What advice depends on besides the project: sizes, rates of changing and reading, and experience with the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dbt_idivm.cost.experience import Experience
from dbt_idivm.cost.measure import Prices
from dbt_idivm.relation_name import name_parts
from dbt_idivm.tools.dag.costs import Rate

WORTH = 0.9  # an alternative is advised if it costs less than this part of the current cost
UNREAD = 24.0  # default reads per day of a model that no model reads


def last_part(name: str) -> str:
    """The last part of a relation's name, in lower case."""
    return (name_parts(name) or (name,))[-1].lower()


def of_table(given: Mapping[str, float], table: str) -> float | None:
    """The value given for a table, by its name or by the last part of its name."""
    return given.get(table.lower(), given.get(last_part(table)))


@dataclass(frozen=True)
class Setting:
    """`rows`: base table → number of rows; `stored`: the same for models, where known. `rates`: table → fractions that change
    from one refresh to the next (0 if not listed). `refreshes`: per day. `reads`: model → reads per day by others than models of
    the project. `space`: bytes that may be used besides the models, None for any. `stale`: hours by which a model may be behind
    its inputs."""

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
        """The setting if each refresh processes the changes of `runs` runs. Rows that are updated repeatedly count once (Hanson's
        net changes); the updated rows are assumed to be random."""
        rates = {
            table: Rate(each.inserted * runs, min(each.deleted * runs, 1.0), 1.0 - (1.0 - min(each.updated, 1.0)) ** runs)
            for table, each in self.rates.items()
        }
        return replace(self, rates=rates, refreshes=self.refreshes / runs)
