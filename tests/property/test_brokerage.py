"""The broker's warehouse of benchmarks/brokerage/ as Spark means it: its sources are loaded and changed, its models analyzed, and
planned over the types that Spark gives them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
from sqlglot import parse_one

from benchmarks.brokerage.changes import PROJECT, SCHEMA, batch, history, tables
from benchmarks.brokerage.world import World as Broker
from tests.meaning.spark_meaning import SparkMeaning, spark_meaning
from tests.property.harness import NOW, World
from tests.property.meaning import OnSpark
from tests.property.plans import Options, Table
from tests.unit.integration_project import Project

LAST_DAY = dt.date(2026, 11, 25)
WORLD = Broker(0.00015, 1, LAST_DAY, days=40)
BATCHES = 2
# Their averages and self-joins take Spark's meaning, which has no indexes, minutes or are unknown to it.
ON_SPARK_ONLY = {"market_ranges", "fct_market_history"}
Rows = list[tuple[Any, ...]]


class Typed(Project):
    """The project, whose models have the types that Spark gives them."""

    def __init__(self) -> None:
        super().__init__(PROJECT)
        self.found: dict[str, Mapping[str, str]] = {}

    def declared_types(self, name: str) -> Mapping[str, str]:
        return self.found.get(name) or super().declared_types(name)

    @property
    def in_order(self) -> list[str]:
        """The models, inputs before their readers."""
        found: dict[str, None] = {}

        def add(name: str) -> None:
            for each in self.models[name].refs:
                add(each)
            found[name] = None

        for name in self.models:
            add(name)
        return list(found)


def own(sql: str) -> str:
    """A model's SELECT over tables in memory, where sources and models would have the same names."""
    return re.sub(r"\bbrokerage\.(\w+)", r"source_\1", sql)


def run(spark: SparkMeaning, statements: Iterable[str]) -> None:
    """The generator's statements over tables in memory, which have no INSERT, UPDATE and DELETE."""
    for statement in statements:
        kind, sql = statement.split()[0], statement.replace(f"{SCHEMA}.", "source_")
        if kind == "create":
            continue
        table = sql.split()[1 if kind == "update" else 2]
        rows = f"select * from {table}"
        if kind == "insert":
            spark.create(table, f"{rows} union all ({sql.partition(table)[2]})")
        elif kind == "delete":
            spark.create(table, f"{rows} where not coalesce({sql.partition(' where ')[2]}, false)")
        else:
            change = parse_one(sql, read="spark")
            found = {each.this.name: each.expression.sql("spark") for each in change.expressions}
            where = sql.rpartition(" where ")[2]
            columns = (
                f"cast(if({where}, {found[name]}, {name}) as {kind}) as {name}" if name in found else name
                for name, kind in tables()[table.removeprefix("source_")].items()
            )
            spark.create(table, f"select {', '.join(columns)} from {table}")


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkMeaning]:
    found = spark_meaning()
    create(found, {})
    yield found
    found.reset()


def create(spark: SparkMeaning, rows: Mapping[str, Rows]) -> None:
    """The sources with these rows, and nothing else."""
    spark.reset()
    for name, columns in tables().items():
        spark.table(f"source_{name}", tuple(columns.items()), rows.get(f"source_{name}", ()))


def contents(spark: SparkMeaning) -> dict[str, Rows]:
    return {f"source_{name}": spark.query(f"select * from source_{name}") for name in tables()}


def test_sources_are_loaded_and_change(spark: SparkMeaning) -> None:
    run(spark, history(WORLD))
    loaded = contents(spark)
    assert all(loaded.values())
    run(spark, batch(WORLD, 1))
    changed = contents(spark)
    assert [name for name in loaded if sorted(loaded[name], key=repr) == sorted(changed[name], key=repr)] == []


def test_models_are_maintained_over_the_types_that_spark_gives_them(spark: SparkMeaning) -> None:
    project = typed(spark)
    assert len(project.in_order) == 49
    for name in project.in_order:
        declared = Project.declared_types(project, name)
        assert {each: project.found[name][each] for each in declared} == declared, name
        assert project.plan(name).ways, name


def typed(spark: SparkMeaning) -> Typed:
    """The project with Spark's types. All models are empty tables."""
    project = Typed()
    for name in project.in_order:
        project.found[name] = dict(spark.schema(own(project.models[name].sql)))
        spark.table(name, tuple(project.found[name].items()), ())
    return project


@pytest.mark.long
def test_each_model_is_equal_to_its_query_after_each_batch(spark: SparkMeaning) -> None:
    """Each one by itself: the tables that it reads have the rows that Spark gives them in each state."""
    create(spark, {})
    project, states = typed(spark), list[dict[str, Rows]]()
    for number in range(BATCHES + 1):
        create(spark, states[-1] if states else {})
        run(spark, batch(WORLD, number) if number else history(WORLD))
        states.append(contents(spark))
        for name in project.in_order:
            states[-1][name] = rows_of(spark, project, name)
    for name in sorted({*project.in_order} - ON_SPARK_ONLY):
        assert wrong_batches(project, name, states) == [], name


def rows_of(spark: SparkMeaning, project: Typed, name: str) -> Rows:
    """The rows of a model, without the times of loading, which would differ in each state."""
    columns = project.found[name]
    if name in ON_SPARK_ONLY:
        spark.table(name, tuple(columns.items()), ())
        return []
    spark.create(name, own(project.models[name].sql))
    shown = ("cast(null as timestamp)" if each == "loaded_at" else each for each in columns)
    return spark.query(f"select {', '.join(shown)} from {name}")


def wrong_batches(project: Typed, name: str, states: list[dict[str, Rows]]) -> list[int]:
    """The numbers of the batches after which the maintained model differs from its query; a batch is a day."""
    sql = own(project.models[name].sql)
    read = [*sorted(set(re.findall(r"\bsource_\w+", sql))), *project.models[name].refs]
    found = []
    with World(tuple(_input(project, each) for each in read), sql, Options(), OnSpark) as world:
        for number, state in enumerate(states):
            post = {**{each: state[each] for each in read}, NOW: [(f"{LAST_DAY + dt.timedelta(number)} 10:00:00",)]}
            if number == 0:
                world.load(post)
            else:
                world.refresh(post)
            if world.maintained() != world.recomputed():
                found.append(number)
    return found


def _input(project: Typed, name: str) -> Table:
    if name.startswith("source_"):
        source = name.removeprefix("source_")
        return Table(name, tuple(tables()[source].items()), project.sources.tables[f"brokerage.{source}"].key)
    columns, key = project.found[name], project.plan(name).key
    return Table(name, tuple(columns.items()), key if key and {*key} <= {*columns} else None)
