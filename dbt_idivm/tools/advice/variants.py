"""Variants of a project with other configs or keys. Only models whose plan may change are planned again.

A variant is another manifest, as dbt would write it after a change of the config, so it is read by the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from dbt_idivm.artifacts import Node
from dbt_idivm.definition.define import Definition
from dbt_idivm.errors import IdivmError
from dbt_idivm.project import Project
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.settings import own_config

STORED = ("table", "incremental")  # kinds of models that could be maintained instead


@dataclass(frozen=True)
class Variant:
    """A project, and the unique IDs of the models whose plan has changed."""

    project: Project
    replanned: frozenset[str]


def with_nodes(project: Project, nodes: Mapping[str, Node]) -> Variant:
    """Replace nodes by those with the same IDs. A model is planned again if its node has changed, or if one of its inputs has
    other columns or IDs."""
    manifest = {
        **project.manifest,
        **{
            part: {**found, **{key: node for key, node in nodes.items() if key in found}}
            for part in ("nodes", "sources")
            if (found := project.manifest.get(part, {}))
        },
    }
    varied = Project(
        manifest,
        project.catalog,
        dict(project.definitions),
        problems=project.problems,
        counts=project.counts,
        found_keys=project.found_keys,
    )
    different, replanned = set(nodes), set()
    for unique_id in ordered(varied):
        node = varied.keys.nodes[unique_id]
        read = {each["unique_id"] for each in varied.keys.inputs(node).values()}
        if unique_id not in nodes and read.isdisjoint(different):
            continue
        before = varied.definitions.pop(unique_id, None)
        replanned.add(unique_id)
        with suppress(IdivmError, SchemaFileError):
            varied.plan(node)
        if _interface(before) != _interface(varied.definitions.get(unique_id)):
            different.add(unique_id)
    return Variant(varied, frozenset(replanned))


def _interface(known: Definition | Exception | None) -> object:
    """The properties of a model's plan that its readers' plans depend on."""
    plan = known.plan if isinstance(known, Definition) else None
    if plan is None:
        return None
    kinds = tuple(plan.root.types[each.attribute].sql() for each in plan.columns)
    return plan.columns, plan.times, kinds, plan.root.ids, plan.root.unique


def ordered(project: Project) -> Iterable[str]:
    """The models by unique ID, each after those that it reads."""
    models = {name: node for name, node in sorted(project.keys.nodes.items()) if node.get("resource_type") == "model"}
    read = {
        name: [each for each in node.get("depends_on", {}).get("nodes", ()) if each in models] for name, node in models.items()
    }
    return TopologicalSorter(read).static_order()


def materialized(node: Node) -> str:
    return str(node["config"].get("materialized") or "view")


def with_kind(node: Node, kind: str) -> Node:
    """The node with another materialization."""
    return {**node, "config": {**node["config"], "materialized": kind}}


def with_config(node: Node, **ours: Any) -> Node:
    """The node with additional settings of ours."""
    meta = node["config"].get("meta") or {}
    return {**node, "config": {**node["config"], "idivm": None, "meta": {**meta, "idivm": {**own_config(node), **ours}}}}


def with_key(node: Node, columns: tuple[str, ...]) -> Node:
    """The node with a declared key."""
    return {**node, "constraints": [*(node.get("constraints") or ()), {"type": "primary_key", "columns": list(columns)}]}


def all_maintained(project: Project, sizes: Callable[[str], float | None], given: Collection[str]) -> Project:
    """The project with `materialized: idivm` for all models that are stored and can be planned over tables of known `sizes`, so
    that their refreshes can be estimated. Models whose changes are `given` stay inputs."""
    found = {
        unique_id: node
        for unique_id, node in project.keys.nodes.items()
        if _is_candidate(node) and str(node["name"]).lower() not in given
    }
    varied = with_nodes(project, {key: with_kind(node, "idivm") for key, node in found.items()}).project if found else project
    made: set[str] = set()
    without: dict[str, Node] = {}
    planned = {each.unique_id: each for each in varied.planned()}
    for unique_id in ordered(varied):
        model = planned.get(unique_id)
        known = model is not None and all(scan.table in made or sizes(scan.table) is not None for scan in model.plan.base_scans)
        if unique_id in found and not known:
            without[unique_id] = found[unique_id]
        elif model is not None:
            made.update(model.tables)
    return with_nodes(varied, without).project if without else varied


def _is_candidate(node: Node) -> bool:
    """Whether it is a compiled SQL model. One that reads its own rows, such as the incremental branch of `is_incremental()`, gets
    no plan, because it is not among its own inputs (IDIVM-301)."""
    return (
        node.get("resource_type") == "model"
        and materialized(node) in STORED
        and node.get("language", "sql") == "sql"
        and bool(node.get("compiled_code"))
    )


def readers(project: Project) -> Mapping[str, tuple[str, ...]]:
    """Node → models and snapshots that read it directly."""
    found: dict[str, list[str]] = {}
    for unique_id, node in project.keys.nodes.items():
        if node.get("resource_type") in ("model", "snapshot"):
            for each in dict.fromkeys(node.get("depends_on", {}).get("nodes", ())):
                found.setdefault(each, []).append(unique_id)
    return {each: tuple(sorted(names)) for each, names in found.items()}


def below(project: Project, unique_id: str) -> tuple[str, ...]:
    """All models that depend on a node, directly or indirectly."""
    read, found = readers(project), dict[str, None]()
    rest = [unique_id]
    while rest:
        for each in read.get(rest.pop(), ()):
            if each not in found:
                found[each] = None
                rest.append(each)
    return tuple(found)
