"""From the request to a plan: look-ups, keys, the planner, and the fingerprint by which a stored view is recognised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Caching, Catalog, TableInfo
from dbt_idivm.errors import Finding, IdivmError, finding, nearest
from dbt_idivm.frontend.coercion import answers
from dbt_idivm.frontend.dialect import tokens_of
from dbt_idivm.frontend.lower import lower
from dbt_idivm.refresh.catalog.inputs import Input, Inputs, look_up
from dbt_idivm.refresh.catalog.invocation import Invocation
from dbt_idivm.refresh.catalog.relations import INPUTS, describe
from dbt_idivm.refresh.catalog.state import digest
from dbt_idivm.refresh.catalog.stored_view import HIDDEN_SUFFIX, StoredView, model_name
from dbt_idivm.refresh.checks import proof
from dbt_idivm.refresh.checks.keys import Key, choose_keys
from dbt_idivm.refresh.checks.proof import Proof, Question
from dbt_idivm.refresh.checks.union_types import ask_types
from dbt_idivm.refresh.checks.unsupported_types import unsupported_types
from dbt_idivm.refresh.decide.config import ModelConfig
from dbt_idivm.refresh.engine import commands
from dbt_idivm.refresh.engine.client import Engine, EngineFailure, Steps
from dbt_idivm.refresh.protocol import InputChange, ModelRequest
from dbt_idivm.relation_name import with_suffix
from dbt_idivm.script.bind import full_query
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.over_tables import over_tables
from dbt_idivm.script.plan import Cache, Plan

# A rebuild over unchanged inputs would give another result: sampling and drawing, the time, functions nobody knows.
_UNREPEATABLE = frozenset({"IDIVM-204", "IDIVM-206", "IDIVM-213", "IDIVM-226", "IDIVM-230"})
LAYOUT = "layout"  # the part of the fingerprint that says nothing about rows
# What is found by reading the SELECT, where the last word is Spark's; and what Spark runs and no table can hold.
_OUR_READING = frozenset({"model", "internal", "unsupported", "not yet"})
_NO_COLUMN = frozenset({"IDIVM-224", "IDIVM-225"})
_VOLATILE, _UNKNOWN_COLUMN = "IDIVM-206", "IDIVM-221"


@dataclass(frozen=True)
class Job:
    """One refresh: whom to ask, what is shared, what is wanted."""

    engine: Engine
    invocation: Invocation
    request: ModelRequest
    config: ModelConfig
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Planned:
    """The model as it is to be maintained. Without a plan it is rebuilt, and `refusal` says why."""

    inputs: Inputs
    keys: Mapping[str, Key]
    plan: Plan | None
    refusal: Finding | None
    table: str
    repeatable: bool
    fingerprint: Mapping[str, str]
    used: Mapping[str, Mapping[str, str]]  # input → its columns that are used, with their types
    through: Mapping[str, InputChange] = field(default_factory=dict)  # input, as the user wrote it → what caches read of it
    proof: Proof | None = None

    @property
    def caches(self) -> tuple[Cache, ...]:
        return self.plan.caches if self.plan is not None else ()

    @property
    def own_inputs(self) -> dict[str, Input]:
        """The inputs without the caches."""
        caches = {cache.table for cache in self.caches}
        return {name: found for name, found in self.inputs.tables.items() if name not in caches}

    @property
    def is_misread(self) -> bool:
        """Whether there was a plan that means something else than the SELECT."""
        return self.proof is not None and self.proof.how == "differs"


def plan_model(job: Job, stored: StoredView) -> Steps[Planned]:
    """Raises IdivmError for what is wrong, and for what has no rule if that is to be an error."""
    inputs = yield from look_up(job.engine, job.invocation, job.request.sql)
    if job.config.strategy == "full":
        return planned(job, inputs, {}, None, finding(407))
    if inputs.findings:
        raise IdivmError(inputs.findings)
    keys = choose_keys(job.request, job.config, inputs)
    if inputs.unfollowed:
        unfollowed = yield from _refusal(job, IdivmError(inputs.unfollowed))
        return planned(job, inputs, keys, None, unfollowed)
    try:
        plan = yield from _compile(job, inputs, keys)
        untold = yield from unsupported_types(job.engine, job.invocation, plan.base_scans)
        if untold:
            raise IdivmError(untold)
    except IdivmError as error:
        if _UNKNOWN_COLUMN in error.codes:
            yield from _renamed(job, stored, inputs)
        refusal = yield from _refusal(job, error)
        return planned(job, inputs, keys, None, refusal, error.codes)
    found = planned(job, inputs, keys, plan, None)
    known = known_proof(job, stored)
    return without_plan(job, found, known) if known and known.how == "differs" and known.key == proof_key(job, found) else found


def known_proof(job: Job, stored: StoredView) -> Proof | None:
    """What the stored view's plan was found to be, unless the user wants to start anew."""
    return proof.read(stored.state.proof) if stored.state is not None and not job.request.full_refresh else None


def question(job: Job, found: Planned) -> Question:
    assert found.plan is not None
    return Question(job.request.sql, found.plan, replace(found.inputs, tables=found.own_inputs))


def proof_key(job: Job, found: Planned) -> str:
    return question(job, found).key({part: value for part, value in found.fingerprint.items() if part != LAYOUT})


def without_plan(job: Job, found: Planned, misread: Proof) -> Planned:
    """The model without the plan that was found to mean something else. Raises where that is to be an error."""
    refusal = misread.difference or finding(905, difference="this was found when the view was built")
    if job.config.on_unsupported == "error":
        raise IdivmError(refusal)
    inputs = replace(found.inputs, tables=found.own_inputs)
    return replace(planned(job, inputs, found.keys, None, refusal), proof=misread)


def _compile(job: Job, inputs: Inputs, keys: Mapping[str, Key]) -> Steps[Plan]:
    """The plan. The engine is asked for the types of UNIONs, and of each cache in turn: what comes after depends on them."""
    tables = {name: _table_info(found, keys.get(name)) for name, found in inputs.tables.items()}
    catalog = Catalog(tables, inputs.views)
    lowered = lower(job.request.sql, catalog)
    if lowered.untold:
        unions = tuple(lowered.untold.values())
        told = answers(unions, (yield from ask_types(job.engine, unions, {})))
        lowered = lower(job.request.sql, replace(catalog, unions=dict(zip(lowered.untold, told, strict=True))))
    stored: dict[str, Mapping[str, str]] = {}
    while True:
        caching = Caching(job.config.caches, model_name(job.request), lowered.subviews, stored)
        try:
            plan = compile_plan(lowered.root, lowered.output, strategy=job.config.planned_strategy, caching=caching)
        except ValueError as error:
            raise IdivmError(finding(901, message=str(error))) from error
        asked = next((cache for cache in plan.caches if cache.table not in stored), None)
        if asked is None:
            return plan
        rows = yield from job.engine.ask(commands.describe_query(cache_sql(plan, asked)))
        stored[asked.table] = {str(row[0]): str(row[1]) for row in rows.rows}


def cache_sql(plan: Plan, cache: Cache) -> str:
    """The query whose rows the cache holds, over base tables."""
    return DELTA.sql(full_query(over_tables(cache.plan, plan.caches), Binding()))


def _table_info(found: Input, key: Key | None) -> TableInfo:
    return TableInfo(found.name, found.facts.columns, key.columns if key else None, key.declared if key else "",
                     found.table if found.table != found.name else None, found.visible)


def _refusal(job: Job, error: IdivmError) -> Steps[Finding]:
    """The reason to rebuild; raises if the error is none, or is to be one."""
    volatile = [each for each in error.findings if each.code == _VOLATILE]
    if volatile and job.config.volatile == "error":
        raise IdivmError(volatile) from error
    if job.config.on_unsupported == "error":
        raise error
    if error.is_refusal:
        return finding(408, reason=error.findings[0].summary, codes=", ".join(dict.fromkeys(error.codes)))
    blamed = next(each for each in error.findings if not each.is_refusal)
    doubtful = {each.kind for each in error.findings} <= _OUR_READING and _NO_COLUMN.isdisjoint(error.codes)
    if doubtful and (yield from _is_valid(job)):
        return finding(906, message=blamed.summary)
    raise error


def _is_valid(job: Job) -> Steps[bool]:
    """Whether Spark has nothing against the SELECT."""
    try:
        yield from job.engine.ask(commands.describe_query(job.request.sql))
    except EngineFailure:
        return False
    return True


def _renamed(job: Job, stored: StoredView, inputs: Inputs) -> Steps[None]:
    """Raise IDIVM-308 if columns that the view was built from are gone: that says more than `unknown column`."""
    if stored.latest is None:
        return
    facts = yield from describe(job.engine, stored.table)
    used = facts.properties.get(INPUTS, {}) if facts else {}
    gone = []
    for name, columns in used.items():
        if name in inputs.tables:
            now = [a.name for a in inputs.tables[name].facts.columns]
            known = {each.lower() for each in now}
            gone += [finding(308, source=name, column=column, nearest=", ".join(nearest(column, now)))
                     for column in columns if column.lower() not in known]
    if gone:
        raise IdivmError(gone)


def planned(job: Job, inputs: Inputs, keys: Mapping[str, Key], plan: Plan | None, refusal: Finding | None,
            codes: tuple[str, ...] = ()) -> Planned:
    """`codes` are those of the errors that stand in the way of a plan."""
    model = model_name(job.request)
    used = _used(inputs, plan)
    fingerprint = _fingerprint(job, inputs, keys, plan) | {"inputs": digest(used), LAYOUT: job.config.layout}
    return Planned(inputs, keys, plan, refusal, with_suffix(model, HIDDEN_SUFFIX) if plan and plan.hidden else model,
                   inputs.is_versioned and _UNREPEATABLE.isdisjoint(codes), fingerprint, used)


def _used(inputs: Inputs, plan: Plan | None) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for name, each in inputs.tables.items():
        names = None if plan is None else {a.name for scan in plan.base_scans if scan.table == each.table
                                           for a in scan.base_columns}
        found[name] = {a.name: a.type for a in each.facts.columns if names is None or a.name in names}
    return found


def _fingerprint(job: Job, inputs: Inputs, keys: Mapping[str, Key], plan: Plan | None) -> dict[str, str]:
    """All that the stored rows depend on besides the inputs' rows and columns, in parts."""
    stored = [(c.name, c.attribute, c.hidden) for c in plan.columns] if plan else "the user's SELECT"
    caches = {"caches": digest([(cache.table, cache.digest) for cache in plan.caches])} if plan and plan.caches else {}
    return {
        # the texts of plain views are part of the definition
        "sql": digest(canonical(job.request.sql), {name: canonical(text) for name, text in inputs.views.items()}),
        "keys": digest({name: key.columns for name, key in keys.items()}) if plan else "",
        "stored": digest(stored),
        "ansi": job.request.session.get("ansi", ""),
        "time_zone": job.request.session.get("time_zone", ""),
        **caches,
    }


def canonical(sql: str) -> str:
    """The SQL without comments and layout: its tokens as they are written, since printing may make two texts one."""
    return " ".join(sql[token.start:token.end + 1] for token in tokens_of(sql))


def difference(job: Job, stored: StoredView, planned: Planned) -> Steps[Finding | None]:
    """Why the stored view is not the one that is planned now; None if it is."""
    before = stored.state.plan if stored.state else {}
    now = planned.fingerprint
    changed = [part for part in now if before.get(part) != now[part]]
    if not changed:
        return None
    if changed == [LAYOUT]:
        if job.config.on_configuration_change == "fail":
            raise IdivmError(finding(106, view=model_name(job.request)))
        return finding(415)
    if job.config.on_schema_change == "fail":
        yield from _same_columns(job)
    if "sql" in changed:
        return finding(402, what="another SELECT")
    for setting in ("ansi", "time_zone"):
        if setting in changed:
            return finding(409, setting=setting, before=before.get(setting, ""), now=now[setting])
    if "inputs" in changed:
        return (yield from _changed_columns(job, stored, planned))
    if "caches" in changed:
        return finding(402, what="other caches")
    return finding(402, what="other keys" if "keys" in changed else "another set of stored columns")


def kept_layout(job: Job, stored: StoredView, planned: Planned) -> Planned:
    """`on_configuration_change: continue`: the table stays laid out as it is, and its state says so."""
    before = (stored.state.plan if stored.state else {}).get(LAYOUT)
    if job.config.on_configuration_change != "continue" or before in (None, planned.fingerprint[LAYOUT]):
        return planned
    job.warnings.append(f"{job.request.name}: the table's configuration changed; the table stays as it was created "
                        "(`on_configuration_change: continue`) until it is rebuilt")
    return replace(planned, fingerprint={**planned.fingerprint, LAYOUT: before})


def _same_columns(job: Job) -> Steps[None]:
    """Raises IDIVM-107 if the SELECT no longer has the columns that its relation has, in names, order and types."""
    stored = yield from describe(job.engine, model_name(job.request))
    wanted = yield from job.engine.ask(commands.describe_query(job.request.sql))
    before = {a.name: a.type for a in stored.columns} if stored else {}
    now = {str(row[0]): str(row[1]) for row in wanted.rows}
    if list(before.items()) != list(now.items()):
        raise IdivmError(finding(107, view=model_name(job.request), before=_listed(before), now=_listed(now)))


def _changed_columns(job: Job, stored: StoredView, planned: Planned) -> Steps[Finding]:
    facts = yield from describe(job.engine, stored.table)
    before = facts.properties.get(INPUTS, {}) if facts else {}
    for name, columns in planned.used.items():
        if before.get(name) != columns:
            return finding(412, source=name, before=_listed(before.get(name, {})), now=_listed(columns))
    return finding(402, what="other inputs")


def _listed(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items()) or "none"
