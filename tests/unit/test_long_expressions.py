"""Planning takes time in proportion to the length of an expression, counted in calls of functions and copied nodes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from sqlglot import exp, parse_one
from sqlglot.expressions import core

from dbt_idivm.algebra.structure import structure
from dbt_idivm.algebra.types import infer_type, inferred, type_of
from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.explain import delta_script, explain, outline
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.script.plan import Plan

COLUMNS = {"id": "bigint", "a": "string", "b": "int", "p": "decimal(10,2)", "f": "double", "ts": "timestamp"}
INFO = tuple(Attribute(*each) for each in COLUMNS.items())
CATALOG = Catalog({name: TableInfo(name, INFO, ("id",)) for name in ("t", *(f"t{number}" for number in range(100)))})
TYPES = {name: type_of(kind) for name, kind in COLUMNS.items()}


def listed(each: Callable[[int], str], between: str, number: int) -> str:
    return between.join(each(at) for at in range(number))


def text(number: int) -> str:
    return f"'{number}'"


def selected(value: str) -> str:
    return f"SELECT id, {value} AS x FROM t"


def where(condition: str) -> str:
    return f"SELECT id, b FROM t WHERE {condition}"


# a query, by its length
LONG: dict[str, Callable[[int], str]] = {
    "IN of texts": lambda n: where(f"a IN ({listed(text, ', ', n)})"),
    "IN of numbers": lambda n: where(f"b IN ({listed(str, ', ', n)})"),
    "OR": lambda n: where(listed(lambda at: f"a LIKE '%{at}%'", " OR ", n)),
    "AND": lambda n: where(listed(lambda at: f"b <> {at}", " AND ", n)),
    "||": lambda n: selected(listed(lambda at: "a", " || ", n)),
    "+ of integers": lambda n: selected(listed(lambda at: "b", " + ", n)),
    "+ of decimals": lambda n: selected("p + " + listed(lambda at: "1.5", " + ", n)),
    "+ of zeros": lambda n: (
        f"SELECT id, x FROM (SELECT id, f + {listed(lambda at: '-0.0D', ' + ', n)} AS x FROM t) WHERE x = 0.0D"
    ),
    "+ of constants": lambda n: selected(listed(lambda at: "1.5D", " + ", n)),
    "+ of floats": lambda n: selected(listed(lambda at: "f", " + ", n)),
    "+ of intervals": lambda n: selected("ts + " + listed(lambda at: "INTERVAL '1' HOUR", " + ", n)),
    "CASE": lambda n: selected(f"CASE {listed(lambda at: f'WHEN b = {at} THEN a', ' ', n)} END"),
    "COALESCE": lambda n: selected(f"coalesce({listed(lambda at: 'a', ', ', n)})"),
    "COALESCE of decimals": lambda n: selected(f"coalesce(p, {listed(lambda at: f'{at}.5', ', ', n)})"),
    "VALUES": lambda n: f"SELECT t.id, v.x FROM t JOIN (VALUES {listed(lambda at: f'({at}, {at})', ', ', n)}) v(k, x) ON b = k",
    "columns": lambda n: f"SELECT id, {listed(lambda at: f'b + {at} AS x{at}', ', ', n)} FROM t",
    "columns that are grouped": lambda n: f"SELECT {listed(lambda at: 'b', ' + ', n)} AS k, count(*) AS n FROM t GROUP BY 1",
    "decimals that are grouped": lambda n: (
        f"SELECT p + {listed(lambda at: '1.5', ' + ', n)} AS k, count(*) AS n FROM t GROUP BY 1"
    ),
    "sum of a condition": lambda n: (
        f"SELECT b, sum(CASE WHEN {listed(lambda at: f'b = {at}', ' OR ', n)} THEN 1 END) AS n FROM t GROUP BY b"
    ),
}
BRANCHES: dict[str, Callable[[int], str]] = {
    "UNION ALL": lambda n: listed(lambda at: f"SELECT id, b FROM t{at}", " UNION ALL ", n),
    "groups over UNION ALL": lambda n: (
        f"SELECT b, count(*) AS n FROM ({listed(lambda at: f'SELECT b FROM t{at}', ' UNION ALL ', n)}) GROUP BY b"
    ),
}


def plan(sql: str) -> Plan:
    lowered = lower(sql, CATALOG)
    return compile_plan(lowered.root, lowered.output)


def printed(sql: str) -> None:
    made = plan(sql)
    explain(made)
    delta_script(made, "v")


def cost(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> int:
    """The calls that Python makes, and the nodes that sqlglot copies without any."""
    found = 0
    before = core.deepcopy

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    def counted(value: Any, *memo: Any) -> Any:
        nonlocal found
        if isinstance(value, exp.Expr):
            sys.setprofile(None)
            found += sum(1 for _ in value.walk())
            sys.setprofile(count)
        return before(value, *memo)

    with monkeypatch.context() as patched:
        patched.setattr(core, "deepcopy", counted)
        sys.setprofile(count)
        try:
            work()
        finally:
            sys.setprofile(None)
    return found


def growth(of: Callable[[int], int], start: int) -> float:
    """How much more is added from twice to four times a length than from it to twice: 2 if linear, 4 if quadratic."""
    of(start // 2)  # what is found once per process
    once, twice, fourfold = (of(start * factor) for factor in (1, 2, 4))
    return (fourfold - twice) / (twice - once)


@pytest.mark.parametrize("name", LONG)
def test_long_expressions_take_linear_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert growth(lambda n: cost(monkeypatch, lambda: printed(LONG[name](n))), 30) < 2.6


@pytest.mark.parametrize("name", BRANCHES)
def test_branches_are_planned_in_linear_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly: below groups each has an ID of its own, NULL in all others. And what `explain` prints of them has a part for
    each, which names all of them."""
    assert growth(lambda n: cost(monkeypatch, lambda: plan(BRANCHES[name](n))), 12) < 3


def test_the_script_of_branches_has_linear_length() -> None:
    """The rows of one branch were tested against those of all branches before it."""
    assert growth(lambda n: len(delta_script(plan(BRANCHES["UNION ALL"](n)), "v")), 12) < 2.6


@pytest.mark.parametrize(
    "expression",
    [
        "a || 'x' || CASE WHEN b > 1 THEN a ELSE NULL END",
        "p + 1.5 + b * 3000000000 - -2147483648",
        "coalesce(p, 1.5, 3000000000)",
        "array(1, 0.5D)[0] + f",
        "if(b = 1, ts, NULL) - ts",
        "round(p * 1.5, 1) + abs(-b) + left(a, 2)",
        "named_struct('x', p + 1.5)",
    ],
)
def test_types_of_parts_are_those_that_they_have_alone(expression: str) -> None:
    whole = parse_one(f"SELECT {expression}", dialect="spark").selects[0]
    known = inferred(TYPES)
    for part in whole.walk():
        assert infer_type(part, known) == infer_type(part, TYPES), part.sql("spark")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 'a\n  b' AS x, `A b`, '  lead', ' ', '', 1.5e3, -3, CAST(a AS DECIMAL(10, 2)), b.c, /* hi */ f(x) FROM t",
        "SELECT count(DISTINCT a, b) FILTER (WHERE c) OVER (PARTITION BY x ORDER BY y), transform(x, v -> v + 1) FROM t",
        "SELECT CASE WHEN a THEN b END, INTERVAL '1' DAY, m['k'], CAST(x AS ARRAY<STRUCT<y: INT>>) FROM t WHERE a IN (1, 2) OR b",
        "SELECT 'x\r\ny\u2028z' FROM t",
    ],
)
def test_the_structure_is_what_sqlglot_prints(sql: str) -> None:
    """Digests of caches and views are made of it: one that changes rebuilds them."""
    tree = parse_one(sql, dialect="spark")
    assert structure(tree) == repr(tree)


def test_printed_trees_cut_long_operators_and_scripts_do_not() -> None:
    made = plan(LONG["OR"](200))
    condition = " OR ".join(f"t__a LIKE '%{at}%'" for at in range(200))
    assert f"σ {condition}"[:500] + " …   [ID" in explain(made)
    assert condition not in explain(made)
    assert f"  σ {condition}   [ID: t__id]" in "\n".join(outline(made)), "plans are compared by these lines"
    assert "LIKE '%199%'" in delta_script(made, "v")
