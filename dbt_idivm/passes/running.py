"""Views of running values, which rows that are appended to a partition continue (ADR 0038).

    σ_{on Pt}(ω_{Pt; sum(x) by O → s, …}(R))     rows are stored with Pt, O and s, to be continued by new ones

A running value of a row is a function of the rows of its partition up to this one. So that of a row after the last stored one
follows from the value of that one and the new rows up to it. It is the same aggregate, over *parts*: the stored value of the
last stored row, and of each new row what it adds.

| call         | part of a new row        | over the parts
|--------------|--------------------------|-------------------
| row_number() | 1                        | sum
| count(*)     | 1                        | sum
| count(x)     | 1, 0 where x is NULL     | sum
| sum(x)       | x in the type of the sum | sum, in that type
| min(x)       | x                        | min
| max(x)       | x                        | max
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.decimals import is_summable, sum_type
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.inference import certain_type
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.types import has_exact_order, is_float
from dbt_idivm.cached import cached_property
from dbt_idivm.operators.monotone import is_monotone
from dbt_idivm.operators.window import Window, WindowCall
from dbt_idivm.passes.infer_ids import infer_ids
from dbt_idivm.passes.window_root import WindowRoot, can_be_stored, is_of_partitions, passed_up, window_root

_ONE, _ZERO = exp.Literal.number(1), exp.Literal.number(0)


@dataclass(frozen=True)
class RunningCall:
    """A call of ω, `part` of a row of its input, and the `function` over parts; `kind`: the type that its result is cast to."""

    call: WindowCall
    part: exp.Expr
    function: type[exp.AggFunc]
    kind: str | None

    @property
    def frame(self) -> exp.WindowSpec | None:
        """That of the user. Rows that are numbered are distinguished by their order, so any frame would do for ROW_NUMBER."""
        return self.call.frame

    def over_parts(self, partition: tuple[str, ...]) -> exp.Expr:
        """Its value, of rows that have parts under its name."""
        order = exp.Order(expressions=[each.copy() for each in self.call.order])
        value = exp.Window(
            this=self.function(this=column(self.call.name)),
            partition_by=[column(name) for name in partition],
            order=order,
            spec=self.frame.copy() if self.frame is not None else None,
        )
        return value if self.kind is None else exp.cast(value, self.kind, dialect="spark")


@dataclass(frozen=True)
class Running(WindowRoot):
    """The rows of `window`, all of whose `calls` are running values in one order, of the partitions that satisfy `conditions`."""

    calls: tuple[RunningCall, ...]

    @property
    def kept(self) -> tuple[str, ...]:
        """What is read of the last stored rows: Pt, O and the values."""
        return tuple(dict.fromkeys((*self.partition, *self.ordering, *self.values)))

    @property
    def kinds(self) -> Mapping[str, str]:
        """The types of values whose results are cast."""
        return {each.call.name: each.kind for each in self.calls if each.kind is not None}

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The attributes that have to be stored: Pt, O, the values, and what late outputs are computed of."""
        return tuple(dict.fromkeys((*self.kept, *self.read_late)))


def place_running(root: Operator) -> Operator:
    """`root` with what its values are continued by among its attributes; as it is if it is no such view."""
    found = _running(root)
    return root if found is None or not infer_ids(root).unique else passed_up(root, found.needed)


def running(root: Operator) -> Running | None:
    """The running values that an ID-extended root consists of, if it has what they are continued by."""
    found = _running(root)
    if found is None or not root.unique:
        return None
    return found if found.held >= {*found.needed, *root.ids} else None


def _running(root: Operator) -> Running | None:
    above = window_root(root)
    if above is None or not all(is_of_partitions(above.window, each) for each in above.conditions):
        return None
    window = above.window
    calls = [_running_call(window, call) for call in window.calls]
    known = tuple(each for each in calls if each is not None)
    if len(known) < len(calls) or not all(map(is_monotone, operators(window.child))):
        return None
    found = Running(window, above.outputs, above.conditions, known)
    return found if _has_one_order(found) and all(can_be_stored(window.types[name]) for name in found.needed) else None


# Wrong with two orders: of ω_{cid; sum(price) by placed, row_number() by price desc, id} a row that comes last by `placed` may
# come first by `price`, and takes a number that a stored row has.
def _has_one_order(found: Running) -> bool:
    """Whether all calls have one order, by attributes whose values are stored as they are; and partitions can be named."""
    types = found.window.types
    if any(each.call.order != found.order for each in found.calls):
        return False
    if not found.order or not all(isinstance(each, exp.Ordered) and isinstance(each.this, exp.Column) for each in found.order):
        return False
    return all(has_exact_order(types[name]) or is_float(types[name]) for name in found.ordering) and all(
        has_exact_order(types[name]) for name in found.partition
    )


def _running_call(window: Window, call: WindowCall) -> RunningCall | None:
    """The call with its part; None if it is none of the table, or its type is not certain."""
    function = call.function
    if not _is_running(call.frame):
        return None
    if isinstance(function, exp.RowNumber):
        return RunningCall(call, _ONE.copy(), exp.Sum, "int")
    argument = function.this.unnest() if isinstance(function.this, exp.Expr) else None
    if argument is None or function.expressions or not isinstance(argument, exp.Column | exp.Literal | exp.Star):
        return None
    if isinstance(function, exp.Count):
        return RunningCall(call, _counted(argument), exp.Sum, "bigint")
    kind = certain_type(argument, window.child.certain_types)
    if kind is None:
        return None
    if isinstance(function, exp.Sum) and is_summable(kind):
        return RunningCall(call, exp.cast(argument.copy(), sum_type(kind), dialect="spark"), exp.Sum, sum_type(kind))
    if isinstance(function, exp.Min | exp.Max) and has_exact_order(kind):
        return RunningCall(call, argument.copy(), type(function), None)
    return None


# Wrong for the whole partition, or for a frame that ends after the row: then stored values change, too. Wrong for one that starts
# at a row: what leaves it is not known.
def _is_running(frame: exp.WindowSpec | None) -> bool:
    """Whether a frame begins with the partition and ends with the row, or with those that ORDER BY does not distinguish."""
    if frame is None:
        return True
    start, end = (str(frame.args.get(each) or "").upper() for each in ("start", "end"))
    return start == "UNBOUNDED" and end in ("CURRENT ROW", "") and not frame.args.get("exclude")


# Wrong with 1 for each row: count(x) is 0 of the first rows if their x is NULL.
def _counted(argument: exp.Expr) -> exp.Expr:
    if not isinstance(argument, exp.Column):
        return _ONE.copy()
    is_null = exp.Is(this=argument.copy(), expression=exp.null())
    return exp.Case(ifs=[exp.If(this=is_null, true=_ZERO.copy())], default=_ONE.copy())
