"""The random views again, their columns and aliases under names that are apt to be taken for something else."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from tests.property.plans import Options, Table
from tests.property.profiles import fewer
from tests.property.strategies import Case, cases
from tests.property.test_equivalence import check

# What the planner itself calls attributes, sources, hidden columns and WITH queries is among them.
NAMES = (
    "count",
    "sum",
    "any_x",
    "any",
    "x",
    "count__rows",
    "sum__x__y",
    "rows",
    "any_x__k",
    "x__k",
    "t0__k",
    "a__k",
    "v",
    "v__x",
    "d",
    "r",
    "c1",
    "z",
    "net",
    "keys",
    "one",
    "old_rows",
    "new_rows",
    "changed",
    "named",
    "feed",
    "branch",
    "d_ins__a",
    "v_upd__a",
    "idivm_op",
    "idivm_sign",
    "idivm_weight",
    "idivm_class",
    "idivm_hit",
    "idivm__v__x",
    "idivm__count__rows",
    "cache_1",
    "cache_1__k",
    "cache_2",
    "select",
    "order",
    "table",
    "null",
    "true",
    "end",
    "1st",
    "1e5",
    "MiXeD",
    "a.b",
    "a`b",
    'a"b',
    "a'b",
    "--",
    "/*",
    "*/",
    ";",
    " ",
    "a b",
    "é",
    "e\u0301",
    "🎉",
    "#x",
    "${x}",
    "{{ x }}",
    "%s",
    "?",
    "\\",
    "a\nb",
    "a\tb",
    "(",
    "[a]",
    "x" * 255,
)


@st.composite
def renamed(draw: st.DrawFn, *, additive: bool) -> Case:
    """A random case under other names, each for one of its own."""
    case = draw(cases(additive=additive))
    tree = sqlglot.parse_one(case.sql, read="spark")
    tables = {id(table.this) for table in tree.find_all(exp.Table) if _is_base(table, case)}
    found = [each for each in tree.find_all(exp.Identifier) if id(each) not in tables]
    known = dict.fromkeys([*(name for table in case.tables for name in table.names), *(each.name for each in found)])
    names = dict(zip(known, draw(st.permutations(NAMES)), strict=False))
    for each in found:
        each.set("this", names[each.name])
        each.set("quoted", True)
    return replace(case, sql=tree.sql("spark"), tables=tuple(_renamed(table, names) for table in case.tables))


def _is_base(table: exp.Table, case: Case) -> bool:
    return table.name in {each.name for each in case.tables}


def _renamed(table: Table, names: dict[str, str]) -> Table:
    columns = tuple((names[name], kind) for name, kind in table.columns)
    return Table(table.name, columns, table.key and tuple(names[name] for name in table.key))


@pytest.mark.parametrize(
    "options",
    [
        Options(),
        Options(feed=True),
        Options(optimised=False, additive=False),
        pytest.param(Options(everywhere=True), marks=pytest.mark.long),
    ],
    ids=["optimised", "feed", "naive", "caches"],
)
@fewer
@given(case=renamed(additive=False) | renamed(additive=True))
def test_names_mean_nothing(options: Options, case: Case) -> None:
    check(case, options)
