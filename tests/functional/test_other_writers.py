"""Others write while a refresh runs: it ends at the versions that it pinned, or is refused; the next run sees what they wrote.

As in `test_crashes.py` the points are counted: each shape is played once to the end, then again and again, with somebody else
who writes after a number of its statements. `make faults` tries every shape: around the statements that change something each
writer, after any other one of them in turn. What is harsher than rows that come and go is tried of some shapes.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from dbt_idivm.errors import IdivmError
from tests.engines import warehouse_of
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


def _beside(play: Stage) -> list[str]:
    """The caches, and the log of a view that is kept."""
    kept = play.shape.options.get("output") == "both"
    return [name for name in _own_tables(play) if name.startswith("idivm_cache_") or (kept and name == CHANGES)]


def _with_rows(play: Stage) -> list[str]:
    """Those that have, or get, the rows of the model: of a log alone its changes."""
    return [name for name in _own_tables(play) if name not in _beside(play)]


def _to(tables: Callable[[Stage], list[str]], sql: str) -> Callable[[Stage], None]:
    """What is done to each of the tables: {0} is its name, {1} the version before its newest one."""

    def write(play: Stage) -> None:
        for name in tables(play):
            play.project.sql(*sql.format(name, max(play.version(name) - 1, 0)).split("; "))

    return write


def _upkeep(play: Stage) -> None:
    """The files of older versions are gone afterwards, those of the feed as well."""
    play.project.sql("set spark.databricks.delta.retentionDurationCheck.enabled = false")  # of this session alone
    for name in (*_own_tables(play), *SOURCES):
        play.project.sql(
            f"optimize $.{name}",
            f"vacuum $.{name} retain 0 hours",
            f"alter table $.{name} set tblproperties ('a' = '{play.number}')",
        )


def _run(play: Stage) -> None:
    """Another process refreshes the model."""
    steps = play.begin()
    play.go_on(steps)


def _run_with_more(play: Stage) -> None:
    play.more()
    _run(play)


def _replace_sources(play: Stage) -> None:
    """They get a column, and lose it with the tables that replace them."""
    for name in sorted(SOURCES):
        play.project.sql(
            f"alter table $.{name} add columns (extra int)",
            f"create or replace table $.{name} using delta {FEED} as select * except (extra) from $.{name}",
        )


def _create_a_source_again(play: Stage) -> None:
    """One of them, in turn, with other rows: its versions begin anew."""
    name = _in_turn(play)
    play.project.sql(
        f"create table $.aside using delta as select * from $.{name}",
        f"drop table $.{name}",
        f"create table $.{name} using delta {FEED} as {OTHER_ROWS[name].format('aside')}",
        "drop table $.aside",
    )


def _in_turn(play: Stage) -> str:
    return sorted(SOURCES)[len(play.project.executed) % len(SOURCES)]


def _exchange(play: Stage, name: str, query: str, more: str) -> None:
    """Another table takes the name by renaming, with the very version that the former one has, and with other rows: those of
    `query` from its beginning on, those of `more` since its newest version."""
    version = play.version(name)
    play.project.sql(f"create table $.spare using delta {FEED} as {query.format(name)}")
    _age(play, "spare", version, more.format(name))
    play.project.sql(f"alter table $.{name} rename to $.former", f"alter table $.spare rename to $.{name}", "drop table $.former")
    play.forget_logs()
    assert play.version(name) == version


def _exchange_in_place(play: Stage, name: str, query: str, more: str) -> None:
    """The same by DROP and CREATE."""
    version = play.version(name)
    play.project.sql(
        f"create table $.aside using delta as select * from $.{name}",
        f"drop table $.{name}",
        f"create table $.{name} using delta {FEED} as {query.format('aside')}",
    )
    _age(play, name, version, more.format("aside"))
    play.project.sql("drop table $.aside")
    play.forget_logs()
    assert play.version(name) == version


def _age(play: Stage, name: str, version: int, more: str) -> None:
    """The table, which is new, gets commits without data up to that version, which has more rows if there are any."""
    log = play.warehouse / name / "_delta_log"
    for number in range(1, version if more else version + 1):
        info = {
            "timestamp": int(time.time() * 1000),
            "operation": "WRITE",
            "operationParameters": {"mode": "Append"},
            "operationMetrics": {"numOutputRows": "0", "numFiles": "0"},
        }
        (log / f"{number:020}.json").write_text(json.dumps({"commitInfo": info}) + "\n")
    if version and more:
        play.project.sql(f"insert into $.{name} {more}")


def _exchange_source(play: Stage, name: str, how: Callable[[Stage, str, str, str], None]) -> None:
    play.number += 1
    how(play, name, OTHER_ROWS[name], MORE_ROWS[name].format(play.number))


def _exchange_own(tables: Callable[[Stage], list[str]], query: str, more: str) -> Callable[[Stage], None]:
    def write(play: Stage) -> None:
        for name in tables(play):
            _exchange(play, name, query, more)

    return write


# what another table of that name has, and what comes to it last
OTHER_ROWS = {
    "orders": "select id, (cust + 1) % 3 as cust, price + 2 as price, concat(note, '!') as note from $.{0} "
    "where id <> (select min(id) from $.{0} where id > 3)",
    "cust": "select id, concat(name, '!') as name from $.{0}",
}
MORE_ROWS = {"orders": "values ({0}, 1, 9, 'x')", "cust": "select {0}, 'x'"}
FEED = "tblproperties ('delta.enableChangeDataFeed' = 'true')"
COME, GO, DROPPED = "insert into $.{0} select * from $.{0} limit 1", "delete from $.{0}", "drop table $.{0}"
# with other rows, so that a refresh which changes them leaves others than those of the SELECT
AGAIN = (
    "create table $.aside using delta as select * from $.{0} limit 1; drop table $.{0}; "
    "create table $.{0} using delta as select * from $.aside; drop table $.aside"
)
RESTORED = "restore table $.{0} to version as of {1}"
REPLACED = "create or replace table $.{0} using delta as select * from $.{0}"
SEVERAL = "select * from $.{0} union all select * from $.{0}", "select * from $.{0}"
FEWER = "select * from $.{0} limit 1", ""  # unique still, as a cache has to be
COMMON: dict[str, Callable[[Stage], None]] = {
    "input": Stage.more,
    "rows_come": _to(_own_tables, COME),
    "rows_go": _to(_own_tables, GO),
    "upkeep": _upkeep,
    "run": _run,
    "run_with_more": _run_with_more,
}
HARSH: dict[str, Callable[[Stage], None]] = {
    "sources_replaced": _replace_sources,
    "source_again": _create_a_source_again,
    "orders_exchanged": lambda play: _exchange_source(play, "orders", _exchange),
    "cust_exchanged": lambda play: _exchange_source(play, "cust", _exchange),
    "exchanged_in_place": lambda play: _exchange_source(play, _in_turn(play), _exchange_in_place),
    "dropped": _to(_with_rows, DROPPED),
    "restored": _to(_with_rows, RESTORED),
    "replaced": _to(_with_rows, REPLACED),
    "again": _to(_with_rows, AGAIN),
    "exchanged": _exchange_own(_with_rows, *SEVERAL),
    "rows_go_beside": _to(_beside, GO),
    "dropped_beside": _to(_beside, DROPPED),
    "exchanged_beside": _exchange_own(_beside, *FEWER),
}
WRITERS = {**COMMON, **HARSH}
# They leave rows in the view that are none of a refresh, until the next one.
ON_THE_VIEW = ("rows_come", "rows_go", "restored", "again", "rows_go_beside")
# They leave a table without the properties of the model's, of so many copies of known rows; no refresh builds on it.
COPIES = {"replaced": (1,), "exchanged": (2, 3)}
ERRORS = {"input": frozenset[str]()}  # a busy input disturbs nobody; else some of OUTRUN
# Views, not restricted runs: what these leave is not a state that a refresh continues from.
NAMES = tuple(name for name, shape in SHAPES.items() if "restricted" not in shape.asked)
SHORT = (("append", "rows_come"), ("effective", "input"), ("cached", "run"))  # of which `make deep` has those
LONG = (
    "append",
    "direct",
    "deleted",
    "replaced",
    "additive",
    "recomputed",
    "tuples",
    "staged",
    "cached",
    "full",
    "gap",
    "columns",
    "create",
    "mark",
    "diffs",
    "both",
)
EXCHANGED = ("append", "effective", "cached", "full", "create", "migrated_then", "diffs", "both")
# beside those: around the statements that change something
FURTHER = (
    *(("append", writer) for writer in ("sources_replaced", "source_again", "dropped", "restored", "replaced", "again")),
    *((name, "orders_exchanged") for name in EXCHANGED),
    *((name, "exchanged") for name in EXCHANGED),
    *((name, "cust_exchanged") for name in EXCHANGED if name != "migrated_then"),  # which does not read it
    *((name, "exchanged_in_place") for name in ("append", "cached", "full", "diffs")),
    *(("cached", writer) for writer in ("rows_go_beside", "dropped_beside", "exchanged_beside")),
    ("both", "exchanged_beside"),
    ("definition", "dropped"),
    ("migrated_then", "dropped"),
    ("migrated_less_then", "input"),
    ("migrated_less_then", "exchanged"),
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "writer" in metafunc.fixturenames:
        every = bool(metafunc.config.getoption("--every-point"))
        pairs = [*((name, writer) for name in (NAMES if every else LONG) for writer in COMMON), *FURTHER]
        rest = [pytest.param(*each, marks=() if every else pytest.mark.long) for each in pairs if each not in SHORT]
        metafunc.parametrize(("name", "writer"), [*SHORT, *rest])


@pytest.fixture
def stage(spark: Any, request: pytest.FixtureRequest) -> Iterator[Callable[[Shape], Stage]]:
    schema = "crash_" + request.node.name.partition("[")[2].rstrip("]").replace("-", "_")
    warehouse = warehouse_of(spark)
    yield lambda shape: Stage.made(spark.newSession, schema, warehouse, shape)
    spark.sql(f"drop schema if exists {schema} cascade")


def _points(play: Stage, name: str, writer: str, *, every: bool) -> list[int]:
    """Each point has one writer at least, those around what changes something have all."""
    around, turn = {*play.points(every=False)}, [*WRITERS].index(writer)
    every = every and (name, writer) not in FURTHER
    return [each for each in play.points(every=every) if each in around or each % len(COMMON) == turn]


def _copies(rows: Counter[tuple[Any, ...]], number: int) -> Counter[tuple[Any, ...]]:
    return Counter({row: count * number for row, count in rows.items()})


@pytest.mark.deep
def test_others_write(name: str, writer: str, stage: Callable[[Shape], Stage], tally: Tally, pytestconfig: pytest.Config) -> None:
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
                assert set(error.codes) <= ERRORS.get(writer, OUTRUN), str(error)
            play.again()
            seen = play.sight()
            if writer not in ON_THE_VIEW and seen.rows is not None:
                known = [play.old, play.taken, play.new, newer]
                if play.shape.mode == "migrated":  # and not refreshed any more
                    known.append(Sight(play.taken.rows, play.old.vector))
                of_others = [_copies(each.rows, number) for each in known if each.rows for number in COPIES.get(writer, ())]
                assert seen in known or seen.rows in of_others or HELD in dict(play.shape.effects).values()
            play.new = newer
            play.recover(thorough=False)
    assert play.reference
