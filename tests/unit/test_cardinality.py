"""How many rows relations are estimated to have: of each node, and what keys and dependencies give."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlglot import parse_one

from dbt_idivm.algebra.cardinality import EQUALITY, OTHER, RANGE, Cardinality, Domain, drawn
from dbt_idivm.cost.sizes import Size
from dbt_idivm.cost.work import Situation, TableChanges, application_of, effect, expected
from dbt_idivm.operators import Aggregate, Join, SemiAntiJoin, UnionAll
from dbt_idivm.script.plan import Plan
from tests.unit.test_closed_algebra import EXAMPLES
from tests.unit.test_script_ways import plan

ROWS = {"orders": 1_000_000, "customers": 10_000, "clicks": 500}


@dataclass
class Sizes:
    tables: dict[str, float] = field(default_factory=lambda: {"a": 100.0, "b": 50.0})

    def table(self, name: str) -> float:
        return self.tables[name]

    def changes(self, occurrence: str, diff_class: Any, split: frozenset[str]) -> float:
        return 4.0


def estimated(view: Plan, rows: dict[str, int] | None = None) -> float:
    sizes = {name: Size(count, count * 10) for name, count in (rows or ROWS).items()}
    return Situation(view, sizes, None, expected(view, {}, hopeful=False)).evaluated(view.root)[0].rows


@pytest.mark.parametrize("node", EXAMPLES, ids=lambda node: type(node).__name__)
def test_every_node_answers(node: Any) -> None:
    inputs = [child.cardinality([Cardinality(10.0)] * len(child.children), Sizes()) for child in node.children]
    found = node.cardinality(inputs or [Cardinality(3.0)], Sizes())
    assert 0 <= found.rows <= 100 * 100
    assert all(known <= {*node.columns} and domain.size >= 0 for known, domain in found.domains.items())


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("select id, price from orders", 1_000_000),
        ("select o.id, c.name from orders o join customers c on o.cid = c.id", 1_000_000),  # each order has one customer
        ("select id from orders where id = 7", 1),
        ("select id from orders where cid = 7", 1_000_000 * EQUALITY),
        ("select id from orders where price > 7", 1_000_000 * RANGE),
        ("select id from orders where price > 7 and cid = 3", 1_000_000 * RANGE * EQUALITY),
        ("select id from orders where price > 7 or cid = 3", 1_000_000 * (1 - (1 - RANGE) * (1 - EQUALITY))),
        ("select id from orders where cid in (1, 2)", 1_000_000 * 2 * EQUALITY),
        ("select id from customers union all select id from orders", 1_010_000),
        ("select c.id, sum(o.price) as s from orders o join customers c on o.cid = c.id group by c.id", 10_000),
        ("select c.id, c.name, sum(o.price) as s from orders o join customers c on o.cid = c.id group by c.id, c.name", 10_000),
        ("select count(*) as n from orders", 1),
        ("select id from orders o where exists (select 1 from customers c where c.id = o.cid)", 1_000_000),
    ],
)
def test_views(sql: str, rows: float) -> None:
    assert estimated(plan(sql)) == pytest.approx(rows, rel=1e-3)


def test_a_filtered_side_keeps_its_part_of_the_join() -> None:
    sql = "select o.id, c.name from orders o join customers c on o.cid = c.id where c.name = 'x'"
    assert estimated(plan(sql)) == pytest.approx(1_000_000 * EQUALITY)


def test_of_small_tables_groups_are_few() -> None:
    """A column of a table with 25 rows has 25 values at most, however many rows it is joined with."""
    sql = "select c.name, count(*) as n from orders o join customers c on o.cid = c.id group by c.name"
    assert estimated(plan(sql), {"orders": 1_000_000, "customers": 25}) <= 25


def test_nodes_by_the_model() -> None:
    keyed = Cardinality(100.0, {frozenset({"k"}): Domain(100.0, frozenset({"k", "x"}))}, {"k": 100.0, "x": 100.0})
    assert keyed.values(("k", "x")) == pytest.approx(drawn(100, 100)), "the key determines x"
    assert keyed.kept(Cardinality(5.0), ("k",)).rows == pytest.approx(5)
    assert keyed.kept(Cardinality(5.0), ("k",), anti=True).rows == pytest.approx(95)
    assert keyed.kept(Cardinality(0.0), ()).rows == 0 and keyed.kept(Cardinality(9.0), ()).rows == 100
    assert keyed.computed({"a": "k"}).domain(("a",)) == 100 and keyed.computed({"b": "x"}).domain(("b",)) is None


def test_products_stay_numbers() -> None:
    """Statistics that no table can have, over many tables without a condition: 10^12 rows, sixty times."""
    huge = Cardinality(1e12)
    found = huge
    for _ in range(60):
        found = found.paired(huge, [], ["a"], ["b"])
    assert found.rows == 1e18
    for grouped in (found.grouped([f"c{n}" for n in range(60)]), found.grouped(["c"])):
        assert 0 <= grouped.rows <= found.rows


def test_drawn() -> None:
    assert drawn(10, 0) == 0 and drawn(1, 5) == 1 and drawn(0, 5) == 0
    assert drawn(2, 2) == pytest.approx(1.5), "two draws of two: both alike in half of the cases"
    assert drawn(1e9, 5) == pytest.approx(5, rel=1e-3)


def test_selectivities_are_probabilities() -> None:
    rows = Cardinality(10.0)
    for text in ("a = 1", "not a = 1", "a is null", "a like 'x%'", "a in (1,2,3,4,5,6,7)", "a between 1 and 2", "true", "false"):
        found = rows.selectivity(parse_one(text))
        assert 0 <= found <= 1, text
    assert rows.selectivity(parse_one("a is null")) == OTHER


def test_changes_of_one_row_name_their_share_of_a_join() -> None:
    view = plan("select o.id, o.price, c.name from orders o join customers c on o.cid = c.id")
    now = Situation(
        view,
        {name: Size(count, count * 10) for name, count in ROWS.items()},
        Size(1_000_000, 10_000_000),
        expected(view, {"customers": TableChanges(updated=3)}, hopeful=True),
    )
    done = application_of(view.ways[0], now)
    assert done is not None and done.way == "id"
    assert effect(done, now) == (pytest.approx(300, rel=0.01), 0), "p is 100 orders for each customer"


def test_operators_of_views_answer_like_their_plain_nodes() -> None:
    for kind in (Aggregate, Join, SemiAntiJoin, UnionAll):
        assert "cardinality" not in vars(kind)
