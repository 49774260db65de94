"""Functions that the user lists as deterministic: which calls are maintained, and when a view is rebuilt."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog, PlainView, TableInfo, UserFunction
from dbt_idivm.definition.config import model_config
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.definition.user_functions import usable
from dbt_idivm.errors import IdivmError
from dbt_idivm.explain import maintained
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.refresh.catalog.user_functions import described
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import EngineError
from tests.unit.fake_engine import FakeEngine, model

COLUMNS = tuple(
    Attribute(*each)
    for each in (("id", "int"), ("k", "int"), ("s", "string"), ("d", "date"), ("ts", "timestamp"), ("a", "array<int>"))
)
INT, AT = UserFunction(("int",), "int"), UserFunction(("timestamp", "string"), "timestamp")
CATALOG = Catalog(
    {name: TableInfo(name, COLUMNS, ("id",), "test") for name in ("t", "u")},
    {"w": PlainView("SELECT id, f(k) AS x FROM t"), "q": PlainView("SELECT id, main.f(k) AS x FROM t")},
    functions={
        "f": UserFunction(),
        "main.f": UserFunction(),
        "main.nvl": UserFunction(),
        "cat.main.g": UserFunction(),
        "safe_divide": UserFunction(),
        "`odd name`": UserFunction(),
        "main.h": INT,
        "at": AT,
    },
)


def how(sql: str) -> str:
    lowered = lower(sql, CATALOG)
    return maintained(compile_plan(lowered.root, lowered.output))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, f(k) AS x FROM t",
        "SELECT id, F(k) AS x FROM t WHERE `f`(id) > 1",
        "SELECT id, Main.`F`(k) AS x FROM t",
        "SELECT id, CAT.main.g(k, s) AS x FROM t",
        "SELECT id, main.nvl(k) AS x FROM t",
        "SELECT id, safe_divide(k, 2) AS x FROM t",
        "SELECT id, `odd name`(k) AS x FROM t",
        "SELECT t.id, u.id AS i, f(t.k + u.k) AS x FROM t JOIN u ON f(t.k) = u.k",
        "SELECT id, transform(a, x -> f(x)) AS x FROM t",
        "SELECT id, main.f(k).z AS x, main.f(k)[0] AS y FROM t",
        "SELECT id, f() AS x FROM t",
        "SELECT id, f(s) AS x FROM t",
        "SELECT id, x FROM q",
        "SELECT id, f(main.f(k)) AS x FROM t",
    ],
)
def test_a_listed_function_is_a_scalar_function(sql: str) -> None:
    assert how(sql).startswith("by i-diffs")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT Main.F(k) AS x, count(*) AS n FROM t GROUP BY main.f(k)", "by adding (additive)"),
        ("SELECT k, sum(main.f(id)) AS n FROM t GROUP BY k", "by recomputing the touched groups"),
        ("SELECT k, sum(main.h(id)) AS n FROM t GROUP BY k", "by adding (additive)"),  # its type is known
    ],
)
def test_groups(sql: str, expected: str) -> None:
    assert how(sql) == expected


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT id, h(k) AS x FROM t", "226"),
        ("SELECT id, other.f(k) AS x FROM t", "226"),
        ("SELECT id, main.count(k) AS x FROM t", "226"),
        ("SELECT id, nvl2(k) AS x FROM t", "220"),
        ("SELECT id, x FROM w", "226"),  # in a view f may be another function
        ("SELECT f(k) OVER () AS x FROM t", "234"),
        ("SELECT main.f(k) OVER (PARTITION BY id) AS x FROM t", "234"),
        ("SELECT f(DISTINCT k) AS x FROM t", "234"),
        ("SELECT * FROM f(1)", "234"),
        ("SELECT id, y FROM t LATERAL VIEW f(k) z AS y", "211"),
        ("SELECT f(k) FILTER (WHERE k > 1) AS x FROM t", "228"),
        ("SELECT id, f(rand()) AS x FROM t", "204"),
        ("SELECT id FROM t WHERE f(current_date()) = id", "206"),
        ("SELECT id, f(x => k) AS x FROM t", "228"),
        ("SELECT k, f(id) AS x FROM t GROUP BY k", "223"),
        ("SELECT f(k), id FROM t", "225"),
        ("SELECT main.f(k), id FROM t", "225"),
    ],
)
def test_what_is_refused(sql: str, code: str) -> None:
    with pytest.raises(IdivmError) as caught:
        lower(sql, CATALOG)
    assert caught.value.codes[0] == f"IDIVM-{code}"


def test_the_name_that_is_listed_is_shown() -> None:
    with pytest.raises(IdivmError) as caught:
        lower("SELECT id, other.g(k) AS x FROM t", CATALOG)
    assert "function other.g(k) (`deterministic_functions` has `cat.main.g`)" in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "moves"),
    [
        ("f('today')", True),
        ("f(k, upper('today'))", True),
        ("f('2020-01-01')", False),
        ("f(s)", False),
        ("f(5)", False),
        ("s < f(k)", True),
        ("ts < f(k)", True),
        ("element_at(f(k), 1) > s", True),
        ("ts < CAST(f(k) AS DATE)", False),
        ("at(s, s)", True),
        ("at('now', s)", True),
        ("at(ts, 'today')", False),
        ("at(ts, s) < ts", False),
        ("at(ts, s) < s", True),
        ("main.h(k) < s", False),
        ("CAST(at(ts, s) AS DATE) = d", False),
        ("CAST(main.f(s) AS TIMESTAMP) = ts", True),
    ],
)
def test_texts_that_become_times_in_a_call(expression: str, moves: bool) -> None:
    try:
        lower(f"SELECT id, {expression} AS x FROM t", CATALOG)
        codes: tuple[str, ...] = ()
    except IdivmError as error:
        codes = error.codes
    assert codes == (("IDIVM-230",) if moves else ())


def test_config() -> None:
    config = model_config({"idivm": {"deterministic_functions": ["Main.F", "`F`", "f", "a.b.`c d`"]}})
    assert config.deterministic_functions == ("main.f", "f", "a.b.`c d`")
    assert model_config({"idivm": {"deterministic_functions": "f"}}).deterministic_functions == ("f",)


@pytest.mark.parametrize(
    "value",
    [
        5,
        {"f": 1},
        [1],
        "rand",
        ["f", "Current_Date"],
        ["upper"],
        ["sum"],
        ["row_number"],
        ["explode"],
        ["builtin.rand"],
        ["system.builtin.abs"],
        ["a.b.c.d"],
        [""],
        ["count_if"],
        ["case"],
        ["arrays_zip"],
        ["std"],
    ],
)
def test_config_that_is_not_accepted(value: Any) -> None:
    with pytest.raises(IdivmError) as caught:
        model_config({"idivm": {"deterministic_functions": value}})
    assert caught.value.codes == ("IDIVM-103",)


def sql_function(body: str = "x + 1", parameters: str = "x INT", returns: str = "BIGINT", **other: str) -> tuple[str, ...]:
    """What Spark 4.1 shows of a SQL function."""
    kind = other.pop("kind", "expression")
    definition = {"isTableFunc": "false", "deterministic": "true", "returnType": returns, "createTime": "1", kind: body, **other}
    if parameters:
        definition["inputParam"] = parameters
    usage = {f"sqlFunction.{key}": value for key, value in definition.items()} | {"sqlConfig.spark.sql.ansi.enabled": "true"}
    return ("Function: spark_catalog.main.f", "Class: sqlFunction.", f"Usage: {json.dumps(usage)}", "Extended Usage:\n    none\n")


OPAQUE = ("Function: py", "Class: org.apache.spark.sql.classic.UDFRegistration$$Lambda$3859/0x00007fd34917c000", "Usage: N/A.")


@pytest.mark.parametrize(
    "body, parameters, number, returns",
    [
        ("x + 1", "x INT", 1, "INT"),
        ("concat(f.y, x, '\n')", "x INT COMMENT 'the x, or y', y STRING", 2, "STRING"),
        ("pi()", "", 0, "DOUBLE"),
        ("year(x)", "x DATE", 1, "INT"),
        ("x.a", "x STRUCT<a: INT, b: STRING>", 1, "INT"),
        ("x -- a comment", "x INT", 1, "INT"),
        ("CASE WHEN x > 1 THEN transform(y, z -> z + x)[0] END", "x INT, y ARRAY<INT>", 2, "DECIMAL(10,2)"),
    ],
)
def test_bodies_that_depend_on_parameters_alone(body: str, parameters: str, number: int, returns: str) -> None:
    found = usable({"main.f": described("main.f", sql_function(body, parameters, returns))})
    assert found["main.f"].returns == returns
    assert len(found["main.f"].parameters or ()) == number


@pytest.mark.parametrize(
    "function",
    [
        sql_function("(SELECT max(k) FROM t)", kind="query"),
        sql_function("1 + (SELECT max(k) FROM t)"),
        sql_function("1 + (SELECT x)"),
        sql_function("(SELECT count(*) FROM (SELECT 1))"),
        sql_function("x IN (SELECT k FROM t)"),
        sql_function("EXISTS (SELECT 1)"),
        sql_function("rand()", deterministic="false"),
        sql_function("x + 1", deterministic="false"),
        sql_function("rand()"),
        sql_function("current_date()", "", "DATE"),
        sql_function("x > now()", "x TIMESTAMP", "BOOLEAN"),
        sql_function("current_user()"),
        sql_function("'today'", "", "DATE"),
        sql_function("x", "x STRING", "TIMESTAMP"),
        sql_function("x > y", "x STRING, y TIMESTAMP"),
        sql_function("main.g(x)"),
        sql_function("g(x)"),
        sql_function("f(x)"),
        sql_function("sum(x)"),
        sql_function("z + 1"),
        sql_function("x + 1", "x INT DEFAULT rand()"),
        sql_function("x", isTableFunc="true"),
        sql_function("explode(array(x))"),
        sql_function("x +"),
        sql_function("x) AS y, (x"),
        sql_function("x", "x INT, )"),
        ("Function: f", "Class: sqlFunction.", "Usage: something new"),
        ("Function: f", "Class: sqlFunction.", "Usage: {}"),
        ("Function: f", "Class: sqlFunction.", "Usage: []"),
        ("Function: f",),
        (),
        ("Function: new", "Class: org.apache.spark.sql.catalyst.expressions.Uuid", "Usage: new() - a new function"),
    ],
)
def test_functions_that_do_not(function: tuple[str, ...]) -> None:
    with pytest.raises(IdivmError) as caught:
        usable({"main.f": described("main.f", function)})
    assert caught.value.codes == ("IDIVM-234",)


def test_a_function_is_known_again_by_its_definition() -> None:
    first = described("main.f", sql_function())
    assert described("main.f", sql_function(createTime="2", comment="other")).digest == first.digest
    assert described("main.f", sql_function("x + 2")).digest != first.digest
    committed = tuple(
        line.replace("{", '{"sqlConfig.spark.databricks.delta.lastCommitVersionInSession": "7", ', 1) for line in sql_function()
    )
    assert described("main.f", committed).digest == first.digest, "a setting that Delta changes itself"
    another_session = tuple(line.replace("3859/0x00007fd34917c000", "17/0x0") for line in OPAQUE)
    assert described("py", OPAQUE).digest == described("py", another_session).digest
    assert described("py", OPAQUE).digest != described("py", ("Function: py", "Class: com.example.Udf")).digest


@pytest.fixture
def engine() -> FakeEngine:
    fake = FakeEngine()
    fake.source("o", id="int", k="int", name="string")
    fake.functions["main.f"] = sql_function()
    fake.functions["py"] = OPAQUE
    return fake


def using(name: str, **config: Any) -> ModelRequest:
    listed = ["Main.F", "py", "unused"]
    return model(f"select id, {name}(k) as x from main.o", {"o": "id"}, deterministic_functions=listed, **config)


def change(engine: FakeEngine) -> None:
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ((7, 1, "seven", 1),)


@pytest.mark.parametrize("name", ["main.f", "py"])
def test_it_is_maintained(engine: FakeEngine, name: str) -> None:
    assert engine.drive(using(name)).mode == "create"
    assert [label for label in engine.labels("metadata") if label.startswith("function")] == [f"function {name}"]
    asked = any(label == "columns of a join on py" for label in engine.labels("metadata"))
    assert asked == (name == "py")  # the body of a SQL function says enough
    assert engine.drive(using(name)).mode == "noop"
    change(engine)
    assert engine.drive(using(name)).mode == "incremental"


def test_a_function_that_is_not_called_is_not_asked_for(engine: FakeEngine) -> None:
    engine.drive(model("select id, k as x from main.o", {"o": "id"}, deterministic_functions=["main.f"]))
    assert not any("function" in label for label in engine.labels("metadata"))


def test_another_body_rebuilds_the_view_though_no_input_changed(engine: FakeEngine) -> None:
    engine.drive(using("main.f"))
    engine.functions["main.f"] = sql_function("x + 2")
    outcome = engine.drive(using("main.f"))
    assert outcome.mode == "full" and "IDIVM-402" in str(outcome.reason)
    assert engine.drive(using("main.f")).mode == "noop"
    change(engine)
    engine.functions["main.f"] = sql_function("x + 3")
    outcome = engine.drive(using("main.f"))
    assert outcome.mode == "full" and "IDIVM-402" in str(outcome.reason)


def test_a_body_that_changes_between_two_models_of_a_run(engine: FakeEngine) -> None:
    """Hooks of the second model create the function again."""
    first, second = using("main.f"), replace(using("main.f"), identifier="w")
    for each in (first, second):
        engine.drive(each)
    change(engine)
    run = Invocation()
    assert engine.drive(first, run).mode == "incremental"
    engine.functions["main.f"] = sql_function("x + 2")
    outcome = engine.drive(second, run)
    assert outcome.mode == "full" and "IDIVM-402" in str(outcome.reason)


def test_a_body_that_reads_tables_is_rebuilt_each_time(engine: FakeEngine) -> None:
    engine.functions["main.f"] = sql_function("(SELECT max(k) FROM main.o)", kind="query")
    assert "IDIVM-234" in str(engine.drive(using("main.f")).reason)
    outcome = engine.drive(using("main.f"))
    assert outcome.mode == "full" and "IDIVM-234" in str(outcome.reason)
    with pytest.raises(IdivmError) as caught:
        engine.drive(using("main.f", on_unsupported="error"))
    assert caught.value.codes == ("IDIVM-234",)


def test_what_spark_does_not_take_for_a_function_of_one_row(engine: FakeEngine) -> None:
    engine.fail["columns of a join on py"] = EngineError("UNSUPPORTED_EXPR_FOR_OPERATOR", "it is an aggregate")
    engine.drive(using("py"))
    outcome = engine.drive(using("py"))
    assert outcome.mode == "full" and "it is an aggregate" in str(outcome.reason)


def test_a_function_that_spark_does_not_know(engine: FakeEngine) -> None:
    del engine.functions["py"]
    request = using("py")
    assert "Cannot resolve routine" in str(engine.drive(request).reason)


def test_a_cache_is_rebuilt_with_its_view(engine: FakeEngine) -> None:
    engine.source("p", id="int", k="int")
    sql = (
        "with c as (select o.id, p.id as pid, main.f(o.k) as x from main.o o join main.p p on o.k = p.id) "
        "select x, count(*) as n from c group by x"
    )
    request = model(sql, {"o": "id", "p": "id"}, deterministic_functions=["main.f"], caches=["c"])
    engine.drive(request)
    engine.functions["main.f"] = sql_function("x + 2")
    outcome = engine.drive(request)
    assert outcome.mode == "full"
    written = engine.labels("write")
    assert any("idivm_cache_" in label for label in written), written


def test_the_list_is_part_of_the_request(engine: FakeEngine) -> None:
    request = using("main.f")
    unlisted = replace(request, config={"idivm": {"strategy": "id"}})
    assert "IDIVM-226" in str(engine.drive(unlisted).reason)
    assert engine.drive(request).mode == "full"
    assert engine.drive(request).mode == "noop"
