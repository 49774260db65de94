"""A scalar subquery that may have several rows: one is its value, and on several the planned query fails as the user's does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dbt_idivm.frontend.scalar import SEVERAL_ROWS
from tests.meaning.spark_meaning import SparkRefuses
from tests.property.engine import Engine
from tests.property.harness import World
from tests.property.meaning import OnSpark, not_ansi
from tests.property.plans import Options, Table
from tests.property.strategies import Content

TABLES = (
    Table("l", (("id", "int"), ("x", "int")), ("id",)),
    Table("r", (("rid", "int"), ("y", "int"), ("d", "int")), ("rid",)),
    Table("n", (("y", "int"), ("d", "int")), None),
)
ONE: Content = {"l": [(1, 5), (2, 6), (3, None)], "r": [(1, 5, 3), (2, 6, 4)], "n": [(5, 3), (5, 3), (7, 4)]}
OTHER: Content = {"r": [(1, 6, 3), (2, 5, 4)], "n": [(6, 3), (7, 4)]}
NONE: Content = {"r": [(2, 6, 4)], "n": []}
NULL: Content = {"r": [(4, None, 3)], "n": [(None, 3), (None, 3)]}
SEVERAL: Content = {"r": [(1, 5, 3), (2, 6, 3)], "n": [(5, 3), (6, 3)]}
TEXTS = (
    "SELECT id FROM l WHERE x = (SELECT y FROM r WHERE d = 3)",
    "SELECT id, (SELECT DISTINCT y FROM n WHERE d = 3) AS v FROM l",
    "SELECT id, x + (SELECT max(y) FROM n WHERE d = 3 GROUP BY y) AS v FROM l",
    "SELECT x, count(*) AS c FROM l WHERE x >= (SELECT y FROM r WHERE d = 3) OR x IS NULL GROUP BY x",
)


@pytest.mark.parametrize("engine", [OnSpark, not_ansi], ids=["ANSI", "not ANSI"])
@pytest.mark.parametrize("sql", TEXTS)
def test_several_rows_are_an_error(sql: str, engine: Callable[[], Engine]) -> None:
    tables = tuple(table for table in TABLES if f"FROM {table.name} " in f"{sql} ")

    def of(content: Content) -> Content:
        return {table.name: content[table.name] for table in tables if table.name in content}

    with World(tables, sql, Options(), engine) as world:
        world.load(of(ONE))
        for content in (OTHER, NONE, NULL, ONE):
            world.refresh(of(content))
            assert world.maintained() == world.recomputed(), content
        with pytest.raises(SparkRefuses, match=SEVERAL_ROWS):
            world.refresh(of(SEVERAL))
        with pytest.raises(SparkRefuses, match="SCALAR_SUBQUERY_TOO_MANY_ROWS"):
            world.engine.oracle(sql)
        with pytest.raises(SparkRefuses, match=SEVERAL_ROWS):
            world.build()
