"""The hand-written cases: in one or two of their ways, and in others under `make deep`; under long profiles in every way."""

from __future__ import annotations

from itertools import product

import pytest

from dbt_idivm.script import replace_where
from tests.property.chosen import ALWAYS, deep_where, in_ways, some, spread
from tests.property.coverage import DIRECTED as REACHED
from tests.property.directed import DIRECTED, FOUND
from tests.property.mutations import GUARDS
from tests.property.test_equivalence import ALL_WAYS, BY_NAME, COMPARED, check

MUTATED = {mutation.case for mutation in GUARDS}  # test_mutations.py has them in `make test`
OTHERS = deep_where(lambda name: name in MUTATED, spread(in_ways(DIRECTED, ALL_WAYS), ALWAYS))


@pytest.mark.parametrize(("name", "way"), some(OTHERS, 2, of_deep=1))
def test_directed(name: str, way: str) -> None:
    REACHED.cases += 1
    check(DIRECTED[name], ALL_WAYS[way], REACHED)


@pytest.mark.parametrize(("name", "way"), some(spread(in_ways(DIRECTED, COMPARED)), 16, of_deep=1))
def test_compared(name: str, way: str) -> None:
    check(DIRECTED[name], COMPARED[way], REACHED)


@pytest.mark.parametrize("name", [name for name in DIRECTED if "share" in name])
@pytest.mark.parametrize("way", ["optimised", pytest.param("recompute", marks=pytest.mark.deep)])
def test_neighbours_of_replaced_rows(name: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the combinations of IDs were too many for a condition."""
    monkeypatch.setattr(replace_where, "_COMBINED", 0)
    check(DIRECTED[name], ALL_WAYS[way])


NAMED = [name for name, case in DIRECTED.items() if "WITH " in case.sql or "FROM (SELECT" in case.sql]


@pytest.mark.parametrize(("name", "way"), some(spread(product(NAMED, BY_NAME), tuple(BY_NAME)[:1]), 4, of_deep=1))
def test_subviews_that_are_named(name: str, way: str) -> None:
    check(DIRECTED[name], BY_NAME[way])


@pytest.mark.parametrize(("name", "way"), spread(in_ways(FOUND, ALL_WAYS), ALWAYS))
def test_counter_example_stays_right(name: str, way: str) -> None:
    check(FOUND[name], ALL_WAYS[way])
