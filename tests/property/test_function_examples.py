"""Every example in the documentation of Spark's functions as a view: the planner's query gives what Spark gives for the text."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Caching, Catalog
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import lower
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.render import full_query
from dbt_idivm.script.ties import ties
from tests.meaning.spark_meaning import SparkRefuses, spark_meaning
from tests.property.judge import NO_TABLE
from tests.property.meaning import SPARK
from tests.property.plans import Table

pytestmark = pytest.mark.deep

ONE = Table("one", (("k", "int"),), ("k",))
INLINED = re.compile(r"SELECT (.*) FROM (VALUES .*?)\s+(?:AS )?tab\(([^()]*)\)", re.DOTALL | re.IGNORECASE)


def test_examples_mean_what_spark_says() -> None:
    """At least half of them are compared: the rest has no rule, no name for a column, or is refused by Spark as well."""
    found: Counter[str] = Counter()
    wrong = []
    for function, text in spark_meaning().examples():
        verdict, detail = compared(text)
        found[verdict] += 1
        if verdict == "wrong":
            wrong.append(f"{function}: {text}\n  {detail}")
    assert not wrong, "\n".join(wrong)
    assert found["same"] > found.total() / 2, found


def compared(text: str) -> tuple[str, str]:
    """The result of an example, and a comment on it."""
    spark = spark_meaning()
    spark.reset()
    table, sql = as_view(text)
    try:
        columns = spark.schema(sql)
    except SparkRefuses:
        columns = None
    try:
        lowered = lower(sql, Catalog({table.name: table.info()}))
        plan = compile_plan(lowered.root, lowered.output, caching=Caching("none", "v", (), {}))
    except IdivmError as error:
        blamed = not error.is_refusal and not set(error.codes) <= NO_TABLE
        return "wrong" if blamed and columns is not None else "refused", "; ".join(each.summary for each in error.findings)
    if columns is None:
        return "Spark refuses", ""
    if ties(plan):
        return "another row", "the result is one that Spark may give (test_what_spark_may_give.py)"
    try:
        expected = spark.query(sql)
    except SparkRefuses:
        return "ends in an error", ""
    shown = SPARK.sql(full_query(plan, Binding(dialect=SPARK)), pretty=False)
    try:
        rows = [row[: len(columns)] for row in spark.query(shown)]
    except SparkRefuses as error:
        return "wrong", f"{shown}: {error}"
    return ("same", "") if Counter(rows) == Counter(expected) else ("wrong", f"{rows} instead of {expected} by {shown}")


def as_view(text: str) -> tuple[Table, str]:
    """The example over a table that is there: over the rows that it inlines, or over one row."""
    spark = spark_meaning()
    inlined = INLINED.fullmatch(text)
    if inlined:
        item, rows, columns = inlined.groups()
        spark.create("tab", f"SELECT * FROM {rows} AS tab({columns})")
        found = spark.schema("SELECT * FROM tab")
        return Table("tab", tuple(found), None), f"SELECT {item} AS result FROM tab"
    spark.table(ONE.name, ONE.columns, [(1,)])
    return ONE, text if re.search(r"\sFROM (VALUES|\()", text) else f"{text} AS result FROM one"
