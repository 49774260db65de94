"""`idivm adopt`: existing models of a dbt project as maintained ones: what to change, what it brings, and whether rows differ."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import click
from dbt_common.exceptions import DbtBaseException
from rich.console import Console
from sqlglot import exp

from dbt.adapters.idivm.drive import drive
from dbt.adapters.idivm.engine_errors import engine_message, is_engine_exception
from dbt.adapters.idivm.project_access import DATABRICKS, OWN, connect, credentials_of, execute, plain_errors, project_options
from dbt.adapters.idivm.results import columns_and_rows
from dbt.adapters.idivm.shell import show_rows
from dbt_idivm.algebra.block import subquery
from dbt_idivm.artifacts import Node
from dbt_idivm.declared_keys import relation_names
from dbt_idivm.errors import IdivmError, listed
from dbt_idivm.project import label, project_of
from dbt_idivm.refresh.checks.bag_difference import DIFFERENCE, differences
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.engine import Engine
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.script.dialect import DELTA, verbatim
from dbt_idivm.target_folder import target_folder
from dbt_idivm.tools.adopt.adopt import Adoption, adoption
from dbt_idivm.tools.adopt.choose import CannotAdopt, chosen, properties_of, text_of
from dbt_idivm.tools.adopt.outlook import Outlook, outlooks, with_adopted
from dbt_idivm.tools.adopt.show import shown
from dbt_idivm.tools.adopt.template import TemplateError
from dbt_idivm.tools.adopt.write import write as write_file
from dbt_idivm.tools.report.columns import with_columns


@click.command("adopt")
@click.argument("models", nargs=-1, required=True, metavar="MODEL…")
@click.option("--write", is_flag=True, help="Write the new text to the files of the models.")
@click.option("--force", is_flag=True, help="With --write: also replace a text that git does not have.")
@click.option(
    "--compare",
    is_flag=True,
    help="Run the new SELECT, and show the rows in which the model's table differs from it; needs Spark.",
)
@click.option("--limit", type=click.IntRange(1), default=40, show_default=True, help="With --compare: how many rows to show.")
@click.option(
    "--rows", multiple=True, metavar="TABLE=N", help="The number of rows of a table; default: from target/catalog.json."
)
@click.option(
    "--rate", "rates", multiple=True, metavar="TABLE=PART", help="The part of a table's rows that changes, as for `idivm advise`."
)
@click.option("--vars", "variables", help="Like dbt's --vars.")
@project_options
def adopt_command(
    models: tuple[str, ...],
    write: bool,
    force: bool,
    compare: bool,
    limit: int,
    rows: tuple[str, ...],
    rates: tuple[str, ...],
    variables: str | None,
    project_dir: Path,
    profiles_dir: Path | None,
    target: str | None,
) -> None:
    """Show how models of kind incremental, table or view become maintained ones: MODEL is a name or a file.

    It prints the change of each model's file, how the model would be maintained and what a refresh is estimated to cost, and what
    its incremental logic misses. It needs target/manifest.json (`dbt compile`), and dbt compiles the new SELECT, without Spark.
    Nothing is written without --write. Exit status 1 if a model is left as it is, or if --compare finds a difference.
    """
    if force and not write:
        raise click.UsageError("--force belongs to --write")
    options = _dbt_options(project_dir, profiles_dir, target, variables)
    try:
        project = project_of(target_folder(project_dir), found_keys=True)
        nodes = {str(node["unique_id"]): node for node in chosen(project.manifest, models)}
        found = {key: _adoption(node, project.manifest, project_dir) for key, node in nodes.items()}
        compiled = {key: _compiled(each, nodes[key], options) for key, each in found.items() if each.is_complete}
        sql = {key: text for key, (text, _) in compiled.items() if text is not None}
        adopted = with_adopted(project, found, sql)
        handle = None
        if compare:
            handle, engine = _connected(project_dir, profiles_dir, target)
            adopted = drive(handle, with_columns(Client(engine), adopted))
        known = outlooks(adopted, sql, rows, rates)
    except (SchemaFileError, CannotAdopt, IdivmError) as error:
        raise click.ClickException(str(error)) from error
    for key, each in found.items():
        click.echo(shown(each, known.get(key), compiled.get(key, (None, ""))[1]))
    is_fine = all(each.is_complete for each in found.values())
    if write:
        is_fine = all([_written(each, project_dir, force) for each in found.values()]) and is_fine
    for key, text in sql.items() if handle is not None else ():
        is_fine = _compared(found[key].model, nodes[key], text, known[key], handle, limit) and is_fine
    if not is_fine:
        raise SystemExit(1)


def _dbt_options(project_dir: Path, profiles_dir: Path | None, target: str | None, variables: str | None) -> list[str]:
    given = (("--project-dir", project_dir), ("--profiles-dir", profiles_dir), ("--target", target), ("--vars", variables))
    return [part for option, value in given if value for part in (option, str(value))]


def _adoption(node: Node, manifest: Node, folder: Path) -> Adoption:
    text = text_of(node, folder)
    try:
        return adoption(node, label(node), text, manifest, properties_of(node, folder))
    except TemplateError as error:
        raise CannotAdopt(f"{node.get('original_file_path')}: {error}") from error


def _compiled(found: Adoption, node: Node, options: list[str]) -> tuple[str | None, str]:
    """The compiled SELECT of the new text, or None and why there is none. dbt compiles it without a connection: macros that query
    something get no rows."""
    if found.is_same_select and node.get("compiled_code"):
        return str(node["compiled_code"]), ""
    from dbt.cli.main import dbtRunner

    said = StringIO()
    quiet = ["--log-level", "error", "--no-use-colors"]
    without_engine = ["--no-introspect", "--no-populate-cache", "--no-write-json"]
    with redirect_stdout(said):
        outcome = dbtRunner().invoke([*quiet, "compile", "--inline", found.after, *without_engine, *options])
    results = getattr(outcome.result, "results", None) or ()
    code = next((each.node.compiled_code for each in results if each.node.compiled_code), None)
    if outcome.success and code:
        return str(code), ""
    lines = [line.strip() for line in (said.getvalue() or str(outcome.exception or "")).splitlines() if line.strip()]
    return None, f"dbt does not compile the new text: {' '.join(lines)[:400] or 'it has no SELECT'}"


def _written(found: Adoption, folder: Path, is_forced: bool) -> bool:
    """Write one file, and say so."""
    try:
        path = write_file(found, folder, is_forced)
    except CannotAdopt as error:
        click.echo(str(error), err=True)
        return False
    click.echo(f"{path} is written. The next run of {found.model} rebuilds its table, and the runs after that maintain it.")
    return True


def _connected(project_dir: Path, profiles_dir: Path | None, target: str | None) -> tuple[Any, Engine]:
    """A connection, and the engine's description. Raises ClickException if there is none."""
    with _engine_errors("there is nothing to compare with"), plain_errors():
        credentials = credentials_of(project_dir, profiles_dir, target, (OWN, DATABRICKS))
        return connect(credentials), credentials.engine


@contextmanager
def _engine_errors(said: str) -> Iterator[None]:
    """Show the engine's errors as plain messages."""
    try:
        yield
    except click.ClickException:
        raise
    except Exception as problem:
        if not isinstance(problem, DbtBaseException) and not is_engine_exception(problem):
            raise
        raise click.ClickException(f"{said}: {engine_message(problem)}") from problem


def _compared(model: str, node: Node, sql: str, outlook: Outlook, handle: Any, limit: int) -> bool:
    """Show the rows in which the model's table differs from the new SELECT; whether there are none."""
    table, adopted = DELTA.table(next(relation_names(node)), None), subquery(verbatim(sql), "adopted")
    left = {name.lower() for name in outlook.times}
    with _engine_errors(f"{model} is not compared"):
        theirs, ours = _columns(handle, table), _columns(handle, adopted)
        columns = [name for name in theirs if name.lower() in {each.lower() for each in ours} - left]
        names, rows = columns_and_rows(execute(handle, DELTA.sql(differences(table, adopted, columns))), limit + 1)
    for what, more in (("the table", set(theirs) - set(ours)), ("the SELECT", set(ours) - set(theirs))):
        if more:
            click.echo(f"Only {what} has {listed(sorted(more))}.")
    if left:
        click.echo(f"Not compared, because it is the time at which a row was written: {listed(sorted(left))}.")
    if not rows:
        click.echo(f"{model}: the table has the rows of the new SELECT.")
        return True
    click.echo(f"{model}: rows that differ. {DIFFERENCE}: how many more of them the table has than the SELECT.")
    show_rows(Console(highlight=False), names, rows[:limit], len(rows) > limit)
    return False


def _columns(handle: Any, source: exp.Expr) -> tuple[str, ...]:
    """The columns of a FROM item."""
    query = exp.Select(expressions=[exp.Star()]).from_(source).limit(0)
    return columns_and_rows(execute(handle, DELTA.sql(query)))[0]
