"""⟕ whose padded rows a condition above removes becomes ⋈, which has cheaper rules and no presence marker.

    σ_{r.x > 5}(l ⟕_{l.k = r.k} r)      σ_{r.x > 5}(l ⋈_{l.k = r.k} r)

A condition that is true for no NULL removes every row in which the attribute is padded.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.inference import rejects_null
from dbt_idivm.algebra.operator import Conditions, Operator
from dbt_idivm.operators import Join, OuterJoin


def to_inner_joins(root: Operator, above: Conditions = ()) -> Operator:
    """The tree, of which no rows are read above but those that satisfy `above`: what screens changes holds for rows, too."""
    present = sorted(frozenset[str]().union(*map(rejects_null, above)))
    if isinstance(root, OuterJoin) and not root.full and not set(present).isdisjoint(root.right.columns):
        root = Join(root.left, root.right, root.condition)
    known = tuple(exp.Not(this=exp.Is(this=column(name), expression=exp.null())) for name in present)
    below = zip(root.inputs, root.screened(known), strict=True)
    return root.with_inputs(*(to_inner_joins(child, conditions) for child, conditions in below))
