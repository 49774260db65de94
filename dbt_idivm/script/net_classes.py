"""The classes of a net diff whose rows stay in the engine: the same as `diff.classify`, as a query.

It takes one pass over the net diff: its rows are ranked within their key by the `split` attributes. Two images with the same rank
are an update (UPD). With different ranks, the row may enter, leave or change its place in the view (REC).
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import alias, column
from dbt_idivm.algebra.types import distinguishable
from dbt_idivm.operators.scan import DiffRows, Scan
from dbt_idivm.script.dialect import WEIGHT

CLASS = "idivm_class"
_RANK, _NET = "idivm_rank", "net"


def with_class(net: exp.Select, scan: Scan, split: frozenset[str]) -> exp.Select:
    """N of one occurrence with the CLASS of each row: ins, del, upd or rec. `net` has the scan's columns and WEIGHT."""
    columns = [column(name) for name in (*scan.columns, WEIGHT)]
    if not scan.unique:
        return exp.Select(expressions=[*columns, exp.alias_(exp.Literal.string("rec"), CLASS)]).from_(subquery(net, _NET))
    keys = [column(name) for name in scan.ids]
    moves = [distinguishable(column(name), scan.types[name]) for name in scan.columns if name in split and name not in scan.ids]
    rank = (
        exp.Window(
            this=exp.Anonymous(this="DENSE_RANK"),
            partition_by=keys,
            order=exp.Order(expressions=[exp.Ordered(this=name) for name in moves]),
        )
        if moves
        else exp.Literal.number(1)
    )
    ranked = exp.Select(expressions=[*columns, alias(rank, _RANK)]).from_(subquery(net, _NET))

    def among(function: type[exp.AggFunc], value: str) -> exp.Window:
        return exp.Window(this=function(this=column(value)), partition_by=[key.copy() for key in keys])

    zero = exp.Literal.number(0)
    branches = [
        (exp.GT(this=among(exp.Min, WEIGHT), expression=zero), "ins"),
        (exp.LT(this=among(exp.Max, WEIGHT), expression=zero.copy()), "del"),
        (exp.GT(this=among(exp.Max, _RANK), expression=exp.Literal.number(1)), "rec"),
    ]
    kind = exp.Case(
        ifs=[exp.If(this=test, true=exp.Literal.string(name)) for test, name in branches], default=exp.Literal.string("upd")
    )
    return exp.Select(expressions=[*(each.copy() for each in columns), alias(kind, CLASS)]).from_(subquery(ranked, "ranked"))


def class_tests(leaf: DiffRows) -> Iterable[exp.Expr]:
    """The conditions on WEIGHT and CLASS that select the rows of a base i-diff. For an update they select the post-image."""
    if leaf.diff_class in ("plus", "minus", "upd"):
        sign = exp.LT if leaf.diff_class == "minus" else exp.GT
        yield sign(this=column(WEIGHT), expression=exp.Literal.number(0))
    if leaf.diff_class in ("ins", "del", "upd", "rec"):
        yield exp.EQ(this=column(CLASS), expression=exp.Literal.string(leaf.diff_class))
