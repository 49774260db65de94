"""A changed model whose stored rows are taken over: what is written, in which order, and when it is rebuilt all the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.catalog.state import State, decode, encode, read
from dbt_idivm.refresh.decide import adapting
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.forecast import forecast
from dbt_idivm.refresh.protocol import EngineError, Forecast, Outcome, Reply, Rows, Statement
from tests.unit.fake_engine import FakeEngine, Table, drive, model

MODEL = model("select id, name from main.o", {"o": "id"})
NARROW = replace(MODEL, sql="select id, name from main.o where id > 1")
SAME = replace(MODEL, sql="with w as (select * from main.o) select id, name from w")
OTHER = replace(MODEL, sql="select id as number, upper(name) as name from main.o")


@pytest.fixture
def engine() -> FakeEngine:
    """The model is built, and nothing has changed since."""
    engine = FakeEngine()
    engine.source("o", id="int", name="string")
    engine.drive(MODEL)
    engine.tables["main.v"].columns = {"id": "int", "name": "string"}
    engine.log.clear()
    return engine


def refreshed(engine: FakeEngine, request: ModelRequest) -> Outcome:
    engine.log.clear()
    return engine.drive(request)


def state(engine: FakeEngine) -> State:
    found = read(engine.tables["main.v"].commits[-1][-1])
    assert found is not None
    return found


def test_rows_that_leave_are_deleted(engine: FakeEngine) -> None:
    """Up to the commit that has the new definition nothing may build upon the rows."""
    engine.written = 1
    before, definition = state(engine), engine.tables["main.v"].properties["idivm.definition"]
    outcome = refreshed(engine, NARROW)
    assert (outcome.mode, outcome.reason) == ("migrated", "condition narrowed")
    assert engine.labels("write") == ["delete from main.v"]
    draft, after = (read(commit[-1]) for commit in engine.tables["main.v"].commits[-2:])
    assert draft is not None and after is not None and (draft.trusted, after.trusted) == (False, True)
    assert after.versions == before.versions and after.plan["sql"] != before.plan["sql"]
    assert after.note.edits == "condition narrowed"
    assert engine.tables["main.v"].properties["idivm.definition"] != definition
    assert refreshed(engine, NARROW).mode == "noop"


def test_a_run_that_dies_before_the_definition_is_stored(engine: FakeEngine) -> None:
    engine.written = 1
    engine.fail["set the properties"] = EngineError("", "the connection is gone")
    with pytest.raises(Exception, match="the connection is gone"):
        refreshed(engine, NARROW)
    engine.fail.clear()
    outcome = refreshed(engine, NARROW)
    assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-410")


@pytest.mark.parametrize("after", [NARROW, SAME, OTHER, replace(MODEL, sql="select name from main.o")])
def test_a_refresh_that_is_begun_again_finds_the_rows_that_were_taken_over(engine: FakeEngine, after: ModelRequest) -> None:
    """After what the refresh that followed has failed for. Nobody else has written to the table, and it is not rebuilt."""
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ((7, "seven", 1),)
    error = EngineError("DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION", "too old")
    engine.fail["append to"] = error
    answer = engine.answer

    def once(statement: Statement) -> Reply:
        reply = answer(statement)
        if reply is error:
            engine.fail.clear()
        return reply

    engine.answer = once  # type: ignore[method-assign]
    outcome = refreshed(engine, after)
    assert outcome.mode == "incremental" and "newer versions" in outcome.warnings[0]
    assert len([each for each in engine.labels("write") if each.startswith("build")]) == (after not in (NARROW, SAME))
    assert refreshed(engine, after).mode == "noop"


def test_equal_sql_is_one_commit_without_data(engine: FakeEngine) -> None:
    commits = len(engine.tables["main.v"].commits)
    outcome = refreshed(engine, SAME)
    assert (outcome.mode, outcome.reason, outcome.statements) == ("migrated", "stored rows stay", 0)
    assert len(engine.tables["main.v"].commits) == commits + 1
    assert refreshed(engine, NARROW).mode == "migrated", "the definition that is stored is the last one"


def test_other_columns_replace_the_table(engine: FakeEngine) -> None:
    outcome = refreshed(engine, OTHER)
    assert (outcome.mode, engine.labels("write")) == ("migrated", ["build main.v"])
    written = next(each.sql for each in engine.log if each.label == "build main.v")
    assert "main.v VERSION AS OF 0" in written and "main.o" not in written


def test_a_table_that_stays_has_no_ids_of_its_former_definition(engine: FakeEngine) -> None:
    """Models that read it would take them for a key."""
    table = engine.tables["main.v"]
    assert decode(table.properties["idivm.ids"]) == ["id"]
    outcome = refreshed(engine, replace(MODEL, keys={}))
    assert (outcome.mode, engine.labels("write")) == ("migrated", [])
    assert decode(table.properties["idivm.ids"]) == []


def test_a_table_with_constraints_is_replaced(engine: FakeEngine) -> None:
    """They are those of the former contract."""
    engine.tables["main.v"].properties["delta.constraints.idivm_1"] = "id > 0"
    assert (refreshed(engine, NARROW).mode, engine.labels("write")) == ("migrated", ["build main.v"])


def code(outcome: Outcome) -> str:
    assert outcome.mode == "full"
    return (outcome.reason or "").partition(" ")[0]


def test_a_full_refresh_rebuilds(engine: FakeEngine) -> None:
    assert code(refreshed(engine, replace(NARROW, full_refresh=True))) == "IDIVM-401"


def test_a_definition_that_nobody_knows_is_rebuilt(engine: FakeEngine) -> None:
    """As that of a view which a former version built."""
    engine.tables["main.v"].properties.pop("idivm.keys")
    assert code(refreshed(engine, NARROW)) == "IDIVM-402"


def test_a_definition_that_is_another_one_now_is_rebuilt(engine: FakeEngine) -> None:
    """A setting or the layout has changed as well."""
    assert code(refreshed(engine, replace(NARROW, session={"ansi": "false", "time_zone": "UTC"}))) == "IDIVM-402"
    engine.tables["main.v"].columns = {"id": "int", "name": "string"}
    laid_out = replace(MODEL, config={**MODEL.config, "dbt": {"tblproperties": {"a": "b"}}})
    assert code(refreshed(engine, laid_out)) == "IDIVM-402"


@pytest.mark.parametrize(("after", "layout"), [(OTHER, "b"), (NARROW, None)])
def test_the_layout_is_that_of_the_table_that_is_there(engine: FakeEngine, after: ModelRequest, layout: str | None) -> None:
    """Under `on_configuration_change: continue` a table that stays has its former layout; one that is replaced has the new one,
    and its state says so: with the former config it is laid out anew."""
    kept = {"tblproperties": {"a": "b"}, "on_configuration_change": "continue"}
    assert refreshed(engine, replace(after, config={**after.config, "dbt": kept})).mode == "migrated"
    assert engine.tables["main.v"].properties.get("a") == layout
    if layout is None:
        assert refreshed(engine, after).mode == "noop"
    else:
        engine.tables["main.v"].columns = {"number": "int", "name": "string"}
        assert code(refreshed(engine, after)) == "IDIVM-415"


def test_another_table_under_the_name_of_an_upstream_view_is_rebuilt() -> None:
    """It has hidden columns no more, so that its rows are in another table; the stored rows are of none of its versions."""
    engine = FakeEngine()
    engine.source("u__idivm", id="int", name="string")
    engine.tables["main.u"] = Table({"id": "int", "name": "string"}, "VIEW", properties={"idivm.view": encode("main.u__idivm")})
    before = model("select id, name from main.u", {"u": "id"})
    engine.drive(before)
    engine.tables["main.v"].columns = {"id": "int", "name": "string"}
    engine.source("u", id="int", name="string")
    assert code(refreshed(engine, replace(before, sql=f"{before.sql} where id > 1"))) == "IDIVM-402"


def test_rows_over_a_table_that_was_replaced_are_rebuilt_at_once(engine: FakeEngine) -> None:
    """Not taken over first, only to be rebuilt by the refresh that follows: it cannot know how the table was laid out."""
    engine.tables["main.o"].commit("CREATE OR REPLACE TABLE AS SELECT", {"numOutputRows": "5"})
    assert code(refreshed(engine, NARROW)) == "IDIVM-402" and "delete from main.v" not in engine.labels("write")


def test_keys_that_were_not_looked_up_rebuild(engine: FakeEngine) -> None:
    free = {"idivm": {"strategy": "id", "verify": "none"}}
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ((7, "seven", 1),)
    assert refreshed(engine, replace(MODEL, config=free)).mode == "incremental" and not state(engine).checked
    assert code(refreshed(engine, replace(NARROW, config=free))) == "IDIVM-402"


def test_plans_that_do_not_prove_it_rebuild(engine: FakeEngine) -> None:
    """Spark's plans of the SELECT and of ours differ: their rows are compared, as for each build."""
    engine.plans["plan of the planned query"] = "Filter (id#1 > 1)\n+- Relation main.t[id#1] parquet"
    assert refreshed(engine, NARROW).mode == "full"


def test_other_types_than_those_of_a_build_rebuild(engine: FakeEngine) -> None:
    engine.columns_of["columns of the adapted view"] = {"number": "bigint", "name": "string"}
    assert refreshed(engine, OTHER).mode == "full"


@pytest.mark.parametrize(("kind", "mode"), [("string", "migrated"), ("varchar(9)", "full")])
def test_a_column_that_had_another_type_is_rebuilt(kind: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old view did not read it, so that its state says nothing of the type that it had at the version which is read."""
    engine = FakeEngine()
    engine.source("o", id="int", name="string", other="string")
    engine.drive(MODEL)
    engine.tables["main.v"].columns = {"id": "int", "name": "string"}
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ()
    described = engine._describe

    def describe(statement: Statement) -> Reply:
        is_former = " ".join(statement.sql.split()) == "DESCRIBE QUERY SELECT other FROM main.o VERSION AS OF 1"
        return Rows(("col_name", "data_type", "comment"), (("other", kind, None),)) if is_former else described(statement)

    monkeypatch.setattr(engine, "_describe", describe)
    monkeypatch.setattr(adapting, "pays", lambda *given: True)
    wider = replace(MODEL, sql="select o.id, o.name, p.other from main.o left join main.o as p on p.id = o.id")
    outcome = refreshed(engine, wider)
    assert outcome.mode == mode, outcome.reason


JOINED = "select o.id, o.name, c.region from main.o join main.c on c.id = o.cid"
BY_ID = {"idivm": {"strategy": "id", "keys": "declared"}}  # no sizes are asked for


def stored(engine: FakeEngine) -> str:
    """The table of the view's rows, which has another name where it has hidden columns."""
    return "main.v__idivm" if "main.v__idivm" in engine.tables else "main.v"


def joined(sql: str, **keys: str) -> tuple[FakeEngine, ModelRequest]:
    """A view over tables that has been built, and whose table c has changed since."""
    engine = FakeEngine()
    engine.source("o", id="int", name="string", cid="int")
    engine.source("c", id="int", region="string", kind="string")
    request = replace(model(sql, keys or {"o": "id", "c": "id"}), config={**MODEL.config, **BY_ID})
    engine.drive(request)
    built = next(each.sql for each in engine.log if each.label == f"build {stored(engine)}")
    engine.tables[stored(engine)].columns = engine._columns(built.partition(" AS\n")[2])
    engine.tables["main.c"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ()
    return engine, request


def test_a_column_of_a_table_that_is_read_already_is_looked_up() -> None:
    """At the version that the stored rows are of, with the stored rows alone: the other table is not read."""
    engine, before = joined(JOINED)
    outcome = refreshed(engine, replace(before, sql=JOINED.replace("c.region", "c.region, c.kind")))
    assert outcome.mode == "migrated" and (outcome.reason or "").startswith("columns looked up"), outcome.reason
    (written,) = (each.sql for each in engine.log if each.label == "build main.v__idivm")
    assert "main.v__idivm VERSION AS OF 0" in written and "main.c VERSION AS OF 1" in written and "main.o" not in written
    after = read(engine.tables[stored(engine)].commits[-1][-1])
    assert after is not None and (after.versions["main.c"], after.note.edits) == (1, outcome.reason)


def test_a_condition_over_what_is_not_stored_is_looked_up() -> None:
    """Rows leave, but by a DELETE they could not: the stored rows do not say which."""
    engine, before = joined(JOINED)
    outcome = refreshed(engine, replace(before, sql=f"{JOINED} where c.kind = 'n'"))
    assert (outcome.mode, outcome.reason) == ("migrated", "columns looked up, condition narrowed")
    assert engine.labels("write")[0] == "build main.v__idivm"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("select id, name from main.o", "select id, name, cid from main.o"),
        (
            "select a.id, b.name from main.o a join main.o b on b.id = a.cid",
            "select a.id, b.name, b.cid from main.o a join main.o b on b.id = a.cid",
        ),
        (JOINED, JOINED.replace("c.region", "c.region, c.kind, o.cid")),
    ],
)
def test_what_reads_as_many_tables_as_a_rebuild_is_rebuilt_where_sizes_are_not_known(before: str, after: str) -> None:
    engine, request = joined(before)
    assert code(refreshed(engine, replace(request, sql=after))) == "IDIVM-402"


@pytest.mark.parametrize(("kind", "mode"), [("string", "migrated"), ("varchar(9)", "full")])
def test_a_column_that_had_another_type_is_not_looked_up(kind: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, before = joined(JOINED)
    described = engine._describe

    def describe(statement: Statement) -> Reply:
        is_former = " ".join(statement.sql.split()) == "DESCRIBE QUERY SELECT kind FROM main.c VERSION AS OF 1"
        return Rows(("col_name", "data_type", "comment"), (("kind", kind, None),)) if is_former else described(statement)

    monkeypatch.setattr(engine, "_describe", describe)
    assert refreshed(engine, replace(before, sql=JOINED.replace("c.region", "c.region, c.kind"))).mode == mode


def test_a_key_that_is_declared_now_is_looked_up_at_the_version_that_is_read() -> None:
    """Rows are looked up by it: of one that did not hold then, a stored row has two."""
    engine, before = joined(JOINED, o="id")
    after = replace(model(JOINED.replace("c.region", "c.region, c.kind"), {"o": "id", "c": "id"}), config=before.config)
    assert refreshed(engine, after).mode == "migrated"
    checked = [" ".join(each.sql.split()) for each in engine.log if each.label == "check key (id) of main.c"]
    assert any("main.c VERSION AS OF 1 " in each for each in checked), checked


ROWS = 500_000_000
LOOKED_UP = "select o.id, o.name, c.region from main.o left join main.c on c.id = o.id"


def foreseen(sql: str, changed: int = 0, strategy: str = "auto", rows: int = ROWS, before_it: str = MODEL.sql) -> Forecast:
    """The forecast for an edited view of so many rows over a large table, of which some rows have changed since."""
    engine = FakeEngine(written=rows)
    engine.source("o", id="int", name="string").commit("WRITE", {"numOutputRows": str(ROWS)}, parameters={"mode": "Append"})
    engine.source("c", id="int", region="string")
    config = {**MODEL.config, "idivm": {"strategy": strategy}}
    before = replace(model(before_it, {"o": "id", "c": "id"}), config=config)
    engine.drive(before)
    engine.tables["main.v"].columns = {"id": "int", "name": "string"}
    if changed:
        engine.tables["main.o"].commit("UPDATE", {"numUpdatedRows": str(changed)})
    engine.log.clear()
    found: Forecast = drive(engine, forecast(replace(before, sql=sql, existing="table"), Invocation(), engine.kind))
    assert engine.labels("write") == [] == engine.labels("read")
    return found


def test_a_forecast_says_what_the_migration_is_estimated_to_take() -> None:
    told = foreseen(NARROW.sql)
    assert told.mode == "migrated" and told.cost is not None and told.then is None
    assert (told.cost.chosen, told.cost.actual) == ("migration", None)
    assert told.cost.estimate == told.cost.alternatives["migration"] < told.cost.alternatives["rebuild"] / 2
    nothing = foreseen(SAME.sql).cost
    assert nothing is not None and nothing.estimate < 1 < nothing.alternatives["rebuild"]


def test_a_migration_pays_with_the_refresh_that_follows_or_not_at_all() -> None:
    """A rebuild leaves nothing to refresh."""
    few = foreseen(NARROW.sql, ROWS // 20)
    assert few.mode == "migrated" and few.then is not None and few.cost is not None
    rebuild = few.cost.alternatives["rebuild"]
    assert few.then.estimate < few.then.estimate + few.cost.estimate < rebuild
    assert foreseen(NARROW.sql, ROWS // 5).mode == "full"


def test_a_forecast_says_what_the_refresh_after_it_is_estimated_to_take() -> None:
    few, many = (foreseen(NARROW.sql, changed) for changed in (3, ROWS // 1000))
    assert few.cost == many.cost, "it is done at the versions of the old state"
    assert few.then is not None and many.then is not None
    assert few.then.chosen == "id" and few.then.estimate < many.then.estimate
    assert "rebuild" in few.then.alternatives


def test_the_estimate_is_the_one_that_it_is_decided_by() -> None:
    """A look-up reads the stored rows and a small table, where a rebuild reads the large one; all rows are written again."""
    small = foreseen(LOOKED_UP, rows=1000)
    assert small.mode == "migrated" and small.cost is not None
    assert small.cost.alternatives["migration"] < small.cost.alternatives["rebuild"]
    assert (foreseen(LOOKED_UP).mode, foreseen(LOOKED_UP).cost) == ("full", None)


def test_a_column_of_a_small_table_is_estimated_against_reading_the_large_one() -> None:
    narrow = "select o.id, o.name from main.o join main.c on c.id = o.id"
    told = foreseen(narrow.replace("o.name", "o.name, c.region"), rows=1000, before_it=narrow)
    assert told.mode == "migrated" and told.cost is not None
    assert told.cost.alternatives["migration"] < told.cost.alternatives["rebuild"] / 10


def test_sizes_that_are_not_known_give_no_estimate() -> None:
    told = foreseen(NARROW.sql, 3, strategy="id")
    assert (told.mode, told.cost, told.then) == ("migrated", None, None)


FROM_A = replace(MODEL, sql="select id, 'a' as run from main.o where name = 'a'")
FROM_B = replace(MODEL, sql=FROM_A.sql.replace("'a'", "'b'"))
OLD_AND_NEW = ("a", "b", "string", "string")


@pytest.fixture
def of_constants() -> FakeEngine:
    """A view of rows with a constant is built, and a row has been inserted since."""
    engine = FakeEngine()
    engine.source("o", id="int", name="string")
    engine.drive(FROM_A)
    engine.tables["main.v"].columns = {"id": "int", "run": "string"}
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads |= {"net diff": ((7, "b", 1),), "evaluate constants": (OLD_AND_NEW,)}
    engine.merged = (3, 1, 1, 1)
    return engine


def test_constants_that_move(of_constants: FakeEngine) -> None:
    """At the versions of the stored rows; then the view is refreshed. Between the two commits nothing may build upon the rows."""
    engine = of_constants
    before = state(engine)
    found: Forecast = drive(engine, forecast(replace(FROM_B, existing="table"), Invocation(), engine.kind))
    outcome = refreshed(engine, FROM_B)
    assert (found.mode, found.reason) == (outcome.mode, outcome.reason) == ("migrated", "constants moved"), outcome.message
    assert engine.labels("write")[0] == "move constants of main.v" and len(engine.labels("write")) == 2
    written = next(each.sql for each in engine.log if each.label == "move constants of main.v")
    assert "main.o VERSION AS OF 1" in written
    drafts = [each for commit in engine.tables["main.v"].commits if (each := read(commit[-1])) is not None]
    assert [each.trusted for each in drafts[-3:]] == [False, True, True]
    assert drafts[-2].versions == before.versions and drafts[-2].plan["sql"] != before.plan["sql"]
    assert drafts[-2].clock is None and drafts[-2].note.edits == "constants moved"
    assert refreshed(engine, FROM_B).mode == "noop"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (("a", "b", "string", "varchar(1)"), None),
        (OLD_AND_NEW, ("evaluate constants", EngineError("", "[DIVIDE_BY_ZERO] no value. SQLSTATE: 22012"))),
        (OLD_AND_NEW, ("move constants of", EngineError("", "[DIVIDE_BY_ZERO] no number. SQLSTATE: 22012"))),
    ],
)
def test_constants_that_fail_are_rebuilt(
    of_constants: FakeEngine, answer: tuple[str, ...], error: tuple[str, EngineError] | None
) -> None:
    engine = of_constants
    engine.reads["evaluate constants"] = (answer,)
    engine.fail |= dict([error]) if error is not None else {}
    assert code(refreshed(engine, FROM_B)) == "IDIVM-402"


def test_constants_with_one_value_are_no_change(of_constants: FakeEngine) -> None:
    engine = of_constants
    engine.reads["evaluate constants"] = (("a", "a", "string", "string"),)
    assert refreshed(engine, FROM_B).mode == "migrated" and "move constants of main.v" not in engine.labels("write")


def test_constants_beside_a_time_of_writing() -> None:
    """Rows that change get the time of the run, and the others keep theirs."""
    engine, sql = FakeEngine(), "select id, 'a' as run, now() as at from main.o where name = 'a'"
    engine.source("o", id="int", name="string")
    engine.drive(replace(MODEL, sql=sql))
    engine.tables["main.v"].columns = {"id": "int", "run": "string", "at": "timestamp"}
    engine.reads["evaluate constants"] = (OLD_AND_NEW,)
    engine.merged = (3, 1, 1, 1)
    outcome = refreshed(engine, replace(MODEL, sql=sql.replace("'a'", "'b'")))
    assert (outcome.mode, outcome.reason) == ("migrated", "constants moved"), outcome.message
    assert "`at` = NOW()" in next(each.sql for each in engine.log if each.label == "move constants of main.v")
    assert (
        refreshed(engine, replace(MODEL, sql=sql.replace("'a'", "'b'").replace("now()", "date_trunc('day', now())"))).mode
        == "full"
    )


def test_constants_of_a_table_with_constraints_are_rebuilt(of_constants: FakeEngine) -> None:
    of_constants.tables["main.v"].properties["delta.constraints.idivm_1"] = "id > 0"
    assert code(refreshed(of_constants, FROM_B)) == "IDIVM-402"
