"""Rules are data: a rule states the kind of i-diff that it accepts, its guard, and the function that builds the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dbt_idivm.idiff.idiff import IDiff, Kind

# (operator, number of the input, incoming i-diff); the operator is of the class that holds the rule
Guard = Callable[[Any, int, IDiff], bool]
Builder = Callable[[Any, int, IDiff], tuple[IDiff, ...]]


def always(node: Any, side: int, diff: IDiff) -> bool:
    return True


def both(one: Guard, other: Guard) -> Guard:
    return lambda node, side, diff: one(node, side, diff) and other(node, side, diff)


def is_unique(node: Any, side: int, diff: IDiff) -> bool:
    """Whether the IDs of the operator are a key."""
    return bool(node.unique)


def is_bag(node: Any, side: int, diff: IDiff) -> bool:
    return not node.unique


def is_condition(node: Any, side: int, diff: IDiff) -> bool:
    """Whether `diff` is an update of an attribute of the operator's condition, A ∩ X ≠ ∅."""
    return diff.assigns(node.used)


def is_other(node: Any, side: int, diff: IDiff) -> bool:
    return not diff.assigns(node.used)


@dataclass(frozen=True)
class IDiffRule:
    """One row of an operator's rule table. The guards of one kind are exclusive and exhaustive."""

    name: str
    on: Kind
    when: Guard
    emits: str  # the outgoing i-diffs in the notation of the tables, for display
    build: Builder
    paper: str  # the table (and row) of the idIVM paper that it implements, or "ours"
