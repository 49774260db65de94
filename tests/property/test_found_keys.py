"""Keys that nobody declared, through any history of a table: they come and go with the data, and never fail a refresh."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dbt_idivm.refresh.catalog.state import State, read
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.forecast import forecast
from dbt_idivm.refresh.protocol import EngineError, Outcome, Reply, Rows, Statement
from tests.property.profiles import more
from tests.unit.fake_engine import FakeEngine, drive, model

Key = int | None
_AT = re.compile(r"main\.o VERSION AS OF (\d+)")
_SPAN = re.compile(r"from version (\d+) to (\d+)")
_IDS = st.one_of(st.none(), st.integers(1, 4))


@dataclass
class Orders(FakeEngine):
    """An engine that knows the keys of the rows of `main.o` at each version; each row is its key."""

    versions: list[tuple[Key, ...]] = field(default_factory=list)

    def answer(self, statement: Statement) -> Reply:
        label, sql = statement.label, statement.sql
        if label.startswith(("look for keys", "check key", "check new keys")):
            rows = self.versions[int(_AT.findall(sql)[-1])]
            broken = [key for key, count in Counter(rows).items() if count > 1 or key is None]
            told = {"look": (0,), "check key": (1, *broken[:1], 2), "check new": (*broken[:1],)}
            return Rows(("c",), (next(row for each, row in told.items() if label.startswith(each)),) if broken else ())
        if label.startswith("net diff") and not any(label.startswith(each) for each in self.fail):
            before, after = (Counter(self.versions[int(each)]) for each in _SPAN.findall(label)[0])
            signed = [(key, count) for key, count in (after - before).items()] + [(k, -n) for k, n in (before - after).items()]
            return Rows(("c",), tuple((key, f"name of {key}", weight) for key, weight in signed))
        return super().answer(statement)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[list[Key], str]]:
    """The rows at each version of the table, and what a run does at it."""
    does = st.sampled_from(["nothing", "run", "run", "run", "run all", "gap", "declared"])
    return draw(st.lists(st.tuples(st.lists(_IDS, max_size=4), does), min_size=2, max_size=8))


def holds(rows: tuple[Key, ...]) -> bool:
    return None not in rows and len(set(rows)) == len(rows)


@more
@given(start=st.lists(st.integers(1, 9), unique=True, max_size=3), history=histories())
def test_no_view_relies_on_a_key_that_does_not_hold(start: list[int], history: list[tuple[list[Key], str]]) -> None:
    engine = Orders()
    engine.source("o", id="int", name="string")
    engine.versions = [(), tuple(start)]
    auto = model("select name from main.o", keys="auto")
    engine.drive(auto)
    for rows, does in history:
        engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
        engine.versions.append(tuple(rows))
        if does == "nothing":
            continue
        engine.fail = {"net diff": EngineError("DELTA_MISSING_CHANGE_DATA", "gone")} if does == "gap" else {}
        asked = model("select name from main.o") if does == "declared" else auto
        before = stored(engine)
        foreseen = drive(engine, forecast(replace(asked, existing=existing(engine)), Invocation(), engine.kind))
        outcome = engine.drive(replace(asked, full_refresh=does == "run all"))
        now = stored(engine)
        assert not now.found or holds(engine.versions[now.versions["main.o"]])
        assert bool(now.found) == (outcome.relations[0][2] == "view")
        if does in ("run all", "gap") and outcome.mode == "full":
            assert bool(now.found) == holds(tuple(rows)), "looked for anew"
        if does == "run":
            assert foreseen.mode == outcome.mode
            assert_reason(outcome, bool(before.found), bool(now.found), holds(tuple(rows)))


def assert_reason(outcome: Outcome, was_keyed: bool, is_keyed: bool, holds_now: bool) -> None:
    """Nothing but a broken key rebuilds the view, and what is no key stays none."""
    if was_keyed and not holds_now:
        assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-428") and not is_keyed
    elif outcome.mode != "full":
        assert was_keyed == is_keyed
    else:
        assert (outcome.reason or "").startswith("IDIVM-402"), "after `keys: declared`"


def existing(engine: FakeEngine) -> Any:
    return "view" if engine.tables["main.v"].kind == "VIEW" else "table"


def stored(engine: FakeEngine) -> State:
    table = engine.tables.get("main.v__idivm") or engine.tables["main.v"]
    found = next(state for each in reversed(table.commits) if (state := read(each[-1])) is not None)
    return found
