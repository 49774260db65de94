"""`idivm explain --project`: all models of a dbt project, from its artifacts."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from dbt_idivm.cli import main
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.project import Explained, Project
from dbt_idivm.tools.flowchart.mermaid import mermaid
from dbt_idivm.tools.flowchart.of_project import graph_of

TYPES = {"id": "bigint", "cid": "bigint", "price": "decimal(10,2)", "name": "string"}
Node = dict[str, Any]


def columns(*names: str, typed: bool = True) -> Node:
    return {name: {"name": name, **({"data_type": TYPES[name]} if typed else {})} for name in names}


def source(name: str, *names: str, typed: bool = True) -> Node:
    return {
        "unique_id": f"source.p.shop.{name}",
        "resource_type": "source",
        "source_name": "shop",
        "name": name,
        "config": {},
        "relation_name": f"raw.{name}",
        "columns": columns(*names, typed=typed),
        "constraints": [{"type": "primary_key", "columns": ["id"]}],
    }


def model(name: str, sql: str | None, *reads: str, materialized: str = "idivm", **idivm: Any) -> Node:
    return {
        "unique_id": f"model.p.{name}",
        "resource_type": "model",
        "name": name,
        "schema": "main",
        "language": "sql",
        "relation_name": f"main.{name}",
        "compiled_code": sql,
        "columns": {},
        "depends_on": {"nodes": list(reads)},
        "config": {"materialized": materialized, "meta": {"idivm": idivm}},
    }


ORDERS, CUSTOMERS = "source.p.shop.orders", "source.p.shop.customers"
SOURCES = (source("orders", "id", "cid", "price"), source("customers", "id", "name"))
JOINED = model("joined", "select o.id, c.name, o.price from raw.orders o join raw.customers c on o.cid = c.id", ORDERS, CUSTOMERS)


def manifest(*models: Node, sources: tuple[Node, ...] = SOURCES) -> Node:
    return {
        "metadata": {},
        "nodes": {each["unique_id"]: each for each in models},
        "sources": {each["unique_id"]: each for each in sources},
    }


def explained(
    *models: Node, sources: tuple[Node, ...] = SOURCES, catalog: Node | None = None
) -> dict[str, tuple[str | None, str]]:
    found = Project(manifest(*models, sources=sources), catalog or {}).explained()
    return {each.model: (each.how, each.why) for each in found}


def test_each_model_by_name() -> None:
    found = explained(
        JOINED,
        model("by_price", "select price, bit_or(id) as m from raw.orders group by price", ORDERS),
        model("summed", "select cid, sum(price) as s from raw.orders group by cid", ORDERS),
        model("plain", "select 1 as x", materialized="table"),
    )
    assert list(found.items()) == [
        ("by_price", ("by recomputing the touched groups", "")),
        ("joined", ("by i-diffs; updates of a condition's columns by recomputing the rows", "")),
        ("summed", ("by adding (additive)", "")),
    ]


def test_an_upstream_model_is_read_by_the_ids_of_its_plan() -> None:
    """Also the hidden ones; they identify the rows, and nobody declares them."""
    found = explained(JOINED, model("above", "select name, id from main.joined where price > 1", "model.p.joined"))
    assert found["above"][0] == "by i-diffs; updates of a condition's columns by recomputing the rows"


@pytest.mark.parametrize("kind", ["view", "table", "incremental"])
def test_types_of_other_models_are_inferred(kind: str) -> None:
    upstream = model("upstream", "select id, price * 2 as p from raw.orders", ORDERS, materialized=kind)
    reader = model("reader", "select p, count(*) as n from main.upstream group by p", "model.p.upstream")
    assert explained(upstream, reader) == {"reader": ("by adding (additive)", "")}


def test_a_model_that_reads_no_table_recomputes_nothing() -> None:
    how, why = explained(model("constant", "select 1 as a"))["constant"]
    assert (how, why) == ("no table is read, so nothing changes", "")
    assert not Explained("constant", how).fails("recompute")


def test_what_is_rebuilt_says_why() -> None:
    found = explained(
        model("drawn", "select id, rand() as r from raw.orders", ORDERS),
        model("forced", JOINED["compiled_code"], ORDERS, CUSTOMERS, strategy="full"),
        model("misspelt", "select id, prize from raw.orders", ORDERS),
        model("misconfigured", "select id from raw.orders", ORDERS, stratgy="id"),
    )
    assert {name: (how, why.partition(" ")[0]) for name, (how, why) in found.items()} == {
        "drawn": (None, "IDIVM-204"),
        "forced": (None, "IDIVM-407"),
        "misspelt": (None, "IDIVM-221"),
        "misconfigured": (None, "IDIVM-102"),
    }


def test_types_come_from_the_catalog_of_dbt_docs() -> None:
    untyped = source("orders", "id", "cid", typed=False)
    reader = model("reader", "select cid, count(*) as n from raw.orders group by cid", ORDERS)
    how, why = explained(reader, sources=(untyped,))["reader"]
    assert how is None and "`shop.orders` are not known" in why and "dbt docs generate" in why
    listed = {name: {"name": name, "index": at, "type": "bigint"} for at, name in enumerate(("id", "cid"), 1)}
    assert explained(reader, sources=(untyped,), catalog={"sources": {ORDERS: {"columns": listed}}})["reader"][0] is not None


def test_an_unknown_upstream_model_is_named_with_its_cause() -> None:
    untyped = source("orders", "id", "cid", typed=False)
    first = model("first", "select id, cid from raw.orders", ORDERS, materialized="table")
    second = model("second", "select id, cid from main.first", "model.p.first", materialized="table")
    reader = model("reader", "select cid, count(*) as n from main.second group by cid", "model.p.second")
    _, why = explained(first, second, reader, sources=(untyped,))["reader"]
    assert why.startswith(
        "the columns of `second` are not known, because the columns of `first` are not known, because the "
        "columns of `shop.orders` are not known: give each one's `data_type`"
    )
    recursive = "with recursive r as (select 1 as n union all select n + 1 from r where n < 3) select n from r"
    reader = model("reader", "select n from main.first", "model.p.first")
    _, why = explained(model("first", recursive, ORDERS), reader)["reader"]
    assert why.startswith(
        "the columns of `first` are not known, because its SELECT does not tell them: IDIVM-214 recursive query r"
    )
    _, why = explained(model("first", None, ORDERS), reader)["reader"]
    assert why == "the columns of `first` are not known, because it is not compiled: run `dbt compile` first"


DRAWN = "select cid, collect_list(id) as ids, sum(price) as s, my_udf(cid) as u from raw.orders group by cid"


@pytest.mark.parametrize("kind", ["idivm", "table", "incremental"])
def test_a_model_above_one_that_is_rebuilt_has_its_own_verdict(kind: str) -> None:
    """The columns follow from the SELECT, also over several models that are rebuilt; one that is not known is not known above."""
    drawn = model("drawn", DRAWN, ORDERS, materialized=kind)
    again = model("again", "select *, rand() as r from main.drawn", "model.p.drawn", materialized=kind)
    readers = (
        model("summed", "select s, count(*) as n, sum(s) as t from main.again group by s", "model.p.again"),
        model("misspelt", "select idd from main.again", "model.p.again"),
        model("starred", "select * except (ids), size(ids) as n from main.drawn", "model.p.drawn"),
    )
    found = explained(drawn, again, *readers)
    assert found["summed"] == ("by adding (additive)", "")
    assert found["starred"] == ("by recomputing the touched rows", "") and found["misspelt"][1].startswith(
        "IDIVM-221 unknown column idd"
    )
    assert [each.name for each in Project(manifest(drawn, again))._columns(again)] == ["cid", "ids", "s", "u", "r"]


def test_types_that_are_not_inferred_are_declared_or_unknown() -> None:
    drawn = model("drawn", DRAWN, ORDERS)
    assert [each.type for each in Project(manifest(drawn))._columns(drawn)] == [
        "bigint",
        "ARRAY<BIGINT>",
        "decimal(20, 2)",
        "unknown",
    ]
    declared = {**drawn, "columns": {"U": {"name": "U", "data_type": "DOUBLE"}, "s": {"name": "s", "data_type": "double"}}}
    project = Project(manifest(declared))
    assert [each.type for each in project._columns(declared)][2:] == ["decimal(20, 2)", "double"]
    assert project.untyped == () and Project(manifest(drawn)).untyped == ()
    (project := Project(manifest(drawn)))._columns(drawn)
    assert project.untyped == ("drawn.u",)


def seed(folder: Path, text: str, **config: Any) -> Node:
    (folder / "s.csv").write_text(text, encoding="utf-8")
    checksum = {"name": "sha256", "checksum": sha256(text.strip().encode()).hexdigest()}
    place = {"root_path": str(folder), "original_file_path": "s.csv", "checksum": checksum}
    return {**source("s", typed=False), **place, "unique_id": "seed.p.s", "resource_type": "seed", "config": config}


def test_a_seed_has_the_columns_of_its_file(tmp_path: Path) -> None:
    """If it is the file that the manifest is about; declared types are those of its columns."""
    node = seed(tmp_path, "\ufeffid;name;x\n1;a;b\n", delimiter=";", column_types={"id": "BIGINT"})
    reader = model("reader", "select x, count(*) as n from raw.s group by x", "seed.p.s")
    both = {**manifest(reader), "nodes": {each["unique_id"]: each for each in (node, reader)}}
    assert Project(both)._columns(node) == (Attribute("id", "bigint"), Attribute("name", "unknown"), Attribute("x", "unknown"))
    assert [each.how for each in Project(both).explained()] == ["by adding (additive)"]
    (tmp_path / "s.csv").write_text("id;name;x;y\n", encoding="utf-8")
    assert Project(both)._columns(node) == (Attribute("id", "bigint"),)
    big = {**node, "checksum": {"name": "path", "checksum": "seeds/s.csv"}}
    assert [each.name for each in Project(both)._columns(big)] == ["id", "name", "x", "y"]
    (tmp_path / "s.csv").unlink()
    (why,) = (each.why for each in Project({**both, "nodes": {**both["nodes"], "seed.p.s": {**node, "config": {}}}}).explained())
    assert why.startswith("the columns of `s` are not known: give")


def test_a_snapshot_has_the_columns_of_its_select_and_those_of_dbt() -> None:
    def found(**config: Any) -> list[tuple[str, str]]:
        node = model("kept", "select id, rand() as t from raw.orders", ORDERS, materialized="snapshot")
        node = {**node, "resource_type": "snapshot", "config": {**node["config"], **config}}
        return [(each.name, each.type) for each in Project(manifest(node))._columns(node)]

    times = ["dbt_updated_at", "dbt_valid_from", "dbt_valid_to"]
    own = [("id", "bigint"), ("t", "double"), ("dbt_scd_id", "string")]
    assert found(strategy="timestamp", updated_at="T") == [*own, *((name, "double") for name in times)]
    assert found(strategy="timestamp", updated_at="cast(t as date)")[3:] == [(name, "unknown") for name in times]
    changed = found(strategy="check", hard_deletes="new_record", snapshot_meta_column_names={"dbt_valid_to": "until"})
    assert changed[4:] == [("dbt_valid_from", "timestamp"), ("until", "timestamp"), ("dbt_is_deleted", "string")]


def test_functions_that_a_model_lists() -> None:
    sql = "select id, main.margin(price) as m from raw.orders"
    found = explained(model("listed", sql, ORDERS, deterministic_functions=["main.margin"]), model("unlisted", sql, ORDERS))
    assert found["listed"] == ("by i-diffs", "") and found["unlisted"][1].startswith("IDIVM-226")


def test_a_model_that_is_not_compiled() -> None:
    assert "dbt compile" in explained(model("m", None, ORDERS))["m"][1]


Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def invoke(*models: Node, options: tuple[str, ...] = ()) -> Result:
        (tmp_path / "target").mkdir(exist_ok=True)
        (tmp_path / "target" / "manifest.json").write_text(json.dumps(manifest(*models)))
        return CliRunner().invoke(main, ["explain", "--project", str(tmp_path), *options])

    return invoke


def test_the_table_and_the_share(run: Run) -> None:
    result = run(JOINED, model("drawn", "select id, rand() as r from raw.orders", ORDERS))
    assert result.exit_code == 0
    assert "1 of 2 models are maintained incrementally (50%)" in result.output and "IDIVM-204" in result.output


@pytest.mark.parametrize(
    ("sql", "fails_on"),
    [
        ("select id, rand() as r from raw.orders", {"full", "recompute"}),
        ("select bit_or(id) as m, price from raw.orders group by price", {"recompute"}),
        ("select id, price from raw.orders", set()),
        ("select id, nobody from raw.orders", {"", "full", "recompute"}),
    ],
)
def test_the_exit_status(run: Run, sql: str, fails_on: set[str]) -> None:
    failed = {
        option
        for option in ("", "full", "recompute")
        if run(model("m", sql, ORDERS), options=("--fail-on", option) if option else ()).exit_code
    }
    assert failed == fails_on


def test_a_folder_without_artifacts(tmp_path: Path) -> None:
    for content in (None, "{}", "no json"):
        if content is not None:
            (tmp_path / "target").mkdir(exist_ok=True)
            (tmp_path / "target" / "manifest.json").write_text(content)
        result = CliRunner().invoke(main, ["explain", "--project", str(tmp_path)])
        assert result.exit_code == 1 and "manifest.json" in result.output


def test_a_model_or_a_project(tmp_path: Path) -> None:
    assert CliRunner().invoke(main, ["explain"]).exit_code == 2
    (tmp_path / "m.sql").write_text("select 1 as x")
    result = CliRunner().invoke(main, ["explain", str(tmp_path / "m.sql")])
    assert result.exit_code == 2 and "--schema" in result.output


def test_flowchart() -> None:
    """Tables, models, the cache that two of them share, and a model that is rebuilt."""
    cte = "with t as (select cid, sum(price) as s from raw.orders group by cid) "
    models = (
        model("named", cte + "select t.s, c.name from t join raw.customers c on c.id = t.cid", ORDERS, CUSTOMERS, caches=["t"]),
        model(
            "high",
            cte.replace("t as", "q as") + "select q.cid, c.id from q join raw.customers c on c.id > q.s",
            ORDERS,
            CUSTOMERS,
            caches=["q"],
        ),
        model("above", "select name from main.named", "model.p.named"),
        model("odd", "select id, rand() as r from raw.orders", ORDERS, volatile="full"),
    )
    lines = mermaid(graph_of(Project(manifest(*models)))).splitlines()
    shown = {
        line.strip().partition(shape)[0]: line.strip()[2:].strip('[()]"')
        for line in lines
        for shape in "["
        if shape in line and "-->" not in line
    }
    edges = {
        (shown[of].partition("<")[0], shown[to].partition("<")[0])
        for of, _, to in (line.strip().partition(" --> ") for line in lines if "-->" in line)
    }
    assert edges == {
        ("orders", "cache of orders"),
        ("cache of orders", "named"),
        ("customers", "named"),
        ("cache of orders", "high"),
        ("customers", "high"),
        ("named", "above"),
        ("orders", "odd"),
    }
    assert lines[0] == "flowchart LR" and sum("[[" in line for line in lines) == 1
    assert lines[-1].strip() == f"class {next(key for key, text in shown.items() if text.startswith('odd'))} rebuilt"


def test_a_model_is_drawn_once_though_what_is_rebuilt_reads_it_or_is_read() -> None:
    graph = graph_of(
        Project(
            manifest(
                JOINED,
                model("odd", "select id, rand() as r from main.joined", "model.p.joined"),
                model("above", "select id from main.odd", "model.p.odd"),
            )
        )
    )
    names = [node.lines[0] for node in graph.nodes]
    assert sorted(names) == ["above", "customers", "joined", "odd", "orders"]
    assert {(names[of], names[to]) for of, to in graph.edges} == {
        ("orders", "joined"),
        ("customers", "joined"),
        ("joined", "odd"),
        ("odd", "above"),
    }


def test_a_drawing(run: Run, tmp_path: Path) -> None:
    """Beside the table, or beside the flowchart, which is all that is printed then."""
    path, models = tmp_path / "drawn.svg", (JOINED, model("odd", "select id, rand() as r from raw.orders", ORDERS))
    assert "1 of 2 models" in run(*models, options=("--svg", str(path))).output
    titles = [found.text or "" for found in ET.parse(path).iter("{http://www.w3.org/2000/svg}title")]
    assert {"raw.orders", "raw.customers"} < set(titles) and any(title.startswith("model.p.odd\nIDIVM-204 ") for title in titles)
    path.unlink()
    printed = run(*models, options=("--svg", str(path), "--flowchart")).output
    assert printed == mermaid(graph_of(Project(manifest(*models)))) + "\n"
    assert path.exists()
    assert run(*models, options=("--svg", str(path), "--fail-on", "full")).exit_code == 1


def test_a_drawing_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere" / "drawn.svg"):
        result = run(JOINED, options=("--svg", str(path)))
        assert result.exit_code == 1 and f"Error: the drawing cannot be written to {path}: " in result.output


@pytest.mark.parametrize("options", [("--flowchart",), ("--svg", "drawn.svg")])
def test_only_projects_are_drawn(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "m.sql").write_text("select 1 as x")
    result = CliRunner().invoke(main, ["explain", str(tmp_path / "m.sql"), *options])
    assert result.exit_code == 2 and "give --project instead of a MODEL" in result.output


def test_a_type_has_one_spelling() -> None:
    """Of what a catalog, a properties file and a plan say of the same column, where nothing is lost."""
    spelt = {
        "integer": "int",
        "INT": "int",
        "decimal(10,2)": "decimal(10, 2)",
        "string collate UTF8_LCASE": "string collate UTF8_LCASE",
        "of_nobody": "of_nobody",
    }
    for given, wanted in spelt.items():
        node = {"unique_id": ORDERS, "columns": {}, "config": {}}
        catalog = {"sources": {ORDERS: {"columns": {"a": {"name": "a", "index": 1, "type": given}}}}}
        assert [each.type for each in Project(manifest(), catalog)._listed(node)[0]] == [wanted]


def test_what_the_config_makes_an_error(tmp_path: Path) -> None:
    """A user's name is one by default, and the clock where the user wants it, as is what has no rule."""
    (tmp_path / "target").mkdir()
    models = (
        model("drawn", "select id, rand() as r from raw.orders", ORDERS),
        model("strict", "select id, rand() as r from raw.orders", ORDERS, on_unsupported="error"),
        model("named", "select id from raw.orders where current_user() = 'a'", ORDERS),
        model("timed", "select id from raw.orders where id < unix_timestamp()", ORDERS),
        model("loaded", "select id, current_timestamp() as t from raw.orders", ORDERS),
        model("strictly", "select id, current_timestamp() as t from raw.orders", ORDERS, volatile="error"),
        model("anew", "select id, current_timestamp() as t from raw.orders", ORDERS, volatile="full"),
        model("logged", "select id, current_timestamp() as t from raw.orders", ORDERS, output="both"),
        model("waits", "select id, current_timestamp() as t from raw.orders", ORDERS, volatile="later"),
    )
    (tmp_path / "target" / "manifest.json").write_text(json.dumps(manifest(*models)))
    result = CliRunner().invoke(main, ["explain", "--project", str(tmp_path)], env={"COLUMNS": "200"})
    lines = {line.split("│")[0].strip(): line.split("│")[1].strip() for line in result.output.splitlines() if "│" in line}
    fails = dict.fromkeys(("strict", "named", "strictly", "logged"), "the run fails")
    rebuilt = dict.fromkeys(("drawn", "anew"), "rebuilt on each run")
    assert lines == {**fails, **rebuilt, "timed": "by i-diffs", "loaded": "by i-diffs", "waits": "not known"}
