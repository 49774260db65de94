"""INTERSECT ALL and EXCEPT ALL: as many copies of a row as both sides have, or as the left side has more than the right.

R EXCEPT ALL S       μ_{sequence(1, n)}(σ_{n > 0}(π_{l - r → n}(γ_{columns; count(l), count(r)}(R marked l ∪ S marked r))))
R INTERSECT ALL S    the same with least(l, r)
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, passing
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.frontend.names import Names
from dbt_idivm.operators import Aggregate, Project, Select, UnionAll, Unnest
from dbt_idivm.operators.aggregate import Call

_ONE, _NONE = exp.Literal.number(1), exp.cast(exp.null(), "int")


def copies_left(united: UnionAll, names: Names, name: str, *, common: bool) -> Operator:
    """The result of INTERSECT ALL (`common`) or EXCEPT ALL of the two branches of `united`, under its output attributes."""
    sides = [names.attribute(name, side) for side in ("left_copy", "right_copy")]
    marked = tuple(_marked(branch, number, names, name) for number, branch in enumerate(united.inputs))
    sources = tuple((*own, *branch.columns[-2:]) for own, branch in zip(united.sources, marked, strict=True))
    both = UnionAll(marked, united.name, (*united.outputs, *sides), sources)
    groups = tuple(dict.fromkeys(united.outputs))
    calls = tuple(Call.of(names.attribute(name, f"count_{side}"), "count", side) for side in sides)
    left, right = (column(call.name) for call in calls)
    number = names.attribute(name, "copies")
    copies = exp.Least(this=left, expressions=[right]) if common else exp.Sub(this=left, expression=right)
    counted = Project(Aggregate(both, groups, calls), (*passing(groups), (number, copies)))
    kept = Select(counted, exp.GT(this=column(number), expression=exp.Literal.number(0)))
    numbers = exp.GenerateSeries(start=_ONE.copy(), end=column(number))
    place, element = names.attribute(name, "pos"), names.attribute(name, "copy")
    return Unnest(kept, numbers, place, (element,), outer=False)


def _marked(branch: Operator, side: int, names: Names, name: str) -> Project:
    """The branch with one attribute per side: 1 for its own side, NULL for the other."""
    marks = tuple((names.attribute(name, f"side_{side}"), _ONE if side == number else _NONE) for number in range(2))
    return Project(branch, (*passing(branch.columns), *((mark, value.copy()) for mark, value in marks)))
