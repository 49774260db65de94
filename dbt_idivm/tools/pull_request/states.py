"""The two states of a project: the current one, and the state in another folder of artifacts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dbt_idivm.artifacts import Node
from dbt_idivm.errors import listed
from dbt_idivm.project import Project, project_of, uncompiled
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.tools.pull_request.next_run import code

_NAMED = ("database", "schema", "alias")  # the config from which the name of a relation is built
_SHOWN = 3


@dataclass(frozen=True)
class States:
    """`notes`: assumptions made to compare the states."""

    before: Project
    after: Project
    notes: tuple[str, ...] = ()


def states(state: Path, target: Path) -> States:
    """The state in a folder, and the project with artifacts in `target`. Raises SchemaFileError if one of them has no compiled
    manifest, or if they belong to different projects.

    Columns are those of the warehouse, so a state without catalog.json uses the other's, for tables that the change does not
    affect.
    """
    before, after = _compiled(state, "the other state"), _compiled(target, "the project")
    names = [str(each.manifest["metadata"].get("project_name") or "") for each in (before, after)]
    if all(names) and names[0] != names[1]:
        raise SchemaFileError(f"the other state: {state} is of the project `{names[0]}`, not of `{names[1]}`")
    found = aligned(before, after)
    before = found.before
    if not (_is_whole(before.catalog) and _is_whole(after.catalog)):
        known = before.catalog, after.catalog
        others = tuple(_unreached(each, before, after) for each in known)
        before, after = _completed(before, others[1]), _completed(after, others[0])
        found = replace(found, before=before)
    same = ("Both states are one folder, so nothing can differ.",) if state.resolve() == target.resolve() else ()
    return States(found.before, after, (*same, *found.notes))


def _is_whole(catalog: Node) -> bool:
    """Whether it is of dbt, which lists all tables there are: what the last run saw may be the only entries."""
    return "metadata" in catalog


def _completed(project: Project, others: Node) -> Project:
    """The project, with the entries that its catalog lacks, unless that is whole."""
    if _is_whole(project.catalog):
        return project
    return replace(project, catalog={part: {**entries, **project.catalog.get(part, {})} for part, entries in others.items()})


def _compiled(target: Path, what: str) -> Project:
    try:
        project = project_of(target)
    except SchemaFileError as error:
        raise SchemaFileError(f"{what}: {error}") from error
    if missing := uncompiled(project):
        some = "1 model that is" if len(missing) == 1 else f"{len(missing)} models that are"
        raise SchemaFileError(
            f"{what}: {target / 'manifest.json'} has {some} not compiled, such as `{missing[0]}`: run `dbt compile` first"
        )
    return project


def _unreached(catalog: Node, before: Project, after: Project) -> dict[str, Any]:
    """The entries of a catalog for tables that have the same columns in both states."""
    nodes, others = after.keys.nodes, before.keys.nodes
    readers: dict[str, list[str]] = {}
    for unique_id, node in nodes.items():
        for each in node.get("depends_on", {}).get("nodes", ()):
            readers.setdefault(each, []).append(unique_id)
    reached = {unique_id for unique_id in {**nodes, **others} if _made(nodes.get(unique_id)) != _made(others.get(unique_id))}
    left = list(reached)
    while left:
        new = set(readers.get(left.pop(), ())) - reached
        reached |= new
        left += new
    return {
        part: {unique_id: table for unique_id, table in catalog.get(part, {}).items() if unique_id not in reached}
        for part in ("nodes", "sources")
    }


def _made(node: Node | None) -> object:
    """What the content of a table depends on: its relation name, and its SQL or checksum."""
    return None if node is None else (node.get("relation_name"), code(node) or node.get("checksum"))


def aligned(before: Project, after: Project) -> States:
    """`before` with the relation names of `after`, if only the target differs: another schema for a pull request or for
    production. Names that the user has changed are kept."""
    names = dict(_renamed(before, after))
    if not names:
        return States(before, after)
    old = re.compile("|".join(rf"(?<![\w`.]){re.escape(each)}(?![\w`])" for each in sorted(names, key=len, reverse=True)))

    def renamed(node: Node) -> dict[str, Any]:
        now = after.keys.nodes.get(str(node.get("unique_id")), {})
        sql, relation = node.get("compiled_code"), node.get("relation_name")
        found = {**node, "compiled_code": old.sub(lambda match: names[match[0]], sql) if sql else sql}
        if relation in names and now:
            found |= {key: now[key] for key in ("relation_name", "database", "schema", "alias") if key in now}
        return found

    manifest = {
        **before.manifest,
        **{part: {key: renamed(node) for key, node in before.manifest.get(part, {}).items()} for part in ("nodes", "sources")},
    }
    shown = listed(f"{old_name} → {new}" for old_name, new in list(names.items())[:_SHOWN])
    more = f" and {len(names) - _SHOWN} others" if len(names) > _SHOWN else ""
    note = (
        "The other state is of another target, or named by other macros: its relations have other names, which are taken as "
        f"the same: {shown}{more}."
    )
    return States(Project(manifest, before.catalog, problems=before.problems), after, (note,))


def _renamed(before: Project, after: Project) -> Iterator[tuple[str, str]]:
    """Relation name before → after, where the names differ although the user's settings do not."""
    for unique_id, node in before.keys.nodes.items():
        old, now = node.get("relation_name"), after.keys.nodes.get(unique_id, {})
        new = now.get("relation_name")
        if old and new and old != new and _settings(node) == _settings(now):
            yield str(old), str(new)


def _settings(node: Node) -> Mapping[str, Any]:
    """The user's settings of the relation's name: unrendered, if dbt has them."""
    if node.get("resource_type") == "source":
        return {key: node.get(f"unrendered_{key}", node.get(key)) for key in ("database", "schema", "identifier")}
    config, raw = node.get("config") or {}, node.get("unrendered_config") or {}
    return {key: raw.get(key, config.get(key)) for key in _NAMED}
