"""Keys that nobody has declared: they are found when a view is built, checked on each change, and given up where they break
(ADR 0063)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from dbt_idivm.cost.choice import REBUILD
from dbt_idivm.definition.config import model_config
from dbt_idivm.definition.facts import Table
from dbt_idivm.definition.found_keys import candidates, key_names
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import finding
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.refresh.catalog.state import NEVER, Consumed, State, read
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.forecast import forecast
from dbt_idivm.refresh.protocol import EngineError, Outcome
from dbt_idivm.refresh.walk import keeping, observed, with_found_keys
from tests.unit.fake_engine import FakeEngine, drive, model

SQL = "select name from main.o"
MODEL = model(SQL, keys="auto")
LOOKED = "look for keys of main.o"
BROKEN = ((0,),)
IS_FOUND = {"main.o": ("id",)}


@pytest.fixture
def engine() -> FakeEngine:
    fake = FakeEngine()
    fake.source("o", id="int", name="string", other="array<int>")
    return fake


def state(engine: FakeEngine, table: str = "main.v__idivm") -> State:
    found = read(engine.tables[table].commits[-1][-1])
    assert found is not None
    return found


def built(engine: FakeEngine, request: ModelRequest = MODEL) -> FakeEngine:
    assert engine.drive(request).mode == "create"
    return engine


def change(engine: FakeEngine, *rows: tuple[object, ...]) -> None:
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": str(len(rows) or 1)})
    engine.reads["net diff of main.o"] = rows or ((7, "seven", 1),)


def looks(engine: FakeEngine) -> list[str]:
    return [label for label in engine.labels("read") if label.startswith("look for")]


def assert_a_bag(engine: FakeEngine, outcome: Outcome) -> None:
    assert outcome.relations == (("main", "v", "table"),) and state(engine, "main.v").found == {}


def test_a_key_is_found_when_the_view_is_built(engine: FakeEngine) -> None:
    outcome = engine.drive(MODEL)
    assert outcome.message == "create: 5 rows, 2 statements", "the look for keys and the build"
    assert engine.labels("read") == [LOOKED]
    asked = next(each.sql for each in engine.log if each.label == LOOKED)
    assert "BIT_COUNT" in asked and "main.o VERSION AS OF 1" in asked
    assert outcome.relations == (("main", "v", "view"), ("main", "v__idivm", "table")), "the key is stored"
    assert state(engine).found == IS_FOUND
    assert '"declared": "found in the data"' in outcome.artifacts.seen


def test_a_refresh_uses_the_key_that_was_found(engine: FakeEngine) -> None:
    built(engine)
    assert engine.drive(MODEL).mode == "noop" and engine.labels("read") == []
    change(engine)
    assert engine.drive(MODEL).mode == "incremental"
    assert engine.labels("read") == [
        "net diff of main.o from version 1 to 2",
        "check new keys (id) of main.o",
    ]
    checked = next(each.sql for each in engine.log if each.label.startswith("check new keys"))
    assert "COUNT(*) > 1 OR `stored`.id IS NULL" in checked
    assert state(engine).found == IS_FOUND


@pytest.mark.parametrize(
    ("rows", "repeated", "what"),
    [
        (((7, "seven", 1),), ((7,),), "id = 7 occurs more than once"),
        (((7, "seven", 1), (7, "again", 1)), (), "id = 7 occurs more than once"),
        (((None, "none", 1),), (), "id is NULL"),
        (((1, "one", -1), (None, "one", 1)), (), "id is NULL"),
        (((7, "seven", 1),), ((None,),), "id is NULL"),
    ],
)
def test_where_it_breaks_the_view_is_rebuilt_without_it(
    engine: FakeEngine, rows: tuple[tuple[object, ...], ...], repeated: tuple[tuple[object, ...], ...], what: str
) -> None:
    built(engine)
    change(engine, *rows)
    engine.reads |= {"check new keys": repeated, LOOKED: BROKEN}
    foreseen = drive(engine, forecast(replace(MODEL, existing="view"), Invocation(), engine.kind))
    outcome = engine.drive(MODEL)
    assert outcome.mode == foreseen.mode == "full" and outcome.reason == foreseen.reason
    assert (outcome.reason or "").startswith("IDIVM-428 the key (id) of main.o, which was found in its data,")
    assert looks(engine) == [LOOKED]
    assert_a_bag(engine, outcome)
    assert engine.drive(MODEL).mode == "noop", "no key is looked for until the view is rebuilt"
    change(engine)
    engine.reads[LOOKED] = ()
    assert engine.drive(MODEL).mode == "incremental" and looks(engine) == []
    found = engine.drive(replace(MODEL, full_refresh=True))
    assert found.mode == "full" and found.relations[0] == ("main", "v", "view") and state(engine).found == IS_FOUND


def test_what_a_key_is_not_says_the_reason(engine: FakeEngine) -> None:
    built(engine)
    change(engine, (None, "none", 1))
    engine.reads[LOOKED] = BROKEN
    engine.drive(MODEL)
    assert "IDIVM-428" in str(engine.tables["main.v"].commits[-1][-1])


def test_a_rebuild_for_another_reason_looks_anew(engine: FakeEngine) -> None:
    """A key that has broken meanwhile is no error there, and one that holds now is used."""
    engine.reads[LOOKED] = BROKEN
    built(engine)
    assert_a_bag(engine, engine.drive(MODEL))
    gap = EngineError("DELTA_MISSING_CHANGE_DATA", "gone")
    change(engine)
    engine.reads[LOOKED], engine.fail["net diff"] = (), gap
    outcome = engine.drive(MODEL)
    assert (outcome.reason or "").startswith("IDIVM-403") and state(engine).found == IS_FOUND
    change(engine)
    engine.reads[LOOKED], engine.reads["check key"] = BROKEN, ((1, 7, 2),)
    outcome = engine.drive(MODEL)
    assert (outcome.reason or "").startswith("IDIVM-403")
    assert_a_bag(engine, outcome)


def test_a_view_of_an_earlier_version_stays_as_it_is(engine: FakeEngine) -> None:
    built(engine, model(SQL))
    change(engine)
    outcome = engine.drive(MODEL)
    assert outcome.mode == "incremental" and looks(engine) == []
    assert_a_bag(engine, outcome)
    assert '"found"' not in state(engine, "main.v").json(), "earlier versions can read it"


@pytest.mark.parametrize(
    "sql",
    [
        "select id, tags['a'] as a from main.o",
        "select id, name, lag(name) over (order by id) as before, tags['a'] as a from main.o",
        "select c.name, (select o.name from main.o where o.id = c.id) as x from main.c",
    ],
)
def test_a_key_without_which_there_is_no_plan(engine: FakeEngine, sql: str) -> None:
    """Or one that is rebuilt each time, until it is a key."""
    engine.source("c", id="int", name="string")
    engine.tables["main.o"].columns["tags"] = "map<string,string>"
    asked = model(sql, keys="auto")
    engine.reads["look for"] = ((0,), (1,))
    assert "IDIVM-408" in engine.drive(asked).message
    change(engine)
    engine.reads["look for"] = ()
    assert engine.drive(asked).mode == "full"
    assert outcome_state(engine).found["main.o"] == ("id",)
    change(engine, (7, "seven", -1))
    assert engine.drive(asked).mode == "incremental"
    change(engine, (7, "seven", 1), (7, "again", 1))
    engine.reads["look for"] = ((0,), (1,))
    outcome = engine.drive(asked)
    assert outcome.mode == "full" and "main.o" not in outcome_state(engine).found
    assert engine.drive(asked).mode == "noop"


def outcome_state(engine: FakeEngine) -> State:
    return state(engine, "main.v__idivm" if engine.tables["main.v"].kind == "VIEW" else "main.v")


def test_where_the_look_fails_there_is_no_key(engine: FakeEngine) -> None:
    engine.fail["look for"] = EngineError("", "out of memory")
    assert_a_bag(engine, engine.drive(MODEL))


@pytest.mark.parametrize(
    "request_",
    [
        model(SQL, keys="declared"),
        model(SQL, keys="auto", verify="none"),
        model(SQL, keys="auto", verify="sample"),
        model(SQL, keys="auto", strategy="full"),
        model("select name, rand() as r from main.o", keys="auto", volatile="full"),
        model(SQL, keys={"orders": []}),
        model(SQL, {"o": "name"}, keys="auto"),
    ],
)
def test_where_no_key_is_looked_for(engine: FakeEngine, request_: ModelRequest) -> None:
    engine.drive(request_)
    assert looks(engine) == []


def test_a_declared_key_wins(engine: FakeEngine) -> None:
    built(engine)
    change(engine)
    declared = model(SQL, {"o": "id"}, keys="auto")
    assert engine.drive(declared).mode == "incremental", "it is the same key"
    assert state(engine).found == {}
    change(engine, (7, "seven", 1), (7, "again", 1))
    with pytest.raises(Exception, match="IDIVM-306"):
        engine.drive(declared)


def test_keys_of_a_mapping_are_declared_and_others_are_found(engine: FakeEngine) -> None:
    engine.source("c", id="int", name="string")
    built(engine, model("select o.name, c.name as cn from main.o join main.c on c.id = o.id", keys={"orders": ["id", "name"]}))
    assert state(engine).found == {"main.c": ("id",)}


def test_models_of_a_run_look_once_and_by_one_statement(engine: FakeEngine) -> None:
    for name in ("c", "d"):
        engine.source(name, id="int", name="string")
    engine.reads["look for"] = ((1,),)
    run = Invocation()
    engine.drive(model("select o.name from main.o join main.c on c.name = o.name", keys="auto"), run)
    assert engine.labels("read") == [f"{LOOKED} and 1 more"]
    other = model("select o.name from main.o join main.c on c.name = o.name join main.d on d.name = o.name", keys="auto")
    engine.drive(replace(other, name="w", identifier="w"), run)
    assert engine.labels("read") == ["look for keys of main.d"], "of one table, whose key is found"
    assert state(engine, "main.w__idivm").found == {"main.o": ("id",), "main.d": ("id",)}


def test_other_threads_wait_for_the_answer(engine: FakeEngine) -> None:
    run = Invocation()
    turn, held = run.turn("keys of main.o"), []
    answer = engine.answer
    engine.answer = lambda each: (held.append((each.label, turn.locked())), answer(each))[1]  # type: ignore[method-assign, func-returns-value]
    engine.drive(MODEL, run)
    assert [label for label, locked in held if locked] == [LOOKED] and not turn.locked()


def test_other_candidates_are_tried(engine: FakeEngine) -> None:
    engine.source("customers", id="int", customer_key="string", name="string")
    engine.reads["look for"] = ()
    asked = model("select name from main.customers", keys="auto")
    answers = iter((BROKEN, ()))
    answer = engine.answer
    engine.answer = lambda each: (  # type: ignore[method-assign]
        replace(answer(each), rows=next(answers)) if each.label.startswith("look for") else answer(each)  # type: ignore[type-var]
    )
    engine.drive(asked)
    assert state(engine).found == {"main.customers": ("customer_key",)}


def test_a_key_whose_column_goes(engine: FakeEngine) -> None:
    built(engine)
    engine.tables["main.o"].columns.pop("id")
    change(engine, ("seven", 1))
    outcome = engine.drive(MODEL)
    assert outcome.mode == "full"
    assert_a_bag(engine, outcome)


def test_another_definition_looks_anew(engine: FakeEngine) -> None:
    built(engine)
    engine.source("c", id="int", name="string")
    engine.drive(replace(MODEL, sql="select o.name, c.name as cn from main.o left join main.c on c.name = o.name"))
    assert state(engine).found == {"main.o": ("id",), "main.c": ("id",)}


def test_a_migrated_view_keeps_its_key(engine: FakeEngine) -> None:
    """The former plan is compiled again, with the key that it had."""
    built(engine)
    engine.tables["main.v__idivm"].columns = {"name": "string", "idivm__o__id": "int"}
    engine.written = 1
    outcome = engine.drive(replace(MODEL, sql="select name from main.o where id > 1"))
    assert outcome.mode == "migrated" and looks(engine) == []
    assert state(engine).found == IS_FOUND


def test_a_key_that_breaks_where_a_cache_reads_it(engine: FakeEngine) -> None:
    """Caches belong to plans with the same keys."""
    engine.source("c", id="int", name="string")
    sql = "select c.name, t.n from main.c left join (select name, max(id) as n from main.o group by name) t on t.name = c.name"
    cached = model(sql, keys="auto", caches="all")
    first = built(engine, cached).drive(cached)
    assert state(engine).found == {"main.o": ("id",), "main.c": ("id",)}
    change(engine, (7, "seven", 1), (7, "again", 1))
    engine.reads["look for keys of main.c and 1 more"] = ((1,),)
    outcome = engine.drive(cached)
    assert (outcome.reason or "").startswith("IDIVM-428") and state(engine, outcome_table(outcome)).found == {"main.c": ("id",)}
    before, after = ({name for _, name, _ in each.relations if name.startswith("idivm_cache")} for each in (first, outcome))
    assert before and after and before.isdisjoint(after)
    assert engine.drive(cached).mode == "noop"


def outcome_table(outcome: Outcome) -> str:
    names = [name for _, name, kind in outcome.relations if kind == "table" and not name.startswith("idivm_cache")]
    return f"main.{names[0]}"


def forced(name: str = "") -> Invocation:
    """An invocation that chooses that alternative; without a name the first one that is no rebuild."""
    return Invocation(choose=lambda found: next(each for each in found if (each.name == name if name else each.name != REBUILD)))


def test_a_rebuild_by_cost_verifies_the_keys_that_were_found(engine: FakeEngine) -> None:
    """What reads the view by its IDs would fail for a key that nobody has declared."""
    below = replace(model("select id, name from main.o", keys="auto", strategy="auto"), name="u", identifier="u")
    above = model("select name from main.u", keys="auto")
    engine.drive(below)
    engine.tables["main.u"].columns = {"id": "int", "name": "string"}
    engine.drive(above)
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "2"}, parameters={"mode": "Append"})
    engine.reads = {"check key (id) of main.o": ((1, 7, 2),), LOOKED: BROKEN}
    outcome = engine.drive(below, forced(REBUILD))
    assert (outcome.reason or "").startswith("IDIVM-428") and state(engine, "main.u").found == {}
    engine.tables["main.u"].columns = {"id": "int", "name": "string"}
    engine.reads |= {"net diff of main.u": ((7, "a", 1), (7, "b", 1)), "look for keys of main.u": BROKEN}
    assert engine.drive(above).mode in ("full", "incremental"), "no error"


def test_a_cache_that_is_rebuilt_by_cost_verifies_the_keys_that_were_found(engine: FakeEngine) -> None:
    engine.source("c", name="string")
    sql = "select name, count(*) as n from main.o where not exists (select 1 from main.c where c.name = o.name) group by name"
    asked = model(sql, keys="auto", strategy="auto", caches="all")
    built(engine, asked)
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "2"}, parameters={"mode": "Append"})
    twice = (("a", 7, 1), ("b", 7, 1))
    engine.reads = {"check key (id) of main.o": ((1, 7, 2),), LOOKED: BROKEN, "net diff of main.idivm_cache": twice}
    names = iter((REBUILD,))  # of the cache; the view is maintained
    mixed = Invocation(choose=lambda found: {each.name: each for each in found}.get(next(names, ""), found[0]))
    outcome = engine.drive(asked, mixed)
    assert (outcome.reason or "").startswith("IDIVM-428") and state(engine, "main.v").found == {}


def test_a_key_that_did_not_hold_when_a_rebuild_by_cost_read_it(engine: FakeEngine) -> None:
    """Such a rebuild looks for no other keys. One of an earlier version verified none."""
    asked = model(SQL, keys="auto", strategy="auto")
    built(engine, asked)
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "2"}, parameters={"mode": "Append"})
    assert engine.drive(asked, forced(REBUILD)).mode == "full" and engine.labels("read") == ["check key (id) of main.o"]
    assert state(engine).found == IS_FOUND and not state(engine).unverified
    left = replace(state(engine), unverified={"main.o": Consumed("main.o", 1, "a1")})
    *others, last = engine.tables["main.v__idivm"].commits
    engine.tables["main.v__idivm"].commits = [*others, (*last[:-1], left.json())]
    engine.tables["main.o"].commit("UPDATE", {"numUpdatedRows": "1"})
    engine.reads = {"net diff": ((7, "old", -1), (7, "new", 1)), "check new keys": ((7,),), LOOKED: BROKEN}
    outcome = engine.drive(asked, forced())
    assert (outcome.reason or "").startswith("IDIVM-428"), outcome.message
    assert_a_bag(engine, outcome)


def test_a_merge_that_finds_a_broken_key(engine: FakeEngine) -> None:
    built(engine)
    change(engine, (7, "seven", 1), (8, "eight", -1))
    engine.fail["merge into"] = EngineError("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", "several rows")
    engine.reads |= {"check key (id) of main.o": ((1, 7, 2),), LOOKED: BROKEN}
    outcome = engine.drive(MODEL)
    assert (outcome.reason or "").startswith("IDIVM-428") and "check key (id) of main.o" in engine.labels("read")
    assert_a_bag(engine, outcome)


def test_a_view_without_its_cache_keeps_the_keys_that_were_just_found(engine: FakeEngine) -> None:
    job = Job(Client(engine.kind), MODEL, model_config(MODEL.config))
    view = drive(engine, observed(job, StoredView(MODEL.relation, reason=finding(413, view="main.v"))))
    assert view.work.planned.found == {}
    view = drive(engine, with_found_keys(view, view.reason))
    assert view.work.planned.found == drive(engine, keeping(view, NEVER, finding(401))).work.planned.found == IS_FOUND


def test_a_key_that_breaks_while_a_cache_is_chosen() -> None:
    """The build with the cache verifies it at last."""

    def orders() -> FakeEngine:
        fake = FakeEngine(written=1_000_000)
        for name, rows in (("o", 500_000_000), ("c", 1_000_000)):
            fake.source(name, id="int", cid="int", price="int", name="string")
            fake.tables[f"main.{name}"].commit("WRITE", {"numOutputRows": str(rows)}, parameters={"mode": "Append"})
        return fake

    def refreshed(fake: FakeEngine, **reads: tuple[tuple[object, ...], ...]) -> Outcome:
        fake.tables["main.o"].commit("UPDATE", {"numUpdatedRows": "1"})
        fake.reads = {
            "net diff of main.o": ((7, 1, 2, "x", -1), (7, 1, 3, "x", 1)),
            **{k.replace("_", " "): v for k, v in reads.items()},
        }
        return fake.drive(asked)

    asked = model(
        "select c.id, c.name, t.n, t.price from main.c left join "
        "(select cid, count(*) as n, sum(price) as price from main.o group by cid) t on t.cid = c.id + 0",
        keys="auto",
        strategy="auto",
    )
    engine = orders()
    engine.drive(asked)
    assert next(number for number in range(5) if "IDIVM-420" in (refreshed(engine).reason or "")) == 1
    engine = orders()
    engine.drive(asked)
    refreshed(engine)
    outcome = refreshed(engine, check_key=((1, 7, 2),), look_for=((0,), (1,)))
    assert (outcome.reason or "").startswith("IDIVM-428"), outcome.message
    assert outcome.warnings == ()


@pytest.mark.parametrize(
    ("table", "columns", "expected"),
    [
        ("main.orders", {"name": "string", "order_id": "bigint", "id": "int"}, ["id", "order_id"]),
        ("main.orders", {"OrderId": "string", "user_id": "int"}, ["OrderId"]),
        ("main.dim_countries", {"country_sk": "decimal(20,0)", "code": "string"}, ["country_sk", "code"]),
        ("main.boxes", {"box_id": "double", "box_uuid": "string"}, ["box_uuid"]),
        ("main.t", {"id": "array<int>", "uuid": "string collate UTF8_LCASE", "key": "binary"}, []),
        ("main.addresses", {"address_key": "int", "addresses_id": "int"}, ["addresses_id", "address_key"]),
        ("main.x", {each: "int" for each in ("id", "x_id", "x_key", "x_sk")}, ["id", "x_id", "x_key"]),
    ],
)
def test_candidates(table: str, columns: Mapping[str, str], expected: list[str]) -> None:
    found = candidates(Table(table, table, tuple(Attribute(*each) for each in columns.items())))
    assert [name for (name,) in found] == expected


def test_names_of_keys() -> None:
    assert {"id", "stg_orders_id", "order_id", "orderid", "orders_key", "pk"} <= set(key_names("stg_orders"))
    assert "customer_id" not in key_names("orders") and "gla_id" not in key_names("glass")
