"""dbt projects that run in this process, on its embedded Spark. Each has a folder and a schema of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from tests.functional.project import Project


@pytest.fixture(scope="session")
def new_project(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Project]:
    """Make a project; for tests that share one among them, or need two."""
    numbers = itertools.count(1)

    def make() -> Project:
        number = next(numbers)
        return Project.in_folder(tmp_path_factory.mktemp(f"project{number}_"), spark.newSession(), f"schema{number}")

    return make


@pytest.fixture
def project(new_project: Callable[[], Project]) -> Project:
    return new_project()
