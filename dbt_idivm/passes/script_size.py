"""Whether a view's Δ-script is too long, which is known before the view is built.

Before anything is planned, it is estimated how often the script mentions tables. The i-diffs of each table are joined with all
other tables of a join, so n tables are mentioned n² times. A chain of outer joins grows less: only the keys of rows are looked up
there, and an input that is looked up by a key is not joined with the changes of other tables.

The estimate is the worst case. Where it is not small, the length of the plan's ways decides: one-row aggregates side by side, or
i-diffs that became one recomputation (`propagate.py`), have a script that is no longer than the query.
"""

from __future__ import annotations

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.outer import RIGHT
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.operators.scan import scans

MOST_MENTIONS = 6_000  # planned in a few seconds
FEW_MENTIONS = 700  # a script of so many is never too long
_CHAINED = 8  # this many left tables of an outer join count as one


def check_script_size(root: Operator) -> None:
    """Raise IDIVM-232 for a view whose Δ-script would take longer to generate than the view takes to rebuild."""
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
