"""Whether a query certainly has at most one row: by its keys and groups, and by LIMIT 1.

SELECT y FROM r WHERE r.id = 7                          one: r has the key id, which the condition fixes
SELECT y FROM r WHERE r.id = l.k                        one for each l.k, if `fixed` contains r.id
SELECT DISTINCT m FROM (SELECT max(y) AS m FROM r)      one: the γ without groups has one row
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.inference import determined_by
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.passes.annotate import facts_of
from dbt_idivm.passes.infer_ids import infer_ids


def has_one_row_at_most(root: Operator, fixed: frozenset[str]) -> bool:
    """Whether no two rows have the same values of `fixed`. A table without a key has no unique IDs, so the answer is no."""
    known = determined_by(fixed, facts_of(root).dependencies)
    return root.unique and known >= frozenset(root.ids)


def key_of(root: Operator) -> tuple[str, ...] | None:
    """A key of the rows: attributes in which no two rows are equal; None if there is none among the columns of `root`."""
    key = facts_of(infer_ids(root)).key
    return key if key is not None and {*key} <= {*root.columns} else None


def is_limited_to_one(query: exp.Expr) -> bool:
    """Whether LIMIT leaves at most one row."""
    limit = query.args.get("limit")
    most = limit.expression if isinstance(limit, exp.Limit) else None
    return isinstance(most, exp.Literal) and most.is_int and int(most.name) <= 1
