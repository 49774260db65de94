"""A refresh that is interrupted anywhere leaves a view that equals its query at the vector it records; the next one continues.

The points are counted, not listed: each shape is played once to the end, then again and again, given up after each number
of its statements as a process that dies gives it up, in a session that is gone afterwards. `make faults` tries every
point of every shape; `make deep` those around the statements that change something, of a few shapes.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from dbt_idivm.errors import IdivmError
from tests.engines import warehouse_of
from tests.functional.shapes import EDITED_AND_MOVED, HELD, OLD, SHAPES, SOURCES, Shape, Stage
from tests.tally import Tally

EVERY = SHAPES | EDITED_AND_MOVED
# of each test, what `make deep` has
SHORT = ("replaced", "diffs")
MARKS = {"replaced": pytest.mark.deep}
SHORT_LATE = ("full",)
SHORT_TORN = ("create",)
LATE = (
    "create",
    "create_table",
    "append",
    "direct",
    "deleted",
    "effective",
    "replaced",
    "additive",
    "recomputed",
    "tuples",
    "whole",
    "rebuilt",
    "mark",
    "full",
    "definition",
    "columns",
    "hides",
    "shows",
    "over_view",
    "empty",
    "empty_shows",
    "diffs",
    "diffs_create",
    "diffs_gap",
    "both",
    "migrated",
    "migrated_same_then",
    "migrated_less_then",
)
OUTRUN = {"IDIVM-902", "IDIVM-903"}


@pytest.fixture
def stage(spark: Any, request: pytest.FixtureRequest) -> Iterator[Callable[[Shape], Stage]]:
    schema = "crash_" + request.node.name.partition("[")[2].rstrip("]")
    warehouse = warehouse_of(spark)
    yield lambda shape: Stage.made(spark.newSession, schema, warehouse, shape)
    spark.sql(f"drop schema if exists {schema} cascade")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every = bool(metafunc.config.getoption("--every-point"))
    for argument, short, long in (("name", SHORT, tuple(EVERY)), ("late", SHORT_LATE, LATE), ("torn", SHORT_TORN, tuple(TORN))):
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, long if every else [pytest.param(each, marks=MARKS.get(each, ())) for each in short])


def test_a_refresh_that_breaks_off(name: str, stage: Callable[[Shape], Stage], tally: Tally, pytestconfig: pytest.Config) -> None:
    play = stage(EVERY[name])
    play.whole()
    play.recover(thorough=True)
    every = bool(pytestconfig.getoption("--every-point"))
    points, seen, arrived = list(play.points(every=every)), "", False
    for number, statements in enumerate(points):
        if not arrived:
            play.arrive()
        effect = play.effect(statements)
        play.die(statements)
        with tally.point(name, f"after {statements} of {len(play.reference)} statements"):
            play.again()
            assert play.sight() == play.expected(effect)
            play.check_log(play.old, play.new)
            # until something changes, one refresh after the other may be interrupted at the same place
            arrived = effect == OLD and not play.changed(statements) and number + 1 < len(points)
            if not arrived:
                play.recover(thorough=effect != seen)
        seen = effect
    assert points


@pytest.mark.long
def test_a_statement_that_is_done_late(late: str, stage: Callable[[Shape], Stage], tally: Tally) -> None:
    """A client disappears, and the server executes its last statement during the next run, or after it."""
    play = stage(EVERY[late])
    play.whole()
    play.recover(thorough=True)
    for place in (number for number in range(len(play.reference)) if play.changed(number) != play.changed(number + 1)):
        for wait in range(1000):
            play.arrive()
            with tally.point(late, f"statement {place} done late, after {wait} of the next run"):
                done = _late(play, place, wait)
            if done:
                break


def _late(play: Stage, place: int, wait: int) -> bool:
    """The next run executes `wait` statements about the model's own relations; then the server executes the late one. Whether the
    next run was done by then."""
    broken = play.begin()
    play.go_on(broken, place)
    late, elsewhere, first = broken.statement, play.project.spark, play.new
    assert late is not None
    play.more()
    play.new = play.wanted()
    play.again()
    steps = play.begin_asked()
    try:
        while steps.statement is not None and wait:
            wait -= bool(re.search(r"\b(v(__idivm\w*)?|idivm_cache_\w+)$", steps.statement.label))
            play.go_on(steps, 1)
        done = steps.statement is None
        with suppress(Exception):  # it may come too late for the server to do it
            elsewhere.sql(late.sql)
        play.go_on(steps)
    except IdivmError as error:
        assert set(error.codes) <= OUTRUN, str(error)
        assert not done, str(error)
    play.again()
    seen = play.sight()
    known = (play.old, first, play.taken, play.new)
    assert seen.rows is None or seen.rows in [each.rows for each in known]
    # nothing guards a commit without data: behind newer rows it has the state of older ones, which the next run notices
    if HELD not in dict(play.shape.effects).values() and not late.label.startswith("set the properties"):
        assert seen in known or play.shape.mode == "noop" or seen.rows is None
    play.recover(thorough=False)
    return done


# What is on disk after a statement that a process did not survive, between the files and the catalog's entry.
def _files_without_entry(play: Stage, *, log: bool) -> None:
    play.whole()
    aside = play.warehouse.with_suffix(".aside")
    made = [path for path in play.warehouse.iterdir() if path.name not in SOURCES]
    for path in made:
        shutil.copytree(path, aside / path.name)
    play.drop()
    for path in made:
        shutil.copytree(aside / path.name, path)
        if not log:
            shutil.rmtree(path / "_delta_log")
    shutil.rmtree(aside)
    play.forget_logs()
    play.arrive()


def _half_renamed(play: Stage, *, entry: bool) -> None:
    play.whole()
    play.arrive()
    renaming = play.reference.index("rename v__idivm_new")
    play.die(renaming + entry)
    old, new = play.warehouse / "v__idivm_new", play.warehouse / "v"
    (new if entry else old).rename(old if entry else new)
    play.forget_logs()


TORN: dict[str, tuple[str, Callable[[Stage], None]]] = {
    "create": ("create", partial(_files_without_entry, log=True)),
    "create_table": ("create_table", partial(_files_without_entry, log=True)),
    "create_log": ("diffs_create", partial(_files_without_entry, log=True)),
    "create_uncommitted": ("create", partial(_files_without_entry, log=False)),
    "renamed_files": ("shows", partial(_half_renamed, entry=False)),
    "renamed_entry": ("shows", partial(_half_renamed, entry=True)),
}


@pytest.mark.deep
def test_a_statement_that_is_half_done(torn: str, stage: Callable[[Shape], Stage], tally: Tally) -> None:
    """Catalog and files are not changed in one step, and a process may die in between: the next run continues nevertheless."""
    shape, tear = TORN[torn]
    play = stage(SHAPES[shape])
    tear(play)
    with tally.point(f"{shape}, half done", torn):
        play.again()
        # a folder that no table of the catalog has is not seen by SQL; it is used when a table comes there again
        play.recover(thorough=True, files=torn != "renamed_entry")
