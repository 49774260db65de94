"""Types that cannot be compared: MAP and VARIANT.

Rows cannot be identified, joined or grouped by such values. Changes of a MAP are detected by its text and its JSON. For a VARIANT
these do not show the types inside, so a plan can only read parts of it (`variants.py`). A struct that DESCRIBE truncates may
contain either; it is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from dbt_idivm.algebra.expressions import short
from dbt_idivm.algebra.operator import Operator, handed_down
from dbt_idivm.algebra.types import cannot_be_carried, infer_type, inferred, is_incomparable
from dbt_idivm.errors import Finding, Place, finding
from dbt_idivm.operators.scan import Scan

COMPARISONS = (exp.EQ, exp.NullSafeEQ, exp.NEQ, exp.NullSafeNEQ, exp.LT, exp.GT, exp.LTE, exp.GTE)


def incomparable_attributes(names: tuple[str, ...], root: Operator, place: Place | None, use: str) -> Iterator[Finding]:
    """Findings for attributes of `root` that would have to be compared but cannot be."""
    types = root.types
    for name in names:
        if is_incomparable(types[name]):
            yield finding(218, place, column=short(name), type=types[name].sql("spark"), use=use)


def incomparable_operands(condition: exp.Expr, types: Mapping[str, exp.DataType], place: Place | None) -> Iterator[Finding]:
    """Findings for comparisons inside `condition` whose operands cannot be compared."""
    known = inferred(types)
    for node in condition.find_all(*COMPARISONS):
        for side in (node.this, node.expression):
            kind = infer_type(side, known)
            if is_incomparable(kind):
                yield finding(218, place, column=short(side.sql("spark")), type=kind.sql("spark"), use="a comparison")


def incomparable_outputs(root: Operator, output: tuple[str, ...]) -> Iterator[Finding]:
    """Findings for outputs that the view cannot store because no net diff can contain them."""
    types = root.types
    for name in output:
        if cannot_be_carried(types[name]):
            yield finding(218, column=short(name), type=types[name].sql("spark"), use="the view")


def incomparable_rows(root: Operator, used: tuple[str, ...], places: Mapping[str, Place | None]) -> Iterator[Finding]:
    """Findings for scans that use such a column. Without a key, rows are identified by all their columns."""
    for scan, needed in handed_down(root, frozenset(used), lambda node, above: node.needed(above), Scan):
        yield from _incomparable_values(scan, tuple(name for name in scan.columns if name in needed), places.get(scan.occurrence))


def _incomparable_values(scan: Scan, used: tuple[str, ...], place: Place | None) -> Iterator[Finding]:
    types = scan.types
    if scan.key is None:
        yield from incomparable_attributes(used, scan, place, f"{scan.table}, which has no key")
        return
    carried = tuple(name for name in used if cannot_be_carried(types[name]) and name not in scan.ids)
    yield from incomparable_attributes(carried, scan, place, f"the rows of {scan.table}")
    yield from incomparable_attributes(scan.ids, scan, place, f"the key of {scan.table}")
