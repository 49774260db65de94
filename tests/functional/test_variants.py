"""Tables with VARIANT columns: what is read of these is computed where the table or its change feed is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.functional.project import Project, project_in

# not the sign that the project takes for its schema
_PARTS = (("a", "int"), ("n", "decimal(14,2)"), ("s", "string"))
_A, _N, _S = (f"try_variant_get(v, '@.{name}', '{kind}')" for name, kind in _PARTS)
MODELS = {
    "unused": "select id, x from $.t",
    "parts": f"select id, {_A} as a, variant_get(v, '@.s', 'string') as s, is_variant_null(v) as n, "
    "schema_of_variant(v) as kind, v is null as none, cast(v as string) as text, to_json(v) as json from $.t",
    "chosen": f"select id, x from $.t where {_A} > 1 and v is not null",
    "sums": f"select {_S} as s, count(*) as rows, sum({_N}) as total, avg({_N}) as mean, max({_A}) as most from $.t "
    f"group by {_S}",
    "partners": "select l.id, r.id as other, try_variant_get(r.v, '@.s', 'string') as s from $.t l join $.t r "
    "on try_variant_get(l.v, '@.a', 'int') = r.id",
    "bag": f"select {_S} as s from $.log where {_A} is not null",
    "ranked": f"select id, {_S} as s, row_number() over (partition by x % 2 order by {_A}, id) as n from $.t",
    "latest": f"select y, id, {_A} as a, {_N} as n from (select *, x % 3 as y, row_number() over (partition by x % 3 "
    "order by id desc) as place from $.t) q where place = 1",
    "staged": f"with q as (select id, x, v as w from $.t where x > 0) select id, {_A.replace('(v', '(w')} as a from q",
}
START = """values (1, 1, '{"a": 1, "n": 1.5, "s": "x"}'), (2, 2, '{"a": 2, "n": 0.05, "s": "y"}'), (3, 3, null), (4, 4, 'null'),
    (5, 5, '{"a": "no", "s": [1, 1.0]}'), (6, 6, '{"a": 3, "n": "2.25", "s": "x"}')"""
CHANGES = (
    ('update $.t set v = parse_json(\'{"a": 2, "n": 7, "s": "y"}\') where id = 1', "update $.t set x = x + 1 where id = 2"),
    # the same text and schema, and another type inside
    ("update $.t set v = to_variant_object(named_struct('a', 1, 's', array(cast(date'2024-01-01' as variant)))) where id = 5",),
    (
        "update $.t set v = to_variant_object(named_struct('a', 1, 's', array(cast('2024-01-01' as variant)))) where id = 5",
        "delete from $.t where id = 6",
        'insert into $.t select 7, 7, parse_json(\'{"a": 5, "n": 1e2, "s": null}\')',
    ),
    # a row that comes and goes, one that is replaced twice, and one that stays what it was
    (
        "insert into $.t select 8, 8, parse_json('{\"a\": 1}')",
        "delete from $.t where id = 8",
        "update $.t set v = parse_json('{\"a\": 9}') where id = 2",
        "update $.t set v = parse_json('[true]') where id = 2",
        "insert into $.log select v from $.t",
        "update $.t set v = null where id = 4",
    ),
    ("delete from $.log where try_variant_get(v, '@.a', 'int') = 5",),
)
SMALL = ("parts", "sums")
MORE = (
    (
        """insert into $.t select id, id % 7, parse_json(concat('{"a": ', id % 5, ', "s": "', id % 9, '"}'))
        from range(100, 3000)""",
    ),
    ("""update $.t set x = -x, v = parse_json('{"a": 4}') where id > 1500""",),
)


@pytest.fixture
def lab(spark: Any) -> Iterator[Project]:
    with project_in(spark, "variants") as project:
        yield project


@pytest.mark.deep
@pytest.mark.parametrize("large", [False, pytest.param(True, marks=pytest.mark.long)], ids=["small", "large"])
def test_what_is_read_of_a_variant(lab: Project, large: bool) -> None:
    feed = "using delta tblproperties (delta.enableChangeDataFeed = true)"
    lab.sql(
        f"create table $.t (id int, x int, v variant) {feed}",
        f"create table $.log (v variant) {feed}",
        f"insert into $.t select id, x, parse_json(v) from {START} as r(id, x, v)",
        "insert into $.log select v from $.t",
    )
    models = [
        replace(model, sql=model.sql.replace("@", "$"))
        for model in (lab.model(name, MODELS[name], {"t": ["id"]}) for name in (MODELS if large else SMALL))
    ]
    for model in models:
        outcome = lab.refresh(model)
        assert (outcome.mode, "IDIVM" in outcome.message) == ("create", False), outcome.message
    for changes in (*CHANGES, *(MORE if large else ())):
        for change in changes:
            lab.spark.sql(lab.within(change).replace("@", "$"))
        lab.new_run()
        for model in models:
            outcome = lab.refresh_in_run(model)
            assert outcome.mode == "incremental" or "nothing changed" in outcome.message, (model.name, outcome.message)
            assert lab.differences(model, "now") == [], (model.name, changes)


@pytest.mark.deep
def test_a_variant_itself_is_read_by_a_rebuild(lab: Project) -> None:
    """JSON and schema are the same for a DATE and a STRING in an array with others."""
    same = lab.rows("""select to_json(d) = to_json(s) and schema_of_variant(d) = schema_of_variant(s) from (
        select to_variant_object(array(cast(date'2024-01-01' as variant), cast(1 as variant))) as d,
               to_variant_object(array(cast('2024-01-01' as variant), cast(1 as variant))) as s)""")
    assert list(same) == [(True,)]
    lab.sql(
        "create table $.t (id int, v variant) using delta tblproperties (delta.enableChangeDataFeed = true)",
        "insert into $.t select 1, parse_json('1')",
    )
    whole = lab.model("whole", "select id, v from $.t", {"t": ["id"]})
    assert "IDIVM-218" in lab.refresh(whole).message
    lab.sql("insert into $.t select 2, parse_json('2')")
    assert lab.refresh(whole).mode == "full"
    assert len(lab.rows("select id from $.whole")) == 2
