"""Dropping everything that depends on an empty base i-diff, before SQL is built. Rules never test emptiness."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dbt_idivm.algebra.relation import Relation, folded_each, over
from dbt_idivm.idiff.idiff import IDiff
from dbt_idivm.operators.one_row import NoRows
from dbt_idivm.operators.scan import DiffRows


def prune_empty(relation: Relation, is_empty: Callable[[DiffRows], bool]) -> Relation | None:
    """`relation` without the branches that have no rows; None if it has no rows itself."""
    return _pruned((relation,), is_empty)[0]


def non_empty(idiffs: tuple[IDiff, ...], is_empty: Callable[[DiffRows], bool]) -> tuple[IDiff, ...]:
    """The i-diffs that may have rows, each without its empty branches."""
    left = _pruned([diff.relation for diff in idiffs], is_empty)
    return tuple(diff.over(relation) for diff, relation in zip(idiffs, left, strict=True) if relation is not None)


def _pruned(relations: Sequence[Relation], is_empty: Callable[[DiffRows], bool]) -> tuple[Relation | None, ...]:
    def pruned(node: Relation, children: tuple[Relation | None, ...]) -> Relation | None:
        if isinstance(node, DiffRows):
            return None if is_empty(node) else node
        if isinstance(node, NoRows):
            return None
        kept = [child for child in children if child is not None]
        return over(node, kept) if len(kept) == len(children) else node.without_empty(children)

    return folded_each(relations, pruned)
