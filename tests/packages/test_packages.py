"""Packages run unmodified: they parse, their models are built, and after mixed batches each equals its SELECT.

`make packages` installs them with `dbt deps`, or takes them from the folder PACKAGES, in which there is one for each. How many of
their refreshes are incremental, what is rebuilt and what fails is in `verdicts/`, from which `docs/packages.md` is made.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.packages.catalogue import PACKAGES, Package
from tests.packages.project import Using, Verdict
from tests.packages.table import PAGE, VERDICTS, page

BATCHES = 3


@pytest.mark.parametrize("package", PACKAGES, ids=[package.name for package in PACKAGES])
def test_package(package: Package, installed: Path, spark: Any, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    using = Using.of(package, installed, tmp_path, spark.newSession())
    seeds = using.seeds()
    verdict = Verdict()
    for number in range(BATCHES + 1):
        if number:
            for seed in seeds:
                using.change(seed, number)
        using.run(verdict)
    assert verdict.wrong == set()
    golden(VERDICTS / f"{package.name}.yml", verdict.text())


def test_page(golden: Callable[[Path, str], None]) -> None:
    golden(PAGE, page())
