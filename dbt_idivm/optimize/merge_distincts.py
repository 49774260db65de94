"""δ(f(δ(R))) → δ(f(R)) for f made of σ, π and ⊎: duplicates of keys are eliminated only once.

    before   distinct(π n(distinct(π x, n(d_ins__orders))))
    after    distinct(π n(π x, n(d_ins__orders)))

Sound because σ, π and ⊎ give the same distinct rows for a bag as for its set. It applies to merged recompute i-diffs and to
groups over groups.
"""

from __future__ import annotations

from dbt_idivm.algebra.bags import Concat, Distinct
from dbt_idivm.algebra.core import Compute, Filter
from dbt_idivm.algebra.relation import Relation, over


def merge_distincts(node: Distinct) -> Relation:
    """δ without the inner δs that only σ, π and ⊎ separate from it; the node itself if there are none."""
    child = _inner(node.child)
    return node if child is node.child else Distinct(child)


def _inner(relation: Relation) -> Relation:
    """The same distinct rows, perhaps with more duplicates."""
    if isinstance(relation, Distinct):
        return _inner(relation.child)
    if isinstance(relation, Compute | Filter | Concat):
        return over(relation, [*map(_inner, relation.children)])
    return relation
