"""SQL is read by sqlglot's own parser, and its functions come back as they were written."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest
from sqlglot import exp
from sqlglot.errors import ParseError

import dbt_idivm
from dbt_idivm.frontend.dialect import parse

# of each kind: as it is, written as another, a unit that is a column, own syntax, a keyword as a name, calls in calls
CALLS = (
    "sum(x)",
    "log10(x)",
    "date_trunc(unit, t)",
    "date_add(MONTH, 1, t)",
    "ceil(x)",
    "decode(x, 'a', 1)",
    "left(x, 2)",
    "count(DISTINCT x, y)",
    "sum(x) FILTER(WHERE y > 1)",
    "trim(BOTH 'a' FROM x)",
    "upper(log10(lower(char(x))))",
    "db.log10(x)",
    "x.log10(y)",
    "first(x IGNORE NULLS)",
    "filter(a, x -> log10(x) > 0)",
    "struct(1 AS a)",
    "percentile(DISTINCT x, 0.5, y)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY x DESC) FILTER(WHERE y > 1)",
    "listagg(x) WITHIN GROUP (ORDER BY x)",
    "string_agg(DISTINCT x, '-') WITHIN GROUP (ORDER BY x)",
    "corr(DISTINCT x, y)",
    "sort_array(array_agg(x), TRUE)",
    "approx_count_distinct(x, 0.05)",
    "regr_avgx(y, x)",
)


def one(sql: str) -> exp.Expr:
    (tree,) = parse(sql)
    return tree


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_printed_as_it_was_written(call: str) -> None:
    sql = f"SELECT {call} FROM t"
    assert one(sql).sql("spark", normalize_functions=False).lower() == sql.lower()


def test_a_function_that_is_the_same_is_a_typed_node() -> None:
    tree = one("SELECT upper(SUM(log10(x))) FROM t")
    assert [type(node) for node in tree.find_all(exp.Func)] == [exp.Upper, exp.Sum, exp.Anonymous]


def test_other_names_before_brackets_stay() -> None:
    sql = "WITH log10(a) AS (SELECT 1) SELECT * FROM log10 AS left(a) JOIN (VALUES (1)) AS upper(b) USING (b)"
    assert {node.name for node in one(sql).find_all(exp.Identifier)} == {"log10", "left", "upper", "a", "b"}


def test_characters_for_private_use_stay() -> None:
    name, other = "\ue000log10", "\ue001"
    tree = one(f"SELECT `{name}`(x) AS `{other}`, log10(y) FROM `{name}`")
    assert {call.name for call in tree.find_all(exp.Anonymous)} == {name, "log10"}
    assert tree.find(exp.Table).name == name and tree.find(exp.Alias).alias == other


@pytest.mark.parametrize(("call", "message"), [("log10(x AS y)", "Expected )"), ("sum()", "'this' missing")])
def test_what_is_no_call_is_a_parse_error_at_its_place(call: str, message: str) -> None:
    with pytest.raises(ParseError, match=message.replace(")", r"\)")) as raised:
        one(f"SELECT\n  {call} FROM t")
    assert raised.value.errors[0]["line"] == 2


def test_no_class_is_derived_from_one_of_sqlglot() -> None:
    """Those of its compiled build can have no subclasses."""
    for module in pkgutil.walk_packages(dbt_idivm.__path__, "dbt_idivm."):
        for _, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if found.__module__.startswith("dbt_idivm"):
                assert not any(base.__module__.startswith("sqlglot") for base in found.__mro__)
