"""The hand-written cases, in every way to maintain a view."""

from __future__ import annotations

import pytest

from tests.property.directed import DIRECTED, FOUND
from tests.property.test_equivalence import ALL_WAYS, check


@pytest.mark.parametrize("way", ALL_WAYS)
@pytest.mark.parametrize("name", DIRECTED)
def test_directed(name: str, way: str) -> None:
    check(DIRECTED[name], ALL_WAYS[way])


@pytest.mark.parametrize("way", ALL_WAYS)
@pytest.mark.parametrize("name", FOUND)
def test_counter_example_stays_right(name: str, way: str) -> None:
    check(FOUND[name], ALL_WAYS[way])
