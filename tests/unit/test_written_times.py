"""Times of writing: which columns are, which uses of the clock are refused, and what a refresh, its proof and its test do."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from dbt_idivm.adaptation.adapt import adapt
from dbt_idivm.algebra.operator import operators
from dbt_idivm.algebra.written_time import clock_calls
from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog, PlainView, TableInfo
from dbt_idivm.errors import IdivmError
from dbt_idivm.explain import explain
from dbt_idivm.frontend import written_times
from dbt_idivm.frontend.lower import Lowered, lower
from dbt_idivm.operators import OuterJoin
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.refresh.catalog import state
from dbt_idivm.refresh.protocol import Statement
from dbt_idivm.script.plan import Plan
from dbt_idivm.verify import equivalence
from tests.unit.fake_engine import FakeEngine, model


def table(name: str, columns: str, key: tuple[str, ...] | None = ("id",)) -> TableInfo:
    return TableInfo(name, tuple(Attribute(each, "int") for each in columns.split()), key)


TABLES = {
    "t": table("t", "id x y"),
    "u": table("u", "id z"),
    "bag": table("bag", "x y", None),
    "d": table("d", "id current_date"),
    "zz": TableInfo("zz", (Attribute("id", "int"), Attribute("st", "struct<current_date:int,a:int>")), ("id",)),
    "ar": TableInfo("ar", (Attribute("id", "int"), Attribute("a", "array<struct<Current_Date:int,b:int>>")), ("id",)),
    "cut": TableInfo("cut", (Attribute("id", "int"), Attribute("st", "struct<a:int,... 3 more fields>")), ("id",)),
}
VIEWS = {
    "w": PlainView("SELECT id, x, now() AS t FROM t"),
    "renamed": PlainView("SELECT id, x AS current_date FROM t"),
    "fields": PlainView("SELECT id, st.* FROM zz"),
    "recent": PlainView("SELECT id FROM t WHERE x < unix_timestamp()"),
}


def lowered(sql: str) -> Lowered:
    names = {"t", "zz", *re.findall(r"(?:FROM|JOIN) (\w+)", sql)} & TABLES.keys()
    names -= set() if "zz" in sql or "fields" in sql else {"zz"}
    return lower(sql, Catalog({name: TABLES[name] for name in names}, VIEWS))


def planned(sql: str) -> Plan:
    found = lowered(sql)
    return compile_plan(found.root, found.output, times=found.times)


C = "WITH c AS (SELECT id, x, y, now() AS t FROM t) "
TAKEN = {
    "SELECT id, current_timestamp() AS t FROM t": {"t": "CURRENT_TIMESTAMP()"},
    "SELECT id, current_timestamp AS t, current_date AS d FROM t": {"t": "CURRENT_TIMESTAMP()", "d": "CURRENT_DATE()"},
    "SELECT id, localtimestamp() AS t, curdate() AS d, unix_timestamp() AS u FROM t": {
        "t": "LOCALTIMESTAMP()",
        "d": "CURDATE()",
        "u": "UNIX_TIMESTAMP()",
    },
    "SELECT id, cast(date_trunc('day', now()) AS date) AS t FROM t": {"t": "CAST(DATE_TRUNC('day', NOW()) AS DATE)"},
    "SELECT id, date_format(to_utc_timestamp(now(), 'CET'), 'yyyy') AS t FROM t": {
        "t": "DATE_FORMAT(TO_UTC_TIMESTAMP(NOW(), 'CET'), 'yyyy')"
    },
    "SELECT t.id, now() AS t FROM t JOIN u ON t.id = u.id": {"t": "NOW()"},
    C + "SELECT c.id, c.t FROM c JOIN u ON c.id = u.id": {"t": "NOW()"},
    C + "SELECT c.id, c.t FROM u JOIN c ON c.id = u.id": {"t": "NOW()"},
    C + "SELECT c.id, c.t, u.z FROM c LEFT JOIN u ON c.id = u.id": {"t": "NOW()"},
    C + "SELECT id, t, date(t) AS d FROM c": {"t": "NOW()", "d": "CAST(NOW() AS DATE)"},
    C + "SELECT id, t FROM c WHERE EXISTS (SELECT 1 FROM u WHERE u.id = c.id)": {"t": "NOW()"},
    C + "SELECT id, t, row_number() OVER (PARTITION BY x ORDER BY id) AS n FROM c": {"t": "NOW()"},
    C + "SELECT id, t FROM c ORDER BY id LIMIT 3": {"t": "NOW()"},
    "SELECT id, now() AS t FROM t UNION ALL SELECT id, now() AS t FROM u": {"t": "NOW()"},
    "SELECT x, count(*) AS n, now() AS t FROM t GROUP BY x": {"t": "NOW()"},
    "SELECT DISTINCT x, now() AS t FROM t": {"t": "NOW()"},
    "SELECT x, count(*) AS n FROM t GROUP BY x, now()": {},  # a constant makes no other groups
    "SELECT x, now() AS t FROM bag": {"t": "NOW()"},
    "SELECT id, t FROM w": {"t": "NOW()"},
    C + "SELECT id, x FROM c": {},  # nothing reads it
    "SELECT id, current_date() AS t FROM d": {"t": "CURRENT_DATE()"},
}
REFUSED = {
    "SELECT now() AS t FROM t": "a view of nothing else",
    "SELECT id FROM t WHERE x < unix_timestamp()": "a condition",
    C + "SELECT id, t FROM c WHERE t IS NOT NULL": "a condition above",
    "SELECT id FROM recent": "a condition in a view",
    C + "SELECT c.id, u.z, c.t FROM c JOIN u ON c.id = u.id AND c.t > current_date()": "a key of a join",
    C + "SELECT id, t, hour(t) + x AS h FROM c": "an expression with a column",
    "SELECT id, CASE WHEN x > 1 THEN now() END AS t FROM t": "an expression with a column of the row",
    "SELECT x, max(now()) AS t FROM t GROUP BY x": "an aggregate",
    C + "SELECT x, max(t) AS t FROM c GROUP BY x": "an aggregate above",
    "SELECT id, now() AS t FROM t UNION SELECT id, now() AS t FROM u": "UNION",
    "SELECT id, now() AS t FROM t EXCEPT SELECT id, now() AS t FROM u": "EXCEPT",
    "SELECT id, now() AS t FROM t INTERSECT SELECT id, now() AS t FROM u": "INTERSECT",
    "SELECT id, now() AS t FROM t UNION ALL SELECT id, current_timestamp() AS t FROM u": "another definition in a branch",
    "SELECT id, now() AS t FROM t UNION ALL SELECT id, CAST(NULL AS timestamp) AS t FROM u": "another value in a branch",
    "SELECT id, max(y) OVER (PARTITION BY x + unix_timestamp()) AS m FROM t": "a window",
    C + "SELECT id, lag(t) OVER (ORDER BY id) AS l FROM c": "a window function",
    C + "SELECT u.id, c.t FROM u LEFT JOIN c ON c.id = u.id": "the side that may be NULL",
    C + "SELECT u.id, c.t FROM u FULL JOIN c ON c.id = u.id": "sides that may be NULL",
    "SELECT id FROM t WHERE id IN (SELECT id FROM u WHERE z > unix_timestamp())": "a condition in a subquery",
    "SELECT id, current_date AS t FROM renamed": "a word that is a column of a view",
    "SELECT id, current_date AS t FROM d": "a word that is a column",
    "SELECT id, current_date AS t FROM (SELECT id, st.* FROM zz) q": "a word that is a field",
    "SELECT id, current_date AS t FROM fields": "a word that is a field of a view's table",
    "SELECT id, current_date AS t FROM (SELECT id, inline(a) FROM ar) q": "a word that is a field of rows",
    "SELECT id, current_date AS t FROM ar LATERAL VIEW inline(a) q": "a word that is a field of lateral rows",
    "SELECT id, current_date AS t FROM (SELECT id, z.* FROM (SELECT id, named_struct('current_date', x) AS z FROM t)) q": (
        "a word that is a text"
    ),
    "SELECT id, current_date AS t FROM cut": "a word that may be a field",
    "SELECT d, current_date AS t FROM (SELECT id AS d, x AS current_date FROM t) AS s": "a word that is an alias",
    "SELECT id, now() AS t, current_user() AS u FROM t": "another function of the session",
}


@pytest.mark.parametrize("sql", TAKEN)
def test_what_is_a_time_of_writing(sql: str) -> None:
    assert {each.name: each.definition.sql("spark") for each in lowered(sql).times} == TAKEN[sql]
    plan = planned(sql)
    assert not any(clock_calls(each) for node in operators(plan.root) for each in node.expressions), (
        "no attribute reads the clock"
    )
    assert {each.name for each in plan.columns}.isdisjoint(TAKEN[sql])


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_not(sql: str) -> None:
    with pytest.raises(IdivmError) as caught:
        lowered(sql)
    assert {*caught.value.codes} == {"IDIVM-206"}
    assert "volatile: written" in str(caught.value)


def test_only_the_other_use_is_reported() -> None:
    with pytest.raises(IdivmError) as caught:
        lowered("SELECT id,\nnow() AS t\nFROM t\nWHERE x < unix_timestamp()")
    (found,) = caught.value.findings
    assert found.place is not None and found.place.line == 4
    with pytest.raises(IdivmError) as caught:
        lowered("SELECT id, now() AS t FROM t WHERE nope > 1")
    assert caught.value.codes == ("IDIVM-221",), "the clock is not the reason"


GUARDS = {
    "other uses": (written_times, "other_uses", lambda *_: []),
    "a padded side": (OuterJoin, "padded", ()),
}


@pytest.mark.parametrize(
    ("guard", "sql"),
    [
        *(("other uses", sql) for sql, why in REFUSED.items() if "condition" in why or "DISTINCT" in why),
        ("a padded side", C + "SELECT u.id, c.t FROM u LEFT JOIN c ON c.id = u.id"),
    ],
)
def test_the_guards_are_needed(guard: str, sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the model is taken."""
    where, name, off = GUARDS[guard]
    monkeypatch.setattr(where, name, off)
    if guard == "other uses":
        monkeypatch.setattr("dbt_idivm.frontend.lower.other_uses", off)
    assert lowered(sql)


def test_the_columns_keep_their_places() -> None:
    plan = planned("SELECT now() AS s, x, current_date() AS t, id AS k, y FROM t")
    assert plan.names == plan.visible == ("s", "x", "t", "k", "y")
    hidden = planned("SELECT now() AS s, x, current_date() AS t, y FROM t")
    assert (hidden.visible, hidden.names) == (("s", "x", "t", "y"), ("s", "x", "t", "y", "idivm__t__id"))
    assert "s ← NOW() (time of writing)" in explain(plan)


def test_an_edit_is_not_adapted() -> None:
    with_time, without = (planned(sql) for sql in ("SELECT id, x, now() AS t FROM t", "SELECT id, x FROM t"))
    assert adapt(without, without, "main.v") is not None
    assert (
        adapt(with_time, without, "main.v")
        is adapt(without, with_time, "main.v")
        is adapt(with_time, with_time, "main.v")
        is None
    )


KEY = {"o": "id"}
MODEL = model("select id, current_timestamp() as loaded_at, name from main.o", KEY)


def written(engine: FakeEngine) -> Statement:
    return next(
        each for each in reversed(engine.log) if (each.kind == "write" and each.tree is not None) or "build" in each.label
    )


def test_a_refresh_writes_the_time(engine: FakeEngine) -> None:
    engine.drive(MODEL)
    assert "CURRENT_TIMESTAMP() AS loaded_at" in " ".join(written(engine).sql.split())
    engine.drive(MODEL)
    assert engine.labels("write") == [], "nothing is new"
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ((7, "seven", 1),)
    assert engine.drive(MODEL).mode == "incremental"
    assert "CURRENT_TIMESTAMP()" in written(engine).sql


def test_the_proof_compares_the_other_columns(engine: FakeEngine) -> None:
    engine.drive(MODEL)
    explained = [" ".join(each.sql.split()) for each in engine.log if each.label.startswith("plan of the ")]
    assert [each.partition(" FROM ")[0] for each in explained] == ["EXPLAIN EXTENDED SELECT v.id, v.name"] * 2
    engine.plans = {"plan of the planned query": "Filter (a#1 > 1)\n+- Relation main.t[a#1] parquet"}
    engine.drive(replace(MODEL, full_refresh=True))
    compared = next(each for each in engine.log if each.label == "compare the plan's rows with the SELECT's")
    assert "loaded_at" not in compared.sql.partition("FROM")[0]


def test_the_state_names_them(engine: FakeEngine) -> None:
    engine.drive(MODEL)
    found = state.read(engine.tables["main.v"].commits[-1][-1])
    assert found is not None and found.times == {"loaded_at": "CURRENT_TIMESTAMP()"} and not found.volatile
    engine.drive(model("select id, name from main.o", KEY))
    text = engine.tables["main.v"].commits[-1][-1]
    assert "times" not in json.JSONDecoder().raw_decode(text)[0]


def test_the_equivalence_test(engine: FakeEngine) -> None:
    engine.drive(MODEL)
    engine.tables["main.v"].columns = {"id": "int", "loaded_at": "timestamp", "name": "string"}
    query = " ".join(engine.ask(equivalence("main", "v")).split())
    compared, _, times = query.rpartition(" UNION ALL ")
    assert "NULL AS `loaded_at`" in compared and "CURRENT" not in compared.partition("definition")[0].partition("FROM")[0]
    assert times == (
        "SELECT id, name, loaded_at, 0 AS idivm_difference FROM main.v WHERE "
        "(loaded_at IS NULL AND NOT (CURRENT_TIMESTAMP() ) IS NULL) OR loaded_at > (CURRENT_TIMESTAMP() ) + INTERVAL '1' HOUR"
    )


@pytest.mark.parametrize("setting", [{"volatile": "error"}, {"output": "both"}, {"output": "diffs"}])
def test_where_the_clock_is_refused(engine: FakeEngine, setting: dict[str, str]) -> None:
    with pytest.raises(IdivmError) as caught:
        engine.drive(model(MODEL.sql, KEY, **setting))
    assert caught.value.codes == ("IDIVM-206",)


def test_rebuilt_on_each_run(engine: FakeEngine) -> None:
    volatile = model(MODEL.sql, KEY, volatile="full")
    assert [engine.drive(volatile).mode for _ in range(2)] == ["create", "full"]


def test_a_plan_that_cannot_be_used(engine: FakeEngine) -> None:
    """The model is rebuilt where its inputs change, and the equivalence test knows its times."""
    engine.tables["main.o"].properties = {}
    assert engine.drive(MODEL).reason is not None
    found = state.read(engine.tables["main.v"].commits[-1][-1])
    assert found is not None and found.times == {"loaded_at": "CURRENT_TIMESTAMP()"} and not found.volatile
    assert engine.drive(MODEL).mode == "noop"
