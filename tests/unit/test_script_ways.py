"""Ways: any of them keeps the same stored columns, and what one does is known before there is SQL."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt_idivm.compiler import compile_plan
from dbt_idivm.explain import explain
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import DiffRows
from dbt_idivm.script.additive import Adding
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.conditional import Conditional
from dbt_idivm.script.diff import FeedDiff, NetChanges
from dbt_idivm.script.merge import OP
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import applications, render
from dbt_idivm.script.source_rows import SourceRows
from dbt_idivm.script.ways import ALL_WAYS, STRATEGIES, Application, Strategy, WayName
from dbt_idivm.support import CATALOG, CONSTRUCTS, Construct

TOTALS = "select cid, sum(price) as s from orders group by cid"
JOIN = "select o.id, o.price, c.name from orders o join customers c on o.cid = c.id"
LATEST = (
    "select id, cid from (select id, cid, row_number() over (partition by cid order by price desc, id) as n "
    "from orders) where n = 1"
)
BAG = "select page, at from clicks"


def plan(sql: str, ways: tuple[WayName, ...] = ALL_WAYS) -> Plan:
    lowered = lower(sql, CATALOG)
    return compile_plan(lowered.root, lowered.output, ways=ways)


def done(sql: str, way: WayName, *changed: str) -> Application:
    """What the way does where the base i-diffs of these names have rows."""

    def is_empty(leaf: DiffRows) -> bool:
        return leaf.name not in changed

    found = plan(sql).way(way)
    assert found is not None and found.holds({})
    application = found.application(is_empty if changed else lambda leaf: False)
    assert application is not None and application.way == way
    return application


@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda each: each.name)
def test_stored_columns_depend_on_no_way(construct: Construct) -> None:
    plans = [plan(construct.sql, ways) for ways in STRATEGIES.values()]
    assert all((each.root, each.columns) == (plans[0].root, plans[0].columns) for each in plans)
    assert all(each.ways for each in plans)


def test_a_digest_depends_on_the_view_alone() -> None:
    one, other = plan("select x.id from orders x where x.price > 1"), plan("select id from orders where price > 1", ("tuple",))
    assert one.digest == other.digest != plan("select id from orders where price > 2").digest


@pytest.mark.parametrize(
    ("strategy", "ways"), [("id", ["additive", "id"]), ("recompute", ["recompute"]), ("tuple", ["additive", "tuple"])]
)
def test_a_strategy_names_ways(strategy: Strategy, ways: list[WayName]) -> None:
    assert [way.name for way in plan(TOTALS, STRATEGIES[strategy]).ways] == ways
    assert [way.name for way in plan(JOIN, STRATEGIES[strategy]).ways] == [way for way in ways if way != "additive"]
    instead = {"id": ["topk"]}.get(strategy, [])
    assert [way.name for way in plan(LATEST, STRATEGIES[strategy]).ways] == instead + [way for way in ways if way != "additive"]


def test_nothing_changed() -> None:
    for sql in (TOTALS, LATEST):
        assert [way.application(lambda leaf: True) for way in plan(sql).ways] == [None] * (len(ALL_WAYS) - 2)


def test_what_is_read_and_assigned() -> None:
    update = done(JOIN, "id", "d_upd__c")
    assert (update.shape, update.tables, update.net_diffs) == ("direct", (), ("d_upd__c",))
    assert update.assigned == {"c__name"} and not update.reads_view and not update.recomputed
    moved = done(JOIN, "id", "d_rec__o")
    assert (moved.shape, moved.tables) == ("effective", ("customers",)) and moved.reads_view
    assert [diff.ids for diff in moved.recomputed] == [("o__id",)]
    tuples = done(JOIN, "tuple")
    assert (tuples.shape, tuples.tables) == ("tuple", ("customers", "orders")) and not tuples.reads_view
    assert done(BAG, "tuple").reads_view, "copies are counted"
    added = done(TOTALS, "additive")
    assert (added.shape, added.tables, added.reads_view) == ("additive", (), False)
    assert added.assigned == set(plan(TOTALS).root.columns) - {"orders__cid"}


def test_only_new_rows_are_appended() -> None:
    """INS of rows that may be there already, as after a row of a semi-join's right side came, is matched with the view."""
    added = done(JOIN, "id", "d_ins__o", "d_ins__c")
    assert (added.shape, added.tables, added.reads_view) == ("append", ("customers", "orders"), False) and not added.assigned
    changes = NetChanges({"orders": FeedDiff("orders", 0, 1)})
    view = plan(JOIN)
    sql = render(view, done(JOIN, "id", "d_ins__o"), Binding(changes=changes), "main.v").statement.sql("spark")
    assert "INSERT INTO main.v (id, price, name, idivm__c__id) SELECT " in sql and "MERGE" not in sql and "main.v AS" not in sql
    appended = NetChanges({"orders": FeedDiff("orders", 0, 1, appended=True)})
    chosen = applications(view, appended)
    assert chosen is not None and chosen[0].shape == "append", "commits say that rows were only added"
    assert applications(plan(BAG), NetChanges({"clicks": FeedDiff("clicks", 0, 1, appended=True)})) is not None
    assert done(JOIN, "id", "d_ins__o", "d_del__c").shape == "direct"
    some = "select o.id from orders o where exists (select 1 from customers c where c.id = o.cid)"
    assert done(some, "id", "d_ins__o").shape == "append" and done(some, "id", "d_ins__c").shape == "direct"


def test_explain_prints_every_way() -> None:
    text = explain(plan(TOTALS))
    assert "way additive (preferred): signed rows of the rows to add\n" in text
    running = "select id, count(*) over (partition by cid order by id) as n from orders"
    assert all(f"way {name}: applied\n" in text + explain(plan(LATEST)) + explain(plan(running)) for name in ALL_WAYS)
    assert "when only orders changed, in every way: effective; reads orders, the stored view; recomputes by (orders__cid)" in text


def test_classes_are_empty_for_the_key_by_which_they_were_counted() -> None:
    """One table can be read under two names, by two keys: an update of the one key is an insert and a delete of the other."""
    orders = plan(JOIN).way("id")
    assert orders is not None
    leaf = next(leaf for leaf in orders.base_idiffs if leaf.scan.table == "orders" and leaf.diff_class == "ins")
    assert leaf.scan.key == ("id",)
    for key, known in ((("id",), True), (("code",), False)):
        diff = FeedDiff("orders", 0, 1).with_keys(key, inserted=False, deleted=False, kept=True)
        assert NetChanges({"orders": diff}).is_empty(leaf) is known


@pytest.mark.parametrize("way", ["id", "recompute", "whole"])
def test_a_condition_repeats_no_expression_of_the_select_list(way: WayName) -> None:
    """From a condition with n of them Spark derives 2^n conditions: a view with 22 columns would need all memory there is."""
    wide = (
        "select o.id, o.price + coalesce(c.id, 0) as a, o.status, c.name, c.credit "
        "from orders o left join customers c on o.cid = c.id"
    )
    changes = NetChanges({"orders": FeedDiff("orders", 0, 1), "customers": FeedDiff("customers", 0, 1)})
    statement = render(plan(wide), done(wide, way), Binding(changes=changes), "main.v").statement
    source = next(each for each in statement.find_all(exp.Select) if each.args.get("where") and each.selects[0].alias == OP)
    computed = [each.this for each in source.selects if not isinstance(each.this, exp.Column)]
    assert len(computed) > 3 and not [each for each in source.args["where"].walk() if each in computed]


EXTREMES = "select cid, min(price) as a, max(status) as b from orders group by cid"


def test_extremes_of_rows_that_only_come_ask_nothing() -> None:
    added = done(EXTREMES, "additive", "d_signed__orders")
    assert (type(added), added.tables, added.reads_view) == (Adding, (), False)
    assert "LEAST(v.a, d.v__a)" in sql_of(EXTREMES, added)


@pytest.mark.parametrize(
    "sql",
    [
        EXTREMES,
        "select min(price) as a from orders",
        # a first partner removes the padded row, or the row of ▷
        "select c.name, min(coalesce(o.price, 0)) as m from customers c left join orders o on o.cid = c.id group by c.name",
        "select name, max(credit) as m from customers c where not exists (select 1 from orders o where o.cid = c.id) group by name",
    ],
)
def test_extremes_are_asked_for_where_a_row_may_go(sql: str) -> None:
    changed = ("d_signed__orders", "d_minus__orders", "d_signed__o", "d_plus__o")
    asking = done(sql, "additive", *changed)
    assert isinstance(asking, Conditional) and asking.reads_view and "orders" in asking.tables
    question = asking.question.query(plan(sql), Binding().statement(), "main.v")
    assert question.names[-1] == "idivm_lost" and "JOIN main.v AS v ON" in question.query.sql("spark")
    none = asking.answered(SourceRows(question.names, question.types, ()))
    assert isinstance(none, Adding) and none.lost is None and not none.recomputed
    assert "idivm_anew" not in sql_of(sql, none)
    assert asking.answered(None) is asking.otherwise and asking.otherwise.shape == "effective"
    cells = tuple("1" if name != "idivm_lost" else True for name in question.names)
    some = asking.answered(SourceRows(question.names, question.types, (cells,)))
    assert isinstance(some, Adding) and some.lost is not None and [each.ids for each in some.recomputed] == [question.names[:-1]]
    text = sql_of(sql, some)
    assert "WITH" in text and "lost_groups AS (SELECT " in text and text.count("lost_groups") >= 3


def test_groups_that_literals_do_not_name_are_recomputed() -> None:
    for group in ("weight", "array(cid)"):
        found = done(f"select {group} as g, min(price) as a from orders group by {group}", "additive")
        assert (found.shape, found.way) == ("effective", "additive")
        assert [diff.ids for diff in found.recomputed] and not isinstance(found, Conditional)


def sql_of(sql: str, application: Application) -> str:
    changes = NetChanges({table: FeedDiff(table, 0, 1) for table in ("orders", "customers")})
    return render(plan(sql), application, Binding(changes=changes), "main.v").statement.sql("spark")
