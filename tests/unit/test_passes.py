"""The passes as a tuple: what is checked after each, and what a plan keeps of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Caching
from dbt_idivm.explain import explain_passes
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators import Project, Scan
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.passes import pipeline
from dbt_idivm.passes.pipeline import PASSES, Request, run_passes
from dbt_idivm.script.plan import Plan
from dbt_idivm.support import CATALOG

A = Scan("a", "a", tuple(Attribute(name, "int") for name in ("k", "x")), ("k",))
SHOWN = ("a__x",)
GROUPED = "select cid, sum(price) as s from orders where status = 'open' group by cid"


def plan(sql: str, **caching: Any) -> Plan:
    found = lower(sql, CATALOG)
    return compile_plan(found.root, found.output, caching=Caching(subviews=found.subviews, **caching))


def test_in_order() -> None:
    assert [each.__name__ for each in PASSES] == [
        "show_output",
        "use_inner_joins",
        "use_look_ups",
        "drop_unused",
        "place_caches_of_operators",
        "place_what_rows_are_ranked_by",
        "place_what_values_are_continued_by",
        "extend_by_ids",
    ]


def test_the_tree_after_each() -> None:
    steps = run_passes(A, Request(SHOWN, operator_caches=True))
    assert [step.root.columns for step in steps] == [*[SHOWN] * 7, ("a__x", "a__k")]
    assert [step.name for step in steps] == [each.__name__ for each in PASSES]


def test_a_plan_keeps_them() -> None:
    found = plan(GROUPED)
    assert [step.name for step in found.passes] == ["lower", *(each.__name__ for each in PASSES)]
    assert found.passes[-1].root is found.root
    assert "count__rows" not in found.passes[4].root.columns and "count__rows" in found.passes[5].root.columns


@pytest.mark.parametrize(
    ("sql", "added", "is_additive"),
    [
        ("select cid, round(sum(price), 2) as s from orders group by cid", "count__rows count__orders__price v__sum_price", True),
        ("select cid, sum(price) as s, sum(price) * 2 as t from orders group by cid", "count__rows count__orders__price", True),
        (
            "select cid, cast(min(price) as string) as m, count(*) + 1 as n from orders group by cid",
            "v__count v__min_price",
            True,
        ),
        ("select cid, case when count(*) > 1 then 1 end as n from orders group by cid", "v__count", True),
        # nothing is added to an average, which follows from its caches
        (
            "select cid, avg(amount) + 1 as a from orders group by cid",
            "count__rows sum__orders__amount count__orders__amount",
            True,
        ),
        (
            "select cid, avg(cast(price as decimal(12, 2))) as a from orders group by cid",
            "count__rows sum__v__cast_price_as_decimal_12_2 count__v__cast_price_as_decimal_12_2",
            True,
        ),
        (
            "select cid, avg(price) as a from orders group by cid",
            "count__rows sum__orders__price count__orders__price sum_of_sizes__orders__price",
            True,
        ),
        ("select cid, avg(weight) as a from orders group by cid", "", False),
        ("select cid, avg(cast(price as decimal(25, 2))) as a from orders group by cid", "", False),
        ("select cid, avg(cast(price as decimal(23, 0))) as a from orders group by cid", "", False),
        ("select cid, avg(distinct cast(price as decimal(12, 2))) as a from orders group by cid", "", False),
        (
            "select cid, avg(cast(price as decimal(12, 2)) / 3) as a from orders group by cid",
            "count__rows sum__v__cast_price_as_decimal_12_2_3 count__v__cast_price_as_decimal_12_2_3",
            True,
        ),
        ("select cid, sum(price % 3) as s from orders group by cid", "", False),
        ("select sum(amount) / count(amount) as a from orders", "count__rows v__count_amount v__sum_amount", True),
        (
            "select q.cid, q.s + 1 as t from (select cid, sum(amount) as s, max(id) as m from orders group by cid) as q",
            "count__rows count__orders__amount q__s",
            True,
        ),
        (
            "select cid, sum(amount) as s, max(price) - min(price) as d from orders group by cid",
            "count__rows count__orders__amount v__max_price v__min_price",
            True,
        ),
        ("select cid, round(sum(price), 2) as s, max(weight) + 1 as m from orders group by cid", "", False),
        ("select cid, round(sum(price), 2) as s from orders group by cid having sum(price) > 1", "", False),
        ("select distinct round(sum(price), 2) as s from orders group by cid", "", False),
        (
            "select n, sum(m) + 1 as s from (select id, cid as n, count(*) as m from orders group by id, cid) group by n",
            "",
            False,
        ),
    ],
)
def test_calls_inside_expressions_are_operator_caches(sql: str, added: str, is_additive: bool) -> None:
    found = plan(sql)
    assert {each.attribute for each in found.columns if each.hidden} - {"orders__cid"} == set(added.split())
    assert (found.way("additive") is not None) is is_additive
    assert found.way("recompute") is None
    without = plan(sql, policy="none")
    assert without.way("additive") is None
    assert {each.attribute for each in without.columns if each.hidden} <= {"orders__cid"}


def loses(root: Operator, request: Request) -> Operator:
    return Project(A, (("a__k", column("a__k")),))


def retypes(root: Operator, request: Request) -> Operator:
    return Project(A, (("a__x", exp.Literal.string("7")),))


def reads_another(root: Operator, request: Request) -> Operator:
    return Project(replace(A, occurrence="b"), (("a__x", column("b__x")),))


def names_twice(root: Operator, request: Request) -> Operator:
    return Project(A, (("a__x", column("a__x")), ("a__x", column("a__x"))))


@pytest.mark.parametrize(
    "broken, message", [(loses, "loses loses"), (retypes, "types of"), (reads_another, "tables"), (names_twice, "two attributes")]
)
def test_a_broken_pass_is_noticed(broken: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "PASSES", (broken,))
    with pytest.raises(AssertionError, match=message):
        run_passes(A, Request(SHOWN, operator_caches=False))


def test_explained() -> None:
    text = explain_passes(plan(GROUPED))
    titles = [line for line in text.splitlines() if line.startswith("after ")]
    assert titles == [f"after {name}" for name in ("lower", *(each.__name__ for each in PASSES))] + [
        f"after {name}, way id"
        for name in (
            "propagate",
            "merge_recomputes",
            "use_payload",
            "look_up",
            "use_net_diff",
            "use_diff_rows",
            "merge_distincts",
        )
    ]
    assert "touched orders__cid by orders__id" in text.split("after use_payload")[0]
    assert "touched" not in text.split("after look_up")[1]
    assert "  as before" in text
    assert "scan orders (orders__id, orders__cid, orders__status, orders__price)" in text.split("after drop_unused")[1]
    assert "[key: orders__cid; not NULL: count__rows, count__orders__price; of orders.cid]" in text.split("annotated")[1]


def test_explained_with_caches() -> None:
    text = explain_passes(
        plan("select n, count(*) as m from (select cid, count(*) as n from orders group by cid) t group by n", policy="all")
    )
    assert text.startswith("cache 1: ") and "\nview\n" in text and text.count("after place_caches\n") == 2
