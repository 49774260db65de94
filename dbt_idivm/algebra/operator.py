"""The operator of a view: a relation with IDs (idIVM, Table 1) and rules (Tables 4-13).

Nothing has a default but RULES, which are empty for a leaf (`tests/unit/test_rules_tables.py`): an operator that does not answer
one of these questions cannot be made. Its inputs are operators; what `restrict`, `in_state`, `with_children` and `signed` give
are plain relations.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from sqlglot import exp

from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.core import Compute, project
from dbt_idivm.algebra.expressions import passing
from dbt_idivm.algebra.inference import Dependency
from dbt_idivm.algebra.relation import Relation

if TYPE_CHECKING:
    from dbt_idivm.idiff.rule import IDiffRule

# pre: before the refresh's changes; post: after them; any: a superset of both, for look-ups of what was touched
State = Literal["pre", "post", "any"]
SIGN = "idivm_sign"  # +1 for a row that was inserted, -1 for one that was deleted, in signed relations
Conditions = tuple[exp.Expr, ...]  # AND-ed, over attribute names


class Operator(Relation):
    """One node of a view's plan. Each operator module defines one, with all that maintenance needs to know of it."""

    RULES: ClassVar[Sequence[IDiffRule]] = ()

    @property
    @abstractmethod
    def inputs(self) -> tuple[Operator, ...]:
        """The children, which are operators."""

    @abstractmethod
    def with_inputs(self, *inputs: Operator) -> Operator:
        """The same operator over these inputs."""

    @property
    @abstractmethod
    def scope(self) -> str | None:
        """The name that the operator's own attributes begin with, unique in the plan; None if it has no such name."""

    # --- pass 1: IDs and attributes ---

    @property
    @abstractmethod
    def ids(self) -> tuple[str, ...]:
        """ID(R): attributes that identify a row, if `unique`. Table 1."""

    @property
    @abstractmethod
    def unique(self) -> bool:
        """Whether no two rows share an ID. False above an input without a key."""

    @property
    @abstractmethod
    def named_by(self) -> tuple[str, ...]:
        """The attributes, other than IDs, by which i-diffs of this operator may name rows, those that insert rows apart.

        The operators above pass them on, as hidden columns if necessary.
        """

    @abstractmethod
    def with_ids(self) -> Operator:
        """The operator with the IDs of its inputs, and what they are recomputed by, in its output."""

    @abstractmethod
    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Per input, the attributes that are needed if `above` are needed of the output."""

    @abstractmethod
    def pruned(self, above: frozenset[str]) -> Operator:
        """The operator without the output attributes that are not in `above`, where it can drop them."""

    @abstractmethod
    def conditional(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Per input, the attributes whose change may move rows: those that conditions here or above depend on."""

    # --- facts about its rows ---

    @property
    @abstractmethod
    def certain_types(self) -> Mapping[str, exp.DataType]:
        """Attribute → type, where it is certain: stored columns, casts, constants, counts; no inference by functions."""

    @property
    @abstractmethod
    def nullable(self) -> frozenset[str]:
        """The attributes that may be NULL, a superset."""

    @property
    @abstractmethod
    def combined(self) -> tuple[Operator, ...]:
        """The inputs, if each row is made of one row of each of them; () if rows are made in another way, such as groups."""

    @abstractmethod
    def dependencies(self, *below: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        """The functional dependencies of its rows, its IDs apart, if those of each input meet these. They may be about attributes
        that only the rows have of which a row is made."""

    @property
    @abstractmethod
    def equal(self) -> tuple[tuple[str, str], ...]:
        """Pairs of attributes that have one value in each row of the output, besides those of `combined`."""

    @property
    @abstractmethod
    def defined(self) -> tuple[tuple[str, exp.Expr], ...]:
        """The attributes that an expression over the inputs' attributes defines."""

    @property
    @abstractmethod
    def united(self) -> tuple[tuple[str, tuple[str | None, ...]], ...]:
        """The attributes whose values come from several inputs, each with the attribute of each input; None where it is NULL."""

    # --- changes ---

    @abstractmethod
    def carried(self, occurrence: str) -> frozenset[str] | None:
        """What an i-diff of that table occurrence carries up to here, if it names rows of this relation only; None if not.

        A join may find no partner for a row, so its i-diffs may name rows that do not exist.
        """

    @abstractmethod
    def screened(self, above: Conditions) -> tuple[Conditions, ...]:
        """Per input, the conditions that its rows have to satisfy to matter, if those of the output have to satisfy `above`.

        A condition that removes rows of one input only, as ON of an outer join does, does not apply to the other.
        """

    @abstractmethod
    def in_state(self, state: State) -> Relation:
        """The same query over the tables in that state, pre or post."""

    @abstractmethod
    def in_any_state(self, names: frozenset[str]) -> Relation:
        """A relation with the attributes `names` of this one, and the values of them of all rows of R⁻ and of R⁺; perhaps others.

        For look-ups of what was touched, without reading an old version where that can be avoided.
        """

    @abstractmethod
    def changed_values(self, names: frozenset[str]) -> Relation:
        """The same of those rows only that changed; perhaps of others."""

    @abstractmethod
    def signed(self) -> Relation:
        """R⁺ − R⁻ as signed rows (columns and SIGN): the diffs of tuple-based maintenance. Rows of both signs may cancel."""


def with_sign(rows: Relation, sign: int) -> Relation:
    """`rows` as signed rows that were all inserted (1), or deleted (-1)."""
    return Compute(rows, (*passing(rows.columns), (SIGN, exp.Literal.number(sign))))


def both_states(node: Operator, names: frozenset[str]) -> Relation:
    """The any-state of an operator that is not monotone: values over a superset of rows are those of neither state."""
    return Concat((node.in_state("pre"), node.in_state("post"))).narrowed(names)


def signed_by(node: Operator, child: Operator, by: tuple[str, ...]) -> Relation:
    """The rows of the groups or partitions that the changes of `child` touch, as they are in R⁺, and negative as in R⁻."""
    keys = project(child.changed_values(frozenset(by)), by)
    states = ((node, 1), (node.in_state("pre"), -1))
    return Concat(tuple(with_sign(state.restrict(by, keys), sign) for state, sign in states))


def values_of_signed(node: Operator, names: frozenset[str]) -> Relation:
    """The changed values of an operator that has no shorter way to say them than its signed rows."""
    return node.signed().narrowed(names)


def operators(root: Operator) -> Iterator[Operator]:
    """The operators of a tree, inputs before what reads them."""
    for child in root.inputs:
        yield from operators(child)
    yield root


Kind = TypeVar("Kind", bound=Operator)
Handed = TypeVar("Handed")


def operators_of(root: Operator, kind: type[Kind]) -> Iterator[Kind]:
    """The operators of one class, in the same order."""
    return (node for node in operators(root) if isinstance(node, kind))


def handed_down(
    root: Operator, first: Handed, step: Callable[[Operator, Handed], Sequence[Handed]], kind: type[Kind]
) -> Iterator[tuple[Kind, Handed]]:
    """What is passed down to the operators of one class, left to right: `first` to the root, `step` of a node to its inputs."""
    if isinstance(root, kind):
        yield root, first
    for child, below in zip(root.inputs, step(root, first), strict=True):
        yield from handed_down(child, below, step, kind)
