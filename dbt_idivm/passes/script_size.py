"""How long the Δ-script of a view will be, estimated before it is made: the mentions of tables in it.

The i-diffs of each table are joined with all tables that it is joined with, so n tables in one join are mentioned n² times, and
what the statement leaves out twice grows faster still. 26 tables make a statement of a megabyte.
"""

from __future__ import annotations

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.operators.scan import scans

MOST_MENTIONS = 700


def check_script_size(root: Operator) -> None:
    """Raise IDIVM-232 for a view whose Δ-script would take longer to be made, and to be read, than the view to be rebuilt."""
    mentions = count_mentions(root)
    if mentions > MOST_MENTIONS:
        raise IdivmError(finding(232, mentions=mentions, tables=len(scans(root))))


def count_mentions(root: Operator) -> int:
    """Each table once, and once more for each that it is joined with, at every join above it."""
    own = 0
    if root.expressions and len(root.inputs) == 2:  # a condition tests their rows in pairs
        left, right = (len(scans(side)) for side in root.inputs)
        own = 2 * left * right
    return own + (sum(map(count_mentions, root.inputs)) if root.inputs else 1)
