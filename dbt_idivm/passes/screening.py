"""Screening conditions: for each table occurrence, the conditions that a row must satisfy to be relevant to the view.

A change is screened out (Hanson 1986, after Buneman and Clemons) if neither the row before nor the row after it can satisfy them.
That is decided from the net diff alone, before the view or any table is read.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbt_idivm.algebra.expressions import attributes
from dbt_idivm.algebra.operator import Conditions, Operator, handed_down
from dbt_idivm.operators.scan import Scan


def screens(root: Operator) -> Mapping[str, Conditions]:
    """Occurrence → the conditions over its own attributes that a row must satisfy to contribute to a row of the view."""
    nothing: Conditions = ()
    return {
        scan.occurrence: tuple(each for each in above if attributes(each) and {*scan.columns} >= {*attributes(each)})
        for scan, above in handed_down(root, nothing, lambda node, above: node.screened(above), Scan)
    }
