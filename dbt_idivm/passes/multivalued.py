"""Multi-valued dependencies of a subview: whether its rows pair independent facts, so that it outgrows its inputs.

idIVM (§4, footnote 6) makes no intermediate cache of such a subview: reading the result would cost more than computing it.
Foreign keys tell. Here every equality on a key does: a join has none if one of its inputs determines, by keys and equalities,
a row of each other input at most.

    parts ⋈ devices_parts ⋈ devices, on pid and did      devices_parts determines a part and a device: none
    parts ⋈ devices_parts ⋈ orders, on pid twice         neither side's key is pid alone: multi-valued
"""

from __future__ import annotations

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.passes.annotate import Facts, facts_of


def is_multivalued(root: Operator) -> bool:
    """Whether `root`, which is ID-extended, may have more rows than each of the inputs that it joins."""
    return _outgrows(facts_of(root))


def _outgrows(facts: Facts) -> bool:
    branches = [part for each in facts.joined if len(each.inputs) > 1 for part in each.inputs]
    return any(map(_outgrows, branches)) or not any(map(facts.determines_all, facts.joined))
