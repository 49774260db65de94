"""N ⋉_K Δ → Δ if Δ itself contains the requested rows (idIVM Fig. 8: R ⋉ σ_φ ∆+ → σ_φ ∆+, and likewise for ∆u).

    before   d_plus__orders ⋉ oid d_upd__orders
    after    d_upd__orders

| requested | Δ is a part of | because
|-----------|----------------|----------------------------------------------------
| N⁺        | ∆+ or ∆u       | C1, C3: their rows are the new rows with their keys
| N⁻        | ∆-             | its rows are the old rows with their keys
| N⁺ ⊎ N⁻   | ∆+, ∆- or REC  | they contain all images; REC contains both

A selection of Δ by its own values is replaced in the same way: rows that it leaves out are not requested. N⁺ ⋉ REC stays, because
a REC also contains the old images.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.core import Compute, Filter, SemiJoin, project
from dbt_idivm.algebra.lookups import Named
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.operators.scan import DiffClass, DiffRows

# requested parts of the net diff → the classes of i-diffs whose rows are exactly these images
IMAGES: Mapping[tuple[DiffClass, ...], frozenset[DiffClass]] = {
    ("plus",): frozenset({"ins", "upd"}),
    ("minus",): frozenset({"del"}),
    ("plus", "minus"): frozenset({"ins", "del", "rec"}),
}


def use_diff_rows(node: SemiJoin) -> Relation:
    """Δ if it contains the requested rows, else the node itself."""
    held = None if node.anti else _selected(node.keys, node.columns)
    if held is None or held.diff_class not in IMAGES.get(_asked(node.child), ()):
        return node
    return project(node.keys, node.columns)


def _asked(relation: Relation) -> tuple[DiffClass, ...]:
    """The parts of a net diff that make up the relation; () if it has any other part."""
    parts = relation.parts if isinstance(relation, Concat) else (relation,)
    classes = tuple(part.diff_class for part in parts if isinstance(part, DiffRows))
    return classes if len(classes) == len(parts) else ()


def _selected(relation: Relation, columns: tuple[str, ...]) -> DiffRows | None:
    """The base i-diff whose rows the relation selects and passes with `columns`; None if it is anything else."""
    if not set(columns) <= set(relation.columns):
        return None
    while isinstance(relation, Filter | Compute | Named):
        below = relation.provenance(columns)
        if below is None or below[0][1] != columns:
            return None
        relation = below[0][0]
    return relation if isinstance(relation, DiffRows) else None
