"""The console script `idivm`: prints the plan of a model, without Spark and without a dbt project.

Commands that need dbt or Spark are registered by other packages, under the entry point group `idivm.commands`. These, and those
for a whole project, are imported only when they are called.
"""

from __future__ import annotations

import gc
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import click
import yaml

from dbt_idivm.context import WORDS, Caching, UserFunction, caches_of
from dbt_idivm.cost.experience import Experience
from dbt_idivm.cost.table import cost_table
from dbt_idivm.definition.compiling import compiled
from dbt_idivm.definition.questions import without_engine
from dbt_idivm.errors import BY_CODE, CODES, Finding, IdivmError, finding, listed
from dbt_idivm.explain import delta_script, explain, explain_passes, maintained, recomputes
from dbt_idivm.relation_name import as_named, name_parts, relation_name
from dbt_idivm.schema_file import SchemaFileError, catalog_of, plain_sql, with_candidates
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.ways import ALL_WAYS, STRATEGIES, Strategy

_COMMANDS = "idivm.commands"
_OF_PROJECTS = (
    EntryPoint("advise", "dbt_idivm.tools.advice.command:advise_command", _COMMANDS),
    EntryPoint("diff", "dbt_idivm.tools.pull_request.command:diff_command", _COMMANDS),
)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


class _Commands(click.Group):
    """The planner's own commands and the registered ones."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *_registered()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        found = _registered().get(cmd_name)
        if own is not None or found is None:
            return own
        command = found.load()
        assert isinstance(command, click.Command)
        return command


def _registered() -> dict[str, EntryPoint]:
    return {point.name: point for point in (*_OF_PROJECTS, *entry_points(group=_COMMANDS))}


@click.group(cls=_Commands)
@click.version_option(package_name="dbt-idivm")
def main() -> None:
    """ID-based incremental view maintenance for dbt: shows what a model's refresh would do."""
    # trees live until the process ends, and collecting garbage among them would take a quarter of the time for a large plan
    gc.set_threshold(100_000, 20, 20)


@main.command("help")
@click.argument("code", required=False)
def help_command(code: str | None) -> None:
    """Say what a code such as IDIVM-203 means, why it is given, and what to do. Without CODE, list all codes."""
    from dbt_idivm.docs import code_page

    if code is None:
        click.echo("\n".join(f"{each.code}  {Finding(each, {}).title}" for each in CODES))
        return
    entry = BY_CODE.get(f"IDIVM-{code.upper().removeprefix('IDIVM-')}")
    if entry is None:
        raise click.ClickException(f"There is no code {code}. `idivm help` lists all codes.")
    click.echo(code_page(entry), nl=False)


@main.command("explain")
@click.argument("model", type=_FILE, required=False)
@click.option("--project", type=_FOLDER, help="Show all models of the dbt project in this folder as a table, instead of MODEL.")
@click.option(
    "--schema",
    "schemas",
    type=_FILE,
    multiple=True,
    help="A dbt properties file with the inputs' columns, data types and keys. May be given several times.",
)
@click.option(
    "--script",
    type=click.Choice(["optimised", "naive", "both", "none"]),
    default="optimised",
    show_default=True,
    help="Which Δ-script to print below the plan.",
)
@click.option(
    "--strategy",
    type=click.Choice(list(STRATEGIES)),
    default="id",
    show_default=True,
    help="The strategy to prefer; the Δ-script is the one of its first way.",
)
@click.option(
    "--caches",
    default="auto",
    show_default=True,
    metavar="[auto|none|all|NAME,…]",
    help="The caches to keep: none, all that the paper places, or those for the named CTEs and derived tables.",
)
@click.option(
    "--functions",
    default="",
    metavar="NAME,…",
    help="Your own functions that are deterministic, as in the config `deterministic_functions`.",
)
@click.option("--passes", is_flag=True, help="First print the tree after each pass and the i-diffs after each optimisation.")
@click.option("--cost", is_flag=True, help="Print the estimated cost of a refresh by each way; needs --rows for each table.")
@click.option("--rows", multiple=True, metavar="TABLE=N", help="The number of rows of a table. May be given several times.")
@click.option(
    "--fail-on",
    type=click.Choice(["full", "recompute"]),
    help="Exit with 1 if a model would be rebuilt on every run; `recompute`: also if every change recomputes rows or groups.",
)
@click.option(
    "--flowchart", "as_flowchart", is_flag=True, help="With --project: print the DAG of the relations as a Mermaid flowchart."
)
@click.option(
    "--svg",
    "drawing",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --project: draw the DAG to an SVG file, which a browser can show.",
)
def explain_command(
    model: Path | None,
    project: Path | None,
    schemas: tuple[Path, ...],
    script: str,
    strategy: Strategy,
    caches: str,
    functions: str,
    passes: bool,
    cost: bool,
    rows: tuple[str, ...],
    fail_on: str | None,
    as_flowchart: bool,
    drawing: Path | None,
) -> None:
    """Print the plan and the Δ-script of MODEL, a file with a SELECT (ref and source are understood).

    With --project, print how each model of a dbt project is maintained, or why it is rebuilt. It reads target/manifest.json,
    which `dbt compile` writes, and, for types of columns, target/catalog.json, which `dbt docs generate` writes, and what each
    model's last run saw, in target/idivm.
    """
    if (model is None) == (project is None):
        raise click.UsageError("give a MODEL, or --project with the folder of a dbt project")
    if project is not None:
        from dbt_idivm.tools.project_table import explain_project

        explain_project(project, fail_on, as_flowchart, drawing)
        return
    if as_flowchart or drawing is not None:
        raise click.UsageError("--flowchart and --svg are about a project: give --project instead of a MODEL")
    assert model is not None
    if not schemas:
        raise click.UsageError("give a --schema for a MODEL: the planner needs the columns of its inputs")
    try:
        plan, is_typed = _plan(model, schemas, strategy, caches, functions)
    except SchemaFileError as error:
        raise click.ClickException(str(error)) from error
    except IdivmError as error:
        what = "a full refresh on every run" if error.is_refusal else "an error on every run"
        click.echo(f"{model.stem}: {what}, because\n")
        click.echo(str(error))
        if fail_on or not error.is_refusal:
            raise SystemExit(1) from error
        return
    if cost:
        click.echo(_costs(plan, rows))
    if passes:
        click.echo(explain_passes(plan))
    click.echo(explain(plan))
    click.echo("meaning\n  Spark checks it when the view is built\n")
    if not is_typed:
        click.echo("types\n  of UNION: Spark is asked when the view is built, and branches are cast to them; here they are not\n")
    for name in {"both": ("naive", "optimised"), "none": ()}.get(script, (script,)):
        click.echo(f"-- Δ-script ({name})\n{delta_script(plan, model.stem, STRATEGIES[strategy], optimised=name == 'optimised')}")
    if fail_on == "recompute" and recomputes(maintained(plan)):
        raise SystemExit(1)


def _costs(plan: Plan, rows: tuple[str, ...]) -> str:
    """The estimates for tables with these sizes, given as `table=number`. The last part of a table's name is enough."""
    given = {}
    for each in rows:
        name, _, count = each.partition("=")
        if not name or not count.replace("_", "").isdigit():
            raise click.BadParameter(f"'{each}' is not TABLE=N", param_hint="--rows")
        given[name.lower()] = int(count)
    tables = {table: given.get(table.lower(), given.get(name_parts(table)[-1].lower())) for table in plan.base_tables}
    try:
        return cost_table(plan, {table: count for table, count in tables.items() if count is not None}, Experience())
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _properties(path: Path) -> dict[str, list[object]]:
    """The lists in a properties file. Raises SchemaFileError if it is not YAML, and IDIVM-113 if it has no such list."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise SchemaFileError(f"{path} is not YAML: {error}") from error
    names = content if isinstance(content, dict) else {}
    if not any(isinstance(names.get(part), list) for part in ("sources", "models")):
        found = listed(map(str, names)) or ("nothing" if content is None else f"no keys, but {str(content)[:40]!r}")
        raise IdivmError(finding(113, file=path, found=found))
    return {part: items for part, items in names.items() if isinstance(items, list)}


def _plan(model: Path, schemas: tuple[Path, ...], strategy: Strategy, caches: str, functions: str) -> tuple[Plan, bool]:
    """The plan with all ways, those of the strategy first, and whether all types that it depends on are known."""
    document: dict[str, list[object]] = {"sources": [], "models": []}
    for path in schemas:
        content = _properties(path)
        for part, items in document.items():
            items.extend(content.get(part) or ())
    listed = (as_named(name) for name in functions.split(",") if name.strip())
    policy = caches_of(caches if caches.lower() in WORDS else [name.strip() for name in caches.split(",")])
    functions_of_user = dict.fromkeys(listed, UserFunction())
    catalog = replace(catalog_of(document), functions=functions_of_user, clock_is_input=not isinstance(policy, tuple))
    caching = Caching(policy, relation_name(model.stem))
    ways = dict.fromkeys((*STRATEGIES[strategy], *ALL_WAYS))
    try:
        found = without_engine(compiled(plain_sql(model.read_text(encoding="utf-8")), catalog, caching, tuple(ways)))
    except IdivmError as error:
        raise with_candidates(error, catalog) from error
    return found.plan, not found.lowered.untyped_unions
