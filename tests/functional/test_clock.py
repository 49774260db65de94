"""Where Spark converts a text into a TIMESTAMP, the front end knows: tried with every function that is on its list.

Spark's own analyzer says what it converts. A function that is new, or takes its arguments otherwise in another version, shows
here.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend import functions
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute

COLUMNS = {"id": "bigint", "s": "string", "ts": "timestamp", "texts": "array<string>"}
CATALOG = Catalog({"t": TableInfo("t", tuple(Attribute(*pair) for pair in COLUMNS.items()), ("id",), "test")})
OPERANDS = ("s", "texts", "ts", "1", "'MONTH'")
FORMS = (
    "{0} = {1}",
    "{0} <=> {1}",
    "{0} + {1}",
    "{0} - {1}",
    "{0} in ({1})",
    "{0} between {1} and {1}",
    "{0} + interval 1 day",
    "case when id = 1 then {0} else {1} end",
    "case {0} when {1} then 1 end",
    "if(id = 1, {0}, {1})",
    "nvl2(id, {0}, {1})",
    "struct({0}) = struct({1})",
    "({0}, 1) in (({1}, 1))",
    "{0}[0] = {1}",
    "array({0}, {1})[0] = s",
    "exists({0}, x -> x > {1})",
    "transform({0}, x -> x = {1})",
    "zip_with({0}, {0}, (x, y) -> x = {1})",
    "reduce({0}, {1}, (a, x) -> a)",
    "coalesce({0}, {1}) = s",
    "extract(hour from {0})",
    "dateadd(day, 1, {0})",
    "datediff(day, {0}, {1})",
    "timestampadd(day, 1, {0})",
    "timestampdiff(day, {0}, {1})",
    "date_add(day, 1, {0}) = {1}",
    "{0} || {1}",
    "{0} like {1}",
    "map({0}, {1})",
)
# texts, elements of texts, and structs of texts
CONVERTED = re.compile(r"cast\((s#\d+|texts#\d+\[?\d*\]?|lambda x#\d+|struct\([^)]*s#\d+\)) as [^)]*\btimestamp\b(?!_ntz)")


def expressions() -> Iterator[str]:
    for form in FORMS:
        for operands in itertools.product(OPERANDS, repeat=2 if "{1}" in form else 1):
            yield form.format(*operands)
    for name, arity in itertools.product(sorted(functions.SCALAR), (1, 2)):
        for operands in itertools.product(OPERANDS, repeat=arity):
            if {"s", "texts"} & {*operands}:
                yield f"{name}({', '.join(operands)})"


@pytest.mark.long
def test_no_conversion_is_missed(spark: Any) -> None:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # most of the expressions are none to Spark
    session = spark.newSession()
    session.createDataFrame([], ", ".join(" ".join(pair) for pair in COLUMNS.items())).createOrReplaceTempView("t")
    converting, missed = 0, []
    for expression in expressions():
        sql = f"select id, {expression} as x from t"
        try:
            analyzed = session.sql(sql)._jdf.queryExecution().analyzed().toString()
        except (PySparkException, Py4JJavaError):
            continue
        if CONVERTED.search(analyzed):
            converting += 1
            try:
                lower(sql, CATALOG)
            except IdivmError:
                continue
            missed.append(expression)
    assert not missed
    assert converting > 80, "what is looked for is there"
