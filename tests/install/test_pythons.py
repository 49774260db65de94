"""The wheel on each Python that the project is for and that is here, installed by pip and by uv, and a project in each."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.install.conftest import ROOT, Environment
from tests.install.pythons import PYTHONS, WITHOUT_1_11, installer, interpreter
from tests.install.test_from_index import play

pytestmark = pytest.mark.deep

CONSTRAINED = ("dbt-core", "dbt-core-experimental-parser")


def asked(version: str, wheel: Path) -> list[str]:
    """What a user asks the installer for (docs/versions.md)."""
    if version not in WITHOUT_1_11:
        return [f"{wheel}[embedded]"]
    pinned = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.partition("==")[0] in CONSTRAINED]
    assert len(pinned) == len(CONSTRAINED)
    return [f"{wheel}[pyspark]", *pinned]


def run(*command: str) -> None:
    settings = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PIP_CONSTRAINT", "UV_CONSTRAINT")}
    done = subprocess.run(command, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout[-1500:]}{done.stderr[-1500:]}"


@pytest.mark.parametrize("name", ["pip", "uv"])
@pytest.mark.parametrize("version", PYTHONS)
def test_installed(version: str, name: str, built: Any, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} is not tried: none is on PATH, in pyenv's folder or in uv's.")
    environment = Environment(tmp_path / "environment")
    by = installer(name, python, environment.folder)
    if by is None:
        pytest.skip(f"uv is not tried on Python {version}: it is not installed (pip install uv).")
    run(*by.create)
    run(*by.install, *asked(version, built.wheel))
    run(*by.check)
    assert environment.python("import sys; print('{}.{}'.format(*sys.version_info))").strip() == version
    started = environment.init(tmp_path, "1", "", "", JAVA_HOME="/nonexistent")
    assert started.returncode == 0, started.stdout + started.stderr
    play(environment, tmp_path)
