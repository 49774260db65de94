"""The folder with the tables of the embedded Spark: git ignores it, and a folder of the user's is left as it is."""

from __future__ import annotations

import errno
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.idivm.state_folder import make_state_folder


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
def test_git_ignores_what_is_in_it(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    make_state_folder(tmp_path / "project" / ".idivm")
    (tmp_path / "project" / ".idivm" / "warehouse").mkdir()
    (tmp_path / "project" / ".idivm" / "warehouse" / "part-0.parquet").touch()
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    assert subprocess.run(status, cwd=tmp_path, check=True, capture_output=True, text=True).stdout == ""


def test_it_is_written_once(tmp_path: Path) -> None:
    make_state_folder(tmp_path / ".idivm")
    ignored = tmp_path / ".idivm" / ".gitignore"
    assert ignored.read_text().splitlines()[-1] == "*"
    ignored.write_text("!costs.json\n")
    make_state_folder(tmp_path / ".idivm")
    assert ignored.read_text() == "!costs.json\n"


def test_a_folder_of_the_user_gets_none(tmp_path: Path) -> None:
    """With `state_dir: .` it would make git ignore the whole project."""
    make_state_folder(tmp_path)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_file_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise OSError(number, "refused")

    monkeypatch.setattr(Path, "write_text", refused)
    make_state_folder(tmp_path / ".idivm")
    assert (tmp_path / ".idivm").is_dir()
    monkeypatch.setattr(Path, "mkdir", refused)
    make_state_folder(tmp_path / ".idivm")  # it exists


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".idivm").touch()
    with pytest.raises(FileExistsError):
        make_state_folder(tmp_path / ".idivm")
