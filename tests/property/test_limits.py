"""Views whose i-diffs are too long: operators give one that names all their rows, each of them, or from some size on."""

from __future__ import annotations

import pytest

from dbt_idivm.passes import propagate
from tests.property.directed import DIRECTED
from tests.property.profiles import is_long
from tests.property.test_equivalence import ALL_WAYS, check

# of the directed cases one in so many, unless the run is long; `make test` has half of these
EVERY = 1 if is_long() else 6
SOME = [pytest.param(name, marks=pytest.mark.deep if number % 2 else ()) for number, name in enumerate([*DIRECTED][::EVERY])]


@pytest.mark.parametrize("limit", [0, 12])
@pytest.mark.parametrize("name", SOME)
def test_all_rows_are_named(name: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(propagate, "LONGEST_IDIFFS", limit)
    check(DIRECTED[name], ALL_WAYS["optimised"])
