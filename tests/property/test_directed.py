"""The hand-written cases: in one or two of their ways, and in others under `make deep`; under long profiles in every way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from zlib import crc32

import pytest
from _pytest.mark import ParameterSet

from dbt_idivm.algebra.operator import operators
from dbt_idivm.operators import Aggregate
from dbt_idivm.script import replace_where
from tests.property.coverage import DIRECTED as REACHED
from tests.property.directed import DIRECTED, FOUND
from tests.property.plans import BY_STORED_ROWS, Options, plan_of
from tests.property.profiles import is_long
from tests.property.strategies import Case
from tests.property.test_equivalence import ADDITIVE, ALL_WAYS, BY_NAME, COMPARED, check

Tried = tuple[str, str] | ParameterSet  # a case and a way
# a minute: left to long runs
SLOW = {("IN and NOT IN as values where nothing is NULL", "tuple-feed"), ("four full joins of groups", "tuple-feed")}
# the planner refuses: the script would be too large (IDIVM-232)
REFUSED = {("sets over a join", "optimised-feed")}

# reaches a rule (project_upd_bag) that no other case of `make test` does
ALONE = {("computed column over a keyless table and a changed partner", "optimised")}


def in_ways(cases: Mapping[str, Case], ways: Mapping[str, Options]) -> Iterator[tuple[str, str]]:
    """Each case with each way; the additive and the cached one only where they do not plan what another way plans."""
    for name, case in cases.items():
        plan = plan_of(case.tables, case.sql, Options())
        grouped = any(isinstance(node, Aggregate) for node in operators(plan.root))
        yield from (
            (name, way)
            for way in ways
            if (any(map(plan.way, BY_STORED_ROWS)) or way not in ADDITIVE)
            and (grouped or way.removeprefix("compared-") != "caches")
        )


def spread(pairs: Iterable[tuple[str, str]], always: tuple[str, ...] = ()) -> list[Tried]:
    """Of each case's ways those that are `always` tried, and one of the others; all in a long run. `make test` has one of them:
    the last one, if there are several, else one of the two. Which one depends on the case's name alone, so that a new case does
    not change what is tried of others."""
    found: dict[str, list[str]] = {}
    for name, way in pairs:
        if (name, way) not in REFUSED:
            found.setdefault(name, []).append(way)
    if is_long():
        return [(name, way) for name, ways in found.items() for way in ways]
    chosen: list[Tried] = []
    for name, ways in found.items():
        number = crc32(name.encode())
        others = [way for way in ways if way not in always and (name, way) not in SLOW]
        tried = [*(way for way in ways if way in always), others[(number // 2) % len(others)]]
        usual = tried[1] if len(tried) > 2 else tried[number % len(tried)]
        first = next((way for way in tried if (name, way) in ALONE), usual)
        chosen += [pytest.param(name, way, marks=() if way == first else pytest.mark.deep) for way in tried]
    return chosen


ALWAYS = ("optimised", "additive")


@pytest.mark.parametrize(("name", "way"), spread(in_ways(DIRECTED, ALL_WAYS), ALWAYS))
def test_directed(name: str, way: str) -> None:
    REACHED.cases += 1
    check(DIRECTED[name], ALL_WAYS[way], REACHED)


def rarely(tried: Iterable[Tried], one_in: int) -> list[Tried]:
    """The same, of which `make test` has one in so many."""
    found: list[Tried] = []
    for each in tried:
        (name, way), marks = (each.values, tuple(each.marks)) if isinstance(each, ParameterSet) else (each, ())
        found.append(pytest.param(name, way, marks=(pytest.mark.deep,) if crc32(str(name).encode()) % one_in else marks))
    return found


@pytest.mark.parametrize(("name", "way"), rarely(spread(in_ways(DIRECTED, COMPARED)), 8))
def test_compared(name: str, way: str) -> None:
    check(DIRECTED[name], COMPARED[way], REACHED)


@pytest.mark.parametrize("name", [name for name in DIRECTED if "share" in name])
@pytest.mark.parametrize("way", ["optimised", pytest.param("recompute", marks=pytest.mark.deep)])
def test_neighbours_of_replaced_rows(name: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the combinations of IDs were too many for a condition."""
    monkeypatch.setattr(replace_where, "_COMBINED", 0)
    check(DIRECTED[name], ALL_WAYS[way])


NAMED = [name for name, case in DIRECTED.items() if "WITH " in case.sql or "FROM (SELECT" in case.sql]


@pytest.mark.parametrize(("name", "way"), rarely(spread(product(NAMED, BY_NAME), tuple(BY_NAME)[:1]), 2))
def test_subviews_that_are_named(name: str, way: str) -> None:
    check(DIRECTED[name], BY_NAME[way])


@pytest.mark.parametrize(("name", "way"), spread(in_ways(FOUND, ALL_WAYS), ALWAYS))
def test_counter_example_stays_right(name: str, way: str) -> None:
    check(FOUND[name], ALL_WAYS[way])
