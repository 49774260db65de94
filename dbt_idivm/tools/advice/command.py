"""The command `idivm advise`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from dbt_idivm.declared_keys import relation_names
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.project import Project, label, project_of, uncompiled
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.target_folder import target_folder
from dbt_idivm.tools.advice.advise import Advice, Subject, advise
from dbt_idivm.tools.advice.known import Given, estimate_options, known
from dbt_idivm.tools.advice.measured import Last, last_runs
from dbt_idivm.tools.advice.options import check_keys, contradicted, read_keys, read_reads, sizes_of
from dbt_idivm.tools.advice.patch import DEFAULT, Patch, patch, told
from dbt_idivm.tools.advice.patch import write as write_patch
from dbt_idivm.tools.advice.setting import Setting, of_table
from dbt_idivm.tools.advice.show import as_json, show

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@dataclass(frozen=True)
class Options(Given):
    """The options of the command, as given."""

    reads: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    space: float | None = None
    stale: float = 0.0


@click.command("advise")
@click.option("--project", type=_FOLDER, default=".", show_default=True, help="The folder of the dbt project.")
@estimate_options
@click.option(
    "--reads",
    multiple=True,
    metavar="MODEL=N/day",
    help="How often a model is read per day, not counting other models; default: 24 if no model reads it, else 0.",
)
@click.option("--key", "keys", multiple=True, metavar="TABLE=COLUMN,…", help="Estimate what this key of a table would save.")
@click.option(
    "--stale",
    type=click.FloatRange(min=0),
    default=0,
    show_default=True,
    help="How many hours a model may be behind; the advice then says whether to let changes gather.",
)
@click.option("--space", type=click.FloatRange(min=0), help="Megabytes that may be stored besides the models; default: no limit.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
@click.option(
    "--write",
    type=click.Path(path_type=Path),
    is_flag=False,
    flag_value=DEFAULT,
    metavar="[FILE]",
    help=f"Write the advice as properties of models to a file of the project, by default {DEFAULT}; - prints them.",
)
def advise_command(project: Path, is_json: bool, write: Path | None, **given: Any) -> None:
    """Print how the models of a dbt project are best stored and maintained at these rates, and what else would pay.

    It needs target/manifest.json (`dbt compile`). These files are used if they exist: target/catalog.json for types and sizes
    (`dbt docs generate`), .idivm/costs.json for prices, and target/run_results.json for durations.
    """
    try:
        found = compiled(target_folder(project))
        advice = advised(found, project, Options(**given))
        if write is not None:
            _write(patch(advice, found, write, project), write, project)
        elif is_json:
            click.echo(as_json(advice))
        else:
            show(advice)
    except IdivmError as error:
        raise click.ClickException(str(error)) from error


def _write(found: Patch, path: Path, project: Path) -> None:
    if str(path) == "-":
        click.echo(found.text, nl=False)
    elif found.text:
        write_patch(found, project / path)
        click.echo(f"{project / path} is written.")
    for text in told(found):
        click.echo(f"{text}", err=str(path) == "-")
    if not found.text and not found.elsewhere:
        click.echo("There is nothing to write: the models are configured as advised.", err=str(path) == "-")


def advised(project: Project, folder: Path, given: Options) -> Advice:
    """The advice on the project in `folder`. Raises IDIVM-115, IDIVM-116."""
    found = known([project], folder, given)
    (about,) = found.about
    runs, problems = last_runs(target_folder(folder) / "run_results.json")
    keys = read_keys(given.keys, sorted(about.read))
    check_keys(project, keys)
    setting = Setting(
        sizes_of(found.tables, {**_built(project, runs), **found.sizes}, found.lies),
        found.rates,
        refreshes=given.refreshes,
        experience=found.learned.experience,
        reads=read_reads(given.reads, sorted(set(_names(about)))),
        stale=given.stale,
        space=None if given.space is None else given.space * 1e6,
    )
    notes = (*project.notes, *found.lies, *found.learned.notes, *problems, *contradicted(setting.rows, runs.values()))
    stored = _stored(about, found.sizes, runs)
    return advise(about, replace(setting, stored=stored), keys, runs, notes, found.learned.engine)


def _built(project: Project, runs: Mapping[str, Last]) -> dict[str, float]:
    """Relation → rows of what the last run built: a model that is rebuilt on each run is a base table for those above it."""
    return {
        name.lower(): run.rows
        for unique_id, run in runs.items()
        if run.rows is not None and unique_id in project.keys.nodes
        for name in relation_names(project.keys.nodes[unique_id])
    }


def _stored(about: Subject, sizes: Mapping[str, float], runs: Mapping[str, Last]) -> Mapping[str, float]:
    """Relation of a model → its number of rows, according to the catalog, an option, or its last build."""
    found: dict[str, float] = {}
    for each in about.maintained.planned():
        built = runs[each.unique_id].rows if each.unique_id in runs else None
        rows = next((count for table in each.tables if (count := of_table(sizes, table)) is not None), built)
        if rows is not None:
            found.update(dict.fromkeys(each.tables, rows))
    return found


def compiled(target: Path) -> Project:
    """The project with the artifacts in a folder. Raises IDIVM-114 if there are none, or a model is not compiled."""
    try:
        project = project_of(target, found_keys=True)
    except SchemaFileError as error:
        raise IdivmError(finding(114, problem=error)) from error
    if missing := uncompiled(project):
        raise IdivmError(finding(114, problem=f"{len(missing)} of its models are not compiled, such as `{missing[0]}`"))
    return project


def _names(about: Subject) -> Sequence[str]:
    return [label(node) for node in about.user.keys.nodes.values() if node.get("resource_type") == "model"]
