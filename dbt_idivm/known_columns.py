"""The columns of relations built by dbt, as far as the manifest and the project's files show them: seeds, snapshots, declared
columns."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.types import is_known, name_of_type, type_of
from dbt_idivm.artifacts import Node
from dbt_idivm.operators.scan import Attribute

UNKNOWN = "unknown"


def declared_types(node: Node) -> dict[str, Any]:
    """Column → type in properties files, None without a type. The types of a seed may be in `column_types`."""
    types: dict[str, Any] = dict(node["config"].get("column_types") or {})
    for column in (node.get("columns") or {}).values():
        types[column["name"]] = column.get("data_type") or types.get(column["name"])
    return types


def declared(node: Node) -> tuple[Attribute, ...]:
    """The columns in properties files, if all of them have types; the list is then assumed to be complete. Else empty."""
    types = declared_types(node)
    return tuple(attribute(name, kind) for name, kind in types.items()) if all(types.values()) else ()


def with_declared_types(columns: Iterable[Attribute], node: Node) -> tuple[Attribute, ...]:
    """The columns, with unknown types replaced by declared ones."""
    types = {name.lower(): kind for name, kind in declared_types(node).items() if kind}
    return tuple(
        attribute(each.name, types[each.name.lower()]) if each.type == UNKNOWN and each.name.lower() in types else each
        for each in columns
    )


def of_seed(node: Node) -> tuple[Attribute, ...]:
    """The header of a seed's file, without types; empty if the file is missing or has changed since dbt read it."""
    path = Path(str(node.get("root_path") or ""), str(node.get("original_file_path") or ""))
    checksum = node.get("checksum") or {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            header = next(csv.reader(islice(lines, 1), delimiter=node["config"].get("delimiter") or ","), [])
        text = path.read_text(encoding="utf-8") if checksum.get("name") == "sha256" else ""
    except (OSError, UnicodeDecodeError, csv.Error, TypeError):
        return ()
    is_same = checksum.get("name") == "path" or checksum.get("checksum") == sha256(text.strip().encode()).hexdigest()
    return tuple(Attribute(name, UNKNOWN) for name in header) if is_same and all(header) else ()


def of_snapshot(node: Node, selected: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """The columns of a snapshot of a SELECT with the columns `selected`, including those that dbt adds."""
    config = node["config"]
    named: Mapping[str, str] = config.get("snapshot_meta_column_names") or {}
    types = {each.name.lower(): each.type for each in selected}
    of_check = config.get("strategy") == "check"
    time = "timestamp" if of_check else types.get(str(config.get("updated_at")).lower(), UNKNOWN)
    added = {"dbt_scd_id": "string", "dbt_updated_at": time, "dbt_valid_from": time, "dbt_valid_to": time}
    if config.get("hard_deletes") == "new_record":
        added["dbt_is_deleted"] = "string"
    return (*selected, *(Attribute(named.get(name) or name, kind) for name, kind in added.items()))


def attribute(name: Any, kind: Any) -> Attribute:
    """A column with its type in the spelling of plans, because catalogs contain both `integer` and `int`; if that would lose
    information, as given."""
    text = str(kind)
    known = type_of(text)
    is_whole = is_known(known) and known.this != exp.DataType.Type.OBJECT and "collate" not in text.lower()
    return Attribute(str(name), name_of_type(known) if is_whole else text)
