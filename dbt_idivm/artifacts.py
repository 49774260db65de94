"""What dbt writes to the folder `target`: its manifest, its catalog, and the SQL that its last command compiled."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dbt_idivm.schema_file import SchemaFileError

Node = Mapping[str, Any]
# What is read of a node or source, as far as it has it.
_FORMS: Mapping[str, type] = {"unique_id": str, "name": str, "schema": str, "alias": str, "relation_name": str,
                              "compiled_code": str, "config": dict, "columns": dict, "depends_on": dict, "constraints": list}
# dbt's own settings that mean something to a maintained view
DBT_KEYS = ("unique_key", "partition_by", "location_root", "tblproperties", "on_configuration_change", "on_schema_change",
            "persist_docs")


def artifacts(target: Path) -> tuple[Node, Node]:
    """The manifest, and the catalog, which is empty if there is none. Raises SchemaFileError."""
    manifest, catalog = target / "manifest.json", target / "catalog.json"
    if not manifest.exists():
        raise SchemaFileError(f"there is no {manifest}: run `dbt compile` first")
    found = _checked(manifest, _unlike_manifest)
    return _with_sql(found, target / "run_results.json"), _checked(catalog, _unlike_catalog) if catalog.exists() else {}


def _checked(path: Path, unlike: Callable[[Node], Iterator[str]]) -> Node:
    found = _artifact(path)
    if wrong := next(unlike(found), None):
        raise SchemaFileError(f"{path} is no artifact of dbt: {wrong}")
    return found


def _nodes(artifact: Node) -> Iterator[tuple[str, Node]]:
    for part in ("nodes", "sources"):
        yield from artifact.get(part, {}).items()


def _unlike_catalog(catalog: Node) -> Iterator[str]:
    for unique_id, node in _nodes(catalog):
        columns = node.get("columns") or {}
        if not isinstance(columns, dict) or not all(_is_column(each) for each in columns.values()):
            yield f"the `columns` of `{unique_id}` have another form"


def _is_column(found: object) -> bool:
    return isinstance(found, dict) and {"name", "type"} <= found.keys() and str(found.get("index")).isdecimal()


def _unlike_manifest(manifest: Node) -> Iterator[str]:
    for unique_id, node in _nodes(manifest):
        needed = ("unique_id", "name", "config", *(("schema",) if node.get("resource_type") == "model" else ()))
        yield from (f"`{unique_id}` has no `{name}`" for name in needed if node.get(name) is None)
        yield from (f"the `{name}` of `{unique_id}` has another form" for name, kind in _FORMS.items()
                    if node.get(name) is not None and not isinstance(node[name], kind))
        parts = (("columns", (node.get("columns") or {}).values()), ("constraints", node.get("constraints") or ()))
        yield from (f"the `{name}` of `{unique_id}` have another form" for name, found in parts
                    if not all(isinstance(each, dict) for each in found))


def _with_sql(manifest: Node, results: Path) -> Node:
    """With the compiled SQL that dbt's last command has in its results only, as `dbt run` of dbt 1.12 does."""
    nodes: Mapping[str, Node] = manifest.get("nodes", {})
    if not results.exists() or all(node.get("compiled_code") for node in nodes.values() if node.get("resource_type") == "model"):
        return manifest
    with suppress(SchemaFileError):
        found = _artifact(results).get("results")
        sql = {str(each.get("unique_id")): each.get("compiled_code") for each in (found if isinstance(found, list) else ())
               if isinstance(each, dict)}
        return {**manifest, "nodes": {key: {**node, "compiled_code": node.get("compiled_code") or sql.get(key)}
                                      for key, node in nodes.items()}}
    return manifest


def _artifact(path: Path) -> Node:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SchemaFileError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SchemaFileError(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict) or "metadata" not in found:
        raise SchemaFileError(f"{path} is no artifact of dbt: it has no `metadata`")
    if wrong := [part for part in ("metadata", "nodes", "sources") if not _is_mapping_of(found.get(part, {}), part)]:
        raise SchemaFileError(f"{path} is no artifact of dbt: its `{wrong[0]}` has another form")
    return found


def _is_mapping_of(found: object, part: str) -> bool:
    return isinstance(found, dict) and (part == "metadata" or all(isinstance(each, dict) for each in found.values()))


def own_config(node: Node) -> Mapping[str, Any]:
    """Our config of a model."""
    return node["config"].get("idivm") or (node["config"].get("meta") or {}).get("idivm") or {}


def dbt_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """dbt's own settings of a model with this config, as far as they are set."""
    return {key: config[key] for key in DBT_KEYS if config.get(key) not in (None, {}, [])}
