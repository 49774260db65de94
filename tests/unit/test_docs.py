"""The pages that name tests, files and functions name what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / name for name in ("dbt.md", "guarantees.md")]
NAMED = re.compile(r"`((?:tests/)?[\w/]+\.py)(?:::(\w+))?`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_tests_exist(page: Path) -> None:
    found = NAMED.findall(page.read_text(encoding="utf-8"))
    assert len(found) > 10
    for file, name in found:
        path = ROOT / file if file.startswith("tests/") else ROOT / "tests" / "functional" / file
        assert path.exists(), f"{page.name} names {file}"
        assert not name or f"def {name}(" in path.read_text(encoding="utf-8"), f"{page.name} names {file}::{name}"


def test_the_way_of_one_changed_row() -> None:
    """Ten stations at most, each with files and what is in them."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    section = page.partition("## The way of one changed row\n")[2].partition("\n## ")[0]
    stations = re.split(r"^\d+\. ", section, flags=re.MULTILINE)[1:]
    assert 5 < len(stations) <= 10
    for station in stations:
        named = re.findall(r"`([\w/]+\.py)` \(`(\w+)`\)", station)
        assert named, station
        for file, name in named:
            code = (ROOT / "dbt_idivm" / file).read_text(encoding="utf-8")
            assert re.search(rf"^(?:def|class) {name}\b", code, re.MULTILINE), f"{file} has no {name}"


@pytest.mark.parametrize("page", ["design.md", "onboarding.md", "paper-map.md"])
def test_named_modules_exist(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for file in re.findall(r"`((?:refresh|script|passes|optimize|operators|idiff|algebra|frontend)/[\w/]+\.py)`", text):
        assert (ROOT / "dbt_idivm" / file).exists(), f"{page} names {file}"
