"""Which attributes a view needs, and which of them are conditional: two walks from the root down.

An attribute of a base table is *conditional* if a condition, a group or an ID depends on it, so that its change may move
rows; only the others may be maintained as updates (idIVM §4, base table i-diff schemas).
"""

from __future__ import annotations

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators.scan import Scan


def prune_attributes(root: Operator, needed: frozenset[str]) -> Operator:
    """`root` reduced to what the output attributes `needed` depend on, all the way down.

    A change of any other column then nets to nothing: it is screened before anything is computed.
    """
    node = root.pruned(needed)
    return node.with_inputs(*map(prune_attributes, node.inputs, node.needed(needed)))


def needed_attributes(root: Operator, needed: frozenset[str]) -> dict[Operator, frozenset[str]]:
    """Operator of the tree → those of its attributes that the output attributes `needed` depend on."""
    found: dict[Operator, frozenset[str]] = {}

    def walk(node: Operator, above: frozenset[str]) -> None:
        found[node] = above & frozenset(node.columns)
        for child, below in zip(node.inputs, node.pruned(above).needed(above), strict=True):
            walk(child, below)

    walk(root, needed)
    return found


def conditional_attributes(root: Operator) -> dict[str, frozenset[str]]:
    """Occurrence → its conditional attributes. At the root nothing is conditional yet."""
    found: dict[str, frozenset[str]] = {}

    def walk(node: Operator, above: frozenset[str]) -> None:
        if isinstance(node, Scan):
            found[node.occurrence] = above & frozenset(node.columns)
        for child, below in zip(node.inputs, node.conditional(above), strict=True):
            walk(child, below)

    walk(root, frozenset())
    return found
