"""`idivm up`, `idivm down`, `idivm status`: the Spark that keeps running (see warm.py)."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from dbt.adapters.idivm.credentials import IdivmCredentials, seconds_of
from dbt.adapters.idivm.embedded import starting
from dbt.adapters.idivm.project_access import credentials_of, plain_errors, project_options
from dbt.adapters.idivm.waiting import on_stderr, waiting
from dbt.adapters.idivm.warm import Server, is_used, made_of, start_server, stop_server, time_text

console = Console(highlight=False)


@click.command("up")
@project_options
@click.option("--idle", default="30m", show_default=True, help="Stop it after this time without use: 90s, 30m, 2h.")
def up_command(project_dir: Path, profiles_dir: Path | None, target: str | None, idle: str) -> None:
    """Keep this project's Spark running in the background.

    Each dbt and idivm command of the project then attaches to it, several at once, instead of starting a Spark of its own.
    """
    with plain_errors():
        credentials, seconds = _embedded(project_dir, profiles_dir, target), seconds_of(idle)
        state_dir = credentials.state_folder
        server = Server.in_folder(state_dir)
        if server is not None and server.automatic and server.made_of == made_of(credentials):
            replace(server, idle_seconds=seconds, automatic=False).write(state_dir)
        if server is None:
            began = time.monotonic()
            with on_stderr(), waiting(f"{starting()}, kept for {time_text(seconds)} after its last use"):
                start_server(credentials, seconds)
            console.print(f"Spark has started in {time.monotonic() - began:.0f} s.")
        _show(state_dir, credentials)


@click.command("down")
@project_options
@click.option("--force", is_flag=True, help="Stop it even if a dbt process uses it; that process then fails.")
def down_command(project_dir: Path, profiles_dir: Path | None, target: str | None, force: bool) -> None:
    """Stop the Spark that `idivm up` or another command has started."""
    with plain_errors():
        stopped = stop_server(_embedded(project_dir, profiles_dir, target).state_folder, force)
        console.print("Spark has ended." if stopped else "No Spark is running in the background for this project.")


@click.command("status")
@project_options
def status_command(project_dir: Path, profiles_dir: Path | None, target: str | None) -> None:
    """Whether a Spark is running in the background for this project. Exit status 1 if none is."""
    with plain_errors():
        credentials = _embedded(project_dir, profiles_dir, target)
        if not _show(credentials.state_folder, credentials):
            raise SystemExit(1)


def _show(state_dir: Path, credentials: IdivmCredentials) -> bool:
    server = Server.in_folder(state_dir)
    if server is None:
        console.print("No Spark is running in the background for this project.")
        return False
    use = "in use" if is_used(state_dir) else "idle"
    console.print(
        f"Spark runs in the background: process {server.pid}, port {server.port} of this machine, {use}, for "
        f"{time_text(time.time() - server.started)}. It ends after {time_text(server.idle_seconds)} without use, or by "
        "`idivm down`.",
        soft_wrap=True,
    )
    if server.made_of != made_of(credentials):
        console.print("It was started by another version or with other settings of the profile, so dbt does not attach to it.")
    return True


def _embedded(project_dir: Path, profiles_dir: Path | None, target: str | None) -> IdivmCredentials:
    credentials: IdivmCredentials = credentials_of(project_dir, profiles_dir, target)
    if not credentials.is_embedded:
        raise click.ClickException(f"the profile has `method: {credentials.method}`: that server is not ours to start or stop")
    if credentials.catalog != "hive":
        raise click.ClickException("the profile has `catalog: in-memory`, which ends with its process and cannot be shared")
    return credentials
