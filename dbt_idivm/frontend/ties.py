"""Ties: an order that does not determine a row is completed, so that a window function has one result that stays (ADR 0058).

    row_number() OVER (PARTITION BY cid ORDER BY placed)      row_number() OVER (PARTITION BY cid ORDER BY placed, id)

Spark may take tied rows in any order, so any fixed order of them gives a result that Spark may give. Rows with unique IDs are
ordered by these. Other rows are ordered by all their columns; rows that are equal in all of them may be exchanged.

Only the order of a function whose value is not determined is completed. RANK counts ties, and a frame by RANGE has all of them,
so their orders stay.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, short
from dbt_idivm.algebra.inference import determined_by
from dbt_idivm.algebra.types import distinguishable, equal_is_identical, is_incomparable, is_known
from dbt_idivm.frontend.resolve import without_nulls_clause
from dbt_idivm.operators.window import WindowCall
from dbt_idivm.passes.annotate import Facts

_UNBOUNDED, _CURRENT = "UNBOUNDED", "CURRENT ROW"
_NUMBERED = (exp.RowNumber, exp.Ntile, exp.Lag, exp.Lead)
_FIRST, _LAST = (exp.First, exp.FirstValue), (exp.Last, exp.LastValue)
_WHOLE = {"start": _UNBOUNDED, "start_side": "PRECEDING", "end": _UNBOUNDED, "end_side": "FOLLOWING"}
# Why a function is refused that could be maintained.
UNDER_REBUILD = "under `ties: rebuild` and `output: diffs` no order of them is kept"
# An expression over the attributes of the input → the attribute that has its value.
Computed = Callable[[exp.Expr], str]


class CannotBreak(Exception):
    """Why an order cannot be completed, as the end of a sentence about the function."""


def completed(call: WindowCall, partition: tuple[str, ...], facts: Facts, computed: Computed) -> WindowCall:
    """The call with an order that determines each row. `facts`: of the ID-extended input. Raises CannotBreak."""
    frame = _frame(call)
    named = (each.this.name for each in call.order if isinstance(each.this, exp.Column))
    return call.with_ties(broken_by(frozenset((*partition, *named)), facts, computed), frame)


def broken_by(known: frozenset[str], facts: Facts, computed: Computed) -> tuple[str, ...]:
    """The attributes that order rows which agree on `known`. `facts`: of the ID-extended rows. Raises CannotBreak."""
    return _by_ids(facts, known) if facts.unique else _by_columns(facts, known, computed)


# Wrong without it: sum(x) OVER (ORDER BY day) has the sum of all rows of a day. last_value(x) OVER (ORDER BY day) is the same for
# all of them, too.
def _frame(call: WindowCall) -> exp.WindowSpec | None:
    """The frame of the function over an order that determines rows. Raises CannotBreak if it would have other rows then."""
    head, frame = without_nulls_clause(call.function), call.frame
    if isinstance(head, _NUMBERED):
        return frame
    if frame is None and not call.order:
        return exp.WindowSpec(kind="ROWS", **_WHOLE)  # what the default means without an order
    kind, start, end = _ends(frame)
    if kind == "ROWS" or start == end == _UNBOUNDED:
        return frame
    is_plain = not isinstance(call.function, exp.IgnoreNulls) and not head.expressions and not head.expression
    is_first, is_last = isinstance(head, _FIRST) and start == _UNBOUNDED, isinstance(head, _LAST) and end == _UNBOUNDED
    if is_plain and (is_first or is_last) and {start, end} <= {_UNBOUNDED, _CURRENT}:
        return frame
    raise CannotBreak("a frame by RANGE has all rows with the same values of ORDER BY, and only a frame by ROWS breaks such ties")


def _ends(frame: exp.WindowSpec | None) -> tuple[str, str, str]:
    """(kind, start, end) of a frame; "" for an end at a distance."""
    if frame is None:
        return "RANGE", _UNBOUNDED, _CURRENT
    start, end = (frame.args.get(each) or _CURRENT for each in ("start", "end"))
    first, last = ("" if isinstance(each, exp.Expr) else str(each).upper() for each in (start, end))
    return str(frame.args.get("kind")).upper(), first, last


def _by_ids(facts: Facts, known: frozenset[str]) -> tuple[str, ...]:
    """The IDs that `known` attributes do not determine."""
    found: list[str] = []
    for name in facts.ids:
        if name not in determined_by(known.union(found), facts.dependencies):
            found.append(_ordered(name, facts))
    return tuple(found)


# Wrong without the hidden IDs, which the ID-extended input has: rows that differ in these alone would be exchanged between two
# evaluations in one statement. Wrong without the text of a float: 0.0 and -0.0 are tied, and differ.
def _by_columns(facts: Facts, known: frozenset[str], computed: Computed) -> tuple[str, ...]:
    """Attributes, IDs first, in which two rows are equal only if they are identical."""
    certain = facts.node.certain_types
    same = {name for name in known if name in certain and equal_is_identical(certain[name])}
    found: list[str] = []
    for name in dict.fromkeys((*facts.ids, *facts.node.columns)):
        kind = certain.get(name)
        is_exact = kind is not None and equal_is_identical(kind)
        if (kind is None or is_exact) and name in determined_by(frozenset(same), facts.dependencies):
            continue
        if kind is None or not is_known(kind):
            raise CannotBreak(f"its rows have no key, and the type of their column {short(name)} is not certain (CAST it)")
        value = distinguishable(column(_ordered(name, facts)), kind)
        if not is_exact and isinstance(value, exp.Column):
            raise CannotBreak(f"its rows have no key, and different values of their column {short(name)} may be equal")
        found.append(name if is_exact else computed(value))
        same.add(name)
    return tuple(found)


def _ordered(name: str, facts: Facts) -> str:
    """The attribute, if its values have an order."""
    kind = facts.node.types[name]
    if is_incomparable(kind):
        raise CannotBreak(f"{short(name)} of its rows has the type {kind.sql('spark')}, which has no order")
    return name
