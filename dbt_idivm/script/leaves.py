"""What the relations of a Δ-script read: scans of tables, and base i-diffs."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_idivm.algebra.lookups import Named
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.operators.scan import DiffRows


def diff_leaves(*relations: Relation) -> tuple[DiffRows, ...]:
    """The base i-diffs that relations read."""
    return tuple(leaf for each in relations for leaf in leaves(each) if isinstance(leaf, DiffRows))


def leaves(relation: Relation) -> Iterator[Relation]:
    """The scans and base i-diffs that a relation reads, through names as well."""
    below = (relation.definition,) if isinstance(relation, Named) else relation.children
    if not below:
        yield relation
    for child in below:
        yield from leaves(child)
