"""The folder where dbt writes its artifacts: manifest.json, catalog.json, run_results.json."""

from __future__ import annotations

import os
from pathlib import Path

import yaml


def target_folder(project: Path) -> Path:
    """The folder given by `DBT_TARGET_PATH` or the project's `target-path`; else `target`.

    A project file that cannot be read is ignored here: code that needs it will report that.
    """
    try:
        found = yaml.safe_load((project / "dbt_project.yml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        found = None
    configured = found.get("target-path") if isinstance(found, dict) else None
    return project / str(target_path_of_environment() or configured or "target")


def target_path_of_environment() -> str | None:
    """dbt's default for `--target-path` from the environment; None if it is not set."""
    return os.environ.get("DBT_TARGET_PATH") or None
