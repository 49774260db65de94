"""Where the attributes of a Δ-script's relation come from: what a rewrite must know to be sound."""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.relation import Compute, Concat, Distinct, Filter, Named, Pair, Probe, Relation, SemiJoin
from dbt_idivm.operators.scan import DiffRows

Leaf = tuple[DiffRows, tuple[str, ...]]


def leaves(relation: Relation, names: tuple[str, ...]) -> tuple[Leaf, ...] | None:
    """The base i-diffs, with their own names of the attributes, from one of which each row's values of `names` come, together.

    None if some may come from anywhere else, or are computed.
    """
    if isinstance(relation, DiffRows):
        return ((relation, names),)
    if isinstance(relation, Compute):
        definitions = dict(relation.definitions)
        sources = [definitions[name] for name in names]
        if not all(isinstance(source, exp.Column) for source in sources):
            return None
        return leaves(relation.child, tuple(source.name for source in sources))
    if isinstance(relation, Filter | Distinct | SemiJoin):
        return leaves(relation.child, names)
    if isinstance(relation, Probe):
        return leaves(relation.left, names)
    if isinstance(relation, Named):
        return leaves(relation.definition, names)
    if isinstance(relation, Pair):
        sides = [side for side in relation.children if set(names) <= set(side.columns)]
        return leaves(sides[0], names) if sides else None
    if isinstance(relation, Concat):
        parts = [leaves(part, names) for part in relation.parts]
        return None if None in parts else tuple(leaf for part in parts if part is not None for leaf in part)
    return None
