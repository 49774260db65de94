"""A view as blocks: joins, selections and projections over sources, which are all other operators.

    π a, b + 1 → c (σ a > 2 (r ⋈ s))     sources r, s; conditions a > 2 and those of ⋈; a is a, c is b + 1

A UNION ALL below selections and projections gives one block for each branch; any other view is one block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, conjuncts, substitute
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators import Join, OneRow, Project, Select, UnionAll

Definitions = Mapping[str, exp.Expr]  # attribute → its definition over the attributes of sources


@dataclass(frozen=True)
class Block:
    """π_names σ_conditions (sources × …). The order of `conditions` matters: one may guard those after it."""

    sources: tuple[Operator, ...]
    conditions: tuple[exp.Expr, ...]
    names: Definitions

    def over(self, expression: exp.Expr) -> exp.Expr:
        """Rewrite an expression over the block's attributes to one over the attributes of its sources."""
        return substitute(expression, self.names)


def block_of(node: Operator) -> Block:
    """The block at the top of a tree."""
    if isinstance(node, Join):
        left, right = map(block_of, node.inputs)
        both = Block((*left.sources, *right.sources), (*left.conditions, *right.conditions), {**left.names, **right.names})
        return _tested(both, node.condition)
    if isinstance(node, Select):
        return _tested(block_of(node.child), node.condition)
    if isinstance(node, Project):
        below = block_of(node.child)
        return Block(below.sources, below.conditions, {name: below.over(each) for name, each in node.definitions})
    if isinstance(node, OneRow):  # the unit of ×
        return Block((), (), {})
    return Block((node,), (), {name: column(name) for name in node.columns})


def branches_of(root: Operator) -> tuple[Block, ...]:
    """The blocks whose rows together are the view's rows. If there are several, each has its number as branch attribute."""
    block = block_of(root)
    union = _union(block)
    if union is None:
        return (block,)
    return tuple(_branch(block, union, number) for number in range(len(union.parts)))


def branch_attribute(root: Operator) -> str | None:
    """The attribute of the root that distinguishes the blocks of `branches_of`; None if there is only one."""
    block = block_of(root)
    union = _union(block)
    return (
        None
        if union is None
        else next(
            (name for name, each in block.names.items() if isinstance(each, exp.Column) and each.name == union.branch), None
        )
    )


def _union(block: Block) -> UnionAll | None:
    """The UNION ALL that is the block's only source; None if it has others."""
    only = block.sources[0] if len(block.sources) == 1 else None
    return only if isinstance(only, UnionAll) else None


def _branch(block: Block, union: UnionAll, number: int) -> Block:
    part = block_of(union.parts[number])
    known = {output: part.names[source] if source is not None else exp.null() for output, source in union.pairs(number)}
    known[union.branch] = exp.Literal.number(number)
    tests = tuple(substitute(each, known) for each in block.conditions)
    return Block(part.sources, (*part.conditions, *tests), {name: substitute(each, known) for name, each in block.names.items()})


def _tested(block: Block, condition: exp.Expr) -> Block:
    parts = tuple(block.over(each) for each in conjuncts(condition.unnest()))
    return Block(block.sources, (*block.conditions, *parts), block.names)
