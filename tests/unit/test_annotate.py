"""What the annotating pass finds: keys without what they determine, dependencies, NULLs, provenance, screens."""

from __future__ import annotations

import pytest

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Caching, Catalog, TableInfo
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.passes.annotate import Annotated, Facts


def table(name: str, columns: str, *key: str) -> TableInfo:
    return TableInfo(name, tuple(Attribute(*each.split(" ", 1)) for each in columns.split(", ")), key or None)


CATALOG = Catalog(
    {
        info.name: info
        for info in (
            table("orders", "id int, cid int, price int, note string", "id"),
            table("customers", "id int, name string, country string", "id"),
            table("lines", "oid int, n int, pid int", "oid", "n"),
            table("log", "cid int, line string"),
        )
    }
)


def annotated(sql: str) -> Annotated:
    found = lower(sql, CATALOG)
    return compile_plan(found.root, found.output, caching=Caching("none")).annotated


def facts(sql: str) -> Facts:
    return annotated(sql).facts


@pytest.mark.parametrize(
    "sql, ids, key",
    [
        ("select id, price from orders", {"orders__id"}, {"orders__id"}),
        # an order determines its customer
        ("select o.id, c.name from orders o join customers c on o.cid = c.id", {"o__id", "c__id"}, {"o__id"}),
        (
            "select l.n, c.name from lines l join orders o on l.oid = o.id join customers c on o.cid = c.id",
            {"l__oid", "l__n", "o__id", "c__id"},
            {"l__oid", "l__n"},
        ),
        # but not by an inequality, and not an order by its customer
        ("select o.id, c.name from orders o join customers c on o.cid < c.id", {"o__id", "c__id"}, {"o__id", "c__id"}),
        # a constant is determined by nothing
        ("select o.id, c.name from orders o join customers c on c.id = 7", {"o__id", "c__id"}, {"o__id"}),
        ("select cid, sum(price) as s from orders group by cid", {"orders__cid"}, {"orders__cid"}),
        ("select id from customers c where exists (select 1 from orders o where o.cid = c.id)", {"c__id"}, {"c__id"}),
        # what holds in one branch of ∪ does not hold in the other
        ("select id, cid from orders union all select id, id from customers", {"v__branch", "v__id"}, {"v__branch", "v__id"}),
        ("select line from log", {"log__line"}, None),
        ("select count(*) as n from orders", set(), set()),
    ],
)
def test_keys(sql: str, ids: set[str], key: set[str] | None) -> None:
    found = facts(sql)
    assert set(found.ids) == ids
    assert (None if found.key is None else set(found.key)) == key
    assert found.unique == (key is not None)
    assert set(found.naming) == ids


@pytest.mark.parametrize(
    "sql, never_null",
    [
        ("select id, price from orders where price > 3", {"orders__price"}),
        ("select id, price from orders where price is not null and note <=> 'x'", {"orders__price"}),
        ("select id, price from orders where price > 3 or id = 1", set()),
        ("select o.id, o.cid from orders o join customers c on o.cid = c.id", {"o__cid", "c__id"}),
        (
            "select cid, 1 as one, count(note) as n, min(note) as m from orders where cid > 0 group by cid",
            {"orders__cid", "v__one", "v__n"},
        ),
        ("select id from customers c where not exists (select 1 from orders o where o.cid = c.id)", set()),
        ("select posexplode(split(note, ',')) as (n, part) from orders where id > 0", {"orders__id", "v__pos"}),
        # a row without elements
        ("select posexplode_outer(split(note, ',')) as (n, part) from orders where id > 0", {"orders__id"}),
        # an ID that one branch lacks
        (
            "select cid from orders where id > 0 and cid > 0 union all select id from customers where id > 0",
            {"v__branch", "v__cid"},
        ),
    ],
)
def test_nulls(sql: str, never_null: set[str]) -> None:
    found = facts(sql)
    assert set(found.node.columns) - found.nullable == never_null


@pytest.mark.parametrize(
    "sql, attribute, columns",
    [
        ("select o.id as i, c.name from orders o join customers c on o.cid = c.id", "c__name", ["c.name"]),
        ("select price + 1 as p, id from orders", "v__p", []),
        ("select cid, sum(price) as s from orders group by cid", "orders__cid", ["orders.cid"]),
        ("select cid, sum(price) as s from orders group by cid", "v__s", []),
        ("select id, cid from orders union all select id, id from customers", "v__cid", ["customers.id", "orders.cid"]),
        ("select id, cid from orders union all select id, 1 from customers", "v__cid", []),
    ],
)
def test_provenance(sql: str, attribute: str, columns: list[str]) -> None:
    assert [str(each) for each in facts(sql).provenance[attribute]] == columns


def test_every_operator_has_its_facts() -> None:
    found = facts("select c.id, sum(o.price) as s from orders o join customers c on o.cid = c.id where o.price > 1 group by c.id")
    assert [type(each.node).__name__ for each in found] == ["Scan", "Scan", "Join", "Select", "Aggregate", "Project"]
    assert [each.key for each in found] == [("o__id",), ("c__id",), ("o__id",), ("o__id",), ("c__id",), ("c__id",)]
    assert all(set(each.naming) <= set(each.node.columns) and set(each.provenance) == set(each.node.columns) for each in found)


def test_screens_are_of_the_side_that_the_operator_says() -> None:
    found = annotated(
        "select id from customers c where country = 'nl' and not exists "
        "(select 1 from orders o where o.cid = c.id and o.price > 3)"
    ).screens
    assert {name: [each.sql() for each in conditions] for name, conditions in found.items()} == {
        "c": ["c__country = 'nl'"],
        "o": ["o__price > 3"],
    }
