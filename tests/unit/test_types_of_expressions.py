"""Types that are inferred where sqlglot takes that of an operand and Spark gives another, and keys of type VOID."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from dbt_idivm.algebra.types import infer_type, type_of
from dbt_idivm.compiler import compile_plan
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import lower
from dbt_idivm.support import CATALOG

TYPES = {
    name: type_of(kind)
    for name, kind in {
        "x": "bigint",
        "s": "string",
        "b": "binary",
        "a": "array<int>",
        "p": "decimal(10,2)",
        "d": "double",
        "i": "int",
        "ts": "timestamp",
        "dt": "date",
    }.items()
}


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("left(x, 20)", "string"),
        ("substring(ts, 12, 5)", "string"),
        ("reverse(x)", "string"),
        ("right(s, 2)", "string"),
        ("substring(b, 1)", "binary"),
        ("reverse(a)", "array<int>"),
        ("coalesce(p, d)", "double"),
        ("if(x > 1, p, d)", "double"),
        ("greatest(p, d)", "double"),
        ("case when x > 1 then p else d end", "double"),
        ("case when x > 1 then d else 1 end + 1", "double"),
        ("coalesce(x, s)", "unknown"),
        ("-s", "unknown"),
        ("x + s", "unknown"),
        ("x * '1'", "unknown"),
        ("-left(x, 2)", "unknown"),
        ("coalesce(x, 1)", "bigint"),
        ("coalesce(i, 0)", "int"),
        ("nvl(i, i)", "int"),
        ("if(i = 1, i, null)", "int"),
        ("p * 0.05", "decimal(13,4)"),
        ("p * (i + 1)", "decimal(21,2)"),
        ("case when i > 1 then p else 0 end", "decimal(12,2)"),
        ("if(i = 1, i, cast(1 as tinyint))", "int"),
        ("coalesce(i, x)", "bigint"),
        ("x + 1", "bigint"),
        ("coalesce(s, null)", "string"),
        ("-x", "bigint"),
        ("trunc(dt, 'MM')", "date"),
        ("trunc(ts, 'year')", "date"),
        ("coalesce(trunc(ts, 'year'), dt)", "date"),
        ("date_trunc('hour', dt)", "timestamptz"),
        ("array_position(a, 1)", "bigint"),
        ("concat(a, array(i))", "array<int>"),
        ("concat(a, array(s))", "unknown"),
        ("concat(s, s)", "string"),
        ("if(i = 1, year(dt), cast(1 as smallint))", "int"),
        ("try_divide(p, x)", "decimal(31,23)"),
        ("try_divide(p, 2)", "decimal(14,6)"),
        ("try_divide(i, x)", "double"),
        ("try_divide(p, d)", "double"),
        ("try_divide(s, x)", "unknown"),
        ("try_divide(p, null)", "unknown"),
        ("try_add(i, x)", "bigint"),
        ("try_multiply(p, i)", "decimal(21,2)"),
        ("split_part(s, ',', 1)", "string"),
        ("split_part(x, '0', -1)", "string"),
        ("split_part(collate(s, 'UTF8_LCASE'), ',', 1)", "unknown"),
        ("split_part(s, ',' COLLATE UTF8_LCASE, 1)", "unknown"),
        ("collate(s, 'UTF8_LCASE')", "unknown"),
        ("left(collate(s, 'UTF8_LCASE'), 2)", "unknown"),
        ("coalesce(split_part(s, ',', 1), s)", "string"),
    ],
)
def test_types_are_those_of_spark(expression: str, kind: str) -> None:
    found = infer_type(parse_one(expression, dialect="spark"), TYPES)
    assert found.sql("spark").lower() == type_of(kind).sql("spark").lower()


def test_long_chains_are_typed_once() -> None:
    """Each operand would be typed again at each level."""
    chain = "coalesce(" * 12 + "x" + ", 1)" * 12 + " + 1" * 100
    assert infer_type(parse_one(chain, dialect="spark"), TYPES).this == TYPES["x"].this


@pytest.mark.parametrize(
    ("sql", "refused"),
    [
        ("select id, null as v from orders", False),
        ("select id, null as v from orders union all select -1, null", False),
        ("select page, null as v from clicks", True),
        ("select distinct null as v from orders", True),
        ("select v, count(*) as n from (select null as v, id from orders) group by v", True),
    ],
)
def test_rows_are_not_compared_by_void(sql: str, refused: bool) -> None:
    """Spark's joins match no two NULLs of type VOID: deleted rows stayed in such a view."""
    lowered = lower(sql, CATALOG)
    if not refused:
        assert compile_plan(lowered.root, lowered.output)
        return
    with pytest.raises(IdivmError) as error:
        compile_plan(lowered.root, lowered.output)
    assert error.value.codes == ("IDIVM-218",)
