"""The normal forms of relations: tables, groupings, other operators, and blocks of joins and selections over these.

    SELECT .. FROM orders o JOIN customers c ON o.cid = c.cid WHERE o.price > 5

is the block with the sources `customers` and `orders`, ordered by their texts, the class of equal columns 0.cid = 1.cid and the
test 1.price > 5. What a query computes and outputs is not part of a form: a form has all columns of its sources.

A column of a block, or one that an operator passes on, is named by the number of the source or input and its name there:
`1.price`. Equal texts, equal rows (Mistry et al. 2001, §4.2: one equivalence node).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, column
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import has_exact_order
from dbt_idivm.cached import cached_property
from dbt_idivm.operators.scan import Scan

Types = Mapping[str, exp.DataType]


@dataclass(frozen=True, eq=False)
class Form(ABC):
    """A normal form, identified by `text`. `certain`: column → type, for the columns whose type is beyond doubt."""

    text: str

    @property
    @abstractmethod
    def types(self) -> Types: ...

    @property
    @abstractmethod
    def certain(self) -> Types: ...

    def exact(self, name: str) -> exp.DataType | None:
        """The type of a column whose equal values are identical; None for any other column."""
        kind = self.certain.get(name)
        return kind if kind is not None and has_exact_order(kind) and has_exact_order(self.types[name]) else None


@dataclass(frozen=True, eq=False)
class Table(Form):
    """A base table. `scan`: one of its occurrences; `names`: column → attribute of the scan."""

    scan: Scan

    @cached_property
    def names(self) -> Mapping[str, str]:
        return {each.name: self.scan.attribute(each.name) for each in self.scan.base_columns}

    @cached_property
    def types(self) -> Types:
        return {name: self.scan.types[attribute] for name, attribute in self.names.items()}

    @cached_property
    def certain(self) -> Types:
        return {name: self.scan.certain_types[attribute] for name, attribute in self.names.items()}


@dataclass(frozen=True, eq=False)
class Grouping(Form):
    """γ. `groups` and `calls` are expressions over the input's columns, ordered by their texts. The columns are g0, g1, .., c0,
    c1, .."""

    input: Form
    groups: tuple[exp.Expr, ...]
    calls: tuple[exp.Expr, ...]
    kinds: Types
    certain_kinds: Types

    @property
    def types(self) -> Types:
        return self.kinds

    @property
    def certain(self) -> Types:
        return self.certain_kinds


@dataclass(frozen=True, eq=False)
class Other(Form):
    """Any other operator. `node`: an operator with these rows; `names`: for each input, its attributes over its form; `columns`:
    attribute of the node → column of this form, for its own columns."""

    node: Operator
    inputs: tuple[Form, ...]
    names: tuple[Mapping[str, exp.Expr], ...]
    columns: Mapping[str, str]
    reads: tuple[frozenset[str], ...]  # for each input, the columns that the operator itself depends on

    @cached_property
    def types(self) -> Types:
        return {**self._passed("types"), **{name: self.node.types[attribute] for attribute, name in self.columns.items()}}

    @cached_property
    def certain(self) -> Types:
        certain = self.node.certain_types
        own = {name: certain[attribute] for attribute, name in self.columns.items() if attribute in certain}
        return {**self._passed("certain"), **own}

    def _passed(self, what: Literal["types", "certain"]) -> Types:
        return {f"{number}.{name}": kind for number, each in enumerate(self.inputs) for name, kind in getattr(each, what).items()}


@dataclass(frozen=True)
class Test:
    """A condition of a block. `last`: it is tested after all joins, because it may fail for rows that other conditions remove, or
    reads no column."""

    expression: exp.Expr
    last: bool

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return attributes(self.expression)

    def renamed(self, names: Mapping[str, str]) -> Test:
        return Test(renamed(self.expression, names), self.last)


@dataclass(frozen=True, eq=False)
class Block(Form):
    """σ_tests(× sources), with equal columns in each class. Tests refer to a class by its first column.

    `written`: the numbers of the sources in the order of the query. `symmetries`: the other orders of the sources that leave the
    block unchanged, each as the new number of every source; `r AS a, r AS b` has one.
    """

    sources: tuple[Form, ...]
    classes: tuple[tuple[str, ...], ...]
    tests: tuple[Test, ...]
    written: tuple[int, ...]
    symmetries: tuple[tuple[int, ...], ...]

    def first(self, name: str) -> str:
        """The first column of the class that contains `name`."""
        return self._first.get(name, name)

    @cached_property
    def _first(self) -> Mapping[str, str]:
        return {name: each[0] for each in self.classes for name in each}

    @cached_property
    def types(self) -> Types:
        return {of(number, name): kind for number, each in enumerate(self.sources) for name, kind in each.types.items()}

    @cached_property
    def certain(self) -> Types:
        return {of(number, name): kind for number, each in enumerate(self.sources) for name, kind in each.certain.items()}


def of(source: int, name: str) -> str:
    """The name of a source's column in a block."""
    return f"{source}.{name}"


def source_of(name: str) -> tuple[int, str]:
    """The source of a block's column, and its name there."""
    number, _, rest = name.partition(".")
    return int(number), rest


def renamed(expression: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    """The expression with columns renamed; columns that are not in `names` keep their names."""
    return expression.transform(lambda node: column(names.get(node.name, node.name)) if isinstance(node, exp.Column) else node)
