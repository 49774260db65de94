"""Views with one ID on Spark + Delta: their rows are replaced by key, whatever the type of the key, literal or staged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.protocol import Outcome
from dbt_idivm.script import replace_where
from tests.functional.project import Project, project_in

# type of the key → its value for the number n
TYPES = {
    "int": "n",
    "bigint": "n + 5000000000",
    "smallint": "n",
    "string": "concat('k ''', n)",
    "date": "date '2024-01-01' + n",
    "timestamp": "timestamp '2024-01-01 00:00:00.000001' + make_dt_interval(0, n)",
    "decimal(12,3)": "n / 8",
    "binary": "cast(cast(n as string) as binary)",
    "double": "n / 4",
}
VIEW = "select k, upper(note) as note, price from $.t where price >= 10"
BY_KEY = [kind for kind in TYPES if kind not in ("timestamp", "decimal(12,3)", "binary", "double")]


@pytest.fixture
def shop(spark: Any) -> Iterator[Project]:
    with project_in(spark, "replaced_rows") as project:
        yield project


def changed(shop: Project, kind: str, rows: int, **config: Any) -> tuple[ModelRequest, Outcome]:
    """A refresh after as many rows of each kind of change; the view equals its definition."""
    key = TYPES[kind]
    columns = f"cast({key} as {kind}) as k, n as price, concat('note ', n % 7) as note"
    feed = "tblproperties ('delta.enableChangeDataFeed' = 'true')"
    numbers = "from (select int(id) as n from range({}, {}))"
    shop.sql(f"create or replace table $.t using delta {feed} as select {columns} {numbers.format(0, 4000)}")
    model = shop.model("v", VIEW, {"t": ["k"]}, strategy="incremental", **config)
    shop.refresh(model)
    shop.sql(
        f"update $.t set price = price - 5, note = 'less' where price < {10 + rows}",
        f"delete from $.t where price >= {4000 - rows}",
        f"insert into $.t select {columns} {numbers.format(5000, 5000 + rows)}",
    )
    outcome = shop.refresh(model)
    assert shop.is_exact(model), outcome.message
    return model, outcome


def written(shop: Project) -> list[str]:
    return [each.label.partition(" ")[0] for each in shop.executed if each.kind == "write"]


@pytest.mark.parametrize(
    "kind",
    [
        "int",
        pytest.param("string", marks=pytest.mark.deep),
        *(pytest.param(each, marks=pytest.mark.long) for each in TYPES if each not in ("int", "string")),
    ],
)
def test_literal_rows(shop: Project, kind: str) -> None:
    model, outcome = changed(shop, kind, 20)
    assert outcome.rows_inserted - outcome.rows_deleted == -5
    assert (outcome.rows_inserted, outcome.rows_updated, outcome.rows_deleted) == (20, 15, 25) or kind == "double"
    assert written(shop) == (["replace"] if kind in BY_KEY else ["merge"])
    assert shop.refresh(model).mode == "noop"


@pytest.mark.parametrize(
    "kind",
    [pytest.param(each, marks=pytest.mark.deep if each == "bigint" else pytest.mark.long) for each in TYPES],
)
def test_staged_rows(shop: Project, kind: str) -> None:
    """What reads the view sees a deleted and an inserted row for each update, and nets them."""
    above = shop.model("above", "select note, count(*) as n, sum(price) as total from $.v group by note", {"v": ["k"]})
    _, outcome = changed(shop, kind, 700)
    assert (outcome.rows_inserted, outcome.rows_updated, outcome.rows_deleted) == (700, 695, 705) or kind == "double"
    assert written(shop) == (["replace"] if kind in BY_KEY else ["merge"])
    shop.refresh(above)
    shop.sql(
        "update $.t set price = price + 1000 where price between 1000 and 1800",
        "delete from $.t where price between 100 and 400",
        "insert into $.t select k, 77, 'again' from $.t version as of 0 where price between 200 and 350",
    )
    model = shop.model("v", VIEW, {"t": ["k"]}, strategy="incremental")
    assert shop.refresh(model).mode == "incremental" and shop.is_exact(model)
    done = shop.refresh(above)
    assert done.mode == "incremental" and shop.is_exact(above), done.message


@pytest.mark.long
@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_a_partitioned_view(shop: Project, mode: str) -> None:
    """Whatever the session says of the partitions that an INSERT OVERWRITE replaces."""
    shop.sql(f"set spark.sql.sources.partitionOverwriteMode = {mode}")
    changed(shop, "int", 20, dbt={"partition_by": "note"})
    assert written(shop) == ["replace"]


@pytest.mark.long
def test_only_partitions_can_be_replaced(shop: Project) -> None:
    """Rows are merged where the session forbids to replace them."""
    shop.sql("set spark.databricks.delta.replaceWhere.dataColumns.enabled = false")
    changed(shop, "int", 20)
    assert written(shop)[-1] == "merge"


@pytest.mark.deep
@pytest.mark.parametrize("name", ["null", "select"])
def test_names_that_delta_misreads(shop: Project, name: str) -> None:
    """Delta parses the condition again, without quotes."""
    shop.table("t", "k int, price int", *(f"({n}, {n})" for n in range(20)))
    model = shop.model("v", f"select k as `{name}`, price from $.t where price >= 10", {"t": ["k"]}, strategy="incremental")
    shop.refresh(model)
    shop.sql("update $.t set price = price - 5 where k > 12", "insert into $.t values (30, 30)")
    outcome = shop.refresh(model)
    assert outcome.mode == "incremental" and shop.is_exact(model), outcome.message
    assert written(shop)[-1] == "merge"


@pytest.mark.long
def test_a_column_that_was_moved(shop: Project) -> None:
    """REPLACE WHERE takes values by place."""
    shop.table("t", "k int, price int, note string", *(f"({n}, {n}, '{n}')" for n in range(20)))
    model = shop.model("v", "select k, upper(note) as note, price from $.t where price >= 10", {"t": ["k"]})
    shop.refresh(model)
    shop.sql(
        "alter table $.v alter column price first",
        "update $.t set price = price - 5 where k > 12",
        "insert into $.t values (30, 30, 'new')",
    )
    assert shop.refresh(model).mode == "incremental" and written(shop) == ["merge"]
    assert shop.is_same(f"select k, note, price from {shop.schema}.v", model.sql)


@pytest.mark.long
def test_without_deletion_vectors(shop: Project) -> None:
    changed(shop, "int", 20, dbt={"tblproperties": {"delta.enableDeletionVectors": "false"}})
    assert written(shop) == ["replace"]


@pytest.mark.deep
def test_times_that_have_one_local_text(shop: Project) -> None:
    """Where clocks are put back two times have the same text, and Delta makes text of the condition."""
    shop.sql("set spark.sql.session.timeZone = Europe/Berlin")
    feed = "tblproperties ('delta.enableChangeDataFeed' = 'true')"
    shop.sql(
        f"create table $.t (k timestamp, price int) using delta {feed}",
        "insert into $.t values (timestamp '2024-10-27 00:30:00 UTC', 1), (timestamp '2024-10-27 01:30:00 UTC', 2)",
    )
    berlin = {"session": {"ansi": "true", "time_zone": "Europe/Berlin"}}
    model = shop.model("v", "select k, price from $.t where price > 0", {"t": ["k"]}, strategy="incremental")
    shop.refresh(model, **berlin)
    shop.sql("delete from $.t where price = 2", "insert into $.t values (timestamp '2024-06-01 00:00:00 UTC', 3)")
    outcome = shop.refresh(model, **berlin)
    assert outcome.mode == "incremental" and shop.is_exact(model), outcome.message
    assert written(shop) == ["merge"]


LINES = "select o.k, l.n, l.price, o.note from $.o as o left join $.l as l on l.o = o.k and l.price > 0"
OF_LINES = {"o": ["k"], "l": ["o", "n"]}


def with_lines(shop: Project) -> None:
    """Orders from 25 on have no lines, so that their rows have no number of a line."""
    feed = "tblproperties ('delta.enableChangeDataFeed' = 'true')"
    shop.sql(
        f"create table $.o using delta {feed} as select int(id) as k, concat('note ', id % 3) as note from range(40)",
        f"create table $.l using delta {feed} as select int(id div 4) as o, int(id % 4) as n, int(id) as price from range(100)",
    )


@pytest.fixture
def not_combined(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the combinations of IDs were too many for a condition."""
    monkeypatch.setattr(replace_where, "_COMBINED", 0)


@pytest.mark.parametrize("combined", [pytest.param(True, marks=pytest.mark.deep), False])
def test_rows_of_several_ids_are_replaced(shop: Project, combined: bool, request: pytest.FixtureRequest) -> None:
    """The condition has their combinations, or leaves out the neighbours, so what reads the view sees no change of these."""
    if not combined:
        request.getfixturevalue("not_combined")
    with_lines(shop)
    model = shop.model("v", LINES, OF_LINES, strategy="incremental")
    above = shop.model("above", "select note, count(*) as n, sum(price) as total from $.v group by note", {"v": ["k", "n"]})
    shop.refresh(model)
    shop.refresh(above)
    shop.sql(
        "update $.l set price = price + 1000 where o = 3 and n = 1",
        "update $.l set price = -1 where o = 9",  # the order has no line any more
        "delete from $.l where o = 5 and n >= 2",
        "insert into $.l values (5, 7, 70), (30, 1, 10)",  # an order gets its first line
        "delete from $.o where k = 33",
    )
    outcome = shop.refresh(model)
    assert outcome.mode == "incremental" and shop.is_exact(model), outcome.message
    assert written(shop) == ["replace"]
    assert (outcome.rows_inserted, outcome.rows_updated, outcome.rows_deleted) == (3, 1, 8)
    assert combined != any(each.label.startswith("rows beside") for each in shop.executed)
    assert shop.refresh(model).mode == "noop"
    done = shop.refresh(above)
    assert done.mode == "incremental" and shop.is_exact(above), done.message


@pytest.mark.deep
@pytest.mark.usefixtures("not_combined")
def test_many_neighbours_are_inserted_again(shop: Project) -> None:
    """What reads the view nets them."""
    shop.sql(
        "create table $.l using delta tblproperties ('delta.enableChangeDataFeed' = 'true') as "
        "select int(id div 20) as o, int(id % 20) as n, int(id) as price from range(400)"
    )
    model = shop.model("v", "select o, n, price from $.l where price > 0", {"l": ["o", "n"]}, strategy="incremental")
    above = shop.model("above", "select n, count(*) as c, sum(price) as total from $.v group by n", {"v": ["o", "n"]})
    shop.refresh(model)
    shop.refresh(above)
    shop.sql("update $.l set price = price + 1 where o = n", "update $.l set price = 0 where o = n + 1")
    outcome = shop.refresh(model)
    assert outcome.mode == "incremental" and shop.is_exact(model), outcome.message
    assert written(shop) == ["replace"]
    done = shop.refresh(above)
    assert done.mode == "incremental" and shop.is_exact(above), done.message


@pytest.mark.deep
def test_dense_combinations_are_merged(shop: Project) -> None:
    """They have more neighbours than can be literals."""
    feed = "tblproperties ('delta.enableChangeDataFeed' = 'true')"
    shop.sql(
        f"create table $.l using delta {feed} as select int(id div 60) as o, int(id % 60) as n, int(id) as price from range(3600)"
    )
    model = shop.model("v", "select o, n, price from $.l where price > 0", {"l": ["o", "n"]}, strategy="incremental")
    shop.refresh(model)
    shop.sql("update $.l set price = price + 1 where o = n", "update $.l set price = 0 where o = n + 1")
    outcome = shop.refresh(model)
    assert outcome.mode == "incremental" and shop.is_exact(model), outcome.message
    assert written(shop) == ["merge"]


@pytest.mark.deep
@pytest.mark.parametrize("by", ["k", "n"])
@pytest.mark.usefixtures("not_combined")
def test_ids_that_are_partitions(shop: Project, by: str) -> None:
    with_lines(shop)
    model = shop.model("v", LINES, OF_LINES, strategy="incremental", dbt={"partition_by": by})
    shop.refresh(model)
    shop.sql(
        "update $.l set price = price + 1000 where o = 3 and n = 1",
        "update $.l set price = -1 where o = 9",
        "delete from $.l where o = 5 and n >= 2",
        "insert into $.l values (5, 7, 70), (30, 1, 10)",
    )
    outcome = shop.refresh(model)
    assert outcome.mode == "incremental" and shop.is_exact(model), outcome.message
    assert written(shop) == ["replace"]


@pytest.mark.deep
def test_rows_without_a_part_of_their_id_only_go(shop: Project) -> None:
    """Then nothing is inserted."""
    with_lines(shop)
    model = shop.model("v", LINES, OF_LINES, strategy="incremental")
    shop.refresh(model)
    shop.sql("delete from $.o where k in (30, 33)")
    outcome = shop.refresh(model)
    assert outcome.mode == "incremental" and shop.is_exact(model), outcome.message
    assert (outcome.rows_inserted, outcome.rows_updated, outcome.rows_deleted) == (0, 0, 2)
    assert shop.refresh(model).mode == "noop"
