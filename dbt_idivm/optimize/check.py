"""Checks after each optimisation: the i-diffs still say the same, and at the end no naive look-up is left."""

from __future__ import annotations

from dbt_idivm.algebra.lookups import Touched
from dbt_idivm.algebra.relation import Relation, folded
from dbt_idivm.algebra.types import may_be_same
from dbt_idivm.idiff.idiff import IDiff


def check_same(name: str, before: tuple[IDiff, ...], after: tuple[IDiff, ...]) -> None:
    """Raise AssertionError unless both have the same kinds, IDs, assigned attributes and origins, with the same types."""
    if _said(before) != _said(after):
        raise AssertionError(f"{name} changes what the i-diffs say: {[*map(str, before)]} → {[*map(str, after)]}")
    for diff in after:
        if not any(_have_same_types(diff, old) for old in before if _key(old) == _key(diff)):
            raise AssertionError(f"{name} changes types in {diff}")


def _said(idiffs: tuple[IDiff, ...]) -> set[tuple[object, ...]]:
    return {(*_key(diff), origin) for diff in idiffs for origin in diff.origins}


def _key(diff: IDiff) -> tuple[object, ...]:
    return diff.kind, diff.ids, diff.assigned


def _have_same_types(one: IDiff, other: IDiff) -> bool:
    if one.relation is other.relation:
        return True
    types, others = one.relation.types, other.relation.types
    return all(may_be_same(types[name], others[name]) for name in (*one.ids, *one.assigned))


def check_naive(relation: Relation) -> None:
    """Raise AssertionError if a look-up (`Touched`) is left that no rewrite has replaced."""

    def check(node: Relation, _: tuple[None, ...]) -> None:
        if isinstance(node, Touched):
            raise AssertionError(f"an optimised Δ-script still has {node.label()}")

    folded(relation, check)
