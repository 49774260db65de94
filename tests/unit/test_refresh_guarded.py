"""A refresh that meets values on which an expression fails, and that the query may never meet."""

from __future__ import annotations

import pytest

from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.protocol import EngineError
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
