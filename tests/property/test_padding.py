"""NULLs in the place of attributes have the attributes' types, as Spark finds them."""

from __future__ import annotations

import pytest

from dbt_idivm.algebra.padding import null_of
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute
from tests.meaning.spark_meaning import spark_meaning

_COLUMNS = (
    ("k", "int"),
    ("g", "int"),
    ("y", "decimal(10,2)"),
    ("w", "decimal(30,10)"),
    ("q", "int"),
    ("b", "bigint"),
    ("d", "date"),
    ("s", "string"),
    ("f", "double"),
    ("ts", "timestamp"),
)
_VALUES = (
    "y",
    "y * q",
    "nullif(y, q)",
    "greatest(y, q)",
    "y % 3",
    "date_add(d, q)",
    "date_trunc('day', ts)",
    "ts - ts",
    "d",
    "upper(s)",
    "array(y * q)",
    "named_struct('a', y * q)",
    "f",
    "b",
    "w",
    "-w",
    "1.50",
    "3",
    "NULL",
    "q > 1",
)
_NUMBERS = ("y", "y * q", "nullif(y, q)", "greatest(y, q)", "y % 3", "w", "w * 2", "f", "b", "q", "coalesce(f, y)", "1.50", "3")
QUERIES = [
    *(f"SELECT k, {value} AS n FROM u" for value in _VALUES),
    *(f"SELECT g, max({value}) AS n FROM u GROUP BY g" for value in _VALUES if value != "ts - ts"),
    *(f"SELECT g, {name}({value}) AS n FROM u GROUP BY g" for name in ("sum", "avg") for value in _NUMBERS),
    *(f"SELECT k, {name}({value}) OVER (PARTITION BY g) AS n FROM u" for name in ("sum", "avg") for value in _NUMBERS),
    *(
        f"SELECT k, {name} OVER (PARTITION BY g ORDER BY k) AS n FROM u"
        for name in (
            "lag(y * q)",
            "lead(date_add(d, 1), 2)",
            "first_value(nullif(y, q))",
            "last_value(f) IGNORE NULLS",
            "min(y % 3)",
            "nth_value(upper(s), 2)",
            "rank()",
            "row_number()",
            "ntile(2)",
            "percent_rank()",
            "count(s)",
            "sum(greatest(y, q))",
        )
    ),
    *(
        f"SELECT g, {value} AS n FROM u GROUP BY g"
        for value in (
            "max_by(date_add(d, 1), k)",
            "array_sort(collect_list(s))",
            "bool_or(q > 1)",
            "stddev(y)",
            "corr(f, y)",
            "count(*)",
            "count(DISTINCT s)",
            "sum(y % 3) FILTER (WHERE q > 1)",
            "sum(DISTINCT nullif(y, q))",
            "percentile(q, 0.5)",
            "median(y)",
            "bit_or(b)",
            "approx_count_distinct(s)",
            "listagg(s, ',') WITHIN GROUP (ORDER BY s)",
        )
    ),
    "SELECT k, date_add(d, 1) AS n FROM u UNION ALL SELECT k, d FROM u",
    "SELECT k, y * q AS n FROM u UNION ALL SELECT k, nullif(y, q) FROM u",
    "SELECT k, NULL AS n FROM u UNION ALL SELECT k, date_add(d, 1) FROM u",
    "SELECT k, date_add(d, 1) AS n FROM u EXCEPT SELECT k, d FROM u",
    "SELECT DISTINCT k, date_add(d, 1) AS n FROM u",
    "SELECT g, max(n) AS n FROM (SELECT g, date_add(d, 1) AS n FROM u UNION ALL SELECT g, d FROM u) GROUP BY g",
    "SELECT k, n FROM u LATERAL VIEW explode(array(y * q, 1)) AS n",
    "SELECT k, n FROM u LATERAL VIEW explode(sequence(d, date_add(d, 2))) AS n",
    "SELECT k, n FROM u LATERAL VIEW posexplode(array(s)) AS n, e",
    "SELECT k, n, m FROM u LATERAL VIEW explode(map(date_add(d, 1), y * q)) AS n, m",
    "SELECT a.k, b.n FROM u AS a LEFT JOIN (SELECT k, y * q AS n FROM u) AS b ON a.k = b.k",
]
_CATALOG = Catalog({"u": TableInfo("u", tuple(Attribute(*each) for each in _COLUMNS), ("k",))})


@pytest.mark.parametrize("sql", QUERIES)
def test_a_null_has_the_type_of_the_attribute(sql: str) -> None:
    spark = spark_meaning()
    spark.reset()
    spark.table("u", _COLUMNS, ())
    lowered = lower(sql, _CATALOG)
    nulls = [null_of(lowered.root, attribute) for _, attribute in lowered.output]
    text = ", ".join(f"{each.sql('spark')} AS c{number}" for number, each in enumerate(nulls))
    assert [kind for _, kind in spark.schema(f"SELECT {text}")] == [kind for _, kind in spark.schema(sql)], text
    assert spark.query(f"SELECT {text}") == [(None,) * len(nulls)]
