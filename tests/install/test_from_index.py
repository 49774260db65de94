"""The wheel in empty environments, with what plain pip finds for it; then a project of one model in each."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import venv
from pathlib import Path
from typing import Any

import pytest

from tests.install.conftest import ROOT, Environment

pytestmark = pytest.mark.deep

ORDERS = (
    "create table orders (id int, price int) using delta tblproperties ('delta.enableChangeDataFeed' = 'true'); "
    "insert into orders values (1, 10), (2, 20)"
)
MODEL = """{{ config(materialized='idivm', meta={'idivm': {'strategy': 'id'}}) }}
select id, price * 2 as doubled from {{ source('shop', 'orders') }}
"""
SOURCES = """
sources:
  - name: shop
    schema: "{{ target.schema }}"
    tables:
      - {name: orders, columns: [{name: id, data_tests: [unique, not_null]}]}
models:
  - {name: prices, data_tests: [idivm_equivalent]}
"""


def empty(folder: Path) -> Environment:
    venv.create(folder, with_pip=True)
    return Environment(folder)


def install(environment: Environment, *lines: str, cwd: Path) -> None:
    """Run shell lines as in an activated environment, with no constraints of ours."""
    path = f"{environment.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    settings = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PIP_CONSTRAINT")}
    for line in lines:
        done = subprocess.run(line, shell=True, cwd=cwd, env={**settings, "PATH": path}, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}: {done.stdout[-1500:]}{done.stderr[-1500:]}"
    checked = environment.run("python", "-m", "pip", "check")
    assert checked.returncode == 0, checked.stdout


def readme_lines() -> list[str]:
    """The lines that the README gives for an installation."""
    blocks = re.findall(r"^```\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    (block,) = (each for each in blocks if each.startswith("pip install"))
    return str(block).splitlines()


def write_models(shop: Path) -> None:
    (shop / "models" / "prices.sql").write_text(MODEL)
    (shop / "models" / "prices.yml").write_text(SOURCES)


def modes(environment: Environment, folder: Path, *command: str, program: str = "dbt") -> dict[str, str]:
    """Run a dbt command, or one of ours, that must succeed; the mode of each model."""
    done = environment.run(program, *command, "--profiles-dir", str(folder), cwd=folder / "shop")
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((folder / "shop" / "target" / "run_results.json").read_text())["results"]
    return {each["unique_id"].split(".")[2]: each["adapter_response"].get("mode", each["status"]) for each in results}


def sql(environment: Environment, folder: Path, text: str) -> str:
    done = environment.run("idivm", "sql", text, "--profiles-dir", str(folder), cwd=folder / "shop")
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def play(environment: Environment, folder: Path) -> None:
    """Two runs, a change, a run, the equivalence test, what dbt docs says of it, and a run from its manifest."""
    write_models(folder / "shop")
    sql(environment, folder, ORDERS)
    run = ("run", "--select", "prices")
    assert modes(environment, folder, *run) == {"prices": "create"}
    assert modes(environment, folder, *run) == {"prices": "noop"}
    sql(environment, folder, "update orders set price = 11 where id = 1; delete from orders where id = 2")
    assert modes(environment, folder, *run) == {"prices": "incremental"}
    assert modes(environment, folder, "test", "--select", "prices") == {"idivm_equivalent_prices_": "pass"}
    assert "22" in sql(environment, folder, "select * from prices")
    assert modes(environment, folder, "docs", "generate")
    shown = json.loads((folder / "shop" / "target" / "catalog.json").read_text())["nodes"]["model.shop.prices"]["stats"]
    assert shown["idivm_maintenance"]["value"] == "by i-diffs" and "incremental, +0 ~1 −1" in shown["idivm_last_refresh"]["value"]
    (folder / "shop" / "selectors.yml").write_text("selectors: [{name: priced, definition: prices}]")
    sql(environment, folder, "insert into orders values (3, 30)")
    assert modes(environment, folder, "run", "--selector", "priced", program="idivm") == {"prices": "incremental"}


@pytest.fixture(scope="module")
def embedded(built: Any, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """By the README's lines, in the tree that the sdist unpacks to."""
    folder = tmp_path_factory.mktemp("embedded")
    shutil.unpack_archive(built.sdist, folder / "source")
    environment = empty(folder / "environment")
    install(environment, *readme_lines(), cwd=next((folder / "source").iterdir()))
    return environment


@pytest.fixture(scope="module")
def thrift(built: Any, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel, by its path."""
    folder = tmp_path_factory.mktemp("thrift")
    environment = empty(folder)
    install(environment, f"pip install '{built.wheel}[thrift]'", cwd=folder)
    return environment


def test_embedded(embedded: Environment, tmp_path: Path) -> None:
    asked = embedded.init(tmp_path, "1", "", "", JAVA_HOME="/nonexistent")
    assert asked.returncode == 0, asked.stdout + asked.stderr
    play(embedded, tmp_path)


def test_thrift(thrift: Environment, thrift_server: Any, tmp_path: Path) -> None:
    assert thrift.run("python", "-c", "import pyspark").returncode == 1
    asked = thrift.init(tmp_path, "2", "127.0.0.1", str(thrift_server.port), "over_thrift", "")
    assert asked.returncode == 0, asked.stdout + asked.stderr
    play(thrift, tmp_path)
