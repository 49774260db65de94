"""How long the Δ-script of a view will be, estimated before it is made: the mentions of tables in it.

The i-diffs of each table are joined with all tables that it is joined with, so n tables in one join are mentioned n² times, and
what the statement leaves out twice grows faster still. 26 tables make a statement of a megabyte. Of outer joins one above the
other only the keys of rows are looked up, and what is looked up by a key is not joined with the changes of others.
"""

from __future__ import annotations

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.operators.outer_join import OuterJoin
from dbt_idivm.operators.scan import scans
from dbt_idivm.operators.union import UnionAll

MOST_MENTIONS = 700
_CHAINED = 8  # of an outer join's left tables so many count as one


def check_script_size(root: Operator) -> None:
    """Raise IDIVM-232 for a view whose Δ-script would take longer to be made, and to be read, than the view to be rebuilt."""
    mentions = count_mentions(root)
    if mentions > MOST_MENTIONS:
        raise IdivmError(finding(232, mentions=mentions, tables=len(scans(root))))


def count_mentions(root: Operator) -> int:
    """Each table once, and once more for each that it is joined with, at every join above it."""
    return _own(root) + (sum(map(count_mentions, root.inputs)) if root.inputs else 1)


def _own(node: Operator) -> int:
    """The mentions that an operator adds to those of its inputs."""
    if isinstance(node, UnionAll):
        return 2 * len(node.inputs)
    if not node.expressions or len(node.inputs) != 2:  # a condition tests their rows in pairs
        return 0
    left, right = (len(scans(side)) for side in node.inputs)
    is_chained = isinstance(node, OuterJoin) and not node.full
    return right * (2 + left // _CHAINED) if is_chained else 2 * left * right
