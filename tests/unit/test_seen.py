"""What the last run saw of its inputs: it is written by refreshes, and used by commands that have no engine."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from dbt.adapters.idivm.maintenance import MaintenanceMixin
from dbt_idivm.cli import main
from dbt_idivm.definition.found_keys import FOUND
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.project import Project, project_of
from dbt_idivm.refresh.protocol import Artifacts, Outcome
from dbt_idivm.seen import Relation, as_json
from dbt_idivm.seen_files import found_keys_in, seen_in
from dbt_idivm.tools.pull_request.states import states
from tests.unit.fake_engine import FakeEngine, model
from tests.unit.test_project import CUSTOMERS, JOINED, ORDERS, Node, manifest, source
from tests.unit.test_project import model as node

UNTYPED = (source("orders", "id", "cid", "price", typed=False), source("customers", "id", "name", typed=False))
SEEN = {"raw.orders": {"id": "bigint", "cid": "bigint", "price": "double"}, "raw.customers": {"id": "bigint", "name": "string"}}
READER = node("reader", "select cid, count(*) as n from raw.orders group by cid", ORDERS)


# Writing


@pytest.fixture
def engine() -> FakeEngine:
    fake = FakeEngine()
    fake.source("o", id="int", name="string", other="array<int>")
    return fake


def test_a_refresh_sees_all_columns_of_its_inputs(engine: FakeEngine) -> None:
    asked = model("select id, name from main.o", {"o": "id"})
    created = engine.drive(asked)
    assert json.loads(created.artifacts.seen) == {
        "version": 1,
        "model": {"relation": "main.v", "columns": {"id": "int", "name": "string"}},
        "inputs": {
            "main.o": {
                "columns": {"id": "int", "name": "string", "other": "array<int>"},
                "key": ["id"],
                "declared": "test unique",
            }
        },
    }
    assert engine.drive(asked).artifacts.seen == "", "by versions alone, nothing is looked at"
    engine.tables["main.o"].commit("WRITE", {"numOutputRows": "1"})
    engine.reads["net diff"] = ((7, "seven", 1),)
    assert engine.drive(asked).artifacts.seen == created.artifacts.seen


def test_a_model_that_is_rebuilt_sees_its_inputs(engine: FakeEngine) -> None:
    found = json.loads(engine.drive(model("select id, rand() as r from main.o")).artifacts.seen)
    assert found["model"] == {"relation": "main.v"} and found["inputs"]["main.o"]["columns"]["other"] == "array<int>"


def test_a_restricted_build_says_nothing(engine: FakeEngine) -> None:
    """Its SELECT reads subqueries instead of the inputs."""
    assert engine.drive(replace(model("select id from main.o"), restricted=True)).artifacts.seen == ""


def write(root: Path, seen: str, **more: Any) -> Path:
    adapter: Any = SimpleNamespace(config=SimpleNamespace(project_root=str(root), target_path="target"))
    outcome = Outcome("noop", None, None, 0, 0, 0, 0, {}, "", (), Artifacts(seen=seen))
    MaintenanceMixin._write_seen(adapter, {"name": "v", **more}, outcome)
    return root / "target" / "idivm" / "v"


def test_the_file_is_written_by_each_refresh(tmp_path: Path) -> None:
    """So that its time is the time of the last one."""
    file = write(tmp_path, "one", version=None) / "seen.json"
    os.utime(file, (1, 1))
    write(tmp_path, "one")
    assert file.read_text(encoding="utf-8") == "one" and file.stat().st_mtime > 1
    write(tmp_path, "")
    assert file.read_text(encoding="utf-8") == "one"
    assert (write(tmp_path, "two", version=2) / "seen.v2.json").exists()


def test_the_text_is_deterministic_and_is_read_again(tmp_path: Path) -> None:
    relations = {name: Relation(tuple(Attribute(*each) for each in columns.items())) for name, columns in SEEN.items()}
    turned = dict(reversed(relations.items()))
    own = (Attribute("id", "int"),)
    assert as_json("main.v", own, relations) == as_json("main.v", own, turned)
    write(tmp_path, as_json("main.v", own, relations))
    found, problems = seen_in(tmp_path / "target")
    assert problems == () and {name: each.columns for name, each in found.items()} == {**SEEN, "main.v": {"id": "int"}}
    assert list(found["raw.orders"].columns) == ["id", "cid", "price"]


# Using


def content(inputs: Mapping[str, Mapping[str, str]]) -> str:
    return json.dumps({"version": 1, "inputs": {name: {"columns": columns} for name, columns in inputs.items()}})


def folder(
    root: Path, *models: Node, seen: str = content(SEEN), catalog: Node | None = None, run: float = 20, docs: float = 10
) -> Path:
    """A project whose model `a` ran at the time `run`, and whose catalog is from the time `docs`."""
    target = root / "target"
    (target / "idivm" / "a").mkdir(parents=True, exist_ok=True)
    (target / "manifest.json").write_text(json.dumps(manifest(*models, sources=UNTYPED)), encoding="utf-8")
    if seen:
        (target / "idivm" / "a" / "seen.json").write_text(seen, encoding="utf-8")
        os.utime(target / "idivm" / "a" / "seen.json", (run, run))
    if catalog is not None:
        (target / "catalog.json").write_text(json.dumps({"metadata": {}, "nodes": {}, "sources": catalog}), encoding="utf-8")
        os.utime(target / "catalog.json", (docs, docs))
    return root


def listed(**columns: str) -> Node:
    return {"columns": {name: {"name": name, "index": at, "type": kind} for at, (name, kind) in enumerate(columns.items())}}


def project(root: Path, *models: Node, **given: Any) -> tuple[Project, dict[str, str]]:
    """The project, and how each of its models is maintained, or why not."""
    found = project_of(folder(root, *models, **given) / "target")
    return found, {each.model: each.how or each.why for each in found.explained()}


def said(found: Project) -> list[str]:
    return [f"{each.summary}; {each.why}" for each in found.notes]


def types(found: Project, unique_id: str) -> list[str]:
    return [each.type for each in found._columns(found.keys.nodes[unique_id])]


def test_the_last_run_tells_what_no_catalog_lists(tmp_path: Path) -> None:
    unknown, hows = project(tmp_path, JOINED, READER, seen="")
    assert "`shop.orders` are not known" in hows["reader"] and unknown.notes == ()
    found, hows = project(tmp_path, JOINED, READER)
    assert hows["reader"] == "by adding (additive)" and hows["joined"].startswith("by i-diffs")
    assert types(found, ORDERS) == ["bigint", "bigint", "double"] and found.untyped == ()
    assert said(found) == [
        "IDIVM-125 the columns of `shop.customers`, `shop.orders` are those that the last run saw; "
        "nothing else tells all of their names and types"
    ]


@pytest.mark.parametrize(
    ("docs", "price", "says"),
    [
        (10, "double", "those that the last run saw, not those in catalog.json; they differ, and the run is newer"),
        (30, "float", "those in catalog.json, not those that the last run saw; they differ, and the catalog is newer"),
    ],
)
def test_the_newer_one_counts(tmp_path: Path, docs: float, price: str, says: str) -> None:
    there = {ORDERS: listed(id="bigint", cid="bigint", price="float"), CUSTOMERS: listed(ID="BIGINT", name="string")}
    found, _ = project(tmp_path, JOINED, catalog=there, docs=docs)
    assert types(found, ORDERS) == ["bigint", "bigint", price] and types(found, CUSTOMERS) == ["bigint", "string"]
    assert said(found) == [f"IDIVM-125 the columns of `shop.orders` are {says}"]


def test_a_catalog_keeps_its_statistics(tmp_path: Path) -> None:
    stats = {"bytes": {"id": "bytes"}}
    found, _ = project(tmp_path, JOINED, catalog={ORDERS: {**listed(id="int"), "stats": stats}})
    assert found.catalog["sources"][ORDERS]["stats"] == stats and types(found, ORDERS) == ["bigint", "bigint", "double"]


def test_the_latest_of_several_files_counts(tmp_path: Path) -> None:
    other = tmp_path / "target" / "idivm" / "b" / "seen.v2.json"
    other.parent.mkdir(parents=True)
    for at, kind in ((10, "double"), (30, "float")):
        other.write_text(content({"Raw.`orders`": {"id": "bigint", "cid": "bigint", "price": "float"}}), encoding="utf-8")
        os.utime(other, (at, at))
        assert types(project(tmp_path, JOINED)[0], ORDERS)[-1] == kind


def test_a_select_that_has_changed_since_the_run(tmp_path: Path) -> None:
    """Its columns count; types that do not follow from it are those that the run saw if the names are the same."""
    upstream = node("upstream", "select id, from_json(name, 'x int') as p from raw.customers", CUSTOMERS, materialized="table")
    reader = node("reader", "select p, count(*) as n from main.upstream group by p", "model.p.upstream")
    for columns, kind in (({"id": "bigint", "p": "struct<x:int>"}, "struct<x:int>"), ({"id": "bigint"}, "unknown")):
        found, _ = project(tmp_path, upstream, reader, seen=content({**SEEN, "main.upstream": columns}))
        assert types(found, "model.p.upstream")[1].replace(" ", "").lower() in (kind, kind.replace(":", ""))
    assert "IDIVM-125 the columns of `upstream` are those of the SELECT" in " ".join(said(found))


@pytest.mark.parametrize(
    ("seen", "problem"),
    [
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[]", "it has another form"),
        ("{}", "it has another form"),
        ('{"version": 2}', "its format has the version 2, and this version of dbt-idivm reads 1"),
        ('{"version": 1}', "it has another form"),
        ('{"version": 1, "inputs": {"raw.orders": {"columns": {"id": 3}}}}', "it has another form"),
        ('{"version": 1, "inputs": {"raw.orders": {}}}', "it has another form"),
        ('{"version": 1, "inputs": {}, "model": {}}', "it has another form"),
    ],
)
def test_a_file_that_is_of_no_use_is_ignored(tmp_path: Path, seen: str, problem: str) -> None:
    found, hows = project(tmp_path, READER, seen=seen)
    assert "are not known" in hows["reader"]
    assert [each.summary for each in found.notes] == [f"IDIVM-124 {tmp_path}/target/idivm/a/seen.json is ignored: {problem}"]


def test_files_of_other_relations_change_nothing(tmp_path: Path) -> None:
    found, hows = project(tmp_path, READER, seen=content({"prod.orders": {"id": "int"}, "raw.orders": {}}))
    assert "are not known" in hows["reader"] and found.notes == ()


def idivm(*arguments: str) -> str:
    result = CliRunner().invoke(main, [*arguments], terminal_width=200, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_explain_says_whose_columns_count(tmp_path: Path) -> None:
    printed = idivm("explain", "--project", str(folder(tmp_path, READER)))
    assert "1 of 1 models are maintained incrementally (100%) IDIVM-125 the columns of `shop.orders` are those that" in printed


def test_advise_says_whose_columns_count(tmp_path: Path) -> None:
    printed = idivm("advise", "--project", str(folder(tmp_path, READER)), "--rate", "orders=0.01", "--rows", "orders=1000000")
    assert "IDIVM-125 the columns of `shop.orders` are those that the last run saw: nothing: a refresh asks" in printed


def test_diff_uses_it_for_both_states(tmp_path: Path) -> None:
    """The other state has manifest.json alone, as CI keeps it."""
    now = {**READER, "compiled_code": READER["compiled_code"].replace("count(*)", "sum(price)")}
    before, after = folder(tmp_path / "old", READER, seen=""), folder(tmp_path / "new", now)
    printed = idivm("diff", "--state", str(before / "target"), "--project-dir", str(after))
    assert "not known" not in printed and "`reader`" in printed
    assert printed.count("IDIVM-125 the columns of `shop.orders` are those that the last run saw") == 1


def test_diff_completes_a_state_from_the_catalog_of_the_other(tmp_path: Path) -> None:
    """Not every table has been seen by a run."""
    now = {**JOINED, "compiled_code": JOINED["compiled_code"] + " where o.price > 1"}
    whole = {ORDERS: listed(id="bigint", cid="bigint", price="double"), CUSTOMERS: listed(id="bigint", name="string")}
    before = folder(tmp_path / "old", JOINED, seen="", catalog=whole)
    after = folder(tmp_path / "new", now, seen=content({"raw.orders": SEEN["raw.orders"]}))
    printed = idivm("diff", "--state", str(before / "target"), "--project-dir", str(after))
    assert "not known" not in printed and "`joined`" in printed


def test_diff_compares_no_type_that_one_state_alone_knows(tmp_path: Path) -> None:
    """What a run saw of a table that the change reaches is of one of the states."""
    upstream = node("upstream", "select id, from_json(name, 'x int') as p from raw.customers", CUSTOMERS, materialized="table")
    now = {**upstream, "compiled_code": upstream["compiled_code"] + " where id > 1"}
    reader = node("reader", "select id, p from main.upstream", "model.p.upstream")
    seen = content({**SEEN, "main.upstream": {"id": "bigint", "p": "struct<x:int>"}})
    before = folder(tmp_path / "old", upstream, reader, seen="")
    after = folder(tmp_path / "new", now, reader, seen=seen)
    assert "other columns of what it reads" not in idivm("diff", "--state", str(before / "target"), "--project-dir", str(after))
    both = states(before / "target", after / "target")
    assert [types(each, "model.p.upstream") for each in (both.before, both.after)] == [["bigint", "unknown"]] * 2
    own = states(folder(before, upstream, reader, seen=seen) / "target", after / "target")
    assert "unknown" not in types(own.before, "model.p.upstream") + types(own.after, "model.p.upstream")


# Keys that were found in the data


def test_keys_that_the_last_run_has_found(tmp_path: Path) -> None:
    found = {"version": 1, "inputs": {"raw.customers": {"columns": SEEN["raw.customers"], "key": ["id"], "declared": FOUND}}}
    declared = {"version": 1, "inputs": {"raw.orders": {"columns": SEEN["raw.orders"], "key": ["id"], "declared": "test"}}}
    target = folder(tmp_path, READER, seen=json.dumps(found)) / "target"
    for name, content_, at in (("b", declared, 20), ("c", {**found, "inputs": {"raw.x": {"columns": {}, "key": 5}}}, 30)):
        (target / "idivm" / name).mkdir()
        (target / "idivm" / name / "seen.json").write_text(json.dumps(content_), encoding="utf-8")
        os.utime(target / "idivm" / name / "seen.json", (at, at))
    assert found_keys_in(target) == {"raw.customers": ("id",)} == project_of(target, found_keys=True).found_keys
    assert project_of(target).found_keys == {}, "where two folders are compared"
    (target / "idivm" / "c" / "seen.json").write_text(json.dumps(content_of_bag()), encoding="utf-8")
    assert found_keys_in(target) == {}, "the newer file says that there is none"


def content_of_bag() -> Any:
    return {"version": 1, "inputs": {"raw.customers": {"columns": SEEN["raw.customers"]}}}
