"""Which views are maintained by continuing stored running values, what is stored for that, and when the way holds."""

from __future__ import annotations

import pytest

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Caching
from dbt_idivm.cost.choice import REBUILD
from dbt_idivm.cost.sizes import of_rows
from dbt_idivm.cost.work import Situation, TableChanges, expected
from dbt_idivm.explain import delta_script, explain, maintained
from dbt_idivm.frontend.lower import lower
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.conditional import Conditional
from dbt_idivm.script.diff import FeedDiff, InlineDiff, NetChanges, NetDiff
from dbt_idivm.script.net_changes import net_changes
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import applications, ask, render
from dbt_idivm.script.source_rows import SourceRows
from dbt_idivm.script.tail import Appending, Recomputing
from dbt_idivm.script.ways import ALL_WAYS
from dbt_idivm.support import CATALOG
from tests.unit.test_cost_work import MILLION, chosen

OVER = "over (partition by cid order by amount, id)"
SQL = f"select id, sum(amount) {OVER} as s, row_number() {OVER} as n from orders"
JOINED = (
    "select o.id, c.name, sum(o.amount) over (partition by o.cid order by o.id, c.id) as s "
    "from orders o join customers c on c.id = o.cid"
)


def plan(sql: str, caching: Caching | None = None) -> Plan:
    lowered = lower(sql, CATALOG)
    return compile_plan(lowered.root, lowered.output, ways=ALL_WAYS, caching=caching or Caching())


def is_continued(sql: str) -> bool:
    return plan(sql).way("tail") is not None


@pytest.mark.parametrize(
    ("call", "is_running"),
    [
        ("sum(amount)", True),
        ("sum(price)", True),
        ("count(*)", True),
        ("count(status)", True),
        ("count(1)", True),
        ("sum(1)", True),
        ("min(price)", True),
        ("max(status)", True),
        ("row_number()", True),
        ("sum(amount + 1)", True),
        ("sum(cast(weight as decimal(10,2)))", True),
        ("sum(weight)", False),
        ("avg(amount)", False),
        ("min(weight)", False),  # sums depend on their order; 0.0 and -0.0
        ("sum(price * amount)", False),
        ("sum(cast(price as decimal(38,2)))", False),  # no certain type; none that is wide enough
        ("rank()", False),
        ("lag(amount)", False),
        ("first_value(amount)", False),
        ("count_if(amount > 1)", True),
        ("count(amount, price)", False),
        ("stddev(amount)", False),
        ("bool_and(amount > 1)", False),
    ],
)
def test_calls(call: str, is_running: bool) -> None:
    assert is_continued(f"select id, {call} {OVER} as v from orders") is is_running
    assert is_continued(f"select id, {call} {OVER} as v, count(*) {OVER} as c from orders") is is_running


@pytest.mark.parametrize(
    ("over", "is_running"),
    [
        ("partition by cid order by amount", True),
        ("partition by cid, status order by amount desc nulls last, id", True),
        ("partition by cid order by id rows unbounded preceding", True),
        ("partition by cid order by amount range between unbounded preceding and current row", True),
        ("partition by cid order by weight", True),
        ("partition by weight order by id", False),  # partitions are named by literals
        ("order by id", False),
        ("partition by cid", False),
        ("partition by cid order by id rows between 1 preceding and current row", False),
        ("partition by cid order by amount range between unbounded preceding and 1 following", False),
        ("partition by cid order by id rows between unbounded preceding and 1 preceding", False),
        ("partition by cid order by id rows between unbounded preceding and unbounded following", False),
        ("partition by cid order by id rows between current row and unbounded following", False),
    ],
)
def test_frames_and_orders(over: str, is_running: bool) -> None:
    assert is_continued(f"select id, sum(amount) over ({over}) as s from orders") is is_running


def test_rows_that_the_order_does_not_distinguish() -> None:
    """They are continued in the order of the key."""
    over = "partition by cid order by amount rows unbounded preceding"
    assert is_continued(f"select id, sum(amount) over ({over}) as s from orders")


@pytest.mark.parametrize(
    "sql",
    [
        f"select id, s from (select id, sum(amount) {OVER} as s from orders) where s > 5",
        f"select id, s from (select id, amount, sum(amount) {OVER} as s from orders) where amount > 5",
        f"select id, n from (select id, row_number() {OVER} as n from orders) where n <= 3",  # first rows
        f"select id, sum(amount) {OVER} as s, row_number() over (partition by cid order by id) as n from orders",
        f"select id, sum(amount) {OVER} as s, row_number() over (partition by status order by id) as n from orders",
        f"select r.id, c.name from (select id, cid, sum(amount) {OVER} as s from orders) r join customers c on c.id = r.cid",
        f"select s, count(*) as n from (select sum(amount) {OVER} as s from orders) group by s",
        "select o.id, sum(o.amount) over (partition by o.cid order by o.id, c.id) as s from orders o left join customers c "
        "on c.id = o.cid",
        "select o.id, sum(o.amount) over (partition by o.cid order by o.id) as s from orders o where not exists (select 1 from "
        "customers c where c.id = o.cid)",
        "select cid, sum(sum(amount)) over (partition by cid order by status) as s from orders group by cid, status",
        "select page, count(*) over (partition by page order by at) as s from clicks",  # a bag
    ],
)
def test_other_views(sql: str) -> None:
    assert not is_continued(sql)


@pytest.mark.parametrize(
    ("sql", "hidden"),
    [
        (SQL, ["idivm__orders__cid", "idivm__orders__amount"]),
        (f"select id, cid, amount, sum(amount) {OVER} as s from orders", []),
        (f"select id, cid, amount, sum(amount) {OVER} + 1 as s from orders", ["idivm__v__sum_amount"]),
        (
            f"select id, s from (select id, cid, sum(amount) {OVER} as s from orders) where cid > 7",
            ["idivm__orders__cid", "idivm__orders__amount"],
        ),
        (JOINED, ["idivm__c__id"]),
    ],
)
def test_what_is_stored(sql: str, hidden: list[str]) -> None:
    assert is_continued(sql) and [each.name for each in plan(sql).columns if each.hidden] == hidden
    assert maintained(plan(sql)) == "by continuing stored values where rows come last (tail)"


def test_without_state_in_the_view() -> None:
    without = plan(SQL, Caching("none"))
    assert without.way("tail") is None and [each.name for each in without.columns if each.hidden] == ["idivm__orders__cid"]


ADDED = FeedDiff("orders", 0, 1, appended=True)
COLUMNS = tuple(each.name for each in CATALOG.tables["orders"].columns)


def row(identity: int, **cells: int | str) -> tuple[int | str | None, ...]:
    return tuple({"id": identity, **cells}.get(name) for name in COLUMNS)


@pytest.mark.parametrize(
    ("diff", "holds"),
    [
        (ADDED, True),
        (FeedDiff("orders", 0, 1), False),
        (FeedDiff("orders", 0, 1).with_keys(("id",), inserted=True, deleted=False, kept=False), True),
        (FeedDiff("orders", 0, 1).with_keys(("id",), inserted=True, deleted=False, kept=True), False),
        (InlineDiff(COLUMNS, ((row(1), 1), (row(2), 1))), True),
        (InlineDiff(COLUMNS, ((row(1), 1), (row(2), -1))), False),
        (InlineDiff(COLUMNS, ((row(1, amount=1), 1), (row(1, amount=2), -1))), False),
        (InlineDiff(COLUMNS, ((row(1, status="a"), 1), (row(1, status="b"), -1))), True),  # which the view does not read
    ],
)
def test_only_where_rows_came(diff: NetDiff, holds: bool) -> None:
    way = plan(SQL).way("tail")
    assert way is not None and way.holds({"orders": diff}) is holds
    found = applications(plan(SQL), net_changes(plan(SQL), {"orders": diff}))
    assert found is None or (found[0].way == "tail") is holds


def test_no_row_may_go_in_any_table() -> None:
    way = plan(JOINED).way("tail")
    assert way is not None and way.holds({"orders": ADDED})
    assert not way.holds({"orders": ADDED, "customers": FeedDiff("customers", 0, 1)})


def asked(diff: NetDiff) -> tuple[Conditional, str]:
    view = plan(SQL)
    changes = net_changes(view, {"orders": diff})
    done, *_ = applications(view, changes) or ()
    assert isinstance(done, Conditional)
    question = ask(view, done, Binding(changes=changes), "main.v")
    assert question is not None
    return done, question.source.query.sql("spark")


def test_the_last_rows_are_fetched_where_changes_are_few() -> None:
    done, question = asked(InlineDiff(COLUMNS, ((row(1, cid=3, amount=1), 1),)))
    assert "main.v" in question and "orders" not in question.replace("idivm__orders", "").replace("orders__", "").replace(
        "__orders", ""
    )
    names = ("orders__cid", "orders__amount", "orders__id", "v__s", "v__n", "idivm_late")
    kinds = ("bigint", "int", "bigint", "bigint", "int", "boolean")
    last = (3, 7, 4, 9, 2)
    for late, form in ((False, Appending), (True, Recomputing)):
        found = done.answered(SourceRows(names, kinds, ((*last, late),)))
        assert type(found) is form and not (found.reads_view and form is Appending)
    assert done.answered(None) is done.otherwise
    appended = done.answered(SourceRows(names, kinds, ((*last, False),)))
    sql = render(
        plan(SQL),
        appended,
        Binding(changes=net_changes(plan(SQL), {"orders": InlineDiff(COLUMNS, ((row(1, cid=3, amount=1), 1),))})),
        "main.v",
    ).statement.sql("spark")
    assert "INSERT INTO main.v " in sql and "FROM main.v" not in sql and "FROM orders" not in sql


def test_late_partitions_are_asked_for_where_changes_are_many() -> None:
    done, question = asked(ADDED)
    assert "main.v" in question and "WHERE idivm_late" in question
    late = SourceRows(("orders__cid", "idivm_late"), ("bigint", "boolean"), ((3, True),))
    found = done.answered(late)
    assert isinstance(found, Recomputing) and found.tables == ("orders",)
    assert isinstance(done.answered(SourceRows(late.names, late.types, ())), Appending)


def test_explain() -> None:
    text = explain(plan(JOINED))
    assert "way tail (preferred): signed rows to continue the stored rows\n" in text
    assert (
        "when only o got rows: append; reads customers, the stored view; asks it first which partitions have late rows, and "
        "recomputes these from customers, orders\n"
    ) in text
    script = delta_script(plan(SQL), "main.v")
    assert "-- ask, for late_partitions: " in script
    assert (
        "-- apply, where rows only came, and none is late: new rows continue the last stored ones\nWITH changed_rows AS"
    ) in script


@pytest.mark.parametrize(
    ("rows", "changes", "name"),
    [
        (100, TableChanges(inserted=1), REBUILD),
        (100 * MILLION, TableChanges(inserted=1000), "tail"),
        (100 * MILLION, TableChanges(inserted=MILLION), "tail"),
    ],
)
def test_cost(rows: int, changes: TableChanges, name: str) -> None:
    view = plan(SQL)
    stored = of_rows(rows, ("bigint", "bigint", "bigint", "int", "int"))
    sizes = {"orders": of_rows(rows, (a.type for a in CATALOG.tables["orders"].columns))}
    now = Situation(view, sizes, stored, expected(view, {"orders": changes}, hopeful=False), rewrites=False)
    assert chosen(view, now) == name


def test_symbolic_changes() -> None:
    assert NetChanges({"orders": ADDED}).is_empty(next(leaf for leaf in plan(SQL).ways[0].base_idiffs)) is False
