"""dbt's artifacts in the folder `target`: its manifest, its catalog, and the SQL that its last command compiled."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.settings import merged

Node = Mapping[str, Any]
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


# The parts of these files that are read, as dbt writes them; files of other programs, or incomplete ones, may differ. A key with
# "?" may be missing, "*" stands for every key, and a tuple has alternatives.
_OPTIONAL = (str, type(None))
_TEST: Any = ({"kwargs?": ({}, type(None))}, type(None))
_CONSTRAINTS: Any = ([{"columns?": ([str], type(None))}], type(None))
_COLUMNS: Any = ({"*": {"name": str, "data_type?": _OPTIONAL, "constraints?": _CONSTRAINTS}}, type(None))
_RELATION = {"relation_name?": _OPTIONAL, "database?": _OPTIONAL, "schema?": _OPTIONAL, "alias?": _OPTIONAL}
_NODE = {
    "unique_id": str,
    "name": str,
    "resource_type": str,
    "config": {
        "materialized?": _OPTIONAL,
        "column_types?": ({}, type(None)),
        "snapshot_meta_column_names?": ({}, type(None)),
    },
    "checksum?": ({}, type(None)),
    **_RELATION,
    "compiled_code?": _OPTIONAL,
    "depends_on?": {"nodes?": [str], "macros?": ([str], type(None))},
    "columns?": _COLUMNS,
    "constraints?": _CONSTRAINTS,
    "test_metadata?": _TEST,
}
_MACRO = {"depends_on?": ({"macros?": ([str], type(None))}, type(None))}
_MANIFEST = {
    "metadata": {},
    "nodes?": {"*": _NODE},
    "sources?": {"*": {**_NODE, "source_name": str}},
    "macros?": ({"*": _MACRO}, type(None)),
}
_TABLES = {"*": {"columns?": {"*": {"name": str, "type": str, "index": (int, float)}}}}
_CATALOG = {"metadata": {}, "nodes?": _TABLES, "sources?": _TABLES}
_RESULTS = {"metadata": {}, "results?": [{"unique_id?": _OPTIONAL, "compiled_code?": _OPTIONAL}]}


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


def _artifact(path: Path, form: Any) -> Node:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SchemaFileError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SchemaFileError(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict) or "metadata" not in found:
        raise SchemaFileError(f"{path} is no artifact of dbt: it has no `metadata`")
    renamed = (
        (part, key, "unique_id")
        for part in ("nodes", "sources")
        for key, each in found.get(part, {}).items()
        if each.get("unique_id", key) != key
    )
    place = next(_misfits(found, form), None) or next(renamed, None)
    if place is not None:
        below = f", at {' → '.join(f'`{each}`' for each in place[1:])}" if place[1:] else ""
        raise SchemaFileError(f"{path} is no artifact of dbt: its `{place[0]}` has another form{below}")
    return found


def _misfits(found: Any, form: Any) -> Iterator[tuple[str, ...]]:
    """The paths of all parts that do not have the given form."""
    parts: Iterable[tuple[str, Any, Any]] = ()
    if isinstance(form, tuple):
        fits = any(next(_misfits(found, each), None) is None for each in form)
    elif isinstance(form, list):
        fits = isinstance(found, list)
        parts = ((str(at), each, form[0]) for at, each in enumerate(found)) if fits else ()
    elif isinstance(form, dict):
        fits = isinstance(found, dict)
        parts = _entries(found, form) if fits else ()
    else:
        fits = isinstance(found, form)
    if not fits:
        yield ()
    for key, part, wanted in parts:
        yield from ((key, *place) for place in _misfits(part, wanted))


def _entries(found: Mapping[str, Any], form: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """(key, value, form) for each entry. A missing required key has the value None."""
    for key, wanted in form.items():
        name = key.removesuffix("?")
        if key == "*":
            yield from ((each, value, wanted) for each, value in found.items())
        elif name in found or name == key:
            yield name, found.get(name), wanted


def own_config(node: Node) -> Mapping[str, Any]:
    """Our config of a model; empty if it is not a mapping, which is an error of its own (`given_config`)."""
    found = given_config(node)
    return found if isinstance(found, Mapping) else {}


def given_config(node: Node) -> Any:
    """Our config of a model, in whatever form the user wrote it. `idivm` takes precedence over `meta.idivm`; in the manifest of a
    project with this adapter the two are equal."""
    meta = node["config"].get("meta")
    return merged(meta.get("idivm") if isinstance(meta, Mapping) else None, node["config"].get("idivm")) or {}


def dbt_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """dbt's own settings in this config, without those that are not set."""
    return {key: config[key] for key in DBT_KEYS if config.get(key) not in (None, {}, [])}
