"""touched(Δ, W) → π_W(R ⋉_P Δ): what an i-diff does not carry is looked up, with Δ pushed down as far as it goes.

    before   distinct(touched cid by oid(d_upd__orders, scan orders))
    after    distinct(π cid(scan orders ⋉ oid d_upd__orders))

Nothing is saved by it: it is what `touched` stands for, so that the next rewrite can read N⁺ or N⁻ instead of R.
"""

from __future__ import annotations

from dbt_idivm.algebra.lookups import Touched
from dbt_idivm.algebra.relation import Relation


def look_up(node: Touched) -> Relation:
    """The query that the node stands for."""
    return node.look_up()
