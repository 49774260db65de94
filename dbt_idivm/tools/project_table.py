"""Output of `idivm explain --project`: a table of all models, or a flowchart, and the file with the drawing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dbt_idivm.project import Explained, Project, project_of
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.target_folder import target_folder
from dbt_idivm.tools.flowchart.mermaid import mermaid
from dbt_idivm.tools.flowchart.of_project import graph_of
from dbt_idivm.tools.flowchart.svg import svg

_SHOWN = 5  # columns of unknown types


def explain_project(folder: Path, fail_on: str | None, as_flowchart: bool, drawing: Path | None) -> None:
    """Print the table, or a flowchart, and write the drawing.

    Exits with status 1 if there is a model that cannot be explained, or that fails for `fail_on`.
    """
    try:
        project = project_of(target_folder(folder), found_keys=True)
        found = tuple(project.explained())
    except SchemaFileError as error:
        raise click.ClickException(str(error)) from error
    if drawing is not None:
        _draw(project, drawing)
    if as_flowchart:
        click.echo(mermaid(graph_of(project)))
    else:
        _show(found, project.untyped)
        for each in project.notes:
            click.echo(f"{each.summary}; {each.why}.")
    if any(each.problem or each.fails(fail_on) for each in found):
        raise SystemExit(1)


def _draw(project: Project, path: Path) -> None:
    try:
        path.write_text(svg(graph_of(project)), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"the drawing cannot be written to {path}: {error.strerror}") from error


def _show(found: Sequence[Explained], untyped: Sequence[str]) -> None:
    console = Console(highlight=False)
    if not found:
        console.print("No model of the project has `materialized: idivm`.")
        return
    table = Table("model", "maintained", "why not", show_edge=False)
    for each in found:
        unmaintained = "not known" if each.problem else "the run fails" if each.is_error else "rebuilt on each run"
        table.add_row(escape(each.model), each.how or unmaintained, escape(each.why))
    console.print(table)
    incremental = len([each for each in found if each.how])
    console.print(f"{incremental} of {len(found)} models are maintained incrementally ({incremental / len(found):.0%})")
    if untyped:
        more = f" and {len(untyped) - _SHOWN} more" if len(untyped) > _SHOWN else ""
        console.print(
            f"The types of {escape(', '.join(untyped[:_SHOWN]))}{more} are not known, which may change how models that read them "
            "are maintained: `dbt docs generate` writes the types to the catalog, and a run of these models what it sees of them."
        )
