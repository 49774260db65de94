"""New keys are not looked up where the rows that changes reach show that each of them occurs once."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.operators.scan import DiffClass, DiffRows
from dbt_idivm.refresh.protocol import Outcome
from dbt_idivm.script.reach import Changed, Finder, Wanted
from tests.property.plans import Options, Table, plan_of
from tests.unit.fake_engine import FakeEngine, model

CHAIN = "select o.id, o.price, c.name, d.name as other from main.o left join main.c on o.cid = c.id left join main.c d on d.id = o.price"
NEW_AND_OLD: tuple[DiffClass, DiffClass] = ("plus", "minus")
Rows: TypeAlias = tuple[tuple[object, ...], ...]
CUSTOMERS: Rows = ((7, "new", "int", "string"), (8, "x", "int", "string"))
ORDERS: Rows = ((7, 1, 6, "int", "int", "int"), (8, 2, 5, "int", "int", "int"))


@pytest.fixture
def engine() -> FakeEngine:
    """Large tables, of which each has a new, a changed and a deleted row since the build."""
    engine = FakeEngine()
    engine.source("o", id="int", cid="int", price="int")
    engine.source("c", id="int", name="string")
    for name in ("main.o", "main.c"):
        engine.tables[name].commit("WRITE", {"numOutputRows": "50000000"}, parameters={"mode": "Append"})
    engine.drive(request())
    for name in ("main.o", "main.c"):
        engine.tables[name].commit("MERGE", {f"numTargetRows{done}": "1" for done in ("Inserted", "Updated", "Deleted")})
    engine.reads["net diff of main.c"] = ((7, "old", -1), (7, "new", 1), (8, "x", 1), (9, "y", -1))
    engine.reads["net diff of main.o"] = ((7, 1, 5, -1), (7, 1, 6, 1), (8, 2, 5, 1), (9, 3, 5, -1))
    return engine


def request() -> ModelRequest:
    return model(CHAIN, {"o": "id", "c": "id"}, strategy="incremental")


def refreshed(engine: FakeEngine, customers: Rows = CUSTOMERS, orders: Rows = ORDERS) -> Outcome:
    engine.reads["reached rows of main.c"], engine.reads["reached rows of main.o"] = customers, orders
    return engine.drive(request())


def looked_up(engine: FakeEngine) -> list[str]:
    return [label for label in engine.labels("read") if label.startswith("check new key")]


def test_new_keys_are_not_looked_up(engine: FakeEngine) -> None:
    assert refreshed(engine).mode == "incremental" and looked_up(engine) == []


def test_a_key_that_occurs_twice_among_them_is_looked_up(engine: FakeEngine) -> None:
    engine.reads["check new keys (id) of main.o"] = ((8,),)
    with pytest.raises(IdivmError) as failed:
        refreshed(engine, orders=(*ORDERS, (8, 9, 9, "int", "int", "int")))
    assert failed.value.codes == ("IDIVM-306",) and looked_up(engine) == ["check new keys (id) of main.o"]
    assert not [label for label in engine.labels("write") if "main.v" in label and "build" not in label]


def test_a_key_that_is_not_among_them_is_looked_up(engine: FakeEngine) -> None:
    """As of a row that cannot affect the view."""
    assert refreshed(engine, customers=CUSTOMERS[:1]).mode == "incremental"
    assert looked_up(engine) == ["check new keys (id) of main.c"]


def test_rows_that_were_not_found_by_new_keys_say_nothing() -> None:
    table = Table("main.c", (("id", "int"), ("name", "string")), ("id",))
    (scan,) = plan_of((table,), "select id, name from main.c", Options()).scans
    names = (scan.attribute("id"),)
    new, old = (Changed(DiffRows(scan, each, scan.columns), names) for each in NEW_AND_OLD)
    by_new = Finder(scan.table, ("id",), ("int",), (new,), (False,), True)
    assert Wanted((), (by_new,)).has_new(("id",))
    assert not Wanted((), (by_new,)).has_new(("id", "name")), "another key"
    assert not Wanted((), (replace(by_new, sources=(old,)),)).has_new(("id",)), "only keys that are gone"
    assert not Wanted((), (replace(by_new, table="main.o"),)).has_new(("id",)), "keys of another table"
