"""A refresh that meets values on which an expression fails, and that the query may never meet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.protocol import EngineError, Reply, Statement
from tests.unit.fake_engine import FakeEngine, model

MODEL = model("select id, name from main.o", {"o": "id"})
FAILURE = EngineError("DIVIDE_BY_ZERO", "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012")

UNMATCHED = EngineError("USER_RAISED_EXCEPTION", "Unexpected row: did not match any merge clause SQLSTATE: P0001")


@pytest.fixture
def engine() -> FakeEngine:
    """A view whose input has changed."""
    engine = FakeEngine()
    engine.source("o", id="int", name="string")
    engine.drive(MODEL)
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ((7, "n", 1), (8, "m", -1))
    return engine


@pytest.mark.parametrize("failure", [FAILURE, UNMATCHED])
def test_the_view_is_rebuilt(engine: FakeEngine, failure: EngineError) -> None:
    engine.fail["merge"] = failure
    done = engine.drive(MODEL)
    assert done.mode == "full" and done.reason is not None and done.reason.startswith("IDIVM-417")
    assert engine.drive(MODEL).mode == "noop"


def test_where_the_query_fails_itself_the_view_stays(engine: FakeEngine) -> None:
    engine.fail = {"merge": FAILURE, "rebuild": FAILURE, "build": FAILURE}
    versions = len(engine.tables["main.v"].commits)
    with pytest.raises(IdivmError) as error:
        engine.drive(MODEL)
    assert error.value.codes == ("IDIVM-902",)
    assert len(engine.tables["main.v"].commits) == versions


class Eager(FakeEngine):
    """An engine that evaluates the expressions of a plan for all rows: what a plan computes fails."""

    def answer(self, statement: Statement) -> Reply:
        is_planned = statement.kind in ("write", "read") and "10 / o.id" in statement.sql
        return FAILURE if is_planned else super().answer(statement)


GUARDED = model("select id from main.o where exists (select 1 from main.p) and 10 / id > 1", {"o": "id"})


def test_a_plan_that_fails_where_the_select_does_not_is_not_used() -> None:
    engine = Eager()
    engine.source("o", id="int", name="string")
    engine.source("p", id="int")
    done = engine.drive(GUARDED)
    assert done.mode == "create" and done.reason is not None and done.reason.startswith("IDIVM-233")
    assert any(each.sql.startswith("CREATE") and "10 / id > 1" in each.sql for each in engine.log)
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    again = engine.drive(GUARDED)
    assert again.mode == "full" and again.reason is not None and "IDIVM-233" in again.reason, "it is remembered"
    assert failing_codes(engine, replace(GUARDED, config={"idivm": {"on_unsupported": "error"}})) == ("IDIVM-233",)


def test_so_it_is_where_a_unique_key_is_looked_up_first() -> None:
    engine = Eager()
    engine.source("o", id="int", name="string")
    engine.source("p", id="int")
    engine.query_columns = {"id": "int", "name": "string"}
    sql = "select id, name from main.o where exists (select 1 from main.p) and 10 / id > 1"
    request = model(sql, {"o": "id"}, unique_key="name")
    done = engine.drive(request)
    assert done.mode == "create" and done.reason is not None and done.reason.startswith("IDIVM-233")
    looked_up = [each.sql for each in engine.log if each.label.startswith("check unique_key")]
    assert len(looked_up) == 2 and "10 / id > 1" in looked_up[1], "the rows that are stored are those of the user's text"


def failing_codes(engine: FakeEngine, request: ModelRequest) -> tuple[str, ...]:
    with pytest.raises(IdivmError) as error:
        engine.drive(request)
    return error.value.codes
