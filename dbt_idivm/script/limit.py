"""The maximal length of a statement. Spark parses, analyses and optimises it, with CTEs expanded, before it reads a row."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.operators.scan import scans
from dbt_idivm.passes.script_size import FEW_MENTIONS, count_mentions
from dbt_idivm.script.ways import Application, Way

# Maximal number of nodes of an application. Each takes 100 to 200 bytes of SQL. Twenty joins have a few hundred nodes.
LONGEST = 5_000


def within_limit(found: Sequence[Application], root: Operator) -> tuple[Application, ...]:
    """The applications to the view `root` that are not too long. Raises IDIVM-232 if all are."""
    kept = tuple(each for each in found if each.length <= LONGEST)
    if found and not kept:
        raise IdivmError(finding(232, mentions=min(each.mentions for each in found), tables=len(scans(root))))
    return kept


def check_lengths(root: Operator, ways: Sequence[Way]) -> None:
    """Raise IDIVM-232 if the view `root` is large, and each of its ways is too long where all of its tables change."""
    if count_mentions(root) > FEW_MENTIONS:
        found = (way.application(lambda leaf: False) for way in ways)
        within_limit([each for each in found if each is not None], root)
