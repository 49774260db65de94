"""Views whose i-diffs are too long: operators give one that names all their rows, each of them, or from some size on."""

from __future__ import annotations

from itertools import product

import pytest

from dbt_idivm.passes import propagate
from tests.property.chosen import some
from tests.property.directed import DIRECTED
from tests.property.test_equivalence import ALL_WAYS, check


@pytest.mark.parametrize(("name", "limit"), some(product(DIRECTED, (0, 12)), 24, of_deep=20))
def test_all_rows_are_named(name: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(propagate, "LONGEST_IDIFFS", limit)
    check(DIRECTED[name], ALL_WAYS["optimised"])
