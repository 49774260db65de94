"""R ⋉_K Δ → N ⋉_K Δ if Δ identifies rows of R by R's own changed keys: the table need not be read for them.

    before   π price, rate((scan orders ⋉ oid d_upd__orders) ⋈ scan currencies)
    after    π price, rate((d_plus__orders ⋉ oid d_upd__orders) ⋈ scan currencies)

N⁺ and N⁻ are the new and the old rows of R's net diff. A key that occurs in the net diff has no other rows than these:

| state of R | rows with a changed key  | because (constraints of idIVM, Fig. 8)
|------------|--------------------------|------------------------------------------------------------
| post       | N⁺                       | C1: ∆+ ⊆ R⁺; C2: R⁺ has no row of ∆-; C3: R⁺ has the values of ∆u
| pre        | N⁻                       | the old rows with a changed key were deleted or updated
| any        | N⁺ ⊎ N⁻                  | it is R⁺ ⊎ N⁻

Sound only if R has a key, Δ contains the whole key, and each of its keys is known to have changed. Otherwise some rows are only
in R: the other rows of a group, other copies of a keyless row, a row that is looked up for a changed partner. The signed rows of
a feed are not netted: they include rows that an UPDATE rewrote without a change, which are in no part of the net diff.
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
    """The rows of the table's net diff that the table contains in the scan's state."""
    rows = tuple(DiffRows(replace(scan, state="post"), each, scan.columns) for each in CHANGED[scan.state])
    return rows[0] if len(rows) == 1 else Concat(rows)
