"""The broker's warehouse of benchmarks/brokerage/ as Spark means it: its sources are loaded and changed, its models analyzed, and
planned over the types that Spark gives them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping

import pytest
from sqlglot import parse_one

from benchmarks.brokerage.changes import PROJECT, SCHEMA, batch, history, tables
from benchmarks.brokerage.world import World
from tests.meaning.spark_meaning import SparkMeaning, spark_meaning
from tests.unit.integration_project import Project

WORLD = World(0, 1, dt.date(2026, 11, 25))


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


def run(spark: SparkMeaning, statements: Iterable[str]) -> None:
    """The generator's statements over tables in memory, which have no INSERT, UPDATE and DELETE."""
    for statement in statements:
        kind, sql = statement.split()[0], statement.replace(f"{SCHEMA}.", "")
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
                for name, kind in tables()[table].items()
            )
            spark.create(table, f"select {', '.join(columns)} from {table}")


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkMeaning]:
    found = spark_meaning()
    found.reset()
    for name, columns in tables().items():
        found.table(name, tuple(columns.items()), ())
    yield found
    found.reset()


def test_sources_are_loaded_and_change(spark: SparkMeaning) -> None:
    def contents() -> dict[str, list[tuple[object, ...]]]:
        return {name: sorted(spark.query(f"select * from {name}"), key=repr) for name in tables()}

    run(spark, history(WORLD))
    loaded = contents()
    assert all(loaded.values())
    run(spark, batch(WORLD, 1))
    changed = contents()
    assert [name for name in tables() if loaded[name] == changed[name]] == []


def test_models_are_maintained_over_the_types_that_spark_gives_them(spark: SparkMeaning) -> None:
    project = Typed()
    assert len(project.in_order) == 49
    for name in project.in_order:
        declared = project.declared_types(name)
        project.found[name] = dict(spark.schema(re.sub(r"\bbrokerage\.(\w+)", r"\1", project.models[name].sql)))
        spark.table(name, tuple(project.found[name].items()), ())
        assert {each: project.found[name][each] for each in declared} == declared, name
        assert project.plan(name).ways, name
