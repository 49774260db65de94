"""⟕ whose padded rows a condition above removes becomes ⋈, which has cheaper rules and no presence marker.

    σ_{r.x > 5}(l ⟕_{l.k = r.k} r)      σ_{r.x > 5}(l ⋈_{l.k = r.k} r)

A condition that is true for no NULL removes every row in which the attribute is padded.
"""

from __future__ import annotations

from dbt_idivm.algebra.inference import rejects_null
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators import Join, OuterJoin, Project, Select, SemiAntiJoin

_NOTHING: frozenset[str] = frozenset()


def to_inner_joins(root: Operator, present: frozenset[str] = _NOTHING) -> Operator:
    """The tree for the rows in which none of `present` is NULL; no others are read above."""
    if isinstance(root, OuterJoin) and not root.full and not present.isdisjoint(root.right.columns):
        root = Join(root.left, root.right, root.condition)
    below = zip(root.inputs, _below(root, present), strict=True)
    return root.with_inputs(*(to_inner_joins(child, names) for child, names in below))


def _below(node: Operator, present: frozenset[str]) -> tuple[frozenset[str], ...]:
    """Per input, the attributes that are not NULL in the rows that matter above."""
    if isinstance(node, Select):
        return (present | rejects_null(node.condition),)
    if isinstance(node, Project):
        return (present & frozenset(node.passed),)
    if isinstance(node, Join):
        return (present | rejects_null(node.condition),) * 2
    if isinstance(node, OuterJoin):
        return (_NOTHING, _NOTHING) if node.full else (present, rejects_null(node.condition))
    if isinstance(node, SemiAntiJoin):
        own = rejects_null(node.condition)
        return (present if node.anti else present | own, own)
    return (_NOTHING,) * len(node.inputs)
