"""Columns that cannot be compared are refused wherever a maintained view would have to: in its inputs' rows and in its own."""

from __future__ import annotations

import pytest

from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute

COLUMNS = tuple(
    Attribute(*pair)
    for pair in (
        ("id", "int"),
        ("m", "map<string,int>"),
        ("v", "variant"),
        ("a", "array<map<string,int>>"),
        ("s", "struct<x:int>"),
        ("ms", "map<struct<x:int>,int>"),
    )
)
CATALOG = Catalog({"t": TableInfo("t", COLUMNS, ("id",), "test"), "bag": TableInfo("bag", COLUMNS, None, "")})


@pytest.mark.parametrize(
    "sql",
    [
        "select id, v from t",
        "select id, ms from t",
        "select id, array(map(s, id)) as made from t",
        "select m from bag",
        "select t.id from t join bag on t.id = bag.id where bag.m['a'] > 1",
        "select m, count(*) as n from t group by m",
        "select distinct m from t",
        "select t.id from t join t as u on t.m = u.m",
        "select max(m) as x from t",
        "select m from t intersect select m from t",
        "select id, map(cast(id as binary), id) as made from t",
    ],
)
def test_refused(sql: str) -> None:
    with pytest.raises(IdivmError) as error:
        lower(sql, CATALOG)
    assert set(error.value.codes) == {"IDIVM-218"} and error.value.is_refusal
    assert len(error.value.codes) == 1, "each column once"


@pytest.mark.parametrize(
    "sql",
    [
        "select id, m from t",
        "select id from t where m['a'] = 1",
        "select id, a[0]['x'] as x from t",
        "select id, map('a', id) as made from t",
        "select count(*) as n from t where m is not null",
        "select m from t",
    ],
)
def test_maps_whose_keys_are_scalars_are_carried(sql: str) -> None:
    """What is written of them distinguishes them."""
    lower(sql, CATALOG)


@pytest.mark.parametrize("sql", ["select id, s from t", "select s.x, count(*) as n from bag group by s.x"])
def test_what_is_not_read_does_not_matter(sql: str) -> None:
    lower(sql, CATALOG)
