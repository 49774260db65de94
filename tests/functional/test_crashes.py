"""A refresh that breaks off anywhere leaves a view that equals its query at the vector it records, and the next one goes on.

The points are counted, not listed: each shape is played once to the end, then again and again, given up before or after
each of its statements as a process that dies gives it up, in a session that is gone afterwards. `make faults` tries every
point; the default suite those around the statements that write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from dbt_idivm.refresh.driver import Refresh, refresh
from dbt_idivm.refresh.protocol import EngineError, ModelRequest, Statement
from tests.functional.engine import Project

JOIN = "select o.note, c.name from $.orders o join $.cust c on o.cust = c.id where o.price > 1"
GROUPS = "select cust, sum(price) as total, count(*) as n from $.orders group by cust"
KEYS = {"orders": ["id"], "cust": ["id"]}


@dataclass
class Stage:
    """A schema with two inputs and one model; `change` makes the next change to the inputs, a new one each time."""

    project: Project
    spark: Any
    sql: str
    options: dict[str, Any] = field(default_factory=dict)
    number: int = 10

    @property
    def model(self) -> ModelRequest:
        return self.project.model("v", self.sql, KEYS, **self.options)

    def insert(self) -> None:
        self.number += 1
        self.project.sql(f"insert into $.orders values ({self.number}, {self.number % 3}, {self.number}, 'n')",
                         f"update $.orders set price = price + 1, cust = 1 where id = {self.number - 1}")

    def rename(self) -> None:
        self.number += 1
        self.project.sql(f"update $.cust set name = 'n{self.number}' where id = 1")

    def many(self) -> None:
        self.number += 2000
        self.project.sql(f"insert into $.orders select id, id % 3, 2, 'm' from range({self.number - 1500}, {self.number})")

    def drop(self) -> None:
        for name in ("v", "v__idivm"):
            kind = self.project.existing(name)
            if kind:
                self.project.sql(f"drop {kind} $.{name}")

    def other_definition(self) -> None:
        """The view is built under another SELECT, without hidden columns; the model's is a change of definition."""
        self.project.refresh(self.project.model("v", "select id, note from $.orders", KEYS))

    def again(self) -> None:
        """A session of its own for the next run."""
        self.project.spark = self.spark.newSession()
        self.project.sql("use $")

    def die(self, point: int, after: bool, **changes: Any) -> None:
        """Refresh, and give up before or after the statement `point`."""
        self.project.new_run()
        steps = Refresh(refresh(self.project.request(self.model, **changes), self.project.invocation))
        for _ in range(point):
            assert steps.statement is not None
            steps.answer(self.project.run(steps.statement))
        if after and steps.statement is not None:
            reply = self.project.run(steps.statement)
            # a look-up may find that something is not there
            assert steps.statement.kind == "metadata" or not isinstance(reply, EngineError)

    def check(self, **changes: Any) -> None:
        self.again()
        if self.project.existing("v"):
            built = self.project.spark.sql(f"show tblproperties {self.project.schema}.v").collect()
            if any(row["key"].startswith("idivm") for row in built):
                assert self.project.differences(self.model) == []
        self.project.refresh(self.model, **changes)
        assert self.project.is_exact(self.model)
        assert self.project.refresh(self.model).mode == "noop"
        names = {t.name for t in self.project.spark.catalog.listTables(self.project.schema) if not t.isTemporary}
        assert names - {"orders", "cust"} in ({"v"}, {"v", "v__idivm"}), "nothing is left behind"


@dataclass(frozen=True)
class Shape:
    """A way for a refresh to go: the model, how it is told to go that way, and what the mode is then."""

    sql: str
    before: Callable[[Stage], None]
    mode: str
    options: tuple[tuple[str, Any], ...] = ()
    full_refresh: bool = False


SHAPES = {
    "create": Shape(JOIN, Stage.drop, "create"),
    "direct": Shape(JOIN, Stage.rename, "incremental"),
    "effective": Shape(JOIN, Stage.insert, "incremental"),
    "additive": Shape(GROUPS, Stage.insert, "incremental"),
    "staged": Shape(JOIN, Stage.many, "incremental"),
    "full": Shape(JOIN, Stage.insert, "full", full_refresh=True),
    "definition": Shape(JOIN, Stage.other_definition, "full"),
}
SHORT = ("create", "additive")  # in the default suite


@pytest.fixture
def stage(spark: Any, request: pytest.FixtureRequest) -> Iterator[Callable[[Shape], Stage]]:
    schemas: list[str] = []

    def make(shape: Shape) -> Stage:
        schemas.append("crash_" + request.node.name.partition("[")[2].rstrip("]"))
        project = Project(spark.newSession(), schemas[-1])
        project.table("orders", "id int, cust int, price int, note string", "(1, 1, 5, 'a')", "(2, 1, 7, 'b')", "(3, 2, 1, null)")
        project.table("cust", "id int, name string", "(0, 'z')", "(1, 'ann')", "(2, 'bob')")
        return Stage(project, spark, shape.sql, dict(shape.options))

    yield make
    for schema in schemas:
        spark.sql(f"drop schema {schema} cascade")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("name", list(SHAPES) if metafunc.config.getoption("--every-point") else SHORT)


def test_a_refresh_that_breaks_off(name: str, stage: Callable[[Shape], Stage], pytestconfig: pytest.Config) -> None:
    every = bool(pytestconfig.getoption("--every-point"))
    shape = SHAPES[name]
    play = stage(shape)
    play.project.refresh(play.model)
    shape.before(play)
    changes = {"full_refresh": True} if shape.full_refresh else {}
    assert play.project.refresh(play.model, **changes).mode == shape.mode
    statements, tried = list(play.project.executed), 0
    for point, after in _points(statements, every):
        shape.before(play)
        play.die(point, after, **changes)
        play.check(**changes)
        tried += 1
    assert tried
    print(f"{name}: {len(statements)} statements, {tried} points tried, wrong views: 0")


def _points(statements: list[Statement], every: bool) -> Iterator[tuple[int, bool]]:
    """(number of the statement, whether it was still run)"""
    for number, statement in enumerate(statements):
        if every or statement.kind == "write":
            yield number, False
            yield number, True
