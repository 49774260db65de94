"""The AND-OR DAG of a set of views: groups of equal subviews, and the operations that give each of them.

    group 4, V_1: a ⋈ b ⋈ c  ←  ⋈(1: a ⋈ b, c) | ⋈(2: b ⋈ c, a)
    group 5, V_2: b ⋈ c ⋈ d  ←  ⋈(2: b ⋈ c, d) | …

Mistry et al. 2001, §4.2, call groups equivalence nodes (OR: any of their operations gives their rows) and operations operation
nodes (AND: they read all of their inputs). Group 2 is one node, of which either view may take its rows, and their changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["select", "join", "aggregate", "other"]


@dataclass(frozen=True)
class Operation:
    """An operator over groups, by number. `label` is for people: `σ region = 'EU'`, `⋈ o.cid = c.cid`, `γ cid; sum(price)`."""

    kind: Kind
    inputs: tuple[int, ...]
    label: str


@dataclass(frozen=True)
class Group:
    """Subviews that have the same rows, however they are spelled.

    `form` is their normal form, as text: equal texts, equal rows. `tables` are the base tables below, by name; a base table is a
    group without operations, whose `form` is its name. `rows` is estimated, `width` are the bytes of a row as it is
    stored. `storable`: its rows have unique IDs and types that a table can have, so that they can be kept and maintained.
    """

    number: int
    form: str
    tables: frozenset[str]
    rows: float
    width: float
    operations: tuple[Operation, ...] = ()
    storable: bool = True

    @property
    def is_table(self) -> bool:
        return not self.operations


@dataclass(frozen=True)
class Dag:
    """All groups, inputs before what reads them, numbered by their places; view → its group."""

    groups: tuple[Group, ...]
    views: Mapping[str, int]

    def readers(self, number: int) -> Iterator[Group]:
        """The groups that have an operation over a group."""
        return (group for group in self.groups if any(number in each.inputs for each in group.operations))
