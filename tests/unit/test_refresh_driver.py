"""What the driver decides, against an engine that is a script: look-ups and statements per mode, reasons, failures."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.passes import operator_caches
from dbt_idivm.refresh.catalog import history, state, view_settings
from dbt_idivm.refresh.catalog.relations import SHOWN
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine import commits
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.engine.scoped import OVERWRITE_MODE
from dbt_idivm.refresh.forecast import forecast
from dbt_idivm.refresh.protocol import EngineError, Forecast, Refresh, Reply, Rows, Statement
from dbt_idivm.verify import equivalence
from tests.unit.fake_engine import SETTINGS, FakeEngine, Table, drive, model

SQL = "select id, name from main.o"
MODEL = model(SQL, {"o": "id"})
INSERTED = ((7, "seven", 1),)  # one row of a net diff: the cells, the weight
MOVED = (*INSERTED, (8, "eight", -1))


@pytest.fixture
def engine() -> FakeEngine:
    fake = FakeEngine()
    fake.source("o", id="int", name="string", other="array<int>")
    return fake


def built(engine: FakeEngine, request: ModelRequest = MODEL) -> FakeEngine:
    assert engine.drive(request).mode == "create"
    return engine


def change(engine: FakeEngine, rows: int = 1) -> None:
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": str(rows)})
    engine.reads["net diff"] = MOVED


def code(engine: FakeEngine, request: ModelRequest = MODEL) -> str | None:
    outcome = engine.drive(request)
    assert (outcome.mode == "full") == (outcome.reason is not None)
    return outcome.reason.partition(" ")[0] if outcome.reason else None


def failing(engine: FakeEngine, request: ModelRequest = MODEL) -> IdivmError:
    with pytest.raises(IdivmError) as caught:
        engine.drive(request)
    assert caught.value.findings[0].model == request.name
    assert not engine.settings, "settings are taken back, also after a failure"
    return caught.value


def outrun(engine: FakeEngine) -> None:
    """Another refresh is faster at the next write of the view: it has that number, and a commit."""
    view = engine.tables["main.v"]

    def faster() -> None:
        engine.on_write = None
        view.transactions["idivm:main.v"] = len(view.commits) - 1
        view.commit("WRITE", None, "another state")

    engine.on_write = faster


def test_create(engine: FakeEngine) -> None:
    outcome = engine.drive(MODEL)
    assert outcome.message == "create: 5 rows, 2 statements", "the key check and the build"
    assert outcome.relations == (("main", "v", "table"),)
    assert outcome.inputs["orders"].to_version == 1 and outcome.inputs["orders"].from_version is None
    assert set(outcome.artifacts.texts()) == {"plan.txt", "delta_script.sql"}
    create = next(s.sql for s in engine.log if s.label == "build main.v")
    assert "VERSION AS OF 1" in create and "'delta.enableChangeDataFeed'='true'" in create
    found = state.read(engine.tables["main.v"].commits[-1][-1])
    assert found is not None and found.versions == {"main.o": 1}


def test_noop_asks_for_two_histories(engine: FakeEngine) -> None:
    outcome = built(engine).drive(MODEL)
    assert (outcome.mode, outcome.strategy, outcome.statements) == ("noop", None, 0)
    assert [s.label for s in engine.log] == ["history of main.v", "history of main.o"]


def test_histories_of_inputs_are_shared_by_a_run(engine: FakeEngine) -> None:
    other = replace(MODEL, name="w", identifier="w")
    built(engine)
    built(engine, other)
    run = Invocation()
    engine.drive(MODEL, run)
    engine.drive(other, run)
    assert [s.label for s in engine.log] == ["history of main.w"]


def test_a_hundred_models_on_ten_inputs_look_up_ten_histories_of_inputs() -> None:
    """And one of each model, if nothing changed; no rows are read."""
    engine = FakeEngine()
    for number in range(10):
        engine.source(f"i{number}", id="int", name="string")
    models = [
        replace(model(f"select * from main.i{number % 10}"), name=f"m{number}", identifier=f"m{number}") for number in range(100)
    ]
    for each in models:
        engine.drive(each)
    run, statements = Invocation(), []
    for each in models:
        assert engine.drive(each, run).mode == "noop"
        statements += [statement.label for statement in engine.log]
    assert sorted(statements) == sorted(
        f"history of main.{name}" for name in (*(f"i{number}" for number in range(10)), *(f"m{number}" for number in range(100)))
    )


def test_a_view_that_did_not_change_is_pinned_for_its_readers(engine: FakeEngine) -> None:
    above = replace(model("select id from main.v"), name="w", identifier="w")
    built(engine).tables["main.v"].columns = {"id": "int", "name": "string"}
    built(engine, above)
    run = Invocation()
    engine.drive(MODEL, run)
    assert engine.drive(above, run).mode == "noop"
    assert [s.label for s in engine.log] == ["history of main.w"]


def test_incremental(engine: FakeEngine) -> None:
    change(built(engine))
    outcome = engine.drive(MODEL)
    assert outcome.message == "incremental: +1 ~1 -1, 1 input changed, 4 statements"
    assert engine.labels("read") == [
        "net diff of main.o from version 1 to 2",
        "check new keys (id) of main.o",
        "changes of main.v",
    ]
    assert outcome.inputs["orders"].rows == 2
    assert len(engine.labels("setting")) == 6 and not engine.settings
    assert engine.drive(MODEL).mode == "noop"


def fetching(engine: FakeEngine, *rows: tuple[Any, ...]) -> tuple[list[str], str]:
    """A refresh whose source has these rows (id, tag, name): what is read and written for it, and its message."""
    engine.reads["changes of"] = tuple((*row, "int", "string", "string") for row in rows)
    change(built(engine))
    message = engine.drive(MODEL).message
    assert not engine.settings
    return [each.label for each in engine.log if each.kind in ("read", "write")][2:], message


@pytest.mark.parametrize(
    ("kind", "label", "message"), [("del_2", "delete from main.v", "+0 ~0 -5"), ("ins_1", "merge into main.v", "+1 ~1 -1")]
)
def test_the_rows_of_the_source_decide_the_statement(engine: FakeEngine, kind: str, label: str, message: str) -> None:
    found = fetching(engine, (8, kind, "eight"))
    assert found == (["changes of main.v", label], f"incremental: {message}, 1 input changed, 4 statements")
    assert engine.drive(MODEL).mode == "noop"


def test_what_changes_nothing_moves_the_watermark(engine: FakeEngine) -> None:
    """The source has no rows, or they name none of the view: then Delta commits nothing by itself."""
    assert fetching(engine)[0] == ["changes of main.v", "move the watermark of main.v"]
    assert engine.drive(MODEL).mode == "noop"
    engine.written = 0
    engine.reads["changes of"] = ((8, "del_2", "eight", "int", "string", "string"),)
    change(engine)
    assert engine.drive(MODEL).message == "incremental: +0 ~0 -0, 1 input changed, 5 statements"
    assert engine.labels("write") == ["delete from main.v", "move the watermark of main.v"]
    assert engine.drive(MODEL).mode == "noop"


def test_a_delete_that_does_not_say_of_how_many_rows(engine: FakeEngine) -> None:
    """Of whole files without statistics."""
    engine.written = -1
    assert fetching(engine, (8, "del_2", "eight"))[1] == "incremental: +0 ~0 -1, 1 input changed, 4 statements"


def test_a_delete_that_was_skipped(engine: FakeEngine) -> None:
    """Its commit is looked for: without one another run was faster."""
    engine.reads["changes of"] = ((8, "del_2", "eight", "int", "string", "string"),)
    change(built(engine))
    outrun(engine)
    assert failing(engine).codes == ("IDIVM-903",)


def test_a_source_that_cannot_be_fetched_is_merged(engine: FakeEngine) -> None:
    engine.fail["changes of"] = EngineError("ANY", "it broke")
    assert fetching(engine)[0] == ["changes of main.v", "merge into main.v"]


def test_the_look_up_of_a_version_tells_what_led_to_it(engine: FakeEngine) -> None:
    change(built(engine))
    engine.drive(MODEL)
    # before anything is read, and once the change is committed
    assert [label for label in engine.labels("metadata") if "history" in label] == [
        "history of main.v",
        "history of main.o",
        "history of main.o",
        "history of main.v",
    ]


def test_a_view_that_is_many_commits_behind(engine: FakeEngine) -> None:
    """One look-up is not enough then."""
    built(engine)
    for _ in range(30):
        change(engine)
    outcome = engine.drive(MODEL)
    assert (outcome.inputs["orders"].from_version, outcome.inputs["orders"].to_version) == (1, 31)
    before = [each.label for each in engine.log].index("merge into main.v")
    assert [each.label for each in engine.log[:before]].count("history of main.o") == 2


def test_what_was_looked_up_before_a_table_was_pinned_anew_is_not_enough(engine: FakeEngine) -> None:
    """Version 2, without new rows, was looked up; then version 3 was pinned, as that of a view that this run refreshed."""
    built(engine).tables["main.o"].commit("OPTIMIZE")
    run = Invocation()
    drive(engine, history.pinned(Client(invocation=run), "main.o"))
    change(engine)
    history.pin(Client(invocation=run), "main.o", drive(engine, history.latest(Client(), "main.o")))
    assert engine.drive(MODEL, run).mode == "incremental"


def test_an_upstream_commit_without_rows_is_not_read(engine: FakeEngine) -> None:
    built(engine).tables["main.o"].commit("OPTIMIZE")
    outcome = engine.drive(MODEL)
    assert (outcome.mode, outcome.statements) == ("noop", 0)


def test_a_large_change_stays_in_the_engine(engine: FakeEngine) -> None:
    change(built(engine), rows=5000)
    outcome = engine.drive(MODEL)
    assert engine.labels("read") == [
        "changed keys of main.o from version 1 to 2",
        "check new keys (id) of main.o",
        "U+FFFD in the change feed of main.o",
        "net diff of main.o from version 1 to 2",
    ]
    assert outcome.inputs["orders"].rows is None and outcome.statements == 5
    assert any("BROADCAST" in s.sql for s in engine.log) and not engine.staged, "staged rows are dropped"
    feeds = [each.sql for each in engine.log if "TABLE_CHANGES" in each.sql]
    assert len(feeds) == 4 and all("TABLE_CHANGES('main.o', 2, 2)" in each for each in feeds), "version 1 is in the view"


def test_a_change_of_a_variant_alone(engine: FakeEngine) -> None:
    """The rows that are fetched do not show it, because no VARIANT is fetched: the parts of it are computed from the feed."""
    engine.source("t", id="int", v="variant")
    parts = model("select id, try_variant_get(v, '$.a', 'int') as a from main.t", {"t": "id"})
    built(engine, parts)
    engine.tables["main.t"].commit("UPDATE", {"numUpdatedRows": "1"})
    engine.reads["net diff"] = ()
    assert engine.drive(parts).mode == "incremental" and engine.labels("write") == ["merge into main.v"]


def test_new_keys_are_looked_up_where_they_may_be(engine: FakeEngine) -> None:
    """A literal range lets Delta skip files; without new keys nothing is looked up."""
    change(built(engine), rows=5000)
    engine.reads["changed keys"] = ((9, 0, 5000, "7", "-3", 1, "-3", "7", 1),)
    engine.drive(MODEL)
    (looked_up,) = [each.sql for each in engine.log if each.label.startswith("check new keys")]
    assert "`stored`.id BETWEEN 7 AND -3 OR `stored`.id IS NULL" in " ".join(looked_up.split())
    change(engine, rows=5000)
    engine.reads["changed keys"] = ((0, 3, 5000, None, None, 0, "1", "7", 0),)
    engine.drive(MODEL)
    assert not any(label.startswith("check new keys") for label in engine.labels("read"))


def test_what_is_joined_with_staged_rows_is_read_where_it_may_match(engine: FakeEngine) -> None:
    engine.source("o", id="int", cid="int")
    engine.source("c", id="int", name="string")
    joined = model("select o.id, c.name from main.o join main.c on o.cid = c.id", {"o": "id", "c": "id"})
    built(engine, joined)
    change(engine, rows=5000)
    engine.reads["changed keys"] = ((9, 0, 5000, "7", "9", 0, "7", "900", 0, "20", "30", 4),)
    engine.drive(joined)
    (merge,) = [" ".join(each.sql.split()) for each in engine.log if each.kind == "write"]
    assert "c.id BETWEEN 20 AND 30" in merge


def test_a_large_change_of_few_classes(engine: FakeEngine) -> None:
    """The statement has nothing for those that are empty. Two models ask once."""
    other = replace(MODEL, name="w", identifier="w")
    built(engine)
    change(built(engine, other), rows=5000)
    engine.reads["changed keys"] = ((0, 0, 5000),)
    run = Invocation()
    for each, asked in ((MODEL, True), (other, False)):
        engine.drive(each, run)
        assert (sum(label.startswith("changed keys") for label in engine.labels("read")) == 1) is asked
        (merge,) = (statement.sql for statement in engine.log if statement.kind == "write")
        assert "THEN UPDATE" in merge and "NOT MATCHED" not in merge and "DELETE" not in merge
    change(engine, rows=5000)
    engine.reads["changed keys"] = ((5000, 0, 0),)
    engine.drive(MODEL)
    assert engine.labels("write") == ["append to main.v"]


@pytest.mark.parametrize("failing_step", ["net diff", "merge"])
def test_what_was_staged_goes_after_a_failure_too(engine: FakeEngine, failing_step: str) -> None:
    change(built(engine), rows=5000)
    engine.fail[failing_step] = EngineError("INTERNAL_ERROR", "it broke")
    assert failing(engine).codes == ("IDIVM-902",)
    assert "drop view idivm_net_1" in engine.labels("metadata") and not engine.staged


def test_a_gap_is_seen_where_a_large_change_is_staged(engine: FakeEngine) -> None:
    change(built(engine), rows=5000)
    engine.fail["net diff"] = EngineError("DELTA_MISSING_CHANGE_DATA", "gone")
    assert code(engine) == "IDIVM-403"


def test_a_very_large_change_is_not_broadcast(engine: FakeEngine) -> None:
    change(built(engine), rows=2_000_000)
    engine.drive(MODEL)
    assert not any("BROADCAST" in s.sql for s in engine.log)


def test_a_change_that_is_larger_than_its_metrics_say(engine: FakeEngine) -> None:
    change(built(engine), rows=1)
    for rows in (INSERTED * 1001, ((7, "seven", 1001),), ((7, "x" * 1_000_001, 1),)):
        engine.reads["net diff"] = rows
        assert engine.drive(MODEL).inputs["orders"].rows is None
        change(engine, rows=1)


@pytest.mark.parametrize("rows", [((7, "\ufffd", 1),), ((7, "\ufffd", 0),)])  # the second: a row that cancels
@pytest.mark.parametrize("invalid_at", [None, 1, 2])
def test_texts_that_a_feed_cannot_show(engine: FakeEngine, rows: tuple[tuple[object, ...], ...], invalid_at: int | None) -> None:
    """A real U+FFFD is a text; where the table has bytes that are not UTF-8, before or after, the view is rebuilt."""
    change(built(engine), rows=1)
    engine.reads |= {"net diff": rows, "U+FFFD": ((1,),), f"texts of main.o at version {invalid_at}": ((1,),)}
    outcome = engine.drive(MODEL)
    assert (outcome.mode, (outcome.reason or "")[:9]) == (("incremental", "") if invalid_at is None else ("full", "IDIVM-416"))


def test_a_server_that_cannot_ask_for_utf_8(engine: FakeEngine) -> None:
    change(built(engine), rows=1)
    engine.reads |= {"net diff": ((7, "\ufffd", 1),), "U+FFFD": ((1,),)}
    engine.fail["texts of main.o"] = EngineError("INTERNAL_ERROR", "it broke")
    assert failing(engine).codes == ("IDIVM-902",)
    engine.fail["texts of main.o"] = EngineError("UNRESOLVED_ROUTINE", "Cannot resolve function `is_valid_utf8`")
    assert code(engine) == "IDIVM-416"


class OnDay(Invocation):
    """A run on a day of January 2026."""

    def __init__(self, day: int) -> None:
        super().__init__()
        self.day = day

    def now(self) -> dt.datetime:
        return dt.datetime(2026, 1, self.day, tzinfo=dt.UTC)


def test_marks_move_when_they_are_old(engine: FakeEngine) -> None:
    def committed(table: str, operation: str, day: int) -> None:
        engine.tables[table].commit(operation)
        engine.tables[table].commits[-1] = (
            *engine.tables[table].commits[-1][:1],
            f"2026-01-{day:02}T00:00:00",
            *engine.tables[table].commits[-1][2:],
        )

    built(engine)
    note = engine.tables["main.v"].commits[-1][-1]
    engine.tables["main.v"].commits = [(0, "2026-01-02T00:00:00", "CREATE TABLE AS SELECT", {}, {}, note)]
    assert engine.drive(MODEL, OnDay(16)).statements == 0
    committed("main.o", "OPTIMIZE", 10)
    assert engine.drive(MODEL, OnDay(13)).statements == 0
    moved = engine.drive(MODEL, OnDay(14))
    assert (moved.mode, moved.statements) == ("noop", 1), "the unread version has used half of the retention period"
    engine.tables["main.v"].commits[1:] = []
    engine.tables["main.o"].commits.pop()
    assert engine.drive(MODEL, OnDay(18)).statements == 1, "the commit that holds the state is renewed"


@pytest.mark.parametrize(
    "asked, expected",
    [
        (replace(MODEL, full_refresh=True), "IDIVM-401"),
        (replace(MODEL, sql="select id, upper(name) as name from main.o"), "IDIVM-402"),
        (replace(MODEL, keys={}), "IDIVM-402"),
        (replace(MODEL, session={"ansi": "false", "time_zone": "UTC"}), "IDIVM-409"),
        (replace(MODEL, session={"ansi": "true", "time_zone": "CET"}), "IDIVM-409"),
        (replace(MODEL, sql="select id, max(name) over (partition by id) as name from main.o"), "IDIVM-402"),
        (replace(MODEL, sql="select   id, name /* the same */ from main.o"), None),
    ],
)
def test_reasons_in_the_request(engine: FakeEngine, asked: ModelRequest, expected: str | None) -> None:
    assert code(built(engine), asked) == expected


def configured(**dbt: object) -> ModelRequest:
    return replace(MODEL, config={"idivm": {"strategy": "id"}, "dbt": dbt})


def test_another_layout_is_applied_by_a_rebuild(engine: FakeEngine) -> None:
    built(engine)
    assert code(engine, configured(tblproperties={"a": "b"})) == "IDIVM-415"
    assert "'a'='b'" in next(s.sql for s in engine.log if s.label == "build main.v")
    assert engine.drive(configured(tblproperties={"a": "b"})).mode == "noop"


def test_another_layout_waits_for_a_rebuild(engine: FakeEngine) -> None:
    later = configured(tblproperties={"a": "b"}, on_configuration_change="continue")
    built(engine)
    for _ in range(2):
        change(engine)
        outcome = engine.drive(later)
        assert outcome.mode == "incremental" and "stays as it was created" in outcome.warnings[0]
        assert engine.drive(later).warnings, "it warns as long as it is so, also when there is nothing to do"
    rebuilt = engine.drive(replace(later, full_refresh=True))
    assert rebuilt.reason is not None and rebuilt.reason.startswith("IDIVM-401") and not rebuilt.warnings
    assert "'a'='b'" in next(s.sql for s in engine.log if s.label == "build main.v")
    assert engine.drive(later).warnings == ()


def test_another_layout_can_be_an_error(engine: FakeEngine) -> None:
    request = configured(tblproperties={"a": "b"}, on_configuration_change="fail")
    assert failing(built(engine), request).codes == ("IDIVM-106",)
    assert engine.labels("write") == []
    assert code(engine, replace(request, full_refresh=True)) == "IDIVM-401"


def test_other_columns_can_be_an_error(engine: FakeEngine) -> None:
    request = replace(configured(on_schema_change="fail"), sql="select id, name, 1 as one from main.o")
    built(engine).tables["main.v"].columns = {"id": "int", "name": "string"}
    engine.query_columns = {"id": "int", "name": "string", "one": "int"}
    assert failing(engine, request).codes == ("IDIVM-107",)
    assert engine.labels("write") == []
    engine.query_columns = {"id": "int", "name": "string"}
    request = replace(request, sql="select distinct id, name from main.o")
    assert code(engine, request) == "IDIVM-402", "another SELECT with the same columns"


def test_another_strategy_is_no_other_definition(engine: FakeEngine) -> None:
    """What is stored depends on none, so that each may do the refresh after another."""
    totals = {
        each: model("select name, sum(id) as total from main.o group by name", {"o": "id"}, strategy=each)
        for each in ("auto", "recompute", "tuple", "id", "incremental")
    }
    built(engine, totals["auto"])
    for each in ("recompute", "tuple", "id", "recompute", "incremental"):
        change(engine)
        outcome = engine.drive(totals[each])
        assert (outcome.mode, outcome.strategy) == ("incremental", each if each in ("recompute", "tuple") else "id")


def test_caches_are_a_choice(engine: FakeEngine) -> None:
    """Without them a sum needs no hidden columns; choosing otherwise is another definition."""
    groups = model("select name, sum(id) as total from main.o group by name", {"o": "id"})
    plain = model("select name, sum(id) as total from main.o group by name", {"o": "id"}, caches="none")
    assert [kind for *_, kind in engine.drive(plain).relations] == ["table"]
    assert code(engine, plain) is None and code(engine, groups) == "IDIVM-402"
    assert [kind for *_, kind in engine.drive(groups).relations] == ["view", "table"]
    assert code(engine, plain) == "IDIVM-402"


@pytest.mark.parametrize(
    ("sql", "before"),
    [
        ("select name, sum(id) * 2 as total from main.o group by name", ["view", "table"]),
        ("select name, count(*) as n, cast(min(id) as string) as m from main.o group by name", ["table"]),
    ],
)
def test_other_operator_caches_are_another_definition(
    engine: FakeEngine, sql: str, before: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A view that was stored without a call that is now an operator cache is rebuilt once, when an input has changed."""
    request = model(sql, {"o": "id"})
    caches = operator_caches._caches
    with monkeypatch.context() as patch:
        patch.setattr(
            operator_caches,
            "_caches",
            lambda node: tuple(call for call in caches(node) if call not in node.calls or call.name == "v__n"),
        )
        assert [kind for *_, kind in engine.drive(request).relations] == before
    change(engine)
    assert code(engine, request) == "IDIVM-402"
    change(engine)
    outcome = engine.drive(request)
    assert outcome.mode == "incremental" and [kind for *_, kind in outcome.relations] == ["view", "table"]


def test_a_rebuild_with_the_same_schema_overwrites(engine: FakeEngine) -> None:
    built(engine).tables["main.v"].columns = {"id": "int", "name": "string"}
    engine.drive(replace(MODEL, full_refresh=True))
    assert engine.labels("write") == ["rebuild main.v"]
    engine.drive(replace(MODEL, sql="select id, name as n from main.o"))
    assert engine.labels("write") == ["build main.v"]


def test_a_type_that_is_widened_between_pinning_and_looking_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model with nothing to do pins a version of a source; the next model, which reads it as it was then, sees the columns of
    today. The run after it rebuilds, and not in a table that has the former type."""
    engine = FakeEngine()
    source, other = engine.source("o", id="int", price="int"), engine.source("c", id="int", region="string")
    source.properties["delta.enableTypeWidening"] = "true"
    idle = replace(model("select id from main.o", {"o": "id"}), name="w", identifier="w")
    late = model("select o.id, o.price, c.region from main.o join main.c on o.id = c.id", {"o": "id", "c": "id"})
    for each in (idle, late):
        engine.drive(each)
    engine.tables["main.v"].columns = {"id": "int", "price": "int", "region": "string"}
    other.commit("WRITE", {"numOutputRows": "1"})
    run = Invocation()
    assert engine.drive(idle, run).mode == "noop"
    source.columns["price"], source.epoch = "bigint", "A"  # before the commit of the view
    source.commit("CHANGE COLUMN")
    described = engine._describe

    def describe(statement: Statement) -> Reply:
        was = Rows(("col_name", "data_type", "comment"), (("id", "int", None), ("price", "int", None)))
        return was if statement.label == "columns of main.o at version 1" else described(statement)

    monkeypatch.setattr(engine, "_describe", describe)
    assert engine.drive(late, run).mode == "full"
    engine.tables["main.v"].columns = {"id": "int", "price": "int", "region": "string"}
    outcome = engine.drive(late)
    assert outcome.mode == "full" and "IDIVM-412" in (outcome.reason or "")
    assert engine.labels("write") == ["build main.v"]
    engine.tables["main.v"].columns = {"id": "int", "price": "bigint", "region": "string"}
    assert engine.drive(late).mode == "noop"
    assert engine.drive(replace(late, full_refresh=True)).mode == "full" and engine.labels("write") == ["rebuild main.v"]


@pytest.mark.parametrize(
    "operation, expected",
    [
        ("UPDATE", "IDIVM-405"),
        ("RESTORE", "IDIVM-405"),
        ("TRUNCATE", "IDIVM-405"),
        ("WRITE", "IDIVM-405"),
        ("RENAME COLUMN", "IDIVM-405"),
        ("CREATE OR REPLACE TABLE AS SELECT", "IDIVM-406"),
        ("OPTIMIZE", None),
        ("VACUUM END", None),
        ("SET TBLPROPERTIES", None),
        ("CHANGE COLUMN", None),
    ],
)
def test_commits_of_others_on_the_view(engine: FakeEngine, operation: str, expected: str | None) -> None:
    built(engine).tables["main.v"].commit(operation)
    assert code(engine) == expected


@pytest.mark.parametrize(
    "operation, parameters, expected",
    [
        ("RENAME COLUMN", {"oldColumnPath": "name", "newColumnPath": "x"}, "IDIVM-423"),
        ("RENAME COLUMN", {"oldColumnPath": "x", "newColumnPath": "NAME"}, "IDIVM-423"),
        ("RENAME COLUMN", {"oldColumnPath": "name.first", "newColumnPath": "name.last"}, "IDIVM-423"),
        ("RENAME COLUMN", '{"oldColumnPath":"other","newColumnPath":"name"}', "IDIVM-423"),  # as Thrift has a map
        ("RENAME COLUMN", {"oldColumnPath": "other", "newColumnPath": "another"}, None),
        ("DROP COLUMNS", {"columns": '["other","id"]'}, "IDIVM-423"),
        ("DROP COLUMNS", {"columns": '["other"]'}, None),
        ("REPLACE COLUMNS", {"columns": '[{"column":{"name":"n\\"ame"}}]'}, "IDIVM-423"),
        ("RENAME COLUMN", None, "IDIVM-423"),
        ("ADD COLUMNS", {"columns": '["name"]'}, None),
        ("CHANGE COLUMN", {"column": "name"}, None),
    ],
)
def test_columns_under_new_names(engine: FakeEngine, operation: str, parameters: Any, expected: str | None) -> None:
    """The feed shows nothing of them, and the columns that the model reads are there, with their types."""
    built(engine).tables["main.o"].commit(operation, None, None, parameters)
    assert code(engine) == expected
    assert engine.drive(MODEL).mode == "noop"


RENAMED = ("RENAME COLUMN", None, None, {"oldColumnPath": "name", "newColumnPath": "x"})
OTHERS = ("RENAME COLUMN", None, None, {"oldColumnPath": "other", "newColumnPath": "another"})
WRITTEN = ("WRITE", {"numOutputRows": "1"}, None, {"mode": "Append"})


def restoring(version: str | None) -> tuple[Any, ...]:
    return "RESTORE", None, None, {"version": version, "timestamp": None if version else "2026-01-01"}


@pytest.mark.parametrize(
    "before, restore, expected",
    [
        ((RENAMED,), restoring("1"), "IDIVM-423"),
        ((RENAMED, WRITTEN), restoring("1"), "IDIVM-423"),
        ((RENAMED, WRITTEN), restoring("2"), None),
        ((WRITTEN, WRITTEN), restoring("1"), None),
        ((OTHERS,), restoring("1"), None),
        ((RENAMED,), restoring(None), "IDIVM-423"),
        ((WRITTEN,), restoring(None), None),  # to a time
        ((RENAMED,), (*restoring("1")[:3], '{"timestamp":null,"version":"1"}'), "IDIVM-423"),  # as Thrift has a map
        ((WRITTEN,), (*restoring("1")[:3], '{"timestamp":null,"version":"1"}'), None),
        ((RENAMED, restoring("1"), WRITTEN), restoring("2"), "IDIVM-423"),
        ((RENAMED, RENAMED, restoring("1"), WRITTEN), restoring("3"), "IDIVM-423"),
        ((OTHERS, restoring("1")), restoring("2"), None),
        (("CREATE OR REPLACE TABLE AS SELECT", "CREATE OR REPLACE TABLE AS SELECT"), restoring("1"), "IDIVM-423"),
        ((("WRITE", None, None, {"mode": "Overwrite"}),), restoring("1"), "IDIVM-423"),
    ],
)
@pytest.mark.parametrize("mapping", ["name", "id", "none"])
def test_columns_under_former_names(
    engine: FakeEngine, mapping: str, before: tuple[Any, ...], restore: tuple[Any, ...], expected: str | None
) -> None:
    """The names that columns had before they were renamed are theirs again, in one commit that may change no row."""
    table = engine.tables["main.o"]
    table.properties["delta.columnMapping.mode"] = mapping
    for each in before:
        table.commit(*((each,) if isinstance(each, str) else each))
    built(engine)
    table.commit(*restore)
    assert code(engine) == (expected if mapping != "none" else None)
    assert engine.drive(MODEL).mode == "noop"


def test_columns_under_former_names_that_the_log_does_not_show(engine: FakeEngine) -> None:
    table = engine.tables["main.o"]
    table.properties["delta.columnMapping.mode"] = "name"
    for _ in range(20):
        table.commit(*WRITTEN)
    built(engine)
    table.commit(*restoring("4"))
    table.commits = table.commits[5:]
    assert code(engine) is None
    table.commit(*restoring("4"))
    table.commits = table.commits[2:]
    assert code(engine) == "IDIVM-423"
    assert engine.drive(MODEL).mode == "noop"


@pytest.mark.parametrize(
    "operation, expected",
    [
        ("CREATE OR REPLACE TABLE AS SELECT", "IDIVM-424"),
        ("RESTORE", "IDIVM-424"),
        ("CLONE", "IDIVM-424"),
        ("SET TBLPROPERTIES", None),
        ("UPGRADE PROTOCOL", None),
    ],
)
@pytest.mark.parametrize(
    "before, now",
    [
        ({}, {"partitions": ("name",)}),
        ({"partitions": ("name",)}, {}),
        ({"properties": {"delta.enableChangeDataFeed": "true", "delta.columnMapping.mode": "name"}}, {}),
    ],
)
def test_an_input_that_is_laid_out_in_another_way(
    engine: FakeEngine, before: dict[str, Any], now: dict[str, Any], operation: str, expected: str | None
) -> None:
    """Delta reads the former files by the partitions and the mapping of today. A setting rewrites no file."""
    table = engine.tables["main.o"]
    usual = {"partitions": (), "properties": dict(table.properties)}
    vars(table).update(usual | before)
    built(engine)
    vars(table).update(usual | now)
    table.commit(operation)
    assert code(engine) == expected
    assert engine.drive(MODEL).mode == "noop"


@pytest.mark.parametrize("moment, expected", [("b", "IDIVM-424"), ("c", None)])
def test_an_input_that_is_replaced_between_the_look_ups_of_its_version_and_of_its_layout(
    engine: FakeEngine, moment: str, expected: str | None
) -> None:
    """What is recorded is the layout of today then. Whoever replaced it has done so before the state was written, or after."""
    table = engine.tables["main.o"]
    built(engine)
    engine.tables["main.v"].commits = [(version, f"b{version}", *rest) for version, _, *rest in engine.tables["main.v"].commits]
    table.epoch = "a9" if moment == "b" else moment
    table.commit("CREATE OR REPLACE TABLE AS SELECT")
    assert code(engine) == expected
    assert engine.drive(MODEL).mode == "noop"


@pytest.mark.parametrize(
    "columns, expected",
    [
        ({"id": "int", "NAME": "string", "other": "array<int>"}, "IDIVM-412"),
        ({"ID": "int", "name": "string", "other": "array<int>"}, "IDIVM-412"),
        ({"id": "int", "name": "string collate UTF8_LCASE", "other": "array<int>"}, "IDIVM-408"),
        ({"id": "int", "name": "string", "OTHER": "array<int>"}, None),
    ],
)
def test_an_input_that_is_replaced_with_names_of_another_case_or_a_collation(
    engine: FakeEngine, columns: dict[str, str], expected: str | None
) -> None:
    """Delta renames no column so in one step; a table that is replaced may have such names. Delta 4.4 refuses a collation."""
    table = built(engine).tables["main.o"]
    table.columns = columns
    table.commit("CREATE OR REPLACE TABLE AS SELECT")
    engine.reads["net diff"] = MOVED
    assert code(engine) == expected
    assert engine.drive(MODEL).mode == "noop"


@pytest.mark.parametrize("sql", [SQL, "select * from main.o"])
def test_a_change_feed_that_is_switched_on_after_the_view_was_built(engine: FakeEngine, sql: str) -> None:
    """No column of the input and no declared key is another one, whether the model reads all columns or some of them."""
    request = replace(MODEL, sql=sql)
    engine.tables["main.o"].properties = {}
    assert "IDIVM-303" in (engine.drive(request).reason or "")
    engine.tables["main.o"].properties = {"delta.enableChangeDataFeed": "true"}
    engine.tables["main.o"].commit("SET TBLPROPERTIES")
    assert code(engine, request) == "IDIVM-426"
    change(engine)
    assert engine.drive(request).mode == "incremental"


def test_an_input_that_is_replaced_and_laid_out_as_before(engine: FakeEngine) -> None:
    engine.tables["main.o"].partitions = ("name",)
    built(engine).tables["main.o"].commit("CREATE OR REPLACE TABLE AS SELECT")
    engine.reads["net diff"] = MOVED
    assert engine.drive(MODEL).mode == "incremental"


def test_the_state_is_found_behind_many_quiet_commits(engine: FakeEngine) -> None:
    built(engine)
    for _ in range(30):
        engine.tables["main.v"].commit("OPTIMIZE")
    assert engine.drive(MODEL).mode == "noop"
    assert engine.labels("metadata") == ["history of main.v"] * 3 + ["history of main.o"]


def test_an_input_that_is_another_table(engine: FakeEngine) -> None:
    built(engine)
    for versions in (1, 2, 4):
        engine.tables.pop("main.o")
        table = engine.source("o", id="int", name="string", other="array<int>")
        table.commits.clear()
        table.epoch = f"other{versions}-"
        for _ in range(versions):
            table.commit("WRITE", {"numOutputRows": "1"})
        assert code(engine) == "IDIVM-404"


def test_a_log_that_was_cleaned_up_is_no_other_table(engine: FakeEngine) -> None:
    built(engine)
    source = engine.tables["main.o"]
    source.commit("WRITE", {"numOutputRows": "1"})
    source.commits = source.commits[-1:]
    assert code(engine) == "IDIVM-403"


def test_a_view_that_is_further_than_this_run(engine: FakeEngine) -> None:
    """Another run consumed a newer version than the one that this run pinned: nothing to do, and no error."""
    built(engine)
    run = Invocation()
    engine.drive(replace(MODEL, name="w", identifier="w"), run)
    change(engine)
    engine.drive(MODEL)
    assert engine.drive(MODEL, run).mode == "noop"


def test_a_view_that_is_further_than_this_run_in_one_of_its_inputs(engine: FakeEngine) -> None:
    """The state keeps the newer version. With the older one the next run would apply the same changes again."""
    engine.source("c", id="int", name="string")
    joined = model("select o.id, c.name from main.o join main.c on o.id = c.id", {"o": "id", "c": "id"})
    built(engine, joined)
    older = Invocation()
    other = model("select id, name from main.c", {"c": "id"})
    engine.drive(replace(other, name="w", identifier="w"), older)
    engine.tables["main.c"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = MOVED
    assert engine.drive(joined).mode == "incremental"
    change(engine)
    assert engine.drive(joined, older).mode == "incremental"
    found = state.read(engine.tables["main.v"].commits[-1][-1])
    assert found is not None and {name: each.version for name, each in found.inputs.items()} == {"main.o": 2, "main.c": 2}


@pytest.mark.parametrize(
    "error",
    [
        "DELTA_MISSING_CHANGE_DATA",
        "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA",
        "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION",
        "FAILED_READ_FILE.FILE_NOT_EXIST",
        "DELTA_TRUNCATED_TRANSACTION_LOG",
    ],
)
def test_gaps_of_the_feed(engine: FakeEngine, error: str) -> None:
    change(built(engine))
    engine.fail["net diff"] = EngineError(error, "gone")
    assert code(engine) == "IDIVM-403"


def test_errors_of_the_engine(engine: FakeEngine) -> None:
    change(built(engine))
    for error, expected in (("DELTA_CONCURRENT_APPEND", "IDIVM-903"), ("ARITHMETIC_OVERFLOW", "IDIVM-902"), ("", "IDIVM-902")):
        engine.fail["merge"] = EngineError(error, "it broke")
        found = failing(engine)
        assert found.codes == (expected,) and "main.o at version 1" in str(found)
    engine.fail = {"net diff": EngineError("INTERNAL_ERROR", "it broke")}
    assert failing(engine).codes == ("IDIVM-902",)


def test_a_server_that_cannot_replace_tables(engine: FakeEngine) -> None:
    built(engine)
    refused = "Table v does not support truncate in batch mode.;"
    engine.fail["build main.v"] = EngineError("UNSUPPORTED_FEATURE.TABLE_OPERATION", refused)
    changed = replace(MODEL, sql="select id from main.o")
    assert failing(engine, changed).codes == ("IDIVM-506",)


def test_a_merge_that_was_skipped(engine: FakeEngine) -> None:
    change(built(engine))
    outrun(engine)
    assert failing(engine).codes == ("IDIVM-903",)


@pytest.mark.parametrize("carries_state", [True, False])
def test_a_commit_right_after_an_append(engine: FakeEngine, carries_state: bool) -> None:
    """Auto compaction follows an INSERT within its statement, and so may others: the append is applied all the same."""
    view = built(engine).tables["main.v"]
    change(engine)
    engine.reads["net diff"] = INSERTED
    insert = engine._insert

    def followed(statement: Statement) -> Reply:
        reply = insert(statement)
        view.commit("OPTIMIZE", {"numRemovedFiles": "3"}, view.commits[-1][-1] if carries_state else None)
        return reply

    engine._insert = followed  # type: ignore[method-assign]
    outcome = engine.drive(MODEL)
    assert (outcome.mode, outcome.rows_inserted) == ("incremental", engine.written)
    assert engine.drive(MODEL).mode == "noop"


@pytest.mark.parametrize("rows", [INSERTED, MOVED])
@pytest.mark.parametrize(("operation", "reason"), [("WRITE", "IDIVM-405"), ("DELETE", "IDIVM-405"), ("OPTIMIZE", None)])
def test_a_write_of_others_during_a_refresh(
    engine: FakeEngine, rows: tuple[tuple[Any, ...], ...], operation: str, reason: str | None
) -> None:
    """Rows that were written between the look at the view and its change: the next refresh rebuilds the view."""
    view = built(engine).tables["main.v"]
    change(engine)
    engine.reads["net diff"] = rows
    engine.on_write = lambda: view.commit(operation, {"numOutputRows": "1"})
    assert engine.drive(MODEL).mode == "incremental"
    engine.on_write = None
    assert code(engine) == reason
    assert engine.drive(MODEL).mode == "noop"


@pytest.mark.parametrize("refreshes", [1, 3])
@pytest.mark.parametrize(("sql", "table"), [(SQL, "main.v"), ("select name from main.o", "main.v__idivm")])
def test_a_view_that_others_create_again_during_a_refresh(engine: FakeEngine, sql: str, table: str, refreshes: int) -> None:
    """Its versions begin anew, and the refresh changes rows that it has not looked at, under a number that later writes would not
    exceed: it is replaced at once."""
    asked = replace(MODEL, sql=sql)
    view = built(engine, asked).tables[table]
    for _ in range(refreshes):
        change(engine)
        assert engine.drive(asked).mode == "incremental"
    change(engine)

    def again() -> None:
        engine.on_write = None
        vars(view).update(commits=[], transactions={}, epoch="b")
        view.commit("CREATE TABLE AS SELECT")

    engine.on_write = again
    assert code(engine, asked) == "IDIVM-406"
    assert engine.drive(asked).mode == "noop"
    change(engine)
    assert engine.drive(asked).mode == "incremental"


@pytest.mark.parametrize(
    "asked",
    [
        replace(MODEL, full_refresh=True),
        replace(MODEL, sql="select id, name, id + 1 as next from main.o"),
        replace(MODEL, sql="select name from main.o", full_refresh=True),
    ],
)
@pytest.mark.parametrize("later", [{}, {"full_refresh": True}])
def test_a_view_that_others_drop_before_its_rebuild(engine: FakeEngine, asked: ModelRequest, later: dict[str, Any]) -> None:
    """The table that comes instead has a number of the former one: Delta skips what is written under those of its own versions,
    though nobody has written since."""
    built(engine, replace(asked, full_refresh=False))
    for _ in range(3):
        change(engine)
        engine.drive(replace(asked, full_refresh=False))
    view = engine.tables["main.v__idivm" if "main.v__idivm" in engine.tables else "main.v"]

    def dropped() -> None:
        engine.on_write = None
        view.commits.clear()
        view.transactions.clear()

    engine.on_write = dropped
    if not asked.full_refresh:
        asked = replace(asked, sql=asked.sql.replace("+ 1", "+ 2"))
    assert failing(engine, replace(asked, full_refresh=True)).codes == ("IDIVM-903",)
    asked = replace(asked, full_refresh=False)
    assert engine.drive(asked).mode == "noop" and len(view.commits) == 1
    change(engine)
    outcome = engine.drive(replace(asked, **later))
    assert outcome.mode == "full" and (later or (outcome.reason or "").startswith("IDIVM-406"))
    assert engine.drive(replace(asked, **{**later, "full_refresh": False})).mode == "noop"
    change(engine)
    assert engine.drive(replace(asked, **{**later, "full_refresh": False})).mode == "incremental"


@pytest.mark.parametrize(
    ("mode", "around"),
    [("DYNAMIC", ["static", "DYNAMIC"]), ("STATIC", []), ("<undefined>", ["static", f"RESET `{OVERWRITE_MODE}"])],
)
def test_a_rebuild_replaces_the_rows_of_all_partitions(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, mode: str, around: list[str]
) -> None:
    """A session may be set to replace only partitions that get rows; dbt-spark's `insert_overwrite` leaves it so."""
    view = built(engine).tables["main.v"]
    view.columns = {"id": "int", "name": "string", "# Partition Information": ""}
    monkeypatch.setitem(SETTINGS, OVERWRITE_MODE, mode)
    engine.drive(replace(MODEL, full_refresh=True))
    assert engine.labels("write") == ["rebuild main.v"]
    at = [s.sql for s in engine.log].index(next(s.sql for s in engine.log if s.kind == "write"))
    sets = [
        (i < at, s.sql.rpartition("=")[2].strip("`"))
        for i, s in enumerate(engine.log)
        if s.kind == "setting" and OVERWRITE_MODE in s.sql
    ]
    assert [value for _, value in sets] == around and [first for first, _ in sets] == [True, False][: len(around)]


def test_a_rebuild_that_was_skipped(engine: FakeEngine) -> None:
    """Another refresh wrote the view between the look at it and the rebuild, which is under the same number."""
    view = built(engine).tables["main.v"]
    outrun(engine)
    assert failing(engine, replace(MODEL, full_refresh=True, run_id="another")).codes == ("IDIVM-903",)
    view.commits.pop()
    view.transactions.clear()
    assert engine.drive(replace(MODEL, full_refresh=True)).mode == "full"
    assert view.transactions == {"idivm:main.v": 0}


def test_the_failure_of_a_write_is_reported_not_that_of_the_clean_up(engine: FakeEngine) -> None:
    change(built(engine))
    engine.fail = {"merge": EngineError("", "the connection is gone"), "reset": EngineError("", "no session")}
    with pytest.raises(IdivmError, match=r"the engine failed on: merge into main\.v"):
        engine.drive(MODEL)


GROUPS = model("select name, sum(id) as total from main.o group by name", {"o": "id"})  # a view over a table


def test_tables_of_the_model_that_it_does_not_need_go(engine: FakeEngine) -> None:
    """Whether the definition changed, or an interrupted refresh left them; others' tables stay."""
    engine.drive(GROUPS)
    assert code(engine, MODEL) == "IDIVM-402"
    assert set(engine.tables) == {"main.o", "main.v"} and engine.labels("metadata")[-1] == "drop table main.v__idivm"
    for place in ("v__idivm", "v__idivm_new"):
        engine.tables[f"main.{place}"] = replace(engine.tables["main.v"])
    assert engine.drive(MODEL).mode == "noop"
    assert set(engine.tables) == {"main.o", "main.v"}
    engine.source("v__idivm", id="int")
    engine.drive(MODEL)
    assert "main.v__idivm" in engine.tables


def test_a_view_keeps_its_rows_until_it_can_show_the_new_ones(engine: FakeEngine) -> None:
    engine.drive(GROUPS)
    engine.tables["main.v"].columns = {"name": "string", "total": "bigint"}
    other = replace(GROUPS, sql=GROUPS.sql.replace("sum(id)", "sum(id + 1)"))
    steps = Refresh(refresh(replace(other, existing="view"), Invocation()))
    while steps.statement is not None and steps.statement.label != "build main.v__idivm":
        engine.log.append(steps.statement)
        steps.answer(engine.answer(steps.statement))
    held = [s.sql for s in engine.log if s.label == "create view main.v"][-1]
    assert "main.v__idivm VERSION AS OF 0" in held
    # it is interrupted; whatever the next definition is, the view is created again
    assert engine.drive(GROUPS).mode == "noop"
    assert "create view main.v" in engine.labels("metadata")
    engine.drive(GROUPS)
    assert engine.labels("metadata") == ["columns of main.v", "history of main.v__idivm", "history of main.o"]


def test_a_rebuild_that_broke_off_before_its_view_is_finished(engine: FakeEngine) -> None:
    engine.drive(GROUPS)
    engine.tables["main.v"].properties.pop(SHOWN)
    with pytest.raises(IdivmError, match="IDIVM-904"):
        engine.ask(equivalence("main", "v"))
    assert engine.drive(GROUPS).statements == 0
    assert SHOWN in engine.tables["main.v"].properties
    assert "main.v" in engine.ask(equivalence("main", "v"))


def test_files_that_no_table_of_the_catalog_has(engine: FakeEngine) -> None:
    """An interrupted CREATE left them: they are replaced."""
    engine.fail["build"] = EngineError("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "not empty")
    answer, asked = engine.answer, []

    def once(statement):  # type: ignore[no-untyped-def]
        reply = answer(statement)
        if statement.label.startswith("build"):
            asked.append(statement.sql.split(" TABLE")[0])
            engine.fail.clear()
        return reply

    engine.answer = once  # type: ignore[method-assign]
    assert engine.drive(MODEL).mode == "create" and asked == ["CREATE", "CREATE OR REPLACE"]


def test_an_entry_of_the_catalog_without_files(engine: FakeEngine) -> None:
    """An interrupted DROP or RENAME left it: the table is built, and what is not needed is dropped."""
    lost = EngineError("DELTA_PATH_DOES_NOT_EXIST", "no files")
    built(engine).tables["main.v__idivm_new"] = replace(engine.tables["main.o"])
    engine.fail = {"columns of main.v__idivm_new": lost}
    assert engine.drive(MODEL).mode == "noop" and "main.v__idivm_new" not in engine.tables
    engine.fail = {"columns of main.v": lost, "history of main.v": EngineError("DELTA_TABLE_ONLY_OPERATION", "no table")}
    engine.on_write = lambda: engine.fail.clear()
    assert code(engine) == "IDIVM-406"


def test_a_pinned_version_that_is_too_old_is_pinned_anew(engine: FakeEngine) -> None:
    built(engine)
    change(engine)
    error = EngineError("DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION", "too old")
    engine.fail["merge"] = error
    answer = engine.answer

    def once(statement):  # type: ignore[no-untyped-def]
        reply = answer(statement)
        if reply is error:
            engine.fail.clear()
            change(engine)
        return reply

    engine.answer = once  # type: ignore[method-assign]
    outcome = engine.drive(MODEL)
    assert outcome.inputs["orders"].to_version == 3 and "newer versions" in outcome.warnings[0]


def test_broken_keys(engine: FakeEngine) -> None:
    engine.reads["check key"] = ((2, 1, 3),)
    assert failing(engine).codes == ("IDIVM-305",)
    engine.reads.clear()
    change(built(engine))
    engine.reads["check new keys"] = ((7,),)
    assert "id = 7" in str(failing(engine))
    engine.reads = {"net diff": ((7, "a", 1), (7, "b", 1))}
    assert failing(engine, replace(MODEL, config={"idivm": {"strategy": "id", "verify": "none"}})).codes == ("IDIVM-306",)


def test_keys_of_the_config_come_first(engine: FakeEngine) -> None:
    engine.drive(model(SQL, {"o": "id"}, keys={"orders": ["name"]}))
    assert engine.labels("read") == ["check key (name) of main.o"]
    engine.tables.pop("main.v")
    engine.drive(model(SQL, {"o": "id"}, keys={"main.o": []}))
    assert engine.labels("read") == []
    engine.tables.pop("main.v")
    assert failing(engine, model(SQL, keys={"orders": ["nam"]})).codes == ("IDIVM-304",)
    unknown = failing(engine, model(SQL, keys={"ordres": ["id"]}))
    assert unknown.codes == ("IDIVM-103",) and "did you mean `orders`" in str(unknown)


def test_keys_of_relations_that_other_models_read(engine: FakeEngine) -> None:
    """Keys of a folder are given to all its models."""
    shared = replace(model(SQL, keys={"o": "id", "Ordres": "nam"}), relations={"ordres", "main.ordres"})
    engine.drive(shared)
    assert engine.labels("read") == ["check key (id) of main.o"]


def test_no_trust_after_a_partial_build(engine: FakeEngine) -> None:
    outcome = engine.drive(replace(MODEL, restricted=True))
    assert outcome.mode == "create" and "IDIVM-414" in (outcome.reason or "")
    assert code(engine) == "IDIVM-410"


def test_user_metadata_is_ascii_and_set_for_the_write_only(engine: FakeEngine) -> None:
    seen: list[str] = []
    engine.on_write = lambda: seen.append(engine.settings[commits.USER_METADATA])
    engine.drive(MODEL)
    assert len(seen) == 1 and seen[0].isascii() and not engine.settings


def test_unique_key_of_the_output(engine: FakeEngine) -> None:
    engine.drive(model(SQL, {"o": "id"}, unique_key="id"))
    assert engine.labels("read") == ["check key (id) of main.o"], "IDs are unique by construction"
    engine.tables.pop("main.v")
    engine.reads["check unique_key"] = ((1, "twice", 2),)
    assert failing(engine, model(SQL, {"o": "id"}, unique_key=["name"])).codes == ("IDIVM-305",)
    assert failing(engine, model(SQL, {"o": "id"}, unique_key=["nam"])).codes == ("IDIVM-304",)
    assert "main.v" not in engine.tables
    engine.reads.clear()
    assert engine.drive(model(SQL, unique_key=["NAME"], strategy="full")).mode == "create", "its columns are asked for"
    engine.tables.pop("main.v")
    assert failing(engine, model(SQL, unique_key=["nam"], strategy="full")).codes == ("IDIVM-304",)


def test_a_model_without_rules_says_so_at_once(engine: FakeEngine) -> None:
    windowed = model("select id, row_number() over (order by name) as n from main.o", ties="rebuild")
    assert "IDIVM-408 no incremental rules: IDIVM-203" in (engine.drive(windowed).reason or "")
    assert engine.drive(windowed).mode == "noop"
    change(engine)
    assert code(engine, windowed) == "IDIVM-408"
    assert failing(engine, replace(windowed, config={"idivm": {"on_unsupported": "error", "ties": "rebuild"}})).codes == (
        "IDIVM-203",
    )


def test_ids_of_an_upstream_view_are_checked_after_a_write_by_others(engine: FakeEngine) -> None:
    """A clone keeps the property that names the IDs, and anybody may write to it or to the view itself."""
    built(engine).tables["main.v"].columns = {"id": "int", "name": "string"}
    above = replace(model("select id, name from main.v"), name="w", identifier="w")
    assert engine.drive(above).statements == 1, "unique by construction"
    engine.tables["main.v"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["check key (id) of main.v"] = ((1, 7, 2),)
    assert failing(engine, replace(above, full_refresh=True)).codes == ("IDIVM-305",)


def foreseen(engine: FakeEngine, request: ModelRequest = MODEL) -> Forecast:
    """The forecast; nothing may be written or set for it."""
    engine.log = []
    present = replace(request, existing="table" if "main.v" in engine.tables else None)
    result: Forecast = drive(engine, forecast(present, Invocation(), engine.kind))
    assert not engine.labels("write") and not engine.labels("setting")
    return result


def test_a_forecast_is_what_the_refresh_does(engine: FakeEngine) -> None:
    def agree(request: ModelRequest = MODEL) -> Forecast:
        expected = foreseen(engine, request)
        done = engine.drive(request)
        assert (expected.mode, expected.reason, expected.inputs) == (done.mode, done.reason, done.inputs)
        assert done.mode in ("noop", "create") or expected.strategy == done.strategy
        return expected

    assert agree().mode == "create"
    assert agree().mode == "noop"
    change(engine)
    expected = agree()
    assert (expected.mode, expected.shape, expected.inputs["orders"].rows) == ("incremental", "direct", 2)
    assert expected.sql is not None and expected.sql.startswith("MERGE INTO main.v")
    change(engine, 5000)
    assert agree().inputs["orders"].rows is None
    assert agree(replace(MODEL, full_refresh=True)).reason == "IDIVM-401 a full refresh was requested"
    engine.tables["main.v"].commit("DELETE")
    assert agree().mode == "full"


def test_a_forecast_raises_as_the_refresh_would(engine: FakeEngine) -> None:
    with pytest.raises(IdivmError) as caught:
        foreseen(engine, replace(MODEL, sql="select id from main.nowhere"))
    assert caught.value.codes == ("IDIVM-301",)


def test_changes_that_the_condition_keeps_out_need_no_statement_but_their_own(engine: FakeEngine) -> None:
    """Readily ignorable updates: the net diff is read, and neither the view nor a table."""
    few = model("select id, name from main.o where id > 100", {"o": "id"})
    engine.drive(few)
    change(engine)
    outcome = engine.drive(few)
    assert (outcome.mode, outcome.inputs["orders"].rows) == ("noop", 0)
    assert engine.labels("write") == []


def over_a_view(engine: FakeEngine) -> ModelRequest:
    engine.tables["main.p"] = Table({"id": "int", "name": "string"}, "VIEW", "", {}, text="select id, name from main.o")
    return model("select id, name from main.p", {"o": "id"})


def test_a_view_made_under_the_session_s_settings_is_followed(engine: FakeEngine) -> None:
    request = over_a_view(engine)
    built(engine, request)
    assert engine.drive(request).mode == "noop"
    change(engine)
    assert engine.drive(request).mode == "incremental"


@pytest.mark.parametrize(
    "settings, expected",
    [
        ({"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "Asia/Tokyo"}, "IDIVM-311"),
        ({"spark.sql.ansi.enabled": "false", "spark.sql.session.timeZone": "UTC"}, "IDIVM-311"),
        ({"spark.sql.session.timeZone": "UTC"}, "IDIVM-311"),
        ({"spark.sql.ansi.enabled": "true"}, "IDIVM-311"),
        ({"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC", "spark.sql.a.setting": "1"}, "IDIVM-311"),
        (
            {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC", "spark.sql.timestampType": "TIMESTAMP_NTZ"},
            "IDIVM-311",
        ),
        ({"spark.sql.ansi.enabled": "TRUE", "spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "7"}, None),
        (None, "IDIVM-312"),
    ],
)
def test_a_view_made_under_other_settings_is_read_as_it_is(
    engine: FakeEngine, settings: dict[str, str] | None, expected: str | None
) -> None:
    request = over_a_view(engine)
    engine.tables["main.p"].settings = settings
    outcome = engine.drive(request)
    create = next(s.sql for s in engine.log if s.label == "build main.v")
    assert (outcome.reason is None) if expected is None else (expected in str(outcome.reason))
    assert ("FROM main.o" in create) is (expected is None)
    assert engine.drive(request).mode == ("noop" if expected is None else "full")


def test_a_view_made_anew_under_other_settings_is_another_one(engine: FakeEngine) -> None:
    request = over_a_view(engine)
    built(engine, request)
    settings = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "Asia/Tokyo"}
    engine.tables["main.p"].settings = settings
    assert engine.drive(request).mode == "full"


@pytest.mark.parametrize("current", ["false", "true"])
@pytest.mark.parametrize("collation, expected", [("UTF8_LCASE", "IDIVM-311"), ("UNICODE", "IDIVM-311"), ("UTF8_BINARY", None)])
def test_a_view_with_a_default_collation_is_read_as_it_is(
    engine: FakeEngine, collation: str, expected: str | None, current: str
) -> None:
    """It is that of the view whichever settings count."""
    request = over_a_view(engine)
    engine.settings[view_settings._OURS_FOR_ALL] = current
    built(engine, request)
    engine.tables["main.p"].collation = collation
    outcome = engine.drive(request)
    assert (outcome.mode, expected or "") == (("noop", "") if expected is None else ("full", "IDIVM-311"))
    assert expected is None or (expected in str(outcome.reason) and engine.drive(request).mode == "full")


@pytest.mark.parametrize("rows", [((7, "a", 1), (7, "b", 1)), ((7, "a", -1), (7, "b", -1))])
def test_a_violated_key_is_found_when_the_net_diff_is_read(
    engine: FakeEngine, rows: tuple[tuple[Any, ...], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nobody looks it up in the input, and whatever image shows it: no statement is built from such rows."""
    request = replace(MODEL, config={"idivm": {"strategy": "id", "verify": "none"}})
    built(engine, request)
    change(engine, 2)
    engine.reads["net diff"] = rows
    monkeypatch.setattr("dbt_idivm.refresh.decide.choose.choose_late", None)
    assert failing(engine, request).codes == ("IDIVM-306",)


def test_artifacts_are_rendered_only_when_they_are_read(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """And their digest changes if and only if their texts would."""
    monkeypatch.setattr("dbt_idivm.refresh.decide.artifacts.delta_script", None)
    first = engine.drive(MODEL).artifacts.made_from
    change(engine)
    second = engine.drive(MODEL)
    assert second.mode == "incremental" and second.artifacts.made_from == first
    change(engine)
    assert engine.drive(replace(MODEL, sql=MODEL.sql + " where id > 1")).artifacts.made_from != first
