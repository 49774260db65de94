"""From an installed wheel to a connection that works: `dbt init`, `dbt debug`, and the error for a missing package."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.deep

EMBEDDED, THRIFT = "1", "2"
INSTALL_PYSPARK = "Install with: pip install 'delta-spark==4.4.0' 'pyspark[connect]<4.2,>=4.0.1'"
INSTALL_PYHIVE = "Install with: pip install 'dbt-spark[pyhive]'"


@pytest.fixture(scope="module")
def bare(installed: Callable[..., Any]) -> Any:
    """As after an install without an extra."""
    return installed(without=("pyspark", "delta", "delta_spark", "pyhive", "thrift", "thrift_sasl", "tcliservice"))


def profile(folder: Path) -> dict[str, Any]:
    written: dict[str, Any] = yaml.safe_load((folder / "profiles.yml").read_text())
    return written


def debug(environment: Any, folder: Path, **env: str) -> Any:
    return environment.run("dbt", "debug", "--profiles-dir", str(folder), cwd=folder / "shop", **env)


def test_embedded_is_the_first_choice_and_connects(environment: Any, tmp_path: Path) -> None:
    # dbt-core 1.12 looks whether the new profile connects, so Java is kept from it here: one start of Spark is enough
    asked = environment.init(tmp_path, EMBEDDED, "", "", JAVA_HOME="/nonexistent")
    assert asked.returncode == 0, asked.stdout + asked.stderr
    assert "[1] embedded: Spark and Delta start inside dbt" in asked.stdout
    target = {"type": "idivm", "method": "embedded", "schema": "main", "threads": 2}
    assert profile(tmp_path) == {"shop": {"target": "dev", "outputs": {"dev": target}}}
    found = debug(environment, tmp_path)
    assert found.returncode == 0 and "All checks passed!" in found.stdout, found.stdout
    assert (tmp_path / "shop" / ".idivm" / "spark.log").exists()


def test_thrift_asks_for_host_and_port(environment: Any, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    asked = environment.init(tmp_path, THRIFT, "127.0.0.1", str(port), "reports", "4")
    assert asked.returncode == 0, asked.stdout + asked.stderr
    assert "port [10000]: " in asked.stdout
    target = {"type": "idivm", "method": "thrift", "host": "127.0.0.1", "port": port, "schema": "reports", "threads": 4}
    assert profile(tmp_path) == {"shop": {"target": "dev", "outputs": {"dev": target}}}
    found = debug(environment, tmp_path)
    # nobody listens there; test_servers.py has a server
    assert found.returncode == 1 and f"Could not connect to any of [('127.0.0.1', {port})]" in found.stdout, found.stdout


@pytest.mark.parametrize(
    "method, expected",
    [
        ("embedded", f"The embedded Spark needs the package pyspark. {INSTALL_PYSPARK}"),
        ("thrift", f"method: thrift needs the package pyhive. {INSTALL_PYHIVE}"),
    ],
)
def test_a_missing_package_is_named_with_what_installs_it(bare: Any, tmp_path: Path, method: str, expected: str) -> None:
    project(tmp_path, method)
    found = bare.run("dbt", "debug", cwd=tmp_path)
    assert found.returncode == 1
    assert expected in " ".join(found.stdout.split())
    assert "Traceback" not in found.stdout + found.stderr


def test_a_project_is_parsed_without_spark(bare: Any, tmp_path: Path) -> None:
    project(tmp_path, "embedded")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "m.sql").write_text("{{ config(materialized='idivm') }} select 1 as n")
    (tmp_path / "models" / "m.yml").write_text("models: [{name: m, data_tests: [idivm_equivalent]}]")
    listed = bare.run("dbt", "--quiet", "ls", cwd=tmp_path)
    assert listed.stdout.split() == ["shop.m", "shop.idivm_equivalent_m_"], listed.stdout + listed.stderr


def project(folder: Path, method: str) -> None:
    (folder / "dbt_project.yml").write_text("name: shop\nversion: 1.0.0\nconfig-version: 2\nprofile: shop\n")
    target = {"type": "idivm", "method": method, "host": "localhost", "schema": "main"}
    (folder / "profiles.yml").write_text(yaml.dump({"shop": {"target": "dev", "outputs": {"dev": target}}}))
