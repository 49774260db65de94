"""Normal forms of Spark's optimised plans: equal for plans that surely compute the same rows, and for no others."""

from __future__ import annotations

import pytest

from dbt_idivm.refresh.checks.ambiguous_literals import numbers_in_literals
from dbt_idivm.refresh.checks.plan_expressions import Unreadable
from dbt_idivm.refresh.checks.plan_text import normal_form


def t(*numbers: int) -> str:
    return "Relation spark_catalog.main.t[a#{},b#{},c#{}] parquet".format(*numbers)


def u(*numbers: int) -> str:
    return "Relation spark_catalog.main.u[a#{},b#{},c#{}] parquet".format(*numbers)


T, U = t(1, 2, 3), u(4, 5, 6)


def explained(plan: str) -> str:
    return (
        f"== Parsed Logical Plan ==\n'Project [*]\n\n== Analyzed Logical Plan ==\na: int\nProject [a#1]\n\n"
        f"== Optimized Logical Plan ==\n{plan.strip()}\n\n== Physical Plan ==\n*(1) Scan\n"
    )


def form(plan: str, *queries: str) -> str:
    return normal_form(explained(plan), numbers_in_literals(*queries))


def join(kind: str, condition: str, left: str, right: str) -> str:
    return f"Join {kind}, {condition}\n:- {left}\n+- {right}"


def under(node: str, plan: str) -> str:
    """The node over a plan."""
    first, *rest = plan.splitlines()
    return "\n".join([node, f"+- {first}", *(f"   {line}" for line in rest)])


def two_subqueries(first: str, second: str) -> str:
    return "\n".join(
        (
            "Filter ((a#1 = scalar-subquery#7 []) AND (b#2 = scalar-subquery#8 []))",
            f":  :- Aggregate [{first}(b#5) AS m#9]",
            f":  :  +- {U}",
            f":  +- Aggregate [{second}(b#15) AS m#19]",
            f":     +- {u(14, 15, 16)}",
            f"+- {T}",
        )
    )


EQUAL = {
    "other numbers": (under("Project [a#1]", T), under("Project [a#41]", t(41, 42, 43))),
    "other names of outputs, and L for BIGINT": (
        under("Aggregate [a#1], [a#1, count(1) AS n#9L]", T),
        under("Aggregate [a#1], [a#1 AS x__a#5, count(1) AS count(1)#7L]", T),
    ),
    "a name as the query spells it": (under("Filter (A#1 > 1)", T), under("Filter (a#1 > 1)", T)),
    "a name that has been given in between": (
        under("Project [x__a#5 AS a#9, n#6L]", under("Aggregate [a#1], [a#1 AS x__a#5, count(1) AS n#6L]", T)),
        under("Aggregate [a#1], [a#1, count(1) AS n#6L]", T),
    ),
    "the order of AND": (
        under("Filter ((isnotnull(a#1) AND (a#1 > 1)) AND (b#2 < 2))", T),
        under("Filter ((b#2 < 2) AND ((a#1 > 1) AND isnotnull(a#1)))", T),
    ),
    "inner and cross": (join("Inner", "(a#1 = b#5)", T, U), join("Cross", "(a#1 = b#5)", T, U)),
    "an expression that is grouped by, computed below": (
        under(
            "Aggregate [_groupingexpression#8], [_groupingexpression#8 AS y#9]",
            under("Project [year(c#3) AS _groupingexpression#8]", T),
        ),
        under("Aggregate [y#5], [y#5]", under("Project [year(c#3) AS y#5]", T)),
    ),
    "isnotnull that the comparison says": (
        join("LeftAnti", "((b#2 + 1) = b#5)", T, under("Filter isnotnull(b#5)", U).replace("\n", "\n   ")),
        join("LeftAnti", "((b#2 + 1) = b#5)", T, U),
    ),
    "isnotnull that a partner says": (
        join("LeftSemi", "(a#1 = b#5)", under("Filter isnotnull(a#1)", T).replace("\n", "\n:  "), U),
        join("LeftSemi", "(a#1 = b#5)", T, under("Filter isnotnull(b#5)", U).replace("\n", "\n   ")),
    ),
    "LEFT JOIN and RIGHT JOIN": (
        under("Project [a#1, c#6]", join("LeftOuter", "(a#1 = b#5)", T, U)),
        under("Project [a#1, c#6]", join("RightOuter", "(a#1 = b#5)", U, T)),
    ),
    "isnotnull of a partner that may be absent": (
        join("LeftOuter", "(a#1 = b#5)", T, under("Filter isnotnull(b#5)", U).replace("\n", "\n   ")),
        join("LeftOuter", "(a#1 = b#5)", T, U),
    ),
    "a condition of the left rows, before and after a LEFT JOIN": (
        under("Filter (b#2 = 1)", join("LeftOuter", "(a#1 = b#5)", T, U)),
        join("LeftOuter", "(a#1 = b#5)", under("Filter (b#2 = 1)", T).replace("\n", "\n:  "), U),
    ),
    "a condition of the partners, in ON and before": (
        join("LeftOuter", "((a#1 = b#5) AND (c#6 = 1))", T, U),
        join("LeftOuter", "(a#1 = b#5)", T, under("Filter (c#6 = 1)", U).replace("\n", "\n   ")),
    ),
    "what Spark adds to skip partitions": (
        "Filter (isnotnull(a#1) AND dynamicpruning#44 [a#1])\n:  +- Project [b#5]\n:     +- " + U + "\n+- " + T,
        under("Filter isnotnull(a#1)", T),
    ),
    "variables of functions": (
        under("Project [transform(a#1, lambdafunction((lambda x_1#7 + 1), lambda x_1#7, false)) AS r#9]", T),
        under("Project [transform(a#1, lambdafunction((lambda y_2#8 + 1), lambda y_2#8, false)) AS s#9]", T),
    ),
    "branches of a union under other names": (
        "Union false, false\n:- Project [a#1 AS x#7, b#2]\n:  +- " + T + "\n+- Project [c#6, a#4 AS z#9]\n   +- " + U,
        under(
            "Project [q#7, b#2]",
            "Union false, false\n:- Project [b#2, a#1 AS q#7]\n:  +- " + T + "\n+- Project [a#4, c#6]\n   +- " + U,
        ),
    ),
}
UNEQUAL = {
    "columns that are swapped": (under("Project [a#1, b#2]", T), under("Project [b#2, a#1]", T)),
    "columns of one table that are swapped": (under("Project [a#1]", T), under("Project [b#2]", T)),
    "brackets": (
        under("Aggregate [sum((a#1 - (b#2 - c#3))) AS s#9L]", T),
        under("Aggregate [sum(((a#1 - b#2) - c#3)) AS s#9L]", T),
    ),
    "NOT of AND": (under("Filter NOT ((a#1 = 1) AND (b#2 = 1))", T), under("Filter (NOT (a#1 = 1) AND (b#2 = 1))", T)),
    "another literal": (under("Filter (a#1 > 1)", T), under("Filter (a#1 > 2)", T)),
    "another type": (under("Project [cast(a#1 as int) AS x#8]", T), under("Project [cast(a#1 as bigint) AS x#8L]", T)),
    "try_cast": (under("Project [cast(a#1 as int) AS x#8]", T), under("Project [try_cast(a#1 as int) AS x#8]", T)),
    "the other side of a join": (
        under("Project [a#1]", join("Inner", "(a#1 < b#5)", T, U)),
        under("Project [a#4]", join("Inner", "(a#1 < b#5)", T, U)),
    ),
    "the other of two uses of a table": (
        under("Project [a#1]", join("Inner", "(a#1 < b#5)", T, t(4, 5, 6))),
        under("Project [a#4]", join("Inner", "(a#1 < b#5)", T, t(4, 5, 6))),
    ),
    "another table": (under("Project [a#1]", T), under("Project [a#1]", u(1, 2, 3))),
    "no join condition": (join("Inner", "(a#1 = b#5)", T, U), f"Join Inner\n:- {T}\n+- {U}"),
    "an outer join and an inner one": (join("LeftOuter", "(a#1 = b#5)", T, U), join("Inner", "(a#1 = b#5)", T, U)),
    "LEFT and FULL": (join("LeftOuter", "(a#1 = b#5)", T, U), join("FullOuter", "(a#1 = b#5)", T, U)),
    "the preserved side": (
        under("Project [a#1, c#6]", join("LeftOuter", "(a#1 = b#5)", T, U)),
        under("Project [a#1, c#6]", join("RightOuter", "(a#1 = b#5)", T, U)),
    ),
    "a condition of the left rows in ON": (
        join("LeftOuter", "((a#1 = b#5) AND (b#2 = 1))", T, U),
        under("Filter (b#2 = 1)", join("LeftOuter", "(a#1 = b#5)", T, U)),
    ),
    "a condition of the partners after the join": (
        join("LeftOuter", "((a#1 = b#5) AND (c#6 = 1))", T, U),
        under("Filter (c#6 = 1)", join("LeftOuter", "(a#1 = b#5)", T, U)),
    ),
    "constants of both sides of a FULL JOIN": (
        under(
            "Project [p#8]",
            join(
                "FullOuter",
                "(a#1 = b#5)",
                under("Project [a#1, 1 AS p#8]", T).replace("\n", "\n:  "),
                under("Project [b#5, 1 AS q#9]", U).replace("\n", "\n   "),
            ),
        ),
        under(
            "Project [q#9]",
            join(
                "FullOuter",
                "(a#1 = b#5)",
                under("Project [a#1, 1 AS p#8]", T).replace("\n", "\n:  "),
                under("Project [b#5, 1 AS q#9]", U).replace("\n", "\n   "),
            ),
        ),
    ),
    "a condition before a FULL JOIN and in its ON": (
        join("FullOuter", "((a#1 = b#5) AND (c#6 = 1))", T, U),
        join("FullOuter", "(a#1 = b#5)", T, under("Filter (c#6 = 1)", U).replace("\n", "\n   ")),
    ),
    "isnotnull of a column that may be absent": (
        under("Filter isnotnull(c#6)", join("LeftOuter", "(a#1 = b#5)", T, U)),
        join("LeftOuter", "(a#1 = b#5)", T, U),
    ),
    "semi and anti": (join("LeftSemi", "(a#1 = b#5)", T, U), join("LeftAnti", "(a#1 = b#5)", T, U)),
    "a partner and an inner join": (
        under("Project [a#1]", join("LeftSemi", "(a#1 = b#5)", T, U)),
        under("Project [a#1]", join("Inner", "(a#1 = b#5)", T, U)),
    ),
    "isnotnull that nothing says": (under("Filter isnotnull(b#2)", T), T),
    "isnotnull beside <=>, which NULL may satisfy": (
        under("Filter (isnotnull(a#1) AND (a#1 <=> b#2))", T),
        under("Filter (a#1 <=> b#2)", T),
    ),
    "isnotnull inside OR": (
        under("Filter (isnotnull(a#1) AND ((a#1 = 1) OR (b#2 = 2)))", T),
        under("Filter ((a#1 = 1) OR (b#2 = 2))", T),
    ),
    "isnotnull of what coalesce hides": (
        under("Filter (isnotnull(a#1) AND (coalesce(a#1, 0) = 1))", T),
        under("Filter (coalesce(a#1, 0) = 1)", T),
    ),
    "isnotnull before NOT EXISTS": (
        join("LeftAnti", "(a#1 = b#5)", under("Filter isnotnull(a#1)", T).replace("\n", "\n:  "), U),
        join("LeftAnti", "(a#1 = b#5)", T, U),
    ),
    "groups": (under("Aggregate [a#1, b#2], [a#1, count(1) AS n#9L]", T), under("Aggregate [a#1], [a#1, count(1) AS n#9L]", T)),
    "groups and the one row of all rows": (
        under("Aggregate [a#1], [count(1) AS n#9L]", T),
        under("Aggregate [count(1) AS n#9L]", T),
    ),
    "distinct": (under("Aggregate [sum(distinct a#1) AS s#9L]", T), under("Aggregate [sum(a#1) AS s#9L]", T)),
    "WHERE and HAVING": (
        under("Filter (n#9L > 1)", under("Aggregate [a#1], [a#1, count(1) AS n#9L]", T)),
        under("Aggregate [a#1], [a#1, count(1) AS n#9L]", under("Filter (a#1 > 1)", T)),
    ),
    "a column of a union that two branches define in another way": (
        under(
            "Project [x#7]",
            "Union false, false\n:- Project [a#1 AS x#7, a#1 AS y#8]\n:  +- " + T + "\n+- Project [b#5, c#6]\n   +- " + U,
        ),
        under(
            "Project [y#8]",
            "Union false, false\n:- Project [a#1 AS x#7, a#1 AS y#8]\n:  +- " + T + "\n+- Project [b#5, c#6]\n   +- " + U,
        ),
    ),
    "branches": ("Union false, false\n:- " + T + "\n+- " + U, "Union false, false\n:- " + T + "\n:- " + U + "\n+- " + u(7, 8, 9)),
    "the order of a difference": (under("Project [(a#1 - b#2) AS x#9]", T), under("Project [(b#2 - a#1) AS x#9]", T)),
}
UNEQUAL |= {
    "another subquery": (
        "Filter (a#1 = scalar-subquery#7 [])\n:  +- Aggregate [max(b#5) AS m#9]\n:     +- " + U + "\n+- " + T,
        "Filter (a#1 = scalar-subquery#7 [])\n:  +- Aggregate [min(b#5) AS m#9]\n:     +- " + U + "\n+- " + T,
    ),
    "subqueries the other way round": (two_subqueries("max", "min"), two_subqueries("min", "max")),
}
EQUAL |= {
    "a subquery": (
        "Filter isnotnull(scalar-subquery#7 [])\n:  +- GlobalLimit 1\n:     +- LocalLimit 1\n:        +- Project [1 AS col#6]\n"
        ":           +- " + U + "\n+- " + T,
        "Filter isnotnull(scalar-subquery#70 [])\n:  +- GlobalLimit 1\n:     +- LocalLimit 1\n:        +- Project [1 AS x#60]\n"
        ":           +- " + U + "\n+- " + T,
    ),
}
UNREADABLE = {
    "a list that is cut": under("Project [a#1, ... 3 more fields]", T),
    "a plan that is cut": under("Project [a#1]", "Relation spark_catalog.main.t[a#1,b..."),
    "rows that are not shown": "LocalRelation [a#1]",
    "a table without a name": under("Project [a#1]", "Relation [a#1] parquet"),
    "an operator that is not known": under("Expand [[a#1, 0]], [a#1, g#9]", T),
    "both sides with the same numbers": join("Inner", "(a#1 = b#2)", T, u(1, 2, 3)),
    "the first rows": under("GlobalLimit 1", T),
    "a subquery that depends on the query around": (
        "Filter (a#1 = scalar-subquery#7 [b#2])\n:  +- Aggregate [max(b#5) AS m#9]\n:     +- " + U + "\n+- " + T
    ),
    "a subquery beside what Spark adds to skip partitions": (
        "Filter (dynamicpruning#44 [a#1] AND (a#1 = scalar-subquery#7 []))\n:  :- Project [b#5]\n:  :  +- "
        + U
        + "\n:  +- Aggregate [max(b#15) AS m#9]\n:     +- "
        + u(14, 15, 16)
        + "\n+- "
        + T
    ),
    "an attribute from nowhere": under("Project [z#77]", T),
    "an attribute of another name": under("Project [b#1]", T),
    "a column with the name of a definition": under("Project [x AS y#1]", "Relation spark_catalog.main.t[x AS y#1] parquet"),
    "a NOT of one of two things": under("Filter NOT a#1 IN (b#2,c#3)", T),
    "a NOT of one of two things, with a constant": under("Project [NOT a#1 IN (b#2,true) AS x#9]", T),
    "a list for one of two things": under("Filter if (a#1) b#2 else c#3 IN (a#1,b#2)", T),
    "a month more for one of two things": under("Project [if (a#1) b#2 else c#3 + INTERVAL '1' MONTH AS x#9]", T),
    "a broken tree": "Filter (a#1 > 1)",
    "a line that is not of the tree": under("Project [a#1]", T) + "\nand more",
}


@pytest.mark.parametrize("pair", EQUAL.values(), ids=EQUAL)
def test_equal(pair: tuple[str, str]) -> None:
    first, second = pair
    assert first != second and form(first) == form(second)


@pytest.mark.parametrize("pair", UNEQUAL.values(), ids=UNEQUAL)
def test_unequal(pair: tuple[str, str]) -> None:
    first, second = pair
    assert form(first) != form(second)


@pytest.mark.parametrize("plan", UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable(plan: str) -> None:
    with pytest.raises(Unreadable):
        form(plan)


@pytest.mark.parametrize(
    "expression",
    [
        "NOT a#1 IN (1,2)",
        "NOT a#1 IN (x,b#2)",
        "a#1 IN (b#2,c#3)",
        "(NOT a#1 = b#2)",
        "if (a#1) b#2 else c#3",
        "(if (a#1) b#2 else 1.5 * c#3)",
        "if (NOT (a#1 = 1)) b#2 else cast(c#3 as int)",
    ],
)
def test_brackets_that_are_not_printed_and_not_missed(expression: str) -> None:
    assert expression.partition("#")[0] in form(under(f"Project [{expression} AS x#9]", T)).replace("‹r1.0›", "a#1")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "== Physical Plan ==\nScan",
        "Error occurred during query planning: no",
        "== Optimized Logical Plan ==\norg.apache.spark.sql.AnalysisException: no",
    ],
)
def test_no_plan(reply: str) -> None:
    with pytest.raises(Unreadable):
        normal_form(reply)


@pytest.mark.parametrize(
    "query",
    [
        "select '1' as a, 1 as b from t",
        "select 'null' as a from t",
        "select 'TRUE' as a from t",
        "select 'a AS b' as c from t",
        "select 'a, b' as x, 'b' as y from t",
        "select '(a)' as x from t",
        "select 'x AND y' as x from t",
        "select '[a' as x from t",
        "select 'a\nb' as x from t",
        "select 1L as a, 1 as b from t",
        "select 1.0D as a, 1e0 as b from t",
        "select `a#1` from t",
        "select `a AS b` from t",
        "select `a,b` from t",
        "select 'more...' as x from t",
        "select '‹r1.1›' as x from t",
        "select 'a, 1' as x, 1 as y from t",
        "select 'x",
        "select 'a,b,c,d' as x, 'a,b' as y from t",
        "select 'x ELSE y' as x from t",
        "select a + b as x, try_add(a, b) as y from t",
        "select a[0] as x, get(a, 0) as y from t",
        "select try_to_date(a) as x from t",
    ],
)
def test_literals_and_names_that_a_plan_cannot_show(query: str) -> None:
    with pytest.raises(Unreadable):
        numbers_in_literals("select a from t", query)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hash('1')", "hash(1)"),
        ("hash('-3')", "hash(-3)"),
        ("hash(10)", "hash(1e1BD)"),
        ("length('0x33')", "length(X'33')"),
        ("hash(date '2020-01-01')", "hash('2020-01-01')"),
        ("hash(CAST('2020-01-01' AS DATE))", "hash('2020-01-01')"),
        ("hash(timestamp '2020-01-01 00:00:00')", "hash(timestamp_ntz '2020-01-01 00:00:00')"),
        ("hash('INTERVAL ''3'' DAY')", "hash(interval '3' day)"),
        ("typeof(cast(null as int))", "typeof(null)"),
    ],
)
def test_literals_of_both_queries_count(one: str, other: str) -> None:
    """Where the function around hides the type."""
    with pytest.raises(Unreadable):
        numbers_in_literals(f"select {one} as a from t", f"select {other} as a from t")


def test_literals_of_one_query() -> None:
    assert numbers_in_literals("select '1' as a from t", "select a from t") == frozenset()


@pytest.mark.parametrize(
    "query",
    [
        "select concat(a, ', ', b) as x from t",
        "select a from t where d < date '2020-01-01' - interval '1' year and b = 1",
        "select a from t where b in ('x', 'y z', '') and c like 'x%'",
        "select 1.5 * a as x, 2 as y from t",
        "select try_divide(a, b) as x, try_cast(c as int) as y from t",
        "select concat('a,b', ', ', 'c') as x from t",
        "select date '2020-01-01' as x, cast('2020-01-01' as date) as y from t",
        "select '-a' as x, -3 as y, 1e1BD as z from t",
    ],
)
def test_literals_that_are_clear(query: str) -> None:
    assert numbers_in_literals(query) == frozenset()


def test_a_literal_with_a_number_is_text() -> None:
    """`Brand#45` is no attribute, unless the plan has one of that number."""
    query = "select a from t where b = 'Brand#45'"
    plan = under("Filter (b#2 = Brand#45)", T)
    assert form(plan, query) == form(plan.replace("#1,", "#7,"), query)
    assert form(plan, query) != form(plan.replace("Brand#45", "Brand#46"), query.replace("45", "45 46 #46"))
    with pytest.raises(Unreadable):
        form(plan)
    with pytest.raises(Unreadable):
        form(plan.replace("a#1", "a#45"), query)


def filtered(call: str) -> str:
    return form(under(f"Aggregate [b#2], [b#2, {call} FILTER (WHERE (c#3 > 0)) AS d#9]", T))


def test_a_case_that_filter_makes_true() -> None:
    """FILTER has the same condition, so that nothing else of the CASE is ever read."""
    plain = filtered("max_by(a#1, b#2)")
    assert filtered("max_by(CASE WHEN (c#3 > 0) THEN a#1 END, CASE WHEN (c#3 > 0) THEN b#2 END)") == plain
    assert filtered("max_by(CASE WHEN (c#3 > 1) THEN a#1 END, b#2)") != plain
    assert filtered("max_by(CASE WHEN (c#3 > 0) THEN b#2 END, b#2)") != plain
    assert filtered("max_by(CASE WHEN (c#3 > 0) THEN a#1 ELSE b#2 END, b#2)") != plain
