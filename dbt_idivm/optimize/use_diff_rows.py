"""N ⋉_K Δ → Δ where Δ itself holds the rows that are asked for (idIVM Fig. 8: R ⋉ σ_φ ∆+ → σ_φ ∆+, and ∆u alike).

    before   d_plus__orders ⋉ oid d_upd__orders
    after    d_upd__orders

| asked for | Δ is a part of | because
|-----------|----------------|----------------------------------------------------
| N⁺        | ∆+ or ∆u       | C1, C3: their rows are the new rows under their keys
| N⁻        | ∆-             | its rows are the old rows under their keys
| N⁺ ⊎ N⁻   | ∆+, ∆- or REC  | they hold all images, of REC both

A selection of Δ by its own values is as good: what it leaves out is not asked for. N⁺ ⋉ REC stays, because a REC holds the
old images as well.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.core import Compute, Filter, SemiJoin, project
from dbt_idivm.algebra.lookups import Named
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.operators.scan import DiffClass, DiffRows

# the classes that are the images of the rows asked for
IMAGES: Mapping[tuple[DiffClass, ...], frozenset[DiffClass]] = {
    ("plus",): frozenset({"ins", "upd"}),
    ("minus",): frozenset({"del"}),
    ("plus", "minus"): frozenset({"ins", "del", "rec"}),
}


def use_diff_rows(node: SemiJoin) -> Relation:
    """Δ if it holds the rows that are asked for, else the node itself."""
    held = None if node.anti else _selected(node.keys, node.columns)
    if held is None or held.diff_class not in IMAGES.get(_asked(node.child), ()):
        return node
    return project(node.keys, node.columns)


def _asked(relation: Relation) -> tuple[DiffClass, ...]:
    """The parts of a net diff that these rows are; none if they are something else."""
    parts = relation.parts if isinstance(relation, Concat) else (relation,)
    classes = tuple(part.diff_class for part in parts if isinstance(part, DiffRows))
    return classes if len(classes) == len(parts) else ()


def _selected(relation: Relation, columns: tuple[str, ...]) -> DiffRows | None:
    """The base i-diff of which this is a selection that passes `columns`."""
    if not set(columns) <= set(relation.columns):
        return None
    while isinstance(relation, Filter | Compute | Named):
        below = relation.provenance(columns)
        if below is None or below[0][1] != columns:
            return None
        relation = below[0][0]
    return relation if isinstance(relation, DiffRows) else None
