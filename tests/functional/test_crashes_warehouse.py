"""Interruptions on a SQL warehouse of Databricks, whose sessions have no settings: the state is in a table beside the data.

Between a write and the record of it a view has rows whose state is not recorded. Then this must hold: readers see the old rows
or the new ones, what is recorded is true of the rows that it is recorded of, and the next run brings the view up to date and
leaves nothing behind.
"""

from __future__ import annotations

import re

import pytest

from tests.functional.shapes import SHAPES
from tests.functional.warehouse import Staging, stage  # noqa: F401  (a fixture)
from tests.tally import Tally

pytestmark = pytest.mark.long

SHORT = ("additive", "staged")  # without --every-point
REFUSED = re.compile(r"\s*(SET|RESET|CACHE|UNCACHE)\b|\bTEMPORARY\b", re.IGNORECASE)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" in metafunc.fixturenames:
        possible = [name for name, shape in SHAPES.items() if shape.mode != "migrated"]
        metafunc.parametrize("name", possible if metafunc.config.getoption("--every-point") else SHORT)


def test_a_refresh_that_breaks_off(name: str, stage: Staging, tally: Tally, pytestconfig: pytest.Config) -> None:  # noqa: F811
    play = stage(SHAPES[name])
    play.arrive()
    steps = play.begin()
    play.go_on(steps)
    assert steps.outcome is not None and steps.outcome.mode == play.shape.mode, steps.outcome
    executed = list(play.project.executed)
    assert not [each.sql for each in executed if REFUSED.match(each.sql)], "nothing is sent that a warehouse refuses"
    play.recover(thorough=True)
    writing = [place for place, each in enumerate(executed) if _changes(each.sql)]
    every = pytestconfig.getoption("--every-point")
    points = range(len(executed) + 1) if every else sorted({at for place in writing for at in (place, place + 1)})
    for statements in points:
        play.arrive()
        play.go_on(play.begin(), statements)
        with tally.point(f"{name} on a warehouse", f"after {statements} of {len(executed)} statements"):
            play.again()
            play.is_sound()
            play.recover(thorough=True)


def _changes(sql: str) -> bool:
    return sql.split()[0].upper() in ("MERGE", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER")


def test_an_edit_is_a_rebuild(stage: Staging) -> None:  # noqa: F811
    """The commit without rows with which stored ones get another definition has no claim."""
    play = stage(SHAPES["migrated"])
    play.arrive()
    assert play.project.refresh(play.model).mode == "full"
    assert play.project.is_exact(play.model)
