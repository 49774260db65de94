"""Views of running values, which can be continued for rows that are appended to a partition (ADR 0038).

    σ_{on Pt}(ω_{Pt; sum(x) by O → s, …}(R))     rows are stored with Pt, O and s, from which new rows continue

The running value of a row is a function of the rows of its partition up to it. So the value of a row after the last stored one
follows from the value of that stored row and the new rows in between. It is an aggregate over *parts*: the stored value of the
last stored row, and the contribution of each new row.

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
from dbt_idivm.operators.window import Window, WindowCall
from dbt_idivm.passes.infer_ids import infer_ids
from dbt_idivm.passes.window_root import WindowRoot, can_be_stored, is_of_partitions, passed_up, window_root

_ONE, _ZERO = exp.Literal.number(1), exp.Literal.number(0)


@dataclass(frozen=True)
class RunningCall:
    """A call of ω, the `part` that a new row contributes, and the `function` that aggregates
    parts. `kind`: the type to cast the result to.
    """

    call: WindowCall
    part: exp.Expr
    function: type[exp.AggFunc]
    kind: str | None

    @property
    def frame(self) -> exp.WindowSpec | None:
        """The user's frame. For ROW_NUMBER any frame would do, because ORDER BY distinguishes the rows."""
        return self.call.frame

    def over_parts(self, partition: tuple[str, ...]) -> exp.Expr:
        """The window expression for the value, over rows that hold their part under the name of the call."""
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
    """The rows of `window`, whose `calls` are all running values in the same order, in
    the partitions that satisfy `conditions`.
    """

    calls: tuple[RunningCall, ...]

    @property
    def kept(self) -> tuple[str, ...]:
        """The attributes that are read of the last stored rows: Pt, O and the values."""
        return tuple(dict.fromkeys((*self.partition, *self.ordering, *self.values)))

    @property
    def kinds(self) -> Mapping[str, str]:
        """Value → the type that it is cast to, for values that are cast."""
        return {each.call.name: each.kind for each in self.calls if each.kind is not None}

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The attributes that must be stored: Pt, O, the values, and those from which late outputs are computed."""
        return tuple(dict.fromkeys((*self.kept, *self.read_late)))


def place_running(root: Operator) -> Operator:
    """`root` with the attributes from which its values are continued in its output; unchanged if it is not such a view."""
    found = _running(root)
    return root if found is None or not infer_ids(found.window.child).unique else passed_up(root, found.needed)


def running(root: Operator) -> Running | None:
    """The running-values form of an ID-extended root; None if it has another form, or lacks an
    attribute from which values are continued.
    """
    found = _running(root)
    if found is None or not found.has_lasting_ids:
        return None
    return found if found.held >= {*found.needed, *root.ids} else None


def _running(root: Operator) -> Running | None:
    above = window_root(root)
    if above is None or not all(is_of_partitions(above.window, each) for each in above.conditions):
        return None
    window = above.window
    calls = [_running_call(window, call) for call in window.calls]
    known = tuple(each for each in calls if each is not None)
    if len(known) < len(calls) or not all(each.monotone for each in operators(window.child)):
        return None
    found = Running(window, above.outputs, above.conditions, known)
    return found if _has_one_order(found) and all(can_be_stored(window.types[name]) for name in found.needed) else None


# Wrong with two orders: in ω_{cid; sum(price) by placed, row_number() by price desc, id} a row that is last by `placed` may be
# first by `price`, and would take the number of a stored row.
def _has_one_order(found: Running) -> bool:
    """Whether all calls have the same ORDER BY, over attributes whose values are stored
    unchanged, and Pt can identify partitions.
    """
    types = found.window.types
    if any(each.call.order != found.order for each in found.calls):
        return False
    if not found.order or not all(isinstance(each, exp.Ordered) and isinstance(each.this, exp.Column) for each in found.order):
        return False
    return all(has_exact_order(types[name]) or is_float(types[name]) for name in found.ordering) and all(
        has_exact_order(types[name]) for name in found.partition
    )


def _running_call(window: Window, call: WindowCall) -> RunningCall | None:
    """The call with its part; None if the table above does not list it, or its type is not certain."""
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


# Wrong for the whole partition, or for a frame that ends after the row: stored values would change as well. Wrong for a frame
# that starts at a row: the rows that leave it are not known.
def _is_running(frame: exp.WindowSpec | None) -> bool:
    """Whether a frame starts with the partition and ends with the current row or its peers."""
    if frame is None:
        return True
    start, end = (str(frame.args.get(each) or "").upper() for each in ("start", "end"))
    return start == "UNBOUNDED" and end in ("CURRENT ROW", "") and not frame.args.get("exclude")


# Wrong with 1 for each row: count(x) is 0 in the first rows if their x is NULL.
def _counted(argument: exp.Expr) -> exp.Expr:
    if not isinstance(argument, exp.Column):
        return _ONE.copy()
    is_null = exp.Is(this=argument.copy(), expression=exp.null())
    return exp.Case(ifs=[exp.If(this=is_null, true=_ZERO.copy())], default=_ONE.copy())
