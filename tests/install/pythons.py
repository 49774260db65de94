"""The Pythons that this project is for, those of them that are on this machine, and the two installers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
WITHOUT_1_11 = ("3.14",)  # dbt-core 1.11 does not start there (docs/versions.md)
_ASK = "import ensurepip, sys, venv; print(sys.version_info[:2] == tuple(map(int, sys.argv[1].split('.'))))"


@dataclass(frozen=True)
class Installer:
    """`create` and `install` are what a user types, but for the names; the last words of `install` are what is installed."""

    create: tuple[str, ...]
    install: tuple[str, ...]
    check: tuple[str, ...]


def interpreter(version: str) -> str | None:
    """A Python of that version that runs and can make environments. A shim of pyenv's that runs nothing is none."""
    for each in _candidates(version):
        try:
            done = subprocess.run([each, "-c", _ASK, version], capture_output=True, text=True, timeout=60)
        except OSError:
            continue
        if done.returncode == 0 and done.stdout.strip() == "True":
            return each
    return None


def _candidates(version: str) -> Iterator[str]:
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        yield sys.executable
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        yield from map(str, Path(folder or ".").glob(f"python{version}"))
    for kept in (
        Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions"),
        Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or Path.home() / ".local/share/uv/python"),
    ):
        yield from sorted(map(str, kept.glob(f"*{version}.*/bin/python{version}")), reverse=True)


def uv() -> str | None:
    """On PATH, or in the environment that runs this."""
    return shutil.which("uv") or shutil.which("uv", path=sysconfig.get_path("scripts"))


def installer(name: str, python: str, folder: Path) -> Installer | None:
    """pip or uv, for an environment in the folder; None if there is no such program."""
    inside = str(folder / "bin" / "python")
    if name == "pip":
        pip = (inside, "-m", "pip")
        return Installer((python, "-m", "venv", str(folder)), (*pip, "install", "--quiet"), (*pip, "check"))
    found = uv()
    if found is None:
        return None
    return Installer(
        (found, "venv", "--quiet", "--python", python, str(folder)),
        (found, "pip", "install", "--quiet", "--python", inside),
        (found, "pip", "check", "--python", inside),
    )
