"""Tied rows: every hand-written case in every way. What the order of ties does not affect is as in the user's own text."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_idivm.script.ties import ties
from tests.property.chosen import in_ways, spread
from tests.property.directed import build
from tests.property.harness import World
from tests.property.plans import Options, Table, plan_of
from tests.property.strategies import Case
from tests.property.test_equivalence import ALL_WAYS, BY_NAME, check
from tests.property.tied import COMPLETED, TIED


@pytest.mark.parametrize(("name", "way"), spread(in_ways(TIED, ALL_WAYS | BY_NAME), ("optimised", "additive", "tuple")))
def test_tied_rows(name: str, way: str) -> None:
    check(TIED[name], (ALL_WAYS | BY_NAME)[way])


@pytest.mark.parametrize("name", TIED)
def test_over_one_row_the_result_is_that_of_the_users_text(name: str) -> None:
    """Over one row, which nothing is tied with, it agrees with the user's own text."""
    case = TIED[name]
    assert COMPLETED[case.sql] != case.sql
    with World(case.tables, case.sql) as world:
        assert ties(world.plan)
        one = {table: rows[:1] for table, rows in case.start.items()}
        world.load(one)
        assert world.maintained() == Counter(world.engine.oracle(case.sql)) == world.recomputed()


NUMBERS = st.sampled_from((None, 0, 1, 2))
ROW = st.tuples(NUMBERS, NUMBERS, st.sampled_from((None, "a", "b")), st.sampled_from((None, "0.0", "-0.0", "1.5")))
ROWS = st.lists(ROW, max_size=6)
COLUMNS = (("x", "int"), ("y", "int"), ("s", "string"), ("f", "double"))
KEYED, BAG = Table("t", (("k", "int"), *COLUMNS), ("k",)), Table("t", COLUMNS, None)
# Behind the key, and without a key behind all columns that no window below has determined.
OF_KEY, OF_ALL = "a.k", "a.x, a.y, a.s, CAST(a.f AS STRING)"
CALLS = (
    "row_number() OVER ({whole})",
    "ntile(2) OVER ({whole})",
    "lag(a.s) OVER ({whole})",
    "lead(a.y, 2, 7) OVER ({whole})",
    "lag(a.y) IGNORE NULLS OVER ({whole})",
    "first_value(a.s) OVER ({whole})",
    "first_value(a.s) IGNORE NULLS OVER ({whole} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "last_value(a.y) OVER ({whole} RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "nth_value(a.s, 2) OVER ({whole} ROWS UNBOUNDED PRECEDING)",
    "sum(a.y) OVER ({whole} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
    "count(a.s) OVER ({whole} ROWS 1 PRECEDING)",
    "rank() OVER ({own})",
    "dense_rank() OVER ({own})",
    "sum(a.y) OVER ({own})",
    "max(a.s) OVER ({own} RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
)
ORDERS = ("a.y", "a.y DESC", "a.y DESC NULLS FIRST", "a.s NULLS LAST", "a.f", "a.y % 2", "a.x, a.s DESC")


@st.composite
def windows(draw: st.DrawFn) -> tuple[Case, str]:
    """A case, and its SELECT with completed orders."""
    keyed = draw(st.booleans())
    partition = draw(st.sampled_from(("", "PARTITION BY a.x ", "PARTITION BY a.x, a.s ")))
    calls = [(draw(st.sampled_from(CALLS)), draw(st.sampled_from(ORDERS))) for _ in range(draw(st.integers(1, 3)))]
    texts = []
    for end in ("", f", {OF_KEY if keyed else OF_ALL}"):
        own = [f"{partition}ORDER BY {order}" for _, order in calls]
        values = [call.format(whole=each + end, own=each) for (call, _), each in zip(calls, own, strict=True)]
        listed = ", ".join(f"{value} AS c{number}" for number, value in enumerate(values, 2))
        texts.append(f"SELECT a.s AS c0, CAST(a.f AS STRING) AS c1, {listed} FROM t AS a WHERE a.y IS NULL OR a.y < 3")
    contents = [draw(ROWS) for _ in range(3)]
    numbered = [{"t": [(n, *row) for n, row in enumerate(rows)] if keyed else rows} for rows in contents]
    return Case((KEYED if keyed else BAG,), texts[0], numbered[0], tuple(numbered[1:])), texts[1]


# An aggregate, and one with a single result: {v} is a value, {t} a text, {o} an order, {row} what identifies a row.
AGGREGATES = (
    ("first({v})", "min_by({v}, struct({row}))"),
    ("last_value({t}, false)", "max_by({t}, struct({row}))"),
    ("any_value({v}, true)", "min_by({v}, CASE WHEN {v} IS NOT NULL THEN struct({row}) END)"),
    ("last({v}) FILTER (WHERE a.y > 0)", "max_by({v}, CASE WHEN a.y > 0 THEN struct({row}) END)"),
    ("max_by({v}, {o})", "max_by({v}, CASE WHEN {o} IS NOT NULL THEN struct({o} AS o, {row}) END)"),
    ("min_by({v}, {o})", "min_by({v}, CASE WHEN {o} IS NOT NULL THEN struct({o} AS o, {row}) END)"),
    (
        "max_by({v}, {o}) FILTER (WHERE a.y > 0)",
        "max_by({v}, CASE WHEN {o} IS NOT NULL AND a.y > 0 THEN struct({o} AS o, {row}) END)",
    ),
    ("listagg({t}, '-') WITHIN GROUP (ORDER BY {o} DESC)", "listagg({t}, '-') WITHIN GROUP (ORDER BY {o} DESC, {row})"),
    (
        "concat_ws('-', collect_list({t}))",
        "concat_ws('-', transform(array_sort(collect_list(struct({row}, {t} AS v)) FILTER (WHERE {t} IS NOT NULL)), r -> r.v))",
    ),
    ("concat_ws('-', collect_set(a.s))", "concat_ws('-', array_sort(collect_set(a.s)))"),
    ("sum(a.y)", "sum(a.y)"),
    ("max(a.s)", "max(a.s)"),
)
VALUES = ("a.y", "a.s", "a.x + a.y")  # DuckDB's min_by returns 0.0 for -0.0
TEXTS = ("a.s", "CAST(a.y AS STRING)", "CAST(a.f AS STRING)")
ROWS_ORDERED_BY = ("a.y", "a.s", "a.f", "a.y % 2", "a.k")


@st.composite
def groups(draw: st.DrawFn) -> tuple[Case, str]:
    """A case, and its SELECT with aggregates of one result."""
    keyed = draw(st.booleans())
    by = draw(st.sampled_from(("", "a.x", "a.x, a.s")))
    orders = ROWS_ORDERED_BY if keyed else ROWS_ORDERED_BY[:-1]
    row = OF_KEY if keyed else "a.x, a.y, a.s, CAST(a.f AS STRING)"
    items: tuple[list[str], list[str]] = ([], [])
    for number in range(draw(st.integers(1, 3))):
        chosen = draw(st.sampled_from(AGGREGATES))
        value, text, order = (draw(st.sampled_from(each)) for each in (VALUES, TEXTS, orders))
        for texts, call in zip(items, chosen, strict=True):
            fields = row if "GROUP" in call else row.replace("STRING)", "STRING) AS g")
            whole = call.format(v=value, t=text, o=order, row=fields)
            texts.append(f"CAST({whole} AS STRING) AS c{number}")
    selects = [
        f"SELECT {', '.join(each)}{f', {by}' if by else ''} FROM t AS a WHERE a.y IS NULL OR a.y < 3"
        + (f" GROUP BY {by}" if by else "")
        for each in items
    ]
    contents = [draw(ROWS) for _ in range(3)]
    numbered = [{"t": [(n, *each) for n, each in enumerate(rows)] if keyed else rows} for rows in contents]
    return Case((KEYED if keyed else BAG,), selects[0], numbered[0], tuple(numbered[1:])), selects[1]


def check_drawn(drawn: tuple[Case, str], way: str) -> None:
    case, completed = drawn
    COMPLETED[case.sql] = completed
    try:
        check(case, ALL_WAYS[way])
    finally:
        del COMPLETED[case.sql]


@given(drawn=groups(), way=st.sampled_from(sorted(ALL_WAYS)))
def test_drawn_groups(drawn: tuple[Case, str], way: str) -> None:
    check_drawn(drawn, way)


@given(drawn=windows(), way=st.sampled_from(sorted(ALL_WAYS)))
def test_drawn_windows(drawn: tuple[Case, str], way: str) -> None:
    check_drawn(drawn, way)


@given(drawn=windows())
def test_where_nothing_is_tied_the_result_is_that_of_the_users_text(drawn: tuple[Case, str]) -> None:
    """All rows in one partition, in an order of different values."""
    case, _ = drawn
    rows = [row for row in case.start["t"] if row[-4] is not None]
    one_each = list({row[-4]: row for row in rows}.values())
    sql = re.sub(r"PARTITION BY a.x(, a.s)? ", "", case.sql)
    sql = re.sub(r"ORDER BY [^)]*?(?= ROWS| RANGE|\))", "ORDER BY a.x", sql)
    with World(case.tables, sql) as world:
        world.load({"t": one_each})
        assert world.maintained() == Counter(world.engine.oracle(sql))


# A cache of the first rows, and a text of the column that they are partitioned by: the sign of a zero shows there.
SIGNS = build(
    "t0(f double, y int)",
    "SELECT CAST(q.f AS STRING) AS c0, q.y AS c1 FROM (SELECT r.f, r.y FROM (SELECT a.*, row_number() OVER (PARTITION BY a.f ORDER BY "
    "a.y) AS n FROM t0 AS a) AS r WHERE r.n = 1) AS q",
    {"t0": [("0.0", 1), ("-0.0", 2), ("1.5", 3)]},
    {"t0": [("-0.0", 1), ("0.0", 2), ("1.5", 3)]},
    {"t0": [("-0.0", 4), ("1.5", 3)]},
)


@pytest.mark.parametrize("way", ALL_WAYS)
def test_a_number_is_no_id_where_equal_values_of_the_partition_differ(way: str) -> None:
    check(SIGNS, ALL_WAYS[way])


def test_rows_with_such_a_number_have_no_key() -> None:
    """The stored row would be found by its ID, and keep the sign that it has; zeros of both signs are equal here, so no view would
    look wrong."""
    assert not plan_of(SIGNS.tables, SIGNS.sql, Options()).root.unique


def test_a_number_identifies_rows_without_a_key() -> None:
    sql = "SELECT r.x, r.s FROM (SELECT a.*, row_number() OVER (PARTITION BY a.x ORDER BY a.y) AS n FROM t AS a) AS r WHERE r.n = {}"
    first = plan_of((BAG,), sql.format(1), Options())
    assert first.root.unique and first.key == ("x",)
    assert plan_of((BAG,), sql.format("r.y"), Options()).key == ("x", "idivm__r__n")
    assert plan_of((KEYED,), sql.format(1), Options()).key == ("idivm__a__k",)
