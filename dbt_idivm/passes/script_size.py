"""The estimated length of a view's Δ-script, before it is made: how often tables are mentioned in it.

The i-diffs of each table are joined with all other tables of a join, so n tables are mentioned n² times. The parts of the
statement that remove duplicates grow faster still. 26 tables give a statement of a megabyte. A chain of outer joins grows less:
only the keys of rows are looked up there, and an input that is looked up by a key is not joined with the changes of other tables.
"""

from __future__ import annotations

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.outer import RIGHT
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.operators.scan import scans

MOST_MENTIONS = 700
_CHAINED = 8  # this many left tables of an outer join count as one


def check_script_size(root: Operator) -> None:
    """Raise IDIVM-232 for a view whose Δ-script would take longer to generate and to parse than the view takes to rebuild."""
    mentions = count_mentions(root)
    if mentions > MOST_MENTIONS:
        raise IdivmError(finding(232, mentions=mentions, tables=len(scans(root))))


def count_mentions(root: Operator) -> int:
    """The number of mentions: each table once, and once more for each table that it is joined with, at every join above it."""
    return _own(root) + (sum(map(count_mentions, root.inputs)) if root.inputs else 1)


def _own(node: Operator) -> int:
    """The mentions that an operator adds to those of its inputs."""
    if node.united:
        return 2 * len(node.inputs)
    if not node.conditions or len(node.inputs) != 2:  # a condition tests their rows in pairs
        return 0
    left, right = (len(scans(side)) for side in node.inputs)
    is_chained = node.padded == (RIGHT,)
    return right * (2 + left // _CHAINED) if is_chained else 2 * left * right
