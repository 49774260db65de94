"""A SELECT judged as the refresh judges it, over tables of which only the engine's word on SELECTs is asked.

`Word` is that engine: an embedded Spark, or Spark's meaning, which has Spark's analyzer and optimizer and no files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dbt_idivm.algebra.relation import Relation
from dbt_idivm.refresh.catalog.clock import clock_at
from dbt_idivm.refresh.catalog.inputs import Input, Inputs
from dbt_idivm.refresh.catalog.relations import Described
from dbt_idivm.refresh.checks.plan_proof import Proof, Question, judge
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps, T
from dbt_idivm.refresh.protocol import EngineError, Reply, Rows, Statement
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.render import relation_query
from tests.meaning.spark_meaning import spark_meaning
from tests.property.plans import Options, Table, plan_of
from tests.property.strategies import Content

TIME = 1_771_578_000_000_000  # 2026-02-20 09:00:00
EXCLUDED = "spark.sql.optimizer.excludedRules"


@dataclass(frozen=True)
class Word:
    """`columns`: the names and types of a SELECT; `explained`: the reply of EXPLAIN EXTENDED; `rows`: those of a SELECT.

    `run` is for SET and RESET. They raise for what the engine refuses.
    """

    columns: Callable[[str], list[tuple[str, str]]]
    explained: Callable[[str], str]
    rows: Callable[[str], list[tuple[Any, ...]]]
    run: Callable[[str], object]

    def answer(self, statement: Statement) -> Reply:
        try:
            return self._answer(statement.sql)
        except Exception as error:
            return EngineError("", str(error))

    def types(self, relation: Relation) -> list[str]:
        """The types of a relation's columns, as a refresh asks for them."""
        return [kind for _, kind in self.columns(DELTA.sql(relation_query(relation, Binding())))]

    def _answer(self, sql: str) -> Reply:
        if sql.startswith("DESCRIBE QUERY "):
            return Rows(("col_name", "data_type"), tuple(self.columns(sql.removeprefix("DESCRIBE QUERY "))))
        if sql.startswith("EXPLAIN EXTENDED "):
            return Rows(("plan",), ((self.explained(sql.removeprefix("EXPLAIN EXTENDED ")),),))
        if sql.startswith("DESCRIBE DETAIL "):
            return Rows(("sizeInBytes",), ((1000,),))
        if sql.startswith(("SET ", "RESET ")):
            self.run(sql)
            return Rows()
        return Rows((), tuple(self.rows(sql)))


def meant() -> Word:
    """Spark's meaning of SELECTs over the tables that it has."""
    spark = spark_meaning()

    def run(sql: str) -> None:
        setting = re.fullmatch(r"SET `(.+)`=`(.+)`", sql)
        if setting is not None:
            spark.configure({setting[1]: setting[2]})
        elif sql == f"RESET `{EXCLUDED}`":  # the others are for printing plans, and stay in force
            spark.configure({EXCLUDED: ""})

    return Word(spark.schema, lambda sql: f"== Optimized Logical Plan ==\n{spark.explain(sql)[1]}", spark.query, run)


def judged(word: Word, tables: tuple[Table, ...], sql: str, read_as: str | None = None) -> Proof:
    """The judgement on the plan of `sql`, at one time; of another text, `read_as`, where the planner is to misread it."""
    plan = plan_of(tables, read_as or sql, Options(), ask=word.types)
    clock = driven(word, clock_at(Client(), TIME, plan.clock)) if plan.clock else None
    found = {table.name: Input(table.name, table.name, Described(table.info().columns, "table", "delta")) for table in tables}
    return driven(word, judge(Client(), Question(sql, plan, Inputs(found, {}), DELTA, clock), "", "auto"))


def driven(word: Word, steps: Steps[T]) -> T:
    """The result of steps whose statements this engine answers."""
    reply: Reply | None = None
    try:
        while True:
            reply = word.answer(steps.send(reply) if reply is not None else next(steps))
    except StopIteration as stop:
        result: T = stop.value
        return result


# SELECTs, and what is put in their place before the planner sees them: (tables, their rows, the SELECT, how it is read)
MISREAD_TEXTS: Mapping[str, tuple[str, Content, str, str]] = {
    "another column": ("t(a int, b int)", {"t": [(1, 2)]}, "SELECT a AS x FROM t", "SELECT b AS x FROM t"),
    "another side": (
        "a(id int, x int)\nb(id int, x int)",
        {"a": [(1, 1), (2, 2)], "b": [(1, 5), (3, 6)]},
        "SELECT a.x FROM a JOIN b ON a.id = b.id",
        "SELECT b.x FROM a JOIN b ON a.id = b.id",
    ),
    "another use of a table": (
        "t(id int, up int)",
        {"t": [(1, 1), (2, 3)]},
        "SELECT p.id FROM t p JOIN t q ON p.id < q.up",
        "SELECT q.id FROM t p JOIN t q ON p.id < q.up",
    ),
    "whether NULLs are left out": (
        "t(k int, x int; k)",
        {"t": [(1, 5), (2, None), (3, 7)]},
        "SELECT k, lag(x) OVER (ORDER BY k) AS l FROM t",
        "SELECT k, lag(x) IGNORE NULLS OVER (ORDER BY k) AS l FROM t",
    ),
    "the case of a name": ("t(a int, b int)", {"t": [(1, 2)]}, "SELECT A AS X FROM t", "SELECT A AS x FROM t"),
}
