"""A ⟕ whose padded rows are removed by a condition above becomes ⋈, which has cheaper rules and no presence marker.

    σ_{r.x > 5}(l ⟕_{l.k = r.k} r)      σ_{r.x > 5}(l ⋈_{l.k = r.k} r)

A condition that is never true if an attribute is NULL removes every row in which that attribute is padded.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.inference import rejects_null
from dbt_idivm.algebra.operator import Conditions, Operator
from dbt_idivm.operators import Join, OuterJoin


def to_inner_joins(root: Operator, above: Conditions = ()) -> Operator:
    """The tree with ⋈ for each such ⟕. `above`: conditions that all rows of `root` that are read satisfy.

    The conditions are pushed down by `screened`: conditions that screen changes hold for rows as well.
    """
    present = sorted(frozenset[str]().union(*map(rejects_null, above)))
    if isinstance(root, OuterJoin) and not (root.full or root.marked) and not set(present).isdisjoint(root.right.columns):
        root = Join(root.left, root.right, root.condition)
    known = tuple(exp.Not(this=exp.Is(this=column(name), expression=exp.null())) for name in present)
    below = zip(root.inputs, root.screened(known), strict=True)
    return root.with_inputs(*(to_inner_joins(child, conditions) for child, conditions in below))
