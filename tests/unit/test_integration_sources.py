"""The sources of integration_tests/ without Spark: what their batches contain, and the time that models read of the clock."""

from __future__ import annotations

import datetime as dt
import sys
from collections import Counter

import pytest

from dbt_idivm.refresh.engine.invocation import Invocation
from tests.unit.integration_project import PROJECT

sys.path.insert(0, str(PROJECT))

from retail import batches, history, tables
from retail.clock import clock_of
from retail.world import World

LOGS = ("order_status_log", "price_log", "customer_changes")


@pytest.fixture
def world() -> World:
    world = World(tables.declared(PROJECT), seed=1, scale=0.3)
    history.fill(world)
    return world


def test_the_same_seed_gives_the_same_rows(world: World) -> None:
    other = World(tables.declared(PROJECT), seed=1, scale=0.3)
    history.fill(other)
    assert list(world.taken()) == list(other.taken())
    assert [batches.batch(world, number) for number in range(6)] == [batches.batch(other, number) for number in range(6)]


def test_batches_have_the_kinds_of_changes_that_their_titles_say(world: World) -> None:
    list(world.taken())
    kinds = {each.title: each.kinds for each in (batches.batch(world, number) for number in range(6))}
    assert kinds["a day of business"] == {"inserts", "updates", "deletes"}
    assert (kinds["only additions"], kinds["withdrawals"], kinds["nothing"]) == ({"inserts"}, {"deletes"}, set())


@pytest.mark.parametrize("name", LOGS)
def test_a_log_has_copies_and_ties(world: World, name: str) -> None:
    for number in range(6):
        batches.batch(world, number)
    assert world.tables[name].key == ()
    rows = [tuple(map(str, row.values())) for row in world.rows[name].values()]
    assert max(Counter(rows).values()) > 1
    if name == "order_status_log":
        times = Counter(
            (row["order_id"], row["changed_at"])
            for row in world.rows[name].values()
            if rows.count(tuple(map(str, row.values()))) == 1
        )
        assert max(times.values()) > 1, "two statuses of one second"


def test_refreshes_take_place_in_the_night_after_the_day(world: World) -> None:
    with clock_of(world):
        first = Invocation().time
        assert dt.datetime.fromtimestamp(first / 1e6, dt.UTC) == dt.datetime(2024, 6, 21, 2, tzinfo=dt.UTC)
        batches.batch(world, 5)
        assert Invocation().time - first == 24 * 3600 * 10**6
    assert abs(Invocation().time / 1e6 - dt.datetime.now(dt.UTC).timestamp()) < 60
