"""Calls of the clock, and the columns of a view that only say when a row was written.

    SELECT id, price, current_timestamp() AS loaded_at FROM orders

`loaded_at` reads no column. If nothing else in the view reads it, either, it is no attribute of the view: the plan is that of the
SELECT without it, and no i-diff, comparison or cache has it. Each statement that writes a row of the view also writes its
definition. So the stored value is the time of the refresh that inserted the row, or that last changed another column of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.expressions import call_name

# Functions without arguments, whose value is the time of the statement.
CLOCK = frozenset({"curdate", "current_date", "current_timestamp", "localtimestamp", "now", "unix_timestamp"})
# A constant whose value an edit changes (`adaptation/moving.py`). No query has this node: Spark has no such variables.
CONSTANT_INPUT = exp.SessionParameter
INPUT_SIGN = "@@"  # as which it is printed
_NODES = (exp.CurrentTimestamp, exp.CurrentDate, exp.Localtimestamp, CONSTANT_INPUT)


@dataclass(frozen=True)
class WrittenTime:
    """A column of the view that has the time of writing. `definition` reads no attribute. `place`: its place among the columns of
    the SELECT, from 0. `type`: UNKNOWN if it cannot be inferred."""

    name: str
    place: int
    definition: exp.Expr
    type: exp.DataType


def constant_input(number: int, kind: str) -> exp.Expr:
    """The constant with this number, of a Spark SQL type, as an input like the clock."""
    return CONSTANT_INPUT(this=str(number), kind=kind)


def is_clock(node: exp.Expr) -> bool:
    """Whether this node is a call of the clock, or a constant that is an input like it."""
    if any(True for _ in node.iter_expressions()):
        return False
    return isinstance(node, _NODES) or call_name(node) in CLOCK


def clock_calls(expression: exp.Expr) -> list[exp.Expr]:
    """The calls of the clock in an expression."""
    return [node for node in expression.walk() if is_clock(node)]


def at_time(expression: exp.Expr, timestamp: exp.Expr) -> exp.Expr:
    """The expression with the clock at the time `timestamp`, a TIMESTAMP, in the zone of the session."""
    return expression.transform(lambda node: _value(node, timestamp) if is_clock(node) else node)


def _value(call: exp.Expr, timestamp: exp.Expr) -> exp.Expr:
    name = call_name(call)
    if isinstance(call, exp.CurrentDate) or name in ("current_date", "curdate"):
        return exp.cast(timestamp.copy(), "date")
    if isinstance(call, exp.Localtimestamp) or name == "localtimestamp":
        return exp.cast(timestamp.copy(), exp.DataType.build("timestamp_ntz", dialect="spark"))
    return exp.Anonymous(this="unix_seconds", expressions=[timestamp.copy()]) if name == "unix_timestamp" else timestamp.copy()
