"""The facts of a project that its artifacts have: how each model is maintained, its trees and its Δ-script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.cache_names import without_digest
from dbt_idivm.declared_keys import relation_names
from dbt_idivm.errors import Finding
from dbt_idivm.explain import delta_script, with_depths
from dbt_idivm.flowchart.of_project import graph_of
from dbt_idivm.operators.scan import Scan
from dbt_idivm.project import Explained, Project, label
from dbt_idivm.project import Model as Planned
from dbt_idivm.relation_name import name_parts
from dbt_idivm.report.facts import Line, Model, Refresh, Refused, Report, Tree
from dbt_idivm.report.last_run import last_runs
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.ways import STRATEGIES

# Characters of a Δ-script on the page. Some have hundreds of thousands, which nobody reads there.
MOST = 30_000


def report_of(project: Project, results: Path, zone: str) -> Report:
    """The facts of a project without those that only an engine has. `results`: dbt's run_results.json, where there is one;
    `zone`: of the times."""
    graph, found = graph_of(project), tuple(models(project, last_runs(results, zone)))
    name = str(project.manifest["metadata"].get("project_name") or "project")
    return Report(name, found, graph, zone=zone)


def models(project: Project, runs: Mapping[str, Refresh]) -> Iterator[Model]:
    """The models with `materialized='idivm'`, by name. `runs`: unique ID → the last run."""
    planned = {each.unique_id: each for each in project.planned()}
    for node, explained in zip(project.nodes_of_models(), project.explained(), strict=True):
        unique_id = str(node["unique_id"])
        relation = next(iter(relation_names(node)), label(node))
        yield _model(label(node), unique_id, relation, str(node.get("compiled_code") or "").strip(), explained,
                     planned.get(unique_id), runs.get(unique_id))


def _model(name: str, unique_id: str, relation: str, sql: str, explained: Explained, planned: Planned | None,
           last: Refresh | None) -> Model:
    refused = None if explained.refusal is None else _refused(explained.refusal)
    found = Model(name, unique_id, relation, explained.how, refused, explained.problem or "", sql, last_run=last)
    if planned is None or explained.how is None:
        return found
    script, left_out = _beginning(delta_script(planned.plan, relation, STRATEGIES["id"]))
    return replace(found, trees=tuple(_trees(planned.plan)), script=script, left_out=left_out)


def _refused(found: Finding) -> Refused:
    return Refused(found.code, found.title, found.why, found.do)


def _trees(plan: Plan) -> Iterator[Tree]:
    for cache in plan.caches:
        yield Tree(f"cache of {without_digest(name_parts(cache.table)[-1])}", f"{cache.table}: kept because {cache.reason}",
                   tuple(_lines(cache.plan.root)))
    yield Tree("", "", tuple(_lines(plan.root)))


def _lines(root: Operator) -> Iterator[Line]:
    for depth, at in with_depths(root):
        yield Line(depth, at.label(), at.ids, at.unique, isinstance(at, Scan))


def _beginning(script: str) -> tuple[str, int]:
    """Its first lines, and the number of those that are left out."""
    if len(script) <= MOST:
        return script, 0
    end = max(script.rfind("\n", 0, MOST), 0) or MOST
    return script[:end], script.count("\n", end)
