"""`idivm plan` and its operation `idivm_plan`: what the next refresh of each model would do, as a table or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from dbt.artifacts.schemas.run import RunExecutionResult
from dbt.cli.options import MultiOption
from dbt_common.exceptions import DbtBaseException, DbtRuntimeError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dbt_idivm.refresh.protocol import Forecast, InputChange

RESULTS = "run_results.json"
_DIFFERENT = "state:modified+"
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@dataclass(frozen=True)
class Foreseen:
    """A model, and its forecast or the error that its refresh would raise."""

    model: str
    forecast: Forecast | None
    error: str | None


@click.command("plan")
@click.option(
    "--select", "-s", cls=MultiOption, multiple=True, type=tuple, help="The models, in dbt's selection syntax; default: all."
)
@click.option("--exclude", cls=MultiOption, multiple=True, type=tuple, help="Models to leave out.")
@click.option(
    "--state",
    type=_FOLDER,
    help="A folder with the manifest.json to compare with, like dbt's --state. Without --select, only models that differ "
    "from it and the models that read them are planned.",
)
@click.option("--full-refresh", is_flag=True, help="Plan for `dbt run --full-refresh`.")
@click.option("--sql", is_flag=True, help="Print the MERGE of each model, too.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
@click.option("--vars", "variables", help="Like dbt's --vars.")
@click.option("--project-dir", type=_FOLDER, help="The folder of dbt_project.yml; default: this one.")
@click.option("--profiles-dir", type=_FOLDER, help="The folder of profiles.yml; default: as for dbt.")
@click.option("--target", help="The profile's target; default: the profile's own.")
def plan_command(
    select: tuple[str, ...],
    exclude: tuple[str, ...],
    state: Path | None,
    full_refresh: bool,
    sql: bool,
    is_json: bool,
    variables: str | None,
    project_dir: Path | None,
    profiles_dir: Path | None,
    target: str | None,
) -> None:
    """Show what the next refresh of each idivm model would do, why, what it is estimated to take, and how much has changed.
    Nothing is written to the engine, and no artifacts of dbt.

    Inputs are read in their current state: changes of an upstream model are shown only after that model has run. Edits are those
    since the last run, whatever --state has.
    """
    common = [
        part
        for option, value in (
            ("--vars", variables),
            ("--project-dir", project_dir),
            ("--target", target),
            ("--profiles-dir", profiles_dir),
        )
        if value
        for part in (option, str(value))
    ]
    compared = _compared_with(state, project_dir or Path()) if state is not None else []
    select = select or ((_DIFFERENT,) if compared else ())
    chosen = [
        part for option, values in (("--select", select), ("--exclude", exclude)) for value in values for part in (option, value)
    ]
    # otherwise dbt replaces a manifest with the SQL of all models by one with the SQL of the selected models, or of no model
    common.append("--no-write-json")
    full = ["--full-refresh"] if full_refresh else []
    with TemporaryDirectory() as folder:
        compiled = Path(folder, RESULTS)
        result = _dbt_unseen("--log-level", "error", "compile", *chosen, *compared, *full, *common)
        if isinstance(result, RunExecutionResult):
            result.write(str(compiled))
        asked = {"full_refresh": full_refresh, "sql": sql, "as_json": is_json, "compiled": str(compiled)}
        _dbt("--quiet", "run-operation", "idivm_plan", "--args", json.dumps(asked), *common)


def _compared_with(state: Path, project_dir: Path) -> list[str]:
    """dbt's options for --state. dbt would resolve it against the project's folder, and its errors do not name the folder."""
    from dbt_idivm.artifacts import artifacts
    from dbt_idivm.schema_file import SchemaFileError
    from dbt_idivm.target_folder import target_folder

    try:
        artifacts(state)
    except SchemaFileError as error:
        raise click.ClickException(f"the other state: {error}") from error
    if state.resolve() == target_folder(project_dir).resolve():
        raise click.ClickException(
            f"the other state: {state} is the folder that `dbt compile` writes to, so that nothing could "
            "differ: copy it before the change, or compile the other state with --target-path"
        )
    return ["--state", str(state.resolve())]


def _dbt(*args: str) -> object:
    """Run a dbt command that prints only errors, and return its result."""
    from dbt.cli.main import dbtRunner

    outcome = dbtRunner().invoke(list(args))
    if isinstance(outcome.exception, DbtBaseException):
        raise click.ClickException(str(outcome.exception))
    if outcome.exception is not None:
        raise outcome.exception
    if not outcome.success:
        sys.exit(1)  # dbt has printed why
    return outcome.result


def _dbt_unseen(*args: str) -> object:
    """Like `_dbt`, but its output is shown only if it fails: for a single model, `compile` prints the SQL at any log level."""
    said = StringIO()
    try:
        with redirect_stdout(said):
            return _dbt(*args)
    except BaseException:
        print(said.getvalue(), end="")
        raise


def compiled_models(file: Path) -> Iterator[tuple[str, str]]:
    """(unique_id, compiled SQL) for each node that the dbt command with these results
    compiled, in its order. Raises DbtRuntimeError.
    """
    if not file.exists():
        raise DbtRuntimeError(f"there is no {file}: run `dbt compile` first, or `idivm plan`, which does both")
    for result in json.loads(file.read_text(encoding="utf-8"))["results"]:
        if result.get("compiled_code"):
            yield result["unique_id"], result["compiled_code"]


def table(found: Iterable[Foreseen], sql: bool, width: int | None = None) -> str:
    """The terminal output: a row for each model, then errors and warnings, and with `sql` the MERGE of each."""
    found = list(found)
    if not found:
        return (
            "There is no idivm model among those that were selected (with --state: those that differ from it, or read a "
            "model that does)."
        )
    console = Console(file=StringIO(), width=width, highlight=False, soft_wrap=False)
    shown = Table("model", "next refresh", "inputs", "estimates", "why", show_edge=False)
    for each in found:
        if each.forecast is None:
            shown.add_row(each.model, "fails", "", "", escape((each.error or "").strip().splitlines()[0]))
        else:
            forecast = each.forecast
            shown.add_row(
                each.model, _way(forecast), escape(_inputs(forecast.inputs)), _estimates(forecast), escape(forecast.reason or "")
            )
    console.print(shown)
    for each in found:
        if each.error:
            console.print(f"\n{each.model}:\n{each.error}", markup=False)
        for warning in each.forecast.warnings if each.forecast is not None else ():
            console.print(f"\nwarning: {warning}", markup=False)
        if sql and each.forecast is not None and each.forecast.sql:
            console.print(f"\n-- {each.model}\n{each.forecast.sql};", markup=False, soft_wrap=True)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().rstrip()


def as_json(found: Iterable[Foreseen]) -> str:
    """All facts about each model, as JSON."""
    return json.dumps([asdict(each) for each in found], indent=2, ensure_ascii=False)


def _way(forecast: Forecast) -> str:
    words: list[str] = [forecast.mode]
    if forecast.mode == "incremental":
        words += [forecast.strategy or "", f"{forecast.shape} MERGE"]
    return ", ".join(words)


def _estimates(forecast: Forecast) -> str:
    """The seconds of each alternative, the smallest first. A refresh that follows a migration has a line of its own."""
    found = sorted(forecast.cost.alternatives.items(), key=lambda item: item[1]) if forecast.cost is not None else ()
    then = forecast.then
    after = [f"then {then.chosen} {then.estimate:.1f} s"] if then is not None else []
    return "\n".join([*(f"{name} {seconds:.1f} s" for name, seconds in found), *after])


def _inputs(inputs: Mapping[str, InputChange]) -> str:
    return "\n".join(
        f"{name}: {_move(change)}" for name, change in sorted(inputs.items()) if change.from_version != change.to_version
    )


def _move(change: InputChange) -> str:
    if change.from_version is None:
        return f"version {change.to_version}"
    rows = "" if change.rows is None else f", {change.rows} change{'' if change.rows == 1 else 's'}"
    return f"version {change.from_version} to {change.to_version}{rows}"
