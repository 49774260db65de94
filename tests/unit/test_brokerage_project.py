"""The broker's warehouse of benchmarks/brokerage/ is maintained: every model, planned over the columns of the sources."""

from __future__ import annotations

import pytest

from benchmarks.brokerage.changes import PROJECT
from tests.unit.integration_project import Project

WAREHOUSE = Project(PROJECT)
MODELS = WAREHOUSE.maintained


def test_there_are_49_models_in_three_layers() -> None:
    assert len(MODELS) == len(WAREHOUSE.models) == 49
    assert {model.folder for model in MODELS} == {"staging", "integrated", "marts"}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_model_is_maintained(model) -> None:  # type: ignore[no-untyped-def]
    assert WAREHOUSE.plan(model.name).ways
