"""Views that read the clock while it passes a change to summer time or back, in Spark's meaning: local days of 23 and 25 hours,
and local times that occur twice or never.

Lord Howe puts its clocks forward by half an hour.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend import lower
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.diff import Row
from dbt_idivm.script.render import full_query
from tests.property.chosen import some
from tests.property.directed import build
from tests.property.harness import NOW, Options, World
from tests.property.meaning import OnSpark
from tests.property.strategies import Case, Content
from tests.property.test_clock import WAYS

ZONE = "spark.sql.session.timeZone"
# zone → the first second of summer time, and the first one after it
CHANGES = {
    "Europe/Berlin": ("2026-03-29T01:00:00", "2026-10-25T01:00:00"),
    "America/New_York": ("2026-03-08T07:00:00", "2026-11-01T06:00:00"),
    "Australia/Lord_Howe": ("2026-10-03T15:30:00", "2026-04-04T15:00:00"),
}
SUMMERS = [(zone, change) for zone, changes in CHANGES.items() for change in changes]
TABLES = "t0(k int, ts timestamp, d date, x int, n timestamp_ntz; k)\nt1(l int, y int; l)"
CONDITIONS = {
    "a day ago": "ts > now() - INTERVAL 1 DAY",
    "24 hours ago": "ts > now() - INTERVAL 24 HOURS",
    "90 minutes ago": "ts BETWEEN now() - INTERVAL 90 MINUTES AND now()",
    "a day later": "ts + INTERVAL 1 DAY > now()",
    "24 hours later": "ts + INTERVAL 24 HOURS > now()",
    "a month ago": "ts >= add_months(current_date(), -1)",
    "today": "to_date(ts) = current_date()",
    "of this day": "date_trunc('DAY', ts) = date_trunc('DAY', now())",
    "of this hour": "date_trunc('HOUR', ts) = date_trunc('HOUR', now())",
    "since midnight": "ts >= date_trunc('DAY', now())",
    "since the last midnight": "ts >= date_trunc('DAY', now()) - INTERVAL 1 DAY AND ts < current_date()",
    "this month": "ts >= date_trunc('MONTH', current_date())",
    "the same hour": "hour(ts) = hour(now())",
    "an earlier hour": "hour(ts) < hour(current_timestamp())",
    "before the local time": "ts < localtimestamp()",
    "a column of local times": "n < localtimestamp() AND n > localtimestamp() - INTERVAL 2 HOURS",
    "in New York": "from_utc_timestamp(ts, 'America/New_York') < now()",
    "now in Berlin": "ts <= from_utc_timestamp(now(), 'Europe/Berlin')",
    "the day in Berlin": "to_date(from_utc_timestamp(now(), 'Europe/Berlin')) = d",
    "local time as UTC": "ts < to_utc_timestamp(now(), 'Australia/Lord_Howe')",
    "seconds": "unix_timestamp() - unix_timestamp(ts) BETWEEN 0 AND 86400",
    "days between": "datediff(now(), ts) <= 1",
    "the last days": "d >= current_date() - INTERVAL 1 DAY",
    "the last month": "d > current_date() - INTERVAL 1 MONTH AND d <= current_date()",
    "the start of a date": "CAST(d AS TIMESTAMP) < now()",
    "the end of a date": "CAST(d AS TIMESTAMP) + INTERVAL 24 HOURS <= now()",
    "as text": "date_format(ts, 'yyyy-MM-dd HH') = date_format(now(), 'yyyy-MM-dd HH')",
}
VIEWS = {
    "rows": "SELECT k, ts, x FROM t0 WHERE {c}",
    "values": "SELECT k, CASE WHEN {c} THEN x ELSE -k END AS v, hour(ts) AS h FROM t0",
    "groups": "SELECT x, count(*) AS n, sum(k) AS s, max(ts) AS m FROM t0 WHERE {c} GROUP BY x",
    "groups of hours": "SELECT date_trunc('HOUR', ts) AS h, to_date(ts) AS d, count(*) AS n FROM t0 WHERE {c} GROUP BY 1, 2",
    "groups of local times": "SELECT CAST(ts AS TIMESTAMP_NTZ) AS h, count(*) AS n, sum(x) AS s FROM t0 WHERE {c} GROUP BY 1",
    "partners": "SELECT a.k, b.l FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.y AND {c}",
    "latest": "SELECT x, k, ts FROM (SELECT *, row_number() OVER (PARTITION BY x ORDER BY ts DESC, k) AS place FROM t0 WHERE {c}) WHERE place = 1",
}
_HOUR, _DAY = 3600, 86_400
# seconds from the change: the clock moves by seconds, half an hour, days, months, and backwards
MOVES = (-_DAY, -1, 0, 1799, _HOUR, -_HOUR, 23 * _HOUR, _DAY, _DAY + _HOUR, 31 * _DAY, -40 * _DAY, 1800, 0)
TIMES = (
    -31 * _DAY,
    -25 * _HOUR,
    -_DAY,
    -23 * _HOUR,
    -5400,
    -_HOUR,
    -1801,
    -1,
    0,
    1,
    1799,
    1800,
    _HOUR,
    5400,
    7200,
    82_800,
    _DAY,
    90_000,
)
Rows = list[tuple[Any, ...]]


def in_zone(zone: str) -> Callable[[], OnSpark]:
    """Spark's meaning in a session of this zone; then in UTC again."""

    class InZone(OnSpark):
        def __init__(self) -> None:
            super().__init__()
            self.spark.configure({ZONE: zone})

        def close(self) -> None:
            self.spark.configure({ZONE: "UTC"})
            super().close()

    return InZone


def micros(change: str, seconds: int) -> int:
    at = dt.datetime.fromisoformat(change).replace(tzinfo=dt.UTC)
    return (round(at.timestamp()) + seconds) * 1_000_000


def moment(change: str, seconds: int) -> str:
    return f"{dt.datetime.fromtimestamp(micros(change, seconds) // 1_000_000, dt.UTC):%Y-%m-%dT%H:%M:%SZ}"


def rows_at(change: str, times: Sequence[int | None]) -> Rows:
    """A row for each of these seconds from the change, and one date for each."""
    day = dt.datetime.fromisoformat(change).date()
    found = []
    for number, seconds in enumerate(times):
        date = (
            None
            if seconds is None
            else str(day + dt.timedelta(days=number % 5 - 2, seconds=0) - dt.timedelta(days=31 * (number % 4 == 3)))
        )
        at = dt.datetime.fromisoformat(change)
        local = None if seconds is None else f"{at + dt.timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S}"
        found.append((number, None if seconds is None else micros(change, seconds), date, number % 3, local))
    return found


def case_of(change: str, sql: str, moves: Sequence[tuple[int, Sequence[int | None] | None]], start: Sequence[int | None]) -> Case:
    """`moves`: the clock, and the times of the rows if they change as well."""
    t1 = [(1, 0), (2, 1), (3, 1)]
    first: Content = {NOW: [(moment(change, moves[0][0]),)], "t0": rows_at(change, start), "t1": t1}
    batches: list[Content] = []
    for seconds, times in moves[1:]:
        changed: Content = {} if times is None else {"t0": rows_at(change, times), "t1": t1[: len(times) % 4]}
        batches.append({NOW: [(moment(change, seconds),)], **changed})
    return build(TABLES, sql, first, *batches)


def check(zone: str, case: Case, options: Options) -> None:
    with World(case.tables, case.sql, options, in_zone(zone)) as world:
        world.load(case.start)
        assert world.maintained() == world.recomputed()
        for batch in case.batches:
            world.refresh(batch)
            assert world.maintained() == world.recomputed(), batch.get(NOW)
            if world.plan.hidden:
                assert world.stored() == extended(world), "hidden columns or operator caches differ"


def extended(world: World) -> Counter[Row]:
    """The ID-extended view, run now, with the values of the clock in the statement, as refreshes have them. Spark reads a comparison
    of local times with a constant as one of instants, which is another one in the hour that comes twice."""
    query = full_query(replace(world.plan, times=()), Binding(dialect=world.engine.dialect, clock=world.clock_values()))
    return Counter(world.engine.rows(query))


def changing() -> Iterator[tuple[int, Sequence[int | None] | None]]:
    """The moves, with other rows at every fourth."""
    for number, seconds in enumerate(MOVES):
        yield seconds, None if number % 4 else (*TIMES[number % 3 :: 2], None)


_TRIED = [(*summer, condition, view) for summer, condition, view in product(SUMMERS, CONDITIONS, VIEWS)]


@pytest.mark.parametrize(("zone", "change", "condition", "view"), some(_TRIED, 200, of_deep=20))
def test_clocks_are_changed(zone: str, change: str, condition: str, view: str) -> None:
    sql = VIEWS[view].format(c=CONDITIONS[condition])
    check(
        zone, case_of(change, sql, [*changing()], (*TIMES, None)), WAYS["additive" if view.startswith("groups") else "optimised"]
    )


@st.composite
def histories(draw: st.DrawFn) -> tuple[str, Case]:
    zone, change = draw(st.sampled_from(SUMMERS))
    near = st.sampled_from(TIMES) | st.integers(-2 * _DAY, 2 * _DAY) | st.integers(-70, 70).map(lambda days: days * _DAY)
    times = st.lists(st.none() | near, max_size=8)
    moves = draw(st.lists(st.tuples(near, st.none() | times), min_size=2, max_size=6))
    condition = CONDITIONS[draw(st.sampled_from(sorted(CONDITIONS)))]
    other = CONDITIONS[draw(st.sampled_from(sorted(CONDITIONS)))]
    both = draw(st.sampled_from(("{0}", "{0} OR {1}", "NOT ({0}) AND {1}", "{0} AND {1}")))
    view = VIEWS[draw(st.sampled_from(sorted(VIEWS)))]
    return zone, case_of(change, view.format(c=f"({both.format(condition, other)})"), moves, draw(times))


@pytest.mark.random
@given(history=histories(), way=st.sampled_from(sorted(WAYS)))
def test_any_history(history: tuple[str, Case], way: str) -> None:
    check(*history, WAYS[way])


LOCAL = (
    "SELECT x, count(*) AS c, sum(k) AS s FROM t0 WHERE CAST(ts AS TIMESTAMP_NTZ) < localtimestamp() GROUP BY x",
    "SELECT x, count(*) AS c FROM (SELECT x, to_timestamp_ntz(ts) AS l FROM t0) WHERE l < '2026-01-01 00:00:00' GROUP BY x",
    "SELECT k, CASE WHEN ts::timestamp_ntz BETWEEN TIMESTAMP_NTZ '2026-01-01' AND current_date() THEN 1 END AS v FROM t0",
    "SELECT x, count(*) AS c, sum(k) AS s, max(ts) AS m FROM t0 WHERE n < now() GROUP BY x",
    "SELECT x, count(*) AS c FROM (SELECT x, CAST(n AS TIMESTAMP) AS t FROM t0) WHERE t > now() GROUP BY x",
)


@pytest.mark.parametrize("sql", LOCAL)
def test_local_times_of_instants_are_not_compared(sql: str) -> None:
    """Spark compares them in one way where they are in a table, and in another where they are in a statement."""
    case = case_of("2026-10-25T01:00:00", sql, [*changing()], TIMES)
    with pytest.raises(IdivmError, match="IDIVM-228"):
        check("Europe/Berlin", case, WAYS["additive"])


@pytest.mark.parametrize(("sql", "change"), [(LOCAL[0], "2026-10-25T01:00:00"), (LOCAL[3], "2026-03-29T01:00:00")])
def test_the_refusal_is_needed(sql: str, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lower, "compared_local_times", lambda root: ())
    case = case_of(change, sql, [*changing()], (*TIMES, None))
    with pytest.raises(AssertionError):
        check("Europe/Berlin", case, WAYS["additive"])
