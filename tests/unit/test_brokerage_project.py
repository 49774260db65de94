"""The broker's warehouse of benchmarks/brokerage/ without Spark: its models are maintained, its sources are the same each time."""

from __future__ import annotations

import datetime as dt
import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from benchmarks.brokerage import show
from benchmarks.brokerage.changes import PROJECT, batch, history, tables
from benchmarks.brokerage.play import MAINTAINED, REBUILT, Done
from benchmarks.brokerage.sources import SOURCES
from benchmarks.brokerage.world import Rows, World
from benchmarks.dbt_runs import Run
from benchmarks.meter import Work
from tests.unit.integration_project import Model, Project

WAREHOUSE = Project(PROJECT)
MODELS = WAREHOUSE.maintained
WORLD = World(0, 1, dt.date(2026, 11, 25))


def test_there_are_49_models_in_three_layers() -> None:
    assert len(MODELS) == len(WAREHOUSE.models) == 49
    assert {model.folder for model in MODELS} == {"staging", "integrated", "marts"}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_model_is_maintained(model: Model) -> None:
    """Over the columns of the sources, and of the models that it reads as they follow from their plans."""
    assert WAREHOUSE.plan(model.name).ways


def test_each_model_is_described_and_compared_with_its_query() -> None:
    for model in MODELS:
        about = WAREHOUSE.properties[model.name]
        assert about["description"] and "idivm_equivalent" in about["data_tests"], model.name


def test_no_key_of_several_columns_is_declared() -> None:
    assert all(len(table.key or ()) <= 1 for table in WAREHOUSE.sources.tables.values())
    assert not any(model.keys for model in MODELS)


def test_the_same_numbers_give_the_same_statements() -> None:
    assert list(history(WORLD)) == list(history(World(0, 1, dt.date(2026, 11, 25))))
    assert list(batch(WORLD, 2)) == list(batch(WORLD, 2))
    assert list(history(WORLD)) != list(history(World(0, 2, dt.date(2026, 11, 25))))


def test_each_source_gets_insertions_updates_and_deletions_in_each_batch() -> None:
    assert {source.table for source in SOURCES} == set(tables())
    for number in (1, 2):
        found = [
            (statement.split()[0], statement.split()[2 if statement[0] in "id" else 1]) for statement in batch(WORLD, number)
        ]
        assert {kind for kind, _ in found} == {"insert", "update", "delete"}
        for table in tables():
            assert {kind for kind, name in found if name == f"brokerage_raw.{table}"} == {"insert", "update", "delete"}, table


def test_a_source_has_the_declared_columns() -> None:
    for source in SOURCES:
        assert set(source.columns(Rows(WORLD, "0"))) == set(tables()[source.table]), source.table


def test_what_is_printed() -> None:
    rounds = [_done(0, MAINTAINED, "create"), _done(1, MAINTAINED, "full"), _done(1, REBUILT, None)]
    console = Console(width=130, record=True, file=io.StringIO())
    for part in (show.models(rounds), show.summary(rounds), *show.reasons(rounds)):
        console.print(part)
    text = console.export_text()
    assert "2.0 / 2.0 rebuilt" in text and "trades: it is small" in text and "0%" in text
    assert rounds[0].share is None and rounds[1].share == 0


def _done(number: int, target: str, mode: str | None) -> Done:
    began = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    phase = SimpleNamespace(name="execute", started_at=began, completed_at=began + dt.timedelta(seconds=2))
    response: dict[str, Any] = {} if mode is None else {"mode": mode, "reason": "it is small", "statements": 5}
    result = SimpleNamespace(node=SimpleNamespace(name="trades"), adapter_response=response, timing=[phase])
    return Done(number, target, Run((result,), 3.0), Work())
