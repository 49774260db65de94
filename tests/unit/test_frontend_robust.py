"""SQL that Spark takes and the planner stumbled over, and SQL that it took and Spark does not."""

from __future__ import annotations

import sys
import time

import pytest
from sqlglot import exp

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.deep import deep_recursion
from dbt_idivm.errors import IdivmError
from dbt_idivm.explain import delta_script, explain
from dbt_idivm.frontend.dialect import parse
from dbt_idivm.frontend.invalid import branches
from dbt_idivm.frontend.lower import lower
from dbt_idivm.frontend.nesting import DEEPEST
from dbt_idivm.frontend.text import Text
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import full_query

COLUMNS = {
    "id": "int",
    "a": "int",
    "b": "int",
    "c": "bigint",
    "s": "string",
    "d": "date",
    "ts": "timestamp",
    "ok": "boolean",
    "arr": "array<int>",
}
CATALOG = Catalog({"t": TableInfo("t", tuple(Attribute(*each) for each in COLUMNS.items()), ("id",))})


def plan(sql: str) -> Plan:
    lowered = lower(sql, CATALOG)
    return compile_plan(lowered.root, lowered.output)


def written(expression: str) -> str:
    """The expression as Spark is given it."""
    query = full_query(plan(f"SELECT id, {expression} AS x FROM t"), Binding())
    return DELTA.sql(query, pretty=False).removeprefix("SELECT t.id, ").partition(" AS x")[0]


def refusal(sql: str) -> tuple[str, str]:
    """Code, and the place as the user wrote it."""
    with pytest.raises(IdivmError) as raised:
        plan(sql)
    found = raised.value.findings[0]
    assert found.place is not None
    return found.code, found.place.text[found.place.start : found.place.end]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a & b >> 1", "t.a & SHIFTRIGHT(t.b, 1)"),
        ("a | 1 << 1 & b", "t.a | SHIFTLEFT(1, 1) & t.b"),
        ("a + b << 1", "SHIFTLEFT(t.a + t.b, 1)"),
        ("(a & b) >> 1", "SHIFTRIGHT((t.a & t.b), 1)"),
        ("c >>> 1", "SHIFTRIGHTUNSIGNED(t.c, 1)"),
        ("a >> 1 >>> b", "SHIFTRIGHTUNSIGNED(SHIFTRIGHT(t.a, 1), t.b)"),
        ("try_cast(s AS INT)", "TRY_CAST(t.s AS INT)"),
        ("get_json_object(s, '$.a[0].b c')", "GET_JSON_OBJECT(t.s, '$.a[0].b c')"),
        (r"r'a\n'", r"'a\\n'"),
        ("X'4142'", "X'4142'"),
        ("s LIKE ANY ('a', 'b%')", "t.s LIKE ANY ('a', 'b%')"),
        ("s NOT ILIKE ALL ('a')", "t.s NOT ILIKE ALL ('a')"),
        ("s LIKE SOME (s, 'b')", "t.s LIKE ANY (t.s, 'b')"),
    ],
)
def test_what_is_written_means_the_same(expression: str, expected: str) -> None:
    assert written(expression) == expected


def test_operators_are_grouped_as_spark_groups_them() -> None:
    def shape(node: object) -> str:
        both = getattr(node, "args", {})
        if "expression" not in both:
            return node.sql("spark")  # type: ignore[attr-defined,no-any-return]
        return f"{type(node).__name__}({shape(both['this'])}, {shape(both['expression'])})"

    select = parse("SELECT a | b & c ^ d, a || b + c, (a | b) & c, a || b || c FROM t")[0]
    assert [shape(each) for each in select.expressions] == [
        "BitwiseOr(a, BitwiseXor(BitwiseAnd(b, c), d))",
        "Add(DPipe(a, b), c)",
        "BitwiseAnd((a | b), c)",
        "DPipe(DPipe(a, b), c)",
    ]


@pytest.mark.parametrize(
    ("sql", "code", "place"),
    [
        ("SELECT count() AS n FROM t", 229, "count()"),
        ("SELECT max(a, b) AS m FROM t", 229, "max(a, b)"),
        ("SELECT a FROM t CROSS JOIN sum(1) AS x", 229, "sum(1)"),
        ("SELECT a FROM t, abs(1) AS x", 229, "abs(1)"),
        ("SELECT id, FROM t", 220, ","),
        ("SELECT , id FROM t", 220, ","),
        ("SELECT id, , a FROM t", 220, ","),
        ("SELECT id FROM t WHERE a IN (1, )", 220, ","),
        ("SELECT id FROM t GROUP BY id,", 220, ","),
        ("SELECT coalesce(a, b,) AS x FROM t", 220, ","),
        ("SELECT a ?? b AS x FROM t", 220, "??"),
        ("WITH c AS (SELECT a FROM t), c AS (SELECT b FROM t) SELECT * FROM c", 229, "c"),
        ("SELECT id FROM t WHERE a BETWEEN SYMMETRIC 3 AND 1", 229, "SYMMETRIC 3"),
        ("SELECT id FROM t WHERE a BETWEEN ASYMMETRIC 3 AND 1", 229, "ASYMMETRIC 3"),
        ("SELECT id, try_cast('today' AS DATE) AS x FROM t", 230, "'today'"),
    ],
)
def test_refused_with_its_place(sql: str, code: int, place: str) -> None:
    assert refusal(sql) == (f"IDIVM-{code}", place)


@pytest.mark.parametrize("sql", ["", ";", "SELECT id >>>", "SELECT id, a >>> FROM t", "(", "SELECT id FROM t WHERE a >>> >>> b"])
def test_what_is_no_query_is_reported(sql: str) -> None:
    with pytest.raises(IdivmError) as raised:
        plan(sql)
    assert raised.value.codes == ("IDIVM-220",)


@pytest.mark.parametrize("condition", ["interval 1 day", "(1, 2)", "interval 1 day and true"])
@pytest.mark.parametrize(
    "sql",
    ["SELECT id FROM t WHERE {}", "SELECT t.id FROM t JOIN t AS u ON {}", "SELECT s, count(*) AS n FROM t GROUP BY s HAVING {}"],
)
def test_what_is_no_condition_is_left_to_spark(sql: str, condition: str) -> None:
    assert plan(sql.format(condition)).ways


def test_ctes_whose_names_differ_by_case_are_two() -> None:
    lowered = lower("WITH c AS (SELECT a FROM t), C AS (SELECT b FROM t) SELECT * FROM c", CATALOG)
    assert [name for name, _ in lowered.output] == ["b"]


@pytest.mark.parametrize(
    "expression",
    [
        "transform(arr, (x, i) -> x + i)",
        "zip_with(arr, arr, (x, y) -> x + y)",
        "aggregate(arr, 0, (acc, x) -> acc + x)",
        "aggregate(arr, 0, (acc, x) -> acc + x, acc -> acc * 10)",
        "array_sort(arr, (l, r) -> r - l)",
        "transform(array(arr), y -> aggregate(y, 0, (acc, x) -> acc + x))",
        "filter(array(ts), x -> x > ts)",
        "cardinality(map_filter(map('a', a), (k, v) -> v > 0))",
    ],
)
def test_lambdas_over_known_types_are_maintained(expression: str) -> None:
    assert "->" in written(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "exists(array(s), x -> x = ts)",
        "filter(array(d), x -> x > 'today')",
        "transform(array(ts), (x, i) -> x > s)",
        "aggregate(array(s), ts, (acc, x) -> greatest(acc, x))",
        "transform(array(s), x -> cast(x AS TIMESTAMP))",
    ],
)
def test_lambdas_that_may_read_the_clock_are_not(expression: str) -> None:
    with pytest.raises(IdivmError) as raised:
        plan(f"SELECT id, {expression} AS x FROM t")
    assert "IDIVM-230" in raised.value.codes


def test_a_branch_that_is_no_query_is_reported() -> None:
    tree = exp.Union(this=exp.select("a").from_("t"), expression=exp.to_table("t"), distinct=True)
    found = branches(tree, Text("SELECT a FROM t UNION t"))
    assert found is not None and found.code == "IDIVM-220"
    assert branches(exp.Union(this=exp.select("a").from_("t"), expression=exp.select("a").from_("t")), Text("")) is None


DEEP = {
    "AND": "SELECT id FROM t WHERE " + " AND ".join(f"a <> {n}" for n in range(250)),
    "OR": "SELECT id FROM t WHERE " + " OR ".join(f"a = {n}" for n in range(250)),
    "||": "SELECT id, s" + " || 'x'" * 250 + " AS x FROM t",
    "NOT": "SELECT id FROM t WHERE " + "NOT " * 100 + "ok",
    "()": "SELECT id, " + "(" * 150 + "a" + ")" * 150 + " AS x FROM t",
    "calls": "SELECT id, " + "abs(" * 80 + "a" + ")" * 80 + " AS x FROM t",
    "+": "SELECT id, a" + " + 1" * 150 + " AS x FROM t",
}


@pytest.mark.parametrize("sql", DEEP.values(), ids=DEEP.keys())
def test_deep_expressions_are_planned(sql: str) -> None:
    before = sys.getrecursionlimit()
    made = plan(sql)
    assert explain(made) and delta_script(made, "v")
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        ("SELECT id, " + "(" * 500 + "a" + ")" * 500 + " AS x FROM t", "("),
        ("SELECT id FROM t WHERE " + "NOT " * 5000 + "ok", "NOT"),
        ("SELECT id, " + "CASE WHEN ok THEN " * 300 + "1" + " END" * 300 + " AS x FROM t", "CASE"),
    ],
)
def test_too_deep_is_reported_with_its_place(sql: str, place: str) -> None:
    assert refusal(sql) == ("IDIVM-231", place)


def test_too_many_operands_are_reported() -> None:
    with pytest.raises(IdivmError) as raised:
        plan("SELECT id FROM t WHERE a = " + " + ".join(["b"] * 20_000))
    assert raised.value.codes == ("IDIVM-231",)


def test_the_limit_is_put_back_by_the_last_one() -> None:
    before = sys.getrecursionlimit()
    with deep_recursion():
        with deep_recursion():
            raised = sys.getrecursionlimit()
        assert sys.getrecursionlimit() == raised > DEEPEST
    assert sys.getrecursionlimit() == before


def chain(levels: int) -> str:
    parts = ["c0 AS (SELECT id, a FROM t)"]
    parts += [
        f"c{n} AS (SELECT l.id, l.a + r.a AS a FROM c{n - 1} l JOIN c{n - 1} r ON l.id = r.id)" for n in range(1, levels + 1)
    ]
    return f"WITH {', '.join(parts)} SELECT id, a FROM c{levels}"


def test_look_ups_are_not_nested() -> None:
    """Each level repeated the script of the one below in each of its own parts."""
    script = delta_script(plan(chain(3)), "v")
    assert len(script) < 100_000  # it was 203,622 characters, and 5,480,212 for one level more


def test_a_chain_too_long_for_a_statement_is_reported_at_once() -> None:
    started = time.process_time()
    with pytest.raises(IdivmError) as raised:
        plan(chain(6))
    assert raised.value.codes == ("IDIVM-232",)
    assert raised.value.is_refusal
    assert time.process_time() - started < 10  # it was more than could be waited for


def test_many_columns_take_linear_time() -> None:
    started = time.process_time()
    made = plan("SELECT id, " + ", ".join(f"a + b * {n} AS x{n}" for n in range(300)) + " FROM t")
    assert delta_script(made, "v")
    assert time.process_time() - started < 10  # it was quadratic: 15 to 30 s
