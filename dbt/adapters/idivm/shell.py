"""`idivm sql`: run statements in the catalog of the project's models, embedded or on a server, and show the results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from dbt_common.exceptions import DbtBaseException
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sqlglot.errors import TokenError

from dbt.adapters.idivm.engine_errors import engine_message, is_engine_exception
from dbt.adapters.idivm.project_access import credentials_of, execute, open_handle, project_options
from dbt.adapters.idivm.results import columns_and_rows
from dbt_idivm.frontend.text import statements

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("sql")
@click.argument("text", required=False)
@click.option("--file", "-f", "file", type=_FILE, help="Run the statements of a file, separated by semicolons.")
@click.option("--limit", type=click.IntRange(1), default=40, show_default=True, help="How many rows of a result to show.")
@project_options
def sql_command(
    text: str | None, file: Path | None, limit: int, project_dir: Path, profiles_dir: Path | None, target: str | None
) -> None:
    """Run TEXT, one or more SQL statements, in the catalog of a dbt project, under the project's schema.

    Show the rows of models, or create sources for them: idivm sql "create table orders (id int) using delta".
    """
    if (text is None) == (file is None):
        raise click.UsageError("give the statements as text, or a --file with them")
    found = _statements(file.read_text(encoding="utf-8") if file else text or "")
    if not found:
        raise click.UsageError("there is no statement to run")
    console = Console(highlight=False)
    try:
        handle = open_handle(credentials_of(project_dir, profiles_dir, target))
        for statement in found:
            show_rows(console, *_run(handle, statement, limit))
    except Exception as problem:
        if not isinstance(problem, DbtBaseException) and not is_engine_exception(problem):
            raise
        raise click.ClickException(engine_message(problem)) from problem


def _statements(text: str) -> list[str]:
    try:
        return list(statements(text))
    except TokenError as error:
        raise click.UsageError(str(error).splitlines()[0]) from error


def _run(handle: Any, sql: str, limit: int) -> tuple[tuple[str, ...], list[tuple[Any, ...]], bool]:
    """(columns, at most `limit` rows, whether there are more)."""
    columns, rows = columns_and_rows(execute(handle, sql), limit + 1)
    return columns, rows[:limit], len(rows) > limit


def show_rows(console: Console, columns: tuple[str, ...], rows: list[tuple[Any, ...]], more: bool) -> None:
    """Print the rows of a result as a table. `more`: whether the result has others."""
    if not columns:
        console.print("done")
        return
    table = Table(*map(escape, columns), show_edge=False)
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    console.print(table)
    count = f"first {len(rows)} rows; --limit shows more" if more else f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    console.print(count, style="dim")


def _cell(value: object) -> str:
    return "NULL" if value is None else escape(str(value))
