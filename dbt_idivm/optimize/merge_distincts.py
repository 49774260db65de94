"""δ(f(δ(R))) → δ(f(R)) for f of σ, π and ⊎: keys are made distinct once.

    before   distinct(π n(distinct(π x, n(d_ins__orders))))
    after    distinct(π n(π x, n(d_ins__orders)))

Sound because σ, π and ⊎ of a set and of a bag with the same rows have the same rows. Merged recompute i-diffs ask for it,
and groups over groups.
"""

from __future__ import annotations

from dbt_idivm.algebra.bags import Concat, Distinct
from dbt_idivm.algebra.core import Compute, Filter
from dbt_idivm.algebra.relation import Relation, over


def merge_distincts(node: Distinct) -> Relation:
    """δ over the child without the δs that σ, π and ⊎ alone separate from it; the node itself if there is none."""
    child = _inner(node.child)
    return node if child is node.child else Distinct(child)


def _inner(relation: Relation) -> Relation:
    """The same rows, perhaps more often."""
    if isinstance(relation, Distinct):
        return _inner(relation.child)
    if isinstance(relation, Compute | Filter | Concat):
        return over(relation, [*map(_inner, relation.children)])
    return relation
