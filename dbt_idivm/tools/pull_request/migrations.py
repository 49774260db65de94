"""Estimated durations of migrating stored rows to an edited model, compared with rebuilding it: as a refresh estimates
them, but with sizes that are given or come from statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dbt_idivm.adaptation.adapt import Adaptation
from dbt_idivm.adaptation.moved import Moved
from dbt_idivm.adaptation.work import MIGRATION, works
from dbt_idivm.cost.choice import REBUILD
from dbt_idivm.cost.sizes import Size, of_rows
from dbt_idivm.cost.work import Situation, rebuild
from dbt_idivm.deep import deep_recursion
from dbt_idivm.project import Model
from dbt_idivm.script.plan import Plan
from dbt_idivm.tools.advice.estimates import Estimates
from dbt_idivm.tools.advice.known import Known


@dataclass(frozen=True)
class Estimated:
    """One state: unique ID → those of its models that depend only on tables of known size, and their estimates."""

    models: Mapping[str, Model]
    estimates: Estimates

    def sizes(self, model: Model) -> Mapping[str, Size]:
        """The sizes of the model and of everything it depends on, by table."""
        self.estimates.of(model.name)
        return self.estimates.sizes


@dataclass(frozen=True)
class Migration:
    """Estimated seconds of a migration, and of the rebuild that it replaces."""

    seconds: float
    rebuild: float


@dataclass(frozen=True)
class Migrations:
    """Estimates of migrations between two states; a state is None if nothing is known about it."""

    before: Estimated | None = None
    after: Estimated | None = None
    known: Known = field(default_factory=lambda: Known((), ()))

    @deep_recursion()
    def of(self, old: str, new: str, plan: Plan, found: Adaptation | Moved) -> Migration | None:
        """The migration of the rows of model `old` (a unique ID) to model `new`, which has the plan `plan`; None if a size is
        unknown."""
        was = self.before.models.get(old) if self.before is not None else None
        now = self.after.models.get(new) if self.after is not None else None
        if self.before is None or self.after is None or was is None or now is None:
            return None
        sizes = self.after.sizes(now)
        if not {*plan.tables, *found.sources} <= sizes.keys():
            return None
        stored = self._stored(was)
        situation = Situation(plan, {**sizes, found.table: stored}, stored, lambda *leaf: 0.0)
        experience = self.known.learned.experience
        table = next((each for each in now.tables if each in experience.ratios), now.tables[0])
        return Migration(
            min(experience.seconds(table, MIGRATION, each) for each in works(found, situation).values()),
            experience.seconds(table, REBUILD, rebuild(situation)),
        )

    def _stored(self, was: Model) -> Size:
        """The size of the stored rows: as given, or as estimated from the query."""
        assert self.before is not None
        rows = next((count for each in was.tables if (count := self.known.rows(each)) is not None), None)
        if rows is None:
            return self.before.sizes(was)[was.tables[0]]
        types = was.plan.root.types
        return of_rows(rows, (types[each.attribute] for each in was.plan.columns))
