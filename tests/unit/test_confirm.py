"""Tables that are exchanged for others while a refresh runs, with the versions that it has looked at: no commit shows that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import EngineError, Reply, Statement
from tests.unit.fake_engine import FakeEngine, model

MOVED = ((7, "seven", 1), (8, "eight", -1))
PLAIN = model("select id, name from main.o", {"o": "id"})
BAG = model("select name from main.o", {"o": "id"})  # a hidden table has the key
EDITED = replace(PLAIN, sql="select id, name from main.o where id < 9")  # rows go, then there is a commit without data
CACHED = model(
    "select m, count(*) as n from (select name, max(id) as m from main.o group by name) t group by m", {"o": "id"}, caches="all"
)


def made(first: ModelRequest | None) -> FakeEngine:
    engine = FakeEngine()
    engine.source("o", id="int", name="string")
    if first is not None:
        assert engine.drive(first).mode == "create"
        engine.tables["main.v"].columns = {"id": "int", "name": "string"}
        changed(engine)
    return engine


def changed(engine: FakeEngine) -> None:
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff of main.o"] = MOVED
    engine.reads["net diff of main.idivm_cache"] = ((7, 1, "seven", 1),)


def at_the_write(engine: FakeEngine, what: Callable[[], None], number: int = 1) -> None:
    """Something happens right before the refresh writes for that time."""
    left = [number]

    def write() -> None:
        left[0] -= 1
        if left[0] == 0:
            engine.on_write = None
            what()

    engine.on_write = write


def before(engine: FakeEngine, label: str, what: Callable[[], None], is_time: Callable[[], object] = lambda: True) -> list[str]:
    """Something happens once, before a statement whose label begins so. The list is empty once it has."""
    answer, left = engine.answer, [label]

    def answered(statement: Statement) -> Reply:
        if left and statement.label.startswith(label) and is_time():
            left.pop()
            what()
        return answer(statement)

    engine.answer = answered  # type: ignore[method-assign]
    return left


def exchange(engine: FakeEngine, name: str) -> Callable[[], None]:
    """Another table takes the name, which has as many commits, at other times."""

    def done() -> None:
        engine.tables[name].epoch += "x"
        count = len(engine.tables[name].commits)
        engine.tables[name].commits.clear()
        for _ in range(count):
            engine.tables[name].commit("WRITE", {"numOutputRows": "9"})

    return done


ASKED = {
    "incremental": (PLAIN, PLAIN, 1),
    "a hidden table": (BAG, BAG, 1),
    "a first build": (None, PLAIN, 1),
    "a first build of a hidden table": (None, BAG, 1),
    "a full refresh": (PLAIN, replace(PLAIN, full_refresh=True), 1),
    "an edit": (PLAIN, EDITED, 1),
    "its second commit": (PLAIN, EDITED, 2),
    "the refresh after an edit": (PLAIN, EDITED, 3),
    "an edit that moves the rows": (PLAIN, BAG, 1),
    "a cache": (CACHED, CACHED, 1),
    "a view over a cache": (CACHED, CACHED, 2),
    "a log": (replace(PLAIN, config={"idivm": {"strategy": "id", "output": "diffs"}}),) * 2 + (1,),
}


@pytest.mark.parametrize("case", ASKED)
def test_an_input_that_is_exchanged_is_read_again(case: str) -> None:
    """In the same refresh, for the reason that the next run would have had; that one finds nothing to do."""
    first, asked, number = ASKED[case]
    engine = made(first)
    at_the_write(engine, exchange(engine, "main.o"), number)
    done = engine.drive(asked)
    assert engine.on_write is None and done.mode == "full" and done.reason is not None
    assert done.reason[:9] == ("IDIVM-401" if asked.full_refresh else "IDIVM-404"), done.reason
    assert [each for each in done.warnings if "others dropped or replaced `main.o`" in each]
    assert engine.drive(replace(asked, full_refresh=False)).mode == "noop"


@pytest.mark.parametrize(
    ("first", "asked", "table"),
    [(PLAIN, PLAIN, "main.v"), (BAG, BAG, "main.v__idivm"), (PLAIN, EDITED, "main.v"), (PLAIN, BAG, "main.v")],
)
def test_a_view_that_is_exchanged_is_rebuilt(first: ModelRequest, asked: ModelRequest, table: str) -> None:
    engine = made(first)
    at_the_write(engine, exchange(engine, table))
    done = engine.drive(asked)
    assert engine.on_write is None and done.mode == "full"
    assert engine.drive(asked).mode == "noop"


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_view_that_is_exchanged_between_the_commits_of_a_refresh(number: int) -> None:
    """Rows go, then the definition is replaced, and then the view is refreshed."""
    engine = made(PLAIN)
    at_the_write(engine, exchange(engine, "main.v"), number)
    assert engine.drive(EDITED).mode == "full" and engine.on_write is None
    assert engine.drive(EDITED).mode == "noop"


@pytest.mark.parametrize("number", [1, 2])
def test_a_table_that_is_exchanged_before_its_feed_is_on(number: int) -> None:
    """The commit that switches it on has the state."""
    mapped = replace(PLAIN, config={**PLAIN.config, "dbt": {"tblproperties": {"delta.columnMapping.mode": "name"}}})
    engine = made(mapped)
    full = replace(mapped, sql=EDITED.sql, full_refresh=True)
    at_the_write(engine, exchange(engine, "main.v"), number)
    assert engine.drive(full).mode == "full" and engine.on_write is None
    assert engine.labels("write")[-1] != "build main.v" or number == 1
    assert engine.drive(replace(full, full_refresh=False)).mode == "noop"


def test_the_log_of_a_view_has_nothing_of_such_a_refresh() -> None:
    both = replace(PLAIN, config={"idivm": {"strategy": "id", "output": "both"}})
    engine = made(both)
    at_the_write(engine, exchange(engine, "main.o"))
    assert engine.drive(both).mode == "full"
    *view, log = engine.labels("write")
    assert view == ["merge into main.v", "rebuild main.v"] and log.endswith("__idivm_changes")
    assert engine.drive(both).mode == "noop"


def test_a_view_that_is_exchanged_before_its_rows_are_replaced() -> None:
    """The other table has not the properties by which rebuilds keep it: what they built is not there any more."""
    engine, asked = made(PLAIN), replace(PLAIN, full_refresh=True)
    engine.query_columns = dict(engine.tables["main.v"].columns)
    assert engine.drive(asked).mode == "full" and engine.labels("write") == ["rebuild main.v"]
    at_the_write(engine, exchange(engine, "main.v"))
    assert engine.drive(asked).mode == "full"
    assert [each for each in engine.labels("write") if "main.v" in each] == ["rebuild main.v", "build main.v__idivm_new"]
    assert engine.drive(PLAIN).mode == "noop"


def test_a_cache_that_is_dropped_once_it_is_refreshed() -> None:
    """It is built again in the same refresh, and is no relation that the user has to see to."""
    engine = made(CACHED)
    assert engine.drive(CACHED).mode == "incremental"  # its first version has the time of that of any other table here
    changed(engine)
    cache = next(name for name in engine.tables if "idivm_cache" in name)
    written: list[bool] = []

    def gone() -> None:
        del engine.tables[cache]

    at_the_write(engine, lambda: written.append(True))
    left = before(engine, f"columns of {cache}", gone, lambda: written)
    assert engine.drive(CACHED).mode == "full" and not left and cache in engine.tables
    assert engine.drive(CACHED).mode == "noop"


def test_a_cache_that_is_exchanged_for_rows_that_break_its_key() -> None:
    """The user is not told to declare another key."""
    engine = made(CACHED)
    assert engine.drive(CACHED).mode == "incremental"
    changed(engine)
    cache = next(name for name in engine.tables if "idivm_cache" in name)

    def with_a_copy() -> None:
        exchange(engine, cache)()
        engine.reads["net diff of main.idivm_cache"] = ((7, 1, "seven", 1), (8, 1, "seven", 1))

    left = before(engine, f"net diff of {cache}", with_a_copy)
    assert engine.drive(CACHED).mode == "full" and not left
    assert engine.drive(CACHED).mode == "noop"


@pytest.mark.parametrize("commits", [1, 9, 10, 40])
def test_commits_of_others_are_no_exchange(commits: int) -> None:
    engine = made(PLAIN)

    def write() -> None:
        for _ in range(commits):
            engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})

    at_the_write(engine, write)
    assert engine.drive(PLAIN).mode == "incremental"


def test_a_statement_that_fails_for_it() -> None:
    """A version that was pinned is not there any more."""
    engine = made(PLAIN)

    def shorter() -> None:
        exchange(engine, "main.o")()
        del engine.tables["main.o"].commits[1:]
        engine.fail["merge into"] = EngineError("DELTA_VERSIONS_NOT_CONTIGUOUS", "cannot time travel to version 2")

    engine.fail["changes of"] = EngineError("ANY", "it is merged then")
    before(engine, "merge into", shorter)
    done = engine.drive(PLAIN)
    assert done.mode == "full" and done.reason is not None and "IDIVM-404" in done.reason


def test_an_input_that_is_exchanged_again_and_again() -> None:
    """The second time the run fails, and the next one rebuilds the view."""
    engine = made(PLAIN)
    engine.on_write = exchange(engine, "main.o")
    with pytest.raises(IdivmError) as caught:
        engine.drive(PLAIN)
    assert caught.value.codes == ("IDIVM-903",) and "The next run rebuilds main.v" in str(caught.value)
    engine.on_write = None
    assert engine.drive(PLAIN).mode == "full"
    assert engine.drive(PLAIN).mode == "noop"


def test_models_that_follow_read_the_other_table() -> None:
    engine, run, other = made(PLAIN), Invocation(), replace(PLAIN, name="w", identifier="w")
    at_the_write(engine, exchange(engine, "main.o"))
    assert engine.drive(PLAIN, run).mode == "full"
    assert engine.drive(other, run).mode == "create"
    assert engine.drive(other).mode == "noop"
