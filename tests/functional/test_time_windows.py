"""Windows of time on Spark + Delta, by each way: Spark's own expansion says what they are, also of sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.functional.project import Project, project_in

KEYS = {"clicks": ["id"]}
GAP = "case when v > 5 then '10 minutes' when v = 3 then '0 minutes' else '90 seconds' end"
VIEWS = {
    "tumbling": "select k, window.start, window.end, count(*) as n, sum(v) as v from $.clicks group by k, window(at, '5 minutes')",
    "rows": "select id, window(at, '5 minutes') as w, v from $.clicks",
    "sliding": "select window(at, '10 minutes', '4 minutes', '1 minute') as w, count(*) as n from $.clicks group by 1",
    "slid_rows": "select id, window(at, '10 minutes', '5 minutes').start as start from $.clicks where v is not null",
    "nested": "select window(w, '1 hour') as w, sum(n) as n from (select window as w, count(*) as n from $.clicks "
    "group by window(at, '5 minutes')) as s group by 1",
    "times": "select id, w, window_time(w) as t from (select id, window(at, '5 minutes') as w from $.clicks) as s",
    "of_dates": "select window(cast(at as date), '1 week') as w, count(*) as n from $.clicks group by 1",
    "sessions": "select k, session_window(at, '5 minutes') as w, count(*) as n, max(v) as v from $.clicks "
    "group by k, session_window(at, '5 minutes')",
    "all_sessions": "select session_window.start, session_window.end, sum(v) as v from $.clicks "
    "group by session_window(at, '1 minute')",
    "gaps": f"select upper(k) as k, session_window(at, {GAP}) as w, count(*) as n from $.clicks group by 1, session_window(at, {GAP})",
}


@pytest.fixture
def clicks(spark: Any) -> Iterator[Project]:
    with project_in(spark, "time_windows") as project:
        project.table(
            "clicks",
            "id int, k string, at timestamp, v int",
            "(1, 'a', '2024-01-01 00:01:00', 1)",
            "(2, 'a', '2024-01-01 00:06:00', 2)",  # the gap of five minutes exactly
            "(3, 'b', '2024-01-01 00:06:00.000001', 3)",
            "(4, 'b', null, 4)",
            "(5, 'a', '1969-12-31 23:59:59', 5)",
            "(6, 'a', '2024-01-01 00:11:00.1', 6)",
            "(7, null, '2024-01-01 00:03:00', 7)",
            "(8, 'a', '2024-01-01 00:01:00', 8)",
            "(9, 'b', '2024-01-01 00:30:00', null)",
        )
        yield project


def maintained(clicks: Project, names: tuple[str, ...], strategy: str) -> set[str | None]:
    views = clicks.created(VIEWS, names, KEYS, strategy)
    for view in views:
        assert clicks.is_exact(view), view.name
    # a session that grows together, a row in the middle, another window, times that come and go, another gap
    clicks.sql(
        "insert into $.clicks values (10, 'a', timestamp'2024-01-01 00:08:00', 1), (11, 'b', timestamp'2024-01-01 00:20:00', 9)",
        "update $.clicks set at = timestamp'2024-01-01 00:04:00' where id = 4",
        "update $.clicks set v = 10 where id = 3",
        "update $.clicks set at = null where id = 7",
    )
    first = clicks.refreshed(views)
    # one that falls apart, a group that goes, a row that changes its group
    clicks.sql(
        "delete from $.clicks where id in (2, 10)",
        "update $.clicks set k = 'c' where id = 5",
        "update $.clicks set v = v + 1, at = at + interval 5 minutes where id in (1, 9)",
    )
    return first | clicks.refreshed(views)


@pytest.mark.deep
def test_all(clicks: Project) -> None:
    maintained(clicks, tuple(VIEWS), "id")


@pytest.mark.deep
@pytest.mark.parametrize("strategy", ["recompute", pytest.param("tuple", marks=pytest.mark.long)])
def test_other_ways(clicks: Project, strategy: str) -> None:
    maintained(clicks, ("sliding", "gaps", "times"), strategy)


@pytest.mark.deep
def test_sessions_in_a_table(clicks: Project) -> None:
    """Spark remembers of a column that it holds sessions, and merges them wherever the column is grouped: views of it are rebuilt.
    A column of plain windows is maintained."""
    sessions = (
        "select k, session_window(at, '5 minutes') as w, count(*) as n from $.clicks group by 1, session_window(at, '5 minutes')"
    )
    windows = "select id, k, window(at, '5 minutes') as w, v from $.clicks where at is not null"
    properties = "using delta tblproperties ('delta.enableChangeDataFeed' = 'true')"
    clicks.sql(f"create table $.of_sessions {properties} as {sessions}", f"create table $.of_windows {properties} as {windows}")
    grouped = [
        clicks.model(name, f"select w, count(*) as n from $.{table} group by w")
        for name, table in (("merged", "of_sessions"), ("counted", "of_windows"))
    ]
    carried = clicks.model("carried", "select k, w, n from $.of_sessions")
    assert clicks.refresh(grouped[1]).mode == "create"
    for model in (grouped[0], carried):
        assert "IDIVM-228" in (clicks.refresh(model).message or "")
    clicks.sql(
        "update $.of_sessions set n = n + 1 where k = 'a'",
        "insert into $.of_sessions select 'c', w, n from $.of_sessions where k = 'b'",
        "delete from $.of_windows where id = 2",
        "update $.of_windows set v = 7",
    )
    assert [clicks.refresh(model).mode for model in (*grouped, carried)] == ["full", "incremental", "full"]
    assert all(clicks.is_exact(model) for model in (*grouped, carried))
