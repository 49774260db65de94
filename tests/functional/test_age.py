"""Many refreshes of one project: what they leave stays bounded, the last ones do as much as the first, and all is exact."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dbt_idivm.definition.request import ModelRequest
from tests.engines import warehouse_of
from tests.functional.project import Project
from tests.functional.subscriber import Subscriber

pytestmark = pytest.mark.deep

KEYS = {"orders": ["id"], "cust": ["id"]}
VIEWS: dict[str, tuple[str, dict[str, Any]]] = {
    "pairs": ("select o.note, c.name from $.orders o join $.cust c on o.cust = c.id where o.price > 10", {}),
    "sums": ("select cust, sum(price) as total, count(*) as n from $.orders group by cust", {}),
    "above": (
        "select c.name, t.total from (select cust, sum(price) as total from $.orders group by cust) t "
        "join $.cust c on t.cust = c.id",
        {"caches": "all"},
    ),
    "logged": ("select id, note from $.orders where price > 50", {"output": "both"}),
    "newest": (
        "select id, cust, price from (select id, cust, price, row_number() over (partition by cust order by price desc, "
        "id) as r from $.orders) where r = 1",
        {},
    ),
    "tuples": ("select o.id, c.name from $.orders o left join $.cust c on o.cust = c.id", {"strategy": "tuple"}),
}
LAST = 20  # refreshes, compared with as many at the beginning
UPKEEP = 3  # commits to a table at most, each time: OPTIMIZE, and the beginning and the end of VACUUM
FILES = 2  # that a refresh adds to a table at most: of rows, and of positions of deleted ones
# of every table of ours, caches among them, which have no properties of a model
RETENTION = ("spark.databricks.delta.properties.defaults.deletedFileRetentionDuration", "interval 1 minute")


@dataclass
class Age:
    project: Project
    folder: Path
    every: int
    views: tuple[str, ...]
    seconds: list[float] = field(default_factory=list)
    statements: list[int] = field(default_factory=list)

    def models(self) -> list[ModelRequest]:
        upkeep = {"optimize_every": self.every, "vacuum": True}
        return [
            self.project.model(name, sql, KEYS, **upkeep, **options)
            for name, (sql, options) in VIEWS.items()
            if name in self.views
        ]

    def batch(self, chance: random.Random, number: int) -> None:
        """A random batch: rows come, change and go, in facts and dimensions."""
        some = ", ".join(str(chance.randrange(200 + number)) for _ in range(3))
        row = f"{1000 + number}, {chance.randrange(9)}, {chance.randrange(100)}, 'n{number}'"
        statements = [
            f"insert into $.orders values ({row})",
            f"update $.orders set price = {chance.randrange(100)}, cust = {chance.randrange(9)} where id in ({some})",
            f"delete from $.orders where id in ({some})",
        ]
        if number % 5 == 0:
            statements.append(f"update $.cust set name = 'c{number}' where id = {chance.randrange(9)}")
        self.project.sql(statements[0], *chance.sample(statements[1:], chance.randrange(len(statements))))
        if number % self.every == 0:  # sources have a policy of their own
            self.project.sql("optimize $.orders", "optimize $.cust")

    def refresh(self, models: list[ModelRequest]) -> None:
        started, statements = time.perf_counter(), 0
        self.project.new_run()
        for model in models:
            outcome = self.project.refresh_in_run(model)
            assert outcome.mode in ("incremental", "noop"), outcome.message
            assert outcome.warnings == ()
            statements += len([each for each in self.project.executed if not each.label.startswith(("optimize", "vacuum"))])
        self.seconds.append(time.perf_counter() - started)
        self.statements.append(statements)

    def tables(self) -> dict[str, tuple[int, int]]:
        """Table of ours → files that its readers open, and files in its folder besides its log."""
        found = {}
        for name, kind in self.project.relations().items():
            if kind == "table" and name not in KEYS:
                files = [
                    path
                    for path in (self.folder / name).rglob("*")
                    if path.is_file() and "_delta_log" not in path.parts and not path.name.endswith(".crc")
                ]
                found[name] = (int(self.project.detail(name)["numFiles"]), len(files))
        return found

    def commits(self) -> dict[str, int]:
        """Table of ours → commits in its log, of which none is old enough to be cleaned up."""
        tables = (name for name, kind in self.project.relations().items() if kind == "table" and name not in KEYS)
        return {name: len([*(self.folder / name / "_delta_log").glob("*.json")]) for name in tables}


@pytest.fixture
def project(spark: Any) -> Iterator[Project]:
    session = spark.newSession()
    session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    made = Project(session, "age")
    made.table("orders", "id int, cust int, price int, note string", *(f"({i}, {i % 9}, {i % 100}, 'a{i}')" for i in range(200)))
    made.table("cust", "id int, name string", *(f"({i}, 'c{i}')" for i in range(9)))
    session.conf.set(*RETENTION)  # sources have their own
    yield made
    spark.sql("drop schema age cascade")


@pytest.mark.parametrize(
    ("refreshes", "every", "views"), [(5, 2, ("above", "logged")), pytest.param(300, 25, tuple(VIEWS), marks=pytest.mark.long)]
)
def test_many_refreshes(
    refreshes: int, every: int, views: tuple[str, ...], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = warehouse_of(project.spark) / "age.db"
    age, chance, files = Age(project, folder, every, views), random.Random(7), {}
    models = age.models()
    for model in models:
        assert project.refresh(model).mode == "create"
    first_commits = age.commits()
    subscribers = [Subscriber(project, each) for each in models if each.name == "logged"]
    for number in range(1, refreshes + 1):
        age.batch(chance, number)
        age.refresh(models)
        if number % 50 == 0 or number == refreshes:
            assert [each.name for each in models if not project.is_exact(each)] == []
            found = age.tables()
            for table, (live, _) in found.items():
                assert live <= 2 + FILES * every, table
            for each in subscribers:
                each.catch_up()
                assert each.rows == project.rows(VIEWS["logged"][0])
            commits = age.commits()
            assert commits.keys() == first_commits.keys()
            for table, count in commits.items():
                assert count <= first_commits[table] + number + UPKEEP * (number // every), table
            files[number] = sum(on_disk for _, on_disk in found.values())
    first, last = (statistics.median(part) for part in (age.seconds[1 : 1 + LAST], age.seconds[-LAST:]))
    with capsys.disabled():
        print(
            f"\nage: {refreshes} refreshes of {len(models)} models, median of {first:.2f} s first and {last:.2f} s last "
            f"({last / first:.2f}); statements {statistics.median(age.statements[1 : 1 + LAST]):g} and "
            f"{statistics.median(age.statements[-LAST:]):g}; files on disk by number of refreshes: {files}"
        )
    assert max(age.statements[-LAST:]) <= max(age.statements[1 : 1 + LAST] if refreshes <= 2 * LAST else age.statements[:-LAST])
    if refreshes > 2 * LAST:
        assert statistics.median(age.statements[-LAST:]) <= statistics.median(age.statements[1 : 1 + LAST])
        assert last <= 1.5 * first
        assert files[refreshes] <= 1.5 * files[100]
