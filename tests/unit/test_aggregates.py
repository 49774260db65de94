"""One aggregate of several parts: which part of an expression it is, its type, its value over no rows."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt_idivm.algebra.aggregates import function_of, type_of_aggregate, value_of_nothing
from dbt_idivm.algebra.inference import certain_type
from dbt_idivm.algebra.types import equal_is_identical, type_of
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.dialect import parse
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators import Aggregate
from dbt_idivm.operators.additive import additive_calls
from dbt_idivm.operators.aggregate import TiedCall
from dbt_idivm.operators.scan import Attribute

TYPES = {name: type_of(kind) for name, kind in {"x": "int", "s": "string", "p": "decimal(10,2)", "d": "double"}.items()}
CATALOG = Catalog(
    {
        "t": TableInfo(
            "t",
            tuple(
                Attribute(name, kind)
                for name, kind in (
                    ("k", "int"),
                    ("x", "int"),
                    ("s", "string"),
                    ("v", "varchar(5)"),
                    ("d", "double"),
                    ("days", "array<date>"),
                    ("points", "array<double>"),
                    ("row", "struct<a:int,b:float>"),
                    ("at", "timestamp"),
                    ("b", "binary"),
                )
            ),
            ("k",),
        )
    }
)


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("array_sort(collect_list(x))", "array<int>"),
        ("sort_array(collect_set(p), true)", "array<decimal(10,2)>"),
        ("size(collect_set(d))", "int"),
        ("cardinality(array_agg(s))", "int"),
        ("listagg(s, ',') WITHIN GROUP (ORDER BY s)", "string"),
        ("listagg(x) WITHIN GROUP (ORDER BY x)", None),
        ("regr_count(x, p)", "bigint"),
        ("approx_count_distinct(s)", "bigint"),
        ("corr(x, p)", "double"),
        ("regr_sxy(x, p)", "double"),
        ("regr_avgx(x, p)", None),
        ("percentile(x, 0.5)", None),
        ("percentile_cont(0.5) WITHIN GROUP (ORDER BY x)", None),
        ("array_sort(collect_list(unknown))", None),
    ],
)
def test_type(sql: str, kind: str | None) -> None:
    (tree,) = parse(f"SELECT {sql}")
    assert type_of_aggregate(tree.expressions[0], TYPES) == (None if kind is None else type_of(kind))


@pytest.mark.parametrize(
    "sql",
    [
        "size(x)",
        "array_sort(x)",
        "array_sort(collect_list(x), (a, b) -> 0)",
        "sort_array(collect_list(x), y)",
        "array_distinct(collect_list(x))",
        "sort_array(collect_list(x) OVER ())",
    ],
)
def test_what_is_no_aggregate_as_a_whole(sql: str) -> None:
    (tree,) = parse(f"SELECT {sql}")
    assert function_of(tree.expressions[0]) is None


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("count(DISTINCT x, s)", "0"),
        ("regr_count(x, s)", "0"),
        ("approx_count_distinct(x)", "0"),
        ("size(collect_set(x))", "0"),
        ("array_sort(collect_set(x))", "ARRAY()"),
        ("sum(x)", None),
        ("corr(x, s)", None),
        ("percentile(x, 0.5)", None),
        ("listagg(x) WITHIN GROUP (ORDER BY x)", None),
    ],
)
def test_value_over_no_rows(sql: str, value: str | None) -> None:
    (tree,) = parse(f"SELECT {sql}")
    found = value_of_nothing(tree.expressions[0])
    assert (None if found is None else found.sql("spark")) == value


@pytest.mark.parametrize(
    ("kind", "identical"),
    [
        ("int", True),
        ("decimal(10,2)", True),
        ("string", True),
        ("array<string>", True),
        ("struct<a:int,b:array<date>>", True),
        ("timestamp", True),
        ("timestamp_ntz", True),
        ("binary", True),
        ("boolean", True),
        ("array<varchar(3)>", True),
        ("double", False),
        ("float", False),
        ("array<double>", False),
        ("struct<a:int,b:struct<c:float>>", False),
        ("map<string,int>", False),
        ("variant", False),
        ("interval", False),
        ("interval day", False),
        ("void", False),
        ("time", False),
        ("struct<a:string collate UTF8_LCASE>", False),
    ],
)
def test_equal_is_identical(kind: str, identical: bool) -> None:
    assert equal_is_identical(type_of(kind)) is identical


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("CASE WHEN x > 1 THEN x END", "int"),
        ("CASE WHEN x > 1 THEN x ELSE x + 1 END", "int"),
        ("CASE WHEN x > 1 THEN x ELSE p END", None),
        ("CASE WHEN x > 1 THEN s ELSE d END", None),
        ("CASE WHEN x > 1 THEN NULL END", None),
        ("struct(x, s AS n)", "struct<x:int,n:string>"),
        ("struct(x, upper(s) AS n)", None),
        ("upper(s)", None),
    ],
)
def test_certain_type(sql: str, kind: str | None) -> None:
    (tree,) = parse(f"SELECT {sql}")
    found = certain_type(tree.expressions[0], TYPES)
    assert (found and found.sql("spark").lower()) == (kind and type_of(kind).sql("spark").lower())


@pytest.mark.parametrize("value", ["x", "s", "v", "days", "at", "b", "struct(x, s)", "CAST(d AS DECIMAL(10, 2))"])
@pytest.mark.parametrize(
    "sorting",
    [
        "array_sort(collect_list({}))",
        "sort_array(collect_list(DISTINCT {}), false)",
        "array_sort(array_agg({}) FILTER (WHERE x > 1))",
    ],
)
def test_a_sorted_list_is_maintained(value: str, sorting: str) -> None:
    assert isinstance(aggregate(sorting.format(value)), Aggregate)


BLURRED = ["d", "points", "row", "struct(x, d)", "upper(s)", "coalesce(d, x)", "CASE WHEN x > 1 THEN d END"]


@pytest.mark.parametrize("value", BLURRED)
def test_a_set_of_what_may_differ_though_it_is_equal_is_refused(value: str) -> None:
    with pytest.raises(IdivmError, match="IDIVM-207"):
        aggregate(f"sort_array(collect_set({value}), false)")


@pytest.mark.parametrize("value", BLURRED)
def test_a_sorted_list_of_it_begins_with_the_order_of_rows(value: str) -> None:
    (call,) = aggregate(f"array_sort(collect_list({value}))").calls
    assert isinstance(call, TiedCall) and call.value.find(exp.Transform)


@pytest.mark.parametrize("call", ["max_by(x)", "min_by((x, s))"])
def test_an_order_that_is_missing_is_refused(call: str) -> None:
    with pytest.raises(IdivmError, match="IDIVM-207"):
        aggregate(call)


@pytest.mark.parametrize("value", ["days", "struct(x, s)", "split(s, ',')", "reverse(points)"])
@pytest.mark.parametrize("form", ["array_sort(collect_set({}))", "size(collect_set({}))"])
def test_a_set_of_what_has_parts_is_refused(value: str, form: str) -> None:
    with pytest.raises(IdivmError, match="IDIVM-207"):
        aggregate(form.format(value))


@pytest.mark.parametrize(
    "call",
    [
        "array_sort(collect_set(x))",
        "sort_array(collect_set(s) FILTER (WHERE x > 1), false)",
        "size(collect_set(d))",
        "size(collect_set(upper(s)))",
        "size(collect_list(days))",
    ],
)
def test_other_sets_and_sizes_are_maintained(call: str) -> None:
    assert isinstance(aggregate(call), Aggregate)


@pytest.mark.parametrize(
    "call", ["count(DISTINCT x)", "count(DISTINCT x, s)", "count(x, s)", "regr_count(x, k)", "size(collect_list(x))"]
)
def test_nothing_is_added_to_them(call: str) -> None:
    assert additive_calls(aggregate(call)) == ()


def aggregate(call: str) -> Aggregate:
    root = lower(f"SELECT {call} AS c FROM t", CATALOG).root
    while not isinstance(root, Aggregate):
        (root,) = root.inputs
    return root
