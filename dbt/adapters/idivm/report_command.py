"""`idivm report`: one HTML page about a project, from dbt's artifacts and the histories of the models' tables."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import click
from dbt_common.exceptions import DbtBaseException

from dbt.adapters.idivm.drive import drive
from dbt.adapters.idivm.engine_errors import engine_message, is_engine_exception
from dbt.adapters.idivm.project_access import connect, credentials_of, plain_errors, project_options
from dbt_idivm.errors import IdivmError
from dbt_idivm.project import project_of
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.target_folder import target_folder
from dbt_idivm.tools.report.columns import with_columns
from dbt_idivm.tools.report.facts import Model, Report, Size
from dbt_idivm.tools.report.of_project import report_of
from dbt_idivm.tools.report.page import page
from dbt_idivm.tools.report.stored import COMMITS, stored

UTC = "UTC"
PAGE = Path("idivm", "report.html")  # in dbt's target folder


@click.command("report")
@project_options
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help=f"The file; default: {PAGE} in dbt's target folder."
)
@click.option("--offline", is_flag=True, help="Do not connect; the report then has no sizes and histories.")
@click.option(
    "--commits",
    type=click.IntRange(1),
    default=COMMITS,
    show_default=True,
    help="How many commits of each table's history to show.",
)
def report_command(
    project_dir: Path, profiles_dir: Path | None, target: str | None, output: Path | None, offline: bool, commits: int
) -> None:
    """Write a page that shows how the models of a project are maintained, what is rebuilt and why, and what refreshes did.

    It needs target/manifest.json (`dbt compile`). Sizes and histories are asked from the engine; nothing is written to it, and no
    data are read. The page is one file, which loads nothing: it can be sent to somebody, or kept by CI.
    """
    folder = target_folder(project_dir)
    made = dt.datetime.now(dt.UTC)
    handle, zone, why = (None, UTC, "--offline is given") if offline else _connected(project_dir, profiles_dir, target)
    try:
        project = project_of(folder)
        if handle is not None:
            project = drive(handle, with_columns(Client(), project))
        found = report_of(project, folder / "run_results.json", zone)
    except (SchemaFileError, IdivmError) as error:
        raise click.ClickException(str(error)) from error
    if handle is not None:
        found = _with_stored(found, handle, zone, commits)
    text = page(replace(found, offline=why, made=made.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M"), zone=zone))
    _write(output or folder / PAGE, text)
    _say(found, why, output or folder / PAGE)


def _connected(project_dir: Path, profiles_dir: Path | None, target: str | None) -> tuple[Any, str, str]:
    """(connection, its time zone, "") or (None, time zone, why there is none). Raises ClickException for a wrong profile."""
    with plain_errors():
        credentials = credentials_of(project_dir, profiles_dir, target)
    try:
        return connect(credentials), credentials.time_zone, ""
    except Exception as problem:
        if not isinstance(problem, DbtBaseException) and not is_engine_exception(problem):
            raise
        return None, credentials.time_zone, (engine_message(problem).strip().splitlines() or ["the engine cannot be reached"])[0]


def _with_stored(report: Report, handle: Any, zone: str, commits: int) -> Report:
    """The report with the engine's facts about the models' tables."""
    sizes: dict[str, Size] = {}
    models = tuple(_stored(each, handle, zone, commits, sizes) for each in report.models)
    return replace(report, models=models, sizes=sizes)


def _stored(model: Model, handle: Any, zone: str, commits: int, sizes: dict[str, Size]) -> Model:
    """One model with the facts about its table. Sizes of other tables that its refreshes recorded are added to `sizes`."""
    try:
        found = drive(handle, stored(Client(), model.relation, zone, commits))
    except EngineFailure as failure:
        return replace(model, unread=f"Its table cannot be looked at: {failure.first_line}")
    if found is None:
        return replace(model, unread="It has no Delta table yet, or no longer: the next run builds it.")
    table, known = found
    sizes |= {name: size for name, size in known.items() if name not in sizes}
    return replace(model, stored=table)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"the page cannot be written to {path}: {error.strerror}") from error


def _say(found: Report, why: str, path: Path) -> None:
    if why:
        click.echo(f"Without a connection, so without sizes and histories: {why}", err=True)
    counts: Mapping[str, int] = {
        "maintained incrementally": len(found.incremental),
        "rebuilt on every run": len(found.rebuilt),
        "not known": len(found.unknown),
    }
    parts = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
    click.echo(f"{path} is written" + (f": {parts}." if parts else ": no model of the project has `materialized: idivm`."))
