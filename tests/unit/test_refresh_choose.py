"""Choosing: a pure function of what was observed and of the ways; what is wrong is found before anything is written."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.refresh.decide.choose import choose_ways
from dbt_idivm.refresh.decide.observe import Observed
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.protocol import Reply, Statement
from dbt_idivm.script.diff import InlineDiff
from dbt_idivm.script.net_changes import net_changes
from dbt_idivm.script.render import applications
from dbt_idivm.script.ways import STRATEGIES, Strategy
from tests.unit.fake_engine import FakeEngine, model
from tests.unit.test_script_ways import TOTALS, plan

REBUILD, REFUSAL = finding(401), finding(407)
MOVED, STAYED = SimpleNamespace(moved=True), SimpleNamespace(moved=False)


def observed(ways: Any, *moves: Any, reason: Any = None) -> Observed:
    planned = SimpleNamespace(plan=ways and SimpleNamespace(ways=ways), why_no_plan=None if ways else REFUSAL)
    work = cast(Work, SimpleNamespace(planned=planned, stored=SimpleNamespace(state=None)))
    return Observed(work, reason, {str(number): move for number, move in enumerate(moves)})


def test_before_net_diffs_are_read() -> None:
    ways = plan(TOTALS).ways
    assert choose_ways(observed(ways, MOVED, reason=REBUILD)) is REBUILD
    assert choose_ways(observed(ways, STAYED, MOVED)) == ways
    assert choose_ways(observed(ways, STAYED)) == choose_ways(observed(None, STAYED)) == ()
    assert choose_ways(observed(None, MOVED)) is REFUSAL


@pytest.mark.parametrize(("strategy", "shape"), [("id", "additive"), ("recompute", "effective"), ("tuple", "additive")])
def test_after_net_diffs_are_read(strategy: Strategy, shape: str) -> None:
    view = plan(TOTALS, STRATEGIES[strategy])
    row = InlineDiff(("id", "cid", "price"), (((1, 7, "3.00"), 1),))
    chosen = applications(view, net_changes(view, {"orders": row}))
    assert chosen is not None and chosen[0].shape == shape
    assert applications(view, net_changes(view, {"orders": InlineDiff(row.columns, ())})) is None


def over_a_cache() -> tuple[FakeEngine, ModelRequest]:
    """An engine, and a view with a cache of a join, not built yet."""
    engine = FakeEngine()
    engine.source("o", id="int", name="string")
    engine.source("p", id="int", oid="int")
    sql = "select o.name, sum(p.id) as total from main.o join main.p on p.oid = o.id group by o.name"
    return engine, replace(model(sql, {"o": "id", "p": "id"}, caches="all"), neighbours={"v__idivm": "table"})


def test_a_view_is_judged_before_its_caches_are_refreshed() -> None:
    """A changed configuration that is to be an error is one before anything is written."""
    engine, request = over_a_cache()
    view, hidden, cache = (table for _, table, _ in engine.drive(request).relations)
    assert (view, hidden) == ("v", *request.neighbours) and cache.startswith("idivm_cache_")
    engine.tables["main.p"].commit("WRITE", {"numOutputRows": "1"})
    engine.log.clear()
    later = replace(
        request,
        existing="view",
        config={**request.config, "dbt": {"tblproperties": {"a": "b"}, "on_configuration_change": "fail"}},
    )
    with pytest.raises(IdivmError, match="IDIVM-106"):
        engine.drive(later)
    assert engine.labels("read") == engine.labels("write") == []


@pytest.mark.parametrize(("operation", "is_noop"), [("WRITE", False), ("RESTORE", False), ("OPTIMIZE", True)])
@pytest.mark.parametrize("is_later", [False, True])
def test_a_cache_that_others_write_before_the_view_reads_it(operation: str, is_noop: bool, is_later: bool) -> None:
    """Before or after its own change: what they wrote is in the view then, whose state has the cache's version with it. The next
    run rebuilds the cache, though nothing is newer than that state says."""
    engine, request = over_a_cache()
    cache = engine.drive(request).relations[-1][1]
    engine.tables["main.p"].commit("WRITE", {"numOutputRows": "1"}, parameters={"mode": "Append"})
    engine.reads |= {"net diff of main.p": ((9, 1, 1),), "net diff of": (("x", 9, 1, 1),)}
    insert, others = engine._insert, partial(engine.tables[f"main.{cache}"].commit, operation, {"numOutputRows": "1"})

    def among_others(statement: Statement) -> Reply:
        if not is_later:
            others()
        reply = insert(statement)
        if is_later:
            others()
        return reply

    engine._insert = among_others  # type: ignore[method-assign]
    assert engine.drive(request).mode == "incremental"
    assert engine.labels("write") == [f"append to main.{cache}", "merge into main.v__idivm"]
    engine._insert = insert  # type: ignore[method-assign]
    assert engine.drive(request).mode == ("noop" if is_noop else "incremental")
    assert engine.labels("write") == ([] if is_noop else [f"rebuild main.{cache}", "merge into main.v__idivm"])
    assert engine.drive(request).message == "noop: nothing changed, 0 statements"


def test_caches_keep_their_layout_with_the_view() -> None:
    """`on_configuration_change: continue`: nothing is rebuilt, and the user is warned once."""
    engine, request = over_a_cache()
    engine.drive(request)
    engine.log.clear()
    later = replace(
        request,
        existing="view",
        config={**request.config, "dbt": {"tblproperties": {"a": "b"}, "on_configuration_change": "continue"}},
    )
    outcome = engine.drive(later)
    assert outcome.mode == "noop" and len(outcome.warnings) == 1
    assert not [label for label in engine.labels("write") if label.startswith("build")]
