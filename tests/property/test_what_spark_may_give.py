"""Aggregates that choose between rows: what the view has is what Spark gives for the user's own text over some order of the rows."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_idivm.script.diff import Row
from dbt_idivm.script.ties import ties
from tests.proof.corpus import create
from tests.proof.judged import judged, meant
from tests.property.chosen import in_ways, some, spread
from tests.property.coverage import DIRECTED_AND_MEANT
from tests.property.harness import Options, World
from tests.property.judge import judge
from tests.property.meaning import OnSpark
from tests.property.plans import Table
from tests.property.test_equivalence import ALL_WAYS
from tests.property.tied import AGGREGATES, ON_SPARK

COLUMNS = (("x", "int"), ("y", "int"), ("s", "string"), ("f", "double"))
KEYED, BAG = Table("t", (("k", "int"), *COLUMNS), ("k",)), Table("t", COLUMNS, None)
# Items of one SELECT: Spark fills them in one pass over the rows.
TOGETHER = (
    ("first(s)", "last(s)", "first(y)", "last(y)", "any_value(f)"),
    ("first(s, true)", "last(y) IGNORE NULLS", "any_value(y, true)"),
    ("first(s) FILTER (WHERE y > 0)", "last(f) FILTER (WHERE y IS NULL)", "first(s, true) FILTER (WHERE y > 0)"),
    ("max_by(s, y)", "max_by(x, y)", "max_by(f, y)"),
    ("min_by(s, y)", "min_by(x, y)"),
    ("max_by(s, y) FILTER (WHERE x > 0)", "max_by(s, struct(y, x))"),
    ("max_by(s, f)", "max_by(CAST(f AS STRING), f)"),
    ("min_by(CAST(f AS STRING), f)",),
    ("collect_list(s)", "collect_list(y)", "first(s)", "last(s)", "first(y, true)"),
    ("collect_list(struct(s, f))", "array_agg(x)", "collect_list(s) FILTER (WHERE y > 0)"),
    ("array_sort(collect_list(f))", "sort_array(array_distinct(collect_list(f)))"),
    ("listagg(s, '-')", "string_agg(s, ',') WITHIN GROUP (ORDER BY y DESC)", "collect_list(s)"),
    ("collect_list(DISTINCT s)",),
    ("listagg(DISTINCT s, '-')",),
)
NUMBERS = st.sampled_from((None, 0, 1))
ROW = st.tuples(NUMBERS, NUMBERS, st.sampled_from((None, "a", "b")), st.sampled_from((None, "0.0", "-0.0", "NaN", "1.5")))


@given(calls=st.sampled_from(TOGETHER), rows=st.lists(ROW, max_size=4), keyed=st.booleans())
def test_spark_may_give_it(calls: tuple[str, ...], rows: list[Row], keyed: bool) -> None:
    content = [(number, *row) for number, row in enumerate(rows)] if keyed else rows
    assert_possible(KEYED if keyed else BAG, calls, content)


@pytest.mark.parametrize("calls", TOGETHER, ids=lambda calls: calls[0])
@pytest.mark.parametrize("keyed", [True, False])
def test_spark_may_give_it_of_tied_rows(calls: tuple[str, ...], keyed: bool) -> None:
    rows: list[Row] = [(1, 1, None, "-0.0"), (0, 1, "b", "0.0"), (1, None, "a", "NaN"), (1, 1, "a", "NaN")]
    assert_possible(KEYED if keyed else BAG, calls, [(9 - number, *row) for number, row in enumerate(rows)] if keyed else rows)


def assert_possible(table: Table, calls: tuple[str, ...], rows: list[Row]) -> None:
    listed = ", ".join(f"{call} AS c{number}" for number, call in enumerate(calls))
    texts = ", ".join(f"CAST(c{number} AS STRING) AS c{number}" for number in range(len(calls)))
    sql = f"SELECT {texts} FROM (SELECT {listed} FROM t)"
    with World((table,), sql, Options(), OnSpark) as world:
        assert ties(world.plan)
        world.load({"t": rows})
        (ours,) = world.maintained()
        possible = set()
        for each in dict.fromkeys(permutations(rows)):
            world.engine.fill(table.name, table.columns, each)
            possible.update(world.engine.oracle(sql))
    assert ours in possible


@pytest.mark.parametrize(("name", "way"), some(spread(in_ways(AGGREGATES, ALL_WAYS), ("optimised", "tuple")), 3, of_deep=1))
def test_tied_rows_on_sparks_meaning(name: str, way: str) -> None:
    judge(AGGREGATES[name], ALL_WAYS[way], DIRECTED_AND_MEANT)


@pytest.mark.parametrize("way", ["additive", "recompute", "tuple-feed"])
@pytest.mark.parametrize("name", ON_SPARK)
def test_what_duckdb_does_not_have(name: str, way: str) -> None:
    judge(ON_SPARK[name], ALL_WAYS[way], DIRECTED_AND_MEANT)


# Spark proves nothing of these by plans: a correlated subquery is a join there, and grouping sets are an Expand.
COMPARED = (" for each row", "sets")


@pytest.mark.parametrize("name", {**AGGREGATES, **ON_SPARK})
def test_spark_proves_the_users_aggregates(name: str) -> None:
    """The plan with the user's aggregates is Spark's own. Else rows would be compared, and tied rows may differ."""
    case = {**AGGREGATES, **ON_SPARK}[name]
    create(case.tables, case.start)
    is_compared = any(word in name for word in COMPARED) and "sets in the order" not in name
    assert judged(meant(), case.tables, case.sql).how == ("rows" if is_compared else "plans")
