"""Relations: the frozen trees that views, i-diffs and Δ-scripts are made of, and what each node has to answer.

An operator of a view is a relation that also has IDs and rules (`algebra/operator.py`). The nodes are in `core.py` (σ, π, ⋈, ⋉),
`bags.py` (duplicate elimination, union without a branch attribute) and `lookups.py`; the last two occur in Δ-scripts only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from operator import is_
from typing import TypeVar

from sqlglot import exp

from dbt_idivm.algebra.block import Binder, Block
from dbt_idivm.algebra.cardinality import Cardinality, Sizes

# relations, each with its own names for the attributes that were asked for
Provenance = tuple[tuple["Relation", tuple[str, ...]], ...]


class Relation(ABC):
    """A query. `columns` are its attribute names, unique and in order.

    Nothing here has a default: a node that does not answer one of these questions cannot be made.
    """

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]: ...

    @property
    @abstractmethod
    def types(self) -> Mapping[str, exp.DataType]:
        """Attribute name → type, UNKNOWN where it cannot be inferred."""

    @property
    @abstractmethod
    def children(self) -> tuple[Relation, ...]: ...

    @abstractmethod
    def with_children(self, *children: Relation) -> Relation:
        """The same query over these children. Of an operator of a view it is a plain relation."""

    @property
    @abstractmethod
    def expressions(self) -> tuple[exp.Expr, ...]:
        """The scalar expressions inside the node, over the attributes of its children."""

    @abstractmethod
    def block(self, binder: Binder) -> Block: ...

    @abstractmethod
    def label(self) -> str:
        """One line for the printed tree, without the children."""

    @abstractmethod
    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        """σ_{on ∈ keys}(self), pushed down as far as it is sound."""

    @abstractmethod
    def narrowed(self, names: frozenset[str]) -> Relation:
        """A relation with the attributes `names` of this one that has the same distinct values of them together.

        It leaves out what those do not depend on: ⟕ of which only left attributes are asked for, ω, aggregates. Keys to look up
        by need no more, and they are written wherever something is looked up.
        """

    @abstractmethod
    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        """The relation if those of its children that are None, at least one, have no rows; None if it then has no rows either."""

    @abstractmethod
    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        """From which relations each row takes its values of `names`, attributes of it, together and unchanged: all from one.

        () for a leaf, which stores its values; None where one is computed, or where they are taken from several at once.
        """

    @abstractmethod
    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        """How many rows it is estimated to have, if its children (of a name, its definition) have `inputs`."""


Folded = TypeVar("Folded")


def folded(relation: Relation, fold: Callable[[Relation, tuple[Folded, ...]], Folded]) -> Folded:
    """What `fold` makes of `relation` and of what it made of the children. A node that occurs several times is asked once."""
    found: dict[int, Folded] = {}

    def walk(node: Relation) -> Folded:
        if id(node) not in found:
            found[id(node)] = fold(node, tuple(walk(child) for child in node.children))
        return found[id(node)]

    return walk(relation)


def rewrite(relation: Relation, rule: Callable[[Relation], Relation]) -> Relation:
    """`relation` with `rule` applied to every node, children first."""
    return folded(relation, lambda node, children: rule(over(node, children)))


def over(relation: Relation, children: Sequence[Relation]) -> Relation:
    """`relation` with these children; itself if they are identical to its own: comparing trees would take quadratic time."""
    before = relation.children
    same = len(children) == len(before) and all(map(is_, children, before))
    return relation if same else relation.with_children(*children)
