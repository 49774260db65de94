"""ROLLUP, CUBE and GROUPING SETS → γ over a ∪ with one branch for each set.

    SELECT a, b, sum(a) … GROUP BY ROLLUP (a, b)      γ_{a', b', branch; sum(x)}(π_{a → a', b → b', a → x}(R)
                                                                               ∪ π_{a → a', NULL → b', a → x}(R)
                                                                               ∪ π_{NULL → a', NULL → b', a → x}(R))
    grouping(b)                                       CASE WHEN branch IN (0) THEN 0 ELSE 1 END

Aggregates read the original columns, the select list reads the grouped ones. The branch is one of the groups, because a NULL of
the data is not the NULL of a set, and a set that is written twice gives its groups twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, passing, short, substitute
from dbt_idivm.algebra.inference import certain_type, typed_null
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.frontend.names import Names
from dbt_idivm.frontend.resolve import Canonical, bare, own_nodes
from dbt_idivm.frontend.scope import Ambiguous, Entry, Scope, Unknown
from dbt_idivm.operators import Project, UnionAll

if TYPE_CHECKING:
    from dbt_idivm.frontend.group_by import SelectItem

Again = Callable[[], Operator]


@dataclass
class GroupedBySets:
    """Builds the ∪ below the γ of one SELECT.

    `keys` are the grouping expressions in the order of grouping_id. Each of `sets` contains the indexes of its keys. `again`
    makes the rows once more, with other attributes at the same positions.
    """

    rows: Operator
    again: Again
    names: Names
    name: str
    keys: tuple[exp.Expr, ...]
    sets: tuple[frozenset[int], ...]
    passed: dict[str, str] = field(default_factory=dict)  # attribute of the rows, or computed → output

    def __post_init__(self) -> None:
        self.union = self.names.union(self.name)

    @property
    def branch(self) -> str:
        return f"{self.union}__branch"

    def output(self, attribute: str) -> str:
        """The attribute of ∪ that has the values of `attribute`."""
        if attribute not in self.passed:
            self.passed[attribute] = self.names.attribute(self.union, short(attribute))
        return self.passed[attribute]

    def mark(self, node: exp.Grouping | exp.GroupingId, asked: list[Canonical], groups: list[Canonical]) -> exp.Expr | None:
        """grouping(x) or grouping_id(x, …) as an expression over the branch; None if Spark does not accept these arguments.

        The keys are the first of `groups`.
        """
        keys = groups[: len(self.keys)]
        if isinstance(node, exp.GroupingId):
            return self.grouping_id() if asked in ([], keys) else None
        return self.grouping(keys.index(asked[0])) if len(asked) == 1 and asked[0] in keys else None

    def grouping(self, place: int) -> exp.Expr:
        """grouping(key): 0 if the set contains the key at this index, else 1."""
        return self._by_branch([int(place not in each) for each in self.sets], "tinyint")

    def grouping_id(self) -> exp.Expr:
        """grouping_id(): one bit per key, the first key being the highest; the bit is 1 if the set lacks the key."""
        places = range(len(self.keys))
        return self._by_branch(
            [sum((place not in each) << (len(places) - 1 - place) for place in places) for each in self.sets], "bigint"
        )

    def _by_branch(self, values: Sequence[int], kind: str) -> exp.Expr:
        branches: dict[int, list[exp.Expr]] = {}
        for number, value in enumerate(values):
            branches.setdefault(value, []).append(exp.Literal.number(number))
        *others, last = branches
        cases = [
            exp.If(this=exp.In(this=column(self.branch), expressions=branches[value]), true=exp.Literal.number(value))
            for value in others
        ]
        whole = exp.Case(ifs=cases, default=exp.Literal.number(last)) if cases else exp.Literal.number(last)
        return exp.cast(whole, kind)

    def united(self, outputs: Sequence[str], computed: Mapping[str, exp.Expr]) -> UnionAll:
        """∪ with an output for each key, followed by those that `output` has made. `computed`:
        definitions of attributes that the rows lack.
        """
        parts = [self._part(number, computed) for number in range(len(self.sets))]
        sources = tuple(sources for _, sources in parts)
        return UnionAll(tuple(part for part, _ in parts), self.union, (*outputs, *self.passed.values()), sources)

    def _part(self, number: int, computed: Mapping[str, exp.Expr]) -> tuple[Operator, tuple[str, ...]]:
        """(rows of one branch, their attributes in the order of the outputs)."""
        rows = self.again() if number else self.rows
        mine = dict(zip(self.rows.columns, map(column, rows.columns), strict=True))
        wanted = [(key, place in self.sets[number]) for place, key in enumerate(self.keys)]
        wanted += [(computed.get(name, column(name)), True) for name in self.passed]
        new: dict[exp.Expr, str] = {}
        sources = []
        for expression, present in wanted:
            value = substitute(expression, mine)
            value = value if present else _null(value, rows)
            if isinstance(value, exp.Column):
                sources.append(value.name)
                continue
            if value not in new:
                new[value] = self.names.attribute(self.name, f"set_{number}")
            sources.append(new[value])
        added = tuple((name, value) for value, name in new.items())
        return (Project(rows, (*passing(rows.columns), *added)) if added else rows), tuple(sources)


# Wrong with a bare NULL: in GROUP BY a GROUPING SETS (()) the column would have no type. If another set has the key, the type of
# the ∪ would be right, but not certain.
def _null(value: exp.Expr, rows: Operator) -> exp.Expr:
    """A NULL of the type of an expression."""
    return typed_null(certain_type(value, rows.certain_types)) or exp.Case(ifs=[exp.If(this=exp.false(), true=value)])


# Wrong without it: c0 and c1 of (SELECT a AS c0, a AS c1 …) are the same attribute here, but in ROLLUP (c0, c1) one may be NULL
# while the other is not. The same goes for y and a in SELECT a AS y … GROUP BY ROLLUP (y, a).
def names_in(raw: exp.Expr, items: Sequence[SelectItem], scope: Scope) -> frozenset[Entry | str]:
    """What the names in a grouping expression refer to: columns of FROM (`Entry`) or aliases (text)."""
    inner = bare(raw)
    if isinstance(inner, exp.Literal):
        item = items[int(inner.name) - 1]
        if not isinstance(item.raw, exp.Column) or item.raw.name.lower() != item.name.lower():
            return frozenset({item.name.lower()})
        inner = item.raw
    found: set[Entry | str] = set()
    for name in (each for each in own_nodes(inner) if isinstance(each, exp.Column)):
        with suppress(Ambiguous):
            try:
                found.add(scope.resolve(tuple(part.name for part in name.parts))[0])
            except Unknown:
                found.add(name.parts[0].name.lower())
    return frozenset(found)
