"""Two queries compared as bags, in one pass over both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import subquery

DIFFERENCE = "idivm_difference"


def differences(rows: exp.Expr, wanted: exp.Expr, columns: Sequence[str], cells: Sequence[exp.Expr] = ()) -> exp.Select:
    """Rows whose number of copies differs, and by how many there are too many in `rows` (negative: too few).

    `rows` and `wanted` are items of FROM; `cells` are what to compare, if it is not the columns as they are. EXCEPT ALL in both
    directions would evaluate each side twice.
    """
    names = [exp.column(exp.to_identifier(name, quoted=True)) for name in columns]
    known = {name.lower() for name in columns}
    difference = next(name for name in (f"{DIFFERENCE}{'_' * more}" for more in count()) if name not in known)
    shown = [exp.alias_(cell.copy(), name.this.copy()) for cell, name in zip(cells, names, strict=True)] if cells else names

    def side(source: exp.Expr, weight: exp.Expr) -> exp.Select:
        return exp.Select(expressions=[*(each.copy() for each in shown), exp.alias_(weight, difference)]).from_(source)

    both = union_all([side(rows, exp.Literal.number(1)), side(wanted, exp.Neg(this=exp.Literal.number(1)))])
    total = exp.Sum(this=exp.column(difference))
    return (exp.Select(expressions=[*(name.copy() for name in names), exp.alias_(total.copy(), difference)])
            .from_(subquery(both, "both")).group_by(*(name.copy() for name in names))
            .having(exp.NEQ(this=total, expression=exp.Literal.number(0))))
