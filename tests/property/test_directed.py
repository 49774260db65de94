"""The hand-written cases, in every way to maintain a view."""

from __future__ import annotations

import pytest

from tests.property.directed import DIRECTED, FOUND
from tests.property.test_equivalence import ALL_WAYS, BY_NAME, check


@pytest.mark.parametrize("way", ALL_WAYS)
@pytest.mark.parametrize("name", DIRECTED)
def test_directed(name: str, way: str) -> None:
    check(DIRECTED[name], ALL_WAYS[way])


@pytest.mark.parametrize("way", BY_NAME)
@pytest.mark.parametrize("name", [name for name, case in DIRECTED.items() if "WITH " in case.sql or "FROM (SELECT" in case.sql])
def test_subviews_that_are_named(name: str, way: str) -> None:
    check(DIRECTED[name], BY_NAME[way])


@pytest.mark.parametrize("way", ALL_WAYS)
@pytest.mark.parametrize("name", FOUND)
def test_counter_example_stays_right(name: str, way: str) -> None:
    check(FOUND[name], ALL_WAYS[way])
