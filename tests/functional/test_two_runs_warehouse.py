"""Two runs of one model at once on a SQL warehouse of Databricks, and statements that are executed late or twice.

`tests/unit/test_claims.py` tries the interleavings of two runs on a model of Delta's transactions; here Delta itself is asked,
and every kind of write. After each of them the view must have the rows of its query at once, not only after the next run.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.protocol import EngineError, Refresh, Statement
from tests.functional.shapes import SHAPES
from tests.functional.test_crashes_warehouse import _changes
from tests.functional.warehouse import Recorded, Staging, stage  # noqa: F401  (a fixture)
from tests.tally import Tally

pytestmark = pytest.mark.deep

# One of each kind of statement; without --every-point only some of them.
WRITES = ("append", "additive", "direct", "deleted", "replaced", "full", "staged", "columns", "diffs", "both")
SHORT = ("append", "direct")
LOST = "the claim to write is lost"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", WRITES if metafunc.config.getoption("--every-point") else SHORT)


def up_to_the_write(play: Recorded) -> tuple[Refresh, Statement]:
    """A run that is about to send its write."""
    steps = play.begin()
    while steps.statement is not None and not is_write(play, steps.statement):
        play.go_on(steps, 1)
    assert steps.statement is not None
    return steps, steps.statement


def is_write(play: Recorded, statement: Statement) -> bool:
    return statement.kind == "write" and statement.tree is not None


def finish(play: Recorded, steps: Refresh) -> str:
    """The rest of the run: how it ended."""
    try:
        play.go_on(steps)
    except IdivmError as error:
        return error.codes[0]
    assert steps.outcome is not None
    return steps.outcome.mode


def test_a_write_that_is_under_way_conflicts_with_the_run_that_takes_over(stage: Staging, tmp_path: Path) -> None:  # noqa: F811
    """It has looked at its claim, and commits after the other run's rebuild. An INSERT that read nothing would pass beside it."""
    play = stage(SHAPES["append"])
    play.arrive()
    steps, write = up_to_the_write(play)
    assert write.sql.rstrip().endswith(">= 0"), "it ends with the condition"
    play.project.spark.spark.udf.register("waits", _waiting(tmp_path), "boolean")
    replies: list[Any] = []
    slow = Statement(f"{write.sql} AND waits(1)", write.kind, write.label)
    thread = threading.Thread(target=lambda: replies.append(play.project.run(slow)))
    thread.start()
    until = time.monotonic() + 60
    while not (tmp_path / "at").exists() and thread.is_alive() and time.monotonic() < until:
        time.sleep(0.02)
    assert (tmp_path / "at").exists(), replies
    play.project.spark = play.new_session()
    assert finish(play, play.begin_asked()) == "full"
    (tmp_path / "go").touch()
    thread.join()
    assert isinstance(replies[0], EngineError) and replies[0].error_class.startswith("DELTA_CONCURRENT"), replies
    with pytest.raises(IdivmError, match="IDIVM-903"):
        steps.answer(replies[0])
        play.go_on(steps)
    assert play.sight().rows == play.new.rows
    late = play.project.run(write)
    assert isinstance(late, EngineError) and LOST in late.message, "nor does it do anything later"
    assert play.sight().rows == play.new.rows


def _waiting(folder: Path) -> Any:
    at, go = str(folder / "at"), str(folder / "go")

    def waits(number: int) -> bool:
        import os
        import time

        with open(at, "w"):
            until = time.time() + 60
        while not os.path.exists(go) and time.time() < until:
            time.sleep(0.02)
        return True

    return waits


@pytest.mark.long
def test_two_runs_at_once(name: str, stage: Staging, tally: Tally, pytestconfig: pytest.Config) -> None:  # noqa: F811
    """The second is done as a whole while the first is at each of its points. One succeeds, and the view is right at once."""
    play = stage(SHAPES[name])
    play.arrive()
    play.go_on(play.begin())
    executed = list(play.project.executed)
    writing = [place for place, each in enumerate(executed) if _changes(each.sql)]
    every = pytestconfig.getoption("--every-point")
    around = {at for place in writing for at in (place, place + 1)}
    points = range(1, len(executed)) if every else sorted(around - {len(executed)})
    for statements in points:
        play.arrive()
        first = play.begin()
        play.go_on(first, statements)
        with tally.point(f"two runs, {name} on a warehouse", f"the second after {statements} of {len(executed)} statements"):
            play.again()
            outcomes = (finish(play, play.begin()), finish(play, first))
            assert {"full", "incremental", "noop"} & set(outcomes), outcomes
            assert outcomes[1] in ("full", "incremental", "noop", "IDIVM-907", "IDIVM-903", "IDIVM-902"), outcomes
            play.check_log(play.new)
            assert play.sight().rows == play.new.rows, outcomes
            play.recover(thorough=False)


@pytest.mark.long
def test_each_write_sent_twice(name: str, stage: Staging, tally: Tally) -> None:  # noqa: F811
    """At once, by a client that got no answer: the run sees it and replaces the rows. Later it changes nothing."""
    play = stage(SHAPES[name])
    play.arrive()
    steps, sent = play.begin(), []
    while steps.statement is not None:
        statement = steps.statement
        reply = play.project.run(statement)
        if is_write(play, statement) and not sent:
            sent.append(statement)
            play.project.run(statement)
        steps.answer(reply)
    assert steps.outcome is not None
    with tally.point(f"sent twice, {name} on a warehouse", sent[0].label):
        play.check_log(play.new)
        assert play.sight().rows == play.new.rows, steps.outcome
        for each in sent:
            late = play.project.run(each)
            assert isinstance(late, EngineError), each.sql
            assert LOST in late.message or "already exists" in late.message, late.message
        assert play.sight().rows == play.new.rows
        play.recover(thorough=True)


@pytest.mark.long
@pytest.mark.parametrize("shape", ["additive", "append"])
def test_a_statement_that_is_done_late(shape: str, stage: Staging) -> None:  # noqa: F811
    """By a run that stopped, after the next one: its claim is lost, and nothing changes, not even until the run after."""
    play = stage(SHAPES[shape])
    play.arrive()
    _, late = up_to_the_write(play)
    play.again()
    play.recover(thorough=True)
    reply = play.project.run(late)
    assert isinstance(reply, EngineError) and LOST in reply.message and reply.error_class == "USER_RAISED_EXCEPTION"
    assert play.sight().rows == play.new.rows
    play.recover(thorough=True)


@pytest.mark.long
def test_a_ledger_that_is_dropped_in_the_middle(stage: Staging) -> None:  # noqa: F811
    """Before the write it fails; after it, the table is made again."""
    play = stage(SHAPES["append"])
    play.arrive()
    steps, _ = up_to_the_write(play)
    play.project.sql(f"drop table {play.ledger}")
    assert finish(play, steps) == "IDIVM-902"
    assert play.sight().rows == play.old.rows
    play.recover(thorough=True)
    play.arrive()
    steps, _ = up_to_the_write(play)
    play.go_on(steps, 1)
    play.project.sql(f"drop table {play.ledger}")
    assert finish(play, steps) == "incremental"
    assert play.sight().rows == play.new.rows
    play.recover(thorough=True)


@pytest.mark.long
def test_a_ledger_of_a_former_version(stage: Staging) -> None:  # noqa: F811
    """It has no claims; the states in it count."""
    play = stage(SHAPES["append"])
    play.arrive()
    play.project.sql(f"delete from {play.ledger} where version < 0")
    steps = play.begin()
    assert finish(play, steps) == "incremental"
    assert play.sight().rows == play.new.rows
    play.recover(thorough=True)


@pytest.mark.long
def test_a_view_that_is_made_anew_under_its_name(stage: Staging) -> None:  # noqa: F811
    """What is recorded of the former table at the same version says nothing of it; and a user's write or RESTORE is noticed."""
    play = stage(SHAPES["append"])
    play.arrive()
    table = f"{play.project.schema}.v__idivm"
    other = f"create table {table} using delta tblproperties ('delta.enableChangeDataFeed' = 'true') as"
    play.project.sql(
        f"create table $.kept using delta as select * from {table}",
        f"drop table {table}",
        f"{other} select * from $.kept limit 0",
        "drop table $.kept",
    )
    assert finish(play, play.begin()) == "full"
    assert play.sight().rows == play.new.rows
    play.arrive()
    play.project.sql(f"restore table {table} to version as of 0")
    assert finish(play, play.begin()) == "full"
    assert play.sight().rows == play.new.rows
    play.recover(thorough=True)
