"""Changes of many inputs are read by few statements; whatever one statement does not answer is asked of each input alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.changes import net_diffs, verify_keys
from dbt_idivm.refresh.decide.costs import Costs
from dbt_idivm.refresh.engine.engine import EMBEDDED, SPARK_DELTA
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.engine.together import grouped
from dbt_idivm.refresh.protocol import EngineError, Reply, Statement
from dbt_idivm.script.diff import INLINE_ROWS
from tests.unit.fake_engine import FakeEngine, model

FEED_FILE = (1, 2, 1, 0, 0)  # file actions of a commit that has a feed of its own
GONE = EngineError("DELTA_MISSING_CHANGE_DATA", "the feed was cleaned up")


def union(count: int, **config: Any) -> Any:
    sql = " union all ".join(f"select {number} as tenant, id, name from main.t{number}" for number in range(count))
    return model(sql, {f"t{number}": "id" for number in range(count)}, **config)


def made(count: int, kind: Any = EMBEDDED, **config: Any) -> FakeEngine:
    engine = FakeEngine(kind=kind)
    for number in range(count):
        engine.source(f"t{number}", id="int", name="string")
    assert engine.drive(union(count, **config)).mode == "create"
    return engine


def insert(engine: FakeEngine, number: int, *rows: tuple[Any, ...], reported: int | None = None) -> None:
    """Rows are appended. `reported`: how many, according to the commit."""
    rows = rows or ((7, "new"),)
    table = engine.tables[f"main.t{number}"]
    table.commit("WRITE", {"numOutputRows": str(reported or len(rows))}, parameters={"mode": "Append"})
    engine.reads[f"net diff of main.t{number} from"] = tuple((*row, 1) for row in rows)
    version = len(table.commits) - 1
    if not engine.kind.reads_logs:
        counted = (None,) * len(table.columns)
        engine.reads[f"net diff of main.t{number} from"] = (
            (*counted, version, "insert", len(rows)),
            *((*row, None, None, 1) for row in rows),
        )


def update(engine: FakeEngine, number: int, *, before: int = 1) -> None:
    """One row is updated by a commit with a feed of its own, which has `before` rows from before the update."""
    table = engine.tables[f"main.t{number}"]
    table.commit("UPDATE", {"numUpdatedRows": "1"})
    version = len(table.commits) - 1
    engine.actions[f"main.t{number}", version] = FEED_FILE
    counts = [(None, None, version, f"update_{kind}", rows) for kind, rows in (("preimage", before), ("postimage", 1)) if rows]
    engine.reads[f"net diff of main.t{number} from"] = (
        *counts,
        (7, "new", None, None, 1),
        *[(7, "old", None, None, -1)] * before,
    )


def asked(engine: FakeEngine) -> list[str]:
    """What was read of the changes."""
    return [label.replace("main.", "") for label in engine.labels("read") if not label.startswith("changes of")]


def diffs(*numbers: int) -> list[str]:
    return [f"net diff of t{number} from version 1 to 2" for number in numbers]


def look_ups(*numbers: int) -> list[str]:
    return [f"check new keys (id) of t{number}" for number in numbers]


def explained(engine: FakeEngine) -> list[str]:
    """Of which tables it was asked how they are read."""
    start = "plan of reading "
    return [each.label.removeprefix(start).replace("main.", "") for each in engine.log if each.label.startswith(start)]


def test_plans_that_read_them_are_asked_for_at_once() -> None:
    """They show which texts are padded."""
    engine = made(3)
    assert explained(engine) == ["3 tables, t0 to t2"]
    insert(engine, 0)
    run = Invocation()
    engine.drive(union(3), run)
    assert explained(engine) == ["3 tables, t0 to t2"]
    more = replace(union(4), name="w", identifier="w")
    engine.source("t3", id="int", name="string")
    engine.drive(more, run)
    assert explained(engine) == ["t3"], "what is known is not asked again"


def test_a_padded_text_is_that_of_its_table() -> None:
    engine = FakeEngine()
    for number in range(3):
        engine.source(f"t{number}", id="int", name="string")
    engine.plans["plan of reading main.t1"] = "Project [id#1, staticinvoke(readSidePadding, name#2)]"
    engine.char_columns.add("main.t1 name")
    outcome = engine.drive(union(3))
    assert "IDIVM-228" in (outcome.reason or outcome.message) and "main.t1" in outcome.message
    assert explained(engine) == ["3 tables, t0 to t2", "t0", "t1", "t2"]


@pytest.mark.parametrize("is_set", [True, False])
@pytest.mark.parametrize("count", [1, 3])
def test_a_padded_text_behind_the_columns_that_a_plan_shows(count: int, is_set: bool) -> None:
    """By default Spark shows 25 columns of a list. If that cannot be changed, each text is described."""
    engine = FakeEngine()
    for number in range(count):
        engine.source(f"t{number}", id="int", name="string")
    engine.char_columns.add("main.t0 name")
    setting, cut = "spark.sql.debug.maxToStringFields", "Project [c0#1, c1#2, ... 15 more fields]"
    answer = engine.answer

    def shown(asked: Statement) -> Reply:
        if asked.label.startswith("plan of reading"):
            engine.plans["plan of reading main.t0"] = "readSidePadding" if setting in engine.settings else cut
        return answer(asked)

    engine.answer = shown  # type: ignore[method-assign]
    if not is_set:
        engine.fail[f"set {setting}"] = EngineError("X", "not here")
    outcome = engine.drive(union(count))
    assert "IDIVM-228" in (outcome.reason or outcome.message) and "main.t0" in outcome.message
    assert setting not in engine.settings


def test_each_plan_is_asked_for_if_that_of_all_fails() -> None:
    engine = FakeEngine()
    for number in range(3):
        engine.source(f"t{number}", id="int", name="string")
    engine.fail["plan of reading 3 tables"] = EngineError("X", "no memory")
    assert engine.drive(union(3)).mode == "create"
    assert explained(engine) == ["3 tables, t0 to t2", "t0", "t1", "t2"]


@pytest.mark.parametrize("kind", [EMBEDDED, SPARK_DELTA])
@pytest.mark.parametrize("count", [3, 10, 60])
def test_statements_do_not_grow_with_the_inputs(count: int, kind: Any) -> None:
    engine = made(count, kind)
    assert engine.drive(union(count)).statements == 0
    insert(engine, 1)
    engine.drive(union(count))
    assert asked(engine) == [*diffs(1), *look_ups(1)], "of one input by statements of its own"
    engine = made(count, kind)
    for number in range(count):
        insert(engine, number)
    outcome = engine.drive(union(count))
    assert asked(engine) == [
        f"net diffs of {count} tables, t0 to t{count - 1}",
        f"check new keys of {count} tables, t0 to t{count - 1}",
    ]
    assert outcome.mode == "incremental" and {each.rows for each in outcome.inputs.values()} == {1}


def test_more_inputs_than_one_statement_may_have() -> None:
    engine = made(66)
    for number in range(66):
        insert(engine, number)
    engine.drive(union(66))
    assert asked(engine) == [
        "net diffs of 64 tables, t0 to t63",
        "net diffs of 2 tables, t64 to t65",
        "check new keys of 64 tables, t0 to t63",
        "check new keys of 2 tables, t64 to t65",
    ]


def test_groups_are_limited() -> None:
    assert list(grouped("abcd", lambda group: len(group) <= 2)) == [("a", "b"), ("c", "d")]
    assert list(grouped("abc", lambda group: len(group) <= 2)) == [("a", "b")], "the last one is alone"
    assert list(grouped("abc", lambda group: False)) == []
    assert [len(group) for group in grouped(range(129), lambda _: True)] == [64, 64]


def test_a_statement_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two columns of each table, and one key."""
    monkeypatch.setattr(net_diffs, "MOST_CELLS", 5)
    monkeypatch.setattr(verify_keys, "MOST_CELLS", 3)
    engine = made(5)
    for number in range(5):
        insert(engine, number)
    engine.drive(union(5))
    assert asked(engine)[:2] == ["net diffs of 2 tables, t0 to t1", "net diffs of 2 tables, t2 to t3"]
    assert asked(engine)[2:4] == [*diffs(4), "check new keys of 3 tables, t0 to t2"]
    monkeypatch.undo()
    monkeypatch.setattr(net_diffs, "_MOST_ROWS", 2)
    engine = made(3)
    for number in range(3):
        insert(engine, number)
    engine.drive(union(3))
    assert asked(engine)[:2] == ["net diffs of 2 tables, t0 to t1", *diffs(2)]


def test_wide_and_narrow_tables() -> None:
    """Cells are text there, and a cell that a table lacks is NULL: values and columns are those of each table."""
    engine = FakeEngine()
    engine.source("t0", id="bigint", ok="boolean", at="timestamp", data="binary", of="array<int>")
    engine.source("t1", id="int")
    asked_for = model("select t0.id, t0.ok from main.t0 left semi join main.t1 on t0.id = t1.id", {"t0": "id"})
    engine.drive(asked_for)
    insert(engine, 0, (7, True, -1, "00FF"))
    insert(engine, 1, (7,), (8,))
    run = Invocation()
    assert engine.drive(asked_for, run).mode == "incremental"
    (label, *_), (sql, *_) = asked(engine), [" ".join(each.sql.split()) for each in engine.log if each.kind == "read"]
    assert label == "net diffs of 2 tables, t1 to t0" and "CAST(NULL AS STRING) AS c2" in sql
    known = {key[1]: value for key in run._slots if key[0] == "diff" for value in [run.known(key).diff]}  # type: ignore[index]
    assert known["main.t0"].columns == ("id", "ok", "at", "data") and known["main.t0"].rows == (((7, True, -1, "00FF"), 1),)
    assert known["main.t1"].columns == ("id",) and known["main.t1"].rows == (((7,), 1), ((8,), 1))


def test_each_is_asked_alone_if_the_statement_fails() -> None:
    engine = made(3)
    for number in range(3):
        insert(engine, number)
    engine.fail |= {label: EngineError("X", "no memory") for label in ("net diffs of", "check new keys of")}
    assert engine.drive(union(3)).mode == "incremental"
    assert [each for each in asked(engine) if " of 3 tables" not in each] == [*diffs(0, 1, 2), *look_ups(0, 1, 2)]


def test_an_input_that_cannot_be_read_reports_it_itself() -> None:
    engine = made(3)
    for number in range(3):
        insert(engine, number)
    engine.fail["net diff of main.t1"] = GONE
    outcome = engine.drive(union(3))
    assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-403 ") and "main.t1" in (outcome.reason or "")
    engine = made(3)
    for number in range(3):
        insert(engine, number)
    engine.fail["net diff of main.t1"] = EngineError("X", "no memory")
    with pytest.raises(IdivmError, match=r"net diff of main\.t1"):
        engine.drive(union(3))


def test_a_broken_key_is_that_of_its_input() -> None:
    engine = made(4)
    for number in range(4):
        insert(engine, number, (7 + number, "new"))
    engine.reads["check new keys (id) of main.t2"] = ((9,),)
    with pytest.raises(IdivmError) as failed:
        engine.drive(union(4))
    assert failed.value.codes == ("IDIVM-306",) and "main.t2" in str(failed.value) and "id = 9" in str(failed.value)
    assert asked(engine) == ["net diffs of 4 tables, t0 to t3", "check new keys of 4 tables, t0 to t3", *look_ups(2)]


def test_a_key_that_occurs_twice_in_the_changes() -> None:
    """No query is needed for it, and no other key is looked up before it is reported."""
    engine = made(3)
    insert(engine, 0)
    insert(engine, 1, (7, "one"), (7, "twin"))
    insert(engine, 2)
    with pytest.raises(IdivmError) as failed:
        engine.drive(union(3))
    assert failed.value.codes == ("IDIVM-306",) and "main.t1" in str(failed.value)
    assert asked(engine) == ["net diffs of 3 tables, t0 to t2"]


def test_an_input_with_many_rows_stays_in_the_engine() -> None:
    engine = made(3)
    insert(engine, 0)
    insert(engine, 1, reported=INLINE_ROWS + 1)
    insert(engine, 2)
    outcome = engine.drive(union(3))
    assert asked(engine)[0] == "net diffs of 2 tables, t0 to t2" and "check new keys of 2 tables, t0 to t2" in asked(engine)
    assert outcome.inputs["main.t1"].rows is None and outcome.inputs["main.t0" if "main.t0" in outcome.inputs else "t0"].rows == 1


def test_an_input_with_more_rows_than_its_commit_reports() -> None:
    """The LIMIT of all rows may have cut any of them."""
    engine = made(3)
    insert(engine, 0)
    insert(engine, 1, *((number, "many") for number in range(5)), reported=1)
    insert(engine, 2)
    outcome = engine.drive(union(3))
    assert asked(engine)[:4] == ["net diffs of 3 tables, t0 to t2", *diffs(0, 1, 2)]
    assert sorted(each.rows or 0 for each in outcome.inputs.values()) == [1, 1, 5]


def test_copies_of_a_row_and_altered_texts_leave_the_others_as_they_are() -> None:
    """Rows that count as more than can be inlined, and a text that may stand for another one."""
    engine = made(3)
    insert(engine, 0)
    for number, row in ((1, (7, "new", INLINE_ROWS + 1)), (2, (7, "\ufffd", 1))):
        insert(engine, number)
        engine.reads[f"net diff of main.t{number} from"] = (row,)
    outcome = engine.drive(union(3))
    assert asked(engine)[0] == "net diffs of 3 tables, t0 to t2" and not set(diffs(0, 1, 2)) & {*asked(engine)[:2]}
    assert [each.rows for each in outcome.inputs.values()] == [1, None, None]


def test_rows_of_feeds_are_counted_by_the_same_statement() -> None:
    """Where one input needs it; no other statement proves a feed."""
    engine = made(3)
    insert(engine, 0)
    update(engine, 1)
    update(engine, 2)
    outcome = engine.drive(union(3))
    assert asked(engine) == ["net diffs of 3 tables, t0 to t2", *look_ups(0)] and not outcome.warnings
    assert [each.rows for each in outcome.inputs.values()] == [1, 2, 2]
    assert "GROUPING SETS" in next(each.sql for each in engine.log if each.label.startswith("net diffs"))


def test_a_feed_that_does_not_add_up_is_not_used() -> None:
    engine = made(3)
    insert(engine, 0)
    update(engine, 1, before=0)
    update(engine, 2)
    engine.reads["difference of main.t1"] = ((7, "new", 1), (7, "old", -1))
    outcome = engine.drive(union(3))
    (warning,) = outcome.warnings
    assert warning.startswith("IDIVM-427 version 2 of main.t1") and "has 0 rows from before updates" in warning
    assert asked(engine)[:2] == ["net diffs of 3 tables, t0 to t2", "difference of t1 from version 1 to 2"]
    assert [each.rows for each in outcome.inputs.values()] == [1, 2, 2]


def test_what_nothing_proves_is_not_read_with_the_others() -> None:
    engine = made(3, SPARK_DELTA)
    for number in range(3):
        insert(engine, number)
    engine.tables["main.t1"].commits[-1] = (*engine.tables["main.t1"].commits[-1][:4], {}, None)  # without metrics
    engine.reads["difference of main.t1"] = ((7, "new", 1),)
    outcome = engine.drive(union(3))
    assert asked(engine)[:2] == ["net diffs of 2 tables, t0 to t2", "difference of t1 from version 1 to 2"]
    assert outcome.mode == "incremental" and len(outcome.warnings) == 1


def test_a_rewritten_table_has_a_limit_of_its_own() -> None:
    engine = made(3)
    for number in range(3):
        insert(engine, number)
    table = engine.tables["main.t1"]
    table.commits[-1] = (2, "a2", "WRITE", {"mode": "Overwrite"}, {"numOutputRows": "5"}, None)
    engine.drive(union(3))
    assert asked(engine)[:2] == ["net diffs of 2 tables, t0 to t2", *diffs(1)]
    assert "LIMIT 1001" in next(each.sql for each in engine.log if each.label.startswith("net diff of main.t1"))


def test_models_of_a_run_share_what_was_read() -> None:
    """Also where another model reads one of the inputs alone."""
    engine, run = made(3), Invocation()
    single = replace(model("select id, name from main.t1", {"t1": "id"}), name="w", identifier="w")
    twin = replace(union(3), name="u", identifier="u")
    for each in (single, twin):
        engine.drive(each)
    for number in range(3):
        insert(engine, number)
    engine.drive(union(3), run)
    for each in (single, twin):
        assert engine.drive(each, run).mode == "incremental" and asked(engine) == []
    for number in range(3):
        insert(engine, number)
    run = Invocation()
    engine.drive(single, run)
    engine.drive(twin, run)
    assert asked(engine) == ["net diffs of 2 tables, t0 to t2", "check new keys of 2 tables, t0 to t2"]


def test_keys_of_other_types_are_looked_up_apart() -> None:
    engine = FakeEngine()
    for number, kind in enumerate(("int", "int", "string", "string", "bigint")):
        engine.source(f"t{number}", id=kind, name="string")
    joins = " ".join(f"left join main.t{number} on t0.name = t{number}.name" for number in range(1, 5))
    asked_for = model(f"select t0.id, t1.name from main.t0 {joins}", {f"t{number}": "id" for number in range(5)})
    engine.drive(asked_for)
    for number in range(5):
        insert(engine, number)
    engine.drive(asked_for)
    assert [label for label in asked(engine) if label.startswith("check new keys")] == [
        "check new keys of 2 tables, t0 to t1",
        "check new keys of 2 tables, t2 to t3",
        *look_ups(4),
    ]


def test_new_keys_are_looked_up_where_they_may_be() -> None:
    """In each table between its own keys, so that Delta skips files."""
    engine = made(2)
    insert(engine, 0, (7, "a"), (9, "b"))
    insert(engine, 1, (100, "c"), (105, "d"), (107, "e"))
    engine.drive(union(2))
    sql = next(" ".join(each.sql.split()) for each in engine.log if each.label.startswith("check new keys"))
    first, second = sql.split("UNION ALL")
    assert "`stored`.id BETWEEN 7 AND 9" in first and "`stored`.id BETWEEN 100 AND 107" in second
    assert "main.t0 VERSION AS OF 2" in first and "BROADCAST" in first and "BROADCAST" in second


def test_a_sample_of_the_new_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_keys, "SAMPLE", 1)
    for verify, expected in (("sample", True), ("none", False)):
        engine = made(2, verify=verify)
        insert(engine, 0, (7, "a"), (90, "b"))
        insert(engine, 1)
        engine.drive(union(2, verify=verify))
        found = [each.sql for each in engine.log if each.label.startswith("check new keys")]
        assert bool(found) is expected and not any("90" in sql for sql in found)


def test_no_question_is_locked_while_a_common_statement_runs() -> None:
    """Another thread may hold one of them, and ask for another one."""
    engine, run = made(3), Invocation()
    for number in range(3):
        insert(engine, number)
    locked: list[tuple[str, Any]] = []
    answer = engine.answer

    def looking(statement: Any) -> Any:
        if " of 3 tables" in statement.label:
            locked.extend((statement.label, key) for key, slot in run._slots.items() if slot.lock.locked())
        return answer(statement)

    engine.answer = looking  # type: ignore[method-assign]
    engine.drive(union(3), run)
    assert len([label for label in asked(engine) if " of 3 tables" in label]) == 2 and not locked


def test_one_query_is_expected_for_the_inputs_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for the net diffs, and one for their new keys: `auto` would rebuild if it expected one for each input."""
    expected = []
    seconds = Costs.reading_seconds.fget
    assert seconds is not None

    def counted(costs: Costs) -> float:
        expected.append((costs.reading.queries, costs._looking_up({}).queries))
        return float(seconds(costs))

    monkeypatch.setattr(Costs, "reading_seconds", property(counted))
    for inserted in ((0,), (0, 1, 2, 3)):
        engine = made(5, strategy="auto")
        for number in range(5):
            insert(engine, number) if number in inserted else update(engine, number)
        engine.drive(union(5, strategy="auto"))
    assert set(expected) == {(1, 1)}
