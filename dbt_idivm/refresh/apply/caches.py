"""Intermediate caches at refresh time. Each cache is a maintained table with its own state, and the view reads it like an input.

A cache is brought up to date before anything that reads it, in a commit of its own. Its state says which versions of the inputs
its rows were computed from, and the view's version vector contains the cache's version beside theirs. An interrupted run leaves
each table consistent with its own vector, and the next run continues from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from dbt_idivm.cache_names import owner_of_caches
from dbt_idivm.definition.compiling import cache_sql
from dbt_idivm.definition.user_functions import functions_in
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.refresh.apply.confirm import Exchanged
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.inputs import Inputs
from dbt_idivm.refresh.catalog.relations import describe
from dbt_idivm.refresh.catalog.stored_view import StoredView, last_state, read_stored_view
from dbt_idivm.refresh.checks.plan_proof import Proof
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.outcome import named
from dbt_idivm.refresh.decide.planned import Planned, planned_model, with_cache
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.protocol import InputChange
from dbt_idivm.relation_name import name_parts
from dbt_idivm.script.over_tables import expanded
from dbt_idivm.script.plan import Cache


class Overtaken(IdivmError):
    """IDIVM-903: another run refreshed a cache from newer versions than this run pinned, after this run refreshed another
    cache."""


def work_on(job: Job, above: Planned, cache: Cache) -> Steps[Work]:
    """The Work of refreshing `cache`, a cache of `above`, as if it were a model."""
    there = yield from job.client.once(("facts", cache.table), lambda: describe(job.client, cache.table))
    own = _job(job, above, cache, "table" if there is not None else None)
    stored = yield from read_stored_view(job.client, own.request)
    return Work(own, stored, _planned(own, above, cache))


def _job(job: Job, above: Planned, cache: Cache, existing: Literal["table"] | None) -> Job:
    """The Job of refreshing `cache`. Settings of the model's columns and layout do not apply to it."""
    assert above.plan is not None
    # one run rebuilds a cache once, for the first of its models
    full_refresh = job.request.full_refresh and not job.client.invocation.has_rebuilt(cache.table)
    sql = cache_sql(job.dialect, above.plan, cache)
    request = replace(
        job.request,
        identifier=name_parts(cache.table)[-1],
        sql=sql,
        owner=owner_of_caches(job.request.project),
        existing=existing,
        full_refresh=full_refresh,
    )
    config = replace(
        job.config,
        output="view",
        unique_key=(),
        partition_by=(),
        cluster_by=(),
        location_root=None,
        tblproperties={},
        on_configuration_change="apply",
        on_schema_change="ignore",
    )
    return replace(job, request=request, config=config)


def _planned(job: Job, above: Planned, cache: Cache) -> Planned:
    """The planned refresh of `cache`, over the inputs of the view that it reads; these may include earlier caches.

    Models that share a cache may give its tables other names and call other functions. So inputs are named by their tables here,
    and only the user's functions that the cache itself calls are included.
    """
    read = {name: found for name, found in above.inputs.tables.items() if found.table in cache.plan.tables}
    tables = {found.table: replace(found, name=found.table) for found in read.values()}
    keys = {read[name].table: key for name, key in above.keys.items() if name in read}
    caches = {each.table for each in above.caches}
    declared = {name: key for name, key in keys.items() if name not in caches}
    called = functions_in(expanded(cache.plan.root, above.caches))
    functions = {name: found for name, found in above.inputs.functions.items() if name in called}
    inputs = Inputs(tables, {}, functions=functions)
    return replace(planned_model(job, inputs, declared, cache.plan, None), keys=keys, proof=Proof("part", ""))


def read(job: Job, above: Planned, cache: Cache, before: StoredView, inputs: Mapping[str, InputChange]) -> Steps[Planned]:
    """Add the cache at its newest version to the inputs of `above`. `inputs`: the versions that the cache's rows are computed
    from now.

    If another run has refreshed the cache from newer versions than this run pinned (`before`), the view uses those versions.
    Raises Overtaken if caches then cannot be brought to one state, and Exchanged if the cache has been dropped.
    """
    table = cache.table
    facts = yield from job.client.once(("facts", table), lambda: describe(job.client, table))
    if facts is None:
        raise Exchanged(job.request.relation, (table,))
    commit = yield from history.pinned(job.client, table)
    if not (yield from _is_of(job, table, before, inputs)):
        raise Overtaken(finding(903, view=table, message="another run refreshed it meanwhile", state=before.sentence))
    job.client.rely(table, commit.version, commit.at)
    tables, keys = dict(above.inputs.tables), dict(above.keys)
    for name, found in above.inputs.tables.items():
        now = inputs.get(named(job.request, found.table))
        if now is None or found.commit is None or now.to_version <= found.commit.version:
            continue
        if named(job.request, found.table) in above.through or before.state is None:
            raise Overtaken(finding(903, view=table, message="another run refreshed it meanwhile", state=before.sentence))
        ahead = before.state.inputs[found.table]
        tables[name] = replace(found, commit=replace(found.commit, version=ahead.version, at=ahead.at))
        if name in keys:  # a key is trusted only at the commit that was pinned
            keys[name] = replace(keys[name], trusted=False)
    above = replace(above, inputs=replace(above.inputs, tables=tables), keys=keys, through={**inputs, **above.through})
    return with_cache(above, cache, facts, commit)


# Wrong without it: another run may refresh the cache between our refresh and the look-up of its commit. Then the view has rows of
# newer versions than its state says, and rows of two versions of an input that it also reads directly.
def _is_of(job: Job, table: str, before: StoredView, inputs: Mapping[str, InputChange]) -> Steps[bool]:
    """Whether the rows of the cache, at the version to be read, come from these inputs; True if nothing was written since
    `before`."""
    last = yield from last_state(job.client, table)
    if last is None or last == before.state:
        return True
    known = [(inputs.get(named(job.request, each.table)), each.version) for each in last.inputs.values()]
    return all(now is None or now.to_version == version for now, version in known)
