"""The columns of a SELECT, whether or not it can be maintained."""

from __future__ import annotations

import pytest

from dbt_idivm.algebra.types import name_of_type
from dbt_idivm.context import Catalog
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.columns import columns_of_query
from dbt_idivm.frontend.lower import lower
from dbt_idivm.support import CATALOG as INPUTS
from dbt_idivm.support import CONSTRUCTS
from tests.unit.test_errors import CATALOG, SQL, table

KNOWN = Catalog(
    {
        info.name: info
        for info in (
            table("main.o", "id bigint, cid bigint, price decimal(10,2), name string, at timestamp, tags array<string>"),
            table("main.c", "id bigint, name string"),
        )
    }
)


def found(sql: str, catalog: Catalog = KNOWN) -> str:
    return ", ".join(f"{each.name} {each.type}" for each in columns_of_query(sql, catalog))


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("select id, rand() as r, current_timestamp() as t from main.o", "id bigint, r double, t timestamp"),
        (
            "select cid, first(name) as f, any_value(price) as a from main.o group by cid",
            "cid bigint, f string, a decimal(10, 2)",
        ),
        ("select last(name) ignore nulls as l, first(id, true) as f from main.o", "l string, f bigint"),
        ("select collect_list(id) as l, collect_set(distinct name) as s from main.o", "l ARRAY<BIGINT>, s ARRAY<STRING>"),
        ("select first(name) filter (where id > 1) as f, f(id) filter (where id > 1) as g from main.o", "f string, g unknown"),
        (
            "select collect_list(id) over (partition by cid) as l, f(id) over (order by id) as f from main.o",
            "l ARRAY<BIGINT>, f unknown",
        ),
        ("select listagg(name) within group (order by price) as l from main.o", "l string"),
        ("select main.margin(first(price)) as m, id from main.o group by id", "m unknown, id bigint"),
        ("select first(f(name)) as m from main.o", "m unknown"),
        ("select cid, sum(rand()) as s from main.o group by all having first(name) > 'a'", "cid bigint, s double"),
        ("select id, row_number() over (partition by cid order by price) as n from main.o", "id bigint, n int"),
        ("select id from main.o where rand() < 0.5 qualify first(id) over (order by rand()) = 1", "id bigint"),
        ("select o.id, c.name from main.o tablesample (5 percent) o left join main.c on rand() < 0.5", "id bigint, name string"),
        (
            "select * except (at, tags) from (select * from main.o order by price limit 3) limit 2",
            "id bigint, cid bigint, price decimal(10, 2), name string",
        ),
        (
            "select id, (select max(name) from main.c where c.id = o.cid) as n from main.o order by price limit 1",
            "id bigint, n string",
        ),
        ("select id, (select name from main.c where c.id = o.cid limit 1) as n from main.o", "id bigint, n unknown"),
        ("select id, name from main.o union all select id, uuid() from main.c limit 3", "id bigint, name unknown"),
        ("select max(id) as m from main.o where id > (select max(id) from main.this)", "m bigint"),
        ("select null as n, id from main.o", "n unknown, id bigint"),
    ],
)
def test_columns_do_not_need_rules(sql: str, columns: str) -> None:
    assert found(sql) == columns


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("with recursive r as (select 1 as n union all select n + 1 from r) select n from r", "IDIVM-214"),
        ("select * from main.nobody", "IDIVM-301"),
        ("select id, from where", "IDIVM-220"),
        ("select idd, rand() as r from main.o", "IDIVM-221"),
        ("select id, rand() as ID from main.o", "IDIVM-224"),
        ("select name, first(id) as f, max(id) as m from main.o", "IDIVM-223"),
        ("select id, x from main.o lateral view json_tuple(name, 'x') t as x", "IDIVM-211"),
        ("select id from main.o union by name select id from main.c", "IDIVM-228"),
    ],
)
def test_what_hides_them_is_told(sql: str, code: str) -> None:
    with pytest.raises(IdivmError) as raised:
        columns_of_query(sql, KNOWN)
    assert raised.value.codes == (code,)


@pytest.mark.parametrize("sql", [each.sql for each in CONSTRUCTS], ids=[each.name for each in CONSTRUCTS])
def test_columns_of_what_is_maintained_are_those_of_its_plan(sql: str) -> None:
    lowered = lower(sql, INPUTS)
    wanted = [(name, name_of_type(lowered.root.types[attribute])) for name, attribute in lowered.output]
    assert [(each.name, each.type) for each in columns_of_query(sql, INPUTS)] == wanted


@pytest.mark.parametrize("code", SQL)
def test_nothing_that_is_refused_breaks_it(code: int) -> None:
    """Columns, or an error with a code."""
    try:
        assert columns_of_query(SQL[code], CATALOG)
    except IdivmError as error:
        assert error.codes
