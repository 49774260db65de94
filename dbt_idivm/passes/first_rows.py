"""Views of the first k rows of each partition: the attributes that they must store to be maintained from changes (ADR 0032).

σ_{n ≤ k}(ω_{Pt; row_number() by O → n}(R))     rows are stored with Pt, O and their IDs, to be ranked with new ones
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.cached import cached_property
from dbt_idivm.operators.window import WindowCall
from dbt_idivm.passes.window_root import WindowRoot, can_be_stored, is_of_partitions, passed_up, window_root


@dataclass(frozen=True)
class FirstRows(WindowRoot):
    """The rows whose `call`, a ROW_NUMBER, is at most `count`, in the partitions that satisfy `conditions`."""

    call: WindowCall
    count: int

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The attributes that must be stored: Pt, O, and those from which late outputs are computed."""
        names = (*self.partition, *self.ordering, *self.read_late)
        return tuple(dict.fromkeys(name for name in names if name != self.call.name))


def place_first_rows(root: Operator) -> Operator:
    """`root` with the attributes that its first rows are ranked by in its output; unchanged if it is not such a view."""
    found = _first_rows(root)
    return root if found is None else passed_up(root, found.needed)


def first_rows(root: Operator) -> FirstRows | None:
    """The first-rows form of an ID-extended root; None if it has another form, or lacks
    an attribute that the rows are ranked by.
    """
    found = _first_rows(root)
    if found is None or not found.has_lasting_ids:
        return None
    return found if found.held >= {*found.needed, *root.ids} else None


def _first_rows(root: Operator) -> FirstRows | None:
    above = window_root(root)
    if above is None or len(above.window.calls) != 1:
        return None
    (call,) = above.window.calls
    if not isinstance(call.function, exp.RowNumber):
        return None
    ranges = {each: _range(call.name, each) for each in above.conditions}
    known = [each for each in ranges.values() if each is not None]
    bounds = [high for _, high in known if high is not None]
    others = tuple(each for each, found in ranges.items() if found is None)
    if not bounds or min(bounds) < 1 or any(low > 1 for low, _ in known):
        return None
    if not all(is_of_partitions(above.window, each) for each in others):
        return None
    found = FirstRows(above.window, above.outputs, others, call, min(bounds))
    return found if all(can_be_stored(found.window.types[name]) for name in found.needed) else None


# Wrong if n = 2 or n >= 2 were accepted: the view then lacks the first row, and no stored row tells which one that is.
def _range(number: str, condition: exp.Expr) -> tuple[int, int | None] | None:
    """(least, largest) row number for which the condition is true; None if it is not a range
    of `number`. None as largest: unbounded.
    """
    node = condition.unnest()
    if isinstance(node, exp.Between):
        parts = (exp.GTE(this=node.this, expression=node.args["low"]), exp.LTE(this=node.this, expression=node.args["high"]))
        low, high = (_range(number, part) for part in parts)
        return (low[0], high[1]) if low is not None and high is not None else None
    if not isinstance(node, (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
        return None
    left, right = node.left.unnest(), node.right.unnest()
    is_left = isinstance(left, exp.Column)
    attribute, limit = (left, right) if is_left else (right, left)
    if not isinstance(attribute, exp.Column) or attribute.name != number:
        return None
    if not isinstance(limit, exp.Literal) or not limit.is_int:
        return None
    value, strict = int(limit.name), isinstance(node, (exp.LT, exp.GT))
    if isinstance(node, exp.EQ):
        return value, value
    if isinstance(node, (exp.LT, exp.LTE)) == is_left:
        return 1, value - strict
    return value + strict, None
