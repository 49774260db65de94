"""What may happen to a source between two refreshes, and what the next refresh then does; `test_source_changes.py` does it all.

`python -m tests.functional.drifts` writes it to `docs/source_changes.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from dbt_idivm.codes import CODES
from tests.functional.project import Project

FEED = "tblproperties ('delta.enableChangeDataFeed' = 'true'"
MAPPED = f"{FEED}, 'delta.columnMapping.mode' = 'name')"
COLUMNS = "id int, cust int, price int, note string"
ROWS = "(1, 1, 5, 'a'), (2, 1, 7, 'b'), (3, 2, 1, null), (4, 2, 9, 'd')"
OTHER_ROWS = "select * from values (1, 1, 6, 'a'), (5, 1, 6, null) as t(id, cust, price, note)"
NEW = "insert into $.orders (id, cust, price, note) values (9, 1, 3, 'n')"
EARLIER = NEW.replace("(9,", "(8,")
WITH_NULL = NEW.replace("(9, 1,", "(9, null,")
RENAMES = tuple(
    f"alter table $.orders rename column {old} to {new}" for old, new in (("cust", "x"), ("price", "cust"), ("x", "price"))
)
WITHOUT_NOTE = "insert into $.orders (id, cust, price) values (9, 1, 3)"
WIDENING = "alter table $.orders set tblproperties ('delta.enableTypeWidening' = 'true')"
SWITCHED = "alter table $.orders set tblproperties (delta.enableChangeDataFeed = {})"


@dataclass(frozen=True)
class Drift:
    """`what`, in a reader's words. `happens`: SQL, or a function. `wide`: mode, or code, of the next refresh of a model that
    reads all columns of the source; `narrow`: of models that read `id`, `cust` and `price`; `later`: the same after one
    more statement, `row`. `columns` and `made`: what the table was created with; `earlier`: what happened to it before the
    models were built."""

    what: str
    happens: tuple[str, ...] | Callable[[Project], None]
    wide: str
    narrow: str
    later: tuple[str, str] = ("incremental", "incremental")
    row: str = NEW
    made: str = MAPPED
    columns: str = COLUMNS
    but: Mapping[str, str] = field(default_factory=dict)  # of one of the narrow models, where the next refresh ends otherwise
    later_but: Mapping[str, str] = field(default_factory=dict)  # and where the one after it does
    earlier: tuple[str, ...] = ()


def log_is_gone(project: Project) -> None:
    """As after the retention period: the last checkpoint is kept, the commits before it are not."""
    project.sql("alter table $.orders set tblproperties ('delta.checkpointInterval' = '1')", EARLIER)
    for file in sorted((_folder(project) / "_delta_log").glob("*.json"))[:-1]:
        file.unlink()
    project.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def feed_is_gone(project: Project) -> None:
    """As after VACUUM: the files of the change feed are removed."""
    project.sql("update $.orders set price = 8 where id = 1")
    files = list(_folder(project).rglob("cdc-*.parquet"))
    assert files
    for file in files:
        file.unlink()


def vacuumed(project: Project, vacuum: str) -> None:
    """VACUUM removes files: all but those of the last version, and the change feed with them."""
    project.sql(
        "set spark.databricks.delta.retentionDurationCheck.enabled = false",
        EARLIER,
        "update $.orders set price = 8 where id = 1",
        "optimize $.orders",
    )
    before = {*_folder(project).rglob("*.parquet")}
    project.sql(vacuum)
    left = {*_folder(project).rglob("*.parquet")}
    assert left < before and not any(file.name.startswith("cdc-") for file in left)


def null_is_allowed(project: Project) -> None:
    with pytest.raises(Exception, match="DELTA_NOT_NULL_CONSTRAINT_VIOLATED"):
        project.sql(WITH_NULL)
    project.sql("alter table $.orders alter column cust drop not null")


def _folder(project: Project) -> Path:
    return project.location("orders")


DRIFTS = (
    Drift(
        "rows are inserted, updated and deleted",
        (EARLIER, "update $.orders set price = 8 where id = 1", "delete from $.orders where id = 2"),
        "incremental",
        "incremental",
    ),
    Drift("all rows are deleted", ("delete from $.orders",), "incremental", "incremental"),
    Drift("it is truncated", ("truncate table $.orders",), "incremental", "incremental"),
    Drift("`INSERT OVERWRITE`", (f"insert overwrite $.orders {OTHER_ROWS}",), "incremental", "incremental"),
    Drift(
        "`CREATE OR REPLACE TABLE` with the same columns",
        (f"create or replace table $.orders using delta {MAPPED} as {OTHER_ROWS}",),
        "incremental",
        "incremental",
    ),
    Drift(
        "it is partitioned in another way",
        (
            f"create or replace table $.orders using delta partitioned by (cust) {MAPPED} "
            "as select * from $.orders version as of 1",
        ),
        "IDIVM-424",
        "IDIVM-424",
    ),
    Drift(
        "it is partitioned no more",
        (f"create or replace table $.orders using delta {FEED}) as {OTHER_ROWS}",),
        "IDIVM-424",
        "IDIVM-424",
        made=f"partitioned by (cust) {FEED})",
    ),
    Drift(
        "it is replaced, partitioned as before",
        (f"create or replace table $.orders using delta partitioned by (cust) {FEED}) as {OTHER_ROWS}",),
        "incremental",
        "incremental",
        made=f"partitioned by (cust) {FEED})",
    ),
    Drift(
        "it is replaced without column mapping",
        (f"create or replace table $.orders using delta {FEED}) as {OTHER_ROWS}",),
        "IDIVM-424",
        "IDIVM-424",
    ),
    Drift(
        "it is clustered in another way",
        ("alter table $.orders cluster by (cust)", "optimize $.orders"),
        "noop",
        "noop",
        made=f"cluster by (id) {MAPPED}",
    ),
    Drift(
        "it is dropped and created again",
        ("drop table $.orders", f"create table $.orders ({COLUMNS}) using delta {MAPPED}", f"insert into $.orders values {ROWS}"),
        "IDIVM-404",
        "IDIVM-404",
    ),
    Drift(
        "another table gets its name",
        (
            f"create table $.other ({COLUMNS}) using delta {MAPPED}",
            f"insert into $.other values {ROWS}",
            "alter table $.orders rename to $.former",
            "alter table $.other rename to $.orders",
        ),
        "IDIVM-404",
        "IDIVM-404",
    ),
    Drift("`RESTORE` to the version of the last refresh", (EARLIER, "restore table $.orders to version as of 1"), "noop", "noop"),
    Drift("`RESTORE` to an older version", ("restore table $.orders to version as of 0",), "incremental", "incremental"),
    Drift("`OPTIMIZE` and `VACUUM`", (EARLIER, "optimize $.orders", "vacuum $.orders"), "incremental", "incremental"),
    Drift(
        "`OPTIMIZE` and `VACUUM`, while deleted files are kept for no time",
        partial(vacuumed, vacuum="vacuum $.orders"),
        "IDIVM-403",
        "IDIVM-403",
        made=f"{FEED}, 'delta.deletedFileRetentionDuration' = 'interval 0 seconds')",
        but={"cached": "incremental"},
    ),
    Drift(
        "`OPTIMIZE` and `VACUUM` with `RETAIN 0 HOURS`",
        partial(vacuumed, vacuum="vacuum $.orders retain 0 hours"),
        "IDIVM-403",
        "IDIVM-403",
        but={"cached": "incremental"},
    ),
    Drift(
        "its change data feed is switched on after the view was built",
        (SWITCHED.format("true"), EARLIER),
        "IDIVM-426",
        "IDIVM-426",
        made="tblproperties ('delta.enableChangeDataFeed' = 'false')",
    ),
    Drift(
        "its change data feed is switched off", (SWITCHED.format("false"),), "IDIVM-408", "IDIVM-408", ("IDIVM-408", "IDIVM-408")
    ),
    Drift(
        "its change data feed is off for some commits",
        (SWITCHED.format("false"), EARLIER, SWITCHED.format("true")),
        "IDIVM-403",
        "IDIVM-403",
        but={"cached": "incremental"},
    ),
    Drift("the commits since the last refresh are past the retention period of its log", log_is_gone, "IDIVM-403", "IDIVM-403"),
    Drift(
        "`VACUUM` has removed the files of its feed since the last refresh",
        feed_is_gone,
        "IDIVM-403",
        "IDIVM-403",
        made=f"{FEED}, 'delta.enableDeletionVectors' = 'false')",
        but={"cached": "incremental"},
    ),
    Drift(
        "a column is added",
        ("alter table $.orders add columns (extra int)", "insert into $.orders values (8, 1, 3, 'n', 1)"),
        "IDIVM-412",
        "incremental",
    ),
    Drift("a column is moved", ("alter table $.orders alter column note first",), "IDIVM-412", "noop"),
    Drift("a column is dropped", ("alter table $.orders drop column note",), "IDIVM-412", "noop", row=WITHOUT_NOTE),
    Drift("a column is renamed", ("alter table $.orders rename column note to remark",), "IDIVM-412", "noop", row=WITHOUT_NOTE),
    Drift(
        "a column is renamed to another case of its name, in two steps",
        ("alter table $.orders rename column price to x", "alter table $.orders rename column x to PRICE"),
        "IDIVM-412",
        "IDIVM-412",
    ),
    Drift(
        "it is replaced, with a column's name in another case",
        (f"create or replace table $.orders using delta {FEED}) as select id, cust, price as PRICE, note from $.orders",),
        "IDIVM-412",
        "IDIVM-412",
        made=f"{FEED})",
    ),
    Drift("the names of two columns are exchanged", RENAMES, "IDIVM-412", "IDIVM-423", but={"cached": "IDIVM-402"}),
    Drift(
        "`RESTORE` to a version before the names of two columns were exchanged",
        ("restore table $.orders to version as of 1",),
        "IDIVM-412",
        "IDIVM-423",
        earlier=RENAMES,
        but={"cached": "IDIVM-402"},
    ),
    Drift(
        "a column is dropped, and another one gets its name",
        ("alter table $.orders drop column price", "alter table $.orders add columns (price int)"),
        "IDIVM-412",
        "IDIVM-423",
    ),
    Drift(
        "a type is widened",
        (
            WIDENING,
            "alter table $.orders alter column price type bigint",
            "insert into $.orders (id, cust, price) values (8, 1, 3000000000)",
        ),
        "IDIVM-412",
        "IDIVM-412",
    ),
    Drift(
        "a column of another type is added and widened",
        (WIDENING, "alter table $.orders add columns (extra int)", "alter table $.orders alter column extra type bigint"),
        "IDIVM-412",
        "noop",
        ("incremental", "IDIVM-403"),
        later_but={"cached": "incremental"},
    ),
    Drift(
        "a column that was NOT NULL may be NULL",
        null_is_allowed,
        "noop",
        "noop",
        row=WITH_NULL,
        columns=COLUMNS.replace("cust int", "cust int not null"),
    ),
    Drift("a constraint is added", ("alter table $.orders add constraint positive check (price > 0)",), "noop", "noop"),
    Drift(
        "its columns are mapped by name from now on",
        (
            "alter table $.orders set tblproperties ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', "
            "'delta.minWriterVersion' = '5')",
        ),
        "noop",
        "noop",
        made=f"{FEED})",
    ),
    Drift(
        "deletion vectors are switched off",
        ("alter table $.orders set tblproperties (delta.enableDeletionVectors = false)", "delete from $.orders where id = 1"),
        "incremental",
        "incremental",
    ),
    Drift(
        "a declared key is there twice; it is repaired later",
        ("insert into $.orders values (1, 2, 3, 'twice')",),
        "IDIVM-306",
        "IDIVM-306",
        ("noop", "noop"),
        "delete from $.orders where note = 'twice'",
    ),
    Drift(
        "the row that its rows refer to is deleted",
        ("delete from $.cust where id = 1",),
        "incremental",
        "incremental",
        but={"sums": "noop", "first": "noop"},
    ),
    Drift(
        "a plain view takes its name",
        ("alter table $.orders rename to $.behind", "create view $.orders as select * from $.behind"),
        "IDIVM-402",
        "IDIVM-402",
        row=NEW.replace("$.orders", "$.behind"),
        but={"first": "IDIVM-408"},
        later_but={"first": "IDIVM-408"},
    ),
    Drift(
        "a table of another format takes its name",
        ("drop table $.orders", f"create table $.orders using parquet as {OTHER_ROWS}"),
        "IDIVM-408",
        "IDIVM-408",
        ("IDIVM-408", "IDIVM-408"),
    ),
    Drift(
        "it is dropped, and created again later",
        ("drop table $.orders",),
        "IDIVM-301",
        "IDIVM-301",
        ("IDIVM-404", "IDIVM-404"),
        f"create table $.orders using delta {FEED}) as {OTHER_ROWS}",
    ),
)
PAGE = Path(__file__).parents[2] / "docs" / "source_changes.md"
HEAD = """# When a source changes

This page says what may happen to an input of a view between two refreshes, and what the next refresh then does. *Incremental* and
*noop* are exact. A code is the reason why the view is rebuilt; the code of an error says why it keeps its rows.

The first column is for a model that reads all columns of the source. The second is for models that read some of them, maintained
by i-diffs, by adding, by tuples, over a cache and as first rows. The last column shows the refresh after one more row is inserted,
if it is anything but incremental. Each line is a test: `tests/functional/test_source_changes.py`. This page is made from it
(`python -m tests.functional.drifts`).

| what happens to the source | all columns are read | some are read | afterwards |
|---|---|---|---|
"""
FOOT = """
Not in the table: Delta renames no column to another case of its name in one step, lets no table with mapped columns and
a change feed be replaced by one with other names of columns, and refuses collations. Foreign keys are not used, declared or not
([why](adr/0010-foreign-keys-are-not-trusted.md)): rows that violate one are maintained like any others. The columns that a plain
view reads are those of the tables below it.
"""


# The narrow models, as the page calls them.
NAMES = {"pairs": "by i-diffs", "sums": "by adding", "tuples": "by tuples", "cached": "over a cache", "first": "first rows"}


def page() -> str:
    rows = (f"| {each.what} | {_cell(each.wide)} | {_but(_cell(each.narrow), each.but)} | {_later(each)} |" for each in DRIFTS)
    return HEAD + "\n".join(rows) + "\n" + FOOT


def _later(drift: Drift) -> str:
    told = dict.fromkeys(map(_cell, drift.later))
    return _but(" / ".join(told) if [*told] != ["incremental"] else "", drift.later_but)


def _but(told: str, others: Mapping[str, str]) -> str:
    """What is told of most, and of the others."""
    return "; ".join((*([told] if told else []), *(f"{NAMES[name]}: {_cell(end)}" for name, end in others.items())))


def _cell(end: str) -> str:
    if not end.startswith("IDIVM-"):
        return end
    kind = next(each.kind for each in CODES if each.code == end)
    return f"{'rebuilt' if kind == 'full refresh' else 'an error'} ([{end}](errors/{end}.md))"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
