"""What taking stored rows over into an edited model is estimated to take, against a rebuild: as a refresh estimates it, for sizes
that are given, or that statistics say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dbt_idivm.adaptation.adapt import Adaptation
from dbt_idivm.adaptation.work import MIGRATION, adaptation
from dbt_idivm.advice.estimates import Estimates
from dbt_idivm.advice.known import Known
from dbt_idivm.cost.choice import REBUILD
from dbt_idivm.cost.sizes import Size, of_rows
from dbt_idivm.cost.work import Situation, rebuild
from dbt_idivm.deep import deep_recursion
from dbt_idivm.project import Model
from dbt_idivm.script.plan import Plan


@dataclass(frozen=True)
class Estimated:
    """One state: unique ID → its models that are made of tables with known sizes only, and the estimates of them."""

    models: Mapping[str, Model]
    estimates: Estimates

    def sizes(self, model: Model) -> Mapping[str, Size]:
        """Of the model, and of what it is made of."""
        self.estimates.of(model.name)
        return self.estimates.sizes


@dataclass(frozen=True)
class Migration:
    """Seconds."""

    seconds: float
    rebuild: float


@dataclass(frozen=True)
class Migrations:
    """Between two states, each None where nothing is known."""

    before: Estimated | None = None
    after: Estimated | None = None
    known: Known = field(default_factory=lambda: Known((), ()))

    @deep_recursion()
    def of(self, old: str, new: str, plan: Plan, found: Adaptation) -> Migration | None:
        """Of the rows of the model with the unique ID `old` into `new`, which has that plan; None where a size is not known."""
        was = self.before.models.get(old) if self.before is not None else None
        now = self.after.models.get(new) if self.after is not None else None
        if self.before is None or self.after is None or was is None or now is None:
            return None
        sizes = self.after.sizes(now)
        if not {*plan.tables, *found.sources} <= sizes.keys():
            return None
        stored = self._stored(was)
        situation = Situation(plan, {**sizes, found.stored.table: stored}, stored, lambda *leaf: 0.0)
        experience = self.known.learned.experience
        table = next((each for each in now.tables if each in experience.ratios), now.tables[0])
        return Migration(
            experience.seconds(table, MIGRATION, adaptation(found, situation)),
            experience.seconds(table, REBUILD, rebuild(situation)),
        )

    def _stored(self, was: Model) -> Size:
        """As somebody says, or as its query is estimated."""
        assert self.before is not None
        rows = next((count for each in was.tables if (count := self.known.rows(each)) is not None), None)
        if rows is None:
            return self.before.sizes(was)[was.tables[0]]
        types = was.plan.root.types
        return of_rows(rows, (types[each.attribute] for each in was.plan.columns))
