"""Variables of lambdas: where they are used, and what they would hide."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt_idivm.algebra.expressions import column, render, substitute
from dbt_idivm.frontend.dialect import parse


def expression(sql: str) -> exp.Expr:
    (tree,) = parse(f"SELECT {sql}")
    return tree.selects[0].copy()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("exists(xs, v -> v > x)", "EXISTS(v.xs, v_2 -> v_2 > v.x)"),
        ("exists(xs, V -> v.v > x)", "EXISTS(v.xs, V_2 -> V_2.v > v.x)"),
        ("exists(xs, v -> v > 1)", "EXISTS(v.xs, v -> v > 1)"),
        ("exists(xs, d -> d > x)", "EXISTS(v.xs, d -> d > v.x)"),
        ("transform(xs, v -> struct(v, x))", "TRANSFORM(v.xs, v_2 -> STRUCT(v_2 AS v, v.x AS x))"),
        (
            "transform(xs, v -> exists(xs, v -> v > x) and v > 0)",
            "TRANSFORM(v.xs, v_2 -> EXISTS(v.xs, v_3 -> v_3 > v.x) AND v_2 > 0)",
        ),
        (
            "transform(xs, v -> exists(array(1), v -> v > 0) and v > x)",
            "TRANSFORM(v.xs, v_2 -> EXISTS(ARRAY(1), v -> v > 0) AND v_2 > v.x)",
        ),
        ("transform(xs, (v, v_2) -> v[v_2] + v.f(x) + x)", "TRANSFORM(v.xs, (v_3, v_2) -> v_3[v_2] + v.f(v.x) + v.x)"),
    ],
)
def test_a_variable_hides_no_source(sql: str, expected: str) -> None:
    assert render(substitute(expression(sql), {name: column(name, "v") for name in ("x", "xs")})) == expected


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("exists(xs, E -> e > t.e)", ["xs", "t.e"]),
        ("transform(xs, (e, I) -> E.i + i.e)", ["xs"]),
        ("transform(xs, e -> transform(e, f -> F + E + x))", ["xs", "x"]),
        ("exists(xs, e -> true) AND E", ["xs", "E"]),
    ],
)
def test_the_case_of_a_variable_does_not_matter(sql: str, columns: list[str]) -> None:
    assert sorted(each.sql("spark") for each in expression(sql).find_all(exp.Column)) == sorted(columns)
