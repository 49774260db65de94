"""The AND-OR DAG of a set of views: groups of equal subviews, and the operations that compute them.

    group 4, V_1: a ⋈ b ⋈ c  ←  ⋈(1: a ⋈ b, c) | ⋈(2: b ⋈ c, a)
    group 5, V_2: b ⋈ c ⋈ d  ←  ⋈(2: b ⋈ c, d) | …

Mistry et al. 2001, §4.2, call groups equivalence nodes (OR: any of their operations computes their rows) and operations operation
nodes (AND: they read all of their inputs). Group 2 is a shared node: both views can be computed, and maintained, from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["select", "join", "aggregate", "other"]


@dataclass(frozen=True)
class Operation:
    """An operator over groups, given by number. `label` is for people: `σ region = 'EU'`, `⋈ o.cid = c.cid`, `γ cid;
    sum(price)`."""

    kind: Kind
    inputs: tuple[int, ...]
    label: str


@dataclass(frozen=True)
class Group:
    """Subviews with the same rows, however they are spelled.

    `form`: text of their normal form; equal texts, equal rows. `tables`: names of the base tables below. A base table is a group
    without operations, whose `form` is its name. `rows`: estimated number; `width`: bytes of a stored row,
    `key_width`: those of its IDs.
    `storable`: whether its rows have unique IDs and types that tables support, so that they can be stored and maintained.
    """

    number: int
    form: str
    tables: frozenset[str]
    rows: float
    width: float
    key_width: float
    operations: tuple[Operation, ...] = ()
    storable: bool = True

    @property
    def is_table(self) -> bool:
        return not self.operations


@dataclass(frozen=True)
class Dag:
    """All groups, each after its inputs and numbered by position; view → its group."""

    groups: tuple[Group, ...]
    views: Mapping[str, int]

    def readers(self, number: int) -> Iterator[Group]:
        """The groups with an operation that reads this group."""
        return (group for group in self.groups if any(number in each.inputs for each in group.operations))
