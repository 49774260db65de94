"""Calibration: it converges, forgets outliers, and ignores what no duration can be."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dbt_idivm.cost.experience import Experience, read
from dbt_idivm.cost.measure import SAFE, Measure, Prices
from dbt_idivm.refresh.engine.invocation import Invocation

MERGE = Measure(merges=1, nodes=40, tuples=2e6, bytes_written=1e7)
FULL = Measure(overwrites=1, nodes=8, tuples=9e6, bytes_written=1e8)
QUERY = Measure(queries=1, nodes=6, tuples=400)


def slower(factor: float) -> Prices:
    return Prices(**{unit: price * factor for unit, price in SAFE.json().items()})


@pytest.mark.parametrize("factor", [0.1, 0.5, 3.0, 20.0])
def test_it_converges_to_another_machine(factor: float) -> None:
    """Also for a view that it has not seen: the prices are those of the machine."""
    truth, found = slower(factor), Experience()
    for _ in range(40):
        for measure, way in ((MERGE, "id"), (FULL, "rebuild")):
            found = found.learned("main.v", way, measure, measure.seconds(truth))
        found = found.priced(QUERY, QUERY.seconds(truth))
    assert found.seconds("main.v", "id", MERGE) == pytest.approx(MERGE.seconds(truth), rel=0.05)
    assert found.seconds("main.other", "rebuild", FULL) == pytest.approx(FULL.seconds(truth), rel=0.2)


def test_a_view_has_its_own_correction() -> None:
    found = Experience()
    for _ in range(20):
        found = found.learned("main.v", "id", MERGE, 5 * MERGE.seconds(SAFE)).learned("main.w", "id", MERGE, MERGE.seconds(SAFE))
    assert found.seconds("main.v", "id", MERGE) == pytest.approx(5 * MERGE.seconds(SAFE), rel=0.25)
    assert found.seconds("main.w", "id", MERGE) == pytest.approx(MERGE.seconds(SAFE), rel=0.25)


def test_the_last_rebuild_is_the_best_estimate_of_the_next() -> None:
    """Statistics that are wrong by a factor of 1,000 cost one refresh."""
    found = Experience().learned("main.v", "rebuild", FULL, 1000 * FULL.seconds(SAFE))
    assert found.seconds("main.v", "rebuild", FULL) > 500 * FULL.seconds(SAFE)
    assert found.seconds("main.w", "rebuild", FULL) < 3 * FULL.seconds(SAFE), "another view has hardly noticed"


def test_one_outlier_does_not_stick() -> None:
    truth = MERGE.seconds(SAFE)
    found = Experience()
    for seconds in (truth, truth, 50 * truth):
        found = found.learned("main.v", "id", MERGE, seconds)
    assert found.seconds("main.v", "id", MERGE) < 1.5 * truth, "the one in the middle counts"


def test_corrections_of_what_is_not_used_fade() -> None:
    """A way whose only duration was an outlier is tried again."""
    found = Experience().learned("main.v", "id", MERGE, 30 * MERGE.seconds(SAFE))
    before = found.correction("main.v", "id")
    for _ in range(30):
        found = found.learned("main.v", "rebuild", FULL, FULL.seconds(found.prices))
    assert 1 < found.correction("main.v", "id") < 1.3 < before
    assert found.correction("main.other", "id") == 1


def test_ways_that_were_not_tried_share_half_of_a_correction() -> None:
    """Else a view tries one way after the other, each slower than its rebuild."""
    found = Experience().learned("main.v", "tuple", MERGE, 9 * MERGE.seconds(SAFE))
    tried = found.correction("main.v", "tuple")
    assert found.correction("main.v", "id") == pytest.approx(tried**0.5)
    assert tried > 4
    assert found.correction("main.v", "rebuild") == found.correction("main.w", "id") == 1
    assert found.learned("main.v", "id", MERGE, MERGE.seconds(found.prices)).correction("main.v", "id") < 1.2


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf"), -float("inf")])
def test_what_is_no_duration_is_ignored(seconds: float) -> None:
    assert Experience().learned("main.v", "id", MERGE, seconds) == Experience()
    assert Experience().priced(MERGE, seconds) == Experience()
    assert Experience().learned("main.v", "id", Measure(), 1.0) == Experience()


def test_estimates_stay_positive_and_finite() -> None:
    found = Experience()
    for number in range(200):
        found = found.learned("main.v", "id", MERGE, 1e-9 if number % 2 else 1e9)
        assert 0 < found.seconds("main.v", "id", MERGE) < 1e7


def test_it_is_read_back() -> None:
    found = Experience().learned("main.v", "id", MERGE, 7.0).learned("main.v", "rebuild", FULL, 3.0)
    assert read(json.loads(json.dumps(found.json()))) == (found, True)


@pytest.mark.parametrize("given", [None, 5, [], {}, {"prices": 1}, {"prices": {}}, {"prices": SAFE.json(), "ratios": 5}])
def test_what_is_no_experience_is_none(given: Any) -> None:
    found, is_whole = read(given)
    assert found == Experience() and not is_whole


@pytest.mark.parametrize(
    "ratios",
    [
        {"main.v": {"id": [0]}},
        {"main.v": {"id": [-1.0]}},
        {"main.v": {"id": [float("nan")]}},
        {"main.v": {"id": [1e99]}},
        {"main.v": {"id": ["1"]}},
        {"main.v": {"id": [True]}},
        {"main.v": {"id": [10**400]}},
        {"main.v": {"id": 1.0}},
        {"main.v": 3},
    ],
)
def test_nonsense_is_left_out_and_the_rest_is_used(ratios: Any) -> None:
    prices = replace(SAFE, merges=SAFE.merges * 2)
    found, is_whole = read({"prices": prices.json(), "ratios": {"main.w": {"id": [1.5]}, **ratios}})
    assert found == Experience(prices, {"main.w": {"id": (1.5,)}}) and not is_whole


def test_nothing_is_learned_while_the_engine_is_cold() -> None:
    memory = Invocation(warm_up=2)
    for _ in range(2):
        memory.learn("main.v", "id", MERGE, 50.0)
    assert memory.experience == Experience() and not memory.has_learned
    memory.learn("main.v", "id", MERGE, 50.0)
    assert memory.experience.correction("main.v", "id") > 5 and memory.has_learned


def test_a_way_is_tried_after_two_rebuilds() -> None:
    """Hopefully estimated, until it was tried; not where a try may take long."""
    found = Experience()
    plain = MERGE.seconds(found.prices)
    for rebuilds in range(3):
        assert found.seconds("main.v", "id", MERGE) == pytest.approx(plain * (0.6 if rebuilds >= 2 else 1))
        found = replace(found.learned("main.v", "rebuild", MERGE, plain), prices=found.prices)
    large = MERGE.times(100)
    assert found.seconds("main.v", "id", large) == pytest.approx(large.seconds(found.prices))
    assert found.seconds("main.v", "rebuild", MERGE) == pytest.approx(plain)
    tried = found.learned("main.v", "tuple", MERGE, plain)
    assert tried.seconds("main.v", "id", MERGE) == pytest.approx(MERGE.seconds(tried.prices))


def test_reading_has_a_correction_of_its_own() -> None:
    """How much of the keys is skipped is no price, and says nothing of the view's ways, nor of other views."""
    look_up = Measure(queries=1, tuples=50_000_000)
    plain = look_up.seconds(SAFE)
    found = Experience().learned_reading("main.v", look_up, plain / 10)
    assert found.reading_seconds("main.v", look_up) == pytest.approx(plain / 10)
    assert found.reading_seconds("main.w", look_up) == plain and found.prices == SAFE
    assert found.seconds("main.v", "id", MERGE) == Experience().seconds("main.v", "id", MERGE)


def test_reading_is_tried_with_the_way() -> None:
    look_up = Measure(queries=1, tuples=50_000_000)
    found = Experience()
    for _ in range(2):
        found = found.learned("main.v", "rebuild", MERGE, MERGE.seconds(found.prices))
    plain = look_up.seconds(found.prices)
    assert found.reading_seconds("main.v", look_up) == pytest.approx(0.6 * plain)
    assert found.reading_seconds("main.w", look_up) == plain
