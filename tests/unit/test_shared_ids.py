"""IDs without a stored column of their own: those that always equal an attribute that has one (ADR 0016)."""

from __future__ import annotations

import pytest

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute


def table(name: str, columns: str, *key: str) -> TableInfo:
    pairs = (column.rsplit(" ", 1) for column in columns.split(", "))
    return TableInfo(name, tuple(Attribute(*pair) for pair in pairs), key, "example")


CATALOG = Catalog(
    {
        each.name: each
        for each in (
            table("o", "id int, cid int, big bigint, word string, d double, w date", "id"),
            table("c", "id int, name string", "id"),
            table("b", "id bigint, name string", "id"),
            table("s", "word string, name string", "word"),
            table("e", "word varchar(9), name string", "word"),
            table("p", "id int, oid int, cid int", "id"),
        )
    }
)


def stored(sql: str) -> list[str]:
    """The hidden columns."""
    lowered = lower(sql, CATALOG)
    plan = compile_plan(lowered.root, lowered.output)
    assert {*plan.root.ids} <= {each.attribute for each in plan.columns} | dict(plan.shared).keys()
    return [each.name for each in plan.columns if each.hidden]


@pytest.mark.parametrize(
    ("sql", "hidden"),
    [
        ("select o.id, o.cid, c.name from o join c on o.cid = c.id", []),
        ("select o.id, c.id as cid, c.name from o join c on o.cid = c.id", []),
        ("select o.id, o.cid, c.name from o, c where c.id <=> o.cid", []),
        ("select o.id, s.name, o.word from o join s on o.word = s.word", []),
        # through another column, that is not shown
        ("select p.id, p.cid, c.name from p join o on p.oid = o.id and o.cid = p.cid join c on c.id = o.cid", ["idivm__o__id"]),
        # two hidden IDs that are equal are one column
        ("select a.name from c a join c b on a.id = b.id", ["idivm__a__id"]),
        # the column that it equals is not stored
        ("select o.id, c.name from o join c on o.cid = c.id", ["idivm__c__id"]),
    ],
)
def test_shared(sql: str, hidden: list[str]) -> None:
    assert stored(sql) == hidden


@pytest.mark.parametrize(
    "sql",
    [
        "select o.id, o.big, c.name from o join c on o.big = c.id",  # another type
        "select o.id, o.word, e.name from o join e on o.word = e.word",
        "select o.id, o.cid + 0 as cid, c.name from o join c on o.cid = c.id",  # computed
        "select o.id, o.cid, c.name from o join c on o.cid >= c.id",
        "select o.id, o.cid, c.name from o join c on o.cid = c.id or o.id = 1",
        "select o.id, o.cid, c.name from o join c on not (o.cid = c.id)",
    ],
)
def test_not_shared(sql: str) -> None:
    assert len(stored(sql)) == 1


def test_branches_of_a_union_are_not_rows_of_one_condition() -> None:
    sql = "select o.id, o.cid, c.id as other from o join c on o.cid = c.id union all select id, id, cid from p"
    lowered = lower(sql, CATALOG)
    assert compile_plan(lowered.root, lowered.output).shared == ()
