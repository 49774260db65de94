"""Rows and properties of forms, using the estimates of relations (`algebra/cardinality.py`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from sqlglot import exp

from dbt_idivm.algebra.cardinality import Cardinality, Sizes
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.types import cannot_be_carried, is_storable, name_of_type
from dbt_idivm.cost.joins import Part, joined
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
        return joined(
            [
                Part(
                    self.rows(source).computed({of(number, name): name for name in source.types}),
                    frozenset(of(number, name) for name in source.types),
                )
                for number, source in enumerate(form.sources)
            ],
            [*_equalities(form), *(test.expression for test in form.tests)],
        )


def _columns(names: Mapping[str, exp.Expr]) -> dict[str, str]:
    return {name: each.name for name, each in names.items() if isinstance(each, exp.Column)}


def _equalities(block: Block) -> Iterator[exp.Expr]:
    """The equalities of columns of one source, and for each pair of sources one equality of each class."""
    for members in block.classes:
        by_source: dict[int, list[str]] = defaultdict(list)
        for name in members:
            by_source[source_of(name)[0]].append(name)
        equal = [(first, other) for first, *rest in by_source.values() for other in rest]
        equal += combinations((first for first, *_ in by_source.values()), 2)
        yield from (exp.EQ(this=column(one), expression=column(other)) for one, other in equal)


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
