"""Others write while a refresh runs: it ends at the versions that it pinned, or is refused; the next run sees what they wrote.

As in `test_crashes.py` the points are counted: each shape is played once to the end, then again and again, with somebody else
who writes after a number of its statements. `make faults` tries every shape: around the statements that change something each
writer, after any other one of them in turn. What is harsher than rows that come and go is tried of some shapes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dbt_idivm.errors import IdivmError
from tests.functional.shapes import CHANGES, EDITED_AND_MOVED, HELD, SHAPES, SOURCES, Shape, Sight, Stage
from tests.tally import Tally

OUTRUN = frozenset({"IDIVM-902", "IDIVM-903"})


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


def _beside(play: Stage) -> list[str]:
    """The caches, and the log of a view that is kept."""
    kept = play.shape.options.get("output") == "both"
    return [name for name in _own_tables(play) if name.startswith("idivm_cache_") or (kept and name == CHANGES)]


def _with_rows(play: Stage) -> list[str]:
    """Those that have, or get, the rows of the model: of a log alone its changes."""
    return [name for name in _own_tables(play) if name not in _beside(play)]


def _to(tables: Callable[[Stage], list[str]], sql: str) -> Callable[[Stage], None]:
    """What is done to each of the tables, whose name is {0}."""

    def write(play: Stage) -> None:
        for name in tables(play):
            play.project.sql(*sql.format(name).split("; "))

    return write


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


def _replace_sources(play: Stage) -> None:
    """They get a column, and lose it with the tables that replace them."""
    for name in sorted(SOURCES):
        play.project.sql(f"alter table $.{name} add columns (extra int)",
                         f"create or replace table $.{name} using delta {FEED} as select * except (extra) from $.{name}")


def _create_a_source_again(play: Stage) -> None:
    """One of them, in turn, with other rows: its versions begin anew."""
    name = _in_turn(play)
    play.project.sql(f"create table $.aside using delta as select * from $.{name}", f"drop table $.{name}",
                     f"create table $.{name} using delta {FEED} as {OTHER_ROWS[name]}", "drop table $.aside")


def _in_turn(play: Stage) -> str:
    return sorted(SOURCES)[len(play.project.executed) % len(SOURCES)]


def _exchange(play: Stage, name: str, query: str, properties: str = "") -> None:
    """Another table takes the name, which has the very versions of that one, and other rows."""
    latest = play.version(name)
    play.project.sql("drop table if exists $.former", f"create table $.aside using delta {properties} as {query}")
    log = play.warehouse / "aside" / "_delta_log"
    for version in range(1, latest + 1):
        info = {"timestamp": int(time.time() * 1000), "operation": "WRITE", "operationParameters": {"mode": "Append"},
                "operationMetrics": {"numOutputRows": "0", "numFiles": "0"}}
        (log / f"{version:020}.json").write_text(json.dumps({"commitInfo": info}) + "\n")
    play.project.sql(f"alter table $.{name} rename to $.former", f"alter table $.aside rename to $.{name}", "drop table $.former")
    assert play.version(name) == latest


def _exchange_a_source(play: Stage) -> None:
    name = _in_turn(play)
    _exchange(play, name, OTHER_ROWS[name].replace("$.aside", f"$.{name}"), FEED)


def _exchange_own(play: Stage) -> None:
    for name in _with_rows(play):
        _exchange(play, name, f"select * from $.{name} limit 1")


# of a source that is in $.aside
OTHER_ROWS = {"orders": "select id, cust, price + 1 as price, concat(note, '!') as note from $.aside where id <> 3",
              "cust": "select id, concat(name, '!') as name from $.aside where id <> 2"}
FEED = "tblproperties ('delta.enableChangeDataFeed' = 'true')"
COME, GO, DROPPED = "insert into $.{0} select * from $.{0} limit 1", "delete from $.{0}", "drop table $.{0}"
# with other rows, so that a refresh which changes them leaves others than those of the SELECT
AGAIN = ("create table $.aside using delta as select * from $.{0} limit 1; drop table $.{0}; "
         "create table $.{0} using delta as select * from $.aside; drop table $.aside")
COMMON: dict[str, Callable[[Stage], None]] = {
    "input": _input, "rows_come": _to(_own_tables, COME), "rows_go": _to(_own_tables, GO), "upkeep": _upkeep, "run": _run,
    "run_with_more": _run_with_more,
}
HARSH: dict[str, Callable[[Stage], None]] = {
    "sources_replaced": _replace_sources, "source_again": _create_a_source_again, "source_exchanged": _exchange_a_source,
    "exchanged": _exchange_own, "dropped": _to(_with_rows, DROPPED),
    "again": _to(_with_rows, AGAIN), "rows_go_beside": _to(_beside, GO),
}
WRITERS = {**COMMON, **HARSH}
# They leave rows in the view that are none of a refresh, until the next one.
ON_THE_VIEW = ("rows_come", "rows_go", "again", "rows_go_beside", "exchanged")
UNDISTURBED = (("effective", "input"), ("migrated_less_then", "input"))  # a busy input is no reason to fail
# Views, not restricted runs: what these leave is not a state that a refresh continues from.
NAMES = tuple(name for name, shape in SHAPES.items() if "restricted" not in shape.asked)
SHORT = (("append", "rows_come"), ("effective", "input"), ("cached", "run"))  # of which the default suite has those
LONG = ("append", "direct", "deleted", "replaced", "additive", "recomputed", "tuples", "staged", "cached", "full", "gap",
        "columns", "create", "mark", "diffs", "both")
# beside those: around the statements that change something
FURTHER = (("append", "sources_replaced"), ("append", "source_again"), ("append", "again"), ("cached", "rows_go_beside"),
           *((name, "source_exchanged") for name in ("append", "effective", "cached", "full", "create", "migrated_then", "diffs",
                                                     "both")),
           *((name, "exchanged") for name in ("effective", "append", "full", "migrated_less_then", "both", "diffs")),
           ("migrated_then", "dropped"), ("migrated_less_then", "input"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "writer" in metafunc.fixturenames:
        every = bool(metafunc.config.getoption("--every-point"))
        pairs = [*((name, writer) for name in (NAMES if every else LONG) for writer in COMMON), *FURTHER]
        rest = [pytest.param(*each, marks=() if every else pytest.mark.long) for each in pairs if each not in SHORT]
        metafunc.parametrize(("name", "writer"), [*SHORT, *rest])


@pytest.fixture
def stage(spark: Any, request: pytest.FixtureRequest) -> Iterator[Callable[[Shape], Stage]]:
    schema = "crash_" + request.node.name.partition("[")[2].rstrip("]").replace("-", "_")
    warehouse = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
    yield lambda shape: Stage.made(spark.newSession, schema, warehouse, shape)
    spark.sql(f"drop schema if exists {schema} cascade")


def _points(play: Stage, name: str, writer: str, *, every: bool) -> list[int]:
    """Each point has one writer at least, those around what changes something have all."""
    around, turn = {*play.points(every=False)}, [*WRITERS].index(writer)
    every = every and (name, writer) not in FURTHER
    return [each for each in play.points(every=every) if each in around or each % len(COMMON) == turn]


def test_others_write(name: str, writer: str, stage: Callable[[Shape], Stage], tally: Tally,
                      pytestconfig: pytest.Config) -> None:
    play = stage((SHAPES | EDITED_AND_MOVED)[name])
    play.whole()
    play.recover(thorough=True)
    for statements in _points(play, name, writer, every=bool(pytestconfig.getoption("--every-point"))):
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
                assert set(error.codes) <= (set() if (name, writer) in UNDISTURBED else OUTRUN), str(error)
            play.again()
            seen = play.sight()
            if writer not in ON_THE_VIEW and seen.rows is not None:
                known = [play.old, play.taken, play.new, newer]
                if play.shape.mode == "migrated":  # and not refreshed any more
                    known.append(Sight(play.taken.rows, play.old.vector))
                assert seen in known or HELD in dict(play.shape.effects).values()
            play.new = newer
            play.recover(thorough=False)
    assert play.reference
