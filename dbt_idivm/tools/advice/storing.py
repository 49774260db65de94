"""Which models are worth storing, and how (Hanson 1987).

A view is worth storing if reading it outweighs its upkeep. The cost of a model per day is:

    maintained   refreshes · min(incremental, rebuilt) + reads · scan
    a table      refreshes · rebuilt                   + reads · scan
    a view       reads · query                         + the additional cost of its readers' refreshes

`reads` are queries over the model. Refreshes of stored models do not count as reads: they are planned again over the tables below
a view. Models are decided one after the other, each after its inputs, given the decisions made before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf

from dbt_idivm.artifacts import Node
from dbt_idivm.cached import cached_property
from dbt_idivm.errors import IdivmError
from dbt_idivm.project import Model, Project, label
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.script.ties import ties
from dbt_idivm.settings import own_config
from dbt_idivm.tools.advice.estimates import Estimates, Upkeep
from dbt_idivm.tools.advice.setting import UNREAD, WORTH, Setting
from dbt_idivm.tools.advice.variants import STORED, materialized, ordered, readers, with_kind, with_nodes

_TEST = "idivm_equivalent"
_LEAST = 1.0  # the least saving in seconds per day
MAINTAINED, TABLE, VIEW, EPHEMERAL = "idivm", "table", "view", "ephemeral"


@dataclass(frozen=True)
class Storing:
    """One model: its materialization `now`, and the best one (`kind`). Costs are seconds per day; `saves` includes the savings of
    its readers' refreshes. `reads`: queries per day. `fails_test`: whether its test `idivm_equivalent` has to be removed."""

    model: str
    unique_id: str
    now: str
    kind: str
    today: float
    advised: float
    saves: float
    reads: float
    fails_test: bool

    @property
    def is_changed(self) -> bool:
        return self.kind != self.now


@dataclass
class Deciding:
    """The models of a project and the decisions so far. `kinds`: unique ID → materialization in the user's project, for the
    models to decide on. `project`: all stored ones of these as maintained models."""

    project: Project
    setting: Setting
    kinds: dict[str, str]
    estimates: Estimates
    decided: dict[str, str] = field(default_factory=dict)
    found: list[Storing] = field(default_factory=list)
    left: float = inf  # bytes left for storing views
    queries: dict[str, float] = field(default_factory=dict)  # unique ID → seconds of its SELECT

    def name(self, unique_id: str) -> str:
        return label(self.project.keys.nodes[unique_id])

    @cached_property
    def readers(self) -> Mapping[str, tuple[str, ...]]:
        return readers(self.project)

    @cached_property
    def exposed(self) -> frozenset[str]:
        """Nodes that an exposure of the project reads."""
        found = self.project.manifest.get("exposures", {}).values()
        return frozenset(each for exposure in found for each in exposure.get("depends_on", {}).get("nodes", ()))

    @cached_property
    def compared(self) -> frozenset[str]:
        """Models with the test `idivm_equivalent`, which only maintained models pass."""
        tests = (node for node in self.project.keys.nodes.values() if (node.get("test_metadata") or {}).get("name") == _TEST)
        return frozenset(str(each.get("attached_node")) for each in tests)

    def decide(self) -> None:
        """Decide on all models."""
        for unique_id in ordered(self.project):
            if unique_id in self.kinds:
                self._decide(unique_id)

    def reads(self, unique_id: str, *, through: bool = False) -> float:
        """Queries over a model per day: the given number, or a default if no model reads it; plus one per refresh for each model
        or snapshot whose refresh has no estimate. `through`: include the reads of views that read it."""
        known = self.readers.get(unique_id, ())
        given = self.setting.reads.get(self.name(unique_id).lower())
        found = (UNREAD if not known or unique_id in self.exposed else 0.0) if given is None else given
        for each in known:
            kind = materialized(self.project.keys.nodes[each])
            if kind in (VIEW, EPHEMERAL):
                found += self.reads(each, through=True) if through else 0.0
            elif each not in self.kinds:
                found += self.setting.refreshes
        return found

    def upkeep(self, kind: str, of: Upkeep) -> float:
        """Seconds per day for the refreshes of a stored model. Hand-written MERGEs are assumed to be as fast as ours."""
        return self.setting.refreshes * (of.rebuilt if kind == TABLE else of.refresh)

    def _decide(self, unique_id: str) -> None:
        node, now, name = self.project.keys.nodes[unique_id], self.kinds[unique_id], self.name(unique_id)
        is_view = materialized(node) == VIEW
        if not is_view and self._is_worth_storing(unique_id):
            self._found(unique_id, *self._best_stored(unique_id))
            return
        other = with_nodes(self.project, {unique_id: with_kind(node, MAINTAINED if is_view else VIEW)})
        models = {each.name: each for each in other.project.planned()}
        if not self._can_be_estimated(models, {name} - set(self.estimates.models), set(self.estimates.models) - {name}):
            if name in self.estimates.models:
                self._found(unique_id, now, 0.0)
            return
        changed = self.estimates.changed(models.values(), {self.name(each) for each in other.replanned} | {name})
        stored, view = (changed, self.estimates) if is_view else (self.estimates, changed)
        own, reads, above = stored.of(name), self.reads(unique_id, through=True), other.replanned - {unique_id}
        costs = self._stored(own, reads)
        costs[VIEW], self.queries[unique_id] = reads * own.query, own.query
        more = self._of(above, view) - self._of(above, stored)  # additional cost of its readers' refreshes if it is a view
        total = {**costs, VIEW: costs[VIEW] + more}
        fits = not is_view or own.bytes <= self.left
        kind = min((_best(own), VIEW), key=lambda each: total[each]) if fits else VIEW
        kind, saves = _if_worth(kind, now, total, costs[now])
        if (kind == VIEW) != is_view:
            self.left -= own.bytes if is_view else 0.0
            self.project, self.estimates = other.project, changed
        if kind == VIEW != now and self._is_read_once(unique_id, reads):
            kind = EPHEMERAL
        self._found(unique_id, kind, saves)

    def _stored(self, own: Upkeep, reads: float) -> dict[str, float]:
        """Kind → cost of the stored model per day."""
        return {kind: self.upkeep(kind, own) + reads * own.scan for kind in (*STORED, MAINTAINED)}

    def _is_worth_storing(self, unique_id: str) -> bool:
        """Whether queries alone would cost more than storing the model, assuming that the refreshes of its readers do not get
        cheaper without it."""
        own, reads = self.estimates.of(self.name(unique_id)), self.reads(unique_id, through=True)
        return reads * own.query >= self._stored(own, reads)[_best(own)]

    def _best_stored(self, unique_id: str) -> tuple[str, float]:
        """The best stored kind, and what it saves."""
        own, now = self.estimates.of(self.name(unique_id)), self.kinds[unique_id]
        costs = self._stored(own, self.reads(unique_id, through=True))
        return _if_worth(_best(own), now, costs, costs[now])

    def _found(self, unique_id: str, kind: str, saves: float) -> None:
        self.decided[unique_id] = kind
        self.found.append(
            Storing(
                self.name(unique_id),
                unique_id,
                self.kinds[unique_id],
                kind,
                0.0,
                0.0,
                saves,
                self.reads(unique_id),
                unique_id in self.compared and kind != MAINTAINED,
            )
        )

    def _now(self, unique_id: str) -> str:
        """The kind whose costs the model has now: one that is configured to be rebuilt costs as much as a table."""
        is_forced = str(own_config(self.project.keys.nodes[unique_id]).get("strategy")).lower() == "full"
        return TABLE if is_forced and self.kinds[unique_id] == MAINTAINED else self.kinds[unique_id]

    def priced(self, first: Estimates) -> tuple[Storing, ...]:
        """The decisions sorted by name, with the cost of each model now (all others as they are) and then (all as advised)."""
        found = (
            replace(
                each,
                today=self._cost(each, self._now(each.unique_id), first),
                advised=self._cost(each, each.kind, self.estimates),
            )
            for each in self.found
        )
        return tuple(sorted(found, key=lambda each: each.model))

    def _cost(self, model: Storing, kind: str, estimates: Estimates) -> float:
        if kind in (VIEW, EPHEMERAL):
            return model.reads * self.queries[model.unique_id]
        own = estimates.of(model.model)
        return self.upkeep(kind, own) + model.reads * own.scan

    def _can_be_estimated(self, models: Mapping[str, Model], also: set[str], still: set[str]) -> bool:
        """Whether this model and all models that had a plan have one, over tables of known size."""
        made = {table for each in models.values() for table in each.tables}
        return also | still <= set(models) and all(
            scan.table in made or scan.table in self.setting.rows
            for name in also | still
            for scan in models[name].plan.base_scans
        )

    def _of(self, unique_ids: Iterable[str], estimates: Estimates) -> float:
        """Seconds per day for refreshing those of these models that are stored."""
        return sum(
            self.upkeep(self.decided.get(each, self.kinds[each]), estimates.of(self.name(each)))
            for each in unique_ids
            if each in self.kinds and self.name(each) in estimates.models
        )

    def _is_read_once(self, unique_id: str, reads: float) -> bool:
        """Whether exactly one model reads it and nothing else does, so that it needs no relation, and it has no contract, which
        ephemeral models cannot have."""
        config = self.project.keys.nodes[unique_id]["config"]
        return reads == 0 and len(self.readers.get(unique_id, ())) == 1 and not (config.get("contract") or {}).get("enforced")


def _best(own: Upkeep) -> str:
    """The cheapest way to refresh a stored model."""
    return TABLE if own.rebuilt < WORTH * own.incremental else MAINTAINED


def _if_worth(kind: str, now: str, costs: Mapping[str, float], own: float) -> tuple[str, float]:
    """The kind and what it saves, if that is a sufficient part of the model's own cost; otherwise the present kind."""
    saves = costs[now] - costs[kind]
    if saves < max(_LEAST, (1 - WORTH) * own) and not (kind == TABLE and now == MAINTAINED):
        return now, 0.0
    return kind, saves


def decide(user: Project, maintained: Project, setting: Setting) -> Deciding:
    """The best materialization of each model. `maintained`: the user's project as returned by `all_maintained`."""
    kinds = {}
    for unique_id in ordered(maintained):
        node, now = maintained.keys.nodes[unique_id], materialized(user.keys.nodes[unique_id])
        if now in (MAINTAINED, VIEW, *STORED) and materialized(node) in (MAINTAINED, VIEW) and _may_be_moved(maintained, node):
            kinds[unique_id] = now
    deciding = Deciding(
        maintained, setting, kinds, Estimates(maintained.planned(), setting), left=inf if setting.space is None else setting.space
    )
    deciding.decide()
    return deciding


# Wrong without times and clock: the rows of a view have the time of the query, and those of a table the time of the last run.
# Wrong without the ties: only a maintained table has an order of tied rows that stays.
def _may_be_moved(project: Project, node: Node) -> bool:
    """Whether the model has a plan, and the same rows however it is stored."""
    try:
        plan = project.plan(node)
        is_of_run = plan.times or plan.clock or ties(plan)
        return node.get("language", "sql") == "sql" and bool(plan.columns) and not is_of_run
    except (IdivmError, SchemaFileError):
        return False
