"""Where the attributes of a Δ-script's relation come from: what a rewrite must know to be sound."""

from __future__ import annotations

from itertools import chain

from dbt_idivm.algebra.relation import Relation
from dbt_idivm.operators.scan import DiffRows

Leaf = tuple[DiffRows, tuple[str, ...]]


def leaves(relation: Relation, names: tuple[str, ...]) -> tuple[Leaf, ...] | None:
    """The base i-diffs, with their own names of the attributes, from one of which each row's values of `names` come, together.

    None if some may come from anywhere else, or are computed.
    """
    if isinstance(relation, DiffRows):
        return ((relation, names),)
    found = [leaves(below, theirs) for below, theirs in relation.provenance(names) or ()]
    known = [each for each in found if each is not None]
    return tuple(chain.from_iterable(known)) if known and len(known) == len(found) else None
