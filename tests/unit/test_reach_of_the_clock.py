"""Rows that a moved clock reaches: which tables are asked for which condition, what follows from them, and when none is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from dbt_idivm.cost.reaching import _Estimate, _most_values, incremental_by_reach
from dbt_idivm.cost.sizes import Size
from dbt_idivm.cost.work import Situation
from dbt_idivm.operators.scan import CLOCK
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.diff import InlineDiff, Row, Value
from dbt_idivm.script.found_rows import MOST_ROWS, Forms, find, forms, reached_by
from dbt_idivm.script.net_changes import net_changes
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import applications, render
from dbt_idivm.script.source_rows import SourceRows
from dbt_idivm.script.ways import Application
from tests.property.plans import VIEW, Options, Table, plan_of

EVENTS = Table("events", (("id", "int"), ("usr", "int"), ("d", "date"), ("amount", "int")), ("id",))
USERS = Table("users", (("id", "int"), ("name", "string"), ("birth", "date")), ("id",))
TODAY = ("2026-02-01", "2026-02-02")
RECENT = "select e.id, e.d, u.name from events e join users u on u.id = e.usr where e.d >= current_date() - interval 30 days and u.id > 0"
AGES = "select id, datediff(current_date(), birth) as age from users"
Days = tuple[Value, Value]


def prepared(
    sql: str, times: Mapping[str, Days], way: str = "id", changes: Mapping[str, InlineDiff] | None = None
) -> tuple[Plan, Application, Binding]:
    """`times`: expression of the clock → its value before and now."""
    plan = plan_of((EVENTS, USERS), sql, Options(every_way=True))
    assert {each.name for each in plan.clock} == {*times}
    old, new = (tuple(each[place] for each in times.values()) for place in range(2))
    moved = {CLOCK: InlineDiff(tuple(times), ((old, -1), (new, 1)))} if old != new else {}
    net = net_changes(plan, {**moved, **(changes or {})})
    binding = Binding(changes=net, clock=dict(zip(times, new, strict=True)))
    found = applications(plan, net)
    assert found is not None
    return plan, next(each for each in found if each.way == way), binding


WINDOW: Mapping[str, Days] = {"CURRENT_DATE() - INTERVAL '30' DAYS": ("2026-01-02", "2026-01-03")}
DATE: Mapping[str, Days] = {"CURRENT_DATE()": TODAY}


def known(given: tuple[Plan, Application, Binding]) -> Forms:
    _, application, binding = given
    return forms(application, binding.changes.is_known)


def asked(
    given: tuple[Plan, Application, Binding], rows: Mapping[str, Sequence[Row] | None]
) -> tuple[list[tuple[str, str]], set[str]]:
    """(table, condition) of each query, and the tables whose rows were found. `rows`: what each table answers; None: too many."""
    _, application, binding = given
    search = find(reached_by(application, binding.changes.is_known), binding)
    queries, answer = [], None
    try:
        while True:
            each = search.send(answer)
            where = each.query.query.find_all(type(each.query.query))
            condition = next(select.args["where"] for select in where if select.args.get("where"))
            queries.append((each.table, condition.sql("spark").replace("`", "")))
            given_rows = rows[each.table]
            answer = None if given_rows is None else SourceRows(each.query.names, each.query.types, tuple(given_rows))
    except StopIteration as done:
        return queries, set(done.value)


def test_the_rows_of_the_days_between_are_asked_for_and_lead_on_to_others() -> None:
    given = prepared(RECENT, WINDOW)
    queries, found = asked(given, {"events": [(1, 7, "2026-01-02")], "users": [(7, "ann")]})
    assert [table for table, _ in queries] == ["events", "users"] and found == {"events", "users"}
    events, users = (condition for _, condition in queries)
    before, now = ("CAST('2026-01-02' AS DATE)", "CAST('2026-01-03' AS DATE)")
    assert f"stored.d >= {before}" in events and f"NOT (stored.d >= {now})" in events, "those that leave"
    assert f"stored.d >= {now}" in events and f"NOT (stored.d >= {before})" in events, "those that enter"
    assert "stored.id = 7" in users


def test_states_are_compared_at_both_times() -> None:
    plan, application, binding = prepared(RECENT, WINDOW, "tuple")
    (_, by_keys), (usual, _), (other, wanted) = forms(application, binding.changes.is_known)
    assert by_keys == {} and usual is application and wanted.keys() == {"events", "users"}
    statement = render(plan, other, binding, VIEW, fetched="nothing").statement
    assert statement is not None
    text = statement.sql("spark")
    assert text.count("CAST('2026-01-02' AS DATE)") == text.count("CAST('2026-01-03' AS DATE)") == 1
    assert "the_clock" not in text


def test_a_clock_that_stands_is_no_table_to_be_found() -> None:
    changes = {"users": InlineDiff(("id", "name", "birth"), (((1, "ann", None), -1), ((1, "bob", None), 1)))}
    given = prepared(RECENT, {next(iter(WINDOW)): ("2026-01-02", "2026-01-02")}, "recompute", changes)
    (_, usual), (other, wanted) = known(given)
    assert usual.keys() == {"events"} and wanted.keys() == {"events", "users"}
    assert other.original is not other


def test_the_clock_is_not_asked_for_its_own_groups() -> None:
    changes = {"events": InlineDiff(("id", "usr", "d", "amount"), (((1, 1, None, 1), 1),))}
    sql = "select today, usr, count(*) as n from (select current_date() as today, usr, d from events) q where today > d group by today, usr"
    for way in ("id", "recompute", "tuple"):
        for _, wanted in known(prepared(sql, DATE, way, changes)):
            assert CLOCK not in wanted


def test_too_many_rows_are_read_by_the_script_and_so_is_what_follows_from_them() -> None:
    queries, found = asked(prepared(RECENT, WINDOW), {"events": None})
    assert [table for table, _ in queries] == ["events"] and found == set()


def test_rows_are_not_given_again_that_a_condition_has_found() -> None:
    sql = "select usr, count(*) as n, sum(amount) as s from events where d >= current_date() group by usr"
    queries, found = asked(prepared(sql, DATE, "recompute"), {"events": [(1, 7, "2026-02-01", 3)]})
    assert [table for table, _ in queries] == ["events", "events"] and found == {"events"}
    again = queries[1][1]
    assert "stored.usr = 7" in again and "NOT COALESCE" in again and "stored.d >= CAST('2026-02-01' AS DATE)" in again


@pytest.mark.parametrize(
    "condition",
    [
        "coalesce(u.birth, e.d) >= current_date()",  # of two tables
        "e.d >= current_date() and 10 % e.amount > 1 and 10 % day(current_date()) > e.amount",  # may fail
        "current_date() > date '2026-02-01'",  # of no table
    ],
)
def test_conditions_that_restrict_no_table_are_not_asked(condition: str) -> None:
    sql = f"select e.id, u.name from events e join users u on u.id = e.usr where {condition}"
    plan = plan_of((EVENTS, USERS), sql, Options(every_way=True))
    times: dict[str, Days] = {each.name: TODAY if each.type == "date" else (1, 2) for each in plan.clock}
    assert known(prepared(sql, times))[0][1] == {}


@pytest.mark.parametrize(
    ("joined", "wanted"),
    [
        ("events e left join users u on u.id = e.usr where e.d >= current_date()", {"events", "users"}),
        ("users u left join events e on u.id = e.usr where e.d >= current_date() or e.d is null", set()),
        ("events e full join users u on u.id = e.usr where e.d >= current_date() or e.d is null", set()),
        (
            "(select id, usr, d from events where id > 5) e join users u on u.id = e.usr where e.d >= current_date()",
            {"events", "users"},
        ),
        (
            "(select max(id) as id, usr, max(d) as d from events group by usr) e join users u on u.id = e.usr where e.d >= current_date()",
            set(),
        ),
    ],
)
def test_conditions_go_down_to_rows_that_cannot_be_padded(joined: str, wanted: set[str]) -> None:
    assert known(prepared(f"select e.id, u.id as l, u.name from {joined}", DATE))[-1][1].keys() == wanted


def test_conditions_above_a_union_go_down_to_each_of_its_tables() -> None:
    sql = "select id, d from (select id, d from events union all select id, birth from users where name = 'x') q where d >= current_date()"
    queries, _ = asked(prepared(sql, DATE), {"events": [], "users": []})
    assert [table for table, _ in queries] == ["events", "users"]
    assert "stored.d >=" in queries[0][1] and "stored.birth >=" in queries[1][1]


def test_one_time_alone_restricts_no_table() -> None:
    sql = (
        "select e.id, u.name from events e join users u on u.id = e.usr "
        "where case when e.d >= current_date() then u.birth else u.birth end < current_date() and e.d >= current_date()"
    )
    given = prepared(sql, DATE)
    assert known(given)[0][1] == {}, "that a row of events was in the window before says nothing alone"


def expected(sql: str, times: Mapping[str, Days], rows: int) -> Mapping[str, float]:
    """Table → the rows that are expected to be found, of so many in each."""
    plan, application, binding = prepared(sql, times)
    wanted = known((plan, application, binding))[-1][1]
    now = situation(plan, rows)
    estimate = _Estimate(now, _most_values(wanted, now))
    return {table: estimate.rows(table, each) for table, each in wanted.items()}


def situation(plan: Plan, rows: int) -> Situation:
    sizes = {"events": Size(rows, 20 * rows), "users": Size(rows, 20 * rows), CLOCK: Size(1, 1)}
    return Situation(plan, sizes, Size(rows, 20 * rows), lambda occurrence, *_: 1.0 if occurrence.startswith("clock") else 0.0)


def test_a_part_of_a_table_is_expected_between_two_times_and_all_of_it_where_values_are_computed() -> None:
    found = expected(RECENT, WINDOW, 1_000_000)
    assert found["events"] == 2_000 == found["users"], "rows enter and leave"
    assert expected(AGES, DATE, 1_000_000) == {"users": 1_000_000}
    late = "select id, case when birth < current_date() then 'late' end as s from users"
    assert expected(late, DATE, 1_000_000) == {"users": 1_000}


def test_values_of_a_large_table_are_not_asked_for_and_those_of_a_small_one_may_be() -> None:
    plan, application, binding = prepared(AGES, DATE)
    wanted = known((plan, application, binding))[-1][1]
    assert incremental_by_reach(application, wanted, situation(plan, MOST_ROWS + 1)) is None
    assert incremental_by_reach(application, wanted, situation(plan, MOST_ROWS)) is not None


def test_where_a_condition_finds_too_much_the_others_are_still_found_by_keys() -> None:
    changes = {"events": InlineDiff(("id", "usr", "d", "amount"), (((1, 1, None, 1), 1),))}
    sql = "select e.id, e.amount, datediff(current_date(), u.birth) as age from events e join users u on u.id = e.usr"
    given = prepared(sql, DATE, "id", changes)
    (_, by_keys), (_, usual), *_ = known(given)
    assert "users" in usual and "users" not in by_keys
