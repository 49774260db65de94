"""Many threads of one run, and two runs of the same models at once: each model is refreshed or refused, and no view is wrong."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import pytest

from tests.functional.sources import ORDERS_CUST_LOG

pytestmark = pytest.mark.deep

FEED = "tblproperties ('delta.enableChangeDataFeed' = 'true')"
SOURCES = (
    f"create table $.orders (id int, cust int, price int) using delta {FEED}",
    f"create table $.cust (id int, name string) using delta {FEED}",
    "insert into $.orders select id, id % 7, id % 50 from range(500)",
    "insert into $.cust select id, concat('c', id) from range(7)",
)
ORDERS, CUST = "{{ source('s', 'orders') }}", "{{ source('s', 'cust') }}"
TOTALS = f"(select cust, sum(price) as total, count(*) as n from {ORDERS} group by cust)"
# Eight that share inputs and a cache, and two above them.
MODELS = {
    "pairs": f"select o.price, c.name from {ORDERS} o join {CUST} c on o.cust = c.id where o.price > 10",
    "sums": f"select cust, sum(price) as total from {ORDERS} group by cust",
    "named": f"select c.name, t.total from {TOTALS} t join {CUST} c on t.cust = c.id",
    "counted": f"select c.name, t.n from {TOTALS} t join {CUST} c on t.cust = c.id",
    "left_pairs": f"select o.id, c.name from {ORDERS} o left join {CUST} c on o.cust = c.id",
    "lacking": f"select c.name from {CUST} c where not exists (select 1 from {ORDERS} o where o.cust = c.id and o.price = 49)",
    "first": "select id, cust from (select id, cust, row_number() over (partition by cust order by price desc, id) as r "
    f"from {ORDERS}) where r = 1",
    "cheap": f"select id, price from {ORDERS} where price < 5",
    "above": "select count(*) as n, sum(total) as total from {{ ref('sums') }}",
    "above_two": "select p.name, s.total from {{ ref('named') }} s join {{ ref('counted') }} p on p.name = s.name",
}
CACHED = ("named", "counted")
ABOVE = {"above": ("sums",), "above_two": ("named", "counted")}  # model → the models that it reads
BUSY = "IDIVM-903"
EDITED = {"pairs": " and o.price < 45", "cheap": " and id > 3", "counted": " where t.n > 2"}  # model → what its SELECT gets
# What the second run has: edits, and options. First builds, refreshes, edits beside refreshes of what they edit, and rebuilds
# beside refreshes.
ROUNDS: tuple[tuple[Mapping[str, str], tuple[str, ...]], ...] = (
    ({}, ()),
    ({}, ()),
    ({}, ()),
    (EDITED, ()),
    ({}, ("--full-refresh",)),
    (EDITED, ("--full-refresh",)),
)
DBT = "from dbt.cli.main import cli; cli()"


def change(number: int) -> Iterator[str]:
    yield f"insert into $.orders select id, id % 7, id % 50 from range({1000 * number}, {1000 * number + 30})"
    yield f"update $.orders set price = price + {number}, cust = (cust + 1) % 7 where id % 11 = {number}"
    yield f"delete from $.orders where id % 13 = {number}"
    yield f"update $.cust set name = 'n{number}' where id = {number}"


def written(project: Any, edited: Mapping[str, str] = MappingProxyType({})) -> None:
    project.write(
        "models/models.yml",
        ORDERS_CUST_LOG + "models:\n" + "".join(f"  - {{name: {name}, data_tests: [idivm_equivalent]}}\n" for name in MODELS),
    )
    for name, sql in MODELS.items():
        sql += edited.get(name, "")
        meta = "{'idivm': {'strategy': 'id', 'caches': '%s'}}" % ("all" if name in CACHED else "none")
        project.write(f"models/{name}.sql", f"{{{{ config(materialized='idivm', meta={meta}) }}}}\n{sql}")


@pytest.mark.parametrize("rounds", [1, pytest.param(5, marks=pytest.mark.long)])
def test_eight_threads_share_inputs_and_caches(rounds: int, project: Any) -> None:
    """Somebody else writes to the inputs meanwhile, which the next run sees."""
    written(project)
    project.sql(*SOURCES)
    project.dbt("run", "--threads", "8")
    for number in range(1, rounds + 1):
        project.sql(*change(number))
        with writing(project, number):
            results = project.results("run", "--threads", "8")
            assert {result.adapter_response["mode"] for result in results.values()} <= {"incremental", "noop"}
            read = {
                (name.rpartition(".")[2], each["to"])
                for result in results.values()
                for name, each in result.adapter_response["inputs"].items()
            }
            versions = {source: [version for name, version in read if name == source] for source in ("orders", "cust")}
            assert all(len(found) == 1 for found in versions.values()), f"one run reads one version of an input: {versions}"
            project.dbt("test", "--threads", "8")  # each view is its SELECT over the versions that it records
        assert project.sql("describe history $.orders limit 1")[0][0] > versions["orders"][0], "they are not the newest"
        for name in MODELS.keys() - ABOVE.keys():
            wanted = recomputed(name, orders=versions["orders"][0], cust=versions["cust"][0])
            assert rows(project.sql, f"select * from $.{name}") == rows(project.sql, wanted), name
    project.dbt("run", "--threads", "8")
    assert {result.adapter_response["mode"] for result in project.results("run", "--threads", "8").values()} == {"noop"}
    project.dbt("test", "--threads", "8")


def recomputed(name: str, edit: str = "", **versions: int) -> str:
    """The SELECT of a model over sources, at versions of theirs or as they are."""
    sql = MODELS[name] + edit
    for place, source in ((ORDERS, "orders"), (CUST, "cust")):
        at = f" version as of {versions[source]}" if source in versions else ""
        sql = sql.replace(place, f"$.{source}{at}")
    return sql


def rows(execute: Callable[[str], Any], sql: str) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in execute(sql))


@contextmanager
def writing(project: Any, number: int) -> Iterator[None]:
    """Somebody else inserts, updates and deletes rows, one commit after the other."""
    session, done, written = project.spark.newSession(), threading.Event(), []

    def write() -> None:
        for step in itertools.count():
            if done.wait(0.2):
                return
            key = 5000 + 100 * number + step
            session.sql(f"insert into {project.schema}.orders values ({key}, {step % 7}, {step % 50})")
            session.sql(f"update {project.schema}.orders set price = price + 1 where id % 17 = {step % 17}")
            written.append(key)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join()
    assert written


@pytest.mark.long
@pytest.mark.parametrize("server", ["thrift", "connect"])
def test_two_runs_of_the_same_models(server: str, project: Any, request: pytest.FixtureRequest) -> None:
    engine = request.getfixturevalue(f"{server}_server")
    project.profile(**engine.profile, threads=4)
    written(project)

    def execute(*statements: str) -> Any:
        return [engine.execute(project.within(statement)) for statement in statements][-1]

    execute("create schema if not exists $", *SOURCES)
    refused: Counter[int] = Counter()
    for number, (edited, second) in enumerate(ROUNDS):
        if number:
            execute(*change(number))
        written(project)
        runs = [_start(project, "target_0")]
        if edited:
            _parsed(project, "target_0")
            written(project, edited)
        runs.append(_start(project, "target_1", *second))
        outputs = [run.communicate(timeout=900)[0] for run in runs]
        found = [_results(project, f"target_{each}") for each in range(2)]
        for results, output in zip(found, outputs, strict=True):
            assert {result["status"] for result in results.values()} <= {"success", "skipped", "error"}, output
            errors = [str(result["message"]) for result in results.values() if result["status"] == "error"]
            assert all(BUSY in each and "another writer changed" in each for each in errors), output
            refused[number] += len(errors)
        won = {name for name in MODELS if any(results[name]["status"] == "success" for results in found)}
        for name, results in itertools.product(MODELS, found):
            # skipped, or lost to a run that then won: both may be skipped, where each has lost another parent
            is_left_out = results[name]["status"] == "skipped"
            assert not is_left_out or any(results[each]["status"] != "success" for each in ABOVE.get(name, ())), name
            assert name in won or is_left_out, f"{name}: one of them wins\n" + "\n".join(outputs)
        # before another run could repair anything
        project.dbt("test", "--select", *sorted(won))
        for name in won - ABOVE.keys():
            shown, edits = rows(execute, f"select * from $.{name}"), {"", edited.get(name, "")}
            assert any(shown == rows(execute, recomputed(name, edit)) for edit in edits), f"{name} in round {number}"
        assert all(result.status == "success" for result in project.results("run").values())
        project.dbt("test")
        for name in MODELS.keys() - ABOVE.keys():
            wanted = recomputed(name, edited.get(name, ""))
            assert rows(execute, f"select * from $.{name}") == rows(execute, wanted), f"{name} after round {number}"
    assert {result.adapter_response["mode"] for result in project.results("run").values()} == {"noop"}
    assert refused.total(), "two runs at once were to meet"


def _parsed(project: Any, target: str) -> None:
    """Wait until a run has read the project's files."""
    until = time.monotonic() + 120
    while not (project.root / target / "manifest.json").exists():
        assert time.monotonic() < until, "the first run does not begin"
        time.sleep(0.2)


def _results(project: Any, target: str) -> dict[str, Any]:
    file = project.root / target / "run_results.json"
    found = json.loads(file.read_text())["results"]
    shutil.rmtree(file.parent)  # so that the next run is known by its files
    return {result["unique_id"].rpartition(".")[2]: result for result in found}


def _start(project: Any, target: str, *options: str) -> subprocess.Popen[str]:
    root = str(project.root)
    folders = ["--project-dir", root, "--profiles-dir", root, "--target-path", target, "--log-path", target]
    return subprocess.Popen(
        [sys.executable, "-c", DBT, "run", *folders, *options],
        cwd=project.root,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
