"""The hand-written cases, in every way to maintain a view."""

from __future__ import annotations

import pytest

from tests.property.directed import FOUND
from tests.property.test_equivalence import ADDITIVE, WAYS, check


@pytest.mark.parametrize("way", WAYS | ADDITIVE)
@pytest.mark.parametrize("name", FOUND)
def test_found(name: str, way: str) -> None:
    check(FOUND[name], (WAYS | ADDITIVE)[way])
