"""Which text of a package has written what Spark does not read."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_idivm.context import Catalog
from dbt_idivm.errors import IdivmError, Place, finding
from dbt_idivm.frontend.lower import lower
from dbt_idivm.macro_sources import with_sources
from dbt_idivm.project import Project
from dbt_idivm.refresh.engine.steps import EngineFailure
from dbt_idivm.refresh.protocol import EngineError, Statement
from tests.unit.test_project import ORDERS, Node, manifest, model

SQL = "select id,\n  payload:a.b as field,\n  1 as one\nfrom raw.orders"


def macro(name: str, text: str, *calls: str, package: str = "shop_utils") -> Node:
    return {
        "name": name,
        "package_name": package,
        "original_file_path": f"macros/{name}.sql",
        "macro_sql": text,
        "depends_on": {"macros": list(calls)},
    }


MACROS = {
    "macro.shop_utils.field": macro(
        "field", "{{ return(adapter.dispatch('field')(c, path)) }}", "macro.shop_utils.default__field"
    ),
    "macro.shop_utils.default__field": macro(
        "default__field", "{% macro default__field(c, path) %}\n  {{ c }}:a.b as\n{% endmacro %}"
    ),
    "macro.shop_utils.other": macro("other", "coalesce({{ a }}, 0)"),
    "macro.dbt.one": macro("one", "{{ x }} as one", package="dbt"),
}


def calling(*macros: str, raw: str = "select {{ all }} from {{ ref('orders') }}", **more: Any) -> Node:
    node = model("m", SQL, ORDERS)
    where = {"package_name": "p", "original_file_path": "models/m.sql", "compiled_path": "target/compiled/p/models/m.sql"}
    return {**node, **where, "raw_code": raw, "depends_on": {"nodes": [ORDERS], "macros": list(macros)}, **more}


def source_of(place: Place | None, node: Node, code: int = 220, macros: dict[str, Node] = MACROS) -> str | None:
    error = IdivmError(finding(code, place, message="unexpected :", column="x", nearest="y", function="f()"))
    (found,) = with_sources(error, node, macros, "p").findings
    return found.source


def at(text: str, word: str) -> Place:
    start = text.index(word)
    return Place(2, text, start, start + len(word))


LINE = "  payload:a.b as field,"
FILES = "line 2 of target/compiled/p/models/m.sql"


def test_a_macro_that_is_called_through_another_one() -> None:
    assert source_of(at(LINE, ":"), calling("macro.shop_utils.field", "macro.shop_utils.other")) == (
        f"{FILES} is written by macro `shop_utils.default__field` (macros/default__field.sql); the model is models/m.sql"
    )


def test_what_the_user_or_dbt_has_written_needs_no_source() -> None:
    called = ("macro.shop_utils.field", "macro.dbt.one")
    assert source_of(at(LINE, ":"), calling(*called, raw="select id,\n  payload:a.b as field, {{ x }}")) is None
    assert source_of(at("  1 as one", "one"), calling(*called)) is None
    assert source_of(at(LINE, ":"), calling("macro.dbt.one")) is None
    of_user = {**MACROS, "macro.shop_utils.default__field": {**MACROS["macro.shop_utils.default__field"], "package_name": "p"}}
    assert source_of(at(LINE, ":"), calling("macro.shop_utils.field"), macros=of_user) is None


def test_a_model_of_a_package() -> None:
    node = calling("macro.dbt.one", raw="select {{ c }}:a.b as field", package_name="shop_utils")
    assert source_of(at(LINE, ":"), node) == (
        f"{FILES} is written by the model itself (models/m.sql); the model is models/m.sql of package `shop_utils`"
    )


def test_macros_are_listed_where_none_of_them_is_found() -> None:
    """Nothing of them is written there, or the same of several."""
    two = {**MACROS, "macro.shop_utils.twin": macro("twin", "{{ d }}:a.b as")}
    assert source_of(at(LINE, ":"), calling("macro.shop_utils.other"), macros=two) == (
        f"{FILES} may be written by macro `shop_utils.other` (macros/other.sql); the model is models/m.sql"
    )
    several = source_of(at(LINE, ":"), calling("macro.shop_utils.field", "macro.shop_utils.twin"), macros=two)
    assert several is not None and "may be written by macro `shop_utils.field`" in several and "`shop_utils.twin`" in several
    many = {f"macro.shop_utils.m{number}": macro(f"m{number}", "") for number in range(5)}
    found = source_of(at(LINE, ":"), calling(*many), macros=many)
    assert found is not None and "`shop_utils.m2` (macros/m2.sql) and 2 more; " in found


@pytest.mark.parametrize("code", [204, 206])
def test_what_spark_reads_has_no_source(code: int) -> None:
    assert source_of(at(LINE, ":"), calling("macro.shop_utils.field"), code) is None


def test_a_place_in_a_view_or_none_has_no_source() -> None:
    node = calling("macro.shop_utils.field")
    assert source_of(None, node) is None
    assert source_of(Place(2, LINE, 9, 10, "main.view"), node) is None


def test_the_whole_message() -> None:
    with pytest.raises(IdivmError) as raised:
        lower(SQL, Catalog())
    text = str(with_sources(raised.value, calling("macro.shop_utils.field"), MACROS, "p"))
    assert "IDIVM-220" in text and f"  from   {FILES} is written by macro `shop_utils.default__field`" in text
    assert text.index("  from ") < text.index("  why ") and "your project first in `dispatch` of dbt_project.yml" in text
    assert "dispatch" not in str(raised.value)


def test_explain_names_it() -> None:
    found = Project(
        {**manifest(calling("macro.shop_utils.field")), "metadata": {"project_name": "p"}, "macros": MACROS}
    ).explained()
    (each,) = found
    assert each.problem is not None
    assert each.problem.startswith("IDIVM-220 ") and f"; {FILES} is written by macro `shop_utils.default__field`" in each.problem


SENTENCE = "[PARSE_SYNTAX_ERROR] Syntax error at or near ':'. SQLSTATE: 42601 (line 2, pos 9)"


def failure(marked: str) -> EngineFailure:
    return EngineFailure(
        Statement("", "read", "columns"), EngineError("PARSE_SYNTAX_ERROR", f"{SENTENCE}\n\n== SQL ==\n{marked}")
    )


def test_the_place_of_a_syntax_error_of_the_engine() -> None:
    """In the model's SQL, whatever the statement has before it; nowhere if the statement is about something else."""
    text = f"DESCRIBE QUERY select id,\n{LINE}\n---------^^^\n  1 as one\nfrom raw.orders"
    assert failure(text).place_in(SQL) == Place(2, LINE, 9, 10)
    assert failure("DESCRIBE QUERY select a:b from t\n------------------------^^^\n").place_in("select a:b from t") == Place(
        1, "select a:b from t", 9, 10
    )
    assert failure("select 2\n-------^^^").place_in(SQL) is None
    assert failure("select 2").place_in(SQL) is None
