"""The clock moves, and only the rows that this and the changes of a batch reach are read: by the Δ-script, or compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import duckdb
import pytest

from dbt_idivm.algebra.outer import OuterPair
from dbt_idivm.algebra.relation import over
from dbt_idivm.operators.scan import DiffRows, Scan
from dbt_idivm.script import at_both_times, found_rows
from dbt_idivm.script.at_both_times import Clock, Differing
from dbt_idivm.script.diff import Row
from tests.property.chosen import some
from tests.property.coverage import DIRECTED_AND_MEANT
from tests.property.directed import build
from tests.property.harness import Collision, World
from tests.property.judge import judge
from tests.property.strategies import Case
from tests.property.test_clock import _TABLES, CASES, WAYS, _at, _of
from tests.property.test_equivalence import COMPARED

Patch = pytest.MonkeyPatch
BY_COMPARISON = [name for name in COMPARED if name in WAYS]
_WINDOW = "d >= current_date() - INTERVAL 15 DAYS"


@dataclass
class Applied:
    """Of the refreshes in which the clock moved: how many there were, how many read reached rows alone, and how many compared
    states over them."""

    moved: int = 0
    reached: int = 0
    compared: int = 0


def check(case: Case, way: str) -> Applied:
    """Maintain the view; after each batch it equals its recomputation."""
    found = Applied()
    with World(case.tables, case.sql, WAYS[way]) as world:
        world.load(case.start)
        for batch in case.batches:
            before, values = world.applied.copy(), dict(world.values)
            world.refresh(batch)
            assert world.maintained() == world.recomputed()
            if world.plan.hidden:
                assert world.stored() == world.extended(), "hidden columns or operator caches differ"
            moved = values != world.values
            done = world.applied - before
            found.moved += moved
            found.reached += moved and done["reach alone"]
            found.compared += moved and done["compared"]
    return found


@pytest.mark.parametrize(("name", "way"), some(product(CASES, BY_COMPARISON), 24, of_deep=1))
def test_states_at_both_times_are_compared(name: str, way: str) -> None:
    check(CASES[name], way)


# Views of which all tables are reached if the clock moves.
REACHED = (
    "a window",
    "a window and another condition",
    "the row before",
    "a value",
    "a value of two columns",
    "copies",
    "copies of values",
    "a preserved side",
    "a padded side",
    "EXISTS",
    "NOT EXISTS",
    "groups of a window",
    "UNION",
    "days between",
    "partners of the day",
    "a written time beside it",
)
JOINED = {
    "a window over a dimension and an outer join": _of(
        "SELECT a.k, a.d, b.y, c.k AS l, datediff(current_date(), b.e) AS age FROM t0 AS a JOIN t1 AS b ON a.x = b.y "
        f"LEFT JOIN t0 AS c ON c.k = b.k AND c.{_WINDOW} WHERE a.{_WINDOW}"
    ),
    "a window below groups over a join": _of(
        f"SELECT b.y, count(*) AS n, sum(a.k) AS s FROM t0 AS a JOIN t1 AS b ON a.x = b.k WHERE a.{_WINDOW} GROUP BY b.y"
    ),
    "a computed date below a window": _of(
        "SELECT k, day FROM (SELECT k, x, last_day(d) AS day FROM t0) AS q WHERE day >= current_date()"
    ),
    "a window above an outer join": _of(
        f"SELECT a.k, a.d, b.k AS l FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.y WHERE a.{_WINDOW} AND coalesce(b.y, 0) < 3"
    ),
    "a window above NOT EXISTS": _of(
        f"SELECT k, d FROM (SELECT * FROM t0 WHERE NOT EXISTS (SELECT 1 FROM t1 WHERE y = x AND y > 1)) AS q WHERE {_WINDOW}"
    ),
}


def _of_years(sql: str) -> Case:
    """Rows of t0 with and without a partner, of which the year decides."""
    t0: list[Row] = [(1, None, 9), (2, None, 0), (3, None, None), (4, None, 1)]
    t1: list[Row] = [(1, None, 9), (2, None, 1), (3, None, 0), (4, None, 7)]
    return build(
        _TABLES, sql, _at("2026-02-01", t0=t0, t1=t1), _at("2025-02-01"), _at("2027-02-01", t0=t0[1:]), _at("2025-12-31")
    )


# Conditions that a row may satisfy although a row of its table does not, or that tie two tables, and unions, whose rows lead nowhere.
OTHERS = {
    "a padded row satisfies the condition": _of_years(
        "SELECT a.k, b.k AS l FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.y WHERE coalesce(b.y, 0) > year(current_date()) - 2026"
    ),
    "a padded row of a full join satisfies the condition": _of_years(
        "SELECT a.k, b.k AS l FROM t0 AS a FULL JOIN t1 AS b ON a.x = b.y WHERE coalesce(a.x, 0) > year(current_date()) - 2026"
    ),
    "windows over both sides of a join": _of(
        f"SELECT a.k, b.k AS l FROM t0 AS a JOIN t1 AS b ON a.x = b.y WHERE a.{_WINDOW} AND b.e < current_date()"
    ),
    "a window above a union": _of(
        f"SELECT s, d FROM (SELECT k AS s, d FROM t0 UNION ALL SELECT y, e FROM t1 WHERE y > 1) AS q WHERE {_WINDOW}"
    ),
    "groups of a window above a union": _of(
        f"SELECT s, count(*) AS n FROM (SELECT k AS s, d FROM t0 UNION ALL SELECT y, e FROM t1) AS q WHERE {_WINDOW} GROUP BY s"
    ),
    "a group of which one row is late": _of(
        "SELECT x, m FROM (SELECT x, max(d) AS m, count(*) AS n FROM t0 GROUP BY x) AS q WHERE m < current_date()"
    ),
    "the last row is late": _of(
        "SELECT k, d FROM (SELECT k, d, row_number() OVER (PARTITION BY x ORDER BY k) AS n FROM t0) AS q "
        "WHERE n = 1 AND d < current_date()"
    ),
    "a value that fails below the condition": build(
        _TABLES,
        "SELECT k, f FROM (SELECT k, factorial(x) AS f FROM t0 WHERE x >= 0) AS q WHERE f > year(current_date()) - 2024",
        _at("2026-02-01", t0=[(1, None, 3), (2, None, -1), (3, None, 4), (4, None, 0)]),
        _at("2031-02-01"),
        _at("2026-02-02", t0=[(1, None, 3), (2, None, -1), (3, None, 1), (5, None, 3)]),
    ),
}
ALL = {**CASES, **JOINED, **OTHERS}


@pytest.mark.parametrize(
    "name", [name if name in JOINED else pytest.param(name, marks=pytest.mark.deep) for name in (*REACHED, *JOINED)]
)
def test_all_tables_are_reached(name: str) -> None:
    found = check(ALL[name], "compared")
    assert found.reached == found.moved and found.compared > 0


@pytest.mark.parametrize("name", OTHERS)
def test_other_conditions(name: str) -> None:
    check(OTHERS[name], "compared")


@pytest.mark.parametrize(("name", "way", "most"), some(product(ALL, BY_COMPARISON, (0, 1, 3)), 120, of_deep=8))
def test_tables_with_too_many_rows_are_read(name: str, way: str, most: int, monkeypatch: Patch) -> None:
    """All of them, or some: the others are found without the keys that these have."""
    monkeypatch.setattr(found_rows, "MOST_ROWS", most)
    check(ALL[name], way)


def test_a_table_that_a_condition_finds_too_much_of_is_not_reached(monkeypatch: Patch) -> None:
    monkeypatch.setattr(found_rows, "MOST_ROWS", 0)
    found = check(CASES["a window"], "compared")
    assert found.moved > found.reached


@pytest.mark.parametrize(("name", "way"), some(product(ALL, BY_COMPARISON), 120, of_deep=8))
def test_in_spark_s_meaning(name: str, way: str) -> None:
    judge(ALL[name], WAYS[way], DIRECTED_AND_MEANT)


@pytest.mark.deep
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", {**JOINED, **OTHERS})
def test_in_all_ways(name: str, way: str) -> None:
    check(ALL[name], way)


def through_padded_sides(patch: Patch) -> None:
    """Conditions go down to these as well."""
    restricted = at_both_times._restricted

    def further(node: Any, parts: Any, clock: Any) -> Any:
        if isinstance(node, OuterPair):
            return over(node, [further(each, parts, clock) for each in node.children])
        return restricted(node, parts, clock)

    patch.setattr(at_both_times, "_restricted", further)


def nothing_fails(patch: Patch) -> None:
    patch.setattr(at_both_times, "may_raise", lambda expression, types: False)


def rows_lead_nowhere(patch: Patch) -> None:
    """Rows that are found by a condition."""
    of = found_rows._Search._of

    def without(self: Any, source: Any) -> Any:
        is_by_condition = isinstance(source, found_rows.Found) and isinstance(source.finder, Differing)
        return () if is_by_condition else of(self, source)

    patch.setattr(found_rows._Search, "_of", without)


def rows_are_given_again(patch: Patch) -> None:
    """Those that were found by a condition."""
    query = found_rows._Search.query

    def again(self: Any, table: str, finders: Any) -> Any:
        asked = self._asked
        self._asked = {each: values for each, values in asked.items() if not isinstance(each, Differing)}
        try:
            return query(self, table, finders)
        finally:
            self._asked = asked

    patch.setattr(found_rows._Search, "query", again)


def nothing_is_found(patch: Patch) -> None:
    """By conditions."""
    patch.setattr(found_rows._Search, "_condition", lambda self, finder, name: None)


def one_time_alone(patch: Patch) -> None:
    """The time before is the time now."""
    patch.setattr(Clock, "leaves", property(lambda self: (DiffRows(self.scan, "plus", self.scan.columns),) * 2))


def the_clock_stands(patch: Patch) -> None:
    """In the states that are compared."""
    in_state = Scan.in_state
    patch.setattr(Scan, "in_state", lambda self, state: self if self.is_clock else in_state(self, state))


GUARDS = (
    ("a padded row satisfies the condition", through_padded_sides, "a padded row satisfies the condition", "compared"),
    (
        "a padded row of ⟗ satisfies the condition",
        through_padded_sides,
        "a padded row of a full join satisfies the condition",
        "compared",
    ),
    ("a computed value may fail", nothing_fails, "a value that fails below the condition", "compared"),
    ("rows that are found by a condition have keys", rows_lead_nowhere, "groups of a window", "compared"),
    ("no row is given twice", rows_are_given_again, "groups of a window", "compared"),
    ("rows are found by the condition", nothing_is_found, "a window", "compared"),
    ("both times are compared", one_time_alone, "a window", "compared"),
    ("the pre-state has the time before", the_clock_stands, "a window", "compared"),
)


@pytest.mark.parametrize(("guard", "switch_off", "name", "way"), GUARDS, ids=[each[0] for each in GUARDS])
def test_guard_is_needed(
    guard: str, switch_off: Callable[[Patch], None], name: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(ALL[name], way)
    switch_off(monkeypatch)
    with pytest.raises((AssertionError, Collision, duckdb.OutOfRangeException)):
        check(ALL[name], way)
