"""A ⟕ on a key of its right input becomes a look-up, which needs neither presence markers nor the IDs of that input.

l ⟕_{l.k = r.id} r, r has the key id      each row of l once, with the row of r that l.k looks up, or with NULLs
"""

from __future__ import annotations

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators import LookUpJoin, OuterJoin
from dbt_idivm.operators.look_up_join import is_look_up


def to_look_ups(root: Operator) -> Operator:
    """The tree with a `LookUpJoin` for each outer join that qualifies as a look-up."""
    node = root.with_inputs(*map(to_look_ups, root.inputs))
    if type(node) is OuterJoin and not node.marked and is_look_up(node):
        return LookUpJoin(node.left, node.right, node.condition, node.name, by_key=node.by_key)
    return node
