"""Names that are apt to be taken for something else: as columns, aliases, tables, models, in descriptions and comments.

What Spark and Delta accept is maintained exactly, what they refuse is refused with a message and nothing is lost, and
nothing that is a name or a text is ever run as SQL.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from dbt_idivm.definition.request import KeyCandidate, ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.relation_name import as_named
from tests.functional.project import Project, project_in

# Names that Delta takes as they are, and those that it takes under column mapping only. One with a backtick it takes as well,
# but fails at the first UPDATE or MERGE, whoever sends it (`packedCdc`).
PLAIN = [
    "a.b",
    "a'b",
    'a"b',
    "--",
    "a/*b",
    "*/",
    "é",
    "e\u0301",
    "🎉",
    "select",
    "order",
    "table",
    "MiXeD",
    "1st",
    "1e5",
    "%s",
    "#x",
    "\\",
    "[a]",
    "x" * 255,
    "idivm__count",
    "idivm_op",
    "idivm_sign",
    "idivm_weight",
    "idivm_count",
    "idivm_difference",
    "z",
    "v",
    "r",
    "c1",
    "d",
    "k1",
    "net__x",
    "__idivm",
    "o__id",
    "idivm__t__v",
]
MAPPED = [
    "a b",
    "a,b",
    "a;b",
    "a{b}",
    "{{ x }}",
    "a(b)",
    "a=b",
    "a\nb",
    "a\tb",
    " ",
    "# Partition Information",
    "; drop table victim; --",
    "${env:HOME}",
]
MAPPING = {"delta.columnMapping.mode": "name"}
FEED = {"delta.enableChangeDataFeed": "true"}


def quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def properties(**texts: str) -> str:
    return "tblproperties (" + ", ".join(f"'{key}' = '{value}'" for key, value in texts.items()) + ")"


@pytest.fixture(scope="module")
def names(spark: Any) -> Iterator[Project]:
    with project_in(spark, "hostile_names") as project:
        yield project


def follow(project: Project, models: list[ModelRequest], *changes: str) -> None:
    """After the changes every model is refreshed incrementally, and equals its query."""
    for change in (False, True):
        project.sql(*(changes if change else ()))
        project.new_run()
        for model in models:
            outcome = project.refresh_in_run(model)
            assert outcome.mode == ("incremental" if change else "create"), (model.name, change, outcome.message)
            assert project.is_exact(model), (model.name, change)
    for model in models:
        assert project.differences(model) == [], model.name


@pytest.mark.long
@pytest.mark.parametrize("transport", ["inlined", "staged"])
def test_columns(names: Project, transport: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As values, keys, groups, conditions and aliases; hidden columns need no column mapping."""
    if transport == "staged":
        monkeypatch.setattr("dbt_idivm.refresh.changes.net_diffs.INLINE_ROWS", 0)
    t, u = f"t_{transport}", f"u_{transport}"
    every = [*PLAIN, *MAPPED]
    columns = ", ".join(f"{quoted(name)} int" for name in ["id", *every])
    names.sql(
        f"create table $.{t} ({columns}) using delta {properties(**FEED, **MAPPING)}",
        f"create table $.{u} (`a b` int, `a.b` string, `a'b` string) using delta {properties(**FEED, **MAPPING)}",
    )

    def row(number: int) -> str:
        return f"({number}, {', '.join(str((number * 7 + i) % 5) for i in range(len(every)))})"

    names.sql(f"insert into $.{t} values {', '.join(map(row, range(6)))}", f"insert into $.{u} values (1, 'a', 'b'), (2, '', '')")
    weird = ["a.b", "a'b", "idivm_op", "idivm__count", "MiXeD", "${env:HOME}", "o__id", "a\nb"]
    keys = {t: ["id"], u: ["a b"]}
    shown = ", ".join(f"{quoted(name)} as c{number}" for number, name in enumerate(weird))
    models = [
        names.model(f"copy_{transport}", f"select * from $.{t}", keys, dbt={"tblproperties": MAPPING}),
        names.model(f"hidden_{transport}", f"select {shown} from $.{t} as `o.o` where `o.o`.`#x` < 4", {t: ["id", "a b"]}),
        names.model(
            f"groups_{transport}",
            "select a.`a b` as `select`, count(*) as `idivm__count__rows`, sum(a.`a;b`) as "
            "`idivm__sum__a__a_b`, avg(`z`) as `idivm_op` from " + f"$.{t} a where `--` >= 0 group by a.`a b`",
        ),
        names.model(
            f"joined_{transport}",
            "select count.`a b` as any_v, any_count.`a.b` as v, count.`a'b`, any_count.`z` as d "
            f"from $.{u} as count join $.{t} as any_count on count.`a b` = any_count.`a b`",
            keys,
        ),
        names.model(f"bag_{transport}", f"select {', '.join(map(quoted, PLAIN[:20]))} from $.{t}"),
    ]
    sets = ", ".join(f"{quoted(name)} = {quoted(name)} + 1" for name in every)
    names.sql(f"update $.{u} set `a'b` = 'it''s; --' where `a b` = 1")
    update = f"update $.{t} set {sets} where id in (1, 10)"
    if transport == "staged":
        follow(names, [models[0], models[2]], update)
        return
    follow(names, models, f"insert into $.{t} values {row(10)}, {row(11)}", update, f"delete from $.{t} where id % 3 = 1")
    table = f"{names.schema}.hidden_{transport}__idivm"
    assert not any(c in column for column in names.spark.table(table).columns for c in " ;{}"), "no column mapping is needed"


def test_columns_that_need_mapping_are_refused_without_it(names: Project) -> None:
    """By Delta, with its own words; the existing view stays."""
    names.table("good", "id int, x int", "(1, 2)")
    model = names.model("spaced", "select id, x from $.good", {"good": ["id"]})
    names.refresh(model)
    renamed = names.model("spaced", "select id, x as `a b` from $.good", {"good": ["id"]})
    with pytest.raises(IdivmError, match=r"(?s)IDIVM-902.*DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"):
        names.refresh(renamed)
    assert names.rows("select * from $.spaced") == {(1, 2): 1}
    assert names.refresh(model).mode == "noop"


@pytest.mark.deep
def test_columns_that_differ_by_case(names: Project) -> None:
    names.table("cased", "id int, x int", "(1, 2)")
    with pytest.raises(IdivmError, match="IDIVM-224"):
        names.refresh(names.model("twice", "select id, x as Ab, x as aB from $.cased", {"cased": ["id"]}))
    assert names.existing("twice") is None


@pytest.mark.long
def test_tables_and_models(names: Project, tmp_path: Any) -> None:
    """Reserved words, digits, mixed case, long names, paths; the model reads and is read under each."""
    path = tmp_path / "My Tab.le's ${env:HOME} --x"
    long = "x" * 240
    sources = {"`select`": "order", "`1e5`": "2e7", long: "z" * 247, "MiXed": "UpPer"}
    by_path = f"delta.{quoted(str(path))}"
    for written in (*(f"$.{name}" for name in sources), by_path):
        names.sql(f"create table {written} using delta {properties(**FEED)} as select id, id as v from range(1, 3)")
    models = []
    for written, identifier in sources.items():
        model = names.model(identifier, f"select a.v as x, b.v as y from $.{written} a join {by_path} b on a.id = b.id")
        inputs = (as_named(f"{names.schema}.{written}"), by_path)
        models.append(replace(model, keys={name: (KeyCandidate(("id",), "test"),) for name in inputs}))
    names.table("old_rows", "id int, v int", "(1, 1)")
    alone = names.model("alone", "select v, count(*) as n, max(id) as m from old_rows group by v")
    reader = names.model("reader", "select y, count(*) as n from $.order o group by y")
    follow(names, [alone], "insert into $.old_rows values (2, 1), (3, 2)", "delete from $.old_rows where id = 2")
    follow(names, [*models, reader], f"update {by_path} set v = 7 where id = 2", f"update {by_path} set v = v + 1 where id = 1")
    assert {names.refresh(model).mode for model in (*models, reader)} == {"noop"}


@pytest.mark.deep
def test_a_model_whose_hidden_table_has_too_long_a_name(names: Project) -> None:
    """The file system takes 255 characters. The model is refused, and the existing relations stay."""
    names.table("small", "id int, x int", "(1, 2)")
    name = "m" * 255
    plain = names.model(name, "select id, x from $.small", {"small": ["id"]})
    names.refresh(plain)
    assert names.is_exact(plain)
    hiding = names.model(name, "select x from $.small", {"small": ["id"]})
    with pytest.raises(IdivmError, match="IDIVM-"):
        names.refresh(hiding)
    assert names.rows(f"select * from $.{name}") == {(1, 2): 1}
    assert names.refresh(plain).mode == "noop"


EVIL = "'; drop table victim; -- \" ` */ ${env:HOME} {{ 1 }} \\' %s :x ?\n; drop table victim;"


def described(schema: str, evil: str) -> dict[str, Any]:
    """Properties of the source and of the models, with this text wherever there may be one."""
    docs = {"persist_docs": {"relation": True, "columns": True}, "tags": [evil], "meta": {"owner": evil}}
    return {
        "sources": [
            {
                "name": "s",
                "schema": schema,
                "tables": [
                    {
                        "name": "we;ird--source",
                        "identifier": "victim",
                        "description": evil,
                        "columns": [{"name": "order id", "quote": True, "data_tests": ["unique", "not_null"]}],
                    }
                ],
            }
        ],
        "models": [
            {
                "name": "evil",
                "description": evil,
                "config": docs,
                "data_tests": ["idivm_equivalent"],
                "columns": [{"name": "Twice", "description": evil}],
            },
            {
                "name": "order",
                "description": evil,
                "config": docs,
                "data_tests": ["idivm_equivalent"],
                "columns": [{"name": "v'x", "quote": True, "description": evil}],
            },
            {"name": "above", "config": docs, "data_tests": ["idivm_equivalent"]},
        ],
    }


def write_models(project: Project) -> None:
    source = "{{ source('s', 'we;ird--source') }}"
    project.write(
        "models/evil.sql",
        f"""{{{{ config(materialized='idivm', alias='1e5') }}}}
        select v * 2 as Twice, '*/ drop table victim' as c from {source}""",
    )
    project.write(
        "models/order.sql",
        f"""{{{{ config(materialized='idivm', alias='order', tblproperties={MAPPING},
        meta={{'idivm': {{'strategy': 'id', 'keys': {{'s.we;ird--source': ['order id']}}}}}}) }}}}
        select `order id`, `a;b--`, v as `v'x` from {source}""",
    )
    project.write(
        "models/above.sql",
        """{{ config(materialized='idivm') }}
        select a.Twice, count(*) as n from {{ ref('evil') }} a group by a.Twice""",
    )


@pytest.mark.long
def test_nothing_is_run_that_is_a_text(new_project: Callable[[], Any]) -> None:
    """A dbt project whose descriptions, tags, meta, aliases, keys, column names and query comment try to be SQL."""
    project = new_project()
    evil = EVIL.replace("{{ 1 }}", "{ 1 }")
    victim = f"{project.schema}.victim"
    project.configure(
        **{"query-comment": {"comment": evil.replace("*/", "* /").replace("\n", " "), "append": True}},
        quoting={"identifier": True, "schema": True},
        models={"+meta": {"idivm": {"strategy": "id", "keys": "declared"}}},
    )
    project.spark.sql(
        f"create table {victim} (id int, `order id` int, `a;b--` int, v int) using delta {properties(**FEED, **MAPPING)}"
    )
    project.spark.sql(f"insert into {victim} values (1, 1, 1, 1), (2, 2, 2, 2)")
    project.write("models/m.yml", json.dumps(described(project.schema, evil)))
    write_models(project)
    for change in (
        "",
        f"insert into {victim} values (3, 3, 3, 3)",
        f"update {victim} set v = 9 where id = 1",
        f"delete from {victim} where id = 2",
    ):
        mode = "incremental" if change else "create"
        if change:
            project.spark.sql(change)
        results = project.results("run")
        assert {name: found.adapter_response["mode"] for name, found in results.items()} == {
            "evil": mode,
            "order": mode,
            "above": mode,
        }
    assert project.dbt("test")
    assert {found.adapter_response["mode"] for found in project.results("run").values()} == {"noop"}
    assert sorted(project.sql("select * from $.`1e5`")) == [(6, "*/ drop table victim"), (18, "*/ drop table victim")]
    assert sorted(project.sql("select * from $.`order`")) == [(1, 1, 9), (3, 3, 3)]
    assert sorted(project.sql("select * from $.above")) == [(6, 1), (18, 1)]
    comments = {row[0]: row[2] for row in project.sql("describe $.`order`")}
    assert comments["v'x"].strip() == evil.strip()
    assert project.sql(f"select count(*) from {victim}") == [(2,)]
