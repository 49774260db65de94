"""The AND-OR DAG of views: its groups and operations, what they share, and how large it becomes."""

from __future__ import annotations

from random import Random
from typing import Any

from dbt_idivm.algebra.expressions import passing
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.frontend.lower import Lowered, lower
from dbt_idivm.operators import Project
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.tools.dag.build import build
from dbt_idivm.tools.dag.dag import Dag, Group
from dbt_idivm.tools.dag.show import show
from tests.unit.test_normal_form import CATALOG


class Sizes:
    """Rows of the tables."""

    def table(self, name: str) -> float:
        return {"orders": 1000.0, "lines": 5000.0, "customers": 100.0}.get(name, 50.0)

    def changes(self, occurrence: str, diff_class: Any, split: frozenset[str]) -> float:
        return 1.0


def dag(catalog: Catalog = CATALOG, **views: str) -> Dag:
    return build({name: shown(lower(sql, catalog)) for name, sql in views.items()}, Sizes())


def shown(view: Lowered) -> Operator:
    """With what the view shows only."""
    return Project(view.root, passing(attribute for _, attribute in view.output))


def group(found: Dag, view: str) -> Group:
    return found.groups[found.views[view]]


def labels(found: Dag, view: str) -> list[str]:
    return [each.label for each in group(found, view).operations]


CHAIN = "SELECT l.n FROM lines l, orders o, customers c WHERE l.id = o.id AND o.cid = c.cid"


def test_two_views_share_a_join() -> None:
    found = dag(v1=CHAIN, v2="SELECT o.price FROM parts p, lines l, orders o WHERE l.pid = p.pid AND o.id = l.id")
    assert (
        show(found)
        == """\
0 lines: 5000 rows of 6 bytes
1 customers: 100 rows of 2 bytes
2 orders: 1000 rows of 8 bytes
3 {customers, orders}: 1000 rows of 4 bytes
    ⋈ customers.cid = orders.cid of 1, 2
4 {lines, orders}: 5000 rows of 14 bytes
    ⋈ lines.id = orders.id of 0, 2
5 {customers, lines, orders}: 5000 rows of 10 bytes; v1
    ⋈ orders.id = lines.id of 0, 3
    ⋈ customers.cid = orders.cid of 1, 4
6 parts: 50 rows of 2 bytes
7 {lines, parts}: 5000 rows of 6 bytes
    ⋈ lines.pid = parts.pid of 0, 6
8 {lines, orders, parts}: 5000 rows of 12 bytes; v2
    ⋈ lines.id = orders.id of 2, 7
    ⋈ lines.pid = parts.pid of 6, 4"""
    )


def test_selections_are_pushed_to_the_sources() -> None:
    """One of equal columns to the sources of all of them."""
    tests = "o.price > 5 AND c.region = 'EU' AND o.cid > 7"
    found = dag(v=f"SELECT o.id FROM orders o, customers c WHERE o.cid = c.cid AND {tests}")
    assert [operation.label for each in found.groups for operation in each.operations] == [
        "σ customers.region = 'EU' AND customers.cid > 7",
        "σ orders.price > 5 AND orders.cid > 7",
        "⋈ customers.cid = orders.cid",
    ]


def test_a_view_of_one_table_is_the_table() -> None:
    found = dag(v="SELECT id, price * 2 AS p FROM orders")
    assert [each.form for each in found.groups] == ["orders"] and group(found, "v").is_table


def test_views_that_are_equal_are_one_group() -> None:
    other = "FROM customers k JOIN (SELECT * FROM orders) x ON x.cid = k.cid JOIN lines ON x.id = lines.id"
    found = dag(v1=CHAIN, v2=f"SELECT k.name {other}")
    assert found.views["v1"] == found.views["v2"]


def test_all_connected_parts_of_a_star() -> None:
    """The subsets with its centre, and single sources."""
    found = dag(wide_catalog(), v="SELECT f.id FROM f0 f, d0, d1, d2 WHERE d0_id = d0.id AND d1_id = d1.id AND d2_id = d2.id")
    assert sorted(len(each.tables) for each in found.groups) == [1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4]
    assert [len(each.operations) for each in found.groups if len(each.tables) == 4] == [3]


def test_what_is_equal_to_one_column_is_connected() -> None:
    found = dag(v="SELECT o.id FROM orders o, lines l, parts p WHERE o.id = l.id AND o.id = p.pid")
    assert sorted(len(each.tables) for each in found.groups) == [1, 1, 1, 2, 2, 2, 3]


def test_what_may_fail_is_tested_after_all_joins() -> None:
    found = dag(v="SELECT o.id FROM orders o, customers c WHERE o.cid = c.cid AND o.price / o.id > 1")
    assert labels(found, "v") == ["σ orders.price / orders.id > 1"]
    (inner,) = group(found, "v").operations[0].inputs
    assert [each.label for each in found.groups[inner].operations] == ["⋈ customers.cid = orders.cid"]


def test_products() -> None:
    found = dag(v="SELECT o.id FROM orders o, customers c, parts p WHERE o.cid = c.cid")
    assert labels(found, "v") == ["⋈ TRUE"]


def test_one_row() -> None:
    found = dag(v="SELECT 1 AS a")
    assert show(found) == "0 {}: 1 rows of 1 bytes; v\n    one row of nothing"


# --- subsumption ---


def test_a_selection_of_another_view() -> None:
    found = dag(narrow=f"{CHAIN} AND o.price > 5 AND c.region = 'EU'", middle=f"{CHAIN} AND o.price > 5", wide=CHAIN)
    assert labels(found, "middle")[-1] == "σ orders.price > 5"
    assert group(found, "middle").operations[-1].inputs == (found.views["wide"],)
    # not over the widest one, too, which is read by the one between
    assert [each.inputs for each in group(found, "narrow").operations if each.kind == "select"] == [(found.views["middle"],)]


def is_over(narrow: str, wide: str) -> bool:
    """Whether the rows of orders with one condition are also made of those with another."""
    found = dag(narrow=f"SELECT id FROM orders WHERE {narrow}", wide=f"SELECT id FROM orders WHERE {wide}")
    return found.views["wide"] in {number for each in group(found, "narrow").operations for number in each.inputs}


def test_a_narrower_range() -> None:
    assert is_over("price < 5", "price <= 10") and not is_over("price <= 10", "price < 5")
    assert is_over("price < 5", "price <= 5") and not is_over("price <= 5", "price < 5")
    assert is_over("price < 5", "price < 5.0") != is_over("price < 5.0", "price < 5")  # one of them is made of the other
    assert is_over("price > 5 AND id = 3", "2.5 <= price") and is_over("weight > -1", "weight > -2")


def test_one_value_of_a_range() -> None:
    assert is_over("day = DATE '2024-05-01'", "DATE '2024-01-01' <= day")


def test_ranges_of_texts_and_of_other_columns() -> None:
    assert not is_over("note < '5'", "note < '9'")
    assert not is_over("price < 5", "id < 9")
    assert not is_over("price < 5", "price > 1")
    assert not is_over("price < 9", "price < 5")
    assert not is_over("weight <= 16777216", "weight < 16777217")  # as FLOAT they may be one number


def test_no_selection_of_what_may_fail() -> None:
    """The wide one fails for rows that the other condition of the narrow one removes."""
    assert not is_over("price / cid > 1 AND cid <> 0", "price / cid > 1")


GROUPED = "FROM orders o JOIN customers c ON o.cid = c.cid GROUP BY"


def test_a_coarser_grouping() -> None:
    fine = "SELECT c.region, c.name, sum(o.price) AS s, count(*) AS n, min(o.day) AS d, max(o.id) AS m"
    found = dag(
        coarse=f"SELECT c.region, count(*) AS n, sum(o.price) AS s, min(o.day) AS d {GROUPED} c.region",
        fine=f"{fine} {GROUPED} c.region, c.name",
    )
    (own, derived) = group(found, "coarse").operations
    assert own.label == "γ customers.region; COUNT(*), MIN(orders.`day`), SUM(orders.price)"
    assert derived.label == "γ customers.region; sum of counts, min of mins, sum of sums"
    assert derived.inputs == (found.views["fine"],) and len(group(found, "fine").operations) == 1


def test_distinct_of_a_grouping() -> None:
    found = dag(coarse="SELECT DISTINCT cid FROM orders", fine="SELECT cid, day, avg(weight) AS a FROM orders GROUP BY cid, day")
    assert group(found, "coarse").operations[-1].inputs == (found.views["fine"],)


def test_counts_of_all_rows() -> None:
    found = dag(coarse="SELECT count(*) AS n FROM orders", fine="SELECT cid, count(*) AS n FROM orders GROUP BY cid")
    assert labels(found, "coarse")[-1] == "γ (); sum of counts, or 0"


def test_some_calls_of_the_same_groups() -> None:
    found = dag(
        some="SELECT cid, avg(weight) AS a FROM orders GROUP BY cid",
        all="SELECT cid, avg(weight) AS a, count(*) AS n FROM orders GROUP BY cid",
    )
    assert labels(found, "some") == ["γ cid; AVG(weight)", "π cid; AVG(weight)"] and len(labels(found, "all")) == 1


def test_groupings_that_are_no_coarser_ones() -> None:
    for call in (
        "sum(weight)",
        "avg(price)",
        "count(DISTINCT note)",
        "min(weight)",
        "max(cid)",
        "stddev(price)",
        "sum(weight / 3) FILTER (WHERE day IS NOT NULL)",
    ):
        fine = call if call != "max(cid)" else "min(cid)"
        found = dag(
            coarse=f"SELECT day, {call} AS x FROM orders GROUP BY day",
            fine=f"SELECT day, note, {fine} AS x FROM orders GROUP BY day, note",
        )
        assert len(group(found, "coarse").operations) == 1, call


# --- properties of groups ---


def test_rows() -> None:
    found = dag(v="SELECT name, count(*) AS n FROM orders o JOIN customers c ON o.cid = c.cid WHERE price > 5 GROUP BY name")
    assert [round(each.rows) for each in found.groups if not each.is_table] == [250, 250, 10]


def test_storable() -> None:
    found = dag(
        keys=CHAIN,
        keyless="SELECT l.line FROM log l JOIN customers c ON l.cid = c.cid",
        grouped="SELECT line, count(*) AS n FROM log GROUP BY line",
        outer="SELECT l.line FROM customers c LEFT JOIN log l ON l.cid = c.cid",
        outer_keys="SELECT o.id FROM customers c LEFT JOIN orders o ON o.cid = c.cid",
    )
    assert {view for view in found.views if group(found, view).storable} == {"keys", "grouped", "outer_keys"}


def test_width_of_what_is_read() -> None:
    """Columns that no view reads are not stored: price and key here, not the note."""
    found = dag(v="SELECT price FROM orders")
    assert group(found, "v").width == 6
    assert group(dag(v="SELECT price FROM orders", w="SELECT note FROM orders"), "v").width == 16


# --- many views ---

DIMENSIONS = tuple(f"d{number}" for number in range(20))


def wide_catalog() -> Catalog:
    """Two facts and twenty dimensions."""

    def table(name: str, *columns: str) -> TableInfo:
        return TableInfo(name, tuple(Attribute(*each.split(" ", 1)) for each in ("id int", *columns)), ("id",))

    dimensions = [table(name, "name string", "region string") for name in DIMENSIONS]
    facts = [table(name, *(f"{each}_id int" for each in DIMENSIONS), "n int", "price decimal(12,2)") for name in ("f0", "f1")]
    return Catalog({each.name: each for each in (*dimensions, *facts)})


def star(random: Random, count: int) -> str:
    names = random.sample(DIMENSIONS[:12], count - 1)
    tests = [*(f"f.{name}_id = {name}.id" for name in names), random.choice(["f.n > 5", "f.n > 10", f"{names[0]}.region = 'EU'"])]
    sources = ", ".join([f"{random.choice(['f0', 'f1'])} AS f", *names])
    return f"SELECT {names[0]}.name, sum(f.price) AS s FROM {sources} WHERE {' AND '.join(tests)} GROUP BY {names[0]}.name"


def test_a_hundred_views() -> None:
    random = Random(1)
    found = dag(wide_catalog(), **{f"v{number}": star(random, random.randint(3, 7)) for number in range(100)})
    assert 500 < len(found.groups) < 4000
    assert sum(len(each.operations) for each in found.groups) < 15_000


def test_a_wide_block() -> None:
    """Of 21 sources: parts of up to three, the prefixes of the written order, and the sources of another view."""
    every = " AND ".join(f"f.{name}_id = {name}.id" for name in DIMENSIONS)
    some = " AND ".join(f"f.{name}_id = {name}.id" for name in DIMENSIONS[10:15])
    found = dag(
        wide_catalog(),
        wide=f"SELECT f.id FROM f0 f, {', '.join(DIMENSIONS)} WHERE {every}",
        narrow=f"SELECT f.id FROM f0 f, {', '.join(DIMENSIONS[10:15])} WHERE {some}",
    )
    assert len(found.groups) < 400
    assert [len(each.tables) for each in found.readers(found.views["narrow"])] == [7]
    reached = {found.views["narrow"]}
    for each in found.groups:  # inputs come first
        reached |= {each.number for operation in each.operations if reached & {*operation.inputs}}
    assert found.views["wide"] in reached


def test_the_same_dag_again() -> None:
    random, again = Random(2), Random(2)
    first, second = (dag(wide_catalog(), **{f"v{number}": star(each, 5) for number in range(5)}) for each in (random, again))
    assert show(first) == show(second)
