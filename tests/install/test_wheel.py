"""What is in the wheel and in the sdist, and what an environment has that the wheel was installed into."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.idivm.__version__ import version
from tests.install.conftest import ROOT, build

pytestmark = pytest.mark.deep

INFO = f"dbt_idivm-{version}.dist-info"


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def in_tree(folder: str, pattern: str, base: str | None = None) -> set[str]:
    """The files of a folder of the source tree, under their names in the wheel."""
    return {f"{base or folder}/{path.relative_to(ROOT / folder).as_posix()}" for path in (ROOT / folder).rglob(pattern)}


def test_wheel_holds_the_package_and_nothing_else(built: Any) -> None:
    include = "dbt/include/idivm"
    expected = in_tree("dbt_idivm", "*.py") | in_tree("dbt/adapters/idivm", "*.py")
    expected |= in_tree("macros", "*.sql", f"{include}/macros") | in_tree("dbt_idivm", "templates/*")
    expected |= {f"{include}/{name}" for name in ("__init__.py", "dbt_project.yml", "profile_template.yml")}
    expected |= in_tree("dbt/adapters/idivm_databricks", "*.py")
    expected |= {f"{include}_databricks/{name}" for name in ("__init__.py", "dbt_project.yml")}
    expected |= {f"{INFO}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
    found = contents(built.wheel)
    assert set(found) == expected
    # of a namespace package nobody may own these: the last one installed would win
    assert not {f"{folder}/__init__.py" for folder in ("dbt", "dbt/adapters", "dbt/include")} & set(found)
    for name, content in found.items():
        if not name.startswith(INFO):
            assert content == (ROOT / name).read_bytes(), name


def test_wheel_of_the_sdist_is_the_same(built: Any, tmp_path: Path) -> None:
    shutil.unpack_archive(built.sdist, tmp_path)
    (source,) = tmp_path.iterdir()
    assert contents(build(source, tmp_path / "dist", "wheel")) == contents(built.wheel)


def test_sdist_holds_what_git_tracks(built: Any) -> None:
    with tarfile.open(built.sdist) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()}
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    # the macros are where the wheel has them: dbt/include/idivm/macros is a link in the tree and a folder in the sdist
    tracked = {f"dbt/include/idivm/{name}" if name.startswith("macros/") else name for name in listed}
    assert found == (tracked - {"dbt/include/idivm/macros"}) | {"PKG-INFO"}


def test_metadata(built: Any) -> None:
    found = contents(built.wheel)
    metadata = message_from_string(found[f"{INFO}/METADATA"].decode())
    assert (metadata["Name"], metadata["Version"], metadata["License-Expression"]) == ("dbt-idivm", version, "Apache-2.0")
    assert metadata["Requires-Python"] == ">=3.11"
    extras = {"embedded", "thrift", "connect", "pyspark", "pyhive", "spark-connect"}
    assert extras <= set(metadata.get_all("Provides-Extra"))
    required = metadata.get_all("Requires-Dist")
    always = {text.partition("<")[0].partition(">")[0] for text in required if ";" not in text}
    assert always == {
        "dbt-core",
        "dbt-spark",
        "sqlglot",
        "pyyaml",
        "click",
        "rich",
        "jinja2",
        "markupsafe",
        "pygments",
        "jsonschema",
    }
    assert {"dbt-core<1.12; extra == 'embedded'", "dbt-core<1.12; extra == 'thrift'"} <= set(required)
    entry_points = found[f"{INFO}/entry_points.txt"].decode().split("\n")
    assert [line for line in entry_points if line] == [
        "[console_scripts]",
        "idivm = dbt_idivm.cli:main",
        "[idivm.commands]",
        "adopt = dbt.adapters.idivm.adopt_command:adopt_command",
        "doctor = dbt.adapters.idivm.doctor:doctor_command",
        "down = dbt.adapters.idivm.warm_commands:down_command",
        "plan = dbt.adapters.idivm.forecasts:plan_command",
        "report = dbt.adapters.idivm.report_command:report_command",
        "run = dbt.adapters.idivm.run_commands:run_command",
        "sql = dbt.adapters.idivm.shell:sql_command",
        "status = dbt.adapters.idivm.warm_commands:status_command",
        "test = dbt.adapters.idivm.run_commands:test_command",
        "up = dbt.adapters.idivm.warm_commands:up_command",
    ]


def test_every_module_can_be_imported_where_the_wheel_is_installed(environment: Any) -> None:
    printed = environment.python("""
import importlib, pkgutil
import dbt.adapters.idivm, dbt.include.idivm, dbt_idivm
for package in (dbt.adapters.idivm, dbt.include.idivm, dbt_idivm):
    print(package.__file__)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        print(importlib.import_module(module.name).__file__)
""")
    files = [Path(line) for line in printed.splitlines()]
    assert all(environment.folder in file.parents for file in files), "a module was found outside the environment"
    (site,) = environment.folder.glob("lib/python*/site-packages")
    assert {file.relative_to(site).as_posix() for file in files} == (
        in_tree("dbt_idivm", "*.py") | in_tree("dbt/adapters/idivm", "*.py") | {"dbt/include/idivm/__init__.py"}
    )


def test_commands_are_there(environment: Any) -> None:
    found = environment.run("idivm", "--version")
    assert found.stdout == f"idivm, version {version}\n", found.stderr
    # a command of the planner's own, and one that is found by its entry point
    offered = environment.run("idivm", "--help").stdout
    assert "Print the plan" in offered and "Run TEXT, one or more SQL statements" in offered
    assert environment.plugins["idivm"] == version
