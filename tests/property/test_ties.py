"""Tied rows: every hand-written case in every way. What the order of ties does not affect is as in the user's own text."""

from __future__ import annotations

from collections import Counter

import pytest

from dbt_idivm.script.ties import ties
from tests.property.harness import World
from tests.property.test_directed import in_ways, spread
from tests.property.test_equivalence import ALL_WAYS, BY_NAME, check
from tests.property.tied import COMPLETED, TIED


@pytest.mark.parametrize(("name", "way"), spread(in_ways(TIED, ALL_WAYS | BY_NAME), ("optimised", "additive", "tuple")))
def test_tied_rows(name: str, way: str) -> None:
    check(TIED[name], (ALL_WAYS | BY_NAME)[way])


@pytest.mark.parametrize("name", TIED)
def test_the_planner_completes_as_it_is_written_by_hand(name: str) -> None:
    """Over no rows, the text by hand is accepted; over rows without ties, it agrees with the user's own text."""
    case = TIED[name]
    assert COMPLETED[case.sql] != case.sql
    with World(case.tables, case.sql) as world:
        assert ties(world.plan)
        one = {table: rows[:1] for table, rows in case.start.items()}
        world.load(one)
        assert world.maintained() == Counter(world.engine.oracle(case.sql)) == world.recomputed()
