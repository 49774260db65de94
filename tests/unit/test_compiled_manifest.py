"""A manifest that is read again says the same as when it was written."""

from __future__ import annotations

import json
from pathlib import Path

from dbt.adapters.idivm.compiled_manifest import read_manifest
from dbt.adapters.idivm.project_access import prepare_dbt
from dbt_idivm.declared_keys import KeyIndex
from dbt_idivm.definition.request import KeyCandidate

ORDERS = {
    "unique_id": "source.shop.raw.orders",
    "resource_type": "source",
    "source_name": "raw",
    "name": "orders",
    "identifier": "orders",
    "schema": "raw",
    "database": None,
    "relation_name": "raw.orders",
    "package_name": "shop",
    "path": "models/raw.yml",
    "original_file_path": "models/raw.yml",
    "fqn": ["shop", "raw", "orders"],
    "source_description": "",
    "loader": "",
}
TESTS = ("unique", "not_null")
METADATA = {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "dbt_version": "1.11.2"}
EMPTY = (
    "macros",
    "docs",
    "exposures",
    "metrics",
    "groups",
    "selectors",
    "disabled",
    "parent_map",
    "child_map",
    "group_map",
    "saved_queries",
    "semantic_models",
    "unit_tests",
    "functions",
)


def generic(name: str) -> dict[str, object]:
    unique_id = f"test.shop.source_{name}_raw_orders_id"
    return {
        "unique_id": unique_id,
        "resource_type": "test",
        "name": unique_id.rpartition(".")[2],
        "alias": "t",
        "schema": "tests",
        "database": None,
        "package_name": "shop",
        "path": "t.sql",
        "original_file_path": "models/raw.yml",
        "fqn": ["shop", "t"],
        "checksum": {"name": "none", "checksum": ""},
        "language": "sql",
        "raw_code": f"{{{{ test_{name}(**_dbt_generic_test_kwargs) }}}}",
        "column_name": "id",
        "test_metadata": {"name": name, "kwargs": {"column_name": "id", "model": "source"}, "namespace": None},
        "depends_on": {"macros": [], "nodes": [ORDERS["unique_id"]]},
    }


def test_keys_that_tests_declare(tmp_path: Path) -> None:
    """dbt-core 1.11 reads them as tests of one query each, which declare nothing."""
    prepare_dbt(tmp_path, tmp_path)
    nodes = {str(node["unique_id"]): node for node in map(generic, TESTS)}
    written = {"metadata": METADATA, "nodes": nodes, "sources": {ORDERS["unique_id"]: ORDERS}, **{name: {} for name in EMPTY}}
    file = tmp_path / "manifest.json"
    file.write_text(json.dumps(written))
    manifest = read_manifest(file)
    index = KeyIndex(
        {
            "nodes": {name: node.to_dict() for name, node in manifest.nodes.items()},
            "sources": {name: source.to_dict() for name, source in manifest.sources.items()},
        }
    )
    assert index.declared(ORDERS) == (KeyCandidate(("id",), "test source_unique_raw_orders_id"),)
