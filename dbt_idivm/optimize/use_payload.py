"""touched(Δ, W) → π_W(Δ) where W ⊆ P ∪ payload: what the i-diff carries need not be looked up.

    before   distinct(touched cid by oid(d_del__orders, scan orders))
    after    distinct(π cid(d_del__orders))

Sound because the result may be any superset of the touched values, and the carried values hold both images where both
count (idIVM Fig. 8, C1-C3, in the form that recompute i-diffs need).
"""

from __future__ import annotations

from dbt_idivm.algebra.core import project
from dbt_idivm.algebra.lookups import Touched
from dbt_idivm.algebra.relation import Relation


def use_payload(relation: Relation) -> Relation:
    if isinstance(relation, Touched) and set(relation.wanted) <= set(relation.delta.columns):
        return project(relation.delta, relation.wanted)
    return relation
