"""Views of the first k rows of each partition: what they need to be maintained from the changes and their own rows (ADR 0032).

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
    """The rows whose `call`, a ROW_NUMBER, is at most `count`, of the partitions that satisfy `conditions`."""

    call: WindowCall
    count: int

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The attributes that have to be stored: Pt, O, and what late outputs are computed of."""
        names = (*self.partition, *self.ordering, *self.read_late)
        return tuple(dict.fromkeys(name for name in names if name != self.call.name))


def place_first_rows(root: Operator) -> Operator:
    """`root` with what its first rows are ranked by among its attributes; as it is if it is no such view."""
    found = _first_rows(root)
    return root if found is None else passed_up(root, found.needed)


def first_rows(root: Operator) -> FirstRows | None:
    """The first rows that an ID-extended root consists of, if it has the attributes that they are ranked by."""
    found = _first_rows(root)
    if found is None or not root.unique:
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


# Wrong if n = 2, or n >= 2, counted as well: the view then lacks the first row, and no stored row says which one that is.
def _range(number: str, condition: exp.Expr) -> tuple[int, int | None] | None:
    """The least and the largest number, None for any, if the condition is that the number of a row is between them."""
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
