"""Change feeds that lack rows, or have some twice: the view is what its SELECT gives, whatever reads the feed, and the user is
told whose commit it was."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.engine.engine import EMBEDDED, SPARK_DELTA
from tests.functional import feeds
from tests.functional.project import Project, project_in
from tests.functional.subscriber import Subscriber

FEED = "tblproperties ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = '{}')"
KEYED = {"t": ["k"]}
JOINED = "select t.k, t.val, d.name from $.t t join $.d d on d.g = t.g"
# name → query, keys, config
VIEWS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "rows": ("select k, val from $.t where val > 0", KEYED, {}),
    "bag": ("select val, g from $.t where val > 0", {}, {}),
    "joined": (JOINED, {**KEYED, "d": ["g"]}, {}),
    "sums": ("select g, sum(val) as total, count(*) as n from $.t group by g", KEYED, {"strategy": "incremental"}),
    "bag_sums": ("select g, sum(val) as total, count(*) as n from $.t group by g", {}, {"strategy": "incremental"}),
    "most": ("select g, max(val) as most from $.t group by g", KEYED, {"strategy": "recompute"}),
    "tuples": (JOINED, {**KEYED, "d": ["g"]}, {"strategy": "tuple"}),
    "cached": (
        "with s as (select g, sum(val) as total from $.t group by g) select s.total, d.name from s join $.d d on d.g = s.g",
        {**KEYED, "d": ["g"]},
        {"caches": ["s"]},
    ),
    "log": ("select k, val from $.t where val > 0", KEYED, {"output": "both"}),
    "changes": ("select k, val from $.t where val > 0", KEYED, {"output": "diffs"}),
}


@dataclass(frozen=True)
class Fault:
    """What is wrong with the feed of a commit, and what is said of it."""

    statement: str
    change: Callable[[Path, int], None]
    told: str


def rows(change: Callable[[Any], Any]) -> Callable[[Path, int], None]:
    return lambda table, version: feeds.edit(table, version, change)


UPDATE = "update $.t set val = val + 10 where k in ('c', 'd')"
DELETE = "delete from $.t where k in ('c', 'd')"
MERGE = (
    "merge into $.t t using (select 'c' k, 1 g, 30 v union all select 'd', 1, 0 union all select 'z', 2, 9) s on t.k = s.k "
    "when matched and v = 0 then delete when matched then update set val = v when not matched then "
    "insert (k, g, val) values (s.k, s.g, s.v)"
)
FAULTS = {
    "no pre-images": Fault(UPDATE, rows(feeds.without("update_preimage")), "has 0 rows from before updates"),
    "no post-images": Fault(UPDATE, rows(feeds.without("update_postimage")), "and 0 from after them"),
    "pre-images twice": Fault(UPDATE, rows(feeds.doubled("update_preimage")), "has 4 rows from before updates"),
    "post-images twice": Fault(UPDATE, rows(feeds.doubled("update_postimage")), "and 4 from after them"),
    "no images": Fault(UPDATE, rows(feeds.empty), "counts 0 inserted, 0 deleted and 2 updated rows, and its change feed has 0"),
    "images twice": Fault(
        UPDATE, rows(lambda t: feeds.doubled("update_preimage")(feeds.doubled("update_postimage")(t))), "and 4 updated rows"
    ),
    "no deletions": Fault(MERGE, rows(feeds.without("delete")), "change feed"),
    "deletions twice": Fault(MERGE, rows(feeds.doubled("delete")), "change feed"),
    "no insertions": Fault(MERGE, rows(feeds.without("insert")), "change feed"),
    "insertions twice": Fault(MERGE, rows(feeds.doubled("insert")), "change feed"),
}


@contextmanager
def made(spark: Any, *, reads_logs: bool) -> Iterator[tuple[Project, Path]]:
    """The source has deletion vectors where logs are read, and none where SQL is asked."""
    with project_in(spark, "feeds", engine=EMBEDDED if reads_logs else SPARK_DELTA) as project:
        project.sql(
            f"create table $.t (k string, g int, val int) using delta {FEED.format(str(reads_logs).lower())}",
            "insert into $.t select /*+ COALESCE(1) */ * from values ('a', 1, 1), ('b', 2, 2), ('c', 1, 3), ('d', 2, 4), "
            "('e', 1, 5)",
        )
        project.table("d", "g int, name string", "(1, 'one')", "(2, 'two')")
        yield project, project.location("t")


# By some views each in `make deep`, whose ways and faults differ: the rest takes a quarter of an hour.
SOME = {
    ("no pre-images", True): ("rows", "bag_sums"),
    ("insertions twice", True): ("bag", "cached"),
    ("no images", False): ("joined", "sums", "log", "changes"),
    ("deletions twice", False): ("tuples", "most"),
}
MARKS = {what: pytest.mark.deep for what in FAULTS if what != "no pre-images"}
CASES = [
    pytest.param(what, reads_logs, views, id=f"{what}-{'log' if reads_logs else 'sql'}-{len(views)}", marks=marks)
    for what in FAULTS
    for reads_logs in (True, False)
    for views, marks in ((SOME.get((what, reads_logs), ()), MARKS.get(what, ())), (tuple(VIEWS), pytest.mark.long))
    if views
]


@pytest.mark.parametrize(("what", "reads_logs", "views"), CASES)
def test_a_feed_that_does_not_add_up(what: str, reads_logs: bool, views: tuple[str, ...], spark: Any) -> None:
    with made(spark, reads_logs=reads_logs) as (project, table):
        models = [project.model(name, VIEWS[name][0], VIEWS[name][1], **VIEWS[name][2]) for name in views]
        for model in models:
            assert project.refresh(model).mode == "create"
        fault = FAULTS[what]
        project.sql(fault.statement)
        fault.change(table, feeds.newest(table))
        project.new_run()
        told: list[str] = []
        for model in models:
            outcome = project.refresh_in_run(model)
            told += outcome.warnings
            assert is_exact(project, model), (model.name, outcome.message)
            assert outcome.mode == "incremental", (model.name, outcome.message)
        (warning,) = told
        assert warning.startswith(f"IDIVM-427 version {feeds.newest(table)} of feeds.t (") and "Delta-Lake/" in warning
        assert fault.told in warning, warning
        # the commits that follow are used again
        project.sql("update $.t set val = val + 1 where k = 'a'")
        for model in models:
            outcome = project.refresh(model)
            assert not outcome.warnings and outcome.mode == "incremental" and is_exact(project, model), outcome.message


def test_a_commit_without_its_feed(spark: Any) -> None:
    """Readers infer it from the files, all rows of which go and come: complete, and nobody is accused."""
    with made(spark, reads_logs=True) as (project, table):
        model = project.model("rows", *VIEWS["rows"][:2])
        project.refresh(model)
        project.sql(MERGE)
        version = feeds.newest(table)
        feeds.write_actions(table, version, [each for each in feeds.actions_of(table, version) if "cdc" not in each])
        outcome = project.refresh(model)
        assert (outcome.mode, outcome.warnings) == ("incremental", ()) and project.is_exact(model), outcome.message


def is_exact(project: Project, model: ModelRequest) -> bool:
    """The view, or what subscribers replay the log to."""
    if model.config["idivm"].get("output", "view") != "view":
        subscriber = Subscriber(project, model)
        subscriber.catch_up()
        if subscriber.rows != project.rows(model.sql):
            return False
    return project.is_exact(model)


def _no_file(table: Path) -> None:
    """A file of the feed is gone."""
    version = feeds.newest(table)
    for each in feeds.actions_of(table, version):
        if "cdc" in each:
            (table / each["cdc"]["path"]).unlink()


def _torn_file(table: Path) -> None:
    """A file of the feed ends in the middle."""
    version = feeds.newest(table)
    for each in feeds.actions_of(table, version):
        if "cdc" in each:
            file = table / each["cdc"]["path"]
            file.write_bytes(file.read_bytes()[:100])
            feeds.forget_sum(file)


def _no_commit_info(table: Path) -> None:
    """The commit says nothing of itself: the protocol of Delta does not ask for it."""
    version = feeds.newest(table)
    feeds.write_actions(table, version, [each for each in feeds.actions_of(table, version) if "commitInfo" not in each])


def _unknown(table: Path) -> None:
    """Of a writer that is not known: an operation without a name, numbers that are none, and an action that is new."""
    version = feeds.newest(table)
    actions = feeds.actions_of(table, version)
    info = next(each["commitInfo"] for each in actions if "commitInfo" in each)
    info |= {"operation": "MAGIC", "operationMetrics": {"rows": "many"}, "operationParameters": {}, "engineInfo": None}
    feeds.write_actions(table, version, [*actions, {"somethingNew": {"a": 1}}])


def _lies(table: Path) -> None:
    """It counts other rows than it has."""
    feeds.set_metrics(table, feeds.newest(table), lambda info: info["operationMetrics"].update(numUpdatedRows="7"))


def _zero(table: Path) -> None:
    """It counts no row, though it has some."""
    feeds.set_metrics(
        table,
        feeds.newest(table),
        lambda info: info["operationMetrics"].update(numUpdatedRows="0", numRemovedFiles="0", numAddedFiles="0"),
    )


def _clock(table: Path) -> None:
    """The commit is of last year, by its file and by what it says."""
    version = feeds.newest(table)
    feeds.set_metrics(table, version, lambda info: info.update(timestamp=info["timestamp"] - 365 * 24 * 3600 * 1000))
    file = feeds.commit_file(table, version)
    at = file.stat().st_mtime - 365 * 24 * 3600
    os.utime(file, (at, at))


def _garbage(table: Path) -> None:
    """A line of the commit is no action."""
    file = feeds.commit_file(table, feeds.newest(table))
    file.write_text(file.read_text() + '{"add": {"path": \n')
    feeds.forget_sum(file)


# What is wrong, how views are brought up to date then (or the code of an error), and the code of the reason.
BAD: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "no feed file": (_no_file, "full", "IDIVM-403"),
    "a torn feed file": (_torn_file, "full", "IDIVM-403"),
    "no commit info": (_no_commit_info, "incremental", "IDIVM-427"),
    "an unknown writer": (_unknown, "incremental", "IDIVM-427"),
    "metrics that lie": (_lies, "incremental", "IDIVM-427"),
    "metrics that count nothing": (_zero, "incremental", "IDIVM-427"),
    "a clock that runs backwards": (_clock, "incremental", ""),
    "an action that cannot be parsed": (_garbage, "IDIVM-902", ""),
}


@pytest.mark.deep
@pytest.mark.parametrize("reads_logs", [True, pytest.param(False, marks=pytest.mark.long)], ids=["log", "sql"])
@pytest.mark.parametrize("what", BAD)
def test_a_commit_that_is_not_as_it_should_be(what: str, reads_logs: bool, spark: Any) -> None:
    spoil, expected, code = BAD[what]
    with made(spark, reads_logs=reads_logs) as (project, table):
        model = project.model("rows", *VIEWS["rows"][:2])
        project.refresh(model)
        before = project.rows("select * from $.rows")
        project.sql(UPDATE)
        spoil(table)
        project.invalidate(table)
        if expected.startswith("IDIVM"):
            with pytest.raises(IdivmError, match=expected):
                project.refresh(model)
            assert project.rows("select * from $.rows") == before
            return
        outcome = project.refresh(model)
        assert project.is_exact(model) and outcome.mode == expected, outcome.message
        said = [*outcome.warnings, outcome.reason or ""]
        assert [each.partition(" ")[0] for each in said if each.startswith("IDIVM")] == ([code] if code else []), said


# Columns that a difference of versions must not stumble over, and a row, of a number and a double: names of its own, values that
# look alike, and values that cannot be compared, which the models do not read.
ANY = {
    "names": (
        "k int, `idivm_weight` int, `IDIVM_copy` int, v1 int, `idivm_change` string, idivm_sign_of_change int, d double",
        "{0}, {0}, {0}, {0}, 'x', {0}, {1}",
        "k, idivm_weight, idivm_copy, v1, idivm_change, idivm_sign_of_change, d",
    ),
    "values": (
        "k int, n map<string, double>, s struct<a: int, b: array<double>>, d double, f float, b binary, t timestamp, "
        "z timestamp_ntz, y date, c decimal(38, 10)",
        "{0}, map('x', {1}), named_struct('a', {0}, 'b', array({1})), {1}, {1}, X'FF', timestamp'2020-01-01 00:00:00', "
        "timestamp_ntz'2020-01-01 00:00:00', date'1582-10-10', {0}",
        "k, s, d, f, b, t, z, y, c",
    ),
    "not compared": (
        "k int, v variant, m map<struct<a: int>, int>, d double",
        "{0}, parse_json('[]'), map(named_struct('a', 1), 2), {1}",
        "k, d",
    ),
}


@pytest.mark.deep
@pytest.mark.parametrize("kind", ANY)
def test_versions_of_any_table_are_compared(kind: str, spark: Any) -> None:
    """Over a server, of a table that is written anew."""
    columns, row, read = ANY[kind]
    rows = [f"({row.format(*values)})" for values in ((1, "0.0D"), (2, "1.0D"), (2, "1.0D"), (1, "-0.0D"), (3, "0.0D"))]
    with project_in(spark, "anything") as project:
        project.sql(
            f"create table $.t ({columns}) using delta {FEED.format('true')}", f"insert into $.t values {', '.join(rows[:3])}"
        )
        models = [
            project.model("bag", f"select {read} from $.t where k > 0"),
            project.model("sums", "select k, count(*) as n, sum(k) as total from $.t group by k", strategy="incremental"),
        ]
        for model in models:
            assert project.refresh(model).mode == "create"
        project.sql(f"insert overwrite $.t values {', '.join(rows[2:])}")
        project.new_run()
        for model in models:
            outcome = project.refresh_in_run(model)
            assert (outcome.mode, outcome.warnings) == ("incremental", ()), outcome.message
            assert not project.differences(model), outcome.message


@pytest.mark.deep
def test_rows_that_get_numbers_are_the_same_rows(spark: Any) -> None:
    """Row tracking adds the files again: no row changes, and no writer is accused."""
    with made(spark, reads_logs=True) as (project, _):
        model = project.model("rows", *VIEWS["rows"][:2])
        project.refresh(model)
        project.sql("alter table $.t set tblproperties ('delta.enableRowTracking' = 'true')")
        outcome = project.refresh(model)
        assert (outcome.mode, outcome.warnings) == ("noop", ()), outcome.message
        project.sql(UPDATE)
        outcome = project.refresh(model)
        assert (outcome.mode, outcome.warnings) == ("incremental", ()) and project.is_exact(model), outcome.message


def _uncounted(table: Path) -> None:
    """A MERGE without a feed of its own that counts no row."""
    version = feeds.newest(table)
    feeds.write_actions(table, version, [each for each in feeds.actions_of(table, version) if "cdc" not in each])
    feeds.set_metrics(
        table,
        version,
        lambda info: info["operationMetrics"].update(
            numTargetRowsInserted="0", numTargetRowsUpdated="0", numTargetRowsDeleted="0"
        ),
    )


@pytest.mark.deep
@pytest.mark.parametrize("reads_logs", [True, False], ids=["log", "sql"])
def test_a_merge_that_counts_no_row(reads_logs: bool, spark: Any) -> None:
    """Spark's reader shows nothing of it; a MERGE of Spark that only copied rows is believed, and compared with nothing."""
    with made(spark, reads_logs=reads_logs) as (project, table):
        model = project.model("rows", *VIEWS["rows"][:2])
        project.refresh(model)
        project.sql("merge into $.t t using (select 'c' k, 30 v) s on t.k = s.k when matched then update set val = v")
        _uncounted(table)
        outcome = project.refresh(model)
        (warning,) = outcome.warnings
        assert "does not count the rows" in warning and outcome.mode == "incremental" and project.is_exact(model)
        project.sql("merge into $.t t using (select 'c' k, 30 v) s on t.k = s.k when matched and v = 0 then update set val = v")
        outcome = project.refresh(model)
        assert (outcome.mode, outcome.warnings) == ("noop", ())
