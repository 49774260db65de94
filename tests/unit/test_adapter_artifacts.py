"""Which refreshes write the files about a model: each that has others to write, and every build."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbt.adapters.idivm.maintenance import MaintenanceMixin
from dbt_idivm.refresh.protocol import Artifacts, Cost, Outcome


class Target:
    """The target folder of a project, and how often texts were rendered for it."""

    def __init__(self, root: Path) -> None:
        self.adapter: Any = SimpleNamespace(config=SimpleNamespace(project_root=str(root), target_path="target"))
        self.folder = root / "target" / "idivm" / "v"
        self.rendered = 0

    def refresh(self, mode: Any, made_from: str = "one", cost: Cost | None = None) -> int:
        """How many times the texts of this refresh were rendered."""
        before = self.rendered
        artifacts = Artifacts(made_from, self._texts) if made_from else Artifacts()
        outcome = Outcome(mode, None, None, 0, 0, 0, 0, {}, "", (), artifacts, cost=cost)
        MaintenanceMixin._write_artifacts(self.adapter, "v", outcome)
        return self.rendered - before

    def _texts(self) -> Mapping[str, str]:
        self.rendered += 1
        return {"plan.txt": f"plan {self.rendered}"}


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target(tmp_path)


def test_what_is_there_is_not_rendered_again(target: Target) -> None:
    assert [target.refresh(mode) for mode in ("create", "incremental", "noop", "full")] == [1, 0, 0, 1]
    assert (target.folder / "plan.txt").read_text() == "plan 2"


def test_a_rebuild_by_cost_renders_nothing_that_is_current(target: Target) -> None:
    """Rendering may take as long as the rebuild that was chosen for being quick."""
    cost = Cost("rebuild", 1.0, 1.1, {"rebuild": 1.0, "id": 2.0})
    assert [target.refresh("create"), target.refresh("full", cost=cost), target.refresh("full", "two", cost)] == [1, 0, 1]


def test_other_texts_are_written(target: Target) -> None:
    target.refresh("create")
    assert target.refresh("incremental", "two") == 1 and target.refresh("incremental", "two") == 0


def test_files_that_somebody_removed_are_written(target: Target) -> None:
    target.refresh("create")
    (target.folder / "plan.txt").unlink()
    assert target.refresh("noop") == 1


def test_no_artifacts_no_folder(target: Target) -> None:
    assert target.refresh("noop", "") == 0 and not target.folder.exists()
