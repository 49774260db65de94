"""Which columns count for commands without an engine: those of `catalog.json`, or those that the last run saw (`seen.py`).

The newer file counts. What a run saw is put into the catalog, in its form, as an entry with a mark:

    {"columns": {"id": {"name": "id", "index": 0, "type": "bigint"}}, "seen": "only"}

| mark    | the catalog has                     | what counts
|---------|-------------------------------------|--------------------------------------------------------------
| (none)  | the columns that the run saw        | these
| only    | nothing                             | what the run saw, unless the SELECT gives other columns now
| newer   | other columns, and is older         | the same
| older   | other columns, and is newer         | the catalog
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from dbt_idivm.artifacts import Node
from dbt_idivm.declared_keys import KINDS, relation_names
from dbt_idivm.errors import Finding, finding, listed
from dbt_idivm.known_columns import UNKNOWN, attribute
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.seen_files import Seen, seen_in

MARK = "seen"
Counts = Literal["only", "newer", "older", "changed"]  # `changed`: the SELECT gives other columns now
_SHOWN = 5
# whose columns count, and why
_SAYS: Mapping[Counts, tuple[str, str]] = {
    "only": ("that the last run saw", "nothing else tells all of their names and types"),
    "newer": ("that the last run saw, not those in catalog.json", "they differ, and the run is newer"),
    "older": ("in catalog.json, not those that the last run saw", "they differ, and the catalog is newer"),
    "changed": ("of the SELECT, not those that the last run saw", "they differ: the SELECT has changed since the run"),
}


def with_seen(manifest: Node, catalog: Node, target: Path) -> tuple[Node, tuple[Finding, ...]]:
    """The catalog with what the last run saw, where that is newer or the catalog lacks it; and findings for files without use."""
    seen, problems = seen_in(target)
    if not seen:
        return catalog, problems
    made = target / "catalog.json"
    at = made.stat().st_mtime if catalog and made.exists() else None
    parts = {part: dict(catalog.get(part, {})) for part in ("nodes", "sources")}
    for part, entries in parts.items():
        for unique_id, node in manifest.get(part, {}).items():
            found = next((seen[name] for name in relation_names(node) if name in seen), None)
            if found is not None and node.get("resource_type") in KINDS:
                entries[unique_id] = _entry(entries.get(unique_id), found, at)
    return {**catalog, **parts}, problems


def _entry(listed_there: Mapping[str, Any] | None, found: Seen, at: float | None) -> Mapping[str, Any]:
    columns = {name: {"name": name, "index": number, "type": kind} for number, (name, kind) in enumerate(found.columns.items())}
    there = columns_of(listed_there or {})
    if listed_there is None or not there:
        return {**(listed_there or {}), "columns": columns, MARK: "only"}
    if _alike(there) == _alike(columns_of({"columns": columns})):
        return listed_there
    if at is not None and found.at <= at:
        return {**listed_there, MARK: "older"}
    return {**listed_there, "columns": columns, MARK: "newer"}


def columns_of(entry: Mapping[str, Any]) -> tuple[Attribute, ...]:
    """The columns in an entry of a catalog; empty if it has none."""
    columns = sorted((entry.get("columns") or {}).values(), key=lambda column: int(column["index"]))
    return tuple(attribute(column["name"], column["type"]) for column in columns)


def _alike(columns: tuple[Attribute, ...]) -> list[tuple[str, str]]:
    return [(each.name.lower(), each.type.lower()) for each in columns]


def combined(made: tuple[Attribute, ...], seen: tuple[Attribute, ...]) -> tuple[Attribute, ...] | None:
    """What follows from a SELECT, with types that do not follow from it as a run saw them; None if the names differ."""
    if not made:
        return seen
    if [each.name.lower() for each in made] != [each.name.lower() for each in seen]:
        return None
    return tuple(there if own.type == UNKNOWN else own for own, there in zip(made, seen, strict=True))


def notes(counts: Mapping[str, Counts]) -> tuple[Finding, ...]:
    """One finding (IDIVM-125) for all relations whose columns count for the same reason. `counts`: by their written names."""
    found = []
    for kind in get_args(Counts):
        names = sorted(name for name, each in counts.items() if each == kind)
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        if names:
            whose, why = _SAYS[kind]
            found.append(finding(125, relations=listed(names[:_SHOWN]) + more, whose=whose, reason=why))
    return tuple(found)
