"""Interruptions over a Thrift or Spark Connect server that continues: the client is gone, its last statement executed or not.

At each statement that changes something the client goes away in two ways: with its answer, saying goodbye; and right after it
has sent the statement, without a word. Then a statement that a client sends again, because its answer was lost.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import pytest

from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.engine import commits
from dbt_idivm.refresh.protocol import EngineError, Statement
from tests.functional.shapes import EDITED_AND_MOVED, SHAPES, Shape, Stage
from tests.servers import SERVERS, session_of
from tests.tally import Tally

pytestmark = pytest.mark.long

SHORT = ("additive",)  # in `make deep`
RESENT = (
    "create",
    "create_table",
    "append",
    "direct",
    "deleted",
    "effective",
    "additive",
    "mark",
    "full",
    "definition",
    "migrated",
    "migrated_less",
    "migrated_same_then",
)
PATIENCE = 20  # runs that a server which is still busy with the former one may outrun
OUTRUN = ("IDIVM-902", "IDIVM-903")


@pytest.fixture
def stage(kind: str, request: pytest.FixtureRequest) -> Iterator[Callable[[Shape], Stage]]:
    server = request.getfixturevalue(f"{kind}_server")
    schema = "crash_" + re.sub(r"\W", "_", request.node.name.partition("[")[2])
    yield lambda shape: Stage.made(lambda: session_of(server.profile), schema, server.warehouse, shape)
    server.execute(f"drop schema if exists {schema} cascade")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every = bool(metafunc.config.getoption("--every-point"))
    metafunc.parametrize("kind", SERVERS)
    if "name" in metafunc.fixturenames:
        changing = [name for name, shape in SHAPES.items() if shape.effects]
        metafunc.parametrize("name", changing if every else SHORT)
    if "resent" in metafunc.fixturenames:
        metafunc.parametrize("resent", RESENT if every else SHORT)


def test_a_client_that_goes_away(kind: str, name: str, stage: Callable[[Shape], Stage], tally: Tally) -> None:
    play = stage(SHAPES[name])
    play.whole()
    play.recover(thorough=True)
    for place, _ in _changes(play):
        for word in (True, False):
            play.arrive()
            with tally.point(f"{name} over {kind}", f"at statement {place}"):
                (_says_goodbye if word else _vanishes)(play, place)


def _changes(play: Stage) -> list[tuple[int, str]]:
    """The statements that change something: how many come before each."""
    return [(place, name) for place, name in enumerate(play.reference) if play.changed(place) != play.changed(place + 1)]


def _says_goodbye(play: Stage, place: int) -> None:
    """It has the answer, and closes the session."""
    play.die(place + 1)
    play.project.spark.close()
    play.again()
    assert play.sight() == play.expected(play.effect(place + 1))
    _no_settings(play)
    play.recover(thorough=False)


def _vanishes(play: Stage, place: int) -> None:
    """It has sent the statement. The next run begins at once, perhaps while the server is still busy."""
    steps = play.begin()
    play.go_on(steps, place)
    assert steps.statement is not None
    play.project.spark.vanish(steps.statement.sql)
    play.again()
    seen = [play.expected(play.effect(number)) for number in (place, place + 1)]
    assert play.sight() in seen
    _no_settings(play)
    for _ in range(PATIENCE):
        try:
            play.recover(thorough=False)
            break
        except IdivmError as error:
            assert set(error.codes) <= set(OUTRUN), str(error)
            time.sleep(0.5)
            play.again()
    else:
        raise AssertionError("no later run gets through")


def _no_settings(play: Stage) -> None:
    for key in (commits.USER_METADATA, commits.TXN_APP, commits.TXN_VERSION):
        value = play.project.spark.sql(f"set {key}").collect()[0][1]
        assert value == "<undefined>", f"{key} is still set"


@pytest.mark.parametrize("way", ["same session", "other session"])
def test_a_statement_that_is_sent_again(kind: str, resent: str, way: str, stage: Callable[[Shape], Stage], tally: Tally) -> None:
    """The answer to a write is lost, and the client sends it again: it is executed once, and the refresh continues."""
    play = stage((SHAPES | EDITED_AND_MOVED)[resent])
    play.whole()
    play.recover(thorough=True)
    play.arrive()
    with tally.point(f"{resent} over {kind}", f"sent again in the {way}"):
        steps = play.begin()
        while steps.statement is not None and not (steps.statement.kind == "write" or _has_no_guard(steps.statement)):
            steps.answer(play.project.run(steps.statement))
        assert steps.statement is not None
        sent, table = steps.statement, steps.statement.label.rpartition(" ")[2]
        before = _version(play, table)
        _loses_the_answer(play, sent, way)
        again, commits = play.project.run(sent), 1
        try:
            steps.answer(again)
            play.go_on(steps)
        except IdivmError as error:
            # the server was still busy with the first one
            assert way == "other session" and error.codes == ("IDIVM-903",), str(error)
        else:
            if before is None and way == "same session":  # CREATE TABLE: the table is there, and has the state of this run
                assert isinstance(again, EngineError) and again.error_class == "TABLE_OR_VIEW_ALREADY_EXISTS"
            commits = _commits(play, table) + _has_no_guard(sent)
        if before is None:
            # the second one found the files of the first one, which was not in the catalog yet, and replaced what it made then
            replaces = any(each.sql.startswith("CREATE OR REPLACE TABLE") for each in play.project.executed)
            assert _version(play, table) in ((0, 1) if replaces and way == "other session" else (0,))
        else:
            # of a client that is gone a server may not execute what is no query any more
            fewer = 1 if _has_no_guard(sent) and way == "other session" else 0
            assert _version(play, table) in (before + commits, before + commits - fewer), "one commit of each statement"
            assert play.sight() in (play.new, play.taken)
        play.again()
        play.recover(thorough=True)


def _has_no_guard(statement: Statement) -> bool:
    """A commit without data carries the state alone: sent twice, it is done twice, and says the same."""
    return statement.label.startswith("set the properties")


def _commits(play: Stage, table: str) -> int:
    """How many statements of a run commit to the table."""
    name = table.rpartition(".")[2]
    return sum(act.endswith(f" {name}") and not act.startswith(("create", "drop")) for act, _ in play.shape.effects)


def _loses_the_answer(play: Stage, statement: Statement, way: str) -> None:
    session = play.project.spark
    if way == "same session":
        session.sql(statement.sql)
        return
    settings = [each for each in play.project.executed if each.kind == "setting"]
    session.vanish(statement.sql)
    play.again()
    for each in settings:
        play.project.spark.sql(each.sql)


def _version(play: Stage, table: str) -> int | None:
    name = table.rpartition(".")[2]
    return play.version(name) if name in play.project.relations() else None
