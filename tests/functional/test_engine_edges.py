"""Edges of what the engine does: least values, streams that write nothing, errors of tasks."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt_idivm.errors import IdivmError
from tests.engines import warehouse_of
from tests.functional.project import Project, project_in

pytestmark = pytest.mark.deep

KEYS = {"t": ["k"]}


@pytest.fixture
def edges(spark: Any) -> Iterator[Project]:
    with project_in(spark, "engine_edges") as project:
        yield project


@pytest.mark.long
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_minimum_values_are_inserted_and_deleted(edges: Project, ansi: str) -> None:
    """Without ANSI mode sums of BIGINTs wrap around, intermediate ones and the result."""
    edges.spark.conf.set("spark.sql.ansi.enabled", ansi)
    least = {"b": ("tinyint", -(2**7)), "s": ("smallint", -(2**15)), "i": ("int", -(2**31)), "l": ("bigint", -(2**63))}
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in least.items())
    edges.sql(f"create table $.t (k int, {columns}) using delta tblproperties ('delta.enableChangeDataFeed' = 'true')")

    def row(key: int, of: int = 1, more: int = 0) -> str:
        cells = (f"cast({value // of + more} as {kind})" for kind, value in least.values())
        return f"({key}, {', '.join(cells)})"

    edges.sql(
        f"insert into $.t values {row(1)}, {row(2, 2, 1)}, {row(13, 4)}"
        if ansi == "false"
        else f"insert into $.t values {row(1)}, (2, 5, 5, 5, 5)"
    )
    sums = ", ".join(f"sum({name}) as {name}" for name in least)
    model = edges.model("m", f"select k % 10 as g, {sums} from $.t group by k % 10", KEYS)
    total = edges.model("n", f"select {sums} from $.t", KEYS)
    for number, change in enumerate(
        (
            "",
            "delete from $.t where k = 1",
            f"insert into $.t values {row(11)}, {row(3)}",
            "update $.t set b = 1, s = 1, i = 1, l = 1 where k = 11",
        )
    ):
        if number == 2 and ansi == "true":
            change = f"insert into $.t values {row(11)}"  # two of the least bigint are no bigint
        edges.sql(*filter(None, [change]))
        for each in (model, total):
            assert edges.refresh(each).mode == ("incremental" if number else "create")
            assert edges.is_exact(each), (number, each.name)
    assert [edges.differences(each) for each in (model, total)] == [[], []]


@pytest.mark.long
def test_a_stream_in_complete_mode_that_writes_nothing(edges: Project, tmp_path: Path) -> None:
    """It removes all rows, and its commit counts none."""
    edges.table("source", "g int", "(1)", "(2)")
    edges.table("t", "k int, n bigint", "(1, 1)")
    model = edges.model("m", "select k, n from $.t", KEYS)
    assert edges.refresh(model).mode == "create"
    found = edges.spark.readStream.table("source").groupBy("g").count().where("count > 5").selectExpr("g as k", "count as n")
    writer = found.writeStream.format("delta").outputMode("complete").option("checkpointLocation", str(tmp_path))
    writer.trigger(availableNow=True).toTable(f"{edges.schema}.t").awaitTermination()
    assert edges.rows("select * from $.t") == {}
    assert edges.refresh(model).mode == "incremental"
    assert edges.is_exact(model)


def test_an_error_while_rows_are_written_is_named(edges: Project) -> None:
    edges.table("t", "k int, a int, b int", "(1, 1, 0)")
    with pytest.raises(IdivmError, match=r"(?s)IDIVM-902.*why    \[DIVIDE_BY_ZERO\].*a / "):
        edges.refresh(edges.model("m", "select k, a / b as x from $.t", KEYS))


@pytest.mark.long
def test_rows_of_nothing_but_null(edges: Project) -> None:
    """Delta with deletion vectors takes a missing target row for a match of such a row (ADR 0018)."""
    edges.table("log", "a int, s string", "(1, 'x')", "(2, 'y')")
    model = edges.model("bag", "select a from $.log")
    assert edges.refresh(model).mode == "create"
    changes = {
        "insert into $.log values (null, 'z')": (1, 0),
        "insert into $.log values (null, 'z'), (3, 'z')": (3, 1),
        "delete from $.log where s = 'z'": (0, 3),
    }
    for change, rows in changes.items():
        edges.sql(change)
        outcome = edges.refresh(model)
        assert (outcome.mode, outcome.rows_inserted, outcome.rows_deleted) == ("incremental", *rows), outcome.message
        assert edges.is_exact(model)


@pytest.mark.long
def test_files_that_have_the_second_of_their_time_only(edges: Project) -> None:
    """As those of an object store: Delta shows times of commits that depend on how many are asked for."""
    folder = warehouse_of(edges.spark) / "engine_edges.db"
    second = int(time.time()) * 10**9

    def rounded() -> None:
        for each in folder.glob("*/_delta_log/*.json"):
            os.utime(each, ns=(second, second))
        for each in folder.glob("*/_delta_log/.*.crc"):  # of the local file system
            each.unlink()

    edges.table("t", "k int, v int", "(1, 1)", "(2, 2)")
    model = edges.model(
        "m", "select v, count(*) as n from (select k, v from $.t where k > 0) group by v", KEYS, caches="all", optimize_every=2
    )
    for number, commits in enumerate((1, 3, 1, 12)):
        for _ in range(commits):
            edges.sql("update $.t set v = v + 1 where k = 1")
        rounded()
        done = edges.refresh(model)
        assert (done.mode, done.warnings) == ("incremental" if number else "create", ()), done.message
        rounded()
        assert edges.refresh(model).mode == "noop"
        assert edges.is_exact(model)
    assert edges.differences(model) == []
    edges.table("aside", "k int, v int", "(1, 7)")
    for _ in range(edges.version("t")):
        edges.sql("update $.aside set v = v + 1")
    edges.sql("drop table $.t", "alter table $.aside rename to $.t")
    assert (edges.refresh(model).reason or "").startswith("IDIVM-404"), "another table has other times still"


def test_columns_that_are_qualified_by_the_schema_of_a_view(edges: Project) -> None:
    """The model's own text, by which it is compared and built without a plan, reads a derived table instead of the view."""
    edges.table("t", "k int, v int", "(1, 10)", "(2, 20)")
    edges.refresh(edges.model("up", "select v from $.t", KEYS))
    edges.sql("create view $.plain as select k, v from $.t")
    for name, sql in {
        "a": "select $.up.v from $.up",
        "b": "select $.up.*, hash(*) as h from $.up",
        "c": "select p.k, $.up.v from $.up join $.plain p on p.v = $.up.v",
        "d": "select $.plain.k from $.plain where exists (select 1 from $.up where $.up.v = $.plain.v)",
    }.items():
        model = edges.model(name, sql, KEYS)
        assert edges.refresh(model).mode == "create" and edges.is_exact(model), sql
