"""Outer joins whose padded rows a condition removes."""

from __future__ import annotations

import pytest

from dbt_idivm.algebra.operator import operators
from dbt_idivm.compiler import compile_plan
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators import OuterJoin
from dbt_idivm.support import CATALOG

JOINED = "select o.id from orders o left join customers c on o.cid = c.id"
CHAIN = f"{JOINED} left join clicks k on k.page = c.name"


def outer_joins(sql: str) -> int:
    lowered = lower(sql, CATALOG)
    return sum(isinstance(node, OuterJoin) for node in operators(compile_plan(lowered.root, lowered.output).root))


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        (f"{JOINED} where c.credit > 5", 0),
        (f"{JOINED} where c.name is not null", 0),
        (f"{JOINED} where o.price = c.credit", 0),
        (f"{JOINED} join clicks k on k.page = c.name", 0),
        (f"{JOINED} left semi join clicks k on k.page = c.name", 0),
        (f"{CHAIN} where k.at is not null", 0),
        (f"{CHAIN} where c.credit > 5", 1),
        (f"select d.id from ({JOINED} where o.price > 1) d", 1),
        ("select d.id from (select o.id, credit from orders o left join customers c on o.cid = c.id) d where d.credit > 1", 0),
        ("select o.id from clicks k left join (orders o left join customers c on o.cid = c.id) on k.page = c.name", 1),
        ("select id from customers c where credit > (select sum(price) from orders o where o.cid = c.id)", 0),
        # true for NULL, or not known to be false for it
        (JOINED, 1),
        (f"{JOINED} where o.price > 5", 1),
        (f"{JOINED} where c.credit is null", 1),
        (f"{JOINED} where c.credit <=> 5", 1),
        (f"{JOINED} where c.credit > 5 or o.price > 1", 1),
        (f"{JOINED} where coalesce(c.credit, 9) > 5", 1),
        (f"{JOINED} left anti join clicks k on k.page = c.name", 1),
        (f"{JOINED} left join clicks k on k.page = c.name", 2),
        ("select o.id from orders o full join customers c on o.cid = c.id where c.credit > 5", 1),
        ("select id from customers c where 0 < (select count(*) from orders o where o.cid = c.id)", 1),
        (
            "select d.n from (select name as n, max(credit) as m from orders o left join customers c on o.cid = c.id group by name) d "
            "where d.m > 1",
            1,
        ),
    ],
)
def test_a_condition_that_removes_padded_rows_makes_an_inner_join(sql: str, left: int) -> None:
    assert outer_joins(sql) == left
