"""The columns of the tables that models read, as the engine reports them. dbt's artifacts contain their types only if somebody
declared them or ran `dbt docs generate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_idivm.declared_keys import relation_names
from dbt_idivm.project import Project
from dbt_idivm.refresh.catalog.relations import describe
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps


def with_columns(client: Client, project: Project) -> Steps[Project]:
    """The project, before planning, with the catalog entries of everything that its maintained models read replaced by the
    engine's columns."""
    found = {}
    for unique_id, relation in _read(project).items():
        try:
            facts = yield from describe(client, relation)
        except EngineFailure:
            continue  # the artifacts have to suffice
        if facts is not None and facts.columns:
            found[unique_id] = {
                "columns": {
                    each.name: {"name": each.name, "index": at, "type": each.type} for at, each in enumerate(facts.columns)
                }
            }
    catalog = project.catalog
    nodes = {**catalog.get("nodes", {}), **catalog.get("sources", {}), **found}
    return replace(project, catalog={**catalog, "nodes": nodes, "sources": {}})


def _read(project: Project) -> Mapping[str, str]:
    """Unique ID → relation, for the stored nodes that maintained models read."""
    return {
        str(read["unique_id"]): next(relation_names(read))
        for node in project.nodes_of_models()
        for read in project.keys.inputs(node).values()
        if read["config"].get("materialized") not in ("view", "ephemeral")
    }
