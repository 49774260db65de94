"""dbt as users start it, in processes of its own: the console, the catalog on disk, and the errors when Spark cannot run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.idivm.lock import hold_lock

pytestmark = pytest.mark.deep

SECRET = "s3cr3t-0f-somebody"
DBT = [sys.executable, "-c", "from dbt.cli.main import cli; cli()"]
DBT_LINE = re.compile(r"^\d\d:\d\d:\d\d  .*$|^\s*$")


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A project with the smallest profile there is, but for a secret."""
    (tmp_path / "models").mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: alone\nversion: 1.0.0\nconfig-version: 2\nprofile: alone\n")
    (tmp_path / "profiles.yml").write_text(
        "alone: {target: dev, outputs: {dev: {type: idivm, schema: main, "
        f"server_side_parameters: {{spark.hadoop.fs.s3a.secret.key: {SECRET}}}}}}}}}\n"
    )
    (tmp_path / "models" / "a.sql").write_text("{{ config(materialized='table') }} select 1 as n")
    (tmp_path / "models" / "c.sql").write_text("{{ config(materialized='idivm') }} select n from {{ ref('a') }}")
    (tmp_path / "models" / "b.sql").write_text("select n + 1 as n from {{ ref('a') }}")
    return tmp_path


def dbt(folder: Path, *args: str, **env: str) -> Any:
    environment = {**os.environ, "NO_COLOR": "1", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", **env}
    return subprocess.run(
        [*DBT, *args, "--no-use-colors"], cwd=folder, env=environment, capture_output=True, text=True, timeout=180
    )


@pytest.mark.long
def test_console_is_dbt_s_alone_and_tables_outlive_the_process(alone: Path) -> None:
    first = dbt(alone, "run")
    second = dbt(alone, "show", "--select", "b")
    assert first.returncode == 0, first.stdout
    assert second.returncode == 0, second.stdout
    assert first.stderr == second.stderr == ""
    assert first.stdout.count("Starting Spark (15 to 25 s)") == 1
    foreign = [line for line in first.stdout.splitlines() if not DBT_LINE.match(line)]
    assert not foreign
    assert "| 2 |" in second.stdout
    litter = {path.name for path in alone.iterdir()} & {"derby.log", "metastore_db", "spark-warehouse"}
    assert not litter
    kept = {path.name for path in (alone / ".idivm").iterdir()}
    assert {".gitignore", "metastore_db", "warehouse", "spark.log", "derby.log"} <= kept
    # logs, artifacts, tables, the catalog's database
    found = [path for path in alone.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert found == [alone / "profiles.yml"]
    assert SECRET not in first.stdout + dbt(alone, "debug").stdout


def test_second_process_gets_an_error_that_names_the_first(alone: Path) -> None:
    (alone / ".idivm").mkdir()
    lock = hold_lock(alone / ".idivm")
    try:
        refused = dbt(alone, "run")
    finally:
        os.close(lock)
    assert refused.returncode != 0
    assert f"in use by process {os.getpid()}" in refused.stdout and "idivm up" in refused.stdout
    assert "Traceback" not in refused.stdout + refused.stderr


def test_no_java(alone: Path) -> None:
    refused = dbt(alone, "run", PATH="/nonexistent", JAVA_HOME="")
    assert refused.returncode != 0
    assert "needs Java 17 or newer, and no java was found on PATH. Install Java 17" in refused.stdout
    assert "Traceback" not in refused.stdout + refused.stderr


def test_old_java(alone: Path) -> None:
    java = alone / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    refused = dbt(alone, "run", JAVA_HOME=str(alone / "jdk"))
    assert f"needs Java 17 or newer, but {java} is Java 11." in refused.stdout


def test_offline_without_jars(alone: Path) -> None:
    settings = alone / "ivy.xml"
    settings.write_text(
        "<ivysettings><settings defaultResolver='none'/><resolvers>"
        "<ibiblio name='none' m2compatible='true' root='file:///nonexistent'/></resolvers></ivysettings>"
    )
    (alone / "profiles.yml").write_text(
        "alone: {target: dev, outputs: {dev: {type: idivm, schema: main, server_side_parameters: "
        f"{{spark.jars.ivySettings: {settings}, spark.jars.ivy: {alone / 'ivy'}}}}}}}}}\n"
    )
    refused = dbt(alone, "run", XDG_CACHE_HOME=str(alone / "cache"))
    assert "are not on this machine yet and could not be downloaded" in refused.stdout
    assert refused.stderr == "" and "Traceback" not in refused.stdout
