"""Conditions that tell 0.0 from -0.0: refused where Spark's optimizer gives them a meaning of its own, and only there."""

from __future__ import annotations

import pytest

from dbt_idivm.frontend import lower
from tests.property.coverage import MEANT
from tests.property.directed import build
from tests.property.judge import judge
from tests.property.meaning import OnSpark
from tests.property.strategies import Case
from tests.property.test_equivalence import ALL_WAYS
from tests.property.trials import Discarded

_TABLES = "t(k int, f double; k)\nu(j int, f double; j)"
_COUNTED = "(SELECT k, f, count(*) OVER (PARTITION BY f) AS n FROM t)"
_MINUS = "CAST(f AS STRING) = '-0.0'"
# Wrong views, were they maintained as any other.
WRONG = {
    "a condition that goes below a window": f"SELECT k, n FROM {_COUNTED} WHERE {_MINUS}",
    "first rows": f"SELECT k, f FROM (SELECT k, f, row_number() OVER (PARTITION BY f ORDER BY k) AS n FROM t) WHERE n <= 2 AND {_MINUS}",
    "a constant": f"SELECT k FROM t WHERE f = 0.0D AND {_MINUS}",
    "an IN of one constant": f"SELECT k FROM t WHERE f IN (0.0D) AND {_MINUS}",
}
# Refused as well: what Spark infers of an equality depends on the query.
REFUSED = {
    "a text with a name": "SELECT k, n FROM (SELECT k, CAST(f AS STRING) AS s, count(*) OVER (PARTITION BY f) AS n FROM t) WHERE s = '-0.0'",
    "a join": "SELECT t.k, u.j FROM t JOIN u ON t.f = u.f WHERE CAST(t.f AS STRING) = '-0.0'",
    "a semi join": f"SELECT k FROM t WHERE f IN (SELECT u.f FROM u) AND {_MINUS}",
    "a function that nobody knows to be blind": "SELECT k FROM t WHERE f = 0.0D AND atan2(f, -1) < 0",
    "elements of an array": "SELECT k FROM (SELECT k, array(f) AS a FROM t) WHERE a = array(0.0D) AND CAST(a AS STRING) = '[-0.0]'",
}
CONSTANTS = {
    "a constant": "SELECT n, count(*) AS c FROM (SELECT k, -0.0D AS n FROM t) GROUP BY n",
    "what is the same in all cases": "SELECT n, max(k) AS m FROM (SELECT k, if(k > 1, -0.0D, 0.0D) AS n FROM t) GROUP BY n",
    "distinct rows": "SELECT DISTINCT n FROM (SELECT k, CAST('-0' AS DOUBLE) AS n FROM t)",
    "a constant of another constant": "SELECT n, count(*) AS c FROM "
    "(SELECT k, CAST(s AS DOUBLE) AS n FROM (SELECT k, '-0.0' AS s FROM t)) GROUP BY n",
    "a negated constant": "SELECT n, count(*) AS c FROM (SELECT k, -z AS n FROM (SELECT k, 0.0D AS z FROM t)) GROUP BY n",
}
# Refused as well: what is computed from such a constant, or may be another constant.
MORE_CONSTANTS = {
    "in a branch": "SELECT n, count(*) AS c FROM (SELECT f AS n FROM t UNION ALL SELECT -0.0D FROM u) GROUP BY n",
    "what is computed": "SELECT n, count(*) AS c FROM (SELECT m * f AS n FROM (SELECT f, -(0e0) AS m FROM t)) GROUP BY n",
    "a function": "SELECT n, count(*) AS c FROM (SELECT k, sin(-0) AS n FROM t) GROUP BY n",
    "a variable of a lambda over a constant": "SELECT n, count(*) AS c FROM "
    "(SELECT size(transform(a, x -> CAST(x AS DOUBLE))) AS n FROM (SELECT k, array('-0') AS a FROM t)) GROUP BY n",
    "a constant in a lambda": "SELECT n, count(*) AS c FROM (SELECT size(transform(array(k), x -> -0.0D)) AS n FROM t) GROUP BY n",
}
KEPT = {
    "constants that are no -0.0": "SELECT a, b, c, d, e, count(*) AS n FROM (SELECT 0.0D AS a, -1.5D AS b, CAST(0 AS DOUBLE) AS c, -0.0 AS d, "
    "CAST(NULL AS DOUBLE) AS e FROM t) GROUP BY a, b, c, d, e",
    "constants of other constants that are no -0.0": "SELECT a, b, count(*) AS n FROM "
    "(SELECT CAST(s AS DOUBLE) AS a, -d AS b FROM (SELECT '1.5' AS s, 1.5D AS d FROM t)) GROUP BY a, b",
    "variables of lambdas that are no floats": "SELECT p, count(*) AS n FROM "
    "(SELECT size(filter(array(k, 2), x -> x + 1 > 2)) AS p FROM t) GROUP BY p",
    "constants that no group is made by": "SELECT k, -0.0D AS n, max(-0.0D) AS m FROM t GROUP BY k",
    "no equality": f"SELECT k FROM t WHERE {_MINUS} AND f < 1",
    "numbers are compared": "SELECT k, f FROM t WHERE f = 0.0D AND f * 2 < 1 AND CAST(f AS INT) = 0 AND coalesce(round(f, 1), 1) <= 0",
    "the text is shown": "SELECT t.k, CAST(t.f AS STRING) AS s, count(*) OVER (PARTITION BY t.f) AS n FROM t WHERE t.f <= 0",
    "a text of another type": f"SELECT k, n FROM {_COUNTED} WHERE CAST(k AS STRING) LIKE '%1'",
    "groups, which have one zero": f"SELECT f, n FROM (SELECT f, count(*) AS n FROM t GROUP BY f) WHERE {_MINUS}",
}


def case(sql: str) -> Case:
    return build(
        _TABLES,
        sql,
        {"t": [(1, "0.0"), (2, "0.0")], "u": [(1, "0.0"), (2, "-0.0")]},
        {"t": [(1, "0.0"), (2, "0.0"), (3, "-0.0"), (4, "-0.0")], "u": [(1, "-0.0")]},
        {"t": [(1, "-0.0"), (3, "0.0"), (4, "-0.0")], "u": [(1, "-0.0"), (3, "0.0")]},
    )


@pytest.mark.parametrize("name", WRONG)
def test_wrong_views_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Discarded, match="IDIVM-235"):
        judge(case(WRONG[name]), ALL_WAYS["optimised"], MEANT, OnSpark)
    monkeypatch.setattr(lower, "signed_zeros", lambda root: ())
    with pytest.raises(AssertionError):
        for way in ("optimised", "caches-everywhere"):
            judge(case(WRONG[name]), ALL_WAYS[way], MEANT, OnSpark)


@pytest.mark.parametrize("name", REFUSED)
def test_others_are_refused(name: str) -> None:
    with pytest.raises(Discarded, match="IDIVM-235"):
        judge(case(REFUSED[name]), ALL_WAYS["optimised"], MEANT, OnSpark)


@pytest.mark.parametrize("name", CONSTANTS)
def test_constant_zeros_as_groups_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Discarded, match="IDIVM-228"):
        judge(case(CONSTANTS[name]), ALL_WAYS["optimised"], MEANT, OnSpark)
    monkeypatch.setattr(lower, "constant_zeros", lambda root: ())
    with pytest.raises(AssertionError):
        judge(case(CONSTANTS[name]), ALL_WAYS["caches-everywhere"], MEANT, OnSpark)


@pytest.mark.parametrize("name", MORE_CONSTANTS)
def test_others_that_may_be_such_a_zero_are_refused(name: str) -> None:
    with pytest.raises(Discarded, match="IDIVM-228"):
        judge(case(MORE_CONSTANTS[name]), ALL_WAYS["optimised"], MEANT, OnSpark)


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("way", ["optimised", "additive", "tuple"])
def test_all_others_are_maintained(name: str, way: str) -> None:
    judge(case(KEPT[name]), ALL_WAYS[way], MEANT, OnSpark)
