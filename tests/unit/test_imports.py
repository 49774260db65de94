"""Imports point one way: between the packages of dbt_idivm, the parts of the refresh and the tools, as docs/design.md declares; and
nothing imports tests but tests."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dbt_idivm"
ADAPTER = ROOT / "dbt" / "adapters" / "idivm"
DESIGN = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
USE_THE_REFRESH = {("verify",), ("tools", "report")}  # from outside
ENTRY_POINTS = {"cli", "docs", "support", "running_example", "verify", "project", "tools"}
OTHERS = ("benchmarks", "integration_tests", "examples", "dbt", "dbt_idivm")  # all folders with code but tests
TOOLS_OF_TESTS = ("tests", "pytest", "xdist", "hypothesis", "duckdb", "deltalake", "dbt.tests")
# What the import of the adapter plugin may import of the planner, and what it must not import at all.
OF_THE_PLUGIN = {
    "dbt_idivm",
    *(f"dbt_idivm.{name}" for name in ("codes", "deep", "errors", "relation_name", "settings")),
    *(f"dbt_idivm.{name}" for name in ("refresh", "refresh.engine", "refresh.engine.steps", "refresh.protocol")),
}
TOO_LONG = {"pyspark", "grpc", "pandas", "pyarrow", "sqlglot", "rich"}
Order = list[set[str]]  # from those that import to those that are imported; members of one set may import each other


def declared(after: str) -> Order:
    """The order that design.md declares behind these words: `a` → `b`, `c` → `d`."""
    text = " ".join(DESIGN.split()).partition(after)[2]
    found = re.match(r"(?: (?:`[\w/]+`,?|→))+", text)
    assert found, after
    return [set(re.findall(r"`([\w/]+)`", part)) for part in found[0].split("→")]


PACKAGES = declared("Dependencies point one way:")[1:]
PARTS = declared("The parts of the refresh have an order, too:")
TOOLS = declared("The tools have an order of their own:")


def modules(package: Path = PACKAGE) -> Iterator[tuple[tuple[str, ...], Path]]:
    for path in sorted(package.rglob("*.py")):
        yield path.relative_to(package).with_suffix("").parts, path


def imported(path: Path, package: Path = PACKAGE) -> Iterator[tuple[str, ...]]:
    """What a module imports of the package to run, at any depth of its code, without the package's own name."""
    own = package.relative_to(ROOT).parts
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        nodes.extend(ast.iter_child_nodes(node))
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        parts = [tuple(name.split(".")) for name in names]
        yield from (each[len(own) :] for each in parts if each[: len(own)] == own and len(each) > len(own))


def against(order: Order, depth: int, within: tuple[str, ...] = ()) -> list[str]:
    """The imports against an order of packages, which are the parts of a module's name at `depth`."""
    place = {name: number for number, names in enumerate(order) for name in names}
    return [
        f"{'.'.join(name)} imports {'.'.join(other)}"
        for name, path in modules()
        for other in imported(path)
        if name[:depth] == other[:depth] == within
        and name[depth] in place
        and other[depth] in place
        and place[other[depth]] < place[name[depth]]
    ]


def test_packages() -> None:
    assert against(PACKAGES, 0) == []
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} == set().union(*PACKAGES)


def test_parts_of_the_refresh() -> None:
    assert against(PARTS, 1, ("refresh",)) == []
    assert {name[1] for name, _ in modules() if name[0] == "refresh"} == set().union(*PARTS, {"__init__"})


def test_tools() -> None:
    assert against(TOOLS, 1, ("tools",)) == []
    assert {name[1] for name, _ in modules() if name[0] == "tools"} == set().union(*TOOLS, {"__init__"})


def test_the_planner_and_the_refresh_need_nothing_but_sqlglot() -> None:
    """From `refresh` down, with the modules beside the packages that these import."""
    script = f"""
import importlib, sys
for name in {[".".join(name) for name, _ in modules() if name[0] in set().union(*PACKAGES) - {"tools"}]}:
    importlib.import_module("dbt_idivm." + name)
found = {{name.partition(".")[0] for name in sys.modules}}
print(*sorted(found & {{"dbt", "pyspark", "click", "yaml", "jinja2", "rich", "jsonschema"}}))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


def test_nothing_imports_an_entry_point() -> None:
    found = [
        f"{'.'.join(name)} imports {other[0]}"
        for name, path in modules()
        for other in imported(path)
        if name[0] not in ENTRY_POINTS and other[0] in ENTRY_POINTS
    ]
    assert found == []


def test_only_what_shows_stored_views_uses_the_refresh() -> None:
    found = [
        ".".join(name)
        for name, path in modules()
        for other in imported(path)
        if other[0] == "refresh" and not any(name[: len(each)] == each for each in {("refresh",), *USE_THE_REFRESH})
    ]
    assert found == []


@pytest.mark.parametrize("folder", OTHERS)
def test_tests_are_imported_by_tests_only(folder: str) -> None:
    found = [
        f"{'.'.join((folder, *name))} imports tests.{'.'.join(other)}"
        for name, path in modules(ROOT / folder)
        for other in imported(path, ROOT / "tests")
    ]
    assert found == []


def test_benchmarks_need_no_tools_of_tests() -> None:
    names = [".".join(("benchmarks", *name)).removesuffix(".__init__") for name, _ in modules(ROOT / "benchmarks")]
    script = f"""
import importlib, sys
sys.modules.update(dict.fromkeys({TOOLS_OF_TESTS}))  # to import one of these fails
for name in {names}:
    importlib.import_module(name)
"""
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


@pytest.mark.parametrize("package", [PACKAGE, ADAPTER], ids=["planner", "adapter"])
def test_there_are_no_cycles(package: Path) -> None:
    """Within a package, too: each module can be read after those that it imports."""
    known = {name: path for name, path in modules(package)}
    edges = {
        name: {other[:end] for other in imported(path, package) for end in range(1, len(other) + 1) if other[:end] in known}
        for name, path in known.items()
    }
    done: set[tuple[str, ...]] = set()

    def visit(name: tuple[str, ...], above: tuple[tuple[str, ...], ...]) -> None:
        assert name not in above, " → ".join(".".join(each) for each in (*above, name))
        if name not in done:
            for other in edges[name]:
                visit(other, (*above, name))
            done.add(name)

    for name in known:
        visit(name, ())


@pytest.mark.parametrize("part", [path.parent.name for path in (PACKAGE / "refresh").glob("*/__init__.py")])
def test_a_part_says_what_it_is_for(part: str) -> None:
    tree = ast.parse((PACKAGE / "refresh" / part / "__init__.py").read_text(encoding="utf-8"))
    assert ast.get_docstring(tree) and len(tree.body) == 1


def test_the_plugin_imports_neither_the_planner_nor_spark() -> None:
    """Each command of dbt imports the plugin, also those that refresh nothing: what only a refresh needs would slow down all."""
    script = "import sys, dbt.adapters.idivm; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    found = done.stdout.split()
    assert {name for name in found if name.partition(".")[0] == "dbt_idivm"} <= OF_THE_PLUGIN
    assert {name.partition(".")[0] for name in found} & TOO_LONG == set()
