"""The base i-diffs from which attributes of a Δ-script's relation come. Some rewrites are sound only for these."""

from __future__ import annotations

from itertools import chain

from dbt_idivm.algebra.relation import Relation
from dbt_idivm.operators.scan import DiffRows

Leaf = tuple[DiffRows, tuple[str, ...]]


def leaves(relation: Relation, names: tuple[str, ...]) -> tuple[Leaf, ...] | None:
    """(base i-diff, its names of `names`): each row takes its values of `names` unchanged from one row of one of these.

    None if some values may come from anywhere else, or are computed.
    """
    if isinstance(relation, DiffRows):
        return ((relation, names),)
    found = [leaves(below, theirs) for below, theirs in relation.provenance(names) or ()]
    known = [each for each in found if each is not None]
    return tuple(chain.from_iterable(known)) if known and len(known) == len(found) else None
