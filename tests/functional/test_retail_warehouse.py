"""The retail warehouse of integration_tests/: loaded, and taken through two batches of change."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

PROJECT = Path(__file__).resolve().parents[2] / "integration_tests"
sys.path.insert(0, str(PROJECT))

from retail.engine import Engine, credentials_of  # noqa: E402
from retail.play import RAW, Play, dbt_of  # noqa: E402
from retail.runs import Round, share  # noqa: E402
from retail.show import KINDS  # noqa: E402

from tests.unit.integration_project import Project  # noqa: E402

pytestmark = pytest.mark.long

PROFILE = """
retail:
  target: small
  outputs:
    small: {type: idivm, schema: retail, catalog: in-memory, threads: 2}
"""
# a day of business, and one on which rows only go
BATCHES, SCALE, LEAST_SHARE = (0, 4), 0.3, 0.95


@pytest.fixture(scope="module")
def played(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, list[Round]]]:
    project = tmp_path_factory.mktemp("integration") / "retail_project"
    shutil.copytree(PROJECT, project, ignore=shutil.ignore_patterns(".idivm", "target", "logs", "__pycache__"))
    (project / "profiles.yml").write_text(PROFILE)
    engine = Engine(credentials_of(project, None))
    play = Play(dbt_of(project, None, None, "incremental", ()), engine, Console(), scale=SCALE)
    play.play(BATCHES)
    yield engine, play.rounds
    for schema in ("retail", "retail_quality", RAW):
        spark.sql(f"drop schema if exists {schema} cascade")


def test_models_and_tests_succeed(played: tuple[Engine, list[Round]]) -> None:
    _, rounds = played
    assert {done.title: done.failures for done in rounds} == {done.title: [] for done in rounds}
    assert all(done.tests > len(done.refreshes) for done in rounds)


def test_refreshes_are_incremental(played: tuple[Engine, list[Round]]) -> None:
    _, rounds = played
    rebuilt = [(done.title, each.model, each.reason) for done in rounds for each in done.counted if each.mode != "incremental"]
    for kind in KINDS:
        assert (share(rounds, kind) or 0) >= LEAST_SHARE, rebuilt


def test_the_first_load_builds_everything(played: tuple[Engine, list[Round]]) -> None:
    _, rounds = played
    assert {each.mode for each in rounds[0].refreshes} == {"create"}
    assert {each.model for each in rounds[0].refreshes} == {model.name for model in Project().maintained}


def test_days_pass(played: tuple[Engine, list[Round]]) -> None:
    """Models that read the clock move with the day, and were last refreshed in the night after the second batch."""
    engine, rounds = played
    for done in rounds[1:]:
        assert {each.mode for each in done.refreshes if each.model in ("orders_overdue", "customer_ages")} == {"incremental"}
    (night,) = engine.rows("select cast(timestamp'2024-06-23 02:00:00 UTC' as date)")
    assert engine.rows("select distinct date_add(ordered_on, days_open) from retail.orders_overdue") == [night]


def test_types_are_as_declared(played: tuple[Engine, list[Round]]) -> None:
    """What the properties files say of columns, from which the models are planned without Spark."""
    engine, _ = played
    project = Project()
    for model in project.maintained:
        schema = "retail_quality" if model.folder == "quality" else "retail"
        relation = model.config.get("alias", model.name)
        found = {row[0]: row[1] for row in engine.rows(f"describe {schema}.{relation}")}
        declared = project.declared_types(model.name)
        assert {name: found[name] for name in declared} == declared, model.name
