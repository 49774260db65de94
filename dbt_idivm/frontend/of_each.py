"""Aggregates of the rows that belong to each row, by any conditions → γ over ⟕, by a key of these rows.

    (SELECT max_by(p.rate, p.day) FROM p WHERE p.cur = l.cur AND p.day <= l.day)
        γ_{key(l); max_by(rate, day), any_value of the rest of l}(l ⟕_{p.cur = l.cur ∧ p.day <= l.day} p)

Each row of l is one group, also where no row of p belongs to it: then it is one padded row. Aggregates leave out NULLs, and what
they read is computed of p before it is padded; count(*) counts a 1 beside each row of p. All rows of a group have one row of
l, so that any value of its columns is theirs. With equalities only, groups of p are joined (`scalar.py`), which takes less.
A group that HAVING removes gives NULL. Where l has one row at most, so that its key has no columns, a constant is the group:
without groups γ has a row of no rows, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, column, passing
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import Place, finding
from dbt_idivm.frontend.aggregate import Grouping
from dbt_idivm.frontend.at_most_one import key_of
from dbt_idivm.frontend.group_by import SelectItem
from dbt_idivm.frontend.partners import CORRELATED, equalities, outer_joined, pair_of
from dbt_idivm.operators import Aggregate, Project, Select
from dbt_idivm.operators.aggregate import Call

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

_WITHOUT_KEY = (
    "the outer rows have no key (declare it), and the aggregate has HAVING or a correlation that is not made of equalities alone"
)


def aggregated_for_each(
    lowering: Lowering,
    grouping: Grouping,
    conditions: Sequence[exp.Expr],
    items: Sequence[SelectItem],
    root: Operator,
    place: Place | None,
) -> tuple[Operator, list[exp.Expr]]:
    """The rows of `root`, with the values of the items for the rows of `grouping` for which the conditions are true."""
    found = [(each, pair_of(each, root, grouping.rows, asked=lowering.is_to_be_repeated)) for each in conditions]
    pairs = [pair for _, pair in found if pair is not None]
    keys = [grouping.key(mine) for _, mine in pairs]  # they are the same in all rows that belong to one
    inner, values = grouping.apply(items)
    having = inner.condition if isinstance(inner, Select) else None
    inner = inner.child if isinstance(inner, Select) else inner
    assert isinstance(inner, Aggregate)
    if having is not None:
        values = tuple(exp.Case(ifs=[exp.If(this=having.copy(), true=each)]) for each in values)
    key, known = key_of(root), {*grouping.common, *(each.name for each in inner.calls)}
    # Wrong without the former: percentile(1, 0.5) of no row would be the value for the padded row.
    is_of_nothing = any(not (each.arguments or _counts_rows(each)) for each in inner.calls)
    if key is None or is_of_nothing or any(not {*attributes(each)} <= known for each in values):
        lowering.findings.append(finding(208, place, what=_WITHOUT_KEY if key is None else CORRELATED))
        return root, [exp.null() for _ in items]
    # Wrong without it: of no row with k = 7, whose key is fixed, the count was a row of NULL and 0.
    if not key and not root.has_row:
        key = (lowering.names.attribute("scalar", "only"),)
        root = Project(root, (*passing(root.columns), (key[0], exp.Literal.number(1))))
    on = [*equalities(pairs, keys), *(each for each, pair in found if pair is None)]
    present = lowering.names.attribute("scalar", "present")
    rows = _with(inner.child, grouping.rows, tuple(name for each in on for name in attributes(each)), present)
    joined = outer_joined(lowering, root, rows, on, place)
    calls = [Call.of(each.name, "count", present) if _counts_rows(each) else each for each in inner.calls]
    rest = [Call(name, exp.AnyValue(this=column(name))) for name in root.columns if name not in key]
    return Aggregate(joined, (*key, *dict.fromkeys(grouping.common)), (*calls, *rest), by_key=True), list(values)


def _counts_rows(call: Call) -> bool:
    return isinstance(call.value, exp.Count) and isinstance(call.value.this, exp.Star)


def _with(below: Operator, rows: Operator, used: Sequence[str], present: str) -> Operator:
    """What aggregates read of the rows, with what conditions use and a 1 that is NULL where there is no row."""
    one = (present, exp.Literal.number(1))
    if below is rows:
        return Project(rows, (*passing(rows.columns), one))
    assert isinstance(below, Project)
    more = dict.fromkeys(name for name in used if name in rows.columns and name not in below.columns)
    return replace(below, definitions=(*below.definitions, *passing(more), one))
