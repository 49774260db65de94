"""Answers that operators have in common: those that follow from the number of inputs, and constant ones.

class Select(Filter, UnaryOperator):
    united = ()
    with_ids = itself
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes
from dbt_idivm.algebra.operator import Conditions, Kind, Operator
from dbt_idivm.cached import cached_property


@dataclass(frozen=True)
class UnaryOperator(Operator):
    """An operator over one input. It answers what follows from that alone."""

    child: Operator

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.child,)

    def with_inputs(self, *inputs: Operator) -> Operator:
        (child,) = inputs
        return replace(self, child=child)


@dataclass(frozen=True)
class BinaryOperator(Operator):
    """An operator that tests pairs of rows of two inputs with a condition. It answers what follows from that alone.

    The partners of a row depend on this row and the other input, and on no other row of its own input.
    """

    left: Operator
    right: Operator
    condition: exp.Expr

    @cached_property
    def used(self) -> frozenset[str]:
        """X: the attributes of the condition."""
        return frozenset(attributes(self.condition))

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.left, self.right)

    def with_inputs(self, *inputs: Operator) -> Operator:
        left, right = inputs
        return replace(self, left=left, right=right)

    @property
    def conditions(self) -> Conditions:
        return (self.condition,)

    def rewritten(self, change: Callable[[exp.Expr], exp.Expr], *inputs: Operator) -> Operator:
        left, right = inputs
        return replace(self, left=left, right=right, condition=change(self.condition))


def itself(node: Kind, *_: object, **__: object) -> Kind:
    return node


def of_no_input(node: Operator, *_: object, **__: object) -> tuple[()]:
    """The answer of a leaf to a question about each input."""
    return ()


def carries_nothing(node: Operator, occurrence: str) -> frozenset[str] | None:
    return None


def over_inputs(node: Operator, change: Callable[[exp.Expr], exp.Expr], *inputs: Operator) -> Operator:
    """`rewritten` of an operator without such expressions."""
    return node.with_inputs(*inputs)
