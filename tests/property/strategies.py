"""Random cases: tables with rows, views drawn from the supported grammar, and batches of changes.

Everything small, so that rows meet: integers are NULL or 0..3, tables hold at most five rows at the start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hypothesis import strategies as st

from dbt_idivm.script.diff import Row, Value
from tests.property.plans import Table

Draw = Callable[[st.SearchStrategy], object]
Content = dict[str, list[Row]]
Column = tuple[str, str]  # name or expression, type
Pool = Mapping[str, tuple[Value, ...]]  # type → its values, NULL first

INT, BIGINT, STRING, DECIMAL, BOOLEAN, DATE, DOUBLE = "int", "bigint", "string", "decimal(10,2)", "boolean", "date", "double"
TYPES = (INT, INT, INT, INT, BIGINT, BIGINT, STRING, STRING, DECIMAL, BOOLEAN, DATE, DOUBLE)
VALUES: Pool = {
    INT: (None, 0, 1, 2, 3),
    BIGINT: (None, 0, 1, 2, 3),
    STRING: (None, "", "a", "b"),
    DECIMAL: (None, "0.00", "0.50", "1.25", "-2.00"),
    BOOLEAN: (None, False, True),
    DATE: (None, "2024-01-01", "2024-02-29"),
    DOUBLE: (None, "0.0", "0.5", "-1.0"),  # sums of these are exact in binary
}
MOST_BATCHES = 3
# Queries in queries, and about how many occurrences of tables a view has when none is added any more. Each operator restricts,
# probes and repeats its inputs: the statement for fifteen occurrences takes seconds to plan, fifty times what one for five does.
SHALLOW, DEEP = 1, 2
MOST_OCCURRENCES = 7
MOST_SMALL = 4  # where each table is read before and after the changes of all others, or nothing is optimised
MOST_ROWS = 5
# Relations beside the facts of a star, and how many of them now and then: each of many is looked up by its key, so that rows have
# one partner at most.
MOST_DIMENSIONS, MANY_DIMENSIONS = 6, 24


@dataclass(frozen=True)
class Case:
    """Tables, a view, the rows at the start, and for each batch the new content of the tables that change."""

    tables: tuple[Table, ...]
    sql: str
    start: Content
    batches: tuple[Content, ...]


@st.composite
def cases(
    draw: Draw,
    batches: int = MOST_BATCHES,
    *,
    deepest: int = SHALLOW,
    additive: bool = False,
    tested: bool = False,
    small: bool = False,
) -> Case:
    """With `additive`, views that are groups with sums, counts and averages over exact types.

    With `tested`, views without derived tables, the rows of which depend on the existence of others. With `small`, views of few
    tables, for statements that grow fast with them. Now and then, a star.
    """
    if not tested and draw(st.sampled_from((*[False] * 9, True))):
        return draw(stars(batches, additive=additive, small=small))
    found = draw(schemas())
    return played(draw, found, draw(views(found, deepest, additive=additive, tested=tested, small=small or additive)), batches)


@st.composite
def chains(draw: Draw) -> Case:
    """Views with values that are computed from those of several tables, one over the other: what an update changes has to be
    looked up, and what was looked up is needed again."""
    found = tuple(Table(f"t{number}", (("k", INT), ("x", INT), ("y", INT)), ("k",)) for number in range(3))
    tables = [draw(st.sampled_from(found)).name for _ in range(draw(st.integers(3, 4)))]
    sql, ids = f"SELECT a.k AS k0, a.x AS v, a.y AS w FROM {tables[0]} AS a", ["k0"]
    for number, table in enumerate(tables[1:], 1):
        on = draw(st.sampled_from((f"p.{ids[-1]} = c.k", f"p.{ids[0]} = c.k", "p.v = c.x")))
        kind = draw(st.sampled_from(("JOIN", "JOIN", "JOIN", "LEFT JOIN")))
        value = draw(st.sampled_from(("p.v + c.y", "p.v - c.x", "coalesce(p.v, c.y)", "CASE WHEN c.y > 1 THEN p.v ELSE c.x END")))
        names = ", ".join(f"p.{name}" for name in ids)
        where = draw(st.sampled_from(("", "", "", " WHERE p.w IS NOT NULL", " WHERE c.y > 0")))
        sql = f"SELECT {names}, c.k AS k{number}, {value} AS v, p.w FROM ({sql}) AS p {kind} {table} AS c ON {on}{where}"
        ids.append(f"k{number}")
    return played(draw, found, sql, MOST_BATCHES)


@st.composite
def stars(draw: Draw, batches: int = MOST_BATCHES, *, additive: bool = False, small: bool = False, many: bool = False) -> Case:
    """Wide views: facts beside which other relations are looked up or joined, some of them below others; plain, grouped, with
    window functions, scalar subqueries and tests of other rows."""
    many = many or (not (small or additive) and draw(st.sampled_from((*[False] * 59, True))))
    number = draw(
        st.integers(MOST_DIMENSIONS + 1, MANY_DIMENSIONS)
        if many
        else st.sampled_from((2, 2, 3) if small else (2, 2, 3, 3, 4, 5, MOST_DIMENSIONS))
    )
    others = range(1, draw(st.integers(2, 5 if many else 3)) + 1)
    dimensions = tuple(draw(dimension(f"t{each}", keyed=many)) for each in others)
    found = (draw(facts(tuple(each.columns[0][1] for each in dimensions))), *dimensions)
    return played(draw, found, draw(wide_views(found, number, additive=additive)), batches)


@st.composite
def facts(draw: Draw, keys: tuple[str, ...]) -> Table:
    """Foreign keys, mostly of the types that keys have, and a value."""
    kinds = [keys[0], *(draw(st.sampled_from((*keys, INT, INT, BIGINT))) for _ in range(2))]
    columns = (("k", INT), *zip(("x", "y", "z"), kinds, strict=True), ("v", draw(st.sampled_from((INT, INT, BIGINT, DECIMAL)))))
    return Table("t0", columns, draw(st.sampled_from((("k",), ("k",), ("k",), None))))


@st.composite
def dimension(draw: Draw, name: str, *, keyed: bool) -> Table:
    """A key, which need not be declared unless `keyed`, a foreign key and a value."""
    key = draw(st.sampled_from((("k",), ("k",), ("k",), ("k",), ("k", "l"), ("k",) if keyed else None)))
    keys = tuple((column, draw(st.sampled_from((INT, INT, INT, INT, BIGINT, STRING)))) for column in key or ("k",))
    return Table(name, (*keys, ("x", INT), ("n", draw(st.sampled_from(TYPES)))), key)


def played(draw: Draw, found: tuple[Table, ...], sql: str, batches: int) -> Case:
    """The case of a view: rows at the start, and up to `batches` batches of changes."""
    now = start = {table.name: draw(rows(table, least=draw(st.sampled_from((2, 2, 2, 2, 2, 2, 0))))) for table in found}
    used = tuple(table for table in found if f"{table.name} AS" in sql) or found[:1]  # a view of constants reads none
    changes = []
    for _ in range(draw(st.integers(1, batches))):
        changed = draw(batch(used, now))
        changes.append(changed)
        now = {**now, **changed}
    return Case(found, sql, start, tuple(changes))


# --- tables and rows


@st.composite
def schemas(draw: Draw) -> tuple[Table, ...]:
    """Two to four tables: one key column, two of them, or none."""
    return tuple(draw(table(f"t{number}")) for number in range(draw(st.integers(2, 4))))


@st.composite
def table(draw: Draw, name: str) -> Table:
    key = draw(st.sampled_from((("k",), ("k",), ("k", "l"), None)))
    keys = tuple((column, draw(st.sampled_from((INT, INT, STRING)))) for column in key or ())
    rest = tuple((column, draw(st.sampled_from(TYPES))) for column in ("x", "y", "z")[: draw(st.integers(1, 3))])
    columns = (*rest, *keys) if draw(st.sampled_from((False, False, False, True))) else (*keys, *rest)
    return Table(name, columns, key)


def value(kind: str, *, null: bool = True, pool: Pool = VALUES) -> st.SearchStrategy[Value]:
    return st.sampled_from(pool[kind] if null else pool[kind][1:])


@st.composite
def row(draw: Draw, table: Table, pool: Pool) -> Row:
    return tuple(draw(value(kind, null=name not in (table.key or ()), pool=pool)) for name, kind in table.columns)


@st.composite
def rows(draw: Draw, table: Table, least: int = 0, most: int = MOST_ROWS, pool: Pool = VALUES) -> list[Row]:
    """Up to `most` rows, each key once; without a key, copies as they come."""
    found = draw(st.lists(row(table, pool), min_size=least, max_size=most))
    return distinct_keys(table, found)


def key_of(table: Table, content: Row) -> Row:
    return tuple(value for name, value in zip(table.names, content, strict=True) if name in (table.key or ()))


def distinct_keys(table: Table, content: list[Row]) -> list[Row]:
    """The rows with the last one of each key."""
    return list({key_of(table, each): each for each in content}.values()) if table.key else content


# --- batches


@st.composite
def batch(draw: Draw, tables: tuple[Table, ...], now: Content, pool: Pool = VALUES) -> Content:
    """The new content of some tables: mostly of several at once."""
    changed = draw(st.lists(st.sampled_from(tables), min_size=1, max_size=len(tables), unique=True))
    return {table.name: draw(change(table, now[table.name], pool)) for table in changed}


@st.composite
def change(draw: Draw, table: Table, content: list[Row], pool: Pool) -> list[Row]:
    """none, few, many, all, clear; a key that is deleted and inserted again is an update."""
    size = draw(st.sampled_from(("few", "few", "few", "few", "few", "many", "many", "swap", "swap", "all", "clear", "none")))
    if size == "none":
        return list(content)
    if size in ("all", "clear"):
        return draw(rows(table, pool=pool)) if size == "all" else []
    if size == "swap" and table.key and len(content) > 1:
        return swapped(table, content)
    kept = [draw(changed_row(table, each, pool)) if draw(touches(size)) else each for each in content]
    new = draw(rows(table, least=draw(st.sampled_from((0, 1))), most=2, pool=pool))
    return distinct_keys(table, [each for each in kept if each is not None] + new)


def touches(size: str) -> st.SearchStrategy[bool]:
    return st.sampled_from((False, False, True) if size == "few" else (False, True, True))


@st.composite
def changed_row(draw: Draw, table: Table, content: Row, pool: Pool) -> Row | None:
    """The row deleted (None) or with another value, perhaps the same one, in one or more of its columns."""
    if draw(st.sampled_from((False, False, True))):
        return None
    free = [name for name in table.names if name not in (table.key or ())]
    names = draw(st.lists(st.sampled_from(free), min_size=1, max_size=len(free), unique=True))
    return tuple(
        draw(value(kind, pool=pool)) if name in names else old for (name, kind), old in zip(table.columns, content, strict=True)
    )


def swapped(table: Table, content: list[Row]) -> list[Row]:
    """The rows with the keys of the first two exchanged."""
    first, second, *rest = content
    keep = [name in (table.key or ()) for name in table.names]

    def mixed(key: Row, other: Row) -> Row:
        return tuple(a if is_key else b for a, b, is_key in zip(key, other, keep, strict=True))

    return [mixed(first, second), mixed(second, first), *rest]


# --- views


@dataclass
class Grammar:
    """What one view is drawn from: its tables, and the names handed out. `ctes` are (name, columns, text, occurrences)."""

    draw: Draw
    tables: tuple[Table, ...]
    ctes: list[tuple[str, tuple[Column, ...], str, int]] = field(default_factory=list)
    aliases: int = 0
    least_tests: int = 0
    occurrences: int = 0

    @property
    def room(self) -> int:
        """How many more occurrences of tables the view may have."""
        return max(0, MOST_OCCURRENCES - self.occurrences)

    def one_of(self, *options: object) -> object:
        return self.draw(st.sampled_from(options))

    def number(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    # relations

    def relation(self, depth: int) -> tuple[str, list[Column]]:
        """One item of FROM and its columns, qualified: a table, a CTE (the same one more than once), a derived table, VALUES."""
        name = f"a{self.aliases}"
        self.aliases += 1
        kind = self.one_of("table", "derived", "cte") if depth > 0 and self.room else "table"
        if not self.least_tests and self.one_of(*[False] * 15, True):  # rows that depend on others depend on tables
            return self.values(name)
        if kind == "table":
            self.occurrences += 1
            table = self.one_of(*self.tables)
            text, columns = table.name, table.columns
        elif kind == "cte":
            text, columns = self.cte(depth - 1)
        else:
            query, columns = self.query(depth - 1)
            text = f"({query})"
        return f"{text} AS {name}", [(f"{name}.{column}", kind) for column, kind in columns]

    def values(self, name: str) -> tuple[str, list[Column]]:
        """VALUES of one to three rows, equal ones among them, or SELECT without FROM."""
        types = [self.one_of(*TYPES) for _ in range(self.number(1, 2))]
        rows = [[self.constant(kind) for kind in types] for _ in range(self.one_of(1, 2, 2, 3))]
        columns = [(f"{name}.c{number}", kind) for number, kind in enumerate(types)]
        if self.one_of(True, False, False):
            items = ", ".join(f"{value} AS c{number}" for number, value in enumerate(rows[0]))
            return f"(SELECT {items}) AS {name}", columns
        # two brackets: DuckDB takes VALUES in FROM with them only
        text = ", ".join(f"({', '.join(row)})" for row in rows)
        return f"(VALUES {text}) AS {name}({', '.join(f'c{number}' for number in range(len(types)))})", columns

    def constant(self, kind: str) -> str:
        return literal(kind, self.number(0, 1)) if self.one_of(True, True, True, False) else f"CAST(NULL AS {kind})"

    def cte(self, depth: int) -> tuple[str, tuple[Column, ...]]:
        if self.ctes and self.one_of(True, True, False):
            name, columns, _, occurrences = self.one_of(*self.ctes)
            self.occurrences += occurrences
            return name, columns
        before = self.occurrences
        query, columns = self.query(depth)
        name = f"w{len(self.ctes)}"
        self.ctes.append((name, columns, query, self.occurrences - before))
        return name, columns

    def source(self, depth: int) -> tuple[str, list[Column]]:
        """FROM: one to three relations under all kinds of join."""
        text, columns = self.relation(depth)
        joins = min(self.one_of(0, 0, 1, 1, 1, 2), self.room)
        for number in range(joins):
            other, others = self.relation(depth - 1)
            half = self.one_of(*[""] * 10, "LEFT SEMI", "LEFT ANTI")
            if half:
                text += f" {half} JOIN {other} ON {self.join_condition(columns, others)}"
                continue
            text += self.joined(other, columns, others, last=number == joins - 1)
            columns = columns + others
        return text, columns

    def joined(self, other: str, left: list[Column], right: list[Column], *, last: bool) -> str:
        """A comma binds weaker than JOIN: it is used last only, because ON sees no names from before it."""
        kind = self.one_of(*["inner"] * 6, *["cross"] * 2, *["comma"] * 2, "LEFT", "LEFT", "LEFT", "RIGHT", "FULL")
        if kind.isupper():
            return f" {kind} JOIN {other} ON {self.join_condition(left, right)}"
        if kind == "cross":
            return f" CROSS JOIN {other}"
        if kind == "comma" and last:
            return f", {other}"
        return f" JOIN {other} ON {self.join_condition(left, right)}"

    def join_condition(self, left: list[Column], right: list[Column]) -> str:
        pairs = [(a, b) for a, kind in left for b, other in right if _family(kind) == _family(other)]
        if not pairs:
            return self.condition(left + right)
        a, b = self.one_of(*pairs)
        c, d = self.one_of(*pairs)
        operator = self.one_of("=", "=", "=", "<=>", "<", "<>")
        return str(
            self.one_of(
                f"{a} {operator} {b}",
                f"{a} {operator} {b}",
                f"{a} = {b} OR {c} = {d}",
                f"{a} = {b} AND {self.condition(left + right)}",
                "TRUE",
            )
        )

    # queries

    def query(self, depth: int) -> tuple[str, tuple[Column, ...]]:
        forms = [self.plain, self.plain, self.grouped, self.grouped]
        if depth > 0:
            forms += [self.union, self.distinct]
        return self.one_of(*forms)(depth)

    def one_row(self, wanted: tuple[str, ...]) -> str:
        """SELECT without FROM."""
        return "SELECT " + ", ".join(f"{self.constant(kind)} AS c{number}" for number, kind in enumerate(wanted))

    def plain(self, depth: int, wanted: tuple[str, ...] = ()) -> tuple[str, tuple[Column, ...]]:
        """SELECT … FROM … WHERE; `wanted` gives the types of the columns."""
        source, columns = self.source(depth)
        types = wanted or tuple(self.one_of(*columns)[1] for _ in range(self.number(1, 4)))
        if not wanted and self.one_of(*[False] * 9, True):
            return self.elements(depth, source, columns, types)
        items = [self.window(kind, columns, source) if self.windowed() else self.item(kind, columns) for kind in types]
        named = ", ".join(f"{item} AS c{number}" for number, item in enumerate(items))
        where = self.where(depth, columns, self.one_of(True, False))
        return f"SELECT {named} FROM {source}{where}", tuple((f"c{number}", kind) for number, kind in enumerate(types))

    def elements(self, depth: int, source: str, columns: list[Column], types: tuple[str, ...]) -> tuple[str, tuple[Column, ...]]:
        """Each row once for each element of an array of two columns of one type, or of none; with the place and the element."""
        named = ", ".join(f"{self.item(kind, columns)} AS c{number}" for number, kind in enumerate(types))
        kind = self.one_of(*columns)[1]
        first, second = (self.one_of(*(name for name, other in columns if other == kind)) for _ in range(2))
        array = f"CASE WHEN {self.condition(columns, simple=True)} THEN array({first}, {second}) END"
        place, element = f"c{len(types)}", f"c{len(types) + 1}"
        call = f"posexplode{self.one_of('', '_outer')}({array}) AS ({place}, {element})"
        found = (*((f"c{number}", kind) for number, kind in enumerate(types)), (place, INT), (element, kind))
        return f"SELECT {named}, {call} FROM {source}{self.where(depth, columns, self.one_of(True, False))}", found

    def grouped(self, depth: int, *, additive: bool = False) -> tuple[str, tuple[Column, ...]]:
        """GROUP BY of none to two expressions; aggregates that depend neither on order nor on rounding."""
        before = self.occurrences
        source, columns = self.source(depth)
        read = self.occurrences - before
        groups = [self.group(columns) for _ in range(self.one_of(0, 1, 1, 1, 2, 2))]
        call = self.additive if additive else self.aggregate
        calls = [call(columns) for _ in range(self.number(0 if groups and not additive else 1, 3))]
        items = groups + calls
        if not additive and self.windowed():
            items.append(self.over_groups(groups, calls))
        named = ", ".join(f"{item} AS c{number}" for number, (item, _) in enumerate(items))
        where = self.where(depth, columns, self.one_of(True, False, False))
        by = f" GROUP BY {', '.join(item for item, _ in groups)}" if groups else ""
        having = f" HAVING {self.having(columns)}" if not additive and self.one_of(True, False, False) else ""
        if not additive and self.has_sets([item for item, _ in groups], read):
            # over no rows DuckDB has a row for the empty set
            by = f" GROUP BY {self.one_of('ROLLUP', 'CUBE')} ({', '.join(item for item, _ in groups)})"
            having = f"{having} AND count(*) > 0" if having and " OR " not in having else " HAVING count(*) > 0"
        kinds = tuple((f"c{number}", kind) for number, (_, kind) in enumerate(items))
        return f"SELECT {named} FROM {source}{where}{by}{having}", kinds

    def has_sets(self, groups: list[str], read: int) -> bool:
        """Whether to group by sets of columns of tables: two columns of a query may be one, which is refused."""
        plain = bool(groups) and len({*groups}) == len(groups) and all(re.fullmatch(r"\w+\.(?!c\d)\w+", each) for each in groups)
        branches = 2 ** len(groups)
        if not plain or (branches - 1) * read > self.room or not self.one_of(*[False] * 5, True):
            return False
        self.occurrences += (branches - 1) * read
        return True

    # window functions

    def windowed(self) -> bool:
        """Whether to draw one, which repeats its input as a second occurrence of a table would."""
        if not self.room or not self.one_of(*[False] * 14, True):
            return False
        self.occurrences += 1
        return True

    def window(self, kind: str, columns: list[Column], source: str) -> str:
        """A window function of that type, the value of which no order of equal rows decides."""
        fitting = [name for name, other in columns if other == kind]
        argument = self.one_of(*fitting) if fitting else literal(kind, 1)
        partition = self.partition(columns)
        by = f"{self.one_of(*columns)[0]}{self.one_of('', ' DESC', ' ASC NULLS LAST', ' DESC NULLS FIRST')}"
        call = f"bool_and({argument})" if kind == BOOLEAN else f"{self.one_of('min', 'max')}({argument})"
        options = [f"{call} OVER ({partition})", f"{call} OVER ({partition} ORDER BY {by})"]
        if kind in (INT, BIGINT):
            options += [
                f"CAST({self.one_of('rank', 'dense_rank')}() OVER ({partition} ORDER BY {by}) AS {kind})",
                f"CAST(count({argument}) OVER ({partition} ORDER BY {by}) AS {kind})",
            ]
        total = self.total_order(columns, source)
        if total:
            order = f"{by}, {total}"
            frame = f"ROWS BETWEEN {self.one_of('UNBOUNDED PRECEDING', '1 PRECEDING', 'CURRENT ROW')} AND 1 FOLLOWING"
            options += [
                f"{self.one_of('lag', 'lead')}({argument}) OVER ({partition} ORDER BY {order})",
                f"{self.one_of('first', 'last')}_value({argument}) OVER ({partition} ORDER BY {order})",
                f"{call} OVER ({partition} ORDER BY {order} {frame})",
            ]
            if kind in (INT, BIGINT):
                options += [f"CAST(row_number() OVER ({partition} ORDER BY {order}) AS {kind})"] * 3
        return str(self.one_of(*options))

    def partition(self, columns: list[Column]) -> str:
        names = [self.one_of(*columns)[0] for _ in range(self.one_of(0, 1, 1, 1, 2))]
        return f"PARTITION BY {', '.join(names)}" if names else ""

    def total_order(self, columns: list[Column], source: str) -> str:
        """The keys of all relations in FROM, where these are tables with keys that no outer join pads; else ""."""
        keys = [name for name, _ in columns if name.endswith((".k", ".l"))]
        without = {name.partition(".")[0] for name, _ in columns} - {name.partition(".")[0] for name in keys}
        padded = any(f" {side} JOIN" in source for side in ("LEFT", "RIGHT", "FULL"))
        return "" if without or padded else ", ".join(keys)

    def over_groups(self, groups: list[Column], calls: list[Column]) -> Column:
        """A window function over the rows of GROUP BY."""
        value = self.one_of(*groups, *calls)[0]
        partition = f"PARTITION BY {self.one_of(*groups)[0]}" if groups and self.one_of(True, False) else ""
        if self.one_of(True, False):
            return f"rank() OVER ({partition} ORDER BY {value})", INT
        return f"{self.one_of('count(*)', f'count({value})')} OVER ({partition})", BIGINT

    # WHERE

    def where(self, depth: int, columns: list[Column], simple: bool) -> str:
        """A condition if `simple`, and now and then tests of other rows."""
        number, self.least_tests = max(self.least_tests, min(self.one_of(0, 0, 0, 0, 0, 0, 0, 1, 1, 2), self.room)), 0
        tests = [self.test(depth, columns) for _ in range(number)]
        if self.room and self.one_of(*[False] * 11, True):
            name, kind = self.one_of(*columns)
            test = f"{name} {self.one_of('=', '<>', '>=')} {self.scalar(kind, columns)}"
            if self.one_of(True, False, False):
                test = f"({self.condition(columns)} OR {self.exists_or_in(columns)})"
            tests.append(test)
        parts = [self.condition(columns), *tests] if simple else tests
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def test(self, depth: int, columns: list[Column], *, nested: bool = False) -> str:
        """EXISTS or IN over a query, correlated or not, perhaps negated, perhaps with a test of its own inside."""
        if self.one_of(True, False, False, False, False, False, False):
            query, inner = self.query(depth - 1)
            return self.tested(columns, query, [kind for _, kind in inner])
        source, inner = self.source(depth - 1) if self.one_of(True, False, False, False) else self.relation(depth - 1)
        where = [f"({self.join_condition(columns, inner)})"] if self.one_of(True, True, True, False) else []
        if self.one_of(True, False, False):
            where.append(self.condition(inner))
        if not nested and self.one_of(True, False, False, False, False):
            where.append(self.test(0, inner, nested=True))
        kinds, selected = [], self.one_of("1", "*", "DISTINCT 1")
        if self.one_of(True, False):
            kinds = [self.one_of(*columns)[1]]
            selected = self.expression(kinds[0], inner)
        tail = f" WHERE {' AND '.join(where)}" if where else ""
        return self.tested(columns, f"SELECT {selected} FROM {source}{tail}", kinds)

    def tested(self, columns: list[Column], query: str, kinds: list[str]) -> str:
        """IN where the query has one column, of a type that some column here has; else EXISTS."""
        fitting = [name for name, kind in columns if [_family(kind)] == [_family(each) for each in kinds]]
        negation = self.one_of("", "NOT ")
        if not fitting:
            return f"{negation}EXISTS ({query})"
        test = f"{self.one_of(*fitting)} {negation}IN ({query})"
        return str(self.one_of(test, test, f"NOT ({test})"))

    def exists_or_in(self, columns: list[Column]) -> str:
        """EXISTS as a value, or IN as a test, perhaps negated; IN of two values is not."""
        source, inner, tail = self.correlated(columns)
        pairs = [(f"CAST({a} AS {mine})", b) for a, other in columns for b, mine in inner if other == mine and mine != DOUBLE]
        if not pairs or self.one_of(True, False):
            return f"{self.one_of('', 'NOT ')}EXISTS (SELECT 1 FROM {source}{tail})"
        (a, b), (c, d) = self.one_of(*pairs), self.one_of(*pairs)
        word = self.one_of("SELECT", "SELECT DISTINCT")
        rows = f"FROM {source}{tail}"
        if any(name in tail for name, _ in columns) or self.one_of(True, False):
            return f"{a} {self.one_of('IN', 'NOT IN')} ({word} {b} {rows})"
        return f"({a}, {c}) IN ({word} {b}, {d} {rows})"  # DuckDB has no correlated one

    def item(self, kind: str, columns: list[Column]) -> str:
        """An item of the select list."""
        return self.scalar(kind, columns) if self.room and self.one_of(*[False] * 19, True) else self.expression(kind, columns)

    def scalar(self, kind: str, columns: list[Column]) -> str:
        """A subquery of one aggregate of that type, perhaps correlated by an equality, perhaps with a condition of its own; or of
        a row."""
        if self.one_of(True, False, False) and (found := self.looked_up(kind, columns)):
            return found
        source, inner, tail = self.correlated(columns)
        fitting = [name for name, other in inner if other == kind]
        argument = self.one_of(*fitting) if fitting else literal(kind, 1)
        call = f"bool_or({argument})" if kind == BOOLEAN else f"{self.one_of('min', 'max')}({argument})"
        if kind in (INT, BIGINT) and self.one_of(True, False):
            call = f"CAST(count({self.one_of('*', argument)}) AS {kind})"
        return f"(SELECT {call} FROM {source}{tail})"

    def looked_up(self, kind: str, columns: list[Column]) -> str:
        """An expression of that type over the row whose key equals columns here, or constants; "" if no table has such a row."""
        fitting = [table for table in self.tables if table.key and kind in dict(table.columns).values()]
        if not fitting:
            return ""
        table, name = self.one_of(*fitting), f"a{self.aliases}"
        self.aliases, self.occurrences = self.aliases + 1, self.occurrences + 1
        inner, where = [(f"{name}.{column}", other) for column, other in table.columns], []
        for column, mine in ((column, mine) for column, mine in table.columns if column in table.key):
            same = [a for a, other in columns if other == mine]
            value = f"CAST({self.one_of(*same)} AS {mine})" if same and self.one_of(True, True, False) else literal(mine, 1)
            where.append(f"{name}.{column} = {value}")
        if self.one_of(True, False, False):
            where.append(self.condition(inner))
        return f"(SELECT {self.expression(kind, inner)} FROM {table.name} AS {name} WHERE {' AND '.join(where)})"

    def correlated(self, columns: list[Column]) -> tuple[str, list[Column], str]:
        """FROM of a subquery, its columns, and its WHERE: perhaps an equality with an outer column, perhaps a condition."""
        source, inner = self.relation(0)
        pairs = [(a, b) for a, other in columns for b, mine in inner if other == mine and mine != DOUBLE]
        where = []
        if pairs and self.one_of(True, True, False):
            a, b = self.one_of(*pairs)
            where.append(f"{b} = CAST({a} AS {dict(columns)[a]})")  # the type of what is computed is not certain
        if self.one_of(True, False, False):
            where.append(self.condition(inner))
        return source, inner, f" WHERE {' AND '.join(where)}" if where else ""

    def group(self, columns: list[Column]) -> Column:
        name, kind = self.one_of(*columns)
        return (self.expression(kind, columns), kind) if self.one_of(False, False, True) else (name, kind)

    def additive(self, columns: list[Column]) -> Column:
        """A sum, count, average or extreme that can be maintained by adding."""
        name, kind = self.one_of(*columns)
        options = [("count(*)", BIGINT), (f"count({name})", BIGINT)]
        if _family(kind) == "integer":
            argument = self.expression(kind, columns)
            options += [(f"sum({argument})", BIGINT)] * 3 + [(f"avg({argument})", DOUBLE)] * 2
        elif kind == DECIMAL:
            options += [(f"sum({name})", kind)] * 3
        if kind != DOUBLE:
            options += [(f"{self.one_of('min', 'max', *(['bool_and', 'bool_or'] if kind == BOOLEAN else []))}({name})", kind)] * 3
        if kind == DECIMAL and self.one_of(*[False] * 4, True):
            return f"CAST(avg({name}) AS DECIMAL(12,4))", kind
        call = self.filtered(self.one_of(*options), columns)
        return self.over_call(call, columns) if self.one_of(False, False, True) else call

    def over_call(self, call: Column, columns: list[Column]) -> Column:
        """An expression over the call, which the select list need not have itself."""
        text, kind = call
        name, other = self.one_of(*columns)
        options = [
            (f"CAST({text} AS STRING)", STRING),
            (f"CASE WHEN count(*) > 1 THEN {text} END", kind),
            (f"CASE WHEN max({name}) = {literal(other, 1)} THEN {text} END", kind),
            (f"coalesce({text}, {text})", kind),
        ]
        if kind == BIGINT:
            options += [
                (f"{text} * 2", BIGINT),
                (f"coalesce({text}, 0)", BIGINT),
                (f"{text} - count({name})", BIGINT),
                (f"{text} / nullif(count({name}), 0)", DOUBLE),
            ]
        return self.one_of(*options)

    def aggregate(self, columns: list[Column]) -> Column:
        name, kind = self.one_of(*columns)
        argument = self.expression(kind, columns) if self.one_of(False, False, True) else name
        options = [("count(*)", BIGINT), (f"count({argument})", BIGINT), (f"count(DISTINCT {argument})", BIGINT)]
        if kind == BOOLEAN:
            options += [(f"bool_and({argument})", kind), (f"bool_or({argument})", kind)]
        else:
            options += [(f"min({argument})", kind), (f"max({argument})", kind)]
        if _family(kind) == "integer":
            options += [(f"sum({argument})", BIGINT)] * 3 + [(f"avg({argument})", DOUBLE)] * 2
            options += [(f"bit_{self.one_of('and', 'or', 'xor')}({argument})", kind)]
        elif kind in (DECIMAL, DOUBLE):
            options += [(f"sum({argument})", kind)] * 3
        return self.filtered(self.one_of(*options), columns)

    def filtered(self, call: Column, columns: list[Column]) -> Column:
        text, kind = call
        return (f"{text} FILTER (WHERE {self.condition(columns)})", kind) if self.one_of(*[False] * 7, True) else call

    def having(self, columns: list[Column]) -> str:
        call, kind = self.aggregate(columns)
        return f"{call} {self.one_of('>', '=', '<=')} {literal(kind, 1)}"

    def union(self, depth: int) -> tuple[str, tuple[Column, ...]]:
        """Two or three branches of the same types under UNION ALL, now and then under another set operation."""
        first, columns = self.plain(depth - 1)
        types = tuple(kind for _, kind in columns)
        others = [
            self.plain(depth - 1, types)[0] if self.one_of(True, True, True, False) else self.one_row(types)
            for _ in range(self.one_of(1, 1, 2))
        ]
        word = self.one_of(*[" UNION ALL "] * 5, " UNION ", " INTERSECT ", " EXCEPT ", " INTERSECT ALL ", " EXCEPT ALL ")
        return str(word).join([first, *others]), columns

    def distinct(self, depth: int) -> tuple[str, tuple[Column, ...]]:
        query, columns = self.plain(depth)
        return query.replace("SELECT ", "SELECT DISTINCT ", 1), columns

    # expressions

    def expression(self, kind: str, columns: list[Column]) -> str:
        """An expression of that type over the columns: often one column, sometimes over two tables."""
        names = [name for name, other in columns if other == kind]
        if not names:
            return literal(kind, self.number(0, 1))
        name, other = self.one_of(*names), self.one_of(*names)
        if self.one_of(True, True, True, False, False):
            return str(name)
        return str(self.one_of(*_computed(kind, str(name), str(other), self.condition(columns, simple=True))))

    def condition(self, columns: list[Column], *, simple: bool = False) -> str:
        name, kind = self.one_of(*columns)
        tests = [f"{name} IS NULL", f"{name} IS NOT NULL", f"{name} = {literal(kind, 1)}", f"{name} <=> {literal(kind, 0)}"]
        if kind != BOOLEAN:
            tests += [f"{name} > {literal(kind, 0)}", f"{name} <= {literal(kind, 1)}"]
        test = str(self.one_of(*tests))
        if simple or self.one_of(True, True, False):
            return test
        return f"({test} {self.one_of('OR', 'AND')} {self.condition(columns, simple=True)})"


@dataclass
class Star(Grammar):
    """Views whose outermost FROM has facts and `dimensions` relations beside them."""

    dimensions: int = 2
    is_drawn: bool = False

    def source(self, depth: int) -> tuple[str, list[Column]]:
        if self.is_drawn:
            return super().source(depth)
        self.is_drawn = True
        table, name = self.tables[0], f"a{self.aliases}"
        text, columns = f"{table.name} AS {name}", [(f"{name}.{column}", kind) for column, kind in table.columns]
        self.aliases, mine, is_many = self.aliases + 1, columns, self.dimensions > MOST_DIMENSIONS
        if not is_many and self.one_of(*[False] * 9, True):
            text = f"({self.united(table, self.one_of(*self.tables[1:]))}) AS {name}"
        for _ in range(self.dimensions):
            other, keys, others = self.beside(is_many)
            kind = (
                self.one_of(*["LEFT"] * 10, "INNER", "INNER", "RIGHT", "FULL")
                if self.dimensions < 4
                else self.one_of(*["LEFT"] * 9, "INNER")
            )
            by = self.one_of(mine[1:-1], mine[1:-1], mine[1:-1], columns)
            text += f" {kind} JOIN {other} ON {self.by_key(by, keys, others, is_many)}"
            columns = columns + others
        self.occurrences = MOST_OCCURRENCES - self.one_of(0, 0, 1, 2)
        return text, columns

    def united(self, table: Table, other: Table) -> str:
        """The rows of the facts, and others of another table."""
        columns = [(f"c.{name}", kind) for name, kind in other.columns]
        items = ", ".join(f"{self.expression(kind, columns)} AS {name}" for name, kind in table.columns)
        return f"SELECT {', '.join(table.names)} FROM {table.name} AS b UNION ALL SELECT {items} FROM {other.name} AS c"

    def by_key(self, left: list[Column], keys: list[Column], others: list[Column], is_many: bool) -> str:
        """A condition that finds one row at most, if these are the key; now and then with another part, or none such."""
        if self.dimensions < 4 and self.one_of(*[False] * 6, True):
            return self.join_condition(left, others)
        parts = []
        for key, kind in keys:
            same = [name for name, other in left if other == kind] or [
                name for name, other in left if _family(other) == _family(kind)
            ]
            operator = self.one_of(*["="] * 6, "<=>")
            parts.append(f"{key} {operator} {self.one_of(*same) if same else literal(kind, 1)}")
        if not is_many and self.one_of(*[False] * 6, True):
            pairs = [(a, b) for a, mine in left for b, kind in others if mine == kind and b not in dict(keys)]
            parts.append(f"{' = '.join(self.one_of(*pairs))}" if pairs and self.one_of(True, False) else self.condition(others))
        return " AND ".join(parts)

    def beside(self, is_many: bool) -> tuple[str, list[Column], list[Column]]:
        """A relation, the columns that name a row of it, and all of its columns."""
        table = self.one_of(*self.tables[1:])
        name, inner = f"a{self.aliases}", f"b{self.aliases}"
        self.aliases += 1
        keys = [(f"{name}.{key}", dict(table.columns)[key]) for key in table.key or ("k",)]
        columns = [(f"{name}.{column}", kind) for column, kind in table.columns]
        mine = [(f"{inner}.{column}", kind) for column, kind in table.columns]
        form = "table" if is_many else self.one_of(*["table"] * 8, "filtered", "groups", "partners", "window", "branch", "pairs")
        shown, other = "*", self.one_of(*self.tables[1:])
        source, where = f"{table.name} AS {inner}", ""
        if form == "table":
            return f"{table.name} AS {name}", keys, columns
        if form == "groups":
            by, kind = self.one_of(*mine)
            query = f"SELECT {by} AS k, count(*) AS n, max({self.one_of(*mine)[0]}) AS x FROM {source} GROUP BY {by}"
            return f"({query}) AS {name}", [(f"{name}.k", kind)], [(f"{name}.k", kind), (f"{name}.n", BIGINT)]
        if form == "filtered":
            where = f" WHERE {self.condition(mine)}"
        elif form == "partners":
            test = f"{inner}.x {self.one_of('=', '<=>')} c.x"
            where = f" WHERE {self.one_of('', 'NOT ')}EXISTS (SELECT 1 FROM {other.name} AS c WHERE {test})"
        elif form == "window":
            shown = f"{inner}.*, count(*) OVER (PARTITION BY {self.one_of(*mine)[0]}) AS w"
            columns.append((f"{name}.w", BIGINT))
        elif form in ("branch", "pairs"):
            kind = dict(other.columns)["k"]
            on = f"c.k = {f'{inner}.x' if kind == INT else f'CAST({inner}.x AS {kind})'}"
            source += f"{' LEFT' if form == 'branch' else ''} JOIN {other.name} AS c ON {on}"
            found, kind = ("c.n", dict(other.columns)["n"]) if form == "branch" else ("c.k", kind)
            shown = f"{inner}.*, {found} AS w"
            columns.append((f"{name}.w", kind))
            keys += [(f"{name}.w", kind)] if form == "pairs" else []
        return f"(SELECT {shown} FROM {source}{where}) AS {name}", keys, columns


@st.composite
def wide_views(draw: Draw, tables: tuple[Table, ...], dimensions: int, *, additive: bool = False) -> str:
    """The text of a view of a star, perhaps with another query above it."""
    grammar = Star(draw, tables, dimensions=dimensions)
    query, columns = (
        grammar.grouped(0, additive=True) if additive else grammar.one_of(grammar.plain, grammar.plain, grammar.grouped)(0)
    )
    if not additive and dimensions <= MOST_DIMENSIONS and grammar.one_of(*[False] * 5, True):
        shown = [(f"q.{name}", kind) for name, kind in columns]
        items = ", ".join(f"{grammar.expression(kind, shown)} AS c{place}" for place, (_, kind) in enumerate(shown))
        query = str(
            grammar.one_of(
                f"SELECT {items} FROM ({query}) AS q WHERE {grammar.condition(shown)}",
                f"SELECT {shown[0][0]} AS c0, count(*) AS c1 FROM ({query}) AS q GROUP BY {shown[0][0]}",
            )
        )
    return query


def _computed(kind: str, a: str, b: str, condition: str) -> tuple[str, ...]:
    """Computed columns of a type over two columns of that type."""
    both = (f"coalesce({a}, {b})", f"CASE WHEN {condition} THEN {a} ELSE {b} END", f"coalesce({a}, {literal(kind, 1)})")
    if kind in (INT, BIGINT):
        return (*both, f"{a} + {b}", f"{a} + {b}", f"{a} % 2", f"{a} * 2 - {b}")
    if kind in (DECIMAL, DOUBLE):
        return (*both, f"CAST({a} + {b} AS {kind})")
    if kind == STRING:
        return (*both, f"concat({a}, {b})", f"upper({a})")
    return (*both, f"{a} AND {b}", f"NOT {a}") if kind == BOOLEAN else both


def _family(kind: str) -> str:
    return "integer" if kind in (INT, BIGINT) else kind


def literal(kind: str, number: int) -> str:
    """One of two constants of a type."""
    texts = {
        STRING: ("'a'", "'b'"),
        BOOLEAN: ("FALSE", "TRUE"),
        DATE: ("DATE '2024-01-01'", "DATE '2024-02-29'"),
        INT: ("0", "1"),
        BIGINT: ("CAST(0 AS BIGINT)", "CAST(1 AS BIGINT)"),
        DECIMAL: ("CAST(0 AS DECIMAL(10,2))", "CAST(1.25 AS DECIMAL(10,2))"),
        DOUBLE: ("CAST(0 AS DOUBLE)", "CAST(0.5 AS DOUBLE)"),
    }
    return texts[kind][number]


@st.composite
def views(
    draw: Draw, tables: tuple[Table, ...], deepest: int, *, additive: bool = False, tested: bool = False, small: bool = False
) -> str:
    """The text of a view, with queries in queries to the depth given."""
    grammar = Grammar(draw, tables, least_tests=1 if tested else 0, occurrences=MOST_OCCURRENCES - MOST_SMALL if small else 0)
    depth = 0 if tested else grammar.one_of(0, 1, 1, 1, 1, deepest)
    query, _ = grammar.grouped(depth, additive=True) if additive else grammar.query(depth)
    defined = ", ".join(f"{name} AS ({text})" for name, _, text, _ in grammar.ctes)
    return f"WITH {defined} {query}" if defined else query
