"""A plan is used only if Spark confirms that it means what the SELECT means: which statements are run, and what follows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.catalog import state
from dbt_idivm.refresh.catalog.state import State
from dbt_idivm.refresh.checks import plan_proof
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.forecast import forecast
from dbt_idivm.refresh.protocol import EngineError
from tests.unit.fake_engine import FakeEngine, drive, model

KEY = {"o": "id"}
MODEL = model("select id, name from main.o", KEY)
GROUPS = model("select name, sum(id) as total from main.o group by name", KEY)
CACHED = model(
    "with g as (select name, sum(id) as s from main.o group by name) select a.name, b.s from g a join g b on a.name = b.name",
    KEY,
    caches=["g"],
)
OTHER_PLAN = {"plan of the planned query": "Filter (a#1 > 1)\n+- Relation main.t[a#1] parquet"}
COMPARED = "compare the plan's rows with the SELECT's"
FOUND = {COMPARED: ((7, "seven", 1),)}  # a row, and by how many copies there are too many


def kept(engine: FakeEngine, table: str = "main.v") -> State:
    found = state.read(engine.tables[table].commits[-1][-1])
    assert found is not None
    return found


def how(engine: FakeEngine, table: str = "main.v") -> str:
    return kept(engine, table).proof.partition(":")[0]


def change(engine: FakeEngine) -> None:
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ((7, "seven", 1),)


def refused(engine: FakeEngine, request: ModelRequest = MODEL) -> str:
    """The view is built from the user's own text; the reason on the console."""
    outcome = engine.drive(request)
    assert how(engine) == "differs" and outcome.reason is not None and outcome.reason.startswith("IDIVM-905 ")
    assert outcome.reason in outcome.message
    written = next(s.sql for s in engine.log if s.label in ("build main.v", "rebuild main.v"))
    assert request.sql.split(" from ")[0] in written, "as the user wrote it"
    assert outcome.artifacts.texts()["plan.txt"].startswith("full refresh each time\nIDIVM-905")
    return outcome.reason


def test_equal_plans_are_proof(engine: FakeEngine) -> None:
    outcome = engine.drive(MODEL)
    assert outcome.message == "create: 5 rows, 2 statements", "the questions read no data"
    assert COMPARED not in engine.labels("read")
    asked = [label for label in engine.labels("metadata") if label.startswith(("columns of the", "plan of the"))]
    both = ("the model's SELECT", "the planned query")
    assert asked == [f"{what} of {query}" for what in ("columns", "plan") for query in both]
    assert how(engine) == "plans" and "proven: Spark's optimised plans" in outcome.artifacts.texts()["plan.txt"]
    assert "proof.txt" not in outcome.artifacts.texts()
    assert not engine.settings, "what keeps plans whole is taken back"


def test_the_user_s_text_and_the_planned_query_are_asked_about_at_pinned_versions(engine: FakeEngine) -> None:
    engine.drive(MODEL)
    theirs, ours = (s.sql for s in engine.log if s.label.startswith("plan of the"))
    assert theirs.startswith("EXPLAIN EXTENDED select id, name from main.o VERSION AS OF 1")
    assert ours.startswith("EXPLAIN EXTENDED SELECT") and "main.o VERSION AS OF 1" in ours


def test_rows_decide_where_plans_differ(engine: FakeEngine) -> None:
    engine.plans = OTHER_PLAN
    outcome = engine.drive(MODEL)
    assert outcome.mode == "create" and outcome.reason is None
    assert engine.labels("read").count(COMPARED) == 1 and how(engine) == "rows"
    assert "checked: " in outcome.artifacts.texts()["plan.txt"]
    assert "-- the model's SELECT\nselect id, name" in outcome.artifacts.texts()["proof.txt"]
    assert "Filter (a#1 > 1)" in outcome.artifacts.texts()["proof.txt"]


def test_rows_are_compared_before_anything_is_written(engine: FakeEngine) -> None:
    engine.plans = OTHER_PLAN
    engine.drive(MODEL)
    labels = [statement.label for statement in engine.log]
    assert labels.index(COMPARED) < labels.index("build main.v")


@pytest.mark.parametrize("plan", [EngineError("INTERNAL_ERROR", "no plan"), EngineError("", "")])
def test_plans_that_cannot_be_read_prove_nothing(engine: FakeEngine, plan: EngineError) -> None:
    engine.fail["plan of the"] = plan
    engine.drive(MODEL)
    assert COMPARED in engine.labels("read") and how(engine) == "rows"


def test_a_difference_is_an_error_of_ours_and_the_user_s_text_is_built(engine: FakeEngine) -> None:
    engine.plans, engine.reads = OTHER_PLAN, dict(FOUND)
    assert "it has 1 too many of the row (id=7, name=seven)" in refused(engine)
    assert kept(engine).versions == {"main.o": 1}


def test_what_was_refused_stays_refused_and_is_not_asked_again(engine: FakeEngine) -> None:
    engine.plans, engine.reads = OTHER_PLAN, dict(FOUND)
    refused(engine)
    assert engine.drive(MODEL).mode == "noop"
    engine.plans, engine.reads = {}, {}
    for _ in range(2):
        change(engine)
        outcome = engine.drive(MODEL)
        assert outcome.mode == "full" and outcome.reason is not None and outcome.reason.startswith("IDIVM-905")
        assert not [label for label in engine.labels("metadata") if label.startswith("plan of the")]
        assert COMPARED not in engine.labels("read") and how(engine) == "differs"
    change(engine)
    seen = drive(engine, forecast(replace(MODEL, existing="table"), Invocation(), engine.kind))
    assert seen.mode == "full" and seen.reason.startswith("IDIVM-905")


@pytest.mark.parametrize("again", ["another version", "another SELECT", "a full refresh"])
def test_it_is_tried_again(engine: FakeEngine, again: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.plans, engine.reads = OTHER_PLAN, dict(FOUND)
    refused(engine)
    engine.plans, engine.reads = {}, {}
    change(engine)
    request = MODEL
    if again == "another version":
        monkeypatch.setattr(plan_proof, "planner_version", lambda: "99")
    if again == "another SELECT":
        request = model("select id, name from main.o where id > 0", KEY)
    assert engine.drive(replace(request, full_refresh=again == "a full refresh")).mode == "full"
    assert how(engine) == "plans"
    change(engine)
    assert engine.drive(request).mode == "incremental" and how(engine) == "plans", "the state keeps it"


def test_a_difference_can_be_an_error(engine: FakeEngine) -> None:
    engine.plans, engine.reads = OTHER_PLAN, dict(FOUND)
    with pytest.raises(IdivmError) as caught:
        engine.drive(model(MODEL.sql, KEY, on_unsupported="error"))
    assert caught.value.codes == ("IDIVM-905",) and "main.v" not in engine.tables and not engine.settings


@pytest.mark.parametrize(
    "config, size, expected",
    [
        ("auto", plan_proof.LARGEST_CHECKED, "rows"),
        ("auto", plan_proof.LARGEST_CHECKED + 1, "unchecked"),
        ("always", plan_proof.LARGEST_CHECKED + 1, "rows"),
        ("never", 1, "unchecked"),
    ],
)
def test_how_much_is_compared_is_a_choice(engine: FakeEngine, config: str, size: int, expected: str) -> None:
    engine.plans, engine.size = OTHER_PLAN, size
    outcome = engine.drive(model(MODEL.sql, KEY, verify_build=config))
    assert how(engine) == expected and (COMPARED in engine.labels("read")) == (expected == "rows")
    assert ("not checked: " in outcome.artifacts.texts()["plan.txt"]) == (expected == "unchecked")
    assert ("size of main.o" in engine.labels("metadata")) == (config == "auto")


def test_it_is_found_once_for_each_definition(engine: FakeEngine) -> None:
    engine.plans = OTHER_PLAN
    engine.drive(MODEL)
    change(engine)
    assert engine.drive(MODEL).mode == "incremental" and COMPARED not in engine.labels("read")
    assert not [label for label in engine.labels("metadata") if "planned query" in label]
    change(engine)
    engine.fail["net diff"] = EngineError("DELTA_MISSING_CHANGE_DATA", "gap")
    assert engine.drive(MODEL).mode == "full", "a rebuild of what was compared"
    assert COMPARED not in engine.labels("read") and how(engine) == "rows"
    engine.fail.clear()
    engine.drive(replace(MODEL, full_refresh=True))
    assert COMPARED in engine.labels("read"), "who asks for a rebuild does not trust it"


def test_what_nobody_looked_at_is_asked_at_the_next_build(engine: FakeEngine) -> None:
    engine.plans = OTHER_PLAN
    engine.drive(model(MODEL.sql, KEY, verify_build="never"))
    change(engine)
    engine.fail["net diff"] = EngineError("DELTA_MISSING_CHANGE_DATA", "gap")
    engine.drive(MODEL)
    assert COMPARED in engine.labels("read") and how(engine) == "rows"


@pytest.mark.parametrize(
    "columns, words",
    [
        ({"ID": "int", "name": "string"}, "columns id int, name string instead of ID int, name string"),
        ({"name": "string", "id": "int"}, "instead of name string, id int"),
        ({"id": "bigint", "name": "string"}, "instead of id bigint"),
        ({"id": "int"}, "instead of id int"),
    ],
)
def test_names_and_types_are_compared_always(engine: FakeEngine, columns: dict[str, str], words: str) -> None:
    engine.columns_of["columns of the model's SELECT"] = columns
    request = model(MODEL.sql, KEY, verify_build="never")
    assert words in refused(engine, request) and COMPARED not in engine.labels("read")


def test_types_that_the_planner_relies_on_are_compared_too(engine: FakeEngine) -> None:
    """Spark says DOUBLE where the planner adds up INTs."""
    engine.columns_of["columns of the model's SELECT"] = {"name": "string", "total": "double"}
    engine.columns_of["columns of the planned query"] = {
        "name": "string",
        "total": "double",
        "idivm__count__rows": "bigint",
        "idivm__count__o__id": "bigint",
    }
    assert "it assumes that total has type bigint, but the type is double" in refused(engine, GROUPS)


def test_a_hidden_column_of_another_type_than_inferred(engine: FakeEngine) -> None:
    engine.columns_of["columns of the planned query"] = {
        "name": "string",
        "total": "bigint",
        "idivm__count__rows": "string",
        "idivm__count__o__id": "bigint",
    }
    assert "it assumes that idivm__count__rows has type" in refused(engine, GROUPS)


def test_branches_whose_types_differ(engine: FakeEngine) -> None:
    """Spark unites an INT and a BIGINT as BIGINT; what comes from the first branch alone would stay an INT."""
    engine.source("same", id="int", name="string")
    engine.source("wider", id="bigint", name="string")
    union = "select u.id, u.name from (select id, name from main.o union all select id, name from main.{}) u"
    engine.drive(model(union.format("same")))
    assert engine.labels("metadata").count("columns of UNIONs and their branches") == 1
    assert how(engine, "main.v__idivm") == "plans"
    # the same answer after the branches are cast: as if the planner had lost the casts
    kinds = [*("int", "string"), *("bigint", "string"), *("bigint", "string")]
    engine.columns_of["columns of UNIONs"] = {f"c{number}": kind for number, kind in enumerate(kinds)}
    engine.columns_of["columns of the"] = {"id": "bigint", "name": "string"}
    outcome = engine.drive(model(union.format("wider")))
    assert outcome.reason is not None and "IDIVM-905" in outcome.reason
    assert "the branches of ∪ have" in outcome.reason


def test_a_planned_query_that_spark_refuses(engine: FakeEngine) -> None:
    engine.fail["columns of the planned query"] = EngineError("UNRESOLVED_COLUMN", "[UNRESOLVED_COLUMN] x\nmore")
    assert "Spark refuses it: [UNRESOLVED_COLUMN] x" in refused(engine)


def test_a_select_that_spark_refuses_is_an_error(engine: FakeEngine) -> None:
    engine.fail["columns of the model's SELECT"] = EngineError("PARSE_SYNTAX_ERROR", "[PARSE_SYNTAX_ERROR]")
    with pytest.raises(IdivmError) as caught:
        engine.drive(MODEL)
    assert caught.value.codes == ("IDIVM-902",) and "main.v" not in engine.tables and not engine.settings


def test_sums_of_floats_are_compared_with_fewer_digits(engine: FakeEngine) -> None:
    """Two evaluations of one such sum may differ."""
    engine.source("f", name="string", price="double")
    engine.plans, engine.reads = OTHER_PLAN, {COMPARED: (("a", 0.1, 1),)}
    request = model("select name, sum(price) as total from main.f group by name")
    engine.drive(request)
    first, second = (s.sql for s in engine.log if s.label == COMPARED)
    assert "AS FLOAT" not in first and "CAST(total AS FLOAT)" in second
    assert how(engine) == "differs", "the fake gives the same answer twice"


@pytest.mark.parametrize("config", ["auto", "always"])
def test_a_comparison_that_fails(engine: FakeEngine, config: str) -> None:
    engine.plans, engine.fail[COMPARED] = OTHER_PLAN, EngineError("", "out of memory")
    request = model(MODEL.sql, KEY, verify_build=config)
    if config == "always":
        with pytest.raises(IdivmError):
            engine.drive(request)
        return
    outcome = engine.drive(request)
    assert how(engine) == "unchecked" and "out of memory" in outcome.artifacts.texts()["proof.txt"]


def test_a_model_without_a_plan_is_asked_nothing(engine: FakeEngine) -> None:
    engine.drive(model("select id, row_number() over (order by name) as r from main.o", KEY, ties="rebuild"))
    assert not [label for label in engine.labels("metadata") if "planned query" in label] and how(engine) == ""


def test_caches_are_judged_with_the_view(engine: FakeEngine) -> None:
    outcome = engine.drive(CACHED)
    cache = next(name for _, name, _ in outcome.relations if "_cache_" in name)
    view = next(f"main.{name}" for _, name, kind in outcome.relations if kind == "table" and name != cache)
    assert (how(engine, f"main.{cache}"), how(engine, view)) == ("part", "plans")
    assert len([label for label in engine.labels("metadata") if label == "plan of the planned query"]) == 1
    assert cache not in next(s.sql for s in engine.log if s.label == "plan of the planned query"), "over base tables"


def test_a_view_whose_meaning_is_refused_reads_no_caches(engine: FakeEngine) -> None:
    engine.plans, engine.reads = OTHER_PLAN, {COMPARED: (("a", 1, 1),)}
    outcome = engine.drive(CACHED)
    assert outcome.relations == (("main", "v", "table"),) and set(kept(engine).inputs) == {"main.o"}
    change(engine)
    assert engine.drive(CACHED).mode == "full"
    assert not [name for name in engine.tables if "_cache_" in name], "what was built before the view was checked is dropped"


def test_a_select_that_only_the_planner_refuses_is_built_as_it_is(engine: FakeEngine) -> None:
    wrong = model("select id, nme from main.o", KEY)
    with pytest.raises(IdivmError) as caught:
        engine.drive(wrong)
    assert caught.value.codes == ("IDIVM-221",), "Spark says the same"
    engine.columns_of["columns of the model's SELECT"] = {"id": "int", "nme": "string"}
    outcome = engine.drive(wrong)
    assert outcome.mode == "create" and outcome.reason is not None and outcome.reason.startswith("IDIVM-906")
    change(engine)
    assert (engine.drive(wrong).reason or "").startswith("IDIVM-906")
    with pytest.raises(IdivmError):
        engine.drive(model(wrong.sql, KEY, on_unsupported="error"))


def test_a_type_that_only_spark_knows_may_be_one_that_no_view_can_be_maintained_with(engine: FakeEngine) -> None:
    of_unknown_type = model("select id, from_json(cast(id as string), 'variant') as v from main.o", KEY)
    engine.query_columns = {"id": "int", "v": "map<string,int>"}
    assert engine.drive(of_unknown_type).reason is None
    for kind in ("variant", "array<variant>", "map<binary,int>"):
        engine.query_columns = {"id": "int", "v": kind}
        outcome = engine.drive(replace(of_unknown_type, full_refresh=True))
        assert outcome.mode == "full" and engine.tables["main.v"].kind != "VIEW"
        with pytest.raises(IdivmError) as caught:
            engine.drive(model(of_unknown_type.sql, KEY, on_unsupported="error"))
        assert caught.value.codes == ("IDIVM-218",)


def test_a_select_that_only_spark_can_read_is_built_on_each_run(engine: FakeEngine) -> None:
    """Nobody knows what it reads, so that nothing says that nothing is new."""
    unread = model("select id from main.o |> set id = 2", KEY)
    with pytest.raises(IdivmError, match="IDIVM-220"):
        engine.drive(unread)
    engine.columns_of["columns of the model's SELECT"] = {"id": "int"}
    assert [engine.drive(unread).mode for _ in range(3)] == ["create", "full", "full"]
    assert kept(engine).inputs == {} and kept(engine).volatile
    with pytest.raises(IdivmError, match="IDIVM-220"):
        engine.drive(model(unread.sql, KEY, on_unsupported="error"))


def test_a_failure_of_the_planner_itself_does_not_keep_the_user_from_the_view(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError("an invariant")

    monkeypatch.setattr("dbt_idivm.definition.compiling.compile_plan", fails)
    outcome = engine.drive(MODEL)
    assert outcome.mode == "create" and outcome.reason is not None and "IDIVM-901 an invariant" in outcome.reason
