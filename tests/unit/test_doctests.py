"""The examples in docstrings are run."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import dbt_idivm

ROOT = Path(dbt_idivm.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


def test_there_are_some() -> None:
    assert "dbt_idivm.errors" in MODULES


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0
