"""Where the engines differ: tables at versions, inlined rows, change feeds. Everything else is shared trees.

`DELTA` prints for Spark + Delta. `DUCKDB` serves the property tests, which keep only the post-state.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import ErrorLevel, exp

from dbt_idivm.algebra.expressions import column, identifier
from dbt_idivm.script.diff import FeedDiff, Row, Value

WEIGHT = "idivm_weight"


@dataclass(frozen=True)
class Dialect:
    """How one engine writes what the trees leave open. `name` is sqlglot's name for its SQL."""

    name: str
    time_travel: bool

    def table(self, name: str, version: int | None) -> exp.Table:
        """The table `name` (`schema.table`), at `version` where the engine keeps versions."""
        table = exp.to_table(name, dialect="spark")
        for part in table.parts:
            part.set("quoted", identifier(part.name).args["quoted"])
        if version is not None and self.time_travel:
            table.set("version", exp.Version(this="VERSION", kind="AS OF", expression=exp.Literal.number(version)))
        return table

    def rows(self, columns: tuple[tuple[str, str], ...], rows: tuple[Row, ...], name: str) -> exp.Select:
        """SELECT of literal rows: `columns` are (name, type), each cell cast to its type."""
        cells = [f"c{i}" for i in range(1, len(columns) + 1)]
        selected: list[exp.Expression] = [
            exp.Alias(this=decode(column(cell), kind), alias=identifier(attribute))
            for cell, (attribute, kind) in zip(cells, columns, strict=True)]
        literals = rows or ((None,) * len(columns),)
        values = exp.Values(expressions=[exp.Tuple(expressions=[literal(v) for v in row]) for row in literals],
                            alias=exp.TableAlias(this=identifier(name), columns=[identifier(c) for c in cells]))
        query = exp.Select(expressions=selected).from_(values)
        return query if rows else query.where(exp.false())

    def net_feed(self, feed: FeedDiff, columns: tuple[tuple[str, str], ...]) -> exp.Select:
        """N of a table: `columns` as (name, alias), and each row's WEIGHT; rows that cancel are left out."""
        names = [column(name) for name, _ in columns]
        weight = exp.Sum(this=_sign_of_change())
        selected = [exp.Alias(this=column(name), alias=identifier(alias)) for name, alias in columns]
        return (exp.Select(expressions=[*selected, exp.alias_(weight.copy(), WEIGHT)])
                .from_(self._changes(feed)).group_by(*names)
                .having(exp.NEQ(this=weight, expression=exp.Literal.number(0))))

    def signed_feed(self, feed: FeedDiff, columns: tuple[tuple[str, str], ...], sign: str) -> exp.Select:
        """The feed's rows as they are, with their sign: equal rows are not cancelled, copies are kept."""
        selected = [exp.Alias(this=column(name), alias=identifier(alias)) for name, alias in columns]
        return exp.Select(expressions=[*selected, exp.alias_(_sign_of_change(), sign)]).from_(self._changes(feed))

    def _changes(self, feed: FeedDiff) -> exp.Expression:
        name = self.table(feed.table, None).sql("spark")
        if not self.time_travel:
            return exp.to_table(f"{name}__changes")
        bounds = [exp.Literal.number(feed.from_version + 1), exp.Literal.number(feed.to_version)]
        return exp.Table(this=exp.Anonymous(this="TABLE_CHANGES", expressions=[exp.Literal.string(name), *bounds]))

    def sql(self, tree: exp.Expression, pretty: bool = True) -> str:
        return tree.sql(dialect=self.name, pretty=pretty, comments=False, unsupported_level=ErrorLevel.IGNORE)


def _sign_of_change() -> exp.Expression:
    came = exp.In(this=exp.column("_change_type"),
                  expressions=[exp.Literal.string(change) for change in ("insert", "update_postimage")])
    return exp.Case(ifs=[exp.If(this=came, true=exp.Literal.number(1))], default=literal(-1))


DELTA = Dialect("spark", time_travel=True)
DUCKDB = Dialect("duckdb", time_travel=False)

# Types whose values cross as something else than the text of a CAST, and the function that brings them back. The text
# of a timestamp would depend on the session's zone and be ambiguous when clocks are put back.
_DECODERS = {"timestamp": "TIMESTAMP_MICROS", "binary": "UNHEX"}


def decode(cell: exp.Expression, kind: str) -> exp.Expression:
    """The cell as a value of the Spark SQL type `kind`."""
    function = _DECODERS.get(kind.lower())
    if function:
        return exp.Anonymous(this=function, expressions=[cell])
    return exp.Cast(this=cell, to=exp.DataType.build(kind, dialect="spark"))


def literal(value: Value) -> exp.Expression:
    if value is None:
        return exp.null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int):
        number = exp.Literal.number(abs(value))
        return exp.Neg(this=number) if value < 0 else number
    return exp.Literal.string(value)


