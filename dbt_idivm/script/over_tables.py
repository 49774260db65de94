"""A plan over base tables alone: the caches that it reads are replaced by their definitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators import Project, Scan
from dbt_idivm.script.plan import Cache, Plan


def over_tables(plan: Plan, caches: Iterable[Cache]) -> Plan:
    """The plan with each of `caches` expanded, for its query alone (`bind.full_query`): its i-diffs still read the caches.

    That query needs no cache to exist: it serves to ask for types, and to compare a cache or view with its definition.
    """
    return replace(plan, root=expanded(plan.root, {cache.table: cache for cache in caches}))


def expanded(root: Operator, caches: dict[str, Cache]) -> Operator:
    """`root` with each scan of one of `caches` (table → cache) replaced by the cache's own tree under the scan's names."""
    if not isinstance(root, Scan) or root.table not in caches:
        return root.with_inputs(*(expanded(child, caches) for child in root.inputs))
    cache = caches[root.table]
    held = {each.name: each.attribute for each in cache.plan.columns}
    definitions = tuple((root.attribute(a.name), column(held[a.name])) for a in root.base_columns)
    return Project(expanded(cache.plan.root, caches), definitions)
