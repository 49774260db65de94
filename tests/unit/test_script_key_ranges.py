"""Literal key ranges: where they are added, where they would be wrong, and that they change no result (on DuckDB)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType

import duckdb
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from dbt_idivm.algebra.types import type_of
from dbt_idivm.script.key_ranges import add_key_ranges
from dbt_idivm.script.value_range import MOST_PARTS, Range, between, joined

KINDS = {
    "k": "int",
    "n": "int",
    "s": "string",
    "t": "date",
    "day": "date",
    "b": "boolean",
    "number": "int",
    "text": "string",
    "wide": "decimal(38,20)",
    "cents": "decimal(20,2)",
    "f": "double",
}
TYPES = {(f"main.{table}", name): type_of(kind) for table in ("t", "u", "v", "other") for name, kind in KINDS.items()}
ROWS = """d AS (SELECT CAST(c1 AS INT) AS k, CAST(c2 AS STRING) AS s, CAST(c3 AS DATE) AS t, CAST(c4 AS INT) AS n
               FROM VALUES (4, 'x', '2024-01-09', 1), (-7, 'it\\'s', '2023-12-31', NULL) AS r(c1, c2, c3, c4))"""


def ranges(sql: str) -> list[str]:
    """The conditions that are added, in order."""
    before = sqlglot.parse_one(sql, dialect="spark")
    tree = add_key_ranges(before.copy(), TYPES)
    return [found.sql("spark") for found in tree.find_all(sqlglot.exp.Between, bfs=False)]


def rows(condition: str, source: str = "main.t AS a JOIN d ON ") -> list[str]:
    return ranges(f"WITH {ROWS} SELECT a.k FROM {source}{condition}")


@pytest.mark.parametrize(
    "condition, added",
    [
        ("a.k = d.k", ["a.k BETWEEN -7 AND 4"]),
        ("d.k <=> a.k AND a.x > 1", ["a.k BETWEEN -7 AND 4"]),
        ("a.s = d.s", ["a.s BETWEEN 'it\\'s' AND 'x'"]),
        ("a.day = d.t", ["a.day BETWEEN CAST('2023-12-31' AS DATE) AND CAST('2024-01-09' AS DATE)"]),
        ("a.k = d.n", ["a.k BETWEEN 1 AND 1"]),
        ("(a.k = d.k OR a.k = d.n)", ["a.k BETWEEN -7 AND 4"]),
        ("a.k <> d.k", []),
        ("NOT a.k = d.k", []),
        ("a.k = d.k + 1", []),
        ("(a.k = d.k OR a.x = 1)", []),
        ("a.number = d.s", []),  # '10' < '9' as text
        ("a.b = d.k", []),  # TRUE = 1, but BOOLEAN and INT have no order
        ("a.text = d.k", []),  # without ANSI mode '3000000000' is NULL beside a literal 7, and a BIGINT beside a BIGINT
        ("a.wide = d.k", []),  # 5.00000000000000000001 is 5 beside a BIGINT
        ("a.cents = d.k", ["a.cents BETWEEN -7 AND 4"]),
        ("a.f = d.k", []),
        ("a.unknown = d.k", []),
    ],
)
def test_joins(condition: str, added: list[str]) -> None:
    assert rows(condition) == added


def test_null_keys_stay() -> None:
    sql = f"WITH {ROWS} SELECT a.k FROM main.t AS a JOIN d ON a.k <=> d.n"
    assert "a.k BETWEEN 1 AND 1 OR a.k IS NULL" in add_key_ranges(sqlglot.parse_one(sql, dialect="spark"), TYPES).sql("spark")


@pytest.mark.parametrize("join", ["main.u AS u LEFT JOIN d", "d RIGHT JOIN main.u AS u", "main.u AS u FULL JOIN d"])
def test_null_keys_of_padded_rows_stay(join: str) -> None:
    sql = f"WITH {ROWS} SELECT a.k FROM main.t AS a JOIN (SELECT d.k AS key FROM {join} ON d.k = u.x) AS p ON a.k <=> p.key"
    assert "a.k BETWEEN -7 AND 4 OR a.k IS NULL" in add_key_ranges(sqlglot.parse_one(sql, dialect="spark"), TYPES).sql("spark")


def test_not_through_outer_joins() -> None:
    assert rows("a.k = d.k", "main.t AS a LEFT JOIN d ON ") == []
    assert rows("a.k = d.k FULL JOIN main.u AS u ON u.k = a.k") == []
    assert rows("a.k = d.k LEFT JOIN main.u AS u ON u.k = d.k") == ["a.k BETWEEN -7 AND 4"]


def test_exists() -> None:
    one = f"WITH {ROWS} SELECT a.k FROM main.t AS a WHERE "
    probe = "EXISTS(SELECT 1 FROM d WHERE d.k <=> a.k)"
    assert ranges(one + probe) == ["a.k BETWEEN -7 AND 4"]
    assert ranges(f"{one}NOT {probe}") == []
    assert ranges(f"{one}({probe} OR EXISTS(SELECT 1 FROM d WHERE d.n = a.k))") == ["a.k BETWEEN -7 AND 4"]
    assert ranges(f"{one}({probe} OR a.x = 1)") == []
    assert ranges(one + "EXISTS(SELECT COUNT(*) FROM d WHERE d.k = a.k)") == [], "it always has a row"
    assert ranges(f"WITH {ROWS} SELECT 1 FROM d WHERE NOT EXISTS(SELECT 1 FROM main.t AS a WHERE a.k = d.k)") == [
        "a.k BETWEEN -7 AND 4"
    ], "inside the subquery it is implied whatever stands around it"


def test_through_queries() -> None:
    nested = "(SELECT k AS key FROM d UNION ALL SELECT 100 AS key) AS u"
    assert ranges(f"WITH {ROWS} SELECT a.k FROM main.t AS a JOIN {nested} ON a.k = u.key") == ["a.k BETWEEN -7 AND 100"]
    unknown = "(SELECT k AS key FROM d UNION ALL SELECT x AS key FROM main.u) AS u"
    assert ranges(f"WITH {ROWS} SELECT a.k FROM main.t AS a JOIN {unknown} ON a.k = u.key") == []
    restricted = "(SELECT b.k AS key FROM main.u AS b JOIN d ON b.k = d.k) AS u"
    assert sorted(ranges(f"WITH {ROWS} SELECT a.k FROM main.t AS a JOIN {restricted} ON a.k = u.key")) == [
        "a.k BETWEEN -7 AND 4",
        "b.k BETWEEN -7 AND 4",
    ]


MERGE = """MERGE INTO main.v AS v USING (WITH {rows} SELECT {select} FROM d) AS s ON {on}
           WHEN MATCHED THEN DELETE"""


@pytest.mark.parametrize(
    "select, on, added",
    [
        ("d.k, d.s", "v.k <=> s.k AND v.s <=> s.s", ["v.k BETWEEN -7 AND 4", "v.s BETWEEN 'it\\'s' AND 'x'"]),
        ("CASE WHEN d.n IS NULL THEN d.k ELSE 50 END AS k", "v.k = s.k", ["v.k BETWEEN -7 AND 50"]),
        ("d.k, d.n", "(s.any_k OR v.k <=> s.k) AND v.n = s.n", ["v.n BETWEEN 1 AND 1"]),
        ("d.k + 1 AS k", "v.k = s.k", []),
    ],
)
def test_merge(select: str, on: str, added: list[str]) -> None:
    assert sorted(ranges(MERGE.format(rows=ROWS, select=select, on=on))) == sorted(added)


@pytest.mark.parametrize("condition", ["a.k = d.k", "a.k <=> d.n", "(a.k = d.k OR a.k <=> d.n)", "a.s <=> d.s"])
def test_no_row_is_lost(condition: str) -> None:
    connection = duckdb.connect()
    connection.execute("""CREATE SCHEMA IF NOT EXISTS main; CREATE TABLE main.t AS SELECT * FROM
        (VALUES (4, 'x'), (-7, 'it''s'), (NULL, NULL), (1, 'a'), (9, 'zz'), (0, 'J')) AS v(k, s)""")
    sql = f"WITH {ROWS} SELECT a.k, a.s FROM main.t AS a JOIN d ON {condition}"
    tree = sqlglot.parse_one(sql, dialect="spark")
    before = connection.execute(tree.sql("duckdb")).fetchall()
    after = connection.execute(add_key_ranges(tree, TYPES).sql("duckdb")).fetchall()
    assert before and sorted(map(str, before)) == sorted(map(str, after))


STAGED = {
    ("idivm_net_1", "d__k"): between(type_of("int"), "-7", "12", has_null=True),
    ("idivm_net_1", "d__day"): between(type_of("date"), "2024-01-09", "2024-02-01", has_null=False),
}


@pytest.mark.parametrize(
    ("sql", "added"),
    [
        ("SELECT a.k FROM main.t AS a JOIN idivm_net_1 AS d ON a.k = d.d__k", ["a.k BETWEEN -7 AND 12"]),
        (
            "WITH d AS (SELECT d__k, d__x FROM idivm_net_1 WHERE idivm_class = 1) SELECT a.k FROM main.t AS a JOIN d ON a.k = d.d__k",
            ["a.k BETWEEN -7 AND 12"],
        ),
        (
            "SELECT a.k FROM main.t AS a JOIN idivm_net_1 AS d ON a.day = d.d__day",
            ["a.day BETWEEN CAST('2024-01-09' AS DATE) AND CAST('2024-02-01' AS DATE)"],
        ),
        ("SELECT a.k FROM main.t AS a JOIN idivm_net_1 AS d ON a.k = d.d__x", []),
        ("SELECT a.k FROM main.t AS a JOIN idivm_net_2 AS d ON a.k = d.d__k", []),
        ("SELECT a.k FROM main.t AS a JOIN main.idivm_net_1 AS d ON a.k = d.d__k", []),  # a table of the user's
        ("WITH idivm_net_1 AS (SELECT 1 AS y) SELECT a.k FROM main.t AS a JOIN idivm_net_1 AS d ON a.k = d.d__k", []),
    ],
)
def test_ranges_of_staged_rows(sql: str, added: list[str]) -> None:
    known = {key: found for key, found in STAGED.items() if found is not None}
    tree = add_key_ranges(sqlglot.parse_one(sql, dialect="spark"), TYPES, known)
    assert len(known) == 2 and [found.sql("spark") for found in tree.find_all(sqlglot.exp.Between, bfs=False)] == added


@pytest.mark.parametrize(
    ("kind", "low", "high", "family"),
    [
        ("int", "-7", "12", "int"),
        ("bigint", "-9223372036854775808", "3", "int"),
        ("date", "2024-01-09", "2024-02-01", "date"),
        ("date", "2024-01-09", "+12024-02-01", None),
        ("string", "a", "b", "text"),
        ("string", "a", "\ufffd", None),
        ("string", "a", "b" * 300, None),
        ("timestamp", "2024-01-09 00:00:00", "2024-02-01 00:00:00", None),
        ("decimal(9,2)", "1.00", "2.00", None),
        ("boolean", "false", "true", None),
    ],
)
def test_ranges_between_what_the_engine_shows(kind: str, low: str, high: str, family: str | None) -> None:
    found = between(type_of(kind), low, high, has_null=False)
    assert (found.family if found is not None else None) == family


def test_the_range_of_no_value() -> None:
    assert between(type_of("int"), None, None, has_null=True) == Range(None, has_null=True)


# -- in parts

LARGE = frozenset(("main.t", "main.v"))


def parts(sql: str, staged: Mapping[tuple[str, str], Range] = MappingProxyType({})) -> list[str]:
    """The conditions that are added for tables of which some are large."""
    tree = add_key_ranges(sqlglot.parse_one(sql, dialect="spark"), TYPES, staged, LARGE)
    return [each.sql("spark") for each in tree.find_all(sqlglot.exp.Where)]


@pytest.mark.parametrize(
    ("condition", "added"),
    [
        ("a.k = d.k", "(a.k = -7 OR a.k = 4)"),
        ("a.s <=> d.s", "(a.s = 'it\\'s' OR a.s = 'x')"),
        ("a.t = d.t", "(a.t = CAST('2023-12-31' AS DATE) OR a.t = CAST('2024-01-09' AS DATE))"),
        ("a.k <=> d.n", "(a.k BETWEEN 1 AND 1 OR a.k IS NULL)"),
        ("(a.k = d.k OR a.k = d.n)", "(a.k = -7 OR a.k = 1 OR a.k = 4)"),
    ],
)
def test_a_large_table_is_read_at_the_values(condition: str, added: str) -> None:
    assert parts(f"WITH {ROWS} SELECT a.x FROM main.t AS a JOIN d ON {condition}") == [f"WHERE {added}"]
    assert parts(f"WITH {ROWS} SELECT a.x FROM main.other AS a JOIN d ON a.k = d.k") == ["WHERE a.k BETWEEN -7 AND 4"]


def test_the_target_of_a_merge_is_read_at_the_values() -> None:
    sql = MERGE.format(rows=ROWS, select="d.k", on="v.k = s.k")
    merge = add_key_ranges(sqlglot.parse_one(sql, dialect="spark"), TYPES, large=LARGE)
    assert merge.args["on"].sql("spark") == "v.k = s.k AND (v.k = -7 OR v.k = 4)"


def of(*values: int | str | None, family: str = "int") -> Range:
    found = joined(Range(None, has_null=True) if each is None else Range(family, each, each) for each in values)
    assert found is not None
    return found


def test_what_has_nothing_between_is_one_part() -> None:
    assert of(3, 1, 2, 9, 1).parts == ((1, 3), (9, 9))
    assert of(1, 2, None).parts == () and of(1, 2, None).has_null


def test_many_values_are_divided_by_large_gaps_only() -> None:
    found = of(*range(0, 2000, 20), 10_000, 10_001)
    assert found.parts == ((0, 1980), (10_000, 10_001))
    assert found.parts[0][0] == 0 and (found.low, found.high) == (0, 10_001)


@given(st.lists(st.lists(st.integers(-50, 300), min_size=1), min_size=1))
def test_parts_have_all_values(groups: list[list[int]]) -> None:
    found = joined(of(*group) for group in groups)
    assert found is not None
    values = {each for group in groups for each in group}
    assert all(any(low <= each <= high for low, high in found.intervals) for each in values)
    assert all(before[1] + 1 < after[0] for before, after in pairwise(found.intervals)) and len(found.intervals) <= MOST_PARTS
    assert (found.low, found.high) == (min(values), max(values))


@given(st.sets(st.text(max_size=4), min_size=1, max_size=60))
def test_parts_have_all_texts(values: set[str]) -> None:
    found = of(*values, family="text")
    assert all(any(low <= each <= high for low, high in found.intervals) for each in values)
    assert all(before[1] < after[0] for before, after in pairwise(found.intervals)) and len(found.intervals) <= MOST_PARTS


def test_an_end_that_is_too_long() -> None:
    assert of("a", "b" * 300, "c", family="text").is_long
