"""Types that cannot be compared: MAP and VARIANT.

They cannot even be carried: a net diff groups whole rows, and an update is written where it differs from what is stored. A
struct that DESCRIBE cuts short may hold one; it is carried, and an engine's error would tell, but nothing is compared by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from dbt_idivm.algebra.expressions import short
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import cannot_be_carried, infer_type, is_incomparable
from dbt_idivm.errors import Finding, Place, finding
from dbt_idivm.operators.scan import Scan

COMPARISONS = (exp.EQ, exp.NullSafeEQ, exp.NEQ, exp.NullSafeNEQ, exp.LT, exp.GT, exp.LTE, exp.GTE)


def incomparable_attributes(names: tuple[str, ...], root: Operator, place: Place | None, use: str) -> Iterator[Finding]:
    """Findings for attributes of `root` that are to be compared and cannot."""
    types = root.types
    for name in names:
        if is_incomparable(types[name]):
            yield finding(218, place, column=short(name), type=types[name].sql("spark"), use=use)


def incomparable_operands(condition: exp.Expr, types: Mapping[str, exp.DataType],
                          place: Place | None) -> Iterator[Finding]:
    """Findings for comparisons inside `condition`."""
    for node in condition.find_all(*COMPARISONS):
        for side in (node.this, node.expression):
            kind = infer_type(side, types)
            if is_incomparable(kind):
                yield finding(218, place, column=short(side.sql("spark")), type=kind.sql("spark"), use="a comparison")


def incomparable_outputs(root: Operator, output: tuple[str, ...]) -> Iterator[Finding]:
    """Findings for what the view would store, read from a table or made by a function."""
    types = root.types
    for name in output:
        if cannot_be_carried(types[name]):
            yield finding(218, column=short(name), type=types[name].sql("spark"), use="the view")


def incomparable_rows(root: Operator, used: tuple[str, ...], places: Mapping[str, Place | None]) -> Iterator[Finding]:
    """Findings for scans of which such a column is used; without a key, rows are named by all their columns."""
    if isinstance(root, Scan):
        place = places.get(root.occurrence)
        types = root.types
        if root.key is not None:
            carried = tuple(name for name in used if cannot_be_carried(types[name]) and name not in root.ids)
            yield from incomparable_attributes(carried, root, place, f"the rows of {root.table}")
            used = root.ids
        yield from incomparable_attributes(used, root, place, f"{root.table}, which has no key" if root.key is None
                                           else f"the key of {root.table}")
    for child, needed in zip(root.inputs, root.needed(frozenset(used)), strict=True):
        yield from incomparable_rows(child, tuple(name for name in child.columns if name in needed), places)
