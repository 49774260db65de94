"""`idivm run` and `idivm test`: refresh the maintained models of a project from its compiled manifest, and prove them.

For projects that are parsed and compiled by another dbt than the one that is installed here, which may not load this adapter, and
for schedulers that have a manifest only. dbt itself does the work (compiled_manifest.py).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from dbt_common.exceptions import DbtBaseException

from dbt.adapters.idivm.project_access import plain_errors, prepare_dbt, project_options

_FILE = click.Path(dir_okay=False, path_type=Path)


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--quiet", "-q", is_flag=True, help="As for dbt."),
        click.option("--threads", type=click.IntRange(1), help="Refresh so many models at once; default: the profile's."),
        click.option("--exclude", multiple=True, help="Models to leave out."),
        click.option("--select", "-s", multiple=True, help="The models, in dbt's selection syntax; default: all."),
        click.option("--manifest", type=_FILE, help="The compiled manifest; default: target/manifest.json of the project."),
    ):
        command = option(command)
    return project_options(command)


@click.command("run")
@_options
@click.option("--full-refresh", is_flag=True, help="Rebuild them.")
def run_command(select: tuple[str, ...], full_refresh: bool, **options: Any) -> None:
    """Refresh the maintained models of a project from its compiled manifest, whichever dbt has made it.

    Models with another materialization, hooks of the whole run, seeds and snapshots are left to that dbt. The profile has to be
    of type idivm. What was done is in target/run_results.json, as after `dbt run`.
    """
    _invoke(["run", *_selection("config.materialized:idivm", select), *(["--full-refresh"] if full_refresh else [])], **options)


@click.command("test")
@_options
def test_command(select: tuple[str, ...], **options: Any) -> None:
    """Compare each maintained model with its query, at the versions of its inputs that its last refresh has read.

    It is the test `idivm_equivalent`, for all models of the compiled manifest, whether they declare it or not.
    """
    _invoke(["test", *_selection("tag:idivm_proof", select), "--indirect-selection", "eager"], **options)


def _selection(of_ours: str, select: tuple[str, ...]) -> list[str]:
    """Those of the selected nodes that are ours: in dbt's syntax a comma is an intersection."""
    parts = [f"{part},{of_ours}" for text in select for part in text.split()] or [of_ours]
    return [word for part in parts for word in ("--select", part)]


def _invoke(arguments: list[str], manifest: Path | None, exclude: tuple[str, ...], threads: int | None, quiet: bool,
            project_dir: Path, profiles_dir: Path | None, target: str | None) -> None:
    """Run dbt on the manifest. Exit status 1 if a model fails, or if nothing could be run."""
    from dbt.cli.main import dbtRunner

    from dbt.adapters.idivm.compiled_manifest import read_manifest, runtime_config, to_be_run

    project = project_dir.resolve()
    profiles = prepare_dbt(project, profiles_dir).resolve()
    with plain_errors():
        config = runtime_config(project, profiles, target)
        path = manifest or Path(config.project_target_path, "manifest.json")
        found = to_be_run(read_manifest(path), config)
    common = ["--project-dir", str(project), "--profiles-dir", str(profiles)]
    for option, value in (("--target", target), ("--threads", threads), *(("--exclude", each) for each in exclude)):
        common += [option, str(value)] if value else []
    with _kept(Path(config.project_target_path, "manifest.json")):
        outcome = dbtRunner(manifest=found).invoke([*(["--quiet"] if quiet else []), *arguments, *common])
    if isinstance(outcome.exception, DbtBaseException):
        raise click.ClickException(str(outcome.exception))
    if outcome.exception is not None:
        raise outcome.exception
    sys.exit(0 if outcome.success else 1)


@contextmanager
def _kept(path: Path) -> Iterator[None]:
    """The file stays what it is: dbt writes the manifest of a run."""
    before = path.read_bytes() if path.exists() else None
    try:
        yield
    finally:
        if before is not None:
            path.write_bytes(before)
        else:
            path.unlink(missing_ok=True)
