"""The maintained view equals its recomputation after each batch, in every way to maintain it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property.coverage import RANDOM, Coverage
from tests.property.drawn import drawn
from tests.property.harness import Options
from tests.property.profiles import few, fewer, more
from tests.property.strategies import DEEP, Case, cases, chains, stars
from tests.property.trials import TRIED, Trial

pytestmark = pytest.mark.deep  # in `make test` the frozen set is in their place: test_frozen.py

WAYS = {
    "optimised": Options(additive=False),
    "naive": Options(optimised=False, additive=False),
    "recompute": Options(strategy="recompute"),
    "whole": Options(strategy="whole"),
    "unsplit": Options(additive=False, split=False),
    "optimised-feed": Options(additive=False, feed=True),
    "naive-feed": Options(optimised=False, additive=False, feed=True),
}
ADDITIVE = {"additive": Options(), "additive-feed": Options(feed=True)}
TUPLES = {
    "tuple": Options(additive=False, strategy="tuple"),
    "tuple-feed": Options(additive=False, strategy="tuple", feed=True),
}
# over intermediate caches, as the paper places them or at every operator
CACHED = {
    "caches": Options(caches="all"),
    "caches-everywhere": Options(everywhere=True),
}
BY_NAME = {"caches-by-name": Options(by_name=True), "caches-by-name-feed": Options(by_name=True, additive=False, feed=True)}
MORE_CACHED = {
    "caches-everywhere-naive": Options(everywhere=True, additive=False, optimised=False),
    "caches-everywhere-feed": Options(everywhere=True, additive=False, feed=True),
    "caches-everywhere-recompute": Options(everywhere=True, strategy="recompute"),
    "caches-everywhere-tuple": Options(everywhere=True, strategy="tuple"),
}
COMPARED = {
    "compared": Options(additive=False, compared=True),
    "compared-additive": Options(compared=True),
    "compared-recompute": Options(strategy="recompute", compared=True),
    "compared-tuple": Options(additive=False, strategy="tuple", compared=True),
    "compared-caches": Options(caches="all", compared=True),
}
ALL_WAYS = WAYS | ADDITIVE | TUPLES | CACHED


def check(case: Case, options: Options, coverage: Coverage | None = None) -> None:
    """Maintain the view of `case` through its batches; after each, as bags, it equals its recomputation.

    One that is drawn is rejected where the planner refuses the view, or its script as too long.
    """
    with TRIED.trial(Trial("DuckDB", options, case), coverage), drawn(case, options) as world:
        world.load(case.start)
        assert world.maintained() == world.recomputed(), "the extended view is not the view"
        for batch in case.batches:
            diffs = world.change(batch)
            script = world.script(diffs)
            world.apply(script)
            if coverage is not None:
                coverage.refresh(world.plan, diffs, script)
            assert world.maintained() == world.recomputed()
            assert not world.wrong_caches()
            if world.plan.hidden:
                assert world.stored() == world.extended(), "hidden columns or operator caches differ"
        if coverage is not None:
            coverage.applied.update(world.applied)


OPTIMISED, NAIVE = ([way for way in WAYS if WAYS[way].optimised is optimised] for optimised in (True, False))


@pytest.mark.parametrize("way", OPTIMISED)
@given(case=cases(deepest=DEEP))
def test_maintained_equals_recomputed(way: str, case: Case) -> None:
    RANDOM.cases += 1
    check(case, WAYS[way], RANDOM)


@pytest.mark.parametrize("way", [pytest.param(way, marks=pytest.mark.long) if way.endswith("feed") else way for way in NAIVE])
@given(case=cases(small=True))
def test_maintained_naively_equals_recomputed(way: str, case: Case) -> None:
    RANDOM.cases += 1
    check(case, WAYS[way], RANDOM)


@pytest.mark.parametrize("way", ["optimised", "naive", "unsplit"])
@fewer
@given(case=cases(batches=2, tested=True))
def test_rows_that_depend_on_others(way: str, case: Case) -> None:
    RANDOM.cases += 1
    check(case, WAYS[way], RANDOM)


@fewer
@given(case=chains(), way=st.sampled_from(["optimised", "optimised-feed", "unsplit"]))
def test_values_computed_from_computed_values(case: Case, way: str) -> None:
    RANDOM.cases += 1
    check(case, WAYS[way], RANDOM)


@given(case=stars(), way=st.sampled_from(sorted(ALL_WAYS)))
def test_wide_equals_recomputed(case: Case, way: str) -> None:
    RANDOM.cases += 1
    check(case, ALL_WAYS[way], RANDOM)


@few
@given(case=stars(many=True), way=st.sampled_from(["optimised", "additive", "tuple"]))
def test_very_wide_equals_recomputed(case: Case, way: str) -> None:
    RANDOM.cases += 1
    check(case, ALL_WAYS[way], RANDOM)


@more
@given(case=cases(deepest=DEEP, additive=True))
def test_additive_equals_recomputed(case: Case) -> None:
    RANDOM.cases += 1
    check(case, ADDITIVE["additive"], RANDOM)


@given(case=cases(additive=True))
def test_additive_over_feeds_equals_recomputed(case: Case) -> None:
    RANDOM.cases += 1
    check(case, ADDITIVE["additive-feed"], RANDOM)


@pytest.mark.parametrize("way", TUPLES)
@fewer
@given(case=cases())
def test_tuple_based_equals_recomputed(way: str, case: Case) -> None:
    RANDOM.cases += 1
    check(case, TUPLES[way], RANDOM)


@given(case=cases(deepest=DEEP), way=st.sampled_from(sorted(COMPARED)))
def test_compared_equals_recomputed(case: Case, way: str) -> None:
    RANDOM.cases += 1
    check(case, COMPARED[way], RANDOM)


@pytest.mark.parametrize("way", CACHED)
@fewer
@given(case=cases())
def test_cached_equals_recomputed(way: str, case: Case) -> None:
    RANDOM.cases += 1
    check(case, CACHED[way], RANDOM)


@fewer
@given(case=cases(deepest=DEEP), way=st.sampled_from(sorted(BY_NAME)))
def test_cached_by_name_equals_recomputed(case: Case, way: str) -> None:
    RANDOM.cases += 1
    check(case, BY_NAME[way], RANDOM)


@fewer
@given(case=cases(), way=st.sampled_from(sorted(MORE_CACHED)))
def test_cached_otherwise_equals_recomputed(case: Case, way: str) -> None:
    RANDOM.cases += 1
    check(case, MORE_CACHED[way], RANDOM)
