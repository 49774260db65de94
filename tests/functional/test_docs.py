"""`dbt docs generate`: what its artifacts say of maintained models, and that it never fails for it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from dbt.adapters.idivm.docs_facts import DocsMixin
from tests.functional.project import Project
from tests.functional.sources import ORDERS_CUST_LOG
from tests.functional.test_report_command import MODELS, sources, with_sources

pytestmark = pytest.mark.deep

__all__ = ["sources"]  # a fixture

LOGGED = """{{ config(materialized='idivm', meta={'idivm': {'output': 'both'}}) }}
    select cust_id, sum(amount) as s from {{ source('s', 'orders') }} group by cust_id"""
CACHED = """{{ config(materialized='idivm', meta={'idivm': {'caches': ['sums']}}) }}
    with sums as (select cust_id, sum(amount) as s from {{ source('s', 'orders') }} group by cust_id)
    select c.name, max(s.s) as m from {{ source('s', 'cust') }} c join sums s on s.cust_id = c.id group by c.name"""


@pytest.fixture(scope="module")
def built(new_project: Callable[[], Project]) -> Project:
    """Built once, with a cache; what is built, its tests only read."""
    project = with_sources(new_project())
    project.write("models/m.yml", "models: [{name: joined, columns: [{name: id, description: own}]}]")
    project.write("models/cached.sql", CACHED)
    project.dbt("run")
    return project


def docs(project: Any, *args: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The nodes and sources of the catalog, and the nodes of the manifest, by name."""
    project.dbt("docs", "generate", *args)
    catalog, manifest = (json.loads((project.root / "target" / f"{name}.json").read_text()) for name in ("catalog", "manifest"))
    tables = {**catalog["nodes"], **catalog["sources"]}
    return (
        {name.split(".", 2)[2]: table for name, table in tables.items()},
        {node["name"]: node for node in manifest["nodes"].values()},
    )


def facts(table: dict[str, Any]) -> dict[str, str]:
    """Those of ours, as dbt docs shows them."""
    shown = {name: each for name, each in table["stats"].items() if name.startswith("idivm_")}
    assert all(each["include"] and each["description"] and each["label"].startswith("Maintenance") for each in shown.values())
    return {name: each["value"] for name, each in shown.items()}


def test_what_dbt_docs_shows(sources: Any) -> None:
    sources.write(
        "models/sources.yml",
        ORDERS_CUST_LOG
        + "  - name: hidden\n    schema: "
        + sources.schema
        + """
    tables: [{name: joined__idivm}, {name: logged__idivm_changes}, {name: cust}]
""",
    )
    sources.write("models/logged.sql", LOGGED)
    sources.write("models/m.yml", "models: [{name: joined, columns: [{name: id, description: own, meta: {a: 1}}, {name: name}]}]")
    sources.dbt("run")
    sources.sql("update $.cust set name = 'c' where id = 2")
    sources.dbt("run")
    tables, nodes = docs(sources)
    joined = facts(tables["joined"])
    how = "by i-diffs; updates of a condition's columns by recomputing the rows"
    last = joined.pop("idivm_last_refresh")
    assert re.fullmatch(r"incremental, \+0 ~1 −0, [\d.]+ s, at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", last), last
    assert joined == {
        "idivm_maintenance": how,
        "idivm_ids": "id, idivm__c__id",
        "idivm_hidden_columns": "idivm__c__id",
        "idivm_hidden_tables": f"{sources.schema}.joined__idivm (rows with hidden columns)",
        "idivm_size": "2 rows",
        "idivm_changes": "1 row a refresh (50 %)",
    }
    assert list(tables["joined"]["columns"]) == ["id", "amount", "name"]
    drawn = facts(tables["drawn"])
    assert drawn["idivm_maintenance"].startswith("rebuilt on every run, IDIVM-204 rand()") and "idivm_ids" not in drawn
    assert "rebuilt" in drawn["idivm_last_refresh"] and "IDIVM-408" in drawn["idivm_last_refresh"]
    assert f"{sources.schema}.logged__idivm_changes (log of changes)" in facts(tables["logged"])["idivm_hidden_tables"]
    assert facts(tables["hidden.joined__idivm"]) == {"idivm_hidden_table": "rows with hidden columns, of joined"}
    assert facts(tables["hidden.logged__idivm_changes"]) == {"idivm_hidden_table": "log of changes, of logged"}
    assert facts(tables["hidden.cust"]) == {}
    # the manifest, where the user's own words stay as they are
    assert nodes["joined"]["meta"] == {
        "idivm": {"strategy": "id", "keys": "declared"},
        **{name: joined[name] for name in ("idivm_maintenance", "idivm_ids", "idivm_hidden_columns")},
    }
    assert nodes["joined"]["config"]["meta"] == {"idivm": {"strategy": "id", "keys": "declared"}}
    assert nodes["joined"]["columns"]["id"]["meta"] == {"a": 1, "idivm_id": "id, idivm__c__id identify a row together"}
    assert nodes["joined"]["columns"]["id"]["description"] == "own" and nodes["joined"]["columns"]["name"]["meta"] == {}
    assert nodes["drawn"]["meta"]["idivm_maintenance"] == drawn["idivm_maintenance"]


def test_the_manifest_of_docs_is_no_changed_state(built: Any) -> None:
    docs(built)
    (built.root / "state").mkdir()
    shutil.copy(built.root / "target" / "manifest.json", built.root / "state")
    assert built.dbt("ls", "--select", "state:modified", "--state", str(built.root / "state")) == []
    assert {result.adapter_response["mode"] for result in built.results("run", "--exclude", "drawn").values()} == {"noop"}


def test_caches_are_hidden_tables(built: Any) -> None:
    (cache,) = (row[1] for row in built.sql("show tables in $ like 'idivm_cache_*'"))
    tables, _ = docs(built)
    assert f"{built.schema}.{cache} (cache of " in facts(tables["cached"])["idivm_hidden_tables"]


def test_a_part_of_a_project(built: Any) -> None:
    """What is not compiled has no plan here; and what its table says is said."""
    tables, nodes = docs(built, "--select", "per_name")
    assert "joined" not in tables and "idivm_maintenance" not in facts(tables["per_name"]), "its input is not compiled"
    assert facts(tables["per_name"])["idivm_last_refresh"].startswith("created, 2 written")
    assert not any(name.startswith("idivm_") for name in nodes["per_name"]["meta"])
    tables, _ = docs(built, "--select", "joined")
    assert list(tables) == ["joined"] and facts(tables["joined"])["idivm_maintenance"].startswith("by i-diffs")
    tables, _ = docs(built, "--no-compile")
    assert "idivm_maintenance" not in facts(tables["joined"]) and "created" in facts(tables["joined"])["idivm_last_refresh"]


def test_what_cannot_be_had_is_left_out(sources: Any, built: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a project that was never run, of tables that cannot be asked about, and where the plugin itself fails."""
    before, _ = docs(sources)
    assert not any(name in before for name in MODELS)
    monkeypatch.setattr("dbt_idivm.refresh.engine.commands.Commands.history", _wrong)
    tables, _ = docs(built)
    assert facts(tables["joined"]).keys() == {"idivm_maintenance", "idivm_ids", "idivm_hidden_columns"}
    monkeypatch.setattr(DocsMixin, "_facts", lambda *_: {}[0])
    tables, _ = docs(built)
    assert facts(tables["joined"]) == {} and list(tables["joined"]["columns"]) == ["id", "amount", "name"]


def _wrong(commands: Any, table: str, *_: Any) -> Any:
    from dbt_idivm.refresh.protocol import Statement

    return Statement("select no_such_column", "metadata", f"a statement about {table} that fails")
