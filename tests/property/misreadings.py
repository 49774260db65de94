"""Texts that Spark reads otherwise than other engines, or than a reader who does not look twice; each with rows that show it.

The oracle is Spark's own parser and analyzer.
"""

from __future__ import annotations

from decimal import Context, Decimal

from tests.property.directed import build
from tests.property.strategies import Case, Content

_T = "t(k int, a int, b int, c int; k)"
_AB = "a(k int, q int; k)\nb(k int, p decimal(10,2); k)"
_UNITED = "(SELECT k, q AS x FROM a UNION ALL SELECT k, p FROM b) AS u"
_START = {"a": [(1, 7)], "b": [(1, "7.50")]}
_MORE = {"a": [(1, 7), (2, 7)]}
_TEXTS = "a(k int, x int; k)\nb(k int, x string; k)"
_WORDS = {"a": [(1, 7)], "b": [(1, "7"), (2, "07")]}
_WITHOUT_07 = {"b": [(1, "7")]}
_HAVING = {"t": [(1, 0, 5, 1), (2, 1, 6, 2), (3, 2, 7, 3)]}
_MORE_GROUPS = {"t": [(1, 0, 5, 1), (2, 1, 6, 2), (3, 2, 7, 3), (4, 2, 7, 3), (5, 9, 1, 1)]}
_ABC = "a(id int, x int; id)\nb(id int, y int; id)\nc(id int, z int; id)"
_ROWS_ABC = {"a": [(1, 10), (2, 20)], "b": [(1, 11), (2, 21)], "c": [(1, 12), (3, 32)]}
_NEW_C = {"c": [(1, 12), (2, 22), (3, 33)]}
_PAYMENTS = "account(id int; id)\npayment(pid int, account int; pid)"
_PAID = {"account": [(1,), (2,)], "payment": [(5, 1), (6, 3)]}
_PAID_MORE = {"payment": [(5, 1), (6, 3), (7, 2)]}
_O = "o(id int, pid int, amount int, qty int, code string; id)\np(pid int, active boolean; pid)"
_ORDERS = {"o": [(1, 1, 10, 2, "5"), (2, 1, 7, 0, "x"), (3, 2, 8, 0, "y")], "p": [(1, True), (2, False)]}
_AMOUNT = {"o": [(1, 1, 12, 2, "5"), (2, 1, 9, 0, "x"), (3, 2, 9, 0, "z")]}
_ACTIVE = {"p": [(1, False), (2, True)], "o": [(1, 1, 12, 3, "6"), (2, 1, 9, 0, "x"), (3, 2, 9, 4, "7")]}
_G = "t(k int, a int; k)"
_JSON, _JSON_LIKE_IT = '{"a": "x, 1", "b": "y"}', '{"a": "x", "b": "1, y"}'

_SETS = {"t": [(1, 1, 1, 1), (2, None, 1, 2), (3, 2, None, 3)]}
_MORE_SETS = {"t": [(1, 1, None, 1), (2, None, 1, 2), (3, 1, None, 3), (4, None, None, 4)]}
_NO_SETS = {"t": []}

_TYPED = (
    "t(k int, g string, a tinyint, b date, c timestamp, d timestamp_ntz, e decimal(38,10), f string, h boolean, i bigint, "
    "j double; k)"
)
_MEANS = (
    "SELECT g, avg(x) AS c0, avg(x) * 3 AS c1, CAST(avg(x) AS STRING) AS c2, sum(x) / 7 AS c3, round(avg(x), 1) AS c4, "
    "avg(x) FILTER (WHERE k > 1) AS c5, avg(-x) AS c6, 1 / nullif(avg(x), 0) AS c7, avg(CASE WHEN k > 2 THEN x ELSE 0 END) "
    "AS c8 FROM t GROUP BY g"
)

_SUMS = (
    "SELECT g, sum(x) AS c0, CAST(sum(x) AS STRING) AS c1, sum(x) / 7 AS c2, round(sum(x), 1) AS c3, "
    "sum(x) FILTER (WHERE k > 1) AS c4, sum(CASE WHEN k > 2 THEN x END) AS c5, count(x) AS c6 FROM t GROUP BY g"
)


def _means(kind: str, rows: int, total: int, sql: str = _MEANS) -> Case:
    """A group of so many rows that add up to `total` of the smallest unit at last, and another that comes, goes and is NULL."""
    scale = int(kind.removesuffix(")").partition(",")[2])
    exact = Context(prec=60)
    each, rest = divmod(total, rows)
    values = [str(Decimal(each + (number < rest)).scaleb(-scale, exact)) for number in range(rows)]
    last = [(number, 1, value) for number, value in enumerate(values)]
    return build(
        f"t(k int, g int, x {kind}; k)",
        sql,
        {"t": [*last[:-1], (rows, 2, None), (rows + 1, None, values[0])]},
        {"t": [*last[:-1], (rows - 1, 1, "0"), (rows, 2, values[0]), (rows + 1, None, values[0]), (rows + 2, 3, None)]},
        {"t": [*last, (rows, 2, None), (rows + 2, 3, values[-1])]},
    )


_LEAST = (
    -128,
    "0001-01-01",
    -62_135_596_800_000_000,
    "0001-01-01 00:00:00",
    "-9999999999999999999999999999.9999999999",
    "",
    False,
    -(2**63),
    "-Infinity",
)
_MIDDLE = (0, "1582-10-10", 0, "2024-03-31 02:30:00", "0E-10", "a\u00e9", True, 0, "-0.0")
_MOST = (
    127,
    "9999-12-31",
    253_402_300_799_999_999,
    "9999-12-31 23:59:59.999999",
    "9999999999999999999999999999.9999999999",
    "\U0001f600",
    True,
    2**63 - 1,
    "NaN",
)
_NONE = (None,) * 9

_ABK = "t(k int, a int, b int; k)"
_LIMITED: Content = {"t": [(1, 1, 2), (2, 1, 1), (3, 2, 2), (4, None, 1), (5, 3, None), (6, 3, 3)]}
_MORE_LIMITED: Content = {"t": [(1, 1, 2), (2, 4, 1), (3, 2, 0), (5, 0, None), (6, 3, 3), (7, 5, 3), (8, None, 3)]}

MISREADINGS = {
    "extremes of each type": build(
        _TYPED,
        "SELECT g, "
        + ", ".join(f"min({each}) AS {each}_1, max({each}) AS {each}_2" for each in "abcdefhi")
        + ", bool_and(h) AS p, bool_or(h) AS q, count(*) AS n, sum(a) AS s FROM t GROUP BY g",
        {"t": [(1, "x", *_MIDDLE), (2, "x", *_LEAST), (3, "y", *_MOST), (4, None, *_NONE)]},
        {
            "t": [
                (1, "x", *_MIDDLE),
                (2, "x", *_LEAST),
                (3, "y", *_MOST),
                (4, None, *_NONE),
                (5, "x", *_MOST),
                (6, None, *_MIDDLE),
            ]
        },
        {"t": [(1, "x", *_MIDDLE), (3, "y", *_NONE), (5, "x", *_MOST), (6, None, *_LEAST), (7, "y", *_MIDDLE)]},
        {"t": [(1, "x", *_MIDDLE), (5, "z", *_MOST), (6, None, *_NONE), (7, "y", *_MIDDLE), (8, "y", *_LEAST)]},
        {"t": []},
    ),
    "extremes of all rows": build(
        _TYPED,
        "SELECT min(b) AS b, max(f) AS f, min(h) AS h, max(e) AS e FROM t",
        {"t": [(1, "x", *_MIDDLE), (2, "x", *_LEAST)]},
        {"t": [(1, "x", *_MIDDLE), (3, "x", *_MOST)]},
        {"t": [(1, "x", *_NONE)]},
        {"t": []},
        {"t": [(2, "x", *_LEAST)]},
    ),
    "extremes of pairs and of padded rows": build(
        _AB,
        "SELECT a.q, min(b.p) AS m, max(coalesce(b.p, 100)) AS n FROM a LEFT JOIN b ON a.k = b.k GROUP BY a.q",
        {"a": [(1, 7), (2, 7), (3, 8)], "b": [(1, "7.50")]},
        {"b": [(1, "7.50"), (2, "1.25"), (3, "9.00")]},
        {"a": [(1, 7), (2, 8), (3, 8)], "b": [(1, "7.50"), (2, "1.25")]},
        {"b": []},
    ),
    "sets: no row for no rows": build(
        _T, "SELECT a, count(*) AS n, sum(b) AS s FROM t GROUP BY ROLLUP (a)", _NO_SETS, _SETS, _NO_SETS, _MORE_SETS
    ),
    "sets: the empty set alone": build(
        _T, "SELECT count(*) AS n, sum(b) AS s FROM t GROUP BY GROUPING SETS (())", _NO_SETS, _SETS, _NO_SETS
    ),
    "sets: NULL in the data": build(_T, "SELECT a, b, count(*) AS n FROM t GROUP BY CUBE (a, b)", _SETS, _MORE_SETS, _NO_SETS),
    "sets: one set twice": build(
        _T, "SELECT a, count(*) AS n, max(b) AS m FROM t GROUP BY GROUPING SETS ((a), (a), ())", _SETS, _MORE_SETS
    ),
    "sets: a key twice": build(
        _T, "SELECT a, b, grouping_id() AS g, count(*) AS n FROM t GROUP BY a, ROLLUP (a, b)", _SETS, _MORE_SETS
    ),
    "sets: an aggregate of a key": build(
        _T, "SELECT a, sum(a) AS s, count(a) AS n, max(a + 1) AS m FROM t GROUP BY a WITH ROLLUP", _SETS, _MORE_SETS
    ),
    "sets: HAVING reads the key of the set": build(
        _T, "SELECT -a AS a, count(*) AS n FROM t GROUP BY ROLLUP (a) HAVING a IS NULL OR sum(a) > 1", _SETS, _MORE_SETS
    ),
    "sets: an expression that is grouped by": build(
        _T,
        "SELECT a + 1 AS y, (a + 1) * 2 AS z, grouping(a + 1) AS g, sum(a + 1) AS s FROM t GROUP BY ROLLUP (a + 1)",
        _SETS,
        _MORE_SETS,
    ),
    "sets: positions and aliases": build(_T, "SELECT -a AS y, b, count(*) AS n FROM t GROUP BY ROLLUP (y, 2)", _SETS, _MORE_SETS),
    "sets: the first key is the highest bit": build(
        _T,
        "SELECT a, b, grouping_id() AS g, grouping_id(a, b) AS h, grouping(b) AS i FROM t GROUP BY CUBE (a, b)",
        _SETS,
        _MORE_SETS,
    ),
    "sets: the keys are before those of the sets": build(
        _T, "SELECT a, b, grouping_id() AS g, count(*) AS n FROM t GROUP BY a, c GROUPING SETS ((b), (a))", _SETS, _MORE_SETS
    ),
    "sets: types of grouping": build(
        _T,
        "SELECT typeof(grouping(a)) AS g, typeof(grouping_id()) AS h, typeof(a) AS i FROM t GROUP BY ROLLUP (a)",
        _SETS,
        _MORE_SETS,
    ),
    "sets: the type of a key that is missing": build(
        "t(k int, d decimal(10,2), s string; k)",
        "SELECT CAST(d AS STRING) AS d, n FROM (SELECT d, count(*) AS n FROM t GROUP BY ROLLUP (d) "
        "UNION ALL SELECT 1.5, k FROM t)",
        {"t": [(1, "1.50", "a"), (2, "2.00", "b")]},
        {"t": [(1, "1.50", "a"), (2, None, "b"), (3, "7.25", "c")]},
    ),
    "sets: a key that no set has": build(
        _T, "SELECT a, typeof(a) AS t, grouping(a) AS g, count(*) AS n FROM t GROUP BY a GROUPING SETS (())", _SETS, _MORE_SETS
    ),
    "sets: NOT IN over a key that cannot be NULL": build(
        _T,
        "SELECT k FROM t AS o WHERE o.a NOT IN (SELECT q.k FROM (SELECT k, count(*) AS n FROM t GROUP BY ROLLUP (k)) AS q)",
        {"t": [(1, 9, 1, 1)]},
        {"t": [(1, 9, 1, 1), (2, 8, 1, 1)]},
        _NO_SETS,
    ),
    "sets: windows over the groups": build(
        _T,
        "SELECT a, sum(sum(b)) OVER (PARTITION BY grouping_id()) AS w, rank() OVER (ORDER BY grouping(a), a) AS r FROM t "
        "GROUP BY ROLLUP (a)",
        _SETS,
        _MORE_SETS,
    ),
    "sets: a list beside them": build(
        _T, "SELECT a, b, c, count(*) AS n FROM t GROUP BY a, ROLLUP (b), CUBE (c)", _SETS, _MORE_SETS
    ),
    "sets: keys in brackets": build(_T, "SELECT a, b, c, count(*) AS n FROM t GROUP BY ROLLUP ((a, b), (c))", _SETS, _MORE_SETS),
    "sets: sets in sets": build(
        _T,
        "SELECT a, b, count(*) AS n FROM t GROUP BY GROUPING SETS (ROLLUP (a, b), CUBE (b), (a), GROUPING SETS (()))",
        _SETS,
        _MORE_SETS,
    ),
    "limit: a name of the result that several tables have": build(
        "a(id int, x int; id)\nb(id int, x int; id)",
        "SELECT a.id, b.x FROM a JOIN b ON a.id = b.id ORDER BY x DESC, id LIMIT 2",
        {"a": [(1, 9), (2, 8), (3, 1)], "b": [(1, 1), (2, 2), (3, 3)]},
        {"b": [(1, 7), (2, 2), (3, 1)]},
    ),
    "limit: a name of the result that is another column's": build(
        _G, "SELECT k, -a AS a FROM t ORDER BY a, k LIMIT 2", {"t": [(1, 1), (2, 2), (3, 3)]}, {"t": [(1, 5), (2, None), (3, 3)]}
    ),
    "limit: a name of the result beside a column of FROM": build(
        _ABK, "SELECT k, -a AS a FROM t ORDER BY a, b, k LIMIT 3", _LIMITED, _MORE_LIMITED
    ),
    "limit: an expression of a name of the result and a column of FROM": build(
        _ABK, "SELECT k, -a AS a FROM t ORDER BY a + b DESC, (a), k LIMIT 3", _LIMITED, _MORE_LIMITED
    ),
    "limit: a sum beside a group that the result calls otherwise": build(
        _ABK, "SELECT b AS c, sum(a) AS s FROM t GROUP BY b ORDER BY s DESC, b LIMIT 2", _LIMITED, _MORE_LIMITED
    ),
    "limit: a name of the result beside an aggregate": build(
        _ABK, "SELECT -b AS b, count(*) AS n FROM t GROUP BY -b ORDER BY max(a), b LIMIT 2", _LIMITED, _MORE_LIMITED
    ),
    "limit: a position beside a column of FROM": build(
        _ABK, "SELECT k, -a AS c FROM t ORDER BY 2 DESC, b, 1 LIMIT 3", _LIMITED, _MORE_LIMITED
    ),
    "limit: all columns": build(
        _ABK, "SELECT b, k, -a AS a FROM t ORDER BY ALL DESC NULLS LAST LIMIT 3", _LIMITED, _MORE_LIMITED
    ),
    "limit: all columns of a star": build(
        _ABK, "SELECT * FROM (SELECT b, k FROM t) ORDER BY ALL LIMIT 3", _LIMITED, _MORE_LIMITED
    ),
    "limit: distinct columns of a table": build(
        _ABK, "SELECT DISTINCT x.b, x.a AS c FROM t AS x ORDER BY x.b DESC, c LIMIT 3", _LIMITED, _MORE_LIMITED
    ),
    "limit: of one group": build(_ABK, "SELECT sum(a) AS s, count(*) AS n FROM t ORDER BY n LIMIT 1", _LIMITED, _MORE_LIMITED),
    "limit: of groups side by side": build(
        _ABK,
        "SELECT * FROM (SELECT sum(a) AS s FROM t) x, (SELECT count(*) AS n FROM t WHERE b > 1 HAVING count(*) > 2) y ORDER BY n LIMIT 1",
        _LIMITED,
        _MORE_LIMITED,
    ),
    "limit: a field of a struct": build(
        "t(k int, a int, st struct<a:int,q:string>; k)",
        "SELECT k, st.a FROM t ORDER BY a, k LIMIT 2",
        {"t": [(1, 1, (9, "a")), (2, 2, (8, "b")), (3, 3, (1, "c"))]},
        {"t": [(1, 1, (0, "a")), (2, 2, (8, "b")), (3, 3, (9, "c"))]},
    ),
    "pivot: one column under two names": build(
        "t(k int, a int, s string; k)",
        "SELECT * FROM (SELECT a AS x, a AS y, s FROM t) PIVOT (sum(x) FOR s IN ('p', 'q'))",
        {"t": [(1, 1, "p"), (2, 1, "q"), (3, 2, "p")]},
        {"t": [(1, 2, "p"), (2, 1, "q"), (3, 2, None)]},
    ),
    "pivot: a count of no rows": build(
        "t(k int, a int, s string; k)",
        "SELECT * FROM (SELECT a, s FROM t) PIVOT (count(s) AS n FOR s IN ('p', 'q'))",
        {"t": [(1, 1, "p"), (2, 2, "q")]},
        {"t": [(1, 1, "p"), (2, 1, "q"), (3, 3, None)]},
    ),
    "window: names that differ in their case": build(
        _G,
        "SELECT k, sum(a) OVER w AS p, sum(a) OVER W AS q FROM t WINDOW w AS (PARTITION BY a % 2), W AS (ORDER BY k)",
        {"t": [(1, 1), (2, 2), (3, 3)]},
        {"t": [(1, 1), (2, 3), (4, 4)]},
    ),
    "window: LAG that leaves out NULLs": build(
        _G,
        "SELECT k, lag(a) IGNORE NULLS OVER (ORDER BY k) AS p, lag(a) OVER (ORDER BY k) AS q FROM t",
        {"t": [(1, 1), (2, None), (3, 3)]},
        {"t": [(1, None), (2, None), (3, 3), (4, 4)]},
    ),
    # brackets are part of an expression
    "brackets: two sums": build(
        _T,
        "SELECT sum(a-(b-c)) AS s1, sum(a-b-c) AS s2 FROM t",
        {"t": [(1, 1, 2, 3), (2, 2, 3, 4)]},
        {"t": [(1, 1, 2, 3), (2, 2, 3, 4), (3, 5, 0, 2)]},
    ),
    "brackets: two products": build(
        _T,
        "SELECT max((a+b)*c) AS m, max(a+b*c) AS n FROM t GROUP BY k % 2",
        {"t": [(1, 1, 2, 3), (2, 2, 3, 4)]},
        {"t": [(1, 1, 2, 5), (3, 2, 3, 4)]},
    ),
    "brackets: two groups": build(
        _T,
        "SELECT a-(b-c) AS g, a-b-c AS h, count(*) AS n FROM t GROUP BY a-(b-c), a-b-c",
        {"t": [(1, 1, 2, 3), (2, 2, 3, 0)]},
        {"t": [(1, 1, 2, 1), (2, 2, 3, 0), (3, 1, 2, 1)]},
    ),
    "brackets: a negated AND": build(
        "t(k int, a boolean, b boolean; k)",
        "SELECT NOT (a AND b) AS g, NOT a AND b AS h, count(*) AS n FROM t GROUP BY NOT (a AND b), NOT a AND b",
        {"t": [(1, True, False), (2, False, False)]},
        {"t": [(1, True, True), (2, False, False), (3, None, False)]},
    ),
    "brackets: bits": build(
        _T, "SELECT sum((a|b)&c) AS s, sum(a|b&c) AS u FROM t", {"t": [(1, 4, 2, 2)]}, {"t": [(1, 4, 2, 2), (2, 8, 1, 1)]}
    ),
    # what Spark takes for the same in GROUP BY
    "group: NOT a > 1 is a <= 1": build(
        _T,
        "SELECT NOT a > 1 AS g, a = 2 AS e, count(*) AS n FROM t GROUP BY a <= 1, NOT (a <> 2), a = 2",
        {"t": [(1, 1, 2, 3)]},
        {"t": [(1, 2, 2, 3), (2, 1, 0, 0), (3, None, 0, 0)]},
    ),
    "group: a <> 1 is NOT a = 1": build(
        _T,
        "SELECT NOT (a = 1) AS g, count(*) AS n FROM t GROUP BY a <> 1",
        {"t": [(1, 1, 2, 3)]},
        {"t": [(1, 2, 2, 3), (2, 1, 0, 0), (3, None, 0, 0)]},
    ),
    "group: the order in greatest, least and IN": build(
        _T,
        "SELECT greatest(a, b) AS g, least(a, c, b) AS h, a IN (1, 2) AS i, count(*) AS n FROM t "
        "GROUP BY greatest(b, a), least(c, b, a), a IN (2, 1)",
        {"t": [(1, 1, 2, 3)]},
        {"t": [(1, 2, 2, 3), (2, 1, 0, 0), (3, None, 0, 0)]},
    ),
    # branches of a set operation have the common type before anything is done with them
    "union: the text of INT and DECIMAL": build(_AB, f"SELECT u.k, CAST(u.x AS STRING) AS s FROM {_UNITED}", _START, _MORE),
    "union: INT and DECIMAL put together with a text": build(_AB, f"SELECT u.k, u.x || '!' AS s FROM {_UNITED}", _START, _MORE),
    "union: the type of INT and DECIMAL": build(_AB, f"SELECT u.k, typeof(u.x) AS s FROM {_UNITED}", _START, _MORE),
    "union: groups of a text of INT and DECIMAL": build(
        _AB, f"SELECT CAST(u.x AS STRING) AS s, count(*) AS n FROM {_UNITED} GROUP BY CAST(u.x AS STRING)", _START, _MORE
    ),
    "union: decimals of two scales": build(
        "a(k int, q decimal(5,1); k)\nb(k int, p decimal(10,3); k)",
        f"SELECT u.k, CAST(u.x AS STRING) AS s FROM {_UNITED}",
        {"a": [(1, "7.5")], "b": [(1, "7.500")]},
        {"a": [(1, "7.5"), (2, "1.0")]},
    ),
    "union: DATE and TIMESTAMP": build(
        "a(k int, q date; k)\nb(k int, p timestamp; k)",
        f"SELECT u.k, CAST(u.x AS STRING) AS s FROM {_UNITED}",
        {"a": [(1, "2024-01-01")], "b": [(1, 1704067200000000)]},
        {"a": [(1, "2024-01-01"), (2, "2024-02-29")]},
    ),
    "union: an INT that is too small for what is done": build(
        "a(k int, q int; k)\nb(k int, p bigint; k)",
        f"SELECT u.k, u.x * 1000000 AS m FROM {_UNITED}",
        {"a": [(1, 7)], "b": [(1, 7)]},
        {"a": [(1, 7), (2, 70000)]},
    ),
    "union: groups of INT and STRING": build(
        _TEXTS,
        "SELECT u.x, count(*) AS n FROM (SELECT k, x FROM a UNION ALL SELECT k, x FROM b) AS u GROUP BY u.x",
        _WORDS,
        _WITHOUT_07,
    ),
    "union: keys of INT and STRING": build(
        "a(x int; x)\nb(x string; x)",
        "SELECT x FROM a UNION ALL SELECT x FROM b",
        {"a": [(7,)], "b": [("7",), ("07",)]},
        {"b": [("7",)]},
    ),
    "union: keys of DATE and STRING": build(
        "a(x date; x)\nb(x string; x)",
        "SELECT x FROM a UNION ALL SELECT x FROM b",
        {"a": [("2024-01-01",)], "b": [("2024-01-01",), ("2024-1-1",)]},
        {"b": [("2024-01-01",)]},
    ),
    "union: distinct INT and STRING": build(
        _TEXTS,
        "SELECT x FROM a UNION SELECT x FROM b",
        _WORDS,
        _WITHOUT_07,
        {"a": [], "b": [(1, "7"), (2, "07")]},
        _WITHOUT_07,
        {"b": []},
    ),
    "union: three types, of which the first two meet before the third": build(
        "a(k int, q int; k)\nb(k int, q decimal(5,2); k)\nd(k int, q string; k)",
        "SELECT k, q FROM a UNION ALL SELECT k, q FROM b UNION ALL SELECT k, q FROM d",
        {"a": [(1, 7)], "b": [(1, "7.50")], "d": [(1, "3")]},
        {"a": [(1, 7), (2, 8)], "d": [(1, "4")]},
    ),
    # HAVING matches whole grouping expressions before it looks at aliases
    "having: the alias is a column of the group": build(
        _T, "SELECT a+1 AS a, count(*) AS n FROM t GROUP BY a+1 HAVING a+1 > 2", _HAVING, _MORE_GROUPS
    ),
    "having: a negated column under its own name": build(
        _T, "SELECT -a AS a, count(*) AS n FROM t GROUP BY -a HAVING -a < -1", _HAVING, _MORE_GROUPS
    ),
    "having: an argument under the name of a group": build(
        _T, "SELECT b AS a, sum(c) AS n FROM t GROUP BY b HAVING max(a) > 0", _HAVING, _MORE_GROUPS
    ),
    "having: an alias that two tables have as a column": build(
        _ABC,
        "SELECT a.x AS id, count(*) AS n FROM a JOIN b ON a.id = b.id GROUP BY a.x HAVING id > 10",
        _ROWS_ABC,
        {"a": [(1, 10), (2, 30)]},
    ),
    # a comma binds like a JOIN
    "comma: USING after it joins the first table that has the name": build(
        _ABC, "SELECT x, y, z FROM a, b JOIN c USING (id)", _ROWS_ABC, _NEW_C
    ),
    "comma: NATURAL JOIN after it joins the first table that has the name": build(
        _ABC, "SELECT x, y, z FROM a, b NATURAL JOIN c", _ROWS_ABC, _NEW_C
    ),
    "comma: a condition on the table before it": build(
        _ABC, "SELECT a.x, b.y, c.z FROM a, b JOIN c ON a.id = c.id", _ROWS_ABC, _NEW_C
    ),
    "comma: a condition on the first table and the last": build(
        _ABC, "SELECT a.x AS p, b.y AS q, c.z AS r FROM b, a JOIN c ON b.id = c.id AND a.x > 5", _ROWS_ABC, _NEW_C
    ),
    "comma: USING names the united column": build(
        "a(id int, x int; id)\nb(bid int, y int; bid)\nc(id int, z int; id)",
        "SELECT id, x, y, z FROM a, b JOIN c USING (id)",
        _ROWS_ABC,
        _NEW_C,
    ),
    "comma: NATURAL JOIN after it": build(
        "a(id int, x int; id)\nb(bid int, y int; bid)\nc(id int, z int; id)",
        "SELECT * FROM a, b NATURAL JOIN c",
        _ROWS_ABC,
        _NEW_C,
    ),
    # NATURAL JOIN matches names letter by letter, USING does not
    "natural: names in different case are different": build(
        "a(Id int, x int; Id)\nb(id int, y int; id)",
        "SELECT x, y FROM a NATURAL JOIN b",
        {"a": [(1, 10)], "b": [(1, 11), (2, 22)]},
        {"b": [(2, 22), (3, 33)]},
    ),
    "natural: the case that a derived table gives": build(
        "a(id int, x int; id)\nb(id int, y int; id)",
        "SELECT p.x, q.y FROM (SELECT ID, x FROM a) AS p NATURAL JOIN b AS q",
        {"a": [(1, 10)], "b": [(1, 11), (2, 22)]},
        {"b": [(1, 12), (3, 33)]},
    ),
    "using: names in different case are the same": build(
        "a(Id int, x int; Id)\nb(ID int, y int; ID)",
        "SELECT id, x, y FROM a JOIN b USING (iD)",
        {"a": [(1, 10)], "b": [(1, 11), (2, 22)]},
        {"b": [(1, 22), (3, 33)]},
    ),
    "using: both sides of a join have the name": build(
        _ABC, "SELECT a.x, b.y, c.z FROM a JOIN b ON a.id = b.id JOIN c ON c.id = b.id", _ROWS_ABC, _NEW_C
    ),
    # the inner relation's columns come first
    "inner: a column that is called like the outer table": build(
        _PAYMENTS, "SELECT id FROM account WHERE id IN (SELECT account FROM payment)", _PAID, _PAID_MORE
    ),
    "inner: a column that is called like the outer alias": build(
        _PAYMENTS, "SELECT pid FROM payment AS id WHERE account IN (SELECT id FROM account)", _PAID, _PAID_MORE
    ),
    "inner: a struct that is called like the outer table": build(
        "account(id int, x int; id)\npayment(pid int, account struct<id:int,x:int>; pid)",
        "SELECT id, x FROM account WHERE EXISTS (SELECT 1 FROM payment WHERE account.x > 5)",
        {"account": [(1, 1), (2, 9)], "payment": [(5, (1, 1))]},
        {"account": [(1, 1), (2, 9), (3, 8)]},
    ),
    "inner: a field of a struct that is called like the outer table, in a test of it": build(
        "account(id int, x int; id)\npayment(pid int, p int, account struct<id:int,x:int>; pid)",
        "SELECT id, x FROM account WHERE x IN (SELECT p FROM payment)",
        {"account": [(1, 1), (2, 9)], "payment": [(5, 9, (1, 1)), (6, 4, (1, 4))]},
        {"account": [(1, 1), (2, 9), (3, 4)]},
    ),
    "inner: a join of tables that are called like columns": build(
        _PAYMENTS,
        "SELECT pid, id FROM payment JOIN account ON account.id = payment.account",
        _PAID,
        _PAID_MORE,
        {"account": [(1,), (3,)]},
    ),
    # GROUP BY ALL is a word only where no column is called so
    "group by all: a column of that name": build(
        "t(k int, all int, b int; k)",
        "SELECT all, sum(b) AS s FROM t GROUP BY all",
        {"t": [(1, 1, 5), (2, 2, 6)]},
        {"t": [(1, 1, 5), (2, 2, 6), (3, 2, 1)]},
    ),
    "group by all: another column under an aggregate's name": build(
        "t(k int, all int, b int; k)",
        "SELECT max(b) AS m, count(*) AS n FROM t GROUP BY all",
        {"t": [(1, 1, 5), (2, 2, 6)]},
        {"t": [(1, 1, 5), (2, 2, 6), (3, 2, 1)]},
    ),
    # what may raise is evaluated for the rows that reach it
    "raise: a division behind its guard, with a join": build(
        _O,
        "SELECT o.id, o.amount / o.qty AS u FROM o JOIN p ON o.pid = p.pid WHERE o.qty <> 0 AND p.active",
        _ORDERS,
        _AMOUNT,
        _ACTIVE,
    ),
    "raise: a cast that only the join guards": build(
        _O, "SELECT o.id, CAST(o.code AS INT) AS u FROM o JOIN p ON o.pid = p.pid AND o.qty > 0", _ORDERS, _AMOUNT, _ACTIVE
    ),
    "raise: a cast of rows that have a partner": build(
        "o(id int, pid int, code string; id)\np(pid int; pid)",
        "SELECT o.id, CAST(o.code AS INT) AS u FROM o JOIN p ON o.pid = p.pid",
        {"o": [(1, 1, "5"), (2, 9, "x")], "p": [(1,)]},
        {"o": [(1, 1, "6"), (2, 9, "y")]},
    ),
    "raise: texts that are cast implicitly": build(
        _O,
        "SELECT o.id, o.code + 1 AS u, o.code = 5 AS v, coalesce(o.code, 3) AS w FROM o JOIN p USING (pid) WHERE p.active",
        {"o": [(1, 1, 10, 2, "5"), (2, 2, 7, 0, "x")], "p": [(1, True), (2, False)]},
        {"o": [(1, 1, 10, 2, "6"), (2, 2, 7, 0, "y")]},
    ),
    "raise: groups by a division": build(
        _O,
        "SELECT o.amount / o.qty AS g, count(*) AS n FROM o JOIN p ON o.pid = p.pid WHERE o.qty <> 0 AND p.active "
        "GROUP BY o.amount / o.qty",
        _ORDERS,
        _AMOUNT,
        _ACTIVE,
    ),
    # each of these is a failure for a group that leaves, for the change alone, or for what is stored
    "over calls: quotients of a group that leaves": build(
        _T,
        "SELECT a, 100 / count(*) AS p, sum(b) / count(c) AS q FROM t GROUP BY a",
        {"t": [(1, 1, 5, 1), (2, 1, 6, None), (3, 2, 7, 3)]},
        {"t": [(1, 1, 5, 1), (4, 3, 8, 1)]},
        {"t": [(4, 1, 8, 1)]},
        {"t": []},
    ),
    "over calls: a sum to which zero is added": build(
        _T,
        "SELECT a, 100 / sum(b) AS p, 100 / max(b) AS q, CAST(100 / min(c) AS STRING) AS r FROM t GROUP BY a",
        {"t": [(1, 1, 5, -1), (2, 2, 6, 1)]},
        {"t": [(1, 1, 5, -1), (3, 1, 0, 0), (2, 2, 6, 1), (4, 2, 7, 2)]},
        {"t": [(1, 1, 5, -1), (3, 1, 0, 1), (4, 2, 7, 2)]},
        {"t": [(3, 1, 1, 1), (5, 2, -1, -3)]},
    ),
    "over calls: quotients behind a guard of their own": build(
        _T,
        "SELECT a, CASE WHEN sum(b) <> 0 THEN sum(c) / sum(b) END AS p, sum(c) / nullif(min(b), 0) AS q FROM t GROUP BY a",
        {"t": [(1, 1, 5, 1), (2, 1, -5, 2), (3, 2, 0, 3)]},
        {"t": [(1, 1, 5, 1), (2, 1, 0, 2), (3, 2, 7, 3)]},
        {"t": [(1, 1, 5, 1), (2, 1, -5, 2), (3, 2, 0, 3), (4, 3, None, 1)]},
        {"t": [(4, 3, 2, 1)]},
    ),
    "over calls: quotients of all rows": build(
        _T,
        "SELECT sum(b) / count(c) AS p, CAST(100 / max(b) AS STRING) AS q FROM t",
        {"t": [(1, 1, 5, 1), (2, 1, 6, None)]},
        {"t": [(1, 1, 5, 1), (3, 1, 0, 2)]},
        {"t": [(3, 1, 2, 2)]},
    ),
    # what an expression over a sum is depends on its type
    "over calls: their types": build(
        "t(k int, g int, a tinyint, b bigint, c decimal(10,2), d decimal(27,4), e date, s string; k)",
        "SELECT g, sum(a) / 3 AS c0, sum(b) / 3 AS c1, sum(c) / 3 AS c2, sum(d) / sum(c) AS c3, sum(c) * sum(d) AS c4, "
        "round(sum(c), 1) AS c5, sum(c) / count(*) AS c6, min(d) / max(c) AS c7, avg(a) / sum(c) AS c8, "
        "date_add(min(e), 1) AS c9, concat(max(s), '!') AS c10, sum(b) div 2 AS c11, -min(a) AS c12, abs(sum(d)) AS c13, "
        "max(c) + min(a) AS c14, count(c) / 2 AS c15, sum(a) % 2 AS c16 FROM t GROUP BY g",
        {
            "t": [
                (1, 1, 5, 7, "1.25", "7.0001", "2024-02-28", "a"),
                (2, 2, 3, 2**62, "0.10", "123456789.1234", None, None),
                (3, 1, 9, 9, "5.75", "0.3333", "2024-03-01", "b"),
            ]
        },
        {
            "t": [
                (1, 1, 4, 8, "1.26", "7.0002", "2024-02-28", "a"),
                (2, 2, 3, 2**62, "0.10", "123456789.1234", None, None),
                (3, 1, 9, 9, "5.75", "0.3333", "2024-03-01", "c"),
                (4, 2, -7, -1, "0.33", "0.3333", "2024-03-01", ""),
            ]
        },
        {
            "t": [
                (3, 1, 9, 9, "5.75", "0.3333", "2024-03-01", "b"),
                (4, 2, -7, -1, "0.33", "0.3333", "2024-03-01", ""),
                (5, None, 1, 1, "99999999.99", "12345678901234567890123.4567", "1999-12-31", "c"),
            ]
        },
    ),
    "raise: decimals": build(
        _O.replace("amount int, qty int", "amount decimal(10,2), qty decimal(10,2)"),
        "SELECT o.id, o.amount / o.qty AS u FROM o WHERE o.qty <> 0",
        {"o": [(1, 1, "10.00", "2.00", "5"), (2, 1, "7.00", "0.00", "x")], "p": []},
        {"o": [(1, 1, "12.00", "2.00", "5"), (2, 1, "9.00", "0.00", "x")]},
    ),
    "first rows: a cast that fails on others": build(
        "t(k int, x int, y int, s string; k)",
        "SELECT k, x, CAST(s AS INT) AS v FROM (SELECT *, row_number() OVER (PARTITION BY x ORDER BY y DESC, k) AS n FROM t) "
        "WHERE n = 1",
        {"t": [(1, 1, 9, "5"), (2, 1, 5, "a"), (3, 2, 1, "6")]},
        {"t": [(1, 1, 9, "5"), (2, 1, 4, "b"), (4, 1, 1, "c"), (3, 2, 1, "7")]},
        {"t": [(4, 1, 1, "8"), (5, 1, 0, "d")]},
    ),
    # averages of decimals: a quotient that is rounded once, to four more digits
    "average: half a unit": _means("decimal(18,2)", 32, 1),
    "average: half a negative unit": _means("decimal(12,2)", 32, -1),
    "average: half a unit of no fraction": _means("decimal(18,0)", 32, 3 * 10**4 + 1),
    "average: less than half a unit, of which `/` makes a half": _means("decimal(22,2)", 201, 199),
    "average: less than half a negative unit without a fraction": _means("decimal(22,0)", 201, -199),
    "average: less than half a unit of one digit": _means("decimal(22,1)", 201, 201 * 10**8 + 199),
    "average: of the largest values": _means("decimal(24,2)", 7, 7 * (10**24 - 1)),
    "average: of the least values without a fraction": _means("decimal(22,0)", 3, -3 * (10**22 - 1)),
    "average: of fractions alone": _means("decimal(18,18)", 7, 10**18 - 1),
    "average: of 24 digits behind the point": _means("decimal(24,24)", 3, 2 * 10**24 - 1),
    "average: a quotient of DOUBLEs": _means("decimal(10,2)", 160, 7),
    "average: DOUBLEs that are rounded down": _means("decimal(10,2)", 160, 863235991),
    "average: DOUBLEs that are rounded up": _means("decimal(10,2)", 160, 251491861),
    "average: DOUBLEs of eleven digits": _means("decimal(11,3)", 7, 7 * (10**11 - 1)),
    "average: DOUBLEs without a fraction": _means("decimal(9,0)", 32, 32 * 10**8 + 1),
    "average: DOUBLEs of fractions alone": _means("decimal(5,5)", 7, -3),
    "average: too wide": _means("decimal(26,2)", 3, 10**26 - 1),
    "average: without an additive form": _means("decimal(38,4)", 3, 10**30 - 1, "SELECT g, avg(x) AS c0 FROM t GROUP BY g"),
    "average: of distinct values": _means("decimal(18,2)", 32, 1, "SELECT g, avg(DISTINCT x) AS c0 FROM t GROUP BY g"),
    "average: of all rows": _means("decimal(18,2)", 32, 1, "SELECT avg(x) AS c0, avg(x * 2) AS c1 FROM t"),
    "average: in HAVING": _means("decimal(18,2)", 32, 1, "SELECT g, avg(x) AS c0 FROM t GROUP BY g HAVING avg(x) > 0.0003"),
    "average: over windows": _means("decimal(18,2)", 8, 1, "SELECT k, avg(x) OVER (PARTITION BY g) AS c0 FROM t"),
    "average: of computed types": _means(
        "decimal(12,2)",
        32,
        1,
        "SELECT g, avg(x * 0.05) AS c0, avg(x * k) AS c1, avg(coalesce(x, 0)) AS c2, avg(x - 0.001) "
        "AS c3, avg(if(k > 1, x, -1)) AS c4, avg(abs(x) * (k + 1)) AS c5, avg(CAST(k AS DECIMAL(13,1))) AS c6, sum(x * .5) AS c7 "
        "FROM t GROUP BY g",
    ),
    # sums of decimals that have all digits there are: adding two takes a digit more
    "sum: ten digits behind the point": _means("decimal(38,10)", 7, 10**30 + 3, _SUMS),
    "sum: eighteen digits behind the point": _means("decimal(38,18)", 7, 1 - 10**36, _SUMS),
    "sum: thirty digits behind the point": _means("decimal(38,30)", 3, 10**37 + 1, _SUMS),
    "sum: no fraction": _means("decimal(28,0)", 5, 5 * (10**28 - 1), _SUMS),
    "sum: of products": _means(
        "decimal(15,2)",
        7,
        7 * (10**15 - 1),
        "SELECT g, sum(x * (1 - x)) AS c0, CAST(sum(x * x) AS STRING) AS c1, sum(x * (1 - x) * (1 + k)) "
        "AS c2, sum(x * x) / 3 AS c3, avg(x * x) AS c4 FROM t GROUP BY g",
    ),
    "sum: of all rows": _means(
        "decimal(38,10)", 7, 1 - 10**30, "SELECT sum(x) AS c0, sum(x) FILTER (WHERE k > 1) AS c1, count(*) AS c2 FROM t"
    ),
    # -x of more than 34 digits is rounded
    "sum: values of all digits are deleted": build(
        "t(k int, g int, x decimal(38,10); k)",
        "SELECT g, sum(x) AS c0 FROM t GROUP BY g",
        {"t": [(1, 1, "123456789012345678901234567.0123456789"), (2, 1, "0.0000000001"), (3, 2, "99999999999999999999999999.9")]},
        {"t": [(1, 1, "123456789012345678901234567.0123456788"), (2, 1, "0.0000000003"), (3, 1, "99999999999999999999999999.9")]},
        {"t": [(2, 1, "0.0000000003"), (3, 2, "-99999999999999999999999999.9999999999")]},
    ),
    # the negation of a minimum
    "extreme: the least TINYINT leaves a sum": build(
        "t(k int, a tinyint; k)", "SELECT sum(a) AS s, count(*) AS n FROM t", {"t": [(1, -128), (2, 5)]}, {"t": [(2, 5)]}
    ),
    "extreme: the least INT leaves a sum": build(
        "t(k int, g int, a int; k)",
        "SELECT g, sum(a) AS s, avg(a) AS m FROM t GROUP BY g",
        {"t": [(1, 1, -2147483648), (2, 1, 5)]},
        {"t": [(2, 1, 5)]},
        {"t": [(2, 1, 5), (3, 1, -2147483648)]},
    ),
    # groups that are constants
    "constant: a text under an alias": build(
        _G,
        "SELECT 'x' AS c, count(*) AS n FROM t GROUP BY c",
        {"t": [(1, 1)]},
        {"t": [(1, 1), (2, 2)]},
        {"t": []},
        {"t": [(3, 1)]},
    ),
    "constant: a text in GROUP BY": build(
        _G,
        "SELECT count(*) AS n, sum(a) AS s FROM t GROUP BY 'a'",
        {"t": [(1, 1)]},
        {"t": [(1, 1), (2, 2)]},
        {"t": []},
        {"t": [(3, 1)]},
    ),
    "constant: NULL in GROUP BY": build(
        _G, "SELECT count(*) AS n FROM t GROUP BY NULL", {"t": [(1, 1)]}, {"t": [(1, 1), (2, 2)]}, {"t": []}, {"t": [(3, 1)]}
    ),
    "constant: beside a column": build(
        _G, "SELECT 'x' AS c, a, max(k) AS m FROM t GROUP BY 'x', a", {"t": [(1, 1)]}, {"t": [(1, 1), (2, 2)]}, {"t": []}
    ),
    # names that Spark finds
    "name: a field of a struct's alias in HAVING": build(
        _G,
        "SELECT s.a AS f, count(*) AS n FROM (SELECT named_struct('a', a) AS s FROM t) AS q GROUP BY s.a",
        {"t": [(1, 1)]},
        {"t": [(1, 1), (2, 2)]},
    ),
    "name: a star over a struct": build(
        _G,
        "SELECT q.k, q.s.* FROM (SELECT k, named_struct('p', a, 'q', a + 1) AS s FROM t) AS q",
        {"t": [(1, 1)]},
        {"t": [(1, 2), (2, 2)]},
    ),
    "name: USING after a join that has the name twice": build(
        _ABC, "SELECT a.x, b.y, c.z FROM a JOIN b ON a.x < b.y JOIN c USING (id)", _ROWS_ABC, _NEW_C
    ),
    "name: a number in brackets is an ordinal, too": build(
        _G, "SELECT a, count(*) AS n FROM t GROUP BY (1)", {"t": [(1, 1)]}, {"t": [(1, 1), (2, 2)]}
    ),
    "name: HAVING without a group": build(
        _G, "SELECT 1 AS c FROM t HAVING 1 = 1", {"t": [(1, 1)]}, {"t": [(1, 1), (2, 2)]}, {"t": []}
    ),
    "name: a shift without sign": build(_G, "SELECT k, a >>> 1 AS s FROM t", {"t": [(1, -8)]}, {"t": [(1, -8), (2, 9)]}),
    # outer joins: of which side a column of USING is, and what a padded row has
    **{
        f"outer: the column of {side} JOIN USING, under each of its names": build(
            _ABC,
            f"SELECT id, a.id AS i, b.id AS j, x, y FROM a {side} JOIN b USING (ID)",
            _ROWS_ABC,
            {"a": [(1, 11), (3, 33)], "b": [(2, 22), (3, 30)]},
            {"a": []},
        )
        for side in ("LEFT", "RIGHT", "FULL")
    },
    "outer: * of NATURAL FULL JOIN, and of what is joined to it": build(
        _ABC, "SELECT * FROM a NATURAL FULL JOIN b NATURAL FULL OUTER JOIN c", _ROWS_ABC, _NEW_C, {"a": [(3, 3), (5, 5)], "b": []}
    ),
    "outer: USING after RIGHT JOIN takes the column of its right side": build(
        _ABC,
        "SELECT id, c.z, a.x FROM a RIGHT JOIN b USING (id) LEFT JOIN c USING (id)",
        _ROWS_ABC,
        _NEW_C,
        {"a": [(2, 5)], "b": [(2, 2), (3, 3)]},
    ),
    "outer: * of a qualifier after FULL JOIN USING": build(
        _ABC, "SELECT b.*, id AS i, a.id AS j FROM a FULL JOIN b USING (id)", _ROWS_ABC, {"a": [(1, 11), (3, 33)]}, {"b": []}
    ),
    "outer: groups by the column of FULL JOIN USING": build(
        _ABC,
        "SELECT id, count(*) AS n, count(x) AS m, sum(y) AS s FROM a FULL JOIN b USING (id) GROUP BY id HAVING id > 0",
        _ROWS_ABC,
        {"a": [(1, 11), (3, 33)]},
        {"b": [(3, 3), (4, 4)]},
    ),
    "outer: a constant of the padded side": build(
        _ABC,
        "SELECT a.id, q.one, q.one IS NULL AS alone FROM a LEFT JOIN (SELECT id, 1 AS one FROM b WHERE y > 0) AS q "
        "ON q.id = a.id",
        _ROWS_ABC,
        {"a": [(1, 10), (3, 30)]},
        {"b": [(3, 0), (1, -1)]},
        {"b": [(3, 1)]},
    ),
    "outer: ON belongs to the padded side, WHERE to all rows": build(
        _ABC,
        "SELECT a.id, b.y FROM a LEFT JOIN b ON a.id = b.id AND b.y > 15 AND a.x > 10 WHERE a.x > 5",
        _ROWS_ABC,
        {"a": [(1, 20), (2, 7), (3, 4)]},
        {"b": [(1, 16), (3, 17)]},
    ),
    "outer: a comma before LEFT JOIN": build(
        _ABC,
        "SELECT a.x, b.y, c.z FROM a, b LEFT JOIN c ON a.id = c.id AND b.id = c.id",
        _ROWS_ABC,
        _NEW_C,
        {"a": [(3, 3)], "b": [(3, 3), (1, 1)]},
    ),
    "outer: joins in brackets": build(
        _ABC,
        "SELECT a.id AS i, b.id AS j, c.id AS k FROM a LEFT JOIN (b JOIN c ON b.id = c.id) ON a.id = b.id",
        _ROWS_ABC,
        _NEW_C,
        {"a": [(2, 3)], "b": [(3, 3), (1, 1)]},
    ),
    **{
        f"outer: {call} beside padded rows": build(
            f"a(k int, x int; k)\nb(k int, x int, e {kind}; k)",
            f"SELECT a.k AS p, g.k AS q, g.v FROM a {side} JOIN (SELECT k, x, {call} AS v FROM b) AS g ON a.x = g.x",
            {"a": [(1, 1), (2, 2)], "b": [(1, 1, value)]},
            {"b": [(2, 2, value)]},
            {"a": [(1, 1)]},
        )
        for side, call, kind, value in (
            ("LEFT", "round(e)", "bigint", 9007199254740993),
            ("FULL", "round(e, 1)", "decimal(20,2)", "123456789012345678.91"),
            ("LEFT", "abs(e)", "decimal(38,30)", "1.000000000000000000000000000001"),
            ("LEFT", "1.0000000000000000000000001", "int", 1),
        )
    },
    "outer: round of a BIGINT, by tuples": build(
        "a(k int, x int; k)\nb(k int, x int, e bigint; k)",
        "SELECT a.k AS p, round(b.e) AS v FROM a JOIN b ON a.x = b.x",
        {"a": [(1, 1), (2, 2)], "b": [(1, 1, 9007199254740993)]},
        {"b": [(2, 2, 9007199254740993)]},
    ),
    **{
        f"set operations: {number}": build(
            "a(k int, x int; k)\nb(k bigint, z decimal(5,1))\nc(x int, w string)",
            sql,
            {"a": [(2, 5)], "b": [(5, "1.0")], "c": [(7, "q")]},
            {"a": [(1, 1), (2, 5)]},
            {"b": [], "c": [(1, "q"), (7, "q")]},
        )
        for number, sql in enumerate(
            (
                "SELECT x FROM a EXCEPT (SELECT x FROM c EXCEPT SELECT k FROM b)",
                "SELECT CAST(x AS STRING) AS t FROM (SELECT x FROM a UNION ALL (SELECT x FROM c EXCEPT SELECT z FROM b)) AS d",
                "SELECT CAST(x AS STRING) AS t FROM (SELECT x + 1 AS x FROM a UNION ALL (SELECT x FROM c EXCEPT SELECT z FROM b)) d",
                "SELECT x FROM a UNION SELECT x FROM c EXCEPT SELECT k FROM a INTERSECT SELECT k FROM b",
            ),
            1,
        )
    },
    "outer: a cast that only ON guards": build(
        _O,
        "SELECT p.pid, o.id, CAST(o.code AS INT) AS u FROM p LEFT JOIN o ON o.pid = p.pid AND o.qty > 0",
        _ORDERS,
        _AMOUNT,
        _ACTIVE,
    ),
    "arrays whose texts are alike": build(
        "t(k int, x string; k)",
        "SELECT k, concat(split(x, '-'), split(x, '-')) AS a FROM t",
        {"t": [(1, "a, b"), (2, None)]},
        {"t": [(1, "a-b"), (2, "")]},
        {"t": [(1, "a, b"), (2, "null")]},
        {"t": [(2, None)]},
    ),
    "copies of arrays whose texts are alike": build(
        "t(x string)",
        "SELECT concat(split(x, '-'), split(x, '-')) AS a FROM t",
        {"t": [("a, b",), ("a, b",)]},
        {"t": [("a, b",), ("a-b",)]},
        {"t": [("a-b",), ("a-b",), ("a, b",)]},
    ),
    "structs whose texts are alike": build(
        "t(k int, x string; k)",
        "SELECT k, from_json(x, 'a string, b string') AS s FROM t",
        {"t": [(1, _JSON)]},
        {"t": [(1, _JSON_LIKE_IT), (2, _JSON)]},
        {"t": [(1, _JSON)]},
    ),
    **{
        f"zeros: {made}": build(
            "t(k int, i int, p decimal(10,2), d double, s string; k)",
            f"SELECT k, {made} AS x FROM t",
            {"t": [(1, 1, "0.00", "0.0", "0.0"), (2, 2, "1.00", "1.0", "1")]},
            {"t": [(1, 1, "0.00", "-0.0", "-0.0"), (2, 2, "1.00", "-1.0", "1")]},
            {"t": [(1, 1, "0.00", "0.0", "0.0"), (2, 2, "1.00", "-0.0", "-0.0")]},
        )
        for made in (
            "array(p, d)",
            "array(s, d)",
            "struct(array(p, d) AS y)",
            "array(array(i), array(d))",
            "array(d) || array(d)",
            "CASE WHEN k = 5 THEN array(i) ELSE array(d) END",
            "if(k = 5, struct(i AS y), struct(d AS y))",
            "array_insert(array(i), 1, d)",
            "negative(s)",
            "p * d",
        )
    },
    "the sign of a zero in an array": build(
        "t(k int, x double; k)",
        "SELECT k, array(x) AS a FROM t",
        {"t": [(1, "0.0"), (2, "-0.0")]},
        {"t": [(1, "-0.0"), (2, "0.0")]},
        {"t": [(1, "1.0")]},
    ),
    **{
        f"max_by: {sql}": build(
            "t(k int, g int, v string, y int; k)",
            f"SELECT g, {sql} AS x FROM t GROUP BY g",
            {"t": [(1, 1, "a", 5), (2, 1, "b", 7), (3, 2, None, 1)]},
            {"t": [(1, 1, "a", 9), (2, 1, "b", 7), (3, 1, None, 1), (4, 2, "c", None)]},
            {"t": [(2, 1, "b", 7), (5, 1, None, 10), (4, 2, "c", None), (6, 1, "d", 0)]},
            {"t": []},
        )
        for sql in (
            "max_by(v, k)",
            "min_by(y, k)",
            "max_by(v, k) FILTER (WHERE y > 5)",
            "max_by(10 / y, k) FILTER (WHERE y <> 0)",
            "max_by(struct(v, y), k).v",
        )
    },
    "zeros: decimals times floats are floats": build(
        "t(k int, p decimal(10,2), d double; k)",
        "SELECT p % 2 AS g, sum(p * d) AS s, max(p * d) AS m, min(d - p) AS n FROM t GROUP BY p % 2",
        {"t": [(1, "0.00", "1.0"), (2, "1.00", "1.0")]},
        {"t": [(1, "0.00", "-1.0"), (2, "1.00", "1e20"), (3, "3.00", "1.0")]},
        {"t": [(1, "0.00", "-1.0"), (3, "3.00", "1.0"), (4, "3.00", "-1.1")]},
    ),
    **{
        f"large literals: {argument}": build(
            "t(k int, g int, i int, o boolean; k)",
            f"SELECT g, avg({argument}) AS a, sum({argument}) AS s FROM t GROUP BY g",
            {"t": [(1, 1, 0, True)]},
            {"t": [(1, 1, 0, True), (2, 1, 0, False), (3, 1, 1, None)]},
            {"t": [(1, 1, 2, True), (3, 1, 1, None), (4, 2, -1, False)]},
        )
        for argument in (
            "i + 9007199254740993",
            "i * 3000000000",
            "CASE WHEN o THEN 9007199254740993 ELSE i END",
            "if(i > 0, -2147483648, i)",
            "if(o, 12345678901234567890, i)",
            "coalesce(nullif(i, 0), 2147483648)",
        )
    },
    **{
        f"keys beside wider types: {kind}": build(
            f"a(k int, x {kind}; k)\nb(k bigint, y int; k)",
            "SELECT a.k, b.k AS l, a.x, b.y FROM a JOIN b ON a.x = b.k",
            {"a": [(1, value), (2, "7")], "b": []},
            {"b": [(5, 1)]},
            {"b": [(5, 1), (7, 1), (11, 1), (3000000000, 1), (12, 1)]},
            {"b": [(3000000000, 2), (7, 1)]},
        )
        for kind, value in (
            ("decimal(38,20)", "5.00000000000000000001"),
            ("decimal(38,30)", "5.000000000000000000000000000001"),
            ("decimal(20,2)", "5.01"),
            ("string", "3000000000"),
            ("double", "5.0"),
        )
    },
    "the sign of a zero in copies of an array": build(
        "t(x double)",
        "SELECT array(x) AS a FROM t",
        {"t": [("0.0",), ("-0.0",)]},
        {"t": [("-0.0",), ("-0.0",)]},
        {"t": [("0.0",), ("-0.0",), ("0.0",)]},
    ),
    **{
        f"copies of maps: {sql}": build(
            "u(s string, x int)",
            f"SELECT {sql} FROM u",
            {"u": [("a", 1), ("a", 1), ("b", 2)]},
            {"u": [("a", 1), ("b", 2)]},
            {"u": [("b", 2), ("c", 2), ("c", 2)]},
            {"u": []},
        )
        for sql in (
            "str_to_map(s) AS m",
            "map('k', s) AS m, x",
            "map('k', s) AS m",
            "x, array(map(s, x)) AS m",
            "from_json(s, 'map<string,string>') AS m, x",
        )
    },
    "maps of rows with a key": build(
        "t(k int, x int, s string; k)\nu(k int, y int; k)",
        "SELECT t.k, map('v', t.x, 'w', u.y) AS m, str_to_map(t.s, ',', ':') AS n FROM t LEFT JOIN u ON t.x = u.k",
        {"t": [(1, 1, "a:1,b:2"), (2, 2, "a:1"), (3, 1, None)], "u": [(1, 5), (2, 6)]},
        {"t": [(1, 1, "b:2,a:1"), (2, 2, "a:1"), (3, 1, "")], "u": [(1, 5), (2, 7)]},
        {"t": [(1, 2, "b:2,a:1"), (3, 1, "a:1")]},
        {"t": [(4, 1, "x:")], "u": []},
    ),
    **{
        f"constants: {name}": build(
            "t(k int, g int, y decimal(10,2), w decimal(30,10); k)\nu(k int, y decimal(10,2); k)",
            sql,
            {"t": [(1, 1, "10.00", "20.0000000000"), (2, 1, "7.00", "1.0000000001"), (3, 2, "5.55", None)], "u": [(1, "1.00")]},
            {"t": [(1, 1, "10.01", "20.0000000003"), (2, 2, "7.00", "1.0000000001"), (4, 2, "5.55", "7.0000000001")]},
            {"u": [(1, "1.00"), (2, "2.50"), (4, "2.00")]},
            {"t": [(4, 1, "8.00", "1.0000000001")]},
        )
        for name, sql in {
            "a subquery's": "SELECT k, CAST(y / n AS DOUBLE) AS v FROM (SELECT k, y, 3 AS n FROM t) AS s",
            "negative": "SELECT k, CAST(w * n AS STRING) AS v FROM (SELECT k, w, -3 AS n FROM t) AS s",
            "negated": "SELECT k, CAST(w * -n AS STRING) AS v FROM (SELECT k, w, (3) AS n FROM t) AS s",
            "as large as a BIGINT": "SELECT k, CAST(y / n AS DOUBLE) AS v FROM (SELECT k, y, 3000000000 AS n FROM t) AS s",
            "the least BIGINT": "SELECT k, CAST(y / n AS DOUBLE) AS v FROM (SELECT k, y, -9223372036854775808 AS n FROM t) AS s",
            "an alias": "SELECT k, 3 AS n, CAST(y / n AS DOUBLE) AS v FROM t",
            "an alias in GROUP BY": "SELECT 3 AS n, count(*) AS c FROM t GROUP BY n, y / n > 3.3333333",
            "an alias in HAVING": "SELECT g, 3 AS n, count(*) AS c FROM t GROUP BY g HAVING sum(y) / n > 5.6666668",
            "of VALUES": "SELECT k, CAST(y / n AS STRING) AS v FROM t CROSS JOIN (VALUES (3)) AS q(n)",
            "a scalar subquery's": "SELECT k, CAST(y / (SELECT 3) AS DOUBLE) AS v FROM t",
            "aggregated": "SELECT g, sum(CAST(y / n AS DOUBLE)) AS v FROM (SELECT g, y, 3 AS n FROM t) AS s GROUP BY g",
            "in a condition": "SELECT t.k FROM t JOIN (SELECT k, 3 AS n FROM u) AS s ON s.k = t.k AND t.y / s.n > 3.3333333",
            "in a window": "SELECT k, CAST(sum(y / n) OVER (PARTITION BY g) AS DOUBLE) AS v FROM (SELECT k, g, y, 3 n FROM t) s",
        }.items()
    },
    **{
        f"constants with long fractions: {name}": build(
            "t(k int, n int, b bigint; k)", sql, {"t": [(1, 2, 2), (2, 3, 3)]}, {"t": [(1, 3, 3), (2, 2, 2)]}, {"t": [(3, 2, 2)]}
        )
        for name, sql in {
            "beside an INT": "SELECT k, n >= m AS v FROM (SELECT k, n, 2.00000000000000000000000000001 AS m FROM t) AS s",
            "beside a BIGINT": "SELECT k FROM (SELECT k, b, 2.0000000000000000001 AS m FROM t) AS s WHERE b < m",
            "negative": "SELECT k, -b > m AS v FROM (SELECT k, b, -2.0000000000000000001 AS m FROM t) AS s",
        }.items()
    },
    "constants of branches": build(
        "t(k int, w decimal(30,10); k)",
        "SELECT b, k, w / s AS v FROM (SELECT 1 AS b, k, 3 AS s, w FROM t UNION ALL SELECT 2, k, 7, w FROM t) AS u",
        {"t": [(1, "20.0000000000")]},
        {"t": [(1, "20.0000000001"), (2, "5.0000000000")]},
        {"t": [(2, "6.0000000000")]},
    ),
    "constants of branches in a sum": build(
        "t(k int, x int, w decimal(30,10); k)\nu(k int, x int, w decimal(30,10); k)",
        "SELECT x, sum(s * w) AS v FROM (SELECT x, 1 AS s, w FROM t UNION ALL SELECT x, -1, w FROM u) AS b GROUP BY x",
        {"t": [(1, 1, "20.0000000001")], "u": [(1, 1, "5.0000000001")]},
        {"t": [(1, 1, "20.0000000001"), (2, 1, "0.00000006"), (3, 1, "0.00000006")]},
        {"t": [(2, 1, "0.00000006")], "u": [(2, 2, "1.5"), (3, 2, "1.0000000001")]},
    ),
    **{
        f"padded: {name}": build(
            "t(k int, y decimal(10,2); k)\nu(k int, y decimal(10,2), q int; k)",
            sql,
            {"t": [(1, "10.00"), (2, "7.00")], "u": [(2, "3.00", 3)]},
            {"u": []},
            {"t": [(2, "7.00"), (3, "1.00")], "u": [(3, "1.00", 2)]},
        )
        for name, sql in {
            "a quotient": "SELECT t.k, CAST(t.y / coalesce(p.n, 3) AS STRING) AS v FROM t "
            "LEFT JOIN (SELECT k, y * q AS n FROM u) AS p ON p.k = t.k + 0",
            "a text": "SELECT t.k, concat('x', coalesce(p.n, 0)) AS v FROM t "
            "LEFT JOIN (SELECT k, y * 2 AS n FROM u) AS p ON p.k = t.k",
            "of constants": "SELECT t.k, CAST(if(p.n IS NULL, 1, p.n) AS STRING) AS v FROM t "
            "LEFT JOIN (SELECT k, 2.5 AS n FROM u) AS p ON p.k = t.k",
            "of floats": "SELECT t.k, CAST(coalesce(p.n, 1) AS STRING) AS v FROM t "
            "LEFT JOIN (SELECT k, CAST(q AS DOUBLE) / 3 AS n FROM u) AS p ON p.k = t.k",
            "a scalar subquery": "SELECT k, CAST(coalesce((SELECT u.y * u.q FROM u WHERE u.k = t.k), 0) AS STRING) AS v FROM t",
            "on both sides": "SELECT t.k, p.k AS l, CAST(coalesce(p.n, 0) AS STRING) AS v FROM t "
            "FULL JOIN (SELECT k, y * q AS n FROM u) AS p ON p.k = t.k",
            "a branch": "SELECT t.k, concat(coalesce(p.n, '2020-1-1'), '') AS v FROM t LEFT JOIN (SELECT k, date_add("
            "DATE '2020-01-01', q) AS n FROM u UNION ALL SELECT k + 9, DATE '2020-01-01' FROM u) AS p ON p.k = t.k",
            "an element": "SELECT t.k, t.y / coalesce(p.n, 3) AS v FROM t "
            "LEFT JOIN (SELECT k, n FROM u LATERAL VIEW explode(array(y * q)) AS n) AS p ON p.k = t.k",
        }.items()
    },
    "constants in a subquery of IN": build(
        "e(k int, z decimal(38,38); k)\nu(k int; k)",
        "SELECT k FROM e WHERE z IN (SELECT 0 FROM u)",
        {"e": [(2, "0.5")], "u": [(1,)]},
        {"e": [(2, "0.5"), (1, "1e-30")]},
        {"u": []},
    ),
    **{
        f"groups that are all constants: {item}": build(
            "e(k int, w decimal(30,10), y decimal(10,2); k)",
            f"SELECT {item} AS v, count(*) AS c FROM e GROUP BY 'a'",
            {"e": []},
            {"e": [(1, "1.0000000001", "7.00")]},
            {"e": [(1, "1.0000000001", "7.00"), (2, "2.0000000001", "1.55")]},
        )
        for item in ("CAST(sum(w) * 1 AS STRING)", "CAST(sum(y) AS DECIMAL(20,1))")
    },
    # Within a lambda its variable hides columns and sources of the same name, in any case.
    **{
        f"a variable of a lambda: {item}": build(
            "t(k int, e int, x int; k)",
            sql,
            {"t": [(1, 1, 1), (2, 3, 1)]},
            {"t": [(1, 1, 2), (2, 1, 1), (3, 3, 4)]},
            {"t": [(1, 3, 0), (2, 1, 2), (3, 3, 1)]},
        )
        for item, sql in {
            "in capitals": "SELECT k, exists(array(k, x), E -> e > 2) AS r FROM t",
            "in other case": "SELECT k, exists(array(k), e -> E > t.e) AS r FROM t WHERE forall(array(k), X -> x > 0)",
            "with a field": "SELECT k, transform(array(struct(x AS e)), T -> t.e) AS r FROM t",
            "no column": "SELECT k, transform(array(k, x), (e, I) -> E + i) AS r FROM t",
            "as the view": "SELECT e, transform(array(sum(x)), v -> struct(v, v / count(*) AS n)) AS r FROM t GROUP BY e",
            "as the view, by key": "SELECT k, exists(array(1, 2), v -> v > x) AS r FROM t",
            "as the table, in an aggregate": "SELECT e, max(exists(array(1, 2), t -> t > x)) AS r FROM t GROUP BY e",
            "as groups": "SELECT e, exists(array(named_struct('n', 1, 'count', 1, 's', 1)), groups -> groups.n < count(*) "
            "AND groups.s < sum(x)) AS r FROM t GROUP BY e",
            "as changes": "SELECT e, exists(array(1), d -> exists(array(3), d -> d > 2) AND d >= count(*)) AS r FROM t GROUP BY e",
        }.items()
    },
}
