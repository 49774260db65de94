"""What a model is: from the request and the facts about its inputs to keys and a plan, or to the reason why there is none.

A refresh, `explain --project`, `diff` and `advise` have the same definition of a model. They differ in how they know the facts,
and in who answers the questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dbt_idivm.algebra.expressions import render
from dbt_idivm.algebra.types import cannot_be_carried, is_known, type_of
from dbt_idivm.context import Caching, Catalog, TableInfo
from dbt_idivm.definition.compiling import Compiled, WithoutPlan, compiled
from dbt_idivm.definition.config import ModelConfig
from dbt_idivm.definition.facts import Facts, Table
from dbt_idivm.definition.fingerprint import fingerprint
from dbt_idivm.definition.found_keys import FOUND, candidates
from dbt_idivm.definition.keys import Key, choose_keys, without_declared_key
from dbt_idivm.definition.questions import Asks, ColumnsOf, UnsupportedTypes, ask
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.definition.user_functions import called_functions, usable
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.passes.reproducible import unreproducible
from dbt_idivm.script.dialect import DELTA, Dialect
from dbt_idivm.script.plan import Plan

_NO_IDS = "IDIVM-109"


@dataclass(frozen=True)
class Definition:
    """A model over its inputs. `found`: its plan, and what that was made from; or why there is none. `uncached`: why the plan
    leaves out caches that the config names, which are possible only with keys that nobody has declared."""

    request: ModelRequest
    config: ModelConfig
    facts: Facts
    keys: Mapping[str, Key]
    found: Compiled | IdivmError
    uncached: tuple[Finding, ...] = ()

    @property
    def plan(self) -> Plan | None:
        return self.found.plan if isinstance(self.found, Compiled) else None

    @property
    def times(self) -> dict[str, str]:
        """Column that has the time of writing → its definition."""
        found = self.found
        times = found.lowered.times if isinstance(found, Compiled) else found.times if isinstance(found, WithoutPlan) else ()
        return {each.name: render(each.definition) for each in times}

    @property
    def fingerprint(self) -> dict[str, str]:
        """The parts of everything that stored rows of the model depend on, except the rows of its inputs."""
        return fingerprint(self.request, self.config, self.facts, self.keys, self.plan)


def define(
    request: ModelRequest,
    config: ModelConfig,
    facts: Facts,
    *,
    chosen: tuple[str, ...] = (),
    found_keys: Mapping[str, tuple[str, ...]] | None = None,
    dialect: Dialect = DELTA,
) -> Asks[Definition]:
    """The definition of the model. `chosen`: digests of the subviews that are cached under `caches: auto`, if that is possible.
    `found_keys`: input → the key that was found in its data; it does not count under settings that exclude it.

    Raises IdivmError for keys that are wrong; the reasons why there is no plan are part of the definition.
    """
    if facts.unread is not None:
        return Definition(request, config, facts, {}, IdivmError(facts.unread))
    facts = replace(facts, functions=(yield from called_functions(request.sql, facts.views, config.deterministic_functions)))
    keys = choose_keys(request, config.keys, facts, found_keys if config.looks_for_keys else None)
    uncached: tuple[Finding, ...] = ()
    try:
        try:
            found: Compiled | IdivmError = yield from _planned(request, config, facts, keys, chosen, dialect)
        except IdivmError as error:
            if not (yield from _waits_for_keys(error, request, config, facts, keys, dialect)):
                raise
            uncached = error.findings
            found = yield from _planned(request, _without(config, uncached), facts, keys, chosen, dialect)
    except IdivmError as error:
        times = error.times if isinstance(error, WithoutPlan) else ()
        found = WithoutPlan((*facts.obstacles, *error.findings), times)
    return Definition(request, config, facts, keys, found, uncached)


# Wrong without it: where a key that nobody has promised breaks, the model would fail, and not only lose its caches.
def _waits_for_keys(
    error: IdivmError, request: ModelRequest, config: ModelConfig, facts: Facts, keys: Mapping[str, Key], dialect: Dialect
) -> Asks[bool]:
    """Whether a plan is prevented only by named caches without unique IDs, which they would have by keys that may be found."""
    if not config.looks_for_keys or set(error.codes) != {_NO_IDS}:
        return False
    likeliest = {each.name: found[0] for each in without_declared_key(request, config.keys, facts) if (found := candidates(each))}
    supposed = {name: Key(columns, FOUND, found=True) for name, columns in likeliest.items()}
    try:
        yield from _planned(request, config, facts, {**supposed, **keys}, (), dialect)
    except IdivmError:
        return False
    return True


def _without(config: ModelConfig, uncached: tuple[Finding, ...]) -> ModelConfig:
    """The config without the names of the caches that are not possible."""
    names = {each.details["name"].lower() for each in uncached}
    return replace(config, caches=tuple(name for name in config.caches if name.lower() not in names))


def _planned(
    request: ModelRequest,
    config: ModelConfig,
    facts: Facts,
    keys: Mapping[str, Key],
    chosen: tuple[str, ...],
    dialect: Dialect,
) -> Asks[Compiled]:
    """Its plan. Raises IdivmError if there is none, or only one that cannot be used."""
    catalog, caching = replace(catalog_of(facts, keys), clock_is_input=config.reads_clock), caching_of(request, config, chosen)
    try:
        found = yield from compiled(request.sql, catalog, caching, config.ways, config.cache_ways, dialect)
    except IdivmError:
        if not chosen:
            raise
        return (yield from _planned(request, config, facts, keys, (), dialect))  # types that caches cannot have
    if found.lowered.times and not config.keeps_times:
        raise IdivmError(found.lowered.clock)
    if found.lowered.ties and not config.keeps_ties:
        raise WithoutPlan(found.lowered.ties, found.lowered.times)
    unsupported = (yield from ask(UnsupportedTypes(tuple(found.plan.base_scans)))) or ()
    unsupported += yield from _unsupported_outputs(request, found.plan)
    if unsupported or facts.obstacles:
        raise WithoutPlan(unsupported, found.lowered.times)
    if not config.keeps_view and (unstable := unreproducible(found.plan.root)) is not None:
        raise IdivmError(finding(237, what=unstable))
    return found


def catalog_of(facts: Facts, keys: Mapping[str, Key]) -> Catalog:
    """The facts in the form that the planner needs. Raises IDIVM-234 for functions that it cannot use."""
    tables = {name: _table_info(found, keys.get(name)) for name, found in facts.tables.items()}
    return Catalog(tables, facts.views, functions=usable(facts.functions))


def _table_info(found: Table, key: Key | None) -> TableInfo:
    return TableInfo(
        found.name,
        found.columns,
        key.columns if key else None,
        key.declared if key else "",
        found.table if found.table != found.name else None,
        found.visible,
    )


def caching_of(request: ModelRequest, config: ModelConfig, chosen: tuple[str, ...]) -> Caching:
    """What to cache for the model: as its settings say, and the `chosen` subviews."""
    checked = config.verify == "always"
    return Caching(config.caches, request.relation, project=request.project, checked=checked, chosen=chosen)


def _unsupported_outputs(request: ModelRequest, plan: Plan) -> Asks[tuple[Finding, ...]]:
    """Why the view cannot store its columns. The engine is asked for unknown types, such as VARIANT."""
    shown = [column for column in plan.columns if not column.hidden]
    if all(is_known(plan.root.types[column.attribute]) for column in shown):
        return ()
    columns = yield from ask(ColumnsOf(request.sql))
    return tuple(
        finding(218, column=name, type=kind, use="the view") for name, kind in columns or () if cannot_be_carried(type_of(kind))
    )
