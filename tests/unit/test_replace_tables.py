"""Tables are exchanged in place: every other character of the user's SQL stays."""

import pytest

from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.replace_tables import replace_tables


def versioned(sql: str) -> str:
    return replace_tables(sql, lambda name, table: f"{name} VERSION AS OF 3")


@pytest.mark.parametrize(
    "sql, expected",
    [
        ("select log10(x), 'it''s' -- s.t\nfrom S.T", "select log10(x), 'it''s' -- s.t\nfrom s.t VERSION AS OF 3"),
        ("select `s.t` from `s`.`t` as t", "select `s.t` from s.t VERSION AS OF 3 as t"),
        ("with t as (select 1 from s.u) select * from t", "with t as (select 1 from s.u VERSION AS OF 3) select * from t"),
        (
            "select * from s.a a, s.a b where exists (select 1 from s.c)",
            "select * from s.a VERSION AS OF 3 a, s.a VERSION AS OF 3 b where exists (select 1 from s.c VERSION AS OF 3)",
        ),
    ],
)
def test_only_tables_change(sql: str, expected: str) -> None:
    assert versioned(sql) == expected


def test_a_reference_can_be_left() -> None:
    found = replace_tables("select 1 from s.a join s.b", lambda name, _: "x" if name == "s.b" else None)
    assert found == "select 1 from s.a join x"


def test_columns_of_a_derived_table_have_no_schema() -> None:
    sql = "select `s`.v.id, c.S.V.a.b, s.v.*, s.t.id, v.id, s.v from c.s.v join s.t on s.v.id = (select s.v.id from s)"
    found = replace_tables(sql, lambda name, _: "(q) as v" if name.endswith("v") else name, lambda name, _: name.endswith("v"))
    assert found == "select v.id, V.a.b, v.*, s.t.id, v.id, s.v from (q) as v join s.t on v.id = (select v.id from s)"
    sql = "select s.v.id from (select a as s from b.t) where exists (select s.v.id from s.v)"
    found = replace_tables(sql, lambda name, _: "(q) as v" if name == "s.v" else None, lambda *_: True)
    assert found == "select s.v.id from (select a as s from b.t) where exists (select v.id from (q) as v)"


def test_what_does_not_parse_is_refused() -> None:
    with pytest.raises(IdivmError, match="IDIVM-220"):
        versioned("select from where")
