"""What is too large: a SELECT that is not planned, a script that is not sent, and a refresh whose script cannot be written."""

from __future__ import annotations

import pytest

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.frontend import size
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.passes.script_size import FEW_MENTIONS, MOST_MENTIONS, count_mentions
from dbt_idivm.script import limit
from dbt_idivm.script.limit import within_limit
from dbt_idivm.script.tuple_based import Tuples
from dbt_idivm.script.ways import ALL_WAYS
from tests.unit.fake_engine import FakeEngine, model

CATALOG = Catalog({"t": TableInfo("t", (Attribute("id", "int"), Attribute("b", "int")), ("id",), "")})
KEYS = {"o": "id"}
OPEN = "select id, price from main.o where price > 0"


def codes(sql: str) -> tuple[str, ...]:
    with pytest.raises(IdivmError) as caught:
        lowered = lower(sql, CATALOG)
        compile_plan(lowered.root, lowered.output)
    assert caught.value.is_refusal
    return caught.value.codes


def test_a_long_text_is_not_parsed() -> None:
    assert codes("select id from t where b in (" + "1, " * (size.MOST_CHARACTERS // 3) + "1)") == ("IDIVM-238",)


def test_a_wide_select_is_not_planned() -> None:
    columns = (f"b + {number} as c{number}" for number in range(size.MOST_COLUMNS + 1))
    assert codes(f"select {', '.join(columns)} from t") == ("IDIVM-238",)


def test_a_cte_counts_as_often_as_it_is_used() -> None:
    ctes = [f"c{number} as (select x.id from c{number - 1} x join c{number - 1} y on x.id = y.id)" for number in range(1, 21)]
    assert codes(f"with c0 as (select id from t), {', '.join(ctes)} select * from c20") == ("IDIVM-238",)


@pytest.mark.parametrize("join", ["join", "left join"])
def test_many_joins_are_not_planned(join: str) -> None:
    joins = " ".join(f"{join} t t{number} on t{number}.id = t.b" for number in range(300))
    assert codes(f"select t.id from t {joins}") == ("IDIVM-232",)


def test_many_tables_are_planned_if_the_script_is_short() -> None:
    """The estimate is the worst case: keys are looked up, and counts side by side are computed again."""
    star = " ".join(f"join t t{number} on t{number}.id = t.b + {number}" for number in range(30))
    counts = ", ".join(
        f"(select count(*) as n{number} from t a, t b, t c, t d where a.id = b.b and b.id = c.b and c.id = d.b) x{number}"
        for number in range(8)
    )
    for sql in (f"select t.id from t {star}", f"select * from {counts}"):
        lowered = lower(sql, CATALOG)
        assert FEW_MENTIONS < count_mentions(lowered.root) <= MOST_MENTIONS
        assert compile_plan(lowered.root, lowered.output).ways


def test_a_long_script_is_found_before_the_view_is_built() -> None:
    chain = " ".join(f"join t t{number} on t{number}.b = t{number - 1}.b + 1" for number in range(1, 46))
    sql = f"select t0.id, {', '.join(f't{number}.b as b{number}' for number in range(46))} from t t0 {chain}"
    assert count_mentions(lower(sql, CATALOG).root) < MOST_MENTIONS
    assert codes(sql) == ("IDIVM-232",)


def test_ways_that_are_too_long_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = lower("select a.id, b.b from t a left join t b on b.id = a.b", CATALOG)
    plan = compile_plan(lowered.root, lowered.output, ways=ALL_WAYS)
    found = [done for way in plan.ways if (done := way.application(lambda leaf: False)) is not None]
    longest = max(found, key=lambda done: done.length)
    monkeypatch.setattr(limit, "LONGEST", longest.length - 1)
    assert longest not in within_limit(found, plan.root)
    assert within_limit([], plan.root) == ()
    monkeypatch.setattr(limit, "LONGEST", 1)
    with pytest.raises(IdivmError, match="IDIVM-232"):
        within_limit(found, plan.root)


@pytest.fixture
def engine() -> FakeEngine:
    fake = FakeEngine(written=1_000_000)
    fake.source("o", id="int", price="int").commit("WRITE", {"numOutputRows": "1000000"}, parameters={"mode": "Append"})
    return fake


@pytest.mark.parametrize("part", ["application", "statement"])
def test_a_script_that_cannot_be_made_ends_no_refresh(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    request = model(OPEN, KEYS, strategy="tuple")
    engine.drive(request)
    engine.tables["main.o"].commit("UPDATE", {"numUpdatedRows": "1"})
    engine.reads["net diff of main.o"] = ((7, 2, -1), (7, 3, 1))

    def refused(*_: object, **__: object) -> None:
        raise IdivmError(finding(231))

    monkeypatch.setattr(
        "dbt_idivm.script.tuple_based.TupleBased.application"
        if part == "application"
        else f"{Tuples.__module__}.Tuples.statement",
        refused,
    )
    outcome = engine.drive(request)
    assert outcome.mode == "full" and "IDIVM-231" in outcome.message


@pytest.mark.parametrize("config", [{"strategy": "id"}, {"strategy": "tuple"}, {"output": "diffs"}, {"strategy": "incremental"}])
def test_a_refresh_of_which_all_is_too_long_is_a_rebuild(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, config: dict[str, str]
) -> None:
    request = model(OPEN, KEYS, **config)
    engine.drive(request)
    engine.tables["main.o"].commit("UPDATE", {"numUpdatedRows": "1"})
    engine.reads["net diff of main.o"] = ((7, 2, -1), (7, 3, 1))
    monkeypatch.setattr(limit, "LONGEST", 1)
    outcome = engine.drive(request)
    assert outcome.mode == "full" and "IDIVM-232" in outcome.message


def test_or_it_is_an_error_where_that_is_asked_for(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    request = model(OPEN, KEYS, strategy="tuple", on_unsupported="error")
    engine.drive(request)
    engine.tables["main.o"].commit("UPDATE", {"numUpdatedRows": "1"})
    engine.reads["net diff of main.o"] = ((7, 2, -1), (7, 3, 1))

    def refused(*_: object, **__: object) -> None:
        raise IdivmError(finding(231))

    monkeypatch.setattr(Tuples, "statement", refused)
    with pytest.raises(IdivmError, match="IDIVM-231"):
        engine.drive(request)
