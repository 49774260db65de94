"""The planner's plan for a test case: tables, and the equivalent ways to maintain a view of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from pytest import MonkeyPatch

from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Caches, Caching, Catalog, Subview, TableInfo
from dbt_idivm.frontend.coercion import answers, question
from dbt_idivm.frontend.lower import Lowered, lower
from dbt_idivm.operators.scan import Attribute, base_idiffs
from dbt_idivm.passes import place_caches
from dbt_idivm.script.by_idiffs import ByIDiffs, by_idiffs
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.ways import ALL_WAYS, STRATEGIES, Strategy, WayName

VIEW = "maintained"
BY_STORED_ROWS: tuple[WayName, ...] = ("additive", "topk", "tail")  # the ways that need the hidden columns of `caches: auto`


@dataclass(frozen=True)
class Table:
    """A base table of a case: columns with Spark types, and its key or None."""

    name: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...] | None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)

    def info(self) -> TableInfo:
        return TableInfo(self.name, tuple(Attribute(*column) for column in self.columns), self.key, "test")


@dataclass(frozen=True)
class Options:
    """Which of the equivalent ways to maintain is on trial."""

    optimised: bool = True
    additive: bool = True
    strategy: Strategy | Literal["whole"] = "id"
    feed: bool = False  # the net diff stays a query over the change feed
    split: bool = True  # base i-diffs by conditional attributes; else operators convert updates of what they test
    caches: Caches | None = None  # None: operator caches if `additive`
    # whatever they cost, intermediate caches at every operator whose rows have unique IDs, or at each such CTE and derived table
    everywhere: bool = False
    by_name: bool = False

    @property
    def policy(self) -> Caches:
        return self.caches or ("auto" if self.additive else "none")

    # the view's states are compared over the rows that changes reach, wherever these can be found
    compared: bool = False
    every_way: bool = False  # the plan has all that the view has, in the order of `ALL_WAYS`

    @property
    def ways(self) -> tuple[WayName, ...]:
        if self.every_way:
            return ALL_WAYS
        named = STRATEGIES[self.strategy] if self.strategy != "whole" else ("whole",)
        return tuple(way for way in named if self.additive or way not in BY_STORED_ROWS)


# A relation → the types of its columns, as an engine reports them.
Ask = Callable[[Relation], Sequence[str]]


def plan_of(
    tables: tuple[Table, ...],
    sql: str,
    options: Options,
    stored: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ask: Ask | None = None,
) -> Plan:
    """`ask` is for a plan that is to be run: without it, branches of UNIONs keep their types."""
    lowered = lowered_of(tables, sql, ask)
    caching = Caching(options.policy, VIEW, lowered.subviews, stored)
    with MonkeyPatch.context() as patch:
        if options.everywhere or options.by_name:
            patch.setattr(place_caches, "is_multivalued", lambda root: False)
            caching = named(everywhere(lowered.root) if options.everywhere else lowered.subviews, caching)
        plan = compile_plan(lowered.root, lowered.output, ways=options.ways, caching=caching, times=lowered.times)
    if options.split or options.strategy == "tuple":
        return plan
    return replace(without_split(plan), caches=tuple(replace(c, plan=without_split(c.plan)) for c in plan.caches))


def lowered_of(tables: tuple[Table, ...], sql: str, ask: Ask | None) -> Lowered:
    catalog = Catalog({table.name: table.info() for table in tables}, clock_is_input=True)
    lowered = lower(sql, catalog)
    while lowered.untyped_unions and ask is not None:
        unions = tuple(lowered.untyped_unions.values())
        types = answers(unions, ask(question(unions)))
        catalog = replace(catalog, unions={**catalog.unions, **dict(zip(lowered.untyped_unions, types, strict=True))})
        lowered = lower(sql, catalog)
    return lowered


def everywhere(root: Operator) -> tuple[Subview, ...]:
    """Each operator as a subview of its own name."""
    return tuple(Subview(f"n{number}", node) for number, node in enumerate(operators(root)))


def named(subviews: tuple[Subview, ...], caching: Caching) -> Caching:
    """All subviews that can be cached are named."""
    found = tuple(each for each in subviews if place_caches.has_unique_ids(each.root))
    return replace(caching, policy=tuple(each.name for each in found), subviews=found)


def without_split(plan: Plan) -> Plan:
    """The plan with every change of a row as UPD, so that each operator must convert what moves rows.

    The compiler never makes it, because it recomputes rows that did not move; it fires the rules that guard conversions.
    """
    base = {scan.occurrence: base_idiffs(scan, frozenset()) for scan in plan.scans}
    ways = (by_idiffs(way.name, plan.root, base) if isinstance(way, ByIDiffs) else way for way in plan.ways)
    return replace(plan, ways=tuple(ways))


def idiff_way(plan: Plan) -> ByIDiffs:
    """The way of a plan that uses i-diffs; one without i-diffs if none does."""
    found = next((way for way in plan.ways if isinstance(way, ByIDiffs)), None)
    return ByIDiffs("id", plan.root, {scan.occurrence: () for scan in plan.scans}) if found is None else found
