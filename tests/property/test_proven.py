"""How many SELECTs are proven by plans alone, without that their rows have to be compared."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from dbt_idivm.errors import IdivmError
from tests.proof.corpus import CORPUS, Select, create
from tests.proof.judged import judged, meant
from tests.property.directed import FIRST_OF_EACH, LATERALS, NUMBERED, SCALARS, UP_TO, VALUES_OF_GROUPS
from tests.property.misreadings import MISREADINGS
from tests.property.plans import Table

pytestmark = pytest.mark.deep

# Not proven: IN over groups, which one of the two plans pushes to both sides of a join; >>>, which is a call in the plan.
LEAST = 0.9
# Of these Spark's plan is an Expand and ours a Union: compared by rows.
OF_SETS = re.compile(r"\b(rollup|cube|grouping\s+sets)\b", re.IGNORECASE)
# Of these it keeps the subquery as an expression, or as a join of another kind, where ours has an outer join (ADR 0025), ROW_NUMBER
# where ours counts (ADR 0054), and first(x) where ours groups by x.
OTHERWISE = frozenset({*SCALARS, *LATERALS, *FIRST_OF_EACH, *UP_TO, *NUMBERED, *VALUES_OF_GROUPS, "padded: a scalar subquery"})
# Of these the plan groups by a constant of its own: compared by rows, each of them.
OF_CONSTANTS = frozenset(
    {
        "constant: a text under an alias",
        "constant: a text in GROUP BY",
        "constant: NULL in GROUP BY",
        *(name for name in MISREADINGS if name.startswith("groups that are all constants: ")),
    }
)


def how(select: Select) -> str | None:
    """How the plan of a SELECT is found to be right; None if there is no plan."""
    try:
        return judged(meant(), select.tables, select.sql).how
    except IdivmError as error:
        assert error.is_refusal, select.name
        return None


EVENTS = (Table("events", (("id", "int"), ("usr", "int"), ("d", "date"), ("at", "timestamp"), ("amount", "int")), ("id",)),)
OF_THE_CLOCK = (
    "SELECT id, d FROM events WHERE d >= current_date() - INTERVAL 30 DAYS",
    "SELECT id, datediff(current_date(), d) AS age FROM events",
    "SELECT id, CASE WHEN at < now() THEN 'due' ELSE 'open' END AS state FROM events",
    "SELECT usr, sum(amount) AS total FROM events WHERE d >= date_trunc('month', current_date()) GROUP BY usr",
)


@pytest.mark.parametrize("sql", OF_THE_CLOCK)
def test_views_of_the_clock_are_proven(sql: str) -> None:
    create(EVENTS, {"events": [(1, 1, "2026-02-10", 0, 5)]})
    assert how(Select("clock", EVENTS, sql, {})) == "plans"


LOG = (*EVENTS, Table("log", (("usr", "int"), ("x", "string"), ("at", "int")), ()))
NEWEST = "(SELECT usr, x FROM (SELECT *, row_number() OVER (PARTITION BY usr ORDER BY at DESC) AS n FROM log) WHERE n = 1)"
# Their tied rows may differ between two queries, so that comparing rows says nothing.
OF_TIES = (
    f"SELECT e.id, l.x FROM events e LEFT JOIN {NEWEST} l ON l.usr = e.usr",
    f"SELECT e.id, l.x FROM events e JOIN {NEWEST} l ON l.usr = e.usr",
    f"SELECT usr, x FROM {NEWEST} WHERE usr > 3",
    f"SELECT usr, count(*) AS n FROM {NEWEST} WHERE usr IN (1, 2) GROUP BY usr",
)


@pytest.mark.parametrize("sql", OF_TIES)
def test_conditions_on_a_partition_are_pushed_below_its_window(sql: str) -> None:
    create(LOG, {"events": [(1, 1, "2026-02-10", 0, 5)], "log": [(1, "a", 1), (1, "b", 1)]})
    assert how(Select("ties", LOG, sql, {})) == "plans"


def test_share_of_plans() -> None:
    found: Counter[tuple[str, str]] = Counter()
    of_sets: Counter[str] = Counter()
    otherwise: Counter[str] = Counter()
    seen: set[str] = set()  # cases that differ in rows and types are one
    for source, selects in CORPUS.items():
        for select in selects():
            if select.sql in seen:
                continue
            seen.add(select.sql)
            create(select.tables, select.rows)
            proof = how(select) or "refused"
            if OF_SETS.search(select.sql):
                of_sets[proof] += 1
            elif select.name in OTHERWISE:
                otherwise[proof] += 1
            elif select.name in OF_CONSTANTS:
                assert proof == "rows", select.name
            else:
                found[source, proof] += 1
    planned = {key: number for key, number in found.items() if key[1] != "refused"}
    print(
        *(
            f"{source}: {planned.get((source, 'plans'), 0)} of {sum(n for (s, _), n in planned.items() if s == source)} proven"
            for source in CORPUS
        ),
        f"grouping sets: {dict(of_sets)}",
        f"written otherwise: {dict(otherwise)}",
        sep="\n",
    )
    assert {proof for _, proof in planned} == {"plans", "rows"} >= (of_sets.keys() | otherwise.keys()) - {"refused"}
    assert of_sets["rows"] > 0 and otherwise["rows"] > 0
    assert sum(n for (_, proof), n in planned.items() if proof == "plans") >= LEAST * sum(planned.values())
