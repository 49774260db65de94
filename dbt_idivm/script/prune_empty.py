"""Dropping what depends on an empty base i-diff, before SQL is built. Emptiness is never tested inside a rule."""

from __future__ import annotations

from collections.abc import Callable

from dbt_idivm.algebra.relation import Concat, Probe, Relation, SemiJoin, over
from dbt_idivm.idiff.idiff import IDiff
from dbt_idivm.operators.aggregate import Aggregate
from dbt_idivm.operators.scan import DiffRows
from dbt_idivm.operators.union import UnionAll


def prune_empty(relation: Relation, is_empty: Callable[[DiffRows], bool]) -> Relation | None:
    """`relation` without the branches that have no rows; None if it has none itself."""
    if isinstance(relation, DiffRows):
        return None if is_empty(relation) else relation
    children = [prune_empty(child, is_empty) for child in relation.children]
    left = tuple(child for child in children if child is not None)
    if len(left) == len(children):
        return over(relation, left)
    if isinstance(relation, Concat):
        return left[0] if len(left) == 1 else relation.with_children(*left) if left else None
    if isinstance(relation, UnionAll) and left:
        # the branches keep their numbers
        return relation.with_children(*(new or old for new, old in zip(children, relation.children, strict=True)))
    if isinstance(relation, Aggregate) and not relation.groups:
        return relation
    if isinstance(relation, Probe | SemiJoin) and relation.anti and children[0] is not None:
        return children[0]
    return None


def non_empty(idiffs: tuple[IDiff, ...], is_empty: Callable[[DiffRows], bool]) -> tuple[IDiff, ...]:
    """The i-diffs that can have rows, each without its empty branches."""
    pruned = ((diff, prune_empty(diff.relation, is_empty)) for diff in idiffs)
    return tuple(diff.over(relation) for diff, relation in pruned if relation is not None)
