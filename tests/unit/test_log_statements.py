"""The log of changes: its statements, which views can be logged without a stored row, and what a refresh does, without Spark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import sqlglot

from dbt_idivm.compiler import compile_plan
from dbt_idivm.definition.config import model_config
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.passes.reproducible import unreproducible
from dbt_idivm.refresh.catalog import state
from dbt_idivm.refresh.catalog.relations import LOG
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.forecast import forecast
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.change_log import Entry, changes_in_feed, difference, first_rows, logged, replay_differences
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.diff import FeedDiff, InlineDiff
from dbt_idivm.script.logged_tuples import LoggedTuples
from dbt_idivm.script.net_changes import net_changes
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import applications, render
from dbt_idivm.script.tuple_based import Tuples
from dbt_idivm.support import CATALOG
from dbt_idivm.verify import equivalence
from tests.unit.fake_engine import FakeEngine, drive, model

GOLDEN = Path(__file__).parents[1] / "golden" / "log"
COLUMNS = (Attribute("id", "int"), Attribute("My Price", "double"), Attribute("idivm_c1", "array<float>"))
NAMES = tuple(each.name for each in COLUMNS)
ENTRY = Entry(7, '{"main.orders": 4, "main.`${x}`": 1}')
VIEW, LOG_NOW = DELTA.table("main.v", 5), DELTA.table("main.v__idivm_changes", 6)
STATEMENTS = {
    "first_rows": first_rows(VIEW, NAMES, ENTRY),
    "feed": logged(changes_in_feed(DELTA, FeedDiff("main.v", 3, 5), COLUMNS), NAMES, ENTRY),
    "difference": logged(difference(VIEW, LOG_NOW, COLUMNS), NAMES, ENTRY),
    "replay_differences": replay_differences(LOG_NOW, VIEW, COLUMNS, "idivm_difference"),
}
SQL = "select id, name from main.o"
DIFFS, BOTH = (model(SQL, {"o": "id"}, output=output) for output in ("diffs", "both"))
TABLE = "main.v__idivm_changes"


def plan(sql: str) -> Plan:
    lowered = lower(sql, CATALOG)
    return compile_plan(lowered.root, lowered.output, ways=("tuple",))


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(name: str, golden: Callable[[Path, str], None]) -> None:
    text = DELTA.sql(STATEMENTS[name])
    assert sqlglot.parse_one(text, dialect="spark")
    golden(GOLDEN / f"{name}.sql", f"{text}\n")


def test_net_tuples_are_appended(golden: Callable[[Path, str], None]) -> None:
    """Over the user's columns: the customer's key, which the view would hide, is not netted by."""
    found = plan("select c.name, o.price, o.price as again from orders o join customers c on o.cid = c.id")
    changes = net_changes(found, {"customers": InlineDiff(("id", "name"), (((1, "ann"), -1), ((1, "ANN"), 1)))})
    done, *_ = applications(found, changes) or ()
    assert isinstance(done, Tuples)
    logging = LoggedTuples.of(done, ENTRY)
    assert (logging.shape, logging.reads_view, logging.assigned, logging.has_whole_rows) == ("append", False, frozenset(), False)
    script = render(found, logging, Binding({"orders": 4, "customers": 2}, changes), "main.v__idivm_changes")
    golden(GOLDEN / "tuples.sql", f"{DELTA.sql(script.statement)}\n")


@pytest.mark.parametrize(
    "sql",
    [
        "select id, price * 2 as p from orders",
        "select cid, count(*) as n, max(id) as m from orders group by cid",
        "select cid, sum(price) as s, avg(price) as a from orders group by cid",
        "select distinct cid from orders",
        "select cid, count(distinct cast(price as double)) as n from orders group by cid",
        "select id, row_number() over (partition by cid order by price, id) as n from orders",
    ],
)
def test_what_can_be_computed_again(sql: str) -> None:
    assert unreproducible(plan(sql).root) is None


@pytest.mark.parametrize(
    "sql",
    [
        "select cid, sum(cast(price as double)) as s from orders group by cid",
        "select cid, avg(id) as a from orders group by cid",
        "select cid, max(cast(price as float)) as m from orders group by cid",
        "select stddev(price) as s from orders",
        "select id, sum(cast(price as double)) over (partition by cid) as n from orders",
        "select cid from orders group by cid having sum(cast(price as double)) > 1",
    ],
)
def test_what_cannot(sql: str) -> None:
    assert unreproducible(plan(sql).root) is not None


def test_config() -> None:
    assert model_config({}).output == "view" and model_config({}).keeps_view
    diffs = model_config({"idivm": {"output": "DIFFS", "strategy": "auto"}})
    assert (diffs.keeps_view, diffs.ways, diffs.chooses, diffs.may_rebuild) == (False, ("tuple",), False, False)
    assert model_config({"idivm": {"output": "both"}}).keeps_view
    with pytest.raises(IdivmError, match="IDIVM-103"):
        model_config({"idivm": {"output": "log"}})


@pytest.fixture
def engine() -> FakeEngine:
    fake = FakeEngine()
    fake.source("o", id="int", name="string", other="array<int>")
    return fake


def change(engine: FakeEngine) -> None:
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ((7, "seven", 1), (8, "eight", -1))


def writes(engine: FakeEngine) -> list[str]:
    return engine.labels("write")


def test_diffs(engine: FakeEngine) -> None:
    created = engine.drive(DIFFS)
    assert (created.mode, created.relations) == ("create", (("main", "v", "view"), ("main", "v__idivm_changes", "table")))
    assert writes(engine) == [f"build {TABLE}"] and engine.tables["main.v"].kind == "VIEW"
    assert LOG in engine.tables["main.v"].properties
    texts = created.artifacts.texts()
    assert f"INSERT INTO {TABLE}" in texts["delta_script.sql"] and "MERGE" not in texts["delta_script.sql"]
    assert engine.drive(DIFFS).message == "noop: nothing changed, 0 statements"
    change(engine)
    outcome = engine.drive(DIFFS)
    assert (outcome.mode, outcome.strategy, writes(engine)) == ("incremental", "tuple", [f"append to {TABLE}"])
    found = state.read(engine.tables[TABLE].commits[-1][-1])
    assert found is not None and found.versions == {"main.o": 2} and found.base == 0
    assert engine.drive(replace(DIFFS, full_refresh=True)).mode == "full"
    assert writes(engine) == [f"append to {TABLE}"] and "UNPIVOT" in engine.log[-4].sql + "".join(s.sql for s in engine.log)
    assert len(engine.tables[TABLE].commits) == 3


def test_a_lost_statement_is_no_refresh(engine: FakeEngine) -> None:
    engine.drive(DIFFS)
    change(engine)
    log = engine.tables[TABLE]

    def faster() -> None:
        log.transactions[f"idivm:{TABLE}"] = 0  # Delta skips it: its number was used
        log.commit("WRITE")

    engine.on_write = faster
    with pytest.raises(IdivmError, match="IDIVM-903"):
        engine.drive(DIFFS)


@pytest.mark.parametrize("output", ["diffs", "both"])
def test_a_log_whose_numbers_are_used_begins_anew(engine: FakeEngine, output: str) -> None:
    """Others dropped it while it was written, and what came instead has a number of the former one."""
    asked = replace(DIFFS, config={"idivm": {"strategy": "id", "output": output}})
    engine.drive(asked)
    engine.tables[TABLE].transactions[f"idivm:{TABLE}"] = 9
    change(engine)
    engine.drive(asked)
    assert [each for each in writes(engine) if TABLE in each] == [f"append to {TABLE}", f"build {TABLE}"]
    assert engine.drive(asked).mode == "noop"
    change(engine)
    assert engine.drive(asked).mode == "incremental" and f"append to {TABLE}" in writes(engine)


def test_the_forecast_of_diffs(engine: FakeEngine) -> None:
    engine.drive(DIFFS)
    change(engine)
    there = replace(DIFFS, existing="view", neighbours={"v__idivm_changes": "table"})
    found = drive(engine, forecast(there, Invocation(), engine.kind))
    assert (found.mode, found.strategy, found.shape) == ("incremental", "tuple", "append") and f"INSERT INTO {TABLE}" in found.sql


def test_diffs_of_part_of_the_data(engine: FakeEngine) -> None:
    restricted = replace(DIFFS, restricted=True)
    assert engine.drive(restricted).relations == (("main", "v", "view"),)
    engine.drive(DIFFS)
    assert len(engine.drive(restricted).relations) == 2 and writes(engine) == []
    assert engine.drive(DIFFS).mode == "noop" and [s.label for s in engine.log if s.label.startswith("create view")]


def test_the_view_is_made_again(engine: FakeEngine) -> None:
    """A refresh broke off before it."""
    engine.drive(DIFFS)
    del engine.tables["main.v"]
    assert engine.drive(DIFFS).mode == "noop" and engine.tables["main.v"].kind == "VIEW"


def test_both(engine: FakeEngine) -> None:
    def view_columns() -> None:
        if "main.v" in engine.tables:
            engine.tables["main.v"].columns = {"id": "int", "name": "string"}

    engine.on_write = view_columns
    engine.drive(BOTH)
    created = engine.drive(BOTH)
    assert created.relations == (("main", "v", "table"), ("main", "v__idivm_changes", "table"))
    assert writes(engine) == [] or writes(engine) == [f"build {TABLE}"]
    change(engine)
    outcome = engine.drive(BOTH)
    assert outcome.mode == "incremental" and outcome.message.endswith("rows to its log")
    assert writes(engine)[-1] == f"append to {TABLE}" and len(writes(engine)) == 2
    found = state.read(engine.tables[TABLE].commits[-1][-1])
    assert found is not None and found.versions == {"main.v": len(engine.tables["main.v"].commits) - 1}
    assert engine.drive(BOTH).message == "noop: nothing changed, 0 statements"


def test_names_of_the_log(engine: FakeEngine) -> None:
    with pytest.raises(IdivmError, match="IDIVM-122"):
        engine.drive(model("select id, name as IDIVM__change from main.o", {"o": "id"}, output="diffs"))
    assert set(engine.tables) == {"main.o"}, "nothing is written"


def test_values_that_cannot_be_compared(engine: FakeEngine) -> None:
    """Such a model has no plan, and its query could not be compared with the log either."""
    engine.query_columns = {"id": "int", "v": "variant"}
    with pytest.raises(IdivmError, match="IDIVM-218"):
        engine.drive(model("select id, parse_json(name) as v from main.o", {"o": "id"}, output="diffs"))
    assert set(engine.tables) == {"main.o"}


def test_the_equivalence_of_diffs(engine: FakeEngine) -> None:
    engine.drive(DIFFS)
    engine.tables["main.v"].columns = {"id": "int", "name": "string"}
    sql = engine.ask(equivalence("main", "v"))
    assert f"FROM {TABLE}" in sql and "VERSION AS OF 1" in sql
