"""Whether a row that leaves a view can be computed again, bit by bit, from the former state of the inputs.

A stored view deletes such rows by their IDs. A log of changes without a view has to contain the whole row as it was logged, so
every value has to be a function of the bag of the inputs' rows. It is not if it depends on the order of rows: sums of floats do,
and so does the choice among values that Spark considers equal (0.0 and -0.0, texts under a collation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sqlglot import exp

from dbt_idivm.algebra.decimals import is_summable
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.types import has_exact_order, is_exact_number, is_float, is_known
from dbt_idivm.operators import (
    Aggregate,
    Join,
    LookUpJoin,
    OneRow,
    OuterJoin,
    Project,
    Scan,
    Select,
    SemiAntiJoin,
    UnionAll,
    Unnest,
    Window,
)
from dbt_idivm.operators.aggregate import SUM_OF_SIZES, Call

_OF_ANY_ORDER = frozenset({"bool_and", "bool_or", "bit_and", "bit_or", "bit_xor"})


def unreproducible(root: Operator) -> str | None:
    """Description of a value in the view that may differ when it is computed again; None if there is none."""
    return next((found for node in operators(root) if (found := CHECKS[type(node)](node)) is not None), None)


def _of_groups(node: Aggregate) -> str | None:
    below = node.child.types
    # Spark normalises floats in grouping keys
    group = next(
        (name for name in node.groups if not is_known(below[name]) or below[name].find(exp.CollateColumnConstraint)), None
    )
    call = next((each for each in node.calls if not _is_exact(each, below)), None)
    return group if group is not None else None if call is None else call.value.sql("spark")


def _has_one_text(kind: exp.DataType) -> bool:
    return is_known(kind) and kind.find(exp.CollateColumnConstraint) is None


def _of_partitions(node: Window) -> str | None:
    below = node.child.types
    if not _are_plain(below[name] for name in (*node.partition, *node.reads)):
        return str(node.calls[0].name)
    return next((each.name for each in node.calls if not _is_plain(each.kind)), None)


def _of_one_row(node: Operator) -> str | None:
    """Each value is computed from one row of each input."""
    return None


def _is_exact(call: Call, below: Mapping[str, exp.DataType]) -> bool:
    """Whether the aggregate of a bag has one value, regardless of the order of its rows."""
    kinds = [below[name] for name in call.arguments]
    if isinstance(call.value, exp.Count):
        return True
    if not _are_plain(kinds):
        return False
    if call.function in ("min", "max"):
        return all(map(has_exact_order, kinds))
    if call.function in ("sum", SUM_OF_SIZES):
        return all(map(is_exact_number, kinds))
    if call.function == "avg":
        return all(is_summable(kind) and kind.this == exp.DataType.Type.DECIMAL for kind in kinds)
    return call.function in _OF_ANY_ORDER or (not call.function and _is_plain(call.type(below)))


def _are_plain(kinds: Iterable[exp.DataType]) -> bool:
    return all(map(_is_plain, kinds))


def _is_plain(kind: exp.DataType) -> bool:
    """Whether equal values of the type are identical."""
    parts = tuple(kind.find_all(exp.DataType))
    return _has_one_text(kind) and not any(map(is_float, parts))


_OF_ONE_ROW = (Scan, OneRow, Select, Project, Join, OuterJoin, LookUpJoin, SemiAntiJoin, UnionAll, Unnest)
# For each class of operators (`tests/unit/test_closed_algebra.py`): what may differ among the values that it computes.
CHECKS: Mapping[type[Operator], Callable[..., str | None]] = {
    Aggregate: _of_groups,
    Window: _of_partitions,
    **dict.fromkeys(_OF_ONE_ROW, _of_one_row),
}
