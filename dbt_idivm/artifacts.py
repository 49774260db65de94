"""What dbt writes to the folder `target`: its manifest, its catalog, and the SQL that its last command compiled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dbt_idivm.schema_file import SchemaFileError

Node = Mapping[str, Any]
# dbt's own settings that mean something to a maintained view
DBT_KEYS = ("unique_key", "partition_by", "location_root", "tblproperties", "on_configuration_change", "on_schema_change",
            "persist_docs")


def artifacts(target: Path) -> tuple[Node, Node]:
    """The manifest, and the catalog, which is empty if there is none. Raises SchemaFileError."""
    manifest, catalog = target / "manifest.json", target / "catalog.json"
    if not manifest.exists():
        raise SchemaFileError(f"there is no {manifest}: run `dbt compile` first")
    return _with_sql(_artifact(manifest), target / "run_results.json"), _artifact(catalog) if catalog.exists() else {}


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
