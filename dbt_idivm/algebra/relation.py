"""Relations: the frozen trees that represent views, i-diffs and Δ-scripts, and the methods that each node has to implement.

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

# pairs of a relation and its names of the requested attributes, in the requested order
Provenance = tuple[tuple["Relation", tuple[str, ...]], ...]


class Relation(ABC):
    """A query. `columns` are its attribute names, unique and in order.

    No method has a default, so a node class that does not implement all of them cannot be instantiated.
    """

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]: ...

    @property
    @abstractmethod
    def types(self) -> Mapping[str, exp.DataType]:
        """Attribute name → type; UNKNOWN if it cannot be inferred."""

    @property
    @abstractmethod
    def children(self) -> tuple[Relation, ...]: ...

    @abstractmethod
    def with_children(self, *children: Relation) -> Relation:
        """The same query over these children. For an operator of a view the result is a plain relation."""

    @property
    @abstractmethod
    def expressions(self) -> tuple[exp.Expr, ...]:
        """The scalar expressions in this node, over the attributes of its children."""

    @abstractmethod
    def block(self, binder: Binder) -> Block: ...

    @abstractmethod
    def label(self) -> str:
        """One line for the printed tree, without the children."""

    @abstractmethod
    def restrict(self, on: tuple[str, ...], keys: Relation) -> Relation:
        """σ_{on ∈ keys}(self), pushed down as far as is sound."""

    @abstractmethod
    def narrowed(self, names: frozenset[str]) -> Relation:
        """A relation with the attributes `names`, and perhaps others, that has the same set
        of distinct value combinations of `names`.

        It leaves out whatever these do not depend on: the right side of ⟕ if only left attributes are wanted, window
        functions, aggregates. Keys for look-ups need no more than that.
        """

    @abstractmethod
    def without_empty(self, children: Sequence[Relation | None]) -> Relation | None:
        """The relation if the children that are None have no rows; None if it then has no
        rows either. At least one child is None.
        """

    @abstractmethod
    def provenance(self, names: tuple[str, ...]) -> Provenance | None:
        """The relations from which each row takes its values of `names`, unchanged and all from one row of one of them.

        () for a leaf, which stores its values. None if a value is computed, or if the values come from several relations at once.
        """

    @abstractmethod
    def cardinality(self, inputs: Sequence[Cardinality], sizes: Sizes) -> Cardinality:
        """The estimated number of rows. `inputs`: the estimates of the children; for a named relation, of its definition."""


Folded = TypeVar("Folded")


def folded(relation: Relation, fold: Callable[[Relation, tuple[Folded, ...]], Folded]) -> Folded:
    """Evaluate `fold(node, results of its children)` bottom-up, and return the result of
    the root. Shared nodes are evaluated once.
    """
    return folded_each((relation,), fold)[0]


def folded_each(relations: Sequence[Relation], fold: Callable[[Relation, tuple[Folded, ...]], Folded]) -> tuple[Folded, ...]:
    """`folded` of each relation. Nodes that they share are evaluated once."""
    found: dict[int, Folded] = {}

    def walk(node: Relation) -> Folded:
        key = id(node)
        if key not in found:
            found[key] = fold(node, tuple([walk(child) for child in node.children]))
        return found[key]

    return tuple(map(walk, relations))


def rewrite(relation: Relation, rule: Callable[[Relation], Relation]) -> Relation:
    """`relation` with `rule` applied to every node, children first."""
    return folded(relation, lambda node, children: rule(over(node, children)))


def over(relation: Relation, children: Sequence[Relation]) -> Relation:
    """`relation` with these children. It is returned unchanged if they are the same objects:
    comparing trees would take quadratic time.
    """
    before = relation.children
    same = len(children) == len(before) and all(map(is_, children, before))
    return relation if same else relation.with_children(*children)
