"""Many threads of one run, and two runs of the same models at once: each model is refreshed or refused, and no view is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.functional.sources import ORDERS_CUST_LOG

FEED = "tblproperties ('delta.enableChangeDataFeed' = 'true')"
SOURCES = (
    f"create table {{schema}}.orders (id int, cust int, price int) using delta {FEED}",
    f"create table {{schema}}.cust (id int, name string) using delta {FEED}",
    "insert into {schema}.orders select id, id % 7, id % 50 from range(500)",
    "insert into {schema}.cust select id, concat('c', id) from range(7)",
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
BUSY = ("IDIVM-902", "IDIVM-903")
DBT = "from dbt.cli.main import cli; cli()"


def change(number: int) -> Iterator[str]:
    yield f"insert into {{schema}}.orders select id, id % 7, id % 50 from range({1000 * number}, {1000 * number + 30})"
    yield f"update {{schema}}.orders set price = price + {number}, cust = (cust + 1) % 7 where id % 11 = {number}"
    yield f"delete from {{schema}}.orders where id % 13 = {number}"
    yield f"update {{schema}}.cust set name = 'n{number}' where id = {number}"


def written(project: Any) -> None:
    project.write("models/models.yml", ORDERS_CUST_LOG + "models:\n" + "".join(
        f"  - {{name: {name}, data_tests: [idivm_equivalent]}}\n" for name in MODELS))
    for name, sql in MODELS.items():
        meta = "{'idivm': {'strategy': 'id', 'caches': '%s'}}" % ("all" if name in CACHED else "none")
        project.write(f"models/{name}.sql", f"{{{{ config(materialized='idivm', meta={meta}) }}}}\n{sql}")


def test_eight_threads_share_inputs_and_caches(project: Any) -> None:
    written(project)
    project.sql(*SOURCES)
    project.dbt("run", "--threads", "8")
    for number in range(1, 2):
        project.sql(*change(number))
        results = project.results("run", "--threads", "8")
        assert {result.adapter_response["mode"] for result in results.values()} <= {"incremental", "noop"}
        versions = [each["to"] for result in results.values() for name, each in result.adapter_response["inputs"].items()
                    if name.endswith("orders")]
        assert len(set(versions)) == 1, "one run reads one version of an input"
        project.dbt("test", "--threads", "8")
    assert {result.adapter_response["mode"] for result in project.results("run", "--threads", "8").values()} == {"noop"}


@pytest.mark.long
@pytest.mark.parametrize("server", ["thrift", "connect"])
def test_two_runs_of_the_same_models(server: str, project: Any, request: pytest.FixtureRequest) -> None:
    engine = request.getfixturevalue(f"{server}_server")
    project.profile(**engine.profile, threads=4)
    written(project)

    def execute(*statements: str) -> None:
        for statement in statements:
            engine.execute(statement.replace("{schema}", project.schema))

    execute("create schema if not exists {schema}", *SOURCES)
    project.dbt("run")
    refused = 0
    for number in range(1, 5):
        execute(*change(number))
        runs = [_start(project, f"target_{each}") for each in range(2)]
        outputs = [run.communicate(timeout=600)[0] for run in runs]
        for each, output in enumerate(outputs):
            found = json.loads((project.root / f"target_{each}" / "run_results.json").read_text())["results"]
            for result in found:
                is_refused = result["status"] == "error" and any(code in result["message"] for code in BUSY)
                assert result["status"] in ("success", "skipped") or is_refused, output
                refused += is_refused
        project.dbt("test")  # each view is its SELECT over the versions that it records
    assert all(result.status == "success" for result in project.results("run").values())
    assert {result.adapter_response["mode"] for result in project.results("run").values()} == {"noop"}
    project.dbt("test")
    assert refused, "two runs at once were to meet"


def _start(project: Any, target: str) -> subprocess.Popen[str]:
    root = str(project.root)
    folders = ["--project-dir", root, "--profiles-dir", root, "--target-path", target, "--log-path", target]
    return subprocess.Popen([sys.executable, "-c", DBT, "run", *folders], cwd=project.root, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
