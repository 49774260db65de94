"""The facts in a project's artifacts: how each model is maintained, its trees and its Δ-script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.artifacts import Node
from dbt_idivm.cache_names import without_digest
from dbt_idivm.declared_keys import relation_names
from dbt_idivm.errors import Finding
from dbt_idivm.explain import delta_script, with_depths
from dbt_idivm.operators.scan import Scan
from dbt_idivm.project import Explained, Project, label
from dbt_idivm.project import Model as Planned
from dbt_idivm.relation_name import name_parts
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.ways import STRATEGIES
from dbt_idivm.tools.flowchart.of_project import graph_of
from dbt_idivm.tools.report.facts import Line, Model, Refresh, Refused, Report, Tree
from dbt_idivm.tools.report.last_run import last_runs

# Characters of a Δ-script on the page. Some have hundreds of thousands, which nobody would read there.
MOST = 30_000


def report_of(project: Project, results: Path, zone: str) -> Report:
    """The report without the facts that only an engine has. `results`: dbt's run_results.json, which may be missing; `zone`: time
    zone of all times."""
    graph, found = graph_of(project), tuple(models(project, last_runs(results, zone)))
    name = str(project.manifest["metadata"].get("project_name") or "project")
    return Report(name, found, graph, zone=zone)


def models(project: Project, runs: Mapping[str, Refresh]) -> Iterator[Model]:
    """The models with `materialized='idivm'`, by name. `runs`: unique ID → last run."""
    planned = {each.unique_id: each for each in project.planned()}
    for node, explained in zip(project.nodes_of_models(), project.explained(), strict=True):
        found = outlined(node, explained)
        yield _with_plan(replace(found, last_run=runs.get(found.unique_id)), planned.get(found.unique_id))


def outlined(node: Node, explained: Explained) -> Model:
    """The model without its trees, its script and its runs."""
    refused = None if explained.refusal is None else _refused(explained.refusal)
    return Model(
        label(node),
        str(node["unique_id"]),
        next(iter(relation_names(node)), label(node)),
        explained.how,
        refused,
        explained.problem or "",
        str(node.get("compiled_code") or "").strip(),
    )


def _with_plan(model: Model, planned: Planned | None) -> Model:
    if planned is None or model.how is None:
        return model
    script, left_out = _beginning(delta_script(planned.plan, model.relation, STRATEGIES["id"]))
    return replace(model, trees=tuple(_trees(planned.plan)), script=script, left_out=left_out)


def _refused(found: Finding) -> Refused:
    return Refused(found.code, found.title, found.why, found.do)


def _trees(plan: Plan) -> Iterator[Tree]:
    for cache in plan.caches:
        yield Tree(
            f"cache of {without_digest(name_parts(cache.table)[-1])}",
            f"{cache.table}: kept because {cache.reason}",
            tuple(_lines(cache.plan.root)),
        )
    yield Tree("", "", tuple(_lines(plan.root)))


def _lines(root: Operator) -> Iterator[Line]:
    for depth, at in with_depths(root):
        yield Line(depth, at.label(), at.ids, at.unique, isinstance(at, Scan))


def _beginning(script: str) -> tuple[str, int]:
    """The first lines of a script, and the number of lines left out."""
    if len(script) <= MOST:
        return script, 0
    end = max(script.rfind("\n", 0, MOST), 0) or MOST
    return script[:end], script.count("\n", end)
