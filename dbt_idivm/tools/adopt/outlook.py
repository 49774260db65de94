"""How adopted models would be maintained, and what a refresh is estimated to cost: the plans of `idivm explain`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from dbt_idivm.artifacts import Node
from dbt_idivm.declared_keys import relation_names
from dbt_idivm.errors import IdivmError, listed
from dbt_idivm.project import Explained, Model, Project, label
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.tools.adopt.adopt import Adoption
from dbt_idivm.tools.adopt.config_call import IDIVM, MATERIALIZED
from dbt_idivm.tools.advice.estimates import Estimates, Upkeep, base_tables
from dbt_idivm.tools.advice.options import read_rates, read_rows, statistics
from dbt_idivm.tools.advice.setting import Setting, of_table
from dbt_idivm.tools.advice.show import seconds
from dbt_idivm.tools.dag.costs import Rate

_PART = 0.001  # of a table's rows


@dataclass(frozen=True)
class Outlook:
    """`found`: how changes reach the model, or why they do not. `costs`: estimates as sentences; none if `unsized` names tables
    of unknown size. `times`: columns with the time at which a row was written."""

    found: Explained
    costs: tuple[str, ...] = ()
    unsized: tuple[str, ...] = ()
    times: tuple[str, ...] = ()


def with_adopted(project: Project, adoptions: Mapping[str, Adoption], compiled: Mapping[str, str]) -> Project:
    """The project with these models maintained. `compiled`: unique ID → compiled SELECT, of the models for which it is known."""
    nodes = project.manifest.get("nodes", {})
    changed = {key: _adopted(nodes[key], adoptions[key], sql) for key, sql in compiled.items()}
    return replace(project, manifest={**project.manifest, "nodes": {**nodes, **changed}}, definitions={}, columns={}, counts={})


def outlooks(project: Project, models: Iterable[str], rows: tuple[str, ...], rates: tuple[str, ...]) -> dict[str, Outlook]:
    """Unique ID → how the model is maintained. `rows`: `TABLE=N`, `rates`: `TABLE=PART`, as `idivm advise` takes them. Raises
    IDIVM-115 for an invalid one."""
    nodes = {unique_id: project.keys.nodes[unique_id] for unique_id in models}
    planned = {unique_id: model for unique_id, node in nodes.items() if (model := _planned(project, node)) is not None}
    sizes = statistics(project)[0] | read_rows(rows)
    changes = read_rates(rates, base_tables(planned.values()), Setting({}).refreshes)
    return {unique_id: _outlook(project, node, planned.get(unique_id), sizes, changes) for unique_id, node in nodes.items()}


def _adopted(node: Node, found: Adoption, sql: str) -> Node:
    """The node as dbt would write it for the new text."""
    gone = {each.name for each in found.settings if each.becomes == "removed"}
    config = {name: value for name, value in node["config"].items() if name not in gone}
    return {**node, "raw_code": found.after, "compiled_code": sql, "config": {**config, MATERIALIZED: IDIVM}}


def _planned(project: Project, node: Node) -> Model | None:
    with suppress(IdivmError, SchemaFileError):
        return Model(label(node), str(node["unique_id"]), tuple(relation_names(node)), project.plan(node))
    return None


def _outlook(
    project: Project, node: Node, model: Model | None, sizes: Mapping[str, float], changes: Mapping[str, Rate]
) -> Outlook:
    found = project.explanation(node)
    if model is None:
        return Outlook(found)
    known = {table: of_table(sizes, table) for table in base_tables([model])}
    unsized = tuple(table for table, count in known.items() if count is None)
    rows = {table: count for table, count in known.items() if count is not None}
    costs = () if unsized else tuple(_costs(model, rows, changes))
    return Outlook(found, costs, unsized, tuple(each.name for each in model.plan.times))


def _costs(model: Model, rows: Mapping[str, float], changes: Mapping[str, Rate]) -> Iterator[str]:
    """Estimates of a refresh at the given rates; without any, for a small part of each table."""
    if changes:
        found = _upkeep(model, rows, changes)
        yield f"estimated on a small machine: a refresh takes {seconds(found.incremental)}, a rebuild {seconds(found.rebuilt)}"
        return
    for table in rows:
        inserted = _upkeep(model, rows, {table: Rate(inserted=_PART)})
        updated = _upkeep(model, rows, {table: Rate(updated=_PART)})
        yield (
            f"estimated on a small machine, if {_PART:.1%} of `{table}` changes: {seconds(inserted.incremental)} for inserted "
            f"rows, {seconds(updated.incremental)} for updated ones, {seconds(inserted.rebuilt)} for a rebuild"
        )


def _upkeep(model: Model, rows: Mapping[str, float], changes: Mapping[str, Rate]) -> Upkeep:
    return Estimates([model], Setting(rows, changes)).of(model.name)


def sentences(found: Outlook) -> list[str]:
    """The outlook in words."""
    why = found.found.why
    if found.found.problem:
        return [f"not known: {why}"]
    if found.found.refusal is not None:
        refusal = found.found.refusal
        how = "the run fails" if found.found.is_error else "rebuilt on each run"
        return [f"{how}, because of {refusal.code}: {why}", f"do: {refusal.do}"]
    said = [str(found.found.how)]
    if found.times:
        said.append(f"{listed(found.times)}: the time at which a refresh wrote the row")
    if found.unsized:
        said.append(f"no estimate: the number of rows of {listed(found.unsized)} is not known; give --rows TABLE=N for each")
    return [*said, *found.costs]
