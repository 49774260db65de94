"""Views with explicit collations, on Spark's meaning: they are exact, or refused where a collation decides which rows are equal."""

from __future__ import annotations

import pytest

from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend import lower
from tests.property.harness import Collision, World
from tests.property.meaning import OnSpark
from tests.property.plans import Table
from tests.property.test_equivalence import ALL_WAYS

TABLE = Table("o", (("k", "int"), ("x", "int"), ("s", "string")), ("k",))
STATES = (
    [(1, 1, "a"), (2, 2, "A"), (3, 3, "b")],
    [(1, 1, "a"), (2, 2, "A"), (3, 3, "B")],
    [(1, 5, "A"), (2, 2, "A"), (3, 3, "B")],
)
REFUSED = (
    "SELECT s COLLATE UTF8_LCASE AS s, sum(x) AS n FROM o GROUP BY s COLLATE UTF8_LCASE",
    "SELECT DISTINCT s COLLATE UTF8_LCASE AS s FROM o",
    "SELECT trim(s COLLATE UTF8_LCASE) AS s, count(*) AS n FROM o GROUP BY 1",
    "SELECT a.k, b.k AS j FROM (SELECT k, s COLLATE UTF8_LCASE AS c FROM o) a JOIN (SELECT k, collate(s, 'UTF8_LCASE') AS c FROM o) b"
    " ON a.c = b.c",
    "SELECT k, count(*) OVER (PARTITION BY s COLLATE UTF8_LCASE) AS n FROM o",
)
NEEDED = REFUSED[:4]
EXACT = (
    "SELECT k, s COLLATE UTF8_LCASE AS s FROM o",
    "SELECT k FROM o WHERE s COLLATE UTF8_LCASE = 'a'",
    "SELECT s COLLATE UTF8_LCASE = 'a' AS c, count(*) AS n FROM o GROUP BY 1",
    "SELECT k, max(s COLLATE UTF8_LCASE) AS m FROM o GROUP BY k",
)


def is_exact(sql: str, way: str) -> bool:
    with World((TABLE,), sql, ALL_WAYS[way], OnSpark) as world:
        world.load({"o": STATES[0]})
        for state in STATES[1:]:
            try:
                world.refresh({"o": state})
            except Collision:
                return False
            if world.maintained() != world.recomputed():
                return False
    return True


@pytest.mark.parametrize("sql", REFUSED)
def test_rows_are_not_compared_under_a_collation(sql: str) -> None:
    with pytest.raises(IdivmError, match="IDIVM-228"):
        is_exact(sql, "optimised")


@pytest.mark.parametrize("sql", NEEDED)
def test_the_refusal_is_needed(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lower, "compared_collations", lambda root: ())
    assert not is_exact(sql, "optimised")


@pytest.mark.parametrize("sql", EXACT)
@pytest.mark.parametrize("way", ["optimised", "tuple"])
def test_collations_in_conditions_and_results(sql: str, way: str) -> None:
    assert is_exact(sql, way)
