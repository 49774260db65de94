"""The input of the planner: tables with their columns and keys, types of UNIONs, and the caches that the user wants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, get_args

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import Type, type_of
from dbt_idivm.errors import Place
from dbt_idivm.operators.scan import Attribute

# What to keep besides the view: `auto`: operator caches in the view itself; `none`: not even these; `all`: also intermediate
# caches as the paper places them; names: also those of these CTEs and derived tables.
Word = Literal["auto", "none", "all"]
Caches = Word | tuple[str, ...]
WORDS: tuple[Word, ...] = get_args(Word)


def caches_of(value: str | Iterable[str]) -> Caches:
    """Parse the setting: one of the words, or names."""
    if not isinstance(value, str):
        return tuple(value)
    return next((word for word in WORDS if word == value.lower()), (value,))


@dataclass(frozen=True)
class TableInfo:
    """One input relation: its columns in order, and the key that identifies its rows, if known.

    `name`: the relation's name (`relation_name.py`). `reads`: the table with its rows, if that is another one (the ID-extended
    table behind the view of an upstream model).
    """

    name: str
    columns: tuple[Attribute, ...]
    key: tuple[str, ...] | None = None
    key_source: str = ""
    reads: str | None = None
    visible: tuple[str, ...] | None = None  # the columns that the user may refer to; None: all

    @property
    def table(self) -> str:
        return self.reads or self.name


@dataclass(frozen=True)
class UnionTypes:
    """The types that Spark reports for one UNION: names of the column types of each branch and of the whole, in the order of the
    columns.

    `steps`: the types of its first two branches together, of the first three, and so on, without the whole.
    """

    branches: tuple[tuple[str, ...], ...]
    whole: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...] = ()

    def casts(self, branch: int) -> tuple[tuple[str, ...], ...]:
        """For each column of a branch, the types to which it is cast one after the other."""
        stages = (self.branches[branch], *self.steps[max(branch - 1, 0) :], self.whole)
        return tuple(tuple(new for old, new in pairwise(kinds) if old != new) for kinds in zip(*stages, strict=True))

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Cast types that no CAST can express, because DESCRIBE truncates long structs."""
        casts = dict.fromkeys(kind for branch in range(len(self.branches)) for kinds in self.casts(branch) for kind in kinds)
        return tuple(kind for kind in casts if type_of(kind).this in (Type.OBJECT, Type.UNKNOWN))


@dataclass(frozen=True)
class UserFunction:
    """A user's function declared deterministic: it returns one value for one row, which depends only on its arguments.

    `parameters`: types to which the arguments of a SQL function are cast; `returns`: type of its value; None if unknown.
    `untyped`: the engine has to be asked for the type of each call, so the model is lowered again afterwards.
    """

    parameters: tuple[str, ...] | None = None
    returns: str | None = None
    untyped: bool = False


@dataclass(frozen=True)
class PlainView:
    """A plain SQL view: its query, and pairs (column, name of the query's column that it selects), with the names at the time of
    the view's creation. None: the view has the columns of its query."""

    text: str
    columns: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True)
class Catalog:
    """Relation name → facts. `views`: the plain SQL views among the inputs; they are expanded.

    `unions`: number of a UNION in the model → its types, if they were queried (`Lowered.untyped_unions`).
    `functions`: the user's deterministic functions, by name (`relation_name.py`). `clock_is_input`: whether what a query reads of
    the clock, other than as a time of writing, is an input; else it is refused.
    """

    tables: Mapping[str, TableInfo] = field(default_factory=dict)
    views: Mapping[str, PlainView] = field(default_factory=dict)
    unions: Mapping[int, UnionTypes] = field(default_factory=dict)
    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    clock_is_input: bool = False

    @property
    def has_untyped_functions(self) -> bool:
        return any(function.untyped for function in self.functions.values())


@dataclass(frozen=True)
class Subview:
    """A CTE or derived table of the model: its name, the operator that computes its rows, and the place where it is read."""

    name: str
    root: Operator
    place: Place | None = None


@dataclass(frozen=True)
class Caching:
    """What to cache for the model whose relation is `model`. `subviews`: those named in its SELECT. `chosen`: under `auto`,
    digests (`compiler.py: cache_candidates`) of the subviews that were chosen by cost. `project`: its models share equal caches.
    `checked`: whether the model looks keys up; models that do and models that do not share no caches.

    `stored`: cache table → column → its Spark SQL type there. Other types are inferred, which is enough to print a plan, but not
    to run one (`definition/compiling.py`).
    """

    policy: Caches = "auto"
    model: str = "model"
    subviews: tuple[Subview, ...] = ()
    stored: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    project: str = ""
    checked: bool = True
    chosen: tuple[str, ...] = ()


AUTO = Caching()
