"""Others write while a refresh runs: it ends at the versions that it pinned, or is refused; the next run sees what they wrote.

As in `test_crashes.py` the points are counted: each shape is played once to the end, then again and again, with somebody else
who writes after a number of its statements. `make faults` tries every shape and writer: around the statements that change
something each writer, after any other one of them in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dbt_idivm.errors import IdivmError
from tests.functional.shapes import SHAPES, SOURCES, Shape, Stage
from tests.tally import Tally

OUTRUN = {"IDIVM-902", "IDIVM-903"}


def _own_tables(play: Stage) -> list[str]:
    """The Delta tables of the model and its caches."""
    found = []
    for name, kind in play.project.relations().items():
        if kind == "table" and name not in SOURCES:
            with suppress(Exception):  # a table of another format has the model's name
                play.project.sql(f"describe history $.{name} limit 1")
                found.append(name)
    return found


def _input(play: Stage) -> None:
    play.shape.change(play)


def _rows_come(play: Stage) -> None:
    for name in _own_tables(play):
        play.project.sql(f"insert into $.{name} select * from $.{name} limit 1")


def _rows_go(play: Stage) -> None:
    for name in _own_tables(play):
        play.project.sql(f"delete from $.{name}")


def _upkeep(play: Stage) -> None:
    for name in (*_own_tables(play), *SOURCES):
        play.project.sql(f"optimize $.{name}", f"vacuum $.{name}",
                         f"alter table $.{name} set tblproperties ('a' = '{play.number}')")


def _run(play: Stage) -> None:
    """Another process refreshes the model."""
    steps = play.begin()
    play.go_on(steps)


def _run_with_more(play: Stage) -> None:
    play.shape.change(play)
    _run(play)


WRITERS: dict[str, Callable[[Stage], None]] = {
    "input": _input, "rows_come": _rows_come, "rows_go": _rows_go, "upkeep": _upkeep, "run": _run,
    "run_with_more": _run_with_more,
}
ON_THE_VIEW = ("rows_come", "rows_go")
# Views, not restricted runs: what these leave is not a state that a refresh continues from.
NAMES = tuple(name for name, shape in SHAPES.items() if "restricted" not in shape.asked)
SHORT = (("append", "rows_come"), ("effective", "input"), ("cached", "run"))  # of which the default suite has those
LONG = ("append", "direct", "deleted", "replaced", "additive", "recomputed", "tuples", "staged", "cached", "full", "gap",
        "columns", "create", "mark", "diffs", "both")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "writer" in metafunc.fixturenames:
        every = bool(metafunc.config.getoption("--every-point"))
        pairs = [(name, writer) for name in (NAMES if every else LONG) for writer in WRITERS]
        rest = [pytest.param(*each, marks=() if every else pytest.mark.long) for each in pairs if each not in SHORT]
        metafunc.parametrize(("name", "writer"), [*SHORT, *rest])


@pytest.fixture
def stage(spark: Any, request: pytest.FixtureRequest) -> Iterator[Callable[[Shape], Stage]]:
    schema = "crash_" + request.node.name.partition("[")[2].rstrip("]").replace("-", "_")
    warehouse = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
    yield lambda shape: Stage.made(spark.newSession, schema, warehouse, shape)
    spark.sql(f"drop schema if exists {schema} cascade")


def _points(play: Stage, writer: str, *, every: bool) -> list[int]:
    """Each point has one writer at least, those around what changes something have all."""
    around, turn = {*play.points(every=False)}, [*WRITERS].index(writer)
    return [each for each in play.points(every=every) if each in around or each % len(WRITERS) == turn]


def test_others_write(name: str, writer: str, stage: Callable[[Shape], Stage], tally: Tally,
                      pytestconfig: pytest.Config) -> None:
    play = stage(SHAPES[name])
    play.whole()
    play.recover(thorough=True)
    for statements in _points(play, writer, every=bool(pytestconfig.getoption("--every-point"))):
        play.arrive()
        steps = play.begin()
        play.go_on(steps, statements)
        with tally.point(f"{name}, {writer}", f"after {statements} of {len(play.reference)} statements"):
            with play.project.in_session(play.new_session()):
                WRITERS[writer](play)
                newer = play.wanted()
            try:
                play.go_on(steps)
            except IdivmError as error:
                assert set(error.codes) <= OUTRUN, str(error)
            play.again()
            seen = play.sight()
            if writer not in ON_THE_VIEW and seen.rows is not None:
                assert seen in (play.old, play.new, newer) or "held" in dict(play.shape.effects).values()
            play.new = newer
            play.recover(thorough=False)
    assert play.reference
