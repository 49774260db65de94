"""The pages that name tests name tests that exist."""

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
