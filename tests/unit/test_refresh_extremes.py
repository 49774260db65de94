"""Refreshes of minima and maxima: which groups have lost theirs is asked before the statement is made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.forecast import forecast
from dbt_idivm.refresh.protocol import EngineError
from dbt_idivm.script.diff import INLINE_ROWS
from tests.unit.fake_engine import FakeEngine, drive, model

MODEL = model("select cid, min(price) as m from main.o group by cid", {"o": "id"}, verify="none")
ASKED = "what is lost in main.v__idivm"
LOST = (7, True, "int", "boolean")


@pytest.fixture
def engine() -> FakeEngine:
    fake = FakeEngine()
    fake.source("o", id="int", cid="int", price="int")
    assert fake.drive(MODEL).mode == "create"
    return fake


def change(engine: FakeEngine, rows: int = 1, weight: int = -1) -> None:
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": str(rows)})
    engine.reads["net diff"] = ((1, 7, 3, weight),)


def merge(engine: FakeEngine) -> str:
    (found,) = (statement.sql for statement in engine.log if statement.kind == "write")
    return found


@pytest.mark.parametrize(
    ("lost", "strategy", "part"),
    [
        ((), "id", None),
        ((LOST,), "recompute", "part of the view was recomputed: d_rec__o by (o__cid)"),
        ((LOST,) * (INLINE_ROWS + 1), "recompute", "part of the view was recomputed: d_rec__o by (o__cid)"),
    ],
)
def test_what_is_lost_is_recomputed(
    engine: FakeEngine, lost: tuple[tuple[object, ...], ...], strategy: str, part: str | None
) -> None:
    change(engine)
    engine.reads[ASKED] = lost
    outcome = engine.drive(MODEL)
    assert (outcome.mode, outcome.strategy, outcome.reason) == ("incremental", strategy, part), outcome.message
    assert engine.labels("read").count(ASKED) == 1
    assert ("FROM main.o VERSION AS OF 2 AS o" in merge(engine)) is bool(lost)
    assert ("old_rows" in merge(engine)) is (len(lost) > INLINE_ROWS) and ("lost_groups" in merge(engine)) is (len(lost) == 1)


def test_nothing_is_asked_where_rows_are_only_inserted(engine: FakeEngine) -> None:
    change(engine, weight=1)
    assert engine.drive(MODEL).mode == "incremental" and ASKED not in engine.labels("read")


@pytest.mark.parametrize("lost", [(), (LOST,)])
def test_what_is_staged_serves_the_question_and_the_statement(engine: FakeEngine, lost: tuple[tuple[object, ...], ...]) -> None:
    change(engine, rows=5000)
    engine.reads[ASKED] = lost
    assert engine.drive(MODEL).mode == "incremental"
    assert sum(label.startswith("net diff of main.o") for label in engine.labels("read")) == 1 and not engine.staged


def test_what_was_staged_goes_if_the_question_fails(engine: FakeEngine) -> None:
    change(engine, rows=5000)
    engine.fail[ASKED] = EngineError("INTERNAL_ERROR", "it broke")
    with pytest.raises(Exception, match="it broke"):
        engine.drive(MODEL)
    assert not engine.staged and not engine.labels("write")


def test_a_forecast_asks_nothing(engine: FakeEngine) -> None:
    change(engine)
    found = drive(engine, forecast(replace(MODEL, existing="view"), Invocation(), engine.kind))
    assert (found.mode, found.strategy, found.shape) == ("incremental", "id", "additive") and ASKED not in engine.labels("read")


def test_a_minimum_of_another_type_is_not_added_to() -> None:
    """The type of an expression is inferred, and the stored one is not a type of which equal values are identical."""
    for kind, refused in (("double", True), ("string collate UTF8_LCASE", True), ("decimal(12,2)", False), ("bigint", False)):
        engine = FakeEngine()
        engine.source("o", id="int", cid="int", price="int")
        engine.query_columns = {"cid": "int", "m": kind, "idivm__count__rows": "bigint"}
        engine.columns_of = {"columns of the model's SELECT": {"cid": "int", "m": kind}}
        asked: ModelRequest = model("select cid, min(price) as m from main.o group by cid", {"o": "id"})
        outcome = engine.drive(asked)
        assert ("treats equal values of m as identical" in str(outcome.reason)) is refused, outcome.reason
