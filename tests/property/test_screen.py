"""Screening against DuckDB: a row that is left out for a condition is one for which the engine does not find it true."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import parse_one

from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.passes.screening import screens
from dbt_idivm.script.dialect import DUCKDB
from dbt_idivm.script.diff import Row
from dbt_idivm.script.screen import may_hold

TYPES = {"i": "int", "j": "bigint", "s": "string", "d": "date", "b": "boolean", "p": "decimal(5,2)"}
TABLE = TableInfo("t", tuple(Attribute(name, kind) for name, kind in TYPES.items()))
DATABASE = duckdb.connect(":memory:")
VALUES = {
    "i": st.integers(-3, 3),
    "j": st.integers(-3, 3),
    "s": st.sampled_from(["", "a", "b", "é", "2024-05-01", "a'b"]),
    "d": st.sampled_from(["2023-12-31", "2024-05-01", "2024-05-02"]),
    "b": st.booleans(),
    "p": st.sampled_from(["1.00", "-2.50"]),
}
ROWS = st.tuples(*(st.none() | values for values in VALUES.values()))
NUMBERS = st.sampled_from(["t.i", "t.j", "1", "-2", "0", "1.5", "t.p", "t.i + 1", "NULL"])
STRINGS = st.sampled_from(["t.s", "'a'", "'é'", "'2024-05-01'", "NULL", "concat(t.s, 'a')"])
DAYS = st.sampled_from(["t.d", "DATE '2024-05-01'", "CAST('2024-05-02' AS DATE)", "'2024-05-01'"])
COMPARISONS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])


def compared(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(values, COMPARISONS, values).map(" ".join),
        st.tuples(values, st.sampled_from(["IN", "NOT IN"]), values, values).map(lambda t: f"{t[0]} {t[1]} ({t[2]}, {t[3]})"),
        st.tuples(values, values, values).map(lambda t: f"{t[0]} BETWEEN {t[1]} AND {t[2]}"),
        values.map(lambda value: f"{value} IS NULL"),
        values.map(lambda value: f"{value} IS NOT NULL"),
    )


CONDITIONS = st.recursive(
    st.one_of(
        compared(NUMBERS), compared(STRINGS), compared(DAYS), st.sampled_from(["t.b", "t.b IS TRUE", "t.b IS NOT FALSE", "TRUE"])
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
        inner.map(lambda each: f"NOT ({each})"),
    ),
    max_leaves=4,
)


def judged(condition: str, row: Row) -> bool:
    """Whether the row is kept."""
    lowered = lower(f"SELECT t.i AS c FROM t WHERE {condition}", Catalog({"t": TABLE}))
    found = screens(lowered.root)["t"]
    return may_hold(found, {f"t__{name}": (value, kind) for (name, kind), value in zip(TYPES.items(), row, strict=True)})


@given(CONDITIONS, ROWS)
def test_what_is_left_out_does_not_hold(condition: str, row: Row) -> None:
    values = DUCKDB.sql(DUCKDB.rows(tuple(TYPES.items()), (row,), "r"))
    try:
        true = DATABASE.execute(f"SELECT count(*) FROM ({values}) AS t WHERE {condition}").fetchone() == (1,)
    except (duckdb.ConversionException, duckdb.BinderException):
        return  # an error in the engine: nothing to compare with
    assert judged(condition, row) or not true


@pytest.mark.parametrize(
    "condition",
    [
        "t.i > 1",
        "t.s = 'b'",
        "t.d >= '2024-05-01'",
        "t.b",
        "t.i IS NOT NULL AND t.j IN (3, 4)",
        "NOT (t.i <= 1 OR t.s <> 'b')",
        "t.d BETWEEN DATE '2024-05-01' AND '2024-05-03'",
    ],
)
def test_the_usual_conditions_are_judged(condition: str) -> None:
    """Two rows: one that satisfies all of them, one that satisfies none."""
    assert judged(condition, (2, 3, "b", "2024-05-02", True, "1.00"))
    assert not judged(condition, (1, 0, "a", "2023-12-31", False, "1.00"))
    assert condition.startswith("NOT") or not judged(condition, (None, None, None, None, None, None))


@pytest.mark.parametrize("condition", ["t.p > 100", "t.i + 0 > 100", "t.s = 'a\\\\b'", "t.s LIKE 'z%'", "t.s = 1"])
def test_what_is_not_sure_is_kept(condition: str) -> None:
    assert judged(condition, (1, 0, "a", "2023-12-31", False, "1.00"))


@pytest.mark.parametrize("condition", ["s = 'A'", "s IN ('A', 'B')", "s < 'B'", "NOT (s > 'B')"])
def test_texts_under_a_collation_are_kept(condition: str) -> None:
    """They are compared in another way: under this one 'a' is 'A'."""
    tested = [parse_one(condition)]
    assert not may_hold(tested, {"s": ("a", "string")}) and may_hold(tested, {"s": ("a", "string collate UTF8_LCASE")})
