"""Dropping everything that depends on an empty base i-diff, before SQL is built. Rules never test emptiness."""

from __future__ import annotations

from collections.abc import Callable

from dbt_idivm.algebra.relation import Relation, folded, over
from dbt_idivm.idiff.idiff import IDiff
from dbt_idivm.operators.one_row import NoRows
from dbt_idivm.operators.scan import DiffRows


def prune_empty(relation: Relation, is_empty: Callable[[DiffRows], bool]) -> Relation | None:
    """`relation` without the branches that have no rows; None if it has no rows itself."""

    def pruned(node: Relation, children: tuple[Relation | None, ...]) -> Relation | None:
        if isinstance(node, DiffRows):
            return None if is_empty(node) else node
        if isinstance(node, NoRows):
            return None
        kept = [child for child in children if child is not None]
        return over(node, kept) if len(kept) == len(children) else node.without_empty(children)

    return folded(relation, pruned)


def non_empty(idiffs: tuple[IDiff, ...], is_empty: Callable[[DiffRows], bool]) -> tuple[IDiff, ...]:
    """The i-diffs that may have rows, each without its empty branches."""
    pruned = ((diff, prune_empty(diff.relation, is_empty)) for diff in idiffs)
    return tuple(diff.over(relation) for diff, relation in pruned if relation is not None)
