"""Hand-written cases with tied rows, each with the SELECT whose orders are completed.

A text in double brackets is what the planner is to add: `ORDER BY a.y[[, a.k]]`. The user's text is without it. The view has to
equal the text with it, which is written by hand and does not come from the planner.
"""

from __future__ import annotations

import re

from tests.property.plans import Table
from tests.property.strategies import Case, Content

COMPLETED: dict[str, str] = {}  # the user's text → the text with completed orders

_KEYED = (Table("t0", (("k", "int"), ("x", "int"), ("y", "int"), ("s", "string")), ("k",)),)
_BAG = (Table("t0", (("x", "int"), ("y", "int"), ("s", "string")), None),)
_FLOATS = (Table("t0", (("x", "int"), ("y", "int"), ("f", "double")), None),)
_BAG_AND_GROUPS = (
    Table("t0", (("x", "int"), ("y", "int"), ("s", "string"), ("f", "double")), None),
    Table("t1", (("k", "int"), ("x", "int"), ("z", "int")), ("k",)),
)
_PAIR = (*_KEYED, Table("t1", (("k", "int"), ("x", "int"), ("z", "int")), ("k",)))
# A winner goes, a row with a lower key is tied with the winner, rows move between partitions, a partition goes and comes.
_ROWS: tuple[Content, ...] = (
    {"t0": [(2, 1, 5, "b"), (3, 1, 5, "c"), (4, 1, 3, "d"), (5, 2, 7, "e"), (6, None, None, "f"), (7, None, None, None)]},
    {"t0": [(1, 1, 5, "a"), (2, 1, 5, "b"), (3, 1, 5, "c"), (4, 1, 3, "d"), (5, 2, 7, "e"), (6, None, None, "f")]},
    {"t0": [(3, 1, 5, "c"), (4, 1, 5, "d"), (5, 2, 7, "e"), (6, 2, 7, "f"), (8, None, 1, "g")]},
    {"t0": [(3, 2, 7, "c"), (4, 1, 5, "z"), (5, 2, 7, "e"), (6, 2, None, "f"), (8, None, 1, "g"), (9, None, 1, "a")]},
    {"t0": [(0, 2, 7, "q"), (4, 1, 5, "z"), (10, 1, 9, "y"), (11, 1, 9, "x")]},
)
_COPIES: tuple[Content, ...] = (
    {"t0": [(1, 5, "b"), (1, 5, "b"), (1, 5, "c"), (2, 7, None), (None, None, "f")]},
    {"t0": [(1, 5, "a"), (1, 5, "b"), (1, 5, "c"), (2, 7, None), (2, 7, "e"), (None, None, "f"), (None, None, "f")]},
    {"t0": [(1, 5, "c"), (1, 5, "c"), (1, 3, "c"), (2, 7, "e")]},
    {"t0": [(2, 7, "e"), (2, 7, "e"), (2, 7, None), (1, 3, "a")]},
)
_ZEROS: tuple[Content, ...] = (
    {"t0": [(1, 5, "0.0"), (1, 5, "-0.0"), (1, 5, "1.5"), (2, 7, None)]},
    {"t0": [(1, 5, "-0.0"), (1, 5, "-0.0"), (1, 5, "0.0"), (2, 7, "0.0"), (2, 7, "-0.0")]},
    {"t0": [(1, 5, "0.0"), (1, 5, "0.0"), (1, 5, "-0.0"), (1, 5, "-0.0"), (2, 7, "0.0"), (2, 7, "-0.0")]},
    {"t0": [(1, 5, "0.0"), (1, 5, "0.0"), (2, 7, "-0.0"), (2, 7, None)]},
)
_PARTNERS: tuple[Content, ...] = (
    {**_ROWS[0], "t1": [(1, 1, 5), (2, 1, 5), (3, 2, 1), (4, None, 1)]},
    {"t1": [(1, 1, 4), (2, 1, 5), (3, 2, 1), (5, 1, 5)]},
    _ROWS[1],
    {"t1": [(2, 2, 5), (5, 2, 5), (6, 9, 1)]},
    {**_ROWS[3], "t1": [(1, 2, 5), (5, 2, 5), (7, 1, 5)]},
)

_FLOATING = tuple({"t0": [(*row, "0.5") for row in each["t0"]]} for each in _COPIES)


def tied(tables: tuple[Table, ...], text: str, rows: tuple[Content, ...]) -> Case:
    sql = re.sub(r"\[\[.*?\]\]", "", text)
    return tied_as(tables, sql, re.sub(r"\[\[(.*?)\]\]", r"\1", text), rows)


def tied_as(tables: tuple[Table, ...], sql: str, completed: str, rows: tuple[Content, ...]) -> Case:
    """A case whose completed SELECT is another text."""
    assert sql not in COMPLETED
    COMPLETED[sql] = completed
    return Case(tables, sql, rows[0], rows[1:])


_BY_X = "PARTITION BY a.x ORDER BY a.y DESC"
_FIRST = "SELECT r.x AS c0, r.y AS c1, r.s AS c2 FROM (SELECT a.*, row_number() OVER ({}) AS n FROM t0 AS a) AS r WHERE r.n = 1"
TIED = {
    "the first of tied rows": tied(_KEYED, _FIRST.format(f"{_BY_X}[[, a.k]]"), _ROWS),
    "numbers of tied rows beside their ranks": tied(
        _KEYED,
        f"SELECT a.k AS c0, row_number() OVER ({_BY_X}[[, a.k]]) AS c1, rank() OVER ({_BY_X}) AS c2, dense_rank() OVER ({_BY_X}) AS "
        f"c3, sum(a.k) OVER ({_BY_X}) AS c4, ntile(2) OVER ({_BY_X}[[, a.k]]) AS c5, cume_dist() OVER ({_BY_X}) AS c6 FROM t0 AS a",
        _ROWS,
    ),
    "neighbours of tied rows": tied(
        _KEYED,
        f"SELECT a.s AS c0, lag(a.s) OVER ({_BY_X}[[, a.k]]) AS c1, lead(a.k, 2, -1) OVER (ORDER BY a.y NULLS LAST[[, a.k]]) AS c2 "
        "FROM t0 AS a",
        _ROWS,
    ),
    "first and last values of tied rows": tied(
        _KEYED,
        f"SELECT a.k AS c0, first_value(a.s) OVER ({_BY_X}[[, a.k]]) AS c1, last_value(a.s) OVER ({_BY_X}[[, a.k]] ROWS BETWEEN "
        f"UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c2, nth_value(a.s, 2) OVER ({_BY_X}[[, a.k]] ROWS BETWEEN 1 PRECEDING AND "
        "1 FOLLOWING) AS c3 FROM t0 AS a",
        _ROWS,
    ),
    "values of a window without an order": tied(
        _KEYED,
        "SELECT a.k AS c0, last_value(a.s) OVER (PARTITION BY a.x[[ ORDER BY a.k ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED "
        "FOLLOWING]]) AS c1 FROM t0 AS a",
        _ROWS,
    ),
    "sums over as many tied rows": tied(
        _KEYED,
        f"SELECT a.k AS c0, sum(a.k) OVER ({_BY_X}[[, a.k]] ROWS 1 PRECEDING) AS c1, count(a.s) OVER ({_BY_X} RANGE UNBOUNDED "
        "PRECEDING) AS c2 FROM t0 AS a",
        _ROWS,
    ),
    "running sums of tied rows": tied(
        _KEYED,
        "SELECT a.k AS c0, a.x AS c1, sum(a.k) OVER (PARTITION BY a.x ORDER BY a.y[[, a.k]] ROWS UNBOUNDED PRECEDING) AS c2 FROM t0 "
        "AS a",
        _ROWS,
    ),
    "the first of tied rows without a key": tied(_BAG, _FIRST.format(f"{_BY_X} NULLS LAST[[, a.s]]"), _COPIES),
    "numbers of tied rows without a key": tied(
        _BAG,
        f"SELECT a.s AS c0, row_number() OVER ({_BY_X}[[, a.s]]) AS c1, lag(a.s) OVER (ORDER BY a.y[[, a.x, a.s]]) AS c2 FROM t0 AS a",
        _COPIES,
    ),
    "the first of tied rows that differ in the sign of zero": tied(
        _FLOATS,
        "SELECT r.x AS c0, CAST(r.f AS STRING) AS c1 FROM (SELECT a.*, row_number() OVER (PARTITION BY a.x ORDER BY a.y"
        "[[, CAST(a.f AS STRING)]]) AS n FROM t0 AS a) AS r WHERE r.n <= 2",
        _ZEROS,
    ),
    "tied rows whose order is a zero with a sign": tied(
        _FLOATS,
        "SELECT a.x AS c0, CAST(lag(a.f) OVER (PARTITION BY a.x ORDER BY a.f[[, a.y, CAST(a.f AS STRING)]]) AS STRING) AS c1 FROM t0 "
        "AS a",
        _ZEROS,
    ),
    "tied rows of a derived table without their key": tied(
        _KEYED,
        f"SELECT a.x AS c0, a.z AS c1, row_number() OVER ({_BY_X}[[, a.k]]) AS c2 FROM (SELECT x, y, upper(s) AS z[[, k]] FROM t0) AS a",
        _ROWS,
    ),
    "tied groups": tied(
        _KEYED,
        "SELECT g.x AS c0, g.n AS c1, row_number() OVER (ORDER BY g.n[[, g.x]]) AS c2 FROM (SELECT a.x, count(*) AS n FROM t0 AS a "
        "GROUP BY a.x) AS g",
        _ROWS,
    ),
    "tied rows of a join": tied(
        _PAIR,
        "SELECT a.s AS c0, b.z AS c1, row_number() OVER (PARTITION BY a.x ORDER BY a.y[[, a.k, b.k]]) AS c2 FROM t0 AS a JOIN t1 AS b "
        "ON b.x = a.x",
        _PARTNERS,
    ),
    "tied rows of which some are padded": tied(
        _PAIR,
        "SELECT a.s AS c0, b.z AS c1, row_number() OVER (PARTITION BY a.x ORDER BY b.z DESC[[, a.k, b.k]]) AS c2 FROM t0 AS a LEFT "
        "JOIN t1 AS b ON b.x = a.x AND b.z > 1",
        _PARTNERS,
    ),
    "tied rows with what they look up": tied(
        _PAIR,
        "SELECT a.s AS c0, b.z AS c1, lag(b.z) OVER (PARTITION BY a.x ORDER BY a.y[[, a.k]]) AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON "
        "b.k = a.x",
        _PARTNERS,
    ),
    "tied rows of which those without a partner are left out": tied(
        _PAIR,
        "SELECT q.z AS c0, q.n AS c1, q.v AS c2 FROM (SELECT p.z, p.v, row_number() OVER (PARTITION BY p.z ORDER BY p.y[[, p.k, p.i]]) "
        "AS n FROM (SELECT a.y + 1 AS y, a.s AS v, b.z[[, a.k, b.k AS i]] FROM t0 AS a LEFT JOIN t1 AS b ON b.x = a.x) AS p) AS q "
        "WHERE q.z > 1",
        _PARTNERS,
    ),
    "tied rows of a derived table with what they look up": tied(
        _PAIR,
        "SELECT p.z AS c0, p.v AS c1, row_number() OVER (PARTITION BY p.z ORDER BY p.y[[, p.k]]) AS c2 FROM (SELECT a.y + 1 AS y, a.s "
        "AS v, b.z[[, a.k]] FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x) AS p",
        _PARTNERS,
    ),
    "tied rows without a key that are told apart by whether they have a partner": tied(
        _BAG_AND_GROUPS,
        "SELECT q.z AS c0, q.n AS c1, q.s AS c2 FROM (SELECT a.s, g.z, row_number() OVER (PARTITION BY g.z ORDER BY a.x[[, a.y, a.s, "
        "g.x]]) AS n FROM t0 AS a LEFT JOIN (SELECT b.x, b.z FROM t1 AS b GROUP BY b.x, b.z) AS g ON coalesce(g.x, 0) + a.f >= a.x) "
        "AS q WHERE q.z > 1",
        tuple({**partners, **copies} for copies, partners in zip(_FLOATING, _PARTNERS[:4], strict=True)),
    ),
    "tied rows of two branches": tied(
        _PAIR,
        "SELECT q.s AS c0, q.y AS c1, row_number() OVER (PARTITION BY q.x ORDER BY q.y[[, q.b, q.i, q.j]]) AS c2 FROM (SELECT a.x, "
        "a.y, a.s[[, 0 AS b, a.k AS i, NULL AS j]] FROM t0 AS a UNION ALL SELECT c.x, c.z, 'u'[[, 1, NULL, c.k]] FROM t1 AS c) AS q",
        _PARTNERS,
    ),
    "a window over numbers of tied rows without a key": tied(
        _BAG,
        "SELECT q.x AS c0, q.n AS c1, lag(q.n) OVER (PARTITION BY q.x ORDER BY q.y[[, q.s, q.n]]) AS c2 FROM (SELECT a.x, a.y, a.s, "
        f"row_number() OVER ({_BY_X}[[, a.s]]) AS n FROM t0 AS a) AS q",
        _COPIES,
    ),
    "winners and losers": tied(
        _KEYED,
        f"WITH r AS (SELECT a.x, a.y, a.s, row_number() OVER ({_BY_X}[[, a.k]]) AS n FROM t0 AS a) SELECT w.s AS c0, 1 AS c1 FROM r AS "
        "w WHERE w.n = 1 UNION ALL SELECT l.s AS c0, l.n AS c1 FROM r AS l WHERE l.n > 1",
        _ROWS,
    ),
    "a named query whose key is hidden": tied(
        _KEYED,
        "WITH q AS (SELECT a.x, a.y + 0 AS y[[, a.k]] FROM t0 AS a WHERE a.k > 1) SELECT q.x AS c0, row_number() OVER (PARTITION BY "
        "q.x ORDER BY q.y[[, q.k]]) AS c1, q.y AS c2 FROM q",
        _ROWS,
    ),
    "the first rows, of tied ones": tied(
        _KEYED, "SELECT a.s AS c0, a.y AS c1 FROM t0 AS a ORDER BY a.y[[, a.k]] LIMIT 2 OFFSET 1", _ROWS
    ),
    "the first rows without a key, of tied ones": tied(
        _BAG, "SELECT a.s AS c0, a.y AS c1 FROM t0 AS a ORDER BY a.y DESC[[, a.x, a.s]] LIMIT 3", _COPIES
    ),
    "the value of the first of tied rows of another table": tied(
        _PAIR,
        "SELECT a.k AS c0, (SELECT b.k FROM t1 AS b WHERE b.x = a.x ORDER BY b.z DESC[[, b.k]] LIMIT 1) AS c1 FROM t0 AS a",
        _PARTNERS,
    ),
    "the first two tied rows of another table for each row": tied(
        _PAIR,
        "SELECT a.k AS c0, l.k AS c1 FROM t0 AS a JOIN LATERAL (SELECT b.k, b.z FROM t1 AS b WHERE b.x = a.x ORDER BY b.z[[, b.k]] "
        "LIMIT 2) AS l ON true",
        _PARTNERS,
    ),
}

# No table has its rows in the order of the key.
_MIXED: tuple[Content, ...] = tuple({"t0": [*each["t0"][2:], *each["t0"][1::-1]]} for each in _ROWS)
_WITH_GAPS: tuple[Content, ...] = tuple({"t0": [(-1, 1, None, None), *each["t0"], (30, 1, None, None)]} for each in _MIXED)
# The values of the first and the last row of each group, one row for each group, and the values of its rows in their order.
_FIRST_ROW = "SELECT r.x, r.s, r.y FROM (SELECT a.*, row_number() OVER (PARTITION BY a.x ORDER BY {}) AS n FROM t0 AS a) AS r WHERE r.n = 1"
_GREATEST = "max_by(a.s, [[CASE WHEN NOT a.y IS NULL THEN struct(]]a.y[[, a.k) END]])"
_LEAST = "min_by(a.s, [[CASE WHEN NOT a.y IS NULL THEN struct(]]a.y[[, a.k) END]])"
_STRUCTS = "array_sort(collect_list(struct({}, {} AS v)) FILTER (WHERE NOT {} IS NULL))"


def _list(order: str, value: str) -> str:
    return f"transform({_STRUCTS.format(order, value, value)}, r -> r.v)"


AGGREGATES = {
    "values of rows with the greatest and the least of tied values": tied(
        _KEYED, f"SELECT a.x AS c0, {_GREATEST} AS c1, {_LEAST} AS c2 FROM t0 AS a GROUP BY a.x", _MIXED
    ),
    "the row with the greatest of tied values": tied_as(
        _KEYED,
        "SELECT a.x AS c0, max_by(a.s, a.y) AS c1, max_by(a.y, a.y) AS c2 FROM t0 AS a WHERE a.y IS NOT NULL GROUP BY a.x",
        f"SELECT f.x AS c0, f.s AS c1, f.y AS c2 FROM ({_FIRST_ROW.format('a.y DESC, a.k DESC')}) AS f WHERE f.y IS NOT NULL",
        _MIXED,
    ),
    "a tie that FILTER leaves": tied(
        _KEYED,
        "SELECT a.x AS c0, max_by(a.s, [[CASE WHEN a.y > 3 THEN struct(]]a.y[[, a.k) END]]) FILTER (WHERE a.y > 3) AS c1 FROM t0 AS a "
        "GROUP BY a.x",
        _MIXED,
    ),
    "the greatest of tied structs": tied(
        _KEYED,
        "SELECT max_by(a.s, struct(a.x, a.y % 2[[, a.k]])) AS c0, min_by(a.k, struct(a.x, a.s[[, a.k]])) AS c1 FROM t0 AS a",
        _MIXED,
    ),
    "the greatest of tied values without a key": tied(
        _BAG, "SELECT a.x AS c0, max_by(a.s, struct(a.y % 2[[, a.y, a.s]])) AS c1 FROM t0 AS a GROUP BY a.x", _COPIES
    ),
    "the greatest of tied values of rows that differ in the sign of zero": tied(
        _FLOATS,
        "SELECT a.x AS c0, max_by(CAST(a.f AS STRING), struct(a.y[[, CAST(a.f AS STRING)]])) AS c1 FROM t0 AS a GROUP BY a.x",
        _ZEROS,
    ),
    "the greatest of zeros with a sign": tied(
        _FLOATS,
        "SELECT a.x AS c0, max_by(CAST(a.f AS STRING), [[CASE WHEN NOT a.f IS NULL THEN struct(]]a.f[[, a.y, CAST(a.f AS STRING)) "
        "END]]) AS c1 FROM t0 AS a GROUP BY a.x",
        _ZEROS,
    ),
    "any value": tied_as(
        _KEYED,
        "SELECT a.x AS c0, first(a.s) AS c1, any_value(a.y) AS c2 FROM t0 AS a GROUP BY a.x",
        f"SELECT f.x AS c0, f.s AS c1, f.y AS c2 FROM ({_FIRST_ROW.format('a.k')}) AS f",
        _MIXED,
    ),
    "the last value": tied_as(
        _KEYED,
        "SELECT a.x AS c0, last(a.s) AS c1, last(a.y) AS c2 FROM t0 AS a GROUP BY a.x HAVING last(a.y) > 3",
        f"SELECT f.x AS c0, f.s AS c1, f.y AS c2 FROM ({_FIRST_ROW.format('a.k DESC')}) AS f WHERE f.y > 3",
        _MIXED,
    ),
    "any value that is one": tied_as(
        _KEYED,
        "SELECT a.x AS c0, first(a.y, true) AS c1, last(a.s) IGNORE NULLS AS c2 FROM t0 AS a GROUP BY a.x",
        "SELECT a.x AS c0, min_by(a.y, CASE WHEN a.y IS NOT NULL THEN a.k END) AS c1, max_by(a.s, CASE WHEN a.s IS NOT NULL THEN a.k "
        "END) AS c2 FROM t0 AS a GROUP BY a.x",
        _WITH_GAPS,
    ),
    "any value of some rows": tied_as(
        _KEYED,
        "SELECT a.x AS c0, first(12 / a.y) FILTER (WHERE a.y <> 0) AS c1, any_value(a.s, true) FILTER (WHERE a.y > 3) AS c2, "
        "first(a.y) FILTER (WHERE a.k > 4) AS c3 FROM t0 AS a GROUP BY a.x",
        "SELECT a.x AS c0, min_by(12 / nullif(a.y, 0), CASE WHEN a.y <> 0 THEN a.k END) AS c1, min_by(a.s, CASE WHEN a.y > 3 AND a.s "
        "IS NOT NULL THEN a.k END) AS c2, min_by(a.y, CASE WHEN a.k > 4 THEN a.k END) AS c3 FROM t0 AS a GROUP BY a.x",
        tuple({"t0": [*each["t0"], (20, 1, 0, "z"), (1, 3, 0, None)][-9:]} for each in _MIXED[2:]),
    ),
    "any value without a key": tied_as(
        _BAG,
        "SELECT a.x AS c0, first(a.s) AS c1, last(a.y) AS c2 FROM t0 AS a GROUP BY a.x",
        "SELECT a.x AS c0, min_by(a.s, struct(a.y, a.s)) AS c1, max_by(a.y, struct(a.y, a.s)) AS c2 FROM t0 AS a GROUP BY a.x",
        _COPIES,
    ),
    "any zero with a sign": tied_as(
        _FLOATS,
        "SELECT a.y AS c0, first(CAST(a.f AS STRING)) AS c1 FROM t0 AS a GROUP BY a.y",
        "SELECT a.y AS c0, min_by(CAST(a.f AS STRING), struct(a.x, CAST(a.f AS STRING))) AS c1 FROM t0 AS a GROUP BY a.y",
        _ZEROS,
    ),
    "lists in the order of their rows": tied_as(
        _KEYED,
        "SELECT a.x AS c0, concat_ws('-', collect_list(a.s)) AS c1, array_join(array_agg(CAST(a.y AS STRING)), '-') AS c2, "
        "element_at(collect_list(a.k), 1) AS c3 FROM t0 AS a GROUP BY a.x",
        f"SELECT a.x AS c0, concat_ws('-', {_list('a.k', 'a.s')}) AS c1, array_join({_list('a.k', 'CAST(a.y AS STRING)')}, '-') AS c2, "
        f"element_at({_list('a.k', 'a.k')}, 1) AS c3 FROM t0 AS a GROUP BY a.x",
        _MIXED,
    ),
    "lists of copies": tied_as(
        _BAG,
        "SELECT a.x AS c0, concat_ws('-', collect_list(a.s)) AS c1 FROM t0 AS a GROUP BY a.x",
        f"SELECT a.x AS c0, concat_ws('-', {_list('a.y, a.s AS s', 'a.s')}) AS c1 FROM t0 AS a GROUP BY a.x",
        _COPIES,
    ),
    "a sorted list of zeros with a sign": tied_as(
        _FLOATS,
        "SELECT a.x AS c0, CAST(array_sort(collect_list(a.f)) AS STRING) AS c1 FROM t0 AS a GROUP BY a.x",
        f"SELECT a.x AS c0, CAST(array_sort({_list('a.y, CAST(a.f AS STRING) AS s', 'a.f')}) AS STRING) AS c1 FROM t0 AS a GROUP BY a.x",
        _ZEROS,
    ),
    "sets in the order of their values": tied_as(
        _KEYED,
        "SELECT a.x AS c0, concat_ws('-', collect_set(a.s)) AS c1, concat_ws('-', collect_list(DISTINCT a.s)) AS c2 FROM t0 AS a "
        "GROUP BY a.x",
        "SELECT a.x AS c0, concat_ws('-', array_sort(collect_set(a.s))) AS c1, concat_ws('-', array_sort(collect_list(DISTINCT "
        "a.s))) AS c2 FROM t0 AS a GROUP BY a.x",
        _MIXED,
    ),
    "texts of lists": tied(
        _KEYED,
        "SELECT a.x AS c0, listagg(a.s, ',') WITHIN GROUP (ORDER BY a.y DESC[[, a.k]]) AS c1 FROM t0 AS a GROUP BY a.x",
        _MIXED,
    ),
    "texts of lists without an order": tied(
        _KEYED,
        "SELECT a.x AS c0, listagg(a.s, ',')[[ WITHIN GROUP (ORDER BY a.k)]] AS c1 FROM t0 AS a GROUP BY a.x",
        _MIXED,
    ),
    "the greatest of tied values of a join": tied(
        _PAIR,
        "SELECT a.x AS c0, max_by(a.s, struct(b.z[[, a.k, b.k AS j]])) AS c1, min_by(b.k, struct(a.y[[, a.k, b.k AS j]])) AS c2 FROM t0 AS a JOIN "
        "t1 AS b ON b.x = a.x GROUP BY a.x",
        _PARTNERS,
    ),
    "the greatest of tied values of padded rows": tied_as(
        _PAIR,
        "SELECT a.x AS c0, max_by(a.s, b.z) AS c1, first(b.z) AS c2 FROM t0 AS a LEFT JOIN t1 AS b ON b.x = a.x AND b.z > 1 GROUP BY a.x",
        "SELECT a.x AS c0, max_by(a.s, CASE WHEN b.z IS NOT NULL THEN struct(b.z, a.k, b.k AS j) END) AS c1, min_by(b.z, struct(a.k, b.k AS j)) AS "
        "c2 FROM t0 AS a LEFT JOIN t1 AS b ON b.x = a.x AND b.z > 1 GROUP BY a.x",
        _PARTNERS,
    ),
    "the greatest of tied values for each row": tied(
        _PAIR,
        "SELECT a.k AS c0, (SELECT max_by(b.k, [[CASE WHEN NOT b.z IS NULL THEN struct(]]b.z[[, b.k) END]]) FROM t1 AS b WHERE b.x = a.x) "
        "AS c1 FROM t0 AS a",
        _PARTNERS,
    ),
    "the greatest of tied values for each row, by a range": tied(
        _PAIR,
        "SELECT a.k AS c0, (SELECT max_by(b.k, [[CASE WHEN NOT b.z IS NULL THEN struct(]]b.z[[, b.k) END]]) FROM t1 AS b WHERE b.z < a.y) "
        "AS c1 FROM t0 AS a",
        _PARTNERS,
    ),
    "the greatest of tied values of grouping sets": tied(
        _KEYED, f"SELECT a.x AS c0, a.y AS c1, {_GREATEST} AS c2 FROM t0 AS a GROUP BY ROLLUP (a.x, a.y)", _MIXED
    ),
    "the greatest of tied values of sets of rows whose key is hidden": tied(
        _KEYED,
        "SELECT q.x AS c0, q.y AS c1, max_by(q.z, [[CASE WHEN NOT q.w IS NULL THEN struct(]]q.w[[, q.k) END]]) AS c2 FROM (SELECT a.x, a.y, "
        "upper(a.s) AS z, a.y % 2 AS w[[, a.k]] FROM t0 AS a) AS q GROUP BY GROUPING SETS ((q.x), (q.y), ())",
        _MIXED,
    ),
    "any value of groups": tied_as(
        _KEYED,
        "SELECT g.n AS c0, first(g.x) AS c1 FROM (SELECT a.x, count(*) AS n FROM t0 AS a GROUP BY a.x) AS g GROUP BY g.n",
        "SELECT g.n AS c0, min_by(g.x, struct(g.x)) AS c1 FROM (SELECT a.x, count(*) AS n FROM t0 AS a GROUP BY a.x) AS g GROUP BY g.n",
        _MIXED,
    ),
    "any value beside sums": tied_as(
        _KEYED,
        "SELECT a.x AS c0, sum(a.k) AS c1, first(a.s) AS c2, count(*) AS c3 FROM t0 AS a GROUP BY a.x",
        "SELECT a.x AS c0, sum(a.k) AS c1, min_by(a.s, a.k) AS c2, count(*) AS c3 FROM t0 AS a GROUP BY a.x",
        _MIXED,
    ),
}
TIED |= AGGREGATES
# What DuckDB has no words for.
ON_SPARK = {
    "texts of lists of different values": tied(
        _KEYED,
        "SELECT a.x AS c0, string_agg(DISTINCT a.s, '-')[[ WITHIN GROUP (ORDER BY a.s)]] AS c1 FROM t0 AS a GROUP BY a.x",
        _MIXED,
    ),
    "values that have no order": tied(
        _KEYED,
        "SELECT a.x AS c0, max_by(map(a.k, a.s), struct(a.y[[, a.k]]))[a.x] AS c1 FROM t0 AS a GROUP BY a.x",
        _MIXED,
    ),
    "floats of rows that are tied": tied_as(
        _FLOATS,
        "SELECT a.x AS c0, CAST(max_by(a.f, a.y) AS STRING) AS c1, CAST(first(a.f) AS STRING) AS c2, last(a.f, true) AS c3, "
        "CAST(collect_list(a.f) AS STRING) AS c4 FROM t0 AS a GROUP BY a.x",
        "SELECT a.x AS c0, CAST(max_by(a.f, struct(a.y, CAST(a.f AS STRING) AS s)) AS STRING) AS c1, CAST(min_by(a.f, struct(a.y, "
        "CAST(a.f AS STRING) AS s)) AS STRING) AS c2, max_by(a.f, CASE WHEN a.f IS NOT NULL THEN struct(a.y, CAST(a.f AS STRING) "
        f"AS s) END) AS c3, CAST({_list('a.y, CAST(a.f AS STRING) AS s', 'a.f')} AS STRING) AS c4 FROM t0 AS a GROUP BY a.x",
        _ZEROS,
    ),
    "pairs of the values of two lists": tied_as(
        _KEYED,
        "SELECT a.x AS c0, CAST(map_from_arrays(collect_list(a.k), collect_list(coalesce(a.s, '-'))) AS STRING) AS c1 FROM t0 AS a "
        "GROUP BY a.x",
        "SELECT a.x AS c0, CAST(map_from_entries(array_sort(collect_list(struct(a.k, coalesce(a.s, '-') AS v)))) AS STRING) AS c1 "
        "FROM t0 AS a GROUP BY a.x",
        _MIXED,
    ),
}
