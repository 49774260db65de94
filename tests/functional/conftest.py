"""dbt projects that run in this process, on its embedded Spark. Each has a folder and a schema of its own."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

PROFILE = "functional"


class DbtProject:
    """A dbt project in a folder, with the few things that a test does to one."""

    def __init__(self, root: Path, schema: str, spark: Any) -> None:
        self.root, self.schema, self.spark = root, schema, spark
        # tables of tests are so small that `auto` would rebuild them
        config = {"name": PROFILE, "version": "1.0.0", "config-version": 2, "profile": PROFILE,
                  "models": {"+meta": {"idivm": {"strategy": "id"}}}}
        self.write("dbt_project.yml", yaml.safe_dump(config))
        self.profile(catalog="in-memory", driver_memory="2g")
        spark.sql(f"create schema if not exists {schema}")

    def profile(self, **settings: Any) -> None:
        target = {"type": "idivm", "schema": self.schema, "threads": 2, **settings}
        self.write("profiles.yml", json.dumps({PROFILE: {"target": "dev", "outputs": {"dev": target}}}))

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text))

    def dbt(self, *args: str, fails: bool = False) -> Any:
        """Run a dbt command here and return dbt's result; whether it succeeds must be as the test expects."""
        from dbt.cli.main import dbtRunner

        folders = ["--project-dir", str(self.root), "--profiles-dir", str(self.root)]
        outcome = dbtRunner().invoke([*args, *folders, "--no-use-colors", "--log-format-file", "text"])
        assert outcome.success is not fails, f"{args}: {outcome.exception or _messages(outcome.result)}"
        return outcome.result

    def results(self, *args: str, fails: bool = False) -> dict[str, Any]:
        """Run a dbt command and return its node results by name."""
        return {result.node.name: result for result in self.dbt(*args, fails=fails)}

    def sql(self, *texts: str) -> list[tuple[Any, ...]]:
        """Rows of the last statement; `{schema}` is replaced by the project's."""
        rows = [self.spark.sql(text.replace("{schema}", self.schema)).collect() for text in texts]
        return [tuple(row) for row in rows[-1]]

    def properties(self, table: str) -> dict[str, str]:
        return dict(self.sql(f"show tblproperties {{schema}}.{table}"))


def _messages(result: Any) -> str:
    return "\n".join(f"{r.node.name}: {r.status} {r.message}" for r in getattr(result, "results", None) or ())


@pytest.fixture(scope="session")
def new_project(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], DbtProject]:
    """Make a project; for tests that share one among them, or need two."""
    numbers = itertools.count(1)

    def make() -> DbtProject:
        number = next(numbers)
        return DbtProject(tmp_path_factory.mktemp(f"project{number}_"), f"schema{number}", spark)

    return make


@pytest.fixture
def project(new_project: Callable[[], DbtProject]) -> DbtProject:
    return new_project()
