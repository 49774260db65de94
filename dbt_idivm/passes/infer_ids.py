"""Pass 1, inferring IDs (idIVM §4, Table 1): the plan extended so that every operator's output holds its IDs."""

from __future__ import annotations

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators.scan import Scan


def infer_ids(root: Operator) -> Operator:
    """The ID-extended plan, children first. It has the rows of `root`, with the ID attributes that were missing."""
    node = root.with_children(*(infer_ids(child) for child in root.inputs))
    assert isinstance(node, Operator)
    extended = node.with_ids()
    if missing := set(extended.ids) - set(extended.columns):
        raise AssertionError(f"{extended.label()} lacks its IDs {sorted(missing)}")
    return extended


def scans(root: Operator) -> tuple[Scan, ...]:
    """The table occurrences of a plan, left to right."""
    if isinstance(root, Scan):
        return (root,)
    return tuple(scan for child in root.inputs for scan in scans(child))
