"""Multi-valued dependencies of a subview: whether its rows pair independent facts, so that it outgrows its inputs.

idIVM (§4, footnote 6) makes no intermediate cache of such a subview: reading the result would cost more than computing it.
Foreign keys tell. Here every equality on a key does: a join has none if one of its inputs determines, by keys and equalities,
a row of each other input at most.

    parts ⋈ devices_parts ⋈ devices, on pid and did      devices_parts determines a part and a device: none
    parts ⋈ devices_parts ⋈ orders, on pid twice         neither side's key is pid alone: multi-valued
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, conjuncts
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators import Join, Project, Select, SemiAntiJoin, UnionAll


@dataclass
class _Joined:
    """The inputs of a tree of joins, and what determines what: (attributes, the attributes they determine)."""

    inputs: list[Operator] = field(default_factory=list)
    dependencies: list[tuple[frozenset[str], frozenset[str]]] = field(default_factory=list)


def is_multivalued(root: Operator) -> bool:
    """Whether `root`, which is ID-extended, may have more rows than each of the inputs that it joins."""
    joined = _Joined()
    _collect(root, joined)
    branches = [part for each in joined.inputs if isinstance(each, UnionAll) for part in each.inputs]
    return any(map(is_multivalued, branches)) or not any(_determines_all(each, joined) for each in joined.inputs)


def _collect(node: Operator, joined: _Joined) -> None:
    if isinstance(node, Project):
        joined.dependencies += [(frozenset(attributes(definition)), frozenset({name})) for name, definition in node.computed]
    elif isinstance(node, Join | Select):
        joined.dependencies += _equalities(node.condition)
    elif not isinstance(node, SemiAntiJoin):
        joined.inputs.append(node)
        if node.unique:
            joined.dependencies.append((frozenset(node.ids), frozenset(node.columns)))
        return
    for child in node.inputs[:1] if isinstance(node, SemiAntiJoin) else node.inputs:
        _collect(child, joined)


def _equalities(condition: exp.Expr) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """`a = f(b, c)`: b and c determine a; a constant is determined by nothing."""
    for part in (each.unnest() for each in conjuncts(condition.unnest())):
        if isinstance(part, exp.EQ | exp.NullSafeEQ):
            for one, other in ((part.left, part.right), (part.right, part.left)):
                if isinstance(one, exp.Column):
                    yield frozenset(attributes(other)), frozenset({one.name})


def _determines_all(start: Operator, joined: _Joined) -> bool:
    known = frozenset(start.columns)
    while True:
        more = known.union(*(right for left, right in joined.dependencies if left <= known))
        if more == known:
            break
        known = more
    return all(each is start or (each.unique and known >= frozenset(each.ids)) for each in joined.inputs)
