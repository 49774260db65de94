"""Models that are rebuilt on every run, with a remedy for each; and what a declared key would save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dbt_idivm.artifacts import Node
from dbt_idivm.declared_keys import relation_names, written_name
from dbt_idivm.definition.found_keys import FOUND, key_names, tests_to_add
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.project import Project, label
from dbt_idivm.relation_name import name_parts
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.settings import own_config
from dbt_idivm.tools.advice.estimates import Estimates
from dbt_idivm.tools.advice.options import Key
from dbt_idivm.tools.advice.variants import below, with_key, with_nodes

_LEAST = 1.0  # seconds per day that a key has to save


@dataclass(frozen=True)
class Blocked:
    """A model that is rebuilt on every run. `where`: the SQL that causes it. `below`: number of models that depend on it."""

    model: str
    code: str
    why: str
    do: str
    where: str
    below: int


@dataclass(frozen=True)
class Keyed:
    """The effect of a key of a table: saved seconds per day, the models that become `cheaper`, and those that become
    `maintained`. `declared`: evidence for the key. `holds`: whether the user vouches for it; otherwise it has to be checked
    first."""

    table: str
    columns: tuple[str, ...]
    declared: str
    saves: float
    cheaper: tuple[str, ...]
    maintained: tuple[str, ...]
    holds: bool = False


def blocked(project: Project) -> tuple[Blocked, ...]:
    """Models with `materialized: idivm` that have no plan or are configured to be rebuilt; those with most dependants first."""
    found = []
    for node in project.nodes_of_models():
        try:
            if str(own_config(node).get("strategy")).lower() == "full":
                raise IdivmError(finding(407))
            project.plan(node)
            continue
        except IdivmError as error:
            first = next((each for each in error.findings if not each.is_refusal), error.findings[0])
            where = first.place.text[first.place.start : first.place.end] if first.place else ""
            code, why, do = first.code, first.title, first.do
        except SchemaFileError as error:
            why, _, do = str(error).partition(": ")
            code, where = "", ""
        found.append(Blocked(label(node), code, why, do, where, len(below(project, node["unique_id"]))))
    return tuple(sorted(found, key=lambda each: (-each.below, each.model)))


def keyed(project: Project, estimates: Estimates, asked: Sequence[Key]) -> tuple[Keyed, ...]:
    """Keys worth declaring, most useful first. `asked`: keys that the user asks about; these are always reported.

    A key that the last run has found in the data is reported with the tests that declare it. Other candidates for a table without
    a key: these that are asked about, columns with a test `unique` but not `not_null`, and columns named like a key.
    """
    found = []
    nodes = {name: node for node in project.keys.nodes.values() for name in relation_names(node)}
    for table in sorted(project.read - set(estimates.made)):
        node = nodes.get(table)
        if node is None:
            continue
        given = [(each.columns, "--key") for each in asked if each.table == table]
        guesses = [] if given or project.keys.declared(node) else [*_halves(project, node), *_named(project, node, table)]
        if not given and not project.keys.declared(node) and (key := project.found_keys.get(table)) is not None:
            declared = f"{FOUND}, and used already: {tests_to_add(key, written_name(node))}"
            found.append(Keyed(table, key, declared, 0.0, (), ()))
            continue
        for columns, declared in [*given, *guesses[:1]]:
            each = _effect(project, estimates, node, Keyed(table, columns, declared, 0.0, (), (), declared == "--key"))
            if each.holds or each.maintained or each.saves >= _LEAST:
                found.append(each)
    return tuple(sorted(found, key=lambda each: (-len(each.maintained), -each.saves)))


def _effect(project: Project, estimates: Estimates, node: Node, key: Keyed) -> Keyed:
    """The effect of a key: models that read the table are planned again with it."""
    varied = with_nodes(project, {node["unique_id"]: with_key(node, key.columns)})
    models = {each.name: each for each in varied.project.planned()}
    names = {label(project.keys.nodes[each]) for each in varied.replanned}
    changed = estimates.changed(models.values(), names)
    new = [name for name in sorted(names & set(models)) if name not in estimates.models]
    refreshes = estimates.setting.refreshes
    saved = {
        name: refreshes * (estimates.of(name).refresh - changed.of(name).refresh)
        for name in sorted(names & set(models))
        if name in estimates.models and _is_known(changed, name)
    }
    saved |= {
        name: refreshes * (each.rebuilt - each.refresh)
        for name in new
        if _is_known(changed, name)
        for each in (changed.of(name),)
    }
    cheaper = tuple(name for name, seconds in saved.items() if seconds > 0.01 * refreshes and name not in new)
    return Keyed(key.table, key.columns, key.declared, sum(saved.values()), cheaper, tuple(new), key.holds)


def _is_known(estimates: Estimates, name: str) -> bool:
    """Whether the sizes of all tables that a model reads are known."""
    return all(
        scan.table in estimates.made or scan.table in estimates.setting.rows for scan in estimates.models[name].plan.base_scans
    )


def _halves(project: Project, node: Node) -> Iterator[tuple[tuple[str, ...], str]]:
    """Columns that are tested to be unique, but not to be NOT NULL, with advice."""
    for columns, source in project.keys.halves(node).items():
        yield columns, f"{source}; add the test not_null"


def _named(project: Project, node: Node, table: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The first column that is named like a key of this table, with advice."""
    columns = {each.lower(): each for each in project.columns_of(node)}
    for name in key_names(name_parts(table)[-1]):
        if name in columns:
            yield (columns[name],), f"the column is named as a key of {written_name(node)} is: check it first"
            return
