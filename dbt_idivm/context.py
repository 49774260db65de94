"""The facts that the planner gets: tables with their columns and keys, types of UNIONs, and which caches the user wants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, get_args

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import Type, type_of
from dbt_idivm.errors import Place
from dbt_idivm.operators.scan import Attribute

# What to keep besides the view: `auto` operator caches in the view itself, `none` not even those, `all` intermediate caches
# as the paper places them, or the CTEs and derived tables of these names. With `all` and names, operator caches as well.
Word = Literal["auto", "none", "all"]
Caches = Word | tuple[str, ...]
WORDS: tuple[Word, ...] = get_args(Word)


def caches_of(value: str | Iterable[str]) -> Caches:
    """One of the words, or names."""
    if not isinstance(value, str):
        return tuple(value)
    return next((word for word in WORDS if word == value.lower()), (value,))


@dataclass(frozen=True)
class TableInfo:
    """One input relation: its columns in order and the key that identifies its rows, if one is known.

    `name` is the relation's name (`relation_name.py`); `reads` is the table whose
    rows are meant, when that is another one (the ID-extended table behind an upstream model's view).
    """

    name: str
    columns: tuple[Attribute, ...]
    key: tuple[str, ...] | None = None
    key_source: str = ""
    reads: str | None = None
    visible: tuple[str, ...] | None = None  # the columns that the user may name; None: all

    @property
    def table(self) -> str:
        return self.reads or self.name


@dataclass(frozen=True)
class UnionTypes:
    """The types that Spark reports for one UNION: for each branch, and for the whole, the type names of the columns in order.

    `steps`: of its first two branches together, the first three, and so on, without the whole.
    """

    branches: tuple[tuple[str, ...], ...]
    whole: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...] = ()

    def casts(self, branch: int) -> tuple[tuple[str, ...], ...]:
        """For each column of a branch, what it is cast to, one after the other."""
        stages = (self.branches[branch], *self.steps[max(branch - 1, 0) :], self.whole)
        return tuple(tuple(new for old, new in pairwise(kinds) if old != new) for kinds in zip(*stages, strict=True))

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Types that a branch is to be cast to and no CAST can name: DESCRIBE truncates long structs."""
        casts = dict.fromkeys(kind for branch in range(len(self.branches)) for kinds in self.casts(branch) for kind in kinds)
        return tuple(kind for kind in casts if type_of(kind).this in (Type.OBJECT, Type.UNKNOWN))


@dataclass(frozen=True)
class UserFunction:
    """A function that the user created and calls deterministic: one value for one row, and the arguments alone decide it.

    `parameters`: the types that arguments are cast to, and `returns` that of the value, of a SQL function; None where nobody
    knows them. `untyped`: the engine is to be asked for the type of each call, so the model is lowered once more.
    """

    parameters: tuple[str, ...] | None = None
    returns: str | None = None
    untyped: bool = False


@dataclass(frozen=True)
class PlainView:
    """A plain SQL view: its query, and its columns, each with the name in the query of the column that it selects: its name when
    the view was created. None: the view has the columns of its query."""

    text: str
    columns: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True)
class Catalog:
    """Relation name → facts. `views` holds the plain SQL views among the inputs; they are expanded.

    `unions`: the number of a UNION in the model → its types, as far as they were asked for (`Lowered.untyped_unions`).
    `functions`: the user's deterministic functions, by name (`relation_name.py`).
    """

    tables: Mapping[str, TableInfo] = field(default_factory=dict)
    views: Mapping[str, PlainView] = field(default_factory=dict)
    unions: Mapping[int, UnionTypes] = field(default_factory=dict)
    functions: Mapping[str, UserFunction] = field(default_factory=dict)

    @property
    def has_untyped_functions(self) -> bool:
        return any(function.untyped for function in self.functions.values())


@dataclass(frozen=True)
class Subview:
    """A CTE or derived table of the model: its name, the operator that gives its rows, and where it is read."""

    name: str
    root: Operator
    place: Place | None = None


@dataclass(frozen=True)
class Caching:
    """What is to be cached for the model whose relation is `model`; `subviews` are those that its SELECT names. Under `auto`
    those are cached whose digests (`compiler.py: cache_candidates`) were `chosen` by their costs. The models of a `project`
    share equal caches, but a model that looks keys up has none in common with one that does not: `checked`.

    `stored`: cache table → column → the Spark SQL type that it has there. Other types are inferred, which is enough to print a
    plan, but not to run one. To run one, compile, ask the engine for the types of the first cache that is not in `stored` (those
    of `full_query(over_tables(cache.plan, plan.caches), …)`, which reads base tables only), and compile again, until all are in
    it.
    """

    policy: Caches = "auto"
    model: str = "model"
    subviews: tuple[Subview, ...] = ()
    stored: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    project: str = ""
    checked: bool = True
    chosen: tuple[str, ...] = ()


AUTO = Caching()
