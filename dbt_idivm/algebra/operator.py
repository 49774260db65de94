"""The operator of a view: a relation with IDs (idIVM, Table 1) and rules (Tables 4-13)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.relation import Compute, Relation

if TYPE_CHECKING:
    from dbt_idivm.idiff.rule import IDiffRule

# pre: before the refresh's changes; post: after them; any: a superset of both, for look-ups of what was touched
State = Literal["pre", "post", "any"]
SIGN = "idivm_sign"  # +1 for a row that came, -1 for one that went, in signed relations


class Operator(Relation):
    """One node of a view's plan. Each operator module defines one, with all that maintenance needs to know of it."""

    RULES: ClassVar[Sequence[IDiffRule]] = ()

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return cast("tuple[Operator, ...]", self.children)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """ID(R): attributes that identify a row, if `unique`. Table 1."""
        return self.inputs[0].ids

    @cached_property
    def unique(self) -> bool:
        """Whether no two rows share an ID. False above an input without a key."""
        return all(child.unique for child in self.inputs)

    def with_ids(self) -> Operator:
        """The operator with the IDs of its inputs in its output (pass 1)."""
        return self

    @abstractmethod
    def needed(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Per input, the attributes that must be there when `above` are needed of the output."""

    def pruned(self, above: frozenset[str]) -> Operator:
        """The operator without the output attributes that are not in `above`, where it can drop them."""
        return self

    @abstractmethod
    def conditional(self, above: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Per input, the attributes whose change may move rows: those that conditions here or above depend on."""

    def carried(self, occurrence: str) -> frozenset[str] | None:
        """What an i-diff of that table occurrence carries up to here, if it names rows of this relation only; None if not.

        A join may find no partner for a row, so what comes out of it names rows that are perhaps not there.
        """
        return None

    def in_state(self, state: State) -> Relation:
        """The same query over the tables in that state."""
        return self.with_children(*(child.in_state(state) for child in self.inputs))

    @abstractmethod
    def signed(self) -> Relation:
        """R⁺ − R⁻ as signed rows (columns and SIGN): the diffs of tuple-based maintenance. Rows of both signs may cancel."""


def with_sign(rows: Relation, sign: int) -> Relation:
    """`rows` as signed rows that all came (1), or went (-1)."""
    return Compute(rows, (*((name, column(name)) for name in rows.columns), (SIGN, exp.Literal.number(sign))))


def operators(root: Operator) -> Iterator[Operator]:
    """The operators of a tree, inputs before what reads them."""
    for child in root.inputs:
        yield from operators(child)
    yield root
