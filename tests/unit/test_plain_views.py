"""Which columns are read of a table whose columns are moved or changed, and in the place of a plain view: its own ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_idivm.context import PlainView
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.tables import depends_on_order
from dbt_idivm.refresh.catalog.plain_views import with_columns
from dbt_idivm.refresh.protocol import EngineError, Reply, Statement
from dbt_idivm.script.dialect import DELTA, verbatim
from tests.unit.fake_engine import FakeEngine, Table, model

STAR = "select * from main.o"


@pytest.mark.parametrize(
    ("sql", "does"),
    [
        ("select id from t", False),
        ("select count(*) from t", False),
        ("select id from t as x", False),
        ("select id from (select id, a from t) as x(p, q)", False),
        ("select 'of *' as a, b * 2 as c from t", False),
        ("select * from t", True),
        ("select t.* from t", True),
        ("select id, struct(*) as s from t", True),
        ("select p from t as x(p, q)", True),
        ("with c as (select * from t) select id from c", True),
        ("select a from u where exists (select * from t)", True),
        ("from t", True),
        ("no sql", True),
    ],
)
def test_what_depends_on_the_order_of_columns(sql: str, does: bool) -> None:
    assert depends_on_order(sql) == does


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (None, "select *, 1 from t"),
        ((("a", "x"), ("b", "Y y")), "SELECT `x` AS `a`, `Y y` AS `b` FROM (select *, 1 from t) AS `text`"),
        ((("a", "x"), ("b", "X")), "SELECT * FROM (select *, 1 from t) AS `text`(`a`, `b`)"),
    ],
)
def test_the_columns_of_a_view(columns: tuple[tuple[str, str], ...] | None, expected: str) -> None:
    found = DELTA.sql(with_columns(PlainView("select *, 1 from t", columns), verbatim("select *, 1 from t")))
    assert " ".join(found.split()).replace("( ", "(").replace(" )", ")") == expected


def view(engine: FakeEngine, text: str, selected: str, mode: str = "COMPENSATION", **columns: str) -> ModelRequest:
    engine.tables["main.p"] = Table(columns, "VIEW", "", {}, text=text, selected=tuple(selected.split()), mode=mode)
    return model("select * from main.p", {"o": "id"})


def reasons(engine: FakeEngine, request: ModelRequest) -> tuple[str, str]:
    """Mode and codes of the next refresh."""
    outcome = engine.drive(request)
    return outcome.mode, " ".join(word for word in (outcome.reason or "").split() if word.startswith("IDIVM-"))


@pytest.mark.parametrize(
    ("call", "is_read_through"),
    [
        ("f(id)", False),
        ("F(id) + 1", False),
        ("`upper case`(id)", False),
        ("abs(id)", True),
        ("other.f(id)", True),
        ("cast(id as int)", True),
    ],
)
@pytest.mark.parametrize("listed", [(), ("f", "other.f")])
def test_a_function_that_has_no_schema_in_a_view(call: str, is_read_through: bool, listed: tuple[str, ...]) -> None:
    """It is that of the schema in which the view was created: neither a plan nor the text of the query reads it through."""
    engine = FakeEngine(functions={"f": ("Type: SQL",), "other.f": ("Type: SQL",)})
    engine.source("o", id="int", name="string")
    request = view(engine, f"select {call} as id from main.o", "id", id="int")
    request = replace(request, config={"idivm": {"strategy": "id", "deterministic_functions": list(listed)}})
    engine.query_columns = {"id": "int"}
    engine.drive(request)
    (build,) = (each.sql.lower() for each in engine.log if each.label.startswith("build main.v"))
    assert ("from main.p" in build, "from main.o" in build) == (not is_read_through, is_read_through)


def alter(engine: FakeEngine, **columns: str) -> None:
    table = engine.tables["main.o"]
    table.columns = columns
    table.commit("CHANGE COLUMN")


@pytest.mark.parametrize(
    ("request_", "mode", "reason"),
    [
        (model(STAR, {"o": "id"}), "full", "IDIVM-412"),
        (model("select k from main.o as x(k, m)", {"o": "id"}), "full", "IDIVM-412"),
        (model("select id, n from main.o", {"o": "id"}), "noop", ""),
    ],
)
def test_a_column_is_moved(engine: FakeEngine, request_: ModelRequest, mode: str, reason: str) -> None:
    engine.source("o", id="int", n="int")
    assert reasons(engine, request_) == ("create", "")
    alter(engine, n="int", id="int")
    assert reasons(engine, request_) == (mode, reason)
    assert reasons(engine, request_) == ("noop", "")


def test_a_type_of_which_only_a_part_is_shown(engine: FakeEngine) -> None:
    """What others change of the rest is not seen: all rows are read, and no table is kept for its types."""
    engine.source("o", id="int", s="struct<a:int,... 30 more fields>")
    request = model("select id, s from main.o", {"o": "id"})
    assert reasons(engine, request)[0] == "create"
    engine.tables["main.v"].columns = dict(engine.tables["main.o"].columns)
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"}, parameters={"mode": "Append"})
    assert reasons(engine, request) == ("full", "IDIVM-408 IDIVM-228")
    assert any(each.sql.startswith("CREATE OR REPLACE TABLE main.v") for each in engine.log)
    assert reasons(engine, model("select id from main.o", {"o": "id"}))[0] == "full"
    assert reasons(engine, model("select id from main.o", {"o": "id"})) == ("noop", ""), "it is not used"


@pytest.mark.parametrize("output", ["view", "both", "diffs"])
def test_columns_with_default_values(engine: FakeEngine, output: str) -> None:
    """The table that is made of them gets the feature that Delta asks for, and another one does not."""
    create, properties = engine._create, "'delta.feature.allowColumnDefaults'='supported'"

    def refusing(statement: Statement) -> Reply:
        if " VIEW " in statement.sql or properties in statement.sql:
            return create(statement)
        return EngineError("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED", "Failed to execute CREATE TABLE command")

    request = model("select id, name from main.o", {"o": "id"}, output=output)
    engine._create = refusing  # type: ignore[method-assign]
    assert reasons(engine, request) == ("create", "")
    engine._create = create  # type: ignore[method-assign]
    assert engine.drive(replace(request, full_refresh=True)).mode == "full"
    assert not any(properties in each.sql for each in engine.log)


def test_a_view_does_not_get_the_columns_that_its_table_gets(engine: FakeEngine) -> None:
    request = view(engine, STAR, "id name", id="int", name="string")
    assert reasons(engine, request) == ("create", "")
    alter(engine, z="int", id="int", name="string")
    assert reasons(engine, request) == ("noop", "")
    engine.tables["main.p"] = Table(
        {"z": "int", "id": "int", "name": "string"}, "VIEW", "", {}, text=STAR, selected=("z", "id", "name")
    )
    assert reasons(engine, request) == ("full", "IDIVM-402"), "created again, it has it"


def test_a_view_has_the_names_that_it_was_given(engine: FakeEngine) -> None:
    request = view(engine, "select id, name from main.o", "id name", x="int", y="string")
    assert reasons(engine, request) == ("create", "")
    assert "o.id AS x,\n  o.name AS y\n" in next(each.sql for each in engine.log if each.label == "build main.v")
    engine.tables["main.p"].columns = {"y": "int", "x": "string"}
    assert reasons(engine, request) == ("full", "IDIVM-402"), "the same text under other names is another view"


def test_a_view_of_a_type_that_was_widened_is_read_as_it_is(engine: FakeEngine) -> None:
    request = view(engine, STAR, "id name", id="int", name="string")
    engine.drive(request)
    alter(engine, id="bigint", name="string")
    assert reasons(engine, request) == ("full", "IDIVM-408 IDIVM-307")
    assert reasons(engine, request) == ("full", "IDIVM-408 IDIVM-307"), "it has no versions"
    engine.tables["main.p"].columns["id"] = "bigint"
    assert reasons(engine, request)[0] == "full"
    assert reasons(engine, request) == ("noop", "")


def test_a_view_that_follows_its_text(engine: FakeEngine) -> None:
    request = view(engine, STAR, "id name", "EVOLUTION", id="int", name="string")
    engine.drive(request)
    alter(engine, z="int", id="int", name="string")
    engine.tables["main.p"].columns = dict(engine.tables["main.o"].columns)  # as soon as anybody reads it
    assert reasons(engine, request) == ("full", "IDIVM-412")


def test_a_view_with_a_column_that_is_gone(engine: FakeEngine) -> None:
    request = view(engine, STAR, "id name", id="int", name="string")
    engine.drive(request)
    alter(engine, id="int")
    engine.fail["columns of main.p"] = EngineError("INCOMPATIBLE_VIEW_SCHEMA_CHANGE", "column name cannot be resolved")
    with pytest.raises(IdivmError, match="column name cannot be resolved") as caught:
        engine.drive(request)
    assert caught.value.codes == ("IDIVM-902",)


def test_a_table_below_views_is_missing(engine: FakeEngine) -> None:
    request = view(engine, "select * from main.q", "id name", id="int", name="string")
    engine.tables["main.q"] = Table({"id": "int", "name": "string"}, "VIEW", "", {}, text="select * from main.gone")
    for text in ("p", "q"):
        engine.fail[f"columns of the text of main.{text}"] = EngineError("TABLE_OR_VIEW_NOT_FOUND", "main.gone cannot be found")
    with pytest.raises(IdivmError, match=r"main\.gone") as caught:
        engine.drive(request)
    assert caught.value.codes == ("IDIVM-301",)
