"""The choice by cost in whole refreshes, against an engine that is a script: what is chosen, from which facts, and what it
asks for."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dbt.adapters.idivm.response import maintenance_response
from dbt_idivm.cost.choice import REBUILD, Alternative
from dbt_idivm.cost.sizes import Size
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.catalog import sizes, state
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.note import Note
from dbt_idivm.refresh.decide import costs
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.forecast import forecast
from dbt_idivm.refresh.protocol import EngineError, Reply, Statement
from dbt_idivm.script.found_rows import MOST_ROWS
from tests.unit.fake_engine import FakeEngine, drive, model

KEYS = {"o": "id", "c": "id"}
JOIN = "select o.id, o.price, c.name from main.o join main.c on o.cid = c.id"
LARGE = 500_000_000
BIG = "500000000"


def request(sql: str = JOIN, **config: Any) -> ModelRequest:
    return model(sql, KEYS, **{"strategy": "auto", **config})


class Clock(Invocation):
    """A write takes so many seconds."""

    def __init__(self, engine: FakeEngine, seconds: dict[str, float], **given: Any) -> None:
        super().__init__(warm_up=0, **given)
        self.now_ = 0.0
        engine.on_write = lambda: self.spend(engine.log[-1].label, seconds)

    def spend(self, label: str, seconds: dict[str, float]) -> None:
        self.now_ += next((each for start, each in seconds.items() if label.startswith(start)), 0.0)

    def seconds(self) -> float:
        return self.now_


@pytest.fixture
def engine() -> FakeEngine:
    fake = FakeEngine()
    fake.source("o", id="int", cid="int", price="int")
    fake.source("c", id="int", name="string")
    return fake


def grown(engine: FakeEngine, rows: str = BIG) -> FakeEngine:
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": rows}, parameters={"mode": "Append"})
    return engine


def built(engine: FakeEngine, asked: ModelRequest | None = None) -> FakeEngine:
    assert engine.drive(asked or request()).mode == "create"
    return engine


def renamed(engine: FakeEngine, customers: int = 1) -> None:
    engine.tables["main.c"].commit("UPDATE", {"numUpdatedRows": str(customers)})
    engine.reads["net diff of main.c"] = ((7, "old", -1), (7, "new", 1))


def stored(engine: FakeEngine) -> state.State:
    found = state.read(engine.tables["main.v__idivm"].commits[-1][-1])
    assert found is not None
    return found


def test_a_tiny_view_is_rebuilt_before_anything_is_read(engine: FakeEngine) -> None:
    built(engine)
    renamed(engine)
    outcome = engine.drive(request())
    assert outcome.mode == "full" and outcome.message.startswith("full: 5 rows, IDIVM-411 a rebuild takes about ")
    assert "; incremental pays from about " in outcome.message
    assert engine.labels("read") == [], "a rebuild relies on no key"
    assert [label.removeprefix("re") for label in engine.labels("write")] == ["build main.v__idivm"]
    assert outcome.cost is not None and outcome.cost.chosen == REBUILD
    assert outcome.cost.alternatives[REBUILD] == min(outcome.cost.alternatives.values())


def test_a_commit_says_why_it_was_a_rebuild_and_what_was_estimated(engine: FakeEngine) -> None:
    """And the state is the same as without that."""
    built(engine)
    assert stored(engine).note == Note(), "nothing is estimated for a first build"
    renamed(engine)
    rebuilt = engine.drive(request(), forced(REBUILD))
    assert rebuilt.cost is not None and stored(engine).note == Note(rebuilt.reason or "", rebuilt.cost.estimate)
    renamed(engine)
    done = engine.drive(request(), forced())
    assert done.mode == "incremental" and done.cost is not None and stored(engine).note == Note("", done.cost.estimate)
    asked = engine.drive(replace(request(), full_refresh=True))
    assert stored(engine).note == Note(asked.reason or "") == Note("IDIVM-401 a full refresh was requested")


def forced(name: str = "") -> Invocation:
    """An invocation that chooses that alternative; without a name the first one that is no rebuild."""
    return Invocation(choose=lambda found: next(each for each in found if (each.name == name if name else each.name != REBUILD)))


def rebuilt_after_insert(engine: FakeEngine) -> None:
    """The view is rebuilt by cost, with rows of c that came with version 2."""
    built(engine)
    engine.tables["main.c"].commit("WRITE", {"numOutputRows": "2"}, parameters={"mode": "Append"})
    assert engine.drive(request(), forced(REBUILD)).mode == "full"


def test_keys_that_a_rebuild_leaves_are_looked_up_before_a_refresh_relies_on_them(engine: FakeEngine) -> None:
    """At the version that the rebuild read, among what had come until then; once."""
    rebuilt_after_insert(engine)
    assert {name: each.version for name, each in stored(engine).unverified.items()} == {"main.c": 1} and stored(engine).checked
    for _ in range(2):
        renamed(engine)
        assert engine.drive(request(), forced(REBUILD)).mode == "full"
        assert {name: each.version for name, each in stored(engine).unverified.items()} == {"main.c": 1}, "since the last look-up"
    renamed(engine)
    assert engine.drive(request(), forced()).mode == "incremental"
    assert engine.labels("read")[:-1] == ["net diff of main.c from version 4 to 5", "check new keys (id) of main.c"]
    (check,) = (each.sql for each in engine.log if each.label.startswith("check new keys"))
    assert "VERSION AS OF 4" in check and "TABLE_CHANGES('main.c', 2, 4)" in check.upper().replace("MAIN.C", "main.c")
    assert stored(engine).unverified == {}
    renamed(engine)
    assert engine.drive(request(), forced()).mode == "incremental"
    assert [label for label in engine.labels("read") if label.startswith("check")] == []


def test_the_look_up_is_no_part_of_the_choice(engine: FakeEngine) -> None:
    """It is made once; were it counted, a view that was rebuilt once would be rebuilt for ever."""
    asked = request("select cid, sum(price) as total from main.o group by cid")
    grown(engine, "3000000")
    built(engine, asked)
    grown(engine, "3000000")
    assert engine.drive(asked, forced(REBUILD)).mode == "full"
    found = []
    for _ in range(2):
        engine.tables["main.o"].commit("UPDATE", {"numUpdatedRows": "1"})
        engine.reads["net diff of main.o"] = ((7, 1, 10, -1), (7, 1, 11, 1))
        outcome = engine.drive(asked)
        assert outcome.mode == "incremental" and outcome.cost is not None, outcome.message
        found.append(("check new keys (id) of main.o" in engine.labels("read"), outcome.cost.alternatives))
    assert found == [(True, found[0][1]), (False, found[0][1])]


def test_many_rebuilds_over_a_table_that_is_replaced_leave_one_look_at_all_keys(engine: FakeEngine) -> None:
    """The feed of all of them has more rows than the table."""
    built(engine)
    for _ in range(30):
        engine.tables["main.c"].commit("WRITE", {"numOutputRows": "5"}, parameters={"mode": "Overwrite"})
        engine.drive(request(), forced(REBUILD))
    renamed(engine)
    assert engine.drive(request(), forced()).mode == "incremental"
    assert engine.labels("read")[-2] == "check key (id) of main.c"
    assert "VERSION AS OF 31" in next(each.sql for each in engine.log if each.label == "check key (id) of main.c")


def test_a_net_diff_that_shows_that_a_key_did_not_hold_before(engine: FakeEngine) -> None:
    """Two rows of one key are gone: that is no change that breaks it."""
    rebuilt_after_insert(engine)
    engine.tables["main.c"].commit("DELETE", {"numDeletedRows": "2"})
    engine.reads |= {"net diff of main.c": ((7, "one", -1), (7, "twin", -1)), "check new keys (id) of main.c": ((7,),)}
    assert (engine.drive(request(), forced()).reason or "").startswith("IDIVM-419 ")


def test_a_change_that_breaks_a_key_after_a_rebuild_is_an_error(engine: FakeEngine) -> None:
    rebuilt_after_insert(engine)
    engine.tables["main.c"].commit("WRITE", {"numOutputRows": "2"}, parameters={"mode": "Append"})
    engine.reads["net diff of main.c"] = ((7, "one", 1), (7, "twin", 1))
    with pytest.raises(IdivmError) as failed:
        engine.drive(request(), forced())
    assert failed.value.codes == ("IDIVM-306",)


@pytest.mark.parametrize("verify", ["none", "sample"])
def test_what_was_not_looked_up_stays_unverified(engine: FakeEngine, verify: str) -> None:
    rebuilt_after_insert(engine)
    left = stored(engine).unverified
    renamed(engine)
    assert engine.drive(request(verify=verify), forced()).mode == "incremental"
    assert stored(engine).unverified == left and not stored(engine).has_unique_ids


def test_a_unique_key_holds_in_each_rebuild(engine: FakeEngine) -> None:
    """One that contains the IDs does where the keys of the inputs do."""
    asked = request("select id, name from main.c", unique_key="id")
    built(engine, asked)
    engine.tables["main.c"].commit("WRITE", {"numOutputRows": "1"}, parameters={"mode": "Append"})
    assert engine.drive(asked, forced(REBUILD)).mode == "full"
    assert engine.labels("read") == ["check key (id) of main.c"]


def test_a_float_group_of_an_upstream_view_is_its_key_whatever_is_unverified(engine: FakeEngine) -> None:
    """Values of groups have one zero; the plan must not depend on how the upstream view was refreshed last."""
    engine.source("t", id="int", g="double", x="int")
    keyed = {"t": "id"}
    upstream = replace(model("select g, bit_or(x) as s from main.t group by g", keyed, strategy="auto"), name="u", identifier="u")
    assert engine.drive(upstream).mode == "create"
    engine.tables["main.u"].columns = {"g": "double", "s": "int"}
    above = model("select g, s from main.u", strategy="incremental")
    built(engine, above)
    engine.tables["main.t"].commit("WRITE", {"numOutputRows": "1"}, parameters={"mode": "Append"})
    assert engine.drive(upstream, forced(REBUILD)).mode == "full"
    engine.tables["main.u"].columns = {"g": "double", "s": "int"}
    engine.reads["net diff of main.u"] = (("1.0", 7, -1), ("2.0", 8, 1))
    outcome = engine.drive(above)
    assert (outcome.mode, outcome.reason) == ("incremental", None) and "check new keys (g) of main.u" in engine.labels("read")


def test_an_input_that_another_run_read_for_a_cache_is_not_trusted_for_its_older_version(engine: FakeEngine) -> None:
    """This run pinned an upstream view with trusted IDs. Another one rebuilt it without looking its keys up, refreshed the cache
    from that, and broke off: the view follows, and has to look up the IDs of the newer version."""
    upstream = replace(request("select id, name from main.c"), name="u", identifier="u")
    assert engine.drive(upstream).mode == "create"
    engine.tables["main.u"].columns = {"id": "int", "name": "string"}
    view = request(
        "with x as (select o.cid, max(o.price) as p from main.o join main.u as k on o.cid = k.id group by o.cid) "
        "select u.id, u.name, x.p from main.u join x on u.id = x.cid",
        caches=["x"],
    )
    built(engine, view)
    older = forced(REBUILD)
    other = replace(request("select id, name from main.u", strategy="id"), name="other", identifier="other")
    assert engine.drive(other, older).mode == "create", "the older run pins its version"
    engine.tables["main.c"].commit("WRITE", {"numOutputRows": "1"}, parameters={"mode": "Append"})
    assert engine.drive(upstream, forced(REBUILD)).mode == "full"
    engine.tables["main.u"].columns = {"id": "int", "name": "string"}
    answer, is_view = engine.answer, lambda asked: asked.kind == "write" and "cache" not in asked.label
    with pytest.MonkeyPatch.context() as patch, pytest.raises(IdivmError):
        patch.setattr(engine, "answer", lambda asked: EngineError("", "killed") if is_view(asked) else answer(asked))
        engine.drive(view, forced(REBUILD))
    assert engine.drive(view, older).mode == "full"
    found = state.read(engine.tables["main.v"].commits[-1][-1])
    assert found is not None and found.inputs["main.u"].version == 1 and found.unverified["main.u"].version == 0


def test_a_run_that_pinned_an_older_version_does_not_rebuild(engine: FakeEngine) -> None:
    """Its rebuild would take the view back to that version."""
    built(engine, request())
    older = Invocation(choose=lambda found: next((each for each in found if each.name == REBUILD), found[0]))
    other = replace(request("select id, name from main.c", strategy="id"), name="w", identifier="w")
    engine.drive(other, older)
    renamed(engine)
    assert engine.drive(request(), forced()).mode == "incremental"
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"}, parameters={"mode": "Append"})
    engine.reads["net diff of main.o"] = ((7, 1, 1, 1),)
    assert engine.drive(request(), older).mode == "incremental"
    assert stored(engine).inputs["main.c"].version == len(engine.tables["main.c"].commits) - 1


def test_a_key_that_did_not_hold_when_a_rebuild_read_it(engine: FakeEngine) -> None:
    """It may hold by now: the view is rebuilt once, with all keys verified."""
    rebuilt_after_insert(engine)
    renamed(engine)
    engine.reads["check new keys (id) of main.c"] = ((7,),)
    outcome = engine.drive(request(), forced())
    assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-419 the key (id) of main.c did not hold")
    assert [label for label in engine.labels("read") if label.startswith("check key")] == [
        "check keys of 2 tables, main.o to main.c"
    ]
    assert stored(engine).unverified == {}


@pytest.mark.parametrize(
    "sql",
    [
        "select id, (select name from main.c c where c.id = o.cid) as name from main.o o",
        "select id from main.o o where (select name from main.c c where c.id = o.cid) = 'x'",  # an inner join in the end
    ],
)
def test_a_rebuild_verifies_the_keys_by_which_it_looks_rows_up(engine: FakeEngine, sql: str) -> None:
    """Without that a row of o would come twice where Spark refuses the query: the plan has a join instead of the subquery."""
    built(engine, request(sql))
    engine.tables["main.c"].commit("WRITE", {"numOutputRows": "2"}, parameters={"mode": "Append"})
    engine.reads["check key (id) of main.c"] = ((1, 7, 2),)
    with pytest.raises(IdivmError, match="IDIVM-305"):
        engine.drive(request(sql), forced(REBUILD))
    engine.reads["check key (id) of main.c"] = ()
    engine.tables["main.c"].commit("WRITE", {"numOutputRows": "2"}, parameters={"mode": "Append"})
    assert engine.drive(request(sql), forced(REBUILD)).mode == "full" and stored(engine).unverified == {}


def test_keys_of_the_same_types_are_verified_together(engine: FakeEngine) -> None:
    """What is broken is asked for again, and so are all of them where the statement fails."""
    together, alone = "check keys of 2 tables, main.o to main.c", [f"check key (id) of main.{name}" for name in "oc"]
    engine.drive(request())
    assert engine.labels("read") == [together]
    engine.tables["main.c"].commit("WRITE", {"numOutputRows": "2"}, parameters={"mode": "Append"})
    engine.reads[alone[1]] = ((1, 7, 2),)
    with pytest.raises(IdivmError, match="IDIVM-305"):
        engine.drive(replace(request(), full_refresh=True))
    assert engine.labels("read") == [together, alone[1], alone[1]], "whether it is broken, and by which values"
    engine.reads.clear()
    engine.fail[together] = EngineError("DELTA_FILE_NOT_FOUND", "a file is gone")
    engine.drive(replace(request(), full_refresh=True))
    assert engine.labels("read") == [together, *alone]


def test_keys_that_a_rebuild_left_and_that_cannot_be_looked_up_any_more(engine: FakeEngine) -> None:
    rebuilt_after_insert(engine)
    renamed(engine)
    engine.fail["check new keys"] = EngineError("DELTA_MISSING_CHANGE_DATA", "the feed of version 2 was cleaned up")
    outcome = engine.drive(request(), forced())
    assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-403 ")
    assert "check keys of 2 tables, main.o to main.c" in engine.labels("read") and stored(engine).unverified == {}


def test_what_does_not_move_keeps_what_is_unverified(engine: FakeEngine) -> None:
    """Nothing new, and a watermark that moves by its age, look nothing up."""
    rebuilt_after_insert(engine)
    left = stored(engine).unverified
    assert engine.drive(request()).mode == "noop" and stored(engine).unverified == left
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "2"}, parameters={"mode": "Append"})
    assert engine.drive(request(), forced(REBUILD)).mode == "full"
    assert set(stored(engine).unverified) == {"main.c", "main.o"}
    assert engine.drive(replace(request(), full_refresh=True)).mode == "full"
    assert stored(engine).unverified == {}, "a full refresh verifies them"


def test_ids_over_unverified_keys_are_looked_up_like_any_key(engine: FakeEngine) -> None:
    rebuilt_after_insert(engine)
    upstream = engine.tables["main.v__idivm"]
    assert not stored(engine).has_unique_ids
    renamed(engine)
    assert engine.drive(request(), forced()).mode == "incremental"
    assert stored(engine).has_unique_ids and upstream is engine.tables["main.v__idivm"]


@pytest.mark.parametrize("verify", ["none", "sample"])
def test_where_changed_keys_were_not_all_checked_a_rebuild_checks_all(engine: FakeEngine, verify: str) -> None:
    built(engine, request(verify=verify))
    renamed(engine)
    assert engine.drive(request(verify=verify)).mode == "full"
    assert engine.labels("read") == ["check keys of 2 tables, main.o to main.c"]


def test_a_key_that_was_once_not_checked_is_checked_by_the_next_rebuild(engine: FakeEngine) -> None:
    """A duplicate that came under `verify: none` is found when the view is rebuilt under `always`, though its table rests."""
    built(engine)
    assert stored(engine).checked
    engine.tables["main.c"].commit("WRITE", {"numOutputRows": "1"}, parameters={"mode": "Append"})
    engine.reads["net diff of main.c"] = ((7, "again", 1),)
    maintained = forced()
    assert engine.drive(request(verify="none"), maintained).mode == "incremental" and not stored(engine).checked
    checks = []
    for reason in ("IDIVM-402 ", "IDIVM-411 "):
        engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"}, parameters={"mode": "Append"})
        rebuilt = forced(REBUILD)
        assert (engine.drive(request(), rebuilt).reason or "").startswith(reason) and stored(engine).checked
        checks.append([label for label in engine.labels("read") if label.startswith("check key")])
    assert checks == [["check keys of 2 tables, main.o to main.c"], []]


def test_a_large_view_is_maintained(engine: FakeEngine) -> None:
    built(grown(engine))
    renamed(engine)
    outcome = engine.drive(request())
    assert outcome.mode == "incremental" and outcome.reason is None, outcome.message
    assert outcome.cost is not None and outcome.cost.chosen == "id"
    assert outcome.cost.alternatives[REBUILD] > outcome.cost.estimate
    assert not [label for label in engine.labels("metadata") if label.startswith("size of")]


@pytest.mark.parametrize(
    ("orders", "customers", "hint", "large"),
    [
        ("5", "5", True, False),
        ("1000000", "1000000", True, True),
        (BIG, "5", False, True),  # a hundred million orders of one customer are recomputed
    ],
)
def test_a_merge_broadcasts_a_small_source_and_not_a_large_target(
    engine: FakeEngine, orders: str, customers: str, hint: bool, large: bool
) -> None:
    """ADR 0020. After the statement the settings are the session's again."""
    engine.tables["main.c"].commit("WRITE", {"numOutputRows": customers}, parameters={"mode": "Append"})
    engine.written = int(orders)
    built(grown(engine, orders), request(strategy="incremental"))
    renamed(engine)
    recomputed = forced("recompute")
    assert engine.drive(request(strategy="incremental"), recomputed).mode == "incremental"
    (write,) = (each for each in engine.log if each.kind == "write")
    assert ("BROADCAST(z)" in write.sql) is hint
    keys = ("spark.sql.autoBroadcastJoinThreshold", "spark.sql.adaptive.autoBroadcastJoinThreshold")
    around = [
        (engine.log.index(each) < engine.log.index(write), each.setting)
        for each in engine.log
        if each.setting is not None and each.setting[0] in keys
    ]
    before = [(True, (key, value)) for key, value in zip(keys, ("1048576", "10485760"), strict=True)]
    assert around == ([*before, *((False, (key, None)) for key in keys)] if large else [])


def test_a_server_may_refuse_the_settings_of_a_large_merge(engine: FakeEngine) -> None:
    engine.written = LARGE
    built(grown(engine), request(strategy="incremental"))
    renamed(engine)
    engine.fail["set spark.sql.autoBroadcastJoinThreshold"] = EngineError("", "Cannot set a restricted property")
    assert engine.drive(request(strategy="incremental")).mode == "incremental"
    set_, reset = ([label for label in engine.labels("setting") if label.startswith(verb)] for verb in ("set", "reset"))
    assert "set spark.sql.adaptive.autoBroadcastJoinThreshold" in set_ and len(reset) == len(set_) - 1 and not engine.settings


def test_a_source_that_is_too_large_after_all_is_not_broadcast(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Statistics may be wrong by any factor: the statement is tried without the hint."""
    built(engine, request(strategy="incremental"))
    renamed(engine)
    answer, refused = engine.answer, EngineError("", "Cannot broadcast the table that is larger than 8.0 GiB: 20 GiB.")
    monkeypatch.setattr(engine, "answer", lambda each: refused if "BROADCAST(z)" in each.sql else answer(each))
    assert engine.drive(request(strategy="incremental")).mode == "incremental"
    assert ["BROADCAST(z)" in each.sql for each in engine.log if each.kind == "write"] == [True, False]
    assert not engine.settings


def test_incremental_and_fixed_strategies_never_rebuild(engine: FakeEngine) -> None:
    for strategy in ("incremental", "id", "tuple", "recompute"):
        fake = FakeEngine()
        for table in ("o", "c"):
            fake.source(table, **engine.tables[f"main.{table}"].columns)
        built(fake, request(strategy=strategy))
        renamed(fake)
        outcome = fake.drive(request(strategy=strategy))
        assert outcome.mode == "incremental"
        expected = {"id", "recompute", "tuple", "whole"} if strategy == "incremental" else {strategy}
        if outcome.cost is not None:
            assert set(outcome.cost.alternatives) == expected


def test_incremental_takes_the_cheapest_way(engine: FakeEngine) -> None:
    built(grown(engine))
    renamed(engine)
    outcome = engine.drive(request(strategy="incremental"))
    assert outcome.cost is not None
    assert outcome.cost.alternatives[outcome.cost.chosen] == min(outcome.cost.alternatives.values())


def test_that_changes_are_found_first_counts_where_incremental_pays(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    built(engine)
    mixed = {f"numTargetRows{done}": "20" for done in ("Inserted", "Updated", "Deleted")}
    for name in ("main.o", "main.c"):
        engine.tables[name].commit("MERGE", mixed)
    assert "incremental pays from about 8 million rows" in engine.drive(request()).message
    for name in ("main.o", "main.c"):
        engine.tables[name].commit("MERGE", mixed)
    monkeypatch.setattr(costs, "incremental_by_reach", lambda *_: None)
    assert "incremental would not pay for larger tables" in engine.drive(request()).message


def test_a_comparison_that_fails_on_values_is_not_a_reason_to_rebuild(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group of which only some rows are reached may have values that no group of the view has."""
    for name in ("main.o", "main.c"):
        engine.tables[name].commit("WRITE", {"numOutputRows": "2000000"}, parameters={"mode": "Append"})
    chain = "select o.id, o.price, c.name, d.name as other from main.o left join main.c on o.cid = c.id left join main.c d on d.id = o.price"
    built(engine, model := request(chain, strategy="incremental"))
    answer, compared = FakeEngine.answer, "the query was evaluated over the rows that the changes reach"

    def failing(self: FakeEngine, statement: Statement) -> Reply:
        if "idivm_reached_2" in statement.sql:
            return EngineError("DIVIDE_BY_ZERO", "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012")
        return answer(self, statement)

    for fails in (False, True):
        for name in ("main.o", "main.c"):
            engine.tables[name].commit("MERGE", {f"numTargetRows{done}": "1" for done in ("Inserted", "Updated", "Deleted")})
        engine.reads["net diff of main.c"] = ((7, "old", -1), (7, "new", 1), (8, "x", 1), (9, "y", -1))
        engine.reads["net diff of main.o"] = ((7, 1, 5, -1), (7, 1, 6, 1), (8, 2, 5, 1), (9, 3, 5, -1))
        if fails:
            monkeypatch.setattr(FakeEngine, "answer", failing)
        outcome = engine.drive(model)
        assert outcome.mode == "incremental" and (compared in str(outcome.reason)) is not fails, outcome


@pytest.mark.parametrize(("strategy", "mode"), [("auto", "full"), ("incremental", "incremental")])
def test_reached_rows_that_are_too_many_lead_to_another_choice(engine: FakeEngine, strategy: str, mode: str) -> None:
    """What they were expected to be is wrong, so the view is rebuilt if that is cheaper than what is left."""
    for name in ("main.o", "main.c"):
        engine.tables[name].commit("WRITE", {"numOutputRows": "50000000"}, parameters={"mode": "Append"})
    chain = "select o.id, o.price, c.name, d.name as other from main.o left join main.c on o.cid = c.id left join main.c d on d.id = o.price"
    built(engine, model := request(chain, strategy=strategy))
    for name in ("main.o", "main.c"):
        engine.tables[name].commit("MERGE", {f"numTargetRows{done}": "1" for done in ("Inserted", "Updated", "Deleted")})
    engine.reads["net diff of main.c"] = ((7, "old", -1), (7, "new", 1), (8, "x", 1), (9, "y", -1))
    engine.reads["net diff of main.o"] = ((7, 1, 5, -1), (7, 1, 6, 1), (8, 2, 5, 1), (9, 3, 5, -1))
    engine.reads["reached rows of main.c"] = ((1,),) * (MOST_ROWS + 1)
    outcome = engine.drive(model)
    assert outcome.mode == mode and outcome.cost is not None
    assert "reached rows of main.c" in engine.labels("read") and engine.labels("write")
    assert "over the rows that the changes reach" not in str(outcome.reason)


def test_models_of_a_run_ask_for_the_same_reached_rows_once(engine: FakeEngine) -> None:
    grown(engine).tables["main.c"].commit("WRITE", {"numOutputRows": "50000000"}, parameters={"mode": "Append"})
    models = [replace(request(strategy="incremental"), name=name, identifier=name) for name in ("v", "w")]
    for each in models:
        built(engine, each)
    for name in ("main.o", "main.c"):
        engine.tables[name].commit("MERGE", {f"numTargetRows{done}": "1" for done in ("Inserted", "Updated", "Deleted")})
    engine.reads["net diff of main.c"] = ((7, "old", -1), (7, "new", 1), (8, "x", 1), (9, "y", -1))
    engine.reads["net diff of main.o"] = ((7, 1, 5, -1), (7, 1, 6, 1), (8, 2, 5, 1), (9, 3, 5, -1))
    run, asked = Invocation(), []
    for each in models:
        assert engine.drive(each, run).mode == "incremental"
        asked.append([label for label in engine.labels("read") if label.startswith("reached rows")])
    assert asked == [["reached rows of main.c", "reached rows of main.o"], []]


def test_a_no_op_asks_for_nothing_more(engine: FakeEngine) -> None:
    logs = []
    for strategy in ("id", "auto"):
        built(engine, request(strategy=strategy))
        assert engine.drive(request(strategy=strategy)).mode == "noop"
        logs.append([statement.label for statement in engine.log])
        for name in ("main.v", "main.v__idivm"):
            engine.tables.pop(name)
    assert logs[0] == logs[1]


def test_many_changes_of_a_large_view_rebuild_it(engine: FakeEngine) -> None:
    built(grown(engine, "5000000"))
    engine.tables["main.o"].commit("UPDATE", {"numUpdatedRows": "5000000"})
    outcome = engine.drive(request())
    assert outcome.mode == "full"
    assert "incremental pays if fewer than about " in outcome.message or "incremental pays from about " in outcome.message
    assert not [label for label in engine.labels("read") if label.startswith("net diff")]


def test_when_incremental_would_pay_is_said_once(engine: FakeEngine) -> None:
    """On the console; each model's reason has it."""
    built(engine)
    memory, found = Invocation(), []
    for _ in range(2):
        renamed(engine)
        memory.forget("main.c", "main.v", "main.v__idivm")
        found.append(engine.drive(request(), memory))
    assert [outcome.mode for outcome in found] == ["full", "full"]
    assert all("incremental pays" in (outcome.reason or "") for outcome in found)
    assert ["incremental pays" in outcome.message for outcome in found] == [True, False]
    assert "IDIVM-411 a rebuild takes about " in found[1].message


def test_what_is_only_seen_in_the_net_diff_is_chosen_after_it(engine: FakeEngine) -> None:
    """An overwritten input does not say how little of it changed: it is looked at where the view takes much longer to write."""
    engine.written = 2_000_000_000
    built(grown(engine, "200000000"))
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "200000005"}, parameters={"mode": "Overwrite"})
    engine.reads["net diff"] = tuple((number, 1, 2, 1) for number in range(1001))
    outcome = engine.drive(request())
    assert outcome.mode == "full" and "IDIVM-411" in outcome.message
    assert [label.partition(" of ")[0] for label in engine.labels("read")] == ["net diff", "check new keys (id)"]
    few = FakeEngine(written=engine.written)
    for table in ("o", "c"):
        few.source(table, **engine.tables[f"main.{table}"].columns)
    built(grown(few, "200000000"))
    few.tables["main.o"].commit("WRITE", {"numOutputRows": "200000005"}, parameters={"mode": "Overwrite"})
    few.reads["net diff"] = ((7, 1, 2, 1),)
    assert few.drive(request()).mode == "incremental"


def test_the_state_carries_the_sizes(engine: FakeEngine) -> None:
    built(grown(engine))
    assert {name: size.rows for name, size in stored(engine).sizes.items()} == {"main.o": LARGE + 5, "main.c": 5}
    renamed(engine)
    engine.tables["main.o"].commit("DELETE", {"numDeletedRows": "7"})
    engine.drive(request(strategy="incremental"))
    now = stored(engine).sizes
    assert {name: size.rows for name, size in now.items()} == {"main.o": LARGE - 2, "main.c": 5, "main.v__idivm": 5}


def without_sizes(engine: FakeEngine) -> None:
    """The state as former versions wrote it."""
    table = engine.tables["main.v__idivm"]
    *rest, note = table.commits[-1]
    table.commits[-1] = (*rest, json.dumps({key: value for key, value in json.loads(note).items() if key != "sizes"}))


def old_history(engine: FakeEngine) -> None:
    """The newest commits do not reach back to all rows."""
    for table in ("main.o", "main.c"):
        for _ in range(12):
            engine.tables[table].commit("OPTIMIZE")


def test_states_of_former_versions_are_completed_once(engine: FakeEngine) -> None:
    engine.size = 10_000_000_000
    built(engine, request(strategy="id"))
    without_sizes(engine)
    old_history(engine)
    renamed(engine)
    assert engine.drive(request()).mode == "incremental"
    asked = sorted(label for label in engine.labels("metadata") if label.startswith("size of"))
    assert asked == ["size of main.c", "size of main.o"]
    renamed(engine)
    assert engine.drive(request()).mode == "incremental"
    assert not [label for label in engine.labels("metadata") if label.startswith("size of")]


def test_without_sizes_few_changes_are_applied_and_others_rebuild(engine: FakeEngine) -> None:
    engine.fail["size of"] = EngineError("", "no such command")
    old_history(engine)
    built(engine)
    renamed(engine)
    outcome = engine.drive(request())
    assert (outcome.mode, outcome.cost) == ("incremental", None), "it reads no more than a rebuild would"
    renamed(engine, 5_000)
    outcome = engine.drive(request())
    assert outcome.mode == "full" and "IDIVM-418 neither the size of " in outcome.message and outcome.cost is None


@pytest.mark.parametrize("factor", [0.001, 1000])
def test_wrong_statistics(engine: FakeEngine, factor: float) -> None:
    built(grown(engine, "3000000"))
    table = engine.tables["main.v__idivm"]
    *rest, note = table.commits[-1]
    found = json.loads(note)
    for size in found["sizes"].values():
        size |= {"rows": round(size["rows"] * factor), "bytes": round(size["bytes"] * factor)}
    table.commits[-1] = (*rest, json.dumps(found))
    renamed(engine)
    assert engine.drive(request()).mode == ("full" if factor < 1 else "incremental")


def test_nonsense_in_a_state_counts_as_unknown(engine: FakeEngine) -> None:
    built(engine)
    note = json.loads(engine.tables["main.v__idivm"].commits[-1][-1])
    for given in (5, [], {"main.o": 7}, {"main.o": {"rows": -1, "bytes": 1, "files": 1}}, None):
        found = state.read(json.dumps({**note, "sizes": given}))
        assert found is not None and found.sizes == {} and found.inputs


def test_experience_decides(engine: FakeEngine) -> None:
    """A rebuild that took a minute is not repeated for one row; a MERGE that takes two is not, either."""
    memory = Clock(engine, {"build": 60.0, "merge": 120.0})
    assert engine.drive(request(), memory).mode == "create"
    renamed(engine)
    memory.forget("main.c", "main.v", "main.v__idivm")
    first = engine.drive(request(), memory)
    assert first.mode == "incremental" and first.cost is not None and first.cost.actual == 120.0
    for _ in range(4):  # each way is tried once
        renamed(engine)
        memory.forget("main.c", "main.v", "main.v__idivm")
        outcome = engine.drive(request(), memory)
    assert outcome.mode == "full" and "IDIVM-411" in outcome.message


def test_a_choice_at_random_is_carried_out(engine: FakeEngine) -> None:
    """Whatever is chosen, before or after net diffs are read, is done, and the next refresh goes on from it."""
    drawn, seen = random.Random(7), set()

    def any_of(alternatives: Sequence[Alternative]) -> Alternative:
        return drawn.choice(list(alternatives))

    engine.drive(request(), Invocation(choose=any_of))
    for _ in range(40):
        renamed(engine)
        outcome = engine.drive(request(), Invocation(choose=any_of))
        assert outcome.cost is not None
        seen.add((outcome.mode, outcome.cost.chosen))
        assert engine.drive(request(), Invocation(choose=any_of)).mode == "noop"
    assert seen == {("full", REBUILD), *(("incremental", way) for way in ("id", "recompute", "tuple", "whole"))}


def test_the_response_has_the_cost(engine: FakeEngine) -> None:
    created = maintenance_response(engine.drive(request())).to_dict()
    assert created["cost"] is None
    renamed(engine)
    response = maintenance_response(engine.drive(request())).to_dict()
    assert set(response["cost"]) == {"chosen", "estimate", "actual", "alternatives"}
    assert set(response["cost"]["alternatives"]) == {"id", "recompute", "tuple", "whole", REBUILD}


def test_a_forecast_shows_the_estimates(engine: FakeEngine) -> None:
    built(engine)
    renamed(engine)
    existing = replace(request(), existing="view", neighbours={"v__idivm": "table"})
    found = drive(engine, forecast(existing, Invocation(), engine.kind))
    assert found.mode == "full" and found.reason.startswith("IDIVM-411")
    assert found.cost.chosen == REBUILD and found.cost.actual is None and len(found.cost.alternatives) == 5


def test_caches_choose_for_themselves(engine: FakeEngine) -> None:
    sql = "select c.name, bit_or(o.price) as most from main.o join main.c on o.cid = c.id group by c.name"
    asked = request(sql, caches="all")
    built(engine, asked)
    renamed(engine)
    outcome = engine.drive(asked)
    cache, view = (label.removeprefix("re") for label in engine.labels("write"))
    assert cache.startswith("build main.idivm_cache_") and view == "build main.v", outcome.message
    assert outcome.cost is not None and outcome.cost.chosen == REBUILD


def commit(operation: str, version: int = 0, modes: Sequence[str] = (), **metrics: Any) -> Commit:
    texts = {name: str(value) for name, value in metrics.items()}
    return Commit(version, f"t{version}", operation, frozenset(modes), texts, None)


def test_sizes_by_commits() -> None:
    types = ("bigint", "bigint")
    history_ = (
        commit(
            "MERGE",
            3,
            numTargetRowsInserted=5,
            numTargetRowsDeleted=1,
            numTargetRowsUpdated=9,
            numOutputRows=900,
            numTargetFilesAdded=2,
            numTargetFilesRemoved=1,
        ),
        commit("OPTIMIZE", 2),
        commit("WRITE", 1, ["Append"], numOutputRows=50, numOutputBytes=400, numFiles=1),
        commit("CREATE TABLE AS SELECT", 0, numOutputRows=100, numOutputBytes=1000, numFiles=2),
    )
    assert sizes.from_commits(history_, types) == Size(154, round(154 * 1400 / 150), 4)
    assert sizes.from_commits(history_[:3], types) is None, "it does not reach back to all rows"
    overwritten = (commit("WRITE", 9, ["Overwrite"], numOutputRows=7, numOutputBytes=70, numFiles=1), *history_)
    assert sizes.from_commits(overwritten, types) == Size(7, 70, 1)
    partition = (commit("WRITE", 9, ["Overwrite"], numOutputRows=7, numOutputBytes=70, numFiles=1, numRemovedFiles=1), *history_)
    assert sizes.from_commits(partition, types) == Size(116 + 7, 1082 + 70, 4), "one of four files was replaced"
    assert sizes.from_commits((commit("CREATE TABLE", 0),), types) == Size(0, 0, 0)
    assert sizes.from_commits((commit("CREATE TABLE AS SELECT", 0),), types) is None
    assert sizes.moved(Size(5, 50, 1), [commit("DELETE", numDeletedRows=99), commit("RESTORE")], types).rows == 0
    for rows in (1 << 62, (1 << 62) - 1):
        large = sizes.moved(Size(5, 1 << 61, 1), [commit("WRITE", 1, ["Append"], numOutputRows=rows)], types)
        assert state.read(state.State({}, {}, sizes={"t": large}).json()) == state.State({}, {}, sizes={"t": large})
    for nonsense in ("", "x", "-5", "1e9", str(1 << 70)):
        assert sizes.moved(Size(5, 50, 1), [commit("WRITE", 1, ["Append"], numOutputRows=nonsense)], types).rows == 5
