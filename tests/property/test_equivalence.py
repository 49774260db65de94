"""The maintained view equals its recomputation after each batch, in every way to maintain it."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.property.coverage import COVERAGE
from tests.property.harness import Options, World
from tests.property.strategies import DEEP, Case, cases

WAYS = {
    "optimised": Options(additive=False),
    "naive": Options(optimised=False, additive=False),
    "recompute": Options(recompute_only=True),
    "unsplit": Options(additive=False, split=False),
    "optimised-feed": Options(additive=False, feed=True),
    "naive-feed": Options(optimised=False, additive=False, feed=True),
}
ADDITIVE = {"additive": Options(), "additive-feed": Options(feed=True)}


def check(case: Case, options: Options) -> None:
    """Maintain the view of `case` through its batches; after each, as bags, it equals its recomputation."""
    with World(case.tables, case.sql, options) as world:
        world.load(case.start)
        assert world.maintained() == world.recomputed(), "the extended view is not the view"
        for batch in case.batches:
            diffs = world.change(batch)
            script = world.script(diffs)
            world.apply(script)
            COVERAGE.refresh(world.plan, diffs, script)
            assert world.maintained() == world.recomputed()
            if world.plan.hidden:
                assert world.stored() == world.extended(), "hidden columns or operator caches differ"


OPTIMISED, NAIVE = ([way for way in WAYS if WAYS[way].optimised is optimised] for optimised in (True, False))


@pytest.mark.parametrize("way", OPTIMISED)
@given(case=cases(deepest=DEEP))
def test_maintained_equals_recomputed(way: str, case: Case) -> None:
    COVERAGE.cases += 1
    check(case, WAYS[way])


@pytest.mark.parametrize("way", NAIVE)
@given(case=cases())
def test_maintained_naively_equals_recomputed(way: str, case: Case) -> None:
    COVERAGE.cases += 1
    check(case, WAYS[way])


@pytest.mark.parametrize("way", ADDITIVE)
@given(case=cases(deepest=DEEP, additive=True))
def test_additive_equals_recomputed(way: str, case: Case) -> None:
    COVERAGE.cases += 1
    check(case, ADDITIVE[way])


def test_every_rule_and_shape_was_reached() -> None:
    """Needs the cases of this whole file before it: a rule that no random case fires proves nothing."""
    assert not COVERAGE.missing()
