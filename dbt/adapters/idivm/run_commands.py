"""`idivm run` and `idivm test`: refresh the maintained models of a project from its compiled manifest, and verify them.

They are for schedulers that only have a manifest, and for projects that another dbt parses and compiles, which cannot load this
adapter. The dbt that is installed here does the work (compiled_manifest.py).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from dbt.artifacts.schemas.run import RunExecutionResult
from dbt.cli.options import MultiOption

from dbt.adapters.idivm.project_access import plain_errors, prepare_dbt, project_options

_FILE = click.Path(dir_okay=False, path_type=Path)


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--quiet", "-q", is_flag=True, help="Like dbt's --quiet."),
        click.option("--threads", type=click.IntRange(1), help="How many models to refresh at once; default: from the profile."),
        click.option(
            "--vars", "variables", default="{}", help="Like dbt's --vars; they apply to hooks of models and to dbt_project.yml."
        ),
        click.option("--selector", help="A selector of selectors.yml, as stored in the manifest, instead of --select."),
        click.option("--exclude", cls=MultiOption, multiple=True, type=tuple, help="Models to leave out."),
        click.option(
            "--select",
            "-s",
            cls=MultiOption,
            multiple=True,
            type=tuple,
            help="The models, in dbt's selection syntax; default: all.",
        ),
        click.option("--manifest", type=_FILE, help="The compiled manifest; default: target/manifest.json of the project."),
    ):
        command = option(command)
    return project_options(command)


@click.command("run")
@_options
@click.option("--full-refresh", is_flag=True, help="Rebuild the models.")
def run_command(full_refresh: bool, **options: Any) -> None:
    """Refresh the maintained models of a project from its compiled manifest, whichever dbt has made it.

    Models with another materialization, hooks of the whole run, seeds and snapshots are left to that dbt. The profile has to be
    of type idivm. What was done is in target/run_results.json, as after `dbt run`.
    """
    _invoke(["run", *(["--full-refresh"] if full_refresh else [])], "config.materialized:idivm", **options)


@click.command("test")
@_options
def test_command(**options: Any) -> None:
    """Compare each maintained model with its query, at the versions of its inputs that its last refresh has read.

    It is the test `idivm_equivalent`, for all models of the compiled manifest, whether they declare it or not.
    """
    _invoke(["test", "--indirect-selection", "eager"], "tag:idivm_proof", **options)


def _selection(of_ours: str, select: tuple[str, ...]) -> list[str]:
    """dbt's arguments for those of the selected nodes that are ours. In dbt's syntax a comma is an intersection."""
    parts = [f"{part},{of_ours}" for part in select if part] or [of_ours]
    if select and not any(select):
        raise click.UsageError("--select is empty, which would select all models")
    return [word for part in parts for word in ("--select", part)]


def _invoke(
    arguments: list[str],
    of_ours: str,
    manifest: Path | None,
    select: tuple[str, ...],
    exclude: tuple[str, ...],
    selector: str | None,
    threads: int | None,
    quiet: bool,
    variables: str,
    project_dir: Path,
    profiles_dir: Path | None,
    target: str | None,
) -> None:
    """Run dbt on the manifest. `of_ours`: what may be selected. Exit status: 1 if a model fails, 2 if nothing could be run.

    Only the results are written, because dbt would write the run's manifest in place of the given one.
    """
    from dbt.cli.main import dbtRunner

    from dbt.adapters.idivm.compiled_manifest import read_manifest, runtime_config, to_be_run
    from dbt.adapters.idivm.named_selectors import SELECTED, mark

    if selector is not None and (select or exclude):
        raise click.UsageError(
            "--selector cannot be used together with --select or --exclude: a selector says all of it; write "
            "what it leaves out into selectors.yml"
        )
    selection = _selection(of_ours, (f"tag:{SELECTED}",) if selector is not None else select)
    project = project_dir.resolve()
    profiles = prepare_dbt(project, profiles_dir).resolve()
    with _status_2(), plain_errors():
        config = runtime_config(project, profiles, target, variables)
        results = Path(config.project_target_path, "run_results.json")
        found = to_be_run(read_manifest(manifest or results.with_name("manifest.json")), config)
        if selector is not None:
            mark(found, config, selector)
        common = ["--no-write-json", "--project-dir", str(project), "--profiles-dir", str(profiles), "--vars", variables]
        for option, value in (("--target", target), ("--threads", threads), *(("--exclude", each) for each in exclude)):
            common += [option, str(value)] if value else []
        outcome = dbtRunner(manifest=found).invoke([*(["--quiet"] if quiet else []), *arguments, *selection, *common])
        if outcome.exception is not None:
            raise outcome.exception
    if isinstance(outcome.result, RunExecutionResult):
        outcome.result.write(str(results))
    sys.exit(0 if outcome.success else 1)


class _NothingRun(click.ClickException):
    """An error before any model has run: the command exits with status 2, as in dbt."""

    exit_code = 2


@contextmanager
def _status_2() -> Iterator[None]:
    try:
        yield
    except click.UsageError:
        raise
    except click.ClickException as problem:
        raise _NothingRun(problem.format_message()) from problem
