"""The log of a view's changes, for subscribers: each refresh appends the net changes of the view's rows, as whole rows.

A row of the log contains the user's columns; whether copies of that row were inserted or deleted, and how many; the number of the
refresh, which orders refreshes; and the versions of the inputs after it, as JSON. The sum of the copies of each row up to a
refresh, counting deleted ones as negative, gives the bag of the view's rows after it. Rows are compared as in net diffs: 0.0 and
-0.0 are different values.

Inside these queries the user's columns are renamed, so that they cannot collide with our own columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import alias, column, identifier
from dbt_idivm.algebra.operator import SIGN
from dbt_idivm.algebra.types import type_of
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.script.dialect import WEIGHT, Dialect, literal, net_rows
from dbt_idivm.script.diff import FeedDiff

CHANGE, COPIES, REFRESH, VERSIONS = OWN = ("idivm__change", "idivm__copies", "idivm__refresh", "idivm__versions")
INSERT, DELETE = "insert", "delete"


@dataclass(frozen=True)
class Entry:
    """Values that all rows of one refresh have in common: its number, and the version vector as JSON."""

    number: int
    versions: str


def inner_names(columns: Sequence[object]) -> tuple[str, ...]:
    """The internal names of the columns in a query over net changes."""
    return tuple(f"idivm_c{place}" for place in range(1, len(columns) + 1))


def first_rows(rows: exp.Expr, names: Sequence[str], entry: Entry) -> exp.Select:
    """All rows of a view, as inserted ones: the start of a log. `rows` is an item of FROM."""
    own = _own(entry, exp.Literal.string(INSERT), exp.Literal.number(1))
    return exp.Select(expressions=[*(column(name) for name in names), *own]).from_(rows)


def logged(net: exp.Query, names: Sequence[str], entry: Entry) -> exp.Select:
    """Net changes (rows with a WEIGHT) as rows of the log. `names`: the column names
    of the log, in the order of `inner_names`.
    """
    inserted = exp.GT(this=column(WEIGHT), expression=exp.Literal.number(0))
    change = exp.Case(ifs=[exp.If(this=inserted, true=exp.Literal.string(INSERT))], default=exp.Literal.string(DELETE))
    shown = [exp.Alias(this=column(inner), alias=identifier(name)) for inner, name in zip(inner_names(names), names, strict=True)]
    own = _own(entry, change, exp.Abs(this=column(WEIGHT)))
    return exp.Select(expressions=[*shown, *own]).from_(subquery(net, "net_rows"))


def _own(entry: Entry, change: exp.Expr, copies: exp.Expr) -> list[exp.Expr]:
    values = (change, _whole_number(copies), _whole_number(exp.Literal.number(entry.number)), literal(entry.versions))
    return [alias(value, name) for value, name in zip(values, OWN, strict=True)]


def _whole_number(value: exp.Expr) -> exp.Expr:
    return exp.Cast(this=value, to=exp.DataType.build("bigint"))


def changes_in_feed(dialect: Dialect, feed: FeedDiff, columns: Sequence[Attribute]) -> exp.Select:
    """The net changes of a table according to its change feed."""
    named = zip(columns, inner_names(columns), strict=True)
    return dialect.net_feed(feed, tuple((each.name, inner, each.type) for each, inner in named))


def difference(rows: exp.Expr, log: exp.Expr, columns: Sequence[Attribute]) -> exp.Select:
    """The net changes that the log lacks to replay to `rows`: rows with a WEIGHT, which is
    negative if the log has too many copies.

    `rows` and `log` are items of FROM. `rows` is evaluated once. Each weight is passed through UNPIVOT because of Spark's
    optimizer (`bag_difference.py`).
    """
    inner = inner_names(columns)
    sides = union_all([_weighted(rows, columns, exp.Literal.number(1)), _weighted(log, columns, exp.Neg(this=_signed_copies()))])
    kinds = [(name, name, type_of(each.type)) for name, each in zip(inner, columns, strict=True)]
    return net_rows(subquery(sides, "both"), kinds, column(SIGN))


def replay_differences(log: exp.Expr, wanted: exp.Expr, columns: Sequence[Attribute], name: str) -> exp.Select:
    """Rows for which the log replays to another number of copies than `wanted` has. The
    column `name` is the number of excess copies.
    """
    shown = [
        exp.Alias(this=column(inner), alias=identifier(each.name))
        for inner, each in zip(inner_names(columns), columns, strict=True)
    ]
    too_many = alias(exp.Neg(this=column(WEIGHT)), name)
    return exp.Select(expressions=[*shown, too_many]).from_(subquery(difference(wanted, log, columns), "differences"))


def _weighted(source: exp.Expr, columns: Sequence[Attribute], sign: exp.Expr) -> exp.Select:
    inner = inner_names(columns)
    shown = [alias(column(each.name), name) for each, name in zip(columns, inner, strict=True)]
    found = exp.Select(expressions=[*shown, alias(sign, "idivm_copies")]).from_(source)
    rows = subquery(found, "rows")
    fields = [exp.In(this=exp.to_identifier("idivm_label"), expressions=[exp.column("idivm_copies")])]
    rows.set("pivots", [exp.Pivot(expressions=[exp.to_identifier(SIGN)], unpivot=True, include_nulls=True, fields=fields)])
    return exp.Select(expressions=[column(name) for name in (*inner, SIGN)]).from_(rows)


def _signed_copies() -> exp.Expr:
    inserted = exp.EQ(this=column(CHANGE), expression=exp.Literal.string(INSERT))
    return exp.Case(ifs=[exp.If(this=inserted, true=column(COPIES))], default=exp.Neg(this=column(COPIES)))
