"""A CREATE TABLE that finds the table: it was sent again, or another run was faster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import EngineError
from tests.unit.fake_engine import Table, drive
from tests.unit.test_confirm import BAG, CACHED, PLAIN, made

EXISTS = EngineError("TABLE_OR_VIEW_ALREADY_EXISTS", "it exists already")


@pytest.mark.parametrize(("asked", "table"), [(PLAIN, "main.v"), (BAG, "main.v__idivm"), (CACHED, "main.idivm_cache")])
@pytest.mark.parametrize("is_own", [True, False])
def test_a_table_that_is_there_when_it_is_created(asked: ModelRequest, table: str, is_own: bool) -> None:
    engine, asked = made(None), replace(asked, run_id="this one")
    answer, sent = engine.answer, []

    def answered(statement):  # type: ignore[no-untyped-def]
        if statement.label.startswith(f"build {table}") and not sent:
            sent.append(statement.label.removeprefix("build "))
            answer(statement)
            if not is_own:
                last = engine.tables[sent[0]].commits[-1]
                engine.tables[sent[0]].commits[-1] = (*last[:-1], last[-1].replace("this one", "another"))
            return EXISTS
        return answer(statement)

    engine.answer = answered  # type: ignore[method-assign]
    if is_own:
        assert engine.drive(asked).mode == "create"
        assert engine.drive(asked).mode == "noop"
        return
    with pytest.raises(IdivmError, match="another run has created it") as caught:
        engine.drive(asked)
    assert caught.value.codes == ("IDIVM-903",)


def test_a_view_that_is_there_when_a_table_is_created() -> None:
    engine = made(None)
    engine.fail["build main.v"] = EXISTS
    engine.tables["main.v"] = Table({}, kind="VIEW")
    request = replace(PLAIN, existing=None)
    with pytest.raises(IdivmError) as caught:
        drive(engine, refresh(request, Invocation()))
    assert caught.value.codes == ("IDIVM-902",) and "it exists already" in str(caught.value)
