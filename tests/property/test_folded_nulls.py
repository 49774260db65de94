"""NOT IN of a NULL that Spark's optimizer knows of, which is NULL without ANSI mode even where the subquery has no rows."""

from __future__ import annotations

import pytest

from dbt_idivm.frontend import existence
from tests.property.coverage import MEANT
from tests.property.directed import build
from tests.property.judge import judge
from tests.property.meaning import not_ansi
from tests.property.strategies import Case
from tests.property.test_equivalence import ALL_WAYS
from tests.property.trials import Discarded

_IN = "(SELECT b.z FROM t1 b WHERE b.x = 7)"
WRONG = {
    "a constant": f"SELECT a.k FROM t0 a WHERE CAST(NULL AS INT) NOT IN {_IN}",
    "below OR": f"SELECT a.k FROM t0 a WHERE a.y = 9 OR CAST(NULL AS INT) NOT IN {_IN}",
    "a column of a derived table": f"SELECT k FROM (SELECT t0.*, CAST(NULL AS INT) AS n FROM t0) a WHERE a.y = 9 OR a.n NOT IN {_IN}",
    "a branch of a union": "SELECT k, src FROM (SELECT k, x, 'p' AS src FROM t0 UNION ALL SELECT k, CAST(NULL AS INT), 'q' FROM t0) a "
    f"WHERE a.src = 'z' OR a.x NOT IN {_IN}",
}
REFUSED = {
    "a CASE over the branch of a union": "SELECT k, src FROM (SELECT k, x, 'p' AS src FROM t0 UNION ALL SELECT k, x, 'q' FROM t0) a "
    f"WHERE CASE WHEN a.src = 'p' THEN a.x END NOT IN {_IN}",
    "a side that is never joined": f"SELECT t0.k FROM t0 LEFT JOIN t1 c ON 1 = 2 WHERE c.x NOT IN {_IN}",
}
KEPT = {
    "a column": f"SELECT a.k FROM t0 a WHERE a.x NOT IN {_IN}",
    "a side of an outer join": f"SELECT t0.k FROM t0 LEFT JOIN t1 c ON t0.k = c.k WHERE t0.y = 9 OR c.x NOT IN {_IN}",
    "a constant that is no NULL": f"SELECT k FROM (SELECT k, 2 AS n FROM t0 UNION ALL SELECT k, x FROM t1) a WHERE a.n NOT IN {_IN}",
    "an expression": f"SELECT a.k FROM t0 a WHERE CASE WHEN a.y > 0 THEN a.x END NOT IN {_IN}",
    "IN": f"SELECT a.k FROM t0 a WHERE a.y = 1 OR CAST(NULL AS INT) IN {_IN}",
}


def case(sql: str) -> Case:
    return build(
        "t0(k int, x int, y int; k)\nt1(k int, x int, z int; k)",
        sql,
        {"t0": [(6, 2, 0)], "t1": [(5, 7, 0)]},
        {"t0": [(6, 2, 0), (7, None, 1)]},
        {"t1": []},
        {"t0": [(6, None, 0)], "t1": [(5, 7, None)]},
        {"t1": [(6, 8, 1)]},
    )


@pytest.mark.parametrize("name", WRONG)
def test_wrong_views_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Discarded, match="IDIVM-208"):
        judge(case(WRONG[name]), ALL_WAYS["optimised"], MEANT, not_ansi)
    monkeypatch.setattr(existence, "may_be_folded", lambda value, root: False)
    with pytest.raises(AssertionError):
        judge(case(WRONG[name]), ALL_WAYS["optimised"], MEANT, not_ansi)


@pytest.mark.parametrize("name", REFUSED)
def test_others_are_refused(name: str) -> None:
    with pytest.raises(Discarded, match="IDIVM-208"):
        judge(case(REFUSED[name]), ALL_WAYS["optimised"], MEANT, not_ansi)


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("way", ["optimised", "tuple"])
def test_all_others_are_maintained(name: str, way: str) -> None:
    judge(case(KEPT[name]), ALL_WAYS[way], MEANT, not_ansi)
