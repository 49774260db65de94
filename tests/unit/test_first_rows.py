"""Which views are maintained by ranking their stored rows with new ones, and what is stored for that."""

from __future__ import annotations

import pytest

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Caching
from dbt_idivm.cost.choice import REBUILD
from dbt_idivm.cost.sizes import of_rows
from dbt_idivm.cost.work import Situation, TableChanges, application_of, expected, incremental
from dbt_idivm.explain import explain, maintained
from dbt_idivm.frontend.lower import lower
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.diff import FeedDiff, NetChanges
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import applications, render
from dbt_idivm.script.top_k import TopK
from dbt_idivm.script.ways import ALL_WAYS
from dbt_idivm.support import CATALOG
from tests.unit.test_cost_work import MILLION, chosen

NUMBER = "row_number() over (partition by cid order by price desc, id) as n"
RANKED = f"select *, {NUMBER} from orders"
JOINED = (
    "select o.id, c.name, row_number() over (partition by o.cid order by o.price desc, o.id, c.id) as n "
    "from orders o join customers c on c.id = o.cid"
)


def plan(sql: str, caching: Caching | None = None) -> Plan:
    lowered = lower(sql, CATALOG)
    return compile_plan(lowered.root, lowered.output, ways=ALL_WAYS, caching=caching or Caching())


def way(sql: str) -> TopK | None:
    found = plan(sql).way("topk")
    assert found is None or isinstance(found, TopK)
    return found


@pytest.mark.parametrize(
    ("test", "count"),
    [
        ("n = 1", 1),
        ("1 = n", 1),
        ("n <= 3", 3),
        ("n < 3", 2),
        ("3 >= n", 3),
        ("3 > n", 2),
        ("n <= 3 and n < 3", 2),
        ("(n) <= (3)", 3),
        ("n between 1 and 3", 3),
        ("n >= 1 and n <= 3", 3),
        ("0 < n and n < 3", 2),
        ("n between 2 and 3", None),
        ("n > 1 and n <= 3", None),
        ("2 <= n and n < 9", None),
        ("n between -1 and 3", None),
        ("1 <= n", None),
        ("n between 1 and amount", None),
        ("n = 2", None),
        ("n <= 0", None),
        ("n < 1", None),
        ("n > 1", None),
        ("n = 1 or n = 2", None),
        ("n <= 2.5", None),
        ("n <= amount", None),
        ("n + 1 <= 2", None),
        ("n <> 1", None),
        ("true", None),
        ("n = 1 and cid > 7", 1),
        ("n = 1 and cid is null", 1),
        ("n <= 2 and true", 2),  # of the partition
        ("n = 1 and price > 7", None),
        ("n = 1 and cid > amount", None),
        ("n = 1 and id = 7", None),
        ("n = 1 and 100 / cid > 1", None),  # fails where cid is 0, for rows that are not first as well
    ],
)
def test_conditions(test: str, count: int | None) -> None:
    found = way(f"select id, cid, amount, n from ({RANKED}) where {test}")
    assert (found.first.count if found is not None else None) == count


@pytest.mark.parametrize(
    ("sql", "hidden"),
    [
        (f"select * from ({RANKED}) where n = 1", []),
        (f"select id, status from ({RANKED}) where n = 1", ["idivm__orders__cid", "idivm__orders__price"]),
        (
            f"with r as ({RANKED}), s as (select id, n, upper(status) as u from r) select u from s where n <= 2",
            ["idivm__orders__cid", "idivm__orders__price", "idivm__orders__id"],
        ),
        # what depends on the number, or may fail, is computed of rows of the view
        (f"select id, cid, price, n + amount as a, price / amount as b from ({RANKED}) where n = 1", ["idivm__orders__amount"]),
        (f"select id, cid, price, n * 2 as a, concat(status, '!') as b from ({RANKED}) where n = 1", []),
        (f"select id, name from ({JOINED}) where n = 1", ["idivm__o__price", "idivm__c__id"]),
        # what it is ranked by is computed
        (
            "select id, cid from (select id, cid, row_number() over (partition by cid order by amount + 1, id) as n from orders) "
            "where n = 1",
            ["idivm__subquery__amount_1"],
        ),
        # the first rows of groups
        (
            "select cid, status, s from (select cid, status, sum(price) as s, row_number() over (partition by cid order by sum(price), "
            "status) as n from orders group by cid, status) where n <= 3",
            [],
        ),
    ],
)
def test_what_is_stored(sql: str, hidden: list[str]) -> None:
    assert way(sql) is not None and [each.name for each in plan(sql).columns if each.hidden] == hidden
    assert maintained(plan(sql)) == "by ranking changed and stored rows (topk)"


@pytest.mark.parametrize(
    "sql",
    [
        "select id, cid from (select id, cid, rank() over (partition by cid order by price) as n from orders) where n = 1",
        f"select id, m from (select *, {NUMBER}, count(*) over (partition by cid) as m from orders) where n = 1",
        f"select n, count(*) as m from ({RANKED}) where n = 1 group by n",
        f"select r.id, c.name from ({RANKED}) r join customers c on c.id = r.cid where r.n = 1",
        f"select id, n from ({RANKED})",
        "select id from orders order by price, id limit 3",  # one partition, of which all would be read to recompute it
    ],
)
def test_other_views(sql: str) -> None:
    assert way(sql) is None


def test_without_state_in_the_view() -> None:
    sql = f"select id, status from ({RANKED}) where n = 1"
    with_it, without = plan(sql), plan(sql, Caching("none"))
    assert without.way("topk") is None and [each.name for each in without.columns if each.hidden] == ["idivm__orders__cid"]
    assert with_it.digest != without.digest


def statement(sql: str, **feeds: FeedDiff) -> str:
    found = plan(sql)
    changes = NetChanges(feeds)
    done, *_ = applications(found, changes) or ()
    assert done.way == "topk"
    return render(found, done, Binding(changes=changes), "main.v").statement.sql("spark")


def test_partitions_are_lost_where_rows_go() -> None:
    sql = f"select * from ({RANKED}) where n = 1"
    some = statement(sql, orders=FeedDiff("orders", 0, 1))
    assert "lost_partitions AS" in some and "/*+ BROADCAST(lost_partitions) */" in some and "FROM orders" in some
    large = statement(sql, orders=FeedDiff("orders", 0, 1, broadcast=False))
    assert "lost_partitions AS" in large and "BROADCAST(lost" not in large
    added = statement(sql, orders=FeedDiff("orders", 0, 1, appended=True))
    assert "lost_partitions" not in added and "FROM orders" not in added
    # another row of the right side takes a row away
    excluding = (
        f"select * from (select *, {NUMBER} from orders o where not exists (select 1 from customers c where c.id = "
        "o.id)) where n = 1"
    )
    assert "lost_partitions" in statement(excluding, customers=FeedDiff("customers", 0, 1, appended=True))


def test_a_broadcast_that_failed_is_not_tried_again() -> None:
    found = plan(f"select * from ({RANKED}) where n = 1")
    changes = NetChanges({"orders": FeedDiff("orders", 0, 1)})
    done, *_ = applications(found, changes) or ()
    assert "BROADCAST(lost" not in render(found, done, Binding(changes=changes, few=False), "main.v").statement.sql("spark")


def test_explain() -> None:
    text = explain(plan(f"select id, name from ({JOINED}) where n = 1"))
    assert "way topk (preferred): signed rows to rank with the stored rows\n" in text
    assert (
        "when only o changed, in every way: effective; reads customers, the stored view; where a partition lost a row, orders\n"
    ) in text


@pytest.mark.parametrize(
    ("rows", "changes", "name"),
    [
        (100, TableChanges(inserted=1), REBUILD),
        (100 * MILLION, TableChanges(inserted=1000), "topk"),
        (100 * MILLION, TableChanges(inserted=MILLION, updated=MILLION), "topk"),
        (100 * MILLION, TableChanges(updated=10), "topk"),
        (100 * MILLION, TableChanges(deleted=1000), "id"),  # some of these were first: then it is two ways in one
    ],
)
def test_cost(rows: int, changes: TableChanges, name: str) -> None:
    view = plan(f"select id, cid from ({RANKED}) where n = 1")
    stored = of_rows(rows // 10, ("bigint", "bigint", "decimal(10,2)"))
    sizes = {"orders": of_rows(rows, (a.type for a in CATALOG.tables["orders"].columns))}
    now = Situation(view, sizes, stored, expected(view, {"orders": changes}, hopeful=False), rewrites=False)
    assert chosen(view, now) == name


def test_recomputing_is_estimated_as_likely_as_it_is() -> None:
    view = plan(f"select id, cid from ({RANKED}) where n = 1")
    sizes = {"orders": of_rows(10 * MILLION, (a.type for a in CATALOG.tables["orders"].columns))}
    tuples = []
    for deleted in (0, 1, 5, 10, 100):
        now = Situation(view, sizes, None, expected(view, {"orders": TableChanges(deleted=deleted, updated=1)}, hopeful=False))
        topk = view.way("topk")
        assert topk is not None
        done = application_of(topk, now)
        assert done is not None
        tuples.append(incremental(done, now).tuples)
    assert tuples == sorted(tuples) and tuples[0] < tuples[1] < tuples[2] < tuples[3]
    assert tuples[4] == pytest.approx(tuples[3], rel=0.05), "all of the table is read once"
