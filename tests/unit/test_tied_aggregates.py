"""Aggregates that choose between the rows of a group: in which order they take them, and which ones stay refused."""

from __future__ import annotations

import pytest
from sqlglot import ErrorLevel

from dbt_idivm.errors import IdivmError
from dbt_idivm.explain import explain, maintained
from dbt_idivm.operators.aggregate import Aggregate, TiedCall
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.render import full_query
from dbt_idivm.script.ties import completed_query, ties, without_ties
from dbt_idivm.verify import equivalence
from tests.unit.fake_engine import FakeEngine, model
from tests.unit.test_ties import broken, planned

FROM = "FROM t GROUP BY x"


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("max_by(v, d)", "MAX_BY(t.v, CASE WHEN NOT t.d IS NULL THEN STRUCT(t.d AS _0, t.k AS _1) END)"),
        ("min_by(v, d)", "MIN_BY(t.v, CASE WHEN NOT t.d IS NULL THEN STRUCT(t.d AS _0, t.k AS _1) END)"),
        ("max_by(DISTINCT v, d)", "MAX_BY(t.v, CASE WHEN NOT t.d IS NULL THEN STRUCT(t.d AS _0, t.k AS _1) END)"),
        ("first(v)", "MIN_BY(t.v, STRUCT(t.k AS _0))"),
        ("any_value(v)", "MIN_BY(t.v, STRUCT(t.k AS _0))"),
        ("last_value(v)", "MAX_BY(t.v, STRUCT(t.k AS _0))"),
        ("first(v, true)", "MIN_BY(t.v, CASE WHEN NOT t.v IS NULL THEN STRUCT(t.k AS _0) END)"),
        (
            "last(v) FILTER (WHERE d IS NULL)",
            "MAX_BY(CASE WHEN t.d IS NULL THEN t.v END, CASE WHEN t.d IS NULL THEN STRUCT(t.k AS _0) END)",
        ),
        (
            "collect_list(v)",
            "TRANSFORM(ARRAY_SORT(COLLECT_LIST(STRUCT(t.k AS _0, t.v AS v)) FILTER(WHERE NOT t.v IS NULL)), r -> r.v)",
        ),
        ("collect_set(v)", "ARRAY_SORT(COLLECT_SET(t.v))"),
        ("array_agg(DISTINCT v)", "ARRAY_SORT(ARRAY_AGG(DISTINCT t.v))"),
        (
            "listagg(CAST(v AS STRING), '-') WITHIN GROUP (ORDER BY d DESC)",
            "LISTAGG(CAST(t.v AS STRING), '-') WITHIN GROUP (ORDER BY t.d DESC, t.k ASC)",
        ),
    ],
)
def test_what_is_evaluated(call: str, value: str) -> None:
    query = DELTA.sql(full_query(planned(f"SELECT x, {call} AS c {FROM}"), Binding()), pretty=False)
    assert value in query


@pytest.mark.parametrize(
    ("sql", "by"),
    [
        (f"SELECT x, max_by(v, d) AS c {FROM}", [("t__k",)]),
        (f"SELECT x, max_by(v, struct(d, k)) AS c {FROM}", []),
        (f"SELECT x, max_by(v, k) FILTER (WHERE d IS NULL) AS c {FROM}", []),
        (f"SELECT x, max_by(v, d) FILTER (WHERE v > 1) AS c {FROM}", [("t__k",)]),
        ("SELECT max_by(n, d) AS c FROM two GROUP BY x", [("two__n",)]),
        ("SELECT first(d) AS c FROM two GROUP BY x, n", []),
        ("SELECT first(f) AS c FROM bag GROUP BY x", [("bag__d", "v__cast_f_as_string")]),
        ("SELECT first(d) AS c FROM bag GROUP BY x, d", []),
        ("SELECT max_by(x, f) AS c FROM bag", [("bag__x", "bag__d", "v__cast_f_as_string")]),
        ("SELECT max_by(m, x) AS c FROM keyed_map", [("keyed_map__k",)]),
        ("SELECT first(a) AS c FROM (SELECT x AS a, d FROM t) GROUP BY d", [("t__k",)]),
        ("SELECT first(x) AS c FROM (SELECT x, max(d) AS m FROM t GROUP BY x) GROUP BY m", [("t__x",)]),
        ("SELECT collect_set(v) AS c FROM t", [("t__v",)]),
        ("SELECT array_sort(collect_list(f)) AS c FROM bag", [("bag__x", "bag__d", "v__cast_f_as_string")]),
        ("SELECT array_sort(collect_list(d)) AS c, size(collect_list(f)) AS n FROM bag", []),
    ],
)
def test_by_what_they_are_ordered(sql: str, by: list[tuple[str, ...]]) -> None:
    assert broken(sql) == by


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT collect_set(f) AS c FROM bag", "of equal values it takes any"),
        ("SELECT collect_list(DISTINCT f) AS c FROM bag", "of equal values it takes any"),
        ("SELECT collect_set(struct(x, d)) AS c FROM bag", "of equal values it takes any"),
        ("SELECT collect_set(upper(x)) AS c FROM bag", "of equal values it takes any"),
        ("SELECT array_sort(collect_set(f)) AS c FROM bag", "of equal values it takes any"),
        ("SELECT listagg(DISTINCT x) AS c FROM bag", "its values are no texts"),
        ("SELECT collect_list(m) AS c FROM keyed_map", "its values have the type MAP<STRING, INT>"),
        ("SELECT first(x) AS c FROM mapped", "m of its rows has the type MAP<STRING, INT>"),
        ("SELECT max_by(x) AS c FROM t", "it has no second argument"),
        ("SELECT percentile_approx(x, 0.5) AS c FROM t", "no order of them is kept"),
        ("SELECT collect_list(x) OVER () AS c FROM t", "no order of them is kept"),
    ],
)
def test_what_stays_refused(sql: str, why: str) -> None:
    with pytest.raises(IdivmError) as caught:
        planned(sql)
    assert caught.value.codes == ("IDIVM-207",) and why in caught.value.findings[0].why


def test_what_a_list_of_parts_of_a_map_needs() -> None:
    assert broken("SELECT collect_list(m['a']) AS c FROM keyed_map") == [("keyed_map__k",)]


def test_first_of_a_condition_is_not_first_of_a_case() -> None:
    """NULL would be the value of a first row that does not satisfy the condition."""
    (call,) = _calls("SELECT first(v) FILTER (WHERE x > 1) IGNORE NULLS AS c FROM t")
    assert isinstance(call, TiedCall)
    written = call.written.sql("spark", unsupported_level=ErrorLevel.IGNORE)
    assert written.startswith("FIRST(") and written.endswith("IGNORE NULLS") and "FILTER" in written


def test_equal_aggregates_share_one() -> None:
    calls = _calls(f"SELECT first(v) AS a, first(v) + 1 AS b, first(v, false) AS c, any_value(v) AS d {FROM}")
    assert len(calls) == 2


def test_the_type_is_that_of_the_users_aggregate() -> None:
    plan = planned(f"SELECT x, first(d) AS a, collect_list(v) AS b, listagg(CAST(v AS STRING)) AS c {FROM}")
    (node,) = (each for each in plan.root.inputs if isinstance(each, Aggregate))
    kinds = [node.certain_types[call.name].sql("spark") for call in node.calls]
    assert kinds == ["DATE", "ARRAY<INT>", "STRING"]


def test_explain_says_it() -> None:
    plan = planned(f"SELECT x, first(v) AS a {FROM}")
    assert "FIRST(t__v): the rows of a group between which it may choose are ordered by t__k" in explain(plan)
    assert maintained(plan).endswith("; tied rows by k")


def test_the_tree_without_ties_has_the_users_aggregates() -> None:
    plan = planned(f"SELECT x, first(v, true) AS a, collect_list(v) AS b {FROM}")
    assert len(ties(plan)) == 2 and completed_query(plan, Binding()) is not None
    (node,) = (each for each in without_ties(plan.root).inputs if isinstance(each, Aggregate))
    assert [call.value.sql("spark", unsupported_level=ErrorLevel.IGNORE) for call in node.calls] == [
        "FIRST(t__v) IGNORE NULLS",
        "COLLECT_LIST(t__v)",
    ]


SQL = "select name, any_value(id) as c from main.o group by name"


def test_the_proof_has_the_users_aggregate(engine: FakeEngine) -> None:
    engine.drive(model(SQL, {"o": "id"}))
    asked = [" ".join(each.sql.split()) for each in engine.log if each.label == "plan of the planned query"]
    assert asked and all("ANY_VALUE(o.id)" in each for each in asked)
    built = [" ".join(each.sql.split()) for each in engine.log if "CREATE" in each.sql]
    assert any("MIN_BY(o.id, STRUCT(o.id AS _0))" in each for each in built)
    assert "MIN_BY(" in engine.ask(equivalence("main", "v"))


@pytest.mark.parametrize("setting", [{"ties": "rebuild"}, {"output": "diffs"}])
def test_where_they_are_refused(engine: FakeEngine, setting: dict[str, str]) -> None:
    request = model(SQL, {"o": "id"}, on_unsupported="error", **setting)
    with pytest.raises(IdivmError) as caught:
        engine.drive(request)
    assert caught.value.codes == ("IDIVM-207",) and "`ties: rebuild`" in caught.value.findings[0].why


def test_a_key_that_is_declared_later(engine: FakeEngine) -> None:
    """It orders the rows of a group in another way, so the view is rebuilt."""
    assert engine.drive(model(SQL)).mode == "create"
    again = engine.drive(model(SQL, {"o": "id"}))
    assert again.mode == "full" and "IDIVM-402" in (again.reason or "")


def _calls(sql: str) -> list[object]:
    (node,) = (each for each in planned(sql).root.inputs if isinstance(each, Aggregate))
    return list(node.calls)
