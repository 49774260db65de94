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

from dbt_idivm.algebra.relation import Concat, Filter, Named, Relation, SemiJoin, project
from dbt_idivm.operators.scan import DiffClass, DiffRows

# the classes that are the images of the rows asked for
IMAGES: Mapping[tuple[DiffClass, ...], frozenset[DiffClass]] = {
    ("plus",): frozenset({"ins", "upd"}),
    ("minus",): frozenset({"del"}),
    ("plus", "minus"): frozenset({"ins", "del", "rec"}),
}


def use_diff_rows(relation: Relation) -> Relation:
    if not isinstance(relation, SemiJoin) or relation.anti:
        return relation
    asked, held = _net_diff(relation.child), _selected(relation.keys)
    if not asked or held is None or held.scan != asked[0].scan:
        return relation
    if held.diff_class not in IMAGES.get(tuple(rows.diff_class for rows in asked), ()):
        return relation
    columns = relation.columns
    return project(relation.keys, columns) if set(columns) <= set(relation.keys.columns) else relation


def _net_diff(relation: Relation) -> tuple[DiffRows, ...]:
    """The parts of a net diff that these rows are; none if they are something else."""
    parts = relation.parts if isinstance(relation, Concat) else (relation,)
    found = tuple(part for part in parts if isinstance(part, DiffRows))
    return found if len(found) == len(parts) else ()


def _selected(relation: Relation) -> DiffRows | None:
    """The base i-diff of which this is a selection, under its own names."""
    while isinstance(relation, Filter | Named):
        relation = relation.child if isinstance(relation, Filter) else relation.definition
    return relation if isinstance(relation, DiffRows) else None
