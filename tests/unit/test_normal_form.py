"""Views that read the same rows have one normal form, however they are spelled; others have not."""

from __future__ import annotations

import pytest

from dbt_idivm.context import Catalog, PlainView, TableInfo
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.tools.dag.normal_form import Normal, normal_form


def table(name: str, columns: str, *key: str) -> TableInfo:
    return TableInfo(name, tuple(Attribute(*each.split(" ", 1)) for each in columns.split(", ")), key or None)


CATALOG = Catalog(
    {
        info.name: info
        for info in (
            table("orders", "id int, cid int, day date, price decimal(10,2), weight double, note string", "id"),
            table("customers", "cid int, name string, region string, score double, code bigint", "cid"),
            table("lines", "id int, pid int, n int, weight double", "id", "pid"),
            table("parts", "pid int, price int, parent int", "pid"),
            table("log", "cid int, line string, tags array<string>"),
        )
    },
    {"big": PlainView("SELECT id, cid, price FROM orders WHERE price > 100")},
)


def normal(sql: str) -> Normal:
    return normal_form(lower(sql, CATALOG).root)


def form(sql: str) -> str:
    return normal(sql).form.text


SPJ = "SELECT o.id, c.name FROM orders o JOIN customers c ON o.cid = c.cid"
SAME = {
    "order of FROM": (SPJ, "SELECT c.name, o.id FROM customers c JOIN orders o ON o.cid = c.cid"),
    "comma instead of JOIN": (SPJ, "SELECT o.id FROM customers c, orders o WHERE o.cid = c.cid"),
    "USING": (SPJ, "SELECT cid FROM customers JOIN orders USING (cid)"),
    "aliases": (SPJ, "SELECT x.id FROM orders AS x JOIN customers AS y ON x.cid = y.cid"),
    "flipped equality": (SPJ, "SELECT o.id FROM orders o JOIN customers c ON c.cid = o.cid"),
    "projections that differ": (
        SPJ,
        "SELECT o.price * 2 AS p, upper(c.region) AS r FROM orders o JOIN customers c ON o.cid = c.cid",
    ),
    "a view that is the table": ("SELECT id FROM orders", "SELECT note FROM orders"),
    "a constant beside": ("SELECT 1 AS one, id FROM orders", "SELECT id FROM orders"),
    "ON or WHERE": (f"{SPJ} WHERE o.price > 5", "SELECT o.id FROM orders o JOIN customers c ON o.cid = c.cid AND o.price > 5"),
    "order of conjuncts": (f"{SPJ} WHERE o.price > 5 AND c.region = 'EU'", f"{SPJ} WHERE c.region = 'EU' AND o.price > 5"),
    "flipped comparison": (f"{SPJ} WHERE o.price > 5", f"{SPJ} WHERE 5 < o.price"),
    "flipped comparison with equality": (f"{SPJ} WHERE o.price >= 5", f"{SPJ} WHERE 5 <= o.price"),
    "negated comparison": (f"{SPJ} WHERE NOT o.price > 5", f"{SPJ} WHERE o.price <= 5"),
    "negated equality": ("SELECT id FROM orders WHERE NOT cid = 5", "SELECT id FROM orders WHERE cid <> 5"),
    "brackets": (f"{SPJ} WHERE (o.price > 5) AND ((c.region = 'EU'))", f"{SPJ} WHERE o.price > 5 AND c.region = 'EU'"),
    "a condition twice": (f"{SPJ} WHERE o.price > 5 AND 5 < o.price", f"{SPJ} WHERE o.price > 5"),
    "BETWEEN": ("SELECT id FROM orders WHERE price BETWEEN 2 AND 5", "SELECT id FROM orders WHERE price <= 5 AND price >= 2"),
    "negated equality of columns": (SPJ, "SELECT o.id FROM orders o, customers c WHERE NOT (o.cid <> c.cid)"),
    "order of IN": ("SELECT id FROM orders WHERE cid IN (1, 2)", "SELECT id FROM orders WHERE cid IN (2, 1, 2)"),
    "order of OR": ("SELECT id FROM orders WHERE cid = 1 OR price > 2", "SELECT id FROM orders WHERE price > 2 OR cid = 1"),
    "operands of a sum": ("SELECT id FROM orders WHERE id + cid > 4", "SELECT id FROM orders WHERE cid + id > 4"),
    "TRUE": ("SELECT id FROM orders WHERE TRUE", "SELECT id FROM orders"),
    "derived table": (
        f"{SPJ} WHERE c.region = 'EU'",
        """
        SELECT o.id FROM orders o JOIN (SELECT cid AS k, name FROM customers WHERE region = 'EU') AS eu ON eu.k = o.cid""",
    ),
    "CTE": (
        f"{SPJ} WHERE o.price > 5",
        """
        WITH dear AS (SELECT * FROM orders WHERE price > 5) SELECT d.id FROM dear d JOIN customers c ON d.cid = c.cid""",
    ),
    "a view among the inputs": ("SELECT b.id FROM big b", "SELECT id FROM orders WHERE price > 100"),
    "computed column substituted": (
        "SELECT id FROM (SELECT id, id + cid AS s FROM orders) AS t WHERE s > 4",
        "SELECT id FROM orders WHERE id + cid > 4",
    ),
    "shape of the joins": (
        """
        SELECT l.n FROM lines l JOIN (SELECT o.id, c.name FROM orders o JOIN customers c ON o.cid = c.cid) AS x
        ON l.id = x.id""",
        """
        SELECT l.n FROM customers c JOIN (SELECT l.n, o.cid FROM lines l JOIN orders o ON l.id = o.id) AS l ON l.cid = c.cid""",
    ),
    "equality through another column": (
        "SELECT a.id FROM orders a, lines b, lines c WHERE a.id = b.id AND b.id = c.id AND b.pid = 1 AND c.pid = 2",
        "SELECT a.id FROM orders a, lines b, lines c WHERE a.id = b.id AND a.id = c.id AND b.pid = 1 AND c.pid = 2",
    ),
    "condition on another equal column": (f"{SPJ} WHERE o.cid > 7", f"{SPJ} WHERE c.cid > 7"),
    "group by another equal column": (
        "SELECT o.cid, count(*) AS n FROM orders o JOIN customers c ON o.cid = c.cid GROUP BY o.cid",
        "SELECT c.cid, count(*) AS n FROM orders o JOIN customers c ON o.cid = c.cid GROUP BY c.cid",
    ),
    "occurrences of one table": (
        "SELECT a.id FROM orders a, orders b WHERE a.id = b.cid AND a.price > 5",
        "SELECT a.id FROM orders a, orders b WHERE b.id = a.cid AND b.price > 5",
    ),
    "groups of either of two occurrences": (
        "SELECT a.cid, max(b.day) AS d FROM orders a, orders b WHERE a.id = b.id GROUP BY a.cid",
        "SELECT b.cid, max(a.day) AS d FROM orders a, orders b WHERE a.id = b.id GROUP BY b.cid",
    ),
    "a chain of one table": (
        "SELECT a.pid FROM parts a, parts b, parts c WHERE a.parent = b.pid AND b.parent = c.pid",
        "SELECT a.pid FROM parts a, parts b, parts c WHERE c.parent = a.pid AND b.parent = c.pid",
    ),
    "order of groups and calls": (
        "SELECT cid, day, sum(price) AS s, count(*) AS n FROM orders GROUP BY cid, day",
        "SELECT day, cid, count(*) AS m, sum(price) AS t FROM orders GROUP BY day, cid",
    ),
    "γ of a respelled input": (
        "SELECT c.name, sum(o.price) AS s FROM orders o JOIN customers c ON o.cid = c.cid GROUP BY c.name",
        "SELECT k.name, sum(p.price) AS s FROM customers k, (SELECT * FROM orders) AS p WHERE p.cid = k.cid GROUP BY k.name",
    ),
    "computed argument": (
        "SELECT cid, sum(p) AS s FROM (SELECT cid, price * 2 AS p FROM orders) AS t GROUP BY cid",
        "SELECT cid, sum(2 * price) AS s FROM orders GROUP BY cid",
    ),
    "HAVING or a derived table": (
        "SELECT cid FROM orders GROUP BY cid HAVING count(*) > 1",
        "SELECT cid FROM (SELECT cid, count(*) AS n FROM orders GROUP BY cid) AS t WHERE n > 1",
    ),
    "DISTINCT or GROUP BY": ("SELECT DISTINCT cid FROM orders", "SELECT cid FROM orders GROUP BY cid"),
    "γ joined": (
        "SELECT c.name FROM customers c JOIN (SELECT cid, count(*) AS n FROM orders GROUP BY cid) AS t ON t.cid = c.cid",
        "WITH t AS (SELECT cid, count(*) AS k FROM orders GROUP BY cid) SELECT name FROM t, customers c WHERE c.cid = t.cid",
    ),
    "outer join of a respelled input": (
        "SELECT o.id FROM orders o LEFT JOIN customers c ON o.cid = c.cid AND c.region = 'EU'",
        "SELECT x.id FROM orders x LEFT JOIN customers y ON 'EU' = y.region AND y.cid = x.cid",
    ),
    "outer join whose padded rows are removed": (
        "SELECT o.id FROM orders o LEFT JOIN customers c ON o.cid = c.cid WHERE c.region = 'EU'",
        f"{SPJ} WHERE c.region = 'EU'",
    ),
    "EXISTS": (
        "SELECT id FROM orders o WHERE EXISTS (SELECT 1 FROM customers c WHERE c.cid = o.cid)",
        "SELECT price FROM orders x WHERE EXISTS (SELECT y.name FROM customers y WHERE x.cid = y.cid)",
    ),
    "UNION ALL": (
        "SELECT id FROM orders UNION ALL SELECT pid FROM parts WHERE price > 3",
        "SELECT o.id AS k FROM orders o UNION ALL SELECT p.pid FROM (SELECT * FROM parts) AS p WHERE 3 < p.price",
    ),
    "window": (
        "SELECT id, sum(price) OVER (PARTITION BY cid) AS s FROM orders",
        "SELECT o.day, sum(o.price) OVER (PARTITION BY o.cid) AS t FROM orders o",
    ),
    "unnest": (
        "SELECT line, t FROM log LATERAL VIEW explode(tags) x AS t",
        "SELECT u FROM log AS l LATERAL VIEW explode(l.tags) y AS u",
    ),
}

_GROUPED = "SELECT cid, sum(price) AS s FROM orders GROUP BY cid"
_WINDOW = "SELECT id, sum(price) OVER (PARTITION BY cid) AS s FROM orders"
DIFFERENT = {
    "another table": ("SELECT id FROM orders", "SELECT id FROM lines"),
    "a condition more": (SPJ, f"{SPJ} WHERE o.price > 5"),
    "another constant": (f"{SPJ} WHERE o.price > 5", f"{SPJ} WHERE o.price > 6"),
    "a number and a text": ("SELECT id FROM orders WHERE note = 5", "SELECT id FROM orders WHERE note = '5'"),
    "another column": (f"{SPJ} WHERE o.id > 5", f"{SPJ} WHERE o.cid > 5"),
    "the same column of another occurrence": (
        "SELECT a.id FROM orders a, orders b WHERE a.id = b.cid AND a.price > 5",
        "SELECT a.id FROM orders a, orders b WHERE a.id = b.cid AND b.price > 5",
    ),
    "LT and LTE": ("SELECT id FROM orders WHERE id < 5", "SELECT id FROM orders WHERE id <= 5"),
    "operands of a comparison": ("SELECT id FROM orders WHERE id < cid", "SELECT id FROM orders WHERE id > cid"),
    "operands of a difference": ("SELECT id FROM orders WHERE id - cid > 1", "SELECT id FROM orders WHERE cid - id > 1"),
    "grouping of a float sum": (
        "SELECT l.id FROM lines l JOIN orders o ON l.id = o.id WHERE (l.weight + o.weight) + 1 > 2",
        "SELECT l.id FROM lines l JOIN orders o ON l.id = o.id WHERE l.weight + (o.weight + 1) > 2",
    ),
    "AND and OR": ("SELECT id FROM orders WHERE id = 1 AND cid = 2", "SELECT id FROM orders WHERE id = 1 OR cid = 2"),
    "x = x removes NULL": ("SELECT id FROM orders WHERE cid = cid", "SELECT id FROM orders"),
    "= and <=>": (
        "SELECT o.id FROM orders o JOIN customers c ON o.cid = c.cid",
        "SELECT o.id FROM orders o JOIN customers c ON o.cid <=> c.cid",
    ),
    "NOT of <=> is no <>": ("SELECT id FROM orders WHERE NOT cid <=> 5", "SELECT id FROM orders WHERE cid <> 5"),
    "IN and NOT IN": ("SELECT id FROM orders WHERE cid IN (1, 2)", "SELECT id FROM orders WHERE cid NOT IN (1, 2)"),
    "OR guards what may fail": (
        "SELECT id FROM orders WHERE cid = 0 OR price / cid > 1",
        "SELECT id FROM orders WHERE price / cid > 1 OR cid = 0",
    ),
    "floats that are equal need not be identical": (
        "SELECT o.id FROM orders o, lines l, customers c WHERE o.weight = l.weight AND l.weight = c.score",
        "SELECT o.id FROM orders o, lines l, customers c WHERE o.weight = l.weight AND o.weight = c.score",
    ),
    "a condition on another equal float": (
        "SELECT o.id FROM orders o, lines l WHERE o.weight = l.weight AND o.weight > 5",
        "SELECT o.id FROM orders o, lines l WHERE o.weight = l.weight AND l.weight > 5",
    ),
    "equality of two types": (
        "SELECT o.id FROM orders o, lines l, customers c WHERE o.id = c.code AND l.id = c.code",
        "SELECT o.id FROM orders o, lines l, customers c WHERE o.id = c.code AND l.id = o.id",
    ),
    "once and twice": ("SELECT a.id FROM orders a", "SELECT a.id FROM orders a, orders b"),
    "groups of one of two occurrences": (
        "SELECT a.cid, count(*) AS n FROM orders a, orders b WHERE a.id < b.id GROUP BY a.cid",
        "SELECT b.cid, count(*) AS n FROM orders a, orders b WHERE a.id < b.id GROUP BY b.cid",
    ),
    "groups and calls of one or of two occurrences": (
        "SELECT a.cid, max(a.day) AS d FROM orders a, orders b WHERE a.id = b.id GROUP BY a.cid",
        "SELECT a.cid, max(b.day) AS d FROM orders a, orders b WHERE a.id = b.id GROUP BY a.cid",
    ),
    "chain and star of one table": (
        "SELECT a.pid FROM parts a, parts b, parts c WHERE a.parent = b.pid AND b.parent = c.pid",
        "SELECT a.pid FROM parts a, parts b, parts c WHERE a.parent = b.pid AND a.price = c.pid",
    ),
    "DISTINCT": ("SELECT cid FROM orders", "SELECT DISTINCT cid FROM orders"),
    "DISTINCT of other columns": ("SELECT DISTINCT cid FROM orders", "SELECT DISTINCT cid, day FROM orders"),
    "other groups": (_GROUPED, "SELECT day, sum(price) AS s FROM orders GROUP BY day"),
    "other calls": (_GROUPED, "SELECT cid, max(price) AS s FROM orders GROUP BY cid"),
    "DISTINCT in a call": (
        "SELECT cid, count(day) AS n FROM orders GROUP BY cid",
        "SELECT cid, count(DISTINCT day) AS n FROM orders GROUP BY cid",
    ),
    "count of a column that may be NULL": (
        "SELECT cid, count(*) AS n FROM orders GROUP BY cid",
        "SELECT cid, count(day) AS n FROM orders GROUP BY cid",
    ),
    "FILTER": (_GROUPED, "SELECT cid, sum(price) FILTER (WHERE day IS NOT NULL) AS s FROM orders GROUP BY cid"),
    "a condition below γ and above": (
        "SELECT cid, count(*) AS n FROM orders WHERE price > 5 GROUP BY cid",
        "SELECT cid, count(*) AS n FROM orders GROUP BY cid HAVING max(price) > 5",
    ),
    "all rows and groups by a constant": (
        "SELECT count(*) AS n FROM orders",
        "SELECT count(*) AS n FROM orders GROUP BY id > id",
    ),
    "inner and outer": (SPJ, "SELECT o.id FROM orders o LEFT JOIN customers c ON o.cid = c.cid"),
    "sides of an outer join": (
        "SELECT o.id FROM orders o LEFT JOIN customers c ON o.cid = c.cid",
        "SELECT o.id FROM customers c LEFT JOIN orders o ON o.cid = c.cid",
    ),
    "LEFT and FULL": (
        "SELECT o.id FROM orders o LEFT JOIN customers c ON o.cid = c.cid",
        "SELECT o.id FROM orders o FULL JOIN customers c ON o.cid = c.cid",
    ),
    "ON of an outer join is no WHERE": (
        "SELECT o.id FROM orders o LEFT JOIN customers c ON o.cid = c.cid AND o.price > 5",
        "SELECT o.id FROM orders o LEFT JOIN customers c ON o.cid = c.cid WHERE o.price > 5",
    ),
    "a value that is padded": (
        "SELECT DISTINCT t.s FROM orders o LEFT JOIN (SELECT cid, coalesce(name, '') AS s FROM customers) AS t ON o.cid = t.cid",
        "SELECT DISTINCT coalesce(c.name, '') AS s FROM orders o LEFT JOIN customers c ON o.cid = c.cid",
    ),
    "EXISTS and NOT EXISTS": (
        "SELECT id FROM orders o WHERE EXISTS (SELECT 1 FROM customers c WHERE c.cid = o.cid)",
        "SELECT id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM customers c WHERE c.cid = o.cid)",
    ),
    "EXISTS and a join": (
        "SELECT cid FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE c.cid = o.cid)",
        "SELECT c.cid FROM customers c JOIN orders o ON c.cid = o.cid",
    ),
    "UNION and UNION ALL": (
        "SELECT id FROM orders UNION SELECT pid FROM parts",
        "SELECT id FROM orders UNION ALL SELECT pid FROM parts",
    ),
    "columns of a union": (
        "SELECT id FROM orders UNION ALL SELECT pid FROM parts",
        "SELECT id FROM orders UNION ALL SELECT parent FROM parts",
    ),
    "partition of a window": (_WINDOW, "SELECT id, sum(price) OVER (PARTITION BY day) AS s FROM orders"),
    "order of a window": (_WINDOW, "SELECT id, sum(price) OVER (PARTITION BY cid ORDER BY id) AS s FROM orders"),
    "direction of a window": (
        "SELECT id, row_number() OVER (ORDER BY id) AS s FROM orders",
        "SELECT id, row_number() OVER (ORDER BY id DESC) AS s FROM orders",
    ),
    "unnest with rows that have no element": (
        "SELECT line, t FROM log LATERAL VIEW explode(tags) x AS t",
        "SELECT line, t FROM log LATERAL VIEW OUTER explode(tags) x AS t",
    ),
    "constants that are false": ("SELECT id FROM orders WHERE 1 = 2", "SELECT id FROM orders"),
    "one row and a table": ("SELECT 1 AS a", "SELECT 1 AS a FROM orders"),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME.keys())
def test_meet(pair: tuple[str, str]) -> None:
    assert form(pair[0]) == form(pair[1])


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_do_not_meet(pair: tuple[str, str]) -> None:
    assert form(pair[0]) != form(pair[1])


def test_there_are_enough_pairs() -> None:
    assert min(len(SAME), len(DIFFERENT)) >= 30


def test_text_of_a_block() -> None:
    found = normal(f"{SPJ} WHERE o.price > 5 AND c.region = 'EU'")
    assert found.form.text == "⋈[#0.cid=#1.cid; EQ(#0.region, 'EU'); LT(5, #1.price)](customers, orders)"
    assert {name: each.name for name, each in found.names.items() if name in ("o__cid", "c__cid", "c__name")} == {
        "o__cid": "0.cid",
        "c__cid": "0.cid",
        "c__name": "0.name",
    }


def test_text_of_a_grouping() -> None:
    found = normal("SELECT name, count(*) AS n FROM orders o JOIN customers c ON o.cid = c.cid GROUP BY name HAVING count(*) > 1")
    assert found.form.text == "⋈[LT(1, #0.c0)](γ[#0.name; Count(this=Star())](⋈[#0.cid=#1.cid](customers, orders)))"


def test_a_table_is_its_name() -> None:
    assert form("SELECT name FROM customers") == "customers"


def test_many_occurrences_keep_the_given_order() -> None:
    """Seven occurrences that nothing tells apart have 5,040 orders."""
    names = [f"t{number}" for number in range(7)]
    found = form(f"SELECT t0.pid FROM {', '.join(f'parts {name}' for name in names)}")
    assert found == f"⋈[]({', '.join(['parts'] * 7)})"
