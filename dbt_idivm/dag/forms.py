"""The normal forms of relations: tables, groupings, other operators, and blocks of joins and selections over these.

    SELECT .. FROM orders o JOIN customers c ON o.cid = c.cid WHERE o.price > 5

is the block of the sources `customers` and `orders`, in the order of their texts, with the class of equal columns 0.cid = 1.cid
and the test 1.price > 5. What a query computes and shows is not part of a form: a form has all columns of its sources.

A column of a block, and of an operator that passes it on, is named by the number of the source, or input, and its name there:
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
    """`text` identifies it. `certain`: the types that are beyond doubt, of the columns that have such a type."""

    text: str

    @property
    @abstractmethod
    def types(self) -> Types: ...

    @property
    @abstractmethod
    def certain(self) -> Types: ...

    def exact(self, name: str) -> exp.DataType | None:
        """The type of a column of which equal values are identical; None for any other column."""
        kind = self.certain.get(name)
        return kind if kind is not None and has_exact_order(kind) and has_exact_order(self.types[name]) else None


@dataclass(frozen=True, eq=False)
class Table(Form):
    """A base table. `scan` is one occurrence of it, `names` are its attributes by column."""

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
    """γ: `groups` and `calls` are expressions over the input's columns, in the order of their texts. Its columns are g0, g1, ..,
    c0, c1, .."""

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
    """Any other operator. `node` is one that gives the rows, `names` are what its inputs' attributes are over their forms, and
    `columns` what its attributes are called here, as far as they are columns of it."""

    node: Operator
    inputs: tuple[Form, ...]
    names: tuple[Mapping[str, exp.Expr], ...]
    columns: Mapping[str, str]
    reads: tuple[frozenset[str], ...]  # the columns of each input that the operator itself depends on

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
    """A condition of a block. `last`: it may fail for rows that other conditions remove, or reads no column: it is tested after
    all joins."""

    expression: exp.Expr
    last: bool

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return attributes(self.expression)

    def renamed(self, names: Mapping[str, str]) -> Test:
        return Test(renamed(self.expression, names), self.last)


@dataclass(frozen=True, eq=False)
class Block(Form):
    """σ_tests(× sources); the columns of each class are equal. A test reads the first column of a class for any of it.

    `written` are the numbers of the sources in the order of the query that this is made of. `symmetries` are the other orders of
    the sources that leave the block as it is, each as the new number of every source: of `r AS a, r AS b` there is one.
    """

    sources: tuple[Form, ...]
    classes: tuple[tuple[str, ...], ...]
    tests: tuple[Test, ...]
    written: tuple[int, ...]
    symmetries: tuple[tuple[int, ...], ...]

    def first(self, name: str) -> str:
        """The first column of the class of a column."""
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
    """The column of a block."""
    return f"{source}.{name}"


def source_of(name: str) -> tuple[int, str]:
    """The source of a column of a block, and its name there."""
    number, _, rest = name.partition(".")
    return int(number), rest


def renamed(expression: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    """The expression over columns with other names; a column without one keeps its name."""
    return expression.transform(lambda node: column(names.get(node.name, node.name)) if isinstance(node, exp.Column) else node)
