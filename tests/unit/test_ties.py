"""Tied rows: by what they are ordered, which orders stay as they are, and what a refresh, its proof and its test do."""

from __future__ import annotations

import pytest

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog, PlainView, TableInfo
from dbt_idivm.errors import IdivmError
from dbt_idivm.explain import explain, maintained
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.ties import completed_query, ties
from dbt_idivm.verify import equivalence
from tests.unit.fake_engine import FakeEngine, model


def table(name: str, key: tuple[str, ...] | None, **types: str) -> TableInfo:
    return TableInfo(name, tuple(Attribute(*each) for each in types.items()), key)


CATALOG = Catalog(
    {
        "t": table("t", ("k",), k="int", x="int", d="date", v="int"),
        "two": table("two", ("x", "n"), x="int", n="int", d="date"),
        "bag": table("bag", None, x="int", d="date", f="double"),
        "mapped": table("mapped", None, x="int", m="map<string,int>"),
        "keyed_map": table("keyed_map", ("k",), k="int", x="int", m="map<string,int>"),
        "cut": table("cut", None, x="int", s="struct<a:int,... 3 more fields>"),
    },
    {"w": PlainView("SELECT k, row_number() OVER (PARTITION BY x ORDER BY d) AS n FROM t")},
)


def planned(sql: str) -> Plan:
    names = {name for name in CATALOG.tables if f" {name}" in sql} | {"t"}
    found = lower(sql, Catalog({name: CATALOG.tables[name] for name in names}, CATALOG.views))
    return compile_plan(found.root, found.output)


def broken(sql: str) -> list[tuple[str, ...]]:
    return [names for _, names in ties(planned(sql))]


@pytest.mark.parametrize(
    ("sql", "by"),
    [
        ("SELECT k, row_number() OVER (ORDER BY d) AS n FROM t", [("t__k",)]),
        ("SELECT k, row_number() OVER (ORDER BY d, k) AS n FROM t", []),
        ("SELECT n, row_number() OVER (PARTITION BY x ORDER BY d) AS r FROM two", [("two__n",)]),
        ("SELECT k, rank() OVER (ORDER BY d) AS n, sum(v) OVER (ORDER BY d) AS s FROM t", []),
        ("SELECT k, sum(v) OVER (ORDER BY d ROWS 1 PRECEDING) AS s FROM t", [("t__k",)]),
        ("SELECT k, rank() OVER w AS r, lag(v) OVER w AS l FROM t WINDOW w AS (ORDER BY d)", [("t__k",)]),
        ("SELECT x, d, row_number() OVER (ORDER BY d) AS n FROM bag", [("bag__x", "v__cast_f_as_string")]),
        ("SELECT k, row_number() OVER (ORDER BY x) AS n FROM keyed_map", [("keyed_map__k",)]),
        ("SELECT x, d FROM t ORDER BY d LIMIT 3", [("t__k",)]),
        ("SELECT k, n FROM w WHERE n > 1", [("t__k",)]),
        ("SELECT row_number() OVER (ORDER BY d) AS n FROM bag", []),  # which row has which number does not matter
        ("SELECT k, first_value(v) OVER (PARTITION BY x ORDER BY d) AS v FROM t", [("t__k",)]),
        ("SELECT k, last_value(v) OVER (ORDER BY d RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS v FROM t", [("t__k",)]),
    ],
)
def test_by_what_ties_are_broken(sql: str, by: list[tuple[str, ...]]) -> None:
    assert broken(sql) == by


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT k, last_value(v) OVER (ORDER BY d) AS v FROM t", "only a frame by ROWS breaks such ties"),
        ("SELECT x, row_number() OVER (ORDER BY x % 2) AS n FROM mapped", "m of its rows has the type MAP<STRING, INT>"),
        ("SELECT x, row_number() OVER (ORDER BY x % 2) AS n FROM cut", "s of its rows has the type OBJECT"),
        ("SELECT k, first_value(v) IGNORE NULLS OVER (ORDER BY d) AS v FROM t", "only a frame by ROWS breaks such ties"),
    ],
)
def test_what_cannot_be_broken(sql: str, why: str) -> None:
    with pytest.raises(IdivmError) as caught:
        planned(sql)
    assert caught.value.codes == ("IDIVM-203",) and why in caught.value.findings[0].why


def test_explain_says_it() -> None:
    plan = planned("SELECT v FROM (SELECT v, row_number() OVER (PARTITION BY x ORDER BY d) AS n FROM t) WHERE n = 1")
    assert "ROW_NUMBER(): rows that its ORDER BY does not distinguish are ordered by t__k" in explain(plan)
    assert maintained(plan) == "by ranking changed and stored rows (topk); tied rows by k"


def test_the_completed_query() -> None:
    query = completed_query(planned("SELECT v, row_number() OVER (ORDER BY d) AS n FROM t"), Binding())
    assert query is not None and "ORDER BY t.d, t.k" in " ".join(DELTA.sql(query).split())
    assert completed_query(planned("SELECT v, row_number() OVER (ORDER BY k) AS n FROM t"), Binding()) is None


SQL = "select id, row_number() over (partition by name order by name) as n from main.o"


def test_a_key_that_is_declared_later(engine: FakeEngine) -> None:
    """It breaks ties in another way, so the view is rebuilt."""
    assert engine.drive(model(SQL)).mode == "create"
    again = engine.drive(model(SQL, {"o": "id"}))
    assert again.mode == "full" and "IDIVM-402" in (again.reason or "")
    assert engine.drive(model(SQL, {"o": "id"})).mode == "noop"


def test_the_equivalence_test_has_the_completed_order(engine: FakeEngine) -> None:
    engine.drive(model(SQL, {"o": "id"}))
    assert "ORDER BY `partitions`.o__name, `partitions`.o__id" in " ".join(engine.ask(equivalence("main", "v")).split())
    engine.drive(model("select id, rank() over (order by name) as n from main.o", {"o": "id"}))
    assert "o.id)" not in " ".join(engine.ask(equivalence("main", "v")).split())


def test_the_proof_has_the_order_of_the_user(engine: FakeEngine) -> None:
    engine.drive(model(SQL, {"o": "id"}))
    asked = [" ".join(each.sql.split()) for each in engine.log if each.label == "plan of the planned query"]
    assert asked and all("ORDER BY `partitions`.o__name)" in each for each in asked)
    built = [" ".join(each.sql.split()) for each in engine.log if "CREATE" in each.sql]
    assert any("ORDER BY `partitions`.o__name, `partitions`.o__id" in each for each in built)


@pytest.mark.parametrize("setting", [{"ties": "rebuild"}, {"output": "diffs"}])
def test_where_ties_are_refused(engine: FakeEngine, setting: dict[str, str]) -> None:
    request = model(SQL, {"o": "id"}, on_unsupported="error", **setting)
    with pytest.raises(IdivmError) as caught:
        engine.drive(request)
    assert caught.value.codes == ("IDIVM-203",) and "`ties: rebuild`" in caught.value.findings[0].why
