"""The leaves of relations in a Δ-script: scans of tables, and base i-diffs."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_idivm.algebra.lookups import Named
from dbt_idivm.algebra.relation import Relation, folded
from dbt_idivm.operators.scan import DiffRows, Scan


def length(*relations: Relation, kind: type[Relation] = Relation) -> int:
    """The number of nodes of a kind, as an engine plans them: shared nodes count as
    often as they occur, and CTEs are expanded.
    """

    def nodes(node: Relation, below: tuple[int, ...]) -> int:
        return isinstance(node, kind) + (length(node.definition, kind=kind) if isinstance(node, Named) else sum(below))

    return sum(folded(each, nodes) for each in relations)


def diff_leaves(*relations: Relation) -> tuple[DiffRows, ...]:
    """The base i-diffs that the relations read. They may repeat."""
    return tuple(leaf for each in relations for leaf in leaves(each) if isinstance(leaf, DiffRows))


def tables(*relations: Relation) -> tuple[str, ...]:
    """The tables whose rows the relations read, each once."""
    return tuple(dict.fromkeys(leaf.table for each in relations for leaf in leaves(each) if isinstance(leaf, Scan)))


def leaves(relation: Relation) -> Iterator[Relation]:
    """The scans and base i-diffs that a relation reads, including those in CTEs. They may repeat."""
    below = (relation.definition,) if isinstance(relation, Named) else relation.children
    if not below:
        yield relation
    for child in below:
        yield from leaves(child)
