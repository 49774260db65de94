"""`make versions`: the tests in environments that are made from scratch, with the lowest declared versions and the highest, and
against servers of other versions of Spark and Delta.

    lowest    each lower bound of pyproject.toml, exactly
    plain     what plain pip chooses for `dbt-idivm[embedded,thrift]`
    newest    the same with the newest declared dbt-core, whose download from GitHub is left out: dbt never imports it;
              and with sqlglot's compiled build, which other packages bring along and which no class can be derived from

The servers are of an environment each, with pyspark and delta-spark alone; their client is the environment `plain`. One whose
packages or JARs cannot be downloaded is left out, and that is said.

Over each server the same project is played as embedded, a client is lost and a statement sent again (the short part of
`make faults`), and a part of dbt's adapter tests is run; `conformance=whole` runs all of them, half an hour for each server.

Writes the versions and the results to docs/versions.md. `only=servers` or `only=environments` makes one of its two tables.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "versions.md"

SHOWN = ("dbt-core", "dbt-spark", "pyspark", "delta-spark", "PyHive", "sqlglot", "click", "rich", "PyYAML", "dbt-adapters")
SPARK = "tests/functional"
TESTS = {
    "unit and golden tests": ("tests/unit", "tests/golden"),
    "`test_plugin_dbt.py`, `test_refresh_modes.py`": (f"{SPARK}/test_plugin_dbt.py", f"{SPARK}/test_refresh_modes.py"),
    "Thrift and Connect: `test_servers.py`": (f"{SPARK}/test_servers.py", "-k", "does"),
}
METHODS = ("Thrift", "Connect")
# Of dbt's adapter tests: what models, seeds, snapshots, hooks and the catalog ask of a server.
PART = ("basic", "hooks", "incremental", "materialized_view", "persist_docs")
# A Spark Connect server before Spark 4 is refused. That is a test of its own.
REFUSED = (f"{SPARK}/test_servers.py", "-k", "before")
REFUSAL = "IDIVM-507"
FROM_GITHUB = "dbt-core-experimental-parser"

Column = dict[str, str]


# The environments above have servers of their own Spark. These are of others.
SERVERS = {"Spark 4.0": ("pyspark==4.0.1", "delta-spark==4.0.0"), "Spark 3.5": ("pyspark==3.5.7", "delta-spark==3.3.3")}


@dataclass
class Environment:
    folder: Path

    @property
    def python(self) -> str:
        return str(self.folder / "bin" / "python")

    def pip(self, *arguments: str) -> None:
        subprocess.run([self.python, "-m", "pip", "install", "--quiet", *arguments], cwd=ROOT, check=True)

    def ask(self, code: str, **variables: str) -> str:
        return subprocess.run(
            [self.python, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **variables}
        ).stdout.strip()

    def versions(self) -> Column:
        code = f"import json; from importlib.metadata import version; print(json.dumps([version(n) for n in {SHOWN}]))"
        python = self.ask("import platform; print(platform.python_version())")
        return {"Python": python, **dict(zip(SHOWN, json.loads(self.ask(code)), strict=True))}

    def tested(self, arguments: tuple[str, ...], **variables: str) -> str:
        """pytest's summary, such as `33 passed`."""
        done = subprocess.run(
            [self.python, "-m", "pytest", *arguments, "-q", "-p", "no:cacheprovider"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            env={**os.environ, **variables},
        )
        print(done.stdout[-3000:] if done.returncode else done.stdout.splitlines()[-1], flush=True)
        found = re.search(r"^=* ?(\d.*) in [\d.]+s", done.stdout, re.MULTILINE)
        return re.sub(r", \d+ (deselected|warnings?)", "", found[1]) if found else f"pytest ended with {done.returncode}"


def declared() -> list[str]:
    """What pyproject.toml asks for, of all that a user's installation gets."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["pyspark"]]


def lowest(environment: Environment) -> None:
    """`pyspark[connect]>=4.0.1,<4.2` -> `pyspark==4.0.1`: a constraint has no extras."""
    bounds = environment.folder / "bounds.txt"
    bounds.write_text("\n".join(re.split("[,<]", re.sub(r"\[.*\]", "", each).replace(">=", "=="))[0] for each in declared()))
    environment.pip("-c", str(bounds), "-e", ".[dev]")


def plain(environment: Environment) -> None:
    environment.pip("-e", ".[embedded,thrift,dev]")


def newest(environment: Environment) -> None:
    plain(environment)
    (core,) = (each for each in declared() if each.startswith("dbt-core"))
    environment.pip("--no-deps", "--upgrade", core)
    needed = environment.ask("from importlib.metadata import requires; print(*requires('dbt-core'), sep='\\n')").splitlines()
    environment.pip("sqlglot[c]", *(each for each in needed if not each.startswith(FROM_GITHUB)))


def made(name: str, python: str, folder: Path) -> Environment:
    print(f"{name}: installing ..", flush=True)
    subprocess.run([python, "-m", "venv", "--clear", str(folder / name)], check=True)
    environment = Environment(folder / name)
    {"lowest": lowest, "plain": plain, "newest": newest}[name](environment)
    return environment


def tried(environment: Environment) -> Column:
    print(f"{environment.folder.name}: testing ..", flush=True)
    return {**environment.versions(), **{row: environment.tested(paths) for row, paths in TESTS.items()}}


def server_rows(method: str, conformance: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Rows of the second table: the tests that are run over a server by that method, the one about the refusal first."""
    of_server = method.lower()
    return {
        f"{method}: `test_servers.py`": (f"{SPARK}/test_servers.py", "-k", f"does and {of_server}"),
        f"{method}: `test_crashes_servers.py`": (f"{SPARK}/test_crashes_servers.py", "-k", of_server),
        f"{method}: conformance": (*conformance, "--server", of_server, "--disable-warnings"),
    }


def served(name: str, wanted: tuple[str, ...], client: Environment, conformance: tuple[str, ...]) -> Column | None:
    """The versions and results of a server; None, with a sentence on the console, if it cannot be had here."""
    print(f"server of {name}: installing ..", flush=True)
    environment = Environment(client.folder.parent / name.replace(" ", "-").lower())
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(environment.folder)], check=True)
    server = {"IDIVM_SERVER_PYTHON": environment.python}
    try:
        environment.pip(*wanted, "setuptools<81")  # pyspark 3.5 imports distutils
        client.ask("from tests.spark_server import spark_of_servers; spark_of_servers()", **server)
    except subprocess.CalledProcessError as failed:
        print(
            f"server of {name}: left out, because {' and '.join(wanted)} or their JARs could not be downloaded: "
            f"{(failed.stderr or str(failed)).strip()[-500:]}",
            flush=True,
        )
        return None
    print(f"server of {name}: testing ..", flush=True)
    versions = dict(each.split("==") for each in wanted)
    column = {"Spark": versions["pyspark"], "Delta": versions["delta-spark"]}
    for method in METHODS:
        first, *others = (rows := server_rows(method, conformance))
        if versions["pyspark"].startswith("3.") and method == "Connect":
            column |= {first: f"{REFUSAL}: {client.tested(REFUSED, **server)}", **dict.fromkeys(others, REFUSAL)}
        else:
            column |= {row: client.tested(tests, **server) for row, tests in rows.items()}
    return column


def write(mark: str, columns: dict[str, Column]) -> None:
    """A table, between its marks on the page."""
    begin, end = f"<!-- {mark}:begin -->\n", f"<!-- {mark}:end -->\n"
    rows = [["", *columns], ["---"] * (len(columns) + 1)]
    rows += [[name, *(column[name] for column in columns.values())] for name in next(iter(columns.values()))]
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    before, _, rest = PAGE.read_text().partition(begin)
    PAGE.write_text(f"{before}{begin}{table}{end}{rest.partition(end)[2]}")


def main(folder: str, python_lowest: str, python_newest: str, *chosen: str) -> int:
    place = Path(folder).resolve()
    if set(chosen) - {"only=servers", "only=environments", "conformance=whole"}:
        sys.exit(f"ARGS are only=servers or only=environments, and conformance=whole, not {' '.join(chosen)}")
    whole = "tests/conformance"
    conformance = (whole,) if "conformance=whole" in chosen else tuple(f"{whole}/test_{part}.py" for part in PART)
    results: list[str] = []
    if "only=servers" not in chosen:
        pythons = {"lowest": python_lowest, "plain": python_lowest, "newest": python_newest}
        columns = {name: tried(made(name, python, place)) for name, python in pythons.items()}
        write("versions", columns)
        results += [column[row] for column in columns.values() for row in TESTS]
    if "only=environments" not in chosen:
        client = Environment(place / "plain")
        if not Path(client.python).exists():
            client = made("plain", python_lowest, place)
        found = {name: served(name, wanted, client, conformance) for name, wanted in SERVERS.items()}
        servers = {name: column for name, column in found.items() if column is not None}
        if servers:
            write("servers", servers)
        results += [result for column in servers.values() for row, result in column.items() if row.startswith(METHODS)]
    return 0 if all(re.fullmatch(rf"({REFUSAL}: )?\d+ passed|{REFUSAL}", result) for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
