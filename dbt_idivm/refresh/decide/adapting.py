"""Decide whether a changed model is migrated: its stored rows are kept and adapted to the new definition instead of rebuilt (ADR
0047).

The old definition is compiled again from the properties of the table, over the current inputs. It is the definition of the stored
rows only if its fingerprint equals their state's in every part: then nothing else has changed, neither columns of inputs,
nor views and functions of the user, nor settings. In any doubt the view is rebuilt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dbt_idivm.adaptation.adapt import Adaptation
from dbt_idivm.adaptation.moved import Moved, edit_of
from dbt_idivm.adaptation.work import MIGRATION, works
from dbt_idivm.cost.choice import REBUILD, Alternative, Choice
from dbt_idivm.definition.compiling import compiled
from dbt_idivm.definition.define import caching_of, catalog_of
from dbt_idivm.definition.fingerprint import fingerprint, used_columns
from dbt_idivm.definition.keys import Key
from dbt_idivm.definition.user_functions import called_functions
from dbt_idivm.errors import Finding, IdivmError
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.inputs import Inputs, look_up
from dbt_idivm.refresh.catalog.relations import DEFINITION, KEYS, describe
from dbt_idivm.refresh.catalog.state import Consumed, State
from dbt_idivm.refresh.checks import plan_proof
from dbt_idivm.refresh.checks.questions import answered
from dbt_idivm.refresh.decide.choose import choose_early, choose_unread, choose_ways
from dbt_idivm.refresh.decide.costs import Costs
from dbt_idivm.refresh.decide.difference import kept_layout
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.observe import Observed, observe_inputs, observe_sizes
from dbt_idivm.refresh.decide.planned import Planned, proof_key, question, with_cache
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.ways import WayName

_CHANGED = "IDIVM-402"
_PROVEN = ("plans", "rows")


@dataclass(frozen=True)
class Adapting:
    """A migration: the work, its proven plan, and the versions to be read. These are the versions of the old state; tables that
    the old view does not read are read at their pinned versions."""

    work: Work
    plan: Plan
    found: Adaptation | Moved
    inputs: Mapping[str, Consumed]
    state: State  # of the stored view
    known_keys: Mapping[str, tuple[str, ...]]  # inputs that the old view read directly → columns of their keys
    # input → columns that the old view did not read, for tables that are not read at their pinned version
    fresh_columns: Mapping[str, tuple[str, ...]]
    later: Observed  # what will be observed after the migration
    then: Choice | None  # expected choice of the next refresh, according to commits; None if it does nothing or is unknown

    @property
    def versions(self) -> dict[str, int]:
        return {each.table: each.version for each in self.inputs.values()}


def adapting(seen: Observed) -> Steps[Adapting | None]:
    """How to migrate the stored view to the changed model; None if it has to be rebuilt. Writes nothing."""
    work, state = seen.work, seen.work.stored.state
    if state is None or not _may_be_adapted(seen, state):
        return None
    plan = work.planned.plan
    assert plan is not None
    try:
        old = yield from _old_plan(work, state)
    except (IdivmError, EngineFailure):  # the old definition is no longer valid
        return None
    found = edit_of(old[0], plan, work.stored.table) if old is not None else None
    inputs = consumed_by(work.planned, state)
    if old is None or found is None or inputs is None:
        return None
    try:
        after = yield from _after(seen, state, inputs)
        if after is None:
            return None
        found = _by_cheapest_way(after[0], found)
        if not pays(*after, found):
            return None
        planned = yield from _proven(work)
    except EngineFailure:
        return None
    fresh = fresh_columns(work.planned, inputs, old[0])
    work = replace(work, planned=planned) if planned is not None else work
    return None if planned is None else Adapting(work, plan, found, inputs, state, old[1], fresh, *after)


def _may_be_adapted(seen: Observed, state: State) -> bool:
    """Whether the changed definition is the only obstacle, and the stored rows are complete and known to be right."""
    planned, reason, config = seen.work.planned, seen.reason, seen.work.job.config
    is_changed = isinstance(reason, Finding) and reason.code == _CHANGED and seen.work.stored.reason is None
    is_whole = planned.plan is not None and planned.repeatable
    is_sure = state.trusted and not state.volatile and state.checked and not state.unverified and seen.work.stored.shown
    known = plan_proof.read(state.proof)
    is_proven = (known is not None and known.how in _PROVEN) or config.verify_build == "never"
    # the final commit without rows cannot be claimed (ADR 0046)
    is_committed = seen.work.job.client.engine.ledger is None
    return is_changed and is_whole and is_sure and is_proven and is_committed and config.keeps_view


def _old_plan(work: Work, state: State) -> Steps[tuple[Plan, Mapping[str, tuple[str, ...]]] | None]:
    """The plan of the stored rows, and the keys that it relies on; None if the stored properties lead to another fingerprint."""
    job = work.job
    facts = yield from job.client.once(("facts", work.stored.table), lambda: describe(job.client, work.stored.table))
    properties = facts.properties if facts is not None else {}
    sql, columns = properties.get(DEFINITION), properties.get(KEYS)
    if not isinstance(sql, str) or not isinstance(columns, dict):
        return None
    then = Job(job.client, replace(job.request, sql=sql), job.config)
    inputs = yield from look_up(job.client, sql)
    called = called_functions(sql, inputs.views, job.config.deterministic_functions)
    inputs = replace(inputs, functions=(yield from answered(job.client, called)))
    keys = {name: Key(tuple(each), "the stored view") for name, each in columns.items() if name in inputs.tables}
    if inputs.obstacles or inputs.unread is not None or len(keys) < len(columns) or not _are_consumed(inputs, state):
        return None
    chosen = state.kept.subviews if job.config.chooses_caches else ()
    caching = caching_of(then.request, job.config, chosen)
    catalog = replace(catalog_of(inputs.for_definition, keys), clock_is_input=job.config.reads_clock)
    asks = compiled(sql, catalog, caching, ways=(), dialect=job.dialect)
    plan = (yield from answered(job.client, asks)).plan
    found = kept_layout(then, work.stored, fingerprint(then.request, job.config, inputs.for_definition, keys, plan))
    # caches look up the keys of their own tables, possibly later, when they are rebuilt for their cost
    known = {name: key.columns for name, key in keys.items() if inputs.tables[name].table in plan.tables}
    return (plan, known) if dict(found) == dict(state.plan) else None


# Wrong without it: an upstream view that begins or ceases to need hidden columns is another table under the same name, and the
# stored rows would be attributed to its pinned version.
def _are_consumed(inputs: Inputs, state: State) -> bool:
    """Whether the names in the old definition still mean the tables that the stored rows were computed from."""
    known = {name: each.table for name, each in state.inputs.items()}
    return all(known.get(name) == each.table for name, each in inputs.tables.items())


def consumed_by(planned: Planned, state: State) -> Mapping[str, Consumed] | None:
    """Inputs and caches of the new view → versions to read; None if one of them has no version."""
    before = {each.table: each for each in state.inputs.values()}
    found = {}
    for name, each in planned.inputs.tables.items():
        if each.commit is None:
            return None
        found[name] = before.get(each.table) or Consumed(each.table, each.commit.version, each.commit.at)
    caches = {cache.table: state.inputs.get(cache.table) for cache in planned.caches}
    return None if None in caches.values() else {**found, **{name: each for name, each in caches.items() if each is not None}}


def fresh_columns(planned: Planned, inputs: Mapping[str, Consumed], old: Plan) -> Mapping[str, tuple[str, ...]]:
    """Input → columns whose types, at the versions to be read, are not covered by the fingerprint of the stored state."""
    before = used_columns(planned.inputs.for_definition, old)
    found = {
        name: tuple(each for each in columns if each not in before.get(name, {}))
        for name, columns in planned.used.items()
        if (commit := planned.inputs.tables[name].commit) is not None and commit.version != inputs[name].version
    }
    return {name: columns for name, columns in found.items() if columns}


def _after(seen: Observed, state: State, inputs: Mapping[str, Consumed]) -> Steps[tuple[Observed, Choice | None] | None]:
    """What will be observed and chosen after the migration; None if that is certainly a rebuild."""
    planned = seen.work.planned  # it is not known whether the clock will have moved
    stored = replace(seen.work.stored, state=replace(state, inputs=inputs, plan=planned.fingerprint, clock=planned.clock))
    # the commit of the migrated rows will follow those of an input that was replaced since, whose layout is not known then
    newest = [each.commit.at for each in seen.work.planned.inputs.tables.values() if each.commit is not None]
    if stored.committed is not None:
        stored = replace(stored, committed=replace(stored.committed, at=max(stored.committed.at, *newest)))
    with_caches = yield from _with_consumed_caches(seen.work.job.client, planned, state)
    if with_caches is None:
        return None
    later = yield from observe_inputs(Observed(replace(seen.work, stored=stored, planned=with_caches), None))
    ways = choose_ways(later)
    if isinstance(ways, Finding):
        return None
    later = yield from observe_sizes(later)
    if ways and choose_early(Costs(later)) is not None:
        return None
    return later, choose_unread(Costs(later)) if ways else None


# Wrong without it: a version number of a cache that was created again refers to other rows.
def _with_consumed_caches(client: Client, planned: Planned, state: State) -> Steps[Planned | None]:
    """Add the caches at the versions of the state to the inputs; None if a cache no longer has that version.

    Nothing is remembered, because other models of the run may be about to refresh these caches.
    """
    found = planned
    for cache in planned.caches:
        facts, consumed = (yield from describe(client, cache.table)), state.inputs[cache.table]
        if facts is None:
            return None
        newest = yield from history.latest(client, cache.table)
        commits = yield from history.since(client, cache.table, consumed.version, newest.version)
        commit = next((each for each in commits if each.is_it(consumed.version, consumed.at)), None)
        if commit is None:
            return None
        found = with_cache(found, cache, facts, commit)
    return found


def pays(later: Observed, then: Choice | None, found: Adaptation | Moved) -> bool:
    """Whether the migration and the refresh that follows are estimated to be cheaper than a rebuild, which needs no refresh
    afterwards."""
    known = estimated(later, found)
    if known is None:  # unknown sizes: compare what is read and written
        read, of_rebuild = len(found.sources), len(Costs(later).plan.tables)
        return read < of_rebuild or (found.in_place and read == of_rebuild)
    return known.estimate + (then.estimate if then is not None else 0.0) <= known.of(REBUILD).seconds


def estimated(later: Observed, found: Adaptation | Moved) -> Choice | None:
    """The estimated choice between the migration and a rebuild; None if sizes are unknown."""
    known = _migrations(later, found)
    if known is None:
        return None
    migrations, rebuild = known
    wanted = found.way if isinstance(found, Moved) else None
    migration = migrations[wanted]
    return Choice(migration, (migration, rebuild))


def _by_cheapest_way(later: Observed, found: Adaptation | Moved) -> Adaptation | Moved:
    """The migration by the way that is estimated to take the least time; by the first one if sizes are unknown."""
    if isinstance(found, Adaptation):
        return found
    known = _migrations(later, found)
    names = [each.name for each in found.plan.ways]
    return replace(found, way=names[0] if known is None else min(names, key=lambda name: known[0][name].seconds))


def _migrations(later: Observed, found: Adaptation | Moved) -> tuple[Mapping[WayName | None, Alternative], Alternative] | None:
    """The estimates of the migration by its ways, and of a rebuild."""
    costs = Costs(later)
    if costs.unknown is not None or later.view is None:
        return None
    now = costs.situation(lambda *leaf: 0.0)
    return {way: costs.priced(MIGRATION, each) for way, each in works(found, now).items()}, costs.rebuild(now)


def _proven(work: Work) -> Steps[Planned | None]:
    """The model with a proof that its plan means what its SELECT means; None if Spark's plans do not show that. Comparing rows
    would take as long as a rebuild, which does it anyway."""
    job, planned = work.job, work.planned
    key = proof_key(job, planned)
    known = plan_proof.read(work.stored.state.proof) if work.stored.state is not None else None
    if known is not None and known.key == key and known.how in _PROVEN:
        return replace(planned, proof=known)
    found = yield from plan_proof.judge(job.client, question(job, planned), key, "never")
    if found.refusal is not None or (found.how not in _PROVEN and job.config.verify_build != "never"):
        return None
    return replace(planned, proof=found)
