"""Interruptions on a SQL warehouse of Databricks, whose sessions have no settings: the state is in a table beside the data.

Between a write and the note about it a view has rows whose state is not recorded. Then this must hold: readers see the old rows
or the new ones, what is recorded is true of the rows that it is recorded of, and the next run brings the view up to date and
leaves nothing behind. The warehouse is a stand-in, which refuses SET, CACHE TABLE and temporary views.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.catalog.relations import OWNER
from dbt_idivm.refresh.catalog.state import encode
from dbt_idivm.refresh.catalog.stored_view import read_state, read_stored_view
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.engine import Engine, sql_warehouse
from dbt_idivm.refresh.engine.notes import NAME
from dbt_idivm.refresh.protocol import ModelRequest
from tests.databricks_endpoint import WAREHOUSE, Endpoint
from tests.functional.shapes import SHAPES, SOURCES, Shape, Stage
from tests.tally import Tally

pytestmark = pytest.mark.long

SHORT = ("additive", "staged")  # without --every-point
REFUSED = re.compile(r"\s*(SET|RESET|CACHE|UNCACHE)\b|\bTEMPORARY\b", re.IGNORECASE)


class Noted(Stage):
    """A stage whose states are in notes."""

    def vector(self, table: str) -> dict[str, int]:
        found = self.project.drive(read_state(Client(self.project.engine_for(self.model)), table))
        versions = found.state.versions if found is not None and found.state is not None else {}
        sources = {f"{self.project.schema}.{name}" for name in SOURCES}
        return {name: version for name, version in versions.items() if name in sources}


@pytest.fixture
def stage(spark: Any, request: pytest.FixtureRequest) -> Iterator[Callable[[Shape], Noted]]:
    schema = "crash_wh_" + re.sub(r"\W", "_", request.node.name.partition("[")[2].rstrip("]") or "one")
    warehouse = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
    notes = f"{schema}_notes"
    spark.sql(f"create schema if not exists {notes}")

    def engine_for(model: ModelRequest) -> Engine:
        return sql_warehouse(f"{notes}.{NAME}", model.relation, {OWNER: encode(model.owner)}, "UTC", depth=2)

    def made(shape: Shape) -> Noted:
        play = Noted.made(lambda: Endpoint(spark.newSession(), WAREHOUSE), schema, warehouse, shape)
        play.project.engine_for = engine_for
        assert isinstance(play, Noted)
        return play

    yield made
    for each in (schema, notes):
        spark.sql(f"drop schema if exists {each} cascade")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", tuple(SHAPES) if metafunc.config.getoption("--every-point") else SHORT)


def test_a_refresh_that_breaks_off(name: str, stage: Callable[[Shape], Noted], tally: Tally, pytestconfig: pytest.Config) -> None:
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
            _is_sound(play)
            play.recover(thorough=True)


def _changes(sql: str) -> bool:
    return sql.split()[0].upper() in ("MERGE", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER")


def _is_sound(play: Noted) -> None:
    """Readers see the old rows, the new ones or nothing; and recorded rows are those of the query at the recorded versions."""
    seen = play.sight()
    assert seen.rows in (None, play.old.rows, play.new.rows)
    if seen.rows is None:
        return
    request = play.project.request(play.model)
    stored = play.project.drive(read_stored_view(Client(play.project.engine_for(request)), request))
    if stored.reason is None and stored.state is not None and stored.shown:
        assert play.project.differences(play.model) == []


@pytest.mark.parametrize("shape", ["additive", "append"])
def test_a_statement_that_is_done_late(shape: str, stage: Callable[[Shape], Noted]) -> None:
    """Without a transaction number the warehouse applies a change twice that it gets late. The run after that sees a commit that
    is not noted, and rebuilds the view."""
    play = stage(SHAPES[shape])
    play.arrive()
    broken = play.begin()
    while broken.statement is not None and broken.statement.kind != "write":
        play.go_on(broken, 1)
    late = broken.statement
    assert late is not None
    play.again()
    play.recover(thorough=True)
    play.project.sql(late.sql)
    steps = play.begin_asked()
    play.go_on(steps)
    assert steps.outcome is not None and steps.outcome.mode == "full" and "IDIVM-405" in str(steps.outcome.reason)
    assert play.sight().rows == play.new.rows
    assert play.project.differences(play.model) == []


def test_two_runs_at_once(stage: Callable[[Shape], Noted]) -> None:
    """The one that finds another one's commit beside its own fails; and what both have made is replaced by the next run."""
    play = stage(SHAPES["additive"])
    play.arrive()
    first = play.begin()
    while first.statement is not None and first.statement.kind != "write":
        play.go_on(first, 1)
    play.again()
    second = play.begin_asked()
    play.go_on(second)
    assert second.outcome is not None and second.outcome.mode == "incremental"
    with pytest.raises(IdivmError, match="IDIVM-903"):
        play.go_on(first)
    play.recover(thorough=True)
