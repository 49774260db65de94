"""Sources that delta-rs writes, in turn with Spark: views are maintained, and are what their SELECTs give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from dbt_idivm.refresh.engine.engine import EMBEDDED, SPARK_DELTA
from tests.functional.project import Project, project_in

pytestmark = pytest.mark.deep

FEED = "'delta.enableChangeDataFeed' = 'true', "
LAYOUTS = {
    "plain": "'delta.enableDeletionVectors' = 'false'",
    "vectors": "'delta.enableDeletionVectors' = 'true'",
    "mapped": "'delta.columnMapping.mode' = 'name'",
}
KEYS = {"t": ["k"], "d": ["g"]}
VIEWS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "joined": ("select t.k, t.val, d.name from $.t t join $.d d on d.g = t.g", KEYS, {}),
    "sums": ("select g, sum(val) as total, count(*) as n from $.t group by g", KEYS, {"strategy": "incremental"}),
    "bag": ("select val, g from $.t where val > 0", {}, {}),
}
Write = Callable[["Table"], Any]


class Table:
    """The source `t`, as Spark and as delta-rs see it."""

    def __init__(self, project: Project, path: Path) -> None:
        self.project, self.path = project, path

    @property
    def rs(self) -> DeltaTable:
        return DeltaTable(self.path)

    def write(self, *rows: tuple[str, int, int], **how: Any) -> None:
        columns = (pa.string(), pa.int32(), pa.int32())
        data = {name: pa.array([row[i] for row in rows], columns[i]) for i, name in enumerate(("k", "g", "val"))}
        write_deltalake(self.path, pa.table(data), **how)

    def merge(self, *rows: tuple[str, int, int]) -> Any:
        data = {
            "k": [row[0] for row in rows],
            "g": pa.array([row[1] for row in rows], pa.int32()),
            "val": pa.array([row[2] for row in rows], pa.int32()),
        }
        return self.rs.merge(pa.table(data), "t.k = s.k", source_alias="s", target_alias="t")


def spark(*statements: str) -> Write:
    return lambda table: table.project.sql(*statements)


# What is written between two refreshes, how the views are then brought up to date, and the beginning of what the user is told.
STEPS: tuple[tuple[str, tuple[Write, ...], str, str], ...] = (
    ("append", (lambda t: t.write(("f", 1, 6), ("g", 2, 7), mode="append"),), "incremental", ""),
    ("update", (lambda t: t.rs.update(predicate="k = 'a' or k = 'f'", updates={"val": "val + 10"}),), "incremental", ""),
    (
        "update of a condition's column",
        (lambda t: t.rs.update(predicate="k = 'b'", updates={"g": "1", "val": "-2"}),),
        "incremental",
        "",
    ),
    ("delete", (lambda t: t.rs.delete("k = 'c'"),), "incremental", ""),
    (
        "merge",
        (
            lambda t: (
                t.merge(("a", 2, 40), ("h", 1, 8), ("d", 1, 0))
                .when_matched_delete("s.val = 0")
                .when_matched_update_all()
                .when_not_matched_insert_all()
                .execute()
            ),
        ),
        "incremental",
        "",
    ),
    ("merge of new rows", (lambda t: t.merge(("i", 1, 9)).when_not_matched_insert_all().execute(),), "incremental", ""),
    ("update to the same values", (lambda t: t.rs.update(updates={"val": "val"}),), "noop", ""),
    (
        "compaction, vacuum, constraint",
        (
            lambda t: t.rs.optimize.compact(),
            lambda t: t.rs.optimize.z_order(["k"]),
            lambda t: t.rs.vacuum(dry_run=False),
            lambda t: t.rs.alter.add_constraint({"known": "g < 100"}),
        ),
        "noop",
        "",
    ),
    (
        "in turn with Spark",
        (
            spark("update $.t set val = val + 1 where k in ('a', 'h')"),
            lambda t: t.write(("j", 2, 10), mode="append"),
            spark("delete from $.t where k = 'j'", "insert into $.t values ('k', 1, 11)"),
            lambda t: t.rs.update(predicate="k = 'k'", updates={"val": "12"}),
            lambda t: t.rs.delete("k = 'e'"),
            lambda t: t.rs.create_checkpoint(),
            spark("optimize $.t"),
        ),
        "incremental",
        "",
    ),
    (
        "overwrite of a part",
        (lambda t: t.write(("a", 1, 50), mode="overwrite", predicate="k = 'a'"),),
        "incremental",
        "(WRITE by delta-rs",
    ),
    ("overwrite", (lambda t: t.write(("a", 1, 1), ("x", 2, 2), mode="overwrite"),), "incremental", ""),
    (
        "delete of all, append",
        (lambda t: t.rs.delete(), lambda t: t.write(("a", 2, 3), ("y", 1, 4), mode="append")),
        "incremental",
        "",
    ),
    ("restore", (lambda t: t.rs.restore(t.rs.version() - 1),), "incremental", ""),
    (
        "new columns",
        (
            lambda t: write_deltalake(
                t.path,
                pa.table({"k": ["z"], "g": pa.array([1], pa.int32()), "val": pa.array([5], pa.int32()), "more": ["m"]}),
                mode="append",
                schema_mode="merge",
            ),
            lambda t: t.rs.update(predicate="k = 'z'", updates={"more": "'n'"}),
        ),
        "incremental",
        "",
    ),
    (
        "overwrite of a part, and more",
        (
            lambda t: write_deltalake(
                t.path,
                pa.table({"k": ["z"], "g": pa.array([2], pa.int32()), "val": pa.array([6], pa.int32()), "more": ["o"]}),
                mode="overwrite",
                predicate="k = 'z'",
            ),
            spark("update $.t set val = 7 where k = 'y'"),
        ),
        "incremental",
        "(WRITE by delta-rs",
    ),
)
CANNOT = {"mapped": ("compaction, vacuum, constraint", "new columns", "overwrite of a part, and more")}  # delta-rs refuses it


@pytest.mark.parametrize("reads_logs", [True, pytest.param(False, marks=pytest.mark.long)], ids=["log", "sql"])
@pytest.mark.parametrize("layout", ["vectors", *(pytest.param(each, marks=pytest.mark.long) for each in ("plain", "mapped"))])
def test_delta_rs_writes_a_source(layout: str, reads_logs: bool, spark: Any) -> None:
    with project_in(spark, "second", engine=EMBEDDED if reads_logs else SPARK_DELTA) as project:
        project.sql(
            f"create table $.t (k string, g int, val int) using delta tblproperties ({FEED}{LAYOUTS[layout]})",
            "insert into $.t values ('a', 1, 1), ('b', 2, 2), ('c', 1, 3), ('d', 2, 4), ('e', 1, 5)",
        )
        project.table("d", "g int, name string", "(1, 'one')", "(2, 'two')")
        table = Table(project, project.location("t"))
        models = [project.model(name, sql, keys, **config) for name, (sql, keys, config) in VIEWS.items()]
        for model in models:
            assert project.refresh(model).mode == "create"
        for what, writes, mode, told in STEPS:
            if what in CANNOT.get(layout, ()):
                continue
            for write in writes:
                write(table)
            project.new_run()
            warnings: list[str] = []
            for model in models:
                outcome = project.refresh_in_run(model)
                warnings += outcome.warnings
                assert project.is_exact(model), (what, model.name, outcome.message)
                assert outcome.mode == mode, (what, model.name, outcome.message)
            if told and reads_logs:
                (warning,) = warnings
                assert "IDIVM-427" in warning and told in warning
            elif reads_logs:
                assert not warnings, (what, warnings)
