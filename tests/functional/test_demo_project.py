"""The demo's dbt project and its rounds of changes, over a sample of the flights."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.idivm.embedded import new_session

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "nycflights"
sys.path.insert(0, str(EXAMPLE))

from nycflights_demo import acts, data  # noqa: E402
from nycflights_demo.runs import Dbt, Round  # noqa: E402

pytestmark = pytest.mark.long

ONE_IN = 40
PROFILE = """
nycflights:
  target: sample
  outputs:
    sample: {type: idivm, schema: demo, catalog: in-memory, threads: 2}
"""
MODELS = {path.stem for path in (EXAMPLE / "models").rglob("*.sql")}
# Which models read none of what the first round changes: they read flights and weather only.
UNTOUCHED_BY_PLANES = {"airport_movements", "foul_weather"}


@dataclass(frozen=True)
class Played:
    """The demo's rounds, and where they were played."""

    project: Path
    session: Any
    rounds: tuple[Round, ...]

    def modes(self, number: int) -> dict[str, str]:
        return {model.name: model.mode for model in self.rounds[number].models}


@pytest.fixture(scope="module")
def played(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    project = tmp_path_factory.mktemp("demo") / "nycflights"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns(".idivm", "target", "logs", "__pycache__"))
    (project / "profiles.yml").write_text(PROFILE)
    _maintained(project / "dbt_project.yml")
    session = new_session(acts.credentials_of(project))
    data.create_schema(session)
    for table in data.TABLES:
        data.load(session, table, project / ".idivm", one_in=ONE_IN)
    yield Played(project, session, tuple(_play(Dbt(project, session))))
    for schema in ("demo", data.SCHEMA):
        session.sql(f"drop schema {schema} cascade")


def _maintained(file: Path) -> None:
    """Let the models be maintained, though a rebuild of so few rows is cheaper."""
    config: Any = yaml.safe_load(file.read_text())
    models = config["models"]["nycflights"]
    models["+idivm"] = {"strategy": "incremental"}
    models["flights"]["+idivm"]["strategy"] = "incremental"
    file.write_text(yaml.safe_dump(config))


def _play(dbt: Dbt) -> Iterator[Round]:
    yield dbt.run("built")
    for title, file in acts.CHANGES:
        if file:
            dbt.apply(data.statements(dbt.project / "changes" / file))
            yield dbt.run_and_test(title)
        else:
            yield dbt.run(title)


def test_every_round_is_exact(played: Played) -> None:
    for each in played.rounds[1:4]:
        assert {model.name: model.equivalent for model in each.models} == dict.fromkeys(MODELS, True), each.title


def test_modes(played: Played) -> None:
    assert played.modes(0) == dict.fromkeys(MODELS, "create")
    touched = dict.fromkeys(MODELS - UNTOUCHED_BY_PLANES, "incremental")
    assert played.modes(1) == touched | dict.fromkeys(UNTOUCHED_BY_PLANES, "noop")
    assert played.modes(2) == played.modes(3) == dict.fromkeys(MODELS, "incremental")
    assert played.modes(4) == dict.fromkeys(MODELS, "noop")


def test_nothing_new_costs_nothing(played: Played) -> None:
    for model in played.rounds[4].models:
        assert model.response["statements"] == 0, model.name
        assert model.response["strategy"] is None
        assert sum(model.response[f"rows_{what}"] for what in ("inserted", "updated", "deleted")) == 0


def test_refreshes_touch_rows(played: Played) -> None:
    for each in played.rounds[1:4]:
        for model in each.models:
            touched = sum(model.response[f"rows_{what}"] for what in ("inserted", "updated", "deleted"))
            assert (touched > 0) == (model.mode == "incremental"), f"{each.title}: {model.name}"


def test_an_attribute_update_asks_no_other_table(played: Played) -> None:
    """Names of airlines and seats of planes are in no condition: i-diffs alone bring them into the join."""
    (details,) = (model for model in played.rounds[1].models if model.name == "flight_details")
    assert details.response["strategy"] == "id"
    assert details.response["rows_updated"] > 0


def test_artifacts(played: Played) -> None:
    for model in MODELS:
        folder = played.project / "target" / "idivm" / model
        assert (folder / "plan.txt").read_text(encoding="utf-8").strip()
        assert "MERGE" in (folder / "delta_script.sql").read_text(encoding="utf-8").upper()


def test_hidden_ids_stay_hidden(played: Played) -> None:
    shown = played.session.table("demo.long_hauls").columns
    assert shown == ["airline", "destination", "month", "distance", "air_time", "arr_delay"]


def test_changes_arrived(played: Played) -> None:
    """What the files of changes are about is there: the new name, the new day, the airport that was missing."""
    details = played.session.table("demo.flight_details")
    assert details.where("airline = 'Alaska Airlines'").count() > 0
    assert details.where("airline = 'Alaska Airlines Inc.'").count() == 0
    assert details.where("year = 2014").count() > 0
    assert details.where("dest = 'PSE'").count() > 0
