"""The tutorial from an empty folder: its files, its commands, and what they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.pictures import files_of

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
PROGRAMS = {"dbt": "from dbt.cli.main import cli; cli()", "idivm": "from dbt_idivm.cli import main; main()"}
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LIMIT = 240
# The lines of dbt that the page has: results of models, seeds and tests.
RESULT = re.compile(r"\d+ of \d+ (?!START)")


def played(block: str, folder: Path) -> str:
    """A block of the page, with what its commands print now."""
    return "".join(f"$ {command}\n{printed(command, folder)}" for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE))


def printed(command: str, folder: Path) -> str:
    """What a command prints in the folder, as the page shows it: without dates and times."""
    program, *arguments = shlex.split(command)
    quiet = ["--no-use-colors"] if program == "dbt" else []
    done = subprocess.run(
        [sys.executable, "-c", PROGRAMS[program], *arguments, *quiet],
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if name not in ("CI", "DBT_PROFILES_DIR", "DBT_PROJECT_DIR")},
            "PYTHONPATH": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=LIMIT,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return "".join(f"{line}\n" for line in _shown(program, done.stdout))


def _shown(program: str, output: str) -> Iterator[str]:
    for line in output.splitlines():
        timeless = re.sub(r" in \d+\.\d+s\]$", "]", re.sub(r"^\d\d:\d\d:\d\d  ", "", line)).rstrip()
        if timeless and (program != "dbt" or RESULT.match(timeless)):
            yield timeless


def test_the_tutorial(tmp_path: Path, update_golden: bool) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, text in files_of(page).items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    blocks = CONSOLE.findall(page)
    assert len(blocks) == 3
    found = [played(block, tmp_path) for block in blocks]
    if update_golden:
        now = iter(found)
        PAGE.write_text(CONSOLE.sub(lambda _: f"```console\n{next(now)}```", page), encoding="utf-8")
    else:
        assert found == blocks
    # the statement that the page shows, and its picture, is the one by which the model was written
    shown = re.search(r"^```sql\n(UPDATE .*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert shown
    script = (tmp_path / "target" / "run" / "shop" / "models" / "order_names.sql").read_text(encoding="utf-8")
    assert " ".join(shown[1].split()) in " ".join(script.split()), script
