"""A view over its table, which runs with different texts of the model rebuild and refresh at once: it shows the winner's rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.catalog.relations import SHOWN, own_properties
from dbt_idivm.refresh.catalog.state import read
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import Refresh
from tests.unit.fake_engine import FakeEngine
from tests.unit.test_confirm import BAG, made

HERE = replace(BAG, existing="view", run_id="here")
EDITED = replace(HERE, sql="select upper(name) as name from main.o", full_refresh=True)
OTHER = replace(BAG, existing="view", run_id="there")
MERGE, REBUILD = "merge into main.v__idivm", "build main.v__idivm"


def started(engine: FakeEngine, asked: ModelRequest) -> Refresh:
    return Refresh(refresh(asked, Invocation(), engine.kind))


def go_on(engine: FakeEngine, steps: Refresh, before: str = "") -> None:
    """Up to that statement, or to the end."""
    while steps.statement is not None and steps.statement.label != before:
        steps.answer(engine.answer(steps.statement))


@contextmanager
def in_session(engine: FakeEngine, settings: dict[str, str]) -> Iterator[None]:
    """One of another process: it has its own settings."""
    own, engine.settings = engine.settings, settings
    yield
    engine.settings = own


def shows_its_table(engine: FakeEngine) -> bool:
    state = read(engine.tables["main.v__idivm"].commits[-1][-1])
    text = ",".join(f"{key}={value}" for key, value in engine.tables["main.v"].properties.items())
    return state is not None and own_properties(f"[{text}]").get(SHOWN) == state.shown


def test_a_rebuild_that_loses_after_it_has_fixed_the_view() -> None:
    """The winner had looked at the view before, and refreshed its table: the view shows the rows of now, not those of then."""
    engine, there = made(BAG), dict[str, str]()
    other = started(engine, OTHER)
    with in_session(engine, there):
        go_on(engine, other, MERGE)
    assert other.statement is not None
    steps = started(engine, EDITED)
    go_on(engine, steps, REBUILD)
    assert not shows_its_table(engine), "the view is fixed to the rows that it had"
    with in_session(engine, there):
        go_on(engine, other)
    assert other.outcome is not None and other.outcome.mode == "incremental"
    with pytest.raises(IdivmError) as caught:
        go_on(engine, steps)
    assert caught.value.codes == ("IDIVM-903",) and shows_its_table(engine)
    assert engine.drive(BAG).mode == "noop" and not engine.labels("write")


def test_a_rebuild_whose_table_is_replaced_before_the_view_shows_it() -> None:
    engine = made(BAG)
    steps = started(engine, EDITED)
    go_on(engine, steps, REBUILD)
    go_on(engine, steps, "history of main.v__idivm")
    assert steps.statement is not None
    steps.answer(engine.answer(steps.statement))  # its commit is there
    with in_session(engine, {}):
        other = started(engine, OTHER)
        go_on(engine, other)
    assert other.outcome is not None and other.outcome.mode == "full"
    go_on(engine, steps)
    assert shows_its_table(engine)
    assert engine.drive(BAG).mode == "noop"
