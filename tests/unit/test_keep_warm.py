"""When a command starts a Spark that stays, and what it says; no Spark is started here. What a real one does is in test_warm.py."""

from __future__ import annotations

import os
import re
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.idivm import extras, warm
from dbt.adapters.idivm.credentials import IdivmCredentials
from dbt.adapters.idivm.lock import hold

ROOT = Path(__file__).parents[2]


class Said:
    """In the place of dbt's logger."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.info = self.warning = self.lines.append


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    logger = Said()
    monkeypatch.setattr(warm, "logger", logger)
    return logger.lines


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(warm, "has_spark", lambda: False)
    (tmp_path / ".idivm").mkdir()
    return tmp_path


def credentials(project: Path, **given: Any) -> IdivmCredentials:
    found = IdivmCredentials.from_dict({"schema": "main", **given})
    found.resolve_paths(project)
    return found


def without(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == module else name)


def test_the_extra_embedded_has_what_attaching_needs() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert "dbt-idivm[pyspark]" in declared["embedded"]
    assert any(each.startswith("pyspark[connect]") for each in declared["pyspark"])
    of_connect = [each for each in requires("pyspark") or () if re.search("extra == ['\"]connect['\"]", each)]
    names = {found[0] for each in of_connect if (found := re.match(r"[\w-]+", each))}
    distributions = packages_distributions()
    for module in extras.MODULES["spark-connect"]:
        assert names & {*distributions[module.partition(".")[0]]} or module == "pyspark", module


@pytest.mark.parametrize("module", ["grpc", "google.rpc", "zstandard"])
def test_a_missing_package_is_said_with_the_command(
    project: Path, said: list[str], monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    without(monkeypatch, module)
    monkeypatch.setattr(extras, "requires", lambda _: ["zstandard>=0.25.0; extra == 'connect'"])
    expected = f"A Spark that stays needs the package {module}. Install with: pip install 'pyspark[connect]'"
    with pytest.raises(DbtRuntimeError, match=re.escape(expected)):
        warm.start_server(credentials(project), 60)
    assert warm.attached(credentials(project, keep_warm="10m")) is None
    assert said == [f"keep_warm: {expected}"]
    monkeypatch.setenv("CI", "true")
    assert warm.attached(credentials(project, keep_warm="10m")) is None and len(said) == 1


def test_a_missing_package_is_an_error_where_a_server_has_the_catalog(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "grpc")
    lock = hold(project / ".idivm" / "server.lock")
    assert lock is not None
    with pytest.raises(DbtRuntimeError, match="needs the package grpc.*pip install.*idivm down"):
        warm.attached(credentials(project))
    os.close(lock)
    assert warm.attached(credentials(project)) is None


def test_pyspark_4_0_needs_no_zstandard(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "zstandard")
    monkeypatch.setattr(extras, "requires", lambda _: ["grpcio>=1.67.0; extra == 'connect'"])
    assert extras.missing_module("spark-connect") is None
