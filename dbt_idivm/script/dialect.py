"""Where engines differ: tables at versions, inlined rows, change feeds. All other SQL is built as shared trees.

`DELTA` prints for Spark + Delta. `DUCKDB` serves the property tests, which keep only the post-state.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import ErrorLevel, exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import alias, column, identifier
from dbt_idivm.algebra.types import distinguishable, is_blurred, is_float, is_text, type_of
from dbt_idivm.relation_name import name_parts, with_suffix
from dbt_idivm.script.diff import INTEGERS, REPLACEMENT, FeedDiff, Row, Value

WEIGHT = "idivm_weight"
VERSION, CHANGE = "idivm_version", "idivm_change"  # version and kind of change of a row in a feed
SIGN_OF_CHANGE = "idivm_sign_of_change"
FEED = "idivm_feed"  # number of a feed among several
_OF_COMMIT = (("_commit_version", VERSION), ("_change_type", CHANGE))
# Maximal number of nodes of a statement that is laid out in lines. Deeply nested statements would consist mostly of indentation,
# which the engine has to parse.
_READABLE = 7_500
Computed = tuple[tuple[str, exp.Expr], ...]  # (column that a feed does not contain, its definition over those that it contains)


@dataclass(frozen=True)
class Dialect:
    """The SQL of one engine, where engines differ. `name` is sqlglot's name for the dialect."""

    name: str
    time_travel: bool

    def table(self, name: str, version: int | None) -> exp.Table:
        """The table of that name, at `version` if the engine keeps versions."""
        found: list[exp.Expr] = [identifier(part) for part in name_parts(name)]
        catalog = reduce(lambda left, part: exp.Dot(this=left, expression=part), found[:-2]) if found[2:] else None
        table = exp.Table(this=found[-1], db=found[-2] if found[1:] else None, catalog=catalog)
        if version is not None and self.time_travel:
            table.set("version", exp.Version(this="VERSION", kind="AS OF", expression=exp.Literal.number(version)))
        return table

    def relation_sql(self, name: str) -> str:
        """A relation's name as SQL, with its parts quoted where necessary."""
        return self.table(name, None).sql(self.name)

    def identifier_sql(self, name: str) -> str:
        return identifier(name).sql(self.name)

    def string_sql(self, text: str) -> str:
        return exp.Literal.string(text).sql(self.name)

    def rows(self, columns: tuple[tuple[str, str], ...], rows: tuple[Row, ...], name: str) -> exp.Select:
        """A SELECT of literal rows. `columns` are (name, type); each cell is cast to its type."""
        cells = [f"c{i}" for i in range(1, len(columns) + 1)]
        selected: list[exp.Expr] = [
            exp.Alias(this=decode(column(cell), kind), alias=identifier(attribute))
            for cell, (attribute, kind) in zip(cells, columns, strict=True)
        ]
        literals = rows or ((None,) * len(columns),)
        values = exp.Values(
            expressions=[exp.Tuple(expressions=[literal(v) for v in row]) for row in literals],
            alias=exp.TableAlias(this=identifier(name), columns=[identifier(c) for c in cells]),
        )
        query = exp.Select(expressions=selected).from_(values)
        return query if rows else query.where(exp.false())

    def net_feed(self, feed: FeedDiff, columns: tuple[tuple[str, str, str], ...], computed: Computed = ()) -> exp.Select:
        """N of a table: `columns`, as (name, alias, type), and the WEIGHT of each row. Rows that cancel out are left out."""
        typed = [(name, shown, type_of(kind)) for name, shown, kind in columns]
        return net_rows(self._changes(feed, computed), typed, _sign_of_change())

    def encoded_feed(
        self, feed: FeedDiff, columns: tuple[tuple[str, str], ...], limit: int, *, counted: bool = False
    ) -> exp.Select:
        """N of a table, with cells as `decode` accepts them, and at most `limit` rows. `columns` are (name, type).

        Rows are grouped by the encoded values, so that 0.0 and -0.0, which GROUP BY considers equal, stay two values. Rows
        that cancel out are left out, except those with U+FFFD, which may stand for bytes that are not UTF-8. With `counted`,
        each row has a version and a kind of change before its weight. Both are NULL for rows of N. Otherwise the row says how
        many rows of that kind the commit has in the feed. These counts come first, from the same pass.
        """
        cells = [encode(column(name), kind) for name, kind in columns]
        texts = [may_hold_text(kind) for _, kind in columns]
        query = _netted(self._encoded(feed, cells, counted=counted), texts, counted=counted)
        return (query.order_by(exp.Ordered(this=column(VERSION), nulls_first=False)) if counted else query).limit(limit)

    def encoded_feeds(
        self, feeds: Sequence[tuple[FeedDiff, tuple[tuple[str, str], ...]]], limit: int, *, counted: bool = False
    ) -> exp.Select:
        """The rows of `encoded_feed` for several feeds with their columns. Each row begins with the number of its feed, from 0.

        `limit` is that of all rows together. All cells are text, because UNION ALL needs common types. Cells after the last
        column of a feed are NULL. With `counted`, there are counts of all feeds, in no order.
        """
        width = max(len(columns) for _, columns in feeds)
        none = exp.Cast(this=exp.null(), to=_string())
        parts = [
            self._encoded(
                feed,
                [
                    *(_as_string(column(name), kind) for name, kind in columns),
                    *(none.copy() for _ in range(width - len(columns))),
                ],
                [exp.alias_(exp.Literal.number(number), FEED)],
                counted=counted,
            )
            for number, (feed, columns) in enumerate(feeds)
        ]
        texts = [any(at < len(columns) and may_hold_text(columns[at][1]) for _, columns in feeds) for at in range(width)]
        return _netted(union_all(parts), texts, (FEED,), counted=counted).limit(limit)

    def _encoded(
        self, feed: FeedDiff, cells: Sequence[exp.Expr], before: Sequence[exp.Expr] = (), *, counted: bool
    ) -> exp.Select:
        """The rows of a feed with these cells as c1, c2, …, the version and the kind of change if `counted`, and their sign."""
        shown = [exp.alias_(cell, f"c{i}") for i, cell in enumerate(cells, 1)]
        of_commit = [exp.alias_(exp.column(each), name) for each, name in _OF_COMMIT] if counted else []
        selected = [*before, *shown, *of_commit, exp.alias_(_sign_of_change(), SIGN_OF_CHANGE)]
        return exp.Select(expressions=selected).from_(self._changes(feed))

    def counts_of_feed(self, feed: FeedDiff) -> exp.Select:
        """The number of rows of a feed by version and kind of change."""
        names = [exp.column(each) for each, _ in _OF_COMMIT]
        return (
            exp.Select(expressions=[*names, exp.Count(this=exp.Star())])
            .from_(self._changes(feed))
            .group_by(*(name.copy() for name in names))
        )

    def replaced_in_feed(self, feed: FeedDiff, texts: tuple[str, ...]) -> exp.Select:
        """A query that returns a row if the feed contains U+FFFD in one of these columns.

        HAVING, not WHERE: the feed itself would evaluate the condition as a filter, before invalid bytes are replaced.
        """
        replaced = exp.Max(this=exp.or_(*(_is_replaced(_text(name)) for name in texts)))
        return exp.select(exp.Literal.number(1)).from_(self._changes(feed)).having(replaced)

    def invalid_in_table(self, table: str, version: int, texts: tuple[str, ...]) -> exp.Select:
        """A query that returns a row if one of these columns contains bytes that are not UTF-8."""
        valid = [exp.Anonymous(this="IS_VALID_UTF8", expressions=[_text(name)]) for name in texts]
        invalid = exp.or_(*(exp.Not(this=each) for each in valid))
        return exp.select(exp.Literal.number(1)).from_(self.table(table, version)).where(invalid).limit(1)

    def signed_feed(self, feed: FeedDiff, columns: tuple[tuple[str, str], ...], sign: str, computed: Computed = ()) -> exp.Select:
        """The rows of the feed with their sign. They are not netted: equal rows do not cancel out, and copies are kept."""
        selected = [exp.Alias(this=column(name), alias=identifier(alias)) for name, alias in columns]
        return exp.Select(expressions=[*selected, exp.alias_(_sign_of_change(), sign)]).from_(self._changes(feed, computed))

    def _changes(self, feed: FeedDiff, computed: Computed = ()) -> exp.Expr:
        if computed:
            own = [alias(value, name) for name, value in computed]
            return subquery(exp.Select(expressions=[exp.Star(), *own]).from_(self._changes(feed)), "feed")
        if not self.time_travel:
            return self.table(with_suffix(feed.table, "__changes"), None)
        if feed.columns:
            return subquery(self._difference(feed), "changes_of_versions")
        name = self.table(feed.table, None).sql(self.name)
        bounds = [exp.Literal.number(feed.from_version + 1), exp.Literal.number(feed.to_version)]
        return exp.Table(this=exp.Anonymous(this="TABLE_CHANGES", expressions=[exp.Literal.string(name), *bounds]))

    def _difference(self, feed: FeedDiff) -> exp.Select:
        """The rows in which two versions differ, one per copy, in the form of a feed."""
        names = {each.name: f"v{number}" for number, each in enumerate(feed.columns, 1)}
        kinds = {each.name: type_of(each.type) for each in feed.columns}
        sides = [
            exp.Select(
                expressions=[
                    *(
                        alias(
                            column(each.name) if is_new or each.is_old else exp.Cast(this=exp.Null(), to=kinds[each.name].copy()),
                            names[each.name],
                        )
                        for each in feed.columns
                    ),
                    exp.alias_(literal(1 if is_new else -1), SIGN_OF_CHANGE),
                ]
            ).from_(self.table(feed.table, version))
            for is_new, version in ((True, feed.to_version), (False, feed.from_version))
        ]
        both = subquery(union_all(sides), "versions")
        net = net_rows(both, [(names[name], names[name], kind) for name, kind in kinds.items()], column(SIGN_OF_CHANGE))
        is_new = exp.GT(this=column(WEIGHT), expression=exp.Literal.number(0))
        change = exp.If(this=is_new, true=exp.Literal.string("insert"), false=exp.Literal.string("delete"))
        copies = exp.Anonymous(this="SEQUENCE", expressions=[exp.Literal.number(1), exp.Abs(this=column(WEIGHT))])
        each_copy = exp.alias_(exp.Anonymous(this="EXPLODE", expressions=[copies]), "idivm_copy")
        copied = exp.Select(expressions=[*map(column, names.values()), exp.alias_(change, CHANGE), each_copy])
        shown = [*(alias(column(inner), name) for name, inner in names.items()), alias(column(CHANGE), "_change_type")]
        return exp.Select(expressions=shown).from_(subquery(copied.from_(subquery(net, "net")), "copies"))

    def sql(self, tree: exp.Expr, pretty: bool = True, *, copy: bool = True) -> str:
        """The SQL text of a tree, laid out in lines unless the tree is large or that would change text of the user.

        Without `copy` the tree cannot be used afterwards.
        """
        nodes = list(tree.walk()) if pretty else []
        pretty = pretty and len(nodes) <= _READABLE and not any("\n" in node.name for node in nodes if isinstance(node, exp.Var))
        return tree.sql(dialect=self.name, pretty=pretty, copy=copy, comments=False, unsupported_level=ErrorLevel.IGNORE)


def net_rows(source: exp.Expr, columns: Sequence[tuple[str, str, exp.DataType]], sign: exp.Expr) -> exp.Select:
    """The distinct rows of `source` and the WEIGHT of each: the sum of its signs. `columns` are (name, alias, type).

    Rows that cancel out are left out. 0.0 and -0.0, which GROUP BY considers equal, stay two values.
    """
    groups = [distinguishable(column(name), kind) for name, _, kind in columns]
    selected = []
    for group, (name, shown, kind) in zip(groups, columns, strict=True):
        value: exp.Expr = group.copy()
        if is_float(kind):
            value = exp.Cast(this=value, to=kind.copy())
        elif is_blurred(kind):  # any value with the same text
            value = exp.AnyValue(this=column(name))
        selected.append(alias(value, shown))
    weight = exp.Sum(this=sign)
    return (
        exp.Select(expressions=[*selected, exp.alias_(weight.copy(), WEIGHT)])
        .from_(source)
        .group_by(*groups)
        .having(exp.NEQ(this=weight, expression=exp.Literal.number(0)))
    )


def _netted(changes: exp.Query, texts: Sequence[bool], of_feed: tuple[str, ...] = (), *, counted: bool) -> exp.Select:
    """The groups of equal rows of `Dialect._encoded`, with their WEIGHT. `texts`: which of the cells may hold text. `of_feed`:
    names of columns that come before the cells."""
    feed, cells = [column(name) for name in of_feed], [column(f"c{i}") for i in range(1, len(texts) + 1)]
    commit = [column(shown) for _, shown in _OF_COMMIT] if counted else []
    weight: exp.Expr = exp.Sum(this=column(SIGN_OF_CHANGE))
    kept = [
        exp.NEQ(this=weight.copy(), expression=exp.Literal.number(0)),
        *(_is_replaced(cell) for cell, is_text in zip(cells, texts, strict=True) if is_text),
    ]
    group = exp.Group(expressions=[each.copy() for each in (*feed, *cells)])
    if counted:
        is_count = exp.Not(this=exp.Is(this=commit[0].copy(), expression=exp.Null()))
        weight, kept = exp.If(this=is_count, true=exp.Count(this=exp.Star()), false=weight), [is_count.copy(), *kept]
        sets = [exp.Tuple(expressions=[each.copy() for each in (*feed, *grouped)]) for grouped in (cells, commit)]
        group = exp.Group(grouping_sets=[exp.GroupingSets(expressions=sets)])
    query = exp.Select(expressions=[*feed, *cells, *commit, exp.alias_(weight, WEIGHT)])
    query = query.from_(subquery(changes, "changes")).having(exp.or_(*kept))
    query.set("group", group)
    return query


def _text(name: str) -> exp.Expr:
    return exp.Cast(this=column(name), to=exp.DataType(this=exp.DataType.Type.TEXT))


def _is_replaced(text: exp.Expr) -> exp.Expr:
    found = exp.Anonymous(this="INSTR", expressions=[text.copy(), exp.Literal.string(REPLACEMENT)])
    return exp.GT(this=found, expression=exp.Literal.number(0))


def _sign_of_change() -> exp.Expr:
    inserted = exp.In(
        this=exp.column("_change_type"), expressions=[exp.Literal.string(change) for change in ("insert", "update_postimage")]
    )
    return exp.Case(ifs=[exp.If(this=inserted, true=exp.Literal.number(1))], default=literal(-1))


def verbatim(sql: str) -> exp.Var:
    """A user's query, unchanged, as a node of a tree. The line break ends a trailing comment."""
    return exp.Var(this=f"{sql}\n")


DELTA = Dialect("spark", time_travel=True)
DUCKDB = Dialect("duckdb", time_travel=False)

# Types whose values are not fetched and inlined as text to be cast, with the function that decodes them. The text of a timestamp
# would depend on the session's time zone and be ambiguous when clocks are set back.
_DECODERS = {"timestamp": "TIMESTAMP_MICROS", "binary": "UNHEX"}


def decode(cell: exp.Expr, kind: str) -> exp.Expr:
    """A fetched or inlined cell as a value of the Spark SQL type `kind`."""
    function = _DECODERS.get(kind.lower())
    if function:
        return exp.Anonymous(this=function, expressions=[cell])
    return exp.Cast(this=cell, to=type_of(kind).copy())


_AS_IS = INTEGERS | {"boolean"}
_AS_TEXT = frozenset({"string", "char", "varchar", "decimal", "float", "double", "date", "timestamp_ntz"})
_ENCODERS = {"timestamp": "UNIX_MICROS", "binary": "HEX"}


def is_inlinable(kind: str) -> bool:
    """Whether values of this type can be fetched and inlined: scalars that are equal exactly if their texts are."""
    name = kind.lower().partition("(")[0]
    return name in _AS_IS or name in _AS_TEXT or name in _ENCODERS


def may_hold_text(kind: str) -> bool:
    """Whether values of this type may contain strings, directly or nested."""
    return is_text(type_of(kind)) or not is_inlinable(kind)


def encode(cell: exp.Expr, kind: str) -> exp.Expr:
    """The cell in the form in which it is fetched: integers and booleans unchanged,
    timestamps as microseconds, the rest as text.
    """
    name = kind.lower().partition("(")[0]
    if name in _ENCODERS:
        return exp.Anonymous(this=_ENCODERS[name], expressions=[cell])
    return cell if name in _AS_IS else exp.Cast(this=cell, to=_string())


def _as_string(cell: exp.Expr, kind: str) -> exp.Expr:
    """The cell as by `encode`, as text. `diff.fetched_row` reads numbers and booleans from text as well."""
    name = kind.lower().partition("(")[0]
    encoded = encode(cell, kind)
    return exp.Cast(this=encoded, to=_string()) if name in _AS_IS or name in _ENCODERS else encoded


def _string() -> exp.DataType:
    return type_of("string").copy()


# Spark substitutes ${..} in the text of any statement, even in string literals, and reads \0 before digits as an octal escape.
_UNSAFE = re.compile(r"(?<=\$)(?=\{)|(?<=\0)(?=[0-9])")


def literal(value: Value) -> exp.Expr:
    parts = _UNSAFE.split(value) if isinstance(value, str) else []
    if len(parts) > 1:
        return exp.Anonymous(this="CONCAT", expressions=[exp.Literal.string(part) for part in parts])
    if value is None:
        return exp.null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int):
        number = exp.Literal.number(abs(value))
        return exp.Neg(this=number) if value < 0 else number
    return exp.Literal.string(value)
