"""Commits of the same second, where files have no smaller unit: what a refresh does is what it does with exact times."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.engine.commits import moments
from tests.unit.fake_engine import FakeEngine
from tests.unit.test_confirm import BAG, CACHED, EDITED, PLAIN, changed, made

LOGGED, BOTH = (replace(PLAIN, config={"idivm": {"strategy": "id", "output": output}}) for output in ("diffs", "both"))


@pytest.mark.parametrize(
    ("shown", "times"),
    [
        ([], []),
        (["a1"], ["a1"]),
        (["a2", "a1"], ["a2", "a1"]),
        (["2026-01-01 10:00:00.002", "2026-01-01 10:00:00.001", "2026-01-01 10:00:00"], ["2026-01-01 10:00:00"] * 3),
        (["2026-01-01T10:00:00.002000", "2026-01-01T10:00:00"], ["2026-01-01T10:00:00.002000", "2026-01-01T10:00:00"]),
        (
            ["2026-01-01 10:00:02.001", "2026-01-01 10:00:02", "2026-01-01 10:00:00.001", "2026-01-01 10:00:00"],
            ["2026-01-01 10:00:02", "2026-01-01 10:00:02", "2026-01-01 10:00:00", "2026-01-01 10:00:00"],
        ),
    ],
)
def test_the_shifts_are_taken_back(shown: list[str], times: list[str]) -> None:
    assert moments(shown) == times


def modes(request: ModelRequest, edited: ModelRequest, *, of_one_second: bool) -> list[str]:
    engine = made(None)
    engine.second = dt.datetime.now(dt.UTC).replace(microsecond=0, tzinfo=None) if of_one_second else None
    found = [engine.drive(request).mode]
    if "main.v" in engine.tables:
        engine.tables["main.v"].columns = {"id": "int", "name": "string"}

    def again(asked: ModelRequest = request) -> None:
        done = engine.drive(asked)
        assert not done.warnings
        found.append(f"{done.mode} {done.reason}")

    for commits in (1, 2, 9, 12, 25):
        for _ in range(commits):
            changed(engine)
        again()
        again()
        compacted(engine)
        again()
    changed(engine)
    again(edited)
    again(edited)
    return found


def compacted(engine: FakeEngine) -> None:
    for table in engine.tables.values():
        if table.commits and table.kind != "VIEW":
            table.commit("OPTIMIZE")


@pytest.mark.parametrize(
    ("asked", "edited"), [(PLAIN, EDITED), (PLAIN, BAG), (BAG, BAG), (CACHED, CACHED), (LOGGED, LOGGED), (BOTH, BOTH)]
)
def test_refreshes_are_the_same(asked: ModelRequest, edited: ModelRequest) -> None:
    found = modes(asked, edited, of_one_second=True)
    assert found == modes(asked, edited, of_one_second=False)
    assert not [each for each in found if "IDIVM-40" in each]
