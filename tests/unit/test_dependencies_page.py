"""The table of dependencies in docs/dependencies.md: each package that a user installs, with the licence that it declares."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
_, *ROWS = re.findall(r"^\| ([\w-]+) \| [^|]+ \| ([\w.-]+) \|$", PAGE, re.MULTILINE)  # the first one is the heading
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OF_DEVELOPERS = ("dev", "bench", "docs")
# How packages say it that do not use the identifiers of SPDX.
WORDS = {
    "Apache-2.0": ("Apache",),
    "MIT": ("MIT",),
    "BSD-3-Clause": ("BSD",),
    "BSD-2-Clause": ("BSD",),
    "CC0-1.0": ("CC0",),
}


def name(requirement: str) -> str:
    return re.split(r"[\[<>=~!; ]", requirement)[0].lower()


def test_it_has_what_users_install() -> None:
    extras = [each for extra, wanted in PROJECT["optional-dependencies"].items() if extra not in OF_DEVELOPERS for each in wanted]
    wanted = {name(each) for each in (*PROJECT["dependencies"], *extras)} - {"dbt-idivm"}
    wanted |= {"pyhive"}  # of dbt-spark[PyHive]
    assert [package.lower() for package, _ in ROWS] == list(dict.fromkeys(package.lower() for package, _ in ROWS))
    assert {package.lower() for package, _ in ROWS} == wanted


@pytest.mark.parametrize(("package", "licence"), ROWS)
def test_licences_are_those_that_packages_declare(package: str, licence: str) -> None:
    try:
        found = metadata(package)
    except PackageNotFoundError:
        pytest.skip(f"{package} is not installed here")
    said = found.get("License-Expression")
    if said:
        assert said == licence
        return
    classifiers = [each for each in found.get_all("Classifier") or () if each.startswith("License ::")]
    told = " ".join((found.get("License") or "", *classifiers))
    assert any(word in told for word in WORDS[licence]), told
