"""What is read of a VARIANT is a column of the scan; whatever else would need its value is refused."""

from __future__ import annotations

import pytest

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute, Scan, scans
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import full_query

COLUMNS = tuple(Attribute(*pair) for pair in (("id", "int"), ("x", "int"), ("v", "variant"), ("a", "array<variant>")))
CATALOG = Catalog(
    {
        "t": TableInfo("t", COLUMNS, ("id",), "test"),
        "u": TableInfo("u", COLUMNS, ("id",), "test"),
        "bag": TableInfo("bag", COLUMNS, None, ""),
    }
)
A, B = "try_variant_get(v, '$.a', 'int')", "variant_get(v, '$.b', 'string')"


def plan(sql: str) -> Plan:
    lowered = lower(sql, CATALOG)
    return compile_plan(lowered.root, lowered.output)


def computed(sql: str) -> list[tuple[str, str]]:
    """The columns that scans compute, with their types. None reads the VARIANT itself."""
    found = plan(sql)
    assert not any(each.type == "variant" for scan in found.scans for each in scan.base_columns)
    return [(each.definition.sql("spark"), each.type) for scan in found.scans for each in scan.computed if each.definition]


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("TRY_VARIANT_GET(v, '$.a', 'int')", "int"),
        ("TRY_VARIANT_GET(v, '$', 'decimal(12,2)')", "decimal(12, 2)"),
        ("VARIANT_GET(v, '$.b', 'string')", "string"),
        ("IS_VARIANT_NULL(v)", "boolean"),
        ("SCHEMA_OF_VARIANT(v)", "string"),
        ("TO_JSON(v)", "string"),
        ("CAST(v AS STRING)", "string"),
        ("v IS NULL", "boolean"),
    ],
)
def test_what_can_be_computed_at_the_scan(expression: str, kind: str) -> None:
    assert computed(f"select id, {expression} as c from t") == [(expression, kind)]
    assert computed(f"select {expression} as c, count(*) as n from bag group by 1") == [(expression, kind)]


@pytest.mark.parametrize(
    ("sql", "number"),
    [
        (f"select id, {A} + 1 as a, {A} as b, {B} as c from t where {A} > 1 and v is not null", 3),
        (f"select id, {A} as a from (select id, v from (select id, v as w, x from t) s(id, v, y)) q", 1),
        (
            "with c as (select id, x, v from t where x > 1) select c.id, try_variant_get(c.v, '$.a', 'int') as a from c join u "
            "on c.id = u.x",
            1,
        ),
        ("select t.id, try_variant_get(u.v, '$.a', 'int') as a from t join u on try_variant_get(t.v, '$.a', 'int') = u.x", 2),
        ("select t.id, try_variant_get(t.v, '$.a', 'int') as a from t left join u on t.id = try_variant_get(u.v, '$', 'int')", 2),
        ("select id from t where exists (select 1 from u where u.x = try_variant_get(t.v, '$.a', 'int') and u.v is null)", 2),
        (f"select {A} as a, sum(try_variant_get(v, '$.n', 'decimal(12,2)')) as s from t group by {A}", 2),
        ("select id, try_variant_get(v, '$.a', 'int') as a, try_variant_get(v, '$.A', 'int') as b from t", 2),
        (f"select id, {A} as a, rank() over (partition by {B} order by x) as n from t", 2),
        (f"select id, {A} as a from (select *, row_number() over (partition by x order by id) as n from t) q where n = 1", 1),
        ("select l.id, try_variant_get(r.v, '$.a', 'int') as a from t l join t r on l.x = r.id and l.v is not null", 2),
    ],
)
def test_where_it_may_be_used(sql: str, number: int) -> None:
    assert len(computed(sql)) == number


@pytest.mark.parametrize(
    "sql",
    [
        "select id, v from t",
        "select id, variant_get(v, '$.a', 'int') as a from t",
        "select id, cast(v as int) as a from t",
        "select id, variant_get(v, '$.a') as a from t",
        "select id, try_variant_get(v, '$.a', 'variant') as a from t",
        "select id, try_variant_get(v, '$.a', 'array<int>') as a from t",
        "select id, try_variant_get(v, '$.a', 'decimal') as a from t",
        "select id, try_variant_get(v, concat('$.', x), 'int') as a from t",
        "select id, size(a) as n from t",
        "select t.id, try_variant_get(u.v, '$.a', 'int') as a from t left join u on t.id = u.id",
        "select id, v is null as a from (select id, v from t union all select id, v from u) q",
        "select distinct v from t",
        "select max(v) as m from t",
        "select t.id from t join u on t.v = u.v",
        "select id, v is null as a, v from t",
        "select v, count(*) as n from t group by v",
    ],
)
def test_what_stays_refused(sql: str) -> None:
    with pytest.raises(IdivmError) as error:
        lower(sql, CATALOG)
    assert set(error.value.codes) == {"IDIVM-218"} and error.value.is_refusal


def test_what_is_stored_is_the_query() -> None:
    found = full_query(plan(f"select id, {A} as a from t where {B} = 'x'"), Binding())
    assert " ".join(found.sql("spark").split()) == (
        "SELECT t.id, TRY_VARIANT_GET(t.v, '$.a', 'int') AS a FROM t AS t WHERE VARIANT_GET(t.v, '$.b', 'string') = 'x'"
    )


def test_the_names_of_columns_are_taken_once() -> None:
    catalog = Catalog({"t": TableInfo("t", (*COLUMNS, Attribute("v_is_null", "int")), ("id",), "test")})
    lowered = lower("select id, v_is_null, v is null as b from t", catalog)
    (scan,) = scans(lowered.root)
    assert isinstance(scan, Scan) and len({each.name.lower() for each in scan.attributes}) == len(scan.attributes)
