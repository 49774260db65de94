"""Where dbt writes what it knows of a project: manifest.json, catalog.json, run_results.json."""

from __future__ import annotations

import os
from pathlib import Path

import yaml


def target_folder(project: Path) -> Path:
    """The folder, as `DBT_TARGET_PATH` or the project's `target-path` says; else `target`.

    A project file that cannot be read says nothing: whoever needs it reports that.
    """
    try:
        found = yaml.safe_load((project / "dbt_project.yml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        found = None
    configured = found.get("target-path") if isinstance(found, dict) else None
    return project / str(target_path_of_environment() or configured or "target")


def target_path_of_environment() -> str | None:
    """What dbt takes for `--target-path` where there is none."""
    return os.environ.get("DBT_TARGET_PATH") or None
