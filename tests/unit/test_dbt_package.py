"""The repository as a dbt package: `packages: [{local: …}]` brings the materialization and the test, for this type and another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parents[2]
DBT = [sys.executable, "-c", "from dbt.cli.main import cli; cli()"]
THRIFT = {"method": "thrift", "host": "localhost", "port": 10000, "schema": "main"}  # a connection that nothing opens


def dbt(folder: Path, *args: str) -> None:
    """Run a dbt command that must succeed."""
    known = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "PYTHONPATH": str(ROOT)}
    command = [*DBT, "--no-use-colors", *args, "--profiles-dir", "."]
    done = subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the package, and a target of each type."""
    folder = tmp_path_factory.mktemp("shop")
    targets = {kind: {"type": kind, **THRIFT} for kind in ("idivm", "spark")}
    files = {
        "dbt_project.yml": {"name": "shop", "version": "1.0.0", "config-version": 2, "profile": "shop"},
        "profiles.yml": {"shop": {"target": "idivm", "outputs": targets}},
        "packages.yml": {"packages": [{"local": str(ROOT)}]},
        "models/m.yml": {"models": [{"name": "m", "data_tests": ["idivm_equivalent"]}]},
    }
    (folder / "models").mkdir()
    for path, content in files.items():
        (folder / path).write_text(yaml.safe_dump(content))
    (folder / "models" / "m.sql").write_text("{{ config(materialized='idivm') }} select 1 as n")
    dbt(folder, "deps")
    return folder


@pytest.mark.parametrize("target", ["idivm", "spark"])
def test_a_project_with_the_package_is_parsed(shop: Path, target: str) -> None:
    dbt(shop, "parse", "--target", target, "--target-path", target)
    manifest = json.loads((shop / target / "manifest.json").read_text())
    assert manifest["metadata"]["adapter_type"] == target
    assert "macro.idivm.materialization_idivm_default" in manifest["macros"]
    of_project = {name.split(".")[2] for name in manifest["nodes"] if name.split(".")[1] == "shop"}
    assert of_project == {"m", "idivm_equivalent_m_"}
    # wrong without empty paths in dbt_project.yml: SQL below tests/ would be tests of the user's project
    assert [name for name in manifest["nodes"] if name.split(".")[1] == "idivm"] == []
