"""touched(Δ, W) → π_W(Δ) if W ⊆ P ∪ payload: values that the i-diff carries need not be looked up.

    before   distinct(touched cid by oid(d_del__orders, scan orders))
    after    distinct(π cid(d_del__orders))

Sound because the result may be any superset of the touched values, and the carried values cover both images if both matter (idIVM
Fig. 8, C1-C3, in the form that recompute i-diffs need).
"""

from __future__ import annotations

from dbt_idivm.algebra.core import project
from dbt_idivm.algebra.lookups import Touched
from dbt_idivm.algebra.relation import Relation


def use_payload(node: Touched) -> Relation:
    """π_W(Δ) if it contains W, else the node itself."""
    return project(node.delta, node.wanted) if set(node.wanted) <= set(node.delta.columns) else node
