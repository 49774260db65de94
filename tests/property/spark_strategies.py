"""Random cases for Spark's meaning: texts that engines read differently, values at the ends of types, errors that must not be.

One theme a case: names in HAVING, in joins and in subqueries, brackets, branches of different types, keys of each type,
expressions
that may raise. Queries are small, because it is their words that matter.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from tests.property import spark_types as types
from tests.property.plans import Table
from tests.property.strategies import Case, Draw, batch, rows

Query = tuple[tuple[Table, ...], str]
KEYED = ("k",)
MOST_BATCHES = 2


class Drawn:
    """Choices of one case."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw

    def of(self, *options: str) -> str:
        return str(self.draw(st.sampled_from(options)))

    def some(self, options: tuple[str, ...], least: int, most: int) -> list[str]:
        return list(self.draw(st.lists(st.sampled_from(options), min_size=least, max_size=most)))

    def different(self, options: tuple[str, ...], number: int) -> list[str]:
        return list(self.draw(st.permutations(options)))[:number]

    def chance(self, one_in: int) -> bool:
        return int(self.draw(st.integers(1, one_in))) == 1

    def outer(self) -> str:
        """LEFT, RIGHT or FULL [OUTER]."""
        return self.of("LEFT", "RIGHT", "FULL") + self.of("", "", " OUTER")

    def cased(self, name: str) -> str:
        """The name as it is, or in capitals."""
        return self.of(name, name, name.upper())

    def where(self, columns: tuple[str, ...], one_in: int = 2) -> str:
        if not self.chance(one_in):
            return ""
        return f" WHERE {self.of(*columns)} {self.of('>', '<=', '<>', '=')} {self.of('0', '1', '2')}"


# --- names


def having(d: Drawn) -> Query:
    """HAVING over groups and aggregates whose aliases are columns of the table."""
    expression = d.of("a + 1", "-a", "a % 2", "a", "a + b", "abs(b)", "coalesce(a, b)")
    name, count = d.of("a", "b", "g", "A"), d.of("n", "b", "c", "k", "s")
    call = d.of("count(*)", "sum(b)", "max(c)", "count(DISTINCT b)", "sum(a)", "min(a + 1)")
    tested = d.of(
        expression, expression, call, name, count, f"{expression} + 1", f"({expression}) * 2", f"t.{name}", "sum(b)", "max(a)"
    )
    test = f"{tested} {d.of('>', '<', '=', '<>', '<=')} {d.of('-1', '0', '1', '2', '3')}"
    test += d.of("", "", f" AND {count} > 0", f" OR {name} = 1", f" AND {call} IS NOT NULL")
    by = d.of(expression, expression, expression, name, "1")
    table = Table("t", (("k", "int"), ("a", "int"), ("b", "int"), ("c", "int")), KEYED)
    where = d.where(("a", "b", "c"), 3)
    return (table,), f"SELECT {expression} AS {name}, {call} AS {count} FROM t{where} GROUP BY {by} HAVING {test}"


def joins(d: Drawn) -> Query:
    """Commas and JOINs of all kinds, NATURAL and USING in any order, over names that several tables have, in different case."""
    tables = tuple(
        Table(name, columns, (columns[0][0],))
        for name, columns in (
            ("a", (("id", "int"), (d.of("x", "X"), "int"), ("ay", "int"))),
            ("b", ((d.of("id", "id", "ID", "Id"), "int"), (d.of("x", "bx"), "int"), ("bz", "int"))),
            ("c", ((d.of("id", "id", "ID"), "int"), (d.of("z", "bz", "cx"), "int"))),
        )
    )
    order = d.different(("a", "b", "c"), int(d.of("2", "3", "3")))
    text, seen = order[0], order[:1]
    for name in order[1:]:
        left = d.of(*seen)
        test = f"{left}.{d.cased('id')} = {name}.{d.cased('id')}"
        more = d.of(
            f", {name}",
            f" JOIN {name} ON {test}",
            f" JOIN {name} USING ({d.cased('id')})",
            f" NATURAL JOIN {name}",
            f" CROSS JOIN {name}",
            f" LEFT SEMI JOIN {name} ON {test}",
            f" LEFT ANTI JOIN {name} USING (id)",
            f" {d.outer()} JOIN {name} ON {test}",
            f" {d.outer()} JOIN {name} ON {test} AND {left}.id > 1",
            f" {d.outer()} JOIN {name} USING ({d.cased('id')})",
            f" {d.outer()} JOIN {name} USING ({d.cased('id')})",
            f" NATURAL {d.outer()} JOIN {name}",
        )
        text, seen = text + more, seen if more.startswith((" LEFT SEMI", " LEFT ANTI")) else [*seen, name]
    known = [f"{t.name}.{column}" for t in tables if t.name in seen for column in t.names]
    shown = [d.cased(each) for each in d.different(tuple(known), 3)] + (["id"] if d.chance(6) else [])
    if d.chance(5):
        return tables, f"SELECT count(*) AS n, sum({shown[0]}) AS s FROM {text}"
    if d.chance(8):
        return tables, f"SELECT id, count(*) AS n, count({shown[0]}) AS m FROM {text} GROUP BY id"
    if d.chance(8):
        return tables, f"SELECT {d.of('*', f'{seen[0]}.*', f'{seen[-1]}.*', f'id, {seen[-1]}.* EXCEPT (id)')} FROM {text}"
    items = ", ".join(f"{each} AS c{number}" for number, each in enumerate(shown))
    return tables, f"SELECT {items} FROM {text}{d.where(tuple(known), 3)}"


def natural(d: Drawn) -> Query:
    """SELECT * over NATURAL JOIN and USING, inner and outer, perhaps of derived tables that rename columns."""
    first, second = (
        f"(SELECT {d.cased('id')}, {d.cased(other)} FROM {name})" if d.chance(2) else name
        for name, other in (("a", "x"), ("b", "y"))
    )
    tables = (
        Table("a", ((d.of("id", "Id"), "int"), ("x", "int")), ("id",)),
        Table("b", ((d.of("id", "ID"), "int"), ("y", "int")), None),
    )
    tables = tuple(Table(t.name, t.columns, t.key and t.names[:1]) for t in tables)
    outer = d.of("", f"{d.outer()} ")
    word = d.of(f"NATURAL {outer}JOIN {second} AS q", f"{outer}JOIN {second} AS q USING ({d.cased('id')})")
    shown = d.of(
        "*",
        "p.x",
        "p.id AS i, x",
        "x, id",
        "q.id AS i, p.id AS j, id",
        "p.*",
        "q.*",
        "*, p.id AS i, q.id AS j",
        "id + 1 AS i, coalesce(p.id, q.id) AS j, y",
        "* EXCEPT (id)",
        "id, count(*) AS n, count(x) AS m, count(y) AS o",
    )
    where = d.where(("id", "p.id", "q.id", "x"), 4)
    return tables, f"SELECT {shown} FROM {first} AS p {word}{where}{' GROUP BY id' if 'count(' in shown else ''}"


def inner_names(d: Drawn) -> Query:
    """Aliases and tables that are called like columns, within subqueries too."""
    name = d.of("id", "account", "pid", "amount", "p")
    # under its own name `account.id` is a field of the inner column, which is refused where that is no struct
    outer = d.of("account", "owner", "owner", "amount2")
    tables = (
        Table("account", (("id", "int"), ("pid", "int"), ("p", d.of("int", "struct<id:int,amount:int>"))), ("id",)),
        Table("payment", (("pid", "int"), ("account", "int"), ("amount", "int")), ("pid",)),
    )
    test = d.of(
        f"id {d.of('IN', 'NOT IN')} (SELECT account FROM payment AS {name})",
        f"EXISTS (SELECT 1 FROM payment AS {name} WHERE account = id)",
        f"NOT EXISTS (SELECT 1 FROM payment WHERE {outer}.id = payment.account)",
        f"EXISTS (SELECT 1 FROM payment WHERE payment.account = {outer}.id AND payment.pid = pid)",
        f"EXISTS (SELECT 1 FROM payment AS {name} WHERE {name}.account = {outer}.id AND amount > 0)",
        f"id IN (SELECT {name}.{d.of('account', 'pid')} FROM payment AS {name})",
        f"id IN (SELECT pid FROM payment WHERE pid = {outer}.pid)",
        "id IN (SELECT account AS id FROM payment GROUP BY account HAVING count(*) > 0)",
    )
    if d.chance(3):
        return tables, (
            f"SELECT {name}.pid AS {d.of('id', 'account', 'n')}, sum(amount) AS {d.of('amount', 'pid2')} "
            f"FROM payment AS {name} JOIN account AS q ON q.id = {name}.account GROUP BY {name}.pid"
        )
    return tables, f"SELECT id, pid AS {d.of('account', 'p2', 'payment')} FROM account AS {outer} WHERE {test}"


# --- expressions


def nested(d: Drawn, depth: int) -> str:
    """Arithmetic with brackets that count."""
    if depth == 0 or d.chance(4):
        return d.of("a", "b", "c", "2")
    left, right = nested(d, depth - 1), nested(d, depth - 1)
    operator = d.of("-", "-", "-", "+", "*", "&", "|", "^")
    return d.of(f"({left} {operator} {right})", f"{left} {operator} ({right})", f"{left} {operator} {right}")


def brackets(d: Drawn) -> Query:
    """Expressions that differ in nothing but their brackets, as groups, in aggregates and in conditions."""
    first, second = nested(d, 2), nested(d, 2)
    if d.chance(2):
        first, second = d.of(
            "a-(b-c) ; a-b-c", "(a+b)*c ; a+b*c", "a-(b+c) ; a-b+c", "(a|b)&c ; a|b&c", "a%(b*b+1) ; a%b*b+1", "-(a+b) ; -a+b"
        ).split(" ; ")
    table = Table("t", (("k", "int"), ("a", "int"), ("b", "int"), ("c", "int")), d.draw(st.sampled_from((KEYED, None))))
    truth = d.of("NOT (a > 1 AND b > 1)|NOT a > 1 AND b > 1", "(a = 1 OR b = 1) AND c = 1|a = 1 OR b = 1 AND c = 1").split("|")
    sql = d.of(
        f"SELECT sum({first}) AS s, sum({second}) AS u FROM t",
        f"SELECT {first} AS g, count(*) AS n FROM t GROUP BY {first}",
        f"SELECT {first} AS g, {second} AS h, count(*) AS n FROM t GROUP BY {first}, {second}",
        f"SELECT a, max({first}) AS m, min({second}) AS i FROM t GROUP BY a",
        f"SELECT {truth[0]} AS g, {truth[1]} AS h, count(*) AS n FROM t GROUP BY {truth[0]}, {truth[1]}",
        f"SELECT k, {first} AS x FROM t WHERE {second} > {d.of('0', '-1', '1')}",
        f"SELECT {first} AS g, count(*) AS n FROM t GROUP BY {second}",
        f"SELECT a, count(*) AS n FROM t GROUP BY a HAVING sum({first}) > sum({second})",
    )
    return (table,), sql


def constants(d: Drawn) -> Query:
    """Groups and columns that are constants."""
    value = d.of("'x'", "1", "NULL", "CAST(NULL AS INT)", "DATE '2024-01-01'", "1.50", "true")
    table = Table("t", (("k", "int"), ("a", "int"), ("b", "int")), KEYED)
    sql = d.of(
        f"SELECT {value} AS c, count(*) AS n FROM t GROUP BY c",
        f"SELECT {value} AS c, a, sum(b) AS s FROM t GROUP BY {value}, a",
        "SELECT count(*) AS n FROM t GROUP BY 'a'",
        f"SELECT DISTINCT {value} AS c FROM t",
        f"SELECT max(b) AS m FROM t GROUP BY {d.of('NULL', 'true', 'a, NULL')}",
        f"SELECT g.c, count(*) AS n FROM (SELECT {value} AS c, a FROM t) AS g GROUP BY g.c",
        f"SELECT {value} AS c, k FROM t UNION ALL SELECT {value} AS c, a FROM t",
        f"SELECT t.k, g.c, g.b FROM t {d.outer()} JOIN (SELECT {value} AS c, b FROM t) AS g ON g.b = t.a",
        f"SELECT g.c, count(*) AS n FROM t {d.outer()} JOIN (SELECT {value} AS c, b FROM t) AS g ON g.b = t.a GROUP BY g.c",
        f"SELECT t.k, g.c FROM t {d.outer()} JOIN (SELECT {value} AS c) AS g ON t.a > 1",
    )
    return (table,), sql


def _call_over_peers(d: Drawn, order: str) -> tuple[str, str]:
    """A window function whose value is the same for rows with equal values of `order`, and its frame."""
    call = d.of(
        "rank()",
        "dense_rank()",
        "percent_rank()",
        "cume_dist()",
        "count(*)",
        "sum(b)",
        "max(s)",
        "avg(b)",
        "bool_or(a > 1)",
        "any(s = 'x')",
        "min(b + 1)",
    )
    if not call.startswith(("sum", "max", "avg", "min")) or "," in order or "s" in order:
        return call, ""
    frame = d.of(
        "",
        "",
        " RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
        " RANGE CURRENT ROW",
        " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    )
    return call, frame


def _call_over_ordered_rows(d: Drawn) -> tuple[str, str]:
    """A window function that needs a total order of the rows, and its frame."""
    call = d.of(
        "row_number()",
        "ntile(2)",
        "lag(b)",
        "lead(b, 2, -1)",
        "lag(b) IGNORE NULLS",
        "last_value(s)",
        "first_value(b) IGNORE NULLS",
        "first_value(s, true)",
        "nth_value(b, 2)",
    )
    if not d.chance(3):
        return call, ""
    call = d.of("sum(b)", "count(s)", "last_value(b)")
    return call, d.of(
        " ROWS 1 PRECEDING", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", " ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING"
    )


def windows(d: Drawn) -> Query:
    """Window functions: frames, orders of NULLs, named windows, aliases that are columns, over groups, and what is done above."""
    keyed = not d.chance(4)
    by = d.of("a", "a", "s", "a, s", "a % 2", "coalesce(a, 0)", "")
    order = d.of("b", "b DESC", "b NULLS LAST", "s DESC NULLS FIRST", "b, s", "-b")
    call, frame = _call_over_peers(d, order)
    if keyed and d.chance(2):
        order += d.of(", k", ", k DESC")
        call, frame = _call_over_ordered_rows(d)
    window = f"({f'PARTITION BY {by} ' if by else ''}ORDER BY {order}{frame})"
    name = d.of("r", "b", "a", "R")
    items, tail = d.of(
        f"{call} OVER {window} AS {name}; ",
        f"{call} OVER w AS {name}; WINDOW w AS {window}",
        f"{call} OVER v AS {name}; WINDOW v AS {window}, w AS (PARTITION BY s)",
        f"coalesce({call} OVER {window}, 0) AS {name}, count(*) OVER (PARTITION BY b) AS n; ",
    ).split("; ")
    table = Table("t", (("k", "int"), ("a", "int"), ("b", "int"), ("s", "string")), KEYED if keyed else None)
    inner = f"SELECT k, {items} FROM t{d.where(('a', 'b', 'k'), 4)} {tail}"
    return (table,), d.of(
        inner,
        inner,
        f"SELECT DISTINCT {items} FROM t {tail}",
        f"SELECT q.k, q.{name} FROM ({inner}) AS q WHERE q.{name} IS NOT NULL",
        f"SELECT q.{name}, count(*) AS m FROM ({inner}) AS q GROUP BY q.{name}",
        f"SELECT p.k, q.{name} FROM t AS p JOIN ({inner}) AS q ON p.k = q.k",
        f"SELECT k FROM t WHERE k IN (SELECT q.k FROM ({inner}) AS q)",
        "SELECT a, sum(b) AS s, rank() OVER (ORDER BY sum(b)) AS r FROM t GROUP BY a",
        "SELECT a, s, count(*) AS n, sum(count(*)) OVER (PARTITION BY a) AS m, max(a + 1) OVER () AS x FROM t GROUP BY a, s",
        "SELECT a + 1 AS g, row_number() OVER (ORDER BY a + 1) AS r, count(*) AS n FROM t GROUP BY a + 1 HAVING count(*) > 1",
    )


def elements(d: Drawn) -> Query:
    """Generators of all forms over arrays, structs, texts and maps, and what is done with their columns; PIVOT and UNPIVOT."""
    table = Table(
        "t",
        (("k", "int"), ("a", "int"), ("b", "int"), ("s", "string"), ("xs", "array<int>")),
        d.draw(st.sampled_from((KEYED, KEYED, None))),
    )
    outer = d.of("", "_outer")
    numbers = d.of("xs", "xs", "array(a, b)", "sequence(1, a)", "filter(xs, e -> e > 0)", "array_distinct(array(a, b, a))")
    structs = d.of("array(named_struct('p', a, 'q', s), named_struct('p', b, 'q', 'x'))", "array(struct(a AS p, s AS q))")
    name, x = d.of("k", "b", "x", "col"), d.of("x", "a", "e")
    item = d.of(
        f"explode{outer}({numbers}) AS {x}",
        f"posexplode{outer}({numbers}) AS (p, {x})",
        f"explode{outer}({numbers})",
        f"inline{outer}({structs})",
        f"inline({structs}) AS (u, {x})",
        f"stack(2, a, 'a', b, 'b') AS ({x}, n)",
        f"explode{outer}(split(s, ',')) AS {x}",
        f"explode(str_to_map(s, ',', ':')) AS ({x}, v)",
    )
    view = d.of(
        f"explode({numbers}) t2 AS {x}",
        f"posexplode({numbers}) t2 AS p, {x}",
        f"explode({numbers}) {x}",
        f"explode(split(s, ',')) t2 AS {x}",
        f"inline({structs}) t2 AS {x}, y",
        f"stack(3, a, b, k) t2 AS {x}",
        f"explode(map(a, b, -1, k)) t2 AS {x}, y",
    )
    column = f"{x}.col" if view.endswith(f") {x}") else f"t2.{x}"
    where = d.of("", "", f" WHERE {column} IS NOT NULL", " WHERE t.a > 0")
    lateral = f"t LATERAL VIEW {d.of('', 'OUTER ')}{view}{where}"
    pivot = d.of("sum(b)", "count(b)", "max(s)", "avg(b)", "count(b) AS n, max(a) AS m", "count(b) AS n, max(s) AS m")
    kept = "k, a, b" if "max(a)" not in pivot else "b"
    return (table,), d.of(
        f"SELECT k, {item} FROM t{d.where(('a', 'k'), 4)}",
        f"SELECT k, {item} FROM t",
        f"SELECT DISTINCT {item} FROM t",
        f"SELECT t.k, {column} AS {name}, t.a + 1 AS c FROM {lateral}",
        f"SELECT {column} AS g, count(*) AS n FROM {lateral} GROUP BY {column}",
        f"SELECT t.k, {column} AS g, sum(t.b) AS n FROM {lateral} GROUP BY t.k, {column}",
        f"SELECT q.c, r.k FROM (SELECT t.k, {column} AS c FROM {lateral}) AS q JOIN t AS r ON r.k = q.k",
        f"SELECT k FROM t WHERE k IN (SELECT explode({numbers}) FROM t)",
        f"SELECT k FROM t WHERE {d.of('', 'NOT ')}EXISTS (SELECT 1 FROM t AS r LATERAL VIEW explode(r.xs) z AS e WHERE e = t.a)",
        f"SELECT t.k, z.e FROM t {d.of('CROSS JOIN', 'JOIN')} LATERAL explode({numbers}) AS z(e){d.of('', ' WHERE z.e > 0')}",
        f"SELECT k, {x}, count(*) OVER (PARTITION BY {x}) AS n FROM (SELECT k, explode({numbers}) AS {x} FROM t) AS q",
        f"SELECT k, n, v FROM (SELECT k, a, b FROM t) UNPIVOT {d.of('', 'INCLUDE NULLS ')}(v FOR n IN (a, b AS c))",
        "SELECT u.n, sum(u.v) AS s FROM (SELECT k, a, b FROM t) UNPIVOT (v FOR n IN (a, b)) AS u GROUP BY u.n",
        f"SELECT * FROM (SELECT {kept}, s FROM t) PIVOT ({pivot} FOR s IN ('a', '1' AS one, '7' AS seven))"
        if "max(s)" not in pivot
        else f"SELECT * FROM (SELECT a, b, s FROM t) PIVOT ({pivot} FOR a IN (1 AS one, 2 AS two))",
        "SELECT e.i, count(t.k) AS n FROM explode(sequence(0, 2)) AS e(i) LEFT JOIN t ON t.a = e.i GROUP BY e.i",
    )


def limited(d: Drawn) -> Query:
    """ORDER BY with LIMIT and OFFSET over names of the result and of FROM; INTERSECT ALL and EXCEPT ALL."""
    tables = (
        Table("t", (("k", "int"), ("a", "int"), ("b", "int"), ("s", "string")), KEYED),
        Table("r", (("k", "int"), ("a", "int"), ("c", "int")), d.draw(st.sampled_from((KEYED, None)))),
    )
    first = d.of("a", "b DESC", "s DESC NULLS LAST", "a NULLS LAST", "-b", "abs(a)", "t.a", "coalesce(b, 0) DESC", "2", "1 DESC")
    rows = d.of("LIMIT 1", "LIMIT 2", "LIMIT 2 OFFSET 1", "OFFSET 1", "LIMIT 0")
    name = d.of("b", "c")
    top = f"SELECT k, a, b FROM t{d.where(('a', 'b'), 4)} ORDER BY {first}, k {rows}"
    both = f"SELECT {d.of('a', 'a, k', 'k')} FROM t {d.of('INTERSECT', 'EXCEPT', 'MINUS', 'EXCEPT')} ALL SELECT {{0}} FROM r"
    both = both.format("a, k" if "a, k FROM t" in both else d.of("a", "c", "k"))
    return tables, d.of(
        top,
        top,
        f"SELECT k, -b AS {name}, a FROM t ORDER BY {name}, k {rows}",
        f"SELECT k, a AS b, b AS a FROM t ORDER BY {d.of('a', 'b')} DESC, k {rows}",
        f"SELECT a, count(*) AS n, sum(b) AS m FROM t GROUP BY a ORDER BY {d.of('n', 'count(*)', 'm', 'sum(b)')} DESC, a {rows}",
        f"SELECT DISTINCT a FROM t ORDER BY a {rows}",
        f"SELECT a FROM t UNION SELECT c FROM r ORDER BY a DESC {rows}",
        f"SELECT q.k, r.c FROM ({top}) AS q JOIN r ON q.a = r.a",
        f"SELECT count(*) AS n, max(q.b) AS m FROM ({top}) AS q",
        f"SELECT k, c FROM r WHERE k {d.of('IN', 'NOT IN')} (SELECT q.k FROM ({top}) AS q)",
        both,
        both,
        f"SELECT q.a, count(*) AS n FROM ({both.replace('SELECT k FROM t', 'SELECT k AS a FROM t')}) AS q GROUP BY q.a",
        f"SELECT DISTINCT q.* FROM ({both}) AS q",
        f"({both}) UNION ALL ({both})",
    )


_CALLS_OF_SETS = (
    "count(*)",
    "sum(a)",
    "sum(b)",
    "min(a)",
    "max(s)",
    "count(DISTINCT a)",
    "avg(b)",
    "count(s)",
    "sum(b) FILTER (WHERE a > 0)",
    "some(b > 0) FILTER (WHERE a > 0)",
    "sum(a + b)",
)


def _sets(d: Drawn, keys: list[str]) -> str:
    """GROUP BY of sets of these keys."""
    first, last, every = keys[0], keys[-1], ", ".join(keys)
    return d.of(
        f"ROLLUP ({every})",
        f"{every} WITH ROLLUP",
        f"CUBE ({every})",
        f"{every} WITH CUBE",
        f"{first}, ROLLUP ({every})",
        f"GROUPING SETS (({every}), {last}, ())",
        f"GROUPING SETS ({first}, ({last}))",
        f"{every} GROUPING SETS (({last}), ())",
        f"GROUPING SETS (ROLLUP ({every}), ({first}))",
        f"ROLLUP ({first}), CUBE ({last})",
        f"ROLLUP (({every}), b)",
        f"GROUPING SETS (({every}))",
        "GROUPING SETS (())",
        f"{last}, CUBE ({first})",
        f"ROLLUP ({first}, {first})",
    )


def grouping_sets(d: Drawn) -> Query:
    """ROLLUP, CUBE and GROUPING SETS in all forms: sets written twice, NULLs of the data, aggregates of what is grouped by."""
    tables = (
        Table(
            "t",
            (("k", "int"), ("a", "int"), ("b", "int"), ("s", d.of("string", "bigint", "decimal(10,2)"))),
            d.draw(st.sampled_from((KEYED, KEYED, None))),
        ),
        Table("r", (("k", "int"), ("a", "int"), ("c", "int")), d.draw(st.sampled_from((KEYED, None)))),
    )
    keys = d.different(("a", "b", "s", "a + 1", "k", "b % 2"), int(d.of("1", "2", "2", "3")))
    first, last = keys[0], keys[-1]
    by = _sets(d, keys)
    if "(())" in by:
        keys, first, last = [], "max(a)", "count(a)"
    grouped = [d.of(*keys)] if keys else []
    marks = [d.of("grouping_id()", f"grouping({first})", f"grouping({last})", f"1 + grouping({first}) * 2") if keys else "3"]
    calls = d.some(_CALLS_OF_SETS, 1, 2)
    items = ", ".join(f"{each} AS c{number}" for number, each in enumerate([*keys, *marks, *calls]))
    source = d.of(
        "t", "t", "(SELECT * FROM t WHERE a > 0) AS t", "(SELECT a, b, s, k FROM t UNION ALL SELECT a, c, k, k FROM r) AS t"
    )
    tests = [f"{first} > 0", f"{first} IS NULL", f"{calls[0]} > 1", "c0 > 0", *([f"{marks[0]} = 1"] if keys else [])]
    having = d.of("", "", *(f" HAVING {test}" for test in tests))
    where = d.where(("a", "b"), 4)
    plain = f"SELECT {items} FROM {source}{where} GROUP BY {by}{having}"
    outer = f"SELECT q.* FROM ({plain}) AS q"
    shown = f"{grouped[0]} AS g" if grouped else "7 AS g"
    return tables, d.of(
        *[plain] * 8,
        f"{outer} JOIN r ON r.a = q.c0",
        f"SELECT r.k, q.c1 FROM r LEFT JOIN ({plain}) AS q ON r.a = q.c0",
        f"SELECT r.k FROM r WHERE r.k NOT IN (SELECT q.c1 FROM ({plain}) AS q)",
        f"SELECT q.c0, count(*) AS n FROM ({plain}) AS q GROUP BY q.c0",
        f"SELECT DISTINCT {shown} FROM t{where} GROUP BY {by}",
        f"SELECT {shown}, count(*) AS n FROM t{where} GROUP BY {by} UNION ALL SELECT c, k FROM r",
        f"SELECT {shown}, sum(sum(b)) OVER (PARTITION BY {marks[0]}) AS w FROM t{where} GROUP BY {by}",
        f"SELECT {shown}, rank() OVER (ORDER BY count(*)) AS w FROM t GROUP BY {by}",
        f"SELECT {shown}, sum(b) / (SELECT max(c) FROM r WHERE c > 0) AS w FROM t GROUP BY {by}",
        f"SELECT t.a, r.c, count(*) AS n, max(t.s) AS m FROM t {d.of('', 'LEFT ')}JOIN r USING (k) GROUP BY "
        f"{d.of('ROLLUP', 'CUBE')} (t.a, r.c)",
        f"WITH w AS (SELECT b, sum(a) AS a, count(*) AS k, max(s) AS s FROM t GROUP BY b) "
        f"{plain.replace('FROM t', 'FROM w AS t')}",
    )


# An expression that may raise, and a condition under which it does not.
_RAISING = (
    *[("o.a / o.q", "o.q <> 0"), ("CAST(o.code AS INT)", "o.code RLIKE '^[0-9]+$'")] * 3,
    ("o.a % o.q", "o.q <> 0 AND o.a > 0"),
    ("o.a div o.q", "o.q > 0"),
    ("o.q + 2147483647", "o.q <= 0"),
    ("split(o.code, ',')[1]", "o.code LIKE '%,%'"),
    ("element_at(split(o.code, ','), 2)", "size(split(o.code, ',')) > 1"),
    ("CAST(o.code AS DATE)", "o.code LIKE '____-__-__'"),
)


def guarded(d: Drawn) -> Query:
    """Expressions that raise for rows that a condition or a join keeps away."""
    tables = (
        Table(
            "o",
            (("id", "int"), ("pid", "int"), ("a", d.of("int", "decimal(10,2)", "bigint")), ("q", "int"), ("code", "string")),
            d.draw(st.sampled_from((("id",), None))),
        ),
        Table("p", (("pid", "int"), ("active", "boolean"), ("least", "int")), ("pid",)),
    )
    expression, guard = d.draw(st.sampled_from(_RAISING))
    joined = d.of(
        "o JOIN p ON o.pid = p.pid",
        "o JOIN p ON o.pid = p.pid AND p.active",
        "o, p",
        "o LEFT JOIN p ON o.pid = p.pid AND p.active",
        f"p {d.of('LEFT', 'FULL')} JOIN o ON o.pid = p.pid",
        f"p LEFT JOIN o ON o.pid = p.pid AND {guard}",
        f"p LEFT JOIN o ON o.pid = p.pid AND {guard} AND {expression} > '0'",
    )
    after = d.of("", " AND p.active", " AND p.active", " AND o.pid = p.pid", " AND o.q > p.least")
    alone = d.chance(6)
    source = f"o WHERE {guard}" if alone else f"{joined} WHERE {guard}{after}"
    if d.chance(5):
        source = source.replace(
            f"WHERE {guard}", f"WHERE EXISTS (SELECT 1 FROM p AS g WHERE g.pid = o.pid AND g.active) AND {guard}"
        )
    value = expression if not d.chance(5) else f"CASE WHEN {guard} THEN {expression} END"
    form = d.of(
        *["SELECT o.id, {0} AS u FROM {1}"] * 4,
        "SELECT {0} AS g, count(*) AS n FROM {1} GROUP BY {0}",
        "SELECT o.pid, max({0}) AS m FROM {1} GROUP BY o.pid",
        "SELECT o.id FROM {1} AND {0} IS NOT NULL",
        "SELECT d.u, d.id FROM (SELECT {0} AS u, o.id, o.pid FROM {1}) AS d JOIN p AS e ON d.pid = e.pid",
        "SELECT e.pid, d.u, d.id FROM p AS e LEFT JOIN (SELECT {0} AS u, o.id, o.pid FROM {1}) AS d ON d.pid = e.pid",
    )
    return tables, form.format(value, source)


# --- types


def unions(d: Drawn) -> Query:
    """UNION [ALL] of branches of different types, and what is done with the united column."""
    first, second = d.draw(st.sampled_from(types.UNITED))
    tables = (
        Table("a", (("k", "int"), ("x", first)), KEYED),
        Table("b", (("k", "int"), ("y", second)), d.draw(st.sampled_from((KEYED, None)))),
        Table("c", (("k", "int"), ("z", d.of(first, second))), KEYED),
    )
    left, right = f"SELECT k, x FROM a{d.where(('k',), 4)}", f"SELECT k, y FROM b{d.where(('k',), 4)}"
    united = f"{left} UNION{d.of(' ALL', ' ALL', '')} {right}"
    if d.chance(2):
        united = f"{right} UNION ALL {left}".replace("SELECT k, y", "SELECT k, y AS x")
    form = d.of(
        "SELECT u.k, u.x FROM ({0}) AS u",
        *["SELECT u.k, CAST(u.x AS STRING) AS s FROM ({0}) AS u"] * 3,
        "SELECT u.x || '!' AS s, u.k FROM ({0}) AS u",
        *["SELECT u.x, count(*) AS n FROM ({0}) AS u GROUP BY u.x"] * 3,
        "SELECT CAST(u.x AS STRING) AS s, count(*) AS n FROM ({0}) AS u GROUP BY CAST(u.x AS STRING)",
        "SELECT u.k, u.x FROM ({0}) AS u JOIN c ON c.z = u.x",
        "SELECT DISTINCT u.x FROM ({0}) AS u",
        "SELECT u.k, typeof(u.x) AS t FROM ({0}) AS u",
        "SELECT max(u.x) AS m, min(u.x) AS i, u.k FROM ({0}) AS u GROUP BY u.k",
        "SELECT u.k FROM ({0}) AS u WHERE u.x IN (SELECT z FROM c)",
        "{0}",
        "{0}",
    )
    return tables, form.format(united)


# Values that meet in one column of VALUES, and the type of a stored column that they are compared with.
_CELLS = (
    ("1", "2", "-1", "3000000000", "NULL"),
    ("1", "1.50", "2.255", "NULL"),
    ("1", "0.5D", "1.5"),
    ("'a'", "'1'", "NULL"),
    ("1", "CAST(2 AS DECIMAL(38,0))", "0.0000000001"),
    ("DATE '2024-01-01'", "TIMESTAMP_NTZ '2024-02-29 12:00:00'", "NULL"),
    ("DATE '2024-01-01'", "TIMESTAMP '2024-02-29 12:00:00'"),
    ("1Y", "2S", "3", "4L"),
    ("1", "'7'"),
    ("true", "false", "NULL"),
    ("array(1)", "array(1.5)", "NULL"),
    ("struct(1 AS p, 'a' AS q)", "struct(2 AS p, NULL AS q)", "named_struct('p', 3, 'q', 'b')"),
    ("struct(2, 'b')", "(1, NULL)"),
    ("1 + 1", "abs(-2)", "CAST('3' AS INT)", "-(2 - 5)", "-2147483648"),
    ("1BD", "1.5", "CAST(1 AS FLOAT)"),
)


def inlined(d: Drawn) -> Query:
    """VALUES and SELECT without FROM: types of mixed rows, names, equal rows; alone, joined, united and tested for."""
    cells = d.draw(st.sampled_from(_CELLS))
    table = Table(
        "a",
        (("k", "int"), ("x", d.of("int", "bigint", "decimal(10,2)")), ("s", "string")),
        d.draw(st.sampled_from((KEYED, KEYED, None))),
    )
    wide = d.chance(2) or d.chance(2)
    column = [*(d.of(*cells) for _ in range(int(d.of("0", "1", "2", "3")))), cells[0]]
    rows = ", ".join(f"({number % 3}, {cell})" if wide else d.of(f"({cell})", cell) for number, cell in enumerate(column))
    alias = d.of("t", "AS t", "t(p, q)", "AS T(P, Q)") if wide else d.of("t", "AS t", "t(q)", "AS t(Q)")
    first, last = ("col1", "col2" if wide else "col1") if "(" not in alias else ("p" if wide else "q", "q")
    constant = f"SELECT {d.of(*cells[:2])} AS v"
    source = d.of(f"VALUES {rows} {alias}", f"(VALUES {rows}) {alias}", f"(VALUES {rows} {alias})")
    integers = d.of("(1), (2), (2)", "1, 2", "(1), (NULL)", "(0), (1L)")
    listed = d.of("1, 2", "2, (1)", "NULL, 0", "1L")  # Spark reads IN (VALUES (1)) as a call
    whole = f"VALUES {rows}" if "(" not in alias else f"VALUES {rows} {alias}"
    return (table,), d.of(
        f"SELECT * FROM {source}",
        f"SELECT {last} AS v, typeof({last}) AS u FROM {source}",
        whole,
        constant,
        f"SELECT {last} AS v, count(*) AS n FROM {source} GROUP BY {last}",
        f"SELECT count(*) AS n FROM {source}",
        f"SELECT a.k, t.{last} AS v FROM a, {source}",
        f"SELECT a.k, t.{last} AS v FROM a JOIN {source} ON a.k > 0",
        f"SELECT a.k, t.{last} AS v FROM a JOIN {source} ON {f't.{first} = a.k' if wide else 'a.k < 2'}",
        "SELECT u.v, count(*) AS n FROM (SELECT x AS v FROM a UNION ALL "
        f"{d.of('SELECT -1', 'VALUES (1), (2)', 'SELECT 1.5')}) AS u GROUP BY u.v",
        f"SELECT k, s FROM a UNION ALL {d.of('VALUES', 'SELECT * FROM VALUES')} (-1, 'unknown'){d.of('', ', (-2, NULL)')}",
        "SELECT k, x, s FROM a UNION SELECT -1, 0, 'unknown'",
        f"SELECT k, x FROM a UNION ALL SELECT {d.of('-1, NULL', '1, 1', '0, 1.5')}",
        f"SELECT a.k, a.x FROM a WHERE a.k {d.of('IN', 'NOT IN')} (VALUES {listed})",
        f"SELECT a.k FROM a WHERE {d.of('EXISTS', 'NOT EXISTS')} (SELECT 1 FROM VALUES {integers} AS w(i) WHERE w.i = a.k)",
        f"SELECT a.k FROM a WHERE EXISTS (SELECT 1{d.of('', ' WHERE a.k > 1', ' WHERE false')})",
        f"SELECT a.k, c.one FROM a CROSS JOIN ({d.of('SELECT 1 AS one', constant + ', 1 AS one')}) AS c",
        f"SELECT g.n, c.v FROM ({constant}) AS c LEFT {d.of('SEMI', 'ANTI')} JOIN a ON a.k > 1, "
        "(SELECT count(*) AS n FROM a) AS g",
        f"WITH w(i) AS (VALUES {integers}) SELECT w.i, count(*) AS n FROM w JOIN w AS z ON w.i = z.i GROUP BY w.i",
    )


def typed(d: Drawn) -> Query:
    """Each type as key, group, join column and payload."""
    kind, key = d.of(*types.COMPARED), d.of(*types.KEYS)
    payload = d.of(*types.COMPARED, *types.PAYLOADS)
    tables = (
        Table("a", (("k", key), ("x", kind), ("p", payload)), d.draw(st.sampled_from((KEYED, KEYED, None)))),
        Table("b", (("k", key), ("x", kind), ("n", "int")), d.draw(st.sampled_from((KEYED, ("k", "n"), None)))),
    )
    call = d.of("count(*)", "max(a.x)", "min(a.x)", "count(a.p)", "count(DISTINCT a.x)")
    sql = d.of(
        "SELECT a.k, a.x, a.p FROM a",
        "SELECT a.x, b.n, a.p FROM a JOIN b ON a.x = b.x",
        "SELECT a.k AS i, b.x, a.p FROM a JOIN b ON a.k = b.k",
        f"SELECT a.x, {call} AS m FROM a GROUP BY a.x",
        f"SELECT a.k, {call} AS m FROM a GROUP BY a.k",
        f"SELECT b.n, {call} AS m FROM a JOIN b ON a.k <=> b.k GROUP BY b.n",
        "SELECT DISTINCT a.x FROM a",
        "SELECT a.k, a.p FROM a WHERE a.x IN (SELECT b.x FROM b)",
        "SELECT a.k, a.p FROM a WHERE a.x NOT IN (SELECT b.x FROM b)",
        "SELECT a.k, a.p FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.n > 0)",
        "SELECT a.x, a.k FROM a UNION SELECT b.x, b.k FROM b",
        "SELECT CAST(a.x AS STRING) AS s, a.k FROM a WHERE a.x IS NOT NULL",
        "SELECT a.k, a.p, rank() OVER (PARTITION BY a.x ORDER BY a.k) AS r FROM a",
        "SELECT a.k, rank() OVER (PARTITION BY a.k ORDER BY a.x DESC) AS r, max(a.x) OVER (ORDER BY a.x) AS m FROM a",
        "SELECT b.k, b.n, g.m FROM b JOIN (SELECT a.x, count(*) AS m FROM a GROUP BY a.x) AS g ON g.x = b.x",
        f"SELECT a.k, b.n, a.p FROM a {d.outer()} JOIN b ON a.x = b.x",
        f"SELECT k, x, n FROM a {d.outer()} JOIN b USING (k, x)",
        f"SELECT b.n, {call} AS m FROM a {d.outer()} JOIN b ON a.k <=> b.k GROUP BY b.n",
    )
    return tables, sql


def _membership(d: Drawn) -> str:
    """A condition on a row of `a`: IN or NOT IN of a subquery over `b`."""
    column, where = d.of("b.x", "b.k"), d.of("", "", " WHERE b.n > 0", " WHERE b.n = a.n")
    query = d.of(
        f"SELECT {column} FROM b{where}",
        f"SELECT {column} FROM b{where}",
        f"SELECT DISTINCT {column} FROM b",
        f"SELECT {column} FROM b GROUP BY {column} HAVING count(*) > 1",
    )
    outside = d.of("IN", "NOT IN")
    return d.of(
        f"a.x IN ({query})",
        f"a.x NOT IN ({query})",
        f"NOT (a.x IN ({query}))",
        f"(a.x, a.n) IN (SELECT {column}, b.n FROM b)",
        f"(a.n < 2 AND a.x {outside} ({query}))",
        f"(a.x {outside} ({query}) OR a.n {outside} (SELECT c.n FROM b AS c))",
    )


def _value_of(d: Drawn, test: str) -> str:
    """An expression whose value depends on the condition."""
    values = d.of("true false", "false true", "NULL true").split()
    return d.of(
        f"CASE WHEN {test} THEN {{0}} END",
        f"if({test}, {{0}}, {{1}})",
        f"CASE WHEN a.n > 1 THEN {{1}} WHEN {test} THEN {{0}} ELSE {{1}} END",
    ).format(*values)


def _looked_up_row(d: Drawn, value: str, more: str) -> str:
    """A scalar subquery over `b`, which may give `value` under the condition `more`."""
    return d.of(
        f"(SELECT {value} FROM b WHERE b.k = a.x{more})",
        f"(SELECT count(*) FROM b WHERE b.x = a.x{more} GROUP BY b.x)",
        "(SELECT max(b.n) FROM b WHERE b.x = a.x GROUP BY b.x HAVING count(*) > 1)",
        "(SELECT g.m FROM (SELECT x, count(*) AS m FROM b GROUP BY x) AS g WHERE g.x = a.x)",
        "(SELECT m FROM (SELECT max(n) AS m FROM b) WHERE m > 1)",
        "(SELECT DISTINCT max(n) FROM b)",
        "(SELECT n FROM b ORDER BY k LIMIT 1)",
    )


def _lateral_join(d: Drawn, value: str, more: str) -> str:
    """A join with a lateral subquery `l` over `b`, which may give `value` under the condition `more`."""
    joined = d.of("b.x = a.x", "b.k = a.x", "b.x > a.x", "b.x = a.x AND b.n > a.n")
    rows = d.of(f"SELECT {value} AS v FROM b WHERE {joined}", f"SELECT b.n AS v, {value} AS w FROM b WHERE {joined}{more}")
    group = d.of("count(*) AS v", "max(b.n) AS v, count(b.n) + 1 AS w", "coalesce(sum(b.n), 0) AS v")
    by = d.of("", "", " GROUP BY b.n", " GROUP BY b.x HAVING count(*) > 1")
    return d.of(
        f"{d.of(',', ' JOIN', ' LEFT JOIN', ' CROSS JOIN')} LATERAL ({rows}) AS l",
        f" {d.of('LEFT ', '')}JOIN LATERAL ({rows}) AS l ON l.v > 0",
        f"{d.of(',', ' LEFT JOIN')} LATERAL (SELECT {group} FROM b WHERE b.x = a.x{by}) AS l",
        f" JOIN LATERAL (SELECT {group} FROM b WHERE b.x = a.x{by}) AS l ON l.v < 2",
    )


def members(d: Drawn) -> Query:
    """IN and NOT IN below OR, IN as a value, rows that are looked up and lateral subqueries, over one type or two."""
    key = d.of(*types.KEYS)
    mine, theirs = d.draw(st.sampled_from(types.UNITED)) if d.chance(3) else (key, key)
    tables = (
        Table("a", (("k", "int"), ("x", mine), ("n", "int")), d.draw(st.sampled_from((KEYED, None)))),
        Table("b", (("k", theirs), ("x", theirs), ("n", "int")), d.draw(st.sampled_from((KEYED, KEYED, None)))),
    )
    test = _membership(d)
    chosen = _value_of(d, test)
    more = d.of("", f" AND {d.of('b.n > 0', 'b.n = a.n', 'b.x IS NOT NULL')}")
    value = d.of("b.n", "coalesce(b.n, 7)", "b.x", "'row'", "b.n + 1", "concat(b.n, '!')")
    row = _looked_up_row(d, value, more)
    lateral = _lateral_join(d, value, more)
    return tables, d.of(
        *[f"SELECT a.k, a.n FROM a WHERE a.n {d.of('= 1', 'IS NULL', '> 1')} OR {test}"] * 3,
        f"SELECT a.n, count(*) AS m FROM a WHERE a.n > 1 OR {test} GROUP BY a.n",
        f"SELECT a.k, {chosen} AS v FROM a",
        f"SELECT a.k, a.n FROM a WHERE {d.of('NOT ', '')}{chosen}",
        f"SELECT a.n, sum(CASE WHEN {test} THEN 1 ELSE 0 END) AS m FROM a GROUP BY a.n",
        *[f"SELECT a.k, a.n, l.* FROM a{lateral}"] * 3,
        f"SELECT l.v, count(*) AS m FROM a{lateral} GROUP BY l.v",
        *[f"SELECT a.k, {row} AS v FROM a"] * 3,
        f"SELECT a.k, a.n FROM a WHERE {row} IS {d.of('', 'NOT ')}NULL",
        f"SELECT {row} AS v, count(*) AS m FROM a GROUP BY 1",
        f"SELECT a.x, {row} AS v, count(*) AS m FROM a GROUP BY 1, 2",
    )


def _look_up(d: Drawn) -> str:
    """A join that keeps each row of `f`, with the row of `d` that it refers to, or of a query over `d`."""
    right = d.of(
        "d",
        "d",
        "d",
        "(SELECT y AS id, count(*) AS name, max(v) AS v FROM f GROUP BY y) AS d",
        "(SELECT * FROM d WHERE v > 1) AS d",
        "(SELECT * FROM d WHERE v IN (SELECT e.v FROM e)) AS d",
        "(SELECT d.*, w FROM d LEFT JOIN e ON d.v = e.v) AS d",
    )
    return d.of(
        f"f LEFT JOIN {right} ON d.id = f.id",
        f"f LEFT JOIN {right} ON {d.of('f.id <=> d.id', 'd.id = f.y')}",
        f"f LEFT JOIN {right} USING ({d.cased('id')})",
        f"f LEFT JOIN {right} ON d.id = f.id AND d.v = f.v",
        f"f LEFT JOIN {right} ON d.id = f.id AND d.v > f.v",
        f"{right} RIGHT JOIN f ON d.id = f.id",
        f"{right} RIGHT JOIN f USING (id)",
    )


def look_ups(d: Drawn) -> Query:
    """Foreign keys that look up keys of the same type or of another one, by ON and USING, beside and below each other."""
    one = other = d.of(*types.COMPARED)
    if d.chance(3):
        one, other = d.different(d.draw(st.sampled_from(types.UNITED)), 2)
    name = d.of("v", "V")
    tables = (
        Table("f", (("k", "int"), ("id", one), ("y", one), ("v", "int")), d.draw(st.sampled_from((KEYED, KEYED, None)))),
        Table(
            "d",
            (("id", other), ("name", d.of("string", "int", "decimal(10,2)")), ("v", "int")),
            d.draw(st.sampled_from((("id",), ("id",), ("id", "v"), None))),
        ),
        Table("e", ((name, "int"), ("w", d.of("int", "double", "string"))), (name,)),
    )
    joined = _look_up(d)
    more = d.of(
        "",
        " LEFT JOIN e ON e.v = d.v",
        " LEFT JOIN e ON e.v = f.v",
        " LEFT JOIN d AS d2 ON d2.id = f.y",
        " LEFT JOIN e ON e.v = coalesce(d.v, f.v)",
    )
    shown = d.of(
        "d.name",
        "f.id AS i, d.id AS j",
        "coalesce(d.name, -1) AS c",
        "d.id IS NULL AS n",
        "f.v + d.v AS s",
        "f.y AS i, d.v * 2 AS j, d.name",
    )
    w = ", e.w" if " e ON" in more else ", d2.name AS m" if more else ""
    group = d.of("d.name", "f.id", "d.id", "d.v", "f.y", "f.id, d.name")
    call = d.of("count(*)", "sum(f.v)", "sum(d.v)", "max(d.name)", "count(DISTINCT d.id)", "min(f.id)")
    partition = d.of("d.name", "f.id", "d.id", "d.v")
    where = d.of("", "", "", " WHERE d.id IS NULL", " WHERE d.v > 0", " WHERE coalesce(d.v, 1) = 1", " WHERE f.v > 0")
    source = f"{joined}{more}{where}"
    return tables, d.of(
        *[f"SELECT f.k, {shown}{w} FROM {source}"] * 4,
        *[f"SELECT {group}, {call} AS c FROM {source} GROUP BY {group}"] * 2,
        f"SELECT f.k, rank() OVER (PARTITION BY {partition} ORDER BY f.v) AS r, {call} OVER (PARTITION BY f.v) AS c{w} "
        f"FROM {source}"
        if "DISTINCT" not in call
        else f"SELECT DISTINCT {shown}{w} FROM {source}",
        f"SELECT q.k, q.j FROM (SELECT f.k AS k, d.v AS j FROM {source}) AS q WHERE q.j IS NULL OR q.j > 1",
        f"SELECT f.k, d.name FROM {source} UNION ALL SELECT f.v, (SELECT max(d.name) FROM d WHERE d.id = f.id) FROM f",
    )


def sums(d: Drawn) -> Query:
    """Sums and averages over values at the ends of each type."""
    kind = d.of(*types.SUMMED)
    table = Table("t", (("k", "int"), ("g", "int"), ("x", kind), ("y", kind)), d.draw(st.sampled_from((KEYED, None))))
    calls = ", ".join(
        f"{call} AS c{number}"
        for number, call in enumerate(
            d.some(
                (
                    "sum(x)",
                    "avg(x)",
                    "min(x)",
                    "max(y)",
                    "count(y)",
                    "sum(-y)",
                    "sum(x - y)",
                    "sum(CAST(x AS DECIMAL(38,2)))",
                    "sum(y)",
                ),
                1,
                3,
            )
        )
    )
    return (table,), d.of(
        f"SELECT g, {calls} FROM t GROUP BY g",
        f"SELECT {calls} FROM t",
        f"SELECT g, {calls} FROM t WHERE k > 0 GROUP BY g",
        f"SELECT y AS g, {calls} FROM t GROUP BY y",
    )


def over_calls(d: Drawn) -> Query:
    """Expressions over aggregates that the select list need not have: quotients that may raise, casts, roundings, guards."""
    kind = d.of(*types.SUMMED)
    table = Table("t", (("k", "int"), ("g", "int"), ("x", kind), ("y", kind)), d.draw(st.sampled_from((KEYED, KEYED, None))))

    def one() -> str:
        call, other = d.different(
            (
                "sum(x)",
                "sum(y)",
                "min(x)",
                "max(y)",
                "count(y)",
                "count(*)",
                "avg(x)",
                "sum(x - y)",
                "max(x + 1)",
                "count_if(y > 0)",
            ),
            2,
        )
        return d.of(
            f"{call} / {other}",
            f"{call} / nullif({other}, 0)",
            f"round({call}, 1)",
            f"coalesce({call}, 0)",
            f"CAST({call} AS STRING)",
            f"CASE WHEN {other} > 1 THEN {call} END",
            f"-{call}",
            f"{call} * 2",
            f"CASE WHEN {other} <> 0 THEN {call} / {other} ELSE {call} END",
            f"{call} + {other}",
            f"100 / {call}",
            f"CAST({call} AS TINYINT)",
            f"greatest({call}, {other})",
            f"CAST({call} AS INT) % {other}",
            call,
        )

    calls = ", ".join(f"{one()} AS c{number}" for number in range(int(d.of("1", "1", "2", "3"))))
    source = d.of(
        "t", "t", "t WHERE y <> 0", "t WHERE k > 0", "(SELECT * FROM t UNION ALL SELECT k, k, y, x FROM t WHERE g = 1) AS t"
    )
    return (table,), d.of(
        f"SELECT g, {calls} FROM {source} GROUP BY g",
        f"SELECT g, {calls} FROM {source} GROUP BY g",
        f"SELECT {calls} FROM {source}",
        f"SELECT q.g, q.s + q.n AS c0, q.m AS c1 FROM (SELECT g, sum(x) AS s, count(*) AS n, {one()} AS m FROM {source} "
        "GROUP BY g) AS q",
        f"SELECT g + 1 AS h, {calls}, g / count(*) AS c FROM {source} GROUP BY g",
    )


def aggregates(d: Drawn) -> Query:
    """Aggregates of several arguments, percentiles and sorted lists: of groups, sets, partners, and in HAVING."""

    def one() -> str:
        x, y = d.of("a", "b", "p", "a + b", "CAST(s IS NULL AS INT)"), d.of("b", "p", "k", "a - 1", "a")
        listed = d.of("a", "s", "p", "CAST(b AS STRING)", "struct(b, s)", "CASE WHEN a > 1 THEN s END")
        lists = ("collect_list(", "array_agg(", "collect_list(DISTINCT ")
        collected = f"{d.of(*lists, *(() if 'struct' in listed else ('collect_set(',)))}{listed})"
        of_pairs = d.of("corr", "covar_pop", "covar_samp", "regr_slope", "regr_r2", "regr_count", "regr_avgx", "regr_syy")
        delimiter = d.of("", ", '-'", ", chr(44)")
        call = d.of(
            f"count(DISTINCT {x}, {y})",
            f"count({x}, s)",
            f"approx_count_distinct({x})",
            f"{of_pairs}({x}, {y})",
            f"percentile({x}, {d.of('0.5', 'array(0.1, 0.9)', '0.25, k')})",
            f"percentile_{d.of('cont', 'disc')}(0.4) WITHIN GROUP (ORDER BY {x}{d.of('', ' DESC')})",
            f"listagg({d.of('', 'DISTINCT ')}s{delimiter}) WITHIN GROUP (ORDER BY s{d.of('', ' DESC')})",
            collected,
            collected,
        )
        filtered = f"{call} FILTER (WHERE {d.of('b > 1', 's IS NULL', 'a = k')})" if d.chance(4) else call
        if call is not collected:
            return filtered
        return d.of(
            f"array_sort({filtered})",
            f"sort_array({filtered})",
            f"sort_array({filtered}, {d.of('true', 'false')})",
            f"size({filtered})",
            f"array_max(array_sort({filtered}))",
        )

    calls = ", ".join(f"{one()} AS c{number}" for number in range(int(d.of("1", "2", "3"))))
    table = Table(
        "t",
        (("k", "int"), ("a", "int"), ("b", "int"), ("s", "string"), ("p", "decimal(10,2)")),
        d.draw(st.sampled_from((KEYED, None))),
    )
    where = d.where(("a", "b", "k"), 4)
    return (table,), d.of(
        f"SELECT a, {calls} FROM t{where} GROUP BY a",
        f"SELECT b AS a, {calls} FROM t{where} GROUP BY b",
        f"SELECT {calls} FROM t{where}",
        f"SELECT s, a, {calls} FROM t{where} GROUP BY {d.of('ROLLUP', 'CUBE')} (s, a)",
        f"SELECT a, count(*) AS n FROM t{where} GROUP BY a HAVING {one()} IS NOT NULL",
        f"SELECT q.c0, count(*) AS n FROM (SELECT a, {calls} FROM t{where} GROUP BY a) AS q GROUP BY q.c0",
        f"SELECT u.k, (SELECT {one()} FROM t WHERE t.a = u.b) AS c FROM t AS u",
    )


Theme = Callable[[Drawn], Query]
NAMES: tuple[Theme, ...] = (
    having,
    joins,
    natural,
    inner_names,
    brackets,
    constants,
    windows,
    elements,
    limited,
    grouping_sets,
    aggregates,
)
TYPES: tuple[Theme, ...] = (guarded, unions, inlined, typed, members, look_ups, sums, over_calls)
POOLS = {
    guarded: (types.GUARDED,),
    unions: (types.NUMBERS,),
    typed: (types.TAME, types.EXTREME),
    members: (types.NUMBERS,),
    look_ups: (types.NUMBERS, types.NUMBERS, types.EXTREME),
    sums: (types.TAME, types.EXTREME),
    over_calls: (types.TAME, types.TAME, types.EXTREME),
}


@st.composite
def meant(draw: Draw, theme: Theme) -> Case:
    """A case of that theme, its values tame or at the ends of their types."""
    tables, sql = theme(Drawn(draw))
    pool = draw(st.sampled_from(POOLS.get(theme, (types.TAME,))))
    now = start = {table.name: draw(rows(table, least=draw(st.sampled_from((0, 2, 3, 3))), pool=pool)) for table in tables}
    changes = []
    for _ in range(draw(st.integers(1, MOST_BATCHES))):
        changed = draw(batch(tables, now, pool))
        changes.append(changed)
        now = {**now, **changed}
    return Case(tables, sql, start, tuple(changes))
