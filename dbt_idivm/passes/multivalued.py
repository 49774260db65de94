"""Multi-valued dependencies of a subview: whether its rows pair independent facts, so that it outgrows its inputs.

idIVM (§4, footnote 6) makes no intermediate cache of such a subview: reading the result would cost more than computing it.
Foreign keys tell. Here every equality on a key does: a join has none if one of its inputs determines, by keys and equalities,
a row of each other input at most.

    parts ⋈ devices_parts ⋈ devices, on pid and did      devices_parts determines a part and a device: none
    parts ⋈ devices_parts ⋈ orders, on pid twice         neither side's key is pid alone: multi-valued
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt_idivm.algebra.inference import Dependency, determined_by
from dbt_idivm.algebra.operator import Operator


@dataclass
class _Joined:
    """The inputs of a tree of joins, and what determines what."""

    inputs: list[Operator] = field(default_factory=list)
    dependencies: list[Dependency] = field(default_factory=list)


def is_multivalued(root: Operator) -> bool:
    """Whether `root`, which is ID-extended, may have more rows than each of the inputs that it joins."""
    joined = _Joined()
    _collect(root, joined)
    branches = [part for each in joined.inputs if len(each.inputs) > 1 for part in each.inputs]
    return any(map(is_multivalued, branches)) or not any(_determines_all(each, joined) for each in joined.inputs)


def _collect(node: Operator, joined: _Joined) -> None:
    joined.dependencies += node.dependencies
    if not node.combined:
        joined.inputs.append(node)
        if node.unique:
            joined.dependencies.append((frozenset(node.ids), frozenset(node.columns)))
    for child in node.combined:
        _collect(child, joined)


def _determines_all(start: Operator, joined: _Joined) -> bool:
    known = determined_by(frozenset(start.columns), tuple(joined.dependencies))
    return all(each is start or (each.unique and known >= frozenset(each.ids)) for each in joined.inputs)
