"""touched(Δ, W) → π_W(R ⋉_P Δ): values that an i-diff does not carry are looked up, with Δ pushed down as far as possible.

    before   distinct(touched cid by oid(d_upd__orders, scan orders))
    after    distinct(π cid(scan orders ⋉ oid d_upd__orders))

By itself it saves nothing: it expands `touched`, so that the next rewrite can read N⁺ or N⁻ instead of R.
"""

from __future__ import annotations

from dbt_idivm.algebra.lookups import Touched
from dbt_idivm.algebra.relation import Relation


def look_up(node: Touched) -> Relation:
    """The look-up query of the node."""
    return node.look_up()
