"""`make versions`: the tests in environments that are made from scratch, with the lowest declared versions and the highest.

    lowest    each lower bound of pyproject.toml, exactly
    plain     what plain pip chooses for `dbt-idivm[embedded,thrift]`
    newest    the same with the newest declared dbt-core, whose download from GitHub is left out: dbt never imports it;
              and with sqlglot's compiled build, which other packages bring along and which no class can be derived from

Writes the versions and the results to docs/versions.md.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "versions.md"
BEGIN, END = "<!-- versions:begin -->\n", "<!-- versions:end -->\n"

SHOWN = ("dbt-core", "dbt-spark", "pyspark", "delta-spark", "PyHive", "sqlglot", "click", "rich", "PyYAML", "dbt-adapters")
SPARK = "tests/functional"
TESTS = {
    "unit and golden tests": ("tests/unit", "tests/golden"),
    "`test_plugin_dbt.py`, `test_refresh_modes.py`": (f"{SPARK}/test_plugin_dbt.py", f"{SPARK}/test_refresh_modes.py"),
}
FROM_GITHUB = "dbt-core-experimental-parser"

Column = dict[str, str]


@dataclass
class Environment:
    folder: Path

    @property
    def python(self) -> str:
        return str(self.folder / "bin" / "python")

    def pip(self, *arguments: str) -> None:
        subprocess.run([self.python, "-m", "pip", "install", "--quiet", *arguments], cwd=ROOT, check=True)

    def ask(self, code: str) -> str:
        return subprocess.run([self.python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()

    def versions(self) -> Column:
        code = f"import json; from importlib.metadata import version; print(json.dumps([version(n) for n in {SHOWN}]))"
        python = self.ask("import platform; print(platform.python_version())")
        return {"Python": python, **dict(zip(SHOWN, json.loads(self.ask(code)), strict=True))}

    def tested(self, paths: tuple[str, ...]) -> str:
        """pytest's summary, such as `33 passed`."""
        done = subprocess.run([self.python, "-m", "pytest", *paths, "-q", "-p", "no:cacheprovider"], cwd=ROOT,
                              capture_output=True, text=True)
        print(done.stdout[-3000:] if done.returncode else done.stdout.splitlines()[-1], flush=True)
        found = re.search(r"^=* ?(\d.*) in [\d.]+s", done.stdout, re.MULTILINE)
        return found[1] if found else f"pytest ended with {done.returncode}"


def declared() -> list[str]:
    """What pyproject.toml asks for, of all that a user's installation gets."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["pyspark"]]


def lowest(environment: Environment) -> None:
    """`dbt-core>=1.11.2,<1.13` -> `dbt-core==1.11.2`"""
    bounds = environment.folder / "bounds.txt"
    bounds.write_text("\n".join(re.split("[,<]", each.replace(">=", "=="))[0] for each in declared()))
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


def write(columns: dict[str, Column]) -> None:
    """The table, between its marks on the page."""
    rows = [["", *columns], ["---"] * (len(columns) + 1)]
    rows += [[name, *(column[name] for column in columns.values())] for name in next(iter(columns.values()))]
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{table}{END}{rest.partition(END)[2]}")


def main(folder: str, python_lowest: str, python_newest: str) -> int:
    pythons = {"lowest": python_lowest, "plain": python_lowest, "newest": python_newest}
    columns = {name: tried(made(name, python, Path(folder).resolve())) for name, python in pythons.items()}
    write(columns)
    return 0 if all(re.fullmatch(r"\d+ passed", column[row]) for column in columns.values() for row in TESTS) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
