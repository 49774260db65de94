"""The input of one refresh of a plan: the net diffs of its tables. Inlined ones are screened and classified here.

Of the errors in changed rows this finds `KeyViolation`. Building a statement from a `NetChanges` never fails because of data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dbt_idivm.algebra.expressions import attributes
from dbt_idivm.algebra.operator import Conditions
from dbt_idivm.operators.scan import DiffClass, Scan
from dbt_idivm.script.diff import InlineDiff, NetChanges, NetDiff, Row, classify
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.screen import may_hold


def net_changes(plan: Plan, diffs: Mapping[str, NetDiff], *, screened: bool = True) -> NetChanges:
    """The net diffs, classified for `plan`. Raises KeyViolation if an inlined one violates the key of its table.

    `screened`: leave out changes of rows that cannot satisfy the conditions between their table and the view.
    """
    conditions = plan.annotated.screens if screened else {}
    # the empty split gives all changed rows of each image, from which a state of the table is computed
    splits = {(leaf.scan.occurrence, leaf.split) for way in plan.ways for leaf in way.base_idiffs}
    splits |= {(scan.occurrence, frozenset()) for scan in plan.scans}
    classes: dict[tuple[str, frozenset[str]], Mapping[DiffClass, tuple[Row, ...]]] = {}
    for scan in plan.scans:
        diff = diffs.get(scan.table)
        if isinstance(diff, InlineDiff):
            ignorable = _is_ignorable(scan, conditions.get(scan.occurrence, ()))
            classes |= {
                (occurrence, split): classify(scan, diff, split, ignorable)
                for occurrence, split in splits
                if occurrence == scan.occurrence
            }
    return NetChanges(diffs, classes)


def _is_ignorable(scan: Scan, conditions: Conditions) -> Callable[[Row], bool]:
    """A predicate that is true for a row, over the scan's columns, that certainly fails the conditions."""
    tested = {name for condition in conditions for name in attributes(condition)}
    places = [
        (place, name, a.type)
        for place, (name, a) in enumerate(zip(scan.columns, scan.base_columns, strict=True))
        if name in tested
    ]

    def fails(row: Row) -> bool:
        return not may_hold(conditions, {name: (row[place], kind) for place, name, kind in places})

    return fails if conditions else lambda row: False
