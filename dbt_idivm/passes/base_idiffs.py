"""Base table i-diff schemas, per occurrence of a table (idIVM §4, before pass 2)."""

from __future__ import annotations

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.idiff.idiff import IDiff
from dbt_idivm.operators import scan as scan_operator
from dbt_idivm.operators.scan import scans
from dbt_idivm.passes.attributes import conditional_attributes


def base_idiffs(root: Operator, recompute_only: bool = False) -> dict[str, tuple[IDiff, ...]]:
    """Occurrence → its base i-diffs. `root` is ID-extended. `recompute_only`: for `strategy: recompute`."""
    conditional = conditional_attributes(root)
    return {
        scan.occurrence: scan_operator.base_idiffs(scan, conditional[scan.occurrence], recompute_only) for scan in scans(root)
    }
