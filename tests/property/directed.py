"""Cases written by hand: where random search is a weak finder, and counter-examples that were found once.

`build` makes a case from a text: tables as `name(column type, …; key)`, rows and batches as Python values.
"""

from __future__ import annotations

import re
from decimal import Decimal

from tests.property.plans import Table
from tests.property.strategies import Case, Content
from tests.property.tied import TIED


def table(text: str) -> Table:
    """`t(k int, x string; k)`: a table with its key behind the semicolon, if it has one."""
    name, _, inside = text.removesuffix(")").partition("(")
    columns, _, key = inside.partition(";")
    pairs = tuple(tuple(column.split()) for column in re.split(r",(?![^(<]*[)>])", columns))  # not the comma of decimal(10,2)
    return Table(name, pairs, tuple(key.replace(",", " ").split()) or None)


def build(tables: str, sql: str, start: Content, *batches: Content) -> Case:
    """One table a line."""
    return Case(tuple(table(line.strip()) for line in tables.strip().splitlines()), sql, start, batches)


FOUND = {
    "an alias that is called as the second use of another": build(
        "t0(k int, x int, y int; k)\nt1(k int, x int, z int; k)",
        "SELECT a.k AS c0, a_2.k AS c1, a.y + a_2.z AS c2 FROM t0 AS a JOIN t1 AS a_2 ON a.x = a_2.x WHERE a.y < a_2.z",
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [(1, 1, 2), (2, 2, 3)]},
        {"t0": [(1, 1, 1), (2, 1, 2)], "t1": [(1, 1, 3), (3, 1, 5)]},
        {"t0": [(3, 1, 1)], "t1": [(1, 1, 7), (3, 3, 5)]},
    ),
    "alias of the stored view beside a union that is called v": build(
        "t0(k int; k)\nt1(k int, l int; k, l)",
        "SELECT a.k AS c0 FROM t0 AS a UNION SELECT b.k AS c0 FROM t1 AS b CROSS JOIN t0 AS c",
        {"t0": [(0,)], "t1": [(0, 0)]},
        {"t0": [(1,)]},
    ),
    "a group that is a NOT": build(
        "t0(x boolean, y int)",
        "SELECT DISTINCT NOT a.x AS c0 FROM t0 AS a",
        {"t0": [(None, 1), (True, 1)]},
        {"t0": [(None, 1), (False, 1)]},
    ),
    "a group that is an AND": build(
        "t0(x boolean, y int)",
        "SELECT DISTINCT a.x AND a.x AS c0 FROM t0 AS a",
        {"t0": [(None, 1), (None, 2)]},
        {"t0": [(None, 2)]},
        {"t0": [(None, 2), (False, 0)]},
    ),
    "a count of an AND": build(
        "t0(k int, x boolean, y boolean; k)",
        "SELECT g.b AS c0, count(g.c) AS c1 FROM (SELECT a.x AS b, a.x AND a.y AS c FROM t0 AS a) AS g GROUP BY g.b",
        {"t0": [(1, True, None), (2, False, None)]},
        {"t0": [(1, True, True), (2, False, None), (3, None, True)]},
    ),
    "a second partner is inserted for a row that is nothing but its ID": build(
        "t0(k int; k)\nt1(k int, x int; k)",
        "SELECT a.k AS c0 FROM t0 AS a WHERE a.k IN (SELECT b.x FROM t1 AS b)",
        {"t0": [(1,), (2,)], "t1": [(1, 1)]},
        {"t1": [(1, 1), (2, 1), (3, 2)]},
    ),
    "a text that equals a literal": build(
        "t0(x string)\nt1(k int, y int; k)\nt2(k int, x string; k)",
        "SELECT a.x AS c0, upper(a.x) AS c1 FROM t0 AS a UNION "
        "SELECT coalesce(b.x, 'b') AS c0, b.x AS c1 FROM t2 AS b WHERE b.x IN (SELECT 'b' FROM t1 AS c WHERE c.y = b.k)",
        {"t0": [("b",), ("c",)], "t1": [(1, 1)], "t2": [(1, "b"), (2, "c")]},
        {"t1": [(1, 2)], "t2": [(1, "b"), (2, "b")]},
        {"t2": [(1, "b")]},
    ),
}

_QUOTIENT = "SELECT a.x AS c0, sum(a.y) AS c1, sum(a.y) / a.x AS c2 FROM t0 AS a GROUP BY a.x"
# Of an odd number of changed rows: the source is fetched (`World.script`).
FETCHED = {
    "a group without a name loses a row": build(
        "t0(k int, x int, y int; k)",
        "SELECT a.x AS c0, max(a.y) AS c1 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, None, 1), (2, None, 2), (3, 1, 1)]},
        {"t0": [(1, None, 1), (3, 1, 1)]},
    ),
    "groups with and without a name lose rows": build(
        "t0(k int, x int, y int; k)",
        "SELECT a.x AS c0, max(a.y) AS c1 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, None, 1), (2, None, 2), (3, None, 3), (4, None, 4), (5, 1, 5), (6, 1, 6), (7, 1, 7)]},
        {"t0": [(1, None, 1), (5, 1, 5)]},
    ),
    "a group comes, one changes, one goes": build(
        "t0(k int, x int, y int; k)",
        "SELECT a.x AS c0, max(a.y) AS c1 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, 1), (2, 2, 2), (5, 5, 5)]},
        {"t0": [(1, 1, 5), (3, 3, 3), (4, 1, 0), (5, 5, 5)]},
        {"t0": [(1, 1, 7), (3, 3, 4), (4, 1, 0), (6, None, 5)]},
    ),
    "rows come and go whose keys share their parts": build(
        "t0(k int, l int, x int; k, l)",
        "SELECT a.k AS c0, a.l AS c1, max(a.x) AS c2 FROM t0 AS a GROUP BY a.k, a.l",
        {"t0": [(1, 1, 0), (1, 2, 0), (2, 1, 0), (2, 2, 0)]},
        {"t0": [(1, 1, 1), (1, 2, 0), (2, 1, 0), (3, 3, 0), (4, 4, 0)]},
    ),
    "rows without a part of their key come and go": build(
        "t0(k int, l int, x int)",
        "SELECT a.k AS c0, a.l AS c1, max(a.x) AS c2 FROM t0 AS a GROUP BY a.k, a.l",
        {"t0": [(1, None, 0), (1, 2, 0), (None, 1, 0), (None, None, 0), (2, 2, 0)]},
        {"t0": [(1, None, 1), (1, 2, 0), (None, None, 0), (None, 2, 5), (2, 2, 0)]},
        {"t0": [(1, None, 1), (1, 2, 3), (None, None, 4), (2, 2, 0)]},
    ),
    "rows go whose keys share their parts with others": build(
        "t0(k int, l int, x int; k, l)",
        "SELECT a.k AS c0, a.l AS c1, a.x AS c2 FROM t0 AS a",
        {"t0": [(k, n, 0) for k in (1, 2, 3) for n in (1, 2, 3)]},
        {"t0": [(k, n, 0) for k in (1, 2, 3) for n in (1, 2, 3) if k != n]},
    ),
    "another partner of a row that is there": build(
        "t0(k int; k)\nt1(k int, x int; k)",
        "SELECT a.k AS c0 FROM t0 AS a WHERE a.k IN (SELECT b.x FROM t1 AS b)",
        {"t0": [(1,), (2,)], "t1": [(1, 1)]},
        {"t1": [(1, 1), (2, 1)]},
    ),
    "equal numbers with a sign are joined in a chain": build(
        "t0(k int, x double; k)\nt1(k int, x double, y double; k)\nt2(k int, y double, n int; k)",
        "SELECT a.k AS c0, b.k AS c1, c.n AS c2 FROM t0 AS a JOIN t1 AS b ON a.x = b.x JOIN t2 AS c ON b.y = c.y",
        {"t0": [(1, "1.0")], "t1": [(1, "-0.0", "-0.0"), (2, "1.0", "2.0")], "t2": [(1, "0.0", 5), (2, "2.0", 6)]},
        {"t0": [(1, "1.0"), (2, "0.0")]},
        {"t0": [(1, "0.0"), (2, "0.0")]},
    ),
    "one of two zeros goes": build(
        "t0(x double, y int)", "SELECT a.x AS c0, a.y AS c1 FROM t0 AS a", {"t0": [("0.0", 1), ("-0.0", 1)]}, {"t0": [("0.0", 1)]}
    ),
    "a sum of decimals divided by its group": build(
        "t0(k int, x int, y decimal(10,2); k)\nt1(k int; k)",
        _QUOTIENT,
        {"t0": [(1, 3, "1.00"), (2, 7, "1.00")]},
        {"t0": [(1, 3, "2.00"), (2, 7, "1.00")], "t1": [(1,)]},
    ),
    "a wide sum of decimals divided by its group": build(
        "t0(k int, x bigint, y decimal(20,4); k)",
        _QUOTIENT,
        {"t0": [(1, 3, "1.0000"), (2, 7, "1.0000")]},
        {"t0": [(1, 3, "2.0000"), (2, 7, "1.0000")]},
    ),
    "a group loses its last row": build(
        "t0(k int, x int; k)",
        "SELECT a.x AS c0, count(*) AS c1 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1), (2, 2), (3, 2)]},
        {"t0": [(2, 2), (3, 2)]},
    ),
}

_TWO = "t0(k int, x int, y int; k)\nt1(k int, x int, z int; k)"
_PAIRS = "SELECT a.k AS c0, b.k AS c1, a.y AS c2, b.z AS c3 FROM t0 AS a JOIN t1 AS b ON a.x = b.x"
_SUM_OF_BOTH = "SELECT a.k AS c0, b.k AS c1, a.y + b.z AS c2 FROM t0 AS a JOIN t1 AS b ON a.x = b.x"
_KEYLESS = "t0(x int, y int)\nt1(k int, x int, z int; k)"
_COPIES = "SELECT a.y AS c0, b.k AS c1, b.z AS c2 FROM t0 AS a JOIN t1 AS b ON a.x = b.x"
_UNION = "SELECT a.k AS c0, a.y AS c1 FROM t0 AS a UNION ALL SELECT b.k AS c0, b.z AS c1 FROM t1 AS b"
_CROSSED = "SELECT a.k AS c0, a.y AS c1 FROM t0 AS a UNION ALL SELECT b.z AS c0, b.k AS c1 FROM t1 AS b"
_GROUPS = "SELECT a.x AS c0, sum(a.y) AS c1, count(*) AS c2, avg(a.y) AS c3 FROM t0 AS a GROUP BY a.x"
_EXTREMES = "SELECT a.x AS c0, min(a.y) AS c1, max(a.y) AS c2, sum(a.y) AS c3 FROM t0 AS a GROUP BY a.x"
_JOIN_GROUPS = "SELECT a.y AS c0, count(*) AS c1, sum(b.z) AS c2 FROM t0 AS a JOIN t1 AS b ON a.x = b.x GROUP BY a.y"
_NESTED = "SELECT g.n AS c0, count(*) AS c1 FROM (SELECT a.x AS x, count(*) AS n FROM t0 AS a GROUP BY a.x) AS g GROUP BY g.n"
_SELF = "SELECT a.k AS c0, b.k AS c1, a.y AS c2, b.y AS c3 FROM t0 AS a JOIN t0 AS b ON a.x = b.y"
_ONE = "t0(k int, x int, y int; k)"
_PARTNER = "SELECT a.k AS c0, a.y AS c1 FROM t0 AS a WHERE EXISTS (SELECT 1 FROM t1 AS b WHERE b.x = a.x)"
_NO_PARTNER = _PARTNER.replace("EXISTS", "NOT EXISTS")
_NOT_IN = "SELECT a.k AS c0, a.y AS c1 FROM t0 AS a WHERE a.x NOT IN (SELECT b.x FROM t1 AS b)"
_THREE = f"{_TWO}\nt2(k int, x int, w int; k)"
_COUNT_LONELY = (
    "SELECT a.y AS c0, count(*) AS c1, sum(a.k) AS c2 FROM t0 AS a "
    "WHERE NOT EXISTS (SELECT 1 FROM t1 AS b WHERE b.x = a.x) GROUP BY a.y"
)
_KEYLESS_PARTNER = "SELECT a.y AS c0 FROM t0 AS a WHERE EXISTS (SELECT 1 FROM t1 AS b WHERE b.x = a.x)"
_KEYED = "t0(k int, x int, y int; k)\nt1(k int, w int, z int; k)"
_SUMS = "SELECT b.k AS x, count(*) AS n, sum(a.y + b.z) AS s FROM t0 AS a JOIN t1 AS b ON a.x = b.k GROUP BY b.k"
_PAIR = {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [(1, 1, 1), (2, 2, 2)]}
_LEFT = "SELECT a.k AS c0, b.k AS c1, a.y AS c2, b.z AS c3 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.x"
_FULL = _LEFT.replace("LEFT", "FULL")
_SUMS_BELOW = "(SELECT b.x AS x, count(*) AS n, sum(b.z) AS s FROM t1 AS b GROUP BY b.x) AS g"
_LEFT_GROUPS = f"SELECT a.k AS c0, a.y AS c1, g.x AS c2, g.n AS c3, g.s AS c4 FROM t0 AS a LEFT JOIN {_SUMS_BELOW} ON g.x <=> a.x"
_LEFT_SUMS = (
    "SELECT a.y AS c0, count(*) AS c1, count(b.k) AS c2, sum(b.z) AS c3 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.x GROUP BY a.y"
)
_PADDED = {"t0": [(1, 1, 1), (2, 2, 2), (3, None, 3)], "t1": [(1, 1, 1), (2, 1, 2), (3, None, 3)]}
_RANKED = "SELECT a.k AS c0, a.y AS c1, row_number() OVER (PARTITION BY a.x ORDER BY a.y DESC, a.k) AS c2 FROM t0 AS a"
_LATEST = f"SELECT r.c0, r.c1 FROM ({_RANKED}) AS r WHERE r.c2 = 1"
_SHARES = "SELECT a.k AS c0, count(*) OVER (PARTITION BY a.x) AS c1, a.z AS c2 FROM t0 AS a"
_WIDE = "t0(k int, x int, y int, z int; k)"
_RUNNING = "SELECT a.k AS c0, sum(a.y) OVER (PARTITION BY a.x ORDER BY a.k) AS c1 FROM t0 AS a"
_PARTITIONS = {"t0": [(1, 1, 1), (2, 1, 5), (3, 2, 2), (4, None, 4), (5, None, 9)]}

_VALUE = "(SELECT max(b.z) FROM t1 AS b WHERE b.x = a.x)"
_HAS = "EXISTS (SELECT 1 FROM t1 AS b WHERE b.x = a.x)"
_VALUED = {"t0": [(1, 1, 1), (2, 2, 1), (3, 3, 2)], "t1": [(1, 1, 5), (2, 2, 6), (3, 2, 7)]}
_CHANGED = ({"t1": [(1, 1, 5)]}, {"t0": [(1, 2, 1), (2, 1, 1)], "t1": [(1, 1, 5), (4, 2, 5)]})
_OR = "SELECT a.k AS c0, a.y AS c1 FROM t0 AS a WHERE a.y = 9 OR"
_LOOKED_UP = "(SELECT b.z FROM t1 AS b WHERE b.k = a.x)"
_MEMBERS = {
    "t0": [(1, 1, 5), (2, None, 9), (3, 2, 6), (4, 3, 7), (5, None, 1)],
    "t1": [(1, 1, 5), (2, None, 6), (3, 2, 7), (4, 2, None)],
}
# a partner comes beside another, the last one goes, both sides change, keys move, nothing is left
_MOVED = (
    {"t1": [(1, 1, 5), (2, 1, 6), (3, None, 7), (4, 3, 7)]},
    {"t1": [(2, 1, 6), (3, 3, None), (5, 2, 6)]},
    {"t0": [(1, 3, 5), (2, 2, 9), (3, None, 6), (4, 5, 6), (6, 2, 1)], "t1": [(2, 2, 5), (3, 2, 6), (5, None, 6)]},
    {"t0": [(1, 2, 6), (3, 5, 6), (6, 3, 9)]},
    {"t1": []},
)
_WITHOUT_NULLS = (
    {"t0": [(1, 1, 5), (2, None, 6), (3, 2, 6)], "t1": []},
    {"t1": [(1, 1, 5), (2, 3, 6)]},
    {"t1": [(1, 1, 5), (2, None, 6)]},
    {"t1": [(2, None, 6), (3, None, None)]},
    {"t1": [(3, None, None)]},
    {"t1": []},
)
_IN = "a.x IN (SELECT b.x FROM t1 AS b WHERE b.x IS NOT NULL)"

SCALARS = {
    "a subquery inside an aggregate": build(
        _TWO, f"SELECT a.y AS c0, sum({_VALUE}) AS c1, count({_VALUE}) AS c2 FROM t0 AS a GROUP BY a.y", _VALUED, *_CHANGED
    ),
    "groups by whether rows have a partner": build(
        _TWO, f"SELECT {_HAS} AS c0, count(*) AS c1 FROM t0 AS a GROUP BY 1", _VALUED, *_CHANGED
    ),
    "groups by an expression over a subquery": build(
        _TWO, f"SELECT coalesce({_VALUE}, 5) AS c0, count(*) AS c1 FROM t0 AS a GROUP BY 1", _VALUED, *_CHANGED
    ),
    "IN below OR": build(_TWO, f"{_OR} a.x IN (SELECT b.x FROM t1 AS b)", _MEMBERS, *_MOVED),
    "IN below OR over rows without a key": build(
        "t0(k int, x int, y int; k)\nt1(x int, z int)",
        f"{_OR} a.x IN (SELECT b.x FROM t1 AS b WHERE b.z > 0)",
        {"t0": _MEMBERS["t0"], "t1": [(1, 1), (1, 1), (2, 0), (None, 1)]},
        {"t1": [(1, 1), (None, 1), (2, 2), (2, 2)]},
        {"t1": [(2, 0), (None, 1)]},
        {"t0": [(1, 2, 5), (2, None, 9), (3, 3, 5)], "t1": [(3, 1), (3, 1)]},
        {"t1": []},
    ),
    "IN below OR that is correlated, too": build(
        _TWO, f"{_OR} a.x IN (SELECT b.x FROM t1 AS b WHERE b.z = a.y)", _MEMBERS, *_MOVED
    ),
    "several columns in IN below OR": build(_TWO, f"{_OR} (a.x, a.y) IN (SELECT b.x, b.z FROM t1 AS b)", _MEMBERS, *_MOVED),
    "IN below OR over distinct rows": build(_TWO, f"{_OR} a.x IN (SELECT DISTINCT b.x FROM t1 AS b)", _MEMBERS, *_MOVED),
    "IN below OR over groups": build(
        _TWO, f"{_OR} a.x IN (SELECT b.x FROM t1 AS b GROUP BY b.x HAVING count(*) > 1)", _MEMBERS, *_MOVED
    ),
    "IN below OR over a union": build(
        _TWO, f"{_OR} a.x IN (SELECT b.x FROM t1 AS b UNION ALL SELECT c.z FROM t1 AS c)", _MEMBERS, *_MOVED
    ),
    "IN below OR over the first row": build(
        _TWO, f"{_OR} a.x IN (SELECT b.x FROM t1 AS b ORDER BY b.k LIMIT 1)", _MEMBERS, *_MOVED
    ),
    "IN below OR over a constant, and of one": build(
        _TWO, f"{_OR} a.x IN (SELECT 2 FROM t1 AS b WHERE b.z > 6) OR 3 IN (SELECT c.x FROM t1 AS c)", _MEMBERS, *_MOVED
    ),
    "IN below OR below AND below OR": build(
        _TWO, f"{_OR} (a.k < 4 AND (a.x IN (SELECT b.x FROM t1 AS b) OR a.y IN (SELECT c.z FROM t1 AS c)))", _MEMBERS, *_MOVED
    ),
    "NOT IN below OR": build(_TWO, f"{_OR} a.x NOT IN (SELECT b.x FROM t1 AS b)", _MEMBERS, *_MOVED, *_WITHOUT_NULLS),
    "NOT IN below OR without NULLs in the query": build(
        _TWO, f"{_OR} a.x NOT IN (SELECT b.x FROM t1 AS b WHERE b.x IS NOT NULL)", _MEMBERS, *_MOVED, *_WITHOUT_NULLS
    ),
    "NOT IN below OR of a value that is not NULL": build(
        _TWO,
        "SELECT a.k AS c0, a.x AS c1 FROM t0 AS a WHERE a.x IS NOT NULL AND (a.y = 9 OR a.x NOT IN (SELECT b.x FROM t1 AS b))",
        _MEMBERS,
        *_MOVED,
        *_WITHOUT_NULLS,
    ),
    "NOT IN below OR that is correlated, too": build(
        _TWO, f"{_OR} a.x NOT IN (SELECT b.x FROM t1 AS b WHERE b.z = a.y)", _MEMBERS, *_MOVED, *_WITHOUT_NULLS
    ),
    "NOT IN below OR over rows without a key": build(
        "t0(k int, x int, y int; k)\nt1(x int, z int)",
        f"{_OR} a.x NOT IN (SELECT b.x FROM t1 AS b WHERE b.z > 0)",
        {"t0": _MEMBERS["t0"], "t1": [(1, 1), (1, 1), (2, 0), (None, 0)]},
        {"t1": [(1, 1), (None, 1), (None, 1), (2, 2), (2, 2)]},
        {"t1": [(2, 0), (None, 1)]},
        {"t0": [(1, 2, 5), (2, None, 9), (3, 3, 5)], "t1": [(3, 1), (3, 1)]},
        {"t1": []},
        {"t1": [(None, 1)]},
    ),
    "NOT IN below OR over groups": build(
        _TWO, f"{_OR} a.x NOT IN (SELECT b.x FROM t1 AS b GROUP BY b.x HAVING count(*) > 1)", _MEMBERS, *_MOVED, *_WITHOUT_NULLS
    ),
    "NOT IN below OR over a union": build(
        _TWO, f"{_OR} a.x NOT IN (SELECT b.x FROM t1 AS b UNION ALL SELECT c.z FROM t1 AS c)", _MEMBERS, *_MOVED, *_WITHOUT_NULLS
    ),
    "NOT IN below OR over a constant, and of one": build(
        _TWO,
        f"{_OR} a.x NOT IN (SELECT 2 FROM t1 AS b WHERE b.z > 6) OR 3 NOT IN (SELECT c.x FROM t1 AS c)",
        _MEMBERS,
        *_MOVED,
        *_WITHOUT_NULLS,
    ),
    "NOT IN of several columns that are not NULL": build(
        _TWO,
        "SELECT a.k AS c0 FROM t0 AS a WHERE a.x IS NOT NULL AND a.y IS NOT NULL AND (a.y = 9 OR (a.x, a.y) NOT IN "
        "(SELECT b.x, b.z FROM t1 AS b WHERE b.x IS NOT NULL AND b.z > 0))",
        _MEMBERS,
        *_MOVED,
    ),
    "NOT IN in CASE WHEN": build(
        _TWO,
        "SELECT a.k AS c0, CASE WHEN a.y = 9 OR a.x NOT IN (SELECT b.x FROM t1 AS b) THEN FALSE ELSE TRUE END AS c1 FROM t0 AS a",
        _MEMBERS,
        *_MOVED,
        *_WITHOUT_NULLS,
    ),
    "NOT IN alone in CASE WHEN": build(
        _TWO,
        "SELECT a.k AS c0, CASE WHEN a.x NOT IN (SELECT b.x FROM t1 AS b) THEN 1 ELSE 2 END AS c1 FROM t0 AS a",
        _MEMBERS,
        *_MOVED,
        *_WITHOUT_NULLS,
    ),
    "NOT IN in CASE WHEN that is a condition": build(
        _TWO,
        "SELECT a.k AS c0 FROM t0 AS a WHERE NOT CASE WHEN NOT a.x IN (SELECT b.x FROM t1 AS b) THEN TRUE ELSE FALSE END",
        _MEMBERS,
        *_MOVED,
        *_WITHOUT_NULLS,
    ),
    "NOT IN in if": build(
        _TWO,
        "SELECT a.k AS c0, if(NOT (a.x IN (SELECT b.x FROM t1 AS b)), false, true) AS c1, "
        "if(NOT (NOT (a.x IN (SELECT b.x FROM t1 AS b))), 1, 2) AS c2 FROM t0 AS a",
        _MEMBERS,
        *_MOVED,
        *_WITHOUT_NULLS,
    ),
    "NOT NOT IN below OR": build(
        _TWO,
        f"{_OR} NOT (NOT (a.x IN (SELECT b.x FROM t1 AS b))) OR NOT (NOT (a.k NOT IN (SELECT b.x FROM t1 AS b)))",
        _MEMBERS,
        *_MOVED,
        *_WITHOUT_NULLS,
    ),
    "groups of rows with NOT IN below OR": build(
        _TWO,
        "SELECT a.y AS c0, count(*) AS c1, sum(a.k) AS c2 FROM t0 AS a "
        "WHERE a.y = 9 OR a.x NOT IN (SELECT b.x FROM t1 AS b) GROUP BY a.y",
        _MEMBERS,
        *_MOVED,
        *_WITHOUT_NULLS,
    ),
    "NOT IN below OR in a test": build(
        _THREE,
        "SELECT c.k AS c0, c.w AS c1 FROM t2 AS c WHERE NOT EXISTS (SELECT 1 FROM t0 AS a WHERE a.k = c.x "
        "AND (a.y = 9 OR a.x NOT IN (SELECT b.x FROM t1 AS b)))",
        {**_MEMBERS, "t2": [(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, None, 4)]},
        *_MOVED,
        *_WITHOUT_NULLS,
    ),
    "IN and NOT IN as values where nothing is NULL": build(
        _TWO,
        f"SELECT a.k AS c0, {_IN} AS c1, {_IN.replace('IN', 'NOT IN', 1)} AS c2, NOT ({_IN} OR a.y = 1) AS c3, "
        f"({_IN}) = (a.k > 2) AS c4, ({_IN}) IS NULL AS c5, coalesce({_IN}, a.k > 1) AS c6 FROM t0 AS a WHERE a.x IS NOT NULL",
        _MEMBERS,
        *_MOVED,
        *_WITHOUT_NULLS,
    ),
    "a condition on IN as a value where nothing is NULL": build(
        _TWO,
        f"SELECT a.k AS c0 FROM t0 AS a WHERE a.x IS NOT NULL AND NOT (a.y = 9 OR {_IN}) AND ({_IN}) <=> (a.k < 0)",
        _MEMBERS,
        *_MOVED,
        *_WITHOUT_NULLS,
    ),
    "IN in CASE WHEN": build(
        _TWO,
        "SELECT a.k AS c0, CASE WHEN a.y = 9 OR a.x IN (SELECT b.x FROM t1 AS b) THEN FALSE ELSE TRUE END AS c1 FROM t0 AS a",
        _MEMBERS,
        *_MOVED,
    ),
    "a condition on a CASE WHEN with IN": build(
        _TWO,
        "SELECT a.k AS c0 FROM t0 AS a WHERE NOT CASE WHEN a.x IN (SELECT b.x FROM t1 AS b) THEN TRUE ELSE FALSE END",
        _MEMBERS,
        *_MOVED,
    ),
    "a sum of CASE WHEN with IN": build(
        _TWO,
        "SELECT a.y AS c0, sum(CASE WHEN a.x IN (SELECT b.x FROM t1 AS b) THEN 1 ELSE 0 END) AS c1 FROM t0 AS a GROUP BY a.y",
        _MEMBERS,
        *_MOVED,
    ),
    "groups of rows with IN below OR": build(
        _TWO,
        "SELECT a.y AS c0, count(*) AS c1, sum(a.k) AS c2 FROM t0 AS a WHERE a.y = 9 OR a.x IN (SELECT b.x FROM t1 AS b) "
        "GROUP BY a.y",
        _MEMBERS,
        *_MOVED,
    ),
    "IN below OR in a test": build(
        _THREE,
        "SELECT c.k AS c0, c.w AS c1 FROM t2 AS c WHERE NOT EXISTS (SELECT 1 FROM t0 AS a WHERE a.k = c.x "
        "AND (a.y = 9 OR a.x IN (SELECT b.x FROM t1 AS b)))",
        {**_MEMBERS, "t2": [(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, None, 4)]},
        *_MOVED,
    ),
    "a value that is looked up": build(_TWO, f"SELECT a.k AS c0, {_LOOKED_UP} AS c1 FROM t0 AS a", _MEMBERS, *_MOVED),
    "a value that is looked up where another condition holds": build(
        _TWO,
        "SELECT a.k AS c0, (SELECT coalesce(b.z, 0) FROM t1 AS b WHERE b.k = a.x AND b.x > 1) AS c1 FROM t0 AS a",
        _MEMBERS,
        *_MOVED,
    ),
    "a constant of the row that is looked up": build(
        _TWO, "SELECT a.k AS c0, (SELECT 7 FROM t1 AS b WHERE b.k = a.x) AS c1, a.y AS c2 FROM t0 AS a", _MEMBERS, *_MOVED
    ),
    "a condition on a value that is looked up": build(
        _TWO, f"SELECT a.k AS c0, a.y AS c1 FROM t0 AS a WHERE {_LOOKED_UP} > 5 OR {_LOOKED_UP} IS NULL", _MEMBERS, *_MOVED
    ),
    "a condition that is true for no NULL on a value that is looked up": build(
        _TWO, f"SELECT a.k AS c0, a.y AS c1 FROM t0 AS a WHERE {_LOOKED_UP} > 5", _MEMBERS, *_MOVED
    ),
    "groups with a value that is looked up": build(
        _TWO,
        f"SELECT a.x AS c0, {_LOOKED_UP} AS c1, count(*) AS c2, sum(a.y) AS c3 FROM t0 AS a GROUP BY 1, 2",
        _MEMBERS,
        *_MOVED,
    ),
    "a sum of values that are looked up": build(
        _TWO, f"SELECT a.y AS c0, sum({_LOOKED_UP}) AS c1, count(*) AS c2 FROM t0 AS a GROUP BY a.y", _MEMBERS, *_MOVED
    ),
    "a value that is looked up for rows without a key": build(
        "t0(x int, y int)\nt1(k int, x int, z int; k)",
        f"SELECT a.y AS c0, {_LOOKED_UP} AS c1 FROM t0 AS a",
        {"t0": [(1, 1), (1, 1), (2, 1), (None, 1)], "t1": [(1, 1, 5)]},
        {"t1": [(1, 1, 6), (2, 2, 7)]},
        {"t0": [(1, 1), (2, 1), (2, 1)], "t1": [(2, 2, None)]},
        {"t1": []},
    ),
    "the row of a fixed key": build(
        _TWO, "SELECT a.k AS c0, (SELECT b.z FROM t1 AS b WHERE b.k = 2) AS c1, a.y AS c2 FROM t0 AS a", _MEMBERS, *_MOVED
    ),
    "the only row of a subquery that may have several": build(
        "t0(k int, x int; k)\nt1(x int, z int)",
        "SELECT a.k AS c0, (SELECT b.z FROM t1 AS b WHERE b.x = 1) AS c1 FROM t0 AS a "
        "WHERE a.x = (SELECT DISTINCT b.z FROM t1 AS b WHERE b.x = 2)",
        {"t0": [(1, 5), (2, 6), (3, None)], "t1": [(1, 5), (2, 6), (2, 6), (3, 1), (3, 2)]},
        {"t1": [(1, 7), (2, 5), (3, 1), (3, 2)]},
        {"t0": [(1, 5), (2, 5), (4, 6)], "t1": [(1, None), (2, 5), (2, 5)]},
        {"t1": [(2, 6), (3, 6)]},
        {"t1": [(1, 1), (2, None)]},
        {"t0": [(2, 5), (4, 6), (5, 6)], "t1": [(1, 2), (2, 6)]},
    ),
    "the first row": build(
        _TWO, "SELECT a.k AS c0, (SELECT b.z FROM t1 AS b ORDER BY b.k LIMIT 1) AS c1 FROM t0 AS a", _MEMBERS, *_MOVED
    ),
    "a value of a CTE of one row": build(
        _TWO,
        "WITH w AS (SELECT max(b.z) AS m FROM t1 AS b) SELECT a.k AS c0, (SELECT w.m FROM w) AS c1, "
        "(SELECT DISTINCT w.m FROM w WHERE w.m > 6) AS c2 FROM t0 AS a WHERE a.y >= (SELECT w.m FROM w) - 5",
        _MEMBERS,
        *_MOVED,
    ),
    "the count of the group that is looked up": build(
        _TWO,
        "SELECT a.k AS c0, (SELECT count(*) FROM t1 AS b WHERE b.x = a.x GROUP BY b.x) AS c1, a.y AS c2 FROM t0 AS a",
        _MEMBERS,
        *_MOVED,
    ),
    "the count of the group that is looked up and that HAVING keeps": build(
        _TWO,
        "SELECT a.k AS c0, (SELECT count(*) + 1 FROM t1 AS b WHERE b.x = a.x GROUP BY b.x HAVING count(*) > 1) AS c1 "
        "FROM t0 AS a",
        _MEMBERS,
        *_MOVED,
    ),
    "a group of a derived table that is looked up": build(
        _TWO,
        "SELECT a.k AS c0, (SELECT g.n FROM (SELECT b.x AS x, count(*) AS n, sum(b.z) AS s FROM t1 AS b GROUP BY b.x) AS g "
        "WHERE g.x = a.x AND g.s > 5) AS c1 FROM t0 AS a",
        _MEMBERS,
        *_MOVED,
    ),
    "a value that is looked up over two tables": build(
        _THREE,
        "SELECT a.k AS c0, (SELECT c.w FROM t1 AS b JOIN t2 AS c ON b.x = c.k WHERE b.k = a.x) AS c1 FROM t0 AS a",
        {**_MEMBERS, "t2": [(1, 1, 7), (2, 2, None)]},
        {"t2": [(1, 1, 8), (3, 3, 9)]},
        *_MOVED,
        {"t2": []},
    ),
}

_LATERAL = "SELECT a.k AS c0, a.y AS c1, l.v AS c2 FROM t0 AS a"
LATERALS = {
    "rows of a lateral subquery": build(
        _TWO, f"{_LATERAL}, LATERAL (SELECT b.z + 1 AS v FROM t1 AS b WHERE b.x = a.x AND b.z > a.k) AS l", _MEMBERS, *_MOVED
    ),
    "rows of a lateral subquery, and rows without one": build(
        _TWO, f"{_LATERAL} LEFT JOIN LATERAL (SELECT coalesce(b.z, 0) AS v FROM t1 AS b WHERE b.x = a.x) AS l", _MEMBERS, *_MOVED
    ),
    "rows of a lateral subquery under ON, and rows without one": build(
        _TWO,
        f"{_LATERAL} LEFT JOIN LATERAL (SELECT 7 AS v, b.z FROM t1 AS b WHERE b.x <= a.x) AS l ON l.z > 5",
        _MEMBERS,
        *_MOVED,
    ),
    "the group of a lateral subquery": build(
        _TWO,
        "SELECT a.k AS c0, l.n AS c1, l.m AS c2, l.o AS c3 FROM t0 AS a, LATERAL (SELECT count(*) AS n, max(b.z) AS m, "
        "count(b.z) + 1 AS o FROM t1 AS b WHERE b.x = a.x) AS l",
        _MEMBERS,
        *_MOVED,
    ),
    "the group of a lateral subquery on the right of LEFT JOIN": build(
        _TWO, f"{_LATERAL} LEFT JOIN LATERAL (SELECT count(*) AS v FROM t1 AS b WHERE b.x = a.x) AS l", _MEMBERS, *_MOVED
    ),
    "the group of a lateral subquery under ON": build(
        _TWO, f"{_LATERAL} JOIN LATERAL (SELECT count(*) AS v FROM t1 AS b WHERE b.x = a.x) AS l ON l.v < 2", _MEMBERS, *_MOVED
    ),
    "groups of a lateral subquery": build(
        _TWO,
        f"{_LATERAL} LEFT JOIN LATERAL (SELECT b.z AS z, count(*) + 1 AS v FROM t1 AS b WHERE b.x = a.x GROUP BY b.z) AS l",
        _MEMBERS,
        *_MOVED,
    ),
    "the group of a lateral subquery that HAVING may remove": build(
        _TWO, f"{_LATERAL} LEFT JOIN LATERAL (SELECT count(*) AS v FROM t1 AS b HAVING count(*) > 3) AS l", _MEMBERS, *_MOVED
    ),
    "a lateral subquery over a lateral one": build(
        _THREE,
        "SELECT a.k AS c0, l.v AS c1, m.w AS c2 FROM t0 AS a, LATERAL (SELECT b.z AS v FROM t1 AS b WHERE b.x = a.x) "
        "AS l LEFT JOIN LATERAL (SELECT max(c.w) AS w FROM t2 AS c WHERE c.x = l.v) AS m",
        {**_MEMBERS, "t2": [(1, 5, 7), (2, 6, None), (3, 7, 8)]},
        {"t2": [(1, 6, 8), (3, 7, 9)]},
        *_MOVED,
        {"t2": []},
    ),
    "distinct rows of a lateral subquery": build(
        _TWO, f"{_LATERAL} CROSS JOIN LATERAL (SELECT DISTINCT b.x AS v FROM t1 AS b) AS l WHERE l.v > a.x", _MEMBERS, *_MOVED
    ),
}

WINDOWS = {
    "a row of a partition is inserted": build(
        _ONE,
        _RANKED,
        _PARTITIONS,
        {"t0": [*_PARTITIONS["t0"], (6, 1, 9), (7, 3, 1)]},
        {"t0": [*_PARTITIONS["t0"], (6, 1, 9), (7, 3, 1), (8, None, 5)]},
    ),
    "a row of a partition is deleted": build(
        _ONE, _RANKED, _PARTITIONS, {"t0": [(1, 1, 1), (3, 2, 2), (5, None, 9)]}, {"t0": [(5, None, 9)]}, {"t0": []}
    ),
    "rows of a partition change their order": build(
        _ONE,
        _RANKED,
        _PARTITIONS,
        {"t0": [(1, 1, 9), (2, 1, 5), (3, 2, 3), (4, None, 10), (5, None, 9)]},
        {"t0": [(1, 1, None), (2, 1, None), (3, 2, 3), (4, None, 10), (5, None, None)]},
    ),
    "a row moves to another partition, which is no column of the view": build(
        _ONE,
        _RANKED,
        _PARTITIONS,
        {"t0": [(1, 2, 1), (2, 1, 5), (3, 2, 2), (4, 1, 4), (5, None, 9)]},
        {"t0": [(1, None, 1), (2, 1, 5), (3, None, 2), (4, 1, 4), (5, 3, 9)]},
    ),
    "an attribute that no window function reads": build(
        _WIDE,
        _SHARES,
        {"t0": [(1, 1, 1, 1), (2, 1, 2, 2), (3, None, 3, 3)]},
        {"t0": [(1, 1, 1, 7), (2, 1, 2, 2), (3, None, 3, 8)]},
        {"t0": [(1, 2, 1, 7), (2, 1, 2, 9), (3, None, 3, 8)]},
    ),
    "a column that is computed of a window function and of an attribute that it does not read": build(
        _WIDE,
        "SELECT a.k AS c0, a.z + row_number() OVER (PARTITION BY a.x ORDER BY a.y, a.k) AS c1 FROM t0 AS a",
        {"t0": [(1, 1, 3, 10), (2, 1, 2, 20), (3, 1, 1, 30)]},
        {"t0": [(1, 1, 3, 40), (2, 1, 2, 20), (3, 1, 1, 30)]},
        {"t0": [(1, 1, 3, 50), (2, 2, 2, 60), (3, 1, 1, 70)]},
    ),
    "an update and a deletion in one partition": build(
        _WIDE,
        _SHARES,
        {"t0": [(1, 1, 1, 1), (2, 1, 2, 2), (3, 1, 3, 3)]},
        {"t0": [(1, 1, 1, 7), (3, 1, 3, 3)]},
        {"t0": [(1, 1, 1, 8), (3, 1, 3, 3), (4, 1, 4, 4)]},
    ),
    "the latest row of each key": build(
        _ONE,
        _LATEST,
        _PARTITIONS,
        {"t0": [(1, 1, 9), (2, 1, 5), (3, 2, 2), (4, None, 4)]},
        {"t0": [(1, 1, 9), (2, 1, 10), (4, None, 4), (5, None, 4), (6, 3, 1)]},
        {"t0": [(2, 1, 1), (6, 1, 1)]},
    ),
    "a running sum": build(
        _ONE,
        _RUNNING,
        _PARTITIONS,
        {"t0": [*_PARTITIONS["t0"], (0, 1, 7)]},
        {"t0": [(1, 1, None), (2, 1, 5), (3, 2, 2), (5, None, 9)]},
    ),
    "ranks of equal rows without a key": build(
        "t0(x int, y int)",
        "SELECT a.x AS c0, a.y AS c1, rank() OVER (PARTITION BY a.x ORDER BY a.y) AS c2, "
        "sum(a.y) OVER (PARTITION BY a.x) AS c3 FROM t0 AS a",
        {"t0": [(1, 1), (1, 1), (1, 2), (2, None), (None, 3)]},
        {"t0": [(1, 1), (1, 2), (1, 2), (2, None), (2, None)]},
        {"t0": [(None, 3), (None, 3)]},
    ),
    "one partition of all rows": build(
        _ONE,
        "SELECT a.k AS c0, lag(a.y) OVER (ORDER BY a.k) AS c1, a.y AS c2 FROM t0 AS a",
        _PARTITIONS,
        {"t0": [(1, 1, 1), (3, 2, 2), (4, None, 4), (5, None, 8)]},
        {"t0": [(0, 0, 0), (5, None, 8)]},
        {"t0": []},
    ),
    "two windows with names": build(
        _ONE,
        "SELECT a.k AS c0, sum(a.y) OVER w AS c1, sum(a.y) OVER v AS c2 FROM t0 AS a "
        "WINDOW w AS (PARTITION BY a.x), v AS (ORDER BY a.k)",
        _PARTITIONS,
        {"t0": [(1, 1, 3), (2, 2, 5), (3, 2, 2), (4, None, 4)]},
        {"t0": [(3, 2, 1)]},
    ),
    "windows with two partitions": build(
        _ONE,
        "SELECT a.k AS c0, rank() OVER (PARTITION BY a.x ORDER BY a.y) AS c1, count(*) OVER (PARTITION BY a.y) AS c2 "
        "FROM t0 AS a",
        {"t0": [(1, 1, 1), (2, 1, 2), (3, 2, 2), (4, 2, 1)]},
        {"t0": [(1, 1, 1), (2, 2, 2), (3, 2, 1)]},
        {"t0": [(1, 1, 2), (2, 2, 2), (3, 1, 1), (5, 1, 1)]},
    ),
    "a window over a window": build(
        _ONE,
        f"SELECT r.c0, r.c2, count(*) OVER (PARTITION BY r.c2) AS c3 FROM ({_RANKED}) AS r",
        _PARTITIONS,
        {"t0": [(1, 1, 9), (2, 1, 5), (4, None, 4), (5, None, 9), (6, None, 1)]},
        {"t0": [(6, None, 1), (7, 1, 2)]},
    ),
    "a window over groups": build(
        _ONE,
        "SELECT a.x AS c0, rank() OVER (ORDER BY sum(a.y) DESC, a.x) AS c1, sum(sum(a.y)) OVER () AS c2 FROM t0 AS a "
        "GROUP BY a.x",
        _PARTITIONS,
        {"t0": [(1, 1, 1), (3, 2, 9), (4, None, 4), (5, 3, 9)]},
        {"t0": [(1, 1, 5), (4, None, 5)]},
    ),
    "groups over a window": build(
        _ONE,
        f"SELECT r.c2 AS c0, count(*) AS c1, sum(r.c1) AS c2 FROM ({_RANKED}) AS r GROUP BY r.c2",
        _PARTITIONS,
        {"t0": [(1, 1, 9), (2, 2, 5), (3, 2, 2), (5, None, 9)]},
        {"t0": [(3, 2, 2)]},
    ),
    "a window over a join": build(
        _TWO,
        "SELECT a.k AS c0, b.k AS c1, row_number() OVER (PARTITION BY a.x ORDER BY b.z, a.k, b.k) AS c2 FROM t0 AS a "
        "JOIN t1 AS b ON a.x = b.x",
        {"t0": [(1, 1, 1), (2, 1, 2), (3, 2, 3)], "t1": [(1, 1, 5), (2, 1, 4), (3, 2, 1)]},
        {"t0": [(1, 2, 1), (2, 1, 2), (3, 2, 3)], "t1": [(1, 1, 5), (2, 1, 6), (3, 2, 1)]},
        {"t1": [(2, 1, 6)]},
    ),
    "a join with the latest rows": build(
        _TWO,
        f"SELECT b.k AS c0, b.z AS c1, r.c1 AS c2 FROM t1 AS b JOIN ({_LATEST}) AS r ON b.x = r.c0",
        {"t0": [(1, 1, 1), (2, 1, 5), (3, 2, 2)], "t1": [(1, 2, 5), (2, 3, 6), (3, 1, 7)]},
        {"t0": [(1, 1, 9), (2, 1, 5), (3, 2, 2)]},
        {"t1": [(1, 2, 5), (2, 3, 6), (3, 1, 7), (4, 2, 8), (5, 1, 9)]},
        {"t0": [(1, 1, 9), (2, 3, 5)], "t1": [(1, 2, 6), (2, 1, 6), (3, 3, 7)]},
    ),
    "a window over an outer join": build(
        _TWO,
        "SELECT a.k AS c0, b.k AS c1, row_number() OVER (PARTITION BY a.y ORDER BY b.z, a.k, b.k) AS c2 FROM t0 AS a "
        "LEFT JOIN t1 AS b ON a.x = b.x",
        {"t0": [(1, 1, 1), (2, 1, 1), (3, 2, 1)], "t1": [(1, 1, 5), (2, 3, 4)]},
        {"t1": [(1, 2, 5), (2, 1, 4)]},
        {"t0": [(1, 1, 1), (2, 1, 2), (4, None, 1)], "t1": [(2, 1, 3)]},
    ),
    "an outer join with a window": build(
        _TWO,
        f"SELECT b.k AS c0, r.c0 AS c1, r.c2 AS c2 FROM t1 AS b LEFT JOIN ({_RANKED}) AS r ON b.z = r.c2",
        {"t0": [(1, 1, 1), (2, 1, 5), (3, 2, 2)], "t1": [(1, 0, 1), (2, 0, 2), (3, 0, 3)]},
        {"t0": [(1, 1, 9), (2, 1, 5), (3, 1, 2)]},
        {"t0": [(2, 1, 5)], "t1": [(1, 0, 2), (2, 0, 1)]},
    ),
    "rows without a partner in a window": build(
        _TWO,
        f"SELECT b.k AS c0, b.z AS c1 FROM t1 AS b WHERE NOT EXISTS (SELECT 1 FROM ({_RANKED}) AS r WHERE r.c2 = b.z)",
        {"t0": [(1, 1, 1), (2, 1, 5), (3, 2, 2)], "t1": [(1, 0, 1), (2, 0, 2), (3, 0, 3)]},
        {"t0": [(1, 1, 9), (3, 2, 2)]},
        {"t0": [(1, 1, 9), (2, 1, 1), (3, 1, 2)], "t1": [(1, 0, 3), (3, 0, 3)]},
    ),
    "rows without a partner among the sums of a window": build(
        _TWO,
        "SELECT b.k AS c0, b.z AS c1 FROM t1 AS b WHERE NOT EXISTS (SELECT 1 FROM (SELECT a.k, sum(a.y) OVER "
        "(PARTITION BY a.x) AS s FROM t0 AS a) AS r WHERE r.s = b.z)",
        {"t0": [(1, 1, 1), (2, 1, 5)], "t1": [(1, 0, 6), (2, 0, 8), (3, 0, 13)]},
        {"t0": [(1, 1, 1), (3, 1, 7)]},
        {"t0": [(1, 1, 6), (3, 2, 7)]},
    ),
    "a union of windows": build(
        _ONE,
        f"{_RANKED} UNION ALL {_RANKED.replace('a.x', 'a.y').replace('a.y AS', 'a.x AS')}",
        _PARTITIONS,
        {"t0": [(1, 1, 5), (2, 2, 5), (3, 2, 2), (5, None, 9)]},
        {"t0": [(1, None, 2), (2, 2, 5)]},
    ),
    "different rows of a window": build(
        _ONE,
        "SELECT DISTINCT a.x AS c0, max(a.y) OVER (PARTITION BY a.x) AS c1 FROM t0 AS a",
        _PARTITIONS,
        {"t0": [(1, 1, 5), (2, 1, 5), (4, None, 4), (5, None, 1)]},
        {"t0": [(1, 1, 3), (2, 1, 1)]},
    ),
    "a window over rows that have a partner": build(
        _TWO,
        "SELECT a.k AS c0, rank() OVER (PARTITION BY a.y ORDER BY a.k) AS c1 FROM t0 AS a WHERE EXISTS "
        "(SELECT 1 FROM t1 AS b WHERE b.x = a.x)",
        {"t0": [(1, 1, 1), (2, 2, 1), (3, 1, 1)], "t1": [(1, 1, 1)]},
        {"t1": [(1, 2, 1)]},
        {"t0": [(1, 1, 1), (2, 2, 2), (3, 2, 1)], "t1": [(1, 2, 1), (2, 1, 1)]},
    ),
    "a condition on the partition": build(
        _ONE,
        "SELECT r.c0, r.c2 FROM (SELECT a.k AS c0, a.x AS c1, rank() OVER (PARTITION BY a.x ORDER BY a.y) AS c2 "
        "FROM t0 AS a) AS r WHERE r.c1 = 1",
        _PARTITIONS,
        {"t0": [(1, 1, 9), (2, 1, 5), (3, 1, 2), (4, None, 4)]},
        {"t0": [(3, 2, 2), (2, 1, 5)]},
    ),
    "a condition on the rows of a partition": build(
        _ONE,
        f"SELECT r.c0, r.c2 FROM ({_RANKED}) AS r WHERE r.c1 < 4",
        _PARTITIONS,
        {"t0": [*_PARTITIONS["t0"], (6, 1, 9)]},
        {"t0": [(1, 1, 1), (3, 2, 2), (4, None, 4), (5, None, 3), (6, 1, 9)]},
    ),
}

_SOLD = "t0(k int, x int, y int, z int; k)"


def first_rows(count: int, shown: str = "", order: str = "a.y DESC, a.k", condition: str = "", source: str = "t0 AS a") -> str:
    """The first rows of each partition by x."""
    return (
        f"SELECT r.k, r.x{shown} FROM (SELECT a.*, row_number() OVER (PARTITION BY a.x ORDER BY {order}) AS n "
        f"FROM {source}) AS r WHERE r.n <= {count}{condition}"
    )


_QUEUES = {"t0": [(1, 1, 9, 0), (2, 1, 5, 0), (3, 1, 1, 0), (4, 2, 3, 0), (5, None, 2, 0), (6, None, 1, 0)]}
_PLACED = (
    "SELECT r.k, r.l, r.n FROM (SELECT a.k, b.k AS l, row_number() OVER (PARTITION BY a.x ORDER BY b.z DESC, a.k, b.k) "
    "AS n FROM t0 AS a JOIN t1 AS b ON a.y = b.x) AS r WHERE r.n <= 2"
)

FIRST_ROWS = {
    "the first row of a partition goes": build(
        _SOLD,
        first_rows(1, ", r.z"),
        _QUEUES,
        {"t0": _QUEUES["t0"][1:]},
        {"t0": [(3, 1, 1, 0), (6, None, 1, 7)]},
        {"t0": []},
        _QUEUES,
    ),
    "the first row goes, and a row comes after the next one": build(
        _SOLD,
        first_rows(1),
        _QUEUES,
        {"t0": [*_QUEUES["t0"][1:], (7, 1, 0, 0)]},
        {"t0": [(3, 1, 1, 0), (4, 2, 1, 0), (8, 2, 0, 0), (7, 1, 0, 0)]},
    ),
    "two of the first rows go, one of three that come is among them": build(
        _SOLD,
        first_rows(2, ", r.n"),
        {"t0": [*_QUEUES["t0"], (9, 1, 3, 0)]},
        {"t0": [*_QUEUES["t0"][2:], (9, 1, 3, 0), (7, 1, 4, 0), (8, 1, 2, 0), (10, 1, 0, 0)]},
    ),
    "a partition of few rows loses one": build(
        _SOLD,
        first_rows(3, ", r.z, r.n"),
        _QUEUES,
        {"t0": [*_QUEUES["t0"][:3], (6, None, 1, 0)]},
        {"t0": [(2, 1, 5, 0), (3, 1, 1, 0), (7, 1, None, 1)]},
        {"t0": [(3, 1, 1, 0)]},
    ),
    "a row comes before the first ones": build(
        _SOLD,
        first_rows(2, ", r.n"),
        _QUEUES,
        {"t0": [*_QUEUES["t0"], (7, 1, 10, 0), (8, 2, 9, 0), (9, None, None, 0), (10, 3, 1, 0)]},
        {"t0": [*_QUEUES["t0"], (7, 1, 10, 0), (8, 2, 9, 0), (9, None, 9, 0), (0, 1, 10, 0)]},
    ),
    "values of the first rows that they are not ranked by": build(
        _SOLD,
        first_rows(2, ", r.z"),
        _QUEUES,
        {"t0": [(k, x, y, 7) for k, x, y, _ in _QUEUES["t0"]]},
        {"t0": [(k, x, y, k % 2) for k, x, y, _ in _QUEUES["t0"]]},
    ),
    "first rows move to another partition, and to none": build(
        _SOLD,
        first_rows(1, ", r.z"),
        _QUEUES,
        {"t0": [(1, 2, 9, 1), (2, None, 5, 0), *_QUEUES["t0"][2:]]},
        {"t0": [(1, None, 9, 1), (2, 1, 5, 0), (3, 2, 1, 0), (4, 1, 6, 0)]},
        _QUEUES,
    ),
    "first rows by mixed orders with NULLs": build(
        _SOLD,
        first_rows(2, ", r.n, r.z", "a.y DESC NULLS FIRST, a.z NULLS LAST, a.k DESC"),
        {"t0": [(1, 1, None, None), (2, 1, None, 1), (3, 1, 1, None), (4, 2, 3, 0)]},
        {"t0": [(1, 1, None, 5), (2, 1, 7, 1), (3, 1, None, None), (4, 2, None, 0), (5, 2, None, 0)]},
        {"t0": [(1, 1, 2, 5), (3, 1, None, None), (4, 2, 0, 0), (5, 2, 0, None), (6, 2, 0, 0)]},
    ),
    "both partners of a first row change": build(
        _TWO,
        _PLACED,
        {"t0": [(1, 1, 1), (2, 1, 2), (3, 1, 3)], "t1": [(1, 1, 9), (2, 2, 5), (3, 3, 4)]},
        {"t0": [(1, 1, 1), (2, 1, 2), (3, 2, 3)], "t1": [(1, 1, 1), (2, 2, 5), (3, 3, 8)]},
        {"t0": [(1, 2, 1), (2, 2, 2), (3, 1, 3)], "t1": [(1, 1, 7), (2, 2, 0), (3, 3, 0)]},
    ),
    "a first row gets a partner that excludes it": build(
        f"{_SOLD}\nt1(k int; k)",
        first_rows(1, source="t0 AS a WHERE NOT EXISTS (SELECT 1 FROM t1 AS b WHERE b.k = a.k)"),
        {**_QUEUES, "t1": [(2,)]},
        {"t1": [(1,), (2,)]},
        {"t1": [(4,)]},
    ),
    "first rows, and a condition on their values": build(
        _SOLD,
        first_rows(2, ", r.y", condition=" AND r.y < 6"),
        _QUEUES,
        {"t0": [*_QUEUES["t0"], (7, 1, 7, 0), (8, 1, 4, 0)]},
        {"t0": [(3, 1, 1, 0), (7, 1, 7, 0), (8, 1, 4, 0)]},
    ),
    "first rows of some partitions": build(
        _SOLD,
        first_rows(1, ", r.y", condition=" AND r.x > 1"),
        _QUEUES,
        {"t0": [*_QUEUES["t0"], (7, 2, 7, 0), (8, 1, 14, 0)]},
        {"t0": [(3, 1, 1, 0), (7, 1, 7, 0), (8, 2, 14, 0)]},
    ),
    "the second row of a partition": build(
        _SOLD,
        first_rows(9, ", r.y", condition=" AND r.n = 2"),
        _QUEUES,
        {"t0": [*_QUEUES["t0"], (7, 1, 7, 0)]},
        {"t0": [(3, 1, 1, 0), (7, 1, 7, 0), (8, 2, 14, 0)]},
    ),
    "what is computed of first rows, and fails on others": build(
        "t0(k int, x int, y int, s string; k)",
        first_rows(1, ", CAST(r.s AS INT) AS v"),
        {"t0": [(1, 1, 9, "5"), (2, 1, 5, "a"), (3, 2, 1, "6")]},
        {"t0": [(1, 1, 9, "5"), (2, 1, 4, "b"), (4, 1, 1, "c"), (3, 2, 1, "7")]},
        {"t0": [(4, 1, 1, "8"), (5, 1, 0, "d")]},
    ),
    "first rows of groups": build(
        _SOLD,
        "SELECT r.x, r.z, r.s, r.n FROM (SELECT a.x, a.z, sum(a.y) AS s, row_number() OVER (PARTITION BY a.x ORDER BY "
        "sum(a.y) DESC, a.z) AS n FROM t0 AS a GROUP BY a.x, a.z) AS r WHERE r.n < 3",
        _QUEUES,
        {"t0": [(1, 1, 9, 0), (2, 1, 5, 1), (3, 1, 1, 2), (4, 2, 3, 0), (5, None, 2, 0)]},
        {"t0": [(1, 1, 0, 0), (2, 1, 5, 2), (3, 1, 1, 2), (4, 2, 3, 3), (6, 2, 4, 2)]},
    ),
}


def running(shown: str = "sum(a.z) OVER (PARTITION BY a.x ORDER BY a.y) AS s", source: str = "t0 AS a") -> str:
    """Running values of each partition by x."""
    return f"SELECT a.k, {shown} FROM {source}"


def over(function: str, order: str = "a.y, a.k", frame: str = "") -> str:
    return f"{function} OVER (PARTITION BY a.x ORDER BY {order} {frame})"


_BOOKED = {"t0": [(1, 1, 1, 5), (2, 1, 2, None), (3, 1, 2, 7), (4, 2, 1, None), (5, None, 3, 2), (6, None, None, 1)]}
_ALL_CALLS = ", ".join(
    (
        f"{over('sum(a.z)', frame='ROWS UNBOUNDED PRECEDING')} AS s",
        f"{over('count(a.z)')} AS c",
        f"{over('count(*)')} AS d",
        f"{over('min(a.z)')} AS lo",
        f"{over('max(a.z)')} AS hi",
        f"{over('row_number()')} AS n",
    )
)


def booked(*rows: tuple[int | None, ...]) -> dict[str, list[tuple[int | None, ...]]]:
    return {"t0": [*_BOOKED["t0"], *rows]}


_IN_ORDER = booked((7, 1, 3, 1), (8, 1, 3, None), (9, 2, 4, None), (10, 3, 1, 5), (11, None, 9, 1))

TAILS = {
    "rows come last in their partitions, or in new ones": build(
        _SOLD,
        running(_ALL_CALLS),
        _BOOKED,
        _IN_ORDER,
        {"t0": [*_IN_ORDER["t0"], (12, 2, 5, 3), (13, 2, 5, 9), (14, 1, 7, 0), (15, 4, None, None), (16, 4, None, 8)]},
    ),
    "rows come last, by an order that has equal rows": build(
        _SOLD, running(), _BOOKED, _IN_ORDER, {"t0": [*_IN_ORDER["t0"], (12, 1, 4, 3), (13, 1, 4, 9)]}
    ),
    "a row comes before the last one, others come last": build(
        _SOLD,
        running(_ALL_CALLS),
        _BOOKED,
        booked((7, 1, 1, 3), (8, 1, 9, 2), (9, 2, 4, None), (10, 3, 1, 5)),
        booked((7, 1, 1, 3), (8, 1, 9, 2), (9, 2, 4, None), (10, 3, 1, 5), (11, 2, 0, 1), (12, 3, 0, 1), (13, None, 9, 9)),
    ),
    "a row comes that the order does not distinguish from the last one": build(
        _SOLD, running(), _BOOKED, booked((7, 1, 2, 1)), booked((7, 1, 2, 1), (8, None, 3, 1), (9, 2, 2, 2))
    ),
    "rows come last in a descending order": build(
        _SOLD,
        running(f"{over('sum(a.z)', 'a.y DESC NULLS LAST, a.k DESC')} AS s"),
        _BOOKED,
        booked((0, 1, 1, 1), (7, 2, 0, 4)),
        booked((0, 1, 1, 1), (7, 2, 0, 4), (8, 1, None, 1), (9, None, 2, 2)),
    ),
    "the last row by NULL": build(
        _SOLD,
        running(f"{over('max(a.z)', 'a.y NULLS LAST, a.k')} AS s"),
        _BOOKED,
        booked((7, None, 9, 8)),
        booked((7, None, 9, 8), (8, None, None, 9)),
    ),
    "the last row by NULL, of two orders": build(
        _SOLD,
        running(f"{over('sum(a.z)', 'a.y NULLS LAST, a.z DESC NULLS FIRST, a.k')} AS s"),
        _BOOKED,
        booked((7, None, None, 9), (8, 1, 2, 7)),
        booked((7, None, None, 9), (8, 1, 2, 7), (9, None, None, 1), (10, 1, 2, 6)),
    ),
    "running values of NULLs": build(
        _SOLD,
        running(_ALL_CALLS),
        {"t0": [(1, 1, 1, None)]},
        {"t0": [(1, 1, 1, None), (2, 1, 2, None)]},
        {"t0": [(1, 1, 1, None), (2, 1, 2, None), (3, 1, 3, 4), (4, 1, 4, None), (5, 1, 5, -2)]},
    ),
    "a row in the middle goes": build(
        _SOLD, running(_ALL_CALLS), _BOOKED, {"t0": [*_BOOKED["t0"][1:], (7, 1, 3, 1)]}, {"t0": [(2, 1, 2, 4), (3, 1, 2, 7)]}
    ),
    "rows change, move and come last": build(
        _SOLD,
        running(_ALL_CALLS),
        _BOOKED,
        {"t0": [(1, 2, 1, 5), *_BOOKED["t0"][1:], (7, 1, 3, 1)]},
        {"t0": [(1, 2, 1, 6), *_BOOKED["t0"][1:], (7, 1, 3, 1), (8, 2, 9, 1)]},
    ),
    "a column that no running value reads changes, and a row comes": build(
        _SOLD,
        "SELECT a.k, a.z, count(*) OVER (PARTITION BY a.x ORDER BY a.y) AS c FROM t0 AS a",
        _BOOKED,
        {"t0": [(1, 1, 1, 6), *_BOOKED["t0"][1:], (7, 1, 3, 1)]},
    ),
    "what is computed of a running value, and fails on a wrong one": build(
        _SOLD,
        running(f"12 / {over('sum(a.z)')} AS q"),
        {"t0": [(1, 1, 2, 4)]},
        {"t0": [(1, 1, 2, 4), (2, 1, 3, 2)]},
        {"t0": [(1, 1, 2, 4), (2, 1, 3, 2), (3, 1, 1, 7), (4, 1, 4, -6)]},
    ),
    "running values of some partitions": build(
        _SOLD,
        f"SELECT r.k, r.s FROM (SELECT a.*, {over('sum(a.z)')} AS s FROM t0 AS a) AS r WHERE r.x > 1",
        _BOOKED,
        _IN_ORDER,
        {"t0": [*_IN_ORDER["t0"], (12, 2, 5, 3), (13, 1, 0, 9)]},
    ),
    "a condition on a running value": build(
        _SOLD,
        f"SELECT r.k, r.s FROM (SELECT a.*, {over('sum(a.z)')} AS s FROM t0 AS a) AS r WHERE r.s < 9",
        _BOOKED,
        _IN_ORDER,
        {"t0": [*_IN_ORDER["t0"], (12, 1, 5, -9), (13, 1, 6, 1)]},
    ),
    "a condition on rows that have a running value": build(
        _SOLD,
        f"SELECT r.k, r.s FROM (SELECT a.*, {over('sum(a.z)')} AS s FROM t0 AS a) AS r WHERE r.z < 9",
        _BOOKED,
        booked((7, 1, 3, 9), (8, 2, 4, 1)),
        booked((7, 1, 3, 9), (8, 2, 4, 1), (9, 1, 4, 1)),
    ),
    "a row of a new partition, before all others": build(
        _SOLD, running(_ALL_CALLS), _BOOKED, {"t0": [(0, 7, 1, 1), *_BOOKED["t0"]]}
    ),
    "running values in two orders": build(
        _SOLD, running(f"a.z, {over('sum(a.z)')} AS s, {over('row_number()', 'a.z, a.k')} AS n"), _BOOKED, _IN_ORDER
    ),
    "sums of two rows, and of whole partitions": build(
        _SOLD,
        running(
            f"{over('sum(a.z)', frame='ROWS BETWEEN 1 PRECEDING AND CURRENT ROW')} AS s, "
            f"{over('count(*)', frame='RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING')} AS c"
        ),
        _BOOKED,
        _IN_ORDER,
    ),
    "running values of rows that have a partner": build(
        f"{_SOLD}\nt1(k int, x int; k)",
        running(_ALL_CALLS, "t0 AS a WHERE EXISTS (SELECT 1 FROM t1 AS b WHERE b.x = a.y)"),
        {**_BOOKED, "t1": [(1, 2), (2, 3)]},
        {**_IN_ORDER, "t1": [(1, 2), (2, 3), (3, 9)]},
        {"t1": [(1, 2), (2, 3), (3, 9), (4, 1), (5, 4)]},
    ),
    "running values of rows that get a partner that excludes them": build(
        f"{_SOLD}\nt1(k int; k)",
        running(_ALL_CALLS, "t0 AS a WHERE NOT EXISTS (SELECT 1 FROM t1 AS b WHERE b.k = a.k)"),
        {**_BOOKED, "t1": []},
        {**_IN_ORDER, "t1": [(1,)]},
    ),
    "running values by floats, and of a bag": build(
        "t0(f double, x int, z int)",
        "SELECT a.f, sum(a.z) OVER (PARTITION BY a.x ORDER BY a.f) AS s FROM t0 AS a",
        {"t0": [("0.0", 1, 1), ("1.5", 2, 1)]},
        {"t0": [("0.0", 1, 1), ("-0.0", 1, 5), ("1.5", 2, 1), ("2.5", 2, 1), ("2.5", 2, 1)]},
    ),
    "running values by floats": build(
        "t0(k int, f double, x int, z int; k)",
        running(f"a.f, {over('sum(a.z)', 'a.f')} AS s"),
        {"t0": [(1, "0.0", 1, 1), (2, "1.5", 2, 1)]},
        {"t0": [(1, "0.0", 1, 1), (2, "1.5", 2, 1), (3, "-0.0", 1, 5), (4, "2.5", 2, 1)]},
        {"t0": [(1, "0.0", 1, 1), (2, "1.5", 2, 1), (3, "-0.0", 1, 5), (4, "2.5", 2, 1), (5, "1.0", 1, 5), (6, "0.0", 2, 1)]},
    ),
}

_TAGS = "t0(k int, s string, z int; k)"
_TAGGED = "SELECT a.k AS c0, posexplode(split(a.s, ',')) AS (c1, c2), a.z AS c3 FROM t0 AS a"
_ALL_TAGGED = "SELECT a.k AS c0, posexplode_outer(split(a.s, ',')) AS (c1, c2), a.z AS c3 FROM t0 AS a"
_TAGS_OF = {"t0": [(1, "a,b,c", 5), (2, "a", 6), (3, None, 7), (4, "", 8)]}

ELEMENTS = {
    "rows with elements are inserted and deleted": build(
        _TAGS,
        _TAGGED,
        _TAGS_OF,
        {"t0": [*_TAGS_OF["t0"], (5, "b,b", 9), (6, None, 9)]},
        {"t0": [(2, "a", 6), (5, "b,b", 9)]},
        {"t0": []},
    ),
    "elements change, are fewer, and are more": build(
        _TAGS,
        _TAGGED,
        _TAGS_OF,
        {"t0": [(1, "a,x", 5), (2, "a,b", 6), (3, "d", 7), (4, None, 8)]},
        {"t0": [(1, "x,a", 5), (2, "b,a,a,a", 6), (3, None, 7), (4, "e,e", 8)]},
    ),
    "a column beside the elements changes": build(
        _TAGS,
        _TAGGED,
        _TAGS_OF,
        {"t0": [(1, "a,b,c", 0), (2, "a", None), (3, None, 1), (4, "", 2)]},
        {"t0": [(1, "a", 1), (2, "a", 7), (3, "f", 1), (4, "", 2)]},
    ),
    "rows without elements are kept": build(
        _TAGS,
        _ALL_TAGGED,
        _TAGS_OF,
        {"t0": [(1, None, 5), (2, "a,b", 6), (3, "d,e", 7), (4, None, 8), (5, None, 1)]},
        {"t0": [(1, "g", 5), (2, None, 6), (3, None, 9), (5, None, 2)]},
    ),
    "elements of rows without a key": build(
        "t0(s string, z int)",
        "SELECT posexplode(split(a.s, ',')) AS (c0, c1), a.z AS c2 FROM t0 AS a",
        {"t0": [("a,b", 1), ("a,b", 1), ("c", 2)]},
        {"t0": [("a,b", 1), ("a,b", 1), ("a,b", 1), ("c", 2), ("c", 2)]},
        {"t0": [("a,b", 1), ("c", 3), ("c", 3)]},
        {"t0": []},
    ),
    "a condition on elements": build(
        _TAGS,
        f"SELECT q.c0, q.c2 FROM ({_TAGGED}) AS q WHERE q.c2 > 'a' AND q.c3 < 9",
        _TAGS_OF,
        {"t0": [(1, "b,a,c", 5), (2, "b", 6), (4, "", 9)]},
        {"t0": [(1, "b,a,c", 9), (2, "a,c,d", 6), (3, "z", 1)]},
    ),
    "groups of elements": build(
        _TAGS,
        f"SELECT q.c2 AS c0, count(*) AS c1, sum(q.c3) AS c2 FROM ({_TAGGED}) AS q GROUP BY q.c2",
        _TAGS_OF,
        {"t0": [(1, "a,b,b", 5), (2, "c", 6), (3, "a", 7)]},
        {"t0": [(1, "a,b,b", 6), (3, "a,c", 7)]},
        {"t0": []},
    ),
    "elements are joined": build(
        _TAGS + "\nt1(k int, s string, y int; k)",
        f"SELECT q.c0, q.c1, b.k AS c2, b.y AS c3 FROM ({_TAGGED}) AS q JOIN t1 AS b ON b.s = q.c2",
        {**_TAGS_OF, "t1": [(1, "a", 1), (2, "b", 2), (3, "b", 3)]},
        {"t0": [(1, "a,b,a", 5), (2, "b", 6)], "t1": [(1, "a", 9), (2, "c", 2), (3, "b", 3)]},
        {"t0": [(1, "b,b", 5), (2, "b", 6), (3, "a", 1)]},
        {"t1": [(3, "a", 3), (4, "b", 4)]},
    ),
    "elements of joined rows": build(
        _TAGS + "\nt1(k int, s string, y int; k)",
        "SELECT a.k AS c0, b.k AS c1, posexplode(split(concat(a.s, ',', b.s), ',')) AS (c2, c3) FROM t0 AS a "
        "JOIN t1 AS b ON a.z = b.y",
        {"t0": [(1, "a,b", 1), (2, "c", 2)], "t1": [(1, "x", 1), (2, "y,z", 1)]},
        {"t0": [(1, "a", 1), (2, "c", 1)]},
        {"t1": [(1, "x,x", 1), (2, "y", 2), (3, "w", 1)]},
        {"t0": [(2, "d", 2)]},
    ),
    "elements of groups": build(
        _TAGS,
        "SELECT g.c0, posexplode(sequence(1, g.n)) AS (c1, c2) FROM (SELECT a.z AS c0, count(*) AS n FROM t0 AS a "
        "GROUP BY a.z) AS g",
        {"t0": [(1, "", 1), (2, "", 1), (3, "", 2)]},
        {"t0": [(1, "", 2), (2, "", 1), (3, "", 2), (4, "", 2)]},
        {"t0": [(1, "", 2), (2, "", None)]},
    ),
    "elements of an outer-joined row": build(
        _TAGS + "\nt1(k int, s string, y int; k)",
        "SELECT a.k AS c0, posexplode_outer(split(b.s, ',')) AS (c1, c2) FROM t0 AS a LEFT JOIN t1 AS b ON a.z = b.y",
        {"t0": [(1, "", 1), (2, "", 2)], "t1": [(1, "x,y,z", 1)]},
        {"t1": [(1, "x,y", 1), (2, "w,w,w", 2)]},
        {"t1": [(1, "x", 3), (2, "w", 2)]},
        {"t0": [(1, "", 3), (3, "", 2)], "t1": []},
        {"t1": [(3, "u,v", 3), (4, None, 2)]},
    ),
    "elements of a row that gets and loses its only partner by NOT EXISTS": build(
        _TAGS + "\nt1(k int, s string, y int; k)",
        "SELECT a.k AS c0, posexplode(split(a.s, ',')) AS (c1, c2) FROM t0 AS a WHERE NOT EXISTS (SELECT 1 FROM t1 AS b "
        "WHERE b.y = a.z)",
        {"t0": [(1, "a,b", 1), (2, "c", 2)], "t1": [(1, "x", 1)]},
        {"t1": []},
        {"t0": [(1, "a", 1), (2, "c,d", 2)], "t1": [(2, "x", 2)]},
        {"t0": [(1, "b,c,d", 1), (2, "e", 2)], "t1": [(3, "x", 3)]},
    ),
    "elements of elements": build(
        _TAGS,
        "SELECT q.k AS c0, q.p AS c1, posexplode(split(q.x, '-')) AS (c2, c3) FROM (SELECT a.k, "
        "posexplode(split(a.s, ',')) AS (p, x) FROM t0 AS a) AS q",
        {"t0": [(1, "a-b,c", 1), (2, "d", 1)]},
        {"t0": [(1, "c,a-b-c", 1), (2, "d-e", 1)]},
        {"t0": [(2, "d-f,g", 2), (3, None, 3)]},
    ),
    "ranks of elements": build(
        _TAGS,
        f"SELECT q.c0, q.c2, rank() OVER (PARTITION BY q.c2 ORDER BY q.c3, q.c0, q.c1) AS c1 FROM ({_TAGGED}) AS q",
        _TAGS_OF,
        {"t0": [(1, "b,a", 5), (2, "a", 9), (3, "a,a", 1)]},
        {"t0": [(1, "b,a", 0), (3, "b", 1)]},
    ),
}

# DuckDB has a row for the empty set over no rows: HAVING leaves it out
_SETS_OF = {"t0": [(1, "a", 5), (2, "a", None), (3, None, 7), (4, "b", 5)]}

SETS = {
    "rows move between the groups of sets": build(
        _TAGS,
        "SELECT a.s AS c0, a.z AS c1, count(*) AS c2, sum(a.k) AS c3 FROM t0 AS a GROUP BY ROLLUP (a.s, a.z) HAVING count(*) > 0",
        _SETS_OF,
        {"t0": [(1, "b", 5), (2, "a", 7), (3, "a", None), (4, None, None)]},
        {"t0": [(3, None, None)]},
        {"t0": []},
        _SETS_OF,
    ),
    "an aggregate of what is grouped by in some sets": build(
        _TAGS,
        "SELECT a.z AS c0, sum(a.z) AS c1, max(a.z) AS c2, count(DISTINCT a.s) AS c3 FROM t0 AS a GROUP BY CUBE (a.z) "
        "HAVING count(*) > 0",
        _SETS_OF,
        {"t0": [(1, "b", 9), (2, "a", 7), (3, "c", 7)]},
        {"t0": [(2, None, 7)]},
        {"t0": []},
    ),
    "sets over a join": build(
        "t0(k int, s string, z int; k)\nt1(k int, y int; k)",
        "SELECT a.s AS c0, b.y AS c1, count(*) AS c2, sum(a.z) AS c3 FROM t0 AS a LEFT JOIN t1 AS b ON a.z = b.k "
        "GROUP BY CUBE (a.s, b.y) HAVING count(*) > 0",
        {**_SETS_OF, "t1": [(5, 1), (7, None)]},
        {"t1": [(5, 2), (7, 1), (8, 1)], "t0": [(1, "b", 8), (2, "a", 7), (3, None, 7)]},
        {"t1": []},
        {"t0": [(1, None, 1)]},
    ),
    "sets over a subview that is read for each": build(
        _TAGS,
        "WITH w AS (SELECT b.s, b.z, count(*) AS n FROM t0 AS b GROUP BY b.s, b.z) "
        "SELECT w.s AS c0, w.z AS c1, sum(w.n) AS c2, max(w.z) AS c3 FROM w "
        "GROUP BY ROLLUP (w.s, w.z) HAVING count(*) > 0",
        _SETS_OF,
        {"t0": [(1, "b", 5), (2, "a", 7), (4, "b", 5), (5, "b", 6)]},
        {"t0": []},
        _SETS_OF,
    ),
}

DIRECTED = {
    **FETCHED,
    **SETS,
    **SCALARS,
    **LATERALS,
    **WINDOWS,
    **ELEMENTS,
    # The stored sum is 1, and the one that is computed again (1e16 + 1) - 1e16 = 0.
    "a condition on a sum in another order": build(
        "t0(k int, x int, y double; k)",
        "SELECT a.x AS c0, count(*) AS c1 FROM t0 AS a GROUP BY a.x HAVING sum(a.y) > 0.5D",
        {"t0": [(1, 1, "1e16"), (2, 1, "-1e16"), (3, 1, "1.0")]},
        {"t0": [(1, 1, "1e16"), (2, 1, "-2e16"), (3, 1, "1.0")]},
    ),
    "floats of partners in a condition, with both zeros": build(
        "t0(k int, x int, y double; k)\nt1(k int, t0_k int, z double; k)",
        "SELECT a.k AS c0, a.y AS c1, b.k AS c2, b.z AS c3, b.z * a.y AS c4 FROM t0 AS a LEFT JOIN t1 AS b ON a.k = b.t0_k AND b.z > 0.5D",
        {
            "t0": [(1, 1, "0.0"), (2, 2, "-0.0"), (3, 3, "1e200")],
            "t1": [(1, 1, "1.0"), (2, 2, "2.0"), (3, 2, "0.25"), (4, 3, "1e300")],
        },
        {
            "t0": [(1, 1, "-0.0"), (2, 2, "-0.0"), (3, 3, "1e300")],
            "t1": [(1, 1, "0.0"), (2, 2, "1e200"), (3, 2, "0.75"), (4, 3, "1e300")],
        },
        {"t0": [(1, 1, "0.0"), (3, 4, "1e300")], "t1": [(1, 3, "-0.0"), (2, 2, "2.0"), (3, 1, "0.75"), (5, 3, "0.1")]},
    ),
    "floats beside a count of groups": build(
        "t0(k int, x int, y double; k)\nt1(k int, t0_k int, z double; k)",
        "SELECT a.k AS c0, a.y AS c1, count(b.z) AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON a.k = b.t0_k WHERE a.y < 2D GROUP BY a.k, a.y",
        {"t0": [(1, 1, "0.0"), (2, 2, "-0.0"), (3, 3, "1.5")], "t1": [(1, 1, "1.0"), (2, 2, "2.0"), (3, 2, "0.25")]},
        {"t0": [(1, 1, "-0.0"), (2, 2, "0.5"), (3, 3, "2.5")], "t1": [(1, 1, "1.0"), (3, 2, "0.75"), (4, 3, "1.0")]},
        {"t0": [(1, 1, "0.0"), (3, 3, "1.5"), (4, 4, "1e200")], "t1": [(1, 1, None), (3, 3, "0.75"), (4, 3, "1.0")]},
    ),
    "a row number that nothing reads": build(
        "t0(x int, y int)\nt1(k int, x int, z int; k)",
        "SELECT b.k AS c0, r.y AS c1 FROM t1 AS b JOIN "
        "(SELECT a.x, a.y, row_number() OVER (PARTITION BY a.x ORDER BY a.y) AS n FROM t0 AS a) AS r ON r.x = b.x",
        {"t0": [(1, 5)], "t1": [(1, 1, 0)]},
        {"t0": [(1, 5), (1, 5)], "t1": [(1, 1, 0)]},
        {"t0": [(1, 5)], "t1": [(1, 1, 0)]},
    ),
    "groups over a row number that nothing reads": build(
        "t0(x int, y int)\nt1(k int, x int, z int; k)",
        "SELECT r.x AS c0, count(*) AS c1 FROM (SELECT a.x, b.z, row_number() OVER (PARTITION BY b.z ORDER BY a.y) AS n "
        "FROM t0 AS a JOIN t1 AS b ON b.x = a.x) AS r GROUP BY r.x",
        {"t0": [(1, 5), (1, 5), (2, 1)], "t1": [(1, 1, 0)]},
        {"t0": [(1, 5), (2, 2)], "t1": [(1, 1, 0), (2, 2, 0)]},
        {"t0": [(1, 5), (1, 5), (1, None)], "t1": [(1, 1, 1), (3, 1, 1)]},
    ),
    "a parent is inserted after its children": build(
        "t0(k int, x int; k)\nt1(k int, t0_k int, z int; k)",
        "SELECT a.k AS c0, b.k AS c1, a.x AS c2, b.z AS c3 FROM t0 AS a JOIN t1 AS b ON a.k = b.t0_k",
        {"t0": [], "t1": [(1, 1, 5), (2, 1, 6), (3, 2, 7)]},
        {"t0": [(1, 10)]},
        {"t0": [(1, 10), (2, 20)], "t1": [(2, 2, 6), (3, 2, 7), (4, 3, 8)]},
        {"t0": [(2, 20), (3, 30)]},
    ),
    "the values of a group become NULL, one after the other": build(
        _ONE,
        _GROUPS,
        {"t0": [(1, 1, 5), (2, 1, 3), (3, 2, None)]},
        {"t0": [(1, 1, None), (2, 1, 3), (3, 2, 7)]},
        {"t0": [(1, 1, None), (2, 1, None), (3, 2, None)]},
    ),
    "the last row of a group is deleted": build(
        _ONE, _GROUPS, {"t0": [(1, 1, 5), (2, 2, 3)]}, {"t0": [(1, 1, 5)]}, {"t0": [(1, 2, 5)]}
    ),
    "one of two equal values is deleted": build(
        _ONE,
        "SELECT a.x AS c0, count(DISTINCT a.y) AS c1 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, 5), (2, 1, 5), (3, 1, 6)]},
        {"t0": [(2, 1, 5), (3, 1, 6)]},
        {"t0": [(3, 1, 6)]},
    ),
    "groups lose their extremes, or another of their values": build(
        _ONE,
        _EXTREMES,
        {"t0": [(1, 1, 5), (2, 1, 7), (3, 1, 9), (4, 2, 5), (5, 2, 7), (6, 3, 1), (7, 3, None)]},
        {"t0": [(2, 1, 7), (3, 1, 9), (4, 2, 5), (6, 3, None), (7, 3, None)]},
        {"t0": [(3, 1, 9), (4, 2, 5), (7, 3, 4)]},
    ),
    "a group loses its minimum, and another a value between": build(
        _ONE,
        _EXTREMES,
        {"t0": [(1, 1, 5), (2, 1, 7), (3, 1, 9), (4, 2, 5), (5, 2, 6), (6, 2, 7)]},
        {"t0": [(2, 1, 7), (3, 1, 9), (4, 2, 5), (6, 2, 7), (7, 2, 6), (8, 3, 1)]},
    ),
    "a smaller minimum replaces the one that goes": build(
        _ONE,
        _EXTREMES,
        {"t0": [(1, 1, 5), (2, 1, 7), (3, 1, 9)]},
        {"t0": [(2, 1, 7), (3, 1, 9), (4, 1, 3)]},
        {"t0": [(1, 1, 9), (2, 1, 7), (4, 1, 2)]},
    ),
    "a group gets a value in place of its minimum that is greater": build(
        _ONE,
        "SELECT a.x AS c0, min(a.y) AS c1 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, 5), (2, 1, 7), (3, 1, 9)]},
        {"t0": [(1, 1, 8), (2, 1, 7), (3, 1, 9)]},
        {"t0": [(1, 1, 8), (2, 1, 8), (3, 1, 9)]},
    ),
    "nothing but an extreme changes": build(
        _ONE,
        "SELECT a.x AS c0, max(a.y) AS c1 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, 5), (2, 1, 7), (3, 1, 9), (4, 2, 3)]},
        {"t0": [(1, 1, 10), (2, 1, 7), (3, 1, 9), (4, 2, 3)]},
        {"t0": [(1, 1, 10), (2, 1, 7), (3, 1, 9), (4, 2, 3), (5, 2, 4)]},
    ),
    "all rows lose their extremes": build(
        _ONE,
        "SELECT min(a.y) AS c0, max(a.y) AS c1, count(*) AS c2 FROM t0 AS a",
        {"t0": [(1, 1, 5), (2, 1, 7), (3, 1, 9)]},
        {"t0": [(2, 1, 7), (3, 1, 8)]},
        {"t0": []},
        {"t0": [(1, 1, None), (4, 1, 4)]},
    ),
    "a padded row is the minimum of its group, and gets a partner": build(
        _TWO,
        "SELECT a.y AS c0, min(coalesce(b.z, 0)) AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.x GROUP BY a.y",
        {"t0": [(1, 1, 1), (2, 2, 1)], "t1": [(1, 1, 5)]},
        {"t1": [(1, 1, 5), (2, 2, 7)]},
        {"t1": [(1, 1, 5), (2, 2, 7), (3, 2, 6)]},
    ),
    "a row with the minimum loses a test by a new partner": build(
        _TWO,
        _COUNT_LONELY.replace("count(*)", "min(a.k)"),
        {"t0": [(1, 1, 1), (2, 2, 1), (3, 3, 1)], "t1": []},
        {"t1": [(1, 1, 5)]},
    ),
    "a pair that comes and goes in signed rows is in no state": build(
        _TWO,
        "SELECT a.y AS c0, min(b.z) AS c1, count(*) AS c2 FROM t0 AS a JOIN t1 AS b ON a.x = b.x GROUP BY a.y",
        {"t0": [(1, 1, 1)], "t1": [(1, 1, 5), (2, 1, 7), (3, 2, 3)]},
        # (2, 2, 1) joins the old (3, 2, 3), which goes: +3 and -3
        {"t0": [(1, 1, 1), (2, 2, 1)], "t1": [(1, 1, 5), (2, 1, 7), (3, 3, 3)]},
    ),
    "rows come while others come and go": build(  # of its feed: (1, 1, 3), which comes and goes
        _ONE,
        "SELECT a.x AS c0, min(a.y) AS c1 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, 5), (2, 2, 3)]},
        {"t0": [(1, 1, 5), (3, 1, 7), (2, 2, 3)]},
        {"t0": [(1, 1, 5), (3, 1, 7), (4, 1, 8), (5, 2, 2), (2, 2, 3)]},
    ),
    "extremes of which only one is lost": build(
        "t0(k int, x int, y int, z string; k)",
        "SELECT a.x AS c0, min(a.y) AS c1, max(a.z) AS c2, bool_and(a.y > 0) AS c3, bool_or(a.y > 6) AS c4 FROM t0 AS a "
        "GROUP BY a.x",
        {"t0": [(1, 1, 5, "b"), (2, 1, 7, "c"), (3, 1, 0, "a")]},
        {"t0": [(1, 1, 5, "b"), (2, 1, 7, "c")]},
        {"t0": [(1, 1, 5, "b"), (4, 1, 5, "a")]},
        {"t0": [(1, 1, 5, None), (4, 1, -5, "a"), (5, None, 1, "x")]},
    ),
    "sums beside a lost minimum": build(
        "t0(k int, x int, y int, z bigint, w decimal(27,9); k)",
        "SELECT a.x AS c0, min(a.y) AS c1, sum(a.z) AS c2, sum(a.w) AS c3, avg(a.y) AS c4 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, 5, 2**62, "123456789012345678.123456789"), (2, 1, 7, 2**61, "0.000000001"), (3, 2, 1, 1, "1.5")]},
        {"t0": [(2, 1, 7, 2**61, "0.000000001"), (3, 2, 1, 2, "2.5")]},
        {"t0": [(2, 1, 8, None, None), (3, 2, 2, 2, None)]},
    ),
    "averages of decimals that are halves": build(  # DuckDB's are DOUBLEs, which hold these
        "t0(k int, x int, y decimal(14,2), z decimal(12,0); k)",
        "SELECT a.x AS c0, avg(a.y) AS c1, avg(a.z) AS c2, round(avg(a.y), 1) AS c3 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, "0.25", "3"), (2, 1, "0.75", None), (3, 2, None, "-7")]},
        {"t0": [(1, 1, "0.25", "3"), (2, 1, "-1.25", "4"), (3, 2, "5.00", "-7"), (4, 3, None, None)]},
        {"t0": [(2, 1, None, "4"), (3, 2, "5.00", None), (4, 3, "1.50", "0"), (5, 3, "0.50", "1")]},
    ),
    "averages of narrow decimals that are halves": build(
        "t0(k int, x int, y decimal(10,2), z decimal(3,0); k)",
        "SELECT a.x AS c0, avg(a.y) AS c1, avg(a.z) AS c2, round(avg(a.y), 1) AS c3 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, "0.25", "3"), (2, 1, "0.75", None), (3, 2, None, "-7")]},
        {"t0": [(1, 1, "0.25", "3"), (2, 1, "-1.25", "4"), (3, 2, "5.00", "-7"), (4, 3, None, None)]},
        {"t0": [(2, 1, None, "4"), (3, 2, "5.00", None), (4, 3, "1.50", "0"), (5, 3, "0.50", "1")]},
    ),
    "the minimum of zeros with two signs": build(  # it depends on their order which one an evaluation gives
        "t0(k int, x int, y double; k)",
        "SELECT a.x AS c0, min(a.y) AS c1, CAST(min(a.y) AS STRING) AS c2 FROM t0 AS a GROUP BY a.x",
        {"t0": [(2, 1, "-0.0")]},
        {"t0": [(2, 1, "-0.0"), (1, 1, "0.0")]},
        {"t0": [(1, 1, "0.0")]},
    ),
    "calls inside expressions only": build(
        _ONE,
        "SELECT a.x AS c0, sum(a.y) * 2 AS c1, coalesce(sum(a.k), 0) AS c2, avg(a.y) + 1 AS c3, CASE WHEN count(*) > 1 "
        "THEN min(a.y) END AS c4, CAST(max(a.y) AS STRING) AS c5, count(a.y) - count(*) AS c6 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, 5), (2, 1, 7), (3, 1, 9), (4, 2, None), (5, 3, 1)]},
        {"t0": [(1, 1, 5), (2, 1, 8), (3, 1, 9), (4, 2, 3), (6, 4, None)]},
        {"t0": [(2, 1, None), (3, 1, 9), (6, 4, 4), (7, 4, 4)]},
        {"t0": [(2, 1, None), (6, 4, 4)]},
    ),
    "calls inside expressions only, of all rows": build(
        _ONE,
        "SELECT sum(a.y) / nullif(count(a.x), 0) AS c0, coalesce(min(a.y), -1) AS c1 FROM t0 AS a",
        {"t0": [(1, 1, 5), (2, None, 7)]},
        {"t0": [(1, None, 5), (3, 2, 3)]},
        {"t0": []},
        {"t0": [(4, 4, 4), (5, 4, None)]},
    ),
    "calls of a subview inside expressions only": build(
        _TWO,
        "SELECT q.g AS c0, q.s - q.m AS c1 FROM (SELECT a.y AS g, sum(b.z) AS s, max(a.k) AS m, count(*) AS n FROM t0 AS a "
        "LEFT JOIN t1 AS b ON a.x = b.x GROUP BY a.y) AS q",
        {"t0": [(1, 1, 1), (2, 2, 1), (3, 2, 2)], "t1": [(1, 1, 5)]},
        {"t1": [(1, 1, 6), (2, 2, 7)]},
        {"t0": [(1, 1, 1), (3, 1, 2)], "t1": [(1, 1, 6), (2, 2, 7), (3, 1, 1)]},
        {"t0": []},
    ),
    "calls inside expressions, one of which has no rule": build(
        _ONE,
        "SELECT a.x AS c0, sum(a.y) * 2 AS c1, count(DISTINCT a.y) + 1 AS c2 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, 5), (2, 1, 5), (3, 2, 6)]},
        {"t0": [(2, 1, 5), (3, 1, 6)]},
    ),
    "an expression that fails for a group without rows": build(
        _ONE,
        "SELECT a.x AS c0, CAST(CASE WHEN count(*) > 0 THEN '1' ELSE 'none' END AS INT) + sum(a.y) AS c1 FROM t0 AS a "
        "GROUP BY a.x",
        {"t0": [(1, 1, 5), (2, 1, 7), (3, 2, 9)]},
        {"t0": [(1, 1, 5), (2, 1, 8)]},
        {"t0": [(1, 3, 5)]},
    ),
    "a float that swallows the others is inserted and deleted": build(
        "t0(k int, x int, y double; k)",
        "SELECT a.x AS c0, sum(a.y) AS c1 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, 1.0)]},
        {"t0": [(1, 1, 1.0), (2, 1, 1e16)]},
        {"t0": [(1, 1, 1.0)]},
    ),
    **{
        f"the least {kind} is inserted and deleted": build(
            f"t0(k int, x int, y {kind}; k)",
            "SELECT a.x AS c0, sum(a.y) AS c1, count(*) AS c2 FROM t0 AS a GROUP BY a.x",
            # DuckDB evaluates the values of an INSERT for groups that are there, too: what a group gets added is to be a bigint
            {"t0": [(1, 1, least), (2, 1, 5), (3, 1, 3), (4, 2, least)]},
            {"t0": [(2, 1, 0), (3, 1, 3), (4, 2, least + 7), (5, 3, least)]},
            {"t0": [(2, 1, least), (3, 1, 3), (5, 3, least + 1)]},
        )
        for kind, least in (("tinyint", -(2**7)), ("smallint", -(2**15)), ("int", -(2**31)), ("bigint", -(2**63)))
    },
    "intermediate sums that exceed bigint": build(
        "t0(k int, x int, y bigint; k)",
        "SELECT a.x AS c0, sum(a.y) AS c1 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, 2**63 - 1), (2, 1, -(2**63)), (3, 1, 7)]},
        {"t0": [(1, 1, -(2**63)), (2, 1, 2**63 - 1), (3, 1, 9)]},
    ),
    "the widest decimals are inserted and deleted": build(
        "t0(k int, x int, y decimal(27); k)",
        "SELECT a.x AS c0, sum(a.y) AS c1 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, Decimal(1 - 10**27)), (2, 1, Decimal(10**27 - 1))]},
        {"t0": [(2, 1, Decimal(10**27 - 1)), (3, 1, Decimal(1))]},
    ),
    "sums that have all digits there are": build(
        "t0(k int, x int, y decimal(38,10), z decimal(28), w decimal(15,2), v decimal(15,2); k)",
        "SELECT a.x AS c0, sum(a.y) AS c1, sum(a.z) AS c2, sum(a.w * (1 - a.v)) AS c3, round(sum(a.w * a.v), 2) AS c4 "
        "FROM t0 AS a GROUP BY a.x",
        {
            "t0": [
                (1, 1, "123456789012345678901234567.0123456789", 10**28 - 1, "1234567890123.45", "0.05"),
                (2, 1, "0.0000000001", 1 - 10**28, "0.01", "0.01"),
                (3, 2, None, None, "5.00", None),
            ]
        },
        {
            "t0": [
                (1, 1, "123456789012345678901234567.0123456789", 10**28 - 1, "1234567890123.45", "0.05"),
                (2, 1, "0.0000000003", 10**28 - 1, "-0.01", "0.01"),
                (3, 2, "-0.0000000007", 1, "5.00", "1.00"),
                (4, 3, "1.5", None, "0.01", "0.99"),
            ]
        },
        {
            "t0": [
                (2, 1, "-0.0000000004", 0, "9999999999999.99", "-0.33"),
                (3, 2, None, None, None, "1.00"),
                (5, 3, "1.5", 2, "0.07", "0.99"),
            ]
        },
    ),
    "rows without a key that a number identifies": build(
        "t0(x int, y int, s string)\nt1(k int, x int, z string; k)",
        "SELECT r.x AS c0, r.s AS c1, b.k AS c2, b.z AS c3 FROM (SELECT a.*, row_number() OVER (PARTITION BY a.x ORDER BY a.y DESC, "
        "a.s) AS n FROM t0 AS a) AS r LEFT JOIN t1 AS b ON b.x = r.x WHERE r.n = 1",
        {"t0": [(1, 5, "a"), (1, 5, "a"), (1, 3, "b"), (None, 7, "c")], "t1": [(1, 1, "p"), (2, None, "q")]},
        {"t0": [(1, 3, "b"), (None, 7, "c"), (None, 8, "d"), (2, 1, "e")], "t1": [(1, 1, "p"), (2, 2, "q"), (3, 2, "r")]},
        {"t0": [(1, 3, "b"), (1, 3, "b"), (2, 1, "f")], "t1": [(1, 1, "s"), (3, 2, "r")]},
    ),
    "rows without a key of which the first goes": build(
        "t0(x int, y int)",
        "SELECT r.x, r.y, r.n FROM (SELECT a.*, row_number() OVER (PARTITION BY a.x ORDER BY a.y) AS n FROM t0 AS a) AS r WHERE "
        "r.n <= 2",
        {"t0": [(1, 1), (1, 2), (1, 3), (2, 1)]},
        {"t0": [(1, 1), (1, 1), (1, 2), (1, 3), (2, 1)]},
        {"t0": [(1, 1), (1, 2), (1, 3), (2, 1), (2, 0)]},
        {"t0": [(1, 2), (1, 3), (2, 1)]},
    ),
    "numbered pairs of a row with a key and rows without one": build(
        "t0(k int, x int, s string; k)\nt1(x int, y int)",
        "SELECT r.x AS c0, r.s AS c1, r.y AS c2 FROM (SELECT a.x, a.s, b.y, row_number() OVER (PARTITION BY a.x ORDER BY b.y, a.k) "
        "AS n FROM t0 AS a JOIN t1 AS b ON b.x = a.x) AS r WHERE r.n <= 2",
        {"t0": [(1, 1, "a"), (2, 1, "b"), (3, 2, "c")], "t1": [(1, 5), (1, 5), (1, 6), (2, 5)]},
        {"t0": [(1, 1, "z"), (2, 1, "b"), (3, 2, "c")]},
        {"t0": [(1, 1, "z"), (2, 1, "y"), (3, 1, "x")]},
    ),
    "running numbers of rows without a key": build(
        "t0(x int, y int)",
        "SELECT a.x AS c0, a.y AS c1, row_number() OVER (PARTITION BY a.x ORDER BY a.y ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT "
        "ROW) AS c2, sum(a.y) OVER (PARTITION BY a.x ORDER BY a.y ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c3 FROM t0 AS a",
        {"t0": [(1, 1), (1, 1), (2, 5)]},
        {"t0": [(1, 1), (1, 1), (2, 5), (1, 4), (2, 5)]},
        {"t0": [(1, 1), (2, 5), (1, 4), (2, 5), (2, 6)]},
    ),
    "copies of a keyless row meet a new partner": build(
        _KEYLESS, _COPIES, {"t0": [(1, 5), (1, 5), (2, 5)], "t1": []}, {"t1": [(7, 1, 0)]}
    ),
    "copies of a keyless row meet a changed partner": build(
        _KEYLESS, _COPIES, {"t0": [(1, 5), (1, 5)], "t1": [(7, 1, 0)]}, {"t1": [(7, 1, 1)]}, {"t1": [(7, 2, 1)]}
    ),
    "copies of a keyless row are inserted and deleted": build(
        _KEYLESS, _COPIES, {"t0": [(1, 5), (1, 5)], "t1": [(7, 1, 0)]}, {"t0": [(1, 5)]}, {"t0": [(1, 5)] * 3}, {"t0": []}
    ),
    "rows without a key that differ in nothing but the sign of zero": build(
        "t0(x int, y double)",
        "SELECT a.x AS c0, a.y AS c1 FROM t0 AS a",
        {"t0": [(1, "0.0"), (2, "0.0"), (2, "-0.0")]},
        {"t0": [(1, "0.0"), (1, "-0.0"), (1, "-0.0"), (2, "-0.0")]},
        {"t0": [(1, "-0.0"), (None, "-1.0"), (None, None)]},
        {"t0": [(None, "-1.0"), (2, "0.0")]},
    ),
    "computed column over a keyless table and a changed partner": build(
        _KEYLESS,
        "SELECT a.y + b.z AS c0, b.k AS c1 FROM t0 AS a JOIN t1 AS b ON a.x = b.x",
        {"t0": [(1, 5), (1, 5), (1, 6)], "t1": [(7, 1, 0)]},
        {"t1": [(7, 1, 1)]},
    ),
    "both partners of a pair are new": build(
        _TWO, _PAIRS, _PAIR, {"t0": [*_PAIR["t0"], (3, 3, 3)], "t1": [*_PAIR["t1"], (3, 3, 3)]}
    ),
    "both partners of a pair are updated": build(
        _TWO, _PAIRS, _PAIR, {"t0": [(1, 1, 9), (2, 2, 2)], "t1": [(1, 1, 9), (2, 2, 2)]}
    ),
    "both partners of a pair are deleted": build(_TWO, _PAIRS, _PAIR, {"t0": [(2, 2, 2)], "t1": [(2, 2, 2)]}),
    "one partner is updated, the other deleted": build(_TWO, _PAIRS, _PAIR, {"t0": [(1, 1, 9), (2, 2, 2)], "t1": [(2, 2, 2)]}),
    "both partners are new while a third row moves": build(
        _TWO, _PAIRS, _PAIR, {"t0": [(1, 1, 1), (2, 1, 2), (3, 3, 3)], "t1": [*_PAIR["t1"], (3, 3, 3)]}
    ),
    "a join attribute changes while the partner is inserted": build(
        _TWO, _PAIRS, _PAIR, {"t0": [(1, 3, 1), (2, 2, 2)], "t1": [*_PAIR["t1"], (3, 3, 3)]}
    ),
    "a row is touched by two inputs": build(
        _TWO, _PAIRS, _PAIR, {"t0": [(1, 1, 8), (2, 2, 2), (4, 1, 4)], "t1": [(1, 1, 7), (2, 2, 2), (5, 1, 5)]}
    ),
    "columns of both tables in one computed column": build(
        _TWO, _SUM_OF_BOTH, _PAIR, {"t0": [(1, 1, 9), (2, 2, 2)], "t1": [(1, 1, 9), (2, 2, None)]}, {"t0": [(1, 1, 8), (2, 2, 2)]}
    ),
    "a row that moves within the condition, with all its columns": build(
        _ONE,
        "SELECT a.k AS c0, a.x AS c1, a.y AS c2 FROM t0 AS a WHERE a.x > 0",
        {"t0": [(1, 1, 0), (2, 2, 0)]},
        {"t0": [(1, 2, 0), (2, 0, 0)]},
        {"t0": [(1, 3, 5), (2, 1, 0)]},
    ),
    "groups by a part of a key": build(
        "t0(k int, l int, y int; k, l)",
        "SELECT a.k AS c0, sum(a.y) AS c1, max(a.y) AS c2 FROM t0 AS a GROUP BY a.k",
        {"t0": [(1, 1, 5), (1, 2, 6), (2, 1, 1)]},
        {"t0": [(1, 1, 7), (1, 2, 6), (2, 1, 1)]},
        {"t0": [(1, 2, 6), (2, 2, 1)]},
    ),
    "groups by a key, grouped again": build(
        _TWO,
        "SELECT g.n AS c0, count(*) AS c1 FROM (SELECT a.k AS k, a.x AS x, count(*) AS n FROM t0 AS a JOIN t1 AS b "
        "ON a.x = b.x GROUP BY a.k, a.x) AS g GROUP BY g.n",
        _PAIR,
        {"t0": [(1, 2, 1), (2, 2, 2)]},
        {"t0": [(2, 1, 2)]},
        {"t0": [(1, 1, 1), (2, 1, 2)], "t1": [(1, 1, 1), (2, 1, 2)]},
        {"t1": []},
    ),
    "a key is deleted and inserted again": build(
        _TWO, _PAIRS, _PAIR, {"t0": [(2, 2, 2)]}, {"t0": [(1, 2, 5), (2, 2, 2)]}, {"t0": [(2, 1, 1), (1, 1, 6)]}
    ),
    "a group moves to NULL": build(
        _ONE, _GROUPS, {"t0": [(1, 2, 5), (2, 3, 5)]}, {"t0": [(1, None, 5), (2, 3, 5)]}, {"t0": [(1, None, 6), (2, None, 5)]}
    ),
    "a group vanishes": build(
        _ONE, _GROUPS, {"t0": [(1, 2, 5), (2, 3, None)]}, {"t0": [(2, 3, None)]}, {"t0": []}, {"t0": [(2, 3, None)]}
    ),
    "a sum loses its last value": build(
        _ONE, _GROUPS, {"t0": [(1, 2, 5), (2, 2, None)]}, {"t0": [(1, 2, None), (2, 2, None)]}, {"t0": [(1, 2, 0), (2, 2, None)]}
    ),
    "the group is known to the other table only": build(
        _TWO,
        _JOIN_GROUPS,
        _PAIR,
        {"t1": [(2, 2, 2)]},
        {"t1": [(2, 1, 2)]},
        {"t0": [(1, 1, 3), (2, 2, 2)], "t1": [(1, 1, 1), (2, 1, 2)]},
    ),
    "both partners of a group's pair change": build(
        _TWO, _JOIN_GROUPS, _PAIR, {"t0": [(1, 1, 1), (3, 3, 3)], "t1": [(1, 1, 5), (3, 3, 3)]}, {"t0": [], "t1": []}
    ),
    "the only row of a nested group is deleted": build(
        _ONE, _NESTED, {"t0": [(1, 1, 0)]}, {"t0": []}, {"t0": [(1, 1, 0), (2, 1, 0)]}
    ),
    "an inner group's count goes from one to two by three changes": build(
        _ONE, _NESTED, {"t0": [(1, 1, 0)]}, {"t0": [(2, 1, 0), (3, 1, 0)]}
    ),
    "both occurrences of a self-join change": build(
        _ONE, _SELF, {"t0": [(1, 1, 1), (2, 2, 1)]}, {"t0": [(1, 2, 2), (2, 1, 2)]}, {"t0": [(1, 2, 2), (3, 2, 2)]}
    ),
    "branches of a union have equal keys": build(
        _TWO, _UNION, _PAIR, {"t0": [(2, 2, 2)]}, {"t0": [(2, 2, 7)]}, {"t1": [(1, 1, 5)]}
    ),
    "keys are at different positions in a union": build(
        _TWO,
        _CROSSED,
        {"t0": [(1, 0, None), (2, 0, 1)], "t1": [(1, 0, None), (2, 0, 1)]},
        {"t0": [(2, 0, 1)]},
        {"t0": [(2, 0, None)], "t1": [(2, 0, 2)]},
    ),
    "a union of a keyless branch and a join with two new rows": build(
        "t0(x int)\nt1(k int, x int; k)",
        "SELECT a.x AS c0 FROM t0 AS a UNION ALL SELECT b.x AS c0 FROM t1 AS b JOIN t1 AS c ON b.x = c.x",
        {"t0": [(1,), (1,)], "t1": []},
        {"t1": [(1, 1), (2, 1)]},
        {"t0": [(1,)], "t1": [(1, 1), (2, 2)]},
    ),
    "a global aggregate over no rows": build(
        _ONE, "SELECT sum(a.y) AS c0, count(*) AS c1, max(a.x) AS c2 FROM t0 AS a", {"t0": []}, {"t0": [(1, 1, 1)]}, {"t0": []}
    ),
    "a global sum over no rows": build(
        _ONE,
        "SELECT sum(a.y) AS c0, avg(a.y) AS c1 FROM t0 AS a",
        {"t0": []},
        {"t0": [(1, 1, None)]},
        {"t0": [(1, 1, 4)]},
        {"t0": []},
    ),
    "a conditional attribute is swapped": build(
        _ONE,
        "SELECT a.k AS c0, a.y AS c1 FROM t0 AS a WHERE a.x > 1",
        {"t0": [(1, 1, 0), (2, 2, 0)]},
        {"t0": [(1, 2, 0), (2, 1, 0)]},
        {"t0": [(1, 2, 7), (2, 1, 7)]},
    ),
    "a condition on one table, changes in the other": build(
        _TWO,
        "SELECT a.k AS c0, b.k AS c1, b.z AS c2 FROM t0 AS a JOIN t1 AS b ON a.x = b.x WHERE a.y > 1",
        _PAIR,
        {"t1": [(2, 2, 5), (3, 2, 3)]},
        {"t0": [(1, 2, 2), (2, 1, 0)]},
        {"t1": [(3, 1, 3)], "t0": [(4, 1, 4)]},
    ),
    "a computed attribute of a condition changes": build(
        _TWO,
        f"SELECT v.c0, v.c1, v.c2 FROM ({_SUM_OF_BOTH}) AS v WHERE v.c2 > 2",
        _PAIR,
        {"t0": [(1, 1, 2), (2, 2, 0)]},
        {"t0": [(1, 1, 3), (2, 2, 2)], "t1": [(1, 1, 1), (2, 2, 0)]},
    ),
    "a computed join attribute changes": build(
        _TWO,
        "SELECT a.c1 AS d0, b.k AS d1, b.z AS d2 FROM (SELECT k AS c0, y + 1 AS c1 FROM t0 AS t) AS a JOIN t1 AS b ON a.c1 = b.x",
        _PAIR,
        {"t0": [(1, 1, 0), (2, 2, 0)]},
        {"t0": [(1, 1, 1)], "t1": [(1, 2, 1), (2, 1, 3)]},
    ),
    "an aggregate over a union of aggregates": build(
        _TWO,
        "SELECT u.c0 AS d0, sum(u.c1) AS d1 FROM (SELECT x AS c0, count(*) AS c1 FROM t0 AS a GROUP BY x "
        "UNION ALL SELECT x AS c0, sum(z) AS c1 FROM t1 AS b GROUP BY x) AS u GROUP BY u.c0",
        _PAIR,
        {"t0": [(1, 2, 1), (2, 2, 2)]},
        {"t0": [], "t1": [(1, 1, 4)]},
    ),
    "only a column that no rule needs changes, in a table whose key comes last": build(
        "t0(x int, k int; k)", "SELECT count(*) AS c0 FROM t0 AS a", {"t0": [(1, 1)]}, {"t0": [(2, 1)]}, {"t0": []}
    ),
    "a second partner is inserted while the row is updated": build(
        _TWO,
        _PARTNER,
        {"t0": [(1, 1, 0), (2, 2, 0)], "t1": [(1, 1, 1)]},
        {"t0": [(1, 1, 9), (2, 2, 0)], "t1": [(1, 1, 1), (2, 1, 2)]},
        {"t1": [(2, 1, 2), (3, 2, 3)]},
    ),
    "one of two partners is deleted": build(
        _TWO,
        _PARTNER,
        {"t0": [(1, 1, 0), (2, 2, 0)], "t1": [(1, 1, 1), (2, 1, 2), (3, 2, 3)]},
        {"t1": [(2, 1, 2), (3, 2, 3)]},
        {"t1": [(3, 2, 3)]},
    ),
    "one of two partners of an anti-joined row is deleted": build(
        _TWO,
        _NO_PARTNER,
        {"t0": [(1, 1, 0), (2, 2, 0)], "t1": [(1, 1, 1), (2, 1, 2)]},
        {"t1": [(2, 1, 2)]},
        {"t1": []},
        {"t1": [(4, 2, 0)]},
    ),
    "a tested attribute changes": build(
        _TWO,
        _PARTNER,
        {"t0": [(1, 1, 0), (2, 2, 0)], "t1": [(1, 1, 1)]},
        {"t0": [(1, 2, 0), (2, 1, 0)]},
        {"t0": [(1, 1, 5), (2, 1, 5)]},
    ),
    "a partner moves to another row": build(
        _TWO,
        _PARTNER,
        {"t0": [(1, 1, 0), (2, 2, 0)], "t1": [(1, 1, 1)]},
        {"t1": [(1, 2, 1)]},
        {"t1": [(1, None, 1)]},
        {"t1": [(1, 1, 1)]},
    ),
    "a partner moves to another anti-joined row": build(
        _TWO, _NO_PARTNER, {"t0": [(1, 1, 0), (2, 2, 0)], "t1": [(1, 1, 1)]}, {"t1": [(1, 2, 1)]}, {"t1": [(1, None, 1)]}
    ),
    "rows and their partners change at once": build(
        _TWO,
        _PARTNER,
        _PAIR,
        {"t0": [(1, 3, 1), (2, 2, 7)], "t1": [(1, 1, 1), (3, 3, 3)]},
        {"t0": [(1, 1, 1), (3, 3, 3)], "t1": [(3, 3, 3)]},
        {"t0": [(1, 4, 1)], "t1": []},
    ),
    "anti-joined rows and their partners change at once": build(
        _TWO,
        _NO_PARTNER,
        _PAIR,
        {"t0": [(1, 3, 1), (2, 2, 7)], "t1": [(1, 1, 1), (3, 3, 3)]},
        {"t0": [(1, 1, 1), (3, 3, 3)], "t1": [(3, 3, 3)]},
        {"t0": [(1, 4, 1)], "t1": []},
    ),
    "rows that no partner can keep away": build(
        _TWO,
        "SELECT a.k AS c0 FROM t0 AS a WHERE NOT EXISTS (SELECT 1 FROM t1 AS b WHERE b.x = a.x AND a.y > 1 AND b.z = 1)",
        {"t0": [(1, 1, 0), (2, 2, 7)], "t1": [(1, 1, 1), (2, 2, 1)]},
        {"t0": [(1, 1, 0), (2, 2, 1), (3, 1, 1), (4, 1, 2)]},
        {"t1": [(1, 1, 5), (2, 2, 1)]},
    ),
    "NULLs in NOT IN": build(
        _TWO,
        _NOT_IN,
        {"t0": [(1, 1, 1), (2, None, 2), (3, 3, 3)], "t1": []},
        {"t1": [(1, 1, 1)]},
        {"t1": [(1, 1, 1), (2, None, 2)]},
        {"t1": [(1, None, 1), (2, 3, 2)]},
        {"t1": [(2, 3, 2)], "t0": [(1, None, 1), (2, 2, 2), (3, 3, 3)]},
        {"t1": []},
    ),
    "NULLs in a correlated NOT IN": build(
        _TWO,
        "SELECT a.k AS c0, a.y AS c1 FROM t0 AS a WHERE a.x NOT IN (SELECT b.x FROM t1 AS b WHERE b.z = a.y)",
        {"t0": [(1, 1, 1), (2, None, 2), (3, 3, None)], "t1": [(1, None, 3)]},
        {"t1": [(1, None, 1)]},
        {"t1": [(1, None, None), (2, 5, 2)]},
        {"t0": [(1, 1, None), (2, None, 5), (3, 3, 2)]},
    ),
    "several columns in IN and NOT IN": build(
        _TWO,
        "SELECT a.k AS c0 FROM t0 AS a WHERE (a.x, a.y) IN (SELECT b.x, b.z FROM t1 AS b) "
        "AND (a.x, a.k) NOT IN (SELECT c.z, c.k FROM t1 AS c)",
        _PAIR,
        {"t1": [(1, 2, 2), (2, 2, 5)]},
        {"t0": [(1, 2, 2), (2, 2, 5)]},
        {"t1": [(1, 2, 2), (2, 2, 2)]},
    ),
    "copies of a keyless row get a second partner": build(
        _KEYLESS,
        _KEYLESS_PARTNER,
        {"t0": [(1, 5), (1, 5), (2, 5)], "t1": [(7, 1, 0)]},
        {"t1": [(7, 1, 0), (8, 1, 1)]},
        {"t1": [(8, 1, 1)]},
        {"t1": []},
    ),
    "copies of an anti-joined keyless row get a partner": build(
        _KEYLESS,
        _KEYLESS_PARTNER.replace("EXISTS", "NOT EXISTS"),
        {"t0": [(1, 5), (1, 5), (2, 5)], "t1": []},
        {"t1": [(7, 1, 0)]},
        {"t1": [(7, 1, 0), (8, 1, 1)]},
        {"t1": []},
    ),
    "partners without a key": build(
        "t0(k int, x int, y int; k)\nt1(x int)",
        _PARTNER,
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [(1,), (1,)]},
        {"t1": [(1,)]},
        {"t1": [(2,), (2,)]},
        {"t1": []},
    ),
    "the only row of a group gets a partner": build(
        _TWO,
        _COUNT_LONELY,
        {"t0": [(1, 1, 7), (2, 2, 8)], "t1": [(1, 3, 1)]},
        {"t1": [(1, 1, 1)]},
        {"t1": [(1, 2, 1), (2, 5, 0)]},
        {"t1": []},
    ),
    "rows of a group and their partners change at once": build(
        _TWO,
        _COUNT_LONELY,
        {"t0": [(1, 1, 7), (2, 2, 8)], "t1": [(1, 1, 1)]},
        {"t0": [(1, 2, 7), (2, 2, 7)], "t1": [(1, 2, 1)]},
        {"t0": [(2, 2, 7), (3, 2, 7)], "t1": []},
        {"t0": [(2, 2, 8), (3, 3, 7)], "t1": [(4, 3, 4), (5, 3, 5)]},
    ),
    "groups over partners are inserted and deleted": build(
        _TWO,
        "SELECT a.y AS c0, count(*) AS c1 FROM t0 AS a LEFT SEMI JOIN t1 AS b ON b.x = a.x GROUP BY a.y",
        {"t0": [(1, 1, 7), (2, 1, 7)], "t1": [(1, 1, 1), (2, 1, 2)]},
        {"t1": [(2, 1, 2)], "t0": [(1, 1, 7), (2, 1, 8)]},
        {"t1": [(2, 2, 2)]},
        {"t1": [(2, 1, 2), (3, 1, 3)], "t0": [(1, 1, 7), (3, 1, 7)]},
    ),
    "the partner's condition is known to the other table only": build(
        _THREE,
        "SELECT a.k AS c0, a.y AS c1 FROM t0 AS a WHERE EXISTS (SELECT 1 FROM t1 AS b JOIN t2 AS c ON b.z = c.k WHERE c.x = a.x)",
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [(1, 1, 1), (2, 1, 2)], "t2": [(1, 1, 0), (2, 2, 0)]},
        {"t1": [(2, 1, 2)]},
        {"t1": [(2, 1, 1)], "t2": [(1, 1, 0)]},
        {"t1": [], "t2": []},
    ),
    "a test inside a test": build(
        _THREE,
        "SELECT a.k AS c0, a.y AS c1 FROM t0 AS a WHERE EXISTS (SELECT 1 FROM t1 AS b WHERE b.x = a.x "
        "AND NOT EXISTS (SELECT 1 FROM t2 AS c WHERE c.x = b.z))",
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [(1, 1, 1), (2, 2, 2)], "t2": []},
        {"t2": [(1, 1, 0)]},
        {"t1": [(1, 1, 2), (2, 2, 1)]},
        {"t2": [(1, 2, 0)], "t0": [(1, 2, 1), (2, 1, 2)]},
    ),
    "tests beside each other": build(
        _THREE,
        "SELECT a.k AS c0, a.y AS c1 FROM t0 AS a LEFT ANTI JOIN t1 AS b ON b.x = a.x LEFT SEMI JOIN t2 AS c ON c.x = a.y",
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [(1, 1, 1)], "t2": [(1, 1, 0), (2, 2, 0)]},
        {"t1": [(1, 2, 1)], "t2": [(1, 2, 0)]},
        {"t1": [], "t2": [(1, 1, 0), (2, 1, 1)]},
        {"t0": [(1, 1, 2), (2, 2, 1)], "t1": [(2, 2, 2)]},
    ),
    "a test without correlation": build(
        "t0(k int, x int, y int; k)\nt1(x int, k int; k)",
        "SELECT a.k AS c0, a.y AS c1 FROM t0 AS a WHERE EXISTS (SELECT 1 FROM t1 AS b)",
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": []},
        {"t1": [(1, 1)]},
        {"t1": [(5, 1)]},
        {"t1": [(5, 1), (1, 2)]},
        {"t1": []},
    ),
    "an aggregate in a test has a row always": build(
        _TWO,
        "SELECT a.k AS c0 FROM t0 AS a WHERE EXISTS (SELECT count(*) FROM t1 AS b) AND a.y IN (SELECT count(*) FROM t1 AS c)",
        {"t0": [(1, 1, 0), (2, 2, 1)], "t1": []},
        {"t1": [(1, 1, 1)]},
        {"t1": [(2, 1, 1)]},
        {"t1": [(1, 1, 1), (2, 1, 1)]},
    ),
    "groups in a test": build(
        _TWO,
        "SELECT a.k AS c0 FROM t0 AS a WHERE a.x NOT IN (SELECT b.x FROM t1 AS b GROUP BY b.x HAVING count(*) > 1)",
        _PAIR,
        {"t1": [(1, 1, 1), (2, 1, 2)]},
        {"t1": [(1, None, 1), (2, None, 2)]},
        {"t1": []},
    ),
    "a computed attribute of a test changes": build(
        _TWO,
        f"SELECT v.c0, v.c1, v.c2 FROM ({_SUM_OF_BOTH}) AS v WHERE v.c2 NOT IN (SELECT d.z + d.x FROM t1 AS d WHERE d.k > 1)",
        _PAIR,
        {"t0": [(1, 1, 3), (2, 2, 0)]},
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [(1, 1, 3), (2, 2, 1)]},
    ),
    "a computed column of what was looked up for another": build(
        "t0(k int, y int; k)\nt1(k int, z int; k)\nt2(k int, w int; k)",
        "SELECT p.k AS c0, p.l AS c1, c.k AS c2, p.s + c.w AS c3 FROM "
        "(SELECT a.k, b.k AS l, a.y + b.z AS s FROM t0 AS a JOIN t1 AS b ON a.k = b.k) AS p JOIN t2 AS c ON p.k = c.k",
        {"t0": [(1, 1), (2, 2)], "t1": [(1, 1), (2, 2), (3, 3)], "t2": [(1, 5), (2, 6), (3, 7)]},
        {"t0": [(1, 9), (2, 2)]},
        {"t0": [(1, 9), (2, 2), (3, 3)], "t1": [(1, 1), (2, 8), (3, 3)], "t2": [(1, 8), (2, 6), (3, 7)]},
    ),
    "a union of a keyless branch and a semi-join with two new rows": build(
        "t0(x int)\nt1(k int, x int; k)",
        "SELECT a.x AS c0 FROM t0 AS a UNION ALL SELECT b.x AS c0 FROM t1 AS b "
        "WHERE EXISTS (SELECT 1 FROM t1 AS c WHERE c.x = b.x)",
        {"t0": [(1,), (1,)], "t1": []},
        {"t1": [(1, 1), (2, 1)]},
        {"t0": [(1,)], "t1": [(1, 1), (2, 2)]},
    ),
    "joins of rows with and without partners": build(
        _THREE,
        "SELECT a.k AS c0, b.k AS c1, a.y + b.z AS c2 FROM t0 AS a JOIN t1 AS b ON a.x = b.x "
        "WHERE NOT EXISTS (SELECT 1 FROM t2 AS c WHERE c.x = a.y AND c.w = b.z)",
        {**_PAIR, "t2": [(1, 1, 1)]},
        {"t2": [(1, 2, 2)]},
        {"t0": [(1, 1, 2), (2, 2, 2)], "t2": [(1, 2, 2), (2, 2, 1)]},
        {"t1": [(1, 1, 1), (3, 2, 3)], "t2": []},
    ),
    "groups of groups over a join, both tables change": build(
        _KEYED,
        f"SELECT g.s AS c0, count(*) AS c1, sum(g.x) AS c2 FROM ({_SUMS}) AS g GROUP BY g.s",
        {"t0": [(1, 1, 1), (2, 1, 2), (3, 2, 3)], "t1": [(1, 1, 5), (2, None, 5)]},
        {"t1": [(1, 1, 6), (2, None, 6)]},
        {"t0": [(1, 2, 1), (2, 1, None), (4, 2, 4)], "t1": [(1, None, 5), (2, None, 5)]},
        {"t0": []},
        {"t0": [(1, 1, 1)], "t1": [(1, None, None)]},
    ),
    "sums over a join by key, a row moves while its partner changes and another comes": build(
        _KEYED,
        _SUMS,
        {"t0": [(1, 1, 1), (2, 1, None), (3, None, 3)], "t1": [(1, 1, 5)]},
        {"t0": [(1, 2, 1), (2, 1, 4), (3, 2, 3)], "t1": [(1, 1, 6), (2, 2, None)]},
        {"t1": [(2, 2, 2)]},
        {"t0": [(3, 1, 3), (4, 2, 4)], "t1": [(1, 1, 1), (2, 2, 3)]},
        {"t0": [], "t1": []},
    ),
    "HAVING over groups that are joined back": build(
        _KEYED,
        "SELECT a.k AS c0, a.y AS c1, g.n AS c2 FROM t0 AS a JOIN (SELECT b.x AS x, count(*) AS n, sum(b.y) AS s "
        "FROM t0 AS b GROUP BY b.x HAVING count(*) > 1) AS g ON g.x <=> a.x",
        {"t0": [(1, 1, 1), (2, 1, 2), (3, None, 3)]},
        {"t0": [(1, 1, 5), (2, 1, 6), (3, None, 3), (4, None, 0)]},
        {"t0": [(1, None, 5), (3, None, 3), (4, None, 1)]},
        {"t0": [(4, 1, 1)]},
    ),
    "a CTE is read twice": build(
        _KEYED,
        f"WITH w AS ({_SUMS}) SELECT p.x AS c0, p.s AS c1, q.s AS c2, q.n AS c3 FROM w AS p JOIN w AS q ON p.n = q.x",
        {"t0": [(1, 1, 1), (2, 1, 2), (3, 2, 3)], "t1": [(1, 1, 5), (2, 2, 5)]},
        {"t0": [(1, 1, 1), (2, 2, 2), (3, 2, 3)]},
        {"t1": [(1, 1, 7), (2, 1, 5)]},
        {"t0": [], "t1": []},
        {"t0": [(7, 1, None)], "t1": [(1, 1, 1)]},
    ),
    "two subviews differ in a constant": build(
        _ONE,
        "SELECT p.x AS c0, p.n AS c1, q.n AS c2 "
        "FROM (SELECT a.x AS x, count(*) AS n FROM t0 AS a WHERE a.y > 1 GROUP BY a.x) AS p "
        "JOIN (SELECT b.x AS x, count(*) AS n FROM t0 AS b WHERE b.y > 0 GROUP BY b.x) AS q ON p.x = q.x",
        {"t0": [(1, 1, 1), (2, 1, 2)]},
        {"t0": [(1, 1, 1), (2, 1, 2), (3, 1, 1)]},
        {"t0": [(1, 1, 2), (2, 1, 2)]},
    ),
    "two subviews differ in the column that they add up": build(
        _ONE,
        "SELECT p.x AS c0, p.s AS c1, q.s AS c2 FROM (SELECT a.x AS x, sum(a.y) AS s FROM t0 AS a GROUP BY a.x) AS p "
        "JOIN (SELECT b.x AS x, sum(b.k) AS s FROM t0 AS b GROUP BY b.x) AS q ON p.x <=> q.x",
        {"t0": [(1, 1, 1), (2, 1, 2)]},
        {"t0": [(1, None, 1), (2, 1, 1), (3, 2, None)]},
        {"t0": [(2, 2, 1)]},
    ),
    "one row of all rows beside other rows": build(
        _KEYED,
        "SELECT a.k AS c0, a.y AS c1, g.n AS c2, g.s AS c3 FROM t0 AS a CROSS JOIN "
        "(SELECT count(*) AS n, sum(b.z) AS s FROM t1 AS b) AS g WHERE a.k <> g.n",
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": []},
        {"t1": [(1, 1, 1)]},
        {"t1": [(1, 1, 2)], "t0": [(1, 1, 7), (3, 3, 3)]},
        {"t1": [], "t0": []},
        {"t0": [(5, 5, 5)]},
    ),
    "one row of all rows beside copies, which a change does not reach": build(
        "t0(x int, y int)\nt1(k int, x int; k)\nt2(k int, x int; k)",
        "SELECT a.y AS c0, g.n AS c1 FROM (SELECT count(*) AS n FROM t1 AS b JOIN t2 AS c ON b.x = c.x) AS g CROSS JOIN t0 AS a",
        {"t0": [(1, 5), (1, 5)], "t1": [(1, 1)], "t2": [(1, 1)]},
        {"t1": [(1, 1), (2, 2)]},
        {"t2": [(1, 2)]},
    ),
    "the one row of all rows is only there": build(
        _KEYED,
        "SELECT a.k AS c0 FROM t0 AS a WHERE EXISTS (SELECT max(b.z) AS m FROM t1 AS b HAVING count(*) < 2)",
        {"t0": [(1, 1, 1)], "t1": []},
        {"t1": [(1, 1, 1), (2, 1, 1)]},
        {"t0": [(2, 1, 1)], "t1": [(1, 1, 1)]},
    ),
    "a test alone decides about the one row of all rows": build(
        _KEYED,
        "SELECT g.n AS c0 FROM (SELECT count(*) AS n FROM t0 AS a) AS g WHERE NOT EXISTS (SELECT * FROM t1 AS b WHERE b.z > 1)",
        {"t0": [(1, 1, 1)], "t1": []},
        {"t1": [(1, 1, 1), (2, 1, 2)]},
        {"t1": [(1, 1, 1), (2, 1, 3)]},
        {"t1": [(1, 1, 1)]},
    ),
    "both partners of a keyless pair change": build(
        "t0(x int, y int)\nt1(x int, z int)",
        "SELECT a.x AS c0, count(*) AS c1, sum(b.z) AS c2 FROM t0 AS a JOIN t1 AS b ON a.x = b.x GROUP BY a.x",
        {"t0": [(1, 5), (1, 5), (2, 5)], "t1": [(1, 1), (2, 2)]},
        {"t0": [(1, 5), (2, 5)], "t1": [(1, 2), (1, 2)]},
        {"t0": [], "t1": [(1, 2)]},
    ),
    "groups of keyless rows under groups": build(
        "t0(x int, y int)\nt1(k int, z int; k)",
        "SELECT g.n AS c0, count(*) AS c1, max(b.z) AS c2 FROM (SELECT a.x AS x, count(*) AS n FROM t0 AS a GROUP BY a.x) AS g "
        "JOIN t1 AS b ON b.k = g.x GROUP BY g.n",
        {"t0": [(1, 5), (1, 5), (2, 5)], "t1": [(1, 1), (2, 2)]},
        {"t0": [(1, 5), (2, 5)]},
        {"t0": [(1, 5), (1, 5), (None, 5)], "t1": [(1, 7), (2, 2)]},
        {"t0": []},
    ),
    "a constant row beside equal rows of a table": build(
        _ONE,
        "SELECT a.x AS c0, a.y AS c1 FROM t0 AS a UNION ALL SELECT 1, 5",
        {"t0": [(1, 1, 5), (2, 2, 5)]},
        {"t0": [(1, 1, 6), (2, 1, 5)]},
        {"t0": []},
        {"t0": [(1, 1, 5), (3, 1, 5)]},
    ),
    "a constant row keeps a group": build(
        _ONE,
        "SELECT g.x AS c0, count(*) AS c1, sum(g.y) AS c2 FROM (SELECT a.x AS x, a.y AS y FROM t0 AS a "
        "UNION ALL SELECT 1, 5) AS g GROUP BY g.x",
        {"t0": [(1, 1, 5), (2, 2, 3)]},
        {"t0": []},
        {"t0": [(1, 2, 5)]},
        {"t0": [(1, 1, None), (2, 2, 1)]},
    ),
    "a join with one row has a condition": build(
        _ONE,
        "SELECT c.n AS c0, a.k AS c1, a.y AS c2 FROM (SELECT 1 AS n) AS c JOIN t0 AS a ON a.x > c.n",
        {"t0": [(1, 1, 1), (2, 2, 2)]},
        {"t0": [(1, 2, 1), (2, 2, 3), (3, 1, 1), (4, 4, 4)]},
        {"t0": [(1, 1, 1), (4, 1, 4)]},
    ),
    "VALUES with equal rows, joined": build(
        _ONE,
        "SELECT a.k AS c0, v.q AS c1, a.y AS c2 FROM t0 AS a JOIN "
        "(VALUES (1, 'p'), (1, 'p'), (2, 'q'), (NULL, 'n')) AS v(x, q) "
        "ON v.x <=> a.x",
        {"t0": [(1, 1, 1), (2, 2, 2), (3, 3, 3)]},
        {"t0": [(1, 2, 1), (2, 2, 3), (3, 1, 3)]},
        {"t0": [(1, None, 1), (2, 2, 4)]},
        {"t0": []},
    ),
    "VALUES as the rows that are tested for": build(
        _ONE,
        "SELECT a.k AS c0, a.y AS c1 FROM t0 AS a WHERE a.x IN (SELECT v.c FROM (VALUES (1), (2)) AS v(c)) "
        "AND NOT EXISTS (SELECT 1 FROM (VALUES (5), (6)) AS w(c) WHERE w.c = a.y)",
        {"t0": [(1, 1, 1), (2, 3, 2), (3, 2, 5)]},
        {"t0": [(1, 1, 5), (2, 2, 2), (3, 2, 7)]},
        {"t0": [(1, 1, 1), (2, 3, 2)]},
    ),
    "one row is there while a table has rows": build(
        _ONE,
        "SELECT 1 AS c0, 'x' AS c1 WHERE EXISTS (SELECT 1 FROM t0 AS a WHERE a.x > 1)",
        {"t0": []},
        {"t0": [(1, 1, 1), (2, 2, 2)]},
        {"t0": [(2, 2, 2), (3, 3, 3)]},
        {"t0": [(2, 1, 2)]},
    ),
    "each row meets its values": build(
        "t0(x int, y int)",
        "SELECT a.x AS c0, v.c AS c1, count(*) AS c2 FROM t0 AS a CROSS JOIN (VALUES (1), (2)) AS v(c) "
        "WHERE a.y >= v.c GROUP BY a.x, v.c",
        {"t0": [(1, 1), (1, 1), (2, 5)]},
        {"t0": [(1, 1), (2, 5), (2, 5)]},
        {"t0": [(1, 2)]},
    ),
    "constants alone, through a CTE that is read twice": build(
        _ONE,
        "WITH w AS (SELECT v.c AS c, count(*) AS n FROM (VALUES (1), (1), (2)) AS v(c) GROUP BY v.c) "
        "SELECT p.c AS c0, q.n AS c1 FROM w AS p JOIN w AS q ON p.n = q.c",
        {"t0": []},
        {"t0": [(1, 1, 1)]},
    ),
}

OUTER = {
    "an outer-joined row gains its first partner and loses its last one": build(
        _TWO,
        _LEFT,
        {**_PAIR, "t1": []},
        {"t1": [(1, 1, 1)]},
        {"t1": [(1, 1, 5), (2, 1, 2), (3, 2, 3)]},
        {"t1": [(2, 1, 2)]},
        {"t1": []},
    ),
    "one of two partners of an outer-joined row is deleted": build(
        _TWO, _LEFT, _PADDED, {"t1": [(2, 1, 2), (3, None, 3)]}, {"t1": [(3, None, 3)]}
    ),
    "a partner moves to another outer-joined row": build(
        _TWO, _LEFT, {**_PAIR, "t1": [(1, 1, 1)]}, {"t1": [(1, 2, 1)]}, {"t1": [(1, None, 7)]}, {"t1": [(1, 1, 7)]}
    ),
    "an outer-joined row moves to another partner": build(
        _TWO, _LEFT, _PAIR, {"t0": [(1, 2, 1), (2, 1, 5)]}, {"t0": [(1, None, 1), (2, 3, 5)]}, {"t0": [(1, 1, 1), (2, 1, 2)]}
    ),
    "both partners of an outer join are inserted, updated and deleted": build(
        _TWO,
        _LEFT,
        _PAIR,
        {"t0": [*_PAIR["t0"], (3, 3, 3)], "t1": [*_PAIR["t1"], (3, 3, 3)]},
        {"t0": [(1, 1, 9), (2, 2, 2), (3, 3, 8)], "t1": [(1, 1, 9), (2, 2, 2), (3, 2, 8)]},
        {"t0": [(2, 2, 2), (3, 3, 8)], "t1": [(2, 2, 2)]},
        {"t0": [(2, 5, 2)], "t1": [(2, 5, 3), (1, 5, 5)]},
        {"t0": [], "t1": []},
    ),
    "an outer-joined row is updated while a partner comes and another goes": build(
        _TWO,
        _LEFT,
        _PAIR,
        {"t0": [(1, 1, 9), (2, 2, 8)], "t1": [(2, 2, 2), (3, 2, 3)]},
        {"t0": [(1, 1, 7), (2, 2, 7)], "t1": [(4, 1, 4)]},
    ),
    "both partners of a full join change": build(
        _TWO,
        _FULL,
        _PAIR,
        {"t0": [(1, 1, 9), (2, 2, 2)], "t1": [(1, 1, 9), (2, 3, 2)]},
        {"t0": [(1, 3, 9)]},
        {"t0": [(1, 3, 9), (3, 4, 4)], "t1": [(3, 4, 4)]},
        {"t0": [], "t1": [(3, 4, 4), (4, None, 0)]},
        {"t0": [(5, None, 5), (6, 4, 6)], "t1": []},
    ),
    "rows of a full join gain and lose partners": build(
        _TWO,
        _FULL,
        {"t0": [(1, 1, 1)], "t1": [(1, 2, 1), (2, 1, 2)]},
        {"t0": [(1, 1, 1), (2, 2, 2)]},
        {"t0": [(2, 2, 2)]},
        {"t1": [(2, 2, 2)]},
        {"t0": [], "t1": [(2, 2, 9)]},
        {"t0": [(1, 2, 1), (2, 2, 2)]},
    ),
    "a join attribute of a full join changes on both sides": build(
        _TWO,
        _FULL,
        _PAIR,
        {"t0": [(1, 2, 1), (2, 1, 2)]},
        {"t0": [(1, 3, 1), (2, 3, 2)], "t1": [(1, 3, 1), (2, None, 2)]},
        {"t1": [(1, None, 1), (2, 3, 2)]},
    ),
    "the group NULL of an outer join's right side": build(
        _TWO,
        _LEFT_GROUPS,
        {"t0": [(1, 1, 1), (2, 7, 2), (3, 2, 3), (4, None, 4)], "t1": [(1, 1, 1), (2, None, 5)]},
        {"t1": [(1, 1, 1), (2, None, 6)]},
        {"t1": [(1, 1, 1), (2, None, 6), (3, None, None)]},
        {"t1": [(1, 1, 2)]},
        {"t1": [(1, None, 2), (2, 7, 2)]},
        {"t1": []},
    ),
    "the group NULL that no row of an outer join has": build(
        _TWO,
        _LEFT_GROUPS.replace("<=>", "="),
        {"t0": [(1, 1, 1), (2, 7, 2)], "t1": [(1, 1, 1), (2, None, 5)]},
        {"t1": [(1, 1, 1), (2, None, 6)]},
        {"t1": [(1, 1, 1)]},
        {"t0": [(1, None, 1), (2, 7, 2)], "t1": [(1, None, 3)]},
    ),
    "a part of the right side's ID is NULL": build(
        _TWO,
        "SELECT a.k AS c0, g.x AS c1, g.w AS c2, g.m AS c3, g.n AS c4 FROM t0 AS a LEFT JOIN "
        "(SELECT b.x, c.x AS w, b.z AS m, count(*) AS n FROM t1 AS b JOIN t1 AS c ON b.k = c.k GROUP BY b.x, c.x, b.z) AS g "
        "ON g.m = a.y",
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [(1, None, 1), (2, None, 1), (3, 1, 5)]},
        {"t1": [(1, None, 1), (2, 1, 1), (3, 1, 2)]},
        {"t1": [(1, None, 3), (3, None, 2)]},
        {"t1": [(3, None, 1)]},
    ),
    "groups NULL on both sides of a full join": build(
        _TWO,
        "SELECT h.x AS c0, h.n AS c1, g.x AS c2, g.n AS c3, g.s AS c4 FROM (SELECT a.x AS x, count(*) AS n, max(a.y) AS m "
        f"FROM t0 AS a GROUP BY a.x) AS h FULL JOIN {_SUMS_BELOW} ON h.m = g.n",
        {"t0": [(1, None, 1), (2, 1, 2), (3, 2, 7)], "t1": [(1, None, 1), (2, 1, 2), (3, 1, 3), (4, 3, 4), (5, 3, 4), (6, 3, 4)]},
        {"t0": [(1, None, 2), (2, 1, 1)]},
        {"t1": [(1, None, 5), (2, None, 2), (4, 3, 4)]},
        {"t0": [(1, None, 7), (2, 1, 3)], "t1": [(1, None, 1)]},
        {"t0": [(2, 1, 1), (3, 2, 1)], "t1": [(1, 1, 1)]},
        {"t0": [(2, None, 7), (3, 2, 1)], "t1": [(1, None, 1), (2, None, 1)]},
        {"t1": []},
    ),
    "copies of an outer-joined keyless row gain and lose partners": build(
        _KEYLESS,
        _COPIES.replace("JOIN", "LEFT JOIN"),
        {"t0": [(1, 5), (1, 5), (2, 5)], "t1": []},
        {"t1": [(7, 1, 0)]},
        {"t1": [(7, 1, 1), (8, 1, 0)]},
        {"t1": [(8, 2, 0)]},
        {"t0": [(1, 5), (2, 5), (2, 5)], "t1": []},
        {"t0": [(2, 5), (2, 5), (2, 5)], "t1": [(8, 2, 0)]},
        {"t0": [(2, 5)]},
    ),
    "copies of a keyless partner": build(
        "t0(k int, x int, y int; k)\nt1(x int, z int)",
        "SELECT a.k AS c0, a.y AS c1, b.z AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.x",
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [(1, 5), (1, 5)]},
        {"t1": [(1, 5)]},
        {"t0": [(1, 1, 1), (3, 1, 3)]},
        {"t0": [(1, 1, 9), (3, 2, 3)], "t1": []},
        {"t1": [(2, 5), (2, 5), (1, None)]},
        {"t0": [(3, 1, 3)], "t1": [(2, 5)]},
    ),
    "copies on both sides of a full join": build(
        "t0(x int, y int)\nt1(x int, z int)",
        "SELECT a.x AS c0, a.y AS c1, b.x AS c2, b.z AS c3 FROM t0 AS a FULL JOIN t1 AS b ON a.x = b.x",
        {"t0": [(1, 5), (1, 5), (2, None)], "t1": [(3, 1), (3, 1)]},
        {"t1": [(1, 1), (3, 1), (3, 1)]},
        {"t0": [(1, 5), (2, None), (2, None), (3, 5)]},
        {"t0": [(2, None)], "t1": [(1, 1), (3, 1), (3, 1), (None, None)]},
        {"t0": [(None, None), (None, None)]},
        {"t0": [], "t1": [(None, None)]},
    ),
    "copies of a keyless row in a full join with keyed partners": build(
        _KEYLESS,
        _COPIES.replace("JOIN", "FULL JOIN"),
        {"t0": [(1, 5), (1, 5)], "t1": [(7, 2, 0)]},
        {"t1": [(7, 1, 0), (8, 3, 0)]},
        {"t0": [(1, 5)], "t1": [(8, 3, 1)]},
        {"t0": [(3, 5), (3, 5)], "t1": [(8, 3, 2)]},
        {"t0": []},
    ),
    "a chain of outer joins": build(
        _THREE,
        "SELECT a.k AS c0, b.k AS c1, c.k AS c2, b.z AS c3, c.w AS c4 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.x "
        "LEFT JOIN t2 AS c ON c.x = b.z",
        {**_PAIR, "t2": [(1, 1, 1)]},
        {"t2": [(1, 2, 1)]},
        {"t1": [(1, 1, 2), (3, 2, 2)], "t2": [(1, 2, 5)]},
        {"t1": [], "t2": [(1, 2, 6), (2, None, 0)]},
        {"t1": [(1, 1, None), (2, 2, 2)]},
        {"t0": [(1, 2, 1), (3, 3, 3)], "t1": [(2, 2, 4)], "t2": [(2, 4, 4)]},
    ),
    "a chain of outer joins whose last condition reads the first table": build(
        _THREE,
        "SELECT a.k AS c0, b.k AS c1, c.k AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.x "
        "LEFT JOIN t2 AS c ON c.x = a.y AND (b.k IS NULL OR c.w = b.z)",
        {**_PAIR, "t2": [(1, 1, 1), (2, 2, 5)]},
        {"t1": [(1, 1, 5), (2, 3, 2)]},
        {"t0": [(1, 1, 2), (2, 3, 1)]},
        {"t1": [], "t2": [(1, 1, 1)]},
        {"t1": [(1, 1, 1)], "t2": []},
    ),
    "a padded row of a chain gets a partner by another value": build(
        "t0(k int, x int; k)\nt1(k int, y int; k)\nt2(k int, z int; k)",
        "SELECT a.x AS c0, count(*) AS c1, sum(c.z) AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.k "
        "LEFT JOIN t2 AS c ON coalesce(b.y, 7) = c.k GROUP BY a.x",
        {"t0": [(1, 1), (2, 2)], "t1": [(2, 5)], "t2": []},
        {"t2": [(7, 7)]},
        {"t1": [(1, 5)], "t2": [(5, 1), (7, 8)]},
        {"t0": [(1, 1), (3, 3)], "t2": []},
    ),
    "padded rows of a chain get many partners by another value": build(
        "t0(k int, x int; k)\nt1(k int, y int; k)\nt2(k int, z int; k)",
        "SELECT a.x AS c0, count(c.k) AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.y "
        "LEFT JOIN t2 AS c ON coalesce(b.k, 7) = c.z GROUP BY a.x",
        {"t0": [(1, 1), (2, 2)], "t1": [(2, 5)], "t2": []},
        {"t2": [(1, 7), (2, 7)]},
        {"t1": [(2, 1)], "t2": [(1, 2), (2, 7)]},
    ),
    "a padded row of a chain gets a partner by a missing value": build(
        "t0(k int, x int; k)\nt1(k int, y int; k)\nt2(z int, w int)",
        "SELECT a.k AS c0, c.w AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.k LEFT JOIN t2 AS c ON b.y <=> c.z",
        {"t0": [(1, 1), (2, 2)], "t1": [(2, 5)], "t2": []},
        {"t2": [(None, 7)]},
        {"t1": [(1, None)], "t2": [(None, 8), (5, 1)]},
    ),
    "a padded row of a chain gets a partner because it is one": build(
        "t0(k int, x int; k)\nt1(k int, y int; k)\nt2(k int, z int; k)",
        "SELECT a.k AS c0, c.k AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.k LEFT JOIN t2 AS c ON b.y IS NULL",
        {"t0": [(1, 1), (2, 2)], "t1": [(2, 5)], "t2": []},
        {"t2": [(7, 7)]},
        {"t1": [(1, 5), (2, None)], "t2": [(7, 8), (8, 8)]},
    ),
    "a row without partners has one at the end of a chain": build(
        _THREE,
        "SELECT a.k AS c0, b.k AS c1, c.k AS c2, c.w AS c3 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.x "
        "LEFT JOIN t2 AS c ON c.x = a.y AND (b.k IS NULL OR c.w = b.z)",
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [(1, 2, 5)], "t2": [(1, 1, 1), (2, 2, 5)]},
        {"t2": [(1, 3, 1), (2, 2, 4)]},
        {"t2": [(1, 1, 2), (2, 1, 5)]},
        {"t1": [(1, 1, 5)], "t2": [(1, 2, 5), (2, 1, 4)]},
    ),
    "one of many partners has a partner whose condition changes": build(
        "t0(k int, y int; k)\nt1(k int, l int; k, l)\nt2(k int, w int; k)",
        "SELECT a.k AS c0, a.y AS c1, b.l AS c2, c.w AS c3 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.k "
        "LEFT JOIN t2 AS c ON c.k = b.l AND c.w > 3",
        {"t0": [(1, 1), (2, 2), (3, 3)], "t1": [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (4, 1)], "t2": [(1, 5), (2, 2), (3, 4)]},
        {"t2": [(1, 2), (2, 5), (3, 4)]},
        {"t1": [(1, 1), (1, 3), (2, 2), (3, 2), (4, 1)], "t2": [(1, 4), (2, 3), (3, 4)]},
        {"t0": [(1, 1), (3, 4), (4, 4)], "t1": [(1, 1), (1, 2), (3, 3), (4, 1)], "t2": [(1, 3), (2, 4), (4, 9)]},
        {"t0": [(1, 2), (2, 2), (4, 5)], "t1": [(1, 2), (2, 1), (4, 4)], "t2": [(1, 6), (2, 1), (4, 1)]},
    ),
    "one of many partners has a partner at the end of a chain": build(
        "t0(k int, y int; k)\nt1(k int, x int, y int; k)\nt2(k int, w int; k)\nt3(k int, v int; k)",
        "SELECT a.k AS c0, a.y AS c1, b.k AS c2, c.w AS c3, d.v AS c4 FROM t0 AS a LEFT JOIN t1 AS b ON b.x = a.k "
        "LEFT JOIN t2 AS c ON c.k = b.y LEFT JOIN t3 AS d ON d.k = c.w AND d.v > 0",
        {
            "t0": [(1, 1), (2, 2)],
            "t1": [(1, 1, 1), (2, 1, 2), (3, 2, 1), (4, None, 1)],
            "t2": [(1, 1), (2, 2)],
            "t3": [(1, 1), (2, 0)],
        },
        {"t3": [(1, 0), (2, 2)]},
        {"t1": [(1, 1, 2), (2, 1, 1), (3, 2, None), (4, 2, 1)], "t3": [(1, 3), (2, 0)]},
        {"t0": [(1, 2), (3, 3)], "t2": [(1, 2), (2, 1)], "t3": [(1, 0), (2, 1)]},
        {"t0": [(1, 1), (2, 2)], "t1": [(1, 1, 1), (4, 2, 2), (5, 1, 2)], "t2": [(1, 1), (2, 1), (3, 3)], "t3": [(1, 2), (3, 1)]},
    ),
    "an outer join of a full join": build(
        _THREE,
        "SELECT a.k AS c0, b.k AS c1, c.k AS c2, a.y + c.w AS c3 FROM t0 AS a FULL JOIN t1 AS b ON a.x = b.x "
        "FULL JOIN t2 AS c ON c.x = coalesce(a.x, b.x)",
        {**_PAIR, "t2": [(1, 1, 1), (2, 3, 2)]},
        {"t1": [(1, 1, 1), (2, 3, 2)]},
        {"t0": [(1, 3, 1), (2, None, 2)], "t2": [(1, 1, 5), (2, 3, 3)]},
        {"t0": [], "t1": [(2, 1, 2)]},
        {"t0": [(1, 1, 1)], "t1": [], "t2": []},
    ),
    "rows that have no partner by an outer join": build(
        _TWO,
        "SELECT a.k AS c0, a.y AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.x WHERE b.k IS NULL",
        _PADDED,
        {"t1": [(2, 1, 2)]},
        {"t1": [(2, 2, 2)]},
        {"t0": [(1, 2, 5), (2, 1, 7)]},
        {"t0": [(1, 1, 5), (2, 2, 8)], "t1": []},
    ),
    "a condition on the right side above an outer join": build(
        _TWO,
        f"{_LEFT} WHERE b.z > 1",
        _PADDED,
        {"t1": [(1, 1, 2), (2, 1, 1)]},
        {"t1": [(1, 2, 2), (2, 2, 3)]},
        {"t0": [(1, 2, 1), (2, 1, 2)]},
        {"t1": []},
    ),
    "a condition that is true of NULLs above an outer join": build(
        _TWO,
        f"{_LEFT} WHERE coalesce(b.z, 5) > 1 AND a.y > 0",
        _PADDED,
        {"t1": [(1, 1, 2), (2, 1, 1)]},
        {"t1": [(1, 2, 0), (2, 1, 0)]},
        {"t0": [(1, 3, 1), (2, 2, 0)]},
        {"t1": [(1, None, 0)], "t0": [(1, 1, 1), (2, 2, 2)]},
    ),
    "ON has a condition on one side only": build(
        _TWO,
        f"{_LEFT} AND a.y > 1 AND b.z > 1",
        {"t0": [(1, 1, 1), (2, 1, 2)], "t1": [(1, 1, 1), (2, 1, 2)]},
        {"t0": [(1, 1, 2), (2, 1, 1)]},
        {"t1": [(1, 1, 2), (2, 1, 1)]},
        {"t0": [(1, 1, 3), (2, 1, 0)], "t1": [(1, 1, 0), (2, 1, 1)]},
        {"t1": [(1, 2, 7), (2, 1, 7)]},
    ),
    "ON of a full join has a condition on one side only": build(
        _TWO,
        f"{_FULL} AND a.y > 1 AND b.z > 1",
        {"t0": [(1, 1, 1), (2, 1, 2)], "t1": [(1, 1, 1), (2, 1, 2)]},
        {"t0": [(1, 1, 2), (2, 1, 1)]},
        {"t1": [(1, 1, 2), (2, 1, 1)]},
        {"t0": [(1, 1, 3), (2, 1, 0)], "t1": [(1, 1, 0), (2, 1, 1)]},
        {"t0": [(3, 1, 1)], "t1": [(2, 1, 7)]},
    ),
    "ON reads one side only": build(
        _TWO,
        "SELECT a.k AS c0, b.k AS c1, b.z AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON a.y > 1",
        {**_PAIR, "t1": []},
        {"t1": [(1, 1, 1), (2, 2, 2)]},
        {"t0": [(1, 1, 2), (2, 2, 1)]},
        {"t1": [(2, 2, 3)]},
        {"t1": []},
    ),
    "ON TRUE": build(
        _TWO,
        "SELECT a.k AS c0, b.k AS c1, a.y AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON TRUE",
        {**_PAIR, "t1": []},
        {"t1": [(1, 1, 1)]},
        {"t1": [(1, 2, 1), (2, 2, 2)], "t0": [(1, 1, 7), (3, 3, 3)]},
        {"t1": []},
        {"t0": []},
    ),
    "a full join ON TRUE": build(
        _TWO,
        "SELECT a.k AS c0, b.k AS c1, a.y AS c2 FROM t0 AS a FULL JOIN t1 AS b ON TRUE",
        {"t0": [], "t1": [(1, 1, 1)]},
        {"t0": [(1, 1, 1), (2, 2, 2)]},
        {"t1": []},
        {"t0": [], "t1": [(2, 2, 2)]},
        {"t0": [(3, 3, 3)], "t1": []},
    ),
    "ON FALSE": build(
        _TWO,
        "SELECT a.k AS c0, b.k AS c1, a.y AS c2, b.z AS c3 FROM t0 AS a FULL JOIN t1 AS b ON FALSE",
        _PAIR,
        {"t0": [(1, 1, 1), (3, 3, 3)]},
        {"t0": [(1, 5, 9)], "t1": [(2, 2, 9)]},
        {"t0": [], "t1": []},
    ),
    "groups over an outer join": build(
        _TWO,
        _LEFT_SUMS,
        _PADDED,
        {"t1": [(1, 1, 5), (2, 2, 2)]},
        {"t0": [(1, 1, 2), (2, 2, 2), (3, None, 3)], "t1": [(1, 1, None)]},
        {"t0": [(1, 2, 1), (4, 2, 1)], "t1": [(1, 1, 1), (2, 2, 3), (3, 2, 4)]},
        {"t1": []},
        {"t0": [(4, 1, 1)], "t1": [(1, 1, 1)]},
    ),
    "groups over a full join": build(
        _TWO,
        _LEFT_SUMS.replace("LEFT", "FULL"),
        _PADDED,
        {"t1": [(1, 1, 5), (2, 2, 2)]},
        {"t0": [(1, 1, 2), (2, 2, 2), (3, None, 3)], "t1": [(1, 1, None)]},
        {"t0": [(1, 2, 1), (4, 2, 1)], "t1": [(1, 1, 1), (2, 2, 3), (3, 2, 4)]},
        {"t1": []},
        {"t0": [], "t1": [(1, 1, 1)]},
    ),
    "groups by a column of the padded side": build(
        _TWO,
        "SELECT b.z AS c0, count(*) AS c1, sum(a.y) AS c2, count(b.k) AS c3 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.x "
        "GROUP BY b.z",
        _PADDED,
        {"t1": [(1, 1, 1), (2, 2, None)]},
        {"t1": [(1, 1, None), (2, 3, None)]},
        {"t0": [(2, 2, 2)]},
        {"t0": [(1, 1, 1)], "t1": []},
    ),
    "groups over an outer join of keyless rows": build(
        "t0(x int, y int)\nt1(x int, z int)",
        "SELECT a.x AS c0, count(*) AS c1, count(b.z) AS c2, sum(b.z) AS c3 FROM t0 AS a "
        "LEFT JOIN t1 AS b ON a.x = b.x GROUP BY a.x",
        {"t0": [(1, 5), (1, 5), (2, 5)], "t1": [(1, 1), (1, 1)]},
        {"t0": [(1, 5), (2, 5), (2, 5)], "t1": [(1, 1), (2, None)]},
        {"t1": []},
        {"t0": [(1, 5)], "t1": [(1, 2), (1, 2)]},
    ),
    "the only padded row of a group gets its first partner": build(
        _TWO,
        "SELECT b.z AS c0, max(a.y) AS c1, count(*) AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.x GROUP BY b.z",
        {"t0": [(1, 1, 7), (2, 2, 8)], "t1": [(1, 2, 1)]},
        {"t1": [(1, 1, 1)]},
        {"t1": [(1, 1, 1), (2, 2, 0)]},
        {"t1": []},
    ),
    "groups of groups over an outer join": build(
        _TWO,
        f"SELECT g.c2 AS d0, count(*) AS d1, sum(g.c3) AS d2 FROM ({_LEFT_SUMS}) AS g GROUP BY g.c2",
        _PADDED,
        {"t1": [(1, 1, 5), (2, 2, 2)]},
        {"t0": [(1, 1, 2), (3, None, 3)], "t1": [(2, 1, 2)]},
        {"t1": []},
        {"t0": []},
    ),
    "distinct rows of an outer join": build(
        _TWO,
        "SELECT DISTINCT a.y AS c0, b.z AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.x",
        {"t0": [(1, 1, 7), (2, 2, 7)], "t1": []},
        {"t1": [(1, 1, None)]},
        {"t1": [(1, 1, None), (2, 2, 5)]},
        {"t1": [(2, 2, None)]},
        {"t0": [(1, 1, 7), (2, 2, 8)]},
    ),
    "a test of rows of an outer join": build(
        _THREE,
        f"{_LEFT} WHERE EXISTS (SELECT 1 FROM t2 AS c WHERE c.x <=> b.z)",
        {**_PADDED, "t2": [(1, 1, 1)]},
        {"t2": [(1, None, 1)]},
        {"t1": [(1, 2, 1), (2, 2, None)]},
        {"t1": [], "t2": [(1, 1, 1)]},
        {"t1": [(1, 1, 1)], "t2": [(1, 1, 1), (2, None, 1)]},
        {"t0": [(1, 2, 1), (2, 1, 2)]},
    ),
    "a test against rows of an outer join": build(
        _THREE,
        "SELECT c.k AS c0, c.w AS c1 FROM t2 AS c WHERE NOT EXISTS (SELECT 1 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.x "
        "WHERE b.z <=> c.x AND a.y = c.w)",
        {**_PADDED, "t2": [(1, None, 2), (2, 1, 1), (3, None, 1)]},
        {"t1": [(2, 1, 2)]},
        {"t1": [(2, 2, 2)]},
        {"t0": [(1, 2, 1), (2, 1, 2)]},
        {"t0": [(1, 1, 1)], "t1": []},
    ),
    "a union of outer joins": build(
        _TWO,
        f"{_LEFT} UNION ALL {_FULL}",
        _PADDED,
        {"t1": [(1, 1, 9), (2, 2, 2)]},
        {"t0": [(1, 2, 1), (2, 1, 2)]},
        {"t0": [(1, 3, 1)], "t1": [(1, 3, 5), (3, None, 3)]},
        {"t1": []},
    ),
    "an outer join of unions": build(
        _TWO,
        "SELECT u.c0 AS d0, u.c1 AS d1, w.c1 AS d2 FROM (SELECT a.x AS c0, a.y AS c1 FROM t0 AS a UNION ALL "
        "SELECT b.x AS c0, b.z AS c1 FROM t1 AS b) AS u FULL JOIN (SELECT b.x AS c0, b.z AS c1 FROM t1 AS b UNION ALL "
        "SELECT a.y AS c0, a.k AS c1 FROM t0 AS a) AS w ON u.c0 = w.c0",
        _PADDED,
        {"t1": [(1, 3, 1), (2, 1, 9)]},
        {"t0": [(1, 3, 3), (2, None, 2)]},
        {"t0": [], "t1": [(1, 2, 2)]},
        {"t0": [(1, 2, 5)], "t1": []},
    ),
    "computed columns above an outer join": build(
        _TWO,
        "SELECT a.k AS c0, coalesce(b.z, 0) AS c1, a.y + coalesce(b.z, 0) AS c2, b.k IS NULL AS c3 FROM t0 AS a "
        "LEFT JOIN t1 AS b ON a.x = b.x",
        _PADDED,
        {"t0": [(1, 1, 9), (2, 2, 8)], "t1": [(1, 1, 5), (2, 2, None)]},
        {"t1": [(1, 2, 1)]},
        {"t0": [(1, 2, 1), (2, 2, 2)], "t1": [(1, 2, 7)]},
        {"t1": []},
    ),
    "computed columns of both sides above a full join": build(
        _TWO,
        "SELECT coalesce(a.k, b.k) AS c0, coalesce(a.y, 0) - coalesce(b.z, 0) AS c1, a.k IS NULL AS c2, b.k IS NULL AS c3 "
        "FROM t0 AS a FULL JOIN t1 AS b ON a.k = b.k",
        _PAIR,
        {"t0": [(1, 1, 9), (3, 2, 8)], "t1": [(1, 1, 5), (2, 2, None)]},
        {"t0": [(2, 5, 5)], "t1": [(3, 1, 7)]},
        {"t0": [(2, 5, 6), (3, 1, 1)], "t1": [(3, 1, 8), (2, 2, 2)]},
        {"t0": []},
    ),
    "a computed column on the padded side of an outer join": build(
        _TWO,
        "SELECT a.k AS c0, g.c AS c1, g.one AS c2 FROM t0 AS a LEFT JOIN (SELECT b.x AS x, coalesce(b.z, 0) AS c, 1 AS one "
        "FROM t1 AS b WHERE b.k < 9) AS g ON g.x = a.x",
        _PADDED,
        {"t1": [(1, 1, None), (2, 2, 2), (9, 1, 1)]},
        {"t1": [(1, 2, 1), (9, 2, 2)]},
        {"t0": [(1, 2, 1), (2, 2, 2)], "t1": [(1, 2, None)]},
        {"t1": []},
    ),
    "a computed attribute in the condition of an outer join": build(
        _TWO,
        "SELECT a.k AS c0, g.k AS c1, g.w AS c2 FROM t0 AS a LEFT JOIN (SELECT b.k AS k, b.x + b.z AS w FROM t1 AS b) AS g "
        "ON g.w = a.x + a.y",
        _PAIR,
        {"t1": [(1, 1, 3), (2, 0, 2)]},
        {"t0": [(1, 0, 1), (2, 2, 0)]},
        {"t0": [(1, 4, 0), (2, 1, 1)], "t1": [(1, 2, 2), (2, 1, 1)]},
        {"t1": [(1, None, 2)]},
    ),
    "an outer join inside the right side of an outer join": build(
        _THREE,
        "SELECT a.k AS c0, g.k AS c1, g.l AS c2, g.w AS c3 FROM t0 AS a LEFT JOIN (SELECT b.k AS k, c.k AS l, b.x AS x, "
        "coalesce(c.w, 0) AS w FROM t1 AS b LEFT JOIN t2 AS c ON c.x = b.z) AS g ON g.x = a.x",
        {**_PADDED, "t2": [(1, 1, 1)]},
        {"t2": [(1, 2, 7)]},
        {"t1": [(1, 2, 2), (2, 1, 1)]},
        {"t2": []},
        {"t1": []},
        {"t0": [(1, 2, 5)], "t1": [(3, 2, None)], "t2": [(5, None, 5)]},
    ),
    "joins on the right side of an outer join": build(
        _THREE,
        "SELECT a.k AS c0, g.k AS c1, g.l AS c2, g.w AS c3 FROM t0 AS a LEFT JOIN (SELECT b.k AS k, c.k AS l, b.x AS x, "
        "c.w AS w FROM t1 AS b JOIN t2 AS c ON c.x = b.z WHERE c.w > 0) AS g ON g.x = a.x",
        {**_PADDED, "t2": [(1, 1, 1), (2, 2, 0)]},
        {"t2": [(1, 1, 0), (2, 2, 2)]},
        {"t1": [(1, 2, 2), (2, 1, 1)]},
        {"t1": [(1, 2, 2), (4, 1, 2)], "t2": [(1, 2, 5), (2, 2, 6)]},
        {"t2": []},
    ),
    "a join above an outer join": build(
        _THREE,
        f"SELECT v.c0 AS d0, v.c1 AS d1, c.k AS d2, c.w + v.c2 AS d3 FROM t2 AS c JOIN ({_LEFT}) AS v ON v.c3 <=> c.x",
        {**_PADDED, "t2": [(1, 1, 1), (2, None, 2)]},
        {"t1": [(2, 2, 1)]},
        {"t0": [(1, 1, 5), (2, 1, 6)], "t2": [(1, 1, 3)]},
        {"t1": [], "t2": [(1, None, 3), (3, None, 4)]},
        {"t0": [(2, 2, 6)], "t1": [(1, 2, 2)], "t2": [(1, 2, 1), (4, None, 0)]},
    ),
    "a row has one partner at most by an outer join": build(
        _KEYED,
        "SELECT a.k AS c0, a.y AS c1, b.k AS c2, b.z AS c3 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.k",
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [(1, 1, 1)]},
        {"t1": [(1, 1, 5), (2, 2, 2)]},
        {"t0": [(1, 2, 1), (2, 3, 2)]},
        {"t0": [(1, 1, 7), (2, 2, 7)], "t1": [(2, 2, 7)]},
        {"t1": []},
    ),
    "one row of all rows beside an outer join": build(
        _TWO,
        "SELECT a.k AS c0, g.n AS c1, g.s AS c2 FROM t0 AS a LEFT JOIN "
        "(SELECT count(*) AS n, sum(b.z) AS s FROM t1 AS b) AS g ON g.n = a.x",
        {"t0": [(1, 1, 1), (2, 0, 2)], "t1": []},
        {"t1": [(1, 1, 1)]},
        {"t1": [(1, 1, 5)]},
        {"t1": [(1, 1, 5), (2, 2, 2)]},
        {"t0": [(1, 2, 1), (3, 0, 0)]},
        {"t1": []},
    ),
    **{
        f"a key that is NULL on the padded side of a {side} join": build(
            _TWO,
            _LEFT.replace("LEFT", side),
            {"t0": [(1, 1, 1), (2, 2, 2), (None, 3, 3)], "t1": [(None, 1, 1), (2, 5, 5)]},
            {"t1": [(None, 1, 9), (2, 5, 6)]},
            {"t0": [(1, 1, 1), (2, 2, 2), (None, 3, 4)]},
            {"t1": [(2, 2, 6)]},
            {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [(2, 5, 6), (None, 1, 1)]},
        )
        for side in ("LEFT", "FULL")
    },
    "one row of all rows in a full join with copies, which a change does not reach": build(
        "t0(x int, y int)\nt1(k int, x int; k)",
        "SELECT a.y AS c0, g.n AS c1 FROM t0 AS a FULL JOIN (SELECT count(*) AS n FROM t1 AS b) AS g ON g.n = a.x",
        {"t0": [(5, 1), (1, 2)], "t1": [(1, 1)]},
        {"t0": [(6, 1), (1, 2)]},
        {"t1": [(1, 1), (2, 2)]},
        {"t0": [(2, 1), (2, 1)]},
    ),
    "one row in a full join with copies": build(
        "t0(x int, y int)",
        "SELECT a.y AS c0, c.n AS c1 FROM t0 AS a FULL JOIN (SELECT 1 AS n) AS c ON a.x = c.n",
        {"t0": [(5, 1), (1, 2)]},
        {"t0": [(6, 1), (1, 2)]},
        {"t0": [(6, 1)]},
        {"t0": [(1, 1), (1, 1)]},
    ),
    "constants beside rows in a full join": build(
        _ONE,
        "SELECT a.k AS c0, v.c AS c1, a.y AS c2 FROM t0 AS a FULL JOIN (VALUES (1), (1), (NULL)) AS v(c) ON v.c = a.x",
        {"t0": [(1, 1, 1), (2, 2, 2)]},
        {"t0": [(1, 2, 1), (2, 2, 3)]},
        {"t0": [(2, 1, 3), (3, 1, 3)]},
        {"t0": []},
    ),
    "one row in an outer join": build(
        _ONE,
        "SELECT c.n AS c0, a.k AS c1, a.y AS c2 FROM (SELECT 1 AS n) AS c LEFT JOIN t0 AS a ON a.x = c.n",
        {"t0": []},
        {"t0": [(1, 1, 1), (2, 2, 2)]},
        {"t0": [(1, 2, 1), (2, 1, 2)]},
        {"t0": [(1, 1, 1), (2, 1, 3)]},
        {"t0": []},
    ),
    "a CTE on both sides of an outer join": build(
        _TWO,
        "WITH w AS (SELECT a.x AS x, sum(a.y) AS s, count(*) AS n FROM t0 AS a GROUP BY a.x) "
        "SELECT p.x AS c0, p.s AS c1, q.x AS c2, q.s AS c3 FROM w AS p LEFT JOIN w AS q ON p.n = q.x",
        {"t0": [(1, 1, 1), (2, 2, 2), (3, 2, 3)], "t1": []},
        {"t0": [(1, 1, 1), (2, 1, 2), (3, None, 3)]},
        {"t0": [(1, None, 1), (3, None, 3)]},
        {"t0": [(1, None, 1), (3, 1, 3), (4, 2, 4)]},
        {"t0": [(1, 1, 7)]},
    ),
    "a subview of an outer join is read twice": build(
        _TWO,
        f"WITH w AS ({_LEFT}) SELECT p.c0 AS d0, p.c1 AS d1, q.c1 AS d2, q.c3 AS d3 FROM w AS p LEFT JOIN w AS q ON p.c2 = q.c3",
        _PADDED,
        {"t1": [(1, 1, 1), (2, 2, 2)]},
        {"t0": [(1, 1, 2), (2, 2, 1)]},
        {"t1": []},
        {"t0": [(1, 1, 1)], "t1": [(1, 1, 1)]},
    ),
    "both occurrences of a table in an outer join change": build(
        _ONE,
        _SELF.replace("JOIN", "LEFT JOIN"),
        {"t0": [(1, 1, 1), (2, 2, 1)]},
        {"t0": [(1, 2, 2), (2, 1, 2)]},
        {"t0": [(1, 2, 3), (3, 2, 2)]},
        {"t0": [(3, 1, 5)]},
        {"t0": []},
    ),
    "both occurrences of a table in a full join change": build(
        _ONE,
        _SELF.replace("JOIN", "FULL JOIN"),
        {"t0": [(1, 1, 1), (2, 2, 1)]},
        {"t0": [(1, 2, 2), (2, 1, 2)]},
        {"t0": [(1, 2, 3), (3, 2, 2)]},
        {"t0": [(3, 1, 5)]},
        {"t0": []},
    ),
    "RIGHT JOIN with other joins before it": build(
        _THREE,
        "SELECT a.k AS c0, b.k AS c1, c.k AS c2, c.w AS c3 FROM t0 AS a JOIN t1 AS b ON a.x = b.x RIGHT JOIN t2 AS c "
        "ON c.x = b.z AND a.y > 0",
        {**_PAIR, "t2": [(1, 1, 1), (2, 3, 2)]},
        {"t1": [(1, 2, 3)]},
        {"t0": [(1, 2, 0), (2, 2, 1)], "t2": [(1, 3, 1), (2, 3, 2)]},
        {"t1": [(1, 1, 3), (2, None, 3)]},
        {"t1": []},
    ),
}

# Facts with two foreign keys, what they look up, and what that looks up: partners that come, go, change and get another key while
# facts are inserted, deleted, changed and moved; foreign keys that are NULL or name nothing; all tables at once; nothing is left.
_STAR = "t0(k int, x int, y int, v int; k)\nt1(k int, n int, x int; k)\nt2(k int, n int, x int; k)\nt3(k int, w int; k)"
_FACTS = {
    "t0": [(1, 1, 1, 5), (2, 1, 2, 6), (3, 2, None, 7), (4, None, 1, 8), (5, 9, 9, 9), (6, 3, 2, 5)],
    "t1": [(1, 1, 1), (2, 2, 2), (3, 1, None)],
    "t2": [(1, 1, 1), (2, 2, 3)],
    "t3": [(1, 1), (2, 2)],
}
_FACTS_MOVE = (
    {
        "t0": [(1, 2, 1, 5), (2, 1, 2, 60), (4, 4, 1, 8), (5, 9, 9, 9), (6, 3, 2, 5), (7, 1, 1, 1), (8, None, 2, 2)],
        "t1": [(1, 7, 1), (2, 2, 2), (4, 1, 1)],
    },
    {"t1": [(9, 7, 1), (2, None, 2), (4, 1, 3)], "t2": [(1, 8, 2), (2, 2, 3)]},
    {"t3": [(1, 5), (3, 1)]},
    {
        "t0": [(1, 4, 2, 5), (2, 9, 2, 60), (4, 4, None, 8), (5, 2, 1, 9), (6, 3, 2, 5), (8, 3, 2, 2)],
        "t1": [(9, 8, 2), (2, 1, 2), (3, 5, 1)],
        "t2": [(2, 8, 1), (3, 1, 3)],
        "t3": [(2, 9), (3, 7)],
    },
    {"t0": [(2, 2, 1, 1), (8, 9, 1, 2)], "t1": []},
    {"t1": [(2, 3, 3), (9, 3, None)], "t2": [(1, 1, 3)], "t3": []},
    _FACTS,
)
_LOOK_UP = "SELECT a.k AS c0, a.v AS c1, b.n AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x"
_SNOWFLAKE = "t0 AS a LEFT JOIN t1 AS b ON b.k = a.x LEFT JOIN t3 AS c ON c.k = b.x"
_LOOKED_GROUPS = "(SELECT b.n AS n, count(*) AS m, sum(b.x) AS s FROM t1 AS b GROUP BY b.n) AS g"


def looked_up(sql: str, tables: str = _STAR) -> Case:
    """A view of the star while everything in it changes."""
    return build(tables, sql, _FACTS, *_FACTS_MOVE)


def of_rows(sql: str, facts: str) -> Case:
    """The same with other columns of the facts."""
    return looked_up(sql, _STAR.replace("t0(k int, x int, y int, v int; k)", facts))


LOOK_UPS = {
    "a row is looked up": looked_up(_LOOK_UP),
    "a row is looked up, and so is its key": looked_up(
        "SELECT a.k AS c0, a.x AS c1, b.k AS c2, b.n AS c3, b.x AS c4 FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.k"
    ),
    "several rows are looked up": looked_up(
        "SELECT a.k AS c0, b.n AS c1, c.n AS c2, c.x AS c3 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x "
        "LEFT JOIN t2 AS c ON c.k = a.y"
    ),
    "rows are looked up in one table by two attributes": looked_up(
        "SELECT a.k AS c0, b.n AS c1, c.n AS c2, b.n + c.x AS c3 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x "
        "LEFT JOIN t1 AS c ON c.k = a.y"
    ),
    "a row that is looked up looks up another": looked_up(f"SELECT a.k AS c0, b.n AS c1, c.w AS c2 FROM {_SNOWFLAKE}"),
    "a row that is looked up looks up another, whose key the view has": looked_up(
        f"SELECT a.k AS c0, b.x AS c1, c.k AS c2, a.v + c.w AS c3 FROM {_SNOWFLAKE}"
    ),
    "rows that look up others are looked up": looked_up(
        "SELECT a.k AS c0, g.n AS c1, g.w AS c2 FROM t0 AS a LEFT JOIN (SELECT b.k AS k, b.n AS n, c.w AS w FROM t1 AS b "
        "LEFT JOIN t3 AS c ON c.k = b.x) AS g ON g.k = a.x"
    ),
    "two branches of rows that are looked up": looked_up(
        f"SELECT a.k AS c0, b.n AS c1, c.w AS c2, d.n AS c3, e.w AS c4 FROM {_SNOWFLAKE} LEFT JOIN t2 AS d ON d.k = a.y "
        "LEFT JOIN t3 AS e ON e.k = d.x"
    ),
    "a group is looked up": looked_up(
        f"SELECT a.k AS c0, a.v AS c1, g.n AS c2, g.m AS c3, g.s AS c4 FROM t0 AS a LEFT JOIN {_LOOKED_GROUPS} ON g.n = a.x"
    ),
    "the group NULL changes, and a foreign key is NULL": build(
        _TWO,
        _LEFT_GROUPS.replace("<=>", "="),
        {"t0": [(1, 1, 1), (2, None, 2), (3, None, 3)], "t1": [(1, 1, 1), (2, None, 5)]},
        {"t1": [(1, 1, 2), (2, None, 6)]},
        {"t0": [(1, None, 1), (2, 1, 2)], "t1": [(1, 1, 2), (2, None, 6), (3, None, 1)]},
        {"t1": [(1, 1, 2)]},
        {"t1": [(1, None, 2)]},
        {"t1": []},
    ),
    "the group NULL is looked up": build(
        _TWO,
        _LEFT_GROUPS,
        {"t0": [(1, 1, 1), (2, None, 2), (3, None, 3)], "t1": [(1, 1, 1), (2, None, 5)]},
        {"t1": [(1, 1, 2), (2, None, 6)]},
        {"t0": [(1, None, 1), (2, 1, 2)], "t1": [(1, 1, 2), (2, None, 6), (3, None, 1)]},
        {"t1": [(1, 1, 2)]},
        {"t1": [(1, None, 2)]},
        {"t1": []},
    ),
    "a row is looked up by <=>": looked_up(_LOOK_UP.replace("=", "<=>")),
    "pairs are looked up by both keys": looked_up(
        "SELECT a.k AS c0, g.n AS c1, g.w AS c2 FROM t0 AS a LEFT JOIN (SELECT b.k AS k, b.n AS n, c.k AS l, c.w AS w FROM t1 "
        "AS b JOIN t3 AS c ON c.k = b.x) AS g ON g.k = a.x AND g.l = a.y"
    ),
    "pairs are looked up by one of the keys": looked_up(
        "SELECT a.k AS c0, g.n AS c1, g.w AS c2 FROM t0 AS a LEFT JOIN (SELECT b.k AS k, b.n AS n, c.w AS w FROM t1 AS b "
        "JOIN t3 AS c ON c.k = b.x) AS g ON g.k = a.x"
    ),
    "rows that have a partner are looked up": looked_up(
        "SELECT a.k AS c0, g.n AS c1, g.x AS c2 FROM t0 AS a LEFT JOIN (SELECT * FROM t1 AS b WHERE EXISTS (SELECT 1 FROM t3 "
        "AS c WHERE c.k = b.x)) AS g ON g.k = a.x"
    ),
    "rows that have no partner are looked up": looked_up(
        "SELECT a.k AS c0, g.n AS c1, g.x AS c2 FROM t0 AS a LEFT JOIN (SELECT * FROM t1 AS b WHERE NOT EXISTS (SELECT 1 FROM "
        "t3 AS c WHERE c.k = b.x)) AS g ON g.k = a.x"
    ),
    "of the partners of a row that is looked up one comes and another changes": build(
        "t0(k int, x int; k)\nt1(k int, n int; k)\nt2(k int, x int; k)",
        "SELECT a.k AS c0, g.n AS c1 FROM t0 AS a LEFT JOIN (SELECT * FROM t1 AS b WHERE EXISTS (SELECT 1 FROM t2 AS c "
        "WHERE c.x = b.k)) AS g ON g.k = a.x",
        {"t0": [(1, 1), (2, 2)], "t1": [(1, 5), (2, 6)], "t2": [(1, 2)]},
        {"t2": [(1, 1), (2, 1)]},
        {"t2": [(1, 2), (3, 2)]},
        {"t2": [(1, 1), (2, 2)]},
    ),
    "a row without a partner, which is not looked up, changes": build(
        "t0(k int, x int; k)\nt1(k int, n int, x int; k)\nt2(k int; k)",
        "SELECT a.k AS c0, g.n AS c1 FROM t0 AS a LEFT JOIN (SELECT * FROM t1 AS b WHERE EXISTS (SELECT 1 FROM t2 AS c "
        "WHERE c.k = b.x)) AS g ON g.k = a.x",
        {"t0": [(1, 1), (2, 2)], "t1": [(1, 5, 1), (2, 6, None)], "t2": [(1,)]},
        {"t1": [(1, 6, 1), (2, 7, None)]},
        {"t1": [(1, 8, 2), (2, 8, None)], "t2": [(1,), (3,)]},
    ),
    "rows that a condition keeps are looked up": looked_up(
        "SELECT a.k AS c0, g.n AS c1, g.x AS c2 FROM t0 AS a LEFT JOIN (SELECT * FROM t1 AS b WHERE b.n < 7) AS g ON g.k = a.x"
    ),
    "rows that a condition on what they look up keeps are looked up": looked_up(
        "SELECT a.k AS c0, g.n AS c1, g.w AS c2 FROM t0 AS a LEFT JOIN (SELECT b.k AS k, b.n AS n, c.w AS w FROM t1 AS b "
        "LEFT JOIN t3 AS c ON c.k = b.x WHERE coalesce(c.w, 0) < 2) AS g ON g.k = a.x"
    ),
    "a row that is kept looks up by its key and by another attribute": build(
        "t0(k int, x int, y int; k)\nt1(k int, x int; k)\nt2(k int, l int, n int; k, l)",
        "SELECT a.k AS c0, g.n AS c1 FROM t0 AS a LEFT JOIN (SELECT b.k AS k, b.x AS x, c.n AS n FROM t1 AS b LEFT JOIN t2 AS c "
        "ON c.k = b.x AND c.l = b.k WHERE coalesce(c.n, 1) = 1) AS g ON g.k = a.x",
        {"t0": [(1, 1, 1), (2, 2, 1)], "t1": [(1, 4), (2, 3)], "t2": [(3, 1, 1), (4, 1, 1), (3, 2, 0)]},
        {"t2": [(3, 1, 0), (4, 1, 1), (3, 2, 1)]},
        {"t1": [(1, 3), (2, 3)], "t2": [(3, 1, 1), (4, 1, 0)]},
        {"t2": []},
    ),
    "a condition on what is looked up": looked_up(f"{_LOOK_UP} WHERE b.n > 1"),
    "a condition on what is looked up, that NULL satisfies": looked_up(f"{_LOOK_UP} WHERE coalesce(b.n, 5) > 1 AND a.v > 1"),
    "rows that look up nothing": looked_up(f"{_LOOK_UP} WHERE b.k IS NULL"),
    "a condition on two rows that are looked up": looked_up(
        f"SELECT a.k AS c0, b.n AS c1 FROM {_SNOWFLAKE} WHERE b.n IS NULL OR c.w IS NULL OR b.n <> c.w"
    ),
    "values of facts and of what they look up in one column": looked_up(
        "SELECT a.k AS c0, a.v * b.n AS c1, coalesce(b.n, -1) AS c2, b.k IS NULL AS c3, a.v - c.n AS c4 FROM t0 AS a "
        "LEFT JOIN t1 AS b ON b.k = a.x LEFT JOIN t2 AS c ON c.k = a.y"
    ),
    "groups by what is looked up": looked_up(
        "SELECT b.n AS c0, count(*) AS c1, sum(a.v) AS c2, count(DISTINCT a.y) AS c3 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x "
        "GROUP BY b.n"
    ),
    "sums by what is looked up": looked_up(
        f"SELECT c.w AS c0, b.n AS c1, count(*) AS c2, sum(a.v) AS c3, sum(b.n) AS c4, count(c.k) AS c5 FROM {_SNOWFLAKE} "
        "GROUP BY c.w, b.n"
    ),
    "extremes by what is looked up": looked_up(
        "SELECT b.n AS c0, min(a.v) AS c1, max(c.n) AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x LEFT JOIN t2 AS c "
        "ON c.k = a.y GROUP BY b.n"
    ),
    "a sum of all rows over what is looked up": looked_up(
        f"SELECT count(*) AS c0, sum(b.n) AS c1, max(c.w) AS c2 FROM {_SNOWFLAKE}"
    ),
    "sums by facts of what is looked up": looked_up(
        f"SELECT a.y AS c0, sum(b.n) AS c1, count(c.w) AS c2, sum(a.v + c.w) AS c3 FROM {_SNOWFLAKE} GROUP BY a.y"
    ),
    "partitions by what is looked up": looked_up(
        "SELECT a.k AS c0, row_number() OVER (PARTITION BY b.n ORDER BY a.v DESC, a.k) AS c1, sum(a.v) OVER (PARTITION BY b.n) "
        "AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x"
    ),
    "windows with several partitions over what is looked up": looked_up(
        "SELECT a.k AS c0, rank() OVER (PARTITION BY b.n ORDER BY a.v) AS c1, count(*) OVER (PARTITION BY c.w) AS c2, "
        f"max(c.w) OVER (PARTITION BY a.y) AS c3, count(b.k) OVER () AS c4 FROM {_SNOWFLAKE}"
    ),
    "the first rows of partitions by what is looked up": looked_up(
        "SELECT r.k, r.n FROM (SELECT a.k, b.n, row_number() OVER (PARTITION BY b.n ORDER BY a.v DESC, a.k) AS p FROM t0 AS a "
        "LEFT JOIN t1 AS b ON b.k = a.x) AS r WHERE r.p = 1"
    ),
    "rows of a window are looked up": looked_up(
        "SELECT a.k AS c0, g.r AS c1, g.m AS c2 FROM t0 AS a LEFT JOIN (SELECT b.k AS k, rank() OVER (PARTITION BY b.x ORDER BY "
        "b.n) AS r, count(*) OVER (PARTITION BY b.x) AS m FROM t1 AS b) AS g ON g.k = a.x"
    ),
    "the first row of a partition is looked up": looked_up(
        "SELECT a.k AS c0, g.n AS c1 FROM t0 AS a LEFT JOIN (SELECT r.n, r.x FROM (SELECT b.*, row_number() OVER (PARTITION BY "
        "b.x ORDER BY b.n, b.k) AS p FROM t1 AS b) AS r WHERE r.p = 1) AS g ON g.x = a.x"
    ),
    "a row is looked up by two attributes": build(
        "t0(k int, x int, y int, v int; k)\nt1(k int, l int, n int; k, l)",
        "SELECT a.k AS c0, a.v AS c1, b.n AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON b.l = a.y AND b.k = a.x",
        {"t0": [(1, 1, 1, 1), (2, 1, 2, 2), (3, 1, None, 3), (4, None, 1, 4)], "t1": [(1, 1, 5), (1, 2, 6), (2, 1, 7)]},
        {"t0": [(1, 1, 1, 1), (2, 2, 1, 2), (3, 1, 2, 3), (4, None, 1, 4)], "t1": [(1, 1, 8), (2, 1, 7), (2, 2, 9)]},
        {"t0": [(1, 2, 2, 7), (3, 1, 2, 3), (5, 1, 1, 5)], "t1": [(1, 2, 6), (2, 2, 8)]},
        {"t1": []},
        {"t1": [(1, 1, 1)]},
    ),
    "a row is looked up by its key and an attribute that changes": looked_up(
        "SELECT a.k AS c0, b.n AS c1, b.k AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x AND b.x = a.y"
    ),
    "a row is looked up by its key and an attribute that is NULL": build(
        "t0(k int, x int, y int; k)\nt1(k int, n int, x int; k)",
        "SELECT a.k AS c0, b.n AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x AND b.x = a.y",
        {"t0": [(1, 1, None), (2, 2, 1)], "t1": []},
        {"t1": [(1, 5, None), (2, 6, 1)]},
        {"t1": [(1, 6, None), (2, 6, None)]},
        {"t1": [(1, 6, None)]},
        {"t1": []},
    ),
    "a row is looked up by its key under a condition": looked_up(
        "SELECT a.k AS c0, b.n AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x AND b.n < a.v"
    ),
    "rows are looked up by a part of their key": build(
        "t0(k int, x int; k)\nt1(k int, l int, n int; k, l)",
        "SELECT a.k AS c0, b.n AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x",
        {"t0": [(1, 1), (2, 2)], "t1": [(1, 1, 5), (1, 2, 6)]},
        {"t1": [(1, 1, 7), (1, 3, 6), (2, 1, 7)]},
        {"t0": [(1, 2), (2, 1)], "t1": [(1, 3, 8), (2, 1, 7), (2, 2, 7)]},
    ),
    "copies are looked up by all of their columns": build(
        "t0(k int, x int, y int; k)\nt1(x int, y int)",
        "SELECT a.k AS c0, b.x AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON b.x = a.x AND b.y = a.y",
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [(1, 1)]},
        {"t1": [(1, 1), (1, 1), (2, 2)]},
        {"t1": [(2, 2), (2, 2)]},
    ),
    "a row is looked up by two attributes that have to be its key": looked_up(
        "SELECT a.k AS c0, b.n AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x AND b.k = a.y"
    ),
    "sums of what is looked up by attributes of two rows": looked_up(
        "SELECT a.y AS c0, count(c.k) AS c1, sum(c.w) AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x "
        "LEFT JOIN t3 AS c ON c.k = b.x AND c.w >= a.y GROUP BY a.y"
    ),
    "facts come while what they look up changes": build(
        "t0(k int, x int; k)\nt1(k int, n int; k)",
        "SELECT a.k AS c0, b.n AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x",
        {"t0": [(1, 1), (2, 2)], "t1": [(1, 5), (2, 6)]},
        {"t0": [(1, 1), (2, 2), (3, 1)], "t1": [(1, 7), (2, 6)]},
        {"t0": [(2, 2), (3, 1)], "t1": [(1, 8), (2, 8)]},
    ),
    "rows without a key look up": of_rows(
        "SELECT a.v AS c0, b.n AS c1, b.x AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x", "t0(k int, x int, y int, v int)"
    ),
    "copies look up": build(
        "t0(x int, y int)\nt1(k int, w int, z int; k)",
        "SELECT a.y AS c0, b.z AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x",
        {"t0": [(1, 5), (1, 5), (2, 5), (None, 5)], "t1": [(1, 1, 1)]},
        {"t1": [(1, 1, 2), (2, 1, 2)]},
        {"t0": [(1, 5), (2, 5), (2, 5), (2, 5), (None, 5), (None, 5)]},
        {"t0": [(2, 5), (1, 5), (3, 5)], "t1": [(2, 0, 2)]},
        {"t1": [(2, 0, 2), (3, 0, 2)]},
        {"t0": [(3, 5), (3, 5)], "t1": []},
    ),
    "sums of copies that look up": of_rows(
        "SELECT b.n AS c0, count(*) AS c1, sum(a.v) AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x GROUP BY b.n",
        "t0(k int, x int, y int, v int)",
    ),
    "rows that look up on the right side of an outer join": looked_up(
        "SELECT d.k AS c0, g.k AS c1, g.n AS c2 FROM t2 AS d LEFT JOIN (SELECT a.k AS k, a.y AS y, b.n AS n FROM t0 AS a "
        "LEFT JOIN t1 AS b ON b.k = a.x) AS g ON g.y = d.k AND (d.n < 5 OR g.n = 1)"
    ),
    "rows that look up in a full join": looked_up(
        "SELECT d.k AS c0, g.k AS c1, g.n AS c2, d.n AS c3 FROM t2 AS d FULL JOIN (SELECT a.k AS k, a.y AS y, b.n AS n FROM t0 "
        "AS a LEFT JOIN t1 AS b ON b.k = a.x) AS g ON g.n = d.n"
    ),
    "a full join looks up": looked_up(
        "SELECT a.k AS c0, d.k AS c1, b.n AS c2 FROM t0 AS a FULL JOIN t2 AS d ON d.k = a.y LEFT JOIN t1 AS b ON b.k = a.x"
    ),
    "pairs of an outer join look up by values of the padded side": looked_up(
        "SELECT d.k AS c0, a.k AS c1, b.n AS c2 FROM t2 AS d LEFT JOIN t0 AS a ON a.y = d.k LEFT JOIN t1 AS b ON b.k = a.x"
    ),
    "pairs look up": looked_up(
        "SELECT a.k AS c0, d.k AS c1, b.n AS c2, a.v + d.n AS c3 FROM t0 AS a JOIN t2 AS d ON d.n <= a.y LEFT JOIN t1 AS b "
        "ON b.k = a.x"
    ),
    "what looks up is joined by a value that it looks up": looked_up(
        f"SELECT v.c0 AS d0, v.c2 AS d1, d.k AS d2 FROM ({_LOOK_UP}) AS v JOIN t2 AS d ON d.n = v.c2"
    ),
    "a union of rows that look up": looked_up(
        f"{_LOOK_UP} UNION ALL SELECT a.k AS c0, a.y AS c1, c.n AS c2 FROM t0 AS a LEFT JOIN t2 AS c ON c.k = a.y"
    ),
    "a union looks up": looked_up(
        "SELECT u.v AS c0, b.n AS c1 FROM (SELECT a.x AS x, a.v AS v FROM t0 AS a UNION ALL SELECT c.x, c.n FROM t2 AS c) AS u "
        "LEFT JOIN t1 AS b ON b.k = u.x"
    ),
    "a union with a branch without a key looks up": build(
        "t0(k int, x int; k)\nt1(k int, n int; k)\nt2(x int)",
        "SELECT u.x AS c0, b.n AS c1 FROM (SELECT a.x AS x FROM t0 AS a UNION ALL SELECT c.x FROM t2 AS c) AS u "
        "LEFT JOIN t1 AS b ON b.k = u.x",
        {"t0": [(1, 1), (2, 2)], "t1": [(1, 1)], "t2": [(1,), (1,)]},
        {"t0": [(1, 1), (2, 2), (3, 1), (4, 1)], "t1": [(1, 2), (2, 2)]},
        {"t0": [(5, 2)], "t2": [(2,)]},
        {"t1": []},
    ),
    "elements of rows that look up": looked_up(
        "SELECT a.k AS c0, posexplode_outer(array(b.n, a.v)) AS (c1, c2) FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x"
    ),
    "a test against rows that look up": looked_up(
        "SELECT d.k AS c0, d.n AS c1 FROM t2 AS d WHERE EXISTS (SELECT 1 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x "
        "WHERE b.n <=> d.x)"
    ),
    "no row that looks up": looked_up(
        "SELECT d.k AS c0, d.n AS c1 FROM t2 AS d WHERE NOT EXISTS (SELECT 1 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x "
        "WHERE b.n <=> d.n)"
    ),
    "a test of what is looked up": looked_up(f"{_LOOK_UP} WHERE NOT EXISTS (SELECT 1 FROM t3 AS d WHERE d.w <=> b.n)"),
    "distinct values that are looked up": looked_up(
        "SELECT DISTINCT b.n AS c0, c.n AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x LEFT JOIN t2 AS c ON c.k = a.y"
    ),
    "a count of distinct values that are looked up": looked_up(
        f"SELECT a.y AS c0, count(DISTINCT b.n) AS c1, count(DISTINCT c.w) AS c2 FROM {_SNOWFLAKE} GROUP BY a.y"
    ),
    "a BIGINT looks up an INT": of_rows(_LOOK_UP, "t0(k int, x bigint, y int, v int; k)"),
    "a group of sums is looked up by a BIGINT": looked_up(
        "SELECT d.k AS c0, g.s AS c1, b.n AS c2 FROM t2 AS d LEFT JOIN (SELECT a.y AS y, sum(a.x) AS s FROM t0 AS a GROUP BY "
        "a.y) AS g ON g.y = d.k LEFT JOIN t1 AS b ON b.k = g.s"
    ),
    **{
        f"a {kind} looks up": build(
            f"t0(k int, x {kind}; k)\nt1(k {kind}, n int; k)",
            "SELECT a.k AS c0, b.n AS c1 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x",
            {"t0": [(1, one), (2, two), (3, None)], "t1": [(one, 1)]},
            {"t1": [(one, 2), (two, 2)]},
            {"t0": [(1, two), (2, one), (4, two)], "t1": [(two, 3)]},
            {"t1": [(one, 1)]},
        )
        for kind, one, two in (
            ("string", "", "a"),
            ("date", "2024-01-01", "2024-02-29"),
            ("boolean", False, True),
            ("decimal(10,2)", "0.50", "1.25"),
            ("bigint", 1, 2),
        )
    },
    "both zeros look up a group": build(  # a declared key of floats counts as none
        "t0(k int, x double; k)\nt1(k int, x double, n int; k)",
        "SELECT a.k AS c0, g.s AS c1 FROM t0 AS a LEFT JOIN (SELECT b.x AS x, sum(b.n) AS s FROM t1 AS b GROUP BY b.x) AS g "
        "ON g.x = a.x",
        {"t0": [(1, "0.0"), (2, "-0.0")], "t1": [(1, "0.0", 1)]},
        {"t1": [(1, "-0.0", 2)]},
        {"t1": [(1, "-0.0", 2), (2, "0.0", 2)]},
        {"t0": [(1, "0.0"), (3, "-0.0")], "t1": [(2, "0.0", 3)]},
        {"t1": []},
    ),
    "texts look up a number": build(
        "t0(k int, x string; k)\nt1(k int, n int; k)",
        "SELECT a.k AS c0, a.x AS c1, max(b.n) OVER (PARTITION BY a.x) AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x",
        {"t0": [(1, "7"), (2, "07"), (3, "8")], "t1": [(7, 1)]},
        {"t0": [(1, "7"), (2, "07"), (4, "08")], "t1": [(7, 2), (8, 1)]},
        {"t1": [(7, 3)], "t0": [(2, "07"), (4, "7")]},
    ),
}

_CHAIN = "t0(k int, x int; k)\nt1(x int, n int)\nt2(x int, n int)\nt3(x int, n int)\nt4(x int, n int)"
_CHAINED = {
    "t0": [(1, 1), (2, 2), (3, None)],
    "t1": [(1, 1), (1, 2)],
    "t2": [(1, 1), (2, None)],
    "t3": [(1, 2), (1, 2)],
    "t4": [(2, 5), (None, 6)],
}
_CHAINED_MOVE = (
    {"t1": [(1, 1), (2, 2)]},
    {"t0": [(1, 2), (3, 1)], "t2": [(1, 2), (2, 1), (2, 1)], "t3": [(1, 2), (2, 1)]},
    {"t4": [(2, 5), (2, 5), (1, 1)], "t1": [(1, 2), (2, None), (2, 1)]},
    {"t2": [], "t3": [(1, 1)]},
    {"t0": [(1, 1), (2, 2), (4, 2)], "t1": [], "t2": [(2, 2)]},
)
_OUTER_OF_GROUPS = " ".join(
    f"FULL JOIN (SELECT x, sum(n) AS s FROM t{number} GROUP BY x) AS g{number} ON g{number}.x = g0.x" for number in range(1, 5)
)
_SUBQUERIES = ", ".join(
    f"(SELECT {call}(b.n) FROM t{number} AS b WHERE b.x = a.x) AS c{number}"
    for number, call in ((1, "sum"), (2, "max"), (3, "count"), (4, "min"))
)

WIDE = {
    "four full joins of groups": build(
        _CHAIN,
        "SELECT g0.x AS c0, g0.s AS c1, g1.s AS c2, g2.s AS c3, g3.s AS c4, g4.x AS c5 FROM (SELECT x, count(*) AS s "
        f"FROM t0 GROUP BY x) AS g0 {_OUTER_OF_GROUPS}",
        _CHAINED,
        *_CHAINED_MOVE[1:3],
    ),
    "a chain of outer joins of rows without a key": build(
        _CHAIN,
        "SELECT a.k AS c0, b.n AS c1, c.n AS c2, d.n AS c3, e.n AS c4 FROM t0 AS a LEFT JOIN t1 AS b ON b.x = a.x "
        "LEFT JOIN t2 AS c ON c.x = b.n LEFT JOIN t3 AS d ON d.x = c.n LEFT JOIN t4 AS e ON e.x = d.n",
        _CHAINED,
        *_CHAINED_MOVE,
    ),
    "a star of outer joins of rows without a key": build(
        _CHAIN,
        "SELECT a.k AS c0, b.n AS c1, c.n AS c2, d.n AS c3, e.n AS c4 FROM t0 AS a LEFT JOIN t1 AS b ON b.x = a.x "
        "LEFT JOIN t2 AS c ON c.x = a.x LEFT JOIN t3 AS d ON d.x = a.x AND d.n > 1 LEFT JOIN t4 AS e ON e.x <=> a.x",
        _CHAINED,
        *_CHAINED_MOVE,
    ),
    "sums over a chain of outer joins of rows without a key": build(
        _CHAIN,
        "SELECT a.x AS c0, count(*) AS c1, sum(b.n) AS c2, count(c.n) AS c3, sum(d.n) AS c4 FROM t0 AS a "
        "LEFT JOIN t1 AS b ON b.x = a.x LEFT JOIN t2 AS c ON c.x = b.n LEFT JOIN t3 AS d ON d.x = c.n GROUP BY a.x",
        _CHAINED,
        *_CHAINED_MOVE,
    ),
    "sums by the end of a chain of outer joins": build(
        _CHAIN,
        "SELECT d.n AS c0, count(*) AS c1, sum(a.k) AS c2 FROM t0 AS a "
        "LEFT JOIN t1 AS b ON b.x = a.x LEFT JOIN t2 AS c ON c.x = b.n LEFT JOIN t3 AS d ON d.x = c.n GROUP BY d.n",
        _CHAINED,
        *_CHAINED_MOVE,
    ),
    "scalar subqueries beside each other": build(
        _CHAIN, f"SELECT a.k AS c0, {_SUBQUERIES} FROM t0 AS a", _CHAINED, *_CHAINED_MOVE
    ),
    "scalar subqueries in a sum": build(
        _CHAIN,
        f"SELECT q.c4 AS d0, count(*) AS d1, sum(q.c1) AS d2, sum(q.c2) AS d3 FROM (SELECT a.k AS c0, {_SUBQUERIES} FROM "
        "t0 AS a) AS q GROUP BY q.c4",
        _CHAINED,
        *_CHAINED_MOVE,
    ),
    "rows without a partner among the counts of windows over an outer join": build(
        _THREE,
        "SELECT c.k AS c0 FROM t2 AS c WHERE NOT EXISTS (SELECT 1 FROM (SELECT count(*) OVER (PARTITION BY a.y) AS m "
        "FROM t0 AS a LEFT JOIN t1 AS b ON b.x = a.x) AS g WHERE g.m = c.x)",
        {"t0": [(1, 1, 1)], "t1": [(1, 1, 1)], "t2": [(1, 1, 0), (2, 2, 0), (3, 3, 0)]},
        {"t1": [(1, 1, 1), (2, 1, 1)]},
        {"t1": [(1, 1, 1), (2, 1, 1), (3, 1, 1)]},
        {"t1": []},
    ),
    "rows without a partner among the counts of groups over an outer join": build(
        _THREE,
        "SELECT c.k AS c0 FROM t2 AS c WHERE NOT EXISTS (SELECT 1 FROM (SELECT a.y, count(*) AS m FROM "
        "t0 AS a LEFT JOIN t1 AS b ON b.x = a.x GROUP BY a.y) AS g WHERE g.m = c.x)",
        {"t0": [(1, 1, 1)], "t1": [(1, 1, 1)], "t2": [(1, 1, 0), (2, 2, 0), (3, 3, 0)]},
        {"t1": [(1, 1, 1), (2, 1, 1)]},
        {"t1": [(1, 1, 1), (2, 1, 1), (3, 1, 1)]},
        {"t1": []},
    ),
    "groups of rows by another attribute than their partition": build(
        _ONE,
        "SELECT q.x AS c0, sum(q.n) AS c1, max(q.n) AS c2 FROM (SELECT a.x AS x, count(*) OVER (PARTITION BY a.y) AS n "
        "FROM t0 AS a) AS q GROUP BY q.x",
        {"t0": [(1, 1, 1), (2, 2, 1), (3, 3, 2)]},
        {"t0": [(1, 1, 1), (2, 2, 2), (3, 3, 2)]},
        {"t0": [(1, 1, 1), (4, 5, 1), (3, 3, 2)]},
    ),
    "groups of rows beside the count of no rows": build(
        _THREE,
        "SELECT a.y AS c0, count(*) AS c1, max(g.n) AS c2 FROM t0 AS a JOIN t2 AS c ON c.x = a.x CROSS JOIN "
        "(SELECT count(*) AS n FROM t1 AS b) AS g GROUP BY a.y",
        {"t0": [(1, 1, 1), (2, 2, 2)], "t1": [], "t2": [(1, 1, 1), (2, 2, 2), (3, 2, 3)]},
        {"t2": [(2, 2, 2)]},
        {"t1": [(1, 1, 1)]},
        {"t1": [], "t2": [(2, 1, 2)]},
    ),
    "windows with several partitions over a full join": build(
        _TWO,
        "SELECT a.k AS c0, b.k AS c1, count(*) OVER (PARTITION BY a.x) AS c2, sum(b.z) OVER (PARTITION BY a.y) AS c3 FROM "
        "t0 AS a FULL JOIN t1 AS b ON a.x = b.x",
        {"t0": [(1, 1, 1)], "t1": [(1, 2, 5)]},
        {"t1": [(1, 2, 5), (2, 3, 6)]},
        {"t1": [(2, 3, 7)]},
        {"t0": [(1, 3, 1)]},
    ),
    "windows with several partitions over a join": build(
        _TWO,
        "SELECT a.k AS c0, b.k AS c1, rank() OVER (PARTITION BY a.x ORDER BY b.z) AS c2, count(*) OVER (PARTITION BY b.z) "
        "AS c3, max(b.z) OVER (PARTITION BY a.y) AS c4, sum(a.y) OVER (PARTITION BY b.k) AS c5 FROM t0 AS a "
        "JOIN t1 AS b ON a.x = b.x",
        _PADDED,
        *_CHANGED,
        {"t0": [(1, 1, 2), (4, 1, 2)], "t1": [(1, 1, 9), (2, 1, 9)]},
    ),
}

DIRECTED |= OUTER
DIRECTED |= FIRST_ROWS
DIRECTED |= TAILS
DIRECTED |= LOOK_UPS
DIRECTED |= WIDE
DIRECTED |= TIED

# A group that loses its last value, one that vanishes, one that comes; NULLs in each argument, and duplicates.
_SAMPLE = "t0(k int, x int, y int, z decimal(10,2), s string; k)"
_SAMPLES = (
    {
        "t0": [
            (1, 1, 1, "1.0", "b"),
            (2, 1, 2, "3.5", "a"),
            (3, 1, 2, "4.0", "b"),
            (4, 2, 5, None, "c"),
            (5, None, 7, "1.0", None),
        ]
    },
    {
        "t0": [
            (1, 1, 1, "1.0", "b"),
            (2, 1, None, "3.5", "a"),
            (3, 1, 2, "9.0", None),
            (4, 2, 5, "2.0", "c"),
            (6, 2, 5, "2.0", "c"),
        ]
    },
    {
        "t0": [
            (1, 1, None, None, None),
            (3, 2, 2, "9.0", "b"),
            (4, 2, 4, "2.0", "a"),
            (5, None, None, "1.0", "d"),
            (7, 3, 1, "1.0", "z"),
        ]
    },
    {"t0": [(1, 1, 3, "2.0", "")]},
    {"t0": []},
)


def _of_samples(*calls: str, having: str = "") -> Case:
    """The aggregates of each group."""
    items = ", ".join(f"{call} AS c{number}" for number, call in enumerate(calls, 1))
    return build(_SAMPLE, f"SELECT a.x AS c0, {items} FROM t0 AS a GROUP BY a.x{having}", *_SAMPLES)


AGGREGATES = {
    "counts of several columns": _of_samples(
        "count(DISTINCT a.y, a.s)", "count(*)", "count(DISTINCT a.y, a.s) FILTER (WHERE a.z > 1)"
    ),
    "groups that are kept by a count of several columns": _of_samples("sum(a.y)", having=" HAVING count(DISTINCT a.y, a.s) > 1"),
}
DIRECTED |= AGGREGATES
_OWNERS = "t0(k int, x int, y int; k)\nt1(k int, s string, y int; k)"
_OWNED = (
    {"t0": [(1, 1, 5), (2, 1, None), (3, 2, 7), (4, None, 1), (5, 9, 2)], "t1": [(1, "a", 1), (2, None, 2), (3, "c", None)]},
    {"t0": [(1, 1, 6), (3, 2, 7), (4, 2, 1), (5, 9, 2), (6, 3, 1)]},
    {"t1": [(1, "b", 1), (2, "d", None), (3, None, 4), (9, "e", 9)]},
    {"t0": [(1, 2, 6), (4, 9, 1), (5, None, 2), (6, 3, 1), (7, 3, None)], "t1": [(2, None, 3), (3, "f", 4), (9, "e", 8)]},
    {"t1": [(3, "f", 5)]},
    {"t0": []},
)
_OF_OWNER = "first(b.s) AS c1, last(b.y + b.k) AS c2, count(*) AS c3, sum(a.y) AS c4"
VALUES_OF_GROUPS = {
    "any value of what the groups determine": build(
        _OWNERS, f"SELECT b.k AS c0, {_OF_OWNER} FROM t0 AS a JOIN t1 AS b ON a.x = b.k GROUP BY b.k", *_OWNED
    ),
    "any value of the partner that the groups look up": build(
        _OWNERS, f"SELECT a.x AS c0, {_OF_OWNER} FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.k GROUP BY a.x", *_OWNED
    ),
    "any value of a group": build(
        _OWNERS, "SELECT a.x + 0 AS c0, first(a.x + 0) AS c1, count(*) AS c2 FROM t0 AS a GROUP BY a.x + 0", *_OWNED
    ),
    "groups that are kept by any value": build(
        _OWNERS,
        "SELECT b.k AS c0, sum(a.y) AS c1 FROM t0 AS a JOIN t1 AS b ON a.x = b.k GROUP BY b.k "
        "HAVING first(b.s) FILTER (WHERE b.y > 0) <> 'b'",
        *_OWNED,
    ),
    "any value of one row, or of none": build(
        _OWNERS,
        "SELECT a.k AS c0, (SELECT first(CAST(coalesce(b.y, 0) AS INT)) FROM t1 AS b WHERE b.k = a.x) AS c1 FROM t0 AS a",
        *_OWNED,
    ),
}
DIRECTED |= VALUES_OF_GROUPS
_DAYS = "t0(k int, x int, y int; k)\nt1(x int, d int, z int; x, d)"
_BY_DAY = (
    {"t0": [(1, 1, 5), (2, 1, 6), (3, 2, 7), (4, None, 8)], "t1": [(1, 1, 10), (1, 2, 20), (3, 1, 30), (2, None, 40)]},
    {"t1": [(1, 2, 21), (2, 1, 31), (2, 3, 11), (3, 1, 30), (None, 1, 1)]},
    {"t0": [(1, 2, 5), (2, 1, 6), (4, 3, 8), (5, 2, None)]},
    {"t0": [(1, 2, 5), (3, 1, 6), (4, 3, 9), (5, 3, 2), (6, 3, 4)], "t1": [(1, 1, 10), (3, None, 5), (2, 3, None)]},
    {"t1": []},
    {"t1": [(3, 2, 6), (3, 1, 6), (2, 2, 7)]},
)
_PADDED_ROWS = "t0 AS a LEFT JOIN t1 AS b ON b.x = a.x"
DIRECTED |= {
    "numbers of rows of which some are padded": build(
        _DAYS,
        f"SELECT a.k AS c0, b.z AS c1, row_number() OVER (PARTITION BY a.k ORDER BY b.d) AS c2 FROM {_PADDED_ROWS}",
        *_BY_DAY,
    ),
    "the first of rows of which some are padded": build(
        _DAYS,
        "SELECT r.c0, r.c1, r.c2 FROM (SELECT a.k AS c0, b.z AS c1, a.y AS c2, row_number() OVER "
        f"(PARTITION BY a.k ORDER BY b.d DESC) AS n FROM {_PADDED_ROWS} AND b.z > a.y) AS r WHERE r.n = 1",
        *_BY_DAY,
    ),
    "values by the order of rows of which some are padded": build(
        _DAYS,
        f"SELECT a.k AS c0, max_by(b.z, b.d) AS c1, min_by(b.z, b.d) AS c2, count(b.z) AS c3 FROM {_PADDED_ROWS} GROUP BY a.k",
        *_BY_DAY,
    ),
    "numbers of rows of two chained outer joins": build(
        _DAYS,
        "SELECT a.k AS c0, b.z AS c1, c.k AS c2, row_number() OVER (PARTITION BY a.k ORDER BY b.d, c.k) AS c3 "
        f"FROM {_PADDED_ROWS} LEFT JOIN t0 AS c ON c.y < b.z",
        *_BY_DAY,
    ),
    "any value of a padded partner": build(
        _OWNERS, f"SELECT b.k AS c0, {_OF_OWNER} FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.k GROUP BY b.k", *_OWNED
    ),
}
_BRANCHES = "t0(k int, x int, y int; k)\nt1(k int, z int; k)\nt2(x int, y int)"
_OF_BRANCHES = (
    {"t0": [(1, 1, 5), (2, 1, 5), (3, 2, None)], "t1": [(1, 5), (2, 7), (4, 5)], "t2": [(1, 5), (1, 5), (2, 7), (None, 1)]},
    {"t0": [(1, 1, 7), (3, 2, 4), (4, 1, 5)], "t1": [(1, 5), (2, 7), (3, None)]},
    {"t1": [(1, 7), (3, None), (4, None)], "t2": [(1, 6), (2, 7), (3, 7), (None, None)]},
    {"t0": [(1, 2, 7), (4, 1, None), (5, 1, 5)], "t2": [(2, 7)]},
    {"t1": []},
    {"t0": [], "t1": [(2, 1)]},
)
_TOLD_APART = "SELECT 'a' AS s, k AS i, x AS g, y AS v FROM t0 UNION ALL SELECT CAST('b' AS STRING), k, z % 2, z FROM t1"
_OF_GROUPS = "SELECT 1 AS s, x AS i, y AS j, count(*) AS v FROM t2 GROUP BY x, y UNION ALL SELECT 2, k, z, z FROM t1"
DIRECTED |= {
    "the first of rows of branches that a constant tells apart": build(
        _BRANCHES,
        "SELECT r.s AS c0, r.i AS c1, r.v AS c2 FROM (SELECT q.s, q.i, q.v, row_number() OVER (PARTITION BY q.i ORDER BY q.s DESC) "
        f"AS n FROM ({_TOLD_APART}) AS q) AS r WHERE r.n = 1",
        *_OF_BRANCHES,
    ),
    "numbers of rows of branches with different keys": build(
        _BRANCHES,
        f"SELECT q.i AS c0, q.v AS c1, row_number() OVER (PARTITION BY q.i ORDER BY q.s, q.j) AS c2 FROM ({_OF_GROUPS}) AS q",
        *_OF_BRANCHES,
    ),
    "any value of branches that a constant tells apart": build(
        _BRANCHES,
        f"SELECT q.s AS c0, q.i AS c1, first(q.g) AS c2, count(*) AS c3, sum(q.v + b.y) AS c4 FROM ({_TOLD_APART}) AS q "
        "JOIN t2 AS b ON b.x = q.i GROUP BY q.s, q.i",
        *_OF_BRANCHES,
    ),
}
DIRECTED["texts of equal numbers"] = build(
    "t0(k int, x double; k)\nt1(s string, y int; s)",
    "SELECT a.x AS c0, CAST(a.x AS STRING) AS c1, b.y AS c2 FROM t0 AS a JOIN t1 AS b ON b.s = CAST(a.x AS STRING)",
    {"t0": [(1, "0.0"), (2, "0.5")], "t1": [("0.0", 1), ("-0.0", 2), ("0.5", 3)]},
    {"t0": [(1, "0.0"), (2, "-0.0"), (3, "0.5")]},
    {"t1": [("0.0", 4), ("-0.0", None)]},
)
_FIRST_OF_EACH = "SELECT a.k AS c0, a.y AS c1, l.v AS c2 FROM t0 AS a"
FIRST_OF_EACH = {
    "the first row of another table for each row": build(
        _DAYS,
        f"{_FIRST_OF_EACH} LEFT JOIN LATERAL (SELECT coalesce(b.z, 0) AS v FROM t1 AS b WHERE b.x = a.x AND b.d <= a.y "
        "ORDER BY b.d DESC LIMIT 1) AS l ON true",
        *_BY_DAY,
    ),
    "the first two rows of another table for each row": build(
        _DAYS,
        f"{_FIRST_OF_EACH} JOIN LATERAL (SELECT b.z AS v, b.d, b.x FROM t1 AS b WHERE b.x <= a.x ORDER BY v DESC, d, x LIMIT 2) "
        "AS l ON l.v > 6",
        *_BY_DAY,
    ),
    "the value of the first row of another table": build(
        _DAYS,
        "SELECT a.k AS c0, (SELECT b.z AS v FROM t1 AS b WHERE b.x = a.x ORDER BY b.d LIMIT 1) AS c1 FROM t0 AS a "
        "WHERE a.y > 5 OR a.y IS NULL",
        *_BY_DAY,
    ),
    "rows that are tested by the first row of another table": build(
        _DAYS,
        "SELECT a.k AS c0, a.x AS c1 FROM t0 AS a "
        "WHERE coalesce((SELECT b.z FROM t1 AS b WHERE b.x = a.x AND b.z < a.y * 4 ORDER BY b.d DESC LIMIT 1), 7) > 6",
        *_BY_DAY,
    ),
    "the first row of another table for each of padded rows": build(
        _DAYS,
        f"SELECT a.k AS c0, b.d AS c1, (SELECT c.y FROM t0 AS c WHERE c.x > b.d ORDER BY c.k LIMIT 1) AS c2 FROM {_PADDED_ROWS}",
        *_BY_DAY,
    ),
}
DIRECTED |= FIRST_OF_EACH
_WEIGHED = "t0(k int, x int, y int, w double, m map<int,int>; k)\nt1(x int, d int, z int; x, d)"
UP_TO = {
    "the last value up to a day": build(
        _DAYS,
        "SELECT a.k AS c0, a.y AS c1, (SELECT max_by(b.z, b.d) FROM t1 AS b WHERE b.x = a.x AND b.d <= a.y - 4) AS c2 FROM t0 AS a",
        *_BY_DAY,
    ),
    "sums and counts of rows that are less": build(
        _DAYS,
        "SELECT a.k AS c0, (SELECT count(*) * 100 + count(b.z) + coalesce(sum(b.z), 0) FROM t1 AS b WHERE b.z < a.y * 3) AS c1, "
        "(SELECT sum(1) FROM t1 AS b WHERE b.x >= a.x) AS c2 FROM t0 AS a",
        *_BY_DAY,
    ),
    "aggregates by two conditions beside a JOIN": build(
        _DAYS,
        f"{_FIRST_OF_EACH.replace('l.v', 'l.n + l.m')} LEFT JOIN LATERAL (SELECT count(*) AS n, max(coalesce(b.z, 3)) AS m "
        "FROM t1 AS b WHERE b.x <= a.x) AS l",
        *_BY_DAY,
    ),
    "rows that are kept by how many are less": build(
        _DAYS,
        "SELECT a.k AS c0, a.x AS c1 FROM t0 AS a WHERE (SELECT count(*) FROM t1 AS b WHERE b.x = a.x AND b.z > a.y) <> 1",
        *_BY_DAY,
    ),
    "counts of rows that are less than padded ones": build(
        _DAYS,
        f"SELECT a.k AS c0, b.d AS c1, b.z AS c2, (SELECT count(*) FROM t0 AS c WHERE c.k <= b.d) AS c3 FROM {_PADDED_ROWS}",
        *_BY_DAY,
    ),
    "aggregates of rows that belong to each and are kept by HAVING": build(
        _DAYS,
        "SELECT a.k AS c0, (SELECT count(*) FROM t1 AS b WHERE b.x = a.x HAVING count(*) <> 1) AS c1, "
        "(SELECT sum(b.z) FROM t1 AS b WHERE b.x < a.x HAVING max(b.z) > 10) AS c2 FROM t0 AS a",
        *_BY_DAY,
    ),
    "counts of rows that are less than the one of a given key": build(
        _DAYS,
        "SELECT a.x AS c0, (SELECT count(*) FROM t1 AS b WHERE b.z > a.y) AS c1, (SELECT max(b.z) FROM t1 AS b WHERE b.x <= a.x) AS c2 "
        "FROM (SELECT x, y FROM t0 WHERE k = 2) AS a",
        *_BY_DAY,
        {"t0": []},
        {"t0": [(2, 1, 5)]},
    ),
    "counts of rows that are less than a greatest one": build(
        _DAYS,
        "SELECT q.m AS c0, (SELECT count(*) FROM t1 AS b WHERE b.z > q.m) AS c1 FROM (SELECT max(y) AS m FROM t0 HAVING count(*) > 1) AS q",
        *_BY_DAY,
        {"t0": []},
        {"t0": [(2, 1, 5)]},
    ),
    "any value of the row up to a day": build(
        _DAYS,
        "SELECT a.k AS c0, (SELECT first(c.y) FROM t0 AS c WHERE c.k = a.x AND c.y >= a.y) AS c1 FROM t0 AS a",
        *_BY_DAY,
    ),
}
DIRECTED |= UP_TO
# Of a feed that holds it as deleted and inserted, as after an UPDATE that changes nothing of it. Groups by a DOUBLE are not named by
# literals, so that those of a minimum are recomputed.
DIRECTED["a row of a group is written as it was"] = build(
    "t0(k int; k)\nt1(x int, z double)",
    "SELECT b.z AS c0, a.k AS c1, min(b.x) AS c2 FROM t0 AS a CROSS JOIN t1 AS b GROUP BY b.z, a.k",
    {"t0": [(0,), (1,)], "t1": [(1, "0.5")]},
    {"t0": [(0,)]},
)
# Which row has which number is not defined; how many there are is. No rows at all, too.
_NUMBERS = (
    {"t0": [(1, 1, 5), (2, 1, 6), (3, 2, 7), (4, None, 8)]},
    {"t0": [(1, 1, 5), (2, 2, 6), (3, 2, 7), (5, 3, 8), (6, None, 9)]},
    {"t0": []},
    {"t0": [(7, 2, 1), (8, 2, 1)]},
)
NUMBERED = {
    "numbers of rows that nothing tells apart": build(
        _ONE, "SELECT a.x AS c0, row_number() OVER (PARTITION BY a.x ORDER BY a.y > 0) AS c1 FROM t0 AS a", *_NUMBERS
    ),
    "numbers of all rows": build(_ONE, "SELECT row_number() OVER (ORDER BY a.x) * 2 AS c0 FROM t0 AS a", *_NUMBERS),
    "numbers that are joined with": build(
        _ONE,
        "SELECT n.i AS c0, b.k AS c1, b.y AS c2 FROM (SELECT row_number() OVER (ORDER BY a.y > 0) AS i FROM t0 AS a) AS n "
        "LEFT JOIN t0 AS b ON b.x = n.i",
        *_NUMBERS,
    ),
}
DIRECTED |= NUMBERED
_EMPLOYED = "t1(k int; k)\nt0(k int, x int, y int; k)"
_TIMES = (
    {"t0": [(1, 1, 59), (2, 1, 60), (3, 2, 200), (4, None, -1), (5, 2, None)]},
    {"t0": [(1, 1, 61), (2, 2, 60), (3, 2, 200), (5, 2, 119), (6, None, 240)]},
    {"t0": [(1, 1, None), (3, 1, 260), (6, 3, 0)]},
)


def _of_times(sql: str) -> Case:
    """Of seconds, as times."""
    return build(_ONE, sql.replace("TIME", "timestamp_seconds(a.y)"), *_TIMES)


# DuckDB has no such functions, other ones of the name, or gives NaN, which equals nothing.
ON_SPARK = {
    "windows of time of rows": _of_times("SELECT a.k AS c0, window(TIME, '1 minute') AS c1, a.x AS c2 FROM t0 AS a"),
    "windows of time as groups": _of_times(
        "SELECT a.x AS c0, window.start AS c1, window.end AS c2, count(*) AS c3, sum(a.k) AS c4 FROM t0 AS a "
        "GROUP BY a.x, window(TIME, '1 minute')"
    ),
    "sliding windows of time": _of_times(
        "SELECT window(TIME, '2 minutes', '45 seconds', '7 seconds') AS c0, count(*) AS c1 FROM t0 AS a GROUP BY 1"
    ),
    "windows of windows of time": _of_times(
        "SELECT window(w, '2 minutes') AS c0, sum(n) AS c1 FROM (SELECT window AS w, count(*) AS n FROM t0 AS a "
        "GROUP BY window(TIME, '1 minute')) AS s GROUP BY 1"
    ),
    "months of dates": build(  # of an odd number of rows: what is fetched is encoded by its type, which is no TIMESTAMP
        "t0(k int, x date; k)",
        "SELECT a.k AS c0, trunc(a.x, 'MM') AS c1 FROM t0 AS a",
        {"t0": [(1, "2024-01-31"), (2, "2024-02-29")]},
        {"t0": [(1, "2024-03-01"), (2, "2024-02-29"), (3, None)]},
    ),
    "the time of a window": _of_times(
        "SELECT c0, window_time(w) AS c1 FROM (SELECT a.k AS c0, window(TIME, '2 minutes', '1 minute') AS w FROM t0 AS a) AS s"
    ),
    "texts in an order, and equal ones in their own": _of_samples("listagg(a.s, '-') WITHIN GROUP (ORDER BY a.y DESC, a.s)"),
    "what is asserted of rows": build(
        _ONE,
        "SELECT a.k AS c0, coalesce(a.y, nvl2(a.x, assert_true(a.x > 0), NULL)) AS c1, "
        "CASE WHEN a.k < 0 THEN raise_error('no') ELSE a.x END AS c2 FROM t0 AS a",
        {"t0": [(1, 1, None), (2, None, 2), (3, -1, 3)]},
        {"t0": [(1, 2, None), (2, None, None), (4, -1, 4)]},
    ),
    "a sum that needs all 38 digits": build(  # it is not added to: that is an error, and the view is rebuilt
        "t0(k int, x int, y decimal(38,10); k)",
        "SELECT a.x AS c0, sum(a.y) AS c1, count(*) AS c2 FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, "5000000000000000000000000000.0000000001"), (2, 2, "0.5")]},
        {"t0": [(1, 1, "5000000000000000000000000000.0000000001"), (2, 2, "0.5"), (3, 1, "0.0000000001")]},
        {"t0": [(2, 2, "0.5"), (3, 1, "0.0000000001"), (4, 2, "-4000000000000000000000000000.0000000003")]},
        {"t0": [(2, 2, "0.7"), (3, 1, "0.0000000001")]},
    ),
    "any value but NULL of what the groups determine": build(
        _OWNERS,
        "SELECT b.k AS c0, first(b.s) IGNORE NULLS AS c1, any_value(b.y, true) AS c2, last_value(b.s) RESPECT NULLS AS c3, sum(a.y) AS c4 "
        "FROM t0 AS a JOIN t1 AS b ON a.x = b.k GROUP BY b.k",
        *_OWNED,
    ),
    "values by an order of a struct": _of_samples(
        "max_by(a.s, struct(a.y, a.k))",
        "min_by(a.y, (a.s, a.k))",
        "max_by(a.y, named_struct('s', a.s, 'inner', struct(a.z, a.k)))",
        "min_by(a.s, struct(a.z AS u, a.k AS v)) FILTER (WHERE a.y > 1)",
    ),
    "values by an order of a struct with the key of a group": build(
        _BRANCHES,
        "SELECT q.v AS c0, max_by(q.i, struct(q.j, q.i)) AS c1, min_by(q.j, struct(q.i, q.j)) AS c2 FROM "
        "(SELECT x AS i, y AS j, count(*) AS v FROM t2 GROUP BY x, y) AS q GROUP BY q.v",
        *_OF_BRANCHES,
    ),
    "values by an order of a struct of branches that a constant tells apart": build(
        _BRANCHES,
        f"SELECT q.g AS c0, max_by(q.v, struct(q.v, q.s, q.i)) AS c1, min_by(q.i, struct(q.g, q.i, q.s)) AS c2 "
        f"FROM ({_TOLD_APART}) AS q GROUP BY q.g",
        *_OF_BRANCHES,
    ),
    "an exact percentile in an order": _of_samples(
        "percentile_cont(0.5) WITHIN GROUP (ORDER BY a.y)", "percentile_disc(0.25) WITHIN GROUP (ORDER BY a.y + a.k)"
    ),
    "corr and covariances": _of_samples(
        "corr(a.y, a.z)", "covar_pop(a.y, a.z)", "covar_samp(a.y, a.z) FILTER (WHERE a.s <> 'a')", "corr(a.z, a.k + a.y)"
    ),
    "regressions": _of_samples(
        "regr_count(a.y, a.z)",
        "regr_slope(a.y, a.z)",
        "regr_intercept(a.y, a.z)",
        "regr_r2(a.y, a.z)",
        "regr_sxx(a.y, a.z)",
        "regr_syy(a.y, a.z) FILTER (WHERE a.s = 'b')",
        "regr_sxy(a.y, a.z)",
    ),
    "averages of regressions": _of_samples("regr_avgx(a.y, a.k)", "regr_avgy(a.y, a.k) FILTER (WHERE a.z > 1)"),
    "an estimated number of values": _of_samples(
        "approx_count_distinct(a.y)", "approx_count_distinct(a.s, 0.1) FILTER (WHERE a.y > 1)", "count(a.y, a.s)"
    ),
    "distinct pairs": _of_samples("corr(DISTINCT a.y, a.k % 2)", "percentile(DISTINCT a.y, 0.5)"),
    "percentiles": _of_samples(
        "percentile(a.y, 0.5)",
        "percentile(a.z, array(0.25, 0.75))",
        "percentile(a.y, 0.5, a.k)",
        "percentile(a.y, 0.5) FILTER (WHERE a.s = 'b')",
    ),
    "percentiles in an order": _of_samples(
        "percentile_cont(0.3) WITHIN GROUP (ORDER BY a.z DESC)",
        "percentile_disc(0.5) WITHIN GROUP (ORDER BY a.z)",
        "percentile_cont(array(0.1, 0.9)) WITHIN GROUP (ORDER BY a.y) FILTER (WHERE a.z > 1)",
    ),
    "sorted lists": _of_samples(
        "array_sort(collect_list(a.y))",
        "sort_array(array_agg(a.s), false)",
        "sort_array(collect_set(a.z), true)",
        "array_sort(collect_list(a.s) FILTER (WHERE a.y > 1))",
        "sort_array(collect_list(DISTINCT a.s))",
    ),
    "a sorted list of structs": _of_samples("sort_array(collect_list(struct(a.y, a.s)))"),
    "functions of sorted lists": _of_samples(
        "concat_ws(',', array_sort(collect_set(a.s)))",
        "element_at(sort_array(collect_list(a.y), false), 1)",
        "size(collect_set(a.y))",
        "cardinality(collect_list(a.s))",
        "size(array_sort(collect_set(a.k)))",
    ),
    "sorted lists of all rows": build(
        _SAMPLE,
        "SELECT array_sort(collect_list(a.y)) AS c0, size(collect_set(a.s)) AS c1, "
        "listagg(a.s, ';') WITHIN GROUP (ORDER BY a.s) AS c2 FROM t0 AS a",
        *_SAMPLES,
    ),
    "texts in an order": _of_samples(
        "listagg(a.s) WITHIN GROUP (ORDER BY a.s)",
        "string_agg(a.s, ', ') WITHIN GROUP (ORDER BY a.s DESC)",
        "listagg(DISTINCT a.s, ',') WITHIN GROUP (ORDER BY a.s)",
        "listagg(a.y, ',') WITHIN GROUP (ORDER BY a.y)",
        "listagg(a.s, '|') WITHIN GROUP (ORDER BY a.s) FILTER (WHERE a.y > 1)",
    ),
    "groups that are kept by a set": _of_samples("sum(a.y)", having=" HAVING size(collect_set(a.s)) > 1"),
    "groups of sorted lists": build(
        _SAMPLE,
        "SELECT g.v AS c0, count(*) AS c1 FROM (SELECT a.x AS x, array_sort(collect_set(a.s)) AS v FROM t0 AS a "
        "GROUP BY a.x) AS g GROUP BY g.v",
        *_SAMPLES,
    ),
    "sorted lists beside other rows": build(
        _SAMPLE,
        "SELECT a.x AS c0, array_sort(collect_list(a.y)) AS c1, percentile(a.y, 0.5) AS c2 FROM t0 AS a GROUP BY a.x "
        "UNION ALL SELECT b.k, array(b.y), b.z FROM t0 AS b",
        *_SAMPLES,
    ),
    "aggregates of grouping sets": build(
        _SAMPLE,
        "SELECT a.x AS c0, a.s AS c1, corr(a.y, a.k) AS c2, array_sort(collect_list(a.s)) AS c3, "
        "percentile_cont(0.5) WITHIN GROUP (ORDER BY a.y + 1) AS c4 FROM t0 AS a GROUP BY ROLLUP (a.x, a.s)",
        *_SAMPLES,
    ),
    **{
        f"{call} of no partner": build(
            _EMPLOYED,
            f"SELECT b.k AS c0, (SELECT {call} FROM t0 AS a WHERE a.x = b.k) AS c1 FROM t1 AS b",
            {"t1": [(1,), (2,)], "t0": [(1, 1, 5), (2, 1, None)]},
            {"t0": [(2, 1, None), (3, 2, 4)], "t1": [(1,), (2,), (3,)]},
            {"t0": []},
        )
        for call in (
            "array_sort(collect_list(a.y))",
            "size(collect_set(a.y))",
            "regr_count(a.y, a.k)",
            "approx_count_distinct(a.y)",
            "count(DISTINCT a.y, a.k)",
            "corr(a.y, a.k)",
            "listagg(a.y, ',') WITHIN GROUP (ORDER BY a.y)",
        )
    },
    **{
        f"PIVOT of {call}": build(
            _SAMPLE, f"SELECT * FROM (SELECT x, s, y FROM t0) PIVOT ({call} FOR s IN ('a', 'b'))", *_SAMPLES
        )
        for call in ("array_sort(collect_list(y))", "size(collect_set(y))", "count(DISTINCT y, y + 1)")
    },
}
