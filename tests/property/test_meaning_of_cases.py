"""The hand-written cases on Spark's meaning, and what was misread once."""

from __future__ import annotations

from itertools import product

import pytest

from tests.property.chosen import in_ways, some, spread
from tests.property.coverage import DIRECTED_AND_MEANT
from tests.property.directed import DIRECTED, FETCHED, FOUND, ON_SPARK, build
from tests.property.judge import judge
from tests.property.judged import ENGINES
from tests.property.misreadings import MISREADINGS
from tests.property.profiles import is_long
from tests.property.strategies import Case
from tests.property.test_equivalence import ALL_WAYS, COMPARED

BOTH = {**DIRECTED, **FOUND}
EACH = tuple(ALL_WAYS) if is_long() else ("additive", "optimised", "recompute", "tuple-feed")


@pytest.mark.parametrize(("name", "way"), spread(in_ways(ON_SPARK, ALL_WAYS)))
def test_directed(name: str, way: str) -> None:
    judge(ON_SPARK[name], ALL_WAYS[way], DIRECTED_AND_MEANT)


@pytest.mark.deep
@pytest.mark.parametrize(("name", "way"), spread(in_ways(BOTH, ALL_WAYS))[:: 1 if is_long() else 3])
def test_directed_on_both_engines(name: str, way: str) -> None:
    """They are judged by DuckDB as well."""
    judge(BOTH[name], ALL_WAYS[way], DIRECTED_AND_MEANT)


@pytest.mark.deep
@pytest.mark.parametrize(("name", "way"), spread(in_ways(ON_SPARK, COMPARED)))
def test_compared(name: str, way: str) -> None:
    judge(ON_SPARK[name], COMPARED[way], DIRECTED_AND_MEANT)


@pytest.mark.parametrize(("name", "way"), list(in_ways(FETCHED, {way: ALL_WAYS[way] for way in EACH})))
def test_fetched_rows(name: str, way: str) -> None:
    """What literals of known rows mean: types of quotients, zeros."""
    judge(FETCHED[name], ALL_WAYS[way], DIRECTED_AND_MEANT)


@pytest.mark.parametrize("name", some(product(MISREADINGS), 2, of_deep=1))
def test_misreading(name: str) -> None:
    judge_incrementally(name, "additive")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "ways"),
    [(name, EACH[1:] if is_long() else (EACH[1:][number % len(EACH[1:])],)) for number, name in enumerate(MISREADINGS)],
)
def test_misreading_in_other_ways(name: str, ways: tuple[str, ...]) -> None:
    """Of maintaining it under ANSI mode, and in the usual one without."""
    for way in ways:
        judge_incrementally(name, way)
    judge(MISREADINGS[name], ALL_WAYS["additive"], DIRECTED_AND_MEANT, ENGINES["not ANSI"])


def judge_incrementally(name: str, way: str) -> None:
    """None is rebuilt, unless by whole tuples."""
    rebuilt = DIRECTED_AND_MEANT.shapes["rebuilt"]
    judge(MISREADINGS[name], ALL_WAYS[way], DIRECTED_AND_MEANT)
    assert DIRECTED_AND_MEANT.shapes["rebuilt"] == rebuilt or way.startswith("tuple"), way


@pytest.mark.parametrize(
    "case",
    [
        build(
            "t0(k int, x int, y decimal(38,10); k)",
            "SELECT a.x AS c0, sum(a.y) AS c1 FROM t0 AS a GROUP BY a.x",
            {"t0": [(1, 1, "5000000000000000000000000000.5")]},
            {"t0": [(1, 1, "5000000000000000000000000000.5"), (2, 1, "0.1")]},
        ),
        build(
            "t0(k int, x int, y decimal(11,0); k)\nt1(k int; k)",  # 10,201 rows of the greatest value
            "SELECT a.x AS c0, avg(a.y) AS c1 FROM t0 AS a CROSS JOIN t1 AS b CROSS JOIN t1 AS c GROUP BY a.x",
            {"t0": [(1, 1, "99999999999")], "t1": [(k,) for k in range(101)]},
            {"t0": [(1, 1, "99999999999"), (2, 1, "-99999999999")], "t1": [(k,) for k in range(101)]},
        ),
    ],
    ids=["sum", "average"],
)
def test_numbers_that_cannot_be_added_exactly(case: Case) -> None:
    """A sum that needs all 38 digits, and values of which a sum of DOUBLEs may be rounded: the view is rebuilt."""
    rebuilt = DIRECTED_AND_MEANT.shapes["rebuilt"]
    judge(case, ALL_WAYS["additive"], DIRECTED_AND_MEANT)
    assert DIRECTED_AND_MEANT.shapes["rebuilt"] == rebuilt + 1
