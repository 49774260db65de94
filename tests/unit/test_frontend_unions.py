"""The branches of UNION are cast to its types, which Spark is asked for, before any rule sees them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog, TableInfo, UnionTypes
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.coercion import answers, question
from dbt_idivm.frontend.lower import Lowered, lower
from dbt_idivm.operators.scan import Attribute

CATALOG = Catalog(
    {
        name: TableInfo(name, tuple(Attribute(*column) for column in columns), ("k",))
        for name, columns in {
            "s.a": (("k", "int"), ("q", "int"), ("t", "varchar(3)")),
            "s.b": (("k", "int"), ("p", "decimal(10,2)"), ("t", "string")),
            "s.c": (("k", "string"), ("p", "decimal(10,2)"), ("t", "string")),
        }.items()
    }
)
MIXED = "SELECT k, q AS x FROM s.a UNION ALL SELECT k, p FROM s.b"


def typed(sql: str, *unions: UnionTypes) -> Lowered:
    return lower(sql, replace(CATALOG, unions=dict(enumerate(unions, 1))))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, t FROM s.a UNION ALL SELECT k, t FROM s.b",
        "SELECT k, CAST(q AS STRING) AS x FROM s.a UNION ALL SELECT k, 'x' FROM s.b",
        "SELECT k, count(*) AS n, max(p) AS m FROM s.b GROUP BY k "
        "UNION ALL SELECT k, CAST(q AS BIGINT), CAST(1 AS DECIMAL(10,2)) FROM s.a",
        "SELECT 1 AS x, NULL AS y, true AS z FROM s.a UNION SELECT 2, NULL, false FROM s.b",
    ],
)
def test_nobody_is_asked_where_the_types_are_beyond_doubt_and_the_same(sql: str) -> None:
    assert not lower(sql, CATALOG).untyped_unions


def test_a_union_whose_types_are_still_to_be_asked_for_may_be_tested_by_in() -> None:
    sql = f"SELECT k FROM ({MIXED}) u WHERE x IN (SELECT p FROM s.b)"
    assert list(lower(sql, CATALOG).untyped_unions) == [1]
    decimal = ("int", "decimal(12,2)")
    unions = UnionTypes((("int", "int"), ("int", "decimal(10,2)")), decimal, (decimal,))
    assert not typed(sql, unions).untyped_unions
    with pytest.raises(IdivmError, match="IDIVM-208"):
        typed(sql.replace("SELECT p FROM s.b", "SELECT t FROM s.b"), unions)


@pytest.mark.parametrize(
    "sql",
    [
        MIXED,
        "SELECT k FROM s.a UNION SELECT k FROM s.c",
        "SELECT p + 1 AS x FROM s.b UNION ALL SELECT p + k FROM s.b",  # what Spark makes of a sum of decimals is for Spark to say
        "SELECT q AS x FROM s.a UNION ALL SELECT 3000000000 FROM s.b",
        "SELECT q AS x FROM s.a UNION ALL SELECT NULL FROM s.b",
        "SELECT sum(p) AS x FROM s.b UNION ALL SELECT sum(p) FROM s.c",
    ],
)
def test_else_the_types_are_asked_for(sql: str) -> None:
    assert list(lower(sql, CATALOG).untyped_unions) == [1]


def test_the_types_of_all_unions_are_one_question() -> None:
    sql = f"SELECT x FROM ({MIXED}) AS u UNION ALL SELECT p FROM s.c"
    unions = tuple(lower(sql, CATALOG).untyped_unions.values())
    width = len(question(unions).columns)
    assert width == 2 * 3 + 1 * 3
    found = answers(unions, [str(number) for number in range(width)])
    assert found == [UnionTypes((("0", "1"), ("2", "3")), ("4", "5")), UnionTypes((("6",), ("7",)), ("8",))]


def test_texts_are_one_type_before_anybody_is_asked() -> None:
    """IN takes no unknown type: a literal and a cast are both texts."""
    sql = "SELECT v.s FROM VALUES ('a'), (CAST(NULL AS STRING)) AS v(s) WHERE v.s IN (SELECT t FROM s.b)"
    assert lower(sql, CATALOG).output == (("s", "v__col1"),)


@pytest.mark.parametrize("sql", ["VALUES (1, 'a'), (2, 'b')", "SELECT * FROM VALUES (1), (2) AS t(x)", "VALUES (-1)"])
def test_nobody_is_asked_for_rows_of_the_same_types(sql: str) -> None:
    assert not lower(sql, CATALOG).untyped_unions


def test_rows_of_values_are_cast_at_once() -> None:
    """Of UNIONs in a row the left one is cast first, to a type that not all of its values need to survive."""
    sql = "VALUES (1), (1.5), (2.5D)"
    unions = tuple(lower(sql, CATALOG).untyped_unions.values())
    width = len(question(unions).columns)
    assert width == 3 + 1
    (types,) = answers(unions, ["int", "decimal(2,1)", "double", "double"])
    assert types == UnionTypes((("int",), ("decimal(2,1)",), ("double",)), ("double",))
    assert [part.label().split(" → ")[-2].split(", ")[-1] for part in typed(sql, types).root.inputs][:2] == [
        "CAST(values_0__col1 AS DOUBLE)",
        "CAST(values_1__col1 AS DOUBLE)",
    ]


def test_a_branch_of_another_type_is_cast_below_the_union() -> None:
    found = typed(MIXED, UnionTypes((("int", "int"), ("int", "decimal(10,2)")), ("int", "decimal(12,2)")))
    assert [part.label() for part in found.root.inputs] == [
        "π a__k, a__q, a__t, CAST(a__q AS DECIMAL(12, 2)) → v__a__q_as_decimal_12_2",
        "π b__k, b__p, b__t, CAST(b__p AS DECIMAL(12, 2)) → v__b__p_as_decimal_12_2",
    ]


def test_an_id_that_is_cast_goes_on_as_it_is() -> None:
    found = typed("SELECT k FROM s.a UNION ALL SELECT k FROM s.c", UnionTypes((("int",), ("string",)), ("bigint",)))
    plan = compile_plan(found.root, found.output)
    assert plan.root.ids == ("v__branch", "v__0__a__k", "v__1__c__k")


def test_a_type_that_no_cast_can_name_is_refused() -> None:
    long = "struct<a:int,... 30 more fields>"
    with pytest.raises(IdivmError) as error:
        typed("SELECT q AS x FROM s.a UNION ALL SELECT p FROM s.b", UnionTypes((("int",), (long,)), (long,)))
    assert error.value.codes == ("IDIVM-228",)
