"""Where dbt's artifacts are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_idivm.target_folder import target_folder


@pytest.mark.parametrize(
    ("project", "environment", "expected"),
    [
        (None, None, "target"),
        ("name: x", None, "target"),
        ("{", None, "target"),
        ("[1]", "", "target"),
        ("target-path: there", None, "there"),
        ("target-path: there", "elsewhere", "elsewhere"),
        (None, "/somewhere", "/somewhere"),
    ],
)
def test_the_folder(
    project: str | None, environment: str | None, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DBT_TARGET_PATH", raising=False)
    if environment is not None:
        monkeypatch.setenv("DBT_TARGET_PATH", environment)
    if project is not None:
        (tmp_path / "dbt_project.yml").write_text(project)
    assert target_folder(tmp_path) == tmp_path / expected
