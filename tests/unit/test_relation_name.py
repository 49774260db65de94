"""Names of relations: one text each, which can be split again, whatever the parts are."""

from __future__ import annotations

import pytest
import sqlglot
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from dbt_idivm.frontend.tables import tables_in
from dbt_idivm.refresh.catalog.state import Consumed, State, read
from dbt_idivm.relation_name import as_named, name_parts, relation_name, with_suffix
from dbt_idivm.script.dialect import DELTA

PART = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12) | st.sampled_from(
    ["`", "``", ".", "a.b", "a`b", " ", "select", "1e5", "a;b", "--", "/*", "{{ x }}", "${x}", "/p/My Tab", "É", "e\u0301", "🎉"]
)


def folded(part: str) -> str:
    return part if "/" in part else part.lower()


@settings(deadline=None)  # of a loaded machine
@given(st.lists(PART, min_size=1, max_size=3))
@example(["main", "orders"])
def test_a_name_comes_apart_again(parts: list[str]) -> None:
    name = relation_name(*parts)
    assert name_parts(name) == tuple(map(folded, parts))
    assert as_named(name) == name
    assert name_parts(with_suffix(name, "__x"))[-1] == folded(parts[-1]) + "__x"


@settings(deadline=None)  # of a loaded machine
@given(st.lists(PART, min_size=1, max_size=3))
def test_a_name_survives_sql(parts: list[str]) -> None:
    """Written into SQL and read again it is the same relation, and nothing but a relation."""
    name = relation_name(*parts)
    query = sqlglot.parse_one(f"SELECT 1 FROM {DELTA.relation_sql(name)}", read="spark")
    assert tables_in(f"select 1 from {DELTA.relation_sql(name)}") == (name,)
    assert len(list(query.find_all(exp.Table))) == 1 and len(query.args) >= 2


@settings(deadline=None)  # of a loaded machine
@given(st.lists(PART, min_size=1, max_size=3), st.text())
def test_a_name_survives_the_state(parts: list[str], run: str) -> None:
    name = relation_name(*parts)
    state = State({name: Consumed(name, 3, "2026-01-01")}, {"sql": "x"}, run=run)
    assert read(state.json() + " /* a comment */") == state
    assert state.json().isascii() and "\n" not in state.json()


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("main.orders", "main.orders"),
        ("`Main`.Orders", "main.orders"),
        ("spark_catalog.`main`.`o`", "spark_catalog.main.o"),
        ("shop.my orders", "shop.`my orders`"),
        ("delta.`/data/My Tab.le`", "delta.`/data/My Tab.le`"),
    ],
)
def test_as_people_write_them(written: str, name: str) -> None:
    assert as_named(written) == name


def test_dots_in_parts_make_other_names() -> None:
    assert relation_name("a.b", "c") != relation_name("a", "b.c")
