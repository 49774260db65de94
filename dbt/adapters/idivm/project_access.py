"""How the console commands find a dbt project and its profile, and connect to its engine."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from dbt_common.context import set_invocation_context
from dbt_common.exceptions import DbtBaseException

from dbt.adapters.idivm.waiting import on_stderr
from dbt_idivm.relation_name import relation_name
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.target_folder import target_path_of_environment

OWN, DATABRICKS = "idivm", "idivm_databricks"  # adapter types
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


def project_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options with which a command finds a dbt project and its profile."""
    for option in (
        click.option("--target", help="The profile's target; default: the profile's own."),
        click.option("--profiles-dir", type=_FOLDER, help="The folder of profiles.yml; default: as for dbt."),
        click.option("--project-dir", type=_FOLDER, default=".", help="The folder of dbt_project.yml; default: this one."),
    ):
        command = option(command)
    return command


def prepare_dbt(project_dir: Path, profiles_dir: Path | None) -> Path:
    """Make dbt's own functions usable outside of a dbt command. Returns the folder of profiles.yml, found as dbt does."""
    from dbt.cli.resolvers import default_profiles_dir
    from dbt.flags import set_from_args

    set_invocation_context(os.environ)  # env_var() in a profile reads it
    folder = profiles_dir or (project_dir if (project_dir / "profiles.yml").exists() else Path(default_profiles_dir()))
    target_path = target_path_of_environment()
    set_from_args(Namespace(PROFILES_DIR=str(folder), PROJECT_DIR=str(project_dir), TARGET_PATH=target_path), None)
    return folder


def credentials_of(project_dir: Path, profiles_dir: Path | None, target: str | None, types: Collection[str] = (OWN,)) -> Any:
    """The credentials that dbt would use. Raises dbt's own errors, and ClickException for a profile of another type."""
    from dbt.config.runtime import load_profile

    prepare_dbt(project_dir, profiles_dir)
    credentials = of_our_type(load_profile(str(project_dir), {}, target_override=target).credentials, types)
    credentials.resolve_paths(project_dir.resolve())
    return credentials


def of_our_type(credentials: Any, types: Collection[str] = (OWN,)) -> Any:
    """The credentials unchanged. Raises ClickException if they belong to another adapter."""
    if credentials.type not in types:
        wanted = " or ".join(f"'{each}'" for each in types)
        raise click.ClickException(f"the profile's type is '{credentials.type}'; it needs to be one of type {wanted}")
    return credentials


def connect(credentials: Any) -> Any:
    """A connection, without creating anything. Raises dbt's and the engine's errors."""
    from dbt.adapters.factory import get_adapter_class_by_name

    with on_stderr():
        return get_adapter_class_by_name(credentials.type).ConnectionManager.opened(credentials)


def open_handle(credentials: Any) -> Any:
    """A connection in the project's schema, which is created if it does not exist. Raises dbt's and the engine's errors."""
    handle = connect(credentials)
    parts = (credentials.database, credentials.schema)
    schema = DELTA.relation_sql(relation_name(*parts[-(credentials.engine.depth - 1) :]))
    execute(handle, f"create schema if not exists {schema}")
    execute(handle, f"use {schema}")
    return handle


def execute(handle: Any, sql: str) -> Any:
    if not hasattr(handle, "cursor"):  # dbt-databricks' handle makes its own cursor
        return handle.execute(sql)
    cursor = handle.cursor()
    cursor.execute(sql)
    return cursor


@contextmanager
def plain_errors() -> Iterator[None]:
    """Show dbt's errors as plain messages instead of tracebacks."""
    try:
        yield
    except DbtBaseException as problem:
        raise click.ClickException(str(getattr(problem, "msg", problem)).strip()) from problem
