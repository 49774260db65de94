"""Screening conditions: for each table occurrence what a row has to satisfy to matter to the view at all.

A change of rows that cannot satisfy them, before and after, is screened out (Hanson 1986, after Buneman and Clemons) from the
net diff alone, before any table or the view is read.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbt_idivm.algebra.expressions import attributes
from dbt_idivm.algebra.operator import Conditions, Operator, handed_down
from dbt_idivm.operators.scan import Scan


def screens(root: Operator) -> Mapping[str, Conditions]:
    """Occurrence → the conditions over its own attributes without which no row of the view comes of a row of it."""
    nothing: Conditions = ()
    return {
        scan.occurrence: tuple(each for each in above if attributes(each) and {*scan.columns} >= {*attributes(each)})
        for scan, above in handed_down(root, nothing, lambda node, above: node.screened(above), Scan)
    }
