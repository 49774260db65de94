"""Which cases are tried, and in which ways, by `make test`, by `make deep` and by long runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any
from zlib import crc32

import pytest
from _pytest.mark import ParameterSet

from dbt_idivm.algebra.operator import operators
from dbt_idivm.operators import Aggregate
from tests.property.plans import BY_STORED_ROWS, Options, Table, plan_of
from tests.property.profiles import is_long
from tests.property.strategies import Case
from tests.property.test_equivalence import ADDITIVE

Tried = tuple[object, ...] | ParameterSet  # most often a case and a way
ALWAYS = ("optimised", "additive")
# a minute: left to long runs
SLOW = {("IN and NOT IN as values where nothing is NULL", "tuple-feed"), ("four full joins of groups", "tuple-feed")}
# the planner refuses: the script would be too large (IDIVM-232)
REFUSED = {("sets over a join", "optimised-feed")}

# each reaches a rule that no other case of `make test` does
ALONE = {
    ("computed column over a keyless table and a changed partner", "optimised"),  # project_upd_bag
    ("a column beside the elements changes", "optimised"),  # unnest_upd_unused
    ("elements of an outer-joined row", "optimised"),  # unnest_ins_again
    ("sums that have all digits there are", "additive"),  # additive_sum_wide
}


def in_ways(cases: Mapping[str, Case], ways: Mapping[str, Options]) -> Iterator[tuple[str, str]]:
    """Each case with each way; the additive and the cached one only where they do not plan what another way plans."""
    for name, case in cases.items():
        stored, grouped = _planned(case.tables, case.sql)
        yield from (
            (name, way)
            for way in ways
            if (stored or way not in ADDITIVE) and (grouped or way.removeprefix("compared-") != "caches")
        )


@cache
def _planned(tables: tuple[Table, ...], sql: str) -> tuple[bool, bool]:
    """Whether the plan has a way by stored rows, and an aggregate."""
    plan = plan_of(tables, sql, Options())
    return any(map(plan.way, BY_STORED_ROWS)), any(isinstance(node, Aggregate) for node in operators(plan.root))


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


def some(tried: Iterable[Tried], one_of: int, of_deep: int = 4) -> list[ParameterSet]:
    """One of so many is tried as it was; of the others one of `of_deep` in `make deep`, and the rest in long runs. Which ones
    depends on the values alone."""
    found = []
    for each in tried:
        values, marks = _parts(each)
        number = crc32(repr(values).encode())
        if number % one_of and values not in ALONE:
            marks = (pytest.mark.long if number // one_of % of_deep else pytest.mark.deep,)
        found.append(pytest.param(*values, marks=marks))
    return found


def deep_where(is_deep: Callable[[str], bool], tried: Iterable[Tried]) -> list[ParameterSet]:
    """Cases with such a name are tried in `make deep` only."""
    found = []
    for each in tried:
        values, marks = _parts(each)
        found.append(pytest.param(*values, marks=pytest.mark.deep if is_deep(str(values[0])) else marks))
    return found


def _parts(tried: Tried) -> tuple[tuple[object, ...], tuple[Any, ...]]:
    """The values and the marks."""
    return (tried.values, tuple(tried.marks)) if isinstance(tried, ParameterSet) else (tried, ())
