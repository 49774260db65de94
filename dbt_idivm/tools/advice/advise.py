"""All advice on one project in one setting, and its totals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from dbt_idivm.errors import Finding, finding
from dbt_idivm.operators.scan import scans
from dbt_idivm.project import Project, label
from dbt_idivm.tools.advice.caching import Cached, cached
from dbt_idivm.tools.advice.clustering import Clustered, clustered
from dbt_idivm.tools.advice.deferring import Deferred, deferred
from dbt_idivm.tools.advice.estimates import Estimates, Upkeep, base_tables
from dbt_idivm.tools.advice.hindered import Blocked, Keyed, blocked, keyed
from dbt_idivm.tools.advice.measured import Last
from dbt_idivm.tools.advice.options import Key
from dbt_idivm.tools.advice.setting import Setting
from dbt_idivm.tools.advice.sharing import Shared, shared_by
from dbt_idivm.tools.advice.storing import EPHEMERAL, VIEW, Storing, decide
from dbt_idivm.tools.advice.variants import all_maintained


@dataclass(frozen=True)
class Taken:
    """A model's last run beside its estimate. `seconds`: of the run; `day`: of a day if each run took that long; `expected`: the
    estimate."""

    model: str
    mode: str
    seconds: float
    day: float
    expected: float | None


@dataclass(frozen=True)
class Advice:
    """`upkeep`: estimates of all models that have a plan, including those that are not maintained now. `storing`: the best way to
    store each. Caches and clusterings apply to the project as advised; deferring comes on top. Each list is sorted by
    usefulness."""

    upkeep: tuple[Upkeep, ...]
    storing: tuple[Storing, ...]
    shared: tuple[Shared, ...] = ()
    deferred: tuple[Deferred, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    keys: tuple[Keyed, ...] = ()
    caches: tuple[Cached, ...] = ()
    clusterings: tuple[Clustered, ...] = ()
    measured: tuple[Taken, ...] = ()
    notes: tuple[Finding, ...] = ()
    refreshes: float = 24.0
    engine: str | None = None  # the engine whose prices and durations are used

    @property
    def seconds(self) -> float:
        """Seconds of one refresh of all models, each by the faster method."""
        return sum(each.refresh for each in self.upkeep)

    @property
    def today(self) -> float:
        """Seconds per day with the models as they are."""
        return sum(each.today for each in self.storing)

    @property
    def advised(self) -> float:
        """Seconds per day with each model stored as advised."""
        return sum(each.advised for each in self.storing)


@dataclass
class Subject:
    """The project to advise on: as the user has it, and `maintained`, with every model maintained that can be."""

    user: Project
    maintained: Project

    @property
    def tables(self) -> tuple[str, ...]:
        """The base tables, whose sizes are needed."""
        return base_tables(self.maintained.planned())

    @property
    def read(self) -> tuple[str, ...]:
        """All tables that a model reads, including models without a plan."""
        return tuple(sorted(self.maintained.read))


def subject(project: Project, sizes: Callable[[str], float | None] = lambda table: None, given: Collection[str] = ()) -> Subject:
    """`sizes`: table → number of rows, None if unknown. `given`: models, in lower case, whose changes are given by options."""
    return Subject(project, all_maintained(project, sizes, given))


def advise(
    project: Subject,
    setting: Setting,
    asked: Sequence[Key] = (),
    runs: Mapping[str, Last] | None = None,
    notes: Sequence[Finding] = (),
    engine: str | None = None,
) -> Advice:
    """Compute all advice. `asked`: keys that the user asks about. `runs`: unique ID → last run of the model. `engine`: the engine
    that the setting's experience is from."""
    models = tuple(project.maintained.planned())
    trees = {each.name: project.maintained.tree(each) for each in models}
    # what reads the clock has other rows at the time of another model
    trees = {name: tree for name, tree in trees.items() if not any(each.is_clock for each in scans(tree))}
    first = Estimates(models, setting)
    upkeep = first.all()
    # a model has the same number of rows whatever is stored between it and its base tables
    setting = replace(
        setting, stored={**{table: first.of(each.name).rows for each in models for table in each.tables}, **setting.stored}
    )
    deciding = decide(project.user, project.maintained, setting)
    best, estimates = deciding.project, deciding.estimates
    estimates.all()
    maintained = [each.model for each in deciding.found if each.kind not in (VIEW, EPHEMERAL)]
    has_space = setting.space != 0
    return Advice(
        upkeep,
        deciding.priced(first),
        shared_by(trees, first.sizes, setting) if trees and has_space else (),
        deferred(estimates.models.values(), [name for name in maintained if name in estimates.models], setting),
        blocked(project.user),
        keyed(project.maintained, first, asked),
        cached(best, estimates) if has_space else (),
        clustered(best, estimates),
        tuple(_taken(project.user, setting, first, runs or {})),
        (*notes, *(() if has_space else (finding(119),))),
        setting.refreshes,
        engine,
    )


def _taken(project: Project, setting: Setting, estimates: Estimates, runs: Mapping[str, Last]) -> Sequence[Taken]:
    found = []
    for unique_id, run in runs.items():
        node = project.keys.nodes.get(unique_id)
        if node is not None:
            name = label(node)
            known = estimates.of(name).refresh if name in estimates.models else None
            expected = run.estimate if run.estimate is not None else known
            found.append(Taken(name, run.mode, run.seconds, run.seconds * setting.refreshes, expected))
    return sorted(found, key=lambda each: each.model)
