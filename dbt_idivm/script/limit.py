"""How long a statement may be. Spark parses, analyses and optimises it before it reads a row, each name as what it stands for."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.operators.scan import scans
from dbt_idivm.script.ways import Application

# Nodes of an application. A statement has 100 to 200 bytes for each; those of twenty joins and more have some hundred nodes.
LONGEST = 5_000


def within_limit(found: Sequence[Application], root: Operator) -> tuple[Application, ...]:
    """Those of the applications to the view `root` that are not too long. Raises IDIVM-232 if all are."""
    kept = tuple(each for each in found if each.length <= LONGEST)
    if found and not kept:
        raise IdivmError(finding(232, mentions=min(each.mentions for each in found), tables=len(scans(root))))
    return kept
