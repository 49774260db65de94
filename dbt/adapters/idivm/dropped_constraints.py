"""Constraints in properties files that dbt drops from its manifest: those of the table of a source, a seed or a snapshot.

    sources:
      - name: shop
        tables:
          - name: orders
            constraints: [{type: primary_key, columns: [id]}]

dbt keeps constraints of columns, and of models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from dbt_idivm.declared_keys import Node
from dbt_idivm.definition.request import Ignored

_KEYS = ("primary_key", "unique")
_DO = "declare the constraint on the column (on each column, if it is a primary key with several), or add a test"


def dropped(node: Node, project: Path) -> Iterator[Ignored]:
    """The keys that a node's properties in the project's folder declare without effect. Nothing if the file cannot be read."""
    kind = str(node.get("resource_type"))
    file = str(node.get("patch_path") or node.get("original_file_path") or "").rpartition("://")[2]
    if kind not in ("source", "seed", "snapshot") or not file.endswith((".yml", ".yaml")):
        return
    try:
        found = yaml.safe_load((project / file).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return
    tables = _named(found, f"{kind}s", node.get("source_name") if kind == "source" else node.get("name"))
    if kind == "source":
        tables = [table for source in tables for table in _named(source, "tables", node.get("name"))]
    for table in tables:
        for constraint in _list(table, "constraints"):
            if constraint.get("type") in _KEYS:
                columns = constraint.get("columns")
                what = f"constraint {constraint['type']} ({', '.join(map(str, columns)) if isinstance(columns, list) else ''})"
                yield Ignored(what, f"dbt drops constraints of the table of a {kind} ({file})", _DO)


def _named(holder: Any, part: str, name: Any) -> list[Mapping[str, Any]]:
    return [each for each in _list(holder, part) if each.get("name") == name]


def _list(holder: Any, part: str) -> list[Mapping[str, Any]]:
    """The mappings in the list `holder[part]`; [] if the file has something else there."""
    found = holder.get(part) if isinstance(holder, Mapping) else None
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []
