"""Rows and properties of forms, using the estimates of relations (`algebra/cardinality.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from dbt_idivm.algebra.cardinality import Cardinality, Sizes
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.types import cannot_be_carried, is_storable, name_of_type
from dbt_idivm.cost.sizes import width
from dbt_idivm.passes.place_caches import has_unique_ids
from dbt_idivm.tools.dag.forms import Block, Form, Grouping, Other, Table, of, source_of


class Estimates:
    """Estimates for forms, each computed once."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._known: dict[str, Cardinality] = {}
        self._kept: dict[int, tuple[exp.DataType, bool]] = {}

    def is_kept(self, form: Form, columns: Iterable[str]) -> bool:
        """Whether a table can store these columns of the form, and changes of them can be computed."""
        return is_unique(form) and all(self._is_kept(form.types[name]) for name in columns if name in form.types)

    def _is_kept(self, kind: exp.DataType) -> bool:
        """Cached by object identity: a table's types are the same objects at each of its occurrences."""
        if id(kind) not in self._kept:
            self._kept[id(kind)] = (kind, not cannot_be_carried(kind) and is_storable(name_of_type(kind)))
        return self._kept[id(kind)][1]

    def rows(self, form: Form) -> Cardinality:
        """The estimated rows of a form, over its columns."""
        if form.text not in self._known:
            self._known[form.text] = self._estimated(form)
        return self._known[form.text]

    def _estimated(self, form: Form) -> Cardinality:
        if isinstance(form, Table):
            return form.scan.cardinality((), self._sizes).computed(form.names)
        if isinstance(form, Grouping):
            groups = {f"g{number}": each.name for number, each in enumerate(form.groups) if isinstance(each, exp.Column)}
            return self.rows(form.input).computed(groups).grouped([f"g{number}" for number in range(len(form.groups))])
        if isinstance(form, Other):
            inputs = [self.rows(each).computed(_columns(names)) for each, names in zip(form.inputs, form.names, strict=True)]
            found = form.node.cardinality(inputs, self._sizes)
            passed = {of(number, each): name for number, names in enumerate(form.names) for name, each in _columns(names).items()}
            return found.computed({**passed, **{theirs: name for name, theirs in form.columns.items()}})
        assert isinstance(form, Block)
        return self._joined(form)

    def _joined(self, block: Block) -> Cardinality:
        """Join the sources one by one, preferring those that are connected to the ones joined so far."""
        tests = [test.expression for test in block.tests]
        rest = [*range(len(block.sources))]
        now, inside = Cardinality(1.0), frozenset[int]()
        while rest:
            connected = (number for number in rest if any(_crosses(each, inside, number) for each in block.classes))
            number = next(connected, rest[0]) if inside else rest[0]
            rest.remove(number)
            now = self._with(block, now, inside, number, tests)
            inside |= {number}
        for each in tests:
            now = now.filtered(each)
        return now

    def _with(self, block: Block, now: Cardinality, inside: frozenset[int], number: int, tests: list[exp.Expr]) -> Cardinality:
        source = block.sources[number]
        rows = self.rows(source).computed({of(number, name): name for name in source.types})
        for one, other in (pair for each in block.classes for pair in _equal_within(each, number)):
            rows = rows.filtered(exp.EQ(this=column(one), expression=column(other)))
        for each in _taken(tests, {number}):
            rows = rows.filtered(each)
        if not inside:
            return rows
        joins = [pair for each in block.classes if (pair := _across(each, inside, number)) is not None]
        conditions = [
            *(exp.EQ(this=column(one), expression=column(other)) for one, other in joins),
            *_taken(tests, {*inside, number}),
        ]
        mine = [of(each, name) for each in inside for name in block.sources[each].types]
        return now.paired(rows, conditions, mine, [of(number, name) for name in source.types])


def _columns(names: Mapping[str, exp.Expr]) -> dict[str, str]:
    return {name: each.name for name, each in names.items() if isinstance(each, exp.Column)}


def _taken(tests: list[exp.Expr], sources: set[int]) -> list[exp.Expr]:
    """Remove the tests that read only these sources from the list, and return them. Tests that read no source stay."""
    read = [{source_of(name.name)[0] for name in each.find_all(exp.Column)} for each in tests]
    found = [each for each, mine in zip(tests, read, strict=True) if mine and mine <= sources]
    tests[:] = [each for each in tests if not any(each is one for one in found)]
    return found


def _equal_within(members: tuple[str, ...], number: int) -> list[tuple[str, str]]:
    mine = [name for name in members if source_of(name)[0] == number]
    return [(mine[0], other) for other in mine[1:]]


def _across(members: tuple[str, ...], inside: Iterable[int], number: int) -> tuple[str, str] | None:
    """A pair of equal columns of a class, one from `inside` and one from the source `number`; None if there is none."""
    one = next((name for name in members if source_of(name)[0] in inside), None)
    other = next((name for name in members if source_of(name)[0] == number), None)
    return None if one is None or other is None else (one, other)


def _crosses(members: tuple[str, ...], inside: Iterable[int], number: int) -> bool:
    return _across(members, inside, number) is not None


def is_unique(form: Form) -> bool:
    """Whether rows have unique IDs. A block has them if all of its sources have."""
    if isinstance(form, Block):
        return all(map(is_unique, form.sources))
    return form.scan.unique if isinstance(form, Table) else not isinstance(form, Other) or has_unique_ids(form.node)


def row_width(form: Form, columns: Iterable[str]) -> float:
    return width(form.types[name] for name in columns if name in form.types)


def key_columns(form: Form) -> frozenset[str]:
    """The columns of a row's ID, as far as they are columns of tables and groups."""
    if isinstance(form, Block):
        return frozenset(of(number, name) for number, each in enumerate(form.sources) for name in key_columns(each))
    if isinstance(form, Table):
        return frozenset(form.scan.key or form.names)
    return frozenset(f"g{number}" for number in range(len(form.groups))) if isinstance(form, Grouping) else frozenset()
