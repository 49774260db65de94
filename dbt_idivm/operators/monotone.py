"""Monotone operators, which lose no row unless an input loses one: σ, π, ⋈, ⋉, ∪ and μ."""

from __future__ import annotations

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators.join import Join
from dbt_idivm.operators.one_row import OneRow
from dbt_idivm.operators.project import Project
from dbt_idivm.operators.scan import Scan
from dbt_idivm.operators.select import Select
from dbt_idivm.operators.semijoin import SemiAntiJoin
from dbt_idivm.operators.union import UnionAll
from dbt_idivm.operators.unnest import Unnest

_MONOTONE = (Scan, Select, Project, Join, UnionAll, Unnest, OneRow)


def is_monotone(node: Operator) -> bool:
    """Whether inserting rows into the inputs never removes a row from the output."""
    return isinstance(node, _MONOTONE) or (isinstance(node, SemiAntiJoin) and not node.anti)
