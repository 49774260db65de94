"""Times of writing, with the number of the refresh in place of the clock: a row that differs in nothing else keeps its number, and
every other row gets that of the refresh.

A view has these columns beside its attributes, so every hand-written case is one of them: it only gets such a column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from sqlglot import exp

from dbt_idivm.algebra.written_time import WrittenTime
from dbt_idivm.script import append, render, replace_where, times
from dbt_idivm.script.diff import Row
from dbt_idivm.script.merge import TARGET, Clause, Merge
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.source_rows import SourceQuery
from dbt_idivm.script.stored import Stored
from tests.property.chosen import ALWAYS, in_ways, some, spread
from tests.property.directed import DIRECTED, FOUND, build
from tests.property.harness import Options, World
from tests.property.plans import VIEW
from tests.property.strategies import Case, Content
from tests.property.test_equivalence import ALL_WAYS

Patch = pytest.MonkeyPatch
# DuckDB leaves -0.0 where 0.0 is assigned, so the row differs again at the next refresh
OF_ENGINE = "the minimum of zeros with two signs"
SYNTHETIC = "refresh_number"  # the time of a view whose SELECT has none
NUMBER = exp.DataType.build("int")
CASES = {name: case for name, case in (DIRECTED | FOUND).items() if name != OF_ENGINE}


class Dated(World):
    """A world whose view has a time of writing: the number of the refresh that wrote the row, 0 for the build."""

    refreshes = 0

    def typed_plan(self, sql: str, options: Options) -> Plan:
        return self.dated(super().typed_plan(sql, options))

    def dated(self, plan: Plan) -> Plan:
        """The plan for a refresh that is called now: its times are the number of the refresh."""
        number = exp.cast(exp.Literal.number(self.refreshes), NUMBER)
        times = plan.times or (WrittenTime(SYNTHETIC, len(plan.visible) // 2, number, NUMBER),)
        return replace(plan, times=tuple(replace(each, definition=number, type=NUMBER) for each in times))

    def recomputed(self) -> Counter[Row]:
        is_written = SYNTHETIC not in self.plan.names
        return super().recomputed() if is_written else Counter(self.answer())

    def rows(self) -> dict[tuple[str, ...], Counter[object]]:
        """Stored row without its times → its numbers, with their counts."""
        found: dict[tuple[str, ...], Counter[object]] = {}
        places = [self.plan.names.index(each.name) for each in self.plan.times]
        for row in self.engine.rows(exp.Select(expressions=[exp.Star()]).from_(self.engine.dialect.table(VIEW, None))):
            numbers = {row[place] for place in places}
            assert len(numbers) == 1, "two times of one row are of two refreshes"
            rest = tuple(repr(cell) for place, cell in enumerate(row) if place not in places)  # 0.0 is another value than -0.0
            found.setdefault(rest, Counter())[numbers.pop()] += 1
        return found

    def is_wrong_after(self, batch: Content) -> bool:
        """Whether a row has a wrong number after a refresh. Rows that nothing tells apart are written together."""
        before = self.rows()
        self.refreshes += 1
        self.plan = self.dated(self.plan)
        self.refresh(batch)
        after = self.rows()
        return after != {row: _numbers(before.get(row), found.total(), self.refreshes) for row, found in after.items()}


def _numbers(before: Counter[object] | None, count: int, refresh: int) -> Counter[object]:
    return before if before is not None and before.total() == count else Counter({refresh: count})


def check(case: Case, options: Options) -> None:
    assert not is_wrong(case, options)


def is_wrong(case: Case, options: Options) -> bool:
    with Dated(case.tables, case.sql, options) as world:
        world.load(case.start)
        return any(world.is_wrong_after(batch) or world.maintained() != world.recomputed() for batch in case.batches)


@pytest.mark.parametrize(("name", "way"), some(spread(in_ways(CASES, ALL_WAYS), ALWAYS), 12))
def test_unchanged_rows_keep_their_time(name: str, way: str) -> None:
    check(CASES[name], ALL_WAYS[way])


_TWO = "t0(k int, x int, y int; k)\nt1(k int, z int; k)"
_START: Content = {"t0": [(1, 1, 5), (2, 1, 6), (3, 2, 7), (4, None, 8)], "t1": [(1, 1), (2, 2)]}
_LATER: tuple[Content, ...] = (
    {"t0": [(1, 1, 5), (2, 1, 9), (3, 2, 7), (4, None, 8)]},
    {"t0": [(1, 2, 5), (3, 2, 7), (5, 2, 1)], "t1": [(1, 1), (2, 3)]},
    {"t1": [(2, 3), (3, 0)]},
    {"t1": [(1, 1), (2, 3), (3, 0)], "t0": [(1, 2, 5), (3, 2, 8), (5, 2, 2)]},
)
_BAG = "t0(x int, y int)\nt1(k int, z int; k)"
_COPIES: Content = {"t0": [(1, 5), (1, 5), (2, 6), (2, 7)], "t1": [(1, 1), (2, 2)]}
_MORE_COPIES: tuple[Content, ...] = (
    {"t0": [(1, 5), (1, 5), (1, 5), (2, 6), (2, 7)]},
    {"t0": [(1, 5), (2, 6), (2, 6), (2, 7)], "t1": [(1, 2), (2, 2)]},
    {"t1": [(1, 2), (2, 3)]},
)
_NAMED = "WITH c AS (SELECT k, x, y, now() AS t FROM t0) "
# Written as a user writes them: the same worlds, but the front end finds the times.
WRITTEN = {
    "one table": build(_TWO, "SELECT k, current_timestamp() AS t, y FROM t0 WHERE y > 5", _START, *_LATER),
    "two times": build(_TWO, "SELECT now() AS s, k, x + 1 AS x, current_date() AS t FROM t0", _START, *_LATER),
    "either side of a join": build(_TWO, _NAMED + "SELECT c.k, c.t, b.z FROM t1 AS b JOIN c ON c.x = b.k", _START, *_LATER),
    "a preserved side": build(_TWO, _NAMED + "SELECT c.k, c.t, b.z FROM c LEFT JOIN t1 AS b ON c.x = b.k", _START, *_LATER),
    "a preserved right side": build(
        _TWO, _NAMED + "SELECT c.t, c.k, b.z FROM t1 AS b RIGHT JOIN c ON c.x = b.z", _START, *_LATER
    ),
    "UNION ALL": build(_TWO, "SELECT k, now() AS t, y FROM t0 UNION ALL SELECT k, now() AS t, z FROM t1", _START, *_LATER),
    "groups": build(_TWO, "SELECT x, max(y) AS m, count(*) AS n, now() AS t FROM t0 GROUP BY x", _START, *_LATER),
    "groups of a time": build(_TWO, _NAMED + "SELECT x, sum(y) AS s, now() AS t FROM c GROUP BY x", _START, *_LATER),
    "one group": build(_TWO, "SELECT max(y) AS m, now() AS t FROM t0", _START, *_LATER),
    "distinct rows": build(_TWO, "SELECT x, now() AS t FROM (SELECT DISTINCT x FROM t0) AS d", _START, *_LATER),
    "distinct rows with the time": build(_TWO, "SELECT DISTINCT x, now() AS t FROM t0", _START, *_LATER),
    "distinct copies with the time": build(_BAG, "SELECT DISTINCT now() AS t, y % 2 AS z FROM t0", _COPIES, *_MORE_COPIES),
    "EXISTS": build(_TWO, _NAMED + "SELECT k, t, y FROM c WHERE EXISTS (SELECT 1 FROM t1 AS b WHERE b.z = c.x)", _START, *_LATER),
    "the last row": build(
        _TWO,
        _NAMED
        + "SELECT k, x, t FROM (SELECT *, row_number() OVER (PARTITION BY x ORDER BY y DESC, k) AS n FROM c) AS d WHERE n = 1",
        _START,
        *_LATER,
    ),
    "copies": build(_BAG, "SELECT x, y, now() AS t FROM t0", _COPIES, *_MORE_COPIES),
    "copies of a join": build(_BAG, "SELECT a.y, now() AS t, b.z FROM t0 AS a JOIN t1 AS b ON a.x = b.k", _COPIES, *_MORE_COPIES),
    "copies of a union": build(
        _BAG, "SELECT x, now() AS t FROM t0 UNION ALL SELECT z AS x, now() AS t FROM t1", _COPIES, *_MORE_COPIES
    ),
}
# Cases for the guards below that no other case needs.
GUARDED = {
    "neighbours": build(
        "t0(k int, x int; k)\nt1(k int, l decimal(3,0), z int; k, l)",  # the condition has no decimals, so they are not left out
        "SELECT a.k, b.l, now() AS t, a.x + b.z AS y FROM t0 AS a JOIN t1 AS b ON a.k = b.k",
        {"t0": [(1, 1), (2, 2)], "t1": [(1, "1", 1), (1, "2", 2), (2, "1", 3), (2, "2", 4)]},
        {"t1": [(1, "1", 9), (1, "2", 2), (2, "1", 3), (2, "2", 8), (3, "1", 1)]},
    ),
    "rows are added": build(
        "t0(k int, x int; k)", "SELECT k, x, now() AS t FROM t0", {"t0": [(1, 1)]}, {"t0": [(1, 1), (2, 2), (3, 3)]}
    ),
    # The join of an update names rows whose value it leaves as it is.
    "an update of nothing": build(
        "t0(k int, x int, y int; k)",
        "SELECT k, x > 3 AS big, y, now() AS t FROM t0",
        {"t0": [(1, 1, 1), (2, 2, 2)]},
        {"t0": [(1, 2, 1), (2, 2, 3)]},
    ),
    "a maximum stays": build(
        "t0(k int, x int, y int; k)",
        "SELECT x, max(y) AS m, now() AS t FROM t0 GROUP BY x",
        {"t0": [(1, 1, 5), (2, 1, 9), (3, 2, 1)]},
        {"t0": [(1, 1, 6), (2, 1, 9), (3, 2, 4)]},
    ),
    # The former sum is computed again as (1e16 - 1e16) + 1; the stored one is (1e16 + 1) - 1e16, as is the new one.
    "a sum in another order": build(
        "t0(k int, x int, y double; k)",
        "SELECT a.x, now() AS t, sum(a.y) AS s FROM t0 AS a GROUP BY a.x",
        {"t0": [(1, 1, "1e16"), (2, 1, "1.0"), (3, 1, "-1e16")]},
        {"t0": [(1, 1, "1e16"), (2, 1, "0.0"), (3, 1, "-1e16")]},
    ),
}
ALONE = {**WRITTEN, **GUARDED}
WAYS = {name: ALL_WAYS[name] for name in ("optimised", "recompute", "whole", "additive", "optimised-feed", "tuple", "caches")}


@pytest.mark.parametrize(("name", "way"), some(product(ALONE, WAYS), 3))
def test_times_that_a_user_writes(name: str, way: str) -> None:
    check(ALONE[name], WAYS[way])


def updates_do_not_write(patch: Patch) -> None:
    """An update leaves the time as it is."""
    written = times._written
    patch.setattr(times, "_written", lambda clause, view: clause if clause.action == "update" else written(clause, view))


def inserts_do_not_write(patch: Patch) -> None:
    """A new row has no time."""
    written = times._written

    def without(clause: Clause, view: Stored) -> Clause:
        nothing = {each.name: exp.null() for each in view.times} if clause.action == "insert" else {}
        found = written(clause, view)
        return replace(found, values={**found.values, **nothing})

    patch.setattr(times, "_written", without)


def appended_without_time(patch: Patch) -> None:
    patch.setattr(append, "definitions", lambda view: {each.name: exp.null() for each in view.times})


def compared_with_the_time(patch: Patch) -> None:
    """The time differs as well, so each row that an update names is written."""
    written = times._written

    def untested(clause: Clause, view: Stored) -> Clause:
        found = written(clause, view)
        return replace(found, conditions=tuple(each for each in found.conditions if not isinstance(each, exp.Expr)))

    patch.setattr(times, "_written", untested)


def groups_are_not_compared(patch: Patch) -> None:
    """Whatever is added to a group changes it."""
    patch.setattr(times, "_differs", lambda clause, view: ())


def neighbours_are_written(patch: Patch) -> None:
    """Neighbours are inserted again with the time of the refresh."""
    neighbours = replace_where._neighbours

    def anew(merge: Merge, *rest: Any) -> SourceQuery | None:
        found, insert = neighbours(merge, *rest), replace_where._insert(merge)
        if found is None or insert is None:
            return None
        return replace(found, query=found.query.transform(lambda node: _time(node, merge, insert)))

    patch.setattr(replace_where, "_neighbours", anew)


def _time(node: exp.Expr, merge: Merge, insert: Clause) -> exp.Expr:
    is_time = isinstance(node, exp.Column) and node.name in merge.times and node.table == TARGET
    return exp.alias_(insert.values[node.name].copy(), node.name) if is_time else node


def tuples_are_replaced(patch: Patch) -> None:
    """Rows are replaced by tuples that may be equal to them."""
    patch.setattr(render, "may_repeat", lambda view, shape: False)


GUARDS = (
    ("an update writes the time", updates_do_not_write, "one table", "optimised"),
    ("an update of a group writes the time", updates_do_not_write, "groups", "additive"),
    ("an insert writes the time", inserts_do_not_write, "one table", "optimised"),
    ("an append writes the time", appended_without_time, "rows are added", "optimised"),
    ("the time is not compared", compared_with_the_time, "an update of nothing", "optimised"),
    ("a group that stays the same keeps its time", groups_are_not_compared, "a maximum stays", "additive"),
    ("neighbours keep their time", neighbours_are_written, "neighbours", "tuple"),
    ("tuples are compared", tuples_are_replaced, "a sum in another order", "tuple"),
)


@pytest.mark.parametrize(("guard", "switch_off", "name", "way"), GUARDS, ids=[each[0] for each in GUARDS])
def test_guard_is_needed(
    guard: str, switch_off: Callable[[Patch], None], name: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_wrong(ALONE[name], WAYS[way])
    switch_off(monkeypatch)
    assert is_wrong(ALONE[name], WAYS[way]), f"nothing notices that this guard is off: {guard}"
