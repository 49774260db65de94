"""The two states of a project: the current one, and the state in another folder of artifacts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dbt_idivm.artifacts import Node
from dbt_idivm.errors import listed
from dbt_idivm.project import Project, project_of, uncompiled
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.seen_columns import MARK
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

    Columns are those of the warehouse, so a state without catalog.json uses the other's, or what the other's last run saw, for
    tables that the change does not affect.
    """
    before, after = _compiled(state, "the other state"), _compiled(target, "the project")
    names = [str(each.manifest["metadata"].get("project_name") or "") for each in (before, after)]
    if all(names) and names[0] != names[1]:
        raise SchemaFileError(f"the other state: {state} is of the project `{names[0]}`, not of `{names[1]}`")
    found = aligned(before, after)
    reached = _reached(found.before, after)
    completed = _completed(found.before, after, reached), _completed(after, found.before, reached)
    same = ("Both states are one folder, so nothing can differ.",) if state.resolve() == target.resolve() else ()
    return States(*completed, (*same, *found.notes))


def _is_whole(catalog: Node) -> bool:
    """Whether it is of dbt, which lists all tables there are: what the last run saw may be the only entries."""
    return "metadata" in catalog


def _completed(project: Project, other: Project, reached: Collection[str]) -> Project:
    """The project, with the entries that its catalog lacks, unless that is whole.

    Of tables that the change reaches, what the last run saw counts in both states or in neither. Else types would be known in one
    of them only, and seem to differ.
    """
    parts = {}
    for part in ("nodes", "sources"):
        own, others = project.catalog.get(part, {}), other.catalog.get(part, {})
        added = {} if _is_whole(project.catalog) else {key: each for key, each in others.items() if key not in reached}
        kept = {key: each for key, each in own.items() if each.get(MARK) != "only" or key not in reached or key in others}
        parts[part] = {**added, **kept}
    return replace(project, catalog={**project.catalog, **parts})


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


def _reached(before: Project, after: Project) -> set[str]:
    """The tables that may have other columns in the two states: what differs, and what reads it."""
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
    return reached


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
