"""Compile a SELECT: lower it and make its plan, again after each answer that changes what follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dbt_idivm.algebra.written_time import WrittenTime
from dbt_idivm.compiler import cache_candidates, compile_plan
from dbt_idivm.context import AUTO, Caching, Catalog, UnionTypes
from dbt_idivm.definition.questions import Asks, ColumnsOf, ask
from dbt_idivm.definition.user_functions import typed
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.frontend.coercion import UntypedUnion, answers, question
from dbt_idivm.frontend.lower import Lowered, lower
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DELTA, Dialect
from dbt_idivm.script.over_tables import over_tables
from dbt_idivm.script.plan import Cache, Plan
from dbt_idivm.script.render import full_query, relation_query
from dbt_idivm.script.ways import STRATEGIES, WayName


@dataclass(frozen=True)
class Compiled:
    """A plan, and what it was made from. Types of UNIONs that nobody could tell are in `lowered.untyped_unions`."""

    lowered: Lowered
    caching: Caching
    plan: Plan

    def candidates(self) -> tuple[str, ...]:
        """Digests of the subviews that may be cached."""
        return cache_candidates(self.lowered.root, self.lowered.output, self.lowered.subviews)

    def with_caches(self, subviews: Sequence[str], ways: Sequence[WayName]) -> Plan:
        """The plan with caches of these subviews instead, and with these ways. Raises as `compile_plan` does."""
        caching = replace(self.caching, chosen=tuple(subviews))
        return compile_plan(self.lowered.root, self.lowered.output, ways=ways, caching=caching, times=self.lowered.times)


class WithoutPlan(IdivmError):
    """The SELECT has no plan, or none that can be used, although all that reads the clock are its `times` of writing."""

    def __init__(self, findings: Iterable[Finding], times: tuple[WrittenTime, ...]) -> None:
        super().__init__(findings)
        self.times = times


def compiled(
    sql: str,
    catalog: Catalog,
    caching: Caching = AUTO,
    ways: Sequence[WayName] = STRATEGIES["id"],
    cache_ways: Sequence[WayName] | None = None,
    dialect: Dialect = DELTA,
) -> Asks[Compiled]:
    """Compile the plan. `caching`: its subviews and stored types are found here. Raises IdivmError if there is no plan.

    It asks for the types of user functions, of UNIONs, and of each cache in turn, because later types depend on them.
    """
    lowered = yield from _typed(sql, catalog, dialect)
    stored: dict[str, Mapping[str, str]] = {}
    while True:
        caching = replace(caching, subviews=lowered.subviews, stored=dict(stored))
        try:
            plan = compile_plan(
                lowered.root, lowered.output, ways=ways, cache_ways=cache_ways, caching=caching, times=lowered.times
            )
        except ValueError as error:
            raise IdivmError(finding(901, message=str(error))) from error
        except IdivmError as error:
            raise WithoutPlan(error.findings, lowered.times) from error
        asked = next((cache for cache in plan.caches if cache.table not in stored), None)
        columns = None if asked is None else (yield from ask(ColumnsOf(cache_sql(dialect, plan, asked))))
        if asked is None or columns is None:
            return Compiled(lowered, caching, plan)
        stored[asked.table] = dict(columns)


def _typed(sql: str, catalog: Catalog, dialect: Dialect) -> Asks[Lowered]:
    """The SELECT as operators, with the types that had to be asked for."""
    lowered = lower(sql, catalog)
    if catalog.has_untyped_functions:
        catalog = replace(catalog, functions=(yield from typed(dialect, lowered.root, catalog.functions)))
        lowered = lower(sql, catalog)
    while lowered.untyped_unions:
        types = yield from union_types(tuple(lowered.untyped_unions.values()), Binding(dialect=dialect))
        if types is None:
            break
        catalog = replace(catalog, unions={**catalog.unions, **dict(zip(lowered.untyped_unions, types, strict=True))})
        lowered = lower(sql, catalog)
    return lowered


def union_types(unions: Sequence[UntypedUnion], binding: Binding) -> Asks[list[UnionTypes] | None]:
    """Types of UNIONs and their branches, over the tables and the clock of the binding; None if nobody can tell."""
    query = binding.dialect.sql(relation_query(question(unions), binding))
    columns = yield from ask(ColumnsOf(query, "UNIONs and their branches"))
    return None if columns is None else answers(unions, [kind for _, kind in columns])


def cache_sql(dialect: Dialect, plan: Plan, cache: Cache) -> str:
    """The query for the rows of the cache, over base tables."""
    return dialect.sql(full_query(over_tables(cache.plan, plan.caches), Binding(dialect=dialect)))
