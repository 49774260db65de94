"""From the request to a plan: look-ups, keys and the planner; or the reason why there is no plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_idivm.algebra.types import cannot_be_carried, is_known, type_of
from dbt_idivm.context import Caching, Catalog, TableInfo
from dbt_idivm.errors import Finding, IdivmError, finding, nearest
from dbt_idivm.frontend.coercion import answers
from dbt_idivm.frontend.lower import lower
from dbt_idivm.refresh.catalog.inputs import Input, Inputs, look_up
from dbt_idivm.refresh.catalog.relations import INPUTS, describe
from dbt_idivm.refresh.catalog.state import NEVER, Kept
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.checks import proof
from dbt_idivm.refresh.checks.keys import Key, choose_keys
from dbt_idivm.refresh.checks.proof import Proof
from dbt_idivm.refresh.checks.reproducible import unreproducible
from dbt_idivm.refresh.checks.union_types import ask_types
from dbt_idivm.refresh.checks.unsupported_types import unsupported_types
from dbt_idivm.refresh.checks.user_functions import called_functions, typed, usable
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.planned import Planned, Source, planned_model, proof_key
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.script.bind import full_query
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import Dialect
from dbt_idivm.script.over_tables import over_tables
from dbt_idivm.script.plan import Cache, Plan

# Kinds of findings in the SELECT that Spark may overrule; and codes of SELECTs that Spark runs, but no table can store.
_OUR_READING = frozenset({"model", "internal", "unsupported", "not yet"})
_NO_COLUMN = frozenset({"IDIVM-224", "IDIVM-225"})
_UNKNOWN_COLUMN = "IDIVM-221"


def plan_model(job: Job, stored: StoredView, kept: Kept | None = None) -> Steps[Planned]:
    """Plan the model. `kept`: the caches under `caches: auto`; those of the stored view if None. Raises IdivmError for errors,
    and for unsupported SELECTs if `on_unsupported` says so."""
    inputs = yield from look_up(job.client, job.request.sql)
    if job.config.strategy == "full":
        return planned_model(job, inputs, {}, None, finding(407))
    if inputs.unread is not None:
        return planned_model(job, inputs, {}, None, (yield from _refusal(job, IdivmError(inputs.unread))))
    functions = yield from called_functions(job.client, job.request.sql, inputs, job.config.deterministic_functions)
    inputs = replace(inputs, functions=functions)
    keys = choose_keys(job.request, job.config.keys, inputs)
    try:
        if kept is None:
            kept = stored.state.kept if stored.state is not None and job.config.chooses_caches else Kept()
        try:
            source, plan = yield from compiled(job, inputs, keys, kept)
        except IdivmError:
            if not kept.subviews:
                raise
            kept = NEVER  # the engine reports types that caches cannot have
            source, plan = yield from compiled(job, inputs, keys, kept)
        unsupported = yield from unsupported_types(job.client, plan.base_scans)
        unsupported += yield from _unsupported_outputs(job, plan)
        if unsupported or inputs.obstacles:
            raise IdivmError(unsupported)
        unstable = None if job.config.keeps_view else unreproducible(plan.root)
        if unstable is not None:
            raise IdivmError(finding(237, what=unstable))
    except IdivmError as found:
        error = IdivmError((*inputs.obstacles, *found.findings))
        if _UNKNOWN_COLUMN in error.codes:
            yield from _renamed(job.client, stored, inputs)
        refusal = yield from _refusal(job, error)
        return planned_model(job, inputs, keys, None, refusal, error.codes)
    if kept.subviews:  # drop those that belonged to another SELECT or to changed tables
        candidates = source.candidates()
        subviews = tuple(each for each in kept.subviews if each in candidates)
        kept = replace(kept, subviews=subviews, saved=kept.saved if subviews else 0.0)
    planned = replace(planned_model(job, inputs, keys, plan, None), source=source, kept=kept)
    known = known_proof(stored, ignored=job.request.full_refresh)
    if known is None or known.refusal is None or known.key != proof_key(job, planned):
        return planned
    return without_plan(job, planned, known)


def known_proof(stored: StoredView, *, ignored: bool) -> Proof | None:
    """The proof in the stored view's state; None if there is none, or it is to be `ignored`."""
    return proof.read(stored.state.proof) if stored.state is not None and not ignored else None


def without_plan(job: Job, planned: Planned, misread: Proof) -> Planned:
    """The model without its plan, which was found to mean something else. Raises under `on_unsupported: error`."""
    refusal = misread.refusal
    assert refusal is not None
    if job.config.on_unsupported == "error":
        raise IdivmError(refusal)
    inputs = replace(planned.inputs, tables=planned.own_inputs)
    return replace(planned_model(job, inputs, planned.keys, None, refusal, (refusal.code,)), proof=misread)


def compiled(
    job: Job, inputs: Inputs, keys: Mapping[str, Key], kept: Kept, *, is_maintained: bool = True
) -> Steps[tuple[Source, Plan]]:
    """Compile the plan. Returns its source and the plan; without `is_maintained` the plan has no ways. The engine is asked for
    the types of user functions, of UNIONs, and of each cache in turn, because later types depend on them."""
    tables = {name: table_info(found, keys.get(name)) for name, found in inputs.tables.items()}
    catalog = Catalog(tables, inputs.views, functions=usable(inputs.functions))
    lowered = lower(job.request.sql, catalog)
    if catalog.has_untyped_functions:
        catalog = replace(catalog, functions=(yield from typed(job.client, lowered.root, catalog.functions)))
        lowered = lower(job.request.sql, catalog)
    while lowered.untyped_unions:
        unions = tuple(lowered.untyped_unions.values())
        types = answers(unions, (yield from ask_types(job.client, unions, {})))
        catalog = replace(catalog, unions={**catalog.unions, **dict(zip(lowered.untyped_unions, types, strict=True))})
        lowered = lower(job.request.sql, catalog)
    stored: dict[str, Mapping[str, str]] = {}
    while True:
        caching = Caching(
            job.config.caches,
            job.request.relation,
            lowered.subviews,
            stored,
            job.request.project,
            job.config.verify == "always",
            kept.subviews,
        )
        source = Source(lowered, caching)
        try:
            plan = source.plan(job.config.ways, job.config.cache_ways) if is_maintained else source.plan(())
        except ValueError as error:
            raise IdivmError(finding(901, message=str(error))) from error
        asked = next((cache for cache in plan.caches if cache.table not in stored), None)
        if asked is None:
            return source, plan
        stored[asked.table] = dict((yield from job.client.columns(cache_sql(job.dialect, plan, asked))))


def _unsupported_outputs(job: Job, plan: Plan) -> Steps[list[Finding]]:
    """Why the view cannot store its columns. The engine is asked for unknown types, such as VARIANT."""
    shown = [column for column in plan.columns if not column.hidden]
    if all(is_known(plan.root.types[column.attribute]) for column in shown):
        return []
    rows = yield from job.client.ask(job.client.commands.describe_query(job.request.sql))
    return [
        finding(218, column=name, type=kind, use="the view")
        for name, kind, *_ in rows.rows
        if cannot_be_carried(type_of(str(kind)))
    ]


def cache_sql(dialect: Dialect, plan: Plan, cache: Cache) -> str:
    """The query for the rows of the cache, over base tables."""
    return dialect.sql(full_query(over_tables(cache.plan, plan.caches), Binding(dialect=dialect)))


def table_info(found: Input, key: Key | None) -> TableInfo:
    """An input in the form that the planner needs."""
    return TableInfo(
        found.name,
        found.facts.columns,
        key.columns if key else None,
        key.declared if key else "",
        found.table if found.table != found.name else None,
        found.visible,
    )


def _refusal(job: Job, error: IdivmError) -> Steps[Finding]:
    """Map a planner error to a reason to rebuild; re-raise it if the model itself is wrong or must not be rebuilt."""
    if forbidden := job.config.forbids(error):
        raise IdivmError(forbidden)
    if error.is_refusal:
        return finding(408, reason=error.findings[0].summary, codes=", ".join(dict.fromkeys(error.codes)))
    blamed = next(each for each in error.findings if not each.is_refusal)
    doubtful = {each.kind for each in error.findings} <= _OUR_READING and _NO_COLUMN.isdisjoint(error.codes)
    if doubtful and (yield from _is_valid(job.client, job.request.sql)):
        return finding(906, message=blamed.summary)
    raise error


def _is_valid(client: Client, sql: str) -> Steps[bool]:
    """Whether Spark accepts the SELECT."""
    try:
        yield from client.ask(client.commands.describe_query(sql))
    except EngineFailure:
        return False
    return True


def _renamed(client: Client, stored: StoredView, inputs: Inputs) -> Steps[None]:
    """Raise IDIVM-308 if columns that the view was built from no longer exist: that is more helpful than `unknown column`."""
    if stored.latest is None:
        return
    facts = yield from describe(client, stored.table)
    used = facts.properties.get(INPUTS, {}) if facts else {}
    gone = []
    for name, columns in used.items():
        if name in inputs.tables:
            now = [a.name for a in inputs.tables[name].facts.columns]
            known = {each.lower() for each in now}
            gone += [
                finding(308, source=name, column=column, nearest=", ".join(nearest(column, now)))
                for column in columns
                if column.lower() not in known
            ]
    if gone:
        raise IdivmError(gone)
