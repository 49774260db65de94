"""dbt's artifacts in the folder `target`: its manifest, its catalog, and the SQL that its last command compiled."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from dbt_idivm.schema_file import SchemaFileError

Node = Mapping[str, Any]
Form = Mapping[str, Any]  # a JSON Schema
# dbt's own settings that affect a maintained view
DBT_KEYS = (
    "unique_key",
    "partition_by",
    "location_root",
    "tblproperties",
    "on_configuration_change",
    "on_schema_change",
    "persist_docs",
)


def _record(*required: str, **parts: Form) -> Form:
    return {"type": "object", "required": required, "properties": parts}


def _map(values: Form) -> Form:
    return {"type": "object", "additionalProperties": values}


def _list(items: Form) -> Form:
    return {"type": "array", "items": items}


def _or_null(form: Form) -> Form:
    return {**form, "type": [form["type"], "null"]}


# JSON Schemas of what is read of these files, as dbt writes them; files of other programs, or incomplete ones, may differ.
_TEXT: Form = {"type": "string"}
_TEXTS = _list(_TEXT)
_OPTIONAL = _or_null(_TEXT)
_ANY = _or_null(_record())
_CONSTRAINTS = _or_null(_list(_record(columns=_or_null(_TEXTS))))
_NODE = _record(
    "unique_id",
    "name",
    "resource_type",
    "config",
    **dict.fromkeys(("unique_id", "name", "resource_type"), _TEXT),
    **dict.fromkeys(("relation_name", "database", "schema", "alias", "compiled_code"), _OPTIONAL),
    config=_record(materialized=_OPTIONAL, column_types=_ANY, snapshot_meta_column_names=_ANY),
    checksum=_ANY,
    depends_on=_record(nodes=_TEXTS, macros=_or_null(_TEXTS)),
    columns=_or_null(_map(_record("name", name=_TEXT, data_type=_OPTIONAL, constraints=_CONSTRAINTS))),
    constraints=_CONSTRAINTS,
    test_metadata=_or_null(_record(kwargs=_ANY)),
)
_MACRO = _record(depends_on=_or_null(_record(macros=_or_null(_TEXTS))))
_MANIFEST = _record(
    metadata=_record(),
    nodes=_map(_NODE),
    sources=_map({"allOf": [_NODE, _record("source_name", source_name=_TEXT)]}),
    macros=_or_null(_map(_MACRO)),
)
_TABLES = _map(_record(columns=_map(_record("name", "type", "index", name=_TEXT, type=_TEXT, index={"type": "number"}))))
_CATALOG = _record(metadata=_record(), nodes=_TABLES, sources=_TABLES)
_RESULTS = _record(metadata=_record(), results=_list(_record(unique_id=_OPTIONAL, compiled_code=_OPTIONAL)))


def artifacts(target: Path) -> tuple[Node, Node]:
    """The manifest and the catalog, which is empty if there is none. Raises SchemaFileError."""
    manifest, catalog = target / "manifest.json", target / "catalog.json"
    if not manifest.exists():
        raise SchemaFileError(f"there is no {manifest}: run `dbt compile` first")
    found = _artifact(manifest, _MANIFEST)
    return _with_sql(found, target / "run_results.json"), _artifact(catalog, _CATALOG) if catalog.exists() else {}


def _with_sql(manifest: Node, results: Path) -> Node:
    """The manifest, with compiled SQL that dbt's last command has written only to its results (`dbt run` of dbt 1.12)."""
    nodes: Mapping[str, Node] = manifest.get("nodes", {})
    if not results.exists() or all(node.get("compiled_code") for node in nodes.values() if node.get("resource_type") == "model"):
        return manifest
    with suppress(SchemaFileError):
        sql = {each.get("unique_id"): each.get("compiled_code") for each in _artifact(results, _RESULTS).get("results") or ()}
        return {
            **manifest,
            "nodes": {key: {**node, "compiled_code": node.get("compiled_code") or sql.get(key)} for key, node in nodes.items()},
        }
    return manifest


def _artifact(path: Path, form: Form) -> Node:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SchemaFileError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SchemaFileError(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict) or "metadata" not in found:
        raise SchemaFileError(f"{path} is not an artifact of dbt: it has no `metadata`")
    try:
        place = next(chain(_misfits(found, form), _misnamed(found)), None)
    except RecursionError as error:
        raise SchemaFileError(f"{path} is not an artifact of dbt: it is nested too deeply") from error
    if place is not None:
        below = f", at {' → '.join(f'`{each}`' for each in place[1:])}" if place[1:] else ""
        raise SchemaFileError(f"{path} is not an artifact of dbt: its `{place[0]}` has another form{below}")
    return found


def _misfits(found: Node, form: Form) -> Iterator[tuple[object, ...]]:
    """The paths of the parts that do not have the given form, or are missing."""
    for error in Draft202012Validator(form).iter_errors(found):
        missing = [name for name in error.validator_value if name not in error.instance] if error.validator == "required" else []
        yield (*error.absolute_path, *missing[:1])


def _misnamed(found: Node) -> Iterator[tuple[object, ...]]:
    """The paths of the IDs of nodes that differ from their keys."""
    for part in ("nodes", "sources"):
        for key, each in found.get(part, {}).items():
            if each.get("unique_id", key) != key:
                yield part, key, "unique_id"


def dbt_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """dbt's own settings in this config, without those that are not set."""
    return {key: config[key] for key in DBT_KEYS if config.get(key) not in (None, {}, [])}
