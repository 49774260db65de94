"""The plan of a query gives the same bag of rows as the query itself: both are run on DuckDB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from dbt_idivm.algebra.block import Aliases, Block, Source, subquery
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.context import Catalog, PlainView, TableInfo
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute, DiffRows, Scan

TABLES = {
    "main.orders": "id int, cid int, Price int, status string, day date",
    "main.customers": "cid int, name string, region string",
    "main.notes": "cid int, note string",
    "main.regions": "region string, `head count` int",
}
KEYS = {"main.orders": ("id",), "main.customers": ("cid",)}
ROWS = """
    INSERT INTO main.orders VALUES
        (1, 1, 10, 'open', '2024-01-01'), (2, 1, 10, 'open', '2024-01-01'), (3, 2, NULL, 'shut', NULL),
        (4, NULL, 5, NULL, '2024-02-01'), (5, 3, 7, 'open', '2024-02-03'), (6, 9, 7, 'Open', '2024-03-01');
    INSERT INTO main.customers VALUES
        (1, 'ann', 'east'), (2, 'bob', NULL), (3, NULL, 'west'), (4, 'dan', 'east'), (NULL, 'eve', 'north');
    INSERT INTO main.notes VALUES
        (1, 'x'), (1, 'x'), (1, NULL), (2, 'y'), (NULL, 'z'), (NULL, 'z'), (4, 'x');
    INSERT INTO main.regions VALUES ('east', 3), ('west', NULL), (NULL, 1), ('east', 3);
"""
VIEWS = {
    "main.v_open": "SELECT id, cid, price AS Cost FROM main.orders WHERE status = 'open'",
    "main.v_deep": "WITH w AS (SELECT cid, sum(cost) AS spent FROM main.v_open GROUP BY cid) SELECT * FROM w",
}


def catalog() -> Catalog:
    tables = {}
    for name, definition in TABLES.items():
        parts = [part.strip().rsplit(" ", 1) for part in definition.split(",")]
        columns = tuple(Attribute(column.strip("`"), kind) for column, kind in parts)
        tables[name] = TableInfo(name, columns, KEYS.get(name))
    return Catalog(tables, {name: PlainView(text) for name, text in VIEWS.items()})


class Tables(Aliases):
    """Leaves of a plan as plain tables."""

    def table(self, scan: Scan) -> Block:
        name = self.alias(scan.occurrence)
        item = exp.alias_(exp.to_table(scan.table), name, table=True)
        output = {scan.attribute(a.name): column(a.name, name) for a in scan.base_columns}
        return Block((Source(item),), output)

    def diff(self, rows: DiffRows) -> Block:
        raise NotImplementedError


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name, definition in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({definition.replace('`', chr(34))})")
        connection.execute(ROWS)
        connection.execute("CREATE MACRO raise_error(x) AS error(x)")
        for name, definition in VIEWS.items():
            connection.execute(f"CREATE VIEW {name} AS {sqlglot.transpile(definition, 'spark', 'duckdb')[0]}")
        yield connection


def planned(sql: str) -> str:
    """The plan as DuckDB's SQL, under the user's column names."""
    lowered = lower(sql, catalog())
    block = lowered.root.block(Tables())
    columns = [exp.alias_(column(name, "plan"), f"c{number}") for number, (_, name) in enumerate(lowered.output)]
    return exp.Select(expressions=columns).from_(subquery(block.select(), "plan")).sql("duckdb")


QUERIES = """
SELECT * FROM main.orders
SELECT id, PRICE + 1 AS more, Price AS p, `price` AS q FROM main.orders AS o WHERE o.Price > 6 OR NOT status = 'open'
SELECT orders.id FROM main.orders WHERE main.orders.cid IN (1, 2) AND status IS NOT NULL AND price BETWEEN 1 AND 20
SELECT o.id, c.name FROM main.orders o JOIN main.customers c ON o.cid = c.cid AND o.price > 5
SELECT o.id, c.name FROM main.orders o, main.customers c WHERE o.cid = c.cid
SELECT o.id, c.cid AS other FROM main.orders o CROSS JOIN main.customers c WHERE o.cid < c.cid
SELECT * FROM main.orders JOIN main.customers USING (cid)
SELECT cid, o.cid AS a, c.cid AS b FROM main.orders o JOIN main.customers c USING (cid)
SELECT c.*, o.id FROM main.orders o JOIN main.customers c USING (cid)
SELECT * FROM main.customers JOIN main.notes USING (cid) JOIN main.regions USING (region)
SELECT * FROM main.customers NATURAL JOIN main.notes
SELECT cid, n.note, o.id FROM main.orders o JOIN (main.customers c JOIN main.notes n USING (cid)) USING (cid)
SELECT a.id AS a, b.id AS b FROM main.orders a JOIN main.orders b ON a.price = b.price AND a.id < b.id
SELECT a.id AS a, b.id AS b, c.name FROM main.orders a, main.orders b JOIN main.customers c ON b.cid = c.cid WHERE a.id = b.id
SELECT a.note, b.note AS other FROM main.notes a JOIN main.notes b ON a.cid <=> b.cid
SELECT cid, count(*) AS n, sum(price) AS total, min(price) AS low, max(price) AS high FROM main.orders GROUP BY cid
SELECT cid AS customer, avg(price) AS mean FROM main.orders GROUP BY customer
SELECT upper(status) AS s, count(*) AS n FROM main.orders GROUP BY 1
SELECT upper(status) AS s, sum(price + 1) / count(price) AS x FROM main.orders GROUP BY upper(status)
SELECT status, cid, count(id) AS n FROM main.orders GROUP BY ALL
SELECT price + cid AS k, count(*) AS n FROM main.orders GROUP BY (price + cid)
SELECT (price + 1) * 2 AS k, count(*) AS n FROM main.orders GROUP BY price + 1
SELECT count(*) AS n, sum(price) AS s FROM main.orders WHERE id > 100
SELECT count(DISTINCT price) AS n, sum(DISTINCT price) AS s, count(price) AS m, count(1) AS k FROM main.orders
SELECT cid, sum(price) AS s FROM main.orders GROUP BY cid HAVING count(*) > 1
SELECT cid, sum(price) AS s FROM main.orders GROUP BY cid HAVING s > 6 AND cid IS NOT NULL
SELECT cid, sum(price) + 1 AS s, s * 2 AS t FROM main.orders GROUP BY cid HAVING s > 6 AND t < 100
SELECT cid FROM main.orders GROUP BY cid HAVING max(price) = min(price)
SELECT max(price) AS m FROM main.orders HAVING count(*) > 100
SELECT cid, count(*) FILTER (WHERE price > 6) AS n, sum(price) FILTER (WHERE status = 'open') AS s FROM main.orders GROUP BY cid
SELECT count(DISTINCT price) FILTER (WHERE id > 2) AS n, max(price) FILTER (WHERE id > 100) AS m FROM main.orders
SELECT cid, count_if(price IS NULL) AS n, bool_and(price > 6) AS a, bool_or(price > 6) AS o FROM main.orders GROUP BY cid
SELECT bit_and(price) AS a, bit_or(price) AS o, bit_xor(price) AS x, count_if(id > 2) FILTER (WHERE id < 4) AS n FROM main.orders
SELECT status, median(price) AS m, stddev_pop(price) AS s, var_samp(price) AS v FROM main.orders GROUP BY status
SELECT cid FROM main.orders GROUP BY cid HAVING count(*) FILTER (WHERE price IS NULL) = 0
SELECT status, count(DISTINCT cid, price) AS n, count(DISTINCT cid, price + 1) FILTER (WHERE id > 2) AS m FROM main.orders GROUP BY status
SELECT status, covar_pop(price, id) AS c, regr_count(price, id) AS n FROM main.orders GROUP BY status HAVING regr_count(price, id) > 0
SELECT o.id, c.name FROM main.orders o LEFT JOIN main.customers c ON o.cid = c.cid
SELECT o.id, c.name FROM main.orders o RIGHT OUTER JOIN main.customers c ON o.cid = c.cid AND o.price > 5
SELECT o.id, c.name FROM main.orders o FULL OUTER JOIN main.customers c ON o.cid = c.cid AND c.region = 'east'
SELECT o.id, c.name FROM main.orders o LEFT JOIN main.customers c ON o.price > 5
SELECT cid, o.cid AS a, c.cid AS b, o.id, c.name FROM main.orders o LEFT JOIN main.customers c USING (cid)
SELECT cid, o.cid AS a, c.cid AS b, o.id, c.name FROM main.orders o RIGHT JOIN main.customers c USING (cid)
SELECT cid, o.cid AS a, c.cid AS b, o.id, c.name FROM main.orders o FULL JOIN main.customers c USING (cid)
SELECT * FROM main.orders RIGHT JOIN main.customers USING (cid)
SELECT * FROM main.orders FULL JOIN main.customers USING (cid)
SELECT * FROM main.customers NATURAL LEFT JOIN main.notes
SELECT * FROM main.notes NATURAL FULL JOIN main.customers
SELECT o.id, c.name, n.note FROM main.orders o LEFT JOIN main.customers c USING (cid) LEFT JOIN main.notes n ON n.cid = c.cid
SELECT o.id, t.name, t.note FROM main.orders o LEFT JOIN (main.customers JOIN main.notes USING (cid)) t ON t.name > 'b'
SELECT o.id, t.one FROM main.orders o LEFT JOIN (SELECT 1 AS one, cid FROM main.customers WHERE region IS NULL) t ON o.cid = t.cid
SELECT o.id, c.name FROM main.orders o JOIN (main.customers c LEFT JOIN main.notes n ON n.cid = c.cid) ON o.cid = c.cid
SELECT id FROM main.orders o LEFT JOIN main.customers c ON o.cid = c.cid WHERE c.cid IS NULL
SELECT c.name, count(o.id) AS n FROM main.customers c LEFT JOIN main.orders o ON o.cid = c.cid GROUP BY c.name
SELECT t.one, n.note FROM (SELECT 1 AS one) t LEFT JOIN main.notes n ON n.cid = t.one
SELECT n.note, t.one FROM main.notes n FULL JOIN (SELECT 1 AS one) t ON n.cid = t.one
SELECT id FROM main.orders o WHERE EXISTS (SELECT 1 FROM main.customers c LEFT JOIN main.notes n USING (cid) WHERE c.cid = o.cid)
SELECT c.region, o.status, sum(o.price * 2) AS s FROM main.orders o JOIN main.customers c ON o.cid = c.cid GROUP BY c.region, o.status
SELECT cid, CASE WHEN cid = 1 THEN sum(price) ELSE -count(*) END AS x FROM main.orders GROUP BY cid
SELECT DISTINCT note FROM main.notes
SELECT DISTINCT cid, 1 AS one, note IS NULL AS empty FROM main.notes
SELECT DISTINCT count(*) AS n FROM main.notes GROUP BY cid
SELECT cid FROM main.notes UNION ALL SELECT cid FROM main.customers
SELECT cid, 'a' AS kind FROM main.notes UNION ALL SELECT id, status FROM main.orders UNION ALL SELECT cid, name FROM main.customers
SELECT cid FROM main.notes INTERSECT SELECT cid FROM main.customers
SELECT cid FROM main.customers EXCEPT SELECT cid FROM main.orders
SELECT cid, note FROM main.notes EXCEPT SELECT cid, name FROM main.customers
SELECT cid AS a, cid AS b FROM main.notes INTERSECT SELECT id, cid FROM main.orders
SELECT cid FROM main.notes UNION ALL SELECT cid FROM main.customers INTERSECT SELECT id FROM main.orders
SELECT cid FROM main.notes EXCEPT SELECT cid FROM main.customers UNION ALL SELECT cid FROM main.notes
SELECT cid FROM main.customers EXCEPT (SELECT cid FROM main.orders EXCEPT SELECT cid FROM main.notes)
SELECT id FROM main.orders WHERE cid IN (SELECT cid FROM main.customers EXCEPT SELECT cid FROM main.notes)
SELECT cid FROM main.notes UNION SELECT cid FROM main.customers
SELECT cid FROM main.notes UNION SELECT cid FROM main.customers UNION ALL SELECT id FROM main.orders
SELECT cid FROM main.notes UNION ALL (SELECT cid FROM main.customers UNION SELECT id FROM main.orders)
SELECT x.cid AS k, count(*) AS n FROM (SELECT cid FROM main.notes UNION ALL SELECT cid FROM main.orders) x GROUP BY x.cid
WITH c AS (SELECT cid, price + 1 AS p FROM main.orders) SELECT x.cid, y.p FROM c x JOIN c y ON x.cid = y.cid
WITH a AS (SELECT cid FROM main.notes), b AS (SELECT cid AS k FROM a WHERE cid > 0) SELECT a.cid, b.k FROM a JOIN b ON a.cid = b.k
WITH a(k, n) AS (SELECT cid, count(*) FROM main.notes GROUP BY cid) SELECT k, n + 1 AS n FROM a
WITH orders AS (SELECT cid FROM main.notes) SELECT o.cid FROM orders o JOIN main.orders p ON o.cid = p.cid
WITH a AS (SELECT cid FROM main.notes) SELECT * FROM (WITH a AS (SELECT id FROM main.orders) SELECT * FROM a) z, a
SELECT t.a, t.b FROM (SELECT cid, price FROM main.orders) AS t(a, b) WHERE t.b > 5
SELECT d.n, count(*) AS groups FROM (SELECT cid, count(*) AS n FROM main.notes GROUP BY cid) d GROUP BY d.n
SELECT o.id, t.s FROM main.orders o JOIN (SELECT cid, sum(price) AS s FROM main.orders GROUP BY cid) t ON o.cid = t.cid
SELECT id, price AS a, a + 1 AS b, b * 2 AS c FROM main.orders
SELECT sum(price) AS s, s + 1 AS t FROM main.orders
SELECT * EXCEPT (day, status) FROM main.orders
SELECT `head count` AS n, region FROM main.regions WHERE `head count` > 1
SELECT r.`HEAD COUNT` + 1 AS n FROM main.regions r
SELECT * FROM main.v_open
SELECT v.cost, c.name FROM main.v_open v JOIN main.customers c ON v.cid = c.cid
SELECT d.spent, c.name FROM main.v_deep d JOIN main.customers c USING (cid)
SELECT id FROM main.orders ORDER BY price DESC, id
SELECT s.id FROM (SELECT id FROM main.orders ORDER BY price) s WHERE s.id > 2
SELECT id, coalesce(price, 0) AS p, substring(status, 1, 2) AS s, year(day) AS y, date_add(day, 1) AS d FROM main.orders
SELECT id, CAST(price AS string) AS p, price::double AS d, status LIKE 'o%' AS o, status RLIKE '^O' AS r FROM main.orders
SELECT id, if(price > 6, 'much', 'little') AS m, nvl(status, '?') AS s, abs(-price) AS a, price % 3 AS r FROM main.orders
SELECT id, status || '!' AS s, concat_ws('-', status, id) AS c FROM main.orders WHERE NOT (price <=> NULL)
SELECT o.status, count(*) AS n FROM main.orders o GROUP BY o.status, 'constant'
SELECT cid AS cid, name FROM main.customers WHERE true AND (region = 'east' OR region IS NULL)
SELECT id FROM main.orders o WHERE EXISTS (SELECT 1 FROM main.customers c WHERE c.cid = o.cid)
SELECT id FROM main.orders WHERE NOT EXISTS (SELECT * FROM main.customers c WHERE c.cid = orders.cid AND region = 'east') AND price > 5
SELECT id FROM main.orders WHERE cid IN (SELECT cid FROM main.customers)
SELECT id FROM main.orders WHERE cid NOT IN (SELECT cid FROM main.customers)
SELECT id FROM main.orders WHERE cid NOT IN (SELECT cid FROM main.customers WHERE cid IS NOT NULL)
SELECT id FROM main.orders WHERE cid NOT IN (SELECT cid FROM main.customers WHERE cid > 100)
SELECT id FROM main.orders WHERE NOT (NOT (cid IN ((SELECT cid FROM main.notes n WHERE n.note = 'x'))))
SELECT id FROM main.orders WHERE NOT (cid NOT IN (SELECT cid FROM main.notes))
SELECT id FROM main.orders o WHERE price NOT IN (SELECT price FROM main.orders p WHERE p.cid = o.cid AND p.id > o.id)
SELECT id FROM main.orders WHERE price > (SELECT avg(price) FROM main.orders)
SELECT id, (SELECT count(*) FROM main.notes n WHERE n.cid = o.cid) AS n FROM main.orders o
SELECT id, (SELECT max(note) FROM main.notes n WHERE o.cid = n.cid AND n.note < 'y') AS m, price FROM main.orders o
SELECT c.name, (SELECT sum(o.price) + count(*) FROM main.orders o WHERE o.cid = c.cid AND o.status = 'open') AS s FROM main.customers c
SELECT id FROM main.orders o WHERE price = (SELECT max(p.price) FROM main.orders p WHERE p.cid = o.cid) OR price IS NULL
SELECT id FROM main.orders o WHERE (SELECT count(*) FROM main.notes n WHERE n.cid = o.cid) = 0
SELECT cid, sum(price) AS s FROM main.orders GROUP BY cid HAVING sum(price) > (SELECT min(price) FROM main.orders)
SELECT status, (SELECT count(*) FROM main.regions) AS n, count(*) AS m FROM main.orders GROUP BY status
SELECT id, CASE WHEN price > 6 THEN (SELECT max(name) FROM main.customers) ELSE status END AS x FROM main.orders
SELECT id, (SELECT max(cid) FROM main.customers HAVING count(*) > 100) AS m FROM main.orders
SELECT name FROM main.customers c WHERE EXISTS (SELECT 1 FROM main.orders o WHERE o.cid = c.cid AND o.price >= (SELECT avg(price) FROM main.orders))
SELECT id FROM main.orders o WHERE price = 5 OR EXISTS (SELECT 1 FROM main.customers c WHERE c.cid = o.cid AND c.region = 'east')
SELECT id FROM main.orders WHERE price = 5 OR cid IN (SELECT cid FROM main.notes)
SELECT id FROM main.orders WHERE price = 5 OR (cid IN (SELECT cid FROM main.notes WHERE note = 'x') AND (id = 1 OR price IN (SELECT id FROM main.orders)))
SELECT id FROM main.orders o WHERE id = 4 OR (cid, price) IN (SELECT n.cid, p.price FROM main.notes n JOIN main.orders p ON n.cid = p.cid)
SELECT id FROM main.orders o WHERE price = 7 OR cid IN (SELECT c.cid FROM main.customers c WHERE c.region = o.status AND c.name < 'x')
SELECT id FROM main.orders o WHERE price = 7 OR id IN (SELECT n.cid FROM main.notes n WHERE n.cid = o.cid AND n.note = 'x')
SELECT id FROM main.orders WHERE price = 7 OR cid IN (SELECT cid FROM main.notes GROUP BY cid HAVING count(*) > 2)
SELECT id FROM main.orders WHERE price = 7 OR id IN (SELECT count(*) FROM main.notes) OR cid IN (SELECT DISTINCT cid FROM main.notes)
SELECT id FROM main.orders WHERE price = 7 OR cid IN (SELECT cid FROM main.notes WHERE note = 'y' UNION SELECT 9)
SELECT id FROM main.orders WHERE price = 7 OR cid IN (SELECT cid FROM main.customers WHERE cid IS NOT NULL ORDER BY cid LIMIT 1)
SELECT id FROM main.orders WHERE price = 7 OR cid IN (SELECT 1 FROM main.notes) OR 4 IN (SELECT cid FROM main.notes WHERE note = 'w')
SELECT cid, count(*) AS n FROM main.orders WHERE price = 7 OR cid IN (SELECT cid FROM main.notes) GROUP BY cid
SELECT name FROM main.customers c WHERE EXISTS (SELECT 1 FROM main.orders o WHERE o.cid = c.cid AND (o.price > 9 OR o.cid IN (SELECT cid FROM main.notes)))
SELECT id, CASE WHEN cid IN (SELECT cid FROM main.notes WHERE note = 'x') THEN 'x' WHEN price = 7 OR cid IN (SELECT cid FROM main.customers) THEN 'c' END AS e FROM main.orders
SELECT status, sum(CASE WHEN cid IN (SELECT cid FROM main.notes) THEN 1 ELSE 0 END) AS n FROM main.orders GROUP BY status
SELECT id FROM main.orders WHERE NOT if(cid IN (SELECT cid FROM main.notes) AND id > 1, true, false)
SELECT status, count(*) FILTER (WHERE cid IN (SELECT cid FROM main.customers)) AS n FROM main.orders GROUP BY status
SELECT o.id, l.note FROM main.orders o, LATERAL (SELECT note FROM main.notes n WHERE n.cid = o.cid) l
SELECT o.id, l.k, l.two FROM main.orders o LEFT JOIN LATERAL (SELECT upper(note) AS k, 2 AS two FROM main.notes n WHERE n.cid = o.cid) l ON l.k < 'Y'
SELECT o.id, n, m FROM main.orders o, LATERAL (SELECT count(*) AS n, max(note) AS m FROM main.notes n WHERE n.cid = o.cid AND note < 'y') l
SELECT o.id, l.n FROM main.orders o JOIN LATERAL (SELECT count(*) AS n FROM main.notes n WHERE n.cid = o.cid) l ON l.n < 2
SELECT o.id, l.note, l.n FROM main.orders o LEFT JOIN LATERAL (SELECT note, count(*) AS n FROM main.notes n WHERE n.cid = o.cid GROUP BY note) l ON TRUE
SELECT o.id, l.c FROM main.orders o CROSS JOIN LATERAL (SELECT max(cid) FROM main.notes) AS l(c)
SELECT id, (SELECT name FROM main.customers c WHERE c.cid = o.cid) AS name FROM main.orders o
SELECT id, (SELECT coalesce(name, 'none') FROM main.customers c WHERE c.cid = o.cid AND c.cid < o.price) AS name FROM main.orders o
SELECT id, (SELECT 'known' FROM main.customers c WHERE c.cid = o.cid) AS k FROM main.orders o
SELECT id, (SELECT name FROM main.customers WHERE cid = 1) AS ann, (SELECT name FROM main.customers WHERE cid = 100) AS nobody FROM main.orders
SELECT id, (SELECT DISTINCT c.name FROM main.orders p JOIN main.customers c ON p.cid = c.cid WHERE p.id = o.id) AS name FROM main.orders o
SELECT id FROM main.orders o WHERE status = (SELECT p.status FROM main.orders p WHERE p.id = o.cid) OR cid IS NULL
SELECT cid, (SELECT name FROM main.customers c WHERE c.cid = o.cid) AS name, count(*) AS n FROM main.orders o GROUP BY cid
SELECT id, (SELECT n FROM (SELECT cid, count(*) AS n FROM main.notes GROUP BY cid) g WHERE g.cid = o.cid) AS n FROM main.orders o
SELECT id, (SELECT count(*) FROM main.notes n WHERE n.cid = o.cid GROUP BY n.cid) AS n FROM main.orders o
SELECT id, (SELECT count(*) + 1 FROM main.notes n WHERE n.cid = o.cid GROUP BY n.cid HAVING count(*) > 1) AS n FROM main.orders o
SELECT id, (SELECT note FROM (SELECT *, row_number() OVER (PARTITION BY region ORDER BY cid) AS r, name AS note FROM main.customers) w WHERE w.r = 1 AND w.region = o.status) AS w FROM main.orders o
WITH m AS (SELECT max(price) AS p FROM main.orders) SELECT id, (SELECT p FROM m) AS p, (SELECT p FROM m WHERE p > 100) AS q FROM main.orders
SELECT id, (SELECT DISTINCT max(cid) FROM main.notes) AS a, (SELECT DISTINCT m FROM (SELECT max(cid) AS m FROM main.notes)) AS b, (SELECT 1) AS c FROM main.orders
SELECT id, (SELECT name FROM main.customers WHERE cid IS NOT NULL ORDER BY cid LIMIT 1) AS first FROM main.orders
SELECT id, (SELECT region FROM main.customers WHERE name = 'ann') AS r, (SELECT name FROM main.customers WHERE region = 'south') AS q FROM main.orders
SELECT id, (SELECT name FROM main.customers WHERE region = 'west') AS n, (SELECT DISTINCT cid + 1 FROM main.notes WHERE note = 'y') AS k FROM main.orders
SELECT id FROM main.orders WHERE cid < (SELECT DISTINCT cid FROM main.notes WHERE note = 'y') OR price = (SELECT count(*) FROM main.notes WHERE note = 'x' GROUP BY note) + 4
SELECT id, (SELECT max(cid) FROM main.customers WHERE cid > 9 GROUP BY region UNION ALL SELECT 1) AS m FROM main.orders
SELECT count(*) AS n, max(price) AS m FROM main.orders LIMIT 5
SELECT sum(price) AS s FROM main.orders HAVING count(*) > 100 ORDER BY s LIMIT 1
SELECT * FROM (SELECT count(*) AS n FROM main.orders) a, (SELECT max(cid) AS m FROM main.notes) b ORDER BY m, 1 LIMIT 3
SELECT id, cid AS c FROM main.orders ORDER BY c DESC, price, id LIMIT 3
SELECT status AS s, count(*) AS n FROM main.orders GROUP BY status ORDER BY n DESC, max(price), status LIMIT 2
SELECT DISTINCT o.status FROM main.orders o ORDER BY o.status LIMIT 2
SELECT cid, id FROM main.orders ORDER BY ALL LIMIT 4
SELECT id, (WITH w AS (SELECT cid AS k, name FROM main.customers) SELECT ((name)) FROM w WHERE k = o.cid) AS name FROM main.orders o
SELECT id, NOT EXISTS (SELECT note FROM main.notes n WHERE n.cid = o.cid) AS lonely FROM main.orders o
SELECT id, CASE WHEN EXISTS (SELECT max(cid) FROM main.notes WHERE cid > 100) THEN 'y' END AS e FROM main.orders
SELECT cid, count(*) AS n FROM main.orders GROUP BY cid HAVING cid = 1 OR EXISTS (SELECT 1 FROM main.regions WHERE region IS NULL)
WITH m AS (SELECT cid, max(price) AS p FROM main.orders GROUP BY cid) SELECT cid FROM m WHERE p = (SELECT max(p) FROM m)
SELECT id FROM main.orders o LEFT SEMI JOIN main.customers c ON o.cid = c.cid AND c.region = 'east'
SELECT id, cid FROM main.orders o LEFT ANTI JOIN main.notes n USING (cid) JOIN main.regions r ON r.`head count` = o.id
SELECT * FROM main.orders SEMI JOIN main.notes USING (cid)
SELECT id FROM main.orders WHERE EXISTS (SELECT 1 FROM main.regions WHERE `head count` > 2 LIMIT 1)
SELECT id FROM main.orders WHERE EXISTS (SELECT 1 FROM main.regions WHERE `head count` > 200)
SELECT id FROM main.orders WHERE EXISTS (SELECT count(*) FROM main.regions WHERE `head count` > 200)
SELECT id FROM main.orders WHERE EXISTS (SELECT count(*) FROM main.regions WHERE `head count` > 200 HAVING count(*) > 0)
SELECT id FROM main.orders WHERE EXISTS (SELECT cid FROM main.notes GROUP BY cid HAVING count(*) > 2)
SELECT id FROM main.orders WHERE cid IN (SELECT cid FROM main.notes GROUP BY cid HAVING count(*) > 2)
SELECT id FROM main.orders WHERE id IN (SELECT count(*) FROM main.notes)
SELECT id FROM main.orders WHERE cid + 1 IN (SELECT cid - 1 FROM main.notes UNION SELECT id FROM main.orders)
SELECT id FROM main.orders WHERE cid IN (SELECT DISTINCT cid FROM main.notes)
SELECT id FROM main.orders o WHERE (cid, price) IN (SELECT n.cid, p.price FROM main.notes n JOIN main.orders p ON n.cid = p.cid)
SELECT name FROM main.customers c WHERE EXISTS (SELECT 1 FROM main.orders o WHERE o.cid = c.cid AND NOT EXISTS (SELECT 1 FROM main.notes n WHERE n.cid = o.cid AND n.note = 'x'))
SELECT name FROM main.customers c WHERE EXISTS (WITH w AS (SELECT cid AS k FROM main.notes) SELECT * FROM w JOIN main.orders ON k = orders.cid WHERE w.k = c.cid)
WITH w AS (SELECT cid AS k FROM main.notes) SELECT name FROM main.customers WHERE cid IN (SELECT k FROM w) AND cid NOT IN (SELECT k FROM w WHERE k > 1)
SELECT cid, count(*) AS n FROM main.orders WHERE (status = 'open' AND (cid IN (SELECT cid FROM main.customers) AND price > 2)) GROUP BY cid
SELECT name FROM main.customers WHERE EXISTS (SELECT cid FROM main.orders WHERE name IS NULL AND cid = 3)
SELECT name FROM main.customers WHERE NOT EXISTS (SELECT 1 FROM main.orders WHERE status = 'open' AND (price > 8 OR name = 'bob'))
SELECT v.cid FROM (SELECT cid, sum(price) AS s FROM main.orders GROUP BY cid) v WHERE v.s NOT IN (SELECT price FROM main.orders WHERE price IS NOT NULL)
SELECT c.name, n.note, o.id FROM main.customers c JOIN main.notes n ON c.cid = n.cid JOIN main.orders o ON o.cid = n.cid AND o.price > 5
""".strip().splitlines()


@pytest.mark.parametrize("sql", QUERIES)
def test_plan_gives_the_rows_of_the_query(engine: duckdb.DuckDBPyConnection, sql: str) -> None:
    wanted = engine.execute(sqlglot.transpile(sql, "spark", "duckdb")[0])
    names = [description[0].lower() for description in wanted.description]
    rows = wanted.fetchall()
    output = [name.lower() for name, _ in lower(sql, catalog()).output]
    assert sorted(output) == sorted(names)
    assert by_name(engine.execute(planned(sql)).fetchall(), output) == by_name(rows, names)


def by_name(rows: list[tuple[object, ...]], names: list[str]) -> Counter[tuple[object, ...]]:
    """The bag of rows, columns in the order of their names: after USING, Spark and DuckDB order them differently."""
    order = sorted(range(len(names)), key=names.__getitem__)
    return Counter(tuple(row[position] for position in order) for row in rows)


def test_attribute_names_are_unique_whatever_their_case() -> None:
    for sql in QUERIES:
        found: list[str] = []

        def visit(node: Relation, found: list[str] = found) -> None:
            if not node.children:
                found.extend(name.lower() for name in node.columns)
            for child in node.children:
                visit(child)

        root = lower(sql, catalog()).root
        visit(root)
        assert len(set(found)) == len(found), sql
        assert len({name.lower() for name in root.columns}) == len(root.columns), sql
