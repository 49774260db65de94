"""One module per operator: node, ID rule, i-diff rules, recompute rule, signed form."""

from dbt_idivm.operators.aggregate import Aggregate
from dbt_idivm.operators.join import Join
from dbt_idivm.operators.look_up_join import LookUpJoin
from dbt_idivm.operators.one_row import OneRow
from dbt_idivm.operators.outer_join import OuterJoin
from dbt_idivm.operators.project import Project
from dbt_idivm.operators.scan import Scan
from dbt_idivm.operators.select import Select
from dbt_idivm.operators.semijoin import SemiAntiJoin
from dbt_idivm.operators.union import UnionAll
from dbt_idivm.operators.unnest import Unnest
from dbt_idivm.operators.window import Window

OPERATORS = (Scan, OneRow, Select, Project, Join, OuterJoin, LookUpJoin, SemiAntiJoin, UnionAll, Aggregate, Window, Unnest)

__all__ = [
    "OPERATORS",
    "Aggregate",
    "Join",
    "LookUpJoin",
    "OneRow",
    "OuterJoin",
    "Project",
    "Scan",
    "Select",
    "SemiAntiJoin",
    "UnionAll",
    "Unnest",
    "Window",
]
