"""Which attributes a view needs, and which of them are conditional: two top-down walks.

An attribute of a base table is *conditional* if a condition, a group or an ID depends on it, so that a change of it may make rows
enter or leave. Only changes of other attributes can be maintained as updates (idIVM §4, base table i-diff schemas).
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.operator import Operator, handed_down
from dbt_idivm.algebra.types import holds_float
from dbt_idivm.operators.aggregate import Aggregate
from dbt_idivm.operators.scan import Scan
from dbt_idivm.operators.window import Window

_TAKING = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue, exp.First, exp.Last)


def prune_attributes(root: Operator, needed: frozenset[str]) -> Operator:
    """`root` without the attributes on which the output attributes `needed` do not depend, at every level.

    A change of any other column then nets to nothing and is screened out before anything is computed.
    """
    node = root.pruned(needed)
    return node.with_inputs(*map(prune_attributes, node.inputs, node.needed(needed)))


def needed_attributes(root: Operator, needed: frozenset[str]) -> dict[Operator, frozenset[str]]:
    """Operator of the tree → those of its attributes on which the output attributes `needed` depend."""
    found = handed_down(root, needed, lambda node, above: node.pruned(above).needed(above), Operator)  # type: ignore[type-abstract]
    return {node: above & frozenset(node.columns) for node, above in found}


def conditional_attributes(root: Operator) -> dict[str, frozenset[str]]:
    """Occurrence → its conditional attributes. At the root no attribute is conditional yet."""
    found = handed_down(root, frozenset[str](), lambda node, above: node.conditional(above), Scan)
    return {scan.occurrence: above & frozenset(scan.columns) for scan, above in found}


def combined_floats(node: Operator) -> frozenset[str]:
    """The attributes with floats that an aggregate or a window function computes from several rows, rather than to take the value
    of one row. Sums of floats depend on the order of additions, so that their values may differ if they are computed again."""
    if not isinstance(node, Aggregate | Window):
        return frozenset()
    taken = {call.name for call in node.calls if isinstance(call.function, _TAKING)} if isinstance(node, Window) else set()
    new = {*node.types} - {*node.child.types} - taken
    return frozenset(name for name in new if holds_float(node.types[name]))


def depends_on_combined_floats(root: Operator) -> bool:
    """Whether computing the former rows again may give other rows than were stored: a condition, a group or an ID depends on a
    float that was computed from several rows. Without unique IDs, each value does."""
    first = frozenset[str]() if root.unique else frozenset(root.columns)
    found = handed_down(root, first, lambda node, above: node.conditional(above), Operator)  # type: ignore[type-abstract]
    return any(above & combined_floats(node) for node, above in found)
