"""MERGE and INSERT into a maintained table as sqlglot trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from dbt_idivm.algebra.block import hinted, subquery
from dbt_idivm.algebra.expressions import column, conjunction, identifier
from dbt_idivm.script.dialect import Dialect

TARGET, SOURCE = "v", "d"  # the view and the diff
OP = "idivm_op"


def source_query(query: exp.Query, *, broadcast: bool) -> exp.Query:
    """The query as the source of a MERGE, under a broadcast hint if requested."""
    if not broadcast:
        return query
    return hinted(exp.Select(expressions=[exp.Star()]).from_(subquery(query, "z")), ["z"])


def unhinted(source: exp.Query) -> exp.Query:
    """The query that was passed to `source_query`."""
    inner = source.args["from_"].this if isinstance(source, exp.Select) and source.args.get("hint") else None
    return inner.this if isinstance(inner, exp.Subquery) and source.is_star else source


def insert_into(table: exp.Table, names: Sequence[str], query: exp.Query) -> exp.Insert:
    """INSERT of the query's rows. Its columns are the columns `names` of the table, in this order."""
    return exp.Insert(this=exp.Schema(this=table, expressions=[identifier(name) for name in names]), expression=query)


def op_is(value: str) -> exp.EQ:
    """The condition that the source row has this operation."""
    return exp.EQ(this=column(OP, SOURCE), expression=exp.Literal.string(value))


class Merge:
    """Collects the clauses of one MERGE INTO target."""

    def __init__(self, target: str, dialect: Dialect) -> None:
        self._target = exp.alias_(dialect.table(target, None), TARGET, table=True)
        self._on: list[exp.Expr] = []
        self._whens: list[exp.When] = []

    @staticmethod
    def target(name: str) -> exp.Column:
        return column(name, TARGET)

    def on(self, *conditions: exp.Expr) -> None:
        self._on.extend(conditions)

    def matched_delete(self, condition: exp.Expr | None) -> None:
        self._whens.append(exp.When(matched=True, condition=condition, then=exp.Var(this="DELETE")))

    def matched_update(self, condition: exp.Expr | None, values: Mapping[str, exp.Expr]) -> None:
        if values:
            then = exp.Update(expressions=[exp.EQ(this=column(name), expression=value) for name, value in values.items()])
            self._whens.append(exp.When(matched=True, condition=condition, then=then))

    def not_matched_insert(self, condition: exp.Expr | None, values: Mapping[str, exp.Expr]) -> None:
        then = exp.Insert(
            this=exp.Tuple(expressions=[column(name) for name in values]), expression=exp.Tuple(expressions=list(values.values()))
        )
        self._whens.append(exp.When(matched=False, condition=condition, then=then))

    def build(self, source: exp.Query) -> exp.Merge:
        on = conjunction(self._on) if self._on else exp.true()
        # Spark requires every WHEN MATCHED to come before the first WHEN NOT MATCHED
        whens = sorted(self._whens, key=lambda when: not when.args["matched"])
        return exp.Merge(this=self._target, using=subquery(source, SOURCE), on=on, whens=exp.Whens(expressions=whens))
