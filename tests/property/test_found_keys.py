"""Keys that nobody declared, through any history of a table: they come and go with the data, and never fail a refresh.

DuckDB runs the statements that look at keys, over the rows of each version.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from dbt_idivm.cost.choice import REBUILD
from dbt_idivm.refresh.catalog.state import State, read
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.forecast import forecast
from dbt_idivm.refresh.protocol import EngineError, Outcome, Reply, Rows, Statement
from tests.property.profiles import more
from tests.unit.fake_engine import FakeEngine, drive, model

Key = int | None
_AT = re.compile(r"main\.(\w+) VERSION AS OF (\d+)")
_SPAN = re.compile(r"from version (\d+) to (\d+)")
_IDS = st.one_of(st.none(), st.integers(1, 4))


@dataclass
class Orders(FakeEngine):
    """An engine that knows the keys of the rows of `main.o` and others at each version; each row is its key."""

    versions: dict[str, list[tuple[Key, ...]]] = field(default_factory=dict)

    def keyed(self, name: str, *rows: Key) -> None:
        """A table with these rows."""
        self.source(name, id="int", name="string")
        self.versions[name] = [(), rows]

    def write(self, rows: Sequence[Key], name: str = "o") -> None:
        """A commit after which the table has these rows."""
        self.tables[f"main.{name}"].commit("WRITE", {"numOutputRows": "1"})
        self.versions[name].append(tuple(rows))

    def answer(self, statement: Statement) -> Reply:
        label = statement.label
        if any(label.startswith(each) for each in self.fail):
            return super().answer(statement)
        if label.startswith(("look for keys", "check key", "check new keys")):
            return self._looked_up(statement.sql)
        if label.startswith("net diff of main.o"):
            before, after = (Counter(self.versions["o"][int(each)]) for each in _SPAN.findall(label)[0])
            signed = [(key, count) for key, count in (after - before).items()] + [(k, -n) for k, n in (before - after).items()]
            return Rows(("c",), tuple((key, f"name of {key}", weight) for key, weight in signed))
        return super().answer(statement)

    def _looked_up(self, sql: str) -> Reply:
        with duckdb.connect() as connection:
            for name, version in set(_AT.findall(sql)):
                connection.execute(f"CREATE TABLE {name}_{version} (id INT, name TEXT)")
                rows = self.versions[name][int(version)]
                if rows:
                    connection.executemany(f"INSERT INTO {name}_{version} VALUES (?, 'x')", [[key] for key in rows])
            query = sqlglot.parse_one(_AT.sub(r"\1_\2", sql), read="spark")
            for each in list(query.find_all(sqlglot.exp.Hint)):
                each.pop()
            return Rows(("c",), tuple(connection.execute(query.sql("duckdb")).fetchall()))


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[list[Key], str]]:
    """The rows at each version of the table, and what a run does at it."""
    does = st.sampled_from(["nothing", "run", "run", "run", "run all", "gap", "declared", "rebuild by cost"])
    return draw(st.lists(st.tuples(st.lists(_IDS, max_size=4), does), min_size=2, max_size=8))


def holds(rows: tuple[Key, ...]) -> bool:
    return None not in rows and len(set(rows)) == len(rows)


AUTO = model("select name from main.o", keys="auto")
AUTO_BY_COST = model("select name from main.o", keys="auto", strategy="auto")
DECLARED = model("select name from main.o")


def by_cost() -> Invocation:
    """An invocation in which a rebuild costs least wherever it is an alternative."""
    return Invocation(choose=lambda found: next((each for each in found if each.name == REBUILD), found[0]))


def play(start: Sequence[Key], history: Sequence[tuple[Sequence[Key], str]]) -> None:
    """Build the view, and refresh it after each change. No state relies on a key that does not hold."""
    engine = Orders()
    engine.keyed("o", *start)
    engine.drive(AUTO)
    assert_holds(engine)
    for rows, does in history:
        engine.write(rows)
        if does == "nothing":
            continue
        engine.fail = {"net diff": EngineError("DELTA_MISSING_CHANGE_DATA", "gone")} if does == "gap" else {}
        if does == "rebuild by cost":
            engine.drive(AUTO_BY_COST, by_cost())
            assert_holds(engine)
            continue
        asked = DECLARED if does == "declared" else AUTO
        before = stored(engine)
        foreseen = drive(engine, forecast(replace(asked, existing=existing(engine)), Invocation(), engine.kind))
        outcome = engine.drive(replace(asked, full_refresh=does == "run all"))
        now = assert_holds(engine)
        assert bool(now.found) == (outcome.relations[0][2] == "view")
        if does in ("run all", "gap") and outcome.mode == "full":
            assert bool(now.found) == holds(tuple(rows)), "looked for anew"
        if does == "run":
            assert foreseen.mode == outcome.mode
            assert_reason(outcome, bool(before.found), bool(now.found), holds(tuple(rows)))


def assert_holds(engine: Orders) -> State:
    now = stored(engine)
    assert not now.found or holds(engine.versions["o"][now.versions["main.o"]])
    return now


@more
@given(start=st.lists(_IDS, max_size=3), history=histories())
def test_no_view_relies_on_a_key_that_does_not_hold(start: list[Key], history: list[tuple[list[Key], str]]) -> None:
    play(start, history)


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
