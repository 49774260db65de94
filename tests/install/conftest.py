"""The wheel and the sdist of this tree, and environments that have the wheel as pip installs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Minutes and downloads only on request: `make wheel`. They are imported all the same."""
    if not config.getoption("--from-index"):
        left_out = [item for item in items if item.path.name in ("test_from_index.py", "test_pythons.py")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@dataclass
class Built:
    wheel: Path
    sdist: Path


@dataclass
class Environment:
    """A virtual environment; its programs run outside the source tree and see nothing of it."""

    folder: Path

    def run(self, program: str, *args: str, cwd: Path | None = None, typed: str = "", **env: str) -> Any:
        """Run a program of the environment with `typed` as its input."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        settings = {"NO_COLOR": "1", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", **env}
        return subprocess.run(
            [str(self.folder / "bin" / program), *args],
            cwd=cwd or self.folder,
            input=typed,
            text=True,
            capture_output=True,
            timeout=240,
            env={**kept, **settings},
        )

    def python(self, code: str) -> str:
        """What a few lines of Python print here."""
        done = self.run("python", "-c", code)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    @cached_property
    def plugins(self) -> dict[str, str]:
        """The adapters that dbt finds and their versions, as `dbt --version` lists and `dbt init` offers them."""
        printed = self.python("from dbt.version import _get_dbt_plugins_info as p; print(*(f'{n}={v}' for n, v in p()))")
        return dict(plugin.split("=") for plugin in printed.split())

    def init(self, folder: Path, *answers: str, **env: str) -> Any:
        """`dbt init shop` in a folder, with this type chosen from the list and the answers typed after it."""
        typed = [str([*self.plugins].index("idivm") + 1), *answers]
        return self.run("dbt", "init", "shop", "--profiles-dir", str(folder), cwd=folder, typed="\n".join(typed) + "\n", **env)


def build(source: Path, folder: Path, target: str) -> Path:
    """Build the `wheel` or the `sdist` of a source tree and return its path."""
    before = set(folder.iterdir()) if folder.exists() else set()
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)], cwd=source, check=True, capture_output=True
    )
    (made,) = set(folder.iterdir()) - before
    return made


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("dist")
    return Built(build(ROOT, folder, "wheel"), build(ROOT, folder, "sdist"))


@pytest.fixture(scope="session")
def environment(installed: Callable[..., Environment]) -> Environment:
    """The wheel and all that is here."""
    return installed()


@pytest.fixture(scope="session")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Environment]:
    """Make an environment with the wheel and the packages that are here, without those that are named."""

    def make(without: tuple[str, ...] = ()) -> Environment:
        folder = tmp_path_factory.mktemp("environment")
        venv.create(folder, symlinks=True)
        _link_packages(folder, without)
        command = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--quiet"]
        subprocess.run([*command, "--no-deps", "--no-index", str(built.wheel)], check=True, capture_output=True)
        _dbt_script(folder)
        return Environment(folder)

    return make


def _link_packages(folder: Path, without: tuple[str, ...]) -> None:
    """Links, but for `dbt`: dbt looks for adapters beside its own, so the wheel's files must get into that folder."""
    here, there = Path(sysconfig.get_path("purelib")), next(folder.glob("lib/python*/site-packages"))
    for package in here.iterdir():
        name = package.name.lower().partition("-")[0]
        if name in ("dbt_idivm", "__pycache__", *without) or package.suffix == ".pth":
            continue
        if name == "dbt":
            shutil.copytree(package, there / "dbt", ignore=shutil.ignore_patterns("__pycache__", "idivm"))
        else:
            (there / package.name).symlink_to(package)


def _dbt_script(folder: Path) -> None:
    """Links bring no console scripts along; this is dbt's."""
    script = folder / "bin" / "dbt"
    script.write_text(f"#!{folder}/bin/python\nfrom dbt.cli.main import cli\ncli()\n")
    script.chmod(0o755)
