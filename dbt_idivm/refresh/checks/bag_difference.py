"""Compare two queries as bags, reading each once."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import subquery
from dbt_idivm.fresh_name import fresh_name

DIFFERENCE = "idivm_difference"


def differences(rows: exp.Expr, wanted: exp.Expr, columns: Sequence[str], cells: Sequence[exp.Expr] = ()) -> exp.Select:
    """Query for rows whose numbers of copies differ, with the surplus in `rows` (negative: missing in `rows`).

    `rows` and `wanted` are FROM items; `cells`: expressions to compare instead of the columns. EXCEPT ALL in both directions
    would evaluate each side twice. Each side's weight goes through UNPIVOT, because Spark infers no conditions through it:
    conditions of a correlated subquery in a select list cannot be carried through UNION ("key not found").
    """
    names = [exp.column(exp.to_identifier(name, quoted=True)) for name in columns]
    known = {name.lower() for name in columns}
    difference, weight, label = (fresh_name(name, known.__contains__) for name in (DIFFERENCE, "idivm_weight", "idivm_label"))
    shown = [exp.alias_(cell.copy(), name.this.copy()) for cell, name in zip(cells, names, strict=True)] if cells else names

    def side(source: exp.Expr, sign: exp.Expr) -> exp.Select:
        found = exp.Select(expressions=[*(each.copy() for each in shown), exp.alias_(sign, weight)]).from_(source)
        rows = subquery(found, "rows")
        rows.set(
            "pivots",
            [
                exp.Pivot(
                    expressions=[exp.to_identifier(difference)],
                    unpivot=True,
                    include_nulls=True,
                    fields=[exp.In(this=exp.to_identifier(label), expressions=[exp.column(weight)])],
                )
            ],
        )
        return exp.Select(expressions=[*(name.copy() for name in names), exp.column(difference)]).from_(rows)

    both = union_all([side(rows, exp.Literal.number(1)), side(wanted, exp.Neg(this=exp.Literal.number(1)))])
    total = exp.Sum(this=exp.column(difference))
    return (
        exp.Select(expressions=[*(name.copy() for name in names), exp.alias_(total.copy(), difference)])
        .from_(subquery(both, "both"))
        .group_by(*(name.copy() for name in names))
        .having(exp.NEQ(this=total, expression=exp.Literal.number(0)))
    )
