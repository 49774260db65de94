"""Screening conditions: for each table occurrence what a row has to satisfy to matter to the view at all.

A change of rows that cannot satisfy them, before and after, is a readily ignorable update (Hanson 1986, after Buneman and
Clemons): it is told from the net diff alone, before any table or the view is read.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbt_idivm.algebra.expressions import attributes
from dbt_idivm.algebra.operator import Conditions, Operator
from dbt_idivm.operators.scan import Scan


def screens(root: Operator) -> Mapping[str, Conditions]:
    """Occurrence → the conditions over its own attributes without which no row of the view comes of a row of it."""
    found: dict[str, Conditions] = {}
    _collect(root, (), found)
    return found


def _collect(node: Operator, above: Conditions, found: dict[str, Conditions]) -> None:
    if isinstance(node, Scan):
        own = frozenset(node.columns)
        found[node.occurrence] = tuple(each for each in above if attributes(each) and own.issuperset(attributes(each)))
        return
    for child, conditions in zip(node.inputs, node.screened(above), strict=True):
        _collect(child, conditions, found)
