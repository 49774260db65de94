"""`idivm doctor`: whether the models can be maintained with the given profile, engine and inputs."""

from __future__ import annotations

import re
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click
from dbt_common.exceptions import DbtBaseException
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dbt.adapters.idivm.drive import drive
from dbt.adapters.idivm.dropped_constraints import dropped
from dbt.adapters.idivm.engine_errors import engine_message, is_engine_exception
from dbt.adapters.idivm.project_access import DATABRICKS, OWN, credentials_of, execute, open_handle, project_options
from dbt.adapters.idivm.source_feeds import switch_feeds_on
from dbt_idivm.artifacts import artifacts
from dbt_idivm.declared_keys import KeyIndex, Node, relation_names, written_name
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.engine import Engine
from dbt_idivm.refresh.engine.steps import EngineFailure
from dbt_idivm.refresh.upkeep.examine import Check, examine_input, examine_keys, examine_rights, found_keys
from dbt_idivm.refresh.upkeep.examine_engine import examine_engine
from dbt_idivm.relation_name import relation_name
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.target_folder import target_folder

_PACKAGES = (
    "dbt-idivm",
    "dbt-core",
    "dbt-spark",
    "dbt-databricks",
    "databricks-sql-connector",
    "pyspark",
    "pyspark-client",
    "delta-spark",
    "PyHive",
    "sqlglot",
)
_STYLES = {"ok": "green", "warning": "yellow", "fails": "bold red"}
_EVERY = re.compile(r"(\d+)([mhd])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
# What is done with the inputs before they are looked at: over a connection, the inputs of maintained models, and dbt's graph.
Repair = Callable[[Any, Engine, Mapping[str, Node], Node], Iterator[Check]]


@click.command("doctor")
@project_options
@click.option(
    "--every", help="How often the project runs, such as 15m, 6h or 1d. It is compared with how long inputs keep their changes."
)
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too.")
@click.option("--fix", is_flag=True, help="Show how change data feeds are switched on, ask, and do it.")
@click.option("--yes", is_flag=True, help="With --fix: do it without a question.")
def doctor_command(
    project_dir: Path, profiles_dir: Path | None, target: str | None, every: str | None, strict: bool, fix: bool, yes: bool
) -> None:
    """Look at the profile, the connection, versions, rights, and the inputs of maintained models, and say what to do.

    It creates a table idivm_doctor_… in the target's schema, and drops it again. On Databricks it tries on that table
    everything that refreshes rely on there. It reads the inputs from target/manifest.json, and lists what tests, constraints
    and `keys` say of them without effect. Exit status 1 if something fails.

    With --fix it first switches on the change data feeds of sources that have none: it shows the statements, and runs them after
    a question in a terminal, or with --yes. Otherwise it changes nothing. Tables that dbt creates are left to dbt.
    """
    if yes and not fix:
        raise click.UsageError("--yes belongs to --fix")
    repair = partial(switch_feeds_on, is_agreed=yes) if fix else None
    checks = list(_checks(project_dir, profiles_dir, target, _interval(every), repair))
    _show(checks)
    if any(check.state == "fails" or (strict and check.state == "warning") for check in checks):
        sys.exit(1)


def _interval(text: str | None) -> timedelta | None:
    if text is None:
        return None
    found = _EVERY.fullmatch(text.strip())
    if found is None:
        raise click.BadParameter(f"'{text}' is not an interval such as 15m, 6h or 1d", param_hint="--every")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _checks(
    project_dir: Path, profiles_dir: Path | None, target: str | None, every: timedelta | None, repair: Repair | None = None
) -> Iterator[Check]:
    """The results of all checks, up to the first failure that makes further checks impossible."""
    yield Check("versions", "ok", ", ".join(_versions()))
    try:
        credentials = credentials_of(project_dir, profiles_dir, target, (OWN, DATABRICKS))
    except (DbtBaseException, click.ClickException) as problem:
        yield Check("profile", "fails", _message(problem), "see docs/profiles.md: `dbt init` writes a profile")
        return
    yield Check("profile", "ok", f"method {credentials.method}, schema {credentials.schema}")
    on_databricks = credentials.type == DATABRICKS
    try:
        handle = open_handle(credentials)
    except Exception as problem:
        if not isinstance(problem, DbtBaseException) and not is_engine_exception(problem) and not on_databricks:
            raise
        yield Check(
            "connection", "fails", engine_message(problem), "start the server, correct the profile, or grant CREATE SCHEMA"
        )
        return
    yield Check("connection", "ok", f"Spark {execute(handle, 'select version()').fetchall()[0][0].split()[0]}")
    parts = (credentials.database, credentials.schema, f"idivm_doctor_{secrets.token_hex(4)}")
    scratch = relation_name(*parts[-credentials.engine.depth :])
    client = Client(credentials.engine_beside(scratch) if on_databricks else credentials.engine)
    rights = drive(handle, examine_rights(client, scratch))
    yield from rights
    if on_databricks and not any(check.state == "fails" for check in rights):
        yield from drive(handle, examine_engine(client, scratch, credentials.time_zone))
    if not any(check.state == "fails" for check in rights):
        yield from _inputs(handle, client, project_dir, every, repair)


def _versions() -> Iterator[str]:
    yield f"Python {sys.version.split()[0]}"
    for package in _PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            continue


def _inputs(handle: Any, client: Client, project_dir: Path, every: timedelta | None, repair: Repair | None) -> Iterator[Check]:
    try:
        manifest, _ = artifacts(target_folder(project_dir))
    except SchemaFileError as problem:
        yield Check(
            "inputs", "warning", str(problem), "run `dbt compile`: then `idivm doctor` looks at the inputs of the models, too"
        )
        return
    keys = KeyIndex(manifest)
    models = [
        node
        for node in manifest["nodes"].values()
        if node["resource_type"] == "model" and node["config"].get("materialized") == "idivm"
    ]
    inputs = {found["unique_id"]: found for node in models for found in keys.inputs(node).values()}
    if repair is not None:
        yield from repair(handle, client.engine, inputs, manifest)
    there = {name: columns for node in models for name, columns in _found_keys(handle, client, node).items()}
    for found in inputs.values():
        name = next(iter(relation_names(found)))
        try:
            if found.get("config", {}).get("materialized") != "idivm":
                declared = [", ".join(each.columns) for each in keys.declared(found)]
                of_data = next((there[each] for each in relation_names(found) if each in there), ())
                yield drive(handle, examine_input(client, name, written_name(found), declared, every, of_data))
            ignored = (*keys.ignored(found), *dropped(found, project_dir))
            yield from drive(handle, examine_keys(client, name, written_name(found), keys.declared(found), ignored))
        except EngineFailure as failure:
            yield Check(f"input {written_name(found)}", "fails", failure.first_line, "grant SELECT on it")
    yield from (Check(f"key {each.what}", "warning", each.why, each.do) for each in keys.unused())


def _found_keys(handle: Any, client: Client, node: Node) -> Mapping[str, tuple[str, ...]]:
    """Input → the key that was found in its data, for a model that was built."""
    view = next(relation_names(node), None)
    return {} if view is None else drive(handle, found_keys(client, view))


def _message(problem: Exception) -> str:
    return str(getattr(problem, "msg", None) or getattr(problem, "message", None) or problem).strip()


def _show(checks: list[Check]) -> None:
    table = Table(show_edge=False)
    for heading in ("", "what", "found", "what to do"):
        table.add_column(heading, overflow="fold")
    for check in checks:
        table.add_row(f"[{_STYLES[check.state]}]{check.state}[/]", escape(check.what), escape(check.found), escape(check.way_out))
    Console(highlight=False).print(table)
