"""The order of lanes, what is counted, and that a wrong view voids the run: the runner over lanes that do nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks import __main__ as command
from benchmarks import runner
from benchmarks.experiment import Experiment, Inexact
from benchmarks.lanes import Lane, Sample
from benchmarks.meter import Work
from benchmarks.results import Record
from benchmarks.workload import Amount, Query

NAMES = ("full", "dbt_incremental", "id", "floor")
CHANGES = (("appends", Amount(percent=1)), ("nothing", Amount()))
EXPERIMENT = Experiment("append_only", 0.001, CHANGES, NAMES, ("daily", "regions"))


class Nothing:
    """A session, an engine and a Spark that run nothing."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.spark, self.folder = self, Path()

    def session(self) -> Nothing:
        return self

    def run(self, *statements: str) -> None:
        self.ran += statements

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return [(1000,)]

    def columns(self, sql: str) -> list[str]:
        return ["day"]


class Clock:
    """A meter that counts nothing."""

    def __init__(self, spark: Any) -> None:
        pass

    def start(self) -> None:
        pass

    def stop(self) -> Work:
        return Work(jobs=1)


class Played(Lane):
    """A lane that says that it was refreshed."""

    order: list[tuple[str, str, int]]

    def build(self, query: Query) -> Sample:
        return Sample(9.0)

    def refresh(self, query: Query) -> Sample:
        self.order.append((query.name, self.name, self.number))
        return Sample(float(self.number))


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, int]]:
    """The refreshes as they are run: query, lane, number of the step."""
    found: list[tuple[str, str, int]] = []
    monkeypatch.setattr(Played, "order", found, raising=False)
    monkeypatch.setattr(runner, "lane", Played)
    monkeypatch.setattr(runner, "Meter", Clock)
    monkeypatch.setattr(runner, "fingerprints", lambda session, bags, columns: dict.fromkeys(bags, (5, 1, 2)))
    return found


def play(engine: Nothing, experiment: Experiment = EXPERIMENT) -> list[Record]:
    return [record for part in runner.run(experiment, engine, lambda text: None) for record in part]  # type: ignore[arg-type]


def test_lanes_take_turns_and_the_floor_is_last(order: list[tuple[str, str, int]]) -> None:
    play(Nothing())
    daily = [[lane for query, lane, number in order if (query, number) == ("daily", step)] for step in (1, 2, 3)]
    assert daily == [
        ["full", "dbt_incremental", "id", "floor"],
        ["dbt_incremental", "id", "full", "floor"],
        ["id", "full", "dbt_incremental", "floor"],
    ]
    assert {lane for query, lane, _ in order if query == "regions"} == {"full", "id", "floor"}, "it leaves the MERGE by hand out"


def test_the_warm_up_is_not_counted(order: list[tuple[str, str, int]]) -> None:
    found = {(record.change, record.query, record.lane): record for record in play(Nothing())}
    assert found["appends", "daily", "id"].samples == (2.0, 3.0, 4.0) and found["appends", "daily", "id"].seconds == 3.0
    assert found["nothing", "daily", "id"].samples == (6.0, 7.0, 8.0), "steps are numbered over all changes"
    assert found["build", "daily", "id"].seconds == 9.0
    assert (found["appends", "daily", "id"].percent, found["nothing", "daily", "id"].percent) == (1, None)
    assert found["appends", "daily", "id"].view_rows == 5


def test_only_the_tables_in_use_are_loaded_and_all_is_dropped(order: list[tuple[str, str, int]]) -> None:
    engine = Nothing()
    play(engine, replace(EXPERIMENT, queries=("daily",)))
    loaded = [text.split()[4] for text in engine.ran if text.startswith("create or replace table")]
    assert loaded == ["append_only.sales"]
    assert [text.split()[4] for text in engine.ran if text.startswith("drop schema")] == [
        "append_only",
        *(f"lane_{name}" for name in NAMES),
    ]
    assert sum(text.startswith("insert into append_only.sales") for text in engine.ran) == 4, "`nothing` changes nothing"


def test_a_view_that_differs_voids_the_run(order: list[tuple[str, str, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(session: Any, bags: dict[str, str], columns: Any) -> dict[str, tuple[int, ...]]:
        return {name: (5, 1, 3 if name == "id" and len(order) > 8 else 2) for name in bags}

    monkeypatch.setattr(runner, "fingerprints", wrong)
    with pytest.raises(Inexact, match=r"append_only\.daily in lane id differs from its query after step 2"):
        play(Nothing())


@pytest.mark.parametrize(
    ("raised", "status", "kept"), [(Inexact("a view differs"), 1, 1), (ValueError("no key"), 1, 2), (None, 0, 2)]
)
def test_the_exit_status_says_whether_all_went_well(
    raised: Exception | None, status: int, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def records(experiment: Experiment, *others: Any) -> Any:
        yield [Record(experiment.workload, "q", 1.0, "c", "full", 1.0, 0.0, 0, 0, 0, 0, 0, 0, True)]
        if raised is not None:
            raise raised

    class Engine(Nothing):
        def __enter__(self) -> Engine:
            return self

        def __exit__(self, *failure: Any) -> None:
            pass

    monkeypatch.setattr(command, "run", records)
    monkeypatch.setattr(command, "engine", lambda memory, within: Engine())
    monkeypatch.setattr(command, "SUITES", {"bench": (EXPERIMENT, EXPERIMENT)})
    found = CliRunner().invoke(command.main, ["--suite", "bench", "--out", str(tmp_path)])
    assert found.exit_code == status
    assert len(command.results.read(tmp_path / "latest.json")[1]) == kept
