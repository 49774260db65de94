"""`idivm run` and `idivm test`: from a compiled manifest alone, of this dbt and of the next one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt.adapters.idivm.compiled_manifest import literal
from dbt.adapters.idivm.run_commands import run_command
from dbt.adapters.idivm.run_commands import test_command as proof_command
from tests.functional.dbt_folder import PROFILE
from tests.functional.sources import ORDERS_CUST_LOG

ROOT = Path(__file__).parents[2]
DBT_2 = Path(sysconfig.get_path("scripts"), "dbt-core-experimental-parser")
MODELS = {
    "big.sql": "{{ config(materialized='idivm', meta={'idivm': {'strategy': 'id'}}) }}\n"
    "select o.id, o.amount, c.name, '{{ \"{{ x }} {% y %}\" }}' as braces from {{ source('s', 'orders') }} o "
    "join {{ source('s', 'cust') }} c on c.id = o.cust_id",
    "per_name.sql": "{{ config(materialized='idivm', meta={'idivm': {'strategy': 'id'}}) }}\n"
    "select name, sum(amount) as amount from {{ ref('big') }} group by name",
    "plain.sql": "{{ config(materialized='table') }}\nselect count(*) as n from {{ ref('big') }}",
}


def run(project: Any, *args: str, command: Any = run_command) -> Result:
    return CliRunner().invoke(command, [*args, "--project-dir", str(project.root)])


def results(project: Any) -> dict[str, tuple[str, str]]:
    """Name of the node → its status and what was done, of the last run."""
    found = json.loads((project.root / "target" / "run_results.json").read_text())["results"]
    return {each["unique_id"].split(".")[2]: (each["status"], each["message"]) for each in found}


@pytest.fixture
def sources(project: Any) -> Any:
    for name, text in MODELS.items():
        project.write(f"models/{name}", text)
    project.write("models/sources.yml", ORDERS_CUST_LOG)
    project.sql(
        "create table $.orders (id int, cust_id int, amount int) using delta tblproperties (delta.enableChangeDataFeed = true)",
        "create table $.cust (id int, name string) using delta tblproperties (delta.enableChangeDataFeed = true)",
        "insert into $.orders values (1, 1, 5), (2, 2, 7)",
        "insert into $.cust values (1, 'a'), (2, 'b')",
    )
    return project


def follows(project: Any) -> None:
    """The manifest that is there is enough: the models are gone, and the views follow their inputs."""
    manifest = project.root / "target" / "manifest.json"
    before = manifest.read_bytes()
    shutil.rmtree(project.root / "models")
    first = run(project)
    assert first.exit_code == 0, first.output
    assert {name: status for name, (status, _) in results(project).items()} == {"big": "success", "per_name": "success"}
    assert project.sql("select name, amount from $.per_name order by name") == [("a", 5), ("b", 7)]
    assert project.sql("select distinct braces from $.big") == [("{{ x }} {% y %}",)]
    project.sql("insert into $.orders values (3, 1, 1)", "update $.cust set name = 'c' where id = 2")
    only = run(project, "--select", "big", "--threads", "2")
    assert only.exit_code == 0 and list(results(project)) == ["big"], only.output
    assert "incremental" in results(project)["big"][1]
    second = run(project, "--exclude", "big")
    assert second.exit_code == 0 and list(results(project)) == ["per_name"], second.output
    assert project.sql("select name, amount from $.per_name order by name") == [("a", 6), ("c", 7)]
    proven = run(project, command=proof_command)
    assert proven.exit_code == 0 and len(results(project)) == 2, proven.output
    project.sql("delete from $.big__idivm where id = 1")
    failed = run(project, "--select", "big", command=proof_command)
    assert failed.exit_code == 1 and results(project)["idivm_proof_big"][0] == "fail", failed.output
    assert run(project, "--full-refresh").exit_code == 0
    assert all("full" in message for _, message in results(project).values())
    assert run(project, command=proof_command).exit_code == 0
    assert manifest.read_bytes() == before


@pytest.mark.deep
def test_a_manifest_of_this_dbt(sources: Any) -> None:
    sources.dbt("compile")
    follows(sources)


@pytest.mark.deep
@pytest.mark.skipif(not DBT_2.exists(), reason="dbt-core without the parser of dbt 2")
def test_a_manifest_of_dbt_2(sources: Any) -> None:
    sources.write("packages.yml", json.dumps({"packages": [{"local": str(ROOT)}]}))
    profile = {"type": "spark", "method": "thrift", "host": "localhost", "port": 10000, "schema": sources.schema}
    sources.write("of_dbt_2/profiles.yml", json.dumps({PROFILE: {"target": "dev", "outputs": {"dev": profile}}}))
    known = {**os.environ, "DBT_ALLOW_EXPERIMENTAL_ADAPTERS": "true"}
    for command in (["deps"], ["compile"]):
        done = subprocess.run(
            [DBT_2, *command, "--profiles-dir", "of_dbt_2"], cwd=sources.root, env=known, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    follows(sources)


@pytest.mark.deep
def test_versions_of_a_model(sources: Any) -> None:
    for version in (1, 2):
        sources.write(
            f"models/sold_v{version}.sql",
            "{{ config(materialized='idivm', meta={'idivm': {'strategy': 'id'}}) }}\n"
            f"select id, amount * {version} as n from {{{{ source('s', 'orders') }}}}",
        )
    sources.write("models/sold.yml", "{models: [{name: sold, latest_version: 2, versions: [{v: 1}, {v: 2}]}]}")
    sources.dbt("compile")
    found = run(sources, "--select", "sold")
    assert found.exit_code == 0, found.output
    assert sources.sql("select id, n from $.sold_v2 order by id") == [(1, 10), (2, 14)]
    assert run(sources, "--select", "sold", command=proof_command).exit_code == 0
    assert len(json.loads((sources.root / "target" / "run_results.json").read_text())["results"]) == 2


SELECTORS = """
selectors:
  - {name: big, definition: "big+"}
  - {name: tables, definition: {method: config.materialized, value: table}}
  - name: above
    definition:
      union:
        - {method: selector, value: big}
        - exclude: [big]
  - {name: in_folder, definition: {method: path, value: models/big.sql}}
  - {name: changed, definition: "state:modified"}
"""


def selected(project: Any, *args: str, command: Any = run_command) -> list[str]:
    """The nodes of a command that must succeed."""
    found = run(project, *args, command=command)
    assert found.exit_code == 0, found.output
    return sorted(results(project))


@pytest.mark.deep
def test_named_selectors(sources: Any) -> None:
    """As the manifest has them, where the file is not there."""
    sources.write("selectors.yml", SELECTORS)
    sources.dbt("compile")
    assert selected(sources, "--selector", "in_folder") == ["big"]
    (sources.root / "selectors.yml").unlink()
    assert selected(sources, "--selector", "big") == ["big", "per_name"]
    assert selected(sources, "--selector", "above") == ["per_name"]
    assert selected(sources, "--selector", "above", command=proof_command) == ["idivm_proof_per_name"]
    assert selected(sources, "--selector", "big", command=proof_command) == ["idivm_proof_big", "idivm_proof_per_name"]
    nothing = run(sources, "--selector", "tables")
    assert nothing.exit_code == 0 and "The selector tables selects no maintained model." in nothing.output
    assert "1 of" not in nothing.output and not sources.sql("show tables in $ like 'plain'")
    unknown = "could not find a selector named nobody, expected one of above, big, changed"
    for arguments, problem in (
        (["--selector", "nobody"], unknown),
        (["--selector", "big", "--select", "big"], "cannot be used together with --select or --exclude"),
        (["--selector", "big", "--exclude", "big"], "cannot be used together with --select or --exclude"),
        (["--selector", "changed"], "no comparison manifest"),
    ):
        for command in (run_command, proof_command):
            found = run(sources, *arguments, command=command)
            assert found.exit_code == 2 and problem in " ".join(found.output.split()), found.output
            assert "Traceback" not in found.output


@pytest.mark.deep
def test_selectors_of_the_project_s_file(sources: Any) -> None:
    sources.dbt("compile")
    without = run(sources, "--selector", "big")
    assert without.exit_code == 2 and "neither in the project's selectors.yml nor in the manifest" in without.output
    sources.write("selectors.yml", SELECTORS)
    assert selected(sources, "--selector", "big") == ["big", "per_name"]
    sources.dbt("compile")
    sources.write("selectors.yml", "selectors: [{name: big, definition: big}]")
    assert selected(sources, "--selector", "big") == ["big"]


@pytest.mark.deep
def test_selectors_in_a_manifest_of_dbt_2(sources: Any) -> None:
    sources.dbt("compile")
    file = sources.root / "target" / "manifest.json"
    found = json.loads(file.read_text())
    big = {"method": "fqn", "value": "big", "children": True}
    found["selectors"] = {
        "above": {
            "name": "above",
            "description": "",
            "definition": {"intersection": [{"union": [big]}, {"exclude": {"method": "fqn", "value": "big"}}]},
        }
    }
    file.write_text(json.dumps(found))
    assert selected(sources, "--select", "big") == ["big"]
    assert selected(sources, "--selector", "above", "--full-refresh", "--quiet") == ["per_name"]
    found["selectors"]["tables"] = {"name": "tables", "definition": {"union": [{"method": "config", "value": "table"}]}}
    file.write_text(json.dumps(found))
    lossy = run(sources, "--selector", "tables")
    assert lossy.exit_code == 2 and "does not say which config it is about" in lossy.output
    assert selected(sources, "--selector", "above") == ["per_name"], "the others are whole"


@pytest.mark.deep
def test_what_goes_wrong_is_a_sentence(sources: Any) -> None:
    target = sources.root / "target"
    for text, problem in (
        (None, "there is no such file"),
        ("{", "it cannot be read"),
        ("[]", "it is not a manifest of dbt"),
        (
            '{"metadata": {"dbt_schema_version": "https://x/dbt/manifest/v99.json"}, "nodes": {"a": 1}}',
            "the installed dbt does not understand it, of schema https://x/dbt/manifest/v99.json",
        ),
    ):
        if text is not None:
            sources.write("target/manifest.json", text)
        found = run(sources)
        assert found.exit_code == 2 and problem in found.output and "Traceback" not in found.output, found.output
    (target / "manifest.json").unlink()
    sources.dbt("parse")
    found = run(sources)
    assert found.exit_code == 1 and "no compiled SQL of this model" in results(sources)["big"][1], found.output
    assert results(sources)["per_name"][0] == "skipped"
    sources.profile(type="spark", method="session", host="NA")
    of_spark = run(sources)
    assert of_spark.exit_code == 2 and "needs to be one of type 'idivm'" in of_spark.output
    sources.profile(catalog="in-memory", driver_memory="2g")
    other = run(sources, "--manifest", str(target / "other.json"))
    assert other.exit_code == 2 and "other.json: there is no such file" in other.output
    for arguments, problem in ((["--select", ""], "--select is empty"), (["--vars", "[1]"], "--vars")):
        found = run(sources, *arguments)
        assert found.exit_code == 2 and problem in found.output and "Traceback" not in found.output, found.output


@pytest.mark.parametrize(
    "sql", ["select 1", "select '{{ a }}'", "select '{% raw %}\n\"\\' {# x #} {% endraw %}'", "select '{{ \"ä😀\" }}'"]
)
def test_sql_is_rendered_to_itself(sql: str) -> None:
    from dbt.clients.jinja import get_rendered

    assert get_rendered(literal(sql), {}) == sql


def test_after_a_run_of_dbt(sources: Any) -> None:
    """The manifest that `dbt run` has written says the same of the models as that of `dbt compile`."""
    sources.dbt("run")
    sources.sql("insert into $.orders values (3, 1, 1)")
    found = run(sources)
    assert found.exit_code == 0 and all("incremental" in message for _, message in results(sources).values()), found.output
    sources.dbt("run", "--select", "config.materialized:idivm")
    assert all("nothing changed" in message for _, message in results(sources).values()), results(sources)


@pytest.mark.deep
def test_another_target_folder(sources: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the manifest, of which not even the time changes, and gets the results. Several models follow one --select."""
    monkeypatch.setenv("DBT_TARGET_PATH", "elsewhere")
    sources.dbt("compile")
    manifest = sources.root / "elsewhere" / "manifest.json"
    before = manifest.stat()
    shutil.rmtree(sources.root / "target", ignore_errors=True)
    found = run(sources, "--select", "big", "per_name", "--vars", "{a: 1}")
    assert found.exit_code == 0, found.output
    done = json.loads((manifest.parent / "run_results.json").read_text())
    assert len(done["results"]) == 2 and done["args"]["vars"] == {"a": 1}
    assert (manifest.stat().st_mtime_ns, manifest.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert not (sources.root / "target").exists()
