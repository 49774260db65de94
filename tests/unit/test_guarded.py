"""What may fail on some rows is evaluated for rows of the query only."""

from __future__ import annotations

import pytest

from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.algebra.types import type_of
from dbt_idivm.explain import delta_script
from dbt_idivm.frontend.text import Text
from tests.property.directed import table
from tests.property.plans import Options, idiff_way, plan_of

TYPES = {"a": type_of("int"), "b": type_of("decimal(10,2)"), "s": type_of("string"), "d": type_of("date"), "x": type_of("double")}
TABLES = (table("o(id int, pid int, amount int, qty int, code string; id)"), table("p(pid int, active boolean; pid)"))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a + b * 2", False),
        ("a / 2", False),
        ("a % 10", False),
        ("CAST(a AS DECIMAL(10,2))", False),
        ("CAST(s AS STRING)", False),
        ("coalesce(upper(s), 'x') || a", False),
        ("CASE WHEN a > 1 THEN b ELSE 0 END", False),
        ("CAST(d AS TIMESTAMP)", False),
        ("try_cast(s AS INT)", False),
        ("try_divide(a, b)", False),
        ("a / b", True),
        ("x / a", True),
        ("a / 0", True),
        ("a DIV b", True),
        ("CAST(s AS INT)", True),
        ("CAST(s AS DATE)", True),
        # a text that is cast implicitly, unless it is the same in all rows
        ("s + 1", True),
        ("-s", True),
        ("s * a", True),
        ("s = 5", True),
        ("a > s", True),
        ("s BETWEEN 1 AND 7", True),
        ("s IN (5, 6)", True),
        ("coalesce(s, 3)", True),
        ("nvl(s, 3)", True),
        ("nullif(s, 3)", True),
        ("if(a > 1, s, 3)", True),
        ("CASE WHEN a > 1 THEN s ELSE 3 END", True),
        ("CASE s WHEN 5 THEN 1 END", True),
        ("abs(s)", True),
        ("NOT s", True),
        ("substring('abc', s)", True),
        ("left('abc', s)", True),
        ("d = s", True),
        ("CAST(a AS STRING) + 1", True),
        ("d = '2024-01-01'", False),
        ("s = '5'", False),
        ("s IN ('5', 'x')", False),
        ("coalesce(s, 'x', NULL)", False),
        ("CASE WHEN s = 'x' THEN s ELSE NULL END", False),
        ("CASE s WHEN 'x' THEN 1 ELSE 2 END", False),
        ("a + '1'", False),
        ("substring(s, 2, 3)", False),
        ("s IS NULL", False),
        ("s LIKE '5%'", False),
        ("s || a", False),
        ("element_at(split(s, ','), 2)", True),
        ("split(s, ',')[1]", True),
        ("to_date(s)", True),
        ("make_date(a, a, a)", True),
    ],
)
def test_which_expressions_may_fail(expression: str, expected: bool) -> None:
    tree = Text(f"SELECT {expression} FROM t").parse()
    assert may_raise(tree.selects[0], TYPES) is expected


def idiffs(sql: str) -> list[str]:
    return [str(diff) for diff in idiff_way(plan_of(TABLES, sql, Options(additive=False))).idiffs]


def test_an_update_is_filtered_by_the_part_of_a_condition_that_it_knows() -> None:
    plan = plan_of(TABLES, "SELECT o.id, o.amount FROM o JOIN p ON o.pid = p.pid WHERE o.qty <> 0 AND p.active", Options())
    assert [firing.rule for firing in idiff_way(plan).firings if firing.rule.startswith("select_upd")] == ["select_upd_known"]


def test_an_update_below_a_join_is_looked_up_where_the_expression_may_fail() -> None:
    join = "FROM o JOIN p ON o.pid = p.pid"
    assert "UPD(o__id; assigns v__u) from d_upd__o" in idiffs(f"SELECT o.id, o.amount * o.qty AS u {join}")
    assert "UPD(o__id, p__pid; assigns v__u) from d_upd__o" in idiffs(f"SELECT o.id, o.amount / o.qty AS u {join}")
    assert "UPD(o__id; assigns v__u) from d_upd__o" in idiffs("SELECT o.id, o.amount / o.qty AS u FROM o WHERE o.qty <> 0")


@pytest.mark.parametrize(("sign", "carried"), [("*", True), ("/", False)])
def test_a_group_that_may_fail_is_not_computed_for_rows_that_found_no_partner(sign: str, carried: bool) -> None:
    group = f"o.amount {sign} o.qty"
    sql = f"SELECT {group} AS u, count(*) AS n FROM o JOIN p ON o.pid = p.pid GROUP BY {group}"
    script = delta_script(plan_of(TABLES, sql, Options(additive=False)), "v")
    assert (f"d_rec__o.o__amount {sign} d_rec__o.o__qty" in script) is carried
