"""R ⋉_K Δ → N ⋉_K Δ where Δ names rows of R by R's own changed keys: the table need not be read for them.

    before   π price, rate((scan orders ⋉ oid d_upd__orders) ⋈ scan currencies)
    after    π price, rate((d_plus__orders ⋉ oid d_upd__orders) ⋈ scan currencies)

N⁺ and N⁻ are the new and the old rows of R's net diff. A key that the net diff names has no other row than these:

| state of R | rows under a changed key | because (constraints of idIVM, Fig. 8)
|------------|--------------------------|------------------------------------------------------------
| post       | N⁺                       | C1: ∆+ ⊆ R⁺; C2: R⁺ has none of ∆-; C3: R⁺ has the values of ∆u
| pre        | N⁻                       | the rows under a changed key were deleted
| any        | N⁺ ⊎ N⁻                  | it is R⁺ ⊎ N⁻

Sound only if each key that Δ holds is known to be one that changed, if it is the whole key, and if R has one: the other
rows of a group, the other copies of a row without a key, a row found for a partner that changed, are in R alone. The signed
rows of a feed are not netted: they name rows that an UPDATE wrote as they were, which are in no part of the net diff.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.core import SemiJoin
from dbt_idivm.algebra.operator import State
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.operators.scan import DiffClass, DiffRows, Scan
from dbt_idivm.optimize.lineage import leaves

CHANGED: Mapping[State, tuple[DiffClass, ...]] = {"post": ("plus",), "pre": ("minus",), "any": ("plus", "minus")}


def use_net_diff(node: SemiJoin) -> Relation:
    """N ⋉_K Δ if all of the above holds, else the node itself."""
    if isinstance(node.child, Scan) and _names_changed_keys(node, node.child):
        return replace(node, child=changed_rows(node.child))
    return node


def _names_changed_keys(rows: SemiJoin, scan: Scan) -> bool:
    if rows.anti or not scan.unique or not set(scan.ids) <= set(rows.on):
        return False
    found = leaves(rows.keys, scan.ids)
    return found is not None and all(
        leaf.scan == replace(scan, state="post") and leaf.diff_class != "signed" and names == scan.ids for leaf, names in found
    )


def changed_rows(scan: Scan) -> Relation:
    """What the net diff of the table holds of it in the scan's state."""
    rows = tuple(DiffRows(replace(scan, state="post"), each, scan.columns) for each in CHANGED[scan.state])
    return rows[0] if len(rows) == 1 else Concat(rows)
