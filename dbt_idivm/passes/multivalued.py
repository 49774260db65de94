"""Multi-valued dependencies of a subview: whether its rows combine independent facts, so that it outgrows its inputs.

idIVM (§4, footnote 6) does not cache such a subview: reading the result would cost more than computing it. The paper decides by
foreign keys, we decide by any equality on a key: a join has no multi-valued dependency if a row of one of its inputs determines,
by keys and equalities, at most one row of each other input.

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
