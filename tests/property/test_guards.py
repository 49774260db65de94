"""Texts that are cast to TIMESTAMP, on Spark's meaning: views over them, and which texts Spark completes by the current day."""

from __future__ import annotations

from itertools import product

import pytest
from sqlglot import exp

from dbt_idivm.algebra.guards import guarded
from dbt_idivm.script.dialect import DELTA
from tests.meaning.spark_meaning import SparkRefuses, spark_meaning
from tests.property.coverage import MEANT
from tests.property.directed import build
from tests.property.judge import judge
from tests.property.meaning import OnSpark, not_ansi
from tests.property.test_equivalence import ALL_WAYS

_SIGNS = "1:T+- ."  # of a day and a time, and what Spark trims
VIEWS = {
    "a column": "SELECT k, cast(s AS timestamp) AS x FROM t",
    "a condition": "SELECT k FROM t WHERE to_timestamp(s) > ts",
    "groups": "SELECT date_trunc('month', cast(s AS timestamp)) AS m, count(*) AS n, max(cast(s AS timestamp)) AS x FROM t "
    "GROUP BY date_trunc('month', cast(s AS timestamp))",
    "a join": "SELECT a.k, b.k AS j FROM t AS a JOIN t AS b ON cast(a.s AS timestamp) = b.ts",
    "a CTE that is used twice": "WITH w AS (SELECT k, try_cast(s AS timestamp) AS x FROM t) "
    "SELECT a.k, b.x FROM w AS a JOIN w AS b ON a.k = b.k",
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("way", ["optimised", "additive", "tuple", "caches"])
@pytest.mark.parametrize("engine", [OnSpark, not_ansi])
def test_views(name: str, way: str, engine: type[OnSpark]) -> None:
    case = build(
        "t(k int, s string, ts timestamp; k)",
        VIEWS[name],
        {"t": [(1, "2024-01-01 10:00:00", 0), (2, " 2024-03-31T02:30:00+02:00", 1), (3, None, 2)]},
        {"t": [(1, "2024-01-01", 0), (2, " 2024-03-31T02:30:00+02:00", 1), (3, "2025", 2), (4, "1582-10-10 00:00:00.123456", 5)]},
        {"t": [(1, "2024-01-02", 1_704_067_200_000_000), (4, None, 3)]},
        {"t": []},
    )
    judge(case, ALL_WAYS[way], MEANT, engine)


def test_no_text_that_spark_completes_is_let_through() -> None:
    """All short texts of these signs: the day of what they are cast to is today's, or they are no such texts."""
    spark = spark_meaning()
    spark.reset()
    texts = ["".join(each) for length in range(1, 6) for each in product(_SIGNS, repeat=length)]
    spark.table("texts", (("s", "string"),), [(each,) for each in texts])
    test = DELTA.sql(guarded(exp.column("s")).args["ifs"][0].this)
    completed = "to_date(try_cast(s AS timestamp)) BETWEEN current_date() - 1 AND current_date() + 1"
    assert spark.query(f"SELECT s FROM texts WHERE {completed} AND NOT ({test})") == []
    assert len(spark.query(f"SELECT s FROM texts WHERE {completed}")) > 20
    assert spark.query(f"SELECT s FROM texts WHERE try_cast(s AS timestamp) IS NOT NULL AND ({test}) AND NOT ({completed})") == []


# What Spark's TRY functions do about an error of an argument: these are NULL for it, the others fail.
TRYING = (
    "try_add({}, interval 1 day)",
    "try_subtract({}, interval 1 day)",
    "try_divide(interval 1 day, hour({}))",
    "try_multiply(interval 1 day, hour({}))",
    "try_to_binary(string({}), 'utf-8')",
)
FAILING = (
    "try_cast({} AS date)",
    "try_divide(hour({}), 2)",
    "try_element_at(array({}), 1)",
    "try_to_timestamp(string({}))",
    "nvl2({}, 1, 2)",
    "coalesce({}, ts)",
    "{} IS NULL",
    "to_json(struct({}))",
)


@pytest.mark.parametrize("form", [*TRYING, *FAILING])
def test_a_guard_fails(form: str) -> None:
    """Where a guard is, its error is one of the query; where it would be NULL there is none, and the view is not maintained."""
    spark = spark_meaning()
    spark.reset()
    spark.create("t", "SELECT 1 AS k, '10:15' AS s, timestamp'2024-01-01' AS ts")
    text = DELTA.sql(guarded(exp.column("s")))
    query = f"SELECT {form.format(f'CAST({text} AS TIMESTAMP)')} AS x FROM t"
    if form in TRYING:
        assert spark.query(query) == [(None,)]
    else:
        with pytest.raises(SparkRefuses, match="holds a time alone"):
            spark.query(query)
