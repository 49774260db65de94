"""The suite's own tools: lanes and their budgets, tests near a file, trials as files."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import find, settings
from hypothesis import strategies as st

from tests.lanes import BUDGETS, PURE, REFERENCE, Seconds, lane, scope, slowness
from tests.near import ROOT, defined_in, distances
from tests.property.coverage import Coverage
from tests.property.directed import DIRECTED, ON_SPARK
from tests.property.plans import Options
from tests.property.trials import Passed, Trial, Tried, covering
from tests.until import Until


def test_lanes() -> None:
    assert lane("tests/functional/test_caches.py::test_x") == lane("tests/install/test_wheel.py::test_x") == "spark"
    assert lane("tests/unit/test_lanes.py::test_x") == PURE
    for budget, is_one in (("test", True), ("deep", False), (None, True)):
        assert scope("tests/property/test_laws.py::test_x", budget) == scope("tests/property/test_ids.py::test_x[a]", budget)
        assert scope("tests/unit/test_a.py::test_x", budget) != scope("tests/unit/test_b.py::test_x", budget)
        one, other = (scope(f"tests/functional/test_{name}.py::test_x", budget) for name in "ab")
        assert (one == other) is is_one
    assert all(set(budget) == {"spark", PURE} for budget in BUDGETS.values())


def test_a_lane_is_too_long_by_half_on_a_machine_of_its_speed() -> None:
    found = Seconds({"spark": 100, PURE: 100}, slowness=2.0)
    found.lanes.update({"spark": 301.0, PURE: 299.0})
    found.files.update({"tests/functional/test_a.py": 301.0})
    assert found.over == ["spark"]
    lines = [*found.lines()]
    assert "spark lane: 301 s, budget 200 s: TOO LONG" in lines[1] and lines[2] == "pure lane: 299 s, budget 200 s"
    assert lines[3].split() == ["301.0", "s", "tests/functional/test_a.py"]


@pytest.mark.parametrize(("seconds", "before", "after"), [(301.0, 0, 1), (299.0, 0, 0), (301.0, 2, 2)])
def test_a_run_fails_if_a_lane_is_too_long(seconds: float, before: int, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its speed is measured again at the end; a run that failed or was interrupted stays one."""
    monkeypatch.setattr("tests.lanes.slowness", lambda: 2.0)
    found, session = Seconds({"spark": 100}, slowness=1.0), SimpleNamespace(exitstatus=before)
    found.lanes.update({"spark": seconds})
    found.pytest_sessionfinish(session)  # type: ignore[arg-type]
    assert session.exitstatus == after


def test_a_slow_machine_and_one_core_have_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.lanes.work", lambda: 2 * REFERENCE)
    for cores, expected in ((1, 4.0), (2, 2.0), (16, 2.0)):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, cores=cores: {*range(cores)}, raising=False)
        assert slowness() == expected


def test_tests_near_a_file() -> None:
    select = ROOT / "dbt_idivm" / "operators" / "select.py"
    assert defined_in("dbt_idivm.operators.Select") == select, "the package only passes the name on"
    assert defined_in("dbt_idivm.operators.select.RULES") == select and defined_in("os.path") is None
    tests = [ROOT / "tests" / "unit" / f"test_{name}.py" for name in ("rules_tables", "golden", "cli", "lanes")]
    near = distances(select, [path for path in tests if path.exists()])
    assert near[tests[0]] == 1 < near[tests[2]]


def test_no_test_begins_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    found = Until(120)
    found.pytest_runtest_setup()
    now = 121.0
    with pytest.raises(pytest.skip.Exception) as skipped:
        found.pytest_runtest_setup()
    for text in (str(skipped.value), "another reason"):
        found.pytest_runtest_logreport(SimpleNamespace(skipped=True, longreprtext=text))  # type: ignore[arg-type]
    assert found.left_out == 1 and str(skipped.value) == "2 minutes are over"


def test_what_is_left_out_differs_by_day() -> None:
    """What draws new cases comes first, and a file's tests stay together in their order."""

    def item(file: int, number: int) -> SimpleNamespace:
        marker = "random" if file == 7 else None
        return SimpleNamespace(path=Path(f"test_{file}.py"), number=number, get_closest_marker=lambda _: marker)

    def order(seed: int | None) -> list[tuple[str, int]]:
        items = [item(file, number) for file in range(9) for number in range(2)]
        Until(60, seed).pytest_collection_modifyitems(items)  # type: ignore[arg-type]
        return [(each.path.name, each.number) for each in items]

    assert order(20261128) == order(20261128) != order(20261129) and sorted(order(1)) == order(None)
    for seed in (1, 2):
        assert order(seed)[:2] == [("test_7.py", 0), ("test_7.py", 1)]
        assert all(one[0] == other[0] for one, other in zip(order(seed)[::2], order(seed)[1::2], strict=True))


@pytest.mark.parametrize("case", [*DIRECTED.values(), *ON_SPARK.values()])
def test_a_trial_is_a_line_of_json(case: object) -> None:
    for options in (Options(), Options(strategy="tuple", additive=False, feed=True, caches="all")):
        trial = Trial("ANSI", options, case)  # type: ignore[arg-type]
        assert Trial.of(trial.text) == trial and "\n" not in trial.text


def trial(name: str) -> Trial:
    return Trial("DuckDB", Options(), DIRECTED[name])


def test_few_trials_reach_what_all_of_them_do() -> None:
    one, two, three, *_ = map(trial, DIRECTED)
    found = [
        Passed(one, frozenset({("a",), ("b",)}), 1.0),
        Passed(two, frozenset({("a",)}), 0.9),
        Passed(three, frozenset({("b",), ("c",)}), 1.0),
    ]
    assert [*covering(found)] == [one, three]


def test_the_smallest_failure_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of drawn cases only: those that are written by hand have a place."""
    monkeypatch.setattr("tests.property.trials.REGRESSIONS", tmp_path)
    tried = Tried()
    names = [*DIRECTED][:9]

    def fails(number: int) -> bool:
        with tried.trial(trial(names[number]), Coverage("tried")):
            assert number < 4
        return False

    with pytest.raises(AssertionError):
        fails(8)
    assert tried.keep() == []

    def is_wrong(number: int) -> bool:
        try:
            return fails(number)
        except AssertionError:
            return True

    assert find(st.integers(0, 8), is_wrong, settings=settings(database=None)) == 4
    monkeypatch.setattr("tests.property.trials.currently_in_test_context", lambda: True)
    with pytest.raises(AssertionError):
        fails(4)
    (path,) = tried.keep()
    assert Trial.of(path.read_text()) == trial(names[4])
