"""The command `idivm diff`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from dbt_idivm.errors import IdivmError
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.target_folder import target_folder
from dbt_idivm.tools.advice.known import Given, estimate_options
from dbt_idivm.tools.pull_request.costs import costs
from dbt_idivm.tools.pull_request.difference import difference
from dbt_idivm.tools.pull_request.facts import Difference, FailOn
from dbt_idivm.tools.pull_request.markdown import markdown, summary
from dbt_idivm.tools.pull_request.states import states

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command("diff")
@click.option(
    "--state", type=_FOLDER, required=True, help="A folder with the manifest.json to compare with, as dbt's own --state."
)
@click.option("--project-dir", type=_FOLDER, default=".", show_default=True, help="The folder of the dbt project.")
@click.option(
    "--fail-on",
    type=click.Choice(["full", "recompute"]),
    help="Exit with 1 if, after the change, a model is rebuilt on every run and was not before, can no longer be planned, or "
    "fails in its run; `recompute`: also if every change of a model's inputs now recomputes rows or groups.",
)
@click.option(
    "--docs-url",
    default="",
    metavar="URL",
    help="The URL of a copy of this package's repository; codes become links to its pages, such as URL/docs/errors/IDIVM-204.md.",
)
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
@estimate_options
def diff_command(state: Path, project_dir: Path, fail_on: FailOn | None, docs_url: str, is_json: bool, **given: Any) -> None:
    """Print how a change of a dbt project changes the maintenance of its models, as Markdown for a comment on a pull request.

    It compares target/manifest.json (`dbt compile`) with the one in the folder --state, without Spark. It shows plans,
    ways of maintenance, hidden columns and caches, and whether the next run rebuilds a view. If rates of change are given, as to
    `idivm advise`, it also shows the estimated duration of a refresh.
    """
    target = target_folder(project_dir)
    try:
        both = states(state, target)
        found = difference(both, costs(both.before, both.after, project_dir, Given(**given)))
    except (IdivmError, SchemaFileError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(as_json(found) if is_json else markdown(found, docs_url), nl=is_json)
    if fail_on is not None and any(each.becomes(fail_on) for each in found.models):
        raise SystemExit(1)


def as_json(found: Difference) -> str:
    """The facts as a JSON object, with the summary and what becomes of each model."""
    models = [
        {
            **asdict(each),
            "becomes": [kind for kind in ("full", "recompute") if each.becomes(kind)],
            "becomes_incremental": each.becomes_incremental,
        }
        for each in found.models
    ]
    return json.dumps({"summary": summary(found), **asdict(found), "models": models}, indent=2, ensure_ascii=False)
