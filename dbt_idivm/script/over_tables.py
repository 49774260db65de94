"""A plan over base tables only: the caches that it reads are replaced by their definitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators import Project, Scan
from dbt_idivm.script.plan import Cache, Plan


def over_tables(plan: Plan, caches: Iterable[Cache]) -> Plan:
    """The plan with each of `caches` expanded. Use it only for its query (`full_query`): its i-diffs still read the caches.

    That query does not need the caches to exist. It is used to ask for types, and to compare a cache or view with its definition.
    """
    return replace(plan, root=expanded(plan.root, tuple(caches)))


def expanded(root: Operator, caches: Sequence[Cache]) -> Operator:
    """`root` with each scan of one of `caches` replaced by the cache's own tree, under the attribute names of the scan."""
    cache = next((each for each in caches if isinstance(root, Scan) and each.table == root.table), None)
    if not isinstance(root, Scan) or cache is None:
        return root.with_inputs(*(expanded(child, caches) for child in root.inputs))
    held = {each.name: each.attribute for each in cache.plan.columns}
    definitions = tuple((root.attribute(a.name), column(held[a.name])) for a in root.base_columns)
    return Project(expanded(cache.plan.root, caches), definitions)
