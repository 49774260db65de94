"""The folder of a dbt project, and dbt commands that run on it in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml

PROFILE = "functional"


@dataclass(frozen=True)
class DbtFolder:
    root: Path

    def __post_init__(self) -> None:
        # Tables of tests are so small that `auto` would rebuild them. Those without a declared key are to have none.
        self.configure(models={"+meta": {"idivm": {"strategy": "id", "keys": "declared"}}})

    def configure(self, **settings: Any) -> None:
        """Write dbt_project.yml, in place of the one before: what each project needs, and these settings."""
        needed = {
            "name": PROFILE,
            "version": "1.0.0",
            "config-version": 2,
            "profile": PROFILE,
            "flags": {"send_anonymous_usage_stats": False},
        }
        self.write("dbt_project.yml", yaml.safe_dump({**needed, **settings}, sort_keys=False))

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text))

    def profile(self, **target: Any) -> None:
        """The project has one target, with these settings."""
        given = {"type": "idivm", "threads": 2, **target}
        self.write("profiles.yml", json.dumps({PROFILE: {"target": "dev", "outputs": {"dev": given}}}))

    def dbt(self, *args: str, fails: bool | None = False) -> Any:
        """Run a dbt command here and return dbt's result; whether it succeeds must be as the test expects, if it expects one."""
        from dbt.cli.main import dbtRunner

        folders = ["--project-dir", str(self.root), "--profiles-dir", str(self.root)]
        outcome = dbtRunner().invoke([*args, *folders, "--no-use-colors", "--log-format-file", "text"])
        assert fails is None or outcome.success is not fails, f"{args}: {outcome.exception or _messages(outcome.result)}"
        return outcome.result

    def results(self, *args: str, fails: bool = False) -> dict[str, Any]:
        """Run a dbt command and return its node results by name."""
        return {result.node.name: result for result in self.dbt(*args, fails=fails)}


def _messages(result: Any) -> str:
    return "\n".join(f"{r.node.name}: {r.status} {r.message}" for r in getattr(result, "results", None) or ())
