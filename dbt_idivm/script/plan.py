"""The plan of a view: the result of planning and the input of a refresh."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_idivm.algebra.inference import determined_by
from dbt_idivm.algebra.operator import operators
from dbt_idivm.algebra.types import name_of_type
from dbt_idivm.cached import cached_property
from dbt_idivm.operators.scan import Attribute, Scan, scans
from dbt_idivm.passes.annotate import Annotated, annotate
from dbt_idivm.passes.pipeline import Step
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.ways import Way, WayName


@dataclass(frozen=True)
class Plan(Stored):
    """An ID-extended view, its stored columns, and the ways to maintain it in order of preference.

    The stored columns depend on no way: any of them may do the next refresh, whichever did the last.
    """

    ways: tuple[Way, ...]
    digest: str  # of the tree over base tables; equal trees have the same digest in all models
    passes: tuple[Step, ...] = ()  # the trees after each pass; the last one is `root`
    caches: tuple[Cache, ...] = ()  # intermediate caches, in the order in which they are maintained; a cache's plan has none

    def way(self, name: WayName) -> Way | None:
        """The way of that name; None if the view does not have it."""
        return next((way for way in self.ways if way.name == name), None)

    @cached_property
    def annotated(self) -> Annotated:
        """Facts about each operator (keys, dependencies, provenance) and the screening conditions."""
        return annotate(self.root)

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The stored columns that identify a row, for models that read the view; () if rows may be equal.

        IDs with one value in all rows are left out, such as a row number that is 1, unless there are no others.
        """
        ids = self.root.ids if self.root.unique else ()
        constant = determined_by(frozenset(), self.annotated.facts.dependencies)
        return tuple(dict.fromkeys(map(self.stored, [name for name in ids if name not in constant] or ids)))

    @cached_property
    def relies_on_keys(self) -> bool:
        """Whether the query may give other rows than the user's query if a declared key is violated (ADR 0025).

        It does if it looks rows up by keys, or groups by them.
        """
        first = self.passes[0].root if self.passes else self.root  # as lowered: a pass may turn an outer join into an inner one
        return any(each.by_key for each in operators(first))

    @property
    def scans(self) -> tuple[Scan, ...]:
        return scans(self.root)

    @property
    def tables(self) -> tuple[str, ...]:
        """The input tables in reading order, each once, including the caches that the view reads."""
        return tuple(dict.fromkeys(scan.table for scan in self.scans if not scan.is_clock))

    @property
    def clock(self) -> tuple[Attribute, ...]:
        """The expressions of the clock that the view reads, each once, as columns of the clock."""
        return tuple(dict.fromkeys(each for scan in self.scans if scan.is_clock for each in scan.base_columns))

    @property
    def base_scans(self) -> tuple[Scan, ...]:
        """The table occurrences of the caches and of the view, except scans of caches and of the clock."""
        known = {cache.table for cache in self.caches}
        plans = (*(cache.plan for cache in self.caches), self)
        return tuple(scan for plan in plans for scan in plan.scans if scan.table not in known and not scan.is_clock)

    @property
    def base_tables(self) -> tuple[str, ...]:
        """The base tables from which the caches and the view are computed, each once."""
        return tuple(dict.fromkeys(scan.table for scan in self.base_scans))

    @property
    def column_names(self) -> frozenset[str]:
        """The names of all columns in the plan's statements, lower case: attributes, and columns of tables and of the view."""
        names = {name for node in operators(self.root) for name in node.columns}
        names.update(attribute.name for scan in self.scans for attribute in scan.attributes)
        names.update(self.names)
        return frozenset(name.lower() for name in names)


@dataclass(frozen=True)
class Cache:
    """An intermediate cache: a subview that is kept as a separate maintained table, equal to `plan`'s query after each refresh.

    Its plan reads base tables and earlier caches. It is bound and applied to `table` as a view's plan is to the view. The plan
    above reads the table like any other input, with the key `key`; its net diff is what the refresh of the cache changed.
    """

    number: int  # from 1, in the order of maintenance
    table: str  # the relation's name
    plan: Plan  # all its columns are stored; none is hidden
    attributes: tuple[Attribute, ...]  # the columns that are read above, with IDs; types from the engine, else inferred
    key: tuple[str, ...]  # columns; () for the single row of a γ without groups
    reason: str  # why it is kept: the text after `because`


def columns_of_plan(plan: Plan, *, hidden: bool = False) -> tuple[Attribute, ...]:
    """The columns that a plan stores, with their types: the user's, and with `hidden` the hidden ones as well."""
    types = {each.name: plan.root.types[each.attribute] for each in plan.columns} | {each.name: each.type for each in plan.times}
    return tuple(Attribute(name, name_of_type(types[name])) for name in (plan.names if hidden else plan.visible))
